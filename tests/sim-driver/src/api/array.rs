//! Arrays and mipmaps, and the linear copies to and from them. (Copies of rectangles and boxes are in `shapes`.)

use std::ffi::{c_uint, c_void};

use mgpu_sim_link::Direction;

use crate::api::copy::{now, queue, within};
use crate::array;
use crate::capture;
use crate::context;
use crate::error::{INVALID_VALUE, Res, put};
use crate::slots::handle_of;
use crate::state::driver;
use crate::stream::Zero;
use crate::types::{
    CUDA_ARRAY_DESCRIPTOR, CUDA_ARRAY3D_DESCRIPTOR, CUarray, CUdeviceptr, CUmipmappedArray, CUstream, one, raw,
};

pub(crate) unsafe fn cuArray3DCreate_v2(out: *mut CUarray, descriptor: *const CUDA_ARRAY3D_DESCRIPTOR) -> Res {
    let context = context::current()?;
    capture::check_allowed()?;
    context.check_fault(driver()?)?;
    // SAFETY: the caller's structure.
    let descriptor = unsafe { one(descriptor) }?;
    if out.is_null() {
        return Err(INVALID_VALUE);
    }
    let array = array::create(context, *descriptor)?;
    // SAFETY: the caller's pointer, as the API demands.
    unsafe { put(out, handle_of(array).cast()) }
}

pub(crate) unsafe fn cuArrayCreate_v2(out: *mut CUarray, descriptor: *const CUDA_ARRAY_DESCRIPTOR) -> Res {
    // SAFETY: the caller's structure.
    let plane = unsafe { one(descriptor) }?;
    let descriptor = CUDA_ARRAY3D_DESCRIPTOR {
        Width: plane.Width,
        Height: plane.Height,
        Depth: 0,
        Format: plane.Format,
        NumChannels: plane.NumChannels,
        Flags: 0,
    };
    // SAFETY: the caller's pointer.
    unsafe { cuArray3DCreate_v2(out, &raw const descriptor) }
}

pub(crate) unsafe fn cuArrayGetDescriptor_v2(out: *mut CUDA_ARRAY_DESCRIPTOR, array: CUarray) -> Res {
    let CUDA_ARRAY3D_DESCRIPTOR { Width, Height, Format, NumChannels, .. } = array::shape(raw(array))?.descriptor;
    // SAFETY: the caller's pointer, as the API demands.
    unsafe { put(out, CUDA_ARRAY_DESCRIPTOR { Width, Height, Format, NumChannels }) }
}

pub(crate) unsafe fn cuArray3DGetDescriptor_v2(out: *mut CUDA_ARRAY3D_DESCRIPTOR, array: CUarray) -> Res {
    let shape = array::shape(raw(array))?;
    // SAFETY: the caller's pointer, as the API demands.
    unsafe { put(out, shape.descriptor) }
}

pub(crate) unsafe fn cuArrayDestroy(array: CUarray) -> Res {
    capture::check_allowed()?;
    array::destroy(raw(array))
}

pub(crate) unsafe fn cuMipmappedArrayCreate(
    out: *mut CUmipmappedArray,
    descriptor: *const CUDA_ARRAY3D_DESCRIPTOR,
    levels: c_uint,
) -> Res {
    let context = context::current()?;
    capture::check_allowed()?;
    context.check_fault(driver()?)?;
    // SAFETY: the caller's structure.
    let descriptor = unsafe { one(descriptor) }?;
    if out.is_null() {
        return Err(INVALID_VALUE);
    }
    let mipmap = array::create_mipmap(context, *descriptor, levels)?;
    // SAFETY: the caller's pointer, as the API demands.
    unsafe { put(out, handle_of(mipmap).cast()) }
}

pub(crate) unsafe fn cuMipmappedArrayGetLevel(out: *mut CUarray, mipmap: CUmipmappedArray, level: c_uint) -> Res {
    let array = array::level(raw(mipmap), level)?;
    // SAFETY: the caller's pointer, as the API demands.
    unsafe { put(out, handle_of(array).cast()) }
}

pub(crate) unsafe fn cuMipmappedArrayDestroy(mipmap: CUmipmappedArray) -> Res {
    capture::check_allowed()?;
    array::destroy_mipmap(raw(mipmap))
}

/// Address of a byte of a one-dimensional array from which `bytes` lie in it.
fn within_row(array: CUarray, offset: usize, bytes: usize) -> Res<u64> {
    let shape = array::shape(raw(array))?;
    let end = offset.checked_add(bytes).ok_or(INVALID_VALUE)?;
    if shape.height > 1 || shape.depth > 1 || end > shape.width {
        return Err(INVALID_VALUE);
    }
    Ok((shape.address + offset) as u64)
}

pub(crate) unsafe fn cuMemcpyHtoA_v2(zero: Zero, dst: CUarray, offset: usize, src: *const c_void, bytes: usize) -> Res {
    let dst = within_row(dst, offset, bytes)?;
    // SAFETY: the caller's memory.
    unsafe { now(zero, dst, src as u64, bytes, Direction::HostToDevice) }
}

pub(crate) unsafe fn cuMemcpyHtoAAsync_v2(
    zero: Zero,
    dst: CUarray,
    offset: usize,
    src: *const c_void,
    bytes: usize,
    on: CUstream,
) -> Res {
    let dst = within_row(dst, offset, bytes)?;
    // SAFETY: the caller's memory.
    unsafe { queue(zero, dst, src as u64, bytes, Direction::HostToDevice, on) }
}

pub(crate) unsafe fn cuMemcpyAtoH_v2(zero: Zero, dst: *mut c_void, src: CUarray, offset: usize, bytes: usize) -> Res {
    let src = within_row(src, offset, bytes)?;
    // SAFETY: the caller's memory.
    unsafe { now(zero, dst as u64, src, bytes, Direction::DeviceToHost) }
}

pub(crate) unsafe fn cuMemcpyAtoHAsync_v2(
    zero: Zero,
    dst: *mut c_void,
    src: CUarray,
    offset: usize,
    bytes: usize,
    on: CUstream,
) -> Res {
    let src = within_row(src, offset, bytes)?;
    // SAFETY: the caller's memory.
    unsafe { queue(zero, dst as u64, src, bytes, Direction::DeviceToHost, on) }
}

pub(crate) unsafe fn cuMemcpyDtoA_v2(zero: Zero, dst: CUarray, offset: usize, src: CUdeviceptr, bytes: usize) -> Res {
    let dst = within_row(dst, offset, bytes)?;
    // SAFETY: the caller's memory.
    unsafe { now(zero, dst, src, bytes, within(dst, src)) }
}

pub(crate) unsafe fn cuMemcpyAtoD_v2(zero: Zero, dst: CUdeviceptr, src: CUarray, offset: usize, bytes: usize) -> Res {
    let src = within_row(src, offset, bytes)?;
    // SAFETY: the caller's memory.
    unsafe { now(zero, dst, src, bytes, within(dst, src)) }
}

pub(crate) unsafe fn cuMemcpyAtoA_v2(
    zero: Zero,
    dst: CUarray,
    dst_offset: usize,
    src: CUarray,
    src_offset: usize,
    bytes: usize,
) -> Res {
    let dst = within_row(dst, dst_offset, bytes)?;
    let src = within_row(src, src_offset, bytes)?;
    // SAFETY: the caller's memory.
    unsafe { now(zero, dst, src, bytes, within(dst, src)) }
}
