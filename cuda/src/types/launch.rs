//! Launches, contexts and stream memory operations.
use super::*;

structures! {
    LAUNCH_LAYOUTS;

    /// A window of the L2 cache.
    #[derive(Clone, Copy, Debug)]
    struct CUaccessPolicyWindow {
        base_ptr: *mut c_void,
        num_bytes: usize,
        hitRatio: f32,
        hitProp: CUaccessProperty,
        missProp: CUaccessProperty,
    }

    /// Value of a launch attribute; which arm counts follows from its id.
    #[derive(Clone, Copy)]
    union CUlaunchAttributeValue {
        /// The size that every version keeps.
        pad: [u8; 64],
        /// `CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW`.
        accessPolicyWindow: CUaccessPolicyWindow,
        /// `CU_LAUNCH_ATTRIBUTE_COOPERATIVE`.
        cooperative: c_int,
        /// `CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION`: x, y, z.
        clusterDim: [c_uint; 3],
        /// `CU_LAUNCH_ATTRIBUTE_PRIORITY`.
        priority: c_int,
    }

    /// One attribute of a launch.
    #[derive(Clone, Copy)]
    struct CUlaunchAttribute {
        /// Which.
        id: CUlaunchAttributeID,
        /// Padding of the header.
        pad: [u8; 4],
        /// Its value.
        value: CUlaunchAttributeValue,
    }

    /// Argument of `cuLaunchKernelEx`.
    #[derive(Clone, Copy, Debug)]
    struct CUlaunchConfig {
        gridDimX: c_uint,
        gridDimY: c_uint,
        gridDimZ: c_uint,
        blockDimX: c_uint,
        blockDimY: c_uint,
        blockDimZ: c_uint,
        sharedMemBytes: c_uint,
        hStream: CUstream,
        attrs: *mut CUlaunchAttribute,
        numAttrs: c_uint,
    }

    /// One launch of `cuLaunchCooperativeKernelMultiDevice`.
    #[derive(Clone, Copy, Debug)]
    struct CUDA_LAUNCH_PARAMS {
        function: CUfunction,
        gridDimX: c_uint,
        gridDimY: c_uint,
        gridDimZ: c_uint,
        blockDimX: c_uint,
        blockDimY: c_uint,
        blockDimZ: c_uint,
        sharedMemBytes: c_uint,
        hStream: CUstream,
        kernelParams: *mut *mut c_void,
    }

    /// How many SMs a context may use.
    #[derive(Clone, Copy, Debug, Default)]
    struct CUexecAffinitySmCount {
        /// SMs.
        val: c_uint,
    }

    /// Execution affinity of a context. The header's union has one arm so far.
    #[derive(Clone, Copy, Debug, Default)]
    struct CUexecAffinityParam {
        /// Which.
        type_: CUexecAffinityType,
        /// Its value.
        param: CUexecAffinitySmCount,
    }

    /// CUDA-in-graphics data of a context.
    #[derive(Clone, Copy, Debug)]
    struct CUctxCigParam {
        /// Kind of `sharedData`.
        sharedDataType: CUcigDataType,
        /// Object of the graphics API.
        sharedData: *mut c_void,
    }

    /// Argument of `cuCtxCreate_v4`.
    #[derive(Clone, Copy, Debug)]
    struct CUctxCreateParams {
        /// Affinities, or null.
        execAffinityParams: *mut CUexecAffinityParam,
        /// How many.
        numExecAffinityParams: c_int,
        /// Graphics context, or null.
        cigParams: *mut CUctxCigParam,
    }

    /// Wait or write arm of [`CUstreamBatchMemOpParams`].
    #[derive(Clone, Copy, Debug)]
    struct CUstreamMemOpValueParams as "__typeof__(((CUstreamBatchMemOpParams *)0)->waitValue)" {
        operation: CUstreamBatchMemOpType,
        address: CUdeviceptr,
        /// A 32-bit operation uses the low half.
        value64: u64,
        flags: c_uint,
        alias: CUdeviceptr,
    }

    /// Flush or barrier arm of [`CUstreamBatchMemOpParams`].
    #[derive(Clone, Copy, Debug)]
    struct CUstreamMemOpFlagsParams as "__typeof__(((CUstreamBatchMemOpParams *)0)->memoryBarrier)" {
        operation: CUstreamBatchMemOpType,
        flags: c_uint,
    }

    /// One stream memory operation of a batch.
    #[derive(Clone, Copy)]
    union CUstreamBatchMemOpParams {
        /// Which arm counts.
        operation: CUstreamBatchMemOpType,
        /// Wait for a value.
        waitValue: CUstreamMemOpValueParams,
        /// Write a value.
        writeValue: CUstreamMemOpValueParams,
        /// Flush remote writes.
        flushRemoteWrites: CUstreamMemOpFlagsParams,
        /// Memory barrier.
        memoryBarrier: CUstreamMemOpFlagsParams,
        /// The size that every version keeps.
        pad: [u64; 6],
    }
}

/// Stream attributes are launch attributes.
pub type CUstreamAttrValue = CUlaunchAttributeValue;

/// Kernel-node attributes are launch attributes.
pub type CUkernelNodeAttrValue = CUlaunchAttributeValue;
