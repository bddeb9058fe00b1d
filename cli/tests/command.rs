//! `mgpu` as people use it, on a fake NVML: a coordinator is started by the first command and goes with the last tenant; wrong
//! input starts nothing. Needs `mgpud` beside `mgpu` (`cargo build -p mgpu-coordinator`).
#![allow(missing_docs, reason = "a test")]

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

const UUID_TAIL: &str = "0000-0000-00000000c11e";

/// A started command. Killed when dropped, so that a failed test leaves none.
struct Sleeper(Child);

impl Sleeper {
    fn start(mut command: Command) -> Self {
        Self(command.spawn().expect("mgpu runs"))
    }

    fn kill(&mut self) {
        self.0.kill().expect("kill");
        self.0.wait().expect("wait");
    }
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A folder with a fake GPU, a file that passes for the shim, and a runtime directory.
struct Place {
    folder: PathBuf,
    uuid: String,
}

static PLACES: AtomicU32 = AtomicU32::new(0);

fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + Duration::from_secs(30);
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < end, "never happened: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn library(folder: &Path, name: &str, source: &str) {
    let file = folder.join(format!("{name}.c"));
    fs::write(&file, source).expect("source");
    let status = Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(folder.join(name)).arg(file).status();
    assert!(status.expect("cc runs").success());
}

impl Place {
    fn new() -> Self {
        let number = PLACES.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("mgpu-cli-test-{}-{number}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).expect("folder");
        let uuid = format!("GPU-{:08x}-{number:04x}-{UUID_TAIL}", std::process::id());
        fs::write(folder.join("gpu"), format!("device {uuid} {}\n", 16_u64 << 30)).expect("gpu");
        library(&folder, "nvml.so", include_str!("../../coordinator/tests/support/fake_nvml.c"));
        let place = Self { folder, uuid };
        place.shim(1, 1);
        place
    }

    fn shim(&self, protocol: u16, page: u16) {
        let text = format!("mgpu-shim-version=0.1.0;protocol={protocol};page={page};");
        library(&self.folder, "libmgpu_shim.so", &format!("const char version[] = \"{text}\";"));
    }

    fn run_dir(&self) -> PathBuf {
        self.folder.join("run")
    }

    fn mgpu(&self, args: &[&str]) -> Command {
        let mgpu = Path::new(env!("CARGO_BIN_EXE_mgpu"));
        let mgpud = mgpu.with_file_name("mgpud");
        assert!(mgpud.exists(), "mgpud is not built: cargo build -p mgpu-coordinator");
        let mut command = Command::new(mgpu);
        command
            .args(args)
            .env("MGPU_RUNTIME_DIR", self.run_dir())
            .env("MGPU_MGPUD", mgpud)
            .env("MGPU_SHIM", self.folder.join("libmgpu_shim.so"))
            .env("MGPU_NVML", self.folder.join("nvml.so"))
            .env("MGPU_LOCK_DIR", self.folder.join("locks"))
            .env("FAKE_NVML", self.folder.join("gpu"))
            .env_remove("LD_PRELOAD")
            .stdin(Stdio::null());
        command
    }

    fn output(&self, args: &[&str]) -> Output {
        self.mgpu(args).output().expect("mgpu runs")
    }

    /// Fails with `code`, its message has all `parts`, and no coordinator was started.
    fn refused(&self, args: &[&str], code: i32, parts: &[&str]) {
        let output = self.output(args);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{args:?}: {message}");
        for part in parts {
            assert!(message.contains(part), "{args:?}: no {part:?} in {message}");
        }
        assert!(!self.run_dir().join("control.sock").exists(), "{args:?} started a coordinator");
    }

    /// A tenant that waits to be killed.
    fn sleeper(&self, settings: &[&str]) -> Sleeper {
        Sleeper::start(self.mgpu(&[&["run"], settings, &["--", "sleep", "1000"]].concat()))
    }

    fn rows(&self) -> Option<serde_json::Value> {
        let output = self.output(&["ps", "--json"]);
        output.status.success().then(|| serde_json::from_slice(&output.stdout).expect("JSON"))
    }

    fn row_count(&self) -> Option<usize> {
        self.rows()?.as_array().map(Vec::len)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // A coordinator without tenants goes by itself; one that a failed test left is told to.
        let lock = self.run_dir().join("mgpud.lock");
        if let (Ok(pid), Ok(lock)) = (fs::read_to_string(&lock), fs::File::open(&lock)) {
            // The shell's own: a minimal system has no program of that name.
            let kill = format!("kill {}", pid.trim());
            let _ = Command::new("sh").args(["-c", &kill]).stderr(Stdio::null()).status();
            // It removes its directory, which must not happen while we do.
            let end = Instant::now() + Duration::from_secs(30);
            while lock.try_lock().is_err() && Instant::now() < end {
                std::thread::sleep(Duration::from_millis(2));
            }
        }
        if std::thread::panicking() {
            eprintln!("--- mgpud.log\n{}", fs::read_to_string(self.run_dir().join("mgpud.log")).unwrap_or_default());
        }
        let _ = fs::remove_dir_all(&self.folder);
    }
}

#[test]
fn a_program_runs_as_a_tenant_and_the_coordinator_goes_with_it() {
    let place = Place::new();
    let script =
        "echo dir=$MGPU_DIR preload=$LD_PRELOAD visible=$CUDA_VISIBLE_DEVICES; cat $MGPU_DIR/entitlement; exit 7";
    let output =
        place.output(&["run", "--memory", "4GiB", "--share", "30", "--devices", "0", "--", "sh", "-c", script]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(7), "{text}{}", String::from_utf8_lossy(&output.stderr));
    let dir = place.run_dir().join("tenants").display().to_string();
    assert!(text.contains(&format!("dir={dir}/")), "{text}");
    assert!(text.contains("libmgpu_shim.so") && text.contains(&format!("visible={}", place.uuid)), "{text}");
    assert!(text.contains(&format!("device = {} {}", place.uuid, 4_u64 << 30)), "{text}");
    until("the coordinator has gone with its files", || (!place.run_dir().exists()).then_some(()));
}

/// The shim comes first, what the user preloads stays.
#[test]
fn a_preloaded_library_of_the_user_stays() {
    let place = Place::new();
    library(&place.folder, "other.so", "int other;");
    let other = place.folder.join("other.so");
    let mut command = place.mgpu(&["run", "--", "sh", "-c", "echo $LD_PRELOAD"]);
    let output = command.env("LD_PRELOAD", &other).output().expect("runs");
    let expected = format!("{}:{}\n", place.folder.join("libmgpu_shim.so").display(), other.display());
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
}

#[test]
fn the_program_is_the_same_process_and_has_no_other_children() {
    let place = Place::new();
    let mut child = place.sleeper(&["--name", "a"]);
    until("the tenant", || (place.row_count() == Some(1)).then_some(()));
    let pid = child.0.id();
    until("it became the program", || {
        let command = fs::read_to_string(format!("/proc/{pid}/comm")).expect("alive");
        (command.trim() == "sleep").then_some(())
    });
    let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).expect("readable");
    assert_eq!(children.trim(), "", "the coordinator is the program's child");
    child.kill();
    until("the coordinator has gone", || (!place.run_dir().exists()).then_some(()));
}

#[test]
fn wrong_input_starts_nothing() {
    let place = Place::new();
    for (settings, parts) in [
        (["--share", "0"].as_slice(), ["0", "1 to 100"].as_slice()),
        (&["--share", "101"], &["101", "1 to 100"]),
        (&["--share", "30.5"], &["30.5", "whole"]),
        (&["--share", "0.3"], &["0.3", "write 30"]),
        (&["--share", "-1"], &["-1", "1 to 100"]),
        (&["--share", "x"], &["\"x\"", "1 to 100"]),
        (&["--memory", "0"], &["0", "256MiB"]),
        (&["--memory", "-4GiB"], &["-4GiB"]),
        (&["--memory", "100MiB"], &["100MiB", "256MiB"]),
        (&["--memory", "4 GB"], &["4 GB", "3814MiB", "3815MiB"]),
        (&["--devices", "0,1", "--share", "61"], &["61", "60", "62"]),
        (&["--policy", "best"], &["best", "fixed-share"]),
        (&["--class", "batch"], &["batch", "offline"]),
        (&["--weight", "0"], &["0", "1 to 10000"]),
        (&["--devices", "gpu0"], &["gpu0", "UUID"]),
    ] {
        let args = [&["run"], settings, &["--", "true"]].concat();
        place.refused(&args, 2, parts);
    }
    place.refused(&["run", "--", "no-such-program-here"], 127, &["no-such-program-here"]);
    place.refused(&["ps"], 1, &["no coordinator answers"]);
    assert!(!place.run_dir().exists(), "something was left behind");
}

#[test]
fn settings_may_come_from_the_environment() {
    let place = Place::new();
    let output = place.mgpu(&["run", "--", "true"]).env("MGPU_SHARE", "0.3").output().expect("runs");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("write 30"));
    let mut command = place.mgpu(&["run", "--", "sleep", "1000"]);
    command.env("MGPU_SHARE", "30");
    let mut child = Sleeper::start(command);
    until("the tenant", || (place.rows()?[0]["share"] == 30).then_some(()));
    child.kill();
}

#[test]
fn what_the_coordinator_refuses_is_told_with_code_2_and_nothing_runs() {
    let place = Place::new();
    let mut child = place.sleeper(&["--share", "70", "--name", "a"]);
    until("the tenant", || (place.row_count() == Some(1)).then_some(()));
    for (settings, parts) in [
        (["--share", "31"].as_slice(), ["31", "30"].as_slice()),
        (&["--share", "10", "--memory", "17GiB"], &["17GiB", "16GiB"]),
        (&["--share", "10", "--devices", "7"], &["\"7\"", &place.uuid]),
        (&["--policy", "fair"], &["fair", "fixed-share"]),
        (&["--share", "10", "--name", "a"], &["\"a\"", "taken"]),
    ] {
        let marker = place.folder.join("started");
        let marker_text = marker.to_str().expect("path");
        let output = place.output(&[&["run"], settings, &["--", "touch", marker_text]].concat());
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{settings:?}: {message}");
        for part in parts {
            assert!(message.contains(part), "{settings:?}: no {part:?} in {message}");
        }
        assert!(!marker.exists(), "{settings:?} ran the program");
    }
    assert!(place.output(&["set", "a", "--share", "80"]).status.success());
    assert_eq!(place.rows().expect("rows")[0]["share"], 80);
    assert!(place.output(&["set", "--device", "0", "--policy", "fair", "--hold", "50ms"]).status.success());
    assert_eq!(place.rows().expect("rows")[0]["policy"], "fair");
    let table = String::from_utf8(place.output(&["ps"]).stdout).expect("text");
    assert!(table.contains("TENANT") && table.contains("80 %") && table.contains("fair"), "{table}");
    assert_eq!(place.output(&["set", "nobody", "--share", "5"]).status.code(), Some(2));
    child.kill();
}

#[test]
fn a_shim_of_another_version_is_refused_with_both_named() {
    let place = Place::new();
    place.shim(9, 1);
    let output = place.output(&["run", "--", "true"]);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains("protocol 9") && message.contains("protocol 1"), "{message}");
    fs::write(place.folder.join("libmgpu_shim.so"), "no library").expect("written");
    assert!(String::from_utf8_lossy(&place.output(&["run", "--", "true"]).stderr).contains("no shim of mgpu"));
}

#[test]
fn version_tells_what_it_can() {
    let place = Place::new();
    let text = String::from_utf8(place.output(&["version"]).stdout).expect("text");
    assert!(text.contains("mgpud   none runs") && text.contains("shim    0.1.0, protocol 1, page 1"), "{text}");
    let mut child = place.sleeper(&[]);
    until("a coordinator", || place.row_count());
    let output = place.output(&["version"]);
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(output.status.success() && text.contains("driver  999.1"), "{text}");
    child.kill();
}

#[test]
fn a_socket_that_is_not_ours_is_not_asked() {
    let place = Place::new();
    fs::create_dir(place.run_dir()).expect("directory");
    fs::set_permissions(place.run_dir(), fs::Permissions::from_mode(0o755)).expect("mode");
    let socket = place.run_dir().join("control.sock");
    fs::write(&socket, "precious").expect("file");
    let output = place.output(&["run", "--", "true"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("not a coordinator's socket"));
    fs::remove_file(&socket).expect("clean");
    // Somebody else's socket, as far as root can tell one.
    let listener = UnixListener::bind(&socket).expect("bound");
    let stranger = if fs::metadata(&socket).expect("there").uid() == 65_534 { 65_533 } else { 65_534 };
    if std::os::unix::fs::chown(&socket, Some(stranger), None).is_ok() {
        let message = String::from_utf8_lossy(&place.output(&["ps"]).stderr).into_owned();
        assert!(message.contains(&format!("user {stranger}")), "{message}");
    }
    drop(listener);
    // One that is closed to us, as root's is to everybody else; root gets through all doors.
    fs::remove_file(&socket).expect("clean");
    let listener = UnixListener::bind(&socket).expect("bound");
    fs::set_permissions(&socket, fs::Permissions::from_mode(0o000)).expect("mode");
    if UnixStream::connect(&socket).is_err() {
        let message = String::from_utf8_lossy(&place.output(&["ps"]).stderr).into_owned();
        assert!(message.contains("takes commands from user"), "{message}");
    }
    drop(listener);
}

#[test]
fn a_coordinator_that_does_not_start_says_why() {
    let place = Place::new();
    fs::write(place.folder.join("gpu"), "").expect("no device");
    let output = place.output(&["run", "--", "true"]);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.contains("lists no device"), "{message}");
    assert!(!place.run_dir().exists(), "something was left behind");
    let output = place.mgpu(&["run", "--", "true"]).env("MGPU_MGPUD", "/nowhere/mgpud").output().expect("mgpu runs");
    assert!(String::from_utf8_lossy(&output.stderr).contains("/nowhere/mgpud"));
    assert!(!place.run_dir().exists(), "something was left behind");
}

#[test]
fn commands_at_the_same_time_share_one_coordinator() {
    let place = Place::new();
    let mut children: Vec<Sleeper> = (0..6).map(|_| place.sleeper(&[])).collect();
    until("all tenants", || (place.row_count() == Some(6)).then_some(()));
    for child in &mut children {
        child.kill();
    }
    until("the coordinator has gone", || (!place.run_dir().exists()).then_some(()));
}

#[test]
fn one_command_after_another_always_finds_or_gets_a_coordinator() {
    let place = Place::new();
    // Each time the coordinator is about to go while the next command looks for it.
    for round in 0..20 {
        let output = place.output(&["run", "--", "true"]);
        assert!(output.status.success(), "round {round}: {}", String::from_utf8_lossy(&output.stderr));
    }
}
