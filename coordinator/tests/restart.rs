//! The daemon is killed and comes back: tenants, limits and used memory are as before, the dead are gone.

mod support;

use mgpu_protocol::control::{Request, Settings};
use support::bystander::Bystander;
use support::client::Client;
use support::remote::Remote;
use support::{GIB, MIB, Node, until, with_memory};

#[test]
fn clients_reattach_with_what_they_use_and_no_byte_is_lost() {
    let mut node = Node::running();
    let directory = node.create(&with_memory(GIB));
    let mut a = Remote::attach(&directory);
    let mut b = Remote::attach(&directory);
    assert!(a.allocate(600 * MIB));
    assert!(b.allocate(300 * MIB));
    node.kill();
    node.start();
    a.reattach();
    // b has not come back: what it may have counts, an allocation that fits beside it is given.
    assert!(a.allocate(24 * MIB));
    b.reattach();
    assert_eq!(node.rows()[0].memory_used, 924 * MIB);
    assert!(!b.allocate(101 * MIB));
    assert!(b.allocate(100 * MIB));
    assert!(!a.allocate(1));
    assert_eq!(node.rows()[0].memory_used, GIB);
}

#[test]
fn a_question_waits_for_clients_that_have_not_told_what_they_use() {
    let mut node = Node::running();
    let directory = node.create(&with_memory(GIB));
    let mut a = Remote::attach(&directory);
    let mut b = Remote::attach(&directory);
    // Leases are larger than use: the state file knows of up to 64 MiB more than is used.
    assert!(a.allocate(MIB) && b.allocate(MIB));
    until("the leases are in the state file", || {
        let text = std::fs::read_to_string(node.runtime_dir().join("state.json")).ok()?;
        (text.matches("67108864").count() >= 2).then_some(())
    });
    node.kill();
    node.start();
    a.reattach();
    let asking = std::thread::spawn(move || {
        let given = a.allocate(GIB - 2 * MIB - MIB);
        (a, given)
    });
    until("it waits", || node.log().contains("waits for clients of the last daemon").then_some(()));
    b.reattach();
    let (_a, given) = asking.join().expect("asked");
    assert!(given, "all but what b really uses is given");
}

#[test]
fn one_that_does_not_come_back_keeps_its_memory_while_it_lives() {
    let mut node = Node::running();
    let directory = node.create(&with_memory(GIB));
    let mut stopped = Remote::attach(&directory);
    assert!(stopped.allocate(512 * MIB));
    until("the lease is in the state file", || {
        let text = std::fs::read_to_string(node.runtime_dir().join("state.json")).ok()?;
        text.contains("536870912").then_some(())
    });
    node.gpu_processes(&[(0, stopped.pid(), 512 * MIB)]);
    node.kill();
    node.start();
    let other = Client::attach(&directory);
    assert!(!other.allocate(513 * MIB));
    assert!(other.allocate(512 * MIB));
    stopped.kill();
    node.gpu_processes(&[]);
    until("its memory is back", || other.allocate(512 * MIB).then_some(()));
}

#[test]
fn tenants_whose_process_died_meanwhile_are_gone_with_their_directories() {
    let mut node = Node::running();
    let mut process = Bystander::start();
    let directory = node.create_for(process.pid(), &Settings { share: Some(60), ..Settings::default() });
    let kept = node.create(&Settings { name: Some("kept".to_owned()), share: Some(40), ..Settings::default() });
    node.kill();
    process.kill();
    let stray = node.runtime_dir().join("tenants/stray");
    std::fs::create_dir(&stray).expect("directory");
    node.start();
    until("only the living one is there", || (node.rows().len() == 1).then_some(()));
    assert_eq!(node.rows()[0].name, "kept");
    assert!(kept.exists() && !stray.exists() && !directory.exists());
    node.create(&Settings { share: Some(60), ..Settings::default() });
}

#[test]
fn what_the_operator_changed_stands_after_a_restart() {
    let mut node = Node::running();
    node.create(&Settings { name: Some("a".to_owned()), share: Some(30), memory: Some(GIB), ..Settings::default() });
    let settings = Settings { share: Some(45), memory: Some(2 * GIB), ..Settings::default() };
    node.ask(&Request::Set { tenant: "a".to_owned(), settings });
    node.ask(&Request::SetDevice { device: "0".to_owned(), policy: Some("fair".to_owned()), hold_ms: Some(5) });
    node.kill();
    node.start();
    let row = &node.rows()[0];
    assert_eq!((row.share, row.memory_limit, row.policy.as_str()), (Some(45), Some(2 * GIB), "fair"));
}

#[test]
fn a_policy_set_by_the_first_tenant_outlives_the_daemon_and_not_the_tenant() {
    let mut node = Node::running();
    let mut process = Bystander::start();
    let settings = Settings { policy: Some("fair".to_owned()), share: Some(30), ..Settings::default() };
    node.create_for(process.pid(), &settings);
    node.kill();
    node.start();
    assert_eq!(node.rows()[0].policy, "fair");
    process.kill();
    until("it has gone", || node.rows().is_empty().then_some(()));
    node.create(&Settings { policy: Some("fixed-share".to_owned()), share: Some(30), ..Settings::default() });
}

#[test]
fn a_broken_state_file_is_put_aside_and_the_daemon_starts() {
    let mut node = Node::running();
    node.create(&with_memory(GIB));
    node.kill();
    std::fs::write(node.runtime_dir().join("state.json"), "{\"version\": 1, ").expect("broken");
    node.start();
    assert!(node.rows().is_empty());
    assert!(node.runtime_dir().join("state.json.unusable").exists());
}

/// The process of [`Remote`].
#[test]
fn remote_client() {
    support::remote::child();
}
