//! System calls per driver call that the shim adds: `strace` counts at N and 2N calls, shimmed minus bare. Exact counts, so
//! start-up and shut-down cancel out.

use crate::worker::{Under, command};
use mgpu_suite::node::Node;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// Calls of the shorter run.
const N: u32 = 400;

/// Added system calls per call, shimmed minus bare; `None` if strace can't be used here.
pub(crate) fn added_per_call(node: &Node, shim: &Path, call: &[&str]) -> Option<f64> {
    let grown = |under| Some(count(node, under, call, 2 * N)? - count(node, under, call, N)?);
    let (with, without) = (grown(Under::Shim(shim))?, grown(Under::Driver)?);
    Some(((with - without) / f64::from(N) * 1000.0).round() / 1000.0)
}

/// System calls of one whole run with `calls` calls.
fn count(node: &Node, under: Under<'_>, call: &[&str], calls: u32) -> Option<f64> {
    let log = node.file("strace.log");
    let inner = command(node, under, call, 1);
    let mut strace = Command::new("strace");
    strace.args(["-f", "-qq", "-c", "-o"]).arg(&log).arg(inner.get_program()).args(inner.get_args());
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
    // The summary's last line: "100.00 SECONDS USECS CALLS [ERRORS] total".
    let text = std::fs::read_to_string(&log).ok()?;
    let total = text.lines().find(|l| l.trim_end().ends_with("total"))?;
    total.split_whitespace().nth(3)?.parse().ok()
}
