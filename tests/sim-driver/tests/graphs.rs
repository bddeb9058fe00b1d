//! Graphs built by hand: shape, clones, execution, updates.
#![allow(clippy::multiple_unsafe_ops_per_block, reason = "a test is a list of calls of the driver")]

mod common;

use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};

use common::*;
use mgpu_cuda::*;

fn fill(dst: CUdeviceptr, value: u32, width: usize) -> CUDA_MEMSET_NODE_PARAMS {
    CUDA_MEMSET_NODE_PARAMS { dst, pitch: 0, value, elementSize: 1, width, height: 1 }
}

unsafe fn add_fill(api: &Api, graph: CUgraph, after: &[CUgraphNode], what: &CUDA_MEMSET_NODE_PARAMS) -> CUgraphNode {
    // SAFETY: valid pointers.
    out(|p| unsafe { (api.cuGraphAddMemsetNode)(p, graph, after.as_ptr(), after.len(), what, ptr::null_mut()) })
}

unsafe fn run(api: &Api, exec: CUgraphExec) {
    // SAFETY: handles of our own.
    unsafe {
        ok((api.cuGraphLaunch)(exec, CU_STREAM_LEGACY));
        ok((api.cuStreamSynchronize)(CU_STREAM_LEGACY));
    }
}

unsafe fn read(api: &Api, memory: CUdeviceptr) -> [u8; 4] {
    let mut bytes = [0; 4];
    // SAFETY: four bytes.
    ok(unsafe { (api.cuMemcpyDtoH_v2)(bytes.as_mut_ptr().cast(), memory, 4) });
    bytes
}

unsafe extern "C" fn count(counter: *mut c_void) {
    // SAFETY: the test passes a static counter.
    unsafe { &*counter.cast::<AtomicU32>() }.fetch_add(1, Ordering::SeqCst);
}

#[test]
fn nodes_run_in_the_order_of_their_edges() {
    static CALLS: AtomicU32 = AtomicU32::new(0);
    let api = api();
    context(api);
    // SAFETY: handles and memory of our own.
    unsafe {
        let memory = out(|p| (api.cuMemAlloc_v2)(p, 4096));
        let graph = out(|p| (api.cuGraphCreate)(p, 0));
        // Added in the wrong order on purpose: edges alone decide.
        let last = add_fill(api, graph, &[], &fill(memory, 3, 1));
        let first = add_fill(api, graph, &[], &fill(memory, 1, 4));
        let middle = add_fill(api, graph, &[first], &fill(memory, 2, 2));
        ok((api.cuGraphAddDependencies)(graph, &raw const middle, &raw const last, 1));
        assert_eq!(
            (api.cuGraphAddDependencies)(graph, &raw const last, &raw const first, 1),
            CUDA_ERROR_INVALID_VALUE,
            "a circle"
        );
        let host = CUDA_HOST_NODE_PARAMS { fn_: Some(count), userData: (&raw const CALLS).cast_mut().cast() };
        let call = out(|p| (api.cuGraphAddHostNode)(p, graph, &raw const last, 1, &raw const host));
        assert_eq!(out(|p| (api.cuGraphNodeGetType)(call, p)), CU_GRAPH_NODE_TYPE_HOST);
        assert_eq!(out(|p| (api.cuGraphGetRootNodes)(graph, ptr::null_mut(), p)), 1);

        let exec = out(|p| (api.cuGraphInstantiateWithFlags)(p, graph, 0));
        run(api, exec);
        run(api, exec);
        assert_eq!(read(api, memory), [3, 2, 1, 1]);
        assert_eq!(CALLS.load(Ordering::SeqCst), 2);

        changes_after_instantiation(api, exec, middle, memory);
        clones_keep_their_nodes(api, graph, first, exec);
        ok((api.cuGraphExecDestroy)(exec));
        assert_eq!((api.cuGraphLaunch)(exec, CU_STREAM_LEGACY), CUDA_ERROR_INVALID_VALUE);
        ok((api.cuGraphDestroy)(graph));
        assert_eq!((api.cuGraphNodeGetType)(first, &mut 0), CUDA_ERROR_INVALID_VALUE);
    }
}

unsafe fn changes_after_instantiation(api: &Api, exec: CUgraphExec, middle: CUgraphNode, memory: CUdeviceptr) {
    // SAFETY: handles and memory of our own.
    unsafe {
        ok((api.cuGraphExecMemsetNodeSetParams)(exec, middle, &fill(memory, 9, 2), ptr::null_mut()));
        run(api, exec);
        assert_eq!(read(api, memory), [3, 9, 1, 1]);
        ok((api.cuGraphNodeSetEnabled)(exec, middle, 0));
        run(api, exec);
        assert_eq!(read(api, memory), [3, 1, 1, 1]);
        assert_eq!(out(|p| (api.cuGraphNodeGetEnabled)(exec, middle, p)), 0);
        ok((api.cuGraphNodeSetEnabled)(exec, middle, 1));
    }
}

unsafe fn clones_keep_their_nodes(api: &Api, graph: CUgraph, first: CUgraphNode, exec: CUgraphExec) {
    // SAFETY: handles of our own.
    unsafe {
        let clone = out(|p| (api.cuGraphClone)(p, graph));
        let twin = out(|p| (api.cuGraphNodeFindInClone)(p, first, clone));
        assert_ne!(twin, first);
        assert_eq!((api.cuGraphNodeFindInClone)(&mut ptr::null_mut(), twin, graph), CUDA_ERROR_INVALID_VALUE);
        let mut info: CUgraphExecUpdateResultInfo = std::mem::zeroed();
        ok((api.cuGraphExecUpdate_v2)(exec, clone, &raw mut info));
        ok((api.cuGraphDestroyNode)(twin));
        let refused = (api.cuGraphExecUpdate_v2)(exec, clone, &raw mut info);
        assert_eq!(refused, CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
        assert_eq!(info.result, 2, "the topology changed");
        ok((api.cuGraphDestroy)(clone));
    }
}

#[test]
fn kernel_nodes_keep_their_arguments_and_children_run_inside() {
    let api = api();
    context(api);
    let function = kernel(api, "child_2ms");
    let mut argument = 0x1234_5678_9abc_def0_u64;
    let mut arguments = [(&raw mut argument).cast::<c_void>()];
    // SAFETY: handles and arguments of our own.
    unsafe {
        let mut p: CUDA_KERNEL_NODE_PARAMS = std::mem::zeroed();
        p.func = function;
        (p.gridDimX, p.gridDimY, p.gridDimZ, p.blockDimX, p.blockDimY, p.blockDimZ) = (2, 1, 1, 64, 1, 1);
        p.kernelParams = arguments.as_mut_ptr();
        let child = out(|h| (api.cuGraphCreate)(h, 0));
        let node = out(|h| (api.cuGraphAddKernelNode_v2)(h, child, ptr::null(), 0, &raw const p));
        argument = 0;
        let seen = out(|p: *mut CUDA_KERNEL_NODE_PARAMS| (api.cuGraphKernelNodeGetParams_v2)(node, p));
        assert_eq!((seen.gridDimX, seen.blockDimX, seen.func), (2, 64, function));
        assert_eq!(seen.kernelParams.read().cast::<u64>().read_unaligned(), 0x1234_5678_9abc_def0);
        p.gridDimX = 0;
        let bad = (api.cuGraphAddKernelNode_v2)(&mut ptr::null_mut(), child, ptr::null(), 0, &raw const p);
        assert_eq!(bad, CUDA_ERROR_INVALID_VALUE);

        let graph = out(|h| (api.cuGraphCreate)(h, 0));
        let empty = out(|h| (api.cuGraphAddEmptyNode)(h, graph, ptr::null(), 0));
        let first = out(|h| (api.cuGraphAddChildGraphNode)(h, graph, &raw const empty, 1, child));
        out(|h| (api.cuGraphAddChildGraphNode)(h, graph, &raw const first, 1, child));
        let exec = out(|h| (api.cuGraphInstantiate_v2)(h, graph, ptr::null_mut(), ptr::null_mut(), 0));
        let before = busy_ns();
        run(api, exec);
        assert!(busy_ns() - before >= 3_900_000, "both children's kernels ran, one after the other");
        ok((api.cuGraphExecDestroy)(exec));
        ok((api.cuGraphDestroy)(graph));
        ok((api.cuGraphDestroy)(child));
    }
    assert_eq!(argument, 0);
}

#[test]
fn events_in_graphs_are_recorded_by_each_launch() {
    let api = api();
    context(api);
    // SAFETY: handles and memory of our own.
    unsafe {
        let memory = out(|p| (api.cuMemAlloc_v2)(p, 4096));
        let (start, end) = (out(|p| (api.cuEventCreate)(p, 0)), out(|p| (api.cuEventCreate)(p, 0)));
        let graph = out(|p| (api.cuGraphCreate)(p, 0));
        let first = out(|p| (api.cuGraphAddEventRecordNode)(p, graph, ptr::null(), 0, start));
        let second = add_fill(api, graph, &[first], &fill(memory, 1, 4));
        let third = out(|p| (api.cuGraphAddEventRecordNode)(p, graph, &raw const second, 1, end));
        assert_eq!(out(|p| (api.cuGraphEventRecordNodeGetEvent)(third, p)), end);
        let exec = out(|p| (api.cuGraphInstantiateWithFlags)(p, graph, 0));
        for _ in 0..2 {
            ok((api.cuGraphLaunch)(exec, CU_STREAM_LEGACY));
            ok((api.cuEventSynchronize)(end));
            assert!(out(|p| (api.cuEventElapsedTime)(p, start, end)) > 0.0);
        }
        ok((api.cuGraphExecDestroy)(exec));
        ok((api.cuGraphDestroy)(graph));
    }
}

/// Device time of this process's kernels so far.
fn busy_ns() -> u64 {
    let witness = server_of_this_process(&[]).witness();
    let processes = witness["devices"][0]["processes"].as_array().expect("processes").clone();
    let own = processes.iter().find(|p| p["pid"] == std::process::id()).expect("this process");
    own["busy_ns"].as_u64().expect("a time")
}
