//! The witness's snapshot: what the simulated GPU's own log says about every process and device.

use serde::Deserialize;
use std::collections::BTreeMap;

/// One snapshot, times in ns of CLOCK_MONOTONIC.
#[derive(Clone, Debug, Deserialize)]
pub struct Witness {
    /// Model time of the snapshot.
    pub now_ns: u64,
    /// Scheduling class that the server got: fifo, nice or normal.
    #[serde(default)]
    pub scheduling: String,
    /// One entry a device.
    pub devices: Vec<Device>,
    /// Driver functions that clients called and the simulated driver lacks.
    #[serde(default)]
    pub unimplemented: Vec<Unimplemented>,
}

/// One device.
#[derive(Clone, Debug, Deserialize)]
pub struct Device {
    /// Its UUID.
    pub uuid: String,
    /// Time with some kernel resident.
    pub busy_ns: u64,
    /// Time with none.
    pub idle_ns: u64,
    /// Every process that ever had a context here.
    pub processes: Vec<Process>,
}

/// One process on one device.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Process {
    /// Pid in the server's namespace.
    pub pid: u32,
    /// Time in which a kernel of it was resident.
    pub busy_ns: u64,
    /// Time in which something of it was submitted and not complete.
    pub queued_ns: u64,
    /// Bytes in driver blocks now.
    pub allocated: u64,
    /// Most of it ever.
    pub allocated_peak: u64,
    /// Bytes of contexts and modules.
    pub overhead: u64,
    /// Most of it ever.
    pub overhead_peak: u64,
    /// Launches submitted.
    pub launches: u64,
    /// Launches completed.
    pub completed: u64,
    /// Words written by stream memory operations (a limiter's markers among them).
    pub stream_writes: u64,
    /// Allocations that the device itself refused.
    pub refused: u64,
    /// Stamp of the last submission.
    pub last_submit_ns: u64,
    /// False once its teardown is over.
    pub alive: bool,
}

/// When each device did what, as far back as the server remembers.
#[derive(Clone, Debug, Deserialize)]
pub struct Intervals {
    /// One entry a device.
    pub devices: Vec<DeviceIntervals>,
}

/// One device's times.
#[derive(Clone, Debug, Deserialize)]
pub struct DeviceIntervals {
    /// Times without any kernel, oldest first.
    pub idle: Vec<Span>,
}

/// From when to when, ns of CLOCK_MONOTONIC.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Span {
    /// Start.
    pub start_ns: u64,
    /// End.
    pub end_ns: u64,
}

/// A function that the simulated driver lacks.
#[derive(Clone, Debug, Deserialize)]
pub struct Unimplemented {
    /// Its name.
    pub name: String,
    /// How often it was called.
    pub count: u64,
}

impl Witness {
    /// The row of `pid` on device `index`; all zero if it never had a context there.
    #[must_use]
    pub fn process(&self, index: usize, pid: u32) -> Process {
        let rows = self.devices.get(index).map_or(&[][..], |d| &d.processes);
        rows.iter().find(|p| p.pid == pid).cloned().unwrap_or_default()
    }

    /// Device time of every pid on device `index`, since `earlier`, ns.
    #[must_use]
    pub fn busy_since(&self, earlier: &Self, index: usize) -> BTreeMap<u32, u64> {
        let rows = self.devices.get(index).map_or(&[][..], |d| &d.processes);
        rows.iter().map(|p| (p.pid, p.busy_ns - earlier.process(index, p.pid).busy_ns)).collect()
    }

    /// Time with something submitted and not complete, of every pid on device `index`, since `earlier`, ns.
    #[must_use]
    pub fn queued_since(&self, earlier: &Self, index: usize) -> BTreeMap<u32, u64> {
        let rows = self.devices.get(index).map_or(&[][..], |d| &d.processes);
        rows.iter().map(|p| (p.pid, p.queued_ns - earlier.process(index, p.pid).queued_ns)).collect()
    }
}
