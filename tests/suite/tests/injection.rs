//! Tenants without `mgpu run`: the shim preloaded by hand, with `MGPU_*` in the environment or a tenant's directory; and tenants
//! of one device of several.

use mgpu_suite::node::{Node, NodeOptions};
use mgpu_suite::tenant::Program;
use mgpu_suite::wait;
use nix::sys::signal::Signal;

const GIB: u64 = 1 << 30;

fn declared() -> NodeOptions {
    NodeOptions { config: "declared_tenants = \"allow\"".to_owned(), ..NodeOptions::default() }
}

fn alloc(device: &str) -> Program {
    Program::workload("alloc", &["--block-mib", "64", "--device", device])
}

#[test]
fn a_process_that_declares_itself_is_a_tenant() {
    let node = Node::start(declared());
    let settings = [("MGPU_MEMORY", "2GiB"), ("MGPU_SHARE", "30"), ("MGPU_NAME", "injected")];
    let saturate = Program::workload("saturate", &["--kernel", "spin_1000us", "--seconds", "600"]);
    let mut other = node.run_injected(&settings, &saturate);
    other.wait_ready();
    let rows = node.rows();
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert_eq!((&rows[0]["share"], &rows[0]["memory_limit"]), (&30.into(), &(2 * GIB).into()), "{rows:?}");
    let result = node.run_injected(&settings, &alloc("0")).result();
    assert_eq!((&result["held_bytes"], &result["total"]), (&(2 * GIB).into(), &(2 * GIB).into()), "{result}");
}

/// Nobody answers: the limit holds for the process by itself, and after the grace its launches go on.
#[test]
fn without_a_coordinator_a_declared_limit_holds_and_launches_go_on() {
    let node = Node::without_daemon(NodeOptions::default());
    let settings = [("MGPU_MEMORY", "2GiB"), ("MGPU_SHARE", "30")];
    let mut filling = node.run_injected(&settings, &alloc("0"));
    let result = filling.result();
    assert_eq!((&result["held_bytes"], &result["total"]), (&(2 * GIB).into(), &(2 * GIB).into()), "{result}");
    assert!(filling.errors().iter().any(|line| line.contains("no coordinator")), "{:?}", filling.errors());
    let launching = Program::workload("saturate", &["--kernel", "spin_100us", "--launches", "50"]);
    assert_eq!(node.run_injected(&settings, &launching).result()["launches"], 50);
}

/// A container's directory says what its processes may have, also to those that start while the coordinator is away.
#[test]
fn an_entitlement_holds_for_a_process_that_starts_without_a_coordinator() {
    let mut node = Node::start(NodeOptions::default());
    let keeper = node.run(&["--memory", "2GiB"], &Program::new("/bin/sleep".into(), &["600"]));
    let directory = wait::until("the tenant's directory", || {
        let tenants = std::fs::read_dir(node.runtime_dir().join("tenants")).ok()?;
        tenants.flatten().map(|entry| entry.path()).find(|path| path.join("entitlement").exists())
    });
    // `mgpu run` itself would look for another coordinator.
    wait::until("the program", || {
        let name = std::fs::read_to_string(format!("/proc/{}/comm", keeper.pid())).ok()?;
        (name.trim() == "sleep").then_some(())
    });
    node.end_daemon(Signal::SIGKILL);
    let directory = directory.to_str().expect("text");
    // What the environment declares beside it counts for nothing.
    let result = node.run_injected(&[("MGPU_DIR", directory), ("MGPU_MEMORY", "8GiB")], &alloc("0")).result();
    assert_eq!(result["held_bytes"], 2 * GIB, "{result}");
}

/// The second of two devices: the limit holds there, and nothing of the tenant is on the first.
#[test]
fn a_tenant_of_the_second_device_is_limited_there() {
    let node = Node::start(NodeOptions { devices: 2, ..declared() });
    let uuid = node.witness().devices[1].uuid.clone();
    // By `mgpu run` it sees that device alone, as its first; one that declares itself sees both.
    let runs = [
        ("mgpu run", node.run(&["--devices", "1", "--memory", "2GiB"], &alloc("0"))),
        ("declared", node.run_injected(&[("MGPU_DEVICES", &uuid), ("MGPU_MEMORY", "2GiB")], &alloc("1"))),
    ];
    for (how, mut tenant) in runs {
        let result = tenant.result();
        assert_eq!(
            (&result["held_bytes"], &result["total"]),
            (&(2 * GIB).into(), &(2 * GIB).into()),
            "{how}: {result}"
        );
        let witness = node.witness();
        let peaks = [0, 1].map(|device| witness.process(device, tenant.pid()).allocated_peak);
        assert_eq!(peaks, [0, 2 * GIB], "{how}");
    }
}

/// Totals are divided: 4 GiB over two devices are 2 GiB on each.
#[test]
fn a_tenant_of_two_devices_has_its_part_of_each() {
    let node = Node::start(NodeOptions { devices: 2, ..NodeOptions::default() });
    for device in ["0", "1"] {
        let result = node.run(&["--devices", "0,1", "--memory", "4GiB"], &alloc(device)).result();
        assert_eq!((&result["held_bytes"], &result["total"]), (&(2 * GIB).into(), &(2 * GIB).into()), "{result}");
    }
}
