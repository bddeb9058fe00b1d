//! The words of the link: identifiers, what a client learns about devices and costs, and how things fail.
//!
//! Plain data, copied over the socket; nothing here may know how it travels.

use serde::{Deserialize, Serialize};

/// A context of this process, by its line in the shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ContextId(pub u32);

/// A stream of this process, by its line in the shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct StreamId(pub u32);

/// An event of this process, by its slot in the shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct EventId(pub u32);

/// A charged piece of device memory. The address is the client's own affair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct AllocId(pub u64);

/// A memory pool of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PoolId(pub u32);

/// A loaded module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ModuleId(pub u32);

/// A kernel's name, registered once; the model's duration rules go by that name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct FunctionId(pub u32);

/// A graph uploaded once and launched by one op.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct GraphId(pub u32);

/// How a stream is ordered among its siblings. The model keeps the legacy stream's barrier, the client need not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StreamKind {
    /// The default stream: a barrier among the blocking streams of its context.
    Legacy,
    /// A thread's own default stream; blocking.
    PerThread,
    /// Made without flags: ordered against the legacy stream.
    Blocking,
    /// Made with `CU_STREAM_NON_BLOCKING`.
    NonBlocking,
}

/// What an allocation is for. The model rounds and groups by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum AllocKind {
    /// `cuMemAlloc` and pitched: small ones share the driver's blocks.
    Plain,
    /// `cuMemAllocManaged`, charged as resident.
    Managed,
    /// `cuArrayCreate` and mipmaps.
    Array,
}

/// What one device looks like from outside.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceInfo {
    /// Made from the server's seed and socket path and the index; version-4 shaped.
    pub uuid: [u8; 16],
    /// Marketing name.
    pub name: String,
    /// Device memory as `cuDeviceTotalMem` shows it, bytes.
    pub memory: u64,
    /// PCI domain.
    pub pci_domain: u32,
    /// PCI bus; the device number on it is 0.
    pub pci_bus: u8,
    /// Number of multiprocessors.
    pub multiprocessors: u32,
    /// Compute capability, major and minor.
    pub capability: (u32, u32),
    /// Allocation granularity of physical memory, bytes.
    pub granularity: u64,
}

impl DeviceInfo {
    /// The UUID as `nvidia-smi` writes it: `GPU-` and the usual groups.
    #[must_use]
    pub fn uuid_text(&self) -> String {
        let uuid = &self.uuid;
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let groups = [&uuid[..4], &uuid[4..6], &uuid[6..8], &uuid[8..10], &uuid[10..]].map(hex);
        format!("GPU-{}", groups.join("-"))
    }
}

/// What the driver's calls cost on the caller's CPU, ns; the client burns it with [`crate::burn`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostCosts {
    /// A kernel launch.
    pub launch_ns: u64,
    /// A stream memory operation.
    pub memop_ns: u64,
    /// An event record, query or wait.
    pub event_ns: u64,
    /// A copy or memset call.
    pub copy_ns: u64,
    /// A plain allocation.
    pub alloc_ns: u64,
    /// A free.
    pub free_ns: u64,
    /// A stream-ordered allocation or free.
    pub pool_ns: u64,
    /// A graph launch.
    pub graph_ns: u64,
    /// Making a context.
    pub context_ns: u64,
    /// Ops outstanding on one channel before a submission blocks. Not a time.
    pub queue_depth: u32,
}

/// Device memory as the driver sees it, bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryInfo {
    /// Free on the device, over all processes.
    pub free: u64,
    /// Total of the device.
    pub total: u64,
}

/// Numbers of a pool, bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PoolStats {
    /// Taken from the device.
    pub reserved: u64,
    /// Highest `reserved` since the pool was made.
    pub reserved_high: u64,
    /// Handed out.
    pub used: u64,
    /// Highest `used` since the pool was made.
    pub used_high: u64,
}

/// What NVML tells of one device: sampled, and late by the profile's delay.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NvmlSample {
    /// Percent of the sample period in which a kernel ran.
    pub utilization_gpu: u32,
    /// Percent of the sample period in which memory was read or written.
    pub utilization_memory: u32,
    /// Total device memory, bytes.
    pub memory_total: u64,
    /// Used device memory, bytes.
    pub memory_used: u64,
    /// The driver's own part of `memory_used`, bytes.
    pub memory_reserved: u64,
    /// CLOCK_MONOTONIC ns of the sample.
    pub sampled_ns: u64,
    /// Processes with a context on the device.
    pub processes: Vec<NvmlProcess>,
}

/// One process as NVML shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NvmlProcess {
    /// In the server's pid namespace.
    pub pid: u32,
    /// Device memory, context and modules included, bytes.
    pub memory_used: u64,
    /// Percent of the sample period.
    pub utilization: u32,
}

/// Why a call of the link failed. A driver maps these to its own codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Error {
    /// No server was found, and none could be started. "No device."
    NoServer,
    /// The server went away, or spoke nonsense. Final for this session.
    ServerGone,
    /// This object belongs to the parent of a forked process. [`crate::session`] gives the child its own.
    Forked,
    /// Device memory, or the model's count of something, is exhausted.
    OutOfMemory,
    /// An identifier is unknown or no longer valid.
    InvalidHandle,
    /// An argument is out of range.
    InvalidValue,
    /// The context has a sticky fault with this CUresult.
    Fault(u32),
    /// Not there in this profile.
    NotSupported,
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NoServer => f.write_str("no mgpu-sim server found and none could be started"),
            Self::ServerGone => f.write_str("the mgpu-sim server has gone"),
            Self::Forked => f.write_str("the session belongs to the parent process"),
            Self::OutOfMemory => f.write_str("out of device memory"),
            Self::InvalidHandle => f.write_str("unknown handle"),
            Self::InvalidValue => f.write_str("value out of range"),
            Self::Fault(code) => write!(f, "the context has the sticky fault {code}"),
            Self::NotSupported => f.write_str("not supported"),
        }
    }
}

impl std::error::Error for Error {}
