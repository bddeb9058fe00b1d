//! One device's engine: events in, effects out.

use mgpu_protocol::gate::Gate;
use mgpu_protocol::units::Nanos;

use crate::accounts::SavedAccount;
use crate::event::{Activity, Effect, Event};
use crate::policy::PolicyKind;
use crate::reason::Reason;
use crate::settings::Settings;
use crate::tenant::{Entitlement, TenantId};

/// What a tenant is doing, for `mgpu ps` and metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TenantStatus {
    /// Its row.
    pub entitlement: Entitlement,
    /// Its gate as last set.
    pub gate: Gate,
    /// Its account.
    pub account: SavedAccount,
    /// It wants the device and its gate is closed, since then.
    pub waiting_since: Option<Nanos>,
    /// The last decision about it.
    pub reason: Option<Reason>,
    /// The last that was seen of it.
    pub activity: Activity,
}

/// One device's engine. Owns who holds the turn and what everybody has paid; owned by the shell, used from one thread.
#[derive(Clone, Debug)]
pub struct Engine {
    settings: Settings,
    policy: PolicyKind,
}

impl Engine {
    /// An engine of a device on which nobody has run.
    #[must_use]
    pub fn new(policy: PolicyKind, settings: Settings, _now: Nanos) -> Self {
        Self { settings, policy }
    }

    /// An engine after a restart of the daemon: `saved` accounts wait for their tenants; no exclusive grant is made until
    /// every tenant in `expected` has re-attached and been seen quiesced once, or 1 s and a drain deadline have passed.
    #[must_use]
    pub fn recovered(
        policy: PolicyKind,
        settings: Settings,
        _saved: &[SavedAccount],
        _expected: &[TenantId],
        now: Nanos,
    ) -> Self {
        Self::new(policy, settings, now)
    }

    /// Takes one event and says what to do. `now` never goes back (an earlier `now` counts as the last one). Events of
    /// unknown tenants are ignored. Never panics, whatever a tenant wrote into its page.
    pub fn step(&mut self, _event: Event, _now: Nanos) -> Vec<Effect> {
        Vec::new()
    }

    /// The device's policy.
    #[must_use]
    pub const fn policy(&self) -> PolicyKind {
        self.policy
    }

    /// The settings in force.
    #[must_use]
    pub const fn settings(&self) -> &Settings {
        &self.settings
    }

    /// All accounts as of the last step, ordered by tenant, for the state file.
    #[must_use]
    pub fn saved_accounts(&self) -> Vec<SavedAccount> {
        Vec::new()
    }

    /// What one tenant is doing as of the last step.
    #[must_use]
    pub fn status(&self, _tenant: TenantId) -> Option<TenantStatus> {
        None
    }
}
