//! Linear copies. The calls without `Async` use the default stream and return when the host side is done with.

use std::ffi::c_void;

use mgpu_sim_link::Direction;

use crate::context;
use crate::copy::{Copy, Returns, classify};
use crate::error::{Fail, INVALID_VALUE, Res, put_if};
use crate::stream::{self, Zero};
use crate::types::{CUcontext, CUdeviceptr, CUmemcpyAttributes, CUstream, list, raw};

/// A copy in the default stream.
pub(super) unsafe fn now(zero: Zero, dst: u64, src: u64, bytes: usize, direction: Direction) -> Res {
    context::current()?;
    let stream = stream::resolve(std::ptr::null(), zero)?;
    // SAFETY: the caller's memory, as the API demands.
    unsafe { Copy::linear(dst, src, bytes, direction).run(stream, Returns::Complete, None) }
}

/// A copy in a given stream.
pub(super) unsafe fn queue(
    zero: Zero,
    dst: u64,
    src: u64,
    bytes: usize,
    direction: Direction,
    stream: CUstream,
) -> Res {
    context::current()?;
    let stream = stream::resolve(raw(stream), zero)?;
    // SAFETY: the caller's memory, as the API demands.
    unsafe { Copy::linear(dst, src, bytes, direction).run(stream, Returns::Queued, None) }
}

/// A copy that the caller says stays on devices: within one, or from one to another.
pub(super) fn within(dst: u64, src: u64) -> Direction {
    if classify(dst, src) == Direction::Peer { Direction::Peer } else { Direction::DeviceToDevice }
}

pub(crate) unsafe fn cuMemcpy(zero: Zero, dst: CUdeviceptr, src: CUdeviceptr, bytes: usize) -> Res {
    // SAFETY: the caller's memory.
    unsafe { now(zero, dst, src, bytes, classify(dst, src)) }
}

pub(crate) unsafe fn cuMemcpyAsync(zero: Zero, dst: CUdeviceptr, src: CUdeviceptr, bytes: usize, on: CUstream) -> Res {
    // SAFETY: the caller's memory.
    unsafe { queue(zero, dst, src, bytes, classify(dst, src), on) }
}

pub(crate) unsafe fn cuMemcpyHtoD_v2(zero: Zero, dst: CUdeviceptr, src: *const c_void, bytes: usize) -> Res {
    // SAFETY: the caller's memory.
    unsafe { now(zero, dst, src as u64, bytes, Direction::HostToDevice) }
}

pub(crate) unsafe fn cuMemcpyDtoH_v2(zero: Zero, dst: *mut c_void, src: CUdeviceptr, bytes: usize) -> Res {
    // SAFETY: the caller's memory.
    unsafe { now(zero, dst as u64, src, bytes, Direction::DeviceToHost) }
}

pub(crate) unsafe fn cuMemcpyDtoD_v2(zero: Zero, dst: CUdeviceptr, src: CUdeviceptr, bytes: usize) -> Res {
    // SAFETY: the caller's memory.
    unsafe { now(zero, dst, src, bytes, within(dst, src)) }
}

pub(crate) unsafe fn cuMemcpyHtoDAsync_v2(
    zero: Zero,
    dst: CUdeviceptr,
    src: *const c_void,
    bytes: usize,
    on: CUstream,
) -> Res {
    // SAFETY: the caller's memory.
    unsafe { queue(zero, dst, src as u64, bytes, Direction::HostToDevice, on) }
}

pub(crate) unsafe fn cuMemcpyDtoHAsync_v2(
    zero: Zero,
    dst: *mut c_void,
    src: CUdeviceptr,
    bytes: usize,
    on: CUstream,
) -> Res {
    // SAFETY: the caller's memory.
    unsafe { queue(zero, dst as u64, src, bytes, Direction::DeviceToHost, on) }
}

pub(crate) unsafe fn cuMemcpyDtoDAsync_v2(
    zero: Zero,
    dst: CUdeviceptr,
    src: CUdeviceptr,
    bytes: usize,
    on: CUstream,
) -> Res {
    // SAFETY: the caller's memory.
    unsafe { queue(zero, dst, src, bytes, within(dst, src), on) }
}

pub(crate) unsafe fn cuMemcpyPeer(
    zero: Zero,
    dst: CUdeviceptr,
    dst_context: CUcontext,
    src: CUdeviceptr,
    src_context: CUcontext,
    bytes: usize,
) -> Res {
    check_peers(dst_context, src_context)?;
    // SAFETY: the caller's memory.
    unsafe { now(zero, dst, src, bytes, within(dst, src)) }
}

pub(crate) unsafe fn cuMemcpyPeerAsync(
    zero: Zero,
    dst: CUdeviceptr,
    dst_context: CUcontext,
    src: CUdeviceptr,
    src_context: CUcontext,
    bytes: usize,
    on: CUstream,
) -> Res {
    check_peers(dst_context, src_context)?;
    // SAFETY: the caller's memory.
    unsafe { queue(zero, dst, src, bytes, within(dst, src), on) }
}

fn check_peers(dst: CUcontext, src: CUcontext) -> Res {
    crate::state::driver()?;
    context::find(raw(dst))?;
    context::find(raw(src)).map(|_| ())
}

unsafe fn batch(
    zero: Zero,
    dsts: *const CUdeviceptr,
    srcs: *const CUdeviceptr,
    sizes: *const usize,
    count: usize,
    on: CUstream,
) -> Result<(), (usize, Fail)> {
    let all = |fail| (usize::MAX, fail);
    context::current().map_err(all)?;
    let stream = stream::resolve(raw(on), zero).map_err(all)?;
    if stream.is_legacy() || count == 0 {
        return Err(all(INVALID_VALUE));
    }
    // SAFETY: the caller's arrays of `count` values.
    let dsts = unsafe { list(dsts, count) }.map_err(all)?;
    // SAFETY: the caller's arrays of `count` values.
    let srcs = unsafe { list(srcs, count) }.map_err(all)?;
    // SAFETY: the caller's arrays of `count` values.
    let sizes = unsafe { list(sizes, count) }.map_err(all)?;
    for (i, ((dst, src), bytes)) in dsts.iter().zip(srcs).zip(sizes).enumerate() {
        let copy = Copy::linear(*dst, *src, *bytes, classify(*dst, *src));
        // SAFETY: the caller's memory, as the API demands.
        unsafe { copy.run(stream, Returns::Queued, None) }.map_err(|fail| (i, fail))?;
    }
    Ok(())
}

#[allow(clippy::too_many_arguments, reason = "the API's signature")]
pub(crate) unsafe fn cuMemcpyBatchAsync(
    zero: Zero,
    dsts: *mut CUdeviceptr,
    srcs: *mut CUdeviceptr,
    sizes: *mut usize,
    count: usize,
    _attributes: *mut CUmemcpyAttributes,
    _indices: *mut usize,
    _attribute_count: usize,
    failed: *mut usize,
    on: CUstream,
) -> Res {
    // SAFETY: the caller's arrays.
    unsafe { batch(zero, dsts, srcs, sizes, count, on) }.map_err(|(index, fail)| {
        // SAFETY: the caller's pointer, or null.
        unsafe { put_if(failed, index) };
        fail
    })
}

#[allow(clippy::too_many_arguments, reason = "the API's signature")]
pub(crate) unsafe fn cuMemcpyBatchAsync_v2(
    zero: Zero,
    dsts: *mut CUdeviceptr,
    srcs: *mut CUdeviceptr,
    sizes: *mut usize,
    count: usize,
    _attributes: *mut CUmemcpyAttributes,
    _indices: *mut usize,
    _attribute_count: usize,
    on: CUstream,
) -> Res {
    // SAFETY: the caller's arrays.
    unsafe { batch(zero, dsts, srcs, sizes, count, on) }.map_err(|(_, fail)| fail)
}

pub(crate) unsafe fn cuMemcpyWithAttributesAsync(
    zero: Zero,
    dst: CUdeviceptr,
    src: CUdeviceptr,
    bytes: usize,
    _attributes: *mut CUmemcpyAttributes,
    on: CUstream,
) -> Res {
    // SAFETY: the caller's memory.
    unsafe { queue(zero, dst, src, bytes, classify(dst, src), on) }
}

/// Managed memory moves by itself here: a prefetch only checks its arguments.
pub(crate) fn prefetch(zero: Zero, address: CUdeviceptr, bytes: usize, on: CUstream) -> Res {
    context::current()?;
    stream::resolve(raw(on), zero)?;
    let range = crate::memory::check(address, bytes)?;
    if bytes > 0 && range.kind == crate::memory::Kind::Managed { Ok(()) } else { Err(INVALID_VALUE) }
}

pub(crate) unsafe fn cuMemPrefetchAsync(
    zero: Zero,
    address: CUdeviceptr,
    bytes: usize,
    _dev: crate::types::CUdevice,
    on: CUstream,
) -> Res {
    prefetch(zero, address, bytes, on)
}

pub(crate) unsafe fn cuMemPrefetchAsync_v2(
    zero: Zero,
    address: CUdeviceptr,
    bytes: usize,
    _location: crate::types::CUmemLocation,
    _flags: std::ffi::c_uint,
    on: CUstream,
) -> Res {
    prefetch(zero, address, bytes, on)
}

pub(crate) unsafe fn cuStreamAttachMemAsync(
    zero: Zero,
    on: CUstream,
    address: CUdeviceptr,
    _bytes: usize,
    flags: std::ffi::c_uint,
) -> Res {
    context::current()?;
    stream::resolve(raw(on), zero)?;
    let range = crate::memory::check(address, 0)?;
    let fits = range.kind == crate::memory::Kind::Managed && matches!(flags, 1 | 2 | 4);
    if fits { Ok(()) } else { Err(INVALID_VALUE) }
}
