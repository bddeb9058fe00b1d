//! What the model's tables hold. Data only; what happens to it is in the file named after the verb.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::account::{Account, Counter};
use crate::arena::{Arena, Place};
use crate::compute::Switch;
use crate::ids::{AllocationId, ContextId, DeviceId, ModuleId, Nanos, OpId, PoolId, ProcessId, StreamId};
use crate::kernel::Rule;
use crate::nvml::Sampler;
use crate::op::{Fault, Node};
use crate::segments::Segments;

/// A client, dead ones included: their accounts stay.
#[derive(Debug)]
pub(crate) struct Process {
    pub(crate) pid: u32,
    pub(crate) command: String,
    pub(crate) alive: bool,
    /// Another process holds its device file.
    pub(crate) held: bool,
    /// The time of its teardown is set.
    pub(crate) ending: bool,
    /// By device index; made at first use.
    pub(crate) accounts: Vec<Option<Box<Account>>>,
}

/// A context.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) process: ProcessId,
    pub(crate) device: DeviceId,
    pub(crate) dead: Option<Fault>,
    /// Destroyed, or its process is dead; kept for the kernel that is still on the device, and for its memory.
    pub(crate) gone: bool,
    pub(crate) legacy: StreamId,
    /// Streams that are ordered with the legacy stream.
    pub(crate) blocking: Vec<StreamId>,
    /// Destroyed streams with work left.
    pub(crate) leaving: Vec<StreamId>,
    pub(crate) channels: Vec<Channel>,
    pub(crate) next_channel: usize,
    /// Compute work that is dispatched, but not yet started; most urgent first, else in order.
    pub(crate) pending: VecDeque<OpId>,
    /// Compute work that is started: on the device, or saved.
    pub(crate) running: Vec<OpId>,
    /// Whether it stands in its device's line.
    pub(crate) in_line: bool,
    /// Launches so far: the draw of each one's jitter.
    pub(crate) drawn: u64,
    pub(crate) small: Arena,
    pub(crate) overhead: u64,
    /// Managed memory that is not on the device.
    pub(crate) managed_away: BTreeSet<AllocationId>,
}

/// A hardware queue.
#[derive(Debug, Default)]
pub(crate) struct Channel {
    pub(crate) queue: VecDeque<OpId>,
    /// Has refused since it last had room.
    pub(crate) refused: bool,
}

/// A stream.
#[derive(Debug)]
pub(crate) struct Stream {
    pub(crate) context: ContextId,
    pub(crate) channel: usize,
    pub(crate) blocking: bool,
    pub(crate) priority: i32,
    pub(crate) tail: Option<OpId>,
    pub(crate) destroyed: bool,
}

/// An event.
#[derive(Debug)]
pub(crate) struct Event {
    pub(crate) process: ProcessId,
    /// The op of its newest record.
    pub(crate) last: Option<OpId>,
}

/// A module.
#[derive(Debug)]
pub(crate) struct Module {
    pub(crate) context: ContextId,
    pub(crate) bytes: u64,
    pub(crate) loaded: bool,
}

/// A kernel function.
#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) module: ModuleId,
    pub(crate) rule: Rule,
}

/// An instantiated graph.
#[derive(Debug)]
pub(crate) struct Graph {
    pub(crate) context: ContextId,
    pub(crate) nodes: Vec<Node>,
    /// For each node, those that wait for it.
    pub(crate) before: Vec<Vec<u32>>,
    /// Its newest launch: launches of one graph don't overlap.
    pub(crate) last: Option<OpId>,
    pub(crate) destroyed: bool,
}

/// An allocation.
#[derive(Debug)]
pub(crate) struct Allocation {
    pub(crate) process: ProcessId,
    pub(crate) device: DeviceId,
    pub(crate) context: Option<ContextId>,
    pub(crate) kind: AllocationKind,
    /// Being freed in this stream's order.
    pub(crate) leaving_on: Option<StreamId>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum AllocationKind {
    /// Blocks of its own, this many bytes.
    Whole(u64),
    /// A range of the context's shared blocks.
    Small(Place),
    /// A range of a pool.
    Pool(PoolId, Place),
    /// Managed, on the device or away.
    Managed { bytes: u64, here: bool },
}

/// A stream-ordered pool.
#[derive(Debug)]
pub(crate) struct Pool {
    pub(crate) process: ProcessId,
    pub(crate) device: DeviceId,
    pub(crate) arena: Arena,
    pub(crate) threshold: u64,
    pub(crate) destroyed: bool,
    /// Freed in stream order, and not yet there: by stream.
    pub(crate) leaving: BTreeMap<StreamId, Vec<AllocationId>>,
}

/// A device.
#[derive(Debug)]
pub(crate) struct Device {
    pub(crate) uuid: [u8; 16],
    pub(crate) total: u64,
    pub(crate) used: u64,
    /// Managed allocations that are on the device and can be moved away.
    pub(crate) managed_here: BTreeSet<AllocationId>,
    pub(crate) compute: Compute,
    pub(crate) engines: [CopyEngine; 2],
    pub(crate) segments: Segments,
    pub(crate) sampler: Sampler,
}

/// The compute side of a device.
#[derive(Debug)]
pub(crate) struct Compute {
    /// Threads not taken.
    pub(crate) room: u64,
    /// The context that is loaded.
    pub(crate) on: Option<ContextId>,
    /// The switch under way.
    pub(crate) switching: Option<Switch>,
    /// Contexts that want the device, besides the one on it.
    pub(crate) line: VecDeque<ContextId>,
    /// Tells a slice or switch timer that still counts from one that doesn't.
    pub(crate) turn: u32,
    pub(crate) slice_armed: bool,
    /// Must be looked at once the work in hand is done.
    pub(crate) dirty: bool,
    pub(crate) busy: Counter,
    pub(crate) switch: Counter,
}

/// A copy engine.
#[derive(Debug, Default)]
pub(crate) struct CopyEngine {
    pub(crate) queue: VecDeque<OpId>,
    pub(crate) current: Option<OpId>,
    pub(crate) step: u32,
    pub(crate) step_began: Nanos,
    pub(crate) total: u64,
}

impl CopyEngine {
    /// Time at work until `now`.
    pub(crate) fn busy(&self, now: Nanos) -> u64 {
        self.total + self.current.map_or(0, |_| now - self.step_began)
    }
}
