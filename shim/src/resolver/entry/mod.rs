//! The exported `dlsym`, `dlvsym`, `dlopen` and `dlmopen`. libc tells RTLD_NEXT and RUNPATH by the caller's return
//! address, so these must leave the stack as they found it and *jump* to the next function: they are naked, ask `answer`,
//! and either return its value or jump with the caller's own arguments.

#[cfg(target_arch = "aarch64")]
mod aarch64;
#[cfg(target_arch = "x86_64")]
mod x86_64;

#[cfg(target_arch = "aarch64")]
use aarch64::{dlmopen, dlopen, dlsym, dlvsym};
#[cfg(target_arch = "x86_64")]
use x86_64::{dlmopen, dlopen, dlsym, dlvsym};

use std::ffi::{CStr, c_void};

/// Our own entry of that name.
pub(super) fn find(name: &CStr) -> Option<*const c_void> {
    let entry = match name.to_bytes() {
        b"dlsym" => dlsym as *const c_void,
        b"dlvsym" => dlvsym as *const c_void,
        b"dlopen" => dlopen as *const c_void,
        b"dlmopen" => dlmopen as *const c_void,
        _ => return None,
    };
    Some(entry)
}
