//! Result codes as this driver uses them inside: a function fails with a [`Fail`], the exports turn it into a `CUresult`.
//! It must never know which function failed.

use mgpu_sim_link::Error;

/// A CUresult that is not success.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fail(pub(crate) u32);

/// What every function of the driver gives.
pub(crate) type Res<T = ()> = Result<T, Fail>;

pub(crate) const INVALID_VALUE: Fail = Fail(1);
pub(crate) const OUT_OF_MEMORY: Fail = Fail(2);
pub(crate) const NOT_INITIALIZED: Fail = Fail(3);
pub(crate) const NO_DEVICE: Fail = Fail(100);
pub(crate) const INVALID_DEVICE: Fail = Fail(101);
pub(crate) const INVALID_CONTEXT: Fail = Fail(201);
pub(crate) const PEER_ACCESS_ALREADY_ENABLED: Fail = Fail(704);
pub(crate) const PEER_ACCESS_NOT_ENABLED: Fail = Fail(705);
pub(crate) const CONTEXT_IS_DESTROYED: Fail = Fail(709);
pub(crate) const HOST_MEMORY_ALREADY_REGISTERED: Fail = Fail(712);
pub(crate) const HOST_MEMORY_NOT_REGISTERED: Fail = Fail(713);
pub(crate) const FILE_NOT_FOUND: Fail = Fail(301);
pub(crate) const INVALID_HANDLE: Fail = Fail(400);
pub(crate) const ILLEGAL_STATE: Fail = Fail(401);
pub(crate) const NOT_FOUND: Fail = Fail(500);
pub(crate) const NOT_READY: Fail = Fail(600);
pub(crate) const COOPERATIVE_LAUNCH_TOO_LARGE: Fail = Fail(720);
pub(crate) const UNKNOWN: Fail = Fail(999);
pub(crate) const NOT_SUPPORTED: Fail = Fail(801);
pub(crate) const CAPTURE_UNSUPPORTED: Fail = Fail(900);
pub(crate) const CAPTURE_INVALIDATED: Fail = Fail(901);
pub(crate) const CAPTURE_UNMATCHED: Fail = Fail(903);
pub(crate) const CAPTURE_UNJOINED: Fail = Fail(904);
pub(crate) const CAPTURE_ISOLATION: Fail = Fail(905);
pub(crate) const CAPTURE_IMPLICIT: Fail = Fail(906);
pub(crate) const CAPTURED_EVENT: Fail = Fail(907);
pub(crate) const CAPTURE_WRONG_THREAD: Fail = Fail(908);
pub(crate) const GRAPH_EXEC_UPDATE_FAILURE: Fail = Fail(910);

impl From<Error> for Fail {
    fn from(error: Error) -> Self {
        match error {
            Error::NoServer => NO_DEVICE,
            Error::ServerGone => UNKNOWN,
            Error::Forked => NOT_INITIALIZED,
            Error::OutOfMemory => OUT_OF_MEMORY,
            Error::InvalidHandle => INVALID_HANDLE,
            Error::InvalidValue => INVALID_VALUE,
            Error::Fault(code) => Fail(code),
            Error::NotSupported => NOT_SUPPORTED,
        }
    }
}

/// Stores through an out-parameter.
///
/// # Safety
/// `at` is null or valid for a write of `T`.
///
/// # Errors
/// [`INVALID_VALUE`] for null.
pub(crate) unsafe fn put<T>(at: *mut T, value: T) -> Res {
    if at.is_null() {
        return Err(INVALID_VALUE);
    }
    // SAFETY: not null, and the caller promises the rest.
    unsafe { at.write(value) };
    Ok(())
}

/// Stores through an optional out-parameter: null is left alone.
///
/// # Safety
/// As [`put`].
pub(crate) unsafe fn put_if<T>(at: *mut T, value: T) {
    if !at.is_null() {
        // SAFETY: not null, and the caller promises the rest.
        unsafe { at.write(value) };
    }
}
