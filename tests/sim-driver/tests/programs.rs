//! C programs on a server of their own: linked, loaded, forked, with a choice of devices.

mod common;

use common::Server;

#[test]
fn a_linked_program_runs_and_calls_nothing_that_is_missing() {
    let server = Server::start(&[]);
    let program = server.compile("linked", true);
    let text = server.run(&mut server.command(&program));
    assert!(text.starts_with("1 "), "{text}");
    assert_eq!(server.unimplemented(), Vec::<String>::new());
    let witness = server.witness();
    let process = &witness["devices"][0]["processes"][0];
    assert_eq!((&process["launches"], &process["completed"]), (&11.into(), &11.into()));
    assert!(process["allocated_peak"].as_u64().expect("bytes") >= 1 << 20);
}

#[test]
fn names_resolve_by_version_and_flag() {
    let server = Server::start(&[]);
    let program = server.compile("resolve", false);
    server.run(&mut server.command(&program));
}

#[test]
fn a_forked_child_starts_anew_or_not_at_all() {
    let server = Server::start(&[]);
    let program = server.compile("forked", true);
    server.run(&mut server.command(&program));
}

#[test]
fn visible_devices_choose_and_order() {
    let server = Server::start(&["--devices", "3"]);
    let program = server.compile("linked", true);
    let see = |visible: &str| {
        let output = server.command(&program).env("CUDA_VISIBLE_DEVICES", visible).output().expect("it starts");
        (output.status.success(), String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let all = server.run(&mut server.command(&program));
    assert!(all.starts_with("3 "), "{all}");
    let (_, second) = see("1");
    let (_, third) = see("2,0,9,1");
    assert!(second.starts_with("1 ") && third.starts_with("2 "), "{second} {third}");
    assert_ne!(second[2..], third[2..]);
    let hex = &second[2..];
    let uuid = format!("GPU-{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]);
    assert_eq!(see(&uuid), (true, second.clone()));
    assert_eq!(see(&uuid[..12]), (true, second), "a part of it is enough");
    for none in ["", "-1", "7", "0,0", "GPU-ffffffff", "nonsense"] {
        assert!(!see(none).0, "{none:?} shows no device");
    }
}
