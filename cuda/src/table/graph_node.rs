//! Graphs: nodes, edges and executable nodes, asked and changed.
//!
//! A chapter of the table. Grammar and meaning: the parent module.

#[doc(hidden)]
#[macro_export]
macro_rules! __families_graph_node {
    ($callback:tt $($before:tt)*) => { $crate::__families_texture! {
        $callback
        $($before)*
        pass()
        because("asks about a graph on the host; allocates nothing, launches nothing")
        cuGraphKernelNodeGetParams {
            10000 cuGraphKernelNodeGetParams(hNode: CUgraphNode, nodeParams: *mut CUDA_KERNEL_NODE_PARAMS_v1);
            12000 cuGraphKernelNodeGetParams_v2(hNode: CUgraphNode, nodeParams: *mut CUDA_KERNEL_NODE_PARAMS);
        }
        pass() because("changes a graph on the host; its launches are gated") cuGraphKernelNodeSetParams {
            10000 cuGraphKernelNodeSetParams(hNode: CUgraphNode, nodeParams: *const CUDA_KERNEL_NODE_PARAMS_v1);
            12000 cuGraphKernelNodeSetParams_v2(hNode: CUgraphNode, nodeParams: *const CUDA_KERNEL_NODE_PARAMS);
        }
        pass()
        because("asks about a graph on the host; allocates nothing, launches nothing")
        cuGraphMemcpyNodeGetParams {
            10000 cuGraphMemcpyNodeGetParams(hNode: CUgraphNode, nodeParams: *mut CUDA_MEMCPY3D);
        }
        pass() because("changes a graph on the host; its launches are gated") cuGraphMemcpyNodeSetParams {
            10000 cuGraphMemcpyNodeSetParams(hNode: CUgraphNode, nodeParams: *const CUDA_MEMCPY3D);
        }
        pass()
        because("asks about a graph on the host; allocates nothing, launches nothing")
        cuGraphMemsetNodeGetParams {
            10000 cuGraphMemsetNodeGetParams(hNode: CUgraphNode, nodeParams: *mut CUDA_MEMSET_NODE_PARAMS);
        }
        pass() because("changes a graph on the host; its launches are gated") cuGraphMemsetNodeSetParams {
            10000 cuGraphMemsetNodeSetParams(hNode: CUgraphNode, nodeParams: *const CUDA_MEMSET_NODE_PARAMS);
        }
        pass()
        because("asks about a graph on the host; allocates nothing, launches nothing")
        cuGraphHostNodeGetParams {
            10000 cuGraphHostNodeGetParams(hNode: CUgraphNode, nodeParams: *mut CUDA_HOST_NODE_PARAMS);
        }
        pass() because("changes a graph on the host; its launches are gated") cuGraphHostNodeSetParams {
            10000 cuGraphHostNodeSetParams(hNode: CUgraphNode, nodeParams: *const CUDA_HOST_NODE_PARAMS);
        }
        pass()
        because("asks about a graph on the host; allocates nothing, launches nothing")
        cuGraphChildGraphNodeGetGraph {
            10000 cuGraphChildGraphNodeGetGraph(hNode: CUgraphNode, phGraph: *mut CUgraph);
        }
        pass()
        because("asks about a graph on the host; allocates nothing, launches nothing")
        cuGraphEventRecordNodeGetEvent {
            11010 cuGraphEventRecordNodeGetEvent(hNode: CUgraphNode, event_out: *mut CUevent);
        }
        pass() because("changes a graph on the host; its launches are gated") cuGraphEventRecordNodeSetEvent {
            11010 cuGraphEventRecordNodeSetEvent(hNode: CUgraphNode, event: CUevent);
        }
        pass()
        because("asks about a graph on the host; allocates nothing, launches nothing")
        cuGraphEventWaitNodeGetEvent {
            11010 cuGraphEventWaitNodeGetEvent(hNode: CUgraphNode, event_out: *mut CUevent);
        }
        pass() because("changes a graph on the host; its launches are gated") cuGraphEventWaitNodeSetEvent {
            11010 cuGraphEventWaitNodeSetEvent(hNode: CUgraphNode, event: CUevent);
        }
        pass()
        because("asks about a graph on the host; allocates nothing, launches nothing")
        cuGraphExternalSemaphoresSignalNodeGetParams {
            11020 cuGraphExternalSemaphoresSignalNodeGetParams(
                hNode: CUgraphNode, params_out: *mut CUDA_EXT_SEM_SIGNAL_NODE_PARAMS
            );
        }
        pass()
        because("changes a graph on the host; its launches are gated")
        cuGraphExternalSemaphoresSignalNodeSetParams {
            11020 cuGraphExternalSemaphoresSignalNodeSetParams(
                hNode: CUgraphNode, nodeParams: *const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS
            );
        }
        pass()
        because("asks about a graph on the host; allocates nothing, launches nothing")
        cuGraphExternalSemaphoresWaitNodeGetParams {
            11020 cuGraphExternalSemaphoresWaitNodeGetParams(
                hNode: CUgraphNode, params_out: *mut CUDA_EXT_SEM_WAIT_NODE_PARAMS
            );
        }
        pass()
        because("changes a graph on the host; its launches are gated")
        cuGraphExternalSemaphoresWaitNodeSetParams {
            11020 cuGraphExternalSemaphoresWaitNodeSetParams(
                hNode: CUgraphNode, nodeParams: *const CUDA_EXT_SEM_WAIT_NODE_PARAMS
            );
        }
        pass()
        because("asks about a graph on the host; allocates nothing, launches nothing")
        cuGraphBatchMemOpNodeGetParams {
            11070 cuGraphBatchMemOpNodeGetParams(
                hNode: CUgraphNode, nodeParams_out: *mut CUDA_BATCH_MEM_OP_NODE_PARAMS
            );
        }
        pass() because("changes a graph on the host; its launches are gated") cuGraphBatchMemOpNodeSetParams {
            11070 cuGraphBatchMemOpNodeSetParams(
                hNode: CUgraphNode, nodeParams: *const CUDA_BATCH_MEM_OP_NODE_PARAMS
            );
        }
        pass()
        because("changes an executable graph on the host; its launches are gated")
        cuGraphExecBatchMemOpNodeSetParams {
            11070 cuGraphExecBatchMemOpNodeSetParams(
                hGraphExec: CUgraphExec, hNode: CUgraphNode, nodeParams: *const CUDA_BATCH_MEM_OP_NODE_PARAMS
            );
        }
        pass() because("asks about a graph on the host; allocates nothing, launches nothing") cuGraphNodeFindInClone {
            10000 cuGraphNodeFindInClone(phNode: *mut CUgraphNode, hOriginalNode: CUgraphNode, hClonedGraph: CUgraph);
        }
        pass() because("asks about a graph on the host; allocates nothing, launches nothing") cuGraphNodeGetType {
            10000 cuGraphNodeGetType(hNode: CUgraphNode, type_: *mut CUgraphNodeType);
        }
        pass() because("asks about a graph on the host; allocates nothing, launches nothing") cuGraphGetNodes {
            10000 cuGraphGetNodes(hGraph: CUgraph, nodes: *mut CUgraphNode, numNodes: *mut usize);
        }
        pass() because("asks about a graph on the host; allocates nothing, launches nothing") cuGraphGetRootNodes {
            10000 cuGraphGetRootNodes(hGraph: CUgraph, rootNodes: *mut CUgraphNode, numRootNodes: *mut usize);
        }
        pass() because("asks about a graph on the host; allocates nothing, launches nothing") cuGraphGetEdges {
            10000 cuGraphGetEdges(
                hGraph: CUgraph, from: *mut CUgraphNode, to: *mut CUgraphNode, numEdges: *mut usize
            );
            12030 cuGraphGetEdges_v2(
                hGraph: CUgraph, from: *mut CUgraphNode, to: *mut CUgraphNode, edgeData: *mut CUgraphEdgeData,
                numEdges: *mut usize
            );
        }
        pass()
        because("asks about a graph on the host; allocates nothing, launches nothing")
        cuGraphNodeGetDependencies {
            10000 cuGraphNodeGetDependencies(
                hNode: CUgraphNode, dependencies: *mut CUgraphNode, numDependencies: *mut usize
            );
            12030 cuGraphNodeGetDependencies_v2(
                hNode: CUgraphNode, dependencies: *mut CUgraphNode, edgeData: *mut CUgraphEdgeData,
                numDependencies: *mut usize
            );
        }
        pass()
        because("asks about a graph on the host; allocates nothing, launches nothing")
        cuGraphNodeGetDependentNodes {
            10000 cuGraphNodeGetDependentNodes(
                hNode: CUgraphNode, dependentNodes: *mut CUgraphNode, numDependentNodes: *mut usize
            );
            12030 cuGraphNodeGetDependentNodes_v2(
                hNode: CUgraphNode, dependentNodes: *mut CUgraphNode, edgeData: *mut CUgraphEdgeData,
                numDependentNodes: *mut usize
            );
        }
        pass() because("asks about a graph on the host; allocates nothing, launches nothing") cuGraphExecGetFlags {
            12000 cuGraphExecGetFlags(hGraphExec: CUgraphExec, flags: *mut cuuint64_t);
        }
        pass()
        because("changes an executable graph on the host; its launches are gated")
        cuGraphExecKernelNodeSetParams {
            10010 cuGraphExecKernelNodeSetParams(
                hGraphExec: CUgraphExec, hNode: CUgraphNode, nodeParams: *const CUDA_KERNEL_NODE_PARAMS_v1
            );
            12000 cuGraphExecKernelNodeSetParams_v2(
                hGraphExec: CUgraphExec, hNode: CUgraphNode, nodeParams: *const CUDA_KERNEL_NODE_PARAMS
            );
        }
        pass()
        because("changes an executable graph on the host; its launches are gated")
        cuGraphExecMemcpyNodeSetParams {
            10020 cuGraphExecMemcpyNodeSetParams(
                hGraphExec: CUgraphExec, hNode: CUgraphNode, copyParams: *const CUDA_MEMCPY3D, ctx: CUcontext
            );
        }
        pass()
        because("changes an executable graph on the host; its launches are gated")
        cuGraphExecMemsetNodeSetParams {
            10020 cuGraphExecMemsetNodeSetParams(
                hGraphExec: CUgraphExec, hNode: CUgraphNode, memsetParams: *const CUDA_MEMSET_NODE_PARAMS,
                ctx: CUcontext
            );
        }
        pass()
        because("changes an executable graph on the host; its launches are gated")
        cuGraphExecHostNodeSetParams {
            10020 cuGraphExecHostNodeSetParams(
                hGraphExec: CUgraphExec, hNode: CUgraphNode, nodeParams: *const CUDA_HOST_NODE_PARAMS
            );
        }
        pass()
        because("changes an executable graph on the host; its launches are gated")
        cuGraphExecChildGraphNodeSetParams {
            11010 cuGraphExecChildGraphNodeSetParams(
                hGraphExec: CUgraphExec, hNode: CUgraphNode, childGraph: CUgraph
            );
        }
        pass()
        because("changes an executable graph on the host; its launches are gated")
        cuGraphExecEventRecordNodeSetEvent {
            11010 cuGraphExecEventRecordNodeSetEvent(hGraphExec: CUgraphExec, hNode: CUgraphNode, event: CUevent);
        }
        pass()
        because("changes an executable graph on the host; its launches are gated")
        cuGraphExecEventWaitNodeSetEvent {
            11010 cuGraphExecEventWaitNodeSetEvent(hGraphExec: CUgraphExec, hNode: CUgraphNode, event: CUevent);
        }
        pass()
        because("changes an executable graph on the host; its launches are gated")
        cuGraphExecExternalSemaphoresSignalNodeSetParams {
            11020 cuGraphExecExternalSemaphoresSignalNodeSetParams(
                hGraphExec: CUgraphExec, hNode: CUgraphNode, nodeParams: *const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS
            );
        }
        pass()
        because("changes an executable graph on the host; its launches are gated")
        cuGraphExecExternalSemaphoresWaitNodeSetParams {
            11020 cuGraphExecExternalSemaphoresWaitNodeSetParams(
                hGraphExec: CUgraphExec, hNode: CUgraphNode, nodeParams: *const CUDA_EXT_SEM_WAIT_NODE_PARAMS
            );
        }
        pass() because("changes an executable graph on the host; its launches are gated") cuGraphNodeSetEnabled {
            11060 cuGraphNodeSetEnabled(hGraphExec: CUgraphExec, hNode: CUgraphNode, isEnabled: c_uint);
        }
        pass() because("asks about a graph on the host; allocates nothing, launches nothing") cuGraphNodeGetEnabled {
            11060 cuGraphNodeGetEnabled(hGraphExec: CUgraphExec, hNode: CUgraphNode, isEnabled: *mut c_uint);
        }
        pass() because("changes a graph on the host; its launches are gated") cuGraphKernelNodeCopyAttributes {
            11000 cuGraphKernelNodeCopyAttributes(dst: CUgraphNode, src: CUgraphNode);
        }
        pass()
        because("asks about a graph on the host; allocates nothing, launches nothing")
        cuGraphKernelNodeGetAttribute {
            11000 cuGraphKernelNodeGetAttribute(
                hNode: CUgraphNode, attr: CUkernelNodeAttrID, value_out: *mut CUkernelNodeAttrValue
            );
        }
        pass() because("changes a graph on the host; its launches are gated") cuGraphKernelNodeSetAttribute {
            11000 cuGraphKernelNodeSetAttribute(
                hNode: CUgraphNode, attr: CUkernelNodeAttrID, value: *const CUkernelNodeAttrValue
            );
        }
        pass() because("asks about a graph on the host; allocates nothing, launches nothing") cuGraphDebugDotPrint {
            11030 cuGraphDebugDotPrint(hGraph: CUgraph, path: *const c_char, flags: c_uint);
        }
        pass()
        because("counts references to an object of the application on the host; no device memory, no GPU work")
        cuUserObjectCreate {
            11030 cuUserObjectCreate(
                object_out: *mut CUuserObject, ptr: *mut c_void, destroy: CUhostFn, initialRefcount: c_uint,
                flags: c_uint
            );
        }
        pass()
        because("counts references to an object of the application on the host; no device memory, no GPU work")
        cuUserObjectRetain {
            11030 cuUserObjectRetain(object: CUuserObject, count: c_uint);
        }
        pass()
        because("counts references to an object of the application on the host; no device memory, no GPU work")
        cuUserObjectRelease {
            11030 cuUserObjectRelease(object: CUuserObject, count: c_uint);
        }
        pass()
        because("counts references to an object of the application on the host; no device memory, no GPU work")
        cuGraphRetainUserObject {
            11030 cuGraphRetainUserObject(graph: CUgraph, object: CUuserObject, count: c_uint, flags: c_uint);
        }
        pass()
        because("counts references to an object of the application on the host; no device memory, no GPU work")
        cuGraphReleaseUserObject {
            11030 cuGraphReleaseUserObject(graph: CUgraph, object: CUuserObject, count: c_uint);
        }
        pass()
        because("asks about a graph on the host; allocates nothing, launches nothing")
        cuGraphNodeGetContainingGraph {
            13010 cuGraphNodeGetContainingGraph(hNode: CUgraphNode, phGraph: *mut CUgraph);
        }
        pass() because("asks about a graph on the host; allocates nothing, launches nothing") cuGraphNodeGetLocalId {
            13010 cuGraphNodeGetLocalId(hNode: CUgraphNode, nodeId: *mut c_uint);
        }
        pass() because("asks about a graph on the host; allocates nothing, launches nothing") cuGraphNodeGetToolsId {
            13010 cuGraphNodeGetToolsId(hNode: CUgraphNode, toolsNodeId: *mut c_ulonglong);
        }
        pass() because("asks about a graph on the host; allocates nothing, launches nothing") cuGraphGetId {
            13010 cuGraphGetId(hGraph: CUgraph, graphId: *mut c_uint);
        }
        pass() because("asks about a graph on the host; allocates nothing, launches nothing") cuGraphExecGetId {
            13010 cuGraphExecGetId(hGraphExec: CUgraphExec, graphId: *mut c_uint);
        }
    } };
}
