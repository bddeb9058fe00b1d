//! How much of the last 100 ms was reserved to a tenant: a list of spans, oldest first. The limiter of `fixed-share`.

use std::collections::VecDeque;

use mgpu_protocol::units::Nanos;

/// The window that the promise of `fixed-share` names.
pub const WINDOW: Nanos = Nanos::from_millis(100);

/// Spans that end within the last [`WINDOW`]. They don't overlap and stand in order of time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recent {
    spans: VecDeque<(Nanos, Nanos)>,
}

impl Recent {
    /// Adds `from..to`, which must not begin before the end of the last one (what does is cut off).
    pub fn add(&mut self, from: Nanos, to: Nanos) {
        if to <= from {
            return;
        }
        match self.spans.back_mut() {
            Some(last) if from <= last.1 => last.1 = last.1.max(to),
            _ => self.spans.push_back((from, to)),
        }
        let horizon = to.since(WINDOW);
        while self.spans.front().is_some_and(|s| s.1 <= horizon) {
            self.spans.pop_front();
        }
    }

    /// Time reserved within `now - 100 ms ..= now`.
    #[must_use]
    pub fn used(&self, now: Nanos) -> Nanos {
        let horizon = now.since(WINDOW);
        Nanos(self.spans.iter().map(|s| s.1.since(s.0.max(horizon)).0).sum())
    }

    /// The earliest time from `now` on at which at most `allowed` of the last 100 ms was reserved, if nothing is added.
    #[must_use]
    pub fn free_at(&self, now: Nanos, allowed: Nanos) -> Nanos {
        let mut excess = self.used(now).since(allowed);
        let horizon = now.since(WINDOW);
        for span in &self.spans {
            if excess.0 == 0 {
                break;
            }
            let from = span.0.max(horizon);
            let length = span.1.since(from);
            if length >= excess {
                return from.plus(excess).plus(WINDOW);
            }
            excess = excess.since(length);
        }
        now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(n: u64) -> Nanos {
        Nanos::from_millis(n)
    }

    #[test]
    fn only_what_lies_in_the_window_counts() {
        let mut recent = Recent::default();
        recent.add(ms(1000), ms(1030));
        recent.add(ms(1060), ms(1080));
        // At 1110 the window begins at 1010: 20 of the first span and 20 of the second.
        assert_eq!(recent.used(ms(1110)), ms(40));
        assert_eq!(recent.used(ms(1200)), ms(0));
    }

    #[test]
    fn room_comes_back_as_old_spans_leave() {
        let mut recent = Recent::default();
        recent.add(ms(1000), ms(1030));
        recent.add(ms(1060), ms(1080));
        // 50 used at 1080; 30 allowed: 20 must leave, which began at 1000, so at 1020 + 100.
        assert_eq!(recent.free_at(ms(1080), ms(30)), ms(1120));
        // 10 allowed: 40 must leave: all 30 of the first and 10 of the second: 1070 + 100.
        assert_eq!(recent.free_at(ms(1080), ms(10)), ms(1170));
        assert_eq!(recent.free_at(ms(1080), ms(50)), ms(1080));
    }

    #[test]
    fn touching_spans_are_one_and_old_ones_are_dropped() {
        let mut recent = Recent::default();
        for i in 0..10_000 {
            recent.add(ms(i), ms(i + 1));
        }
        assert_eq!(recent.spans.len(), 1);
        recent.add(ms(20_000), ms(20_001));
        assert_eq!(recent.spans.len(), 1);
        assert_eq!(recent.used(ms(20_001)), ms(1));
    }
}
