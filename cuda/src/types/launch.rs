//! Launches, contexts and stream memory operations.
use super::*;

/// A window of the L2 cache.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct CUaccessPolicyWindow {
    pub base_ptr: *mut c_void,
    pub num_bytes: usize,
    pub hitRatio: f32,
    pub hitProp: CUaccessProperty,
    pub missProp: CUaccessProperty,
}

/// Value of a launch attribute; which arm counts follows from its id.
#[repr(C)]
#[derive(Clone, Copy)]
pub union CUlaunchAttributeValue {
    /// The size that every version keeps.
    pub pad: [u8; 64],
    /// `CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW`.
    pub accessPolicyWindow: CUaccessPolicyWindow,
    /// `CU_LAUNCH_ATTRIBUTE_COOPERATIVE`.
    pub cooperative: c_int,
    /// `CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION`: x, y, z.
    pub clusterDim: [c_uint; 3],
    /// `CU_LAUNCH_ATTRIBUTE_PRIORITY`.
    pub priority: c_int,
}

/// Stream attributes are launch attributes.
pub type CUstreamAttrValue = CUlaunchAttributeValue;
/// Kernel-node attributes are launch attributes.
pub type CUkernelNodeAttrValue = CUlaunchAttributeValue;

/// One attribute of a launch.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct CUlaunchAttribute {
    /// Which.
    pub id: CUlaunchAttributeID,
    /// Padding of the header.
    pub pad: [u8; 4],
    /// Its value.
    pub value: CUlaunchAttributeValue,
}

/// Argument of `cuLaunchKernelEx`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct CUlaunchConfig {
    pub gridDimX: c_uint,
    pub gridDimY: c_uint,
    pub gridDimZ: c_uint,
    pub blockDimX: c_uint,
    pub blockDimY: c_uint,
    pub blockDimZ: c_uint,
    pub sharedMemBytes: c_uint,
    pub hStream: CUstream,
    pub attrs: *mut CUlaunchAttribute,
    pub numAttrs: c_uint,
}

/// One launch of `cuLaunchCooperativeKernelMultiDevice`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct CUDA_LAUNCH_PARAMS {
    pub function: CUfunction,
    pub gridDimX: c_uint,
    pub gridDimY: c_uint,
    pub gridDimZ: c_uint,
    pub blockDimX: c_uint,
    pub blockDimY: c_uint,
    pub blockDimZ: c_uint,
    pub sharedMemBytes: c_uint,
    pub hStream: CUstream,
    pub kernelParams: *mut *mut c_void,
}

/// How many SMs a context may use.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct CUexecAffinitySmCount {
    /// SMs.
    pub val: c_uint,
}

/// Execution affinity of a context. The header's union has one arm so far.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct CUexecAffinityParam {
    /// Which.
    pub type_: CUexecAffinityType,
    /// Its value.
    pub param: CUexecAffinitySmCount,
}

/// CUDA-in-graphics data of a context.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct CUctxCigParam {
    /// Kind of `sharedData`.
    pub sharedDataType: CUcigDataType,
    /// Object of the graphics API.
    pub sharedData: *mut c_void,
}

/// Argument of `cuCtxCreate_v4`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct CUctxCreateParams {
    /// Affinities, or null.
    pub execAffinityParams: *mut CUexecAffinityParam,
    /// How many.
    pub numExecAffinityParams: c_int,
    /// Graphics context, or null.
    pub cigParams: *mut CUctxCigParam,
}

/// Wait or write arm of [`CUstreamBatchMemOpParams`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct CUstreamMemOpValueParams {
    pub operation: CUstreamBatchMemOpType,
    pub address: CUdeviceptr,
    /// A 32-bit operation uses the low half.
    pub value64: u64,
    pub flags: c_uint,
    pub alias: CUdeviceptr,
}

/// Flush or barrier arm of [`CUstreamBatchMemOpParams`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct CUstreamMemOpFlagsParams {
    pub operation: CUstreamBatchMemOpType,
    pub flags: c_uint,
}

/// One stream memory operation of a batch.
#[repr(C)]
#[derive(Clone, Copy)]
pub union CUstreamBatchMemOpParams {
    /// Which arm counts.
    pub operation: CUstreamBatchMemOpType,
    /// Wait for a value.
    pub waitValue: CUstreamMemOpValueParams,
    /// Write a value.
    pub writeValue: CUstreamMemOpValueParams,
    /// Flush remote writes.
    pub flushRemoteWrites: CUstreamMemOpFlagsParams,
    /// Memory barrier.
    pub memoryBarrier: CUstreamMemOpFlagsParams,
    /// The size that every version keeps.
    pub pad: [u64; 6],
}
