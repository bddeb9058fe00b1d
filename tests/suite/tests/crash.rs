//! Clients and coordinator killed and stopped while it matters. Judged by the witness's counts.

use mgpu_suite::measure::judged;
use mgpu_suite::node::{Node, NodeOptions};
use mgpu_suite::tenant::{Program, Tenant};
use mgpu_suite::wait;
use nix::sys::signal::Signal;
use std::time::Duration;

/// The default of `drain_deadline`.
const DRAIN_DEADLINE_NS: u64 = 100_000_000;

fn saturate(node: &Node, settings: &[&str]) -> Tenant {
    let mut tenant =
        node.run(settings, &Program::workload("saturate", &["--kernel", "spin_1000us", "--seconds", "600"]));
    tenant.wait_ready();
    tenant
}

/// Waits until `pid` has launched `more` kernels more, and as many have completed: those that it had queued when nobody held it
/// back say nothing.
fn goes_on(node: &Node, pid: u32, more: u64) {
    let before = node.witness().process(0, pid);
    wait::until(&format!("{more} more launches of {pid}"), || {
        let now = node.witness().process(0, pid);
        (now.launches >= before.launches + more && now.completed >= before.completed + more).then_some(())
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

/// The other goes on, and at once: a dead client is not waited for until its deadline. How long the device stood idle is the
/// machine's doing too, so that is judged by the median of the rounds.
#[test]
fn the_other_goes_on_when_the_holder_is_killed() {
    let node = Node::start(NodeOptions::default());
    let mut idle = Vec::new();
    for _ in 0..5 {
        let mut victim = saturate(&node, &["--policy", "fair"]);
        let other = saturate(&node, &["--policy", "fair"]);
        holds_the_turn(&node, victim.pid(), other.pid());
        let killed = node.witness().now_ns;
        victim.signal(Signal::SIGKILL);
        victim.wait();
        goes_on(&node, other.pid(), 500);
        let longest = node.idle_spans(0, killed).iter().map(|span| span.end_ns - span.start_ns.max(killed)).max();
        idle.push(longest.unwrap_or(0));
        // Its turn, its want and its lines are gone with it.
        assert_eq!(node.rows().len(), 1, "only the living tenant is left");
    }
    idle.sort_unstable();
    eprintln!("longest idle time after each kill, ns: {idle:?}");
    assert!(idle[2] < DRAIN_DEADLINE_NS, "the device stood idle for {idle:?} ns after the kills");
}

/// Stopped between the gate and the return of the driver's launch, with a long queue that has no marker: the coordinator can't know
/// when it is done, and lets the other in at the drain deadline, long before the queue has run out.
#[test]
fn the_others_go_on_when_the_holder_is_stopped_inside_a_launch() {
    let node = Node::start(NodeOptions::default());
    let long = Program::workload("saturate", &["--kernel", "spin_2000us", "--seconds", "600"]);
    let mut stopped = node.run(&["--policy", "fair"], &long);
    stopped.wait_ready();
    let queued = || {
        let now = node.witness().process(0, stopped.pid());
        now.launches - now.completed
    };
    // Alone it may queue as much as the driver takes; from then on it is in a launch nearly always.
    wait::until("a full queue", || (queued() >= 900).then_some(()));
    stopped.signal(Signal::SIGSTOP);
    let other = saturate(&node, &["--policy", "fair"]);
    assert!(queued() > 0, "the other had to wait until the stopped one's queue had run out");
    goes_on(&node, other.pid(), 4000);
    // It can't answer, and is not pestered until its socket is full: however long it is stopped, it stays attached.
    let clients = |row: &serde_json::Value| row["clients"].as_array().is_some_and(|all| !all.is_empty());
    assert!(node.rows().iter().all(clients), "the stopped client has lost its place: {:?}", node.rows());
    stopped.signal(Signal::SIGCONT);
    goes_on(&node, stopped.pid(), 200);
    goes_on(&node, other.pid(), 200);
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
        let tolerance = 1.0 + window.slack_points();
        let right = (got[0] - 30.0).abs() <= tolerance && (got[1] - 70.0).abs() <= tolerance;
        assert!(right, "shares after the restart: {got:.2?}, tolerance {tolerance:.2}");
    });
}

/// MiB that the tenant's growing process holds after it was told to allocate until it is refused, for the `fills`th time.
fn fill_again(tenant: &Tenant, fills: usize) -> u64 {
    tenant.signal(Signal::SIGUSR1);
    wait::until("a fill", || {
        let lines = tenant.lines();
        let mut held = lines.iter().filter_map(|line| line.strip_prefix("held ")?.parse().ok());
        held.nth(fills - 1)
    })
}

/// Without the coordinator the tenant's processes share what it had given to them, and no more; with the next one they have the
/// whole limit again, of which not a byte is lost or made.
#[test]
fn memory_stays_limited_while_the_coordinator_is_away() {
    let mut node = Node::start(NodeOptions::default());
    let mut tenant =
        node.run(&["--memory", "2GiB"], &Program::workload("ends", &["--how", "sibling", "--block-mib", "2"]));
    tenant.wait_ready();
    node.end_daemon(Signal::SIGKILL);
    // A sibling has had 1 GiB and uses one block of it.
    let away = fill_again(&tenant, 1);
    assert!((1022..=2046).contains(&away), "without a coordinator {away} MiB could be allocated");
    node.start_daemon();
    let mut fills = 1;
    wait::until("the whole limit", || {
        fills += 1;
        let held = fill_again(&tenant, fills);
        let on_device: u64 = node.witness().devices[0].processes.iter().map(|p| p.allocated).sum();
        assert!(
            held <= 2046 && on_device <= 2 << 30,
            "{held} MiB could be allocated, the device held {on_device} bytes"
        );
        (held == 2046).then_some(())
    });
    // Once more, now that every client of the last coordinator has told what it uses.
    assert_eq!(fill_again(&tenant, fills + 1), 2046);
}

#[test]
fn freed_memory_is_usable_while_the_coordinator_is_away() {
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

/// `without_coordinator = "closed"`: a gate that was closed stays so.
#[test]
fn closed_gates_stay_closed_without_a_coordinator_if_the_operator_says_so() {
    let config = "without_coordinator = \"closed\"".to_owned();
    let mut node = Node::start(NodeOptions { config, ..NodeOptions::default() });
    let offline = saturate(&node, &["--class", "offline"]);
    let online = saturate(&node, &["--class", "online"]);
    goes_on(&node, online.pid(), 200);
    let launched = node.witness().process(0, offline.pid()).launches;
    node.end_daemon(Signal::SIGKILL);
    goes_on(&node, online.pid(), 500);
    // One thread may have been on its way from the gate to the driver.
    assert!(node.witness().process(0, offline.pid()).launches <= launched + 1, "a closed gate was passed");
    node.start_daemon();
    goes_on(&node, online.pid(), 200);
    drop(online);
    goes_on(&node, offline.pid(), 200);
}

/// The GPU goes (its server is killed) under two tenants that share it: each gets the driver's error and ends, also the one that
/// stands at a closed gate with work that will never complete. The coordinator lives and answers.
#[test]
fn tenants_end_with_the_drivers_error_when_the_gpu_has_gone() {
    let node = Node::start(NodeOptions::default());
    let mut tenants = [saturate(&node, &["--policy", "fair"]), saturate(&node, &["--policy", "fair"])];
    let (first, second) = (tenants[0].pid(), tenants[1].pid());
    holds_the_turn(&node, first, second);
    let sim = nix::unistd::Pid::from_raw(i32::try_from(node.sim_pid()).expect("pids fit i32"));
    nix::sys::signal::kill(sim, Signal::SIGKILL).expect("the server is killed");
    // Panics if `mgpu ps` doesn't answer.
    assert!(node.rows().len() <= 2);
    for tenant in &mut tenants {
        let status = tenant.wait();
        let said = tenant.errors().join("\n");
        assert!(!status.success() && said.contains("cuLaunchKernel"), "{status}: {said}");
    }
    wait::until("the coordinator to have none left", || node.rows().is_empty().then_some(()));
}
