//! An idle daemon costs nothing: no wake-ups while nobody competes, little memory.

mod support;

use mgpu_protocol::control::Settings;
use support::client::Client;
use support::{Node, until};

/// Times that a process's threads have gone to sleep.
fn sleeps(pid: u32) -> u64 {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).expect("tasks");
    tasks
        .flatten()
        .filter_map(|task| std::fs::read_to_string(task.path().join("status")).ok())
        .filter_map(|status| {
            let line = status.lines().find(|l| l.starts_with("voluntary_ctxt_switches"))?.to_owned();
            line.split_ascii_whitespace().nth(1)?.parse::<u64>().ok()
        })
        .sum()
}

fn resident_kib(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("status");
    let line = status.lines().find(|l| l.starts_with("VmRSS")).expect("VmRSS");
    line.split_ascii_whitespace().nth(1).expect("number").parse().expect("number")
}

#[test]
fn with_attached_idle_tenants_the_daemon_sleeps() {
    let node = Node::running();
    let names = ["a", "b", "c", "d"];
    let clients: Vec<Client> = names
        .iter()
        .map(|name| node.create(&Settings { name: Some((*name).to_owned()), ..Settings::default() }))
        .map(|directory| Client::attach(&directory))
        .collect();
    // After attach there is bookkeeping (state file, first looks); then a second without a single wake-up must come. The
    // second is what is measured, not a wait for something to happen.
    let mut last = sleeps(node.pid());
    until("a second without a wake-up", || {
        std::thread::sleep(std::time::Duration::from_secs(1));
        let now = sleeps(node.pid());
        let quiet = now == last;
        last = now;
        quiet.then_some(())
    });
    drop(clients);
}

#[test]
fn sixty_four_tenants_fit_into_twenty_mebibytes() {
    let node = Node::running();
    for number in 0..64 {
        node.create(&Settings { name: Some(format!("t{number}")), ..Settings::default() });
    }
    let resident = resident_kib(node.pid());
    assert!(resident < 20 * 1024, "{resident} KiB");
}
