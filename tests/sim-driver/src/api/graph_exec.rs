//! Executable graphs: making, changing, launching, ending them.

use std::ffi::{c_char, c_uint, c_ulonglong};
use std::sync::atomic::Ordering;

use mgpu_sim_link::Op;

use crate::api::graph_nodes;
use crate::context;
use crate::error::{Fail, INVALID_VALUE, Res, put, put_if};
use crate::exec::{self, Exec};
use crate::graph::{self, Work, find_node};
use crate::slots::handle_of;
use crate::state::driver;
use crate::stream::{self, Zero};
use crate::submit::submit;
use crate::types::{
    CUDA_GRAPH_INSTANTIATE_PARAMS, CUDA_HOST_NODE_PARAMS, CUDA_KERNEL_NODE_PARAMS, CUDA_KERNEL_NODE_PARAMS_v1,
    CUDA_MEMCPY3D, CUDA_MEMSET_NODE_PARAMS, CUcontext, CUevent, CUgraph, CUgraphExec, CUgraphExecUpdateResult,
    CUgraphExecUpdateResultInfo, CUgraphNode, CUgraphNodeParams, CUstream, cuuint64_t, raw,
};

unsafe fn instantiate(out: *mut CUgraphExec, graph: CUgraph, flags: u64) -> Res<&'static Exec> {
    let context = context::current()?;
    let graph = graph::find(raw(graph))?;
    if out.is_null() || flags & !0xf != 0 {
        return Err(INVALID_VALUE);
    }
    let exec = exec::instantiate(context, graph, flags)?;
    // SAFETY: not null; the caller's pointer.
    unsafe { put(out, handle_of(exec).cast()) }?;
    Ok(exec)
}

pub(crate) unsafe fn cuGraphInstantiate(
    out: *mut CUgraphExec,
    graph: CUgraph,
    error_node: *mut CUgraphNode,
    log: *mut c_char,
    log_bytes: usize,
) -> Res {
    // SAFETY: the caller's pointer, or null.
    unsafe { put_if(error_node, std::ptr::null_mut()) };
    if log_bytes > 0 {
        // SAFETY: the caller's buffer, or null.
        unsafe { put_if(log, 0) };
    }
    // SAFETY: the caller's pointer.
    unsafe { instantiate(out, graph, 0) }.map(|_| ())
}

pub(crate) unsafe fn cuGraphInstantiate_v2(
    out: *mut CUgraphExec,
    graph: CUgraph,
    error_node: *mut CUgraphNode,
    log: *mut c_char,
    log_bytes: usize,
) -> Res {
    // SAFETY: the same function.
    unsafe { cuGraphInstantiate(out, graph, error_node, log, log_bytes) }
}

pub(crate) unsafe fn cuGraphInstantiateWithFlags(out: *mut CUgraphExec, graph: CUgraph, flags: c_ulonglong) -> Res {
    // SAFETY: the caller's pointer.
    unsafe { instantiate(out, graph, flags) }.map(|_| ())
}

pub(crate) unsafe fn cuGraphInstantiateWithParams(
    _zero: Zero,
    out: *mut CUgraphExec,
    graph: CUgraph,
    p: *mut CUDA_GRAPH_INSTANTIATE_PARAMS,
) -> Res {
    driver()?;
    // SAFETY: null or the caller's structure.
    let p = unsafe { p.as_mut() }.ok_or(INVALID_VALUE)?;
    // SAFETY: the caller's pointer.
    let result = unsafe { instantiate(out, graph, p.flags) };
    p.hErrNode_out = std::ptr::null_mut();
    p.result_out = u32::from(result.is_err());
    result.map(|_| ())
}

pub(crate) unsafe fn cuGraphUpload(zero: Zero, exec: CUgraphExec, on: CUstream) -> Res {
    context::current()?;
    stream::resolve(raw(on), zero)?;
    exec::find(raw(exec))?.upload(driver()?).map(|_| ())
}

pub(crate) unsafe fn cuGraphLaunch(zero: Zero, exec: CUgraphExec, on: CUstream) -> Res {
    context::current()?;
    let driver = driver()?;
    let exec = exec::find(raw(exec))?;
    let stream = stream::resolve(raw(on), zero)?;
    if stream.capturing.load(Ordering::Acquire) != 0 {
        return crate::capture::add(stream, Work::Child(exec.snapshot()?));
    }
    let op = Op::Graph { graph: exec.prepare_launch(driver)? };
    submit(driver, stream, driver.costs.graph_ns, &op, || Work::Empty).map(|_| ())
}

pub(crate) unsafe fn cuGraphExecDestroy(exec: CUgraphExec) -> Res {
    driver()?;
    exec::destroy(raw(exec))
}

pub(crate) unsafe fn cuGraphExecGetFlags(exec: CUgraphExec, out: *mut cuuint64_t) -> Res {
    driver()?;
    let flags = exec::find(raw(exec))?.flags.load(Ordering::Relaxed);
    // SAFETY: the caller's pointer, as the API demands.
    unsafe { put(out, flags) }
}

pub(crate) unsafe fn cuGraphExecGetId(exec: CUgraphExec, out: *mut c_uint) -> Res {
    driver()?;
    let id = exec::find(raw(exec))?.id.load(Ordering::Relaxed);
    // SAFETY: the caller's pointer, as the API demands.
    unsafe { put(out, c_uint::try_from(id).unwrap_or(c_uint::MAX)) }
}

/// `CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED`.
const TOPOLOGY_CHANGED: CUgraphExecUpdateResult = 2;

fn update(exec: CUgraphExec, graph: CUgraph) -> Res<Result<(), Fail>> {
    driver()?;
    let exec = exec::find(raw(exec))?;
    Ok(exec.update(graph::find(raw(graph))?))
}

pub(crate) unsafe fn cuGraphExecUpdate(
    exec: CUgraphExec,
    graph: CUgraph,
    error_node: *mut CUgraphNode,
    result: *mut CUgraphExecUpdateResult,
) -> Res {
    let updated = update(exec, graph)?;
    // SAFETY: the caller's pointer, or null.
    unsafe { put_if(error_node, std::ptr::null_mut()) };
    // SAFETY: the caller's pointer, or null.
    unsafe { put_if(result, if updated.is_ok() { 0 } else { TOPOLOGY_CHANGED }) };
    updated
}

pub(crate) unsafe fn cuGraphExecUpdate_v2(
    exec: CUgraphExec,
    graph: CUgraph,
    info: *mut CUgraphExecUpdateResultInfo,
) -> Res {
    let updated = update(exec, graph)?;
    let none = std::ptr::null_mut();
    let result = if updated.is_ok() { 0 } else { TOPOLOGY_CHANGED };
    // SAFETY: the caller's pointer, or null.
    unsafe { put_if(info, CUgraphExecUpdateResultInfo { result, errorNode: none, errorFromNode: none }) };
    updated
}

/// Replaces the work of a node in the executable graph; the node is named by the original graph's handle.
fn set(exec: CUgraphExec, node: CUgraphNode, work: Res<Work>) -> Res {
    driver()?;
    let exec = exec::find(raw(exec))?;
    let (_, place) = find_node(raw(node))?;
    exec.set_work(place, work?)
}

pub(crate) unsafe fn cuGraphExecNodeSetParams(exec: CUgraphExec, node: CUgraphNode, p: *mut CUgraphNodeParams) -> Res {
    // SAFETY: the caller's structure.
    set(exec, node, unsafe { graph_nodes::any(p) })
}

pub(crate) unsafe fn cuGraphExecKernelNodeSetParams(
    exec: CUgraphExec,
    node: CUgraphNode,
    p: *const CUDA_KERNEL_NODE_PARAMS_v1,
) -> Res {
    // SAFETY: the caller's structure.
    set(exec, node, unsafe { graph_nodes::kernel_v1(p) })
}

pub(crate) unsafe fn cuGraphExecKernelNodeSetParams_v2(
    exec: CUgraphExec,
    node: CUgraphNode,
    p: *const CUDA_KERNEL_NODE_PARAMS,
) -> Res {
    // SAFETY: the caller's structure.
    set(exec, node, unsafe { graph_nodes::kernel_v2(p) })
}

pub(crate) unsafe fn cuGraphExecMemcpyNodeSetParams(
    exec: CUgraphExec,
    node: CUgraphNode,
    p: *const CUDA_MEMCPY3D,
    _ctx: CUcontext,
) -> Res {
    // SAFETY: the caller's structure.
    set(exec, node, unsafe { graph_nodes::copy(p) })
}

pub(crate) unsafe fn cuGraphExecMemsetNodeSetParams(
    exec: CUgraphExec,
    node: CUgraphNode,
    p: *const CUDA_MEMSET_NODE_PARAMS,
    _ctx: CUcontext,
) -> Res {
    // SAFETY: the caller's structure.
    set(exec, node, unsafe { graph_nodes::fill(p) })
}

pub(crate) unsafe fn cuGraphExecHostNodeSetParams(
    exec: CUgraphExec,
    node: CUgraphNode,
    p: *const CUDA_HOST_NODE_PARAMS,
) -> Res {
    // SAFETY: the caller's structure.
    set(exec, node, unsafe { graph_nodes::host(p) })
}

pub(crate) unsafe fn cuGraphExecChildGraphNodeSetParams(exec: CUgraphExec, node: CUgraphNode, child: CUgraph) -> Res {
    set(exec, node, graph::find(raw(child)).and_then(graph::Graph::duplicate).map(Work::Child))
}

pub(crate) unsafe fn cuGraphExecEventRecordNodeSetEvent(exec: CUgraphExec, node: CUgraphNode, event: CUevent) -> Res {
    set(exec, node, crate::event::find(raw(event)).map(Work::Record))
}

pub(crate) unsafe fn cuGraphExecEventWaitNodeSetEvent(exec: CUgraphExec, node: CUgraphNode, event: CUevent) -> Res {
    set(exec, node, crate::event::find(raw(event)).map(Work::Wait))
}

pub(crate) unsafe fn cuGraphNodeSetEnabled(exec: CUgraphExec, node: CUgraphNode, enabled: c_uint) -> Res {
    driver()?;
    let exec = exec::find(raw(exec))?;
    let (_, place) = find_node(raw(node))?;
    exec.enable(place, enabled != 0)
}

pub(crate) unsafe fn cuGraphNodeGetEnabled(exec: CUgraphExec, node: CUgraphNode, out: *mut c_uint) -> Res {
    driver()?;
    let exec = exec::find(raw(exec))?;
    let (_, place) = find_node(raw(node))?;
    // SAFETY: the caller's pointer, as the API demands.
    unsafe { put(out, c_uint::from(exec.is_enabled(place))) }
}
