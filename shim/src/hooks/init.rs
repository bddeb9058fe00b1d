//! `cuInit`: the driver first, then the session, so that the first launch finds it.

use crate::session;
use mgpu_cuda::CUresult;

/// Calls the driver; its answer stands, whatever the session says.
pub(crate) fn init(call: impl FnOnce() -> CUresult) -> CUresult {
    let result = call();
    if result.is_success() {
        let _ = session::get();
    }
    result
}
