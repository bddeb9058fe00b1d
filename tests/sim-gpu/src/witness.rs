//! The witness: what each process truly had of each device. Owned by the server; nothing of the product can touch it.

use serde::{Deserialize, Serialize};

use crate::ids::{DeviceId, Nanos, ProcessId};
use crate::model::Model;
use crate::objects::Process;
use crate::segments::Occupant;

/// A snapshot of all accounts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Witness {
    /// Model time of the snapshot.
    pub now_ns: Nanos,
    /// One entry a device, by index.
    pub devices: Vec<DeviceWitness>,
    /// Submissions whose stamp lay behind the model's time.
    pub late: Lateness,
}

/// A device's account. `busy_ns + switch_ns + idle_ns` is the time since the model began.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceWitness {
    /// UUID.
    pub uuid: [u8; 16],
    /// A kernel (or memset, or device-to-device copy) was on the device.
    pub busy_ns: u64,
    /// The device switched between contexts.
    pub switch_ns: u64,
    /// Neither.
    pub idle_ns: u64,
    /// Copy engines' time, summed over engines; not part of `busy_ns`.
    pub copy_ns: u64,
    /// Bytes of the driver's blocks in use, and the device's total.
    pub used_bytes: u64,
    /// Total bytes.
    pub total_bytes: u64,
    /// Processes that ever had a context or memory here, dead ones included, in order of connection.
    pub processes: Vec<ProcessWitness>,
}

/// One process's account on one device. Always `busy_ns <= resident_ns <= queued_ns`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessWitness {
    /// Model's name.
    pub process: u32,
    /// As given at connect.
    pub pid: u32,
    /// As given at connect.
    pub command: String,
    /// Device time while a kernel of it was on the device; two at once count once; switched-out time doesn't.
    pub busy_ns: u64,
    /// Time with a kernel started and not complete, on the device or switched out.
    pub resident_ns: u64,
    /// Time with at least one op submitted and not complete.
    pub queued_ns: u64,
    /// Copy engines' time.
    pub copy_ns: u64,
    /// Time the device spent switching *to* it; nobody's busy time.
    pub switch_ns: u64,
    /// Bytes in the driver's blocks (pool reserves included).
    pub allocated: u64,
    /// Highest ever.
    pub allocated_peak: u64,
    /// Bytes of contexts and modules.
    pub overhead: u64,
    /// Highest ever.
    pub overhead_peak: u64,
    /// Accepted kernel-like submissions (kernels, graphs, memsets, device-to-device copies).
    pub launches: u64,
    /// Those that are complete.
    pub completed: u64,
    /// All accepted ops.
    pub ops: u64,
    /// All complete ops.
    pub ops_completed: u64,
    /// Words that the device has stored (`WriteValue`), graph nodes included.
    pub stream_writes: u64,
    /// Refused allocations.
    pub refused: u64,
    /// Submissions refused because the queue was full.
    pub queue_full: u64,
    /// Whether the process is still connected.
    pub alive: bool,
    /// Stamp of the first launch.
    pub first_submit_ns: Option<Nanos>,
    /// Stamp of the last launch.
    pub last_submit_ns: Option<Nanos>,
    /// When a launch last completed.
    pub last_complete_ns: Option<Nanos>,
}

/// Statistics of late stamps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lateness {
    /// How many.
    pub count: u64,
    /// Their sum.
    pub total_ns: u64,
    /// The worst.
    pub max_ns: u64,
}

/// Who was on one device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Intervals {
    /// The device's index.
    pub device: u32,
    /// The ring reaches back to here; before that, nothing is known.
    pub known_since_ns: Nanos,
    /// Touching segments, oldest first.
    pub segments: Vec<Segment>,
}

/// A stretch of one device's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Segment {
    /// From.
    pub start_ns: Nanos,
    /// To (exclusive).
    pub end_ns: Nanos,
    /// Who had it.
    pub holder: Holder,
}

/// Who had the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Holder {
    /// Nobody had anything to run.
    Idle,
    /// It was switching.
    Switch,
    /// This process (the number is the pid given at connect).
    Process {
        /// Model's name.
        process: ProcessId,
        /// As given at connect.
        pid: u32,
    },
}

/// One accepted launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaunchStamp {
    /// The client's stamp, unclamped.
    pub stamp_ns: Nanos,
    /// Who.
    pub process: ProcessId,
    /// As given at connect.
    pub pid: u32,
    /// Where.
    pub device: DeviceId,
}

impl Model {
    /// The accounts, as of now.
    pub fn witness(&self) -> Witness {
        let devices = (0..self.devices()).map(|index| self.device_witness(DeviceId(index))).collect();
        Witness { now_ns: self.now, devices, late: self.late }
    }

    fn device_witness(&self, id: DeviceId) -> DeviceWitness {
        let (device, now) = (&self.devices[id.index()], self.now);
        let (busy_ns, switch_ns) = (device.compute.busy.total(now), device.compute.switch.total(now));
        let elapsed = now - self.began.unwrap_or(now);
        DeviceWitness {
            uuid: device.uuid,
            busy_ns,
            switch_ns,
            idle_ns: elapsed - busy_ns - switch_ns,
            copy_ns: device.engines.iter().map(|e| e.busy(now)).sum(),
            used_bytes: device.used,
            total_bytes: device.total,
            processes: self.processes.iter().filter_map(|(n, p)| process_witness(n, p, id, now)).collect(),
        }
    }

    /// Who was on each device since `since`, as far back as the ring (262144 stretches a device) reaches.
    pub fn intervals(&self, since: Nanos) -> Vec<Intervals> {
        (0..self.devices()).map(|index| self.device_intervals(index, since)).collect()
    }

    fn device_intervals(&self, index: u32, since: Nanos) -> Intervals {
        let (known, stretches) = self.devices[DeviceId(index).index()].segments.since(since, self.now);
        let known_since_ns = known.max(self.began.unwrap_or(self.now));
        let mut at = since.max(known_since_ns);
        let mut segments = Vec::new();
        let idle = |from, to| Segment { start_ns: from, end_ns: to, holder: Holder::Idle };
        for stretch in stretches {
            if stretch.start > at {
                segments.push(idle(at, stretch.start));
            }
            let holder = match stretch.who {
                Occupant::Switch => Holder::Switch,
                Occupant::Process(process) => {
                    Holder::Process { process, pid: self.processes.get(process.0).map_or(0, |p| p.pid) }
                }
            };
            segments.push(Segment { start_ns: stretch.start.max(at), end_ns: stretch.end, holder });
            at = stretch.end;
        }
        if self.now > at {
            segments.push(idle(at, self.now));
        }
        Intervals { device: index, known_since_ns, segments }
    }
}

fn process_witness(number: u32, process: &Process, device: DeviceId, now: Nanos) -> Option<ProcessWitness> {
    let account = process.accounts.get(device.index())?.as_ref()?;
    Some(ProcessWitness {
        process: number,
        pid: process.pid,
        command: process.command.clone(),
        busy_ns: account.busy.total(now),
        resident_ns: account.resident.total(now),
        queued_ns: account.queued.total(now),
        copy_ns: account.copy_ns,
        switch_ns: account.switch_ns,
        allocated: account.allocated.now,
        allocated_peak: account.allocated.peak,
        overhead: account.overhead.now,
        overhead_peak: account.overhead.peak,
        launches: account.launches,
        completed: account.completed,
        ops: account.ops,
        ops_completed: account.ops_completed,
        stream_writes: account.stream_writes,
        refused: account.refused,
        queue_full: account.queue_full,
        alive: process.alive,
        first_submit_ns: account.first_submit,
        last_submit_ns: account.last_submit,
        last_complete_ns: account.last_complete,
    })
}
