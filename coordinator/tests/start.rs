//! Starting and stopping: who may, what is refused and with what words, what is left behind.

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt;

use mgpu_protocol::control::{Request, Response, Settings};
use support::bystander::Bystander;
use support::client::Client;
use support::remote::Remote;
use support::{Node, text, until};

#[test]
fn without_nvml_it_says_what_it_looked_for_and_ends() {
    let mut node = Node::new(1);
    node.environment.push(("MGPU_NVML".to_owned(), "/nowhere/libnvidia-ml.so.1".to_owned()));
    let output = node.refused(&["--runtime-dir", "/nowhere/run"]);
    assert_eq!(output.status.code(), Some(1));
    let message = text(&output);
    assert!(message.contains("/nowhere/libnvidia-ml.so.1") && message.contains("MGPU_NVML"), "{message}");
}

#[test]
fn nvml_without_a_device_is_an_error() {
    let node = Node::new(0);
    let message = text(&node.refused(&[]));
    assert!(message.contains("no device"), "{message}");
}

#[test]
fn a_device_without_memory_is_an_error() {
    let node = Node::new(1);
    fs::write(node.folder.join("gpu"), format!("device {} 0\n", node.uuids[0])).expect("gpu file");
    let message = text(&node.refused(&[]));
    assert!(message.contains(&node.uuids[0]) && message.contains("no memory"), "{message}");
}

#[test]
fn a_second_daemon_is_told_the_firsts_pid_and_socket() {
    let node = Node::running();
    let other = node.folder.join("other");
    let message = text(&node.refused(&["--runtime-dir", other.to_str().expect("path")]));
    let socket = node.runtime_dir().join("control.sock").display().to_string();
    assert!(message.contains(&node.pid().to_string()) && message.contains(&socket), "{message}");
    assert!(!other.exists(), "it left something behind");
}

#[test]
fn the_environment_names_the_lock_directory_that_the_configuration_leaves_open() {
    let mut node = Node::new(1);
    fs::write(node.folder.join("mgpud.toml"), "scheduling = \"normal\"\n").expect("configuration");
    let locks = node.folder.join("named");
    node.environment.push(("MGPU_LOCK_DIR".to_owned(), locks.display().to_string()));
    node.start();
    let lock = locks.join(format!("{}.lock", node.uuids[0]));
    assert!(fs::read_to_string(lock).expect("the lock").contains(&node.pid().to_string()));
    // A key that is set wins: the second daemon does not see the first one's lock.
    node.kill();
    node.configure("");
    node.start();
    assert!(node.folder.join("locks").join(format!("{}.lock", node.uuids[0])).exists());
}

#[test]
fn a_dead_daemon_leaves_no_lock() {
    let mut node = Node::running();
    node.kill();
    node.start();
    assert!(matches!(node.ask(&Request::Version), Response::Version { driver: Some(v), .. } if v == "999.1"));
}

#[test]
fn what_is_not_ours_is_refused_and_stays() {
    let node = Node::new(1);
    let run = node.runtime_dir();
    fs::write(&run, "precious").expect("file");
    let args = ["--runtime-dir", run.to_str().expect("path")];
    let message = text(&node.refused(&args));
    assert!(message.contains("not a directory") && message.contains(args[1]), "{message}");
    fs::remove_file(&run).expect("clean");
    fs::create_dir(&run).expect("directory");
    fs::set_permissions(&run, fs::Permissions::from_mode(0o777)).expect("mode");
    assert!(text(&node.refused(&args)).contains("may be written by others"));
    fs::set_permissions(&run, fs::Permissions::from_mode(0o755)).expect("mode");
    fs::write(run.join("control.sock"), "precious").expect("file");
    let message = text(&node.refused(&args));
    assert!(message.contains("control.sock") && message.contains("not a socket"), "{message}");
    assert_eq!(fs::read_to_string(run.join("control.sock")).expect("still there"), "precious");
}

#[test]
fn a_wrong_configuration_is_exit_code_2_and_names_the_key() {
    let node = Node::new(1);
    node.configure("drain_dedline = \"50ms\"");
    let output = node.refused(&[]);
    assert_eq!(output.status.code(), Some(2));
    let message = text(&output);
    assert!(message.contains("drain_dedline") && message.contains("drain_deadline"), "{message}");
}

#[test]
fn the_configuration_in_force_can_be_printed_and_read_back() {
    let node = Node::new(1);
    node.configure("hold = \"7ms\"");
    let output = node.command().arg("--print-config").output().expect("runs");
    assert!(output.status.success());
    let printed = String::from_utf8(output.stdout).expect("text");
    assert!(printed.contains("hold = \"7ms\"") && printed.contains("drain_deadline = \"100ms\""), "{printed}");
    fs::write(node.folder.join("mgpud.toml"), &printed).expect("written");
    let again = node.command().arg("--print-config").output().expect("runs");
    assert_eq!(String::from_utf8(again.stdout).expect("text"), printed);
}

#[test]
fn sigterm_stops_it_and_the_tenants_stay_for_the_next_one() {
    let mut node = Node::running();
    let directory = node.create(&Settings { name: Some("a".to_owned()), ..Settings::default() });
    let client = Client::attach(&directory);
    node.signal("TERM");
    assert!(node.ended().success());
    assert!(!node.runtime_dir().join("control.sock").exists());
    assert!(directory.join("entitlement").exists());
    assert_eq!(client.lease_answer(), None, "the client sees the hang-up");
    node.start();
    assert_eq!(node.rows()[0].name, "a");
}

#[test]
fn sighup_reads_the_configuration_again_and_a_bad_one_changes_nothing() {
    let node = Node::running();
    node.configure("hold = \"soon\"");
    node.signal("HUP");
    until("the refusal in the log", || node.log().contains("reload refused").then_some(()));
    node.configure("hold = \"20ms\"");
    node.signal("HUP");
    until("the reload in the log", || node.log().contains("reloaded").then_some(()));
}

#[test]
fn started_so_it_goes_with_its_last_tenant_and_leaves_nothing() {
    let mut node = Node::new(1);
    node.start_with(&["--exit-when-idle"]);
    let mut keeper = Bystander::start();
    let mut client = Remote::attach(&node.create_for(keeper.pid(), &Settings::default()));
    keeper.kill();
    // A client keeps it, though the process that it was made for has gone.
    assert_eq!(node.rows()[0].clients, [client.pid()]);
    client.kill();
    assert!(node.ended().success());
    assert!(
        !node.runtime_dir().exists(),
        "{:?}",
        std::fs::read_dir(node.runtime_dir()).map(Iterator::collect::<Vec<_>>)
    );
}

/// The process of [`Remote`].
#[test]
fn remote_client() {
    support::remote::child();
}
