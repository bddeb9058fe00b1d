//! One device as the daemon keeps it: its engine, its register of tenants, whom to look at and when. Time comes in from the
//! loop; nothing here touches a page or a socket.

use std::collections::{BTreeMap, VecDeque};

use mgpu_coordinator_core::{Admission, DeviceRules, Engine, PolicyKind, Reason, SavedAccount, Settings, TenantId};
use mgpu_protocol::units::Nanos;

use crate::config::Config;
use crate::device_lock::DeviceLock;
use crate::nvml::DeviceFacts;
use crate::state::{AccountState, DeviceState};

/// Decisions kept for `mgpu why`.
const DECISIONS: usize = 256;

/// One decision of the engine.
#[derive(Clone, Copy, Debug)]
#[allow(
    dead_code,
    reason = "read by the debugger and by `mgpu why`, which comes later; kept from the first version on"
)]
pub(crate) struct Decision {
    /// When.
    pub(crate) at: Nanos,
    /// About whom.
    pub(crate) tenant: TenantId,
    /// What and why.
    pub(crate) reason: Reason,
}

/// Somebody whose page is looked at.
#[derive(Clone, Copy, Debug)]
struct Watch {
    every: Nanos,
    last: Nanos,
}

impl Watch {
    fn next(&self) -> Nanos {
        self.last.plus(self.every)
    }
}

/// A device.
#[derive(Debug)]
pub(crate) struct Device {
    /// What NVML says.
    pub(crate) facts: DeviceFacts,
    /// Its UUID as text.
    pub(crate) uuid: String,
    /// Who may use it.
    pub(crate) admission: Admission,
    /// Who may launch.
    pub(crate) engine: Engine,
    /// The engine's one timer.
    pub(crate) wake_at: Option<Nanos>,
    /// Changed by the operator while running; outlives a restart.
    pub(crate) operator_policy: Option<PolicyKind>,
    /// As above.
    pub(crate) operator_hold: Option<Nanos>,
    /// Policy of the last daemon's time; for tenants that are restored.
    pub(crate) recorded_policy: Option<PolicyKind>,
    watches: BTreeMap<TenantId, Watch>,
    decisions: VecDeque<Decision>,
    _lock: DeviceLock,
}

impl Device {
    /// A device without tenants; with the accounts and the operator's wishes of `saved` if there was an earlier daemon, whose
    /// tenants `expected` may still have work on it.
    pub(crate) fn new(
        facts: DeviceFacts,
        config: &Config,
        lock: DeviceLock,
        saved: Option<&DeviceState>,
        expected: &[TenantId],
        now: Nanos,
    ) -> Self {
        let uuid = facts.uuid.to_string();
        let operator_policy = saved.and_then(|s| s.operator_policy.as_deref()?.parse().ok());
        let operator_hold = saved.and_then(|s| s.operator_hold_ns).map(Nanos);
        let rules = DeviceRules {
            memory: facts.total,
            reserve: config.reserve(&uuid),
            overcommit: config.overcommit,
            policy: operator_policy.or_else(|| config.policy(&uuid)),
        };
        let settings = settings(config, &uuid, operator_hold);
        let recorded: Option<PolicyKind> = saved.and_then(|s| s.policy.as_deref()?.parse().ok());
        let policy = rules.policy.or(recorded).unwrap_or(PolicyKind::Fair);
        let engine = match saved {
            None => Engine::new(policy, settings, now),
            Some(saved) => {
                let accounts: Vec<SavedAccount> = saved.accounts.iter().map(to_account).collect();
                Engine::recovered(policy, settings, &accounts, expected, now)
            }
        };
        Self {
            facts,
            uuid,
            admission: Admission::new(rules),
            engine,
            wake_at: None,
            operator_policy,
            operator_hold,
            recorded_policy: recorded,
            watches: BTreeMap::new(),
            decisions: VecDeque::new(),
            _lock: lock,
        }
    }

    /// The engine's settings under a new configuration.
    pub(crate) fn settings(&self, config: &Config) -> Settings {
        settings(config, &self.uuid, self.operator_hold)
    }

    /// Looks at a tenant each `every` from its last look on; `None` stops it. `at_once`: the caller looks now.
    pub(crate) fn watch(&mut self, tenant: TenantId, every: Option<Nanos>, at_once: bool, now: Nanos) {
        let Some(every) = every else {
            self.watches.remove(&tenant);
            return;
        };
        let watch = self.watches.entry(tenant).or_insert(Watch { every, last: now });
        watch.every = every;
        if at_once {
            watch.last = now;
        }
    }

    /// A tenant whose look is due, its next look set; call until there is none.
    pub(crate) fn due(&mut self, now: Nanos) -> Option<TenantId> {
        let (tenant, watch) = self.watches.iter_mut().find(|(_, w)| w.next() <= now)?;
        watch.last = now;
        Some(*tenant)
    }

    /// Whether the engine wants to know what this tenant does.
    pub(crate) fn is_watched(&self, tenant: TenantId) -> bool {
        self.watches.contains_key(&tenant)
    }

    /// When something is to be done for this device.
    pub(crate) fn next(&self) -> Option<Nanos> {
        self.watches.values().map(Watch::next).chain(self.wake_at).min()
    }

    /// Somebody competes: accounts change.
    pub(crate) fn is_busy(&self) -> bool {
        !self.watches.is_empty()
    }

    /// Keeps a decision.
    pub(crate) fn note(&mut self, decision: Decision) {
        if self.decisions.len() == DECISIONS {
            self.decisions.pop_front();
        }
        self.decisions.push_back(decision);
    }

    /// What the state file keeps.
    pub(crate) fn state(&self) -> DeviceState {
        DeviceState {
            uuid: self.uuid.clone(),
            policy: self.admission.policy().map(|p| p.name().to_owned()),
            operator_policy: self.operator_policy.map(|p| p.name().to_owned()),
            operator_hold_ns: self.operator_hold.map(|hold| hold.0),
            accounts: self.engine.saved_accounts().iter().map(from_account).collect(),
        }
    }
}

fn settings(config: &Config, uuid: &str, operator_hold: Option<Nanos>) -> Settings {
    let settings = config.engine(uuid);
    Settings { hold: operator_hold.unwrap_or(settings.hold), ..settings }
}

const fn to_account(a: &AccountState) -> SavedAccount {
    SavedAccount { tenant: a.tenant, paid: Nanos(a.paid_ns), balance_ns: a.balance_ns, at: Nanos(a.at_ns) }
}

const fn from_account(a: &SavedAccount) -> AccountState {
    AccountState { tenant: a.tenant, paid_ns: a.paid.0, balance_ns: a.balance_ns, at_ns: a.at.0 }
}
