//! Allocations: reserve the worst case, call the driver, keep what its use really grew by. Frees: always to the driver; what the
//! ledger knows of the address is given back once the driver has taken it.
//!
//! A refusal is `CUDA_ERROR_OUT_OF_MEMORY` and nothing else. Bad arguments are the driver's to judge.

use super::launch::is_capturing;
use crate::session;
use crate::session::anchor;
use crate::session::attachment::{Attachment, Leases};
use crate::session::process::{OutOfMemory, Process};
use crate::streams::{LEGACY, PER_THREAD, explicit};
use mgpu_cuda::types::{CUmemoryPool, CUstream};
use mgpu_cuda::{CUDA_ERROR_OUT_OF_MEMORY, CUresult};
use mgpu_shim_core::ledger::{Backing, Record, worst_case};
use mgpu_shim_core::purse::Reservation;

/// A pitch is rounded up to at most this many bytes by any known device.
const WORST_PITCH: u64 = 512;

/// `cuMemAlloc`.
#[inline]
pub(crate) fn alloc(out: *mut u64, bytes: usize, call: impl FnOnce() -> CUresult) -> CUresult {
    let bytes = bytes as u64;
    // SAFETY: the driver has written the application's own output.
    blocks(bytes, call, || unsafe { out.as_ref() }.map(|address| (*address, bytes)))
}

/// Its form with 32-bit addresses.
pub(crate) fn alloc_v1(out: *mut u32, bytes: u32, call: impl FnOnce() -> CUresult) -> CUresult {
    let bytes = u64::from(bytes);
    // SAFETY: as in `alloc`.
    blocks(bytes, call, || unsafe { out.as_ref() }.map(|address| (u64::from(*address), bytes)))
}

/// `cuMemAllocPitch`: the driver chooses the length of a row.
pub(crate) fn alloc_pitch(
    out: *mut u64,
    pitch: *mut usize,
    width: usize,
    height: usize,
    call: impl FnOnce() -> CUresult,
) -> CUresult {
    let height = height as u64;
    blocks(worst_case(width as u64, WORST_PITCH).saturating_mul(height), call, || {
        // SAFETY: as in `alloc`.
        let address = *unsafe { out.as_ref() }?;
        // SAFETY: as in `alloc`.
        let pitch = *unsafe { pitch.as_ref() }? as u64;
        Some((address, pitch.saturating_mul(height)))
    })
}

/// Its form with 32-bit addresses.
pub(crate) fn alloc_pitch_v1(
    out: *mut u32,
    pitch: *mut u32,
    width: u32,
    height: u32,
    call: impl FnOnce() -> CUresult,
) -> CUresult {
    let height = u64::from(height);
    blocks(worst_case(u64::from(width), WORST_PITCH).saturating_mul(height), call, || {
        // SAFETY: as in `alloc`.
        let address = u64::from(*unsafe { out.as_ref() }?);
        // SAFETY: as in `alloc`.
        let pitch = u64::from(*unsafe { pitch.as_ref() }?);
        Some((address, pitch.saturating_mul(height)))
    })
}

/// `cuMemAllocManaged`: charged in full to the current device, wherever its pages are.
pub(crate) fn alloc_managed(out: *mut u64, bytes: usize, call: impl FnOnce() -> CUresult) -> CUresult {
    alloc(out, bytes, call)
}

/// Memory out of the driver's blocks on the current context's device; `made` tells address and length after the call.
fn blocks(worst: u64, call: impl FnOnce() -> CUresult, made: impl FnOnce() -> Option<(u64, u64)>) -> CUresult {
    let Some((process, attachment)) = session::get() else { return call() };
    let Some(ordinal) = process.driver.current_device().filter(|ordinal| attachment.line_of(*ordinal).is_some()) else {
        return call();
    };
    let block = process.block(ordinal);
    let Ok(reservation) = process.reserve(attachment, ordinal, worst_case(worst, block)) else {
        return CUDA_ERROR_OUT_OF_MEMORY;
    };
    let result = call();
    if !result.is_success() {
        return result;
    }
    let Some((address, bytes)) = made() else { return result };
    let context = process.driver.current_context() as u64;
    let record = Record { ordinal, context, bytes, backing: Backing::Blocks(block) };
    if process.ledger.enter(address, record, reservation).is_err() {
        // The driver took more than its worst case, and the tenant can't pay that.
        process.driver.undo(address);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    result
}

/// `cuMemAllocAsync`: from the pool that the stream's device uses now.
pub(crate) fn alloc_async(
    out: *mut u64,
    bytes: usize,
    stream: CUstream,
    per_thread: bool,
    call: impl FnOnce() -> CUresult,
) -> CUresult {
    ordered(out, bytes, None, explicit(stream, per_thread), call)
}

/// `cuMemAllocFromPoolAsync`.
pub(crate) fn alloc_from_pool_async(
    out: *mut u64,
    bytes: usize,
    pool: CUmemoryPool,
    stream: CUstream,
    per_thread: bool,
    call: impl FnOnce() -> CUresult,
) -> CUresult {
    ordered(out, bytes, Some(pool), explicit(stream, per_thread), call)
}

fn ordered(
    out: *mut u64,
    bytes: usize,
    pool: Option<CUmemoryPool>,
    stream: usize,
    call: impl FnOnce() -> CUresult,
) -> CUresult {
    let bytes = bytes as u64;
    let Some((process, attachment)) = session::get() else { return call() };
    // In a capture nothing is allocated: it becomes a node of a graph.
    if anchor::get().is_none_or(|anchor| is_capturing(anchor, process, stream)) {
        return call();
    }
    let Some(source) = source(process, attachment, pool, stream) else { return call() };
    let Ok(reservation) = source.reserve(process, attachment, bytes) else { return CUDA_ERROR_OUT_OF_MEMORY };
    let result = call();
    if !result.is_success() {
        return result;
    }
    // SAFETY: the driver has written the application's own output.
    let Some(address) = unsafe { out.as_ref() }.copied() else { return result };
    if source.settle(process, attachment, bytes, reservation).is_err() {
        process.driver.undo_async(address, stream as CUstream);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    let record = Record { ordinal: source.ordinal, context: 0, bytes, backing: Backing::Pool(source.pool as u64) };
    if let Ok(nothing) = Reservation::new(&process.purse, source.ordinal, 0) {
        // Costs nothing by itself: the pool was charged.
        let _ = process.ledger.enter(address, record, nothing);
    }
    result
}

/// Where a stream-ordered allocation comes from.
struct Source {
    pool: CUmemoryPool,
    ordinal: usize,
}

/// The pool, and its device: that of the stream's context. `None`: not the tenant's device, or no way to know.
fn source(process: &Process, attachment: &Attachment, pool: Option<CUmemoryPool>, stream: usize) -> Option<Source> {
    let driver = &process.driver;
    let ordinal = match stream {
        LEGACY | PER_THREAD => driver.current_device()?,
        handle => driver.device_of(driver.stream_context(handle as CUstream)?)?,
    };
    attachment.line_of(ordinal)?;
    Some(Source { pool: pool.or_else(|| driver.device_pool(ordinal))?, ordinal })
}

impl Source {
    fn reserve<'a>(
        &self,
        process: &'a Process,
        attachment: &Attachment,
        bytes: u64,
    ) -> Result<Reservation<'a, Leases>, OutOfMemory> {
        let plan = || process.pools.plan(self.pool as u64, self.ordinal, bytes, process.block(self.ordinal));
        process.reserve(attachment, self.ordinal, plan())
    }

    /// Charges the pool's real growth, asking for more where it comes as a surprise.
    fn settle<'a>(
        &self,
        process: &'a Process,
        attachment: &Attachment,
        bytes: u64,
        mut reservation: Reservation<'a, Leases>,
    ) -> Result<(), OutOfMemory> {
        let reserved = || process.driver.pool_reserved(self.pool);
        while let Err(growth) = process.pools.settle(self.pool as u64, bytes, reservation, &process.purse, reserved) {
            reservation = process.reserve(attachment, self.ordinal, growth)?;
        }
        Ok(())
    }
}

/// `cuMemFree`.
#[inline]
pub(crate) fn free(address: u64, call: impl FnOnce() -> CUresult) -> CUresult {
    release(address, call)
}

/// `cuMemFreeAsync`. In a capture it is a node, and the memory stays.
pub(crate) fn free_async(
    address: u64,
    stream: CUstream,
    per_thread: bool,
    call: impl FnOnce() -> CUresult,
) -> CUresult {
    let stream = explicit(stream, per_thread);
    match (session::process(), anchor::get()) {
        (Some(process), Some(anchor)) if is_capturing(anchor, process, stream) => call(),
        _ => release(address, call),
    }
}

fn release(address: u64, call: impl FnOnce() -> CUresult) -> CUresult {
    let Some(process) = session::process() else { return call() };
    let Some(record) = process.ledger.take(address) else { return call() };
    let result = call();
    if !result.is_success() {
        process.ledger.restore(address, record);
        return result;
    }
    match record.backing {
        Backing::Blocks(_) => process.ledger.release(address, &record, &process.purse),
        Backing::Pool(pool) => process.pools.freed(pool, record.bytes),
    }
    result
}

/// A pool was trimmed, reconfigured or destroyed: what it has reserved may have shrunk.
pub(crate) fn pool_changed(pool: CUmemoryPool, call: impl FnOnce() -> CUresult) -> CUresult {
    let result = call();
    if result.is_success()
        && let Some(process) = session::process()
    {
        if process.driver.pool_reserved(pool).is_none() {
            process.pools.destroyed(pool as u64, &process.purse);
        }
        process.refresh_pools();
    }
    result
}
