//! What NVML shows: sampled, and late. Never an input of anything that judges.

use serde::{Deserialize, Serialize};

use crate::ids::{Nanos, ProcessId};

/// One device as of its last sample.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NvmlView {
    /// When the sample was taken.
    pub sampled_at_ns: Nanos,
    /// Percent of the last sampling period with a kernel on the device.
    pub gpu_percent: u32,
    /// Percent of the last period with a copy engine at work.
    pub memory_percent: u32,
    /// Total bytes.
    pub total_bytes: u64,
    /// Used bytes, driver's reserve included.
    pub used_bytes: u64,
    /// Driver's reserve.
    pub reserved_bytes: u64,
    /// Processes with a context on the device.
    pub processes: Vec<NvmlProcess>,
}

/// One process of a device as of its last sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NvmlProcess {
    /// Model's name.
    pub process: ProcessId,
    /// As given at connect.
    pub pid: u32,
    /// Memory, contexts and modules included.
    pub used_bytes: u64,
    /// Percent of the last period with one of its kernels on the device.
    pub gpu_percent: u32,
}
