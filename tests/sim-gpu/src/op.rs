//! What a client submits, and what the model asks the server to do to a client's memory. Plain data, small, `Copy`.

use serde::{Deserialize, Serialize};

use crate::ids::{AllocationId, DeviceId};
use crate::ids::{ContextId, EventId, FunctionId, GraphId, Nanos, OpId, ProcessId, StreamId};

/// Work for a stream. Bytes and addresses are carried by the server under the op's token where the model doesn't need them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Op {
    /// A kernel launch. `duration_ns` overrides the rules (kernel name, then grid size) and is still jittered.
    Kernel {
        /// Which function.
        function: FunctionId,
        /// Blocks of the whole grid (x·y·z).
        blocks: u64,
        /// Threads of a block.
        threads: u32,
        /// Explicit duration, for clients that know it.
        duration_ns: Option<u64>,
    },
    /// A copy; the bytes move when [`Effect::Copy`] comes, just before completion.
    Copy {
        /// Which engine carries it.
        direction: Direction,
        /// How much.
        bytes: u64,
    },
    /// A memset: runs on the compute side like a small kernel; [`Effect::Memset`] comes just before completion.
    Memset {
        /// How much.
        bytes: u64,
    },
    /// A host function: [`Effect::HostFunc`] comes, and the stream waits until `host_done`.
    HostFunc,
    /// Records an event. Its time is the completion time of this op.
    EventRecord(EventId),
    /// Waits for the event's newest record *as of this submission*; for none, or a complete one, not at all.
    EventWait(EventId),
    /// The GPU stores a word: [`Effect::WriteWord`].
    WriteValue {
        /// Client address of the word.
        address: u64,
        /// Value to store.
        value: u64,
        /// 4 or 8 bytes.
        width: u8,
    },
    /// The GPU polls a word by itself: [`Effect::PollWord`] each `poll_ns` of the profile until `word_ready`.
    WaitValue {
        /// Client address of the word.
        address: u64,
        /// Value to compare with.
        value: u64,
        /// 4 or 8 bytes.
        width: u8,
        /// How to compare.
        condition: Condition,
    },
    /// Launches an instantiated graph; completes when all of its nodes have.
    GraphLaunch(GraphId),
    /// Returns a pool allocation to its pool in stream order.
    PoolFree(AllocationId),
    /// Completes as soon as everything before it in the stream has: a synchronisation point.
    Marker,
}

/// Engine of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Direction {
    /// Host to device: the device's first copy engine.
    HostToDevice,
    /// Device to host: its second.
    DeviceToHost,
    /// Within the device: the compute side, like a small kernel.
    DeviceToDevice,
    /// To another device: the sender's second copy engine.
    Peer,
}

/// Comparison of a stream memory operation's wait (the driver API's four flags).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Condition {
    /// Cyclic: `(word - value) >= 0` as a signed number of the word's width.
    GreaterOrEqual,
    /// `word == value`.
    Equal,
    /// `(word & value) != 0`.
    And,
    /// `!(word | value) != 0`.
    Nor,
}

impl Condition {
    /// Whether `word` lets the wait pass. Both numbers are cut to `width` (4 or 8) bytes.
    pub fn holds(self, word: u64, value: u64, width: u8) -> bool {
        let (shift, mask) = if width == 4 { (32, 0xffff_ffff) } else { (0, u64::MAX) };
        match self {
            Self::GreaterOrEqual => (word.wrapping_sub(value) << shift) >> 63 == 0,
            Self::Equal => (word ^ value) & mask == 0,
            Self::And => word & value & mask != 0,
            Self::Nor => !(word | value) & mask != 0,
        }
    }
}

/// Which piece of submitted work an effect is about: the submission's token, and the node where a graph launch was submitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Tag {
    /// The token that came with the submission.
    pub token: u64,
    /// Index of the graph node, or [`Tag::WHOLE`].
    pub node: u32,
}

impl Tag {
    /// Not a graph node: the submission itself.
    pub const WHOLE: u32 = u32::MAX;
}

/// A node of a graph. Child graphs are flattened by the driver.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    /// The work. `GraphLaunch`, `PoolFree` and `EventWait` on an event recorded in the same graph are not allowed here.
    pub op: Op,
    /// Indices of earlier nodes that must be complete first.
    pub after: Vec<u32>,
}

/// What happened, in the order of model time. The server carries it out in exactly this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Effect {
    /// The submission is complete. Once for each accepted op, unless its context died or was destroyed first.
    Completed {
        /// Whose.
        process: ProcessId,
        /// On which stream.
        stream: StreamId,
        /// Token of the submission.
        token: u64,
        /// When. Also the time of an event that this op recorded.
        at: Nanos,
    },
    /// An event inside a graph was recorded (for direct records, `Completed` tells).
    EventRecorded {
        /// Whose.
        process: ProcessId,
        /// Which.
        event: EventId,
        /// Its time stamp.
        at: Nanos,
    },
    /// Move the bytes of this copy now.
    Copy {
        /// Whose.
        process: ProcessId,
        /// Which work.
        tag: Tag,
        /// When.
        at: Nanos,
    },
    /// Fill the bytes of this memset now.
    Memset {
        /// Whose.
        process: ProcessId,
        /// Which work.
        tag: Tag,
        /// When.
        at: Nanos,
    },
    /// Store a word in the client's memory now.
    WriteWord {
        /// Whose memory.
        process: ProcessId,
        /// Which work.
        tag: Tag,
        /// Where.
        address: u64,
        /// What.
        value: u64,
        /// 4 or 8 bytes.
        width: u8,
        /// When.
        at: Nanos,
    },
    /// Read a word; if `condition.holds`, call `word_ready(at, op)`. Comes again by itself while the wait lasts.
    PollWord {
        /// Whose memory.
        process: ProcessId,
        /// To be passed back.
        op: OpId,
        /// Where.
        address: u64,
        /// Compared with.
        value: u64,
        /// 4 or 8 bytes.
        width: u8,
        /// How.
        condition: Condition,
        /// When.
        at: Nanos,
    },
    /// Let the client run its host function, then call `host_done(stamp, op)`. A stopped client's stream waits.
    HostFunc {
        /// Whose.
        process: ProcessId,
        /// To be passed back.
        op: OpId,
        /// Which work.
        tag: Tag,
        /// When.
        at: Nanos,
    },
    /// The context is dead: nothing of it completes any more, each later call on it fails with this code.
    Fault {
        /// Whose.
        process: ProcessId,
        /// Which context.
        context: ContextId,
        /// The sticky error.
        fault: Fault,
        /// When.
        at: Nanos,
    },
    /// A channel that had refused with `QueueFull` has room again: the blocked callers of this context may retry.
    QueueSpace {
        /// Whose.
        process: ProcessId,
        /// Which context.
        context: ContextId,
        /// When.
        at: Nanos,
    },
    /// The driver has let go of all that a dead process held on this device.
    TornDown {
        /// Whose.
        process: ProcessId,
        /// Where.
        device: DeviceId,
        /// When.
        at: Nanos,
    },
}

/// A sticky error. The number is the driver API's result code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[repr(u32)]
pub enum Fault {
    /// `fault*`: CUDA_ERROR_ILLEGAL_ADDRESS.
    IllegalAddress = 700,
    /// `fault_timeout*`: CUDA_ERROR_LAUNCH_TIMEOUT.
    LaunchTimeout = 702,
    /// `fault_assert*`: CUDA_ERROR_ASSERT.
    Assert = 710,
    /// `fault_launch*`: CUDA_ERROR_LAUNCH_FAILED.
    LaunchFailed = 719,
}

impl Fault {
    /// The driver API's result code.
    pub fn code(self) -> u32 {
        self as u32
    }
}

/// Why the model refused a call. Nothing has changed then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Refusal {
    /// Not enough device memory (CUDA_ERROR_OUT_OF_MEMORY).
    OutOfMemory,
    /// The channel's queue is full: the caller blocks until [`Effect::QueueSpace`], then submits again.
    QueueFull,
    /// The context has a sticky error.
    ContextDead(Fault),
    /// No such object, or another process's (CUDA_ERROR_INVALID_HANDLE and the like).
    NoSuchObject,
    /// A number is out of range (CUDA_ERROR_INVALID_VALUE).
    InvalidValue,
}
