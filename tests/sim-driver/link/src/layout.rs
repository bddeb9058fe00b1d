//! The memory that a client and the server share: one [`Region`] per client, and one read-only [`Notice`] for all.
//!
//! Who writes what: the *server* writes the completion words (streams, channels, events, faults, host calls) and reads
//! everything else as hostile; it keeps its own copy of all it writes and never reads that back. The *client* writes
//! ring slots, the ring's tail and the waiters' words. All zeros is the initial state of everything.

use crate::sys::memory::Shared;
use std::sync::atomic::{AtomicU32, AtomicU64};

/// "mgpusim" and the layout's version. A server and a client of different builds refuse each other in the hello.
pub const VERSION: u32 = 1;

/// Slots of the submission ring; a power of two.
pub const RING: usize = 2048;
/// 64-bit words of a slot: state, stamp, head, and 13 of arguments.
pub const SLOT_WORDS: usize = 16;
/// Streams of one process.
pub const STREAMS: usize = 2048;
/// Contexts of one process, each with [`CHANNELS`] channels.
pub const CONTEXTS: usize = 64;
/// Channels of one context, at most.
pub const CHANNELS: usize = 32;
/// Events of one process.
pub const EVENTS: usize = 65_536;
/// Host calls on their way to the client; the server keeps more in its own memory.
pub const HOST_CALLS: usize = 256;

/// Keeps what one side writes off the lines that the other side writes.
#[repr(C, align(64))]
#[derive(Debug, Default)]
pub struct Line<T>(pub T);

/// One submission. `state` is twice the lap while empty and one more while full, see [`crate::ring`].
#[repr(C, align(64))]
#[derive(Debug)]
pub struct Slot(pub [AtomicU64; SLOT_WORDS]);

/// A count of completions and who waits for it to grow.
#[repr(C, align(64))]
#[derive(Debug, Default)]
pub struct Progress {
    /// Server: ops complete.
    pub completed: AtomicU64,
    /// Server: low half of `completed` again; the futex.
    pub word: AtomicU32,
    /// Client: threads that wait.
    pub waiters: AtomicU32,
}

/// A context's line.
#[repr(C, align(64))]
#[derive(Debug, Default)]
pub struct ContextLine {
    /// Server: sticky fault, a CUresult; 0 = none.
    pub fault: AtomicU32,
}

/// An event's slot. Records count cyclically; `completed` never goes back.
#[repr(C)]
#[derive(Debug, Default)]
pub struct EventSlot {
    /// Server: number of the last complete record; the futex.
    pub completed: AtomicU32,
    /// Client: threads that wait.
    pub waiters: AtomicU32,
    /// Server: device time of that record, ns; written before `completed`.
    pub at: AtomicU64,
}

/// One host call for the client to make.
#[repr(C)]
#[derive(Debug, Default)]
pub struct HostCall {
    /// Which function.
    pub token: AtomicU64,
    /// Goes back with the answer.
    pub answer: AtomicU64,
}

/// The client's own counters. They lie in the region only because it is zeroed and lazily backed.
#[repr(C, align(64))]
#[derive(Debug)]
pub struct Private {
    /// Ops submitted, by context and channel.
    pub issued: [[Line<AtomicU64>; CHANNELS]; CONTEXTS],
    /// Ops submitted, by stream.
    pub submitted: [Line<AtomicU64>; STREAMS],
    /// Number of the last record, by event slot.
    pub recorded: [AtomicU32; EVENTS],
    /// That number when the slot was last handed out, by event slot.
    pub unrecorded: [AtomicU32; EVENTS],
}

/// What one client and the server share.
#[repr(C, align(4096))]
#[derive(Debug)]
pub struct Region {
    /// Client: the next position that nobody has claimed.
    pub tail: Line<AtomicU64>,
    /// Server: all positions below are free again; its low half is the futex of a full ring.
    pub head: Progress,
    /// Server: host calls written so far.
    pub host_tail: Progress,
    /// Client: host calls taken so far.
    pub host_head: Line<AtomicU64>,
    /// Host calls, at their number modulo [`HOST_CALLS`].
    pub host_calls: [HostCall; HOST_CALLS],
    /// By context.
    pub contexts: [ContextLine; CONTEXTS],
    /// By context and channel.
    pub channels: [[Progress; CHANNELS]; CONTEXTS],
    /// By stream.
    pub streams: [Progress; STREAMS],
    /// By event.
    pub events: [EventSlot; EVENTS],
    /// Submissions.
    pub slots: [Slot; RING],
    /// Client: its own; the server never looks.
    pub private: Private,
}

// SAFETY: atomics and arrays of them in repr(C) structs all the way down.
unsafe impl Shared for Region {}

/// What the server tells all clients; they map it read-only.
#[repr(C, align(4096))]
#[derive(Debug, Default)]
pub struct Notice {
    /// When the server will look at the rings without being told, ns of CLOCK_MONOTONIC; 0 = it is awake.
    pub sleeps_until: AtomicU64,
}

// SAFETY: one atomic in a repr(C) struct.
unsafe impl Shared for Notice {}

/// Whether record `number` is complete when the last complete one is `completed`; both count cyclically.
#[must_use]
pub fn reached(completed: u32, number: u32) -> bool {
    completed.wrapping_sub(number) < 1 << 31
}

const _: () = {
    assert!(RING.is_power_of_two() && HOST_CALLS.is_power_of_two());
    assert!(size_of::<Slot>() == 128);
    assert!(size_of::<Progress>() == 64);
    assert!(size_of::<EventSlot>() == 16);
    assert!(size_of::<Region>().is_multiple_of(4096));
};

#[cfg(test)]
mod tests {
    use super::reached;

    #[test]
    fn records_count_cyclically() {
        assert!(reached(5, 5) && reached(6, 5) && !reached(4, 5));
        assert!(reached(2, u32::MAX) && !reached(u32::MAX, 2));
    }
}
