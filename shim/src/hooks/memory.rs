//! Passes through.

use mgpu_cuda::types::*;

pub(crate) fn alloc(_out: *mut u64, _bytes: usize, call: impl FnOnce() -> CUresult) -> CUresult {
    call()
}

pub(crate) fn alloc_v1(_out: *mut u32, _bytes: u32, call: impl FnOnce() -> CUresult) -> CUresult {
    call()
}

pub(crate) fn alloc_pitch(
    _out: *mut u64,
    _pitch: *mut usize,
    _width: usize,
    _height: usize,
    call: impl FnOnce() -> CUresult,
) -> CUresult {
    call()
}

pub(crate) fn alloc_pitch_v1(
    _out: *mut u32,
    _pitch: *mut u32,
    _width: u32,
    _height: u32,
    call: impl FnOnce() -> CUresult,
) -> CUresult {
    call()
}

pub(crate) fn alloc_managed(_out: *mut u64, _bytes: usize, call: impl FnOnce() -> CUresult) -> CUresult {
    call()
}

pub(crate) fn alloc_async(
    _out: *mut u64,
    _bytes: usize,
    _stream: CUstream,
    _per_thread: bool,
    call: impl FnOnce() -> CUresult,
) -> CUresult {
    call()
}

pub(crate) fn alloc_from_pool_async(
    _out: *mut u64,
    _bytes: usize,
    _pool: CUmemoryPool,
    _stream: CUstream,
    _per_thread: bool,
    call: impl FnOnce() -> CUresult,
) -> CUresult {
    call()
}

pub(crate) fn free(_address: u64, call: impl FnOnce() -> CUresult) -> CUresult {
    call()
}

pub(crate) fn free_async(
    _address: u64,
    _stream: CUstream,
    _per_thread: bool,
    call: impl FnOnce() -> CUresult,
) -> CUresult {
    call()
}

#[allow(dead_code, reason = "the pool rows of the table are not hooked in this version")]
pub(crate) fn pool_changed(_pool: CUmemoryPool, call: impl FnOnce() -> CUresult) -> CUresult {
    call()
}
