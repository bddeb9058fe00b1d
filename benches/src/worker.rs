//! One copy of `call_bench`, with or without a shim, that makes a batch of calls when asked and waits in between.

use mgpu_suite::node::Node;
use mgpu_suite::paths;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A running `call_bench`. Ends when dropped (its input closes).
pub(crate) struct Worker {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    threads: u32,
    calls: f64,
}

/// Under what the program runs.
#[derive(Clone, Copy)]
pub(crate) enum Under<'a> {
    /// The driver alone.
    Driver,
    /// `mgpu run` with this shim.
    Shim(&'a Path),
}

/// The command line of `call_bench` on `node`.
pub(crate) fn command(node: &Node, under: Under<'_>, call: &[&str], threads: u32) -> Command {
    let mut command = match under {
        Under::Driver => {
            let mut bare = Command::new(paths::workload("call_bench"));
            node.environment(&mut bare);
            bare
        }
        Under::Shim(shim) => {
            let mut run = node.mgpu();
            run.env("MGPU_SHIM", shim)
                .args(["run", "--policy", "fair", "--memory", "16GiB", "--"])
                .arg(paths::workload("call_bench"));
            run
        }
    };
    command.args(call).args(["--threads", &threads.to_string()]);
    command
}

impl Worker {
    /// Starts it and waits until it is ready.
    pub(crate) fn start(node: &Node, under: Under<'_>, call: &[&str], threads: u32) -> Self {
        let mut child = command(node, under, call, threads)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("call_bench starts");
        let input = child.stdin.take();
        let mut output = BufReader::new(child.stdout.take().expect("piped"));
        let mut line = String::new();
        output.read_line(&mut line).expect("call_bench answers");
        assert_eq!(line.trim(), "ready", "call_bench did not start");
        Self { child, input, output, threads, calls: 0.0 }
    }

    fn ask(&mut self, verb: &str, calls: u32) -> serde_json::Value {
        self.calls += f64::from(calls) * f64::from(self.threads);
        writeln!(self.input.as_mut().expect("still open"), "{verb} {calls}").expect("call_bench listens");
        let mut line = String::new();
        self.output.read_line(&mut line).expect("call_bench answers");
        serde_json::from_str(&line).unwrap_or_else(|e| panic!("call_bench said {line:?}: {e}"))
    }

    /// Mean CPU time of one call in ns, over `calls` on each thread.
    pub(crate) fn batch(&mut self, calls: u32) -> f64 {
        self.ask("batch", calls)["mean"].as_f64().expect("a mean")
    }

    /// (p50, p99) of the time of one call in ns.
    pub(crate) fn sample(&mut self, calls: u32) -> (f64, f64) {
        let answer = self.ask("sample", calls);
        (answer["p50"].as_f64().expect("p50"), answer["p99"].as_f64().expect("p99"))
    }

    /// Some batches whose times do not count: caches, first looks, lazy set-up.
    pub(crate) fn warm_up(&mut self, calls: u32) {
        for _ in 0..3 {
            self.batch(calls);
        }
    }

    /// Calls made so far, by all threads.
    pub(crate) fn calls(&self) -> f64 {
        self.calls
    }

    /// Pid of the program.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.input = None;
        let _ = self.child.wait();
    }
}
