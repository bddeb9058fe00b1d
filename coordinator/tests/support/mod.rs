//! A node for the daemon's own tests: real `mgpud` processes on a fake NVML, and clients that speak the protocol without a shim.
#![allow(dead_code, missing_docs, clippy::missing_panics_doc, reason = "each test file uses its part; a test panics")]

pub(crate) mod bystander;
pub(crate) mod client;
pub(crate) mod remote;

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use mgpu_protocol::control::{Request, Response, Settings, TenantRow};

pub(crate) const GIB: u64 = 1 << 30;
pub(crate) const MIB: u64 = 1 << 20;

/// Waits for a condition; the limit only ends a test that is broken.
pub(crate) fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + Duration::from_secs(30);
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < end, "never happened: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn fake_nvml() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/fake_nvml.c");
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
        // Test binaries run at the same time: each builds its own and moves it into place.
        let own = folder.join(format!("libfake-nvml.{}.so", std::process::id()));
        let built = folder.join("libfake-nvml.so");
        let status = Command::new("cc").args(["-shared", "-fPIC", "-O1", "-Wall", "-o"]).arg(&own).arg(source).status();
        assert!(status.expect("cc runs").success(), "the fake NVML does not build");
        fs::rename(&own, &built).expect("in place");
        built
    })
}

/// A temporary folder with a fake GPU, and at most one daemon on it.
pub(crate) struct Node {
    pub(crate) folder: PathBuf,
    pub(crate) uuids: Vec<String>,
    pub(crate) daemon: Option<Child>,
    /// Put into the daemon's environment.
    pub(crate) environment: Vec<(String, String)>,
    /// Run by a shell before it becomes the daemon.
    pub(crate) before: String,
}

static NODES: AtomicU32 = AtomicU32::new(0);

impl Node {
    pub(crate) fn new(devices: u32) -> Self {
        let number = NODES.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("mgpud-test-{}-{number}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).expect("folder");
        let uuids = (0..devices)
            .map(|i| format!("GPU-{:08x}-{number:04x}-{i:04x}-0000-00000000f00d", std::process::id()))
            .collect();
        let node = Self { folder, uuids, daemon: None, environment: Vec::new(), before: ":".to_owned() };
        node.gpu_processes(&[]);
        node.configure("");
        node
    }

    /// A node whose daemon runs.
    pub(crate) fn running() -> Self {
        let mut node = Self::new(1);
        node.start();
        node
    }

    /// What NVML lists: device index, pid, bytes.
    pub(crate) fn gpu_processes(&self, listed: &[(u32, u32, u64)]) {
        let mut text: String = self.uuids.iter().map(|uuid| format!("device {uuid} {}\n", 16 * GIB)).collect();
        for (device, pid, bytes) in listed {
            text += &format!("process {device} {pid} {bytes}\n");
        }
        let fresh = self.folder.join("gpu.new");
        fs::write(&fresh, text).expect("gpu file");
        fs::rename(fresh, self.folder.join("gpu")).expect("gpu file");
    }

    /// Writes the configuration; `more` after what every test needs.
    pub(crate) fn configure(&self, more: &str) {
        let text = format!("lock_dir = \"{}\"\nscheduling = \"normal\"\n{more}\n", self.folder.join("locks").display());
        fs::write(self.folder.join("mgpud.toml"), text).expect("configuration");
    }

    pub(crate) fn runtime_dir(&self) -> PathBuf {
        self.folder.join("run")
    }

    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new("sh");
        command
            .args(["-c", &format!("{}; exec \"$0\" \"$@\"", self.before), env!("CARGO_BIN_EXE_mgpud")])
            .arg("--config")
            .arg(self.folder.join("mgpud.toml"))
            .env("MGPU_NVML", fake_nvml())
            .env("FAKE_NVML", self.folder.join("gpu"))
            .env_remove("LD_PRELOAD")
            .envs(self.environment.iter().map(|(k, v)| (k, v)))
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn start(&mut self) {
        self.start_with(&[]);
    }

    pub(crate) fn start_with(&mut self, args: &[&str]) {
        self.spawn(args);
        let control = self.runtime_dir().join("control.sock");
        until("the control socket answers", || {
            if let Some(status) = self.daemon.as_mut().and_then(|d| d.try_wait().expect("wait")) {
                panic!("mgpud ended with {status}:\n{}", self.log());
            }
            UnixStream::connect(&control).ok()
        });
    }

    /// Starts a daemon without waiting for anything.
    pub(crate) fn spawn(&mut self, args: &[&str]) {
        let log = fs::File::options().create(true).append(true).open(self.folder.join("log")).expect("log");
        let mut command = self.command();
        command.arg("--runtime-dir").arg(self.runtime_dir()).args(["--user", "--log-level", "debug"]).args(args);
        self.daemon = Some(command.stderr(log).spawn().expect("mgpud starts"));
    }

    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.folder.join("log")).unwrap_or_default()
    }

    pub(crate) fn pid(&self) -> u32 {
        self.daemon.as_ref().expect("a daemon").id()
    }

    /// SIGKILL, as a crash.
    pub(crate) fn kill(&mut self) {
        let mut daemon = self.daemon.take().expect("a daemon");
        daemon.kill().expect("kill");
        daemon.wait().expect("wait");
    }

    pub(crate) fn signal(&self, signal: &str) {
        // The shell's own: a minimal system has no program of that name.
        let status = Command::new("sh").args(["-c", &format!("kill -s {signal} {}", self.pid())]).status();
        assert!(status.expect("sh runs").success());
    }

    /// Waits until the daemon ends by itself.
    pub(crate) fn ended(&mut self) -> ExitStatus {
        let mut daemon = self.daemon.take().expect("a daemon");
        until("the daemon ends", || daemon.try_wait().expect("wait"))
    }

    /// Runs a daemon that must not start; gives what it said.
    pub(crate) fn refused(&self, args: &[&str]) -> Output {
        let mut command = self.command();
        let mut child = command.args(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("mgpud starts");
        let end = Instant::now() + Duration::from_secs(30);
        while child.try_wait().expect("wait").is_none() {
            if Instant::now() >= end {
                child.kill().expect("kill");
                panic!("it started: {:?}", child.wait_with_output());
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        let output = child.wait_with_output().expect("its words");
        assert!(!output.status.success(), "it started: {output:?}");
        output
    }

    pub(crate) fn ask(&self, request: &Request) -> Response {
        self.try_ask(request).expect("an answer")
    }

    /// `None`: the daemon went before it answered.
    pub(crate) fn try_ask(&self, request: &Request) -> Option<Response> {
        let mut stream = UnixStream::connect(self.runtime_dir().join("control.sock")).ok()?;
        let text = serde_json::to_string(request).expect("JSON") + "\n";
        stream.write_all(text.as_bytes()).ok()?;
        let mut line = String::new();
        let length = BufReader::new(stream).read_line(&mut line).ok()?;
        (length > 0).then(|| serde_json::from_str(&line).expect("JSON"))
    }

    /// A tenant of this test process; gives its directory.
    pub(crate) fn create(&self, settings: &Settings) -> PathBuf {
        self.create_for(std::process::id(), settings)
    }

    /// A tenant of another process.
    pub(crate) fn create_for(&self, pid: u32, settings: &Settings) -> PathBuf {
        match self.ask(&Request::Create { settings: settings.clone(), pid }) {
            Response::Created { directory, .. } => PathBuf::from(directory),
            other => panic!("{other:?}"),
        }
    }

    /// A tenant that may not be made; gives why.
    pub(crate) fn refusal(&self, settings: &Settings) -> String {
        self.error(&Request::Create { settings: settings.clone(), pid: std::process::id() })
    }

    pub(crate) fn error(&self, request: &Request) -> String {
        match self.ask(request) {
            Response::Error { message } => message,
            other => panic!("not refused: {other:?}"),
        }
    }

    pub(crate) fn rows(&self) -> Vec<TenantRow> {
        match self.ask(&Request::List) {
            Response::Tenants { rows } => rows,
            other => panic!("{other:?}"),
        }
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        if let Some(mut daemon) = self.daemon.take() {
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
        if std::thread::panicking() {
            eprintln!("--- mgpud's log\n{}", self.log());
        }
        let _ = fs::remove_dir_all(&self.folder);
    }
}

pub(crate) fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

pub(crate) fn with_memory(bytes: u64) -> Settings {
    Settings { memory: Some(bytes), ..Settings::default() }
}

impl Node {
    /// Directory of a tenant by its name.
    pub(crate) fn folder_of(&self, name: &str) -> PathBuf {
        let row = self.rows().into_iter().find(|row| row.name == name).expect("a tenant of this name");
        self.runtime_dir().join("tenants").join(row.tenant)
    }
}
