//! Passes through.

use mgpu_cuda::types::*;

pub(crate) fn destroy(_stream: CUstream, call: impl FnOnce() -> CUresult) -> CUresult {
    call()
}

pub(crate) fn capture_begin(call: impl FnOnce() -> CUresult) -> CUresult {
    call()
}

pub(crate) fn capture_end(call: impl FnOnce() -> CUresult) -> CUresult {
    call()
}
