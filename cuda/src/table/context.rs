//! Contexts, primary contexts, green contexts.
//!
//! A chapter of the table. Grammar and meaning: the parent module.

#[doc(hidden)]
#[macro_export]
macro_rules! __families_context {
    ($callback:tt $($before:tt)*) => { $crate::__families_module! {
        $callback
        $($before)*
        context(retain)
        because("creating a context is never refused; its memory is overhead, which the coordinator measures and \
            charges")
        cuDevicePrimaryCtxRetain {
            7000 cuDevicePrimaryCtxRetain(pctx: *mut CUcontext, dev: CUdevice);
        }
        context(release) now() cuDevicePrimaryCtxRelease {
            7000 cuDevicePrimaryCtxRelease(dev: CUdevice);
            11000 cuDevicePrimaryCtxRelease_v2(dev: CUdevice);
        }
        pass()
        because("picks, asks or tunes an existing context; makes none, allocates nothing, launches nothing")
        cuDevicePrimaryCtxSetFlags {
            7000 cuDevicePrimaryCtxSetFlags(dev: CUdevice, flags: c_uint);
            11000 cuDevicePrimaryCtxSetFlags_v2(dev: CUdevice, flags: c_uint);
        }
        pass()
        because("picks, asks or tunes an existing context; makes none, allocates nothing, launches nothing")
        cuDevicePrimaryCtxGetState {
            7000 cuDevicePrimaryCtxGetState(dev: CUdevice, flags: *mut c_uint, active: *mut c_int);
        }
        context(reset) now() cuDevicePrimaryCtxReset {
            7000 cuDevicePrimaryCtxReset(dev: CUdevice);
            11000 cuDevicePrimaryCtxReset_v2(dev: CUdevice);
        }
        context(create)
        because("creating a context is never refused; its memory is overhead, which the coordinator measures and \
            charges")
        cuCtxCreate {
            2000 cuCtxCreate(pctx: *mut CUcontext, flags: c_uint, dev: CUdevice);
            3020 cuCtxCreate_v2(pctx: *mut CUcontext, flags: c_uint, dev: CUdevice);
            11040 cuCtxCreate_v3(
                pctx: *mut CUcontext, paramsArray: *mut CUexecAffinityParam, numParams: c_int, flags: c_uint,
                dev: CUdevice
            );
            12050 cuCtxCreate_v4(
                pctx: *mut CUcontext, ctxCreateParams: *mut CUctxCreateParams, flags: c_uint, dev: CUdevice
            );
        }
        context(destroy) now() cuCtxDestroy {
            2000 cuCtxDestroy(ctx: CUcontext);
            4000 cuCtxDestroy_v2(ctx: CUcontext);
        }
        pass()
        because("picks, asks or tunes an existing context; makes none, allocates nothing, launches nothing")
        cuCtxPushCurrent {
            2000 cuCtxPushCurrent(ctx: CUcontext);
            4000 cuCtxPushCurrent_v2(ctx: CUcontext);
        }
        pass()
        because("picks, asks or tunes an existing context; makes none, allocates nothing, launches nothing")
        cuCtxPopCurrent {
            2000 cuCtxPopCurrent(pctx: *mut CUcontext);
            4000 cuCtxPopCurrent_v2(pctx: *mut CUcontext);
        }
        pass()
        because("picks, asks or tunes an existing context; makes none, allocates nothing, launches nothing")
        cuCtxSetCurrent {
            4000 cuCtxSetCurrent(ctx: CUcontext);
        }
        pass()
        because("picks, asks or tunes an existing context; makes none, allocates nothing, launches nothing")
        cuCtxGetCurrent {
            4000 cuCtxGetCurrent(pctx: *mut CUcontext);
        }
        pass()
        because("picks, asks or tunes an existing context; makes none, allocates nothing, launches nothing")
        cuCtxGetDevice {
            2000 cuCtxGetDevice(device: *mut CUdevice);
            13000 cuCtxGetDevice_v2(device: *mut CUdevice, ctx: CUcontext);
        }
        pass()
        because("picks, asks or tunes an existing context; makes none, allocates nothing, launches nothing")
        cuCtxGetFlags {
            7000 cuCtxGetFlags(flags: *mut c_uint);
        }
        pass()
        because("picks, asks or tunes an existing context; makes none, allocates nothing, launches nothing")
        cuCtxSetFlags {
            12010 cuCtxSetFlags(flags: c_uint);
        }
        pass()
        because("picks, asks or tunes an existing context; makes none, allocates nothing, launches nothing")
        cuCtxGetId {
            12000 cuCtxGetId(ctx: CUcontext, ctxId: *mut c_ulonglong);
        }
        context(limit)
        later("issue 4: stack, printf and heap limits reserve device memory; until then the coordinator measures it \
            with the rest of the context's overhead")
        cuCtxSetLimit {
            3010 cuCtxSetLimit(limit: CUlimit, value: usize);
        }
        pass()
        because("picks, asks or tunes an existing context; makes none, allocates nothing, launches nothing")
        cuCtxGetLimit {
            3010 cuCtxGetLimit(pvalue: *mut usize, limit: CUlimit);
        }
        pass()
        because("picks, asks or tunes an existing context; makes none, allocates nothing, launches nothing")
        cuCtxGetCacheConfig {
            3020 cuCtxGetCacheConfig(pconfig: *mut CUfunc_cache);
        }
        pass()
        because("picks, asks or tunes an existing context; makes none, allocates nothing, launches nothing")
        cuCtxSetCacheConfig {
            3020 cuCtxSetCacheConfig(config: CUfunc_cache);
        }
        pass()
        because("picks, asks or tunes an existing context; makes none, allocates nothing, launches nothing")
        cuCtxGetApiVersion {
            3020 cuCtxGetApiVersion(ctx: CUcontext, version: *mut c_uint);
        }
        pass() because("reads the priority range; no memory or queue is touched") cuCtxGetStreamPriorityRange {
            5050 cuCtxGetStreamPriorityRange(leastPriority: *mut c_int, greatestPriority: *mut c_int);
        }
        pass() because("resets lines of the L2 cache; no device memory, no kernel") cuCtxResetPersistingL2Cache {
            11000 cuCtxResetPersistingL2Cache();
        }
        pass()
        because("picks, asks or tunes an existing context; makes none, allocates nothing, launches nothing")
        cuCtxGetExecAffinity {
            11040 cuCtxGetExecAffinity(pExecAffinity: *mut CUexecAffinityParam, type_: CUexecAffinityType);
        }
        pass() because("orders work and runs none; events and waits are never gated") cuCtxRecordEvent {
            12050 cuCtxRecordEvent(hCtx: CUcontext, hEvent: CUevent);
        }
        pass() because("orders work and runs none; events and waits are never gated") cuCtxWaitEvent {
            12050 cuCtxWaitEvent(hCtx: CUcontext, hEvent: CUevent);
        }
        pass()
        because("picks, asks or tunes an existing context; makes none, allocates nothing, launches nothing")
        cuCtxAttach {
            2000 cuCtxAttach(pctx: *mut CUcontext, flags: c_uint);
        }
        context(destroy) now() cuCtxDetach {
            2000 cuCtxDetach(ctx: CUcontext);
        }
        pass()
        because("picks, asks or tunes an existing context; makes none, allocates nothing, launches nothing")
        cuCtxGetSharedMemConfig {
            4020 cuCtxGetSharedMemConfig(pConfig: *mut CUsharedconfig);
        }
        pass()
        because("picks, asks or tunes an existing context; makes none, allocates nothing, launches nothing")
        cuCtxSetSharedMemConfig {
            4020 cuCtxSetSharedMemConfig(config: CUsharedconfig);
        }
        pass()
        because("maps a peer's memory, which is charged where it lies; only page tables grow")
        cuCtxEnablePeerAccess {
            4000 cuCtxEnablePeerAccess(peerContext: CUcontext, Flags: c_uint);
        }
        pass()
        because("maps a peer's memory, which is charged where it lies; only page tables grow")
        cuCtxDisablePeerAccess {
            4000 cuCtxDisablePeerAccess(peerContext: CUcontext);
        }
        context(create)
        because("creating a context is never refused; its memory is overhead, which the coordinator measures and \
            charges")
        cuGreenCtxCreate {
            12040 cuGreenCtxCreate(phCtx: *mut CUgreenCtx, desc: CUdevResourceDesc, dev: CUdevice, flags: c_uint);
        }
        context(destroy)
        because("releases what creating it retained; allocations stay charged until their context goes or they are \
            freed")
        cuGreenCtxDestroy {
            12040 cuGreenCtxDestroy(hCtx: CUgreenCtx);
        }
        pass() because("describes SM subsets on the host; no device memory, no GPU work") cuCtxFromGreenCtx {
            12040 cuCtxFromGreenCtx(pContext: *mut CUcontext, hCtx: CUgreenCtx);
        }
        pass() because("describes SM subsets on the host; no device memory, no GPU work") cuDeviceGetDevResource {
            12040 cuDeviceGetDevResource(device: CUdevice, resource: *mut CUdevResource, type_: CUdevResourceType);
        }
        pass() because("describes SM subsets on the host; no device memory, no GPU work") cuCtxGetDevResource {
            12040 cuCtxGetDevResource(hCtx: CUcontext, resource: *mut CUdevResource, type_: CUdevResourceType);
        }
        pass() because("describes SM subsets on the host; no device memory, no GPU work") cuGreenCtxGetDevResource {
            12040 cuGreenCtxGetDevResource(hCtx: CUgreenCtx, resource: *mut CUdevResource, type_: CUdevResourceType);
        }
        pass()
        because("describes SM subsets on the host; no device memory, no GPU work")
        cuDevSmResourceSplitByCount {
            12040 cuDevSmResourceSplitByCount(
                result: *mut CUdevResource, nbGroups: *mut c_uint, input: *const CUdevResource,
                remainder: *mut CUdevResource, flags: c_uint, minCount: c_uint
            );
        }
        pass() because("describes SM subsets on the host; no device memory, no GPU work") cuDevResourceGenerateDesc {
            12040 cuDevResourceGenerateDesc(
                phDesc: *mut CUdevResourceDesc, resources: *mut CUdevResource, nbResources: c_uint
            );
        }
        pass()
        because("orders work and runs none; events and waits are never gated")
        cuGreenCtxRecordEvent {
            12040 cuGreenCtxRecordEvent(hCtx: CUgreenCtx, hEvent: CUevent);
        }
        pass() because("orders work and runs none; events and waits are never gated") cuGreenCtxWaitEvent {
            12040 cuGreenCtxWaitEvent(hCtx: CUgreenCtx, hEvent: CUevent);
        }
        pass() because("describes SM subsets on the host; no device memory, no GPU work") cuStreamGetGreenCtx {
            12040 cuStreamGetGreenCtx(hStream: CUstream, phCtx: *mut CUgreenCtx);
        }
        stream(create)
        because("a stream holds no memory worth charging and runs nothing; the gate meets it at its first launch")
        cuGreenCtxStreamCreate {
            12050 cuGreenCtxStreamCreate(
                phStream: *mut CUstream, greenCtx: CUgreenCtx, flags: c_uint, priority: c_int
            );
        }
        pass() because("describes SM subsets on the host; no device memory, no GPU work") cuDevSmResourceSplit {
            13010 cuDevSmResourceSplit(
                result: *mut CUdevResource, nbGroups: c_uint, input: *const CUdevResource,
                remainder: *mut CUdevResource, flags: c_uint, groupParams: *mut CU_DEV_SM_RESOURCE_GROUP_PARAMS
            );
        }
        pass() because("describes SM subsets on the host; no device memory, no GPU work") cuGreenCtxGetId {
            12090 cuGreenCtxGetId(greenCtx: CUgreenCtx, greenCtxId: *mut c_ulonglong);
        }
        pass() because("describes SM subsets on the host; no device memory, no GPU work") cuStreamGetDevResource {
            13010 cuStreamGetDevResource(
                hStream: CUstream, resource: *mut CUdevResource, type_: CUdevResourceType
            ), 13010 cuStreamGetDevResource_ptsz;
        }
    } };
}
