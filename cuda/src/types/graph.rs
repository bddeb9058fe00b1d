//! Graph nodes and instantiation.
use super::*;

structures! {
    GRAPH_LAYOUTS;

    /// Kernel node of CUDA 10 to 11.
    #[derive(Clone, Copy, Debug)]
    struct CUDA_KERNEL_NODE_PARAMS_v1 {
        func: CUfunction,
        gridDimX: c_uint,
        gridDimY: c_uint,
        gridDimZ: c_uint,
        blockDimX: c_uint,
        blockDimY: c_uint,
        blockDimZ: c_uint,
        sharedMemBytes: c_uint,
        kernelParams: *mut *mut c_void,
        extra: *mut *mut c_void,
    }

    /// Kernel node from CUDA 12 on (the header's `_v2`): a function or a kernel, and a context.
    #[derive(Clone, Copy, Debug)]
    struct CUDA_KERNEL_NODE_PARAMS {
        func: CUfunction,
        gridDimX: c_uint,
        gridDimY: c_uint,
        gridDimZ: c_uint,
        blockDimX: c_uint,
        blockDimY: c_uint,
        blockDimZ: c_uint,
        sharedMemBytes: c_uint,
        kernelParams: *mut *mut c_void,
        extra: *mut *mut c_void,
        kern: CUkernel,
        ctx: CUcontext,
    }

    /// Memset node.
    #[derive(Clone, Copy, Debug, Default)]
    struct CUDA_MEMSET_NODE_PARAMS {
        dst: CUdeviceptr,
        pitch: usize,
        value: c_uint,
        elementSize: c_uint,
        width: usize,
        height: usize,
    }

    /// Memset node inside [`CUgraphNodeParams`] (the header's `_v2`).
    #[derive(Clone, Copy, Debug)]
    struct CUDA_MEMSET_NODE_PARAMS_v2 {
        dst: CUdeviceptr,
        pitch: usize,
        value: c_uint,
        elementSize: c_uint,
        width: usize,
        height: usize,
        ctx: CUcontext,
    }

    /// Copy node inside [`CUgraphNodeParams`].
    #[derive(Clone, Copy, Debug)]
    struct CUDA_MEMCPY_NODE_PARAMS {
        flags: c_int,
        reserved: c_int,
        copyCtx: CUcontext,
        copyParams: CUDA_MEMCPY3D,
    }

    /// Host-function node.
    #[derive(Clone, Copy, Debug)]
    struct CUDA_HOST_NODE_PARAMS {
        fn_: CUhostFn,
        userData: *mut c_void,
    }

    /// Allocation node; `dptr` is written by the driver.
    #[derive(Clone, Copy, Debug)]
    struct CUDA_MEM_ALLOC_NODE_PARAMS {
        poolProps: CUmemPoolProps,
        accessDescs: *const CUmemAccessDesc,
        accessDescCount: usize,
        bytesize: usize,
        dptr: CUdeviceptr,
    }

    /// Arms of [`CUgraphNodeParams`] that we read; the others are its bytes.
    #[derive(Clone, Copy)]
    union CUgraphNodeParamsUnion as "" {
        /// The size that every version keeps.
        reserved1: [c_longlong; 29],
        /// `CU_GRAPH_NODE_TYPE_KERNEL`.
        kernel: CUDA_KERNEL_NODE_PARAMS,
        /// `CU_GRAPH_NODE_TYPE_MEMCPY`.
        memcpy: CUDA_MEMCPY_NODE_PARAMS,
        /// `CU_GRAPH_NODE_TYPE_MEMSET`.
        memset: CUDA_MEMSET_NODE_PARAMS_v2,
        /// `CU_GRAPH_NODE_TYPE_HOST`: its first two fields; 13.x adds more behind them.
        host: CUDA_HOST_NODE_PARAMS,
        /// `CU_GRAPH_NODE_TYPE_GRAPH`: its first field.
        graph: CUgraph,
        /// `CU_GRAPH_NODE_TYPE_WAIT_EVENT` and `CU_GRAPH_NODE_TYPE_EVENT_RECORD`: their first field.
        event: CUevent,
        /// `CU_GRAPH_NODE_TYPE_MEM_ALLOC`.
        alloc: CUDA_MEM_ALLOC_NODE_PARAMS,
        /// `CU_GRAPH_NODE_TYPE_MEM_FREE`: the address to free.
        free: CUdeviceptr,
    }

    /// Argument of `cuGraphAddNode`.
    #[derive(Clone, Copy)]
    struct CUgraphNodeParams {
        /// Which arm counts.
        type_: CUgraphNodeType,
        /// Zero.
        reserved0: [c_int; 3],
        /// By `type_`.
        params: CUgraphNodeParamsUnion,
        /// Zero.
        reserved2: c_longlong,
    }

    /// Which ports an edge joins.
    #[derive(Clone, Copy, Debug, Default)]
    struct CUgraphEdgeData {
        from_port: c_uchar,
        to_port: c_uchar,
        type_: c_uchar,
        reserved: [c_uchar; 5],
    }

    /// Why an update of an executable graph was refused.
    #[derive(Clone, Copy, Debug)]
    struct CUgraphExecUpdateResultInfo {
        result: CUgraphExecUpdateResult,
        errorNode: CUgraphNode,
        errorFromNode: CUgraphNode,
    }

    /// Argument of `cuGraphInstantiateWithParams`.
    #[derive(Clone, Copy, Debug)]
    struct CUDA_GRAPH_INSTANTIATE_PARAMS {
        flags: u64,
        hUploadStream: CUstream,
        hErrNode_out: CUgraphNode,
        result_out: CUgraphInstantiateResult,
    }
}
