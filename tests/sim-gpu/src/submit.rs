//! Taking work in: checks, rules applied, dependencies found, put into its channel.

use crate::ids::{ContextId, DeviceId, Nanos, OpId, StreamId};
use crate::model::Model;
use crate::op::{Direction, Op, Refusal, Tag};
use crate::random::mix;
use crate::slab::{ComputeKind, OpState, Stage, Work};
use crate::witness::LaunchStamp;
use crate::{kernel, objects::Context};

impl Model {
    /// Submits work. Accepted: completes exactly once with `token`, unless its context dies or is destroyed first.
    /// A refusal changes nothing. `QueueFull` is to be submitted again after [`crate::Effect::QueueSpace`].
    pub fn submit(&mut self, at: Nanos, stream: StreamId, token: u64, op: Op) -> Result<(), Refusal> {
        self.note_lateness(at);
        self.run_to(at);
        let target = self.live_stream(stream)?;
        let (context, channel) = (target.context, target.channel);
        self.live_context(context)?;
        self.check(context, &op)?;
        self.claim_room(context, channel)?;
        self.prepare_launch(context, &op)?;
        let id = self.insert(stream, token, Tag::WHOLE, None, &op);
        self.order(id, stream, &op);
        self.account_accepted(id, at);
        self.channel(context, channel).queue.push_back(id);
        self.flow.pump(context, channel);
        self.settle();
        Ok(())
    }

    /// How many more ops the stream's channel takes now; 0 for an unknown stream.
    pub fn queue_room(&self, stream: StreamId) -> usize {
        let Ok(stream) = self.live_stream(stream) else { return 0 };
        let Some(context) = self.contexts.get(stream.context.0) else { return 0 };
        let depth = self.profile.compute.queue_depth as usize;
        depth.saturating_sub(context.channels[stream.channel].queue.len())
    }

    fn note_lateness(&mut self, at: Nanos) {
        let late = self.now.saturating_sub(at);
        if late > 0 {
            self.late.count += 1;
            self.late.total_ns += late;
            self.late.max_ns = self.late.max_ns.max(late);
        }
    }

    /// Whether an op makes sense on this context: for submissions and for graph nodes.
    pub(crate) fn check(&self, context: ContextId, op: &Op) -> Result<(), Refusal> {
        let process = self.live_context(context)?.process;
        let ours = |yes: bool| if yes { Ok(()) } else { Err(Refusal::NoSuchObject) };
        match *op {
            Op::Kernel { function, blocks, threads, .. } => {
                ours(self.module_of(function)?.1.context == context)?;
                let sensible = blocks > 0 && (1..=1024).contains(&threads);
                if sensible { Ok(()) } else { Err(Refusal::InvalidValue) }
            }
            Op::EventRecord(event) | Op::EventWait(event) => {
                ours(self.events.get(&event).is_some_and(|e| e.process == process))
            }
            Op::GraphLaunch(graph) => {
                ours(self.graphs.get(graph.0).is_some_and(|g| g.context == context && !g.destroyed))
            }
            Op::PoolFree(allocation) => ours(self.may_pool_free(process, allocation)),
            Op::WriteValue { width, .. } | Op::WaitValue { width, .. } if !matches!(width, 4 | 8) => {
                Err(Refusal::InvalidValue)
            }
            _ => Ok(()),
        }
    }

    fn claim_room(&mut self, context: ContextId, channel: usize) -> Result<(), Refusal> {
        let depth = self.profile.compute.queue_depth as usize;
        let queue = self.channel(context, channel);
        if queue.queue.len() < depth {
            return Ok(());
        }
        queue.refused = true;
        let (process, device) = self.home(context);
        self.account(process, device).queue_full += 1;
        Err(Refusal::QueueFull)
    }

    /// Whatever must be in device memory before a launch: the kernel's module, and managed memory as far as it goes.
    fn prepare_launch(&mut self, context: ContextId, op: &Op) -> Result<(), Refusal> {
        match op {
            Op::Kernel { function, .. } => {
                self.load_lazily(*function)?;
                self.bring_managed(context);
            }
            Op::GraphLaunch(_) => self.bring_managed(context),
            _ => {}
        }
        Ok(())
    }

    /// Makes a live op of it, with all rules applied.
    pub(crate) fn insert(&mut self, stream: StreamId, token: u64, node: u32, parent: Option<OpId>, op: &Op) -> OpId {
        let target = self.streams.get(stream.0).expect("checked by the caller");
        let (context, channel, priority) = (target.context, target.channel, target.priority);
        let work = self.work(context, op);
        let (process, device) = self.home(context);
        let remaining = match work {
            Work::Compute { duration, .. } | Work::Copy { duration, .. } => duration,
            _ => 0,
        };
        self.ops.insert(OpState {
            generation: 0,
            stage: Stage::Queued,
            work,
            token,
            node,
            process,
            device,
            context,
            stream,
            channel,
            priority,
            parent,
            children: 0,
            waits: 0,
            dependents: Vec::new(),
            remaining,
            ends: 0,
            started: false,
            stay: 0,
        })
    }

    fn work(&mut self, context: ContextId, op: &Op) -> Work {
        match *op {
            Op::Kernel { function, blocks, threads, duration_ns } => {
                let rule = self.functions.get(function.0).map(|f| f.rule).unwrap_or_default();
                let capacity = kernel::capacity(&self.profile.device);
                let threads = kernel::threads(blocks, threads);
                let by_grid = || kernel::by_grid(&self.profile.compute, capacity, threads);
                let duration = duration_ns.or(rule.duration).unwrap_or_else(by_grid);
                let duration = self.jittered(context, duration);
                Work::Compute {
                    kind: ComputeKind::Kernel { fault: rule.fault },
                    duration,
                    threads: threads.min(capacity),
                }
            }
            Op::Memset { bytes } => self.small_kernel(context, ComputeKind::Memset, bytes),
            Op::Copy { direction: Direction::DeviceToDevice, bytes } => {
                self.small_kernel(context, ComputeKind::Copy, bytes)
            }
            Op::Copy { direction, bytes } => self.copy_work(direction, bytes),
            Op::HostFunc => Work::HostFunc,
            Op::EventRecord(event) => Work::Record(event),
            Op::EventWait(_) | Op::Marker => Work::Nothing,
            Op::WriteValue { address, value, width } => Work::WriteValue { address, value, width },
            Op::WaitValue { address, value, width, condition } => Work::WaitValue { address, value, width, condition },
            Op::GraphLaunch(graph) => Work::Graph(graph),
            Op::PoolFree(allocation) => Work::PoolFree(allocation),
        }
    }

    /// Memsets and copies within the device: a thread for each 32 bytes, at most half the device.
    fn small_kernel(&mut self, context: ContextId, kind: ComputeKind, bytes: u64) -> Work {
        let rules = &self.profile.copy;
        let duration = rules.setup_ns.saturating_add(bytes.saturating_mul(1_000) / rules.device_to_device);
        let capacity = kernel::capacity(&self.profile.device);
        let threads = (bytes / 32).max(1_024).min(capacity.div_ceil(2));
        Work::Compute { kind, duration: self.jittered(context, duration), threads }
    }

    /// The draw depends on the seed, the context and the number of the launch in it only, so that one client's kernels take
    /// the same time whatever others do.
    fn jittered(&mut self, context: ContextId, duration: Nanos) -> Nanos {
        let owner = self.contexts.get_mut(context.0).expect("checked by the caller");
        owner.drawn += 1;
        let draw = mix(mix(self.seed ^ u64::from(context.0) << 40) ^ owner.drawn);
        kernel::jittered(&self.profile.compute, duration, draw)
    }

    /// Finds what a submission must wait for, and makes it the newest of its stream.
    fn order(&mut self, id: OpId, stream: StreamId, op: &Op) {
        let target = self.streams.get(stream.0).expect("checked by the caller");
        let (context, blocking, tail) = (target.context, target.blocking, target.tail);
        self.wait_for(id, tail);
        let legacy = self.contexts.get(context.0).map(|c| c.legacy);
        if legacy == Some(stream) {
            self.wait_for_blocking(id, context);
        } else if blocking {
            let tail = legacy.and_then(|l| self.streams.get(l.0)).and_then(|l| l.tail);
            self.wait_for(id, tail);
        }
        match *op {
            Op::EventWait(event) => self.wait_for(id, self.events.get(&event).and_then(|e| e.last)),
            Op::EventRecord(event) => self.set_record(event, id),
            Op::GraphLaunch(graph) => self.order_graph(id, graph),
            Op::PoolFree(allocation) => self.begin_pool_free(allocation, stream),
            _ => {}
        }
        if let Some(target) = self.streams.get_mut(stream.0) {
            target.tail = Some(id);
        }
    }

    fn wait_for_blocking(&mut self, id: OpId, context: ContextId) {
        self.sweep_streams(context);
        let count = self.contexts.get(context.0).map_or(0, |c| c.blocking.len());
        for index in 0..count {
            let stream = self.contexts.get(context.0).map(|c| c.blocking[index]);
            let tail = stream.and_then(|s| self.streams.get(s.0)).and_then(|s| s.tail);
            self.wait_for(id, tail);
        }
    }

    /// Makes `id` wait for `other`, if that is still live.
    pub(crate) fn wait_for(&mut self, id: OpId, other: Option<OpId>) {
        let Some(other) = other.and_then(|other| self.ops.get_mut(other)) else { return };
        other.dependents.push(id);
        self.ops.at(id).waits += 1;
    }

    fn account_accepted(&mut self, id: OpId, stamp: Nanos) {
        let op = self.ops.at(id);
        let (process, device, launch) = (op.process, op.device, op.work.is_launch());
        let now = self.now;
        let account = self.account(process, device);
        account.queued.enter(now);
        account.ops += 1;
        if launch {
            account.launches += 1;
            account.first_submit.get_or_insert(stamp);
            account.last_submit = account.last_submit.max(Some(stamp));
            let pid = self.processes.get(process.0).map_or(0, |p| p.pid);
            self.launches.push(LaunchStamp { stamp_ns: stamp, process, pid, device });
        }
    }

    /// Whose context, and where.
    pub(crate) fn home(&self, context: ContextId) -> (crate::ProcessId, DeviceId) {
        let Context { process, device, .. } = self.contexts.get(context.0).expect("checked by the caller");
        (*process, *device)
    }

    pub(crate) fn channel(&mut self, context: ContextId, channel: usize) -> &mut crate::objects::Channel {
        &mut self.contexts.get_mut(context.0).expect("checked by the caller").channels[channel]
    }
}
