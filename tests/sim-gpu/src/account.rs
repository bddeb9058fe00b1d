//! One process's account on one device, as the model keeps it.

use crate::ids::Nanos;

/// Adds up the time during which at least one thing is in. Exact, and O(1).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counter {
    inside: u32,
    since: Nanos,
    total: u64,
}

impl Counter {
    /// Returns true if it was empty.
    pub(crate) fn enter(&mut self, now: Nanos) -> bool {
        self.inside += 1;
        if self.inside == 1 {
            self.since = now;
        }
        self.inside == 1
    }

    /// Returns true if it is empty now. Every leave has had its enter.
    pub(crate) fn leave(&mut self, now: Nanos) -> bool {
        debug_assert!(self.inside > 0, "a leave without its enter");
        self.inside = self.inside.saturating_sub(1);
        if self.inside == 0 {
            self.total += now - self.since;
        }
        self.inside == 0
    }

    pub(crate) fn total(&self, now: Nanos) -> u64 {
        if self.inside > 0 { self.total + (now - self.since) } else { self.total }
    }
}

/// Bytes in use and their highest ever.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Bytes {
    pub(crate) now: u64,
    pub(crate) peak: u64,
}

impl Bytes {
    pub(crate) fn add(&mut self, bytes: u64) {
        self.now += bytes;
        self.peak = self.peak.max(self.now);
    }

    pub(crate) fn sub(&mut self, bytes: u64) {
        debug_assert!(self.now >= bytes, "more given back than taken");
        self.now = self.now.saturating_sub(bytes);
    }
}

/// See [`crate::ProcessWitness`] for what each line means.
#[derive(Clone, Debug, Default)]
pub(crate) struct Account {
    pub(crate) busy: Counter,
    pub(crate) resident: Counter,
    pub(crate) queued: Counter,
    pub(crate) copy_ns: u64,
    pub(crate) switch_ns: u64,
    pub(crate) allocated: Bytes,
    pub(crate) overhead: Bytes,
    pub(crate) launches: u64,
    pub(crate) completed: u64,
    pub(crate) ops: u64,
    pub(crate) ops_completed: u64,
    pub(crate) stream_writes: u64,
    pub(crate) refused: u64,
    pub(crate) queue_full: u64,
    pub(crate) first_submit: Option<Nanos>,
    pub(crate) last_submit: Option<Nanos>,
    pub(crate) last_complete: Option<Nanos>,
}
