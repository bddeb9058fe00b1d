//! The compute side of a device: kernels of one context side by side, contexts one after the other in slices.
//!
//! One context is loaded at a time. Alone it runs without slices. From the moment that another one wants the device, it has
//! one full slice left; then its kernels are saved in mid-flight, whatever is left of them, and the next in line is loaded.
//! A context that has nothing to run gives way at once. A full slice from the rival's arrival is the worst case of real
//! hardware, where the phase is arbitrary.
//!
//! Streams' front end (events, stream memory operations, waits) doesn't need the context to be loaded: the host engine
//! switches channels without the compute state.

use crate::ids::{ContextId, DeviceId, Nanos, OpId};
use crate::model::Model;
use crate::segments::Occupant;
use crate::slab::{ComputeKind, OpState, Stage, Work};
use crate::time::Timer;

impl Model {
    /// Takes in a dispatched kernel; it starts when its context is loaded, and there is room behind those before it.
    pub(crate) fn enqueue_compute(&mut self, id: OpId) {
        let op = self.ops.at(id);
        let (context, device, priority) = (op.context, op.device, op.priority);
        let owner = self.contexts.get_mut(context.0).expect("a live op's context is there");
        let mut place = owner.pending.len();
        while place > 0 && self.ops.at(owner.pending[place - 1]).priority > priority {
            place -= 1;
        }
        owner.pending.insert(place, id);
        let compute = &mut self.devices[device.index()].compute;
        let turn_is_its = compute.on == Some(context) || compute.switching.is_some_and(|s| s.next == context);
        if !turn_is_its && !std::mem::replace(&mut owner.in_line, true) {
            compute.line.push_back(context);
        }
        self.mark_dirty(device);
    }

    /// Decides what the device does next. Cheap when nothing changes.
    pub(crate) fn arbitrate(&mut self, device: DeviceId) {
        if self.device(device).compute.switching.is_some() {
            return;
        }
        if let Some(context) = self.device(device).compute.on.filter(|on| self.wants(*on)) {
            self.start_pending(context, device);
            let gone = self.contexts.get(context.0).is_some_and(|c| c.gone);
            let compute = &mut self.device(device).compute;
            if (gone || !compute.line.is_empty()) && !compute.slice_armed {
                self.arm_slice(device);
            }
            return;
        }
        let compute = &mut self.device(device).compute;
        compute.slice_armed = false;
        compute.turn = compute.turn.wrapping_add(1);
        if let Some(next) = self.next_in_line(device) {
            self.begin_switch(device, next, self.profile.compute.reload_ns);
        }
    }

    fn wants(&self, context: ContextId) -> bool {
        self.contexts.get(context.0).is_some_and(|c| !c.pending.is_empty() || !c.running.is_empty())
    }

    /// Contexts whose work has gone in the meantime are passed over.
    fn next_in_line(&mut self, device: DeviceId) -> Option<ContextId> {
        while let Some(next) = self.device(device).compute.line.pop_front() {
            if let Some(context) = self.contexts.get_mut(next.0) {
                context.in_line = false;
            }
            if self.wants(next) {
                return Some(next);
            }
        }
        None
    }

    fn start_pending(&mut self, context: ContextId, device: DeviceId) {
        while let Some(id) = self.contexts.get(context.0).and_then(|c| c.pending.front().copied()) {
            if threads(self.ops.at(id)) > self.device(device).compute.room {
                return;
            }
            if let Some(owner) = self.contexts.get_mut(context.0) {
                owner.pending.pop_front();
                owner.running.push(id);
            }
            self.enter_device(id);
        }
    }

    /// A kernel starts, or goes on.
    fn enter_device(&mut self, id: OpId) {
        let now = self.now;
        let op = self.ops.at(id);
        op.stage = Stage::OnDevice;
        op.ends = now.saturating_add(op.remaining);
        op.stay = op.stay.wrapping_add(1);
        let first = !std::mem::replace(&mut op.started, true);
        let (process, device, room) = (op.process, op.device, threads(op));
        self.timers.set(op.ends, Timer::KernelEnd { op: id, stay: op.stay });
        let account = self.account(process, device);
        account.busy.enter(now);
        if first {
            account.resident.enter(now);
        }
        let device = self.device(device);
        device.compute.room -= room;
        if device.compute.busy.enter(now) {
            device.segments.begin(now, Occupant::Process(process));
        }
    }

    /// A kernel is done, saved or killed: it is off the device. What is left of it is kept.
    fn leave_device(&mut self, id: OpId) {
        let now = self.now;
        let op = self.ops.at(id);
        op.stage = Stage::Dispatched;
        op.remaining = op.ends.saturating_sub(now);
        let (process, device, room) = (op.process, op.device, threads(op));
        self.account(process, device).busy.leave(now);
        let device = self.device(device);
        device.compute.room += room;
        if device.compute.busy.leave(now) {
            device.segments.end(now);
        }
    }

    pub(crate) fn kernel_end(&mut self, id: OpId, stay: u32) {
        let Some(op) = self.ops.get(id).filter(|op| op.stage == Stage::OnDevice && op.stay == stay) else { return };
        let (process, device, context, work) = (op.process, op.device, op.context, op.work);
        self.leave_device(id);
        let now = self.now;
        self.account(process, device).resident.leave(now);
        let Some(owner) = self.contexts.get_mut(context.0) else { return };
        owner.running.retain(|other| *other != id);
        let gone = owner.gone;
        self.mark_dirty(device);
        match work {
            _ if gone => self.bury(id),
            Work::Compute { kind: ComputeKind::Kernel { fault: Some(fault) }, .. } => {
                self.ops.at(id).started = false;
                self.fault(context, fault);
            }
            _ => self.complete(id),
        }
    }

    /// Takes a started op off the compute side for good; its slot is still the caller's to remove.
    pub(crate) fn withdraw(&mut self, id: OpId) {
        if self.ops.at(id).stage == Stage::OnDevice {
            self.leave_device(id);
        }
        let now = self.now;
        let op = self.ops.at(id);
        let (process, device) = (op.process, op.device);
        if std::mem::take(&mut op.started) {
            self.account(process, device).resident.leave(now);
        }
        self.mark_dirty(device);
    }

    fn arm_slice(&mut self, device: DeviceId) {
        let until = self.now.saturating_add(self.profile.compute.slice_ns);
        let compute = &mut self.device(device).compute;
        compute.slice_armed = true;
        compute.turn = compute.turn.wrapping_add(1);
        let turn = compute.turn;
        self.timers.set(until, Timer::Slice { device, turn });
    }

    pub(crate) fn slice_end(&mut self, device: DeviceId, turn: u32) {
        let compute = &mut self.device(device).compute;
        if !compute.slice_armed || compute.turn != turn {
            return;
        }
        compute.slice_armed = false;
        let Some(context) = compute.on else { return };
        let Some(owner) = self.contexts.get(context.0) else { return };
        if owner.gone {
            return self.kill_running(context);
        }
        let Some(next) = self.next_in_line(device) else { return };
        let running = self.contexts.get(context.0).map(|c| c.running.clone()).unwrap_or_default();
        for id in running {
            self.leave_device(id);
        }
        if let Some(owner) = self.contexts.get_mut(context.0) {
            owner.in_line = true;
        }
        self.device(device).compute.line.push_back(context);
        self.begin_switch(device, next, self.profile.compute.switch_ns);
    }

    fn begin_switch(&mut self, device: DeviceId, next: ContextId, cost: Nanos) {
        let (now, (process, _)) = (self.now, self.home(next));
        let target = self.device(device);
        let compute = &mut target.compute;
        compute.on = None;
        compute.turn = compute.turn.wrapping_add(1);
        compute.switching = Some(Switch { next, process, began: now });
        if cost == 0 {
            return self.load(device);
        }
        compute.switch.enter(now);
        target.segments.begin(now, Occupant::Switch);
        let turn = compute.turn;
        self.timers.set(now.saturating_add(cost), Timer::Switched { device, turn });
    }

    pub(crate) fn switch_end(&mut self, device: DeviceId, turn: u32) {
        let now = self.now;
        let target = self.device(device);
        let Some(switch) = target.compute.switching.filter(|_| target.compute.turn == turn) else { return };
        target.compute.switch.leave(now);
        target.segments.end(now);
        self.account(switch.process, device).switch_ns += now - switch.began;
        self.load(device);
    }

    /// The next context is on the device now; its saved kernels go on.
    fn load(&mut self, device: DeviceId) {
        let compute = &mut self.device(device).compute;
        let Some(switch) = compute.switching.take() else { return };
        compute.on = Some(switch.next);
        let running = self.contexts.get(switch.next.0).map(|c| c.running.clone()).unwrap_or_default();
        for id in running {
            self.enter_device(id);
        }
        self.mark_dirty(device);
    }
}

/// A switch under way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Switch {
    pub(crate) next: ContextId,
    pub(crate) process: crate::ProcessId,
    pub(crate) began: Nanos,
}

fn threads(op: &OpState) -> u64 {
    if let Work::Compute { threads, .. } = op.work { threads } else { 0 }
}
