//! The copy engines: one each way, apart from compute. Long copies take turns, a slice each.

use crate::ids::{DeviceId, OpId};
use crate::model::Model;
use crate::op::Direction;
use crate::slab::Work;
use crate::time::Timer;

const TO_DEVICE: usize = 0;
const FROM_DEVICE: usize = 1;

impl Model {
    pub(crate) fn copy_work(&self, direction: Direction, bytes: u64) -> Work {
        let rules = &self.profile.copy;
        let (engine, rate) = match direction {
            Direction::HostToDevice => (TO_DEVICE, rules.host_to_device),
            Direction::DeviceToHost => (FROM_DEVICE, rules.device_to_host),
            Direction::Peer => (FROM_DEVICE, rules.peer),
            Direction::DeviceToDevice => (FROM_DEVICE, rules.device_to_device),
        };
        let duration = rules.setup_ns.saturating_add(bytes.saturating_mul(1_000) / rate);
        Work::Copy { engine, duration: duration.max(1) }
    }

    pub(crate) fn enqueue_copy(&mut self, id: OpId, engine: usize) {
        let device = self.ops.at(id).device;
        self.device(device).engines[engine].queue.push_back(id);
        self.next_copy(device, engine);
    }

    fn next_copy(&mut self, device: DeviceId, engine: usize) {
        let now = self.now;
        let target = &mut self.device(device).engines[engine];
        if target.current.is_some() {
            return;
        }
        let Some(id) = target.queue.pop_front() else { return };
        target.current = Some(id);
        target.step = target.step.wrapping_add(1);
        target.step_began = now;
        let step = target.step;
        let length = self.ops.at(id).remaining.min(self.profile.compute.slice_ns);
        let engine = u8::try_from(engine).unwrap_or(u8::MAX);
        self.timers.set(now.saturating_add(length), Timer::CopyStep { device, engine, step });
    }

    pub(crate) fn copy_step(&mut self, device: DeviceId, engine: usize, step: u32) {
        let target = &mut self.device(device).engines[engine];
        let Some(id) = target.current.filter(|_| target.step == step) else { return };
        self.stop_copy(device, engine);
        if self.ops.at(id).remaining > 0 {
            self.device(device).engines[engine].queue.push_back(id);
        } else {
            self.complete(id);
        }
        self.next_copy(device, engine);
    }

    /// Accounts for the step in hand, and leaves the engine without a copy.
    fn stop_copy(&mut self, device: DeviceId, engine: usize) {
        let now = self.now;
        let target = &mut self.device(device).engines[engine];
        let Some(id) = target.current.take() else { return };
        let ran = now - target.step_began;
        target.total += ran;
        let op = self.ops.at(id);
        op.remaining = op.remaining.saturating_sub(ran);
        let process = op.process;
        self.account(process, device).copy_ns += ran;
    }

    /// Takes a copy off its engine for good; its slot is still the caller's to remove.
    pub(crate) fn withdraw_copy(&mut self, id: OpId, engine: usize) {
        let device = self.ops.at(id).device;
        let target = &mut self.device(device).engines[engine];
        target.queue.retain(|other| *other != id);
        if target.current == Some(id) {
            self.stop_copy(device, engine);
            self.next_copy(device, engine);
        }
    }
}
