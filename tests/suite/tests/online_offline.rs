//! Online beside offline, by the witness: offline has the device before, nothing new while online works, and again after.

use mgpu_suite::measure::judged;
use mgpu_suite::node::{Node, NodeOptions};
use mgpu_suite::tenant::{Program, Tenant};
use mgpu_suite::wait;
use std::time::Duration;

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
        assert!(got >= 90.0, "{what}: had {got:.1} % of the device");
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
        assert_eq!(beside, launched, "{profile}: offline launched while online worked");

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
    assert_eq!(node.witness().process(0, offline.pid()).launches, launched, "offline launched within the hold");
}
