//! What the tenant sees of a device's memory: the numbers that admission uses. Outputs may be null. Without a session, or for a
//! device that isn't the tenant's, the driver's answer stands.

use crate::session;
use mgpu_cuda::CUresult;
use mgpu_cuda::types::CUdevice;
use mgpu_shim_core::memory_view::{Known, saturate};

/// `cuMemGetInfo`.
pub(crate) fn mem_info(free: *mut usize, total: *mut usize, call: impl FnOnce() -> CUresult) -> CUresult {
    let result = call();
    if let Some(known) = known_here(result) {
        rewrite(free, |real| known.info(real, u64::MAX).0);
        rewrite(total, |real| known.total(real));
    }
    result
}

/// Its form with 32-bit numbers.
pub(crate) fn mem_info_v1(free: *mut u32, total: *mut u32, call: impl FnOnce() -> CUresult) -> CUresult {
    let result = call();
    if let Some(known) = known_here(result) {
        rewrite_v1(free, |real| known.info(real, u64::MAX).0);
        rewrite_v1(total, |real| known.total(real));
    }
    result
}

/// `cuDeviceTotalMem`.
pub(crate) fn total_mem(bytes: *mut usize, device: CUdevice, call: impl FnOnce() -> CUresult) -> CUresult {
    let result = call();
    if let Some(known) = known_of(result, device) {
        rewrite(bytes, |real| known.total(real));
    }
    result
}

/// Its form with a 32-bit number.
pub(crate) fn total_mem_v1(bytes: *mut u32, device: CUdevice, call: impl FnOnce() -> CUresult) -> CUresult {
    let result = call();
    if let Some(known) = known_of(result, device) {
        rewrite_v1(bytes, |real| known.total(real));
    }
    result
}

/// The current context's device, if the call succeeded.
fn known_here(result: CUresult) -> Option<Known> {
    let (process, attachment) = result.is_success().then(session::get)??;
    let line = attachment.line_of(process.driver.current_device()?)?;
    process.refresh_pools();
    Some(attachment.known(line))
}

fn known_of(result: CUresult, device: CUdevice) -> Option<Known> {
    let (_, attachment) = result.is_success().then(session::get)??;
    let line = attachment.line_of(usize::try_from(device).ok()?)?;
    Some(attachment.known(line))
}

fn rewrite(out: *mut usize, change: impl FnOnce(u64) -> u64) {
    // SAFETY: null, or the application's own output, which the driver has just written.
    if let Some(out) = unsafe { out.as_mut() } {
        *out = usize::try_from(change(*out as u64)).unwrap_or(usize::MAX);
    }
}

fn rewrite_v1(out: *mut u32, change: impl FnOnce(u64) -> u64) {
    // SAFETY: null, or the application's own output, which the driver has just written.
    if let Some(out) = unsafe { out.as_mut() } {
        *out = saturate(change(u64::from(*out)));
    }
}
