//! What NVML shows: sampled, and late. Never an input of anything that judges.

use serde::{Deserialize, Serialize};

use crate::ids::{DeviceId, Nanos, ProcessId};
use crate::model::Model;

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

/// The sampler of one device.
#[derive(Debug, Default)]
pub(crate) struct Sampler {
    view: NvmlView,
    busy: u64,
    copy: u64,
    /// Busy time of each process with a context, at the last sample.
    shares: Vec<(ProcessId, u64)>,
}

impl Model {
    /// What NVML shows of a device: as of its last sample, not of now. Its size is no sample: known before the first one.
    pub fn nvml(&self, device: DeviceId) -> Option<NvmlView> {
        let reserved_bytes = self.profile.device.reserved_bytes;
        let view =
            |d: &crate::objects::Device| NvmlView { total_bytes: d.total, reserved_bytes, ..d.sampler.view.clone() };
        self.devices.get(device.index()).map(view)
    }

    /// Takes the samples that are due. Nothing happens between now and `to`, so of several only the last two count: idle
    /// stretches cost nothing, and sampling needs no timer.
    pub(crate) fn sample_until(&mut self, to: Nanos) {
        if self.next_sample > to {
            return;
        }
        let period = self.profile.life.nvml_period_ns.max(1);
        self.sample_all(self.next_sample);
        let last = self.next_sample + (to - self.next_sample) / period * period;
        if last > self.next_sample {
            self.sample_all(last - period);
            self.sample_all(last);
        }
        self.next_sample = last.saturating_add(period);
    }

    fn sample_all(&mut self, at: Nanos) {
        for device in (0..self.devices()).map(DeviceId) {
            self.sample(device, at);
        }
    }

    fn sample(&mut self, device: DeviceId, at: Nanos) {
        let period = self.profile.life.nvml_period_ns.max(1);
        let reserved = self.profile.device.reserved_bytes;
        let target = &self.devices[device.index()];
        let percent = |now: u64, before: u64| u32::try_from((now - before) * 100 / period).unwrap_or(100).min(100);
        let (busy, copy) = (target.compute.busy.total(at), target.engines.iter().map(|e| e.busy(at)).sum());
        let mut processes = Vec::new();
        let mut shares = Vec::new();
        for (number, process) in self.processes.iter() {
            let Some(Some(account)) = process.accounts.get(device.index()) else { continue };
            let used = account.allocated.now + account.overhead.now;
            if used == 0 {
                continue;
            }
            let (process, pid, total) = (ProcessId(number), process.pid, account.busy.total(at));
            let before = target.sampler.shares.iter().find(|(p, _)| *p == process).map_or(0, |(_, busy)| *busy);
            shares.push((process, total));
            processes.push(NvmlProcess { process, pid, used_bytes: used, gpu_percent: percent(total, before) });
        }
        let view = NvmlView {
            sampled_at_ns: at,
            gpu_percent: percent(busy, target.sampler.busy),
            memory_percent: percent(copy, target.sampler.copy),
            total_bytes: target.total,
            used_bytes: target.used,
            reserved_bytes: reserved,
            processes,
        };
        self.device(device).sampler = Sampler { view, busy, copy, shares };
    }
}
