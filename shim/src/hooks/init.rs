//! Passes through.

use mgpu_cuda::types::*;

pub(crate) fn init(call: impl FnOnce() -> CUresult) -> CUresult {
    call()
}
