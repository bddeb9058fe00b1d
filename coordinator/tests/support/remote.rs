//! A client in a process of its own, which a test can stop and kill: this test binary, started again for the test
//! [`child`](self), driven over its standard streams.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use super::client::Client;

const ROLE: &str = "MGPUD_TEST_CLIENT";
const MARK: &str = "client> ";

pub(crate) struct Remote {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl Remote {
    /// Starts the process and attaches it to the tenant in `directory`.
    pub(crate) fn attach(directory: &Path) -> Self {
        let mut child = Command::new(std::env::current_exe().expect("own path"))
            .args(["--exact", "remote_client", "--nocapture", "--test-threads=1"])
            .env(ROLE, directory)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("started");
        let to = child.stdin.take().expect("stdin");
        let from = BufReader::new(child.stdout.take().expect("stdout"));
        let mut remote = Self { child, to, from };
        assert_eq!(remote.answer(), "attached");
        remote
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Uses bytes; `false` = out of memory.
    pub(crate) fn allocate(&mut self, bytes: u64) -> bool {
        self.ask(&format!("allocate {bytes}")) == "true"
    }

    /// Re-attaches after the daemon came back, telling what is in use.
    pub(crate) fn reattach(&mut self) {
        assert_eq!(self.ask("reattach"), "attached");
    }

    fn ask(&mut self, command: &str) -> String {
        writeln!(self.to, "{command}").expect("asked");
        self.answer()
    }

    fn answer(&mut self) -> String {
        let mut line = String::new();
        loop {
            line.clear();
            assert!(self.from.read_line(&mut line).expect("read") > 0, "the client process ended");
            // The test runner prints before us, on the same line.
            if let Some((_, answer)) = line.split_once(MARK) {
                return answer.trim().to_owned();
            }
        }
    }

    pub(crate) fn kill(&mut self) {
        self.child.kill().expect("kill");
        self.child.wait().expect("wait");
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The client process; returns at once in the test process.
pub(crate) fn child() {
    let Some(directory) = std::env::var_os(ROLE) else { return };
    let mut client = Client::attach(Path::new(&directory));
    let mut used = 0;
    println!("{MARK}attached");
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        match line.split_once(' ') {
            Some(("allocate", bytes)) => {
                let bytes: u64 = bytes.parse().expect("bytes");
                let done = client.allocate(bytes);
                used += if done { bytes } else { 0 };
                println!("{MARK}{done}");
            }
            _ if line == "reattach" => {
                client = Client::reattach(Path::new(&directory), client.welcome.daemon_epoch);
                client.carry(used);
                println!("{MARK}attached");
            }
            _ => panic!("{line}"),
        }
    }
}
