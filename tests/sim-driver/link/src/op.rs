//! What a stream can be told to do, and its form in a ring slot: one word of kind and stream, 13 words of arguments.
//!
//! Decoding believes nothing: a slot is written by a process that may lie. It must never know who submits.

use crate::types::{AllocId, EventId, FunctionId, GraphId};
use serde::{Deserialize, Serialize};

/// Which way a copy goes: it picks the engine that does it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Direction {
    /// Host to device, on a copy engine.
    HostToDevice,
    /// Device to host, on a copy engine.
    DeviceToHost,
    /// Within device memory: runs like a kernel.
    DeviceToDevice,
    /// Host to host.
    HostToHost,
}

/// How a wait compares the word in memory (`m`) with its value (`v`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Condition {
    /// `(signed)(m - v) >= 0`, cyclic.
    GreaterOrEqual,
    /// `m == v`.
    Equal,
    /// `m & v != 0`.
    And,
    /// `!(m | v) != 0`.
    Nor,
}

/// Bytes between rows and between slices of one side of a copy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pitch {
    /// From row to row.
    pub row: u64,
    /// From slice to slice.
    pub slice: u64,
}

/// One thing for a stream to do. All addresses are those of the submitting process and must stay valid until the op is
/// complete; a bad one is not a crash, the op then does nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Op {
    /// Runs for as long as the model's rules say.
    Kernel {
        /// From [`crate::Session::register_function`].
        function: FunctionId,
        /// Blocks in x, y, z.
        grid: [u32; 3],
        /// Threads in x, y, z.
        block: [u32; 3],
        /// Dynamic shared memory, bytes.
        shared: u32,
        /// All blocks are resident together.
        cooperative: bool,
    },
    /// `height` × `depth` rows of `width` bytes. A plain copy has `height` = `depth` = 1.
    Copy {
        /// Destination.
        dst: u64,
        /// Source, read when the op runs.
        src: u64,
        /// Bytes of a row.
        width: u64,
        /// Rows of a slice.
        height: u32,
        /// Slices.
        depth: u32,
        /// Distances at the destination.
        dst_pitch: Pitch,
        /// Distances at the source.
        src_pitch: Pitch,
        /// Engine.
        direction: Direction,
    },
    /// Fills `height` rows of `width` elements.
    Memset {
        /// Destination.
        dst: u64,
        /// Low `element` bytes count.
        value: u32,
        /// Bytes of an element: 1, 2 or 4.
        element: u8,
        /// Elements of a row.
        width: u64,
        /// Rows.
        height: u64,
        /// Bytes from row to row.
        pitch: u64,
    },
    /// A store by the device.
    WriteWord {
        /// Where.
        address: u64,
        /// What.
        value: u64,
        /// Bytes: 4 or 8.
        width: u8,
    },
    /// The stream waits until the word fits. The device polls it.
    WaitWord {
        /// Where.
        address: u64,
        /// Compared with.
        value: u64,
        /// Bytes: 4 or 8.
        width: u8,
        /// How.
        condition: Condition,
    },
    /// Takes the time when all before it in the stream is complete. Use [`crate::Session::record`].
    EventRecord {
        /// Which.
        event: EventId,
        /// Number of this record, counted by the client.
        record: u32,
    },
    /// The stream waits for that record of that event.
    EventWait {
        /// Which.
        event: EventId,
        /// Number of the record.
        record: u32,
    },
    /// Calls a function in the client, on a thread of the link; the stream waits for its return.
    HostFunc {
        /// From the session's table.
        token: u64,
    },
    /// Gives a pool allocation back when reached.
    PoolFree {
        /// Which.
        alloc: AllocId,
    },
    /// Runs an uploaded graph.
    Graph {
        /// From [`crate::Session::define_graph`].
        graph: GraphId,
    },
    /// Does nothing, in order.
    Nop,
}

/// A node of a graph: what it does and which earlier nodes it waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GraphNode {
    /// Neither `Graph` nor `EventWait` of an event recorded within the same graph.
    pub op: Op,
    /// Indices below its own.
    pub after: Vec<u32>,
}
