//! Graph nodes and instantiation.
use super::*;

/// Kernel node of CUDA 10 to 11.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct CUDA_KERNEL_NODE_PARAMS_v1 {
    pub func: CUfunction,
    pub gridDimX: c_uint,
    pub gridDimY: c_uint,
    pub gridDimZ: c_uint,
    pub blockDimX: c_uint,
    pub blockDimY: c_uint,
    pub blockDimZ: c_uint,
    pub sharedMemBytes: c_uint,
    pub kernelParams: *mut *mut c_void,
    pub extra: *mut *mut c_void,
}

/// Kernel node from CUDA 12 on (the header's `_v2`): a function or a kernel, and a context.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct CUDA_KERNEL_NODE_PARAMS {
    pub func: CUfunction,
    pub gridDimX: c_uint,
    pub gridDimY: c_uint,
    pub gridDimZ: c_uint,
    pub blockDimX: c_uint,
    pub blockDimY: c_uint,
    pub blockDimZ: c_uint,
    pub sharedMemBytes: c_uint,
    pub kernelParams: *mut *mut c_void,
    pub extra: *mut *mut c_void,
    pub kern: CUkernel,
    pub ctx: CUcontext,
}

/// Memset node.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs)]
pub struct CUDA_MEMSET_NODE_PARAMS {
    pub dst: CUdeviceptr,
    pub pitch: usize,
    pub value: c_uint,
    pub elementSize: c_uint,
    pub width: usize,
    pub height: usize,
}

/// Memset node inside [`CUgraphNodeParams`] (the header's `_v2`).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct CUDA_MEMSET_NODE_PARAMS_v2 {
    pub dst: CUdeviceptr,
    pub pitch: usize,
    pub value: c_uint,
    pub elementSize: c_uint,
    pub width: usize,
    pub height: usize,
    pub ctx: CUcontext,
}

/// Copy node inside [`CUgraphNodeParams`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct CUDA_MEMCPY_NODE_PARAMS {
    pub flags: c_int,
    pub reserved: c_int,
    pub copyCtx: CUcontext,
    pub copyParams: CUDA_MEMCPY3D,
}

/// Host-function node.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct CUDA_HOST_NODE_PARAMS {
    pub fn_: CUhostFn,
    pub userData: *mut c_void,
}

/// Allocation node; `dptr` is written by the driver.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct CUDA_MEM_ALLOC_NODE_PARAMS {
    pub poolProps: CUmemPoolProps,
    pub accessDescs: *const CUmemAccessDesc,
    pub accessDescCount: usize,
    pub bytesize: usize,
    pub dptr: CUdeviceptr,
}

/// Arms of [`CUgraphNodeParams`] that we read; the others are its bytes.
#[repr(C)]
#[derive(Clone, Copy)]
pub union CUgraphNodeParamsUnion {
    /// The size that every version keeps.
    pub reserved1: [c_longlong; 29],
    /// `CU_GRAPH_NODE_TYPE_KERNEL`.
    pub kernel: CUDA_KERNEL_NODE_PARAMS,
    /// `CU_GRAPH_NODE_TYPE_MEMCPY`.
    pub memcpy: CUDA_MEMCPY_NODE_PARAMS,
    /// `CU_GRAPH_NODE_TYPE_MEMSET`.
    pub memset: CUDA_MEMSET_NODE_PARAMS_v2,
    /// `CU_GRAPH_NODE_TYPE_HOST`: its first two fields; 13.x adds more behind them.
    pub host: CUDA_HOST_NODE_PARAMS,
    /// `CU_GRAPH_NODE_TYPE_GRAPH`: its first field.
    pub graph: CUgraph,
    /// `CU_GRAPH_NODE_TYPE_WAIT_EVENT` and `CU_GRAPH_NODE_TYPE_EVENT_RECORD`: their first field.
    pub event: CUevent,
    /// `CU_GRAPH_NODE_TYPE_MEM_ALLOC`.
    pub alloc: CUDA_MEM_ALLOC_NODE_PARAMS,
    /// `CU_GRAPH_NODE_TYPE_MEM_FREE`: the address to free.
    pub free: CUdeviceptr,
}

/// Argument of `cuGraphAddNode`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct CUgraphNodeParams {
    /// Which arm counts.
    pub type_: CUgraphNodeType,
    /// Zero.
    pub reserved0: [c_int; 3],
    /// By `type_`.
    pub params: CUgraphNodeParamsUnion,
    /// Zero.
    pub reserved2: c_longlong,
}

/// Which ports an edge joins.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs)]
pub struct CUgraphEdgeData {
    pub from_port: c_uchar,
    pub to_port: c_uchar,
    pub type_: c_uchar,
    pub reserved: [c_uchar; 5],
}

/// Why an update of an executable graph was refused.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct CUgraphExecUpdateResultInfo {
    pub result: CUgraphExecUpdateResult,
    pub errorNode: CUgraphNode,
    pub errorFromNode: CUgraphNode,
}

/// Argument of `cuGraphInstantiateWithParams`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct CUDA_GRAPH_INSTANTIATE_PARAMS {
    pub flags: u64,
    pub hUploadStream: CUstream,
    pub hErrNode_out: CUgraphNode,
    pub result_out: CUgraphInstantiateResult,
}
