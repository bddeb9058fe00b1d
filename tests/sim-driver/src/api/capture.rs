//! Stream capture as the application drives it.

use std::ffi::c_uint;
use std::sync::atomic::Ordering;

use crate::capture::{self, ACTIVE};
use crate::context;
use crate::error::{CAPTURE_IMPLICIT, INVALID_VALUE, Res, put, put_if};
use crate::graph;
use crate::slots::handle_of;
use crate::state::driver;
use crate::stream::{self, Stream, Zero};
use crate::sync::lock;
use crate::types::{
    CUgraph, CUgraphEdgeData, CUgraphNode, CUstream, CUstreamCaptureMode, CUstreamCaptureStatus, cuuint64_t, list, raw,
};

pub(crate) unsafe fn cuThreadExchangeStreamCaptureMode(mode: *mut CUstreamCaptureMode) -> Res {
    driver()?;
    // SAFETY: null or the caller's place.
    let place = unsafe { mode.as_mut() }.ok_or(INVALID_VALUE)?;
    *place = capture::exchange_mode(*place)?;
    Ok(())
}

fn begin(zero: Zero, on: CUstream, mode: u32) -> Res {
    context::current()?;
    capture::begin(stream::resolve(raw(on), zero)?, mode, None)
}

pub(crate) unsafe fn cuStreamBeginCapture(zero: Zero, on: CUstream) -> Res {
    begin(zero, on, capture::MODE_GLOBAL)
}

pub(crate) unsafe fn cuStreamBeginCapture_v2(zero: Zero, on: CUstream, mode: CUstreamCaptureMode) -> Res {
    begin(zero, on, mode)
}

/// Places of nodes that all belong to `graph`.
///
/// # Safety
/// `nodes` is null or valid for reads of `count` handles.
pub(crate) unsafe fn places(graph: &graph::Graph, nodes: *const CUgraphNode, count: usize) -> Res<Vec<usize>> {
    // SAFETY: as promised by the caller.
    let nodes = unsafe { list(nodes, count) }?;
    let place = |node: &CUgraphNode| match graph::find_node(raw(*node))? {
        (owner, place) if std::ptr::eq(owner, graph) => Ok(place),
        _ => Err(INVALID_VALUE),
    };
    nodes.iter().map(place).collect()
}

pub(crate) unsafe fn cuStreamBeginCaptureToGraph(
    zero: Zero,
    on: CUstream,
    into: CUgraph,
    after: *const CUgraphNode,
    _edges: *const CUgraphEdgeData,
    count: usize,
    mode: CUstreamCaptureMode,
) -> Res {
    context::current()?;
    let stream = stream::resolve(raw(on), zero)?;
    let graph = graph::find(raw(into))?;
    // SAFETY: the caller's array.
    let after = unsafe { places(graph, after, count) }?;
    capture::begin(stream, mode, Some((graph, after)))
}

pub(crate) unsafe fn cuStreamEndCapture(zero: Zero, on: CUstream, out: *mut CUgraph) -> Res {
    context::current()?;
    let stream = stream::resolve(raw(on), zero)?;
    if out.is_null() {
        return Err(INVALID_VALUE);
    }
    let result = capture::end(stream);
    let handle = result.map_or(std::ptr::null_mut(), |graph| handle_of(graph).cast());
    // SAFETY: the caller's pointer, as the API demands. Null when it failed.
    unsafe { put(out, handle) }?;
    result.map(|_| ())
}

/// A stream whose capture is asked about: the legacy one has none, but may not be asked while others capture.
fn asked(zero: Zero, on: CUstream) -> Res<&'static Stream> {
    driver()?;
    let stream = stream::resolve(raw(on), zero)?;
    if stream.is_legacy() && stream.context()?.capturing.load(Ordering::Relaxed) != 0 {
        return Err(CAPTURE_IMPLICIT);
    }
    Ok(stream)
}

pub(crate) unsafe fn cuStreamIsCapturing(zero: Zero, on: CUstream, out: *mut CUstreamCaptureStatus) -> Res {
    let status = asked(zero, on)?.capturing.load(Ordering::Acquire);
    // SAFETY: the caller's pointer, as the API demands.
    unsafe { put(out, status) }
}

pub(crate) unsafe fn cuStreamGetCaptureInfo(
    zero: Zero,
    on: CUstream,
    status: *mut CUstreamCaptureStatus,
    id: *mut cuuint64_t,
) -> Res {
    let none = std::ptr::null_mut();
    // SAFETY: the caller's pointers.
    unsafe { info(zero, on, status, id, none, std::ptr::null_mut(), std::ptr::null_mut()) }
}

unsafe fn info(
    zero: Zero,
    on: CUstream,
    status: *mut CUstreamCaptureStatus,
    id: *mut cuuint64_t,
    graph: *mut CUgraph,
    nodes: *mut *const CUgraphNode,
    count: *mut usize,
) -> Res {
    let stream = asked(zero, on)?;
    let state = stream.capturing.load(Ordering::Acquire);
    // SAFETY: the caller's pointer, as the API demands.
    unsafe { put(status, state) }?;
    if state != ACTIVE {
        return Ok(());
    }
    let capture = capture::of(stream)?;
    let tails = capture::tails(stream, &capture);
    let mut answer = lock(&capture.answer);
    let body = lock(&capture.graph.body);
    *answer = tails.iter().filter_map(|t| body.nodes.get(t)).map(|n| handle_of(n.handle) as usize).collect();
    // SAFETY: the caller's pointer, or null.
    unsafe { put_if(id, capture.id) };
    // SAFETY: the caller's pointer, or null.
    unsafe { put_if(graph, handle_of(capture.graph).cast()) };
    // SAFETY: the caller's pointer, or null. The array lives until the stream's next capture call.
    unsafe { put_if(nodes, answer.as_ptr().cast()) };
    // SAFETY: the caller's pointer, or null.
    unsafe { put_if(count, answer.len()) };
    Ok(())
}

pub(crate) unsafe fn cuStreamGetCaptureInfo_v2(
    zero: Zero,
    on: CUstream,
    status: *mut CUstreamCaptureStatus,
    id: *mut cuuint64_t,
    graph: *mut CUgraph,
    nodes: *mut *const CUgraphNode,
    count: *mut usize,
) -> Res {
    // SAFETY: the caller's pointers.
    unsafe { info(zero, on, status, id, graph, nodes, count) }
}

#[allow(clippy::too_many_arguments, reason = "the API's signature")]
pub(crate) unsafe fn cuStreamGetCaptureInfo_v3(
    zero: Zero,
    on: CUstream,
    status: *mut CUstreamCaptureStatus,
    id: *mut cuuint64_t,
    graph: *mut CUgraph,
    nodes: *mut *const CUgraphNode,
    edges: *mut *const CUgraphEdgeData,
    count: *mut usize,
) -> Res {
    // SAFETY: the caller's pointer, or null. Every edge is a plain one.
    unsafe { put_if(edges, std::ptr::null()) };
    // SAFETY: the caller's pointers.
    unsafe { info(zero, on, status, id, graph, nodes, count) }
}

unsafe fn update(zero: Zero, on: CUstream, nodes: *mut CUgraphNode, count: usize, flags: c_uint) -> Res {
    driver()?;
    let stream = stream::resolve(raw(on), zero)?;
    let capture = capture::of(stream)?;
    if flags > 1 {
        return Err(INVALID_VALUE);
    }
    // SAFETY: the caller's array.
    let places = unsafe { places(capture.graph, nodes, count) }?;
    capture::set_tails(stream, &places, flags == 1)
}

pub(crate) unsafe fn cuStreamUpdateCaptureDependencies(
    zero: Zero,
    on: CUstream,
    nodes: *mut CUgraphNode,
    count: usize,
    flags: c_uint,
) -> Res {
    // SAFETY: the caller's array.
    unsafe { update(zero, on, nodes, count, flags) }
}

pub(crate) unsafe fn cuStreamUpdateCaptureDependencies_v2(
    zero: Zero,
    on: CUstream,
    nodes: *mut CUgraphNode,
    _edges: *const CUgraphEdgeData,
    count: usize,
    flags: c_uint,
) -> Res {
    // SAFETY: the caller's array.
    unsafe { update(zero, on, nodes, count, flags) }
}
