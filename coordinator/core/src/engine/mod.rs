//! One device's engine: events in, effects out. Owns who has the turn and what everybody has paid; knows no clock, no page,
//! no socket, no other device.
//!
//! A step does five things in a fixed order, each in its own file:
//!
//! 1. `settle`: charge the time since the last step by the roles that were in force;
//! 2. `take`: what the event changes (`Observed` ends drains and notices idleness; nothing else does);
//! 3. `expire`: drains past their deadline;
//! 4. `judge`: which class has the device, then that class's policy, until it says Keep;
//! 5. `emit`: compare the gates, watches and timer that should be with those that were last asked for.
//!
//! Room for gangs: a step decides for one device and its effects name no device, so that one caller can ask several engines
//! and carry out all of their grants or none; what is missing for that is a veto between 4 and 5.

mod emit;
mod judge;
mod recovery;
mod row;
mod settle;
mod take;
mod terms;

use std::collections::BTreeMap;

use mgpu_protocol::gate::Gate;
use mgpu_protocol::units::Nanos;

use crate::accounts::SavedAccount;
use crate::event::{Activity, Effect, Event};
use crate::policy::PolicyKind;
use crate::reason::Reason;
use crate::settings::Settings;
use crate::tenant::{Entitlement, TenantId};
use recovery::Recovery;
use row::{Drain, Phase, Row, Turn};

/// What a tenant is doing, for `mgpu ps` and metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TenantStatus {
    /// Its row.
    pub entitlement: Entitlement,
    /// Its gate as last set.
    pub gate: Gate,
    /// It has the turn; at most one tenant of a device.
    pub holds: bool,
    /// Its account.
    pub account: SavedAccount,
    /// It wants the device and its gate is closed, since then.
    pub waiting_since: Option<Nanos>,
    /// The last decision about it.
    pub reason: Option<Reason>,
    /// The last that was seen of it.
    pub activity: Activity,
}

/// One device's engine; owned by the shell, used from one thread.
#[derive(Clone, Debug)]
pub struct Engine {
    settings: Settings,
    policy: PolicyKind,
    /// Time of the last step.
    now: Nanos,
    rows: BTreeMap<TenantId, Row>,
    /// Accounts of an earlier daemon whose tenants have not joined yet.
    saved: BTreeMap<TenantId, SavedAccount>,
    recovery: Option<Recovery>,
    /// Epoch of the last change of any gate's state; 26 bits are sent.
    epoch: u32,
    /// The timer as last asked for.
    timer: Option<Nanos>,
    /// Decisions of this step.
    decided: Vec<(TenantId, Reason)>,
    /// Tenants to ask for markers in this step.
    marks: Vec<TenantId>,
}

impl Engine {
    /// An engine of a device on which nobody has run.
    #[must_use]
    pub const fn new(policy: PolicyKind, settings: Settings, now: Nanos) -> Self {
        Self {
            settings,
            policy,
            now,
            rows: BTreeMap::new(),
            saved: BTreeMap::new(),
            recovery: None,
            epoch: 0,
            timer: None,
            decided: Vec::new(),
            marks: Vec::new(),
        }
    }

    /// An engine after a restart of the daemon: `saved` accounts wait for their tenants; no exclusive grant is made until
    /// every tenant in `expected` has re-attached (`TenantJoined` with `reattached`) and been seen quiesced once, or 1 s and
    /// a drain deadline have passed.
    #[must_use]
    pub fn recovered(
        policy: PolicyKind,
        settings: Settings,
        saved: &[SavedAccount],
        expected: &[TenantId],
        now: Nanos,
    ) -> Self {
        let mut engine = Self::new(policy, settings, now);
        engine.saved = saved.iter().map(|account| (account.tenant(), *account)).collect();
        engine.recovery = Recovery::start(expected, &settings, now);
        engine
    }

    /// Takes one event and says what to do. `now` never goes back (an earlier `now` counts as the last one). Events of
    /// unknown tenants change nothing. Never panics, whatever a tenant wrote into its page.
    pub fn step(&mut self, event: Event, now: Nanos) -> Vec<Effect> {
        let now = now.max(self.now);
        self.settle(now);
        self.take(event, now);
        self.expire(now);
        let again = self.decide(now);
        self.emit(again, now)
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

    /// Who has the turn.
    #[must_use]
    pub fn holder(&self) -> Option<TenantId> {
        self.rows.iter().find(|(_, row)| row.turn().is_some()).map(|(id, _)| *id)
    }

    /// True after a restart, until exclusive grants are made again.
    #[must_use]
    pub const fn is_observing(&self) -> bool {
        self.recovery.is_some()
    }

    /// All accounts as of the last step, ordered by tenant, for the state file; those whose tenants have not come back yet
    /// included.
    #[must_use]
    pub fn saved_accounts(&self) -> Vec<SavedAccount> {
        let mut all = self.saved.clone();
        all.extend(self.rows.iter().map(|(id, row)| (*id, self.saved_account(*id, row))));
        all.into_values().collect()
    }

    /// What one tenant is doing as of the last step.
    #[must_use]
    pub fn status(&self, tenant: TenantId) -> Option<TenantStatus> {
        let row = self.rows.get(&tenant)?;
        Some(TenantStatus {
            entitlement: row.entitlement,
            gate: row.gate,
            holds: row.turn().is_some(),
            account: self.saved_account(tenant, row),
            waiting_since: row.wants,
            reason: row.reason,
            activity: row.activity,
        })
    }

    const fn saved_account(&self, id: TenantId, row: &Row) -> SavedAccount {
        SavedAccount { tenant: id.0, paid: row.account.paid, balance_ns: row.account.balance, at: self.now }
    }

    /// Lets the next ones in where a drain has passed its deadline.
    fn expire(&mut self, now: Nanos) {
        let deadline = self.settings.drain_deadline;
        let mut passed = Vec::new();
        for (id, row) in &mut self.rows {
            if let Phase::Draining(drain) = &mut row.phase
                && !drain.expired
                && now.since(drain.since) >= deadline
            {
                drain.expired = true;
                passed.push(*id);
            }
        }
        for id in passed {
            self.note(id, Reason::DeadlinePassed);
        }
    }

    /// Gives the turn to a tenant. The caller has made sure that nobody has it.
    fn grant(&mut self, id: TenantId, reason: Reason, now: Nanos) {
        let Some(row) = self.rows.get_mut(&id) else { return };
        // An open-and-notify gate rings only after a launch.
        let launched = matches!(row.phase, Phase::Ajar { .. }) || row.wants.is_none();
        row.phase =
            Phase::Holding(Turn { since: now, launched, completed: now, idle_since: None, lessons: take::LESSONS });
        row.wants = None;
        let online = row.is_online();
        self.note(id, reason);
        if online {
            self.shut_ajar(now);
        }
    }

    /// Takes the turn (or an ajar or shared gate) from a tenant: it drains.
    fn revoke(&mut self, id: TenantId, reason: Reason, now: Nanos) {
        let Some(row) = self.rows.get_mut(&id) else { return };
        let at_work = row.turn().is_some() && !matches!(reason, Reason::Idle | Reason::NeverLaunched);
        match reason {
            Reason::Idle => row.gave_up = Some(now),
            Reason::NeverLaunched => row.shun.longer(now),
            _ => {}
        }
        row.phase = Phase::Draining(Drain { since: now, expired: false, at_work });
        row.look = true;
        if reason == Reason::NeverLaunched {
            self.waive(id);
        }
        self.note(id, reason);
    }

    /// Closes the gates of online tenants that stood ajar: one of them has the turn now.
    fn shut_ajar(&mut self, now: Nanos) {
        let ajar: Vec<TenantId> =
            self.rows.iter().filter(|(_, row)| matches!(row.phase, Phase::Ajar { .. })).map(|(id, _)| *id).collect();
        for id in ajar {
            self.revoke(id, Reason::OnlineTurn, now);
        }
    }

    /// Remembers why something was decided about a tenant.
    fn note(&mut self, id: TenantId, reason: Reason) {
        if let Some(row) = self.rows.get_mut(&id) {
            row.reason = Some(reason);
        }
        self.decided.push((id, reason));
    }
}
