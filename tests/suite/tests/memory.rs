//! The memory limit, by what the client sees and by the witness: exact, for any mix of kinds, threads and processes.

use mgpu_suite::node::{Node, NodeOptions};
use mgpu_suite::tenant::Program;
use mgpu_suite::wait;
use nix::sys::signal::Signal;
use std::ffi::OsString;

const GIB: u64 = 1 << 30;
/// A driver block: what a tenant's device bytes may exceed its limit by, for each context (DESIGN §7).
const BLOCK: u64 = 2 << 20;

/// Runs `alloc` in a tenant of 2 GiB; gives its JSON lines, having checked the witness's peak over all its processes.
fn fill(settings: &[&str], args: &[&str], contexts: u64) -> Vec<serde_json::Value> {
    let node = Node::start(NodeOptions::default());
    let mut settings = settings.to_vec();
    settings.extend(["--memory", "2GiB"]);
    let mut tenant = node.run(&settings, &Program::workload("alloc", args));
    let status = tenant.wait();
    assert!(status.success(), "{status}: {}", tenant.errors().join("\n"));
    let witness = node.witness();
    let peak: u64 = witness.devices[0].processes.iter().map(|p| p.allocated_peak).sum();
    // Peaks of several processes need not coincide, so their sum is judged only for one process.
    if contexts == 1 {
        assert!(peak <= 2 * GIB + BLOCK, "{args:?}: the device held {peak} bytes");
    }
    tenant.lines().iter().map(|l| serde_json::from_str(l).expect("a JSON line")).collect()
}

fn held(line: &serde_json::Value) -> u64 {
    line["held_bytes"].as_u64().expect("held_bytes")
}

#[test]
fn the_first_allocation_past_the_limit_fails_and_none_before() {
    for kind in ["plain", "pitch", "managed"] {
        let lines = fill(&[], &["--block-mib", "64", "--kind", kind], 1);
        assert_eq!(held(&lines[0]), 2 * GIB, "{kind}: {}", lines[0]);
        assert_eq!(lines[0]["error"], "CUDA_ERROR_OUT_OF_MEMORY", "{kind}");
        assert_eq!(lines[0]["again"], "CUDA_SUCCESS", "{kind}: freed memory is usable at once");
        // The tenant's world: all was freed, one block was allocated again.
        let left = 2 * GIB - (64 << 20);
        let told = [&lines[0]["total"], &lines[0]["free"], &lines[0]["device"]];
        assert_eq!(told, [2 * GIB, left, 2 * GIB], "{kind}: cuMemGetInfo's total and free, cuDeviceTotalMem");
    }
}

/// A limit is the tenant's, whatever a program's environment says.
#[test]
fn the_environment_of_a_program_lifts_no_limit() {
    let node = Node::start(NodeOptions::default());
    let alloc = Program::workload("alloc", &["--block-mib", "64"]);
    let mut words = vec![OsString::from("MGPU_MEMORY=8GiB"), OsString::from("MGPU_NAME=other")];
    words.extend_from_slice(alloc.words());
    let words: Vec<&str> = words.iter().map(|word| word.to_str().expect("text")).collect();
    let mut tenant = node.run(&["--memory", "2GiB"], &Program::new("/usr/bin/env".into(), &words));
    assert_eq!(held(&tenant.result()), 2 * GIB);
}

/// Memory that goes without a free is usable again: with its context, by a pool, with its process, by exec. All the while the
/// tenant's processes hold no more than the limit together, also while the driver still tears down what one of them held.
#[test]
fn memory_that_goes_in_any_way_comes_back() {
    for how in ["context", "pool", "exit", "exec"] {
        let node = Node::start(NodeOptions::default());
        let mut tenant =
            node.run(&["--memory", "2GiB"], &Program::workload("ends", &["--how", how, "--until", "2048"]));
        let status = wait::until("all of it again", || {
            let now: u64 = node.witness().devices[0].processes.iter().map(|p| p.allocated).sum();
            assert!(now <= 2 * GIB + 2 * BLOCK, "{how}: the device held {now} bytes");
            tenant.try_wait()
        });
        assert!(status.success(), "{how}: {status}: {}", tenant.errors().join("\n"));
        let result = tenant.result();
        assert_eq!(result["last"], 2048, "{how}: {result}");
        assert!(how == "pool" || result["first"] == 2048, "{how}: {result}");
    }
}

/// What a process of the tenant was given and doesn't use, another one gets.
#[test]
fn what_a_sibling_does_not_use_is_usable() {
    let node = Node::start(NodeOptions::default());
    let mut tenant =
        node.run(&["--memory", "2GiB"], &Program::workload("ends", &["--how", "sibling", "--block-mib", "2"]));
    tenant.wait_ready();
    tenant.signal(Signal::SIGUSR1);
    assert_eq!(tenant.wait_for_line("held"), "held 2046", "all but the sibling's one block");
}

#[test]
fn stream_ordered_allocations_are_limited_too() {
    let lines = fill(&[], &["--block-mib", "64", "--kind", "async"], 1);
    assert!(held(&lines[0]) <= 2 * GIB && held(&lines[0]) >= 2 * GIB - (256 << 20), "{}", lines[0]);
    assert_eq!(lines[0]["error"], "CUDA_ERROR_OUT_OF_MEMORY");
}

#[test]
fn eight_threads_with_all_kinds_stay_within_the_limit() {
    let lines = fill(&[], &["--block-mib", "16", "--threads", "8", "--kind", "mixed", "--rounds", "3"], 1);
    assert!(held(&lines[0]) <= 2 * GIB, "{}", lines[0]);
    assert_eq!(lines[0]["error"], "CUDA_ERROR_OUT_OF_MEMORY");
}

/// Sizes that leave every chunk of the pool in pieces, so that slack often isn't what it looks like. At the limit, one allocation
/// at a time may grow the pool by a chunk that nobody can pay; it is refused, and the chunk goes at the next synchronisation.
#[test]
fn many_threads_with_one_pool_in_pieces_stay_within_the_limit_and_a_chunk() {
    const CHUNK: u64 = 32 << 20;
    for (kind, bytes, threads) in [("async", 5_u64 << 20, "16"), ("mixed", 9 << 20, "8"), ("async", 20 << 20, "8")] {
        let node = Node::start(NodeOptions::default());
        let bytes = bytes.to_string();
        let args = ["--block-bytes", &bytes, "--threads", threads, "--kind", kind, "--rounds", "4"];
        let mut tenant = node.run(&["--memory", "1GiB"], &Program::workload("alloc", &args));
        let line = tenant.result();
        assert!(held(&line) <= GIB, "{args:?}: {line}");
        // Less what other threads hold for a chunk each at that moment, and a third of each chunk that no block fits.
        assert!(held(&line) >= GIB * 2 / 5, "{args:?}: freed memory isn't usable: {line}");
        let peak = node.witness().devices[0].processes[0].allocated_peak;
        assert!(peak <= GIB + BLOCK + CHUNK, "{args:?}: the device held {peak} bytes");
        tenant.wait();
    }
}

#[test]
fn small_and_odd_sizes_stay_within_the_limit() {
    for bytes in ["1000", "70000", "1048577", "3145729"] {
        let lines = fill(&[], &["--block-bytes", bytes, "--threads", "2", "--max-blocks", "4000"], 1);
        assert!(held(&lines[0]) <= 2 * GIB, "{bytes}: {}", lines[0]);
    }
}

/// Four processes of one tenant share one limit: at every moment the witness's sum stays within it.
#[test]
fn four_processes_share_one_limit() {
    let node = Node::start(NodeOptions::default());
    let mut tenant = node.run(
        &["--memory", "2GiB"],
        &Program::workload("alloc", &["--block-mib", "16", "--threads", "2", "--processes", "4", "--hold"]),
    );
    wait::until("four full processes", || {
        let now: u64 = node.witness().devices[0].processes.iter().map(|p| p.allocated).sum();
        assert!(now <= 2 * GIB + 4 * BLOCK, "the device held {now} bytes");
        (tenant.lines().iter().filter(|l| *l == "full").count() == 4).then_some(())
    });
    let now: u64 = node.witness().devices[0].processes.iter().map(|p| p.allocated).sum();
    assert_eq!(now, 2 * GIB, "together they hold the whole limit");
    for process in &node.witness().devices[0].processes {
        let _ = nix::sys::signal::kill(nix::unistd::Pid::from_raw(process.pid.cast_signed()), Signal::SIGKILL);
    }
    tenant.wait();
    // A dead client's memory comes back once the driver has let go of it.
    let mut again = node.run(&["--memory", "2GiB"], &Program::workload("alloc", &["--block-mib", "64"]));
    let result = again.result();
    assert_eq!(held(&result), 2 * GIB);
}

/// The same with pools: each process has its own, and each may lean on its slack.
#[test]
fn four_processes_with_all_kinds_share_one_limit() {
    const CHUNK: u64 = 32 << 20;
    let node = Node::start(NodeOptions::default());
    let args = ["--block-mib", "9", "--threads", "4", "--processes", "4", "--kind", "mixed", "--hold"];
    let mut tenant = node.run(&["--memory", "2GiB"], &Program::workload("alloc", &args));
    let held = wait::until("four full processes", || {
        let now: u64 = node.witness().devices[0].processes.iter().map(|p| p.allocated).sum();
        assert!(now <= 2 * GIB + 4 * (BLOCK + CHUNK), "the device held {now} bytes");
        (tenant.lines().iter().filter(|l| *l == "full").count() == 4).then_some(now)
    });
    // Each of 16 threads may hold the worst case of a chunk while another one is refused, and what chunks hold is in pieces.
    assert!(held >= GIB, "they were refused at {held} bytes");
    for process in &node.witness().devices[0].processes {
        let _ = nix::sys::signal::kill(nix::unistd::Pid::from_raw(process.pid.cast_signed()), Signal::SIGKILL);
    }
    tenant.wait();
}

#[test]
fn a_tenant_without_a_limit_has_the_whole_device() {
    let args = ["--block-mib", "256"];
    // Each on its own node: a process that has ended keeps its memory for as long as the driver's teardown takes.
    let node = Node::start(NodeOptions::default());
    let bare = node.run_bare(&Program::workload("alloc", &args)).result();
    let node = Node::start(NodeOptions::default());
    let with = node.run(&[], &Program::workload("alloc", &args)).result();
    assert_eq!(held(&bare), held(&with));
    assert_eq!(bare["total"], with["total"]);
}
