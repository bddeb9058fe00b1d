//! What an event changes in the engine's picture. No decision is made here.

use mgpu_protocol::units::Nanos;

use super::row::{Drain, Row};
use super::{Engine, Phase};
use crate::event::{Activity, Event};
use crate::policy::{PolicyKind, fixed_share};
use crate::reason::Reason;
use crate::tenant::{Entitlement, TenantId};

/// Looks taken at a holder beside whom nobody waits, to learn how long its launches take.
pub(super) const LESSONS: u8 = 16;
/// Looks further apart than this teach nothing about the time between them.
const LESSON_SPAN: Nanos = Nanos::from_millis(20);
/// Distance of two requests for markers.
const ASK_AGAIN: Nanos = Nanos::from_millis(5);
/// How long a revoked tenant may have an unmarked tail before its clients are asked: those who leave a launch mark their own.
const ASK_FIRST: Nanos = Nanos::from_micros(500);

impl Engine {
    pub(super) fn take(&mut self, event: Event, now: Nanos) {
        match event {
            Event::TenantJoined { tenant, entitlement, reattached } => self.join(tenant, entitlement, reattached, now),
            Event::TenantChanged { tenant, entitlement } => self.change(tenant, entitlement, now),
            Event::TenantLeft { tenant } => self.leave(tenant),
            Event::ClientsGone { tenant } => self.clients_gone(tenant),
            Event::Wanted { tenant } => self.wanted(tenant, now),
            Event::Observed { tenant, activity } => self.observed(tenant, activity, now),
            Event::Timer => {}
            Event::PolicyChanged { policy } => {
                self.policy = policy;
                self.refresh_terms();
            }
            Event::SettingsChanged { settings } => {
                self.settings = settings;
                self.refresh_terms();
            }
        }
    }

    fn join(&mut self, id: TenantId, entitlement: Entitlement, reattached: bool, now: Nanos) {
        if self.rows.contains_key(&id) {
            return self.change(id, entitlement, now);
        }
        self.rows.insert(id, Row::new(entitlement, now));
        self.refresh_terms();
        let opening = self.opening_balance(id);
        let saved = self.saved.remove(&id);
        let settings = self.settings;
        if let Some(row) = self.rows.get_mut(&id) {
            row.account.balance = opening;
            if let Some(saved) = saved {
                row.account.paid = saved.paid;
                row.account.balance = saved.balance_ns.min(opening.max(0));
                if row.terms.policy == PolicyKind::FixedShare {
                    let most = crate::accounts::signed(fixed_share::slice(row.terms.share_ppm, &settings));
                    row.account.accrue(now.since(saved.at), row.terms.share_ppm, most);
                }
            }
            if reattached {
                row.phase = Phase::Draining(Drain { since: now, expired: false, at_work: false });
            }
        }
        if reattached {
            self.note(id, Reason::Reattached);
        }
        self.recovery_joined(id);
    }

    fn change(&mut self, id: TenantId, entitlement: Entitlement, now: Nanos) {
        let Some(row) = self.rows.get_mut(&id) else { return };
        let class = row.class();
        row.entitlement = entitlement;
        if class != entitlement.class {
            // What it was owed by its old class, the new one does not owe it; its debts go with it.
            let balance = row.account.balance;
            row.account.balance = balance.min(0);
            let open = !matches!(row.phase, Phase::Resting | Phase::Draining(_));
            if row.terms.policy == PolicyKind::Fair {
                self.redistribute(class, balance, id);
            }
            if open {
                self.revoke(id, Reason::Changed, now);
            }
        }
        self.refresh_terms();
    }

    fn leave(&mut self, id: TenantId) {
        if let Some(row) = self.rows.remove(&id)
            && row.terms.policy == PolicyKind::Fair
        {
            self.redistribute(row.class(), row.account.balance, id);
        }
        self.saved.remove(&id);
        self.recovery_joined(id);
        self.refresh_terms();
    }

    /// Its turn, its drain and its want are over; what it left on the device the driver takes down.
    fn clients_gone(&mut self, id: TenantId) {
        let Some(row) = self.rows.get_mut(&id) else { return };
        let had = row.turn().is_some() || row.drain().is_some();
        row.activity = Activity { launches: row.activity.launches, ..Activity::default() };
        row.wants = None;
        row.phase = match row.phase {
            Phase::Ajar { .. } => Phase::Ajar { confirmed: true },
            _ => Phase::Resting,
        };
        if had {
            self.note(id, Reason::Gone);
        }
    }

    fn wanted(&mut self, id: TenantId, now: Nanos) {
        if let Some(row) = self.rows.get_mut(&id) {
            row.shun = super::row::Shun::default();
        }
        self.wants(id, now);
    }

    /// The tenant waits at its gate, or has used its open-and-notify gate.
    fn wants(&mut self, id: TenantId, now: Nanos) {
        self.forget_old_balance(id, now);
        let settings = self.settings;
        let Some(row) = self.rows.get_mut(&id) else { return };
        match &mut row.phase {
            Phase::Holding(turn) => {
                turn.idle_since = None;
                // Its gate rings only if it was parked as open-and-notify (see `emit`): learn again.
                turn.lessons = LESSONS;
            }
            Phase::Shared => {}
            Phase::Resting | Phase::Ajar { .. } | Phase::Draining(_) => {
                row.wants.get_or_insert(now);
                if let Some(gave_up) = row.gave_up.take() {
                    row.grace.came_back(now.since(gave_up), &settings);
                }
            }
        }
        row.last_work = Some(now);
    }

    fn observed(&mut self, id: TenantId, activity: Activity, now: Nanos) {
        let slice = self.nominal_slice(id);
        let settings = self.settings;
        let Some(row) = self.rows.get_mut(&id) else { return };
        let before = std::mem::replace(&mut row.activity, activity);
        let seen = std::mem::replace(&mut row.seen, now);
        let launched = activity.launches != before.launches;
        let completed = completions(&before, &activity);
        if completed > 0 {
            row.ended = seen;
        }
        if launched || completed > 0 || activity.entering != before.entering {
            row.progress = now;
        }
        // Work that is over since the last look ended at some time between: as far as anybody knows, now.
        if launched || !activity.is_quiesced() || !before.is_quiesced() {
            row.last_work = Some(now);
        }
        if let Phase::Holding(turn) = &mut row.phase
            && (completed > 0 || activity.in_flight == 0)
        {
            turn.completed = now;
        }
        if (before.in_flight > 0 || launched) && now.since(seen) <= LESSON_SPAN && row.turn().is_some() {
            row.launch_time.observe(now.since(seen), completed, slice, &settings);
        }
        self.note_unmarked(id, launched, now);
        self.seen_in_phase(id, launched, now);
    }

    /// Asks for markers where a tail without one keeps a tenant from being seen idle.
    fn note_unmarked(&mut self, id: TenantId, launched: bool, now: Nanos) {
        let Some(row) = self.rows.get_mut(&id) else { return };
        let due = match row.phase {
            Phase::Draining(drain) => now.since(drain.since) >= ASK_FIRST,
            Phase::Holding(_) => !launched,
            _ => false,
        };
        if due && row.activity.unmarked > 0 && now.since(row.asked) >= ASK_AGAIN {
            row.asked = now;
            self.marks.push(id);
        }
    }

    fn seen_in_phase(&mut self, id: TenantId, launched: bool, now: Nanos) {
        let settings = self.settings;
        let Some(row) = self.rows.get_mut(&id) else { return };
        let quiesced = row.activity.is_quiesced();
        let at_work = row.is_at_work(now, settings.drain_deadline);
        match &mut row.phase {
            Phase::Holding(turn) => {
                turn.launched |= launched || row.activity.in_flight > 0;
                turn.lessons = turn.lessons.saturating_sub(1);
                if quiesced && turn.launched {
                    row.paused = Some(now);
                }
                if !quiesced {
                    turn.idle_since = None;
                } else if launched {
                    turn.idle_since = Some(now);
                } else {
                    turn.idle_since.get_or_insert(now);
                }
            }
            Phase::Ajar { confirmed } => {
                if at_work {
                    self.wants(id, now);
                } else {
                    *confirmed = true;
                }
            }
            Phase::Draining(_) if quiesced => self.quiesced(id, now),
            Phase::Resting | Phase::Draining(_) if row.activity.waiting => self.wants(id, now),
            Phase::Resting | Phase::Draining(_) | Phase::Shared => {}
        }
    }

    /// A drain is over.
    fn quiesced(&mut self, id: TenantId, now: Nanos) {
        let Some(row) = self.rows.get_mut(&id) else { return };
        if let Some(drain) = row.drain().copied()
            && drain.at_work
            && !drain.expired
        {
            row.drain_time.observe(now.since(drain.since));
        }
        row.phase = Phase::Resting;
        let waiting = row.activity.waiting;
        self.note(id, Reason::Quiesced);
        if waiting {
            self.wants(id, now);
        }
    }

    /// The nominal turn of a tenant, for the width of its window.
    pub(super) fn nominal_slice(&self, id: TenantId) -> Nanos {
        let settings = &self.settings;
        match self.rows.get(&id) {
            Some(row) if row.terms.policy == PolicyKind::FixedShare => {
                fixed_share::slice(row.terms.share_ppm, settings)
            }
            _ => {
                let tenants = self.rows.len().max(1) as u64;
                Nanos(settings.round.0 / tenants).clamp(settings.slice_min, settings.slice_max.max(settings.slice_min))
            }
        }
    }
}

/// Completions between two looks; a count that went back (a lie, or a stream that died) is none.
fn completions(before: &Activity, after: &Activity) -> u64 {
    let done = |a: &Activity| a.launches.wrapping_sub(u64::from(a.in_flight));
    let difference = done(after).wrapping_sub(done(before));
    if difference > u64::MAX / 2 { 0 } else { difference }
}
