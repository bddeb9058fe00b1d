//! A context's end takes its allocations and streams with it. Its making costs nothing here: overhead is the coordinator's to
//! measure.

use crate::markers;
use crate::session;
use mgpu_cuda::CUresult;
use mgpu_cuda::types::{CUcontext, CUdevice};

/// `cuCtxDestroy`, `cuCtxDetach`.
pub(crate) fn destroy(context: CUcontext, call: impl FnOnce() -> CUresult) -> CUresult {
    let result = call();
    if result.is_success() {
        gone(context);
    }
    result
}

/// `cuDevicePrimaryCtxRelease`, `cuDevicePrimaryCtxReset`: the context goes with its last reference, or at once.
pub(crate) fn primary_release(device: CUdevice, call: impl FnOnce() -> CUresult) -> CUresult {
    let Some(process) = session::process() else { return call() };
    let primary = process.driver.primary_of(device);
    let result = call();
    if result.is_success()
        && let Some(context) = primary
        && !process.driver.is_primary_active(device)
    {
        gone(context);
    }
    result
}

fn gone(context: CUcontext) {
    let (Some(process), Some(attachment)) = (session::process(), session::current()) else { return };
    process.ledger.drop_context(context as u64, &process.purse);
    attachment.desk.streams.set_dead(context);
    attachment.desk.streams.close(true, |entry| entry.context() == context);
    markers::forget_registration(attachment.desk);
}
