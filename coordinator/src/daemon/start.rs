//! Start and end of the daemon: devices, locks, directory, sockets, the last daemon's state; what is left behind.

use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use mgpu_coordinator_core::TenantId;
use rustix::fs::FlockOperation;
use rustix::net::SocketType;
use tracing::{debug, info, warn};

use super::restore::expected_by_device;
use super::{Daemon, Source, persist::Persist};
use crate::chores::Chores;
use crate::clock;
use crate::config::{Config, Declared, explicit};
use crate::device::Device;
use crate::device_lock::{LockDirectory, Taken};
use crate::meter::Meter;
use crate::nvml::Gpu;
use crate::poller::Poller;
use crate::process;
use crate::runtime_dir::{PathError, default_path, listen, own_directory};
use crate::scheduling;
use crate::state::{self, Found, State};

/// How a daemon is started.
#[derive(Debug)]
pub(crate) struct Launch {
    pub(crate) config: Config,
    pub(crate) config_file: Option<PathBuf>,
    pub(crate) runtime_dir: Option<PathBuf>,
    pub(crate) user: bool,
    pub(crate) exit_when_idle: bool,
}

/// Why a daemon did not start; the text is for people and names what is wrong.
pub(crate) type StartError = Box<dyn std::error::Error>;

const STATE_FILE: &str = "state.json";
const LOCK_FILE: &str = "mgpud.lock";
/// A daemon that is about to end lets go within this.
const LETTING_GO: Duration = Duration::from_secs(2);

impl Daemon {
    /// Starts: when it returns, the control socket answers.
    ///
    /// # Errors
    /// No device, another coordinator, a path that is not ours.
    pub(crate) fn start(launch: Launch) -> Result<Self, StartError> {
        let Launch { config, config_file, runtime_dir, user, exit_when_idle } = launch;
        let runtime_dir = runtime_dir.or_else(|| explicit(&config.runtime_dir)).unwrap_or_else(|| default_path(user));
        let descriptors = scheduling::raise_descriptors();
        debug!(?descriptors, "limit of open descriptors");
        let signals = signal_socket()?;
        let nvml = explicit(&config.nvml).or_else(|| environment("MGPU_NVML"));
        let gpu = Arc::new(Gpu::open(nvml.as_deref())?);
        let facts = gpu.devices()?;
        let control_path = runtime_dir.join("control.sock");
        let lock_directory = LockDirectory::open(explicit(&config.lock_dir).or_else(|| environment("MGPU_LOCK_DIR")))?;
        let mut locks = Vec::new();
        for device in &facts {
            let uuid = device.uuid.to_string();
            locks.push(patiently(|| lock_directory.take(&uuid, &control_path))?);
        }
        let runtime_lock = patiently(|| claim_runtime_dir(&runtime_dir, user))?;
        own_directory(&runtime_dir.join("tenants"), if user { 0o700 } else { 0o711 })?;
        let boot = process::boot_id();
        let state_file = runtime_dir.join(STATE_FILE);
        let saved = read_state(&state_file, &boot)?;
        let chores = Chores::start(Arc::clone(&gpu), state_file)?;
        let now = clock::now();
        let expected = saved.as_ref().map(expected_by_device).unwrap_or_default();
        let devices = facts
            .into_iter()
            .zip(locks)
            .map(|(facts, lock)| {
                let uuid = facts.uuid.to_string();
                let old = saved.as_ref().and_then(|s| s.devices.iter().find(|d| d.uuid == uuid));
                let ids: Vec<TenantId> =
                    expected.iter().filter(|(device, _)| *device == uuid).map(|(_, id)| *id).collect();
                info!(device = %uuid, name = %facts.name, memory = %facts.total, "device");
                Device::new(facts, &config, lock, old, &ids, now)
            })
            .collect();
        let control = listen(&control_path, SocketType::STREAM, 0o600)?;
        let declare = open_declare(&config, user, &runtime_dir)?;
        let mut daemon = Self {
            epoch: saved.as_ref().map_or(0, |s| s.daemon_epoch).max(now.0) + 1,
            config,
            config_file,
            user,
            exit_when_idle,
            runtime_dir,
            _runtime_lock: runtime_lock,
            boot,
            gpu,
            poller: Poller::new()?,
            sources: std::collections::BTreeMap::new(),
            chores,
            signals,
            control,
            deaf: Meter::new(u32::MAX),
            declare,
            control_peers: std::collections::BTreeMap::new(),
            declare_peers: std::collections::BTreeMap::new(),
            devices,
            tenants: std::collections::BTreeMap::new(),
            next_tenant: saved.as_ref().map_or(1, |s| s.next_tenant.max(1)),
            persist: Persist::default(),
            audit: super::memory::Audit::default(),
            idle_since: Some(now),
            stopping: false,
        };
        daemon.watch_own()?;
        daemon.restore_all(saved.as_ref());
        daemon.save_now();
        daemon.announce();
        Ok(daemon)
    }

    fn watch_own(&mut self) -> std::io::Result<()> {
        let token = self.poller.add(&self.signals)?;
        self.sources.insert(token, Source::Signals);
        let token = self.poller.add(self.chores.bell())?;
        self.sources.insert(token, Source::Chores);
        let token = self.poller.add(&self.control)?;
        self.sources.insert(token, Source::ControlListener);
        if let Some(declare) = &self.declare {
            let token = self.poller.add(declare)?;
            self.sources.insert(token, Source::DeclareListener);
        }
        Ok(())
    }

    fn announce(&self) {
        let granted = scheduling::apply(self.config.scheduling);
        info!(
            version = env!("CARGO_PKG_VERSION"), pid = std::process::id(), runtime_dir = %self.runtime_dir.display(),
            nvml = %self.gpu.path().display(), driver = self.gpu.driver_version().unwrap_or_default(),
            devices = self.devices.len(), scheduling = granted.name(), declared = self.declare.is_some(),
            epoch = self.epoch, "ready"
        );
    }

    /// Removes what a stopped daemon should not leave; `all`: everything, since nobody will come back for it.
    pub(super) fn remove_own_files(&self, all: bool) {
        let mut names = vec!["control.sock", "declare.sock"];
        if all {
            // mgpud.log is made by `mgpu run`, for the coordinator that it starts.
            names.extend([STATE_FILE, "mgpud.log", LOCK_FILE]);
        }
        for name in names {
            let _ = fs::remove_file(self.runtime_dir.join(name));
        }
        if all {
            let _ = fs::remove_dir(self.runtime_dir.join("tenants"));
            let _ = fs::remove_dir(&self.runtime_dir);
        }
    }
}

/// A path from the environment, for what the configuration leaves open.
fn environment(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// SIGTERM, SIGINT and SIGHUP as bytes on a socket.
fn signal_socket() -> std::io::Result<UnixStream> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let (read, write) = UnixStream::pair()?;
    read.set_nonblocking(true)?;
    for signal in [SIGTERM, SIGINT, SIGHUP] {
        let write = write.try_clone()?;
        signal_numbers(signal, write)?;
    }
    Ok(read)
}

/// One process-wide handler that writes the signal's number.
fn signal_numbers(signal: i32, to: UnixStream) -> std::io::Result<()> {
    let byte = [u8::try_from(signal).unwrap_or(0)];
    // SAFETY: the handler makes one send() without waiting on a descriptor that lives for ever, which is async-signal-safe.
    unsafe {
        signal_hook::low_level::register(signal, move || {
            let _ = rustix::net::send(&to, &byte, rustix::net::SendFlags::DONTWAIT | rustix::net::SendFlags::NOSIGNAL);
        })?
    };
    Ok(())
}

fn open_declare(config: &Config, user: bool, runtime_dir: &Path) -> Result<Option<OwnedFd>, PathError> {
    let allowed = match config.declared_tenants {
        Declared::Auto => user,
        Declared::Allow => true,
        Declared::Refuse => false,
    };
    if !allowed {
        return Ok(None);
    }
    listen(&runtime_dir.join("declare.sock"), SocketType::SEQPACKET, if user { 0o600 } else { 0o666 }).map(Some)
}

/// Tries again for a while if what we want is held by a daemon that does not answer (any more, or yet).
fn patiently<T>(mut take: impl FnMut() -> Result<T, Taken>) -> Result<T, PathError> {
    let end = Instant::now() + LETTING_GO;
    loop {
        match take() {
            Ok(taken) => return Ok(taken),
            Err(Taken::Never(error)) => return Err(error),
            Err(Taken::By { socket, error }) => {
                let answers = socket.is_some_and(|socket| UnixStream::connect(socket).is_ok());
                if answers || Instant::now() >= end {
                    return Err(error);
                }
                std::thread::sleep(Duration::from_millis(10));
            }
        }
    }
}

/// One daemon per runtime directory. The directory and its lock may be removed by an ending daemon while we take them, so it
/// counts only if the locked file is the one that stands there.
fn claim_runtime_dir(runtime_dir: &Path, user: bool) -> Result<fs::File, Taken> {
    own_directory(runtime_dir, if user { 0o700 } else { 0o755 })?;
    let path = runtime_dir.join(LOCK_FILE);
    let fail = |e: std::io::Error| PathError(format!("{}: {e}", path.display()));
    let held = |error: String| Taken::By { socket: Some(runtime_dir.join("control.sock")), error: PathError(error) };
    let mut file = fs::File::options().read(true).write(true).create(true).truncate(false).open(&path).map_err(fail)?;
    if rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
        let owner = fs::read_to_string(&path).unwrap_or_default();
        return Err(held(format!(
            "{} is in use by another coordinator (pid {}); name another runtime directory",
            runtime_dir.display(),
            owner.trim()
        )));
    }
    let inode = file.metadata().map_err(fail)?.ino();
    if fs::metadata(&path).map(|m| m.ino()).ok() != Some(inode) {
        return Err(held(format!("{} is being removed by another coordinator", runtime_dir.display())));
    }
    file.set_len(0).map_err(fail)?;
    std::io::Write::write_all(&mut file, std::process::id().to_string().as_bytes()).map_err(fail)?;
    Ok(file)
}

fn read_state(path: &Path, boot: &str) -> Result<Option<State>, StartError> {
    match state::read(path, boot)? {
        Found::Nothing => Ok(None),
        Found::State(state) => {
            info!(tenants = state.tenants.len(), "state of an earlier daemon");
            Ok(Some(*state))
        }
        Found::Unusable(why) => {
            let aside = path.with_extension("json.unusable");
            warn!(path = %path.display(), why, kept = %aside.display(), "the state file is not used");
            fs::rename(path, aside)?;
            Ok(None)
        }
    }
}
