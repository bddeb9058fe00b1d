//! Online beside offline, by the witness: offline has the device before, nothing new while online works, and again after.

use mgpu_suite::measure::judged;
use mgpu_suite::node::{Node, NodeOptions};
use mgpu_suite::tenant::{Program, Tenant};
use mgpu_suite::wait;
use std::time::Duration;

/// The defaults of `hold` and `slice_max`.
const HOLD_NS: u64 = 100_000_000;
const SLICE_NS: u64 = 50_000_000;
/// A thread that the machine stops between the gate and the driver may land one launch after a revoke (DESIGN §6).
const LATE: u64 = 1;
const WINDOW: Duration = Duration::from_secs(3);

fn run(node: &Node, class: &str, args: &[&str]) -> Tenant {
    let mut tenant = node.run(&["--class", class], &Program::workload("saturate", args));
    tenant.wait_ready();
    tenant
}

/// `tenant` must have at least 90 % of the device.
fn has_the_device(what: &str, node: &Node, tenant: &Tenant) {
    judged(what, node, &[tenant.pid()], 100, WINDOW, |window| {
        let got = window.percent(tenant.pid());
        eprintln!("{what}: {got:.2} %");
        assert!(got >= 90.0 - window.slack_points(), "{what}: had {got:.1} % of the device");
    });
}

#[test]
fn offline_runs_only_while_online_has_no_work() {
    for profile in ["default", "fast-switch", "slow-switch"] {
        let node = Node::start(NodeOptions { profile: profile.to_owned(), ..NodeOptions::default() });
        let offline = run(&node, "offline", &["--kernel", "spin_1000us", "--seconds", "600"]);
        has_the_device(&format!("{profile}: offline alone"), &node, &offline);

        let mut online = run(&node, "online", &["--kernel", "spin_1000us", "--seconds", "600"]);
        // What was already submitted when the online work came may still run out; then nothing.
        let launched = settled_launches(&node, offline.pid());
        has_the_device(&format!("{profile}: online beside offline"), &node, &online);
        let beside = node.witness().process(0, offline.pid()).launches;
        assert!(beside <= launched + LATE, "{profile}: offline launched while online worked");

        let _ = online.finish();
        wait::until("offline launches after the hold", || {
            (node.witness().process(0, offline.pid()).launches > launched).then_some(())
        });
        has_the_device(&format!("{profile}: offline after online"), &node, &offline);
    }
}

/// Launches of `pid` once nothing of it is queued any more and its count stands still.
fn settled_launches(node: &Node, pid: u32) -> u64 {
    wait::until("the offline tenant's leftovers to run out", || {
        let first = node.witness().process(0, pid);
        std::thread::sleep(Duration::from_millis(100));
        let second = node.witness().process(0, pid);
        (first.launches == second.launches && second.launches == second.completed).then_some(second.launches)
    })
}

/// An online tenant with gaps shorter than the hold keeps the device; the offline one gets nothing in the gaps.
#[test]
fn gaps_shorter_than_the_hold_stay_with_the_online_class() {
    let node = Node::start(NodeOptions::default());
    let offline = run(&node, "offline", &["--kernel", "spin_1000us", "--seconds", "600"]);
    let online = run(
        &node,
        "online",
        &["--kernel", "spin_1000us", "--seconds", "600", "--sync-every", "5", "--gap-us", "10000"],
    );
    let launched = settled_launches(&node, offline.pid());
    let worked = node.witness().process(0, online.pid()).completed;
    wait::until("200 more online launches", || {
        (node.witness().process(0, online.pid()).completed >= worked + 200).then_some(())
    });
    let within = node.witness().process(0, offline.pid()).launches;
    assert!(within <= launched + LATE, "offline launched within the hold");
}

/// The hold lasts as long as it says, no longer: the device stands idle for the hold after the last online work and at most a slice
/// more, then offline has it; also if the online program waits for nothing that it has launched, so that somebody else has to find out
/// when that is over. The median of several pauses, since a single one is the machine's doing too.
#[test]
fn offline_has_the_device_again_after_the_hold() {
    for (what, burst) in [
        ("synchronised", ["--kernel", "spin_1000us", "--sync-every", "5", "--no-sync", "0"]),
        ("not synchronised", ["--kernel", "spin_20us", "--sync-every", "50", "--no-sync", "1"]),
    ] {
        let node = Node::start(NodeOptions::default());
        let offline = run(&node, "offline", &["--kernel", "spin_1000us", "--seconds", "600"]);
        let args = [&burst[..], &["--seconds", "600", "--gap-us", "400000"]].concat();
        let online = run(&node, "online", &args);
        let each: u64 = burst[3].parse().expect("a number");
        let (since, worked) = (node.witness().now_ns, node.witness().process(0, online.pid()).completed);
        wait::until("ten pauses of the online tenant", || {
            (node.witness().process(0, online.pid()).completed >= worked + 10 * each).then_some(())
        });
        let lengths = node.idle_spans(0, since).into_iter().map(|span| span.end_ns - span.start_ns);
        let mut pauses: Vec<u64> = lengths.filter(|length| *length > HOLD_NS / 2).map(|length| length / 1000).collect();
        pauses.sort_unstable();
        eprintln!("{what}: idle after online work, us: {pauses:?}");
        assert!(pauses.len() >= 8, "{what}: {} pauses of ten were left to the hold", pauses.len());
        let median = pauses[pauses.len() / 2] * 1000;
        assert!((HOLD_NS * 95 / 100..=HOLD_NS + SLICE_NS).contains(&median), "{what}: the hold took {median} ns");
        drop(offline);
    }
}

/// An online launch doesn't wait until offline has drained: it gets its part of the device beside a long offline kernel that runs.
#[test]
fn an_online_launch_does_not_wait_for_the_take_over() {
    // So that the deadline ends no wait that should not be.
    let config = "drain_deadline = \"60s\"".to_owned();
    let node = Node::start(NodeOptions { config, ..NodeOptions::default() });
    let offline = run(&node, "offline", &["--kernel", "spin_5000000us", "--seconds", "600"]);
    let completed = || node.witness().process(0, offline.pid()).completed;
    let before = completed();
    wait::until("a long kernel to begin", || (completed() > before).then_some(()));
    let begun = completed();
    let online = run(&node, "online", &["--kernel", "spin_50us", "--seconds", "600"]);
    wait::until("200 online kernels", || (node.witness().process(0, online.pid()).completed >= 200).then_some(()));
    assert_eq!(completed(), begun, "online kernels waited for the offline one");
}
