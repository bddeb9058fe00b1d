//! The hand-over's second half: how far each stream has come. Arithmetic on a [`StreamLine`]'s wrapping numbers, nothing else;
//! putting a marker into a stream is the shim's business.
//!
//! A launch is counted *after* the driver accepted it. So a marker that carries the count as loaded just before it is put
//! into the stream stands behind every launch up to that number.

use crate::gate::Markers;
use crate::layout::{STREAM_CLOSING, STREAM_DEAD, StreamLine, TenantPage};
use crate::line::raise_high;
use crate::sync::{Ordering, Point, at};

impl StreamLine {
    /// Counts one accepted launch; gives its number.
    #[inline]
    pub fn count_launch(&self) -> u32 {
        self.launched.fetch_add(1, Ordering::Relaxed).wrapping_add(1)
    }

    /// Number of the last launch submitted.
    #[must_use]
    pub fn launched(&self) -> u32 {
        self.launched.load(Ordering::Acquire)
    }

    /// Launches whose completion was not seen yet. A dead stream has none.
    #[must_use]
    pub fn in_flight(&self) -> u32 {
        if self.is_dead() {
            return 0;
        }
        let marker = self.marker.load(Ordering::Acquire);
        let ahead = self.launched.load(Ordering::Acquire).wrapping_sub(marker);
        // The marker is read first: it can only be overtaken by `launched`. "Behind" means a line under re-use: nothing known.
        if ahead > u32::MAX / 2 { 0 } else { ahead }
    }

    /// Nothing is in flight, by the last marker.
    #[must_use]
    pub fn is_drained(&self) -> bool {
        self.in_flight() == 0
    }

    /// Launches stand behind the last marker that was put into the stream: nobody will see them complete without another.
    #[must_use]
    pub fn has_unmarked_tail(&self) -> bool {
        !self.is_dead() && self.marked.load(Ordering::Acquire) != self.launched.load(Ordering::Acquire)
    }

    /// How many launches stand behind the last marker.
    #[must_use]
    pub fn unmarked(&self) -> u32 {
        let marked = self.marked.load(Ordering::Acquire);
        self.launched.load(Ordering::Acquire).wrapping_sub(marked)
    }

    /// A marker that carries `number` stands in the stream now. Numbers only go forward.
    pub fn note_marked(&self, number: u32) {
        let mut known = self.marked.load(Ordering::Relaxed);
        while is_before(known, number) {
            match self.marked.compare_exchange_weak(known, number, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return,
                Err(newer) => known = newer,
            }
        }
    }

    /// Every launch up to `number` is known to be complete: `number` was read from `launched` before a synchronisation of this
    /// stream or context began, and it returned success. Only ever moves the marker forward, and not past a marker that is
    /// still to come.
    pub fn note_complete(&self, number: u32) {
        if is_before(number, self.marked.load(Ordering::Acquire)) {
            return; // A marker beyond `number` is under way or has landed.
        }
        let landed = self.marker.load(Ordering::Acquire);
        if is_before(landed, number) {
            // Fails only if the GPU has just written a newer number.
            let _ = self.marker.compare_exchange(landed, number, Ordering::AcqRel, Ordering::Relaxed);
        }
        self.note_marked(number);
    }

    /// A sticky error or a destroyed context: nothing completes any more, nothing counts.
    pub fn set_dead(&self) {
        self.flags.fetch_or(STREAM_DEAD, Ordering::Release);
    }

    /// The application destroyed the stream: the line may be re-used once drained.
    pub fn set_closing(&self) {
        self.flags.fetch_or(STREAM_CLOSING, Ordering::Release);
    }

    /// See [`StreamLine::set_dead`].
    #[must_use]
    pub fn is_dead(&self) -> bool {
        self.flags.load(Ordering::Acquire) & STREAM_DEAD != 0
    }

    /// Destroyed by the application, with work that was not seen complete.
    #[must_use]
    pub fn is_closing(&self) -> bool {
        self.flags.load(Ordering::Acquire) & STREAM_CLOSING != 0 && !self.is_drained()
    }

    /// Dead, or destroyed and drained.
    #[must_use]
    pub fn is_reusable(&self) -> bool {
        let flags = self.flags.load(Ordering::Acquire);
        flags & STREAM_DEAD != 0 || (flags & STREAM_CLOSING != 0 && self.is_drained())
    }

    /// Takes a free line for the client in `slot`; `false` if it isn't free. Numbers go on from where they stood, so that a
    /// late marker of the predecessor can only make this line look busier than it is, until the next marker.
    pub fn claim(&self, slot: u32, device: u32) -> bool {
        if self.owner.compare_exchange(0, slot + 1, at(Point::Claim, Ordering::SeqCst), Ordering::Relaxed).is_err() {
            return false;
        }
        self.device.store(device, Ordering::Relaxed);
        let launched = self.launched.load(Ordering::Relaxed);
        self.marked.store(launched, Ordering::Relaxed);
        self.marker.store(launched, Ordering::Relaxed);
        self.flags.store(0, Ordering::Release);
        true
    }

    /// Frees the line; only its owner (once [`StreamLine::is_reusable`]), or the coordinator after the owner's death.
    pub fn free(&self) {
        let launched = self.launched.load(Ordering::Relaxed);
        self.marked.store(launched, Ordering::Relaxed);
        self.marker.store(launched, Ordering::Relaxed);
        self.flags.store(0, Ordering::Relaxed);
        self.owner.store(0, at(Point::Claim, Ordering::Release));
    }
}

/// Whether number `a` comes before `b`, on a circle.
const fn is_before(a: u32, b: u32) -> bool {
    a != b && b.wrapping_sub(a) < 1 << 31
}

/// Whether a marker is due when `unmarked` launches stand behind the stream's last one.
#[inline]
#[must_use]
pub const fn is_due(unmarked: u32, markers: Markers) -> bool {
    match markers {
        Markers::None => false,
        Markers::Every { shift } => unmarked >> (shift & 31) != 0,
    }
}

impl TenantPage {
    /// Takes a stream line on `device` for the client in `slot`: a free one, else one of this client's own that is reusable.
    /// `None`: the stream stays untracked. Slow; once a stream.
    pub fn claim_stream(&self, slot: u32, device: u32) -> Option<&StreamLine> {
        let own = |line: &&StreamLine| line.owner.load(Ordering::Acquire) == slot + 1 && line.is_reusable();
        let free_one =
            || self.streams.iter().position(|line| line.owner.load(Ordering::Relaxed) == 0 && line.claim(slot, device));
        let index = free_one().or_else(|| {
            self.streams.iter().filter(own).for_each(StreamLine::free);
            free_one()
        })?;
        raise_high(&self.stream_high, u32::try_from(index).ok()?);
        self.streams.get(index)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn line() -> StreamLine {
        // A zeroed line is a valid free line.
        StreamLine::default()
    }

    #[test]
    fn a_stream_is_drained_when_the_marker_has_caught_up() {
        let line = line();
        assert!(line.claim(3, 1));
        for _ in 0..5 {
            line.count_launch();
        }
        assert_eq!(line.in_flight(), 5);
        assert!(line.has_unmarked_tail());
        line.note_marked(5);
        assert!(!line.has_unmarked_tail());
        assert!(!line.is_drained());
        line.marker.store(5, Ordering::Release);
        assert!(line.is_drained());
    }

    #[test]
    fn numbers_wrap() {
        let line = line();
        line.launched.store(u32::MAX, Ordering::Relaxed);
        line.marked.store(u32::MAX, Ordering::Relaxed);
        line.marker.store(u32::MAX - 1, Ordering::Relaxed);
        assert_eq!(line.count_launch(), 0);
        assert_eq!(line.in_flight(), 2);
        line.note_marked(0);
        assert_eq!(line.marked.load(Ordering::Relaxed), 0);
        line.note_marked(u32::MAX);
        assert_eq!(line.marked.load(Ordering::Relaxed), 0, "an older mark doesn't take a newer one back");
    }

    #[test]
    fn a_dead_stream_claims_nothing() {
        let line = line();
        line.count_launch();
        line.set_dead();
        assert!(line.is_drained());
        assert!(!line.has_unmarked_tail());
        assert!(line.is_reusable());
    }

    #[test]
    fn completion_is_noted_only_when_no_marker_is_outstanding_past_it() {
        let line = line();
        for _ in 0..3 {
            line.count_launch();
        }
        line.note_marked(3);
        line.note_complete(2);
        assert_eq!(line.in_flight(), 3);
        line.note_complete(3);
        assert!(line.is_drained());
    }

    #[test]
    fn a_marker_is_due_once_the_distance_is_reached() {
        assert!(!is_due(1, Markers::None));
        assert!(is_due(1, Markers::Every { shift: 0 }));
        assert!(!is_due(0, Markers::Every { shift: 0 }));
        assert!(!is_due(3, Markers::Every { shift: 2 }));
        assert!(is_due(4, Markers::Every { shift: 2 }));
        assert!(is_due(5, Markers::Every { shift: 2 }), "also when several threads launch at once");
    }
}
