//! What an engine learns about a tenant from looking at it: how long its launches take, how long it takes to drain, how
//! long its pauses are. Estimates only steer (window, end of a turn, grace); what a tenant pays is measured, not estimated.

use mgpu_protocol::gate::Markers;
use mgpu_protocol::units::Nanos;

use crate::settings::Settings;

/// Device time per launch, from completions counted while the tenant had work in flight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaunchTime {
    busy: Nanos,
    completed: u64,
    window: u32,
}

/// Older observations lose half their weight when this much time or this many launches are in the sum.
const MEMORY: Nanos = Nanos::from_millis(100);
const MEMORY_LAUNCHES: u64 = 4096;
/// The window grows at most so much from one look to the next, so that one odd look can't open it wide.
const GROWTH: u32 = 4;

impl LaunchTime {
    /// Adds one look: for `busy` there was work in flight, and `completed` launches ended.
    pub fn observe(&mut self, busy: Nanos, completed: u64, slice: Nanos, settings: &Settings) {
        self.busy = self.busy.plus(busy);
        self.completed = self.completed.saturating_add(completed);
        if self.busy > MEMORY && self.completed > 1 || self.completed > MEMORY_LAUNCHES {
            self.busy = Nanos(self.busy.0 / 2);
            self.completed /= 2;
        }
        let aim = self.aim(slice, settings);
        let now = self.window.max(settings.window_first);
        // While none has ended, launches may be of any length: the window may only shrink.
        let growth = if completed == 0 { 1 } else { GROWTH };
        self.window = aim.min(now.saturating_mul(growth));
    }

    /// True once enough launches were seen to end; of long ones the memory holds few.
    #[must_use]
    pub const fn is_known(&self) -> bool {
        self.completed >= 8 || self.completed > 0 && self.busy.0 >= MEMORY.0 / 2
    }

    /// How long so many launches take; zero while unknown.
    #[must_use]
    pub const fn time_of(&self, launches: u32) -> Nanos {
        if self.completed == 0 {
            return Nanos(0);
        }
        Nanos((self.busy.0 / self.completed).saturating_mul(launches as u64))
    }

    /// Launches in flight that keep the device busy for `window_time`, but not for more than half a slice; at least 1.
    fn aim(&self, slice: Nanos, settings: &Settings) -> u32 {
        let per_launch = (self.busy.0 / self.completed.max(1)).max(1);
        let time = settings.window_time.min(Nanos(slice.0 / 2));
        // One stands behind those that run, so that the device doesn't wait for the host; not so for launches that fill a turn.
        let fits = (time.0 / per_launch).max(1) + u64::from(per_launch < slice.0 / 2);
        u32::try_from(fits).unwrap_or(u32::MAX).clamp(1, settings.window_max.max(1))
    }

    /// Launches allowed in flight.
    #[must_use]
    pub fn window(&self, settings: &Settings) -> u32 {
        self.window.max(settings.window_first).max(1)
    }

    /// Distance of markers: a quarter of the window, so that the window is counted finely enough.
    #[must_use]
    pub fn markers(&self, settings: &Settings) -> Markers {
        let quarter = (self.window(settings) / 4).max(1);
        let shift = u8::try_from(quarter.ilog2()).unwrap_or(0).min(13);
        Markers::Every { shift }
    }
}

/// How long the tenant takes from revoke to quiesced, as a moving average over its last turns; none = never seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DrainTime(Option<Nanos>);

impl DrainTime {
    /// Adds one drain that ended before its deadline.
    pub fn observe(&mut self, took: Nanos) {
        self.0 = Some(self.0.map_or(took, |before| Nanos((before.0 * 3 + took.0) / 4)));
    }

    /// The next drain: as the last ones, but no longer than a full window takes; from what is in flight now, if no drain was
    /// seen yet.
    #[must_use]
    pub fn expected(&self, in_flight: u32, launches: &LaunchTime, settings: &Settings) -> Nanos {
        let of_flight = launches.time_of(in_flight);
        let of_window = launches.time_of(in_flight.max(launches.window(settings)));
        let expected =
            self.0.map_or(of_flight, |learnt| if launches.is_known() { learnt.min(of_window) } else { learnt });
        expected.min(settings.drain_deadline)
    }
}

/// How long a holder may be idle: doubled when a tenant came back right after its turn was given up (the hand-over cost more
/// than waiting would have), shortened slowly when it did not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Grace(Nanos);

impl Grace {
    /// The grace now, within the bounds of the settings.
    #[must_use]
    pub fn get(&self, settings: &Settings) -> Nanos {
        self.0.clamp(settings.grace_min, settings.grace_max.max(settings.grace_min))
    }

    /// The tenant wants the device again, `after` giving its turn up.
    pub fn came_back(&mut self, after: Nanos, settings: &Settings) {
        let grace = self.get(settings);
        let next = if after < grace { grace.0 * 2 } else { grace.0 - grace.0 / 8 };
        self.0 = Nanos(next).clamp(settings.grace_min, settings.grace_max.max(settings.grace_min));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn us(n: u64) -> Nanos {
        Nanos::from_micros(n)
    }

    fn after_looks(per_launch_us: u64, looks: u64) -> LaunchTime {
        let mut time = LaunchTime::default();
        let settings = Settings::default();
        for _ in 0..looks {
            time.observe(us(500), 500 / per_launch_us, Nanos::from_millis(20), &settings);
        }
        time
    }

    #[test]
    fn an_unknown_tenant_begins_with_one_launch() {
        assert_eq!(LaunchTime::default().window(&Settings::default()), 1);
    }

    #[test]
    fn short_launches_open_the_window_in_steps() {
        let s = Settings::default();
        // 10 µs each: 4 ms hold 400, bounded by 256; 1 → 4 → 16 → 64 → 256.
        assert_eq!(after_looks(10, 1).window(&s), 4);
        assert_eq!(after_looks(10, 2).window(&s), 16);
        assert_eq!(after_looks(10, 8).window(&s), 256);
        assert_eq!(after_looks(10, 8).markers(&s), Markers::Every { shift: 6 });
        // 100 µs each: 4 ms hold 40, and one more.
        assert_eq!(after_looks(100, 8).window(&s), 41);
    }

    #[test]
    fn launches_that_fill_half_a_turn_go_one_by_one() {
        let s = Settings::default();
        let mut time = LaunchTime::default();
        time.observe(Nanos::from_millis(50), 2, Nanos::from_millis(20), &s);
        assert_eq!(time.window(&s), 1);
        // 8 ms each: less than half a turn of 20 ms, so one may stand behind the one that runs.
        let mut time = LaunchTime::default();
        time.observe(Nanos::from_millis(80), 10, Nanos::from_millis(20), &s);
        assert_eq!(time.window(&s), 2);
        // 1 ms each: four fit in 4 ms, and one behind them, but one look only multiplies by four.
        let mut time = LaunchTime::default();
        time.observe(Nanos::from_millis(20), 20, Nanos::from_millis(20), &s);
        assert_eq!(time.window(&s), 4);
        time.observe(Nanos::from_millis(20), 20, Nanos::from_millis(20), &s);
        assert_eq!(time.window(&s), 5);
    }

    #[test]
    fn a_launch_that_does_not_end_narrows_the_window() {
        let s = Settings::default();
        let mut time = after_looks(10, 8);
        for _ in 0..200 {
            time.observe(Nanos::from_millis(1), 0, Nanos::from_millis(20), &s);
        }
        assert!(time.window(&s) < 256, "{}", time.window(&s));
    }

    #[test]
    fn the_drain_estimate_follows_the_last_turns() {
        let s = Settings::default();
        let mut drain = DrainTime::default();
        let launches = after_looks(100, 8);
        let expected = |drain: &DrainTime| drain.expected(10, &launches, &s);
        // Never seen: 10 in flight of 100 µs each.
        assert_eq!(expected(&drain), Nanos::from_millis(1));
        drain.observe(Nanos::from_millis(2));
        assert_eq!(expected(&drain), Nanos::from_millis(2));
        drain.observe(Nanos::from_millis(4));
        // (2·3 + 4)/4 = 2.5.
        assert_eq!(expected(&drain), us(2500));
        drain.observe(Nanos::from_millis(90));
        // A window of 41 launches of 100 µs can't take longer than 4.1 ms.
        assert_eq!(expected(&drain), us(4100));
    }

    #[test]
    fn grace_stays_between_its_bounds() {
        let s = Settings::default();
        let mut grace = Grace::default();
        assert_eq!(grace.get(&s), s.grace_min);
        for _ in 0..10 {
            grace.came_back(us(10), &s);
        }
        assert_eq!(grace.get(&s), s.grace_max);
        for _ in 0..100 {
            grace.came_back(Nanos::from_millis(50), &s);
        }
        assert_eq!(grace.get(&s), s.grace_min);
    }
}
