//! Who was on the device, stretch by stretch, in a bounded ring. Back-to-back kernels of one process make one segment.

use std::collections::VecDeque;

use crate::ids::{Nanos, ProcessId};

const CAPACITY: usize = 1 << 18;

/// Who holds the device; nobody is a gap between entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Occupant {
    Switch,
    Process(ProcessId),
}

/// One closed stretch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stretch {
    pub(crate) start: Nanos,
    pub(crate) end: Nanos,
    pub(crate) who: Occupant,
}

/// The ring of one device.
#[derive(Debug, Default)]
pub(crate) struct Segments {
    closed: VecDeque<Stretch>,
    open: Option<(Nanos, Occupant)>,
    known_since: Nanos,
}

impl Segments {
    pub(crate) fn begin(&mut self, now: Nanos, who: Occupant) {
        let start = match self.closed.back() {
            Some(last) if last.who == who && last.end == now => {
                let start = last.start;
                self.closed.pop_back();
                start
            }
            _ => now,
        };
        self.open = Some((start, who));
    }

    pub(crate) fn end(&mut self, now: Nanos) {
        let Some((start, who)) = self.open.take() else { return };
        if start == now {
            return;
        }
        if self.closed.len() == CAPACITY
            && let Some(lost) = self.closed.pop_front()
        {
            self.known_since = lost.end;
        }
        self.closed.push_back(Stretch { start, end: now, who });
    }

    /// From where on the ring knows everything, and the stretches that end after `since`; the open one ends at `now`.
    pub(crate) fn since(&self, since: Nanos, now: Nanos) -> (Nanos, Vec<Stretch>) {
        let first = self.closed.partition_point(|s| s.end <= since);
        let mut found: Vec<_> = self.closed.range(first..).copied().collect();
        found.extend(self.open.filter(|(start, _)| *start < now).map(|(start, who)| Stretch { start, end: now, who }));
        (self.known_since, found)
    }
}
