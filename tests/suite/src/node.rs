//! One simulated node: a server of simulated GPUs and a coordinator in a temporary folder. Everything dies with it.

use crate::tenant::{Program, Tenant};
use crate::wait;
use crate::witness::{Intervals, Span, Witness};
use crate::{paths, schedstat};
use mgpu_sim_link::client::Observer;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use tempfile::TempDir;

/// What the node is like.
#[derive(Clone, Debug)]
pub struct NodeOptions {
    /// Profile of the simulated GPU, by name.
    pub profile: String,
    /// Seed of the profile's jitter and of the device UUIDs.
    pub seed: u64,
    /// Number of devices.
    pub devices: u32,
    /// Text appended to the coordinator's configuration file.
    pub config: String,
}

impl Default for NodeOptions {
    fn default() -> Self {
        Self { profile: "default".to_owned(), seed: 1, devices: 1, config: String::new() }
    }
}

/// A running node.
pub struct Node {
    folder: TempDir,
    sim: Child,
    observer: Mutex<Option<Observer>>,
    daemon: Option<Child>,
    options: NodeOptions,
}

impl Node {
    /// Starts the server and the coordinator and waits until both answer.
    ///
    /// # Panics
    /// If one of them ends or doesn't answer; its log is in the message.
    #[must_use]
    pub fn start(options: NodeOptions) -> Self {
        let mut node = Self::without_daemon(options);
        node.start_daemon();
        node
    }

    /// Starts the server alone.
    ///
    /// # Panics
    /// As [`Node::start`].
    #[must_use]
    pub fn without_daemon(options: NodeOptions) -> Self {
        let folder = tempfile::Builder::new().prefix("mgpu-node-").tempdir().expect("a temporary folder");
        let log = std::fs::File::create(folder.path().join("sim.log")).expect("sim.log");
        let sim = Command::new(paths::release("mgpu-sim"))
            .arg("serve")
            .arg("--socket")
            .arg(folder.path().join("sim.sock"))
            .args(["--profile", &options.profile, "--seed", &options.seed.to_string()])
            .args(["--devices", &options.devices.to_string()])
            .stdout(log.try_clone().expect("a second handle"))
            .stderr(log)
            .spawn()
            .expect("mgpu-sim starts");
        let node = Self { folder, sim, observer: Mutex::new(None), daemon: None, options };
        wait::until("mgpu-sim's socket", || node.try_witness());
        node
    }

    /// Starts (or starts again) the coordinator.
    ///
    /// # Panics
    /// If it ends before it answers.
    pub fn start_daemon(&mut self) {
        let nvml = paths::sim_lib().join("libnvidia-ml.so.1");
        let config = format!("nvml = \"{}\"\n{}\n", nvml.display(), self.options.config);
        std::fs::write(self.file("mgpud.toml"), config).expect("mgpud.toml");
        let log = std::fs::File::options().create(true).append(true).open(self.file("mgpud.log")).expect("mgpud.log");
        let mut command = Command::new(paths::release("mgpud"));
        command
            .arg("--config")
            .arg(self.file("mgpud.toml"))
            .arg("--runtime-dir")
            .arg(self.runtime_dir())
            .env("MGPU_SIM_SOCKET", self.file("sim.sock"))
            .env("MGPU_LOCK_DIR", self.lock_dir())
            .stdout(Stdio::null())
            .stderr(log);
        self.daemon = Some(command.spawn().expect("mgpud starts"));
        wait::until("mgpud's control socket", || {
            if let Some(status) = self.daemon.as_mut().and_then(|d| d.try_wait().ok().flatten()) {
                panic!("mgpud ended with {status}:\n{}", self.daemon_log());
            }
            self.mgpu().args(["ps", "--json"]).output().ok().filter(|o| o.status.success())
        });
    }

    /// Sends the coordinator a signal and waits until it has ended.
    ///
    /// # Panics
    /// If no coordinator runs.
    pub fn end_daemon(&mut self, signal: Signal) {
        let mut daemon = self.daemon.take().expect("a coordinator runs");
        kill(pid_of(&daemon), signal).expect("the signal is sent");
        daemon.wait().expect("the coordinator's end");
    }

    /// Pid of the coordinator.
    ///
    /// # Panics
    /// If none runs.
    #[must_use]
    pub fn daemon_pid(&self) -> u32 {
        self.daemon.as_ref().expect("a coordinator runs").id()
    }

    /// Pid of the simulated GPU's server.
    #[must_use]
    pub fn sim_pid(&self) -> u32 {
        self.sim.id()
    }

    /// A path in the node's folder.
    #[must_use]
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The coordinator's runtime folder.
    #[must_use]
    pub fn runtime_dir(&self) -> PathBuf {
        self.file("run")
    }

    /// Where this node's coordinators lock its devices: the machine's place is for coordinators that last.
    fn lock_dir(&self) -> PathBuf {
        self.file("locks")
    }

    /// What the coordinator logged so far.
    #[must_use]
    pub fn daemon_log(&self) -> String {
        std::fs::read_to_string(self.file("mgpud.log")).unwrap_or_default()
    }

    /// A `mgpu` command that talks to this node and whose programs find this node's driver.
    #[must_use]
    pub fn mgpu(&self) -> Command {
        let mut command = Command::new(paths::release("mgpu"));
        self.environment(&mut command);
        command.env("MGPU_RUNTIME_DIR", self.runtime_dir());
        command
    }

    /// Lets `command` find this node's simulated driver, and a coordinator that it starts this node's locks.
    pub fn environment(&self, command: &mut Command) {
        command
            .env("MGPU_SIM_SOCKET", self.file("sim.sock"))
            .env("MGPU_LOCK_DIR", self.lock_dir())
            .env("LD_LIBRARY_PATH", paths::sim_lib())
            .env("MGPU_KERNELS", paths::workload("kernels.fatbin"));
    }

    /// Starts `program` in a tenant of its own; `settings` are arguments of `mgpu run`.
    #[must_use]
    pub fn run(&self, settings: &[&str], program: &Program) -> Tenant {
        let mut command = self.mgpu();
        command.arg("run").args(settings).arg("--").args(program.words());
        Tenant::spawn(command, program)
    }

    /// Starts `program` on this node's driver without mgpu.
    #[must_use]
    pub fn run_bare(&self, program: &Program) -> Tenant {
        let words = program.words();
        let mut command = Command::new(&words[0]);
        self.environment(&mut command);
        command.args(&words[1..]);
        Tenant::spawn(command, program)
    }

    /// Starts `program` with the shim preloaded by hand and `variables` in its environment, as an injector does it.
    #[must_use]
    pub fn run_injected(&self, variables: &[(&str, &str)], program: &Program) -> Tenant {
        let words = program.words();
        let mut command = Command::new(&words[0]);
        self.environment(&mut command);
        command
            .env("LD_PRELOAD", paths::release("libmgpu_shim.so"))
            .env("MGPU_RUNTIME_DIR", self.runtime_dir())
            .envs(variables.iter().copied())
            .args(&words[1..]);
        Tenant::spawn(command, program)
    }

    /// Rows of `mgpu ps`.
    ///
    /// # Panics
    /// If no coordinator answers.
    #[must_use]
    pub fn rows(&self) -> Vec<serde_json::Value> {
        let output = self.mgpu().args(["ps", "--json"]).output().expect("mgpu runs");
        serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&output.stderr)))
    }

    /// The witness's snapshot.
    ///
    /// # Panics
    /// If the server doesn't answer.
    #[must_use]
    pub fn witness(&self) -> Witness {
        self.try_witness().unwrap_or_else(|| panic!("mgpu-sim doesn't answer: {}", read(&self.file("sim.log"))))
    }

    /// Times since `since_ns` in which device `index` was idle.
    ///
    /// # Panics
    /// If the server doesn't answer.
    #[must_use]
    pub fn idle_spans(&self, index: usize, since_ns: u64) -> Vec<Span> {
        let mut kept = self.observer.lock().expect("no holder panics");
        let observer = kept.as_mut().expect("the witness was asked before");
        let text = observer.intervals_json(since_ns).expect("mgpu-sim answers");
        let intervals: Intervals = serde_json::from_str(&text).expect("intervals");
        intervals.devices[index].idle.clone()
    }

    fn try_witness(&self) -> Option<Witness> {
        let mut kept = self.observer.lock().ok()?;
        if kept.is_none() {
            *kept = Observer::connect(&self.file("sim.sock")).ok();
        }
        serde_json::from_str(&kept.as_mut()?.witness_json().ok()?).ok()
    }

    /// CPU time of the coordinator so far, ns.
    #[must_use]
    pub fn daemon_cpu_ns(&self) -> u64 {
        schedstat::of(self.daemon_pid()).ran_ns
    }
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

fn pid_of(child: &Child) -> Pid {
    Pid::from_raw(i32::try_from(child.id()).expect("pids fit i32"))
}

impl Drop for Node {
    fn drop(&mut self) {
        for child in self.daemon.iter_mut().chain(std::iter::once(&mut self.sim)) {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
