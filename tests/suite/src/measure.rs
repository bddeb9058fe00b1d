//! A measured window: who had the device between two snapshots of the witness, and whether the run is valid.
//!
//! A run is invalid only if clients' and server's run delay that fell into device-idle time exceeds 0.3 % of the window while
//! `mgpud` used under 5 % of a core (DESIGN §10). That is decided from samples taken every few milliseconds, before anybody
//! looks at the shares, and printed first. Idle time in which nobody holds a grant is no loss: a device whose tenants are capped at
//! `granted` percent together is idle for the rest by promise, so only idle time beyond that can have been lost to delay. And a gap is
//! only disturbed by as much as it is longer than the run's own median gap: what every hand-over takes is ours, not the machine's.

use crate::node::Node;
use crate::schedstat;
use crate::witness::{Span, Witness};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Part of the window, in parts per million, that may be lost to run delay before a run is invalid.
const DELAY_PPM: u64 = 3_000;
/// CPU of `mgpud`, in parts per million of a core, above which a bad run is its own fault, not noise.
const DAEMON_CPU_PPM: u64 = 50_000;
/// Distance of the samples that join run delay with idle time.
const SAMPLE: Duration = Duration::from_millis(20);

/// What was seen in one window.
#[derive(Clone, Debug)]
pub struct Window {
    /// Length by the model's clock, ns.
    pub elapsed_ns: u64,
    /// Device time by pid, ns.
    pub busy_ns: BTreeMap<u32, u64>,
    /// Device time of all, ns.
    pub device_busy_ns: u64,
    /// Time with something submitted and not complete, by pid, ns.
    pub queued_ns: BTreeMap<u32, u64>,
    /// Most launches that were submitted and not complete, by pid, in the samples.
    pub most_queued: BTreeMap<u32, u64>,
    /// Run delay of clients and server that fell into device-idle time, ns.
    pub delay_in_idle_ns: u64,
    /// CPU time of `mgpud`, ns.
    pub daemon_cpu_ns: u64,
    /// Snapshot at the end.
    pub last: Witness,
}

impl Window {
    /// False if the machine, not mgpu, disturbed this run.
    #[must_use]
    pub fn valid(&self) -> bool {
        let noisy = self.delay_in_idle_ns * 1_000_000 > self.elapsed_ns * DELAY_PPM;
        let daemon_quiet = self.daemon_cpu_ns * 1_000_000 < self.elapsed_ns * DAEMON_CPU_PPM;
        !(noisy && daemon_quiet)
    }

    /// How far a result may be from what is expected because of the machine, in points; none in a valid run. Time lost by a
    /// tenant to run delay is its own loss; what others make of it, and what its debts do then, is another part as large each. A
    /// point is for delays of `mgpud` itself, which no idle time of the device tells (docs/decisions/0009).
    #[must_use]
    #[allow(clippy::cast_precision_loss, reason = "nanoseconds of a test run fit 53 bits")]
    pub fn slack_points(&self) -> f64 {
        if self.valid() { 0.0 } else { 1.0 + self.delay_in_idle_ns as f64 * 300.0 / self.elapsed_ns as f64 }
    }

    /// Device time of `pid` in percent of the window.
    #[must_use]
    #[allow(clippy::cast_precision_loss, reason = "nanoseconds of a test run fit 53 bits")]
    pub fn percent(&self, pid: u32) -> f64 {
        self.busy_ns.get(&pid).copied().unwrap_or(0) as f64 * 100.0 / self.elapsed_ns as f64
    }
}

/// Measures device `index` of `node` for `length` while `pids` run, which are granted `granted` percent of it together.
#[must_use]
pub fn window(node: &Node, index: usize, pids: &[u32], granted: u32, length: Duration) -> Window {
    let watched: Vec<u32> = pids.iter().copied().chain([node.sim_pid()]).collect();
    let delay = |watched: &[u32]| watched.iter().map(|pid| schedstat::of(*pid).delayed_ns).sum::<u64>();
    let daemon_before = node.daemon_cpu_ns();
    let first = node.witness();
    let start = Instant::now();
    let (mut last, mut delayed, mut delay_in_idle_ns) = (first.clone(), delay(&watched), 0);
    let mut most_queued = BTreeMap::new();
    while start.elapsed() < length {
        std::thread::sleep(SAMPLE.min(length.saturating_sub(start.elapsed())));
        let (now, delayed_now) = (node.witness(), delay(&watched));
        let idle = now.devices[index].idle_ns - last.devices[index].idle_ns;
        delay_in_idle_ns += idle.min(delayed_now.saturating_sub(delayed));
        for pid in pids {
            let row = now.process(index, *pid);
            let most: &mut u64 = most_queued.entry(*pid).or_default();
            *most = row.launches.saturating_sub(row.completed).max(*most);
        }
        (last, delayed) = (now, delayed_now);
    }
    let elapsed_ns = last.now_ns - first.now_ns;
    let idle_ns = last.devices[index].idle_ns - first.devices[index].idle_ns;
    let promised_idle_ns = elapsed_ns / 100 * u64::from(100 - granted.min(100));
    Window {
        elapsed_ns,
        busy_ns: last.busy_since(&first, index),
        queued_ns: last.queued_since(&first, index),
        most_queued,
        device_busy_ns: last.devices[index].busy_ns - first.devices[index].busy_ns,
        delay_in_idle_ns: delay_in_idle_ns
            .min(idle_ns.saturating_sub(promised_idle_ns))
            .min(beyond_the_median(&node.idle_spans(index, first.now_ns))),
        daemon_cpu_ns: node.daemon_cpu_ns() - daemon_before,
        last,
    }
}

/// By how much gaps are longer than the median one, ns, all together.
fn beyond_the_median(gaps: &[Span]) -> u64 {
    let mut lengths: Vec<u64> = gaps.iter().map(|gap| gap.end_ns.saturating_sub(gap.start_ns)).collect();
    lengths.sort_unstable();
    let median = lengths.get(lengths.len() / 2).copied().unwrap_or(0);
    lengths.iter().map(|length| length.saturating_sub(median)).sum()
}

/// Measures until a run is valid, twice at most; each validity is printed before anybody reads the result. Gives the first valid
/// run, else the one that was disturbed least.
#[must_use]
pub fn best_window(node: &Node, index: usize, pids: &[u32], granted: u32, length: Duration) -> Window {
    let mut runs = Vec::new();
    for invalid in 0..2 {
        let window = window(node, index, pids, granted, length);
        eprintln!(
            "validity: {} (run delay in idle {} us of {} ms, mgpud {} us CPU, {invalid} invalid before)",
            if window.valid() { "valid" } else { "INVALID" },
            window.delay_in_idle_ns / 1000,
            window.elapsed_ns / 1_000_000,
            window.daemon_cpu_ns / 1000,
        );
        if window.valid() {
            return window;
        }
        runs.push(window);
    }
    runs.into_iter().min_by_key(|window| window.delay_in_idle_ns).expect("two runs")
}

/// Judges a valid run on device 0 with `judge`, which must not tolerate more than [`Window::slack_points`] beside its own
/// tolerance. Without a valid run the least disturbed one is judged, so that a fault larger than what the machine can have done is
/// seen all the same; if there is none, a line says so that `scripts/test` counts as a skip.
///
/// # Panics
/// If `judge` does.
pub fn judged(what: &str, node: &Node, pids: &[u32], granted: u32, length: Duration, judge: impl FnOnce(&Window)) {
    let window = best_window(node, 0, pids, granted, length);
    judge(&window);
    if !window.valid() {
        println!("\nskipped: {what}: two runs were invalid, the machine is too busy to judge device time to the point");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gaps of 100, 150 and 900: the median is 150, only the longest is beyond it, by 750.
    #[test]
    fn only_what_is_longer_than_the_median_gap_is_disturbed() {
        let gap = |length: u64| Span { start_ns: 1000, end_ns: 1000 + length };
        assert_eq!(beyond_the_median(&[gap(900), gap(100), gap(150)]), 750);
        assert_eq!(beyond_the_median(&[]), 0);
    }
}
