//! System calls per driver call that the shim adds: counts by `strace` at N and 2N calls, shimmed minus bare, in all threads,
//! between the two `getppid` that `call_bench` puts around its calls. So neither start-up nor the drain behind the calls counts;
//! what the driver makes of its own in between (waking its device) is in both.

use crate::worker::{Under, command};
use mgpu_suite::node::Node;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// Calls of the shorter run.
const N: u32 = 400;
/// Runs of each kind. Other causes only ever add calls (the device had gone to sleep), so the smallest count is the one to take.
const RUNS: u32 = 5;

/// Added system calls per call, shimmed minus bare; `None` if strace can't be used here.
pub(crate) fn added_per_call(node: &Node, shim: &Path, call: &[&str]) -> Option<f64> {
    let grown = |under| Some(least(node, under, call, 2 * N)? - least(node, under, call, N)?);
    let (with, without) = (grown(Under::Shim(shim))?, grown(Under::Driver)?);
    Some(((with - without) / f64::from(N) * 1000.0).round() / 1000.0)
}

/// The smallest count of several runs.
fn least(node: &Node, under: Under<'_>, call: &[&str], calls: u32) -> Option<f64> {
    let counts: Option<Vec<f64>> = (0..RUNS).map(|_| count(node, under, call, calls)).collect();
    counts?.into_iter().min_by(f64::total_cmp)
}

/// System calls while one run makes `calls` calls.
fn count(node: &Node, under: Under<'_>, call: &[&str], calls: u32) -> Option<f64> {
    let log = node.file("strace.log");
    let inner = command(node, under, call, 1);
    let mut strace = Command::new("strace");
    strace.args(["-f", "-qq", "-o"]).arg(&log).arg(inner.get_program()).args(inner.get_args());
    for (key, value) in inner.get_envs() {
        match value {
            Some(value) => strace.env(key, value),
            None => strace.env_remove(key),
        };
    }
    let mut child = strace.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().ok()?;
    writeln!(child.stdin.take()?, "plain {calls}").ok()?;
    if !child.wait().ok()?.success() {
        return None;
    }
    between_brackets(&std::fs::read_to_string(&log).ok()?)
}

/// Calls that begin between the two `getppid` of a log (lines "PID NAME(…"; "PID <... NAME resumed>" begins none).
fn between_brackets(log: &str) -> Option<f64> {
    let names: Vec<&str> = log
        .lines()
        .filter_map(|line| line.split_once(' ')?.1.trim_start().split_once('('))
        .map(|(name, _)| name)
        .filter(|name| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'))
        .collect();
    let first = names.iter().position(|name| *name == "getppid")?;
    let second = names.iter().rposition(|name| *name == "getppid")?;
    (second > first).then(|| f64::from(u32::try_from(second - first - 1).unwrap_or(u32::MAX)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_between_the_brackets_count_in_all_threads() {
        let log = "10  openat(AT_FDCWD, \"x\") = 3\n10  getppid()  = 1\n11  poll([{fd=3}], 1, 0 <unfinished ...>\n10  write(7, \"\", 8) = 8\n\
                   11  <... poll resumed>) = 0\n10  --- SIGCHLD {si_signo=SIGCHLD} ---\n10  getppid() = 1\n10  futex(0x1, FUTEX_WAKE, 1) = 0\n";
        assert_eq!(between_brackets(log), Some(2.0));
        assert_eq!(between_brackets("10  getppid()  = 1\n"), None, "one bracket");
        assert_eq!(between_brackets(""), None);
    }
}
