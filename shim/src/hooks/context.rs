//! Passes through.

use mgpu_cuda::types::*;

pub(crate) fn destroy(_context: CUcontext, call: impl FnOnce() -> CUresult) -> CUresult {
    call()
}

pub(crate) fn primary_release(_device: CUdevice, call: impl FnOnce() -> CUresult) -> CUresult {
    call()
}
