//! Handles (pointers to what only the driver knows) and the callbacks that an application passes.
use super::{CUdevice, CUgraphNodeParams, CUgraphRecaptureStatus, CUlogLevel, opaque::CUasyncNotificationInfo};
use crate::CUresult;
use core::ffi::{c_char, c_int, c_void};

macro_rules! handles {
    ($($name:ident = $inner:ident;)*) => {
        pub(super) const HANDLE_LAYOUTS: &[super::Layout] = &[$(scalar_layout!($name)),*];
        $(
        #[doc = concat!("What a [`", stringify!($name), "`] points to; only the driver knows it.")]
        #[repr(C)]
        #[derive(Debug)]
        pub struct $inner { _private: [u8; 0] }
        #[doc = concat!("Handle `", stringify!($name), "`: compare it, pass it on, never look inside.")]
        pub type $name = *mut $inner;
        )*
    };
}

handles! {
    CUarray = CUarray_st;
    CUasyncCallbackHandle = CUasyncCallbackEntry_st;
    CUcheckpointOperationHandle = CUIcheckpointOperation_st;
    CUcontext = CUctx_st;
    CUcoredumpCallbackHandle = CUcoredumpCallbackEntry_st;
    CUdevResourceDesc = CUdevResourceDesc_st;
    CUeglStreamConnection = CUeglStreamConnection_st;
    CUevent = CUevent_st;
    CUexternalMemory = CUextMemory_st;
    CUexternalSemaphore = CUextSemaphore_st;
    CUfunction = CUfunc_st;
    CUgraph = CUgraph_st;
    CUgraphDeviceNode = CUgraphDeviceUpdatableNode_st;
    CUgraphExec = CUgraphExec_st;
    CUgraphNode = CUgraphNode_st;
    CUgraphicsResource = CUgraphicsResource_st;
    CUgreenCtx = CUgreenCtx_st;
    CUkernel = CUkern_st;
    CUlibrary = CUlib_st;
    CUlinkState = CUlinkState_st;
    CUlogsCallbackHandle = CUlogsCallbackEntry_st;
    CUmemoryPool = CUmemPoolHandle_st;
    CUmipmappedArray = CUmipmappedArray_st;
    CUmodule = CUmod_st;
    CUstream = CUstream_st;
    CUsurfref = CUsurfref_st;
    CUtexref = CUtexref_st;
    CUuserObject = CUuserObject_st;
}

/// EGL's image handle.
pub type EGLImageKHR = *mut c_void;
/// EGL's stream handle.
pub type EGLStreamKHR = *mut c_void;
/// EGL's fence handle.
pub type EGLSyncKHR = *mut c_void;

/// Host function of `cuLaunchHostFunc`; runs in stream order on a thread of the driver.
pub type CUhostFn = Option<unsafe extern "C" fn(user_data: *mut c_void)>;
/// Callback of `cuStreamAddCallback`.
pub type CUstreamCallback = Option<unsafe extern "C" fn(stream: CUstream, status: CUresult, user_data: *mut c_void)>;
/// Callback of the occupancy calculator: block size to dynamic shared memory.
pub type CUoccupancyB2DSize = Option<unsafe extern "C" fn(block_size: c_int) -> usize>;
/// Callback of `cuDeviceRegisterAsyncNotification`.
pub type CUasyncCallback = Option<
    unsafe extern "C" fn(info: *mut CUasyncNotificationInfo, user_data: *mut c_void, callback: CUasyncCallbackHandle),
>;
/// Callback of `cuCoredumpRegisterStartCallback` and its sibling.
pub type CUcoredumpStatusCallback =
    Option<unsafe extern "C" fn(user_data: *mut c_void, process: c_int, device: CUdevice)>;
/// Callback of `cuLogsRegisterCallback`.
pub type CUlogsCallback =
    Option<unsafe extern "C" fn(data: *mut c_void, level: CUlogLevel, message: *mut c_char, length: usize)>;
/// Callback of `cuStreamBeginRecaptureToGraph`.
pub type CUgraphRecaptureCallback = Option<
    unsafe extern "C" fn(
        data: *mut c_void,
        node: CUgraphNode,
        original: *const CUgraphNodeParams,
        recaptured: *const CUgraphNodeParams,
        status: CUgraphRecaptureStatus,
    ) -> CUresult,
>;
