//! Allocations: reserve the worst case, call the driver, keep what its use really grew by. Frees: always to the driver; what the
//! ledger knows of the address is given back once the driver has taken it.
//!
//! A refusal is `CUDA_ERROR_OUT_OF_MEMORY` and nothing else. Bad arguments are the driver's to judge.

use super::launch::is_capturing;
use crate::session;
use crate::session::anchor::{self, Anchor};
use crate::session::attachment::{Attachment, Leases};
use crate::session::process::{Process, now};
use crate::streams::{LEGACY, PER_THREAD, explicit};
use mgpu_cuda::types::{CUmemoryPool, CUstream};
use mgpu_cuda::{CUDA_ERROR_OUT_OF_MEMORY, CUresult};
use mgpu_protocol::units::Nanos;
use mgpu_shim_core::ledger::{Backing, Record, worst_case};
use mgpu_shim_core::pool::Wanted;
use mgpu_shim_core::purse::{Reservation, Short};
use mgpu_shim_core::window::CAP;
use std::time::Duration;

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
    let Some((process, attachment)) = session::get() else { return ungoverned(call) };
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
    if enter(process, address, record, reservation).is_err() {
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
    let Some((process, attachment)) = session::get() else { return ungoverned(call) };
    // In a capture nothing is allocated: it becomes a node of a graph.
    if anchor::get().is_none_or(|anchor| is_capturing(anchor, process, stream)) {
        return call();
    }
    let Some(source) = source(process, attachment, pool, stream) else { return call() };
    let reserve = |bytes| process.reserve(attachment, source.ordinal, bytes).ok();
    let reserved = || process.driver.pool_reserved(source.pool);
    let wanted =
        Wanted { handle: source.pool as u64, ordinal: source.ordinal, bytes, block: process.block(source.ordinal) };
    let mut patience = Patience::new();
    let started = process.pools.start(&wanted, &process.purse, reserve, reserved, || patience.wait());
    let Some(mut coming) = started else { return CUDA_ERROR_OUT_OF_MEMORY };
    let result = call();
    if !result.is_success() {
        return result;
    }
    // SAFETY: the driver has written the application's own output.
    let Some(address) = unsafe { out.as_ref() }.copied() else { return result };
    let Some(pool) = coming.finish(reserve, reserved) else {
        process.driver.undo_async(address, stream as CUstream);
        return CUDA_ERROR_OUT_OF_MEMORY;
    };
    let record = Record { ordinal: source.ordinal, context: 0, bytes, backing: Backing::Pool(pool) };
    if let Ok(nothing) = Reservation::new(&process.purse, source.ordinal, 0) {
        // Costs nothing by itself: the pool was charged.
        enter(process, address, record, nothing).ok();
    }
    result
}

/// How long to wait for another thread that leans on the same pool's slack: as a window wait, at most its cap.
struct Patience(Option<Nanos>);

impl Patience {
    const STEP: Duration = Duration::from_micros(50);

    const fn new() -> Self {
        Self(None)
    }

    /// Lets a moment pass; `false`: no more.
    fn wait(&mut self) -> bool {
        let since = *self.0.get_or_insert_with(now);
        std::thread::sleep(Self::STEP);
        now().since(since) < CAP
    }
}

/// Enters an allocation. An older one of the same address was freed where nobody saw it.
fn enter(process: &Process, address: u64, record: Record, reservation: Reservation<'_, Leases>) -> Result<(), Short> {
    if let Some(stale) = process.ledger.enter(address, record, reservation)? {
        give_back(process, address, &stale);
    }
    Ok(())
}

fn give_back(process: &Process, address: u64, record: &Record) {
    match record.backing {
        Backing::Blocks(_) => process.ledger.release(address, record, &process.purse),
        Backing::Pool(pool) => process.pools.freed(pool, record.bytes),
    }
}

/// A call for memory outside any session: the driver's business, unless this process was refused a tenant.
fn ungoverned(call: impl FnOnce() -> CUresult) -> CUresult {
    if anchor::get().is_some_and(Anchor::is_refused) { CUDA_ERROR_OUT_OF_MEMORY } else { call() }
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
    give_back(process, address, &record);
    result
}

/// A pool was trimmed or reconfigured: what it has reserved may have shrunk.
pub(crate) fn pool_changed(call: impl FnOnce() -> CUresult) -> CUresult {
    let result = call();
    if result.is_success()
        && let Some(process) = session::process()
    {
        process.refresh_pools();
    }
    result
}

/// `cuMemPoolDestroy`. Noted before the call: another thread may get the same handle for a new pool at once.
pub(crate) fn pool_destroyed(pool: CUmemoryPool, call: impl FnOnce() -> CUresult) -> CUresult {
    let Some(process) = session::process() else { return call() };
    let id = process.pools.destroying(pool as u64);
    let result = call();
    match id {
        Some(id) if !result.is_success() => process.pools.not_destroyed(id),
        Some(_) => process.refresh_pools(),
        None => {}
    }
    result
}
