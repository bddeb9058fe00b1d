//! Live ops. Slots are reused with their buffers, so that steady traffic allocates nothing.

use crate::ids::{AllocationId, ContextId, DeviceId, EventId, GraphId, Nanos, OpId, ProcessId, StreamId};
use crate::op::{Condition, Fault};

/// What is left to do for an op, with all rules applied.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Work {
    /// On the compute side.
    Compute {
        kind: ComputeKind,
        duration: Nanos,
        threads: u64,
    },
    /// On a copy engine.
    Copy {
        engine: usize,
        duration: Nanos,
    },
    HostFunc,
    Record(EventId),
    WriteValue {
        address: u64,
        value: u64,
        width: u8,
    },
    WaitValue {
        address: u64,
        value: u64,
        width: u8,
        condition: Condition,
    },
    Graph(GraphId),
    PoolFree(AllocationId),
    /// Nothing: event waits and markers are all in their dependencies.
    Nothing,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ComputeKind {
    Kernel { fault: Option<Fault> },
    Memset,
    Copy,
}

impl Work {
    /// Whether the witness counts it as a launch.
    pub(crate) fn is_launch(&self) -> bool {
        matches!(self, Self::Compute { .. } | Self::Graph(_))
    }
}

/// Where an op is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// The slot is unused.
    Free,
    /// In its channel, or (a graph node) behind other nodes.
    Queued,
    /// Dispatched: pending or saved on the compute side, on a copy engine, or a graph whose nodes run.
    Dispatched,
    /// A kernel on the device.
    OnDevice,
    /// Waits for `host_done`.
    Host,
    /// Waits for `word_ready`.
    Polling,
}

/// One op.
#[derive(Debug)]
pub(crate) struct OpState {
    pub(crate) generation: u32,
    pub(crate) stage: Stage,
    pub(crate) work: Work,
    pub(crate) token: u64,
    pub(crate) node: u32,
    pub(crate) process: ProcessId,
    pub(crate) device: DeviceId,
    pub(crate) context: ContextId,
    pub(crate) stream: StreamId,
    pub(crate) channel: usize,
    pub(crate) priority: i32,
    /// The graph launch that this node belongs to.
    pub(crate) parent: Option<OpId>,
    /// Nodes not yet complete, for a graph launch.
    pub(crate) children: u32,
    /// Dependencies not yet complete.
    pub(crate) waits: u32,
    pub(crate) dependents: Vec<OpId>,
    /// Time still to run.
    pub(crate) remaining: Nanos,
    /// When it will be done, while on the device.
    pub(crate) ends: Nanos,
    /// Has been on the device before.
    pub(crate) started: bool,
    /// Tells a timer of an earlier stay on the device.
    pub(crate) stay: u32,
}

/// All live ops.
#[derive(Debug, Default)]
pub(crate) struct Slab {
    slots: Vec<OpState>,
    free: Vec<u32>,
    live: usize,
}

impl Slab {
    pub(crate) fn live(&self) -> usize {
        self.live
    }

    pub(crate) fn is_live(&self, op: OpId) -> bool {
        self.get(op).is_some()
    }

    pub(crate) fn get(&self, op: OpId) -> Option<&OpState> {
        self.slots.get(op.slot as usize).filter(|s| s.generation == op.generation && s.stage != Stage::Free)
    }

    pub(crate) fn get_mut(&mut self, op: OpId) -> Option<&mut OpState> {
        self.slots.get_mut(op.slot as usize).filter(|s| s.generation == op.generation && s.stage != Stage::Free)
    }

    /// For ops known to be live: everything in a queue of the model is.
    pub(crate) fn at(&mut self, op: OpId) -> &mut OpState {
        let state = &mut self.slots[op.slot as usize];
        debug_assert!(state.generation == op.generation && state.stage != Stage::Free, "a queue holds a dead op");
        state
    }

    /// `fresh.generation` and `fresh.dependents` are the slab's to set.
    pub(crate) fn insert(&mut self, mut fresh: OpState) -> OpId {
        self.live += 1;
        if let Some(slot) = self.free.pop() {
            let old = &mut self.slots[slot as usize];
            fresh.generation = old.generation;
            fresh.dependents = std::mem::take(&mut old.dependents);
            let generation = fresh.generation;
            *old = fresh;
            return OpId { slot, generation };
        }
        let slot = u32::try_from(self.slots.len()).unwrap_or(u32::MAX);
        self.slots.push(fresh);
        OpId { slot, generation: 0 }
    }

    /// Ends an op. Its dependents are appended to `into`; its slot is free from now on.
    pub(crate) fn remove(&mut self, op: OpId, into: &mut Vec<OpId>) {
        let state = self.at(op);
        into.append(&mut state.dependents);
        state.stage = Stage::Free;
        state.generation = state.generation.wrapping_add(1);
        self.free.push(op.slot);
        self.live -= 1;
    }

    /// Live ops that `test` picks, by slot.
    pub(crate) fn pick(&self, mut test: impl FnMut(&OpState) -> bool) -> Vec<OpId> {
        let live = (0..).zip(&self.slots).filter(|(_, s)| s.stage != Stage::Free && test(s));
        live.map(|(slot, s)| OpId { slot, generation: s.generation }).collect()
    }
}
