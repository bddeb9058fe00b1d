//! Client slots: one attached process each. Assigned and cleared by the coordinator; `want` is the only word by which a
//! client asks for something.
//!
//! The want word's protocol. Client: set the bit; on the 0→1 edge write the eventfd; wait on the gate. Coordinator: read the
//! eventfd, *then* take the bits ([`ClientSlot::take_wants`]), then decide. Bits set before the taking are seen; a bit set
//! after it is an edge again and writes the eventfd again. The other way round a wake-up could be lost.

use crate::layout::{ClientSlot, TenantPage};
use crate::lease;
use crate::sync::Ordering;

impl ClientSlot {
    /// A thread wants to launch on `device`. `true`: this was the 0→1 edge of the word, write the eventfd.
    #[must_use = "an edge must write the eventfd"]
    pub fn raise_want(&self, device: u32) -> bool {
        self.want.fetch_or(1 << (device & 31), Ordering::AcqRel) == 0
    }

    /// For the coordinator, after it has read the eventfd: which devices are wanted (a bit each); clears them.
    #[must_use]
    pub fn take_wants(&self) -> u32 {
        if self.want.load(Ordering::Acquire) == 0 {
            return 0;
        }
        self.want.swap(0, Ordering::AcqRel)
    }

    /// For the coordinator: makes the slot a new client's. Lease words are emptied first.
    pub fn assign(&self, epoch: u32) {
        self.reset();
        self.epoch.store(epoch, Ordering::Release);
    }

    fn reset(&self) {
        self.want.store(0, Ordering::Relaxed);
        self.waiting.store(0, Ordering::Relaxed);
        self.violations.store(0, Ordering::Relaxed);
        self.late_launches.store(0, Ordering::Relaxed);
        self.overflow.store(0, Ordering::Relaxed);
        self.untracked.store(0, Ordering::Relaxed);
        self.pid.store(0, Ordering::Relaxed);
        for word in &self.lease {
            lease::take_all(word);
        }
    }
}

/// For the coordinator, after a client's death: frees its slot and every line that it owned, whatever state they are in.
/// Gives the unused bytes of its leases, by device. A number past the end does nothing.
pub fn clear(page: &TenantPage, slot: u32) -> [u64; crate::layout::MAX_DEVICES] {
    let mut unused = [0; crate::layout::MAX_DEVICES];
    let Some(entry) = usize::try_from(slot).ok().and_then(|index| page.slots.get(index)) else { return unused };
    for (bytes, word) in unused.iter_mut().zip(&entry.lease) {
        *bytes = lease::take_all(word);
    }
    for line in page.threads.iter().filter(|line| line.owner.load(Ordering::Acquire) == slot + 1) {
        line.free();
    }
    for line in page.streams.iter().filter(|line| line.owner.load(Ordering::Acquire) == slot + 1) {
        line.free();
    }
    entry.reset();
    entry.epoch.store(0, Ordering::Release);
    unused
}
