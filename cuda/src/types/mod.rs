//! The C types of the driver's interface, written by hand: whole where we read, write or pass one by value, opaque
//! where only a pointer to it goes through. Names are NVIDIA's, so that a row of the table reads like the header.
//!
//! An unsuffixed name is the newest layout (`CUDA_MEMCPY2D` is the header's `_v2`), `_v1` the 32-bit one of 2007.
//! `scripts/check-symbols` compares every size and offset here with what a C compiler makes of the real headers.
//! This module must never know what mgpu does with a call.
#![allow(non_camel_case_types, non_snake_case, non_upper_case_globals)]

#[macro_use]
mod layout;

mod constants;
mod enums;
mod graph;
mod handles;
mod launch;
mod memory;
mod opaque;

pub use constants::*;
pub use core::ffi::{c_char, c_int, c_longlong, c_uchar, c_uint, c_ulonglong, c_ushort, c_void};
pub use enums::*;
pub use graph::*;
pub use handles::*;
pub use launch::*;
pub use layout::Layout;
pub use memory::*;
pub use opaque::*;

pub use crate::CUresult;

/// What the compiler made of every type here that has a layout, group by group.
pub const LAYOUTS: &[&[Layout]] = &[
    enums::ENUM_LAYOUTS,
    enums::INTEGER_LAYOUTS,
    handles::HANDLE_LAYOUTS,
    graph::GRAPH_LAYOUTS,
    launch::LAUNCH_LAYOUTS,
    memory::MEMORY_LAYOUTS,
    opaque::OPAQUE_LAYOUTS,
];
