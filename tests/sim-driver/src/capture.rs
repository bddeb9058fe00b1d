//! Stream capture: work of capturing streams becomes nodes of a graph, joined by events.
//!
//! It keeps the driver's rules on who may do what meanwhile. It must never know what a node does.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use crate::context::Context;
use crate::error::{
    CAPTURE_INVALIDATED, CAPTURE_ISOLATION, CAPTURE_UNJOINED, CAPTURE_UNMATCHED, CAPTURE_UNSUPPORTED,
    CAPTURE_WRONG_THREAD, Fail, ILLEGAL_STATE, INVALID_VALUE, OUT_OF_MEMORY, Res,
};
use crate::event::Event;
use crate::graph::{self, Graph, Work};
use crate::slots::handle_of;
use crate::state::next_id;
use crate::stream::Stream;
use crate::sync::lock;

/// States of [`Stream::capturing`], with the driver API's numbers.
pub(crate) const ACTIVE: u32 = 1;
pub(crate) const INVALIDATED: u32 = 2;

pub(crate) const MODE_GLOBAL: u32 = 0;
pub(crate) const MODE_RELAXED: u32 = 2;

/// One capture, from its begin to its end, with all streams that joined it.
#[derive(Debug)]
pub(crate) struct Capture {
    pub(crate) id: u64,
    pub(crate) graph: &'static Graph,
    mode: u32,
    thread: usize,
    origin: usize,
    /// The graph was the application's (`cuStreamBeginCaptureToGraph`).
    pub(crate) borrowed: bool,
    streams: Mutex<BTreeMap<usize, Vec<usize>>>,
    /// Handles of the last answer of `cuStreamGetCaptureInfo`, which must outlive that call.
    pub(crate) answer: Mutex<Vec<usize>>,
}

static RUNNING: AtomicU32 = AtomicU32::new(0);
static CAPTURES: Mutex<Vec<Arc<Capture>>> = Mutex::new(Vec::new());

thread_local! {
    static MODE: Cell<u32> = const { Cell::new(MODE_GLOBAL) };
    static THREAD: Cell<u8> = const { Cell::new(0) };
}

fn this_thread() -> usize {
    THREAD.with(|t| ptr::from_ref(t) as usize)
}

/// Sets the calling thread's mode and gives the old one.
///
/// # Errors
/// [`INVALID_VALUE`].
pub(crate) fn exchange_mode(mode: u32) -> Res<u32> {
    if mode > MODE_RELAXED {
        return Err(INVALID_VALUE);
    }
    Ok(MODE.with(|m| m.replace(mode)))
}

/// Begins a capture, into `graph` behind `after` if given.
///
/// # Errors
/// [`CAPTURE_UNSUPPORTED`] for the legacy stream, [`ILLEGAL_STATE`] when it is capturing, [`INVALID_VALUE`] for the mode.
pub(crate) fn begin(stream: &'static Stream, mode: u32, into: Option<(&'static Graph, Vec<usize>)>) -> Res {
    if mode > MODE_RELAXED {
        return Err(INVALID_VALUE);
    }
    if stream.is_legacy() {
        return Err(CAPTURE_UNSUPPORTED);
    }
    if stream.capturing.load(Ordering::Acquire) != 0 {
        return Err(ILLEGAL_STATE);
    }
    let borrowed = into.is_some();
    let (graph, after) = match into {
        Some(given) => given,
        None => (graph::create().ok_or(OUT_OF_MEMORY)?, Vec::new()),
    };
    let capture = Arc::new(Capture {
        id: next_id(),
        graph,
        mode,
        thread: this_thread(),
        origin: handle_of(stream) as usize,
        borrowed,
        streams: Mutex::new(BTreeMap::new()),
        answer: Mutex::new(Vec::new()),
    });
    lock(&CAPTURES).push(capture.clone());
    RUNNING.fetch_add(1, Ordering::AcqRel);
    join(stream, &capture, after)
}

fn join(stream: &'static Stream, capture: &Arc<Capture>, after: Vec<usize>) -> Res {
    lock(&capture.streams).insert(handle_of(stream) as usize, after);
    *lock(&stream.capture) = Some(capture.clone());
    stream.capturing.store(ACTIVE, Ordering::Release);
    if stream.is_blocking() {
        stream.context()?.capturing.fetch_add(1, Ordering::AcqRel);
    }
    Ok(())
}

fn leave(stream: &'static Stream) {
    if stream.capturing.swap(0, Ordering::AcqRel) == 0 {
        return;
    }
    *lock(&stream.capture) = None;
    if stream.is_blocking()
        && let Ok(context) = stream.context()
    {
        context.capturing.fetch_sub(1, Ordering::AcqRel);
    }
}

/// The capture of a stream.
///
/// # Errors
/// [`ILLEGAL_STATE`] when there is none, [`CAPTURE_INVALIDATED`].
pub(crate) fn of(stream: &Stream) -> Res<Arc<Capture>> {
    match stream.capturing.load(Ordering::Acquire) {
        0 => Err(ILLEGAL_STATE),
        INVALIDATED => Err(CAPTURE_INVALIDATED),
        _ => lock(&stream.capture).clone().ok_or(ILLEGAL_STATE),
    }
}

/// Appends a node behind the stream's last ones.
///
/// # Errors
/// Those of [`of`].
pub(crate) fn add(stream: &'static Stream, work: Work) -> Res {
    let capture = of(stream)?;
    let mut streams = lock(&capture.streams);
    let tails = streams.entry(handle_of(stream) as usize).or_default();
    let node = capture.graph.add(work, tails)?;
    *tails = vec![node];
    Ok(())
}

/// The nodes that the stream's next one will wait for.
pub(crate) fn tails(stream: &Stream, capture: &Capture) -> Vec<usize> {
    let handle = ptr::from_ref(stream) as usize;
    lock(&capture.streams).get(&handle).cloned().unwrap_or_default()
}

/// Replaces (or adds to) what the stream's next node will wait for.
///
/// # Errors
/// Those of [`of`].
pub(crate) fn set_tails(stream: &'static Stream, nodes: &[usize], replace: bool) -> Res {
    let capture = of(stream)?;
    let mut streams = lock(&capture.streams);
    let tails = streams.entry(handle_of(stream) as usize).or_default();
    if replace {
        tails.clear();
    }
    tails.extend(nodes.iter().filter(|n| !tails.contains(n)).copied().collect::<Vec<_>>());
    Ok(())
}

/// `cuEventRecord` in a capturing stream: the event stands for the stream's last nodes from now on.
///
/// # Errors
/// Those of [`of`].
pub(crate) fn record(stream: &'static Stream, event: &Event) -> Res {
    let capture = of(stream)?;
    let nodes = tails(stream, &capture);
    event.set_captured(Some((capture, nodes)));
    Ok(())
}

/// `cuStreamWaitEvent` on an event that a capture recorded: the stream joins it.
///
/// # Errors
/// [`CAPTURE_ISOLATION`] when it belongs to another capture, or this stream's capture waits for outside work.
pub(crate) fn wait(stream: &'static Stream, event: &Event) -> Res {
    let captured = lock(&event.captured).clone();
    let own = if stream.capturing.load(Ordering::Acquire) == 0 { None } else { Some(of(stream)?) };
    match (own, captured) {
        (None, Some((capture, nodes))) => {
            if stream.is_legacy() {
                return Err(CAPTURE_ISOLATION);
            }
            join(stream, &capture, nodes)
        }
        (Some(own), Some((capture, nodes))) if Arc::ptr_eq(&own, &capture) => set_tails(stream, &nodes, false),
        (Some(own), _) => {
            invalidate(&own);
            Err(CAPTURE_ISOLATION)
        }
        (None, None) => Ok(()),
    }
}

/// Ends the capture that began in this stream and gives its graph.
///
/// # Errors
/// [`ILLEGAL_STATE`], [`CAPTURE_UNMATCHED`], [`CAPTURE_WRONG_THREAD`], [`CAPTURE_INVALIDATED`], [`CAPTURE_UNJOINED`].
pub(crate) fn end(stream: &'static Stream) -> Res<&'static Graph> {
    let capture = lock(&stream.capture).clone().ok_or(ILLEGAL_STATE)?;
    if capture.origin != handle_of(stream) as usize {
        return Err(CAPTURE_UNMATCHED);
    }
    if capture.mode != MODE_RELAXED && capture.thread != this_thread() {
        return Err(CAPTURE_WRONG_THREAD);
    }
    let invalid = stream.capturing.load(Ordering::Acquire) == INVALIDATED;
    let tails: Vec<usize> = lock(&capture.streams).values().flatten().copied().collect();
    let joined = capture.graph.reaches_all(&self::tails(stream, &capture), &tails);
    close(&capture);
    if invalid || !joined {
        if !capture.borrowed {
            graph::destroy(capture.graph);
        }
        return Err(if invalid { CAPTURE_INVALIDATED } else { CAPTURE_UNJOINED });
    }
    Ok(capture.graph)
}

fn close(capture: &Arc<Capture>) {
    let streams: Vec<usize> = lock(&capture.streams).keys().copied().collect();
    for stream in streams {
        if let Some(stream) = crate::stream::STREAMS.get(stream as *const ()) {
            leave(stream);
        }
    }
    let mut all = lock(&CAPTURES);
    let before = all.len();
    all.retain(|c| !Arc::ptr_eq(c, capture));
    if all.len() < before {
        RUNNING.fetch_sub(1, Ordering::AcqRel);
    }
}

fn invalidate(capture: &Capture) {
    for stream in lock(&capture.streams).keys() {
        if let Some(stream) = crate::stream::STREAMS.get(*stream as *const ()) {
            // A stream that has left meanwhile stays out.
            let _ = stream.capturing.compare_exchange(ACTIVE, INVALIDATED, Ordering::AcqRel, Ordering::Relaxed);
        }
    }
}

/// Makes the captures that contain blocking streams of `context` invalid.
pub(crate) fn invalidate_blocking(context: &Context) {
    let captures = lock(&CAPTURES).clone();
    for capture in captures {
        let touches = lock(&capture.streams).keys().any(|s| {
            let stream = crate::stream::STREAMS.get(*s as *const ());
            stream.is_some_and(|s| s.is_blocking() && s.context_id.load(Ordering::Relaxed) == context.id())
        });
        if touches {
            invalidate(&capture);
        }
    }
}

/// Guards calls that are unsafe during a capture (allocations, frees, queries, context-wide waits).
///
/// # Errors
/// [`CAPTURE_UNSUPPORTED`], and the captures in question are invalid then.
#[inline]
pub(crate) fn check_allowed() -> Res {
    if RUNNING.load(Ordering::Acquire) == 0 { Ok(()) } else { check_slow() }
}

#[cold]
fn check_slow() -> Res {
    let mode = MODE.with(Cell::get);
    if mode == MODE_RELAXED {
        return Ok(());
    }
    let captures = lock(&CAPTURES).clone();
    let own = this_thread();
    let mut hit = false;
    for capture in &captures {
        let foreign_matters = mode == MODE_GLOBAL && capture.mode == MODE_GLOBAL;
        if foreign_matters || (capture.mode != MODE_RELAXED && capture.thread == own) {
            invalidate(capture);
            hit = true;
        }
    }
    if hit { Err(CAPTURE_UNSUPPORTED) } else { Ok(()) }
}

/// A call that no capture allows was made on a capturing stream: the capture is invalid from here on.
#[cold]
pub(crate) fn forbid(stream: &Stream) -> Fail {
    if let Some(capture) = lock(&stream.capture).clone() {
        invalidate(&capture);
    }
    CAPTURE_UNSUPPORTED
}

/// A stream goes away in the middle of a capture: the capture is invalid, and over if it began there.
pub(crate) fn abandon(stream: &'static Stream) {
    let Some(capture) = lock(&stream.capture).clone() else { return };
    invalidate(&capture);
    lock(&capture.streams).remove(&(handle_of(stream) as usize));
    leave(stream);
    if capture.origin == handle_of(stream) as usize {
        close(&capture);
    }
}

/// Ends all captures that touch a context which goes away.
pub(crate) fn drop_context(context: &Context) {
    let streams: Vec<_> = crate::stream::of_context(context).collect();
    for stream in streams {
        if stream.capturing.load(Ordering::Acquire) != 0 {
            abandon(stream);
        }
    }
}
