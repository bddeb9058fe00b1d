//! `cuGetProcAddress`: names to functions of this very library, by the table. Never through `dlsym`: a preloaded hook would
//! catch that, and every test of such a hook would pass falsely.

use std::ffi::{c_char, c_int, c_void};
use std::ptr;
use std::sync::OnceLock;

use mgpu_cuda::{Resolution, resolution};

use crate::error::{INVALID_VALUE, NOT_FOUND, Res, put, put_if};
use crate::exports::EXPORTS;
use crate::types::{CUdriverProcAddressQueryResult, cuuint64_t, text};

const LEGACY: cuuint64_t = 1;
const PER_THREAD: cuuint64_t = 2;

const FOUND: CUdriverProcAddressQueryResult = 0;
const UNKNOWN: CUdriverProcAddressQueryResult = 1;
const TOO_OLD: CUdriverProcAddressQueryResult = 2;

/// The function that `name` means at `version`, or why there is none. As in the real driver a negative version is a huge one.
fn lookup(name: &str, version: c_int, flags: cuuint64_t) -> Result<*const c_void, CUdriverProcAddressQueryResult> {
    let version = if version < 0 { c_int::MAX } else { version };
    match resolution(name, version, flags & PER_THREAD != 0) {
        Resolution::Found(export) => address(export).ok_or(UNKNOWN),
        Resolution::TooOld => Err(TOO_OLD),
        Resolution::Unknown => Err(UNKNOWN),
    }
}

fn address(export: &str) -> Option<*const c_void> {
    static SORTED: OnceLock<Vec<(&'static str, usize)>> = OnceLock::new();
    let sorted = SORTED.get_or_init(|| {
        let mut all: Vec<_> = EXPORTS.iter().map(|(name, address)| (*name, address.0 as usize)).collect();
        all.sort_unstable();
        all
    });
    let index = sorted.binary_search_by_key(&export, |(name, _)| name).ok()?;
    sorted.get(index).map(|(_, address)| *address as *const c_void)
}

#[allow(non_snake_case, reason = "the API's name")]
pub(crate) unsafe fn cuGetProcAddress_v2(
    symbol: *const c_char,
    out: *mut *mut c_void,
    version: c_int,
    flags: cuuint64_t,
    status: *mut CUdriverProcAddressQueryResult,
) -> Res {
    if out.is_null() || flags & !(LEGACY | PER_THREAD) != 0 {
        return Err(INVALID_VALUE);
    }
    // SAFETY: the caller's string.
    let found = lookup(&unsafe { text(symbol) }?, version, flags);
    // SAFETY: not null; the caller's pointer.
    unsafe { put(out, found.unwrap_or(ptr::null()).cast_mut()) }?;
    // SAFETY: the caller's pointer, or null.
    unsafe { put_if(status, found.map_or_else(|why| why, |_| FOUND)) };
    // Who takes the status gets success with a null pointer; who does not, an error.
    if found.is_ok() || !status.is_null() { Ok(()) } else { Err(NOT_FOUND) }
}

/// The older form has no status: a name that is not found is an error, and `out` stays as it was.
#[allow(non_snake_case, reason = "the API's name")]
pub(crate) unsafe fn cuGetProcAddress(
    symbol: *const c_char,
    out: *mut *mut c_void,
    version: c_int,
    flags: cuuint64_t,
) -> Res {
    if out.is_null() || flags & !(LEGACY | PER_THREAD) != 0 {
        return Err(INVALID_VALUE);
    }
    // SAFETY: the caller's string.
    let found = lookup(&unsafe { text(symbol) }?, version, flags).map_err(|_| NOT_FOUND)?;
    // SAFETY: not null; the caller's pointer.
    unsafe { put(out, found.cast_mut()) }
}
