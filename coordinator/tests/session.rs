//! The session socket against clients that are old, many, rude or lying: each loses its own connection at most.

mod support;

use std::fs::File;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::FileExt;
use std::sync::atomic::AtomicBool;

use mgpu_protocol::control::Settings;
use mgpu_protocol::layout::MAX_CLIENTS;
use mgpu_protocol::message::{Hello, Refusal, Reply, Request};
use mgpu_protocol::socket;
use mgpu_protocol::sync::Ordering;
use mgpu_protocol::units::DeviceUuid;
use mgpu_protocol::{PAGE_VERSION, PROTOCOL_VERSION};
use proptest::prelude::*;
use support::client::Client;
use support::{GIB, Node, until, with_memory};

#[test]
fn another_version_is_refused_with_both_named() {
    let node = Node::running();
    let directory = node.create(&with_memory(GIB));
    let hello = Hello { protocol: (7, 9), ..Hello::new(1) };
    let refusal = Client::try_attach(&directory, hello).err().flatten().expect("a refusal");
    assert_eq!(*refusal, Reply::Refused { reason: Refusal::Version, protocol: PROTOCOL_VERSION, page: PAGE_VERSION });
    until("both versions in the log", || node.log().contains("protocol=(7, 9)").then_some(()));
    // A newer shim that still speaks ours is served.
    assert!(Client::try_attach(&directory, Hello { protocol: (0, 9), page: (1, 5), ..Hello::new(1) }).is_ok());
}

#[test]
fn a_process_that_sees_none_of_the_devices_is_refused() {
    let node = Node::running();
    let directory = node.create(&with_memory(GIB));
    let mut hello = Hello { device_count: 1, ..Hello::new(1) };
    hello.devices[0] = DeviceUuid([9; 16]);
    let refusal = Client::try_attach(&directory, hello).err().flatten();
    assert!(matches!(refusal.as_deref(), Some(Reply::Refused { reason: Refusal::Device, .. })), "{refusal:?}");
}

#[test]
fn all_slots_can_be_taken_and_one_that_is_freed_is_given_again() {
    let node = Node::running();
    let directory = node.create(&with_memory(GIB));
    let mut clients: Vec<Client> = (0..MAX_CLIENTS).map(|_| Client::attach(&directory)).collect();
    let refusal = Client::try_attach(&directory, Hello::new(1)).err().flatten();
    assert!(matches!(refusal.as_deref(), Some(Reply::Refused { reason: Refusal::Full, .. })), "{refusal:?}");
    let gone = clients.swap_remove(5).welcome;
    let next = Client::attach(&directory);
    assert_eq!(next.welcome.slot, gone.slot);
    assert_ne!(next.welcome.slot_epoch, gone.slot_epoch);
}

#[test]
fn the_grants_page_cannot_be_written_by_a_client() {
    let node = Node::running();
    let client = Client::attach(&node.create(&with_memory(GIB)));
    assert_eq!(client.grants.daemon_epoch.load(Ordering::Relaxed), client.welcome.daemon_epoch);
    assert_ne!(client.welcome.daemon_epoch, 0);
    assert_eq!(client.grants.device_count.load(Ordering::Relaxed), 1);
    // Neither by the descriptor that it got nor by one that it opens itself: the kernel refuses both writes and new sizes.
    let path = format!("/proc/self/fd/{}", client.grants_fd.as_raw_fd());
    let opened = File::options().read(true).write(true).open(path).expect("a file of our own user");
    let given = File::from(client.grants_fd.try_clone().expect("descriptor"));
    for file in [given, opened] {
        let refused = |result: std::io::Result<()>| result.expect_err("refused").raw_os_error() == Some(libc::EPERM);
        assert!(refused(file.write_at(&[1], 0).map(drop)), "a client can write its grants");
        assert!(refused(file.set_len(0)) && refused(file.set_len(1 << 20)), "a client can resize the page");
    }
    assert_eq!(client.grants.daemon_epoch.load(Ordering::Relaxed), client.welcome.daemon_epoch);
}

#[test]
fn a_sole_tenant_may_launch_and_an_offline_one_waits_for_the_online_one() {
    let mut node = Node::new(1);
    node.configure("hold = \"5ms\"");
    node.start();
    let class = |name: &str, class: &str| mgpu_protocol::control::Settings {
        name: Some(name.to_owned()),
        class: Some(class.to_owned()),
        ..Default::default()
    };
    let offline = Client::attach(&node.create(&class("off", "offline")));
    let is_closed = |c: &Client| c.gate().state == mgpu_protocol::gate::GateState::Closed;
    until("the sole tenant's gate is open", || (!is_closed(&offline)).then_some(()));
    let online = Client::attach(&node.create(&class("on", "online")));
    until("the online gate is open", || (!is_closed(&online)).then_some(()));
    // The online tenant launches without a pause: the offline gate closes.
    let stream = online.page.claim_stream(online.welcome.slot, 0).expect("a line");
    let launch = || stream.note_complete(stream.count_launch() - 1);
    launch();
    online.ring();
    until("the offline gate is closed", || {
        launch();
        is_closed(&offline).then_some(())
    });
    // Somebody waits there: the heart beats.
    offline.want();
    let beat = offline.grants.heartbeat.load(Ordering::Relaxed);
    until("the heart beats", || {
        launch();
        (offline.grants.heartbeat.load(Ordering::Relaxed) > beat + 1).then_some(())
    });
    assert!(is_closed(&offline));
    // It completes: after the hold the offline tenant has the device.
    stream.note_complete(stream.launched());
    until("the offline gate is open again", || (!is_closed(&offline)).then_some(()));
}

fn is_alive(node: &Node, honest: &Client) {
    assert!(honest.allocate(1));
    honest.free(1);
    assert_eq!(node.rows().len(), 1);
}

#[test]
fn packets_of_any_content_end_their_own_connection_at_most() {
    let node = Node::running();
    let directory = node.create(&with_memory(GIB));
    let honest = Client::attach(&directory);
    let packet = prop_oneof![
        proptest::collection::vec(any::<u8>(), 1..600),
        (any::<u16>(), proptest::collection::vec(any::<u8>(), 0..300)).prop_map(|(kind, rest)| {
            let mut packet = (kind % 80).to_le_bytes().to_vec();
            packet.extend(rest);
            packet
        }),
        (any::<u32>(), any::<u64>())
            .prop_map(|(device, bytes)| { Request::Lease { device: device % 3, bytes }.encode().as_bytes().to_vec() }),
        any::<[u64; 8]>().prop_map(|used| Request::Carry { used }.encode().as_bytes().to_vec()),
        any::<u32>().prop_map(|marked| Request::TailsMarked { marked }.encode().as_bytes().to_vec()),
        Just(Request::Hello(Hello::new(3)).encode().as_bytes().to_vec()),
    ];
    let session = (any::<bool>(), proptest::collection::vec(packet, 1..8));
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig { cases: 64, ..ProptestConfig::default() });
    runner
        .run(&session, |(hello, packets)| {
            let connection = socket::connect(&directory.join("socket")).expect("connected");
            if hello {
                let hello = Request::Hello(Hello { previous_daemon: 5, ..Hello::new(2) });
                socket::send(connection.as_fd(), hello.encode().as_bytes(), &[]).expect("sent");
            }
            for packet in &packets {
                // The daemon may have hung up already.
                let _ = socket::send(connection.as_fd(), packet, &[connection.as_fd()]);
            }
            Ok(())
        })
        .expect("no failure");
    // Whatever they carried: the honest one's neighbours have gone or lied about themselves, and the daemon answers.
    assert_eq!(node.rows().len(), 1);
    drop(honest);
}

#[test]
fn a_client_that_does_not_read_is_let_go() {
    let node = Node::running();
    let directory = node.create(&with_memory(GIB));
    let deaf = Client::attach(&directory);
    for _ in 0..20_000 {
        let packet = Request::Lease { device: 0, bytes: u64::MAX }.encode();
        if socket::send(deaf.socket.as_fd(), packet.as_bytes(), &[]).is_err() {
            break;
        }
    }
    let honest = Client::attach(&directory);
    is_alive(&node, &honest);
}

#[test]
fn a_tenant_that_rings_without_end_is_muted_and_heard_again() {
    let node = Node::running();
    let client = Client::attach(&node.create(&with_memory(GIB)));
    let bell = client.bell.try_clone().expect("descriptor");
    let stop = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let stopped = std::sync::Arc::clone(&stop);
    let ringer = std::thread::spawn(move || {
        while !stopped.load(std::sync::atomic::Ordering::Relaxed) {
            rustix::io::write(&bell, &1_u64.to_ne_bytes()).ok();
        }
    });
    until("it is muted", || node.log().contains("rings too often").then_some(()));
    is_alive(&node, &client);
    stop.store(true, std::sync::atomic::Ordering::Relaxed);
    ringer.join().expect("ended");
    client.ring();
    until("its want is taken", || (client.slot().want.load(Ordering::SeqCst) == 0).then_some(()));
}

#[test]
fn a_flood_of_packets_or_connections_leaves_the_others_their_turn() {
    let node = Node::running();
    let flooder = Client::attach(&node.create(&Settings { name: Some("flood".to_owned()), ..with_memory(GIB) }));
    let honest = Client::attach(&node.create(&Settings { name: Some("honest".to_owned()), ..with_memory(GIB) }));
    let directory = node.folder_of("flood");
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                flooder.lease(u64::MAX);
            }
        });
        scope.spawn(|| {
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                drop(socket::connect(&directory.join("socket")));
            }
        });
        until("both are muted", || {
            let log = node.log();
            (log.contains("sends too much") && log.contains("connects too often")).then_some(())
        });
        assert!(honest.allocate(GIB));
        honest.free(GIB);
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    drop(flooder);
    until("it is served again", || Client::try_attach(&directory, Hello::new(1)).ok());
}

/// The bell's file description is shared with clients, which can make it block and empty it: a read might never come back.
#[test]
fn the_daemon_never_reads_what_a_client_can_make_block() {
    let mut node = Node::running();
    let client = Client::attach(&node.create(&with_memory(GIB)));
    for rings in 1..4_u64 {
        rustix::io::write(&client.bell, &1_u64.to_ne_bytes()).expect("ring");
        // One thread: what is asked after the ring is answered after it was heard.
        node.rows();
        node.rows();
        if rings == 3 {
            let mut count = [0; 8];
            rustix::io::read(&client.bell, &mut count).expect("nobody else has read it");
            assert_eq!(u64::from_ne_bytes(count), rings);
        }
    }
    // A bell that is full wakes nobody: what is measured is how often the daemon wakes in this time.
    rustix::io::write(&client.bell, &1_u64.to_ne_bytes()).expect("ring");
    std::thread::sleep(std::time::Duration::from_millis(500));
    node.signal("TERM");
    assert!(node.ended().success());
    assert!(wakeups(&node.log()) < 500, "{} wake-ups", wakeups(&node.log()));
}

/// What a stopped daemon said of how often it woke.
fn wakeups(log: &str) -> u64 {
    log.rsplit("wakeups=").next().and_then(|n| n.trim().parse().ok()).expect("the last line")
}

#[test]
fn the_usual_soft_limit_of_descriptors_does_not_bound_the_clients() {
    let mut node = Node::new(1);
    node.before = "ulimit -Sn 64".to_owned();
    node.start();
    let directory = node.create(&with_memory(GIB));
    let clients: Vec<Client> = (0..MAX_CLIENTS).map(|_| Client::attach(&directory)).collect();
    assert_eq!(clients.len(), MAX_CLIENTS);
}

/// A connection that can't be accepted stays in the queue; the daemon must not spin on it, and serves again when it can.
#[test]
fn without_descriptors_the_daemon_sleeps_and_comes_back() {
    let mut node = Node::new(1);
    node.before = "ulimit -n 40".to_owned();
    node.start();
    let control = node.runtime_dir().join("control.sock");
    let connect = || std::os::unix::net::UnixStream::connect(&control).expect("the queue has room");
    let crowd: Vec<_> = (0..50).map(|_| connect()).collect();
    until("it has none left", || node.log().contains("could not be accepted").then_some(()));
    // What is measured is how often it wakes in this time.
    std::thread::sleep(std::time::Duration::from_millis(500));
    drop(crowd);
    node.create(&with_memory(GIB));
    node.signal("TERM");
    assert!(node.ended().success());
    let log = node.log();
    assert!(wakeups(&log) < 2_000, "{} wake-ups", wakeups(&log));
}

/// Counts after many joins and leaves are those from before.
#[test]
fn thousands_of_clients_and_tenants_leave_nothing() {
    let node = Node::running();
    let descriptors = || std::fs::read_dir(format!("/proc/{}/fd", node.pid())).expect("descriptors").count();
    let directories = || std::fs::read_dir(node.runtime_dir().join("tenants")).expect("tenants").count();
    let keeper = support::bystander::Bystander::start();
    let directory = node.create_for(keeper.pid(), &with_memory(GIB));
    drop(Client::attach(&directory));
    until("settled", || node.rows()[0].clients.is_empty().then_some(()));
    let before = (descriptors(), directories());
    for _ in 0..2_000 {
        drop(Client::attach(&directory));
    }
    for _ in 0..100 {
        let mut process = support::bystander::Bystander::start();
        node.create_for(process.pid(), &with_memory(GIB));
        process.kill();
    }
    until("as before", || (node.rows().len() == 1 && (descriptors(), directories()) == before).then_some(()));
}
