//! How far device time by the witness is from what the shares promise, over 10 s and over each 1 s of it.

use mgpu_suite::measure::{self, Window};
use mgpu_suite::node::{Node, NodeOptions};
use mgpu_suite::tenant::{Program, Tenant};
use serde_json::{Value, json};
use std::time::Duration;

/// One case: shares (empty = fair among `tenants`), kernel, profile.
struct Case {
    shares: &'static [u32],
    kernel: &'static str,
    profile: &'static str,
}

const CASES: &[Case] = &[
    Case { shares: &[30, 70], kernel: "spin_1000us", profile: "default" },
    Case { shares: &[30, 70], kernel: "spin_100us", profile: "fast-switch" },
    Case { shares: &[30, 70], kernel: "spin_1000us", profile: "slow-switch" },
    Case { shares: &[10, 90], kernel: "spin_1000us", profile: "default" },
    Case { shares: &[50, 50], kernel: "spin_500us", profile: "default" },
    Case { shares: &[25, 25, 25, 25], kernel: "spin_1000us", profile: "default" },
    Case { shares: &[30], kernel: "spin_1000us", profile: "default" },
];

/// Runs of one case at most; the invalid ones are counted.
const TRIES: u32 = 3;

/// Runs every case for `seconds`.
pub(crate) fn run(seconds: u32) -> Value {
    let (mut worst_10s, mut worst_1s, mut invalid, mut rows) = (0.0_f64, 0.0_f64, 0, Vec::new());
    for case in CASES {
        let node = Node::start(NodeOptions { profile: case.profile.to_owned(), ..NodeOptions::default() });
        let tenants: Vec<Tenant> = case.shares.iter().map(|share| start(&node, *share, case.kernel)).collect();
        let mut tries = 0;
        let (valid, whole, second) = loop {
            tries += 1;
            let (valid, whole, second) = errors(&node, case, &tenants, seconds);
            invalid += u32::from(!valid);
            if valid || tries == TRIES {
                break (valid, whole, second);
            }
        };
        worst_10s = worst_10s.max(whole);
        worst_1s = worst_1s.max(second);
        rows.push(json!({
            "shares": case.shares, "kernel": case.kernel, "profile": case.profile, "valid": valid,
            "error_points_10s": hundredth(whole), "error_points_1s": hundredth(second),
        }));
    }
    json!({"max_error_points_10s": hundredth(worst_10s), "max_error_points_1s": hundredth(worst_1s), "invalid_runs": invalid, "cases": rows})
}

fn start(node: &Node, share: u32, kernel: &str) -> Tenant {
    let program = Program::workload("saturate", &["--kernel", kernel, "--seconds", "3600"]);
    let mut tenant = node.run(&["--share", &share.to_string()], &program);
    tenant.wait_ready();
    tenant
}

/// (valid, largest error over the whole window, largest over a second of it), in points.
fn errors(node: &Node, case: &Case, tenants: &[Tenant], seconds: u32) -> (bool, f64, f64) {
    let pids: Vec<u32> = tenants.iter().map(Tenant::pid).collect();
    let granted = case.shares.iter().sum();
    let windows: Vec<Window> =
        (0..seconds).map(|_| measure::window(node, 0, &pids, granted, Duration::from_secs(1))).collect();
    let valid = windows.iter().map(|w| w.delay_in_idle_ns).sum::<u64>() * 1_000_000
        <= windows.iter().map(|w| w.elapsed_ns).sum::<u64>() * 3_000;
    let worst = |pick: &dyn Fn(u32) -> f64| {
        pids.iter().zip(case.shares).map(|(pid, share)| (pick(*pid) - f64::from(*share)).abs()).fold(0.0, f64::max)
    };
    let whole = worst(&|pid| total_percent(&windows, pid));
    let second = windows.iter().map(|w| worst(&|pid| w.percent(pid))).fold(0.0, f64::max);
    (valid, whole, second)
}

#[allow(clippy::cast_precision_loss, reason = "nanoseconds of a bench fit 53 bits")]
fn total_percent(windows: &[Window], pid: u32) -> f64 {
    let busy: u64 = windows.iter().filter_map(|w| w.busy_ns.get(&pid)).sum();
    let elapsed: u64 = windows.iter().map(|w| w.elapsed_ns).sum();
    busy as f64 * 100.0 / elapsed as f64
}

fn hundredth(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}
