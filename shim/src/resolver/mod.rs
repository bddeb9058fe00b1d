//! Who gets which function: the real loader behind ours, the real driver behind the wrappers, and the answers of
//! `dlsym`, `dlvsym`, `dlopen`, `dlmopen` and `cuGetProcAddress`.
//!
//! The rule: a wrapper stands exactly where the driver's export stands. Whoever would get the driver's function gets
//! its wrapper; whoever would get anything else (another library's function of that name, an error, nothing) still gets
//! that. Nothing here decides about memory or launches.

pub(crate) mod answer;
pub(crate) mod entry;
pub(crate) mod library;
mod loader;
pub(crate) mod proc_address;

use crate::exports::records::Hooked;
use std::ffi::{CStr, c_void};

/// The driver's own export `name` (the exact exported name), never a wrapper. Null if the driver has no such export or is
/// not loaded. Disturbs no `dlerror`, takes no lock once the driver is known; any thread may call it at any time.
#[allow(dead_code, reason = "the session's and the hooks' way to the driver")]
pub(crate) fn real(name: &CStr) -> *const c_void {
    library::loaded().map_or(std::ptr::null(), |library| library.find(name))
}

/// The first function of `record`'s name that the loader finds after this library's own, or null: the driver's, or another
/// library's.
pub(crate) fn following(record: &Hooked) -> *const c_void {
    loader::dlsym(libc::RTLD_NEXT, record.name())
}
