//! What the shim decides, and nothing of how it acts: who may launch now ([`gate`], [`window`]), what an allocation costs and
//! whether it fits ([`purse`], [`ledger`], [`pool`]), what the tenant sees of its device ([`memory_view`]), where the session
//! with the coordinator stands ([`session`]), what the environment asks for ([`config`]).
//!
//! No clock (`now` is an argument), no unsafe, no system call, no CUDA type: a CUDA shell is in the crate `mgpu-shim`.
#![forbid(unsafe_code)]
#![warn(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

pub mod config;
pub mod gate;
pub mod ledger;
pub mod memory_view;
pub mod pool;
pub mod purse;
pub mod session;
pub mod window;

mod shards;
