//! Every launch path: kernels, graphs, memsets, device-to-device copies. Gated, counted, marked.
//!
//! The fast path (gate plainly open, same stream as last time): one locked add, the gate, the driver, one more add on the
//! stream's line, one store. No system call, no lock, no allocation, no clock, no log.

use crate::gate::{Launch, Outcome, after, is_full};
use crate::session;
use crate::session::anchor::{self, Anchor};
use crate::session::attachment::Attachment;
use crate::session::process::Process;
use crate::streams::{Entry, Key, LEGACY, PER_THREAD, explicit};
use crate::threads::{self, place, remember, remembered};
use mgpu_cuda::CUresult;
use mgpu_cuda::types::CUstream;
use mgpu_protocol::gate::is_plainly_open;
use mgpu_protocol::line::load_gate;
use mgpu_shim_core::gate::{Verdict, judge};
use std::sync::atomic::Ordering;

/// A launch into `stream`. `per_thread`: the null stream is the thread's own (the `_ptsz` and `_ptds` twins).
#[inline]
pub(crate) fn launch(stream: CUstream, per_thread: bool, call: impl FnOnce() -> CUresult) -> CUresult {
    let stream = explicit(stream, per_thread);
    let mut call = Some(call);
    if let Some(anchor) = anchor::get()
        && let Some(attachment) = anchor.attachment()
        && let Some(result) = fast(anchor, attachment, stream, &mut call)
    {
        return result;
    }
    slow(&[stream], &mut || call.take().map_or(mgpu_cuda::CUDA_ERROR_UNKNOWN, |call| call()))
}

/// A launch into several streams at once: every device's gate must be open.
pub(crate) fn launch_each(streams: &[CUstream], call: impl FnOnce() -> CUresult) -> CUresult {
    let streams: Vec<usize> = streams.iter().map(|stream| explicit(*stream, false)).collect();
    let mut call = Some(call);
    slow(&streams, &mut || call.take().map_or(mgpu_cuda::CUDA_ERROR_UNKNOWN, |call| call()))
}

/// `None`: `call` was not made, take the slow path.
#[inline]
fn fast(
    anchor: &'static Anchor,
    attachment: &'static Attachment,
    stream: usize,
    call: &mut Option<impl FnOnce() -> CUresult>,
) -> Option<CUresult> {
    let known = remembered(attachment.desk, stream)?;
    if anchor.captures.load(Ordering::Acquire) != 0 {
        return None;
    }
    if stream <= PER_THREAD && session::process()?.driver.current_context() as usize != known.context {
        return None;
    }
    let counters = known.entry.counters()?;
    let line = known.entry.line()?;
    let gate = &attachment.grant(line).gate;
    known.line.enter();
    let word = load_gate(gate);
    let passes =
        (is_plainly_open(word) || passes(attachment, known.entry, line, word)) && anchor.is_current(attachment);
    let Some(call) = passes.then(|| call.take()).flatten() else {
        known.line.leave();
        return None;
    };
    let result = call();
    if result.is_success() {
        counters.count_launch();
    }
    known.line.leave();
    if (load_gate(gate) != word || !is_plainly_open(word) || !result.is_success())
        && let Some(process) = session::process()
    {
        after(process, attachment, known.entry, word, result);
    }
    Some(result)
}

/// Whether a gate that is open on conditions (window, markers, notice already given) lets a launch through at once.
#[inline(never)]
fn passes(attachment: &Attachment, entry: &Entry, line: usize, word: u64) -> bool {
    judge(word, attachment.notified(line), |granted| is_full(attachment, entry, line, granted)) == Verdict::Pass
}

#[inline(never)]
fn slow(streams: &[usize], call: &mut dyn FnMut() -> CUresult) -> CUresult {
    loop {
        let Some((process, attachment)) = session::get() else { return call() };
        let Some(anchor) = anchor::get() else { return call() };
        let place = place(attachment.desk);
        let mut entries: [Option<&'static Entry>; MOST_STREAMS] = [None; MOST_STREAMS];
        for (found, stream) in entries.iter_mut().zip(streams) {
            if is_capturing(anchor, process, *stream) {
                // The work goes into a graph; its launch will be gated.
                return call();
            }
            *found = entry(process, attachment, *stream);
        }
        let known: Vec<&'static Entry>;
        let single: [&'static Entry; 1];
        let ruled: &[&'static Entry] = match (entries.first().copied().flatten(), streams.len()) {
            (Some(entry), 1) => {
                single = [entry];
                &single
            }
            _ => {
                known = entries.into_iter().flatten().collect();
                &known
            }
        };
        if ruled.is_empty() {
            // No context (the driver will say so), or a device that isn't the tenant's.
            return call();
        }
        let launch = Launch { anchor, process, attachment, place, streams: ruled };
        if let Outcome::Done(result) = launch.pass(call) {
            return result;
        }
    }
}

/// Streams of one call that are gated; the driver has no more devices than this in a cooperative launch.
const MOST_STREAMS: usize = 16;

/// Whether the stream's work is being captured. Asked only while some capture runs in this process.
pub(super) fn is_capturing(anchor: &Anchor, process: &Process, stream: usize) -> bool {
    anchor.captures.load(Ordering::Acquire) != 0 && process.driver.is_capturing(stream as CUstream)
}

/// The entry of the stream that a call means, made if need be. `None`: not ours to gate.
pub(super) fn entry(
    process: &'static Process,
    attachment: &'static Attachment,
    stream: usize,
) -> Option<&'static Entry> {
    let driver = &process.driver;
    let streams = &attachment.desk.streams;
    let generation = streams.generation();
    let current = driver.current_context();
    if let Some(known) = remembered(attachment.desk, stream)
        && (stream > PER_THREAD || known.context == current as usize)
    {
        return known.entry.line().map(|_| known.entry);
    }
    let key = Key {
        stream,
        context: if stream <= PER_THREAD { current as usize } else { 0 },
        thread: if stream == PER_THREAD { threads::id() } else { 0 },
    };
    let found = streams.find(key).or_else(|| {
        let context = match stream {
            LEGACY | PER_THREAD => current,
            handle => driver.stream_context(handle as CUstream)?,
        };
        if context.is_null() {
            return None;
        }
        let ordinal = driver.device_of(context)?;
        streams.add(attachment.desk, key, context, attachment.line_of(ordinal))
    })?;
    remember(stream, current as usize, found, generation);
    found.line().map(|_| found)
}
