//! Streams, events, host functions and capture rules.
#![allow(clippy::multiple_unsafe_ops_per_block, reason = "a test is a list of calls of the driver")]

mod common;

use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};

use common::*;
use mgpu_cuda::*;

const NULL: CUstream = ptr::null_mut();

/// A blocking stream's work holds the legacy stream up, a non-blocking one's does not; so it is for stream 0 of the plain entry
/// points, while their twins mean the thread's own stream.
#[test]
fn stream_zero_means_what_the_entry_point_says() {
    let api = api();
    context(api);
    let gate = Gate::new(api);
    // SAFETY: handles of our own.
    unsafe {
        let free = out(|p| (api.cuStreamCreate)(p, CU_STREAM_NON_BLOCKING));
        let blocking = out(|p| (api.cuStreamCreate)(p, CU_STREAM_DEFAULT));
        gate.close(api, free);
        ok((api.cuStreamQuery)(NULL));
        gate.open();
        ok((api.cuStreamSynchronize)(free));

        gate.close(api, blocking);
        assert_eq!((api.cuStreamQuery)(NULL), CUDA_ERROR_NOT_READY);
        ok((api.cuStreamQuery_ptsz)(NULL));
        ok((api.cuMemsetD8Async)(gate.device + 64, 1, 1, NULL));
        assert_eq!((api.cuStreamQuery)(CU_STREAM_LEGACY), CUDA_ERROR_NOT_READY);
        gate.open();
        ok((api.cuStreamSynchronize)(NULL));
        ok((api.cuStreamQuery)(blocking));

        let (plain, twin) = (stream_id(api, false), stream_id(api, true));
        assert_ne!(plain, twin);
        assert_ne!(in_a_thread(api), twin, "each thread has its own");
        // A thread that has ended leaves its stream to the next.
        let mut seen = std::collections::BTreeSet::new();
        until("a stream is used again", || !seen.insert(in_a_thread(api)));
        for stream in [free, blocking] {
            ok((api.cuStreamDestroy_v2)(stream));
            assert_eq!((api.cuStreamDestroy_v2)(stream), CUDA_ERROR_INVALID_HANDLE);
        }
    }
}

/// The default stream of a thread that ends at once.
fn in_a_thread(api: &'static Api) -> u64 {
    let thread = std::thread::spawn(move || {
        context(api);
        stream_id(api, true)
    });
    thread.join().expect("a thread")
}

fn stream_id(api: &Api, per_thread: bool) -> u64 {
    let ask = if per_thread { api.cuStreamGetId_ptsz } else { api.cuStreamGetId };
    // SAFETY: a valid place.
    out(|p| unsafe { ask(NULL, p) })
}

/// A word in page-locked memory that streams wait for.
struct Gate {
    word: *mut u32,
    device: CUdeviceptr,
}

impl Gate {
    fn new(api: &Api) -> Self {
        // SAFETY: plain calls with valid arguments.
        unsafe {
            let word = out(|p| (api.cuMemHostAlloc)(p, 4096, 0)).cast::<u32>();
            Self { word, device: out(|p| (api.cuMemHostGetDevicePointer_v2)(p, word.cast(), 0)) }
        }
    }

    /// The stream gets no further until [`Gate::open`].
    fn close(&self, api: &Api, stream: CUstream) {
        // SAFETY: our own page.
        unsafe {
            self.word.write_volatile(0);
            ok((api.cuStreamWaitValue32_v2)(stream, self.device, 1, CU_STREAM_WAIT_VALUE_EQ));
        }
    }

    fn open(&self) {
        // SAFETY: our own page.
        unsafe { self.word.write_volatile(1) };
    }
}

#[test]
fn events_order_streams_and_measure() {
    let api = api();
    context(api);
    let gate = Gate::new(api);
    let spin = kernel(api, "spin_5ms");
    // SAFETY: handles of our own.
    unsafe {
        let first = out(|p| (api.cuStreamCreate)(p, CU_STREAM_NON_BLOCKING));
        let second = out(|p| (api.cuStreamCreate)(p, CU_STREAM_NON_BLOCKING));
        let start = out(|p| (api.cuEventCreate)(p, CU_EVENT_DEFAULT));
        let end = out(|p| (api.cuEventCreate)(p, CU_EVENT_DEFAULT));
        ok((api.cuEventQuery)(end));
        let mut elapsed = 0.0;
        assert_eq!((api.cuEventElapsedTime)(&raw mut elapsed, start, end), CUDA_ERROR_INVALID_HANDLE);
        gate.close(api, first);
        ok((api.cuEventRecord)(start, first));
        ok(launch(api, spin, first));
        ok((api.cuEventRecord)(end, first));
        ok((api.cuStreamWaitEvent)(second, end, 0));
        ok(launch(api, spin, second));
        assert_eq!((api.cuStreamQuery)(second), CUDA_ERROR_NOT_READY);
        assert_eq!((api.cuEventQuery)(end), CUDA_ERROR_NOT_READY);
        assert_eq!((api.cuEventElapsedTime)(&raw mut elapsed, start, end), CUDA_ERROR_NOT_READY);
        gate.open();
        ok((api.cuEventSynchronize)(end));
        ok((api.cuEventElapsedTime)(&raw mut elapsed, start, end));
        assert!(elapsed >= 4.5, "the kernel takes 5 ms, jitter aside: {elapsed}");
        ok((api.cuStreamSynchronize)(second));
        for event in [start, end] {
            ok((api.cuEventDestroy_v2)(event));
            assert_eq!((api.cuEventQuery)(event), CUDA_ERROR_INVALID_HANDLE);
        }
    }
}

unsafe extern "C" fn count(counter: *mut c_void) {
    // SAFETY: the test passes a static counter.
    unsafe { &*counter.cast::<AtomicU32>() }.fetch_add(1, Ordering::SeqCst);
}

#[test]
fn host_functions_run_in_stream_order() {
    static CALLS: AtomicU32 = AtomicU32::new(0);
    let api = api();
    context(api);
    let gate = Gate::new(api);
    let counter = (&raw const CALLS).cast_mut().cast::<c_void>();
    // SAFETY: handles of our own, and a static counter.
    unsafe {
        let stream = out(|p| (api.cuStreamCreate)(p, CU_STREAM_NON_BLOCKING));
        gate.close(api, stream);
        ok((api.cuLaunchHostFunc)(stream, Some(count), counter));
        ok((api.cuLaunchHostFunc)(stream, Some(count), counter));
        assert_eq!(CALLS.load(Ordering::SeqCst), 0);
        gate.open();
        ok((api.cuStreamSynchronize)(stream));
        assert_eq!(CALLS.load(Ordering::SeqCst), 2);
        assert_eq!((api.cuLaunchHostFunc)(stream, None, counter), CUDA_ERROR_INVALID_VALUE);
    }
}

#[test]
fn captured_work_becomes_a_graph_and_does_not_run() {
    let api = api();
    context(api);
    let mut bytes = [0_u8; 16];
    // SAFETY: handles and buffers of our own.
    unsafe {
        let memory = out(|p| (api.cuMemAlloc_v2)(p, 4096));
        ok((api.cuMemsetD8_v2)(memory, 1, 4096));
        let stream = out(|p| (api.cuStreamCreate)(p, CU_STREAM_NON_BLOCKING));
        let side = out(|p| (api.cuStreamCreate)(p, CU_STREAM_NON_BLOCKING));
        let event = out(|p| (api.cuEventCreate)(p, CU_EVENT_DISABLE_TIMING));
        ok((api.cuStreamBeginCapture_v2)(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
        assert_eq!(out(|p| (api.cuStreamIsCapturing)(stream, p)), CU_STREAM_CAPTURE_STATUS_ACTIVE);
        ok((api.cuMemsetD8Async)(memory, 2, 16, stream));
        ok((api.cuEventRecord)(event, stream));
        ok((api.cuStreamWaitEvent)(side, event, 0));
        ok((api.cuMemsetD8Async)(memory, 3, 8, side));
        ok((api.cuEventRecord)(event, side));
        ok((api.cuStreamWaitEvent)(stream, event, 0));
        ok((api.cuMemcpyDtoHAsync_v2)(bytes.as_mut_ptr().cast(), memory, 16, stream));
        assert_eq!((api.cuEventQuery)(event), CUDA_ERROR_CAPTURED_EVENT);
        let graph = out(|p| (api.cuStreamEndCapture)(stream, p));
        assert_eq!(out(|p| (api.cuStreamIsCapturing)(side, p)), CU_STREAM_CAPTURE_STATUS_NONE);
        assert_eq!(out(|p| (api.cuGraphGetNodes)(graph, ptr::null_mut(), p)), 3);
        assert_eq!(out(|p| (api.cuGraphGetEdges)(graph, ptr::null_mut(), ptr::null_mut(), p)), 3);
        assert_eq!(bytes, [0; 16]);
        let exec = out(|p| (api.cuGraphInstantiateWithFlags)(p, graph, 0));
        ok((api.cuGraphLaunch)(exec, stream));
        ok((api.cuStreamSynchronize)(stream));
        assert_eq!(bytes, [3, 3, 3, 3, 3, 3, 3, 3, 2, 2, 2, 2, 2, 2, 2, 2]);
        ok((api.cuGraphExecDestroy)(exec));
        ok((api.cuGraphDestroy)(graph));
        ok((api.cuMemFree_v2)(memory));
    }
}

#[test]
fn captures_refuse_what_would_break_them() {
    let api = api();
    context(api);
    let nop = kernel(api, "nop_1us");
    // SAFETY: handles of our own.
    unsafe {
        let stream = out(|p| (api.cuStreamCreate)(p, CU_STREAM_DEFAULT));
        let side = out(|p| (api.cuStreamCreate)(p, CU_STREAM_NON_BLOCKING));
        let event = out(|p| (api.cuEventCreate)(p, 0));
        let mut graph: CUgraph = ptr::null_mut();
        assert_eq!((api.cuStreamEndCapture)(stream, &raw mut graph), CUDA_ERROR_ILLEGAL_STATE);
        assert_eq!((api.cuStreamBeginCapture_v2)(NULL, 0), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
        // Synchronising a capturing stream ends its capture.
        ok((api.cuStreamBeginCapture_v2)(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
        assert_eq!((api.cuStreamBeginCapture_v2)(stream, 0), CUDA_ERROR_ILLEGAL_STATE);
        assert_eq!((api.cuStreamSynchronize)(stream), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
        assert_eq!(launch(api, nop, stream), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
        assert_eq!((api.cuStreamEndCapture)(stream, &raw mut graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
        assert!(graph.is_null());
        // So does an allocation by the thread that captures, and work in the legacy stream.
        ok((api.cuStreamBeginCapture_v2)(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
        let mut memory = 0;
        assert_eq!((api.cuMemAlloc_v2)(&raw mut memory, 16), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
        assert_eq!((api.cuStreamEndCapture)(stream, &raw mut graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
        ok((api.cuStreamBeginCapture_v2)(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
        ok((api.cuMemAlloc_v2)(&raw mut memory, 16));
        assert_eq!(launch(api, nop, NULL), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
        assert_eq!((api.cuStreamEndCapture)(stream, &raw mut graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
        // A stream that joined must come back.
        ok((api.cuStreamBeginCapture_v2)(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
        ok((api.cuEventRecord)(event, stream));
        ok((api.cuStreamWaitEvent)(side, event, 0));
        ok(launch(api, nop, side));
        assert_eq!((api.cuStreamEndCapture)(side, &raw mut graph), CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
        assert_eq!((api.cuStreamEndCapture)(stream, &raw mut graph), CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
        ok(launch(api, nop, NULL));
        let mut mode = CU_STREAM_CAPTURE_MODE_RELAXED;
        ok((api.cuThreadExchangeStreamCaptureMode)(&raw mut mode));
        assert_eq!(mode, CU_STREAM_CAPTURE_MODE_GLOBAL);
        ok((api.cuThreadExchangeStreamCaptureMode)(&raw mut mode));
    }
}

/// A fault is sticky: everything of that context fails with its code, other contexts go on.
#[test]
fn faults_are_sticky_and_stay_in_their_context() {
    let api = api();
    context(api);
    // SAFETY: handles of our own.
    unsafe {
        let broken = out(|p| (api.cuCtxCreate_v2)(p, 0, 0));
        let fault = kernel(api, "fault_1us");
        ok(launch(api, fault, NULL));
        assert_eq!((api.cuCtxSynchronize)(), CUDA_ERROR_ILLEGAL_ADDRESS);
        let mut memory = 0;
        assert_eq!((api.cuMemAlloc_v2)(&raw mut memory, 16), CUDA_ERROR_ILLEGAL_ADDRESS);
        assert_eq!(launch(api, fault, NULL), CUDA_ERROR_ILLEGAL_ADDRESS);
        let _ = (api.cuCtxDestroy_v2)(broken);
        context(api);
        let fine = kernel(api, "fine_1us");
        let stream = out(|p| (api.cuStreamCreate)(p, CU_STREAM_NON_BLOCKING));
        ok(launch(api, fine, stream));
        ok((api.cuStreamSynchronize)(stream));
        assert_eq!((api.cuCtxSetCurrent)(broken), CUDA_ERROR_INVALID_CONTEXT);
    }
}

#[test]
fn a_captured_event_is_named_as_such_also_where_asking_breaks_the_capture() {
    let api = api();
    context(api);
    // SAFETY: handles of our own.
    unsafe {
        let stream = out(|p| (api.cuStreamCreate)(p, CU_STREAM_NON_BLOCKING));
        let event = out(|p| (api.cuEventCreate)(p, CU_EVENT_DISABLE_TIMING));
        ok((api.cuStreamBeginCapture_v2)(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
        ok((api.cuEventRecord)(event, stream));
        assert_eq!((api.cuEventQuery)(event), CUDA_ERROR_CAPTURED_EVENT);
        let mut graph = ptr::null_mut();
        assert_eq!((api.cuStreamEndCapture)(stream, &raw mut graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
        ok((api.cuEventDestroy_v2)(event));
        ok((api.cuStreamDestroy_v2)(stream));
    }
}
