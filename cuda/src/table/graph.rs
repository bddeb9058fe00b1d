//! Graphs: building, memory nodes, instantiation.
//!
//! A chapter of the table. Grammar and meaning: the parent module.

#[doc(hidden)]
#[macro_export]
macro_rules! __families_graph {
    ($callback:tt $($before:tt)*) => { $crate::__families_graph_node! {
        $callback
        $($before)*
        pass() because("builds a graph on the host; its launches are gated") cuGraphCreate {
            10000 cuGraphCreate(phGraph: *mut CUgraph, flags: c_uint);
        }
        pass() because("builds a graph on the host; its launches are gated") cuGraphAddKernelNode {
            10000 cuGraphAddKernelNode(
                phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode,
                numDependencies: usize, nodeParams: *const CUDA_KERNEL_NODE_PARAMS_v1
            );
            12000 cuGraphAddKernelNode_v2(
                phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode,
                numDependencies: usize, nodeParams: *const CUDA_KERNEL_NODE_PARAMS
            );
        }
        pass() because("builds a graph on the host; its launches are gated") cuGraphAddMemcpyNode {
            10000 cuGraphAddMemcpyNode(
                phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode,
                numDependencies: usize, copyParams: *const CUDA_MEMCPY3D, ctx: CUcontext
            );
        }
        pass() because("builds a graph on the host; its launches are gated") cuGraphAddMemsetNode {
            10000 cuGraphAddMemsetNode(
                phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode,
                numDependencies: usize, memsetParams: *const CUDA_MEMSET_NODE_PARAMS, ctx: CUcontext
            );
        }
        pass() because("builds a graph on the host; its launches are gated") cuGraphAddHostNode {
            10000 cuGraphAddHostNode(
                phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode,
                numDependencies: usize, nodeParams: *const CUDA_HOST_NODE_PARAMS
            );
        }
        pass() because("builds a graph on the host; its launches are gated") cuGraphAddChildGraphNode {
            10000 cuGraphAddChildGraphNode(
                phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode,
                numDependencies: usize, childGraph: CUgraph
            );
        }
        pass() because("builds a graph on the host; its launches are gated") cuGraphAddEmptyNode {
            10000 cuGraphAddEmptyNode(
                phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode,
                numDependencies: usize
            );
        }
        pass() because("builds a graph on the host; its launches are gated") cuGraphAddEventRecordNode {
            11010 cuGraphAddEventRecordNode(
                phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode,
                numDependencies: usize, event: CUevent
            );
        }
        pass() because("builds a graph on the host; its launches are gated") cuGraphAddEventWaitNode {
            11010 cuGraphAddEventWaitNode(
                phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode,
                numDependencies: usize, event: CUevent
            );
        }
        pass() because("builds a graph on the host; its launches are gated") cuGraphAddExternalSemaphoresSignalNode {
            11020 cuGraphAddExternalSemaphoresSignalNode(
                phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode,
                numDependencies: usize, nodeParams: *const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS
            );
        }
        pass() because("builds a graph on the host; its launches are gated") cuGraphAddExternalSemaphoresWaitNode {
            11020 cuGraphAddExternalSemaphoresWaitNode(
                phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode,
                numDependencies: usize, nodeParams: *const CUDA_EXT_SEM_WAIT_NODE_PARAMS
            );
        }
        pass() because("builds a graph on the host; its launches are gated") cuGraphAddBatchMemOpNode {
            11070 cuGraphAddBatchMemOpNode(
                phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode,
                numDependencies: usize, nodeParams: *const CUDA_BATCH_MEM_OP_NODE_PARAMS
            );
        }
        graph(add_alloc)
        later("issue 4: the node reserves addresses only and is remembered for the instantiation; until then graph \
            memory is seen by the audit only")
        cuGraphAddMemAllocNode {
            11040 cuGraphAddMemAllocNode(
                phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode,
                numDependencies: usize, nodeParams: *mut CUDA_MEM_ALLOC_NODE_PARAMS
            );
        }
        pass()
        because("reads a node of a graph on the host; allocates nothing, launches nothing")
        cuGraphMemAllocNodeGetParams {
            11040 cuGraphMemAllocNodeGetParams(hNode: CUgraphNode, params_out: *mut CUDA_MEM_ALLOC_NODE_PARAMS);
        }
        graph(add_free)
        later("issue 4: remembered for the instantiation; until then graph memory is seen by the audit only")
        cuGraphAddMemFreeNode {
            11040 cuGraphAddMemFreeNode(
                phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode,
                numDependencies: usize, dptr: CUdeviceptr
            );
        }
        pass()
        because("reads a node of a graph on the host; allocates nothing, launches nothing")
        cuGraphMemFreeNodeGetParams {
            11040 cuGraphMemFreeNodeGetParams(hNode: CUgraphNode, dptr_out: *mut CUdeviceptr);
        }
        pool(trim)
        later("issue 4: refreshes the charge of the graph pool; until then the next audit finds the lower use by \
            itself")
        cuDeviceGraphMemTrim {
            11040 cuDeviceGraphMemTrim(device: CUdevice);
        }
        pass()
        because("reads or resets counters of the graph pool; frees and allocates nothing")
        cuDeviceGetGraphMemAttribute {
            11040 cuDeviceGetGraphMemAttribute(device: CUdevice, attr: CUgraphMem_attribute, value: *mut c_void);
        }
        pass()
        because("reads or resets counters of the graph pool; frees and allocates nothing")
        cuDeviceSetGraphMemAttribute {
            11040 cuDeviceSetGraphMemAttribute(device: CUdevice, attr: CUgraphMem_attribute, value: *mut c_void);
        }
        pass() because("builds a graph on the host; its launches are gated") cuGraphClone {
            10000 cuGraphClone(phGraphClone: *mut CUgraph, originalGraph: CUgraph);
        }
        pass() because("builds a graph on the host; its launches are gated") cuGraphAddDependencies {
            10000 cuGraphAddDependencies(
                hGraph: CUgraph, from: *const CUgraphNode, to: *const CUgraphNode, numDependencies: usize
            );
            12030 cuGraphAddDependencies_v2(
                hGraph: CUgraph, from: *const CUgraphNode, to: *const CUgraphNode, edgeData: *const CUgraphEdgeData,
                numDependencies: usize
            );
        }
        pass() because("builds a graph on the host; its launches are gated") cuGraphRemoveDependencies {
            10000 cuGraphRemoveDependencies(
                hGraph: CUgraph, from: *const CUgraphNode, to: *const CUgraphNode, numDependencies: usize
            );
            12030 cuGraphRemoveDependencies_v2(
                hGraph: CUgraph, from: *const CUgraphNode, to: *const CUgraphNode, edgeData: *const CUgraphEdgeData,
                numDependencies: usize
            );
        }
        pass() because("builds a graph on the host; its launches are gated") cuGraphDestroyNode {
            10000 cuGraphDestroyNode(hNode: CUgraphNode);
        }
        graph(instantiate)
        later("issue 4: may commit memory of its nodes, charged by the growth of the graph pool; until then that is \
            seen by the audit only. Its launches are gated in this version")
        cuGraphInstantiateWithFlags {
            11040 cuGraphInstantiateWithFlags(phGraphExec: *mut CUgraphExec, hGraph: CUgraph, flags: c_ulonglong);
        }
        graph(instantiate)
        later("issue 4: may commit memory of its nodes, charged by the growth of the graph pool; until then that is \
            seen by the audit only. Its launches are gated in this version")
        cuGraphInstantiateWithParams {
            12000 cuGraphInstantiateWithParams(
                phGraphExec: *mut CUgraphExec, hGraph: CUgraph, instantiateParams: *mut CUDA_GRAPH_INSTANTIATE_PARAMS
            ), 12000 cuGraphInstantiateWithParams_ptsz;
        }
        graph(upload)
        later("issue 4: may commit memory of its nodes, charged by the growth of the graph pool; until then that is \
            seen by the audit only. The upload itself is a host copy, never gated")
        cuGraphUpload {
            11010 cuGraphUpload(hGraph: CUgraphExec, hStream: CUstream), 11010 cuGraphUpload_ptsz;
        }
        graph(destroy)
        later("issue 4: forgets what was remembered of its memory nodes; until then nothing is remembered")
        cuGraphExecDestroy {
            10000 cuGraphExecDestroy(hGraphExec: CUgraphExec);
        }
        graph(destroy)
        later("issue 4: forgets what was remembered of its memory nodes; until then nothing is remembered")
        cuGraphDestroy {
            10000 cuGraphDestroy(hGraph: CUgraph);
        }
        graph(update)
        later("issue 4: may change memory nodes; until then graph memory is seen by the audit only")
        cuGraphExecUpdate {
            10020 cuGraphExecUpdate(
                hGraphExec: CUgraphExec, hGraph: CUgraph, hErrorNode_out: *mut CUgraphNode,
                updateResult_out: *mut CUgraphExecUpdateResult
            );
            12000 cuGraphExecUpdate_v2(
                hGraphExec: CUgraphExec, hGraph: CUgraph, resultInfo: *mut CUgraphExecUpdateResultInfo
            );
        }
        graph(add_any)
        later("issue 4: may add a memory node, remembered for the instantiation; until then graph memory is seen by \
            the audit only")
        cuGraphAddNode {
            12020 cuGraphAddNode(
                phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode,
                numDependencies: usize, nodeParams: *mut CUgraphNodeParams
            );
            12030 cuGraphAddNode_v2(
                phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode,
                dependencyData: *const CUgraphEdgeData, numDependencies: usize, nodeParams: *mut CUgraphNodeParams
            );
            13040 cuGraphAddNode_v3(
                phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode,
                dependencyData: *const CUgraphEdgeData, numDependencies: usize, nodeParams: *mut CUgraphNodeParams
            );
        }
        graph(set_any)
        later("issue 4: may change a memory node; until then graph memory is seen by the audit only")
        cuGraphNodeSetParams {
            12020 cuGraphNodeSetParams(hNode: CUgraphNode, nodeParams: *mut CUgraphNodeParams);
            13040 cuGraphNodeSetParams_v2(hNode: CUgraphNode, nodeParams: *mut CUgraphNodeParams);
        }
        graph(set_any)
        later("issue 4: may change a memory node; until then graph memory is seen by the audit only")
        cuGraphExecNodeSetParams {
            12020 cuGraphExecNodeSetParams(
                hGraphExec: CUgraphExec, hNode: CUgraphNode, nodeParams: *mut CUgraphNodeParams
            );
        }
        pass() because("builds a graph on the host; its launches are gated") cuGraphConditionalHandleCreate {
            12030 cuGraphConditionalHandleCreate(
                pHandle_out: *mut CUgraphConditionalHandle, hGraph: CUgraph, ctx: CUcontext,
                defaultLaunchValue: c_uint, flags: c_uint
            );
        }
        graph(instantiate)
        later("issue 4: may commit memory of its nodes, charged by the growth of the graph pool; until then that is \
            seen by the audit only. Its launches are gated in this version")
        cuGraphInstantiate {
            10000 cuGraphInstantiate(
                phGraphExec: *mut CUgraphExec, hGraph: CUgraph, phErrorNode: *mut CUgraphNode, logBuffer: *mut c_char,
                bufferSize: usize
            );
            11000 cuGraphInstantiate_v2(
                phGraphExec: *mut CUgraphExec, hGraph: CUgraph, phErrorNode: *mut CUgraphNode, logBuffer: *mut c_char,
                bufferSize: usize
            );
        }
        pass()
        because("reads a node of a graph on the host; allocates nothing, launches nothing")
        cuGraphNodeGetParams {
            13020 cuGraphNodeGetParams(hNode: CUgraphNode, nodeParams: *mut CUgraphNodeParams);
        }
    } };
}
