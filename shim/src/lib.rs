//! libmgpu_shim.so, preloaded into every process of a tenant. Between the application and the CUDA driver it puts one
//! hook a function; what a hook decides is `mgpu-shim-core`'s business, who is asked is the session's.
//!
//! There is no constructor: a process that never asks for a name of the driver runs none of this code but a comparison in
//! `dlsym`. It installs no signal handler, writes nothing to stdout, ends no process, and needs nothing loaded but libc.

// Unit tests export nothing, lest the test program hook itself, so much of the library is unreachable there.
#![cfg_attr(test, allow(dead_code, reason = "see above"))]

#[cfg(not(target_pointer_width = "64"))]
compile_error!("the driver's 32-bit library went with CUDA 9; this one is for 64-bit processes");

mod driver;
mod elf;
mod exports;
mod gate;
mod hooks;
mod local;
mod log;
mod markers;
mod objects;
mod resolver;
mod session;
mod streams;
mod threads;

use std::ffi::{CStr, c_char};

/// Version of this library and of what it speaks: a terminated string that lives for ever. `mgpu version` and `mgpu run` read it
/// out of the file (`cli/src/shim.rs` knows its form), so that they needn't load the library.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub extern "C" fn mgpu_shim_version() -> *const c_char {
    VERSION.as_ptr()
}

const VERSION: &CStr = match CStr::from_bytes_with_nul(
    concat!("mgpu-shim-version=", env!("CARGO_PKG_VERSION"), ";protocol=1;page=1;\0").as_bytes(),
) {
    Ok(version) => version,
    Err(_) => panic!("the package version holds a zero byte"),
};
const _: () = assert!(mgpu_protocol::PROTOCOL_VERSION == 1 && mgpu_protocol::PAGE_VERSION == 1, "VERSION names them");
