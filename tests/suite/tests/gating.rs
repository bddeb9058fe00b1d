//! Who waits and who doesn't: at a closed gate every way of putting work on the device and nothing else, at a full window not for
//! good. Judged by which calls have returned, and by the witness's count of launches.

use mgpu_suite::node::{Node, NodeOptions};
use mgpu_suite::tenant::{Program, Tenant};
use mgpu_suite::wait;
use nix::sys::signal::Signal;

fn names(tenant: &Tenant, kind: &str) -> Vec<String> {
    tenant.lines().iter().filter_map(|line| line.strip_prefix(kind)).map(str::to_owned).collect()
}

/// An offline tenant calls each function while an online one works: what runs on the device waits until that one has ended, what
/// doesn't returns meanwhile.
#[test]
fn every_launch_path_waits_at_a_closed_gate_and_nothing_else_does() {
    let node = Node::start(NodeOptions::default());
    let mut offline = node.run(&["--class", "offline"], &Program::workload("paths", &[]));
    offline.wait_ready();
    let mut online = node
        .run(&["--class", "online"], &Program::workload("saturate", &["--kernel", "spin_1000us", "--seconds", "600"]));
    online.wait_ready();
    let launched = node.witness().process(0, offline.pid()).launches;
    offline.signal(Signal::SIGTERM);
    wait::until("what never waits", || (names(&offline, "free ").len() == 9).then_some(()));
    // Time for the others to get past a gate that isn't there.
    let worked = node.witness().process(0, online.pid()).completed;
    wait::until("300 more online launches", || {
        (node.witness().process(0, online.pid()).completed >= worked + 300).then_some(())
    });
    assert_eq!(names(&offline, "gated "), Vec::<String>::new(), "these didn't wait at the closed gate");
    assert_eq!(node.witness().process(0, offline.pid()).launches, launched, "launched while online worked");
    let _ = online.finish();
    let result = offline.result();
    assert_eq!(result["gated"], 62, "all of them return once the device is free");
    assert!(node.witness().unimplemented.is_empty(), "{:?}", node.witness().unimplemented);
}

/// While the device is shared a program may queue only so much; but what it waits for there may be held up by itself (a kernel that
/// waits for one that isn't launched yet), so such a wait ends at its cap and the launch passes.
#[test]
fn a_wait_at_a_full_window_ends_at_its_cap() {
    let node = Node::start(NodeOptions::default());
    let _other = node.run(&["--policy", "fair"], &Program::new("/bin/sleep".into(), &["600"]));
    wait::until("the other tenant", || (node.rows().len() == 1).then_some(()));
    let long = Program::workload("saturate", &["--kernel", "spin_5000000us", "--seconds", "600"]);
    let mut tenant = node.run(&["--policy", "fair"], &long);
    tenant.wait_ready();
    wait::until("eight more launches while one kernel runs", || {
        let now = node.witness().process(0, tenant.pid());
        (now.launches - now.completed >= 8).then_some(())
    });
}
