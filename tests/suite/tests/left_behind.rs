//! Work that nobody waits for: on streams that were destroyed, in contexts that have ended, of threads that are gone or never launch
//! again. Its last marker may never come; the tenant must get its turns all the same.

use mgpu_suite::node::{Node, NodeOptions};
use mgpu_suite::tenant::Program;
use nix::sys::signal::Signal;

#[test]
fn work_in_a_context_that_ends_keeps_nobody_from_a_turn() {
    for how in ["context", "primary", "reset"] {
        let node = Node::start(NodeOptions::default());
        let program = Program::workload("churn", &["--how", how]);
        let without = node.run_bare(&program).result();
        let with = node.run(&["--share", "50"], &program).result();
        assert_eq!(without, with, "{how}");
    }
}

/// They launch while the tenant is alone, and so without markers; then another tenant comes. A capture that ended with its stream
/// must not look as if it still went on: nothing would be marked any more.
#[test]
fn threads_and_captures_that_end_keep_nobody_from_a_turn() {
    for how in ["threads", "idle", "capture"] {
        let node = Node::start(NodeOptions::default());
        let mut first = node.run(&["--policy", "fair"], &Program::workload("churn", &["--how", how]));
        first.wait_ready();
        let saturate = Program::workload("saturate", &["--kernel", "spin_1000us", "--seconds", "600"]);
        let mut second = node.run(&["--policy", "fair"], &saturate);
        second.wait_ready();
        first.signal(Signal::SIGUSR1);
        assert_eq!(first.result()["rounds"], 50, "{how}");
        let _ = second.finish();
    }
}
