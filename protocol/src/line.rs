//! The hand-over's first half: who is between the check of a gate and the return of the driver's launch.
//!
//! ```text
//! client                          coordinator
//! line.enter()   (odd)            set_gate(line, closed)
//! load gate      (open: launch)   closing_barrier()
//! count launch                    thread.is_entering()?  wait until it isn't
//! line.leave()   (even)           read the stream lines
//! ```
//! Both sides store first and load second, all sequentially consistent: so either the client sees the closed gate, or the
//! coordinator sees the line odd; and once it sees it even, it sees every launch that was counted before.
//!
//! It must never know clocks, processes' lives or CUDA.

use crate::gate::Gate;
use crate::layout::{ClientSlot, GrantLine, TenantPage, ThreadLine};
use crate::sync::{AtomicU32, AtomicU64, Ordering, Point, at, fence, model_fence};

impl ThreadLine {
    /// The owner begins a launch: one locked add. The gate must be loaded after this, by [`load_gate`].
    #[inline]
    pub fn enter(&self) {
        self.count.fetch_add(1, at(Point::LineEnter, Ordering::SeqCst));
        model_fence(Point::LineEnter);
    }

    /// The owner's launch has returned, or was not made. No locked add: nobody else writes this word.
    #[inline]
    pub fn leave(&self) {
        let count = self.count.load(Ordering::Relaxed);
        self.count.store(count.wrapping_add(1), at(Point::LineLeave, Ordering::Release));
    }

    /// For the coordinator: the owner may be between check and launch now. Everything that the owner counted before it left
    /// is visible after a `false`.
    #[must_use]
    pub fn is_entering(&self) -> bool {
        self.count.load(at(Point::LineRead, Ordering::SeqCst)) & 1 == 1
    }

    /// Launches (and refused attempts) so far; wraps.
    #[must_use]
    pub fn entries(&self) -> u64 {
        self.count.load(Ordering::Relaxed) >> 1
    }

    /// Takes a free line for thread `tid` of the client in `slot`; `false` if it isn't free.
    pub fn claim(&self, slot: u32, tid: u32) -> bool {
        let claim = at(Point::Claim, Ordering::SeqCst);
        if self.owner.compare_exchange(0, slot + 1, claim, Ordering::Relaxed).is_err() {
            return false;
        }
        self.settle();
        self.tid.store(tid, Ordering::Relaxed);
        true
    }

    /// Takes the line of a dead thread `dead` of the same client over for `tid`; `false` if somebody else was quicker.
    pub fn take_over(&self, slot: u32, dead: u32, tid: u32) -> bool {
        if self.owner.load(Ordering::Acquire) != slot + 1 {
            return false;
        }
        if self.tid.compare_exchange(dead, tid, at(Point::Claim, Ordering::SeqCst), Ordering::Relaxed).is_err() {
            return false;
        }
        self.settle();
        true
    }

    /// Frees the line; only its owner, or the coordinator after the owner's death.
    pub fn free(&self) {
        self.settle();
        self.tid.store(0, Ordering::Relaxed);
        self.owner.store(0, at(Point::Claim, Ordering::Release));
    }

    /// A thread that died inside a launch leaves an odd count; the launch is over with it.
    fn settle(&self) {
        let count = self.count.load(Ordering::Relaxed);
        self.count.store(count.wrapping_add(count & 1), Ordering::Relaxed);
    }
}

/// One thread in, low half; one launch more, high half.
const OVERFLOW_ENTER: u64 = 1 | (1 << 32);

impl ClientSlot {
    /// As [`ThreadLine::enter`], for a thread without a line: a counter shared by all such threads of the client.
    pub fn enter_overflow(&self) {
        self.overflow.fetch_add(OVERFLOW_ENTER, at(Point::LineEnter, Ordering::SeqCst));
        model_fence(Point::LineEnter);
    }

    /// As [`ThreadLine::leave`].
    pub fn leave_overflow(&self) {
        self.overflow.fetch_sub(1, at(Point::LineLeave, Ordering::Release));
    }

    /// As [`ThreadLine::is_entering`], for all threads of the client that have no line.
    #[must_use]
    pub fn is_overflow_entering(&self) -> bool {
        self.overflow.load(at(Point::LineRead, Ordering::SeqCst)) & 0xffff_ffff != 0
    }
}

/// The client's load of the gate after it has entered.
#[inline]
#[must_use]
pub fn load_gate(gate: &AtomicU64) -> u64 {
    gate.load(Ordering::SeqCst)
}

/// The coordinator sets a gate. After closing one, call [`closing_barrier`] before reading lines.
pub fn set_gate(line: &GrantLine, gate: Gate) {
    store_gate(&line.gate, gate);
}

/// As [`set_gate`], on the bare word.
pub fn store_gate(word: &AtomicU64, gate: Gate) {
    word.store(gate.pack(), at(Point::GateStore, Ordering::SeqCst));
    model_fence(Point::GateStore);
}

/// Between closing gates and reading lines; one call covers any number of gates.
pub fn closing_barrier() {
    #[cfg(not(loom))]
    fence(Ordering::SeqCst);
    #[cfg(loom)]
    model_fence(Point::GateStore);
    #[cfg(loom)]
    let _ = fence;
}

/// Raises a "1 + highest index ever claimed" word; before the line's first use, so that a coordinator which doesn't see it
/// can't miss a launch (it is ordered like [`ThreadLine::enter`]).
pub fn raise_high(high: &AtomicU32, index: u32) {
    if high.load(Ordering::Relaxed) <= index {
        high.fetch_max(index + 1, Ordering::SeqCst);
    }
}

/// How many lines of an array of `len` a reader must look at; a hostile word can't lead past the end.
#[must_use]
pub fn clamp_high(high: &AtomicU32, len: usize) -> usize {
    usize::try_from(high.load(Ordering::SeqCst)).unwrap_or(usize::MAX).min(len)
}

impl TenantPage {
    /// Takes a thread line for `tid` of the client in `slot`: a free one, else one of a thread of this client for which
    /// `is_dead` says so. `None`: use the overflow counter. Slow; once a thread.
    pub fn claim_thread(&self, slot: u32, tid: u32, is_dead: impl Fn(u32) -> bool) -> Option<&ThreadLine> {
        let index = self
            .threads
            .iter()
            .position(|line| line.owner.load(Ordering::Relaxed) == 0 && line.claim(slot, tid))
            .or_else(|| self.threads.iter().position(|line| line.take_over_if_dead(slot, tid, &is_dead)))?;
        raise_high(&self.thread_high, u32::try_from(index).ok()?);
        self.threads.get(index)
    }
}

impl ThreadLine {
    fn take_over_if_dead(&self, slot: u32, tid: u32, is_dead: &impl Fn(u32) -> bool) -> bool {
        if self.owner.load(Ordering::Relaxed) != slot + 1 {
            return false;
        }
        let holder = self.tid.load(Ordering::Relaxed);
        holder != 0 && is_dead(holder) && self.take_over(slot, holder, tid)
    }
}
