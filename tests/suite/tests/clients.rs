//! Real clients from PyPI and crates.io: the same program without and with the shim must behave the same, and every launch
//! must have gone through it (the tenant's cap holds by the witness).

use mgpu_suite::measure::judged;
use mgpu_suite::node::{Node, NodeOptions};
use mgpu_suite::paths;
use mgpu_suite::tenant::Program;
use serde_json::Value;
use std::io::Write as _;
use std::time::Duration;

/// The pinned clients of `names`: name, program. One without a wheel for this machine's Python is skipped in `test`, and says so.
fn clients(test: &str, names: &[&str], args: &[&str]) -> Vec<(&'static str, Program)> {
    let all = vec![
        ("numba-cuda", Program::python("numba_kernels.py", args)),
        ("cuda-bindings", Program::python("bindings_driver.py", args)),
        ("taichi", Program::python("taichi_kernels.py", args)),
        ("cudarc", Program::new(paths::release("mgpu-workload-cudarc"), args)),
        ("c", Program::workload("saturate", &["--seconds", args[1]])),
    ];
    all.into_iter().filter(|(name, _)| names.contains(name) && is_there(test, name)).collect()
}

const ALL: [&str; 5] = ["numba-cuda", "cuda-bindings", "taichi", "cudarc", "c"];

fn is_there(test: &str, client: &str) -> bool {
    let Some(why) = paths::absent_client(client) else { return true };
    // Past the test runner's capture, on a line of its own: scripts/test counts these.
    let _ = writeln!(std::io::stdout(), "\nskipped: {client} in {test}: {why}");
    false
}

/// What must not differ between a run without and with the shim: all but rates and pids.
fn comparable(mut result: Value) -> Value {
    if let Some(object) = result.as_object_mut() {
        for key in ["launches", "seconds", "pid"] {
            object.remove(key);
        }
    }
    result
}

#[test]
fn every_client_behaves_the_same_with_and_without_the_shim() {
    let args = ["--seconds", "1", "--kernel-us", "500", "--memory-mib", "256"];
    for (name, program) in clients("every_client_behaves_the_same_with_and_without_the_shim", &ALL, &args) {
        let node = Node::start(NodeOptions::default());
        let without = comparable(node.run_bare(&program).result());
        let with = comparable(node.run(&["--memory", "4GiB"], &program).result());
        assert_eq!(without, with, "{name}");
        let missing = node.witness().unimplemented;
        assert!(missing.is_empty(), "{name} called functions that the simulated driver lacks: {missing:?}");
    }
}

#[test]
fn every_client_is_capped() {
    for (name, program) in clients("every_client_is_capped", &ALL, &["--seconds", "600", "--kernel-us", "1000"]) {
        let node = Node::start(NodeOptions::default());
        let mut tenant = node.run(&["--share", "30"], &program);
        tenant.wait_ready();
        judged(name, &node, &[tenant.pid()], 30, Duration::from_secs(5), |window| {
            let got = window.percent(tenant.pid());
            eprintln!("{name}: {got:.2} %");
            assert!(
                (got - 30.0).abs() <= 1.0 + window.slack_points(),
                "{name} had {got:.2} % of the device, its share is 30"
            );
        });
        let _ = tenant.finish();
    }
}

/// Past the limit each client sees its own out-of-memory error.
#[test]
fn every_client_sees_its_own_out_of_memory_error() {
    let expected = [("numba-cuda", "CudaAPIError"), ("cuda-bindings", "OUT_OF_MEMORY"), ("cudarc", "OUT_OF_MEMORY")];
    let names = expected.map(|(client, _)| client);
    let args = ["--seconds", "1", "--kernel-us", "500", "--memory-mib", "3072"];
    for (name, program) in clients("every_client_sees_its_own_out_of_memory_error", &names, &args) {
        let (_, error) = expected.iter().find(|(client, _)| *client == name).expect("one of them");
        let node = Node::start(NodeOptions::default());
        let mut tenant = node.run(&["--memory", "2GiB"], &program);
        let result = tenant.result();
        let seen = result["oom"].as_str().unwrap_or("none");
        assert!(seen.contains(error), "{name} saw {seen}, not {error}");
        let peak = node.witness().process(0, tenant.pid()).allocated_peak;
        assert!(peak <= (2 << 30) + (2 << 20), "{name}: the device held {peak} bytes");
    }
}

#[test]
fn nvml_programs_run_beside_the_shim() {
    let node = Node::start(NodeOptions::default());
    let program = Program::python("nvml_view.py", &[]);
    let without = node.run_bare(&program).result();
    let with = node.run(&["--memory", "2GiB"], &program).result();
    assert_eq!(without["uuid"], with["uuid"]);
    assert_eq!(without["name"], with["name"]);
}

/// The sample applications run to their end with the shim, with the results that they can check.
#[test]
fn sample_applications_run_in_a_tenant() {
    for sample in ["vector_add", "matmul", "streams", "graph"] {
        let node = Node::start(NodeOptions::default());
        let without = node.run_bare(&Program::workload(sample, &[])).result();
        let with = node.run(&["--memory", "1GiB", "--share", "50"], &Program::workload(sample, &[])).result();
        assert_eq!(without, with, "{sample}");
        assert!(node.witness().unimplemented.is_empty(), "{sample}: {:?}", node.witness().unimplemented);
    }
}
