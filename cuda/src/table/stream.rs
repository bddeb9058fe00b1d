//! Streams, events, synchronisation, capture.
//!
//! A chapter of the table. Grammar and meaning: the parent module.

#[doc(hidden)]
#[macro_export]
macro_rules! __families_stream {
    ($callback:tt $($before:tt)*) => { $crate::__families_graph! {
        $callback
        $($before)*
        sync(context) now() cuCtxSynchronize {
            2000 cuCtxSynchronize();
            13000 cuCtxSynchronize_v2(ctx: CUcontext);
        }
        stream(create)
        because("a stream holds no memory worth charging and runs nothing; the gate meets it at its first launch")
        cuStreamCreate {
            2000 cuStreamCreate(phStream: *mut CUstream, Flags: c_uint);
        }
        stream(create)
        because("a stream holds no memory worth charging and runs nothing; the gate meets it at its first launch")
        cuStreamCreateWithPriority {
            5050 cuStreamCreateWithPriority(phStream: *mut CUstream, flags: c_uint, priority: c_int);
        }
        pass() because("asks about a stream; no work is put in it") cuStreamGetPriority {
            5050 cuStreamGetPriority(hStream: CUstream, priority: *mut c_int), 7000 cuStreamGetPriority_ptsz;
        }
        pass() because("asks about a stream; no work is put in it") cuStreamGetDevice {
            12080 cuStreamGetDevice(hStream: CUstream, device: *mut CUdevice), 12080 cuStreamGetDevice_ptsz;
        }
        pass() because("asks about a stream; no work is put in it") cuStreamGetFlags {
            5050 cuStreamGetFlags(hStream: CUstream, flags: *mut c_uint), 7000 cuStreamGetFlags_ptsz;
        }
        pass() because("asks about a stream; no work is put in it") cuStreamGetId {
            12000 cuStreamGetId(hStream: CUstream, streamId: *mut c_ulonglong), 12000 cuStreamGetId_ptsz;
        }
        pass() because("asks about a stream; no work is put in it") cuStreamGetCtx {
            9020 cuStreamGetCtx(hStream: CUstream, pctx: *mut CUcontext), 9020 cuStreamGetCtx_ptsz;
            12050 cuStreamGetCtx_v2(
                hStream: CUstream, pCtx: *mut CUcontext, pGreenCtx: *mut CUgreenCtx
            ), 12050 cuStreamGetCtx_v2_ptsz;
        }
        pass()
        because("orders work and runs none; never gated, for other streams and processes may wait for it")
        cuStreamWaitEvent {
            3020 cuStreamWaitEvent(hStream: CUstream, hEvent: CUevent, Flags: c_uint), 7000 cuStreamWaitEvent_ptsz;
        }
        pass()
        because("runs a host function in stream order; no GPU time, and a gate here could deadlock the program")
        cuStreamAddCallback {
            5000 cuStreamAddCallback(
                hStream: CUstream, callback: CUstreamCallback, userData: *mut c_void, flags: c_uint
            ), 7000 cuStreamAddCallback_ptsz;
        }
        stream(capture_begin hStream) now() cuStreamBeginCapture {
            10000 cuStreamBeginCapture(hStream: CUstream), 10000 cuStreamBeginCapture_ptsz;
            10010 cuStreamBeginCapture_v2(
                hStream: CUstream, mode: CUstreamCaptureMode
            ), 10010 cuStreamBeginCapture_v2_ptsz;
        }
        stream(capture_begin hStream) now() cuStreamBeginCaptureToGraph {
            12030 cuStreamBeginCaptureToGraph(
                hStream: CUstream, hGraph: CUgraph, dependencies: *const CUgraphNode,
                dependencyData: *const CUgraphEdgeData, numDependencies: usize, mode: CUstreamCaptureMode
            ), 12030 cuStreamBeginCaptureToGraph_ptsz;
        }
        pass()
        because("a setting of the calling thread; no stream is touched, and threads of the shim have their own")
        cuThreadExchangeStreamCaptureMode {
            10010 cuThreadExchangeStreamCaptureMode(mode: *mut CUstreamCaptureMode);
        }
        stream(capture_end hStream) now() cuStreamEndCapture {
            10000 cuStreamEndCapture(hStream: CUstream, phGraph: *mut CUgraph), 10000 cuStreamEndCapture_ptsz;
        }
        pass()
        because("reads or edits a capture, which runs nothing until its graph is launched")
        cuStreamIsCapturing {
            10000 cuStreamIsCapturing(
                hStream: CUstream, captureStatus: *mut CUstreamCaptureStatus
            ), 10000 cuStreamIsCapturing_ptsz;
        }
        pass()
        because("reads or edits a capture, which runs nothing until its graph is launched")
        cuStreamGetCaptureInfo {
            10010 cuStreamGetCaptureInfo(
                hStream: CUstream, captureStatus_out: *mut CUstreamCaptureStatus, id_out: *mut cuuint64_t
            ), 10010 cuStreamGetCaptureInfo_ptsz;
            11030 cuStreamGetCaptureInfo_v2(
                hStream: CUstream, captureStatus_out: *mut CUstreamCaptureStatus, id_out: *mut cuuint64_t,
                graph_out: *mut CUgraph, dependencies_out: *mut *const CUgraphNode, numDependencies_out: *mut usize
            ), 11030 cuStreamGetCaptureInfo_v2_ptsz;
            12030 cuStreamGetCaptureInfo_v3(
                hStream: CUstream, captureStatus_out: *mut CUstreamCaptureStatus, id_out: *mut cuuint64_t,
                graph_out: *mut CUgraph, dependencies_out: *mut *const CUgraphNode,
                edgeData_out: *mut *const CUgraphEdgeData, numDependencies_out: *mut usize
            ), 12030 cuStreamGetCaptureInfo_v3_ptsz;
        }
        pass()
        because("reads or edits a capture, which runs nothing until its graph is launched")
        cuStreamUpdateCaptureDependencies {
            11030 cuStreamUpdateCaptureDependencies(
                hStream: CUstream, dependencies: *mut CUgraphNode, numDependencies: usize, flags: c_uint
            ), 11030 cuStreamUpdateCaptureDependencies_ptsz;
            12030 cuStreamUpdateCaptureDependencies_v2(
                hStream: CUstream, dependencies: *mut CUgraphNode, dependencyData: *const CUgraphEdgeData,
                numDependencies: usize, flags: c_uint
            ), 12030 cuStreamUpdateCaptureDependencies_v2_ptsz;
        }
        query(stream hStream)
        because("asks whether a stream is done; never altered, never gated, and no work is put in a queue")
        cuStreamQuery {
            2000 cuStreamQuery(hStream: CUstream), 7000 cuStreamQuery_ptsz;
        }
        sync(stream hStream) now() cuStreamSynchronize {
            2000 cuStreamSynchronize(hStream: CUstream), 7000 cuStreamSynchronize_ptsz;
        }
        stream(destroy hStream) now() cuStreamDestroy {
            2000 cuStreamDestroy(hStream: CUstream);
            4000 cuStreamDestroy_v2(hStream: CUstream);
        }
        pass() because("tunes a stream for later launches, which are gated themselves") cuStreamCopyAttributes {
            11000 cuStreamCopyAttributes(dstStream: CUstream, srcStream: CUstream), 11000 cuStreamCopyAttributes_ptsz;
        }
        pass() because("asks about a stream; no work is put in it") cuStreamGetAttribute {
            11000 cuStreamGetAttribute(
                hStream: CUstream, attr: CUstreamAttrID, value: *mut CUstreamAttrValue
            ), 11000 cuStreamGetAttribute_ptsz;
        }
        pass() because("tunes a stream for later launches, which are gated themselves") cuStreamSetAttribute {
            11000 cuStreamSetAttribute(
                hStream: CUstream, attr: CUstreamAttrID, param: *const CUstreamAttrValue
            ), 11000 cuStreamSetAttribute_ptsz;
        }
        pass() because("an event holds no device memory worth charging and runs no work") cuEventCreate {
            2000 cuEventCreate(phEvent: *mut CUevent, Flags: c_uint);
        }
        pass()
        because("orders work and runs none; never gated, for other streams and processes may wait for it")
        cuEventRecord {
            2000 cuEventRecord(hEvent: CUevent, hStream: CUstream), 7000 cuEventRecord_ptsz;
        }
        pass()
        because("orders work and runs none; never gated, for other streams and processes may wait for it")
        cuEventRecordWithFlags {
            11010 cuEventRecordWithFlags(
                hEvent: CUevent, hStream: CUstream, flags: c_uint
            ), 11010 cuEventRecordWithFlags_ptsz;
        }
        query(event hEvent)
        because("asks whether an event is done; never altered, never gated, and no work is put in a queue")
        cuEventQuery {
            2000 cuEventQuery(hEvent: CUevent);
        }
        sync(event hEvent) now() cuEventSynchronize {
            2000 cuEventSynchronize(hEvent: CUevent);
        }
        pass() because("an event holds no device memory worth charging and runs no work") cuEventDestroy {
            2000 cuEventDestroy(hEvent: CUevent);
            4000 cuEventDestroy_v2(hEvent: CUevent);
        }
        pass() because("reads times that the GPU has written; no work is put in a queue") cuEventElapsedTime {
            2000 cuEventElapsedTime(pMilliseconds: *mut f32, hStart: CUevent, hEnd: CUevent);
            12080 cuEventElapsedTime_v2(pMilliseconds: *mut f32, hStart: CUevent, hEnd: CUevent);
        }
        pass()
        because("orders work and runs none; never gated, for other streams and processes may wait for it")
        cuStreamWaitValue32 {
            8000 cuStreamWaitValue32(
                stream: CUstream, addr: CUdeviceptr, value: cuuint32_t, flags: c_uint
            ), 8000 cuStreamWaitValue32_ptsz;
            11070 cuStreamWaitValue32_v2(
                stream: CUstream, addr: CUdeviceptr, value: cuuint32_t, flags: c_uint
            ), 11070 cuStreamWaitValue32_v2_ptsz;
        }
        pass()
        because("orders work and runs none; never gated, for other streams and processes may wait for it")
        cuStreamWaitValue64 {
            9000 cuStreamWaitValue64(
                stream: CUstream, addr: CUdeviceptr, value: cuuint64_t, flags: c_uint
            ), 9000 cuStreamWaitValue64_ptsz;
            11070 cuStreamWaitValue64_v2(
                stream: CUstream, addr: CUdeviceptr, value: cuuint64_t, flags: c_uint
            ), 11070 cuStreamWaitValue64_v2_ptsz;
        }
        pass()
        because("orders work and runs none; never gated, for other streams and processes may wait for it")
        cuStreamWriteValue32 {
            8000 cuStreamWriteValue32(
                stream: CUstream, addr: CUdeviceptr, value: cuuint32_t, flags: c_uint
            ), 8000 cuStreamWriteValue32_ptsz;
            11070 cuStreamWriteValue32_v2(
                stream: CUstream, addr: CUdeviceptr, value: cuuint32_t, flags: c_uint
            ), 11070 cuStreamWriteValue32_v2_ptsz;
        }
        pass()
        because("orders work and runs none; never gated, for other streams and processes may wait for it")
        cuStreamWriteValue64 {
            9000 cuStreamWriteValue64(
                stream: CUstream, addr: CUdeviceptr, value: cuuint64_t, flags: c_uint
            ), 9000 cuStreamWriteValue64_ptsz;
            11070 cuStreamWriteValue64_v2(
                stream: CUstream, addr: CUdeviceptr, value: cuuint64_t, flags: c_uint
            ), 11070 cuStreamWriteValue64_v2_ptsz;
        }
        pass()
        because("orders work and runs none; never gated, for other streams and processes may wait for it")
        cuStreamBatchMemOp {
            8000 cuStreamBatchMemOp(
                stream: CUstream, count: c_uint, paramArray: *mut CUstreamBatchMemOpParams, flags: c_uint
            ), 8000 cuStreamBatchMemOp_ptsz;
            11070 cuStreamBatchMemOp_v2(
                stream: CUstream, count: c_uint, paramArray: *mut CUstreamBatchMemOpParams, flags: c_uint
            ), 11070 cuStreamBatchMemOp_v2_ptsz;
        }
        stream(capture_begin hStream) now() cuStreamBeginCaptureToCig {
            13010 cuStreamBeginCaptureToCig(
                hStream: CUstream, streamCigCaptureParams: *mut CUstreamCigCaptureParams
            ), 13010 cuStreamBeginCaptureToCig_ptsz;
        }
        stream(capture_end hStream) now() cuStreamEndCaptureToCig {
            13010 cuStreamEndCaptureToCig(hStream: CUstream), 13010 cuStreamEndCaptureToCig_ptsz;
        }
        stream(capture_begin hStream) now() cuStreamBeginRecaptureToGraph {
            13030 cuStreamBeginRecaptureToGraph(
                hStream: CUstream, mode: CUstreamCaptureMode, hGraph: CUgraph, callbackFunc: CUgraphRecaptureCallback,
                userData: *mut c_void
            ), 13030 cuStreamBeginRecaptureToGraph_ptsz;
        }
    } };
}
