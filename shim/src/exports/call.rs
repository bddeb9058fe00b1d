//! What surrounds every hook: the guard against the driver calling itself, and the fence that no panic crosses.

use crate::local::Inside;
use mgpu_cuda::{CUDA_ERROR_NO_DEVICE, CUDA_ERROR_NOT_SUPPORTED, CUDA_ERROR_UNKNOWN, CUresult};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs `hook` on behalf of the application, or `driver` when the driver itself calls (its own exports lead through us).
///
/// A panic in the hook becomes `CUDA_ERROR_UNKNOWN`: the application is not ours to end.
#[inline]
pub(super) fn hooked(hook: impl FnOnce() -> CUresult, driver: impl FnOnce() -> CUresult) -> CUresult {
    let Some(_inside) = Inside::enter() else { return driver() };
    match catch_unwind(AssertUnwindSafe(hook)) {
        Ok(result) => result,
        Err(payload) => fenced(payload),
    }
}

#[cold]
#[inline(never)]
fn fenced(payload: Box<dyn std::any::Any + Send>) -> CUresult {
    // Dropping a payload could panic again.
    std::mem::forget(payload);
    CUDA_ERROR_UNKNOWN
}

/// The answer of a function that the driver does not have.
#[cold]
#[inline(never)]
pub(super) fn missing() -> CUresult {
    match crate::resolver::library::loaded() {
        Some(_) => CUDA_ERROR_NOT_SUPPORTED,
        None => CUDA_ERROR_NO_DEVICE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mgpu_cuda::CUDA_SUCCESS;

    #[test]
    fn the_driver_calling_itself_meets_no_hook() {
        let inner = || hooked(|| CUDA_ERROR_UNKNOWN, || CUDA_SUCCESS);
        assert_eq!(hooked(inner, || CUDA_ERROR_UNKNOWN), CUDA_SUCCESS);
    }

    #[test]
    fn a_panic_becomes_a_driver_error_and_the_next_call_is_hooked_again() {
        assert_eq!(hooked(|| panic!("on purpose"), || CUDA_SUCCESS), CUDA_ERROR_UNKNOWN);
        assert_eq!(hooked(|| CUDA_SUCCESS, || CUDA_ERROR_UNKNOWN), CUDA_SUCCESS);
    }
}
