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

/// After attach there is bookkeeping (state file, first looks); then a second without a single wake-up must come. The second is
/// what is measured, not a wait for something to happen.
fn falls_asleep(tenants: &[Settings]) {
    let node = Node::running();
    let clients: Vec<Client> = tenants.iter().map(|settings| Client::attach(&node.create(settings))).collect();
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
fn with_idle_tenants_of_a_fair_device_the_daemon_sleeps() {
    falls_asleep(&[Settings::default(), Settings::default(), Settings::default(), Settings::default()]);
}

#[test]
fn with_idle_tenants_that_have_shares_the_daemon_sleeps() {
    let share = |share| Settings { share: Some(share), ..Settings::default() };
    falls_asleep(&[share(30), share(60)]);
}

#[test]
fn with_idle_tenants_of_both_classes_the_daemon_sleeps() {
    let class = |class: &str| Settings { class: Some(class.to_owned()), ..Settings::default() };
    falls_asleep(&[class("online"), class("offline"), class("offline")]);
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
