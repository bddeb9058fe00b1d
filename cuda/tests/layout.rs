//! Sizes as a C compiler gave them for the headers of CUDA 12.9 and 13.5. All sizes, alignments, offsets and constants
//! are compared with the headers themselves by `scripts/check-symbols`; these stand here to fail without them.
use mgpu_cuda::types::LAYOUTS;

const SIZES: &[(&str, usize, usize)] = &[
    ("CUdevice", 4, 4),
    ("CUdeviceptr", 8, 8),
    ("CUdeviceptr_v1", 4, 4),
    ("CUstream", 8, 8),
    ("CUdevice_attribute", 4, 4),
    ("CUuuid", 16, 1),
    ("CUmemLocation", 8, 4),
    ("CUmemAllocationProp", 32, 8),
    ("CUmemPoolProps", 88, 8),
    ("CUmemAccessDesc", 12, 4),
    ("CUlaunchConfig", 56, 8),
    ("CUlaunchAttribute", 72, 8),
    ("CUlaunchAttributeValue", 64, 8),
    ("CUDA_LAUNCH_PARAMS", 56, 8),
    ("CUDA_MEMCPY2D", 128, 8),
    ("CUDA_MEMCPY2D_v1", 96, 8),
    ("CUDA_MEMCPY3D", 200, 8),
    ("CUDA_MEMCPY3D_v1", 144, 8),
    ("CUDA_MEMCPY3D_PEER", 200, 8),
    ("CUDA_MEMCPY3D_BATCH_OP", 112, 8),
    ("CUDA_ARRAY_DESCRIPTOR", 24, 8),
    ("CUDA_ARRAY3D_DESCRIPTOR", 40, 8),
    ("CUDA_KERNEL_NODE_PARAMS", 72, 8),
    ("CUDA_KERNEL_NODE_PARAMS_v1", 56, 8),
    ("CUDA_MEMSET_NODE_PARAMS", 40, 8),
    ("CUDA_MEM_ALLOC_NODE_PARAMS", 120, 8),
    ("CUDA_GRAPH_INSTANTIATE_PARAMS", 32, 8),
    ("CUDA_EXTERNAL_MEMORY_HANDLE_DESC", 104, 8),
    ("CUgraphNodeParams", 256, 8),
    ("CUstreamBatchMemOpParams", 48, 8),
    ("CUexecAffinityParam", 8, 4),
    ("CUctxCreateParams", 24, 8),
    ("CUipcMemHandle", 64, 1),
    ("CUeglFrame", 64, 8),
];

#[test]
fn sizes_are_those_of_the_headers() {
    for (name, size, align) in SIZES {
        let layout = LAYOUTS.iter().flat_map(|group| group.iter()).find(|layout| layout.name == *name);
        let layout = layout.unwrap_or_else(|| panic!("{name} has no layout"));
        assert_eq!((layout.size, layout.align), (*size, *align), "{name}");
    }
}

#[test]
fn every_layout_is_listed_once() {
    let mut names: Vec<_> = LAYOUTS.iter().flat_map(|group| group.iter()).map(|layout| layout.name).collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
}
