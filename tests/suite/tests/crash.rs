//! Clients and coordinator killed and stopped while it matters. Judged by the witness's counts.

use mgpu_suite::measure::judged;
use mgpu_suite::node::{Node, NodeOptions};
use mgpu_suite::tenant::{Program, Tenant};
use mgpu_suite::wait;
use nix::sys::signal::Signal;
use std::time::Duration;

fn saturate(node: &Node, settings: &[&str]) -> Tenant {
    let mut tenant =
        node.run(settings, &Program::workload("saturate", &["--kernel", "spin_1000us", "--seconds", "600"]));
    tenant.wait_ready();
    tenant
}

/// Waits until `pid` has completed `more` further launches.
fn goes_on(node: &Node, pid: u32, more: u64) {
    let before = node.witness().process(0, pid).completed;
    wait::until(&format!("{more} more launches of {pid}"), || {
        (node.witness().process(0, pid).completed >= before + more).then_some(())
    });
}

/// Waits until `pid` is the one that holds the device: its launches grow while the other's stand still.
fn holds_the_turn(node: &Node, pid: u32, other: u32) {
    wait::until(&format!("a turn of {pid}"), || {
        let first = node.witness();
        std::thread::sleep(Duration::from_millis(2));
        let second = node.witness();
        let grew = |p| second.process(0, p).launches > first.process(0, p).launches;
        (grew(pid) && !grew(other)).then_some(())
    });
}

#[test]
fn the_other_goes_on_when_the_holder_is_killed() {
    let node = Node::start(NodeOptions::default());
    for _ in 0..5 {
        let mut victim = saturate(&node, &["--policy", "fair"]);
        let other = saturate(&node, &["--policy", "fair"]);
        holds_the_turn(&node, victim.pid(), other.pid());
        victim.signal(Signal::SIGKILL);
        victim.wait();
        goes_on(&node, other.pid(), 500);
    }
}

#[test]
fn the_others_go_on_when_the_holder_is_stopped() {
    let node = Node::start(NodeOptions::default());
    let stopped = saturate(&node, &["--policy", "fair"]);
    let other = saturate(&node, &["--policy", "fair"]);
    holds_the_turn(&node, stopped.pid(), other.pid());
    stopped.signal(Signal::SIGSTOP);
    goes_on(&node, other.pid(), 500);
    stopped.signal(Signal::SIGCONT);
    goes_on(&node, stopped.pid(), 200);
    goes_on(&node, other.pid(), 200);
}

#[test]
fn clients_survive_a_killed_coordinator_and_a_new_one_takes_over() {
    let mut node = Node::start(NodeOptions::default());
    let tenants = [saturate(&node, &["--share", "30", "--memory", "2GiB"]), saturate(&node, &["--share", "70"])];
    node.end_daemon(Signal::SIGKILL);
    for tenant in &tenants {
        goes_on(&node, tenant.pid(), 500);
    }
    node.start_daemon();
    for tenant in &tenants {
        goes_on(&node, tenant.pid(), 100);
    }
    let pids: Vec<u32> = tenants.iter().map(Tenant::pid).collect();
    judged("shares after a restart", &node, &pids, 100, Duration::from_secs(10), |window| {
        let got = [window.percent(pids[0]), window.percent(pids[1])];
        eprintln!("after the restart: {got:.2?}");
        assert!((got[0] - 30.0).abs() <= 1.0 && (got[1] - 70.0).abs() <= 1.0, "shares after the restart: {got:.2?}");
    });
}

#[test]
fn memory_stays_limited_while_the_coordinator_is_away() {
    let mut node = Node::start(NodeOptions::default());
    let mut tenant = node.run(&["--memory", "2GiB"], &Program::workload("alloc", &["--block-mib", "64", "--hold"]));
    tenant.wait_for_line("full");
    node.end_daemon(Signal::SIGKILL);
    let result = tenant.finish();
    assert_eq!(result["held_bytes"], 2_u64 << 30);
    assert_eq!(result["again"], "CUDA_SUCCESS", "freed memory is usable at once, coordinator or not");
    let peak = node.witness().process(0, tenant.pid()).allocated_peak;
    assert!(peak <= (2 << 30) + (2 << 20), "the device held {peak} bytes");
}

#[test]
fn a_coordinator_that_is_told_to_stop_leaves_its_clients_running() {
    let mut node = Node::start(NodeOptions::default());
    let tenant = saturate(&node, &["--policy", "fair"]);
    let other = saturate(&node, &["--policy", "fair"]);
    node.end_daemon(Signal::SIGTERM);
    goes_on(&node, tenant.pid(), 200);
    goes_on(&node, other.pid(), 200);
}
