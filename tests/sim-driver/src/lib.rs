//! `libcuda.so.1` of the simulated GPU: the CUDA driver API as a client of the `mgpu-sim` server.
//!
//! `exports` makes the C functions from the table, `dispatch` says which of them are simulated, `api` holds their bodies by
//! the manual's chapters, and the other modules are the objects behind the handles. Time, memory and completion are the
//! server's (`mgpu_sim_link`). Nothing here knows mgpu: this library stands in for hardware and its driver.

mod api;
mod array;
mod attributes;
mod capture;
mod context;
mod copy;
mod dispatch;
mod error;
mod event;
mod exec;
pub mod exports;
mod graph;
mod image;
mod mapping;
mod memory;
mod module;
mod pool;
mod resolve;
mod slots;
mod staging;
mod state;
mod stream;
mod submit;
mod sync;
mod types;
mod unimplemented;
mod visible;
