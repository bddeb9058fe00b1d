//! The surface of the CUDA driver: the types that we touch and the one list of its symbols.
//!
//! [`for_each_family`] is the list as a macro, for code that is generated from it; [`SYMBOLS`] and [`FAMILIES`] are
//! the same list as data, for code that asks; [`resolve`] says which export `cuGetProcAddress` means by a name.
//! This crate links nothing, calls nothing and holds no decision about tenants: it only knows the driver's names.
#![cfg_attr(not(test), no_std)]

#[macro_use]
mod class;
mod result;
mod symbols;
pub mod table;
pub mod types;

pub use class::{Class, Status};
pub use result::*;
pub use symbols::{
    FAMILIES, Family, NOT_IN_TABLE, Resolution, SYMBOLS, Symbol, TEGRA_ONLY, Variant, family, lookup, resolution,
    resolve,
};
