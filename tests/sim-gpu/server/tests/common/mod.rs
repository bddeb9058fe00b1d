//! A server of the test's own, and clients that are this very test program, run again with a role.
#![allow(dead_code, missing_docs, unreachable_pub)] // Shared by several test programs, each of which uses a part.

use mgpu_sim_link::Observer;
use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// No wait of these tests takes nearly as long unless something hangs.
const WATCHDOG: Duration = Duration::from_secs(60);

/// A running server; dies with the value.
pub struct Server {
    child: Child,
    pub socket: PathBuf,
    folder: PathBuf,
}

impl Server {
    pub fn start(options: &[&str]) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("mgpu-sim-test-{}-{number}", std::process::id()));
        let socket = folder.join("socket");
        let child = Self::spawn(&socket, options);
        Self { child, socket, folder }
    }

    fn spawn(socket: &Path, options: &[&str]) -> Child {
        let mut child = Command::new(env!("CARGO_BIN_EXE_mgpu-sim"))
            .args(["serve", "--socket"])
            .arg(socket)
            .args(options)
            .stdout(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().expect("piped")).read_line(&mut line).expect("a line");
        assert!(line.contains("listening"), "the server says that it listens: {line:?}");
        child
    }

    /// Kills the server and starts another at the same place.
    pub fn restart(&mut self, options: &[&str]) {
        self.child.kill().expect("ours");
        self.child.wait().expect("ours");
        self.child = Self::spawn(&self.socket, options);
    }

    pub fn kill(&mut self) {
        self.child.kill().expect("ours");
        self.child.wait().expect("ours");
    }

    pub fn terminate(&mut self) -> std::process::ExitStatus {
        signal(self.child.id(), libc::SIGTERM);
        self.child.wait().expect("ours")
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn observer(&self) -> Observer {
        Observer::connect(&self.socket).expect("the server answers")
    }

    /// Another client of this server, in a role.
    pub fn client(&self, role: &str) -> Client {
        Client::start(&self.socket, role)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// A client process; dies with the value.
pub struct Client {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl Client {
    pub fn start(socket: &Path, role: &str) -> Self {
        Self::start_with(role, &[("MGPU_SIM_SOCKET", socket.as_os_str())])
    }

    /// In an environment of the test's choice.
    pub fn start_with(role: &str, environment: &[(&str, &std::ffi::OsStr)]) -> Self {
        let mut child = Command::new(std::env::current_exe().expect("this program"))
            .args(["--exact", "as_client", "--nocapture", "--test-threads=1"])
            .env("SIM_TEST_ROLE", role)
            .env_remove("MGPU_SIM_SOCKET")
            .envs(environment.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the client starts");
        let (to, from) = (child.stdin.take().expect("piped"), BufReader::new(child.stdout.take().expect("piped")));
        Self { child, to, from }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The rest of the client's next line that begins with `word`.
    pub fn expect(&mut self, word: &str) -> String {
        loop {
            let mut line = String::new();
            let got = self.from.read_line(&mut line).expect("readable");
            assert!(got > 0, "the client ended before it said {word:?}");
            // The test harness of the child writes on the same pipe, perhaps on the same line.
            if let Some((_, rest)) = line.split_once(&format!("@{word}")) {
                return rest.trim().to_owned();
            }
        }
    }

    pub fn say(&mut self, line: &str) {
        writeln!(self.to, "{line}").expect("the client listens");
    }

    pub fn signal(&self, number: i32) {
        signal(self.pid(), number);
    }

    pub fn kill(&mut self) {
        self.child.kill().expect("ours");
        self.child.wait().expect("ours");
    }

    pub fn finish(mut self) {
        drop(std::mem::replace(&mut self.to, {
            let mut sink = Command::new("true").stdin(Stdio::piped()).spawn().expect("true");
            let pipe = sink.stdin.take().expect("piped");
            sink.wait().expect("ours");
            pipe
        }));
        assert!(self.child.wait().expect("ours").success(), "the client ends well");
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub fn signal(pid: u32, number: i32) {
    // SAFETY: a plain system call on a child of ours that has not been waited for.
    let result = unsafe { libc::kill(i32::try_from(pid).expect("a pid"), number) };
    assert_eq!(result, 0, "the signal is sent");
}

/// Calls `probe` until it gives something.
pub fn until<T>(what: &str, mut probe: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + WATCHDOG;
    loop {
        if let Some(found) = probe() {
            return found;
        }
        assert!(Instant::now() < end, "never came: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// The witness, parsed.
pub fn witness(observer: &mut Observer) -> Value {
    serde_json::from_str(&observer.witness_json().expect("an answer")).expect("JSON")
}

/// A number in it.
pub fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("a number, not {value}"))
}

/// The row of `pid` on the first device; null when there is none.
pub fn row(witness: &Value, pid: u32) -> Value {
    let rows = witness["devices"][0]["processes"].as_array().cloned().unwrap_or_default();
    rows.into_iter().find(|row| row["pid"] == pid).unwrap_or(Value::Null)
}

/// A field of that row; 0 when there is none.
pub fn field(witness: &Value, pid: u32, name: &str) -> u64 {
    row(witness, pid)[name].as_u64().unwrap_or(0)
}
