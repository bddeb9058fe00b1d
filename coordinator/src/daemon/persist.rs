//! When the state file is written. Whatever a restarted daemon must not forget (tenants, settings) is written before it is
//! confirmed; what it can do with in a slightly older form (accounts, leases) follows within a bounded time.

use mgpu_protocol::units::Nanos;
use tracing::{debug, error};

use super::Daemon;
use crate::chores::Chore;
use crate::clock;
use crate::state::{State, VERSION};

/// Clients and leases are written within this.
const LAZY: Nanos = Nanos::from_millis(50);

/// What is written and what waits for it.
#[derive(Debug, Default)]
pub(crate) struct Persist {
    /// Number of the last write that was ordered, and of the last that was done.
    ordered: u64,
    done: u64,
    at: Option<Nanos>,
    /// Some tenant existed: a per-user daemon may go when it is idle.
    pub(super) had_tenant: bool,
}

impl Persist {
    /// When to write next.
    pub(super) const fn due(&self) -> Option<Nanos> {
        self.at
    }
}

impl Daemon {
    /// Writes the state; gives a number to wait for.
    pub(super) fn save_now(&mut self) -> u64 {
        self.persist.at = None;
        match self.state().to_text() {
            Ok(text) => {
                self.persist.ordered += 1;
                self.chores.ask(Chore::Save { number: self.persist.ordered, text });
            }
            Err(error) => error!(%error, "state"),
        }
        self.persist.ordered
    }

    /// Writes the state within [`LAZY`]: clients have come or gone, or got leases.
    pub(super) fn save_soon(&mut self) {
        let at = clock::now().plus(LAZY);
        self.persist.at = Some(self.persist.at.map_or(at, |earlier| earlier.min(at)));
    }

    /// Writes if it is time; while somebody competes, accounts change and are written at the configured distance.
    pub(super) fn save_due(&mut self, now: Nanos) {
        if self.persist.at.is_some_and(|at| at <= now) {
            self.save_now();
        }
        if self.persist.at.is_none() && self.devices.iter().any(crate::device::Device::is_busy) {
            self.persist.at = Some(now.plus(self.config.save_interval.0));
        }
    }

    /// A write is done: whoever waited for it gets the answer.
    pub(super) fn on_saved(&mut self, number: u64, error: Option<std::io::Error>) {
        if let Some(error) = error {
            error!(%error, "the state file can't be written; a restarted daemon would not know the latest tenants");
        }
        self.persist.done = self.persist.done.max(number);
        debug!(number, "state written");
        self.answer_saved(self.persist.done);
    }

    fn state(&self) -> State {
        let uuids: Vec<String> = self.devices.iter().map(|d| d.uuid.clone()).collect();
        State {
            version: VERSION,
            boot: self.boot.clone(),
            daemon_epoch: self.epoch,
            next_tenant: self.next_tenant,
            devices: self.devices.iter().map(crate::device::Device::state).collect(),
            tenants: self.tenants.values().map(|t| t.state(&uuids)).collect(),
        }
    }
}
