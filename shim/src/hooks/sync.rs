//! Passes through.

use mgpu_cuda::types::*;

pub(crate) fn context(call: impl FnOnce() -> CUresult) -> CUresult {
    call()
}

pub(crate) fn stream(_stream: CUstream, _per_thread: bool, call: impl FnOnce() -> CUresult) -> CUresult {
    call()
}

pub(crate) fn event(call: impl FnOnce() -> CUresult) -> CUresult {
    call()
}
