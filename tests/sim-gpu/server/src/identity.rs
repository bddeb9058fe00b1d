//! What the devices are called: UUIDs from the seed and the socket's path, so that two servers never share one.

use mgpu_sim_gpu::Profile;
use mgpu_sim_link::{DeviceInfo, HostCosts};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// One step of a mixer (splitmix64): every bit of the input moves every bit of the output.
fn mix(mut x: u64) -> u64 {
    x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// A UUID shaped like a random one (version 4).
pub(crate) fn uuid(seed: u64, socket: &Path, index: u32) -> [u8; 16] {
    let path = socket.as_os_str().as_bytes().iter().fold(mix(seed), |hash, &byte| mix(hash ^ u64::from(byte)));
    let (high, low) = (mix(path ^ u64::from(index)), mix(!path ^ u64::from(index)));
    let mut uuid = [0; 16];
    uuid[..8].copy_from_slice(&high.to_be_bytes());
    uuid[8..].copy_from_slice(&low.to_be_bytes());
    uuid[6] = uuid[6] & 0x0f | 0x40;
    uuid[8] = uuid[8] & 0x3f | 0x80;
    uuid
}

/// What clients are told of each device.
pub(crate) fn devices(profile: &Profile, memory: u64, count: u32, seed: u64, socket: &Path) -> Vec<DeviceInfo> {
    let shape = &profile.device;
    let device = |index: u32| DeviceInfo {
        uuid: uuid(seed, socket, index),
        name: shape.product.clone(),
        memory,
        pci_domain: 0,
        pci_bus: u8::try_from(index + 1).unwrap_or(u8::MAX),
        multiprocessors: shape.multiprocessors,
        capability: shape.capability,
        granularity: profile.memory.granularity,
    };
    (0..count).map(device).collect()
}

/// What calls cost, in the link's words.
pub(crate) fn costs(profile: &Profile) -> HostCosts {
    let host = &profile.host;
    HostCosts {
        launch_ns: host.launch_ns,
        memop_ns: host.memop_ns,
        event_ns: host.event_ns,
        copy_ns: host.copy_ns,
        alloc_ns: host.alloc_ns,
        free_ns: host.free_ns,
        pool_ns: host.pool_ns,
        graph_ns: host.graph_ns,
        context_ns: host.context_ns,
        queue_depth: profile.compute.queue_depth,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uuids_differ_by_seed_path_and_index_and_look_random() {
        let here = Path::new("/run/a/socket");
        let first = uuid(1, here, 0);
        assert_eq!(first, uuid(1, here, 0));
        for other in [uuid(2, here, 0), uuid(1, Path::new("/run/b/socket"), 0), uuid(1, here, 1)] {
            assert_ne!(first, other);
        }
        assert_eq!((first[6] >> 4, first[8] >> 6), (4, 2));
    }
}
