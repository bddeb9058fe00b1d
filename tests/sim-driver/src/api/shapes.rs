//! Two- and three-dimensional copies between pitched memory and arrays.

use mgpu_sim_link::Pitch;

use crate::array;
use crate::context;
use crate::copy::{Copy, Returns, classify};
use crate::error::{INVALID_VALUE, Res};
use crate::graph::CopyParameters;
use crate::stream::{self, Zero};
use crate::types::{CUDA_MEMCPY2D, CUDA_MEMCPY3D, CUDA_MEMCPY3D_PEER, CUarray, CUstream, one, raw};
use mgpu_sim_link::Direction;

const HOST: u32 = 1;
const DEVICE: u32 = 2;
const ARRAY: u32 = 3;
const UNIFIED: u32 = 4;

/// One side of a copy, whichever structure it came from.
struct Side {
    kind: u32,
    host: u64,
    device: u64,
    array: CUarray,
    x: usize,
    y: usize,
    z: usize,
    pitch: usize,
    height: usize,
}

impl Side {
    /// Address of the first byte, the distances, and whether the side says that it is host memory.
    fn place(&self, extent: [usize; 3]) -> Res<(u64, Pitch, Option<bool>)> {
        let width = extent[0];
        let (base, host) = match self.kind {
            HOST => (self.host, Some(true)),
            DEVICE => (self.device, Some(false)),
            ARRAY => return self.place_in_array(extent),
            UNIFIED => (self.device, None),
            _ => return Err(INVALID_VALUE),
        };
        let row = if self.pitch == 0 { width } else { self.pitch };
        let slice = row.checked_mul(self.height).ok_or(INVALID_VALUE)?;
        let offset = self.z.checked_mul(slice).zip(self.y.checked_mul(row)).and_then(|(z, y)| z.checked_add(y));
        let offset = offset.and_then(|o| o.checked_add(self.x)).ok_or(INVALID_VALUE)?;
        if self.pitch != 0 && self.pitch < width {
            return Err(INVALID_VALUE);
        }
        Ok((base + offset as u64, Pitch { row: row as u64, slice: slice as u64 }, host))
    }

    /// An array has its own distances, and nothing beyond its sides is its own.
    fn place_in_array(&self, extent: [usize; 3]) -> Res<(u64, Pitch, Option<bool>)> {
        let shape = array::shape(raw(self.array))?;
        let from = [self.x, self.y, self.z];
        let sides = [shape.width, shape.height, shape.depth];
        if (0..3).any(|i| from[i].checked_add(extent[i]).is_none_or(|end| end > sides[i])) {
            return Err(INVALID_VALUE);
        }
        let slice = shape.row * shape.height;
        let address = shape.address + self.z * slice + self.y * shape.row + self.x;
        Ok((address as u64, Pitch { row: shape.row as u64, slice: slice as u64 }, Some(false)))
    }
}

fn join(dst: &Side, src: &Side, extent: [usize; 3]) -> Res<Copy> {
    let [width, height, depth] = extent;
    let (dst, dst_pitch, dst_host) = dst.place(extent)?;
    let (src, src_pitch, src_host) = src.place(extent)?;
    let guess = classify(dst, src);
    let to_host = dst_host.unwrap_or(matches!(guess, Direction::DeviceToHost | Direction::HostToHost));
    let from_host = src_host.unwrap_or(matches!(guess, Direction::HostToDevice | Direction::HostToHost));
    let direction = match (to_host, from_host) {
        (true, true) => Direction::HostToHost,
        (true, false) => Direction::DeviceToHost,
        (false, true) => Direction::HostToDevice,
        (false, false) if guess == Direction::Peer => Direction::Peer,
        (false, false) => Direction::DeviceToDevice,
    };
    Ok(Copy { dst, src, width, height, depth, dst_pitch, src_pitch, direction })
}

fn plane(c: &CUDA_MEMCPY2D) -> Res<Copy> {
    let dst = Side {
        kind: c.dstMemoryType,
        host: c.dstHost as u64,
        device: c.dstDevice,
        array: c.dstArray,
        x: c.dstXInBytes,
        y: c.dstY,
        z: 0,
        pitch: c.dstPitch,
        height: 0,
    };
    let src = Side {
        kind: c.srcMemoryType,
        host: c.srcHost as u64,
        device: c.srcDevice,
        array: c.srcArray,
        x: c.srcXInBytes,
        y: c.srcY,
        z: 0,
        pitch: c.srcPitch,
        height: 0,
    };
    join(&dst, &src, [c.WidthInBytes, c.Height, 1])
}

/// A three-dimensional copy as the API describes it.
///
/// # Errors
/// [`INVALID_VALUE`]; [`INVALID_HANDLE`](crate::error::INVALID_HANDLE) for an array that is none.
pub(crate) fn volume(c: &CUDA_MEMCPY3D) -> Res<Copy> {
    let dst = Side {
        kind: c.dstMemoryType,
        host: c.dstHost as u64,
        device: c.dstDevice,
        array: c.dstArray,
        x: c.dstXInBytes,
        y: c.dstY,
        z: c.dstZ,
        pitch: c.dstPitch,
        height: c.dstHeight.max(c.Height),
    };
    let src = Side {
        kind: c.srcMemoryType,
        host: c.srcHost as u64,
        device: c.srcDevice,
        array: c.srcArray,
        x: c.srcXInBytes,
        y: c.srcY,
        z: c.srcZ,
        pitch: c.srcPitch,
        height: c.srcHeight.max(c.Height),
    };
    join(&dst, &src, [c.WidthInBytes, c.Height, c.Depth])
}

/// The structure as bytes, to be given back by a graph node.
pub(crate) fn remembered(c: &CUDA_MEMCPY3D) -> CopyParameters {
    // SAFETY: a C structure of plain numbers and pointers, read as that many bytes; padding, if any, is never interpreted.
    CopyParameters(unsafe { std::ptr::from_ref(c).cast::<[u8; size_of::<CUDA_MEMCPY3D>()]>().read() })
}

unsafe fn run(zero: Zero, on: CUstream, copy: &Copy, returns: Returns, given: Option<CopyParameters>) -> Res {
    context::current()?;
    let stream = stream::resolve(raw(on), zero)?;
    // SAFETY: the caller's memory, as the API demands.
    unsafe { copy.run(stream, returns, given) }
}

pub(crate) unsafe fn cuMemcpy2D_v2(zero: Zero, copy: *const CUDA_MEMCPY2D) -> Res {
    // SAFETY: the caller's structure.
    let copy = unsafe { one(copy) }?;
    // SAFETY: the caller's memory.
    unsafe { run(zero, std::ptr::null_mut(), &plane(copy)?, Returns::Complete, None) }
}

pub(crate) unsafe fn cuMemcpy2DUnaligned_v2(zero: Zero, copy: *const CUDA_MEMCPY2D) -> Res {
    // SAFETY: the same function; alignment costs nothing here.
    unsafe { cuMemcpy2D_v2(zero, copy) }
}

pub(crate) unsafe fn cuMemcpy2DAsync_v2(zero: Zero, copy: *const CUDA_MEMCPY2D, on: CUstream) -> Res {
    // SAFETY: the caller's structure.
    let copy = unsafe { one(copy) }?;
    // SAFETY: the caller's memory.
    unsafe { run(zero, on, &plane(copy)?, Returns::Queued, None) }
}

pub(crate) unsafe fn cuMemcpy3D_v2(zero: Zero, copy: *const CUDA_MEMCPY3D) -> Res {
    // SAFETY: the caller's structure.
    let copy = unsafe { one(copy) }?;
    // SAFETY: the caller's memory.
    unsafe { run(zero, std::ptr::null_mut(), &volume(copy)?, Returns::Complete, None) }
}

pub(crate) unsafe fn cuMemcpy3DAsync_v2(zero: Zero, copy: *const CUDA_MEMCPY3D, on: CUstream) -> Res {
    // SAFETY: the caller's structure.
    let copy = unsafe { one(copy) }?;
    // SAFETY: the caller's memory.
    unsafe { run(zero, on, &volume(copy)?, Returns::Queued, Some(remembered(copy))) }
}

/// The peer form has contexts where the plain one has reserved words.
fn without_contexts(c: &CUDA_MEMCPY3D_PEER) -> CUDA_MEMCPY3D {
    CUDA_MEMCPY3D {
        srcXInBytes: c.srcXInBytes,
        srcY: c.srcY,
        srcZ: c.srcZ,
        srcLOD: c.srcLOD,
        srcMemoryType: c.srcMemoryType,
        srcHost: c.srcHost,
        srcDevice: c.srcDevice,
        srcArray: c.srcArray,
        reserved0: std::ptr::null_mut(),
        srcPitch: c.srcPitch,
        srcHeight: c.srcHeight,
        dstXInBytes: c.dstXInBytes,
        dstY: c.dstY,
        dstZ: c.dstZ,
        dstLOD: c.dstLOD,
        dstMemoryType: c.dstMemoryType,
        dstHost: c.dstHost,
        dstDevice: c.dstDevice,
        dstArray: c.dstArray,
        reserved1: std::ptr::null_mut(),
        dstPitch: c.dstPitch,
        dstHeight: c.dstHeight,
        WidthInBytes: c.WidthInBytes,
        Height: c.Height,
        Depth: c.Depth,
    }
}

pub(crate) unsafe fn cuMemcpy3DPeer(zero: Zero, copy: *const CUDA_MEMCPY3D_PEER) -> Res {
    // SAFETY: the caller's structure.
    let copy = unsafe { one(copy) }?;
    // SAFETY: the caller's memory.
    unsafe { run(zero, std::ptr::null_mut(), &volume(&without_contexts(copy))?, Returns::Complete, None) }
}

pub(crate) unsafe fn cuMemcpy3DPeerAsync(zero: Zero, copy: *const CUDA_MEMCPY3D_PEER, on: CUstream) -> Res {
    // SAFETY: the caller's structure.
    let copy = unsafe { one(copy) }?;
    // SAFETY: the caller's memory.
    unsafe { run(zero, on, &volume(&without_contexts(copy))?, Returns::Queued, None) }
}
