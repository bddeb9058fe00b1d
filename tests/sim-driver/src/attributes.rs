//! What a simulated device says about itself: an A100-like answer for each numbered device attribute.
//! It must never know a live device; what differs between devices (PCI ids) is put in by the caller.

/// One past the last attribute of the newest header (13.5). From here on the answer is `CUDA_ERROR_INVALID_VALUE`.
pub(crate) const END: i32 = 162;

/// PCI bus, device and domain: attributes that the caller must answer for itself.
pub(crate) const PCI_BUS: i32 = 33;
/// See [`PCI_BUS`].
pub(crate) const PCI_DEVICE: i32 = 34;
/// See [`PCI_BUS`].
pub(crate) const PCI_DOMAIN: i32 = 50;

pub(crate) const MULTIPROCESSORS: i32 = 108;
pub(crate) const MAX_THREADS_PER_BLOCK: u32 = 1024;
pub(crate) const THREADS_PER_MULTIPROCESSOR: u32 = 2048;
pub(crate) const BLOCKS_PER_MULTIPROCESSOR: u32 = 32;
pub(crate) const SHARED_PER_BLOCK: i32 = 49_152;
pub(crate) const SHARED_PER_BLOCK_OPT_IN: i32 = 166_912;
pub(crate) const SHARED_PER_MULTIPROCESSOR: i32 = 167_936;
pub(crate) const MAX_GRID: [u32; 3] = [2_147_483_647, 65_535, 65_535];
pub(crate) const MAX_BLOCK: [u32; 3] = [1024, 1024, 64];
pub(crate) const CAPABILITY: (i32, i32) = (8, 0);

/// Attributes that are not 0, by number. A number below [`END`] that is absent here is answered 0: NVIDIA's runtime gives
/// up when a known attribute is refused.
const VALUES: &[(i32, i32)] = &[
    // Shape of a launch.
    (1, 1024),
    (2, 1024),
    (3, 1024),
    (4, 64),
    (5, 2_147_483_647),
    (6, 65_535),
    (7, 65_535),
    (8, SHARED_PER_BLOCK),
    (9, 65_536),         // constant memory
    (10, 32),            // warp
    (11, 2_147_483_647), // pitch
    (12, 65_536),        // registers per block
    (13, 1_410_000),     // clock, kHz
    (14, 512),           // texture alignment
    (15, 1),             // overlap
    (16, MULTIPROCESSORS),
    (19, 1), // maps host memory
    // Textures and surfaces.
    (21, 131_072),
    (22, 131_072),
    (23, 65_536),
    (24, 16_384),
    (25, 16_384),
    (26, 16_384),
    (27, 32_768),
    (28, 32_768),
    (29, 2048),
    (30, 512),
    (31, 1), // concurrent kernels
    (32, 1), // ECC
    (36, 1_215_000),
    (37, 5120),
    (38, 40 << 20), // L2
    (39, 2048),
    (40, 3), // copy engines that an application sees
    (41, 1), // unified addressing
    (42, 32_768),
    (43, 2048),
    (44, 1),
    (45, 32_768),
    (46, 32_768),
    (47, 8192),
    (48, 8192),
    (49, 32_768),
    (51, 32),
    (52, 32_768),
    (53, 32_768),
    (54, 2046),
    (55, 32_768),
    (56, 131_072),
    (57, 65_536),
    (58, 16_384),
    (59, 16_384),
    (60, 16_384),
    (61, 32_768),
    (62, 2048),
    (63, 32_768),
    (64, 32_768),
    (65, 2048),
    (66, 32_768),
    (67, 32_768),
    (68, 2046),
    (69, 268_435_456),
    (70, 131_072),
    (71, 65_000),
    (72, 2_097_120),
    (73, 32_768),
    (74, 32_768),
    (75, CAPABILITY.0),
    (76, CAPABILITY.1),
    (77, 32_768),
    (78, 1), // stream priorities
    (79, 1),
    (80, 1),
    (81, SHARED_PER_MULTIPROCESSOR),
    (82, 65_536),
    (83, 1), // managed memory
    (87, 2),
    (89, 1), // concurrent managed access
    (90, 1), // compute preemption
    (91, 1), // host pointer usable for registered memory
    (92, 1), // stream memory operations, first form
    (93, 1),
    (94, 1),
    (95, 1), // cooperative launch
    (97, SHARED_PER_BLOCK_OPT_IN),
    (99, 1),  // host register
    (102, 1), // virtual memory management
    (103, 1), // POSIX file descriptors
    (106, 32),
    (108, 31_457_280),
    (109, 134_213_632),
    (111, 1024),
    (113, 1),
    (115, 1), // memory pools
    (119, 1), // pools may be shared by file descriptor
    (122, 1), // 64-bit stream memory operations
    (123, 1), // wait value NOR
    (125, 1),
    (126, 1), // memory synchronisation domains
    (129, 1), // unified function pointers
    (131, -1),
    (134, -1), // no NUMA node of the host is near
];

/// The answer for attribute `number`, or `None` where the real driver says `CUDA_ERROR_INVALID_VALUE`.
pub(crate) fn value(number: i32) -> Option<i32> {
    if !(1..END).contains(&number) {
        return None;
    }
    Some(VALUES.binary_search_by_key(&number, |(n, _)| *n).map_or(0, |i| VALUES[i].1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_numbers_answer_and_others_do_not() {
        assert!(VALUES.is_sorted_by_key(|(n, _)| *n));
        assert_eq!(value(0), None);
        assert_eq!(value(75), Some(8));
        assert_eq!(value(120), Some(0), "no cluster launch");
        assert_eq!(value(161), Some(0));
        assert_eq!(value(END), None);
    }
}
