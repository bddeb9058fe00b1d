//! Device memory by leases: the limit holds for any mix of processes, nothing is lost when they die, and lies gain nothing.

mod support;

use mgpu_protocol::control::{Request, Response, Settings};
use mgpu_protocol::sync::Ordering;
use support::client::Client;
use support::remote::Remote;
use support::{GIB, MIB, Node, until, with_memory};

#[test]
fn the_limit_holds_for_all_clients_together_and_freed_memory_is_usable_at_once() {
    let node = Node::running();
    let directory = node.create(&with_memory(2 * GIB));
    let (a, b) = (Client::attach(&directory), Client::attach(&directory));
    assert_eq!(a.grants.devices[0].limit.load(Ordering::Relaxed), 2 * GIB);
    assert_eq!(a.grants.devices[0].total.load(Ordering::Relaxed), 16 * GIB);
    assert!(a.allocate(1536 * MIB));
    assert!(b.allocate(512 * MIB), "a's unused lease is taken back");
    assert!(!b.allocate(1));
    assert!(!a.allocate(1));
    assert_eq!(node.rows()[0].memory_used, 2 * GIB);
    a.free(MIB);
    assert!(b.allocate(MIB));
    assert!(!a.allocate(1));
}

#[test]
fn an_absurd_question_is_refused_and_the_next_is_answered() {
    let node = Node::running();
    let client = Client::attach(&node.create(&with_memory(GIB)));
    for bytes in [0, GIB + 1, u64::MAX] {
        assert_eq!(client.lease(bytes), 0, "{bytes}");
    }
    assert!(client.allocate(GIB));
}

#[test]
fn without_a_limit_the_word_says_so_and_leases_are_counted() {
    let node = Node::running();
    let client = Client::attach(&node.create(&Settings::default()));
    assert_eq!(client.grants.devices[0].limit.load(Ordering::Relaxed), u64::MAX);
    assert!(client.allocate(100 * GIB));
    assert_eq!(node.rows()[0].memory_used, 100 * GIB);
}

#[test]
fn a_killed_clients_memory_returns_in_two_parts() {
    let node = Node::running();
    let directory = node.create(&with_memory(GIB));
    let mut first = Remote::attach(&directory);
    assert!(first.allocate(600 * MIB));
    node.gpu_processes(&[(0, first.pid(), 700 * MIB)]);
    first.kill();
    let second = Client::attach(&directory);
    // The unused part returns with the process; the used part when the driver has let go.
    until("the unused part is back", || second.allocate(GIB - 600 * MIB).then_some(()));
    assert!(!second.allocate(MIB), "the driver still has it");
    assert_eq!(node.rows()[0].memory_used, GIB);
    node.gpu_processes(&[]);
    until("the used part is back", || second.allocate(600 * MIB).then_some(()));
}

#[test]
fn a_driver_that_never_lets_go_is_waited_for_only_so_long() {
    let mut node = Node::new(1);
    node.configure("teardown_timeout = \"50ms\"");
    node.start();
    let directory = node.create(&with_memory(GIB));
    let mut first = Remote::attach(&directory);
    assert!(first.allocate(GIB));
    node.gpu_processes(&[(0, first.pid(), GIB)]);
    first.kill();
    let second = Client::attach(&directory);
    until("released after the patience", || second.allocate(GIB).then_some(()));
    assert!(node.log().contains("the driver still lists it"));
}

#[test]
fn a_lower_limit_takes_nothing_away_and_gives_nothing_more() {
    let node = Node::running();
    let directory = node.create(&Settings { name: Some("a".to_owned()), ..with_memory(2 * GIB) });
    let client = Client::attach(&directory);
    assert!(client.allocate(1536 * MIB));
    let set = |bytes| Request::Set { tenant: "a".to_owned(), settings: with_memory(bytes) };
    node.ask(&set(GIB));
    assert_eq!(client.grants.devices[0].limit.load(Ordering::Relaxed), GIB);
    assert!(!client.allocate(1));
    client.free(1024 * MIB);
    assert!(client.allocate(512 * MIB));
    assert!(std::fs::read_to_string(directory.join("entitlement")).expect("file").contains(&GIB.to_string()));
    assert!(node.error(&set(17 * GIB)).contains("17GiB"));
}

#[test]
fn a_lying_lease_word_does_not_reach_another_tenant_nor_stop_the_daemon() {
    let node = Node::running();
    let liar = Client::attach(&node.create(&Settings { name: Some("liar".to_owned()), ..with_memory(GIB) }));
    let honest = Client::attach(&node.create(&Settings { name: Some("honest".to_owned()), ..with_memory(GIB) }));
    assert!(liar.allocate(MIB));
    liar.slot().lease[0].store(u64::MAX, Ordering::SeqCst);
    let sibling = Client::attach(&node.folder_of("liar"));
    assert_eq!(sibling.lease(GIB + 1), 0);
    sibling.lease(GIB);
    assert!(!honest.allocate(GIB + 1));
    assert!(honest.allocate(GIB));
}

/// The process of [`Remote`].
#[test]
fn remote_client() {
    support::remote::child();
}

/// A driver that is stuck hangs whoever asks it: neither commands nor the daemon's end wait for that.
#[test]
fn a_driver_that_hangs_stops_nobody() {
    let mut node = Node::running();
    let directory = node.create(&with_memory(GIB));
    let client = Client::attach(&directory);
    assert!(client.allocate(MIB));
    let gpu = node.folder.join("gpu");
    let text = std::fs::read_to_string(&gpu).expect("gpu file");
    std::fs::write(&gpu, text + "hang\n").expect("gpu file");
    // What it used is asked for now, and the answer never comes.
    drop(client);
    until("NVML is asked and hangs", || node.folder.join("gpu.hangs").exists().then_some(()));
    assert!(matches!(node.ask(&Request::Version), Response::Version { driver: Some(v), .. } if v == "999.1"));
    node.create(&with_memory(GIB));
    node.signal("TERM");
    assert!(node.ended().success());
}
