//! What the shim adds to one call: the same program with and without it, batches in alternation, CPU time of the calling
//! threads, on a profile whose driver calls cost nothing beside their own code.
//!
//! *Including* is the plain difference. *Excluding* takes off the extra driver calls that the shim makes (markers): their number by
//! the witness times what one costs, measured in the same run without a shim. A control shim that burns 50 ns more must be
//! found to do so, else the run could not have seen the figure that it reports.

use crate::stats::{Mean, mean, median, tenth};
use crate::syscalls;
use crate::worker::{Under, Worker};
use mgpu_suite::node::{Node, NodeOptions};
use mgpu_suite::paths;
use mgpu_suite::tenant::{Program, Tenant};
use serde_json::{Value, json};
use std::path::Path;

/// Calls in one batch of one thread: below the hardware queue's depth, so that no call waits for the queue.
const BATCH: u32 = 256;
/// Extra cost of the control shim, ns.
const CONTROL_NS: f64 = 50.0;

/// Which call is measured.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Call {
    Launch,
    Alloc,
}

impl Call {
    /// What is asked of `call_bench`. Small allocations need no round trip of the simulated driver, so that what is added shows;
    /// one of a whole driver block does, and is measured on one thread only: more would time each other's round trips.
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
}

/// One case's differences.
struct Case {
    driver_p50: f64,
    including: Mean,
    excluding: Mean,
    added_p50: f64,
    added_p99: f64,
    extra_calls: f64,
}

/// All cases of a suite; `rounds` alternating batches each.
pub(crate) fn run(call: Call, rounds: u32) -> Value {
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
            cases.push(row);
            worst = Some(match worst {
                Some(so_far) => worse_of(so_far, case),
                None => case,
            });
        }
    }
    let worst = worst.expect("there are cases");
    let control = control(&node, call, rounds, &shim);
    let syscalls = syscalls::added_per_call(&node, &shim, call.arguments(false));
    json!({
        "driver_ns_p50": tenth(worst.driver_p50),
        "added_ns_mean": tenth(worst.excluding.mean),
        "added_ns_mean_interval": tenth(worst.excluding.half_width),
        "added_ns_mean_including_driver_calls": tenth(worst.including.mean),
        "added_ns_p50": tenth(worst.added_p50),
        "added_ns_p99": tenth(worst.added_p99),
        "syscalls_per_call": syscalls,
        "control_added_ns": control.map(|c| tenth(c.mean)),
        "control_found": control.map(|c| (c.mean - CONTROL_NS).abs() <= c.half_width.max(15.0)),
        "cases": cases,
    })
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
    let mut bare = Worker::start(node, Under::Driver, call.arguments(block), threads);
    let mut with = Worker::start(node, Under::Shim(shim), call.arguments(block), threads);
    let calls = call.batch();
    for _ in 0..3 {
        bare.batch(calls);
        with.batch(calls);
    }
    let extra_before = extra_operations(node, with.pid());
    let (mut means, mut p50s, mut p99s, mut driver) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rounds {
        let without = bare.batch(calls);
        means.push(with.batch(calls) - without);
        let (bare_sample, with_sample) = (bare.sample(calls), with.sample(calls));
        driver.push(bare_sample.0);
        p50s.push(with_sample.0 - bare_sample.0);
        p99s.push(with_sample.1 - bare_sample.1);
    }
    let made = f64::from(rounds) * f64::from(calls) * 2.0 * f64::from(threads);
    let extra_calls = (extra_operations(node, with.pid()) - extra_before) / made;
    let including = mean(&means);
    let cost = if extra_calls > 0.0 { marker_cost(node, rounds) } else { 0.0 };
    let excluding = Mean { mean: including.mean - extra_calls * cost, ..including };
    Case {
        driver_p50: median(&driver),
        including,
        excluding,
        added_p50: median(&p50s),
        added_p99: median(&p99s),
        extra_calls,
    }
}

/// Operations of `pid` that are no launches (markers), by the witness.
#[allow(clippy::cast_precision_loss, reason = "counts of a bench fit 53 bits")]
fn extra_operations(node: &Node, pid: u32) -> f64 {
    node.witness().process(0, pid).stream_writes as f64
}

/// What one `cuStreamWriteValue32` costs without a shim, ns.
fn marker_cost(node: &Node, rounds: u32) -> f64 {
    let mut worker = Worker::start(node, Under::Driver, &["--call", "write"], 1);
    worker.batch(BATCH);
    let costs: Vec<f64> = (0..rounds.min(50)).map(|_| worker.batch(BATCH)).collect();
    median(&costs)
}

/// What the measurement finds between the shim and one that burns 50 ns more in each launch.
fn control(node: &Node, call: Call, rounds: u32, shim: &Path) -> Option<Mean> {
    let slower = std::env::var_os("MGPU_CONTROL_SHIM").map(std::path::PathBuf::from).filter(|p| p.exists());
    let slower = slower.filter(|_| call == Call::Launch)?;
    let mut usual = Worker::start(node, Under::Shim(shim), call.arguments(false), 1);
    let mut control = Worker::start(node, Under::Shim(&slower), call.arguments(false), 1);
    usual.batch(BATCH);
    control.batch(BATCH);
    let differences: Vec<f64> = (0..rounds)
        .map(|_| {
            let without = usual.batch(BATCH);
            control.batch(BATCH) - without
        })
        .collect();
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
        "extra_driver_calls_per_call": (case.extra_calls * 1000.0).round() / 1000.0,
        "added_ns_p50": tenth(case.added_p50),
        "added_ns_p99": tenth(case.added_p99),
    })
}
