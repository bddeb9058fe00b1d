//! C enumerations and integer typedefs that go by value. An enumeration is a plain integer here: a newer driver or
//! header may send a value that we have never heard of, which a Rust `enum` must never hold.
use core::ffi::{c_int, c_uint, c_ulonglong};

macro_rules! integers {
    ($($name:ident = $base:ty, $what:literal;)*) => {
        $(#[doc = $what] pub type $name = $base;)*
        pub(super) const INTEGER_LAYOUTS: &[super::Layout] = &[$(scalar_layout!($name)),*];
    };
}

integers! {
    CUdevice = c_int, "Ordinal of a device as this process sees it; never a key across processes.";
    CUdeviceptr = c_ulonglong, "Address in the unified address space.";
    CUdeviceptr_v1 = c_uint, "32-bit device address of the first interface.";
    CUtexObject = c_ulonglong, "A texture object.";
    CUsurfObject = c_ulonglong, "A surface object.";
    CUmemGenericAllocationHandle = c_ulonglong, "Physical memory made by `cuMemCreate`; not an address.";
    CUgraphConditionalHandle = u64, "Handle of a conditional node's value.";
    CUlogIterator = c_uint, "Position in the driver's log.";
    CUlogicalEndpointId = u32, "Name of a fabric endpoint.";
    cuuint32_t = u32, "The header's own 32-bit integer.";
    cuuint64_t = u64, "The header's own 64-bit integer.";
    EGLint = c_int, "EGL's integer.";
    GLenum = c_uint, "OpenGL's enumeration.";
    GLuint = c_uint, "OpenGL's name of an object.";
    VdpDevice = c_uint, "A VDPAU device.";
    VdpOutputSurface = c_uint, "A VDPAU output surface.";
    VdpVideoSurface = c_uint, "A VDPAU video surface.";
}

macro_rules! enumerations {
    ($($name:ident)*) => {
        $(#[doc = concat!("The C enumeration `", stringify!($name), "`.")] pub type $name = c_uint;)*
        pub(super) const ENUM_LAYOUTS: &[super::Layout] = &[$(scalar_layout!($name)),*];
    };
}

enumerations! {
    CUGLDeviceList
    CUaccessProperty
    CUaddress_mode
    CUarray_format
    CUatomicOperation
    CUcigDataType
    CUclusterSchedulingPolicy
    CUcoredumpSettings
    CUdevResourceType
    CUdevice_P2PAttribute
    CUdevice_attribute
    CUdriverProcAddressQueryResult
    CUexecAffinityType
    CUexternalMemoryHandleType
    CUfilter_mode
    CUflushGPUDirectRDMAWritesScope
    CUflushGPUDirectRDMAWritesTarget
    CUfunc_cache
    CUfunctionLoadingState
    CUfunction_attribute
    CUgraphExecUpdateResult
    CUgraphInstantiateResult
    CUgraphMem_attribute
    CUgraphNodeType
    CUgraphRecaptureStatus
    CUjitInputType
    CUjit_option
    CUlaunchAttributeID
    CUlibraryOption
    CUlimit
    CUlogLevel
    CUlogicalEndpointIpcHandleType
    CUmemAccess_flags
    CUmemAllocationGranularity_flags
    CUmemAllocationHandleType
    CUmemAllocationType
    CUmemLocationType
    CUmemPool_attribute
    CUmemRangeHandleType
    CUmem_advise
    CUmem_range_attribute
    CUmemcpy3DOperandType
    CUmemcpySrcAccessOrder
    CUmemorytype
    CUmoduleLoadingMode
    CUmulticastGranularity_flags
    CUoutput_mode
    CUpointer_attribute
    CUprocessState
    CUsharedconfig
    CUstreamBatchMemOpType
    CUstreamCaptureMode
    CUstreamCaptureStatus
    CUsynchronizationPolicy
    CUtensorMapAllocClass
    CUtensorMapDataType
    CUtensorMapFloatOOBfill
    CUtensorMapIm2ColWideMode
    CUtensorMapInterleave
    CUtensorMapL2promotion
    CUtensorMapSwizzle
}

/// Stream and kernel-node attributes are launch attributes under other names.
pub type CUstreamAttrID = CUlaunchAttributeID;
/// Stream and kernel-node attributes are launch attributes under other names.
pub type CUkernelNodeAttrID = CUlaunchAttributeID;
