//! The constants of a simulated device, each with its range and where it comes from. No product crate may read them.
//! Sources in brackets: [N] = shared `numbers.md` §4, [P] = `preemption.md`, [S] = `simulated-driver.md`, [E] = an estimate
//! of ours that no public source gives; to be measured on a real device.

mod corners;

use serde::{Deserialize, Serialize};

pub use corners::PROFILES;

/// Everything that differs between devices. TOML: the same names; missing keys come from the profile named by `base`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Name, for reports.
    pub name: String,
    /// Size and identity.
    pub device: DeviceShape,
    /// Memory rules.
    pub memory: MemoryRules,
    /// Compute and queues.
    pub compute: ComputeRules,
    /// Copy engines.
    pub copy: CopyRules,
    /// What calls cost on the caller's CPU. Spent by the client library, never by the model.
    pub host: HostCosts,
    /// Life and death.
    pub life: LifeRules,
}

/// Size and identity of a device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeviceShape {
    /// Product name that the driver and NVML give.
    pub product: String,
    /// Total memory, bytes. 40 GiB: A100 [S].
    pub memory_bytes: u64,
    /// Held back by driver and firmware before any context. 128–700 MiB [E].
    pub reserved_bytes: u64,
    /// Streaming multiprocessors. 108: A100 [S].
    pub multiprocessors: u32,
    /// Threads that one of them can hold. 2048 [S].
    pub threads_per_multiprocessor: u32,
    /// Compute capability, major and minor. 8.0 [S].
    pub capability: (u32, u32),
}

/// Memory rules.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemoryRules {
    /// The driver's block: every larger allocation is rounded up to it. 2 MiB [S]; 64 KiB–2 MiB.
    pub granularity: u64,
    /// Allocations up to this size share blocks, per context. 1 MiB [E]; 0 = none do.
    pub small_limit: u64,
    /// Grain inside a shared block. 512 B (`cuMemAlloc` gives 256 at least) [E].
    pub small_alignment: u64,
    /// A pool reserves this much at a time. 32 MiB [E]; 2–64 MiB.
    pub pool_chunk: u64,
    /// Overhead of a context ("hundreds of MB" [S]); 100–600 MiB.
    pub context_bytes: u64,
    /// Overhead of a module that is loaded, beside its code size. [E]
    pub module_bytes: u64,
}

/// Compute and queues.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ComputeRules {
    /// Turn of a context while another one has work. 0.5–4 ms: 1024 µs in the open driver, "about 2 ms" in folklore [N].
    pub slice_ns: u64,
    /// Switch away from a context in mid-kernel: save and load. ~59–100 µs on A100 [N]; 30–200 µs.
    pub switch_ns: u64,
    /// Switch when the last context has nothing on the device: load only. [E]
    pub reload_ns: u64,
    /// Hardware queues of a context; streams are dealt out over them in turn. 8: libcuda's default [P §3.3].
    pub channels: u32,
    /// Ops that one channel holds before a launch blocks. ~1000 [P §2].
    pub queue_depth: u32,
    /// Kernel without other rule: base duration. [E]
    pub kernel_base_ns: u64,
    /// Kernel without other rule: each full wave of the grid over the device. [E]
    pub kernel_wave_ns: u64,
    /// Jitter of a kernel's duration, ± parts per million, uniform.
    pub jitter_ppm: u32,
    /// One kernel in so many is an outlier; 0 = none.
    pub outlier_every: u32,
    /// An outlier takes this many times as long.
    pub outlier_factor: u32,
    /// How often the device looks at a word that a stream waits for. A read over PCIe is ~1 µs [P §4.4]; coarser here, so
    /// that a waiting stream doesn't cost the server a core.
    pub poll_ns: u64,
}

/// Copy engines. Bandwidths in bytes per microsecond (= MB/s).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CopyRules {
    /// Host to device. 20 GB/s: PCIe 4 ×16 [E].
    pub host_to_device: u64,
    /// Device to host.
    pub device_to_host: u64,
    /// Within the device (read and write), and memsets. 1.1–1.5 TB/s at A100, halved for read + write [N].
    pub device_to_device: u64,
    /// Between devices.
    pub peer: u64,
    /// Fixed cost of each copy or memset on its engine. [E]
    pub setup_ns: u64,
}

/// What a call costs on the caller's CPU (burnt by the simulated libcuda).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostCosts {
    /// A kernel launch. 4.35 µs median (RTX 3080) [N].
    pub launch_ns: u64,
    /// A stream memory operation. 1–2 µs [P §4.4].
    pub memop_ns: u64,
    /// An event call. [E]
    pub event_ns: u64,
    /// A copy or memset call. [E]
    pub copy_ns: u64,
    /// A plain allocation. [E]
    pub alloc_ns: u64,
    /// A free. [E]
    pub free_ns: u64,
    /// A stream-ordered allocation or free. [E]
    pub pool_ns: u64,
    /// A graph launch. [E]
    pub graph_ns: u64,
    /// Creation of a context. ~83 ms [N]; shorter here, since tests make many.
    pub context_ns: u64,
}

/// Life and death.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LifeRules {
    /// From a process's death (or the last holder of its device file) until its memory is let go. 0.1 s and more (DESIGN §7).
    pub teardown_ns: u64,
    /// NVML's sampling period. 1/6–1 s [N].
    pub nvml_period_ns: u64,
}
