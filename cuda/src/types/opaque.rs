//! Structures that only pass through us by pointer, and a few that pass by value as bytes.
use super::{CUarray_format, c_uint, c_void};

macro_rules! opaque {
    ($($name:ident)*) => { $(
        #[doc = concat!("`", stringify!($name), "` of the header; we pass its address on and never read it.")]
        #[repr(C)]
        #[derive(Debug)]
        pub struct $name { _private: [u8; 0] }
    )* };
}

opaque! {
    CUDA_ARRAY_MEMORY_REQUIREMENTS
    CUDA_ARRAY_SPARSE_PROPERTIES
    CUDA_BATCH_MEM_OP_NODE_PARAMS
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC
    CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC
    CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC
    CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS
    CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS
    CUDA_EXT_SEM_SIGNAL_NODE_PARAMS
    CUDA_EXT_SEM_WAIT_NODE_PARAMS
    CUDA_FABRIC_COPY_BATCH_OP
    CUDA_RESOURCE_DESC
    CUDA_RESOURCE_VIEW_DESC
    CUDA_TEXTURE_DESC
    CU_DEV_SM_RESOURCE_GROUP_PARAMS
    CUarrayMapInfo
    CUasyncNotificationInfo
    CUcheckpointCheckpointArgs
    CUcheckpointLockArgs
    CUcheckpointRestoreArgs
    CUcheckpointUnlockArgs
    CUcliqueInfo
    CUdevResource
    CUlogicalEndpointProp
    CUmemDecompressParams
    CUmulticastObjectProp
    CUstreamCigCaptureParams
    CUtensorMap
    VdpGetProcAddress
}

structures! {
    OPAQUE_LAYOUTS;

    /// 64 bytes that name another process's allocation; passed by value.
    #[derive(Clone, Copy, Debug)]
    struct CUipcMemHandle {
        /// Meaning known to the driver only.
        reserved: [u8; 64],
    }

    /// 64 bytes that name another process's event; passed by value.
    #[derive(Clone, Copy, Debug)]
    struct CUipcEventHandle {
        /// Meaning known to the driver only.
        reserved: [u8; 64],
    }

    /// 64 bytes that name a pointer into an exported pool.
    #[derive(Clone, Copy, Debug)]
    struct CUmemPoolPtrExportData {
        /// Meaning known to the driver only.
        reserved: [u8; 64],
    }

    /// An EGL frame; passed by value.
    #[derive(Clone, Copy, Debug)]
    struct CUeglFrame {
        /// One address or array a plane.
        frame: [*mut c_void; 3],
        width: c_uint,
        height: c_uint,
        depth: c_uint,
        pitch: c_uint,
        planeCount: c_uint,
        numChannels: c_uint,
        frameType: c_uint,
        eglColorFormat: c_uint,
        cuFormat: CUarray_format,
    }
}
