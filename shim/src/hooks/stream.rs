//! A stream's end, and captures. While any stream captures, no marker goes where a capture could catch it.

use super::launch::is_capturing;
use crate::markers;
use crate::session;
use crate::session::anchor;
use crate::session::process::lock;
use crate::streams::explicit;
use mgpu_cuda::CUresult;
use mgpu_cuda::types::CUstream;
use std::sync::atomic::Ordering;

/// `cuStreamDestroy`: legal with work pending, so what is unmarked gets its marker now; nobody could put one in later. A capture
/// ends with its stream.
pub(crate) fn destroy(stream: CUstream, call: impl FnOnce() -> CUresult) -> CUresult {
    let (Some(process), Some(attachment), Some(anchor)) = (session::process(), session::current(), anchor::get())
    else {
        return call();
    };
    let streams = &attachment.desk.streams;
    let is_it = |entry: &crate::streams::Entry| entry.handle() == stream;
    let is_capturing = is_capturing(anchor, process, stream as usize);
    if !is_capturing {
        for entry in streams.live().filter(|entry| is_it(entry)) {
            markers::mark(attachment.desk, &process.driver, entry);
        }
    }
    // Closed before the call: another thread may get the same handle for a new stream at once.
    streams.close(false, is_it);
    let result = call();
    if is_capturing && result.is_success() {
        end_one(anchor);
    }
    result
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

/// `cuStreamEndCapture` and its kin. Whether the capture is over tells the stream itself: an error may have ended it (it was
/// invalidated) or not (it began on another stream or thread).
pub(crate) fn capture_end(stream: CUstream, per_thread: bool, call: impl FnOnce() -> CUresult) -> CUresult {
    let (Some(process), Some(anchor)) = (session::process(), anchor::get()) else { return call() };
    let stream = explicit(stream, per_thread);
    let was_capturing = is_capturing(anchor, process, stream);
    let result = call();
    if was_capturing && !is_capturing(anchor, process, stream) {
        end_one(anchor);
    }
    result
}

fn end_one(anchor: &anchor::Anchor) {
    let _ = anchor.captures.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1));
}
