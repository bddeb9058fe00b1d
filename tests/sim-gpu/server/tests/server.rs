//! The server with real client processes, judged by its witness; no mgpu, no libcuda.

mod common;
#[path = "common/roles.rs"]
#[allow(missing_docs, unreachable_pub)]
mod roles;

use common::{Client, Server, field, number, row, until, witness};
use mgpu_sim_link::Observer;
use std::process::Command;

/// Not a test: what the client processes of the tests below run.
#[test]
fn as_client() {
    if let Ok(role) = std::env::var("SIM_TEST_ROLE") {
        roles::run(&role);
    }
}

#[test]
fn everything_a_stream_can_do_is_done_in_order() {
    let server = Server::start(&[]);
    let mut client = server.client("everything");
    client.expect("done");
    client.finish();
}

#[test]
fn two_saturating_processes_share_the_device_evenly() {
    let server = Server::start(&["--profile", "default"]);
    let (mut one, mut other) = (server.client("saturate spin_1ms"), server.client("saturate spin_1ms"));
    one.expect("ready");
    other.expect("ready");
    let mut observer = server.observer();
    let begin = until("both run", || {
        let now = witness(&mut observer);
        let both = field(&now, one.pid(), "completed") > 20 && field(&now, other.pid(), "completed") > 20;
        both.then_some(now)
    });
    // By model time, however long that takes here.
    let end = until("a second of model time", || {
        let now = witness(&mut observer);
        (number(&now["now_ns"]) - number(&begin["now_ns"]) > 1_000_000_000).then_some(now)
    });
    let busy = |pid| field(&end, pid, "busy_ns") - field(&begin, pid, "busy_ns");
    let (a, b) = (busy(one.pid()), busy(other.pid()));
    assert!(a.abs_diff(b) * 100 <= (a + b) * 2, "within a point of half: {a} and {b}");
    let device = |now: &serde_json::Value, name: &str| number(&now["devices"][0][name]);
    let idle = device(&end, "idle_ns") - device(&begin, "idle_ns");
    assert!(idle * 100 <= number(&end["now_ns"]) - number(&begin["now_ns"]), "never idle: {idle} ns");
    assert_eq!(end["unimplemented"].as_array().map(Vec::len), Some(0));
}

#[test]
fn a_full_queue_blocks_the_launch() {
    let server = Server::start(&[]);
    let mut client = server.client("fill spin_20ms");
    let depth: u64 = client.expect("depth").parse().expect("a number");
    let mut observer = server.observer();
    until("the queue is full", || {
        let now = witness(&mut observer);
        let outstanding = field(&now, client.pid(), "launches") - field(&now, client.pid(), "completed");
        (outstanding >= depth).then_some(())
    });
    for _ in 0..20 {
        let before = field(&witness(&mut observer), client.pid(), "completed");
        client.say("?");
        let returned: u64 = client.expect("returned").parse().expect("a number");
        let after = field(&witness(&mut observer), client.pid(), "completed");
        assert!(returned <= after + depth, "{returned} launches returned, {after} complete, depth {depth}");
        assert!(returned + 1 >= before + depth, "it goes on as soon as there is room");
    }
    assert_eq!(field(&witness(&mut observer), client.pid(), "queue_full"), 0, "the client blocked by itself");
}

#[test]
fn a_killed_client_frees_its_memory_after_the_teardown() {
    let server = Server::start(&[]);
    let mut client = server.client("sleep");
    client.expect("ready");
    let mut observer = server.observer();
    let before = witness(&mut observer);
    assert!(field(&before, client.pid(), "allocated") >= 1 << 30);
    let pid = client.pid();
    client.kill();
    let after = until("the memory is let go", || {
        let now = witness(&mut observer);
        (field(&now, pid, "allocated") == 0).then_some(now)
    });
    assert_eq!(row(&after, pid)["alive"], false);
    assert_eq!((field(&after, pid, "overhead"), field(&after, pid, "allocated_peak") >> 30), (0, 1));
    let took = number(&after["now_ns"]) - number(&before["now_ns"]);
    assert!(took >= 50_000_000, "not before the driver's teardown: {took} ns");
}

#[test]
fn a_client_killed_at_any_time_leaves_the_device_to_the_others() {
    let server = Server::start(&[]);
    let mut survivor = server.client("saturate spin_1ms");
    survivor.expect("ready");
    let mut observer = server.observer();
    for _ in 0..5 {
        let mut victim = server.client("saturate spin_1ms");
        victim.expect("ready");
        until("the victim runs", || (field(&witness(&mut observer), victim.pid(), "completed") > 2).then_some(()));
        victim.kill();
        let pid = victim.pid();
        until("the victim is torn down", || (field(&witness(&mut observer), pid, "overhead") == 0).then_some(()));
    }
    let before = field(&witness(&mut observer), survivor.pid(), "completed");
    until("the survivor goes on", || {
        (field(&witness(&mut observer), survivor.pid(), "completed") > before + 50).then_some(())
    });
}

#[test]
fn a_stopped_clients_marker_lands() {
    let server = Server::start(&[]);
    let mut client = server.client("stopped-marker");
    let address: u64 = client.expect("address").parse().expect("a number");
    let memory = std::fs::File::open(format!("/proc/{}/mem", client.pid())).expect("a child's memory");
    let value = until("the marker", || {
        let mut word = [0; 4];
        std::os::unix::fs::FileExt::read_exact_at(&memory, &mut word, address).expect("readable");
        let status = std::fs::read_to_string(format!("/proc/{}/status", client.pid())).expect("a child's status");
        let stopped = status.contains("State:\tT");
        let value = u32::from_le_bytes(word);
        (value != 0 && stopped).then_some(value)
    });
    assert_eq!(value, 7);
    client.signal(libc::SIGCONT);
    assert_eq!(client.expect("word"), "7");
}

#[test]
fn a_fault_kills_its_context_only() {
    let server = Server::start(&[]);
    let mut client = server.client("fault");
    client.expect("done");
    client.finish();
}

#[test]
fn a_forked_child_delays_its_parents_teardown() {
    let server = Server::start(&[]);
    let mut client = server.client("fork");
    client.expect("ready");
    let child: u32 = client.expect("child").parse().expect("a pid");
    let mut observer = server.observer();
    let pid = client.pid();
    client.signal(libc::SIGKILL);
    until("the parent's death is seen", || (row(&witness(&mut observer), pid)["alive"] == false).then_some(()));
    let seen = number(&witness(&mut observer)["now_ns"]);
    let later = until("half a second of model time", || {
        let now = witness(&mut observer);
        (number(&now["now_ns"]) > seen + 500_000_000).then_some(now)
    });
    assert!(field(&later, pid, "overhead") > 0, "the child has the device file open");
    assert_eq!(row(&later, child)["alive"], true);
    client.say("end");
    until("the child's end lets it go", || (field(&witness(&mut observer), pid, "overhead") == 0).then_some(()));
}

#[test]
fn a_lying_client_cannot_stop_the_server() {
    let server = Server::start(&[]);
    let mut honest = server.client("saturate spin_1ms");
    honest.expect("ready");
    let mut liar = server.client("liar");
    liar.expect("done");
    let mut observer = server.observer();
    let before = field(&witness(&mut observer), honest.pid(), "completed");
    until("the honest one goes on", || {
        (field(&witness(&mut observer), honest.pid(), "completed") > before + 20).then_some(())
    });
}

#[test]
fn garbage_on_the_socket_only_ends_that_connection() {
    use std::io::{Read, Write};
    let server = Server::start(&[]);
    for garbage in [&b"\xff\xff\xff\xff"[..], b"\x02\0\0\0\xff\xff", b"\x05\0\0\0\x01\x00\x00\xff\xff"] {
        let mut socket = std::os::unix::net::UnixStream::connect(&server.socket).expect("a server");
        socket.write_all(garbage).expect("written");
        let mut answer = Vec::new();
        let _ = socket.read_to_end(&mut answer);
        assert!(answer.is_empty());
    }
    assert_eq!(server.observer().devices().len(), 1);
}

#[test]
fn an_idle_server_sleeps() {
    let server = Server::start(&[]);
    let mut client = server.client("sleep");
    client.expect("ready");
    let mut observer = server.observer();
    let wakes = |observer: &mut Observer| number(&witness(observer)["server"]["wakes"]);
    // Connection and allocation may still be settling in the first question.
    let first = wakes(&mut observer);
    let begin = std::time::Instant::now();
    while begin.elapsed() < std::time::Duration::from_millis(500) {
        std::thread::yield_now();
    }
    let second = wakes(&mut observer);
    assert!(second - first <= 12, "{} wakes in between, the question's own included", second - first);
}

#[test]
fn a_waiting_client_is_woken_for_each_of_its_kernels() {
    let server = Server::start(&[]);
    let mut client = server.client("burst");
    client.expect("done");
    let witness = witness(&mut server.observer());
    assert_eq!((field(&witness, client.pid(), "launches"), field(&witness, client.pid(), "completed")), (200, 200));
}

#[test]
fn one_server_a_socket_and_a_dead_ones_is_cleared_away() {
    let mut server = Server::start(&[]);
    let second = Command::new(env!("CARGO_BIN_EXE_mgpu-sim"))
        .args(["serve", "--socket"])
        .arg(&server.socket)
        .output()
        .expect("it runs");
    assert!(!second.status.success());
    assert!(String::from_utf8_lossy(&second.stderr).contains("a server is running there"));
    let log = server.socket.with_file_name("witness.jsonl");
    server.restart(&["--witness-log", log.to_str().expect("plain")]);
    assert_eq!(server.observer().devices().len(), 1);
    assert!(server.terminate().success());
    assert!(!server.socket.exists());
    let last = std::fs::read_to_string(log).expect("written at the end");
    let last: serde_json::Value = serde_json::from_str(last.lines().last().expect("a line")).expect("JSON");
    assert!(number(&last["devices"][0]["idle_ns"]) < number(&last["now_ns"]), "counted from the server's start");
}

#[test]
fn a_dead_server_is_an_error_not_a_hang() {
    let mut server = Server::start(&[]);
    let mut client = server.client("fill spin_1s");
    client.expect("depth");
    server.kill();
    // Its launch fails within a second, and the client ends by that.
    until("the client ends", || client_has_ended(client.pid()).then_some(()));
}

/// True for a zombie: its parent, this process, has not waited for it.
fn client_has_ended(pid: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    status.contains("State:\tZ") || status.is_empty()
}

#[test]
fn uuids_come_from_seed_and_place() {
    let (one, other) = (Server::start(&["--devices", "2"]), Server::start(&["--devices", "2"]));
    let mut uuids: Vec<_> = [&one, &other]
        .iter()
        .flat_map(|server| server.observer().devices().to_vec())
        .map(|device| device.uuid)
        .collect();
    uuids.sort_unstable();
    uuids.dedup();
    assert_eq!(uuids.len(), 4);
}

#[test]
fn a_detached_server_goes_when_nobody_is_left() {
    let folder = std::env::temp_dir().join(format!("mgpu-sim-detached-{}", std::process::id()));
    let socket = folder.join("socket");
    for _ in 0..2 {
        let started = Command::new(env!("CARGO_BIN_EXE_mgpu-sim"))
            .args(["serve", "--detach", "--exit-when-idle", "1", "--socket"])
            .arg(&socket)
            .status()
            .expect("it runs");
        assert!(started.success(), "also when one runs already");
        drop(Observer::connect(&socket).expect("it listens when the command returns"));
    }
    until("it goes", || (!socket.exists()).then_some(()));
    let _ = std::fs::remove_dir_all(folder);
}

#[test]
fn a_client_starts_a_server_only_where_it_may() {
    let folder = std::env::temp_dir().join(format!("mgpu-sim-start-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let start = |socket: Option<&str>, may: &str| {
        let mut environment = vec![
            ("XDG_RUNTIME_DIR", folder.as_os_str()),
            ("MGPU_SIM_SERVER", std::ffi::OsStr::new(env!("CARGO_BIN_EXE_mgpu-sim"))),
            ("MGPU_SIM_START", std::ffi::OsStr::new(may)),
            ("MGPU_SIM_DEVICES", std::ffi::OsStr::new("3")),
        ];
        environment.extend(socket.map(|path| ("MGPU_SIM_SOCKET", std::ffi::OsStr::new(path))));
        Client::start_with("find", &environment).expect("found")
    };
    // A machine with a server of its own at the mounted place has nothing to start.
    if !std::path::Path::new("/run/mgpu-sim/socket").exists() {
        assert_eq!(start(None, "never"), "Some(NoServer)");
        assert_eq!(start(None, "always"), "None");
        let mut observer = Observer::connect(&folder.join("mgpu-sim/socket")).expect("it runs");
        assert_eq!(observer.devices().len(), 3);
        let pid = number(&witness(&mut observer)["server"]["pid"]);
        common::signal(u32::try_from(pid).expect("a pid"), libc::SIGTERM);
    }
    assert_eq!(start(Some("/nowhere/socket"), "always"), "Some(NoServer)", "a named socket is somebody else's");
    let _ = std::fs::remove_dir_all(folder);
}

#[test]
fn a_printed_profile_is_a_profile() {
    let profiles = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_mgpu-sim")).arg("profiles").args(arguments).output();
        let output = output.expect("it runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text")
    };
    let file = std::env::temp_dir().join(format!("mgpu-sim-profile-{}.toml", std::process::id()));
    for name in profiles(&[]).lines() {
        std::fs::write(&file, profiles(&[name])).expect("written");
        assert_eq!(profiles(&[file.to_str().expect("plain")]), profiles(&[name]));
    }
    std::fs::remove_file(file).expect("ours");
}
