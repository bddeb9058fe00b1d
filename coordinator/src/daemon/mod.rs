//! The loop: clock + sockets + pages → engine → pages. One thread owns everything here; slow calls go to `chores`. The loop
//! sleeps until a descriptor is ready or the nearest deadline; with nobody competing there is no deadline.

mod change;
mod compute;
mod control;
mod declare;
mod memory;
mod persist;
mod restore;
mod session;
mod start;
mod tenants;

use std::collections::{BTreeMap, VecDeque};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;

use mgpu_coordinator_core::TenantId;
use mgpu_protocol::units::Nanos;
use tracing::{debug, info};

use crate::chores::Chores;
use crate::clock;
use crate::config::Config;
use crate::device::Device;
use crate::meter::Meter;
use crate::nvml::Gpu;
use crate::poller::{Poller, Token};
use crate::tenant::Tenant;

pub(crate) use start::Launch;

/// What a watched descriptor stands for.
#[derive(Clone, Copy, Debug)]
enum Source {
    Signals,
    Chores,
    ControlListener,
    ControlPeer,
    DeclareListener,
    DeclarePeer,
    /// A tenant's socket.
    Listener(TenantId),
    /// A tenant's want eventfd.
    Bell(TenantId),
    /// The process that a tenant was made for has died.
    Keeper(TenantId),
    /// A client's connection.
    Connection(TenantId),
    /// A client's process has died; the token of its connection.
    ClientDeath(TenantId, Token),
    /// A ghost's process has died.
    GhostDeath(TenantId),
}

/// The daemon.
#[derive(Debug)]
pub(crate) struct Daemon {
    config: Config,
    config_file: Option<PathBuf>,
    user: bool,
    exit_when_idle: bool,
    runtime_dir: PathBuf,
    /// Held while we live; tells a second daemon who we are.
    _runtime_lock: std::fs::File,
    epoch: u64,
    boot: String,
    gpu: Arc<Gpu>,
    poller: Poller,
    sources: BTreeMap<Token, Source>,
    chores: Chores,
    signals: UnixStream,
    control: OwnedFd,
    /// While it is muted the daemon's own listeners are not heard: nothing could be accepted.
    deaf: Meter,
    declare: Option<OwnedFd>,
    control_peers: BTreeMap<Token, control::Peer>,
    declare_peers: BTreeMap<Token, OwnedFd>,
    devices: Vec<Device>,
    tenants: BTreeMap<TenantId, Tenant>,
    next_tenant: u32,
    persist: persist::Persist,
    audit: memory::Audit,
    /// When the last tenant went, or the daemon started.
    idle_since: Option<Nanos>,
    stopping: bool,
}

/// How long a per-user daemon waits for its first tenant.
const FIRST_TENANT: Nanos = Nanos::from_millis(10_000);
/// How long it stays after its last one, so that the next command of a script finds it.
const LAST_TENANT: Nanos = Nanos::from_millis(0);

impl Daemon {
    /// Runs until told to stop, or until idle if it was started so.
    ///
    /// # Errors
    /// The kernel refuses to wait; nothing can be done then.
    pub(crate) fn run(&mut self) -> std::io::Result<()> {
        let mut ready = Vec::new();
        while !self.stopping {
            let until = self.next_deadline();
            self.poller.wait(until, &mut ready)?;
            for token in ready.drain(..) {
                self.handle(token);
            }
            self.do_due(clock::now());
        }
        self.stop();
        Ok(())
    }

    fn handle(&mut self, token: Token) {
        // A source may have gone while an earlier one of this round was handled.
        let Some(source) = self.sources.get(&token).copied() else { return };
        match source {
            Source::Signals => self.on_signal(),
            Source::Chores => self.on_chores(),
            Source::ControlListener => self.accept_control(),
            Source::ControlPeer => self.on_control(token),
            Source::DeclareListener => self.accept_declare(),
            Source::DeclarePeer => self.on_declare(token),
            Source::Listener(tenant) => self.accept_client(tenant),
            Source::Bell(tenant) => self.on_bell(tenant),
            Source::Keeper(tenant) => self.on_keeper_death(tenant),
            Source::Connection(tenant) => self.on_packets(tenant, token),
            Source::ClientDeath(tenant, connection) => self.lose_client(tenant, connection, true),
            Source::GhostDeath(tenant) => self.on_ghost_death(tenant, token),
        }
    }

    /// Everything whose time has come. Cheap when nothing has.
    fn do_due(&mut self, now: Nanos) {
        self.run_engines(now);
        self.beat(now);
        self.unmute(now);
        self.drop_silent_connections(now);
        self.settle_due(now);
        self.audit_due(now);
        self.end_tenants(now);
        self.save_due(now);
        if self.exit_when_idle && self.idle_deadline().is_some_and(|at| at <= now) {
            info!("idle: the last tenant has gone");
            self.stopping = true;
        }
    }

    fn next_deadline(&self) -> Option<Nanos> {
        let devices = self.devices.iter().filter_map(Device::next);
        let tenants = self.tenants.values().flat_map(|t| {
            [t.next_beat, t.next_unmute(), t.settling_until, declare::deadline(t), session::hello_deadline(t)]
        });
        let own = [
            self.deaf.muted_until(),
            self.persist.due(),
            self.audit.due(),
            self.idle_deadline().filter(|_| self.exit_when_idle),
        ];
        devices.chain(tenants.flatten()).chain(own.into_iter().flatten()).min()
    }

    fn idle_deadline(&self) -> Option<Nanos> {
        let since = self.idle_since?;
        let grace = if self.persist.had_tenant { LAST_TENANT } else { FIRST_TENANT };
        Some(since.plus(grace))
    }

    fn on_signal(&mut self) {
        use std::io::Read;
        let mut numbers = [0_u8; 16];
        let count = self.signals.read(&mut numbers).unwrap_or(0);
        for number in numbers.iter().take(count) {
            if i32::from(*number) == signal_hook::consts::SIGHUP {
                self.reload();
            } else {
                info!(signal = number, "stopping");
                self.stopping = true;
            }
        }
    }

    /// SIGHUP: what may change while tenants run, from the configuration file.
    fn reload(&mut self) {
        let Some(file) = &self.config_file else {
            info!("reload: no configuration file was named, nothing to read");
            return;
        };
        let config = match Config::load(file) {
            Ok(config) => config,
            Err(error) => {
                tracing::error!(%error, "reload refused, the old configuration stays");
                return;
            }
        };
        self.config = config;
        info!(file = %file.display(), "reloaded: settings of engines; paths, rules and scheduling take a restart");
        for device in 0..self.devices.len() {
            let settings = self.devices[device].settings(&self.config);
            self.drive(device, mgpu_coordinator_core::Event::SettingsChanged { settings });
        }
    }

    fn watch(&mut self, fd: impl std::os::fd::AsFd, source: Source) -> std::io::Result<Token> {
        let token = self.poller.add(fd)?;
        self.sources.insert(token, source);
        Ok(token)
    }

    /// Forgets a descriptor that is about to be closed. Explicit, since a copy of it may live in a client and would keep the
    /// kernel telling.
    fn unwatch(&mut self, fd: impl std::os::fd::AsFd, token: Token) {
        self.poller.remove(fd);
        self.sources.remove(&token);
    }

    /// Clean end. Clients of a system daemon go on and find the next one; those of a per-user daemon have gone.
    fn stop(&mut self) {
        self.save_now();
        let done = self.chores.finish();
        self.take_done(done);
        let leave_nothing = self.exit_when_idle && self.tenants.is_empty();
        self.remove_own_files(leave_nothing);
        debug!(wakeups = self.poller.wakeups, "stopped");
    }
}

/// Rounds of engine and look within one turn of the loop; what is left is done in the next.
const ROUNDS: usize = 64;

/// Events that wait for their engine.
type Pending = VecDeque<mgpu_coordinator_core::Event>;
