//! `cuInit`: the driver first, then the session, so that the first launch finds it.

use crate::session;
use crate::session::anchor::{self, Anchor};
use mgpu_cuda::{CUDA_ERROR_INVALID_VALUE, CUresult};

/// Calls the driver; its answer stands, unless the process is refused (`session` says why on stderr): what was asked for can't be
/// enforced, and nobody gets everything instead.
pub(crate) fn init(call: impl FnOnce() -> CUresult) -> CUresult {
    let result = call();
    if result.is_success() {
        let _ = session::get();
        if anchor::get().is_some_and(Anchor::is_refused) {
            return CUDA_ERROR_INVALID_VALUE;
        }
    }
    result
}
