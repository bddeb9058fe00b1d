//! Occupancy, profiler, logs, core dumps, checkpoint.
//!
//! A chapter of the table. Grammar and meaning: the parent module.

#[doc(hidden)]
#[macro_export]
macro_rules! __families_tools {
    ($callback:tt $($before:tt)*) => { $crate::__families_end! {
        $callback
        $($before)*
        pass()
        because("computes on the host; no device memory, no GPU work")
        cuOccupancyMaxActiveBlocksPerMultiprocessor {
            6050 cuOccupancyMaxActiveBlocksPerMultiprocessor(
                numBlocks: *mut c_int, func: CUfunction, blockSize: c_int, dynamicSMemSize: usize
            );
        }
        pass()
        because("computes on the host; no device memory, no GPU work")
        cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags {
            7000 cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
                numBlocks: *mut c_int, func: CUfunction, blockSize: c_int, dynamicSMemSize: usize, flags: c_uint
            );
        }
        pass() because("computes on the host; no device memory, no GPU work") cuOccupancyMaxPotentialBlockSize {
            6050 cuOccupancyMaxPotentialBlockSize(
                minGridSize: *mut c_int, blockSize: *mut c_int, func: CUfunction,
                blockSizeToDynamicSMemSize: CUoccupancyB2DSize, dynamicSMemSize: usize, blockSizeLimit: c_int
            );
        }
        pass()
        because("computes on the host; no device memory, no GPU work")
        cuOccupancyMaxPotentialBlockSizeWithFlags {
            7000 cuOccupancyMaxPotentialBlockSizeWithFlags(
                minGridSize: *mut c_int, blockSize: *mut c_int, func: CUfunction,
                blockSizeToDynamicSMemSize: CUoccupancyB2DSize, dynamicSMemSize: usize, blockSizeLimit: c_int,
                flags: c_uint
            );
        }
        pass()
        because("computes on the host; no device memory, no GPU work")
        cuOccupancyAvailableDynamicSMemPerBlock {
            10020 cuOccupancyAvailableDynamicSMemPerBlock(
                dynamicSmemSize: *mut usize, func: CUfunction, numBlocks: c_int, blockSize: c_int
            );
        }
        pass() because("computes on the host; no device memory, no GPU work") cuOccupancyMaxPotentialClusterSize {
            11070 cuOccupancyMaxPotentialClusterSize(
                clusterSize: *mut c_int, func: CUfunction, config: *const CUlaunchConfig
            );
        }
        pass() because("computes on the host; no device memory, no GPU work") cuOccupancyMaxActiveClusters {
            11070 cuOccupancyMaxActiveClusters(
                numClusters: *mut c_int, func: CUfunction, config: *const CUlaunchConfig
            );
        }
        pass()
        because("settings and callbacks of a later dump; no device memory, no GPU work, and a debugger stops \
            threads")
        cuCoredumpGetAttribute {
            12010 cuCoredumpGetAttribute(attrib: CUcoredumpSettings, value: *mut c_void, size: *mut usize);
        }
        pass()
        because("settings and callbacks of a later dump; no device memory, no GPU work, and a debugger stops \
            threads")
        cuCoredumpGetAttributeGlobal {
            12010 cuCoredumpGetAttributeGlobal(attrib: CUcoredumpSettings, value: *mut c_void, size: *mut usize);
        }
        pass()
        because("settings and callbacks of a later dump; no device memory, no GPU work, and a debugger stops \
            threads")
        cuCoredumpSetAttribute {
            12010 cuCoredumpSetAttribute(attrib: CUcoredumpSettings, value: *mut c_void, size: *mut usize);
        }
        pass()
        because("settings and callbacks of a later dump; no device memory, no GPU work, and a debugger stops \
            threads")
        cuCoredumpSetAttributeGlobal {
            12010 cuCoredumpSetAttributeGlobal(attrib: CUcoredumpSettings, value: *mut c_void, size: *mut usize);
        }
        pass() because("tools of the driver on the host; no device memory, no GPU work") cuLogsRegisterCallback {
            12090 cuLogsRegisterCallback(
                callbackFunc: CUlogsCallback, userData: *mut c_void, callback_out: *mut CUlogsCallbackHandle
            );
        }
        pass() because("tools of the driver on the host; no device memory, no GPU work") cuLogsUnregisterCallback {
            12090 cuLogsUnregisterCallback(callback: CUlogsCallbackHandle);
        }
        pass() because("tools of the driver on the host; no device memory, no GPU work") cuLogsCurrent {
            12090 cuLogsCurrent(iterator_out: *mut CUlogIterator, flags: c_uint);
        }
        pass() because("tools of the driver on the host; no device memory, no GPU work") cuLogsDumpToFile {
            12090 cuLogsDumpToFile(iterator: *mut CUlogIterator, pathToFile: *const c_char, flags: c_uint);
        }
        pass() because("tools of the driver on the host; no device memory, no GPU work") cuLogsDumpToMemory {
            12090 cuLogsDumpToMemory(
                iterator: *mut CUlogIterator, buffer: *mut c_char, size: *mut usize, flags: c_uint
            );
        }
        pass()
        because("acts on another process, whose memory the coordinator measures; no allocation, no launch here")
        cuCheckpointProcessGetRestoreThreadId {
            12080 cuCheckpointProcessGetRestoreThreadId(pid: c_int, tid: *mut c_int);
        }
        pass()
        because("acts on another process, whose memory the coordinator measures; no allocation, no launch here")
        cuCheckpointProcessGetState {
            12080 cuCheckpointProcessGetState(pid: c_int, state: *mut CUprocessState);
        }
        pass()
        because("acts on another process, whose memory the coordinator measures; no allocation, no launch here")
        cuCheckpointProcessLock {
            12080 cuCheckpointProcessLock(pid: c_int, args: *mut CUcheckpointLockArgs);
        }
        reference(suspend)
        later("a later issue: moves another process's device memory to the host and back without a call in that \
            process; until then its charge stands and the audit sees the difference")
        cuCheckpointProcessCheckpoint {
            12080 cuCheckpointProcessCheckpoint(pid: c_int, args: *mut CUcheckpointCheckpointArgs);
        }
        reference(suspend)
        later("a later issue: moves another process's device memory to the host and back without a call in that \
            process; until then its charge stands and the audit sees the difference")
        cuCheckpointProcessRestore {
            12080 cuCheckpointProcessRestore(pid: c_int, args: *mut CUcheckpointRestoreArgs);
        }
        pass()
        because("acts on another process, whose memory the coordinator measures; no allocation, no launch here")
        cuCheckpointProcessUnlock {
            12080 cuCheckpointProcessUnlock(pid: c_int, args: *mut CUcheckpointUnlockArgs);
        }
        pass() because("tools of the driver on the host; no device memory, no GPU work") cuProfilerInitialize {
            4000 cuProfilerInitialize(
                configFile: *const c_char, outputFile: *const c_char, outputMode: CUoutput_mode
            );
        }
        pass() because("tools of the driver on the host; no device memory, no GPU work") cuProfilerStart {
            4000 cuProfilerStart();
        }
        pass() because("tools of the driver on the host; no device memory, no GPU work") cuProfilerStop {
            4000 cuProfilerStop();
        }
        pass()
        because("settings and callbacks of a later dump; no device memory, no GPU work, and a debugger stops \
            threads")
        cuCoredumpRegisterStartCallback {
            13020 cuCoredumpRegisterStartCallback(
                callback: CUcoredumpStatusCallback, userData: *mut c_void, callbackOut: *mut CUcoredumpCallbackHandle
            );
        }
        pass()
        because("settings and callbacks of a later dump; no device memory, no GPU work, and a debugger stops \
            threads")
        cuCoredumpRegisterCompleteCallback {
            13020 cuCoredumpRegisterCompleteCallback(
                callback: CUcoredumpStatusCallback, userData: *mut c_void, callbackOut: *mut CUcoredumpCallbackHandle
            );
        }
        pass()
        because("settings and callbacks of a later dump; no device memory, no GPU work, and a debugger stops \
            threads")
        cuCoredumpDeregisterStartCallback {
            13020 cuCoredumpDeregisterStartCallback(callback: CUcoredumpCallbackHandle);
        }
        pass()
        because("settings and callbacks of a later dump; no device memory, no GPU work, and a debugger stops \
            threads")
        cuCoredumpDeregisterCompleteCallback {
            13020 cuCoredumpDeregisterCompleteCallback(callback: CUcoredumpCallbackHandle);
        }
        pass()
        because("acts on another process, whose memory the coordinator measures; no allocation, no launch here")
        cuCheckpointOperationComplete {
            13040 cuCheckpointOperationComplete(handle: CUcheckpointOperationHandle);
        }
    } };
}
