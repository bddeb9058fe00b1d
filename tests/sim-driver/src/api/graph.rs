//! Graphs as wholes: life, edges, lists of nodes.

use std::ffi::{c_char, c_uint, c_ulonglong};
use std::sync::atomic::Ordering;

use crate::api::capture::places;
use crate::error::{INVALID_VALUE, OUT_OF_MEMORY, Res, put};
use crate::graph::{self, Graph, find, find_node};
use crate::slots::handle_of;
use crate::state::driver;
use crate::sync::lock;
use crate::types::{CUgraph, CUgraphEdgeData, CUgraphNode, CUgraphNodeType, raw};

pub(crate) unsafe fn cuGraphCreate(out: *mut CUgraph, flags: c_uint) -> Res {
    driver()?;
    if out.is_null() || flags != 0 {
        return Err(INVALID_VALUE);
    }
    let graph = graph::create().ok_or(OUT_OF_MEMORY)?;
    // SAFETY: the caller's pointer, as the API demands.
    unsafe { put(out, handle_of(graph).cast()) }
}

pub(crate) unsafe fn cuGraphDestroy(graph: CUgraph) -> Res {
    driver()?;
    graph::destroy(find(raw(graph))?);
    Ok(())
}

pub(crate) unsafe fn cuGraphClone(out: *mut CUgraph, original: CUgraph) -> Res {
    driver()?;
    let copy = find(raw(original))?.duplicate()?;
    // SAFETY: the caller's pointer, as the API demands.
    unsafe { put(out, handle_of(copy).cast()) }
}

pub(crate) unsafe fn cuGraphDestroyNode(node: CUgraphNode) -> Res {
    driver()?;
    let (graph, place) = find_node(raw(node))?;
    graph.remove(place);
    Ok(())
}

unsafe fn edges(graph: CUgraph, from: *const CUgraphNode, to: *const CUgraphNode, count: usize, add: bool) -> Res {
    driver()?;
    let graph = find(raw(graph))?;
    // SAFETY: the caller's array.
    let from = unsafe { places(graph, from, count) }?;
    // SAFETY: the caller's array.
    let to = unsafe { places(graph, to, count) }?;
    from.into_iter().zip(to).try_for_each(|(from, to)| graph.edge(from, to, add))
}

pub(crate) unsafe fn cuGraphAddDependencies(
    graph: CUgraph,
    from: *const CUgraphNode,
    to: *const CUgraphNode,
    count: usize,
) -> Res {
    // SAFETY: the caller's arrays.
    unsafe { edges(graph, from, to, count, true) }
}

pub(crate) unsafe fn cuGraphAddDependencies_v2(
    graph: CUgraph,
    from: *const CUgraphNode,
    to: *const CUgraphNode,
    _edges: *const CUgraphEdgeData,
    count: usize,
) -> Res {
    // SAFETY: the caller's arrays.
    unsafe { edges(graph, from, to, count, true) }
}

pub(crate) unsafe fn cuGraphRemoveDependencies(
    graph: CUgraph,
    from: *const CUgraphNode,
    to: *const CUgraphNode,
    count: usize,
) -> Res {
    // SAFETY: the caller's arrays.
    unsafe { edges(graph, from, to, count, false) }
}

pub(crate) unsafe fn cuGraphRemoveDependencies_v2(
    graph: CUgraph,
    from: *const CUgraphNode,
    to: *const CUgraphNode,
    _edges: *const CUgraphEdgeData,
    count: usize,
) -> Res {
    // SAFETY: the caller's arrays.
    unsafe { edges(graph, from, to, count, false) }
}

/// Fills a list by the API's rule: without an array the number is asked for; else it says how much room there is and then
/// how much was written, and what lies behind is cleared.
unsafe fn fill(out: *mut CUgraphNode, count: *mut usize, nodes: &[CUgraphNode]) -> Res {
    if count.is_null() {
        return Err(INVALID_VALUE);
    }
    if out.is_null() {
        // SAFETY: not null; the caller's pointer.
        return unsafe { put(count, nodes.len()) };
    }
    // SAFETY: not null; the caller's pointer.
    let room = unsafe { count.read() };
    for i in 0..room {
        let node = nodes.get(i).copied().unwrap_or(std::ptr::null_mut());
        // SAFETY: the caller's array has room for that many.
        unsafe { put(out.wrapping_add(i), node) }?;
    }
    // SAFETY: not null; the caller's pointer.
    unsafe { put(count, nodes.len().min(room)) }
}

fn handles(graph: &Graph, keep: impl Fn(&graph::Node) -> bool) -> Vec<CUgraphNode> {
    let body = lock(&graph.body);
    body.nodes.values().filter(|n| keep(n)).map(|n| handle_of(n.handle).cast()).collect()
}

pub(crate) unsafe fn cuGraphGetNodes(graph: CUgraph, out: *mut CUgraphNode, count: *mut usize) -> Res {
    driver()?;
    // SAFETY: the caller's array.
    unsafe { fill(out, count, &handles(find(raw(graph))?, |_| true)) }
}

pub(crate) unsafe fn cuGraphGetRootNodes(graph: CUgraph, out: *mut CUgraphNode, count: *mut usize) -> Res {
    driver()?;
    // SAFETY: the caller's array.
    unsafe { fill(out, count, &handles(find(raw(graph))?, |n| n.after.is_empty())) }
}

unsafe fn get_edges(graph: CUgraph, from: *mut CUgraphNode, to: *mut CUgraphNode, count: *mut usize) -> Res<usize> {
    driver()?;
    let graph = find(raw(graph))?;
    if from.is_null() != to.is_null() || count.is_null() {
        return Err(INVALID_VALUE);
    }
    let body = lock(&graph.body);
    let (mut starts, mut ends) = (Vec::new(), Vec::new());
    for node in body.nodes.values() {
        for before in node.after.iter().filter_map(|p| body.nodes.get(p)) {
            starts.push(handle_of(before.handle).cast());
            ends.push(handle_of(node.handle).cast());
        }
    }
    // SAFETY: not null; the caller's pointer.
    let mut room = unsafe { count.read() };
    // SAFETY: the caller's array.
    unsafe { fill(from, &raw mut room, &starts) }?;
    // SAFETY: the caller's array.
    unsafe { fill(to, count, &ends) }?;
    Ok(ends.len())
}

pub(crate) unsafe fn cuGraphGetEdges(
    graph: CUgraph,
    from: *mut CUgraphNode,
    to: *mut CUgraphNode,
    count: *mut usize,
) -> Res {
    // SAFETY: the caller's arrays.
    unsafe { get_edges(graph, from, to, count) }.map(|_| ())
}

/// Clears the data of the edges that were written: all are plain ones.
unsafe fn plain_edges(data: *mut CUgraphEdgeData, listed: bool, count: *mut usize) {
    if data.is_null() || !listed {
        return;
    }
    // SAFETY: checked by the caller of this function; the API's count.
    for i in 0..unsafe { count.read() } {
        let plain = CUgraphEdgeData { from_port: 0, to_port: 0, type_: 0, reserved: [0; 5] };
        // SAFETY: the caller's array is as long as its others.
        unsafe { data.wrapping_add(i).write(plain) };
    }
}

pub(crate) unsafe fn cuGraphGetEdges_v2(
    graph: CUgraph,
    from: *mut CUgraphNode,
    to: *mut CUgraphNode,
    data: *mut CUgraphEdgeData,
    count: *mut usize,
) -> Res {
    // SAFETY: the caller's arrays.
    unsafe { get_edges(graph, from, to, count) }?;
    // SAFETY: the caller's array; the count is not null.
    unsafe { plain_edges(data, !from.is_null(), count) };
    Ok(())
}

pub(crate) unsafe fn cuGraphNodeGetDependencies(node: CUgraphNode, out: *mut CUgraphNode, count: *mut usize) -> Res {
    driver()?;
    let (graph, place) = find_node(raw(node))?;
    let before = {
        let body = lock(&graph.body);
        let node = body.nodes.get(&place).ok_or(INVALID_VALUE)?;
        node.after.iter().filter_map(|p| body.nodes.get(p)).map(|n| handle_of(n.handle).cast()).collect::<Vec<_>>()
    };
    // SAFETY: the caller's array.
    unsafe { fill(out, count, &before) }
}

pub(crate) unsafe fn cuGraphNodeGetDependencies_v2(
    node: CUgraphNode,
    out: *mut CUgraphNode,
    data: *mut CUgraphEdgeData,
    count: *mut usize,
) -> Res {
    // SAFETY: the caller's array.
    unsafe { cuGraphNodeGetDependencies(node, out, count) }?;
    // SAFETY: the caller's array; the count is not null.
    unsafe { plain_edges(data, !out.is_null(), count) };
    Ok(())
}

pub(crate) unsafe fn cuGraphNodeGetDependentNodes(node: CUgraphNode, out: *mut CUgraphNode, count: *mut usize) -> Res {
    driver()?;
    let (graph, place) = find_node(raw(node))?;
    // SAFETY: the caller's array.
    unsafe { fill(out, count, &handles(graph, |n| n.after.contains(&place))) }
}

pub(crate) unsafe fn cuGraphNodeGetDependentNodes_v2(
    node: CUgraphNode,
    out: *mut CUgraphNode,
    data: *mut CUgraphEdgeData,
    count: *mut usize,
) -> Res {
    // SAFETY: the caller's array.
    unsafe { cuGraphNodeGetDependentNodes(node, out, count) }?;
    // SAFETY: the caller's array; the count is not null.
    unsafe { plain_edges(data, !out.is_null(), count) };
    Ok(())
}

pub(crate) unsafe fn cuGraphNodeGetType(node: CUgraphNode, out: *mut CUgraphNodeType) -> Res {
    driver()?;
    let (graph, place) = find_node(raw(node))?;
    let kind = lock(&graph.body).nodes.get(&place).map(|n| n.work.kind()).ok_or(INVALID_VALUE)?;
    // SAFETY: the caller's pointer, as the API demands.
    unsafe { put(out, kind) }
}

pub(crate) unsafe fn cuGraphNodeFindInClone(out: *mut CUgraphNode, original: CUgraphNode, clone: CUgraph) -> Res {
    driver()?;
    let (graph, place) = find_node(raw(original))?;
    let clone = find(raw(clone))?;
    if clone.original.load(Ordering::Relaxed) != graph.id.load(Ordering::Relaxed) {
        return Err(INVALID_VALUE);
    }
    let handle = lock(&clone.body).nodes.get(&place).map(|n| handle_of(n.handle)).ok_or(INVALID_VALUE)?;
    // SAFETY: the caller's pointer, as the API demands.
    unsafe { put(out, handle.cast()) }
}

pub(crate) unsafe fn cuGraphNodeGetContainingGraph(node: CUgraphNode, out: *mut CUgraph) -> Res {
    driver()?;
    let (graph, _) = find_node(raw(node))?;
    // SAFETY: the caller's pointer, as the API demands.
    unsafe { put(out, handle_of(graph).cast()) }
}

pub(crate) unsafe fn cuGraphNodeGetLocalId(node: CUgraphNode, out: *mut c_uint) -> Res {
    driver()?;
    let (_, place) = find_node(raw(node))?;
    // SAFETY: the caller's pointer, as the API demands.
    unsafe { put(out, c_uint::try_from(place).unwrap_or(c_uint::MAX)) }
}

pub(crate) unsafe fn cuGraphNodeGetToolsId(node: CUgraphNode, out: *mut c_ulonglong) -> Res {
    driver()?;
    let (graph, place) = find_node(raw(node))?;
    let id = graph.id.load(Ordering::Relaxed) << 32 | place as u64;
    // SAFETY: the caller's pointer, as the API demands.
    unsafe { put(out, id) }
}

pub(crate) unsafe fn cuGraphGetId(graph: CUgraph, out: *mut c_uint) -> Res {
    driver()?;
    let id = find(raw(graph))?.id.load(Ordering::Relaxed);
    // SAFETY: the caller's pointer, as the API demands.
    unsafe { put(out, c_uint::try_from(id).unwrap_or(c_uint::MAX)) }
}

pub(crate) unsafe fn cuGraphDebugDotPrint(graph: CUgraph, path: *const c_char, _flags: c_uint) -> Res {
    driver()?;
    let graph = find(raw(graph))?;
    // SAFETY: the caller's string.
    let path = unsafe { crate::types::text(path) }?;
    let mut dot = String::from("digraph graph_1 {\n");
    for (place, node) in &lock(&graph.body).nodes {
        dot.push_str(&format!("  n{place} [label=\"{}\"];\n", node.work.kind()));
        for before in &node.after {
            dot.push_str(&format!("  n{before} -> n{place};\n"));
        }
    }
    dot.push_str("}\n");
    std::fs::write(&*path, dot).map_err(|_| crate::error::Fail(304))
}
