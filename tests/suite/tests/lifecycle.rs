//! `mgpu run` without a daemon, `ps`, `set`, `version`; a coordinator that nobody needs costs nothing.

use mgpu_suite::node::{Node, NodeOptions};
use mgpu_suite::tenant::{Program, Tenant};
use mgpu_suite::{paths, wait};
use std::path::Path;
use std::process::Command;

/// A `mgpu` command of a user without any daemon: its own runtime folder, the simulated NVML.
fn user_mgpu(node: &Node, runtime: &Path) -> Command {
    let mut command = Command::new(paths::release("mgpu"));
    node.environment(&mut command);
    command.env("XDG_RUNTIME_DIR", runtime).env("MGPU_NVML", paths::sim_lib().join("libnvidia-ml.so.1"));
    command.env_remove("MGPU_RUNTIME_DIR");
    command
}

#[test]
fn run_starts_a_coordinator_that_goes_with_its_last_tenant() {
    let node = Node::without_daemon(NodeOptions::default());
    let runtime = tempfile::tempdir().expect("a folder");
    let program = Program::workload("saturate", &["--kernel", "spin_1000us", "--seconds", "600"]);
    let mut command = user_mgpu(&node, runtime.path());
    command.args(["run", "--memory", "1GiB", "--"]).args(program.words());
    let mut tenant = Tenant::spawn(command, &program);
    tenant.wait_ready();
    let rows = user_mgpu(&node, runtime.path()).args(["ps", "--json"]).output().expect("mgpu runs");
    let rows: serde_json::Value = serde_json::from_slice(&rows.stdout).expect("JSON");
    assert_eq!(rows.as_array().map(Vec::len), Some(1), "{rows}");
    assert_eq!(rows[0]["memory_limit"], 1_u64 << 30);
    let _ = tenant.finish();
    wait::until("the coordinator's end", || (!runtime.path().join("mgpu/control.sock").exists()).then_some(()));
}

/// Declared by hand, before anybody coordinates: limited at once, a tenant like others once a coordinator comes.
#[test]
fn a_process_that_declares_itself_finds_a_coordinator_that_comes_later() {
    let config = "declared_tenants = \"allow\"".to_owned();
    let mut node = Node::without_daemon(NodeOptions { config, ..NodeOptions::default() });
    let program = Program::workload("alloc", &["--block-mib", "64", "--hold"]);
    let mut tenant = node.run_injected(&[("MGPU_MEMORY", "1GiB"), ("MGPU_NAME", "early")], &program);
    tenant.wait_for_line("full");
    assert_eq!(node.witness().process(0, tenant.pid()).allocated, 1 << 30);
    node.start_daemon();
    let row = wait::until("its row", || {
        let output = node.mgpu().args(["ps", "--json"]).output().expect("mgpu runs");
        let rows: Vec<serde_json::Value> = serde_json::from_slice(&output.stdout).ok()?;
        rows.into_iter().find(|row| row["name"] == "early" && row["memory_used"] == 1_u64 << 30)
    });
    assert_eq!(row["memory_limit"], 1_u64 << 30, "{row}");
    tenant.signal(nix::sys::signal::Signal::SIGTERM);
    assert!(tenant.wait().success(), "{}", tenant.errors().join("\n"));
}

#[test]
fn version_names_every_part() {
    let node = Node::start(NodeOptions::default());
    let output = node.mgpu().arg("version").output().expect("mgpu runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    for part in ["mgpu", "mgpud", "shim", "page", "driver"] {
        assert!(text.contains(part), "no {part} in:\n{text}");
    }
}

#[test]
fn exit_status_and_output_of_the_program_are_its_own() {
    let node = Node::start(NodeOptions::default());
    let output =
        node.mgpu().args(["run", "--", "sh", "-c", "echo out; echo err >&2; exit 7"]).output().expect("mgpu runs");
    assert_eq!(output.status.code(), Some(7));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "out\n");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "err\n");
}

/// A child that was forked after its parent had initialised the driver gets what the driver says to such a child, at once, though the
/// parent's gate is closed; and nothing that it does is its parent's.
#[test]
fn a_forked_child_is_none_of_its_parents_business() {
    let node = Node::start(NodeOptions::default());
    let program = Program::workload("fork", &[]);
    let mut bare = node.run_bare(&program);
    bare.wait_ready();
    let without = bare.finish();
    let mut parent = node.run(&["--class", "offline", "--memory", "1GiB"], &program);
    parent.wait_ready();
    let saturate = Program::workload("saturate", &["--kernel", "spin_1000us", "--seconds", "600"]);
    let mut online = node.run(&["--class", "online"], &saturate);
    online.wait_ready();
    let with = parent.finish();
    assert_eq!(without, with);
    assert_eq!((&with["status"], &with["lost"]), (&0.into(), &0.into()), "{with}");
}

/// With one saturating tenant nobody competes: the coordinator must not wake up. Counted by the kernel.
#[test]
fn a_coordinator_sleeps_while_nobody_competes() {
    let node = Node::start(NodeOptions::default());
    let tenant = node
        .run(&["--policy", "fair"], &Program::workload("saturate", &["--kernel", "spin_1000us", "--seconds", "600"]));
    let completed = |at_least: u64| {
        wait::until("launches", || {
            let now = node.witness().process(0, tenant.pid()).completed;
            (now >= at_least).then_some(now)
        })
    };
    let settled = completed(500);
    let before = wakeups(node.daemon_pid());
    completed(settled + 2000);
    let woken = wakeups(node.daemon_pid()) - before;
    // About 2 s of work; a state file each second and the like is fine, polling is not.
    assert!(woken <= 40, "mgpud woke up {woken} times while a sole tenant launched 2000 kernels");
}

fn wakeups(pid: u32) -> u64 {
    let Ok(tasks) = std::fs::read_dir(format!("/proc/{pid}/task")) else { return 0 };
    let number = |line: &str| line.split_whitespace().nth(1).and_then(|n| n.parse::<u64>().ok()).unwrap_or(0);
    tasks
        .flatten()
        .filter_map(|task| std::fs::read_to_string(task.path().join("status")).ok())
        .flat_map(|text| text.lines().filter(|l| l.contains("voluntary_ctxt_switches")).map(number).collect::<Vec<_>>())
        .sum()
}

#[test]
fn the_coordinator_is_small() {
    let node = Node::start(NodeOptions::default());
    let status = std::fs::read_to_string(format!("/proc/{}/status", node.daemon_pid())).expect("its status");
    let kib: u64 = status
        .lines()
        .find_map(|l| l.strip_prefix("VmRSS:"))
        .and_then(|l| l.split_whitespace().next())
        .and_then(|n| n.parse().ok())
        .expect("VmRSS");
    assert!(kib < 20 * 1024, "mgpud has {kib} KiB resident, 20 MiB are allowed");
}
