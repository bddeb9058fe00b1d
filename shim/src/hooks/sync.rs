//! Synchronisations: never gated. Before one, what would stay unmarked while the thread is blocked gets its marker if anybody
//! waits; after one, what it proves complete is noted, and pools may have shrunk.

use super::launch::{entry, is_capturing};
use crate::markers;
use crate::session;
use crate::session::anchor;
use crate::session::attachment::Attachment;
use crate::session::process::Process;
use crate::streams::{Entry, PER_THREAD, explicit};
use mgpu_cuda::CUresult;
use mgpu_cuda::types::CUstream;
use mgpu_protocol::line::load_gate;
use mgpu_shim_core::gate::is_contended;
use std::sync::atomic::Ordering;

/// `cuCtxSynchronize`.
pub(crate) fn context(call: impl FnOnce() -> CUresult) -> CUresult {
    let Some((process, attachment)) = session::get() else { return call() };
    let context = process.driver.current_context();
    around(process, attachment, |entry| entry.context() == context, call)
}

/// `cuStreamSynchronize`.
pub(crate) fn stream(stream: CUstream, per_thread: bool, call: impl FnOnce() -> CUresult) -> CUresult {
    let Some((process, attachment)) = session::get() else { return call() };
    let stream = explicit(stream, per_thread);
    if anchor::get().is_none_or(|anchor| is_capturing(anchor, process, stream)) {
        return call();
    }
    let _ = crate::threads::place(attachment.desk);
    let Some(meant) = entry(process, attachment, stream) else { return call() };
    around(process, attachment, |entry| std::ptr::eq(entry, meant), call)
}

/// `cuEventSynchronize`: which stream the event is in isn't known, so it proves nothing here.
pub(crate) fn event(call: impl FnOnce() -> CUresult) -> CUresult {
    let result = call();
    if let (Some(process), Some(attachment)) = (session::process(), session::current()) {
        settle(process, attachment, result);
    }
    result
}

fn around(
    process: &Process,
    attachment: &'static Attachment,
    which: impl Fn(&Entry) -> bool,
    call: impl FnOnce() -> CUresult,
) -> CUresult {
    let streams = &attachment.desk.streams;
    let meant = || streams.live().filter(|entry| which(entry)).filter_map(|entry| Some((entry, entry.counters()?)));
    // As in `gate`: no stream may begin to capture between the question and the marker.
    if let Ok(_marking) = process.marking.try_lock()
        && anchor::get().is_some_and(|anchor| anchor.captures.load(Ordering::SeqCst) == 0)
    {
        for (entry, line) in meant() {
            if line.has_unmarked_tail() && is_reachable(entry) && is_waited_for(attachment, entry) {
                markers::mark(attachment.desk, &process.driver, entry);
            }
        }
    }
    // What was launched before the call is complete after it. A few streams at most in practice; the rest gets its marker.
    let mut before: [Option<(&Entry, u32)>; 8] = [None; 8];
    for (place, (entry, line)) in before.iter_mut().zip(meant()) {
        *place = Some((entry, line.launched()));
    }
    let result = call();
    if result.is_success() {
        for (entry, number) in before.into_iter().flatten() {
            if let Some(line) = entry.counters() {
                line.note_complete(number);
            }
        }
    }
    settle(process, attachment, result);
    result
}

/// A per-thread default stream can be marked by its own thread only.
fn is_reachable(entry: &Entry) -> bool {
    entry.handle() as usize != PER_THREAD || entry.thread() == crate::threads::id()
}

fn is_waited_for(attachment: &Attachment, entry: &Entry) -> bool {
    entry.line().is_some_and(|line| is_contended(load_gate(&attachment.grant(line).gate)))
}

fn settle(process: &Process, attachment: &Attachment, result: CUresult) {
    if !result.is_success() {
        markers::note_result(attachment.desk, &process.driver, result);
    } else if process.pools.has_slack() {
        process.refresh_pools();
    }
}
