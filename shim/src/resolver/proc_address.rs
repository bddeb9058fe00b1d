//! `cuGetProcAddress`: the driver has answered; its pointer is swapped for the wrapper of exactly the ABI that it gave.
//! Result code and symbol status stay the driver's.

use super::library::{self, Library};
use crate::exports::records::{self, Hooked};
use mgpu_cuda::types::*;
use mgpu_cuda::{CUDA_SUCCESS, CUresult};
use std::ffi::CStr;
use std::mem::transmute;
use std::ptr;
use std::sync::atomic::{AtomicI32, Ordering};

/// `CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM`.
const PER_THREAD: cuuint64_t = 2;

/// Swaps what the driver wrote to `pfn` and gives `result` back.
///
/// # Safety
/// The arguments of a call to the driver's `cuGetProcAddress` that has returned `result`.
pub(crate) unsafe fn swap(
    result: CUresult,
    symbol: *const c_char,
    pfn: *mut *mut c_void,
    version: c_int,
    flags: cuuint64_t,
) -> CUresult {
    if result != CUDA_SUCCESS || pfn.is_null() || symbol.is_null() {
        return result;
    }
    // SAFETY: the driver has just written there, or left what the caller put there.
    let given = unsafe { pfn.read() };
    // SAFETY: the driver took this string.
    let symbol = unsafe { CStr::from_ptr(symbol) };
    if given.is_null() || !symbol.to_bytes().starts_with(b"cu") {
        return result;
    }
    if let Some(wrapper) = wrapper_of(given, symbol, version, flags) {
        // SAFETY: as above.
        unsafe { pfn.write(wrapper.cast_mut()) };
    }
    result
}

fn wrapper_of(given: *const c_void, symbol: &CStr, version: c_int, flags: cuuint64_t) -> Option<*const c_void> {
    let library = library::loaded()?;
    let expected = || expected(library, symbol, version, flags);
    let mut known = library.at(given);
    let record = match (known.next(), known.next()) {
        (Some(only), None) => only,
        // One body for several names: the one that was asked for.
        (Some(first), Some(_)) => expected().filter(|record| library.is_export(record, given)).unwrap_or(first),
        // The driver gave an address that it does not export.
        (None, _) => {
            let record = expected()?;
            record.learn(given);
            record
        }
    };
    Some(record.wrapper())
}

/// By the table's rule of resolution, not above the driver's own version.
fn expected(library: &Library, symbol: &CStr, version: c_int, flags: cuuint64_t) -> Option<&'static Hooked> {
    let newest = driver_version(library);
    // A negative version counts as the largest.
    let version = if version < 0 { newest } else { version.min(newest) };
    let name = mgpu_cuda::resolve(symbol.to_str().ok()?, version, flags & PER_THREAD != 0)?;
    records::all().find(|record| record.name().to_bytes() == name.as_bytes())
}

fn driver_version(library: &Library) -> c_int {
    type DriverGetVersion = unsafe extern "C" fn(*mut c_int) -> CUresult;
    static KNOWN: AtomicI32 = AtomicI32::new(0);
    let known = KNOWN.load(Ordering::Relaxed);
    let function = library.find(c"cuDriverGetVersion");
    if known != 0 || function.is_null() {
        return if known == 0 { c_int::MAX } else { known };
    }
    // SAFETY: the driver's function of this name has this signature.
    let function: DriverGetVersion = unsafe { transmute(function) };
    let mut version = 0;
    // SAFETY: it writes one integer, and is legal before `cuInit`.
    if unsafe { function(ptr::from_mut(&mut version)) } != CUDA_SUCCESS {
        return c_int::MAX;
    }
    KNOWN.store(version, Ordering::Relaxed);
    version
}
