//! Which functions of the table are simulated, by chapter. Everything that is not named here is a stub.
//!
//! An explicit `use` wins over the stubs' glob, so a name that has no body here, or a body that no name leads to, does not
//! compile. It must never hold a body itself.

pub(crate) use crate::exports::stubs::*;

pub(crate) use crate::api::array::{
    cuArray3DCreate_v2, cuArray3DGetDescriptor_v2, cuArrayCreate_v2, cuArrayDestroy, cuArrayGetDescriptor_v2,
    cuMemcpyAtoA_v2, cuMemcpyAtoD_v2, cuMemcpyAtoH_v2, cuMemcpyAtoHAsync_v2, cuMemcpyDtoA_v2, cuMemcpyHtoA_v2,
    cuMemcpyHtoAAsync_v2, cuMipmappedArrayCreate, cuMipmappedArrayDestroy, cuMipmappedArrayGetLevel,
};
pub(crate) use crate::api::capture::{
    cuStreamBeginCapture, cuStreamBeginCapture_v2, cuStreamBeginCaptureToGraph, cuStreamEndCapture,
    cuStreamGetCaptureInfo, cuStreamGetCaptureInfo_v2, cuStreamGetCaptureInfo_v3, cuStreamIsCapturing,
    cuStreamUpdateCaptureDependencies, cuStreamUpdateCaptureDependencies_v2, cuThreadExchangeStreamCaptureMode,
};
pub(crate) use crate::api::context::{
    cuCtxAttach, cuCtxCreate, cuCtxCreate_v2, cuCtxCreate_v3, cuCtxCreate_v4, cuCtxDestroy, cuCtxDestroy_v2,
    cuCtxDetach, cuCtxGetApiVersion, cuCtxGetCacheConfig, cuCtxGetCurrent, cuCtxGetDevice, cuCtxGetDevice_v2,
    cuCtxGetExecAffinity, cuCtxGetFlags, cuCtxGetId, cuCtxGetLimit, cuCtxGetSharedMemConfig,
    cuCtxGetStreamPriorityRange, cuCtxPopCurrent, cuCtxPopCurrent_v2, cuCtxPushCurrent, cuCtxPushCurrent_v2,
    cuCtxResetPersistingL2Cache, cuCtxSetCacheConfig, cuCtxSetCurrent, cuCtxSetFlags, cuCtxSetLimit,
    cuCtxSetSharedMemConfig, cuCtxSynchronize, cuCtxSynchronize_v2,
};
pub(crate) use crate::api::copy::{
    cuMemPrefetchAsync, cuMemPrefetchAsync_v2, cuMemcpy, cuMemcpyAsync, cuMemcpyBatchAsync, cuMemcpyBatchAsync_v2,
    cuMemcpyDtoD_v2, cuMemcpyDtoDAsync_v2, cuMemcpyDtoH_v2, cuMemcpyDtoHAsync_v2, cuMemcpyHtoD_v2,
    cuMemcpyHtoDAsync_v2, cuMemcpyPeer, cuMemcpyPeerAsync, cuMemcpyWithAttributesAsync, cuStreamAttachMemAsync,
};
pub(crate) use crate::api::device::{
    cuCtxDisablePeerAccess, cuCtxEnablePeerAccess, cuDeviceCanAccessPeer, cuDeviceComputeCapability, cuDeviceGet,
    cuDeviceGetAttribute, cuDeviceGetByPCIBusId, cuDeviceGetCount, cuDeviceGetExecAffinitySupport, cuDeviceGetLuid,
    cuDeviceGetName, cuDeviceGetP2PAttribute, cuDeviceGetPCIBusId, cuDeviceGetProperties, cuDeviceGetUuid,
    cuDeviceGetUuid_v2, cuDeviceTotalMem, cuDeviceTotalMem_v2,
};
pub(crate) use crate::api::event::{
    cuCtxRecordEvent, cuCtxWaitEvent, cuEventCreate, cuEventDestroy, cuEventDestroy_v2, cuEventElapsedTime,
    cuEventElapsedTime_v2, cuEventQuery, cuEventRecord, cuEventRecordWithFlags, cuEventSynchronize, cuStreamWaitEvent,
};
pub(crate) use crate::api::function::{
    cuFuncGetAttribute, cuFuncGetName, cuFuncGetParamCount, cuFuncGetParamInfo, cuFuncIsLoaded, cuFuncLoad,
    cuFuncSetAttribute, cuFuncSetCacheConfig, cuFuncSetSharedMemConfig, cuKernelGetAttribute, cuKernelGetName,
    cuKernelGetParamCount, cuKernelGetParamInfo, cuKernelSetAttribute, cuKernelSetCacheConfig,
    cuOccupancyAvailableDynamicSMemPerBlock, cuOccupancyMaxActiveBlocksPerMultiprocessor,
    cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, cuOccupancyMaxPotentialBlockSize,
    cuOccupancyMaxPotentialBlockSizeWithFlags, cuOccupancyMaxPotentialClusterSize,
};
pub(crate) use crate::api::graph::{
    cuGraphAddDependencies, cuGraphAddDependencies_v2, cuGraphClone, cuGraphCreate, cuGraphDebugDotPrint,
    cuGraphDestroy, cuGraphDestroyNode, cuGraphGetEdges, cuGraphGetEdges_v2, cuGraphGetId, cuGraphGetNodes,
    cuGraphGetRootNodes, cuGraphNodeFindInClone, cuGraphNodeGetContainingGraph, cuGraphNodeGetDependencies,
    cuGraphNodeGetDependencies_v2, cuGraphNodeGetDependentNodes, cuGraphNodeGetDependentNodes_v2,
    cuGraphNodeGetLocalId, cuGraphNodeGetToolsId, cuGraphNodeGetType, cuGraphRemoveDependencies,
    cuGraphRemoveDependencies_v2,
};
pub(crate) use crate::api::graph_exec::{
    cuGraphExecChildGraphNodeSetParams, cuGraphExecDestroy, cuGraphExecEventRecordNodeSetEvent,
    cuGraphExecEventWaitNodeSetEvent, cuGraphExecGetFlags, cuGraphExecGetId, cuGraphExecHostNodeSetParams,
    cuGraphExecKernelNodeSetParams, cuGraphExecKernelNodeSetParams_v2, cuGraphExecMemcpyNodeSetParams,
    cuGraphExecMemsetNodeSetParams, cuGraphExecNodeSetParams, cuGraphExecUpdate, cuGraphExecUpdate_v2,
    cuGraphInstantiate, cuGraphInstantiate_v2, cuGraphInstantiateWithFlags, cuGraphInstantiateWithParams,
    cuGraphLaunch, cuGraphNodeGetEnabled, cuGraphNodeSetEnabled, cuGraphUpload,
};
pub(crate) use crate::api::graph_nodes::{
    cuGraphAddBatchMemOpNode, cuGraphAddChildGraphNode, cuGraphAddEmptyNode, cuGraphAddEventRecordNode,
    cuGraphAddEventWaitNode, cuGraphAddHostNode, cuGraphAddKernelNode, cuGraphAddKernelNode_v2, cuGraphAddMemcpyNode,
    cuGraphAddMemsetNode, cuGraphAddNode, cuGraphAddNode_v2, cuGraphAddNode_v3, cuGraphChildGraphNodeGetGraph,
    cuGraphEventRecordNodeGetEvent, cuGraphEventRecordNodeSetEvent, cuGraphEventWaitNodeGetEvent,
    cuGraphEventWaitNodeSetEvent, cuGraphHostNodeGetParams, cuGraphHostNodeSetParams, cuGraphKernelNodeGetParams,
    cuGraphKernelNodeGetParams_v2, cuGraphKernelNodeSetParams, cuGraphKernelNodeSetParams_v2,
    cuGraphMemcpyNodeGetParams, cuGraphMemcpyNodeSetParams, cuGraphMemsetNodeGetParams, cuGraphMemsetNodeSetParams,
    cuGraphNodeSetParams, cuGraphNodeSetParams_v2,
};
pub(crate) use crate::api::launch::{
    cuFuncSetBlockShape, cuFuncSetSharedSize, cuLaunch, cuLaunchCooperativeKernel,
    cuLaunchCooperativeKernelMultiDevice, cuLaunchGrid, cuLaunchGridAsync, cuLaunchKernel, cuLaunchKernelEx,
    cuParamSetSize, cuParamSetf, cuParamSeti, cuParamSetv,
};
pub(crate) use crate::api::memops::{
    cuStreamBatchMemOp, cuStreamBatchMemOp_v2, cuStreamWaitValue32, cuStreamWaitValue32_v2, cuStreamWaitValue64,
    cuStreamWaitValue64_v2, cuStreamWriteValue32, cuStreamWriteValue32_v2, cuStreamWriteValue64,
    cuStreamWriteValue64_v2,
};
pub(crate) use crate::api::memory::{
    cuMemAdvise, cuMemAdvise_v2, cuMemAlloc_v2, cuMemAllocHost, cuMemAllocHost_v2, cuMemAllocManaged,
    cuMemAllocPitch_v2, cuMemFree_v2, cuMemFreeHost, cuMemGetAddressRange_v2, cuMemGetHandleForAddressRange,
    cuMemGetInfo, cuMemGetInfo_v2, cuMemHostAlloc, cuMemHostGetDevicePointer_v2, cuMemHostGetFlags, cuMemHostRegister,
    cuMemHostRegister_v2, cuMemHostUnregister,
};
pub(crate) use crate::api::memset::{
    cuMemsetD2D8_v2, cuMemsetD2D8Async, cuMemsetD2D16_v2, cuMemsetD2D16Async, cuMemsetD2D32_v2, cuMemsetD2D32Async,
    cuMemsetD8_v2, cuMemsetD8Async, cuMemsetD16_v2, cuMemsetD16Async, cuMemsetD32_v2, cuMemsetD32Async,
};
pub(crate) use crate::api::module::{
    cuFuncGetModule, cuKernelGetFunction, cuKernelGetLibrary, cuLibraryEnumerateKernels, cuLibraryGetGlobal,
    cuLibraryGetKernel, cuLibraryGetKernelCount, cuLibraryGetManaged, cuLibraryGetModule, cuLibraryLoadData,
    cuLibraryLoadFromFile, cuLibraryUnload, cuModuleEnumerateFunctions, cuModuleGetFunction, cuModuleGetFunctionCount,
    cuModuleGetGlobal_v2, cuModuleGetLoadingMode, cuModuleGetSurfRef, cuModuleGetTexRef, cuModuleLoad,
    cuModuleLoadData, cuModuleLoadDataEx, cuModuleLoadFatBinary, cuModuleUnload,
};
pub(crate) use crate::api::pointer::{cuPointerGetAttribute, cuPointerGetAttributes, cuPointerSetAttribute};
pub(crate) use crate::api::pool::{
    cuDeviceGetDefaultMemPool, cuDeviceGetMemPool, cuDeviceSetMemPool, cuMemAllocAsync, cuMemAllocFromPoolAsync,
    cuMemFreeAsync, cuMemGetDefaultMemPool, cuMemGetMemPool, cuMemPoolCreate, cuMemPoolDestroy, cuMemPoolGetAccess,
    cuMemPoolGetAttribute, cuMemPoolSetAccess, cuMemPoolSetAttribute, cuMemPoolTrimTo, cuMemSetMemPool,
};
pub(crate) use crate::api::primary::{
    cuDevicePrimaryCtxGetState, cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2, cuDevicePrimaryCtxReset,
    cuDevicePrimaryCtxReset_v2, cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxSetFlags, cuDevicePrimaryCtxSetFlags_v2,
};
pub(crate) use crate::api::shapes::{
    cuMemcpy2D_v2, cuMemcpy2DAsync_v2, cuMemcpy2DUnaligned_v2, cuMemcpy3D_v2, cuMemcpy3DAsync_v2, cuMemcpy3DPeer,
    cuMemcpy3DPeerAsync,
};
pub(crate) use crate::api::start::{cuDriverGetVersion, cuGetErrorName, cuGetErrorString, cuGetExportTable, cuInit};
pub(crate) use crate::api::stream::{
    cuLaunchHostFunc, cuLaunchHostFunc_v2, cuStreamAddCallback, cuStreamCopyAttributes, cuStreamCreate,
    cuStreamCreateWithPriority, cuStreamDestroy, cuStreamDestroy_v2, cuStreamGetAttribute, cuStreamGetCtx,
    cuStreamGetCtx_v2, cuStreamGetDevice, cuStreamGetFlags, cuStreamGetId, cuStreamGetPriority, cuStreamQuery,
    cuStreamSetAttribute, cuStreamSynchronize,
};
pub(crate) use crate::api::tools::{
    cuGraphReleaseUserObject, cuGraphRetainUserObject, cuLinkAddData, cuLinkAddData_v2, cuLinkAddFile,
    cuLinkAddFile_v2, cuLinkComplete, cuLinkCreate, cuLinkCreate_v2, cuLinkDestroy, cuProfilerStart, cuProfilerStop,
    cuUserObjectCreate, cuUserObjectRelease, cuUserObjectRetain,
};
pub(crate) use crate::api::vmm::{
    cuMemAddressFree, cuMemAddressReserve, cuMemCreate, cuMemExportToShareableHandle, cuMemGetAccess,
    cuMemGetAllocationGranularity, cuMemGetAllocationPropertiesFromHandle, cuMemImportFromShareableHandle, cuMemMap,
    cuMemRelease, cuMemRetainAllocationHandle, cuMemSetAccess, cuMemUnmap,
};
pub(crate) use crate::resolve::{cuGetProcAddress, cuGetProcAddress_v2};
