//! Passes through.

use mgpu_cuda::types::*;

pub(crate) fn mem_info(_free: *mut usize, _total: *mut usize, call: impl FnOnce() -> CUresult) -> CUresult {
    call()
}

pub(crate) fn mem_info_v1(_free: *mut u32, _total: *mut u32, call: impl FnOnce() -> CUresult) -> CUresult {
    call()
}

pub(crate) fn total_mem(_bytes: *mut usize, _device: CUdevice, call: impl FnOnce() -> CUresult) -> CUresult {
    call()
}

pub(crate) fn total_mem_v1(_bytes: *mut u32, _device: CUdevice, call: impl FnOnce() -> CUresult) -> CUresult {
    call()
}
