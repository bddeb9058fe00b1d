//! An op's way: out of its channel, to its engine, to its end. Iterative, so that long chains need no stack.

use std::collections::VecDeque;

use crate::ids::{ContextId, DeviceId, Nanos, OpId};
use crate::model::Model;
use crate::op::{Effect, Tag};
use crate::slab::{ComputeKind, OpState, Stage, Work};
use crate::time::Timer;

/// What is to be done before time may go on.
#[derive(Debug, Default)]
pub(crate) struct Flow {
    steps: VecDeque<Step>,
    /// Devices to be arbitrated once the steps are done.
    dirty: Vec<DeviceId>,
    /// The channel being pumped: it needs no other step.
    pumping: Option<(ContextId, usize)>,
    /// Kept for its buffer.
    dependents: Vec<OpId>,
}

#[derive(Clone, Copy, Debug)]
enum Step {
    /// Look at the head of a channel.
    Pump(ContextId, usize),
    /// Dispatch a graph node.
    Start(OpId),
}

impl Flow {
    pub(crate) fn pump(&mut self, context: ContextId, channel: usize) {
        self.steps.push_back(Step::Pump(context, channel));
    }

    pub(crate) fn start(&mut self, node: OpId) {
        self.steps.push_back(Step::Start(node));
    }
}

impl Model {
    /// Does all that can be done at this instant. The devices come last, so that a stream's next kernel is there before
    /// a device looks for another context.
    pub(crate) fn settle(&mut self) {
        loop {
            if let Some(step) = self.flow.steps.pop_front() {
                match step {
                    Step::Pump(context, channel) => self.pump(context, channel),
                    Step::Start(node) if self.ops.is_live(node) => self.dispatch(node),
                    Step::Start(_) => {}
                }
            } else if let Some(device) = self.flow.dirty.pop() {
                self.device(device).compute.dirty = false;
                self.arbitrate(device);
            } else {
                return;
            }
        }
    }

    pub(crate) fn mark_dirty(&mut self, device: DeviceId) {
        let compute = &mut self.device(device).compute;
        if !std::mem::replace(&mut compute.dirty, true) {
            self.flow.dirty.push(device);
        }
    }

    /// Dispatches from the head of a channel while it is ready. What waits at the head holds all behind it, other streams
    /// too: a dependency, a word, a host function (in hardware all three are semaphores that the channel stands at).
    fn pump(&mut self, context: ContextId, channel: usize) {
        self.flow.pumping = Some((context, channel));
        while let Some(id) = self.contexts.get(context.0).and_then(|c| c.channels[channel].queue.front().copied()) {
            let op = self.ops.at(id);
            if op.waits > 0 || op.stage != Stage::Queued {
                break;
            }
            if !matches!(op.work, Work::HostFunc | Work::WaitValue { .. }) {
                self.pass_head(context, channel);
            }
            self.dispatch(id);
        }
        self.flow.pumping = None;
    }

    /// The op at the head of a channel has gone on its way.
    fn pass_head(&mut self, context: ContextId, channel: usize) {
        let (process, _) = self.home(context);
        let queue = self.channel(context, channel);
        queue.queue.pop_front();
        if std::mem::take(&mut queue.refused) {
            self.effects.push(Effect::QueueSpace { process, context, at: self.now });
        }
    }

    /// Hands an op whose dependencies are complete to whatever carries it out.
    fn dispatch(&mut self, id: OpId) {
        let at = self.now;
        let op = self.ops.at(id);
        op.stage = Stage::Dispatched;
        let (process, tag) = (op.process, Tag { token: op.token, node: op.node });
        match op.work {
            Work::Compute { .. } => self.enqueue_compute(id),
            Work::Copy { engine, .. } => self.enqueue_copy(id, engine),
            Work::Graph(graph) => self.expand(id, graph),
            Work::HostFunc => {
                op.stage = Stage::Host;
                self.effects.push(Effect::HostFunc { process, op: id, tag, at });
            }
            Work::WaitValue { .. } => {
                op.stage = Stage::Polling;
                self.poll(id);
            }
            Work::WriteValue { address, value, width } => {
                let device = op.device;
                self.effects.push(Effect::WriteWord { process, tag, address, value, width, at });
                self.account(process, device).stream_writes += 1;
                self.complete(id);
            }
            Work::PoolFree(allocation) => {
                self.finish_pool_free(allocation);
                self.complete(id);
            }
            Work::Record(_) | Work::Nothing => self.complete(id),
        }
    }

    /// Looks at a word, now and again each `poll_ns`.
    pub(crate) fn poll(&mut self, id: OpId) {
        let Some(op) = self.ops.get(id).filter(|op| op.stage == Stage::Polling) else { return };
        let Work::WaitValue { address, value, width, condition } = op.work else { return };
        let (process, at) = (op.process, self.now);
        self.effects.push(Effect::PollWord { process, op: id, address, value, width, condition, at });
        self.timers.set(at.saturating_add(self.profile.compute.poll_ns), Timer::Poll { op: id });
    }

    /// A polled word holds what the stream waits for. Ignored for an op that doesn't wait (any more).
    pub fn word_ready(&mut self, at: Nanos, op: OpId) {
        self.answered(at, op, Stage::Polling);
    }

    /// A host function has returned. Ignored for an op that doesn't wait (any more).
    pub fn host_done(&mut self, at: Nanos, op: OpId) {
        self.answered(at, op, Stage::Host);
    }

    fn answered(&mut self, at: Nanos, op: OpId, stage: Stage) {
        self.run_to(at);
        let Some(state) = self.ops.get(op).filter(|state| state.stage == stage) else { return };
        let (context, channel) = (state.context, state.channel);
        if state.parent.is_none() {
            self.pass_head(context, channel);
            self.flow.pump(context, channel);
        }
        self.complete(op);
        self.settle();
    }

    /// Ends an op as done: effects, accounts, and whatever waited for it.
    pub(crate) fn complete(&mut self, id: OpId) {
        let op = self.ops.at(id);
        let (parent, work, at) = (op.parent, op.work, self.now);
        self.flow.dependents.clear();
        let mut dependents = std::mem::take(&mut self.flow.dependents);
        let op = self.ops.at(id);
        push_effects(op, at, &mut self.effects);
        if parent.is_none() {
            self.account_complete(id);
        }
        self.ops.remove(id, &mut dependents);
        self.release_dependents(&dependents);
        self.flow.dependents = dependents;
        self.graph_launch_ended(work);
        if let Some(parent) = parent {
            self.child_complete(parent);
        }
    }

    pub(crate) fn child_complete(&mut self, parent: OpId) {
        let Some(graph) = self.ops.get_mut(parent) else { return };
        graph.children -= 1;
        if graph.children == 0 {
            self.complete(parent);
        }
    }

    pub(crate) fn release_dependents(&mut self, dependents: &[OpId]) {
        for id in dependents {
            let Some(op) = self.ops.get_mut(*id) else { continue };
            op.waits -= 1;
            if op.waits > 0 || op.stage != Stage::Queued {
                continue;
            }
            let (context, channel) = (op.context, op.channel);
            if op.parent.is_some() {
                self.flow.start(*id);
            } else if self.flow.pumping != Some((context, channel))
                && self.channel(context, channel).queue.front() == Some(id)
            {
                self.flow.pump(context, channel);
            }
        }
    }

    fn account_complete(&mut self, id: OpId) {
        let op = self.ops.at(id);
        let (process, device, launch) = (op.process, op.device, op.work.is_launch());
        let now = self.now;
        let account = self.account(process, device);
        account.queued.leave(now);
        account.ops_completed += 1;
        if launch {
            account.completed += 1;
            account.last_complete = Some(now);
        }
    }
}

fn push_effects(op: &OpState, at: Nanos, effects: &mut Vec<Effect>) {
    let (process, tag) = (op.process, Tag { token: op.token, node: op.node });
    match op.work {
        Work::Copy { .. } | Work::Compute { kind: ComputeKind::Copy, .. } => {
            effects.push(Effect::Copy { process, tag, at });
        }
        Work::Compute { kind: ComputeKind::Memset, .. } => effects.push(Effect::Memset { process, tag, at }),
        Work::Record(event) if op.parent.is_some() => effects.push(Effect::EventRecorded { process, event, at }),
        _ => {}
    }
    if op.parent.is_none() {
        effects.push(Effect::Completed { process, stream: op.stream, token: op.token, at });
    }
}
