//! Bad input gets an error that names the value and the valid range, and starts nothing.

use mgpu_suite::node::{Node, NodeOptions};
use mgpu_suite::tenant::Program;
use mgpu_suite::{paths, wait};
use std::process::{Command, Output};

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// `mgpu run` with `settings` must fail, name each of `names`, and not start the program.
fn refused(node: &Node, settings: &[&str], names: &[&str]) {
    let marker = node.file("started");
    let output = node.mgpu().arg("run").args(settings).arg("--").arg("touch").arg(&marker).output().expect("mgpu runs");
    let message = text(&output);
    assert!(!output.status.success(), "{settings:?} was accepted");
    for name in names {
        assert!(message.contains(name), "{settings:?}: the message doesn't name {name:?}:\n{message}");
    }
    assert!(!marker.exists(), "{settings:?} started the program");
    let rows = node.mgpu().args(["ps", "--json"]).output().expect("mgpu runs");
    let rows: serde_json::Value = serde_json::from_slice(&rows.stdout).expect("JSON");
    let count = rows.as_array().map_or(0, Vec::len);
    assert_eq!(count, 0, "{settings:?} left a tenant behind: {rows}");
}

#[test]
fn shares_out_of_range_are_refused() {
    let node = Node::start(NodeOptions::default());
    refused(&node, &["--share", "0"], &["0", "1 to 100"]);
    refused(&node, &["--share", "101"], &["101", "100"]);
    refused(&node, &["--share", "30.5"], &["30.5", "whole"]);
    refused(&node, &["--share", "0.3"], &["0.3", "30"]);
    refused(&node, &["--share=-1"], &["-1", "1 to 100"]);
    refused(&node, &["--share", "x"], &["x", "1 to 100"]);
}

#[test]
fn memory_out_of_range_is_refused() {
    let node = Node::start(NodeOptions::default());
    refused(&node, &["--memory", "0"], &["0", "256MiB"]);
    refused(&node, &["--memory=-1"], &["-1"]);
    refused(&node, &["--memory", "100MiB"], &["100MiB", "256MiB"]);
    refused(&node, &["--memory", "4 GB"], &["4 GB", "MiB"]);
    refused(&node, &["--memory", "100TiB"], &["100TiB"]);
    refused(&node, &["--memory", "lots"], &["lots", "GiB"]);
}

#[test]
fn unknown_names_are_refused() {
    let node = Node::start(NodeOptions::default());
    refused(&node, &["--policy", "best-effort"], &["best-effort", "fair", "fixed-share"]);
    refused(&node, &["--policy", "guaranteed-burst-share", "--share", "30"], &["not in this version"]);
    refused(&node, &["--policy", "native-burst-share", "--share", "30"], &["not in this version"]);
    refused(&node, &["--class", "batch"], &["batch", "online", "offline"]);
    refused(&node, &["--devices", "GPU-00000000-0000-0000-0000-000000000000"], &["GPU-00000000"]);
    refused(&node, &["--devices", "7"], &["7"]);
    refused(&node, &["--weight", "0", "--class", "offline"], &["0", "weight"]);
}

#[test]
fn totals_that_do_not_divide_are_refused_with_the_nearest_valid_values() {
    let node = Node::start(NodeOptions { devices: 2, ..NodeOptions::default() });
    refused(&node, &["--devices", "0,1", "--share", "61"], &["61", "60", "62"]);
    refused(&node, &["--devices", "0,1", "--memory", "4097MiB"], &["4097MiB", "4096MiB", "4098MiB"]);
}

#[test]
fn another_policy_and_too_many_shares_are_refused() {
    let node = Node::start(NodeOptions::default());
    let mut holder = node.run(&["--share", "70"], &mgpu_suite::tenant::Program::new("/bin/sleep".into(), &["600"]));
    wait::until("the first tenant", || {
        let rows = node.mgpu().args(["ps", "--json"]).output().ok()?;
        serde_json::from_slice::<serde_json::Value>(&rows.stdout).ok()?.as_array().filter(|a| a.len() == 1).map(|_| ())
    });
    for (settings, names) in [
        (["--share", "31"].as_slice(), ["31", "30"].as_slice()),
        (&["--policy", "fair"], &["fair", "fixed-share"]),
        (&[], &["30"]),
    ] {
        let output = node.mgpu().arg("run").args(settings).args(["--", "true"]).output().expect("mgpu runs");
        assert!(!output.status.success(), "{settings:?} was accepted");
        for name in names {
            assert!(text(&output).contains(name), "{settings:?}: no {name} in {}", text(&output));
        }
    }
    holder.signal(nix::sys::signal::Signal::SIGKILL);
    holder.wait();
}

#[test]
fn a_typo_in_the_configuration_names_the_key() {
    let node = Node::without_daemon(NodeOptions::default());
    std::fs::write(node.file("typo.toml"), "hold_mss = 50\n").expect("written");
    let mut command = Command::new(paths::release("mgpud"));
    command.arg("--config").arg(node.file("typo.toml")).arg("--runtime-dir").arg(node.runtime_dir());
    let output = wait::output(command);
    assert!(!output.status.success());
    assert!(text(&output).contains("hold_mss"), "{}", text(&output));
}

#[test]
fn a_second_coordinator_refuses_and_names_the_first() {
    let node = Node::start(NodeOptions::default());
    let mut command = Command::new(paths::release("mgpud"));
    node.environment(&mut command);
    command.arg("--config").arg(node.file("mgpud.toml")).arg("--runtime-dir").arg(node.file("second"));
    let output = wait::output(command);
    assert!(!output.status.success());
    assert!(text(&output).contains(&node.daemon_pid().to_string()), "the owner's pid is not named: {}", text(&output));
}

#[test]
fn a_runtime_folder_that_is_not_ours_is_refused() {
    let node = Node::without_daemon(NodeOptions::default());
    std::fs::write(node.file("file"), "").expect("written");
    let mut command = Command::new(paths::release("mgpud"));
    node.environment(&mut command);
    command.arg("--runtime-dir").arg(node.file("file"));
    let output = wait::output(command);
    assert!(!output.status.success());
    let message = text(&output);
    assert!(message.contains("not a directory") && message.contains("/file"), "{message}");
}

/// A process that was given `variables` by hand must not get CUDA, and say why.
fn refused_by_hand(node: &Node, variables: &[(&str, &str)], names: &[&str]) {
    let mut tenant = node.run_injected(variables, &Program::workload("alloc", &["--block-mib", "64"]));
    let status = tenant.wait();
    let message = tenant.errors().join("\n");
    assert!(!status.success(), "{variables:?} was accepted: {:?}", tenant.lines());
    for name in names {
        assert!(message.contains(name), "{variables:?}: the message doesn't name {name:?}:\n{message}");
    }
    assert_eq!(node.witness().devices[0].processes.iter().map(|p| p.allocated_peak).max().unwrap_or(0), 0);
}

#[test]
fn variables_that_make_no_sense_never_mean_no_limit() {
    let config = "declared_tenants = \"allow\"".to_owned();
    for node in
        [Node::without_daemon(NodeOptions::default()), Node::start(NodeOptions { config, ..NodeOptions::default() })]
    {
        refused_by_hand(&node, &[("MGPU_MEMORY", "4 GX")], &["4 GX", "4GiB"]);
        refused_by_hand(&node, &[("MGPU_MEMORY", "100MiB")], &["100MiB", "256MiB"]);
        refused_by_hand(&node, &[("MGPU_MEMORY", "1GiB"), ("MGPU_SHARE", "101")], &["101"]);
        refused_by_hand(&node, &[("MGPU_SHARE", "0.3")], &["0.3", "30"]);
        refused_by_hand(&node, &[("MGPU_CLASS", "fast")], &["fast", "online", "offline"]);
        refused_by_hand(&node, &[("MGPU_DEVICES", "7")], &["7"]);
        let nowhere = node.file("nowhere");
        refused_by_hand(&node, &[("MGPU_DIR", &nowhere.to_string_lossy())], &["nowhere", "entitlement"]);
    }
}
