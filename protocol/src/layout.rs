//! The two pages, word by word. Offsets are asserted at the end of this file: moving a field is a new `PAGE_VERSION`.
//!
//! Neither page holds a pointer, a length that the other side trusts, or a lock. A zeroed page is a valid page in which
//! every gate is closed, every slot and line is free and every lease is empty.

use crate::sync::{AtomicU32, AtomicU64};

/// "MGPUGRNT" and "MGPUTNNT", little-endian, at the head of each page.
pub const GRANTS_MAGIC: u64 = u64::from_le_bytes(*b"MGPUGRNT");
/// See [`GRANTS_MAGIC`].
pub const TENANT_MAGIC: u64 = u64::from_le_bytes(*b"MGPUTNNT");

/// Devices that one tenant may have (DESIGN §4).
pub const MAX_DEVICES: usize = 8;
/// Attached processes that one tenant page has room for.
pub const MAX_CLIENTS: usize = 64;
/// Thread lines in one tenant page; a thread that finds none uses its client's [`ClientSlot::overflow`] (slower, still right).
pub const MAX_THREADS: usize = 1024;
/// Stream lines in one tenant page; launches on a stream that finds none are gated and counted in [`ClientSlot::untracked`],
/// but nobody sees when they complete.
pub const MAX_STREAMS: usize = 1024;

/// What the coordinator tells one tenant. Writer: the coordinator. Readers: the tenant's clients, read-only mapping
/// (`F_SEAL_FUTURE_WRITE`). It dies with the daemon that made it.
#[repr(C, align(64))]
#[derive(Debug)]
pub struct GrantsPage {
    /// [`GRANTS_MAGIC`].
    pub magic: AtomicU64,
    /// [`crate::PAGE_VERSION`].
    pub version: AtomicU32,
    /// Devices in use in `devices`, 1 to [`MAX_DEVICES`].
    pub device_count: AtomicU32,
    /// Which incarnation of the daemon wrote this page; never 0.
    pub daemon_epoch: AtomicU64,
    /// Counts up while some gate of this tenant is closed and the daemon lives; a waiter takes 2 s without a change as loss.
    pub heartbeat: AtomicU64,
    _reserved: [u8; 32],
    /// One line a device, in the order of the welcome message.
    pub devices: [GrantLine; MAX_DEVICES],
}

/// One tenant's row for one device. Written by the coordinator alone.
#[repr(C, align(64))]
#[derive(Debug, Default)]
pub struct GrantLine {
    /// A packed [`crate::gate::Gate`]; its low half is the futex word.
    pub gate: AtomicU64,
    /// Memory limit in bytes; `u64::MAX` = none.
    pub limit: AtomicU64,
    /// Bytes leased to clients of this tenant, used or not (authoritative: sum over slots of what was given).
    pub given: AtomicU64,
    /// Bytes charged to the tenant beside leases (contexts, modules, the used part of clients whose teardown is not over).
    pub overhead: AtomicU64,
    /// Physical memory of the device in bytes.
    pub total: AtomicU64,
    _reserved: [u8; 24],
}

/// What the clients of one tenant tell the coordinator and each other. Hostile input for the coordinator.
#[repr(C, align(64))]
#[derive(Debug)]
pub struct TenantPage {
    /// [`TENANT_MAGIC`].
    pub magic: AtomicU64,
    /// [`crate::PAGE_VERSION`].
    pub version: AtomicU32,
    /// 1 + highest index in `threads` that was ever claimed; raised before the line's first use, never lowered.
    pub thread_high: AtomicU32,
    /// The same for `streams`.
    pub stream_high: AtomicU32,
    _reserved: [u8; 44],
    /// One slot an attached process; assigned by the coordinator in the welcome message.
    pub slots: [ClientSlot; MAX_CLIENTS],
    /// One line a thread that launches.
    pub threads: [ThreadLine; MAX_THREADS],
    /// One line a stream that was launched on.
    pub streams: [StreamLine; MAX_STREAMS],
}

/// One attached process. `epoch` is written by the coordinator, the rest by the client that it was given to; leases by both
/// (atomic adds and takes, see `lease`).
#[repr(C, align(64))]
#[derive(Debug, Default)]
pub struct ClientSlot {
    /// Incarnation of this slot: a client whose welcome named another epoch has lost it. 0 = free.
    pub epoch: AtomicU32,
    /// Bit per device: a thread of this client wants to launch there (0→1 edge also writes the eventfd).
    pub want: AtomicU32,
    /// Threads that wait at a closed gate now.
    pub waiting: AtomicU32,
    /// Window waits that ended by their cap.
    pub violations: AtomicU32,
    /// Launches that landed after a revoke (at most one a thread and revoke).
    pub late_launches: AtomicU64,
    /// Threads without a line of their own: low half = how many are entering now, high half = their launches (wraps).
    pub overflow: AtomicU64,
    /// Launches on streams without a line.
    pub untracked: AtomicU32,
    /// Pid of the client as it sees itself; a label.
    pub pid: AtomicU32,
    _reserved: [u8; 24],
    /// Unused bytes of this client's lease, per device. The coordinator and siblings take back by compare-and-swap.
    pub lease: [AtomicU64; MAX_DEVICES],
}

/// One launching thread. Only its owner writes `count`. Claimed by clients, freed by a sibling thread once its thread is dead
/// and by the coordinator once its client is.
#[repr(C, align(64))]
#[derive(Debug, Default)]
pub struct ThreadLine {
    /// Odd while the thread is between its gate check and the return of the driver's launch; half of it is launches.
    pub count: AtomicU64,
    /// 1 + slot index of the owner, 0 = free.
    pub owner: AtomicU32,
    /// Thread id in the owner's pid namespace, to take the line of a dead thread back.
    pub tid: AtomicU32,
    _reserved: [u64; 6],
}

/// One stream. `marker` is written by the GPU, the rest by the owner's threads.
///
/// Numbers count launches on this stream and wrap: compare only by difference. In flight = `launched - marker`; drained when
/// they are equal; the tail is unmarked when `marked != launched`.
#[repr(C, align(64))]
#[derive(Debug, Default)]
pub struct StreamLine {
    /// Number of the last launch submitted.
    pub launched: AtomicU32,
    /// Number of the last launch that a marker was put behind.
    pub marked: AtomicU32,
    /// Number of the last launch that the GPU has completed, written by a marker.
    pub marker: AtomicU32,
    /// [`STREAM_DEAD`] and friends.
    pub flags: AtomicU32,
    /// 1 + slot index of the owner, 0 = free.
    pub owner: AtomicU32,
    /// Index of the device in the grants page.
    pub device: AtomicU32,
    _reserved: [u64; 5],
}

/// Flag of a stream line: a sticky error or a destroyed context; nothing on it will complete, its claims don't count.
pub const STREAM_DEAD: u32 = 1;
/// Flag of a stream line: the stream was destroyed by the application; free the line once drained.
pub const STREAM_CLOSING: u32 = 2;

#[cfg(not(loom))]
mod asserted {
    use super::*;
    use std::mem::{align_of, offset_of, size_of};

    const _: () = {
        assert!(offset_of!(GrantsPage, device_count) == 12);
        assert!(offset_of!(GrantsPage, daemon_epoch) == 16);
        assert!(offset_of!(GrantsPage, heartbeat) == 24);
        assert!(offset_of!(GrantsPage, devices) == 64);
        assert!(size_of::<GrantsPage>() == 64 + 64 * MAX_DEVICES);
        assert!(size_of::<GrantLine>() == 64);
        assert!(offset_of!(GrantLine, gate) == 0);
        assert!(offset_of!(GrantLine, total) == 32);
        assert!(size_of::<ClientSlot>() == 128);
        assert!(offset_of!(ClientSlot, want) == 4);
        assert!(offset_of!(ClientSlot, overflow) == 24);
        assert!(offset_of!(ClientSlot, lease) == 64);
        assert!(size_of::<ThreadLine>() == 64);
        assert!(offset_of!(ThreadLine, owner) == 8);
        assert!(size_of::<StreamLine>() == 64);
        assert!(offset_of!(StreamLine, marker) == 8);
        assert!(offset_of!(StreamLine, owner) == 16);
        assert!(offset_of!(TenantPage, thread_high) == 12);
        assert!(offset_of!(TenantPage, slots) == 64);
        assert!(offset_of!(TenantPage, threads) == 64 + 128 * MAX_CLIENTS);
        assert!(offset_of!(TenantPage, streams) == 64 + 128 * MAX_CLIENTS + 64 * MAX_THREADS);
        assert!(align_of::<TenantPage>() == 64);
        assert!(cfg!(target_endian = "little"), "the futex word is the low half of the gate word");
    };
}
