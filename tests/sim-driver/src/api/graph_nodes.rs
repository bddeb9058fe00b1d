//! Nodes: adding them, and their parameters.

use std::ffi::c_void;

use crate::api::capture::places;
use crate::api::launch::{Shape, arguments};
use crate::api::{memops, shapes};
use crate::copy::Fill;
use crate::error::{INVALID_VALUE, Res, put};
use crate::event;
use crate::graph::{self, HostCall, Kernel, Work, find_node};
use crate::module::find_function;
use crate::slots::handle_of;
use crate::state::driver;
use crate::sync::lock;
use crate::types::{
    CUDA_HOST_NODE_PARAMS, CUDA_KERNEL_NODE_PARAMS, CUDA_KERNEL_NODE_PARAMS_v1, CUDA_MEMCPY_NODE_PARAMS, CUDA_MEMCPY3D,
    CUDA_MEMSET_NODE_PARAMS, CUcontext, CUevent, CUgraph, CUgraphEdgeData, CUgraphNode, CUgraphNodeParams, one, raw,
};
use mgpu_sim_link::Op;

unsafe fn add(out: *mut CUgraphNode, graph: CUgraph, after: *const CUgraphNode, count: usize, work: Res<Work>) -> Res {
    driver()?;
    let graph = graph::find(raw(graph))?;
    if out.is_null() {
        return Err(INVALID_VALUE);
    }
    // SAFETY: the caller's array.
    let after = unsafe { places(graph, after, count) }?;
    let place = graph.add(work?, &after)?;
    let handle = lock(&graph.body).nodes.get(&place).map(|n| handle_of(n.handle)).ok_or(INVALID_VALUE)?;
    // SAFETY: not null; the caller's pointer.
    unsafe { put(out, handle.cast()) }
}

/// The first members are those of the first version; later ones only name the context and the `CUkernel`.
fn first_version(p: &CUDA_KERNEL_NODE_PARAMS) -> CUDA_KERNEL_NODE_PARAMS_v1 {
    CUDA_KERNEL_NODE_PARAMS_v1 {
        func: if p.func.is_null() { p.kern.cast() } else { p.func },
        gridDimX: p.gridDimX,
        gridDimY: p.gridDimY,
        gridDimZ: p.gridDimZ,
        blockDimX: p.blockDimX,
        blockDimY: p.blockDimY,
        blockDimZ: p.blockDimZ,
        sharedMemBytes: p.sharedMemBytes,
        kernelParams: p.kernelParams,
        extra: p.extra,
    }
}

/// # Safety
/// The arguments, if given, are those of the function.
pub(crate) unsafe fn kernel(p: &CUDA_KERNEL_NODE_PARAMS_v1) -> Res<Work> {
    let function = find_function(raw(p.func))?;
    let shape = Shape {
        grid: [p.gridDimX, p.gridDimY, p.gridDimZ],
        block: [p.blockDimX, p.blockDimY, p.blockDimZ],
        shared: p.sharedMemBytes,
        cooperative: false,
    };
    // SAFETY: as promised by the caller.
    let arguments = unsafe { arguments(function, p.kernelParams) };
    Ok(Work::Kernel(Kernel { function: handle_of(function) as usize, op: shape.op(function)?, arguments }))
}

/// # Safety
/// As [`kernel`]; `p` is null or valid.
pub(crate) unsafe fn kernel_v1(p: *const CUDA_KERNEL_NODE_PARAMS_v1) -> Res<Work> {
    // SAFETY: as promised by the caller.
    let p = unsafe { one(p) }?;
    // SAFETY: as promised by the caller.
    unsafe { kernel(p) }
}

/// # Safety
/// As [`kernel`]; `p` is null or valid.
pub(crate) unsafe fn kernel_v2(p: *const CUDA_KERNEL_NODE_PARAMS) -> Res<Work> {
    // SAFETY: as promised by the caller.
    let p = unsafe { one(p) }?;
    // SAFETY: as promised by the caller.
    unsafe { kernel(&first_version(p)) }
}

/// # Safety
/// `p` is null or valid.
pub(crate) unsafe fn copy(p: *const CUDA_MEMCPY3D) -> Res<Work> {
    // SAFETY: as promised by the caller.
    let p = unsafe { one(p) }?;
    Ok(Work::Copy(shapes::volume(p)?.op()?, Some(Box::new(shapes::remembered(p)))))
}

/// # Safety
/// `p` is null or valid.
pub(crate) unsafe fn fill(p: *const CUDA_MEMSET_NODE_PARAMS) -> Res<Work> {
    // SAFETY: as promised by the caller.
    let p = unsafe { one(p) }?;
    let element = u8::try_from(p.elementSize).ok().filter(|e| matches!(e, 1 | 2 | 4)).ok_or(INVALID_VALUE)?;
    let fill = Fill { dst: p.dst, pitch: p.pitch, value: p.value, element, width: p.width, height: p.height };
    Ok(Work::Memset(fill.op()?))
}

/// # Safety
/// `p` is null or valid.
pub(crate) unsafe fn host(p: *const CUDA_HOST_NODE_PARAMS) -> Res<Work> {
    // SAFETY: as promised by the caller.
    let p = unsafe { one(p) }?;
    Ok(Work::Host(HostCall { function: p.fn_.ok_or(INVALID_VALUE)?, argument: p.userData as usize }))
}

pub(crate) unsafe fn cuGraphAddKernelNode(
    out: *mut CUgraphNode,
    graph: CUgraph,
    after: *const CUgraphNode,
    count: usize,
    p: *const CUDA_KERNEL_NODE_PARAMS_v1,
) -> Res {
    // SAFETY: the caller's structure.
    let work = unsafe { kernel_v1(p) };
    // SAFETY: the caller's pointers.
    unsafe { add(out, graph, after, count, work) }
}

pub(crate) unsafe fn cuGraphAddKernelNode_v2(
    out: *mut CUgraphNode,
    graph: CUgraph,
    after: *const CUgraphNode,
    count: usize,
    p: *const CUDA_KERNEL_NODE_PARAMS,
) -> Res {
    // SAFETY: the caller's structure.
    let work = unsafe { kernel_v2(p) };
    // SAFETY: the caller's pointers.
    unsafe { add(out, graph, after, count, work) }
}

pub(crate) unsafe fn cuGraphAddMemcpyNode(
    out: *mut CUgraphNode,
    graph: CUgraph,
    after: *const CUgraphNode,
    count: usize,
    p: *const CUDA_MEMCPY3D,
    _ctx: CUcontext,
) -> Res {
    // SAFETY: the caller's structure.
    let work = unsafe { copy(p) };
    // SAFETY: the caller's pointers.
    unsafe { add(out, graph, after, count, work) }
}

pub(crate) unsafe fn cuGraphAddMemsetNode(
    out: *mut CUgraphNode,
    graph: CUgraph,
    after: *const CUgraphNode,
    count: usize,
    p: *const CUDA_MEMSET_NODE_PARAMS,
    _ctx: CUcontext,
) -> Res {
    // SAFETY: the caller's structure.
    let work = unsafe { fill(p) };
    // SAFETY: the caller's pointers.
    unsafe { add(out, graph, after, count, work) }
}

pub(crate) unsafe fn cuGraphAddHostNode(
    out: *mut CUgraphNode,
    graph: CUgraph,
    after: *const CUgraphNode,
    count: usize,
    p: *const CUDA_HOST_NODE_PARAMS,
) -> Res {
    // SAFETY: the caller's structure.
    let work = unsafe { host(p) };
    // SAFETY: the caller's pointers.
    unsafe { add(out, graph, after, count, work) }
}

pub(crate) unsafe fn cuGraphAddChildGraphNode(
    out: *mut CUgraphNode,
    graph: CUgraph,
    after: *const CUgraphNode,
    count: usize,
    child: CUgraph,
) -> Res {
    let work = graph::find(raw(child)).and_then(graph::Graph::duplicate).map(Work::Child);
    // SAFETY: the caller's pointers.
    unsafe { add(out, graph, after, count, work) }
}

pub(crate) unsafe fn cuGraphAddEmptyNode(
    out: *mut CUgraphNode,
    graph: CUgraph,
    after: *const CUgraphNode,
    count: usize,
) -> Res {
    // SAFETY: the caller's pointers.
    unsafe { add(out, graph, after, count, Ok(Work::Empty)) }
}

pub(crate) unsafe fn cuGraphAddEventRecordNode(
    out: *mut CUgraphNode,
    graph: CUgraph,
    after: *const CUgraphNode,
    count: usize,
    event: CUevent,
) -> Res {
    // SAFETY: the caller's pointers.
    unsafe { add(out, graph, after, count, event::find(raw(event)).map(Work::Record)) }
}

pub(crate) unsafe fn cuGraphAddEventWaitNode(
    out: *mut CUgraphNode,
    graph: CUgraph,
    after: *const CUgraphNode,
    count: usize,
    event: CUevent,
) -> Res {
    // SAFETY: the caller's pointers.
    unsafe { add(out, graph, after, count, event::find(raw(event)).map(Work::Wait)) }
}

/// The layout of `CUDA_BATCH_MEM_OP_NODE_PARAMS`, which the table leaves opaque.
#[repr(C)]
struct Batch {
    ctx: CUcontext,
    count: u32,
    operations: *mut crate::types::CUstreamBatchMemOpParams,
    flags: u32,
}

pub(crate) unsafe fn cuGraphAddBatchMemOpNode(
    out: *mut CUgraphNode,
    graph: CUgraph,
    after: *const CUgraphNode,
    count: usize,
    p: *const crate::types::CUDA_BATCH_MEM_OP_NODE_PARAMS,
) -> Res {
    // SAFETY: null or the caller's structure.
    let p = unsafe { one(p.cast::<Batch>()) }?;
    // SAFETY: the caller's array.
    let ops = unsafe { memops::batch(p.operations, p.count) };
    // SAFETY: the caller's pointers.
    unsafe { add(out, graph, after, count, ops.map(Work::MemoryOps)) }
}

/// Work from the general form, for the kinds that are simulated.
///
/// # Safety
/// `p` is null or valid, and the member that its type names is filled in.
pub(crate) unsafe fn any(p: *const CUgraphNodeParams) -> Res<Work> {
    // SAFETY: as promised by the caller.
    let p = unsafe { one(p) }?;
    let member = (&raw const p.params).cast::<c_void>();
    match p.type_ {
        // SAFETY: the member that the type names.
        0 => unsafe { kernel_v2(member.cast()) },
        1 => {
            // SAFETY: the member that the type names.
            let node = unsafe { one(member.cast::<CUDA_MEMCPY_NODE_PARAMS>()) }?;
            // SAFETY: a part of the caller's structure.
            unsafe { copy(&raw const node.copyParams) }
        }
        // SAFETY: the member that the type names; its first members are the first version's.
        2 => unsafe { fill(member.cast()) },
        // SAFETY: the member that the type names.
        3 => unsafe { host(member.cast()) },
        // SAFETY: the member that the type names.
        4 => Ok(Work::Child(graph::find(raw(unsafe { p.params.graph }))?.duplicate()?)),
        5 => Ok(Work::Empty),
        // SAFETY: the member that the type names.
        6 => Ok(Work::Wait(event::find(raw(unsafe { p.params.event }))?)),
        // SAFETY: the member that the type names.
        7 => Ok(Work::Record(event::find(raw(unsafe { p.params.event }))?)),
        _ => Err(crate::unimplemented::call("cuGraphAddNode of this type")),
    }
}

pub(crate) unsafe fn cuGraphAddNode(
    out: *mut CUgraphNode,
    graph: CUgraph,
    after: *const CUgraphNode,
    count: usize,
    p: *mut CUgraphNodeParams,
) -> Res {
    // SAFETY: the caller's structure.
    let work = unsafe { any(p) };
    // SAFETY: the caller's pointers.
    unsafe { add(out, graph, after, count, work) }
}

pub(crate) unsafe fn cuGraphAddNode_v2(
    out: *mut CUgraphNode,
    graph: CUgraph,
    after: *const CUgraphNode,
    _edges: *const CUgraphEdgeData,
    count: usize,
    p: *mut CUgraphNodeParams,
) -> Res {
    // SAFETY: the caller's structure.
    let work = unsafe { any(p) };
    // SAFETY: the caller's pointers.
    unsafe { add(out, graph, after, count, work) }
}

pub(crate) unsafe fn cuGraphAddNode_v3(
    out: *mut CUgraphNode,
    graph: CUgraph,
    after: *const CUgraphNode,
    _edges: *const CUgraphEdgeData,
    count: usize,
    p: *mut CUgraphNodeParams,
) -> Res {
    // SAFETY: the caller's structure.
    let work = unsafe { any(p) };
    // SAFETY: the caller's pointers.
    unsafe { add(out, graph, after, count, work) }
}

/// Replaces the work of a node by work of the same kind.
fn set(node: CUgraphNode, work: Res<Work>) -> Res {
    driver()?;
    let (graph, place) = find_node(raw(node))?;
    let work = work?;
    let mut body = lock(&graph.body);
    let node = body.nodes.get_mut(&place).filter(|n| n.work.kind() == work.kind()).ok_or(INVALID_VALUE)?;
    node.work = work;
    Ok(())
}

/// Reads something of a node's work.
fn get<T>(node: CUgraphNode, read: impl FnOnce(&Work) -> Option<T>) -> Res<T> {
    driver()?;
    let (graph, place) = find_node(raw(node))?;
    let body = lock(&graph.body);
    body.nodes.get(&place).and_then(|n| read(&n.work)).ok_or(INVALID_VALUE)
}

pub(crate) unsafe fn cuGraphNodeSetParams(node: CUgraphNode, p: *mut CUgraphNodeParams) -> Res {
    // SAFETY: the caller's structure.
    set(node, unsafe { any(p) })
}

pub(crate) unsafe fn cuGraphNodeSetParams_v2(node: CUgraphNode, p: *mut CUgraphNodeParams) -> Res {
    // SAFETY: the caller's structure.
    set(node, unsafe { any(p) })
}

pub(crate) unsafe fn cuGraphKernelNodeSetParams(node: CUgraphNode, p: *const CUDA_KERNEL_NODE_PARAMS_v1) -> Res {
    // SAFETY: the caller's structure.
    set(node, unsafe { kernel_v1(p) })
}

pub(crate) unsafe fn cuGraphKernelNodeSetParams_v2(node: CUgraphNode, p: *const CUDA_KERNEL_NODE_PARAMS) -> Res {
    // SAFETY: the caller's structure.
    set(node, unsafe { kernel_v2(p) })
}

pub(crate) unsafe fn cuGraphMemcpyNodeSetParams(node: CUgraphNode, p: *const CUDA_MEMCPY3D) -> Res {
    // SAFETY: the caller's structure.
    set(node, unsafe { copy(p) })
}

pub(crate) unsafe fn cuGraphMemsetNodeSetParams(node: CUgraphNode, p: *const CUDA_MEMSET_NODE_PARAMS) -> Res {
    // SAFETY: the caller's structure.
    set(node, unsafe { fill(p) })
}

pub(crate) unsafe fn cuGraphHostNodeSetParams(node: CUgraphNode, p: *const CUDA_HOST_NODE_PARAMS) -> Res {
    // SAFETY: the caller's structure.
    set(node, unsafe { host(p) })
}

pub(crate) unsafe fn cuGraphEventRecordNodeSetEvent(node: CUgraphNode, event: CUevent) -> Res {
    set(node, event::find(raw(event)).map(Work::Record))
}

pub(crate) unsafe fn cuGraphEventWaitNodeSetEvent(node: CUgraphNode, event: CUevent) -> Res {
    set(node, event::find(raw(event)).map(Work::Wait))
}

/// The parameters of a kernel node. Argument pointers stay valid while the node keeps its parameters.
fn kernel_parameters(node: CUgraphNode) -> Res<CUDA_KERNEL_NODE_PARAMS_v1> {
    get(node, |work| {
        let Work::Kernel(kernel) = work else { return None };
        let Op::Kernel { grid, block, shared, .. } = kernel.op else { return None };
        Some(CUDA_KERNEL_NODE_PARAMS_v1 {
            func: kernel.function as crate::types::CUfunction,
            gridDimX: grid[0],
            gridDimY: grid[1],
            gridDimZ: grid[2],
            blockDimX: block[0],
            blockDimY: block[1],
            blockDimZ: block[2],
            sharedMemBytes: shared,
            kernelParams: kernel.pointers(),
            extra: std::ptr::null_mut(),
        })
    })
}

pub(crate) unsafe fn cuGraphKernelNodeGetParams(node: CUgraphNode, out: *mut CUDA_KERNEL_NODE_PARAMS_v1) -> Res {
    // SAFETY: the caller's pointer, as the API demands.
    unsafe { put(out, kernel_parameters(node)?) }
}

pub(crate) unsafe fn cuGraphKernelNodeGetParams_v2(node: CUgraphNode, out: *mut CUDA_KERNEL_NODE_PARAMS) -> Res {
    let p = kernel_parameters(node)?;
    let full = CUDA_KERNEL_NODE_PARAMS {
        func: p.func,
        gridDimX: p.gridDimX,
        gridDimY: p.gridDimY,
        gridDimZ: p.gridDimZ,
        blockDimX: p.blockDimX,
        blockDimY: p.blockDimY,
        blockDimZ: p.blockDimZ,
        sharedMemBytes: p.sharedMemBytes,
        kernelParams: p.kernelParams,
        extra: p.extra,
        kern: std::ptr::null_mut(),
        ctx: crate::context::current_handle().cast(),
    };
    // SAFETY: the caller's pointer, as the API demands.
    unsafe { put(out, full) }
}

pub(crate) unsafe fn cuGraphMemcpyNodeGetParams(node: CUgraphNode, out: *mut CUDA_MEMCPY3D) -> Res {
    let bytes = get(node, |work| if let Work::Copy(_, Some(p)) = work { Some(p.0) } else { None })?;
    // SAFETY: the caller's pointer, as the API demands; the bytes were such a structure.
    unsafe { put(out.cast::<[u8; size_of::<CUDA_MEMCPY3D>()]>(), bytes) }
}

pub(crate) unsafe fn cuGraphMemsetNodeGetParams(node: CUgraphNode, out: *mut CUDA_MEMSET_NODE_PARAMS) -> Res {
    let p = get(node, |work| {
        let Work::Memset(Op::Memset { dst, value, element, width, height, pitch }) = *work else { return None };
        Some(CUDA_MEMSET_NODE_PARAMS {
            dst,
            pitch: usize::try_from(pitch).ok()?,
            value,
            elementSize: u32::from(element),
            width: usize::try_from(width).ok()?,
            height: usize::try_from(height).ok()?,
        })
    })?;
    // SAFETY: the caller's pointer, as the API demands.
    unsafe { put(out, p) }
}

pub(crate) unsafe fn cuGraphHostNodeGetParams(node: CUgraphNode, out: *mut CUDA_HOST_NODE_PARAMS) -> Res {
    let call = get(node, |work| if let Work::Host(call) = work { Some(*call) } else { None })?;
    let p = CUDA_HOST_NODE_PARAMS { fn_: Some(call.function), userData: call.argument as *mut c_void };
    // SAFETY: the caller's pointer, as the API demands.
    unsafe { put(out, p) }
}

pub(crate) unsafe fn cuGraphChildGraphNodeGetGraph(node: CUgraphNode, out: *mut CUgraph) -> Res {
    let child = get(node, |work| if let Work::Child(child) = work { Some(*child) } else { None })?;
    // SAFETY: the caller's pointer, as the API demands.
    unsafe { put(out, handle_of(child).cast()) }
}

pub(crate) unsafe fn cuGraphEventRecordNodeGetEvent(node: CUgraphNode, out: *mut CUevent) -> Res {
    let event = get(node, |work| if let Work::Record(event) = work { Some(*event) } else { None })?;
    // SAFETY: the caller's pointer, as the API demands.
    unsafe { put(out, handle_of(event).cast()) }
}

pub(crate) unsafe fn cuGraphEventWaitNodeGetEvent(node: CUgraphNode, out: *mut CUevent) -> Res {
    let event = get(node, |work| if let Work::Wait(event) = work { Some(*event) } else { None })?;
    // SAFETY: the caller's pointer, as the API demands.
    unsafe { put(out, handle_of(event).cast()) }
}
