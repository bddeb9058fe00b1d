//! A stream's end, and captures. While any stream captures, no marker goes where a capture could catch it.

use super::launch::is_capturing;
use crate::markers;
use crate::session;
use crate::session::anchor;
use crate::session::process::lock;
use mgpu_cuda::CUresult;
use mgpu_cuda::types::CUstream;
use std::sync::atomic::Ordering;

/// `cuStreamDestroy`: legal with work pending, so what is unmarked gets its marker now; nobody could put one in later.
pub(crate) fn destroy(stream: CUstream, call: impl FnOnce() -> CUresult) -> CUresult {
    let (Some(process), Some(attachment), Some(anchor)) = (session::process(), session::current(), anchor::get())
    else {
        return call();
    };
    let streams = &attachment.desk.streams;
    let is_it = |entry: &crate::streams::Entry| entry.handle() == stream;
    if !is_capturing(anchor, process, stream as usize) {
        for entry in streams.live().filter(|entry| is_it(entry)) {
            markers::mark(attachment.desk, &process.driver, entry);
        }
    }
    // Closed before the call: another thread may get the same handle for a new stream at once.
    streams.close(false, is_it);
    call()
}

/// `cuStreamBeginCapture` and its kin. Counts itself before it waits for the agent, so that no marker of the agent's can land
/// in the capture.
pub(crate) fn capture_begin(call: impl FnOnce() -> CUresult) -> CUresult {
    let (Some((process, _)), Some(anchor)) = (session::get(), anchor::get()) else { return call() };
    anchor.captures.fetch_add(1, Ordering::SeqCst);
    drop(lock(&process.marking));
    let result = call();
    if !result.is_success() {
        end_one(anchor);
    }
    result
}

/// `cuStreamEndCapture` and its kin. An invalidated capture ends here too, with an error: the stream captures no more.
pub(crate) fn capture_end(call: impl FnOnce() -> CUresult) -> CUresult {
    let result = call();
    let is_over = result.is_success() || is_invalidated(result);
    if let Some(anchor) = anchor::get().filter(|_| is_over) {
        end_one(anchor);
    }
    result
}

fn is_invalidated(result: CUresult) -> bool {
    use mgpu_cuda::{
        CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, CUDA_ERROR_STREAM_CAPTURE_UNJOINED, CUDA_ERROR_STREAM_CAPTURE_UNMATCHED,
    };
    [CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, CUDA_ERROR_STREAM_CAPTURE_UNJOINED, CUDA_ERROR_STREAM_CAPTURE_UNMATCHED]
        .contains(&result)
}

fn end_one(anchor: &anchor::Anchor) {
    let _ = anchor.captures.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1));
}
