//! The in-flight window of one device in one process: how many launches may be under way, how long to sleep between two looks
//! at the markers, when a wait has lasted long enough.
//!
//! **Units.** Launches, and nanoseconds of the caller's clock.
//!
//! **Problem.** The coordinator grants a number of launches, fit for kernels of a millisecond. The GPU wakes nobody, so a full
//! window is looked at every 20–200 µs: with kernels of 10 µs the queue would run dry between two looks.
//!
//! **Approach.** The window in effect is the granted one, or as many launches as were seen to complete in [`COVER`] of device
//! time, whichever is more. So it is bounded in time where kernels are short, and in number where they are long.
//!
//! **Properties.** Never under the granted number, never over [`MOST`]; a wait ends after [`CAP`] at the latest; the rate is
//! measured only while the window is full and the gate stays open, so idle time doesn't dilute it.

use mgpu_protocol::units::Nanos;

/// Device time that a full window should cover at least.
pub const COVER: Nanos = Nanos::from_millis(4);
/// A window wait ends after this and its launch passes; counted as a violation.
pub const CAP: Nanos = Nanos::from_millis(20);
/// Most launches in flight that short kernels can earn: [`COVER`] of the shortest kernels that there are.
pub const MOST: u32 = 4096;
/// Shortest sleep between two looks at the markers, and the longest.
pub const POLL: (Nanos, Nanos) = (Nanos::from_micros(20), Nanos::from_micros(200));
/// The longest while short kernels have earned more than was granted: the queue holds three times as much work then.
pub const LONG_POLL: Nanos = Nanos::from_millis(1);
/// A rate is taken over at least this long, at least so many completions, and at least two markers' worth of them.
const SAMPLE: (Nanos, u64) = (Nanos::from_micros(500), 8);

/// What is known about the pace of completions. One per device and process, under a lock off the fast path.
#[derive(Clone, Copy, Debug, Default)]
pub struct Window {
    /// Launches that complete in [`COVER`], as last measured.
    earned: u32,
    sample: Option<Sample>,
}

#[derive(Clone, Copy, Debug)]
struct Sample {
    since: Nanos,
    completed: u32,
    epoch: u32,
}

impl Window {
    /// Launches that may be in flight now, of the `granted` number (0 = no bound, then `u32::MAX`).
    #[must_use]
    pub fn size(&self, granted: u32) -> u32 {
        if granted == 0 { u32::MAX } else { granted.max(self.earned.min(MOST)) }
    }

    /// Launches that short kernels have earned: what [`Window::size`] takes instead of a smaller grant.
    #[must_use]
    pub fn earned(&self) -> u32 {
        self.earned.min(MOST)
    }

    /// Whether one of `streams` streams with `own` launches in flight may launch, in a window of `size` of which only `granted`
    /// were granted, without a look at the others (whose lines other cores write): while it has less than half its part. So
    /// what was earned may be exceeded by half, what was granted never.
    #[must_use]
    pub fn is_modest(own: u32, streams: u32, size: u32, granted: u32) -> bool {
        size > granted && own < size / 2 / streams.max(1)
    }

    /// To how many a full window must fall before launches go on: a quarter is let run out, so that a sleep buys a batch.
    #[must_use]
    pub fn resume_at(&self, granted: u32) -> u32 {
        let size = self.size(granted);
        size - (size / 4).max(1).min(size)
    }

    /// A look at the markers during a window wait: `completed` launches (wrapping) so far, in grant `epoch`; a marker stands
    /// behind each `distance` launches, so that many more may be done than are seen.
    pub fn look(&mut self, now: Nanos, completed: u32, distance: u32, epoch: u32) {
        let fresh = Sample { since: now, completed, epoch };
        let Some(sample) = self.sample.filter(|s| s.epoch == epoch) else {
            self.sample = Some(fresh);
            return;
        };
        let span = now.since(sample.since);
        if span < SAMPLE.0 {
            return;
        }
        let (done, distance) = (u64::from(completed.wrapping_sub(sample.completed)), u64::from(distance.max(1)));
        let pace = |launches: u64| u32::try_from(launches.saturating_mul(COVER.0) / span.0).unwrap_or(MOST).min(MOST);
        if done >= SAMPLE.1.max(2 * distance) {
            self.earned = pace(done);
            self.sample = Some(fresh);
        } else {
            // Too few to raise the window, but the pace can't be higher than this: kernels have become longer.
            self.earned = self.earned.min(pace(done + distance));
        }
    }

    /// The launches stopped coming (gate closed, or the window was far from full): what follows is no measure of the old pace.
    pub fn pause(&mut self) {
        self.sample = None;
    }

    /// How long to sleep before the next look, when `excess` launches must complete first: as long as they should take.
    #[must_use]
    pub fn sleep(&self, excess: u32, granted: u32) -> Nanos {
        let each = if self.earned == 0 { POLL.1.0 } else { COVER.0 / u64::from(self.earned) };
        let longest = if self.earned() > granted { LONG_POLL } else { POLL.1 };
        Nanos(each.saturating_mul(u64::from(excess.max(1))).clamp(POLL.0.0, longest.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Looks every `step` at a device that completes one launch each `kernel`, starting a sample at 0.
    fn run(window: &mut Window, kernel: Nanos, step: Nanos, until: Nanos) {
        let mut now = Nanos(0);
        while now <= until {
            window.look(now, u32::try_from(now.0 / kernel.0).unwrap_or(0), 1, 1);
            now = now.plus(step);
        }
    }

    #[test]
    fn a_zero_window_is_no_bound() {
        assert_eq!(Window::default().size(0), u32::MAX);
    }

    #[test]
    fn short_kernels_earn_four_milliseconds_of_them() {
        let mut window = Window::default();
        run(&mut window, Nanos::from_micros(10), Nanos::from_micros(100), Nanos::from_millis(3));
        assert_eq!(window.size(8), 400);
        assert_eq!(window.resume_at(8), 300);
    }

    #[test]
    fn long_kernels_leave_the_granted_number() {
        let mut window = Window::default();
        run(&mut window, Nanos::from_millis(5), Nanos::from_micros(100), Nanos::from_millis(80));
        assert_eq!(window.size(2), 2);
        assert_eq!(window.resume_at(2), 1);
        assert_eq!(window.resume_at(1), 0);
    }

    #[test]
    fn kernels_that_become_long_lose_the_window_within_one_fill() {
        let mut window = Window::default();
        run(&mut window, Nanos::from_micros(10), Nanos::from_micros(100), Nanos::from_millis(3));
        let done = 300;
        window.look(Nanos::from_millis(4), done, 1, 1);
        window.look(Nanos::from_millis(12), done + 1, 1, 1);
        assert_eq!(window.size(2), 2);
    }

    #[test]
    fn nothing_earns_more_than_the_most() {
        let mut window = Window::default();
        run(&mut window, Nanos(50), Nanos::from_micros(600), Nanos::from_millis(3));
        assert_eq!(window.size(8), MOST);
        assert_eq!(window.size(MOST + 5), MOST + 5, "but the coordinator may grant more");
    }

    #[test]
    fn time_between_two_grants_doesnt_dilute_the_pace() {
        let mut window = Window::default();
        run(&mut window, Nanos::from_micros(10), Nanos::from_micros(100), Nanos::from_millis(3));
        window.look(Nanos::from_millis(90), 320, 1, 2);
        assert_eq!(window.size(8), 400);
    }

    #[test]
    fn sparse_markers_dont_make_the_pace_look_slow() {
        let mut window = Window::default();
        run(&mut window, Nanos::from_micros(10), Nanos::from_micros(100), Nanos::from_millis(3));
        window.look(Nanos::from_millis(50), 5_000, 64, 2);
        window.look(Nanos::from_micros(50_600), 5_000, 64, 2);
        assert_eq!(window.size(8), 400, "no marker has landed in 600 µs, but 64 launches may be done");
        window.look(Nanos::from_micros(51_280), 5_128, 64, 2);
        assert_eq!(window.size(8), 400);
    }

    #[test]
    fn a_modest_stream_needs_no_look_at_the_others() {
        assert!(Window::is_modest(24, 8, 400, 4));
        assert!(!Window::is_modest(25, 8, 400, 4));
        assert!(!Window::is_modest(0, 8, 4, 4), "a granted window is counted exactly");
        assert!(Window::is_modest(0, 0, 400, 4));
    }

    #[test]
    fn sleeps_stay_within_their_bounds() {
        let mut window = Window::default();
        assert_eq!(window.sleep(1, 8), POLL.1);
        run(&mut window, Nanos::from_micros(10), Nanos::from_micros(100), Nanos::from_millis(3));
        assert_eq!(window.sleep(1, 8), POLL.0);
        assert_eq!(window.sleep(5, 8), Nanos::from_micros(50));
        assert_eq!(window.sleep(100, 8), LONG_POLL, "a quarter of the window");
        assert_eq!(window.sleep(u32::MAX, 8), LONG_POLL);
        assert_eq!(window.sleep(u32::MAX, 400), POLL.1);
    }
}
