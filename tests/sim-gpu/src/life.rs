//! Processes come and go; contexts die of faults, are destroyed, or go with their process. Nothing cancels a kernel that is
//! on the device: it runs to its end or to the end of a slice, and memory is let go after that.

use crate::ids::{ContextId, DeviceId, Nanos, OpId, ProcessId};
use crate::memory::Line;
use crate::model::Model;
use crate::objects::Process;
use crate::op::{Effect, Fault, Refusal};
use crate::slab::{Stage, Work};
use crate::time::Timer;

impl Model {
    /// A client has connected. Pids may come again; the process's name in the model doesn't.
    pub fn connect(&mut self, at: Nanos, pid: u32, command: &str) -> ProcessId {
        self.run_to(at);
        let command = command.to_owned();
        let process = Process { pid, command, alive: true, held: false, ending: false, accounts: Vec::new() };
        ProcessId(self.processes.insert(process))
    }

    /// The client is dead (or has left). Queued work is dropped; a kernel on the device runs to its end or the end of a slice.
    /// Its memory is let go `teardown_ns` later, and not before [`Model::release_device_file`] if `held` (a forked child has
    /// the device file open). Ends with [`Effect::TornDown`] for each device that it used.
    pub fn close(&mut self, at: Nanos, process: ProcessId, held: bool) {
        self.run_to(at);
        let Some(found) = self.processes.get_mut(process.0).filter(|p| p.alive) else { return };
        (found.alive, found.held) = (false, held);
        for context in self.contexts_of(process) {
            self.abandon(context);
        }
        self.settle();
        self.end_if_quiet(process);
    }

    /// The last other holder of a dead process's device file is gone.
    pub fn release_device_file(&mut self, at: Nanos, process: ProcessId) {
        self.run_to(at);
        if let Some(found) = self.processes.get_mut(process.0) {
            found.held = false;
        }
        self.end_if_quiet(process);
    }

    /// Destroys a context with all that is in it (streams, allocations, modules, graphs): unfinished ops are dropped, a kernel
    /// on the device ends as in [`Model::close`], and memory is let go then.
    pub fn destroy_context(&mut self, at: Nanos, context: ContextId) -> Result<(), Refusal> {
        self.run_to(at);
        self.contexts.get(context.0).filter(|c| !c.gone).ok_or(Refusal::NoSuchObject)?;
        self.abandon(context);
        self.release_if_quiet(context);
        self.settle();
        Ok(())
    }

    /// A sticky error: everything in the context is dropped at once; its memory stays until it is destroyed.
    pub(crate) fn fault(&mut self, context: ContextId, fault: Fault) {
        let Some(owner) = self.contexts.get_mut(context.0) else { return };
        owner.dead = Some(fault);
        let (process, at) = (owner.process, self.now);
        self.effects.push(Effect::Fault { process, context, fault, at });
        self.drop_ops(context, false);
    }

    fn contexts_of(&self, process: ProcessId) -> Vec<ContextId> {
        self.contexts.iter().filter(|(_, c)| c.process == process).map(|(number, _)| ContextId(number)).collect()
    }

    fn abandon(&mut self, context: ContextId) {
        let Some(owner) = self.contexts.get_mut(context.0) else { return };
        owner.gone = true;
        let device = owner.device;
        self.drop_ops(context, true);
        self.mark_dirty(device);
    }

    /// Drops the context's unfinished ops. With `spare`, kernels on the device stay there until they end or are killed.
    fn drop_ops(&mut self, context: ContextId, spare: bool) {
        let (ids, at) = (self.ops.pick(|op| op.context == context), self.now);
        let Some(owner) = self.contexts.get_mut(context.0) else { return };
        let process = owner.process;
        owner.pending.clear();
        for channel in &mut owner.channels {
            channel.queue.clear();
            if std::mem::take(&mut channel.refused) {
                self.effects.push(Effect::QueueSpace { process, context, at });
            }
        }
        for id in ids {
            if spare && self.ops.at(id).stage == Stage::OnDevice {
                self.orphan(id);
            } else {
                self.drop_op(id);
            }
        }
        let ops = &self.ops;
        if let Some(owner) = self.contexts.get_mut(context.0) {
            owner.running.retain(|id| ops.is_live(*id));
        }
    }

    /// A kernel of a dropped graph launch is now on its own.
    fn orphan(&mut self, id: OpId) {
        let (op, now) = (self.ops.at(id), self.now);
        if op.parent.take().is_some() {
            let (process, device) = (op.process, op.device);
            self.account(process, device).queued.enter(now);
        }
    }

    fn drop_op(&mut self, id: OpId) {
        let op = self.ops.at(id);
        let (work, stage) = (op.work, op.stage);
        match work {
            Work::Compute { .. } => self.withdraw(id),
            Work::Copy { engine, .. } if stage == Stage::Dispatched => self.withdraw_copy(id, engine),
            Work::PoolFree(allocation) => self.finish_pool_free(allocation),
            _ => {}
        }
        self.remove_unfinished(id);
        self.graph_launch_ended(work);
    }

    fn remove_unfinished(&mut self, id: OpId) {
        let (op, now) = (self.ops.at(id), self.now);
        let (process, device, whole) = (op.process, op.device, op.parent.is_none());
        if whole {
            self.account(process, device).queued.leave(now);
        }
        let mut dependents = Vec::new();
        self.ops.remove(id, &mut dependents);
        // Ops of other contexts may have waited for it: they would hang for ever.
        self.release_dependents(&dependents);
    }

    /// The end of a kernel whose context is gone.
    pub(crate) fn bury(&mut self, id: OpId) {
        let context = self.ops.at(id).context;
        self.remove_unfinished(id);
        self.release_if_quiet(context);
    }

    /// The slice of a context that is gone is over: its kernels are killed.
    pub(crate) fn kill_running(&mut self, context: ContextId) {
        let Some(owner) = self.contexts.get_mut(context.0) else { return };
        for id in std::mem::take(&mut owner.running) {
            self.withdraw(id);
            self.remove_unfinished(id);
        }
        self.release_if_quiet(context);
    }

    /// Once nothing of a context that is gone is on the device: its memory goes, at once or with its process.
    fn release_if_quiet(&mut self, context: ContextId) {
        let Some(owner) = self.contexts.get(context.0).filter(|c| c.gone && c.running.is_empty()) else { return };
        let process = owner.process;
        if self.live_process(process).is_ok() {
            self.release_context(context);
        } else {
            self.end_if_quiet(process);
        }
    }

    fn end_if_quiet(&mut self, process: ProcessId) {
        let quiet = self
            .contexts_of(process)
            .iter()
            .all(|c| self.contexts.get(c.0).is_none_or(|context| context.running.is_empty()));
        let Some(found) = self.processes.get_mut(process.0) else { return };
        if found.alive || found.held || found.ending || !quiet {
            return;
        }
        found.ending = true;
        let at = self.now.saturating_add(self.profile.life.teardown_ns);
        self.timers.set(at, Timer::Teardown { process });
    }

    /// The driver lets go of all that a dead process held.
    pub(crate) fn let_go(&mut self, process: ProcessId) {
        for context in self.contexts_of(process) {
            self.release_context(context);
        }
        self.drop_allocations(|owner, _| owner == process);
        let pools: Vec<_> = self.pools.iter().filter(|(_, p)| p.process == process).map(|(n, _)| n).collect();
        for pool in pools {
            let Some(found) = self.pools.remove(pool) else { continue };
            self.uncharge(process, found.device, Line::Allocated, found.arena.reserved);
        }
        self.events.retain(|_, event| event.process != process);
        let at = self.now;
        for device in (0..self.devices()).map(DeviceId) {
            let used = self.processes.get(process.0).and_then(|p| p.accounts.get(device.index())?.as_ref());
            if used.is_some() {
                self.effects.push(Effect::TornDown { process, device, at });
            }
        }
    }

    fn drop_allocations(&mut self, picks: impl Fn(ProcessId, Option<ContextId>) -> bool) {
        let picked = self.allocations.iter().filter(|(_, a)| picks(a.process, a.context));
        let ids: Vec<_> = picked.map(|(id, _)| *id).collect();
        for id in ids {
            self.drop_allocation(id);
        }
    }

    fn release_context(&mut self, context: ContextId) {
        self.drop_allocations(|_, owner| owner == Some(context));
        let Some(owner) = self.contexts.remove(context.0) else { return };
        self.uncharge(owner.process, owner.device, Line::Overhead, owner.overhead);
        self.streams.remove_where(|s| s.context == context);
        self.graphs.remove_where(|g| g.context == context);
        let modules = self.modules.remove_where(|m| m.context == context);
        self.functions.remove_where(|f| modules.contains(&f.module.0));
    }
}
