//! How often somebody may ask for attention. Nobody honest comes near these bounds; a flood is not heard for the rest of its
//! window, so that it costs the loop a bounded part of its time and nobody else waits for it.

use mgpu_protocol::units::Nanos;

/// Length of the window in which events are counted.
const WINDOW: Nanos = Nanos::from_millis(20);

/// Counts one source's events.
#[derive(Debug)]
pub(crate) struct Meter {
    limit: u32,
    count: u32,
    began: Nanos,
    muted_until: Option<Nanos>,
}

impl Meter {
    /// Lets `limit` events pass in each window.
    pub(crate) const fn new(limit: u32) -> Self {
        Self { limit, count: 0, began: Nanos(0), muted_until: None }
    }

    /// One event. `false`: it was the last that is heard before [`Self::muted_until`].
    pub(crate) fn count(&mut self, now: Nanos) -> bool {
        if now.since(self.began) > WINDOW {
            self.began = now;
            self.count = 0;
        }
        self.count += 1;
        if self.count < self.limit {
            return true;
        }
        self.muted_until = Some(self.began.plus(WINDOW));
        false
    }

    /// The source is not heard for one window.
    pub(crate) fn mute(&mut self, now: Nanos) {
        self.muted_until = Some(now.plus(WINDOW));
    }

    /// Until when the source is not heard; none = it is.
    pub(crate) const fn muted_until(&self) -> Option<Nanos> {
        self.muted_until
    }

    /// `true`: it was muted and is to be heard again.
    pub(crate) fn is_due(&mut self, now: Nanos) -> bool {
        self.muted_until.take_if(|at| *at <= now).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_is_muted_until_its_window_ends() {
        let mut meter = Meter::new(3);
        let start = Nanos::from_millis(100);
        assert!(meter.count(start) && meter.count(start));
        assert!(!meter.count(start));
        assert_eq!(meter.muted_until(), Some(Nanos::from_millis(120)));
        assert!(!meter.is_due(Nanos::from_millis(119)));
        assert!(meter.is_due(Nanos::from_millis(120)));
        assert!(meter.count(Nanos::from_millis(121)), "a new window");
    }
}
