//! Online beside offline, by the witness: offline has the device before, nothing new while online works, and again after.

use mgpu_suite::measure::valid_window;
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

#[test]
fn offline_runs_only_while_online_has_no_work() {
    for profile in ["default", "fast-switch", "slow-switch"] {
        let node = Node::start(NodeOptions { profile: profile.to_owned(), ..NodeOptions::default() });
        let offline = run(&node, "offline", &["--kernel", "spin_1000us", "--seconds", "600"]);
        let before = valid_window(&node, 0, &[offline.pid()], WINDOW);
        assert!(
            before.percent(offline.pid()) >= 90.0,
            "{profile}: offline alone had {:.1} %",
            before.percent(offline.pid())
        );

        let mut online = run(&node, "online", &["--kernel", "spin_1000us", "--seconds", "600"]);
        // What was already submitted when the online work came may still run out; then nothing.
        let launched = settled_launches(&node, offline.pid());
        let beside = valid_window(&node, 0, &[online.pid()], WINDOW);
        let offline_beside = node.witness().process(0, offline.pid());
        assert_eq!(offline_beside.launches, launched, "{profile}: offline launched while online worked");
        assert!(beside.percent(online.pid()) >= 90.0, "{profile}: online had {:.1} %", beside.percent(online.pid()));

        let _ = online.finish();
        wait::until("offline launches after the hold", || {
            (node.witness().process(0, offline.pid()).launches > launched).then_some(())
        });
        let after = valid_window(&node, 0, &[offline.pid()], WINDOW);
        assert!(
            after.percent(offline.pid()) >= 90.0,
            "{profile}: offline after online had {:.1} %",
            after.percent(offline.pid())
        );
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
    let window = valid_window(&node, 0, &[online.pid()], WINDOW);
    assert!(window.percent(online.pid()) > 10.0, "the online tenant worked");
    assert_eq!(node.witness().process(0, offline.pid()).launches, launched, "offline launched within the hold");
}
