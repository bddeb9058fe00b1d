//! Tenants by the control socket: what is admitted, what is refused and with what words, when one goes.

mod support;

use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;

use mgpu_protocol::control::{Request, Response, Settings};
use mgpu_protocol::entitlement::Entitlement;
use mgpu_protocol::units::Bytes;
use support::bystander::Bystander;
use support::client::Client;
use support::{GIB, MIB, Node, until, with_memory};

fn named(name: &str) -> Settings {
    Settings { name: Some(name.to_owned()), ..Settings::default() }
}

fn shared(name: &str, share: u32) -> Settings {
    Settings { share: Some(share), ..named(name) }
}

#[test]
fn a_tenant_has_a_directory_with_its_entitlement_and_a_row() {
    let node = Node::running();
    let directory = node.create(&Settings { memory: Some(4 * GIB), ..shared("a", 30) });
    let text = std::fs::read_to_string(directory.join("entitlement")).expect("file");
    let entitlement = Entitlement::from_text(&text).expect("readable");
    assert_eq!(entitlement.tenant, "a");
    assert_eq!(entitlement.devices, [(node.uuids[0].parse().expect("UUID"), Some(Bytes(4 * GIB)))]);
    let mode = std::fs::metadata(&directory).expect("there").permissions().mode() & 0o777;
    assert_eq!(mode, 0o700);
    let row = &node.rows()[0];
    assert_eq!((row.name.as_str(), row.policy.as_str(), row.class.as_str()), ("a", "fixed-share", "online"));
    assert_eq!((row.share, row.memory_limit), (Some(30), Some(4 * GIB)));
}

#[test]
fn what_is_wrong_is_named_with_what_would_do() {
    let node = Node::running();
    node.create(&shared("a", 70));
    for (settings, parts) in [
        (shared("b", 0), ["share 0", "1 to 100"].as_slice()),
        (shared("b", 31), &["share 31", "30"]),
        (shared("a", 10), &["name \"a\" is taken"]),
        (shared("../b", 10), &["../b", "letters"]),
        (named("b"), &["share", "30 % is left"]),
        (Settings { policy: Some("fair".to_owned()), ..named("b") }, &["fair", "fixed-share"]),
        (Settings { policy: Some("best".to_owned()), ..named("b") }, &["best", "fixed-share"]),
        (Settings { class: Some("batch".to_owned()), ..named("b") }, &["batch", "offline"]),
        (Settings { weight: Some(0), ..named("b") }, &["weight 0", "10000"]),
        (Settings { memory: Some(100 * MIB), ..shared("b", 10) }, &["100MiB", "256MiB"]),
        (Settings { memory: Some(17 * GIB), ..shared("b", 10) }, &["17GiB", "16GiB"]),
        (Settings { memory: Some(4_000_000_000), ..shared("b", 10) }, &["3814MiB", "3815MiB"]),
        (Settings { devices: vec!["1".to_owned()], ..shared("b", 10) }, &["device \"1\"", &node.uuids[0]]),
        (Settings { devices: vec!["0".to_owned(), node.uuids[0].clone()], ..shared("b", 10) }, &["twice"]),
    ] {
        let message = node.refusal(&settings);
        for part in parts {
            assert!(message.contains(part), "{settings:?}: no {part:?} in {message}");
        }
    }
    assert_eq!(node.rows().len(), 1, "something was left behind");
}

#[test]
fn totals_over_two_devices_are_divided_or_refused() {
    let mut node = Node::new(2);
    node.start();
    let both = |share, memory| Settings {
        share: Some(share),
        memory: Some(memory),
        devices: vec!["0".to_owned(), "1".to_owned()],
        ..Settings::default()
    };
    let message = node.refusal(&both(61, 4 * GIB));
    assert!(message.contains("60") && message.contains("62"), "{message}");
    node.create(&both(60, 4 * GIB));
    let rows = node.rows();
    assert_eq!(rows.iter().map(|r| (r.share, r.memory_limit)).collect::<Vec<_>>(), [(Some(30), Some(2 * GIB)); 2]);
    // Refused on one device, it is on none.
    node.create(&Settings { devices: vec!["1".to_owned()], ..shared("c", 60) });
    assert!(node.refusal(&both(40, 512 * MIB)).contains("10"));
    assert_eq!(node.rows().iter().filter(|r| r.device == node.uuids[0]).count(), 1);
}

#[test]
fn a_tenant_goes_with_its_process_and_its_row_is_free_again() {
    let node = Node::running();
    let mut process = Bystander::start();
    let answer = node.ask(&Request::Create { settings: shared("a", 100), pid: process.pid() });
    let Response::Created { directory, devices, .. } = answer else { panic!("{answer:?}") };
    assert_eq!(devices, node.uuids);
    assert!(node.refusal(&shared("b", 1)).contains("nothing is left"));
    process.kill();
    until("it has gone", || node.rows().is_empty().then_some(()));
    assert!(!std::path::Path::new(&directory).exists());
    node.create(&Settings { policy: Some("fair".to_owned()), ..named("a") });
}

#[test]
fn a_process_that_is_not_there_gets_no_tenant() {
    let node = Node::running();
    let message = node.error(&Request::Create { settings: Settings::default(), pid: 4_000_000_000 });
    assert!(message.contains("4000000000"), "{message}");
}

#[test]
fn a_running_tenant_and_its_device_can_be_changed() {
    let node = Node::running();
    node.create(&shared("a", 30));
    node.create(&shared("b", 50));
    let set = |settings| Request::Set { tenant: "a".to_owned(), settings };
    let share = |share| Settings { share: Some(share), ..Settings::default() };
    assert_eq!(node.ask(&set(share(50))), Response::Done);
    assert_eq!(node.rows()[0].share, Some(50));
    assert!(node.error(&set(share(51))).contains("51"));
    assert!(node.error(&set(named("c"))).contains("don't change"));
    assert_eq!(
        node.ask(&set(Settings { class: Some("offline".to_owned()), weight: Some(3), ..Settings::default() })),
        Response::Done
    );
    assert_eq!((node.rows()[0].class.as_str(), node.rows()[0].weight), ("offline", 3));
    let unknown = Request::Set { tenant: "x".to_owned(), settings: share(1) };
    assert!(node.error(&unknown).contains("the tenants are a, b"));
    let device = |policy: Option<&str>, hold_ms| Request::SetDevice {
        device: "0".to_owned(),
        policy: policy.map(str::to_owned),
        hold_ms,
    };
    assert_eq!(node.ask(&device(Some("fair"), Some(5))), Response::Done);
    assert_eq!(node.rows()[0].policy, "fair");
    assert!(node.error(&device(None, Some(60_001))).contains("60000"));
    assert!(node.error(&device(Some("native-burst-share"), None)).contains("not in this version"));
}

#[test]
fn nonsense_on_the_control_socket_is_answered_or_dropped_and_the_daemon_goes_on() {
    let node = Node::running();
    let path = node.runtime_dir().join("control.sock");
    for nonsense in ["\n", "{}\n", "{\"do\":\"fly\"}\n", "[[[[[[\n", "\u{0}\n"] {
        let mut stream = UnixStream::connect(&path).expect("connected");
        stream.write_all(nonsense.as_bytes()).expect("sent");
        let mut answer = [0_u8; 512];
        let length = stream.read(&mut answer).expect("an answer");
        assert!(String::from_utf8_lossy(&answer[..length]).contains("can't be read"), "{nonsense:?}");
    }
    let mut stream = UnixStream::connect(&path).expect("connected");
    let _ = stream.write_all(&vec![b'x'; 1 << 20]);
    let mut rest = Vec::new();
    let _ = stream.read_to_end(&mut rest);
    // A hundred silent commands do not keep another one out for good.
    let silent: Vec<UnixStream> = (0..100).filter_map(|_| UnixStream::connect(&path).ok()).collect();
    drop(silent);
    until("answers again", || node.try_ask(&Request::List));
}

#[test]
fn a_process_may_declare_itself_to_a_per_user_daemon() {
    let node = Node::running();
    let declare = |text: &str| {
        use std::os::fd::AsFd;
        let socket = mgpu_protocol::socket::connect(&node.runtime_dir().join("declare.sock")).expect("connected");
        mgpu_protocol::socket::send(socket.as_fd(), text.as_bytes(), &[]).expect("sent");
        let mut buffer = [0; 4096];
        let received = mgpu_protocol::socket::receive(socket.as_fd(), &mut buffer).expect("an answer");
        String::from_utf8_lossy(&buffer[..received.len]).trim().to_owned()
    };
    let answer = declare("memory = 2GiB\nshare = 30\n");
    let directory = answer.strip_prefix("directory = ").expect("a directory");
    assert_eq!(declare("memory = 2GiB\nshare = 30\n"), answer, "one session is one tenant");
    assert_ne!(declare("name = other\nshare = 30\n"), answer);
    assert!(declare("share = 0.3").starts_with("error = share 0.3"), "and it says what is wrong");
    let client = Client::attach(directory.as_ref());
    assert!(client.allocate(2 * GIB));
    assert!(!client.allocate(1));
}

#[test]
fn sums_of_limits_are_held_unless_overcommit_is_on() {
    let mut node = Node::new(1);
    node.configure("memory_reserve = \"1GiB\"");
    node.start();
    node.create(&with_memory(10 * GIB));
    let message = node.refusal(&with_memory(6 * GIB));
    assert!(message.contains("6GiB") && message.contains("5GiB is left"), "{message}");
    node.create(&with_memory(5 * GIB));
    node.kill();
    node.configure("overcommit = true");
    node.start();
    node.create(&with_memory(16 * GIB));
}
