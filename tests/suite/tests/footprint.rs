//! What the shim costs a process beside its calls: under 4 MiB resident, whether the process uses CUDA or not. Start-up time is a
//! benchmark (`scripts/bench process-cost`).

use mgpu_suite::node::{Node, NodeOptions};
use mgpu_suite::tenant::{Program, Tenant};
use mgpu_suite::wait;

/// What a process may have more with the shim than without, KiB.
const MOST_KIB: u64 = 4 << 10;

/// VmRSS: pages of files and shared memory count for each process that touched them.
fn resident_kib(tenant: &Tenant) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", tenant.pid())).expect("the process lives");
    let line = status.lines().find(|line| line.starts_with("VmRSS")).expect("VmRSS");
    line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).expect("a number")
}

/// Resident memory with the shim and without, of processes for which `is_ready` said yes.
fn compare(program: &Program, is_ready: impl Fn(&Node, &mut Tenant)) {
    let node = Node::start(NodeOptions::default());
    let mut bare = node.run_bare(program);
    let mut with = node.run(&["--memory", "1GiB"], program);
    is_ready(&node, &mut bare);
    is_ready(&node, &mut with);
    let (bare, with) = (resident_kib(&bare), resident_kib(&with));
    assert!(with > bare, "the shim is not there: {with} KiB with it, {bare} without");
    assert!(with - bare < MOST_KIB, "{with} KiB with the shim, {bare} without");
}

#[test]
fn the_shim_is_small_in_a_process_without_cuda() {
    compare(&Program::new("/bin/sh".into(), &["-c", "echo ready; while :; do sleep 1; done"]), |_, shell| {
        shell.wait_ready();
    });
}

#[test]
fn the_shim_is_small_in_a_client() {
    let program = Program::workload("saturate", &["--kernel", "spin_100us", "--seconds", "600"]);
    compare(&program, |node, client| {
        client.wait_ready();
        wait::until("a thousand launches", || (node.witness().process(0, client.pid()).completed > 1000).then_some(()));
    });
}
