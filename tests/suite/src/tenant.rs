//! A program that runs (in a tenant, or bare), its output as it comes, and the signals that tests send it.

use crate::{paths, wait};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};

/// A program with its arguments.
#[derive(Clone, Debug)]
pub struct Program {
    words: Vec<OsString>,
}

impl Program {
    /// A compiled program of `tests/workloads`.
    #[must_use]
    pub fn workload(name: &str, args: &[&str]) -> Self {
        Self::new(paths::workload(name), args)
    }

    /// A Python program of `tests/workloads/python`, run by the interpreter with the pinned clients.
    #[must_use]
    pub fn python(name: &str, args: &[&str]) -> Self {
        let mut words = vec![paths::python().into_os_string(), paths::python_workload(name).into_os_string()];
        words.extend(args.iter().map(OsString::from));
        Self { words }
    }

    /// Any program.
    #[must_use]
    pub fn new(path: PathBuf, args: &[&str]) -> Self {
        let mut words = vec![path.into_os_string()];
        words.extend(args.iter().map(OsString::from));
        Self { words }
    }

    /// The command line.
    #[must_use]
    pub fn words(&self) -> &[OsString] {
        &self.words
    }
}

/// What comes out of a pipe, line by line, until all who can write into it have ended.
#[derive(Default)]
struct Lines {
    said: Vec<String>,
    is_over: bool,
}

/// A started program. Killed when dropped.
pub struct Tenant {
    child: Child,
    lines: Arc<Mutex<Lines>>,
    errors: Arc<Mutex<Lines>>,
    label: String,
    reaped: Option<ExitStatus>,
}

fn collect(stream: impl std::io::Read + Send + 'static) -> Arc<Mutex<Lines>> {
    let lines = Arc::new(Mutex::new(Lines::default()));
    let sink = Arc::clone(&lines);
    std::thread::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            sink.lock().expect("no holder panics").said.push(line);
        }
        sink.lock().expect("no holder panics").is_over = true;
    });
    lines
}

impl Tenant {
    /// Starts `command`.
    ///
    /// # Panics
    /// If it can't be started.
    #[must_use]
    pub fn spawn(mut command: Command, program: &Program) -> Self {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|e| panic!("{command:?}: {e}"));
        let lines = collect(child.stdout.take().expect("piped"));
        let errors = collect(child.stderr.take().expect("piped"));
        Self { child, lines, errors, label: format!("{:?}", program.words()), reaped: None }
    }

    /// Pid of the program (`mgpu run` becomes the program, it stays the same).
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits for a line of its output that starts with `start`.
    ///
    /// # Panics
    /// If it ends first, with its output, or if the line doesn't come.
    pub fn wait_for_line(&mut self, start: &str) -> String {
        let what = format!("\"{start}\" from {}", self.label);
        wait::until(&what, || {
            if let Some(line) = self.lines().into_iter().find(|l| l.starts_with(start)) {
                return Some(line);
            }
            if self.try_wait().is_some() {
                self.hear_it_out();
                if let Some(line) = self.lines().into_iter().find(|l| l.starts_with(start)) {
                    return Some(line);
                }
                panic!("ended before {what}: {:?}\n{}", self.reaped, self.errors().join("\n"));
            }
            None
        })
    }

    /// Waits until it prints `ready`.
    pub fn wait_ready(&mut self) {
        self.wait_for_line("ready");
    }

    /// What it has printed so far.
    ///
    /// # Panics
    /// Never: no holder of the lock panics.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        self.lines.lock().expect("no holder panics").said.clone()
    }

    /// What it has printed to stderr so far.
    ///
    /// # Panics
    /// Never: no holder of the lock panics.
    #[must_use]
    pub fn errors(&self) -> Vec<String> {
        self.errors.lock().expect("no holder panics").said.clone()
    }

    /// Sends it a signal.
    ///
    /// # Panics
    /// If the kernel refuses.
    pub fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(i32::try_from(self.child.id()).expect("pids fit i32"));
        kill(pid, signal).unwrap_or_else(|e| panic!("{signal} to {}: {e}", self.label));
    }

    /// Its exit status, if it has ended.
    pub fn try_wait(&mut self) -> Option<ExitStatus> {
        if self.reaped.is_none() {
            self.reaped = self.child.try_wait().ok().flatten();
        }
        self.reaped
    }

    /// Waits for its end, and for what it said last: that may be on its way through the pipes still.
    pub fn wait(&mut self) -> ExitStatus {
        let label = format!("the end of {}", self.label);
        let status = wait::until(&label, || self.try_wait());
        self.hear_it_out();
        status
    }

    /// Waits until its pipes are read to the end. Who was killed may have children that hold them: then what was read must do.
    fn hear_it_out(&self) {
        if self.reaped.is_none_or(|status| status.signal().is_some()) {
            return;
        }
        let pipes = [&self.lines, &self.errors];
        wait::until(&format!("the last words of {}", self.label), || {
            pipes.iter().all(|pipe| pipe.lock().expect("no holder panics").is_over).then_some(())
        });
    }

    /// Asks it to end (SIGTERM), waits, and gives the JSON object of its last line.
    ///
    /// # Panics
    /// If it fails or prints no JSON.
    pub fn finish(&mut self) -> serde_json::Value {
        if self.try_wait().is_none() {
            self.signal(Signal::SIGTERM);
        }
        self.result()
    }

    /// Waits for its end and gives the JSON object of its last line.
    ///
    /// # Panics
    /// If it fails or prints no JSON.
    pub fn result(&mut self) -> serde_json::Value {
        let status = self.wait();
        assert!(status.success(), "{} ended with {status}:\n{}", self.label, self.errors().join("\n"));
        wait::until(&format!("the JSON line of {}", self.label), || {
            self.lines().iter().rev().find_map(|l| serde_json::from_str(l).ok())
        })
    }
}

impl Drop for Tenant {
    fn drop(&mut self) {
        if self.reaped.is_none() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}
