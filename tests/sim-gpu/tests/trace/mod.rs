//! A random trace from a seed, and its own book of what must come before what.

#![allow(unreachable_pub)]

mod calls;

use std::collections::{BTreeMap, BTreeSet};

use mgpu_sim_gpu::*;

use crate::common::{MS, S, US};

/// An accepted op, as the trace's book has it.
pub struct Accepted {
    pub op: Op,
    pub context: ContextId,
    /// Tokens that must be complete before.
    pub after: Vec<u64>,
    pub context_ended: bool,
}

struct Lane {
    stream: StreamId,
    context: ContextId,
    kind: Option<StreamKind>,
    tail: Option<u64>,
}

/// A trace under way, and all that came of it.
pub struct Run {
    pub model: Model,
    pub accepted: BTreeMap<u64, Accepted>,
    pub completions: BTreeMap<u64, Vec<Nanos>>,
    pub effects: Vec<Effect>,
    pub effect_times: Vec<Nanos>,
    draw: Draw,
    processes: Vec<ProcessId>,
    contexts: Vec<(ProcessId, ContextId)>,
    lanes: Vec<Lane>,
    functions: Vec<(ContextId, FunctionId)>,
    events: Vec<(ProcessId, EventId, Option<u64>)>,
    graphs: Vec<(ContextId, GraphId, Option<u64>)>,
    pools: Vec<(ProcessId, PoolId)>,
    pooled: Vec<AllocationId>,
    plain: Vec<AllocationId>,
    held: BTreeSet<ProcessId>,
    host: Vec<OpId>,
    words: BTreeSet<OpId>,
    token: u64,
}

/// splitmix64.
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ (z >> 31)) % bound.max(1) as u64).unwrap()
    }

    fn pick<'a, T>(&mut self, all: &'a [T]) -> Option<&'a T> {
        let index = self.below(all.len());
        all.get(index)
    }

    fn time(&mut self) -> Nanos {
        [US, 10 * US, 100 * US, MS, 5 * MS][self.below(5)] * (1 + self.below(9) as u64)
    }
}

/// Draws and runs a trace, answers whatever waits for the outside, and runs it out.
pub fn run(profile: Profile, seed: u64, length: usize) -> Run {
    let mut run = Run::new(profile, seed);
    for _ in 0..2 {
        run.connect();
    }
    for _ in 0..length {
        run.step();
    }
    run.finish();
    run
}

impl Run {
    fn new(profile: Profile, seed: u64) -> Self {
        let mut model = Model::new(profile, seed, 2, Some(4 << 30));
        model.advance(0, &mut Vec::new());
        Self {
            model,
            accepted: BTreeMap::new(),
            completions: BTreeMap::new(),
            effects: Vec::new(),
            effect_times: Vec::new(),
            draw: Draw(seed),
            processes: Vec::new(),
            contexts: Vec::new(),
            lanes: Vec::new(),
            functions: Vec::new(),
            events: Vec::new(),
            graphs: Vec::new(),
            pools: Vec::new(),
            pooled: Vec::new(),
            plain: Vec::new(),
            held: BTreeSet::new(),
            host: Vec::new(),
            words: BTreeSet::new(),
            token: 0,
        }
    }

    fn step(&mut self) {
        match self.draw.below(100) {
            0..60 => self.submit(),
            60..70 => self.advance(),
            70..76 => self.answer(),
            76..84 => self.memory(),
            84..88 => self.lane(),
            88..91 => self.graph(),
            91..93 => self.event(),
            93..95 => self.connect(),
            95 => self.close(),
            96 => self.destroy_context(),
            97 => self.destroy_lane(),
            98 => self.release(),
            _ => self.other_calls(),
        }
    }

    fn simple_op(&mut self, context: ContextId) -> Op {
        let bytes = self.draw.below(1 << 22) as u64;
        let directions = [Direction::HostToDevice, Direction::DeviceToHost, Direction::DeviceToDevice, Direction::Peer];
        match self.draw.below(12) {
            0 => Op::Memset { bytes },
            1 | 2 => Op::Copy { direction: directions[self.draw.below(4)], bytes },
            3 => Op::WriteValue { address: bytes, value: 1, width: 4 },
            4 => Op::Marker,
            5 if self.draw.below(4) == 0 => Op::HostFunc,
            6 if self.draw.below(4) == 0 => {
                Op::WaitValue { address: bytes, value: 1, width: 8, condition: Condition::Equal }
            }
            _ => {
                let ours: Vec<_> = self.functions.iter().filter(|(c, _)| *c == context).map(|(_, f)| *f).collect();
                let Some(function) = self.draw.pick(&ours).copied() else { return Op::Marker };
                let blocks = [1, 30, 400, 100_000][self.draw.below(4)];
                let duration_ns = (self.draw.below(2) == 0).then(|| self.draw.time());
                Op::Kernel { function, blocks, threads: 256, duration_ns }
            }
        }
    }

    fn submit(&mut self) {
        let index = self.draw.below(self.lanes.len());
        let Some(Lane { stream, context, kind, .. }) = self.lanes.get(index) else { return };
        let (stream, context, kind) = (*stream, *context, *kind);
        let process = self.contexts.iter().find(|(_, c)| *c == context).map(|(p, _)| *p);
        let ours = |all: &[(ProcessId, EventId, Option<u64>)]| -> Vec<usize> {
            (0..all.len()).filter(|i| Some(all[*i].0) == process).collect()
        };
        let events = ours(&self.events);
        let event = self.draw.pick(&events).copied();
        let graphs: Vec<_> = (0..self.graphs.len()).filter(|i| self.graphs[*i].0 == context).collect();
        let graph = self.draw.pick(&graphs).copied();
        let op = match (self.draw.below(10), event, graph) {
            (0, Some(event), _) => Op::EventRecord(self.events[event].1),
            (1, Some(event), _) => Op::EventWait(self.events[event].1),
            (2, _, Some(graph)) => Op::GraphLaunch(self.graphs[graph].1),
            (3, ..) if !self.pooled.is_empty() => Op::PoolFree(self.pooled[self.draw.below(self.pooled.len())]),
            _ => self.simple_op(context),
        };
        let stamp = self.model.now() + if self.draw.below(3) == 0 { self.draw.time() / 10 } else { 0 };
        self.token += 1;
        if self.model.submit(stamp, stream, self.token, op).is_err() {
            return;
        }
        let after = self.book(index, context, kind, event, graph, op);
        self.accepted.insert(self.token, Accepted { op, context, after, context_ended: false });
        self.take();
    }

    /// What the op must come after, by the rules of the driver API; and what others must come after from now on.
    fn book(
        &mut self,
        index: usize,
        context: ContextId,
        kind: Option<StreamKind>,
        event: Option<usize>,
        graph: Option<usize>,
        op: Op,
    ) -> Vec<u64> {
        let mut after: Vec<u64> = self.lanes[index].tail.into_iter().collect();
        let beside = self.lanes.iter().filter(|lane| lane.context == context);
        match kind {
            None => {
                let blocking = beside.filter(|lane| lane.kind == Some(StreamKind::Blocking));
                after.extend(blocking.filter_map(|lane| lane.tail));
            }
            Some(StreamKind::Blocking) => after.extend(beside.filter(|l| l.kind.is_none()).filter_map(|l| l.tail)),
            Some(StreamKind::NonBlocking) => {}
        }
        let token = Some(self.token);
        match (op, event, graph) {
            (Op::EventWait(_), Some(event), _) => after.extend(self.events[event].2),
            (Op::EventRecord(_), Some(event), _) => self.events[event].2 = token,
            (Op::GraphLaunch(_), _, Some(graph)) => {
                after.extend(std::mem::replace(&mut self.graphs[graph].2, token));
            }
            (Op::PoolFree(allocation), ..) => self.pooled.retain(|other| *other != allocation),
            _ => {}
        }
        self.lanes[index].tail = token;
        after
    }

    fn advance(&mut self) {
        let to = self.model.now() + self.draw.time();
        self.model.advance(to, &mut self.effects);
        self.note();
    }

    /// Takes what a call has already brought about.
    fn take(&mut self) {
        self.model.advance(self.model.now(), &mut self.effects);
        self.note();
    }

    fn note(&mut self) {
        for index in self.effect_times.len()..self.effects.len() {
            let at = match self.effects[index] {
                Effect::Completed { token, at, .. } => {
                    self.completions.entry(token).or_default().push(at);
                    at
                }
                Effect::HostFunc { op, at, .. } => {
                    self.host.push(op);
                    at
                }
                Effect::PollWord { op, at, .. } => {
                    self.words.insert(op);
                    at
                }
                Effect::Fault { context, at, .. } => {
                    self.end_context(context);
                    at
                }
                Effect::Copy { at, .. }
                | Effect::Memset { at, .. }
                | Effect::WriteWord { at, .. }
                | Effect::EventRecorded { at, .. }
                | Effect::QueueSpace { at, .. }
                | Effect::TornDown { at, .. } => at,
            };
            self.effect_times.push(at);
        }
    }

    fn answer(&mut self) {
        let now = self.model.now();
        if let Some(op) = self.host.pop() {
            self.model.host_done(now, op);
        }
        if let Some(op) = self.words.pop_first() {
            self.model.word_ready(now, op);
        }
        self.take();
    }

    fn end_context(&mut self, context: ContextId) {
        for op in self.accepted.values_mut().filter(|op| op.context == context) {
            op.context_ended = true;
        }
        self.contexts.retain(|(_, other)| *other != context);
        self.lanes.retain(|lane| lane.context != context);
    }

    fn finish(&mut self) {
        while !self.held.is_empty() {
            self.release();
        }
        loop {
            while !self.host.is_empty() || !self.words.is_empty() {
                self.answer();
            }
            let Some(at) = self.model.next_event() else { break };
            self.model.advance(at, &mut self.effects);
            self.note();
        }
    }

    /// Everybody dies; then the teardowns run out.
    pub fn close_all(&mut self) {
        for process in std::mem::take(&mut self.processes) {
            self.model.close(self.model.now(), process, false);
        }
        self.model.advance(self.model.now() + S, &mut self.effects);
    }
}

/// A trace without answers or feedback, the model advanced `step` at a time between submissions: its effects.
pub fn plain(profile: Profile, seed: u64, step: Nanos) -> Vec<Effect> {
    let mut run = Run::new(profile, seed);
    for _ in 0..3 {
        run.connect();
    }
    let mut effects = Vec::new();
    let mut stamp = 0;
    for token in 0..200 {
        stamp += run.draw.time() / 20;
        let index = run.draw.below(run.lanes.len());
        let (stream, context) = (run.lanes[index].stream, run.lanes[index].context);
        let op = run.simple_op(context);
        while run.model.now() + step < stamp {
            run.model.advance(run.model.now() + step, &mut effects);
        }
        let _ = run.model.submit(stamp, stream, token, op);
    }
    let end = stamp + 200 * MS;
    while run.model.now() < end {
        run.model.advance((run.model.now() + step).min(end), &mut effects);
    }
    effects
}
