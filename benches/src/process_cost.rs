//! What a process pays for being in a tenant, beside its calls: time until a program without CUDA has run and ended, and memory.
//! The same program with and without the preload in alternation; memory is read off processes that wait for input.

use crate::stats::{mean, median, tenth};
use crate::worker::{Under, Worker};
use mgpu_suite::node::{Node, NodeOptions};
use mgpu_suite::paths;
use serde_json::{Value, json};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

/// Programs without CUDA, by name and arguments; those that a machine lacks are left out of the table.
const PROGRAMS: &[&[&str]] = &[&["true"], &["sh", "-c", ":"], &["ls", "/"], &["git", "--version"]];

/// Runs every program `rounds` times each way.
pub(crate) fn run(rounds: u32) -> Value {
    let node = Node::start(NodeOptions::default());
    let environment = tenants_environment(&node);
    let cases: Vec<Value> = PROGRAMS.iter().filter_map(|words| start_up(words, &environment, rounds)).collect();
    let worst = |key: &str| cases.iter().filter_map(|case| case[key].as_f64()).fold(f64::NEG_INFINITY, f64::max);
    json!({
        "added_us_mean": worst("added_us_mean"),
        "added_us_p50": worst("added_us_p50"),
        "added_resident_kib_without_cuda": added_without_cuda(&environment),
        "added_resident_kib_with_cuda": added_with_cuda(&node),
        "daemon_resident_kib": resident_kib(node.daemon_pid()),
        "cases": cases,
    })
}

/// The variables by which `mgpu run` puts a process into a tenant.
fn tenants_environment(node: &Node) -> Vec<(String, String)> {
    let output = node.mgpu().args(["run", "--policy", "fair", "--", "env"]).output().expect("mgpu run starts");
    assert!(output.status.success(), "mgpu run: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let pairs = text.lines().filter_map(|line| line.split_once('='));
    let kept = pairs.filter(|(name, _)| *name == "LD_PRELOAD" || name.starts_with("MGPU_"));
    kept.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

fn command(words: &[&str], environment: &[(String, String)]) -> Command {
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).envs(environment.iter().cloned());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// Time from the start of `words` until its end, µs; none if it can't be run here.
fn microseconds(words: &[&str], environment: &[(String, String)]) -> Option<f64> {
    let mut command = command(words, environment);
    let start = Instant::now();
    let status = command.status().ok()?;
    let took = start.elapsed().as_secs_f64() * 1e6;
    status.success().then_some(took)
}

fn start_up(words: &[&str], environment: &[(String, String)], rounds: u32) -> Option<Value> {
    microseconds(words, &[])?;
    microseconds(words, environment)?;
    let (mut bare, mut differences) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        let (without, with) = if round.is_multiple_of(2) {
            let without = microseconds(words, &[])?;
            (without, microseconds(words, environment)?)
        } else {
            let with = microseconds(words, environment)?;
            (microseconds(words, &[])?, with)
        };
        bare.push(without);
        differences.push(with - without);
    }
    let added = mean(&differences);
    Some(json!({
        "program": words.join(" "),
        "bare_us_p50": tenth(median(&bare)),
        "added_us_mean": tenth(added.mean),
        "interval": tenth(added.half_width),
        "added_us_p50": tenth(median(&differences)),
    }))
}

/// Resident memory of a waiting `sh`, with the preload minus without, KiB.
fn added_without_cuda(environment: &[(String, String)]) -> i64 {
    waiting_shell_kib(environment) - waiting_shell_kib(&[])
}

fn waiting_shell_kib(environment: &[(String, String)]) -> i64 {
    let mut command = command(&["sh", "-c", "echo; read line"], environment);
    let mut shell = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("sh starts");
    wait_for_a_byte(&mut shell);
    let resident = resident_kib(shell.id());
    drop(shell.stdin.take());
    let _ = shell.wait();
    resident
}

/// It has printed something, so it has started.
fn wait_for_a_byte(child: &mut Child) {
    use std::io::Read as _;
    let _ = child.stdout.as_mut().map(|output| output.read(&mut [0]));
}

/// Resident memory of a client that has launched, with the shim minus without, KiB.
fn added_with_cuda(node: &Node) -> i64 {
    let shim = paths::release("libmgpu_shim.so");
    let resident = |under| {
        let mut worker = Worker::start(node, under, &["--call", "launch"], 1);
        worker.warm_up(256);
        resident_kib(worker.pid())
    };
    resident(Under::Shim(&shim)) - resident(Under::Driver)
}

/// VmRSS: pages of files and shared memory count for each process that touched them.
fn resident_kib(pid: u32) -> i64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS"));
    line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok()).unwrap_or(0)
}
