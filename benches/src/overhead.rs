//! What the shim adds to one call: the same program with and without it, batches in alternation, CPU time of the calling
//! threads, on a profile whose driver calls cost nothing beside their own code.
//!
//! *Including* is the plain difference. *Excluding* compares with a program without a shim that makes the shim's extra driver
//! calls (markers) itself, as many and in the same places: what they cost depends on what stands before them, so a figure taken
//! from markers alone would not do. Rounds are added until the intervals are narrow enough to tell. A control shim that burns
//! 50 ns more must be found to do so, else the run could not have seen the figure that it reports.

use crate::stats::{Mean, mean, median, tenth};
use crate::syscalls;
use crate::worker::{Under, Worker};
use mgpu_suite::node::{Node, NodeOptions};
use mgpu_suite::paths;
use mgpu_suite::tenant::{Program, Tenant};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Calls in one batch of one thread: below the hardware queue's depth, so that no call waits for the queue.
const BATCH: u32 = 256;
/// Extra cost of the control shim, ns.
const CONTROL_NS: f64 = 50.0;
/// How far off the control may be found, ns, beside its interval.
const CONTROL_OFF: f64 = 15.0;
/// Batches in which the shim's extra driver calls are counted before the comparison.
const COUNTED: u32 = 8;
/// Half width of an interval that is narrow enough, ns, for a launch; rounds are added until it is, or there are [`MOST_ROUNDS`].
const NARROW: f64 = 6.0;
/// Rounds of a case at least, whatever was asked for: with fewer the interval's formula ([`mean`]) does not hold, and two
/// rounds that happen to be equal would look narrow.
const LEAST_ROUNDS: u32 = 50;
/// Rounds of one case at most, or as many as were asked for.
const MOST_ROUNDS: u32 = 800;

/// Which call is measured.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Call {
    Launch,
    Alloc,
}

impl Call {
    /// What is asked of `call_bench`. Small allocations need no round trip of the simulated driver, so that what is added shows;
    /// one of a whole driver block does, and is measured on one thread only: more would time each other's round trips. Such a round
    /// trip is tens of microseconds of two processes waking each other, and varies by more than what is looked for: a row for
    /// those who want to see it, no headline.
    fn arguments(self, block: bool) -> &'static [&'static str] {
        match (self, block) {
            (Self::Launch, _) => &["--call", "launch"],
            (Self::Alloc, false) => &["--call", "alloc", "--bytes", "65536"],
            (Self::Alloc, true) => &["--call", "alloc", "--bytes", "2097152"],
        }
    }

    fn batch(self) -> u32 {
        match self {
            Self::Launch => BATCH,
            Self::Alloc => 64,
        }
    }

    /// More rounds are needed: fewer than asked for or than an interval needs, or a launch's interval is not narrow yet.
    fn goes_on(self, done: u32, rounds: u32, so_far: &[f64]) -> bool {
        let wide = || done < MOST_ROUNDS && mean(so_far).half_width > NARROW;
        done < rounds.max(LEAST_ROUNDS) || self == Self::Launch && wide()
    }
}

/// One case's differences.
struct Case {
    driver_p50: f64,
    including: Mean,
    excluding: Mean,
    added_p50: f64,
    added_p99: f64,
    extra_calls: f64,
    rounds: u32,
}

/// What a suite found.
pub(crate) struct Outcome {
    /// For people and for `--json`.
    pub(crate) figures: Value,
    /// The control was found, or this suite has none.
    pub(crate) can_be_trusted: bool,
}

/// All cases of a suite; at least `rounds` alternating batches each.
pub(crate) fn run(call: Call, rounds: u32) -> Outcome {
    let node = Node::start(NodeOptions { profile: "zero-host-cost".to_owned(), ..NodeOptions::default() });
    let shim = paths::release("libmgpu_shim.so");
    let mut cases = Vec::new();
    let mut worst: Option<Case> = None;
    for second_tenant in [false, true] {
        let _second = second_tenant.then(|| attached(&node));
        for (threads, block) in [(1, false), (2, false), (8, false), (1, true)] {
            if block && call == Call::Launch {
                continue;
            }
            let case = measure(&node, call, threads, block, rounds, &shim);
            let mut row = row(&case, threads, second_tenant);
            row["call"] = call.arguments(block).join(" ").into();
            row["in_headline"] = (!block).into();
            cases.push(row);
            if !block {
                worst = Some(match worst {
                    Some(so_far) => worse_of(so_far, case),
                    None => case,
                });
            }
        }
    }
    let worst = worst.expect("there are cases");
    let control = control(&node, call, rounds, &shim);
    let found = control.map(is_found);
    let syscalls = syscalls::added_per_call(&node, &shim, call.arguments(false));
    let figures = json!({
        "driver_ns_p50": tenth(worst.driver_p50),
        "added_ns_mean": tenth(worst.excluding.mean),
        "added_ns_mean_interval": tenth(worst.excluding.half_width),
        "added_ns_mean_including_driver_calls": tenth(worst.including.mean),
        "added_ns_p50": tenth(worst.added_p50),
        "added_ns_p99": tenth(worst.added_p99),
        "syscalls_per_call": syscalls,
        "control_added_ns": control.map(|c| tenth(c.mean)),
        "control_interval": control.map(|c| tenth(c.half_width)),
        "control_found": found,
        "cases": cases,
    });
    Outcome { figures, can_be_trusted: found != Some(false) }
}

/// The control's 50 ns were seen: close to that, with an interval that is too narrow to hold nothing or twice as much.
fn is_found(control: Mean) -> bool {
    let off = (control.mean - CONTROL_NS).abs();
    off <= CONTROL_OFF + control.half_width && control.half_width < CONTROL_NS / 2.0
}

/// The worst of each figure: the headline is no single case's, so that no case can hide behind another.
fn worse_of(a: Case, b: Case) -> Case {
    let worse = |x: Mean, y: Mean| if x.mean >= y.mean { x } else { y };
    Case {
        driver_p50: a.driver_p50.max(b.driver_p50),
        including: worse(a.including, b.including),
        excluding: worse(a.excluding, b.excluding),
        added_p50: a.added_p50.max(b.added_p50),
        added_p99: a.added_p99.max(b.added_p99),
        extra_calls: a.extra_calls.max(b.extra_calls),
        rounds: a.rounds.max(b.rounds),
    }
}

/// A second tenant that has a context, has launched once and does nothing since.
fn attached(node: &Node) -> Tenant {
    let program = Program::workload(
        "saturate",
        &["--kernel", "spin_10us", "--seconds", "3600", "--sync-every", "1", "--gap-us", "3600000000"],
    );
    let mut tenant = node.run(&["--policy", "fair"], &program);
    tenant.wait_ready();
    tenant
}

fn measure(node: &Node, call: Call, threads: u32, block: bool, rounds: u32, shim: &Path) -> Case {
    let calls = call.batch();
    let mut bare = Worker::start(node, Under::Driver, call.arguments(block), threads);
    let mut with = Worker::start(node, Under::Shim(shim), call.arguments(block), threads);
    bare.warm_up(calls);
    with.warm_up(calls);
    let (asked, before) = (with.calls(), extra_operations(node, with.pid()));
    for _ in 0..COUNTED {
        with.batch(calls);
    }
    let share = (extra_operations(node, with.pid()) - before) / (with.calls() - asked);
    let mut same_calls = (share > 0.0).then(|| imitator(node, call, block, threads, share));
    let (asked, before) = (with.calls(), extra_operations(node, with.pid()));
    let (mut including, mut excluding, mut p50s, mut p99s, mut driver) = (vec![], vec![], vec![], vec![], vec![]);
    let mut done = 0;
    while call.goes_on(done, rounds, &excluding) {
        // The order alternates too: what stands in the caches is the last one's.
        let (without, shimmed) = in_turn(done, || bare.batch(calls), || with.batch(calls));
        including.push(shimmed - without);
        excluding.push(match &mut same_calls {
            Some(same) => {
                let (without, shimmed) = in_turn(done, || same.batch(calls), || with.batch(calls));
                shimmed - without
            }
            None => shimmed - without,
        });
        let (bare_sample, with_sample) = (bare.sample(calls), with.sample(calls));
        driver.push(bare_sample.0);
        p50s.push(with_sample.0 - bare_sample.0);
        p99s.push(with_sample.1 - bare_sample.1);
        done += 1;
    }
    Case {
        driver_p50: median(&driver),
        including: mean(&including),
        excluding: mean(&excluding),
        added_p50: median(&p50s),
        added_p99: median(&p99s),
        extra_calls: (extra_operations(node, with.pid()) - before) / (with.calls() - asked),
        rounds: done,
    }
}

/// Runs both, in an order that changes with `round`.
fn in_turn(round: u32, first: impl FnOnce() -> f64, second: impl FnOnce() -> f64) -> (f64, f64) {
    if round.is_multiple_of(2) {
        let a = first();
        (a, second())
    } else {
        let b = second();
        (first(), b)
    }
}

/// A program without a shim in which `share` of the calls have a marker's driver call behind them.
fn imitator(node: &Node, call: Call, block: bool, threads: u32, share: f64) -> Worker {
    let per_1000 = format!("{:.0}", (share * 1000.0).min(1000.0));
    let arguments = [call.arguments(block), &["--writes-per-1000", &per_1000]].concat();
    let mut worker = Worker::start(node, Under::Driver, &arguments, threads);
    worker.warm_up(call.batch());
    worker
}

/// Operations of `pid` that are no launches (markers), by the witness.
#[allow(clippy::cast_precision_loss, reason = "counts of a bench fit 53 bits")]
fn extra_operations(node: &Node, pid: u32) -> f64 {
    node.witness().process(0, pid).stream_writes as f64
}

/// What the measurement finds between the shim and one that burns 50 ns more in each launch.
fn control(node: &Node, call: Call, rounds: u32, shim: &Path) -> Option<Mean> {
    let slower = std::env::var_os("MGPU_CONTROL_SHIM").map(PathBuf::from).filter(|p| p.exists());
    let slower = slower.filter(|_| call == Call::Launch)?;
    let mut usual = Worker::start(node, Under::Shim(shim), call.arguments(false), 1);
    let mut control = Worker::start(node, Under::Shim(&slower), call.arguments(false), 1);
    usual.warm_up(BATCH);
    control.warm_up(BATCH);
    let mut differences = Vec::new();
    let mut done = 0;
    while call.goes_on(done, rounds, &differences) {
        let (without, burnt) = in_turn(done, || usual.batch(BATCH), || control.batch(BATCH));
        differences.push(burnt - without);
        done += 1;
    }
    Some(mean(&differences))
}

fn row(case: &Case, threads: u32, second_tenant: bool) -> Value {
    json!({
        "threads": threads,
        "second_tenant": second_tenant,
        "driver_ns_p50": tenth(case.driver_p50),
        "added_ns_mean": tenth(case.excluding.mean),
        "interval": tenth(case.excluding.half_width),
        "including_driver_calls": tenth(case.including.mean),
        "including_interval": tenth(case.including.half_width),
        "extra_driver_calls_per_call": (case.extra_calls * 1000.0).round() / 1000.0,
        "added_ns_p50": tenth(case.added_p50),
        "added_ns_p99": tenth(case.added_p99),
        "rounds": case.rounds,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_control_that_may_be_nothing_is_not_found() {
        let found = |mean, half_width| is_found(Mean { mean, half_width });
        assert!(found(50.0, 5.0) && found(62.0, 5.0) && found(38.0, 5.0));
        assert!(!found(16.8, 5.0), "too little");
        assert!(!found(90.0, 5.0), "too much");
        assert!(!found(50.0, 60.0), "an interval that holds nothing as well");
        assert!(!found(0.0, f64::INFINITY));
    }

    #[test]
    fn rounds_are_added_until_the_interval_is_narrow() {
        let wide: Vec<f64> = (0..60).map(|i| f64::from(i % 2) * 100.0).collect();
        let narrow: Vec<f64> = (0..60).map(|i| f64::from(i % 20)).collect();
        assert!(Call::Launch.goes_on(60, 20, &wide) && !Call::Launch.goes_on(60, 20, &narrow));
        assert!(Call::Launch.goes_on(2, 2, &[5.0, 5.0]), "two equal rounds are luck");
        assert!(Call::Launch.goes_on(60, 61, &narrow) && !Call::Launch.goes_on(MOST_ROUNDS, 20, &wide));
        assert!(Call::Alloc.goes_on(20, 20, &wide) && !Call::Alloc.goes_on(60, 20, &wide));
    }
}
