//! Decisions: which class has the device, then what that class's policy says, carried out on the engine's picture until
//! there is nothing more to do.

use mgpu_protocol::units::{Class, Nanos};

use super::row::Row;
use super::{Engine, Phase};
use crate::accounts::WHOLE;
use crate::policy::online_offline::{OnlineWork, Power, power};
use crate::policy::{Claim, Decision, Holder, PolicyKind, Verdict, View, earlier, fixed_share};
use crate::reason::Reason;
use crate::recent::WINDOW;
use crate::tenant::TenantId;

/// What one round of judging came to.
enum Round {
    /// Something changed: judge again.
    Acted,
    /// Nothing to do before then.
    Settled(Option<Nanos>),
}

impl Engine {
    /// Judges until nothing changes; says when to ask again at the latest.
    pub(super) fn decide(&mut self, now: Nanos) -> Option<Nanos> {
        if let Some(again) = self.observe_on(now) {
            return Some(again);
        }
        let mut again = None;
        // Each round moves one tenant on; nobody moves more than twice in one step.
        for _ in 0..=2 * self.rows.len() + 2 {
            match self.round(now) {
                Round::Acted => {}
                Round::Settled(at) => {
                    again = at;
                    break;
                }
            }
        }
        let ajar = self.set_ajar(now);
        let shunned = self.rows.values().filter(|row| row.wants.is_some() && row.shun.until > now);
        let shunned = shunned.map(|row| row.shun.until).min();
        [ajar, shunned, self.next_deadline()].into_iter().fold(again, earlier)
    }

    fn round(&mut self, now: Nanos) -> Round {
        if let Some(id) = self.sole_uncapped() {
            return self.extend_sole(id, now);
        }
        let power = power(now, self.settings.hold, self.online_work(now));
        let holder = self.holder_and_class();
        let offline_claims = self.rows.values().any(|row| !row.is_online() && row.claims(now));
        match holder {
            Some((id, Class::Offline)) if power != Power::Offline => {
                self.revoke(id, Reason::Preempted, now);
                return Round::Acted;
            }
            Some((id, Class::Online)) if power == Power::Offline && offline_claims => {
                self.step_aside(id, now);
                return Round::Acted;
            }
            _ => {}
        }
        let offline = power == Power::Offline && offline_claims || matches!(holder, Some((_, Class::Offline)));
        let class = if offline { Class::Offline } else { Class::Online };
        let held_until = match power {
            Power::OnlineHolds(until) if offline_claims => Some(until),
            Power::OnlineWorks if offline_claims => self.disbelief_at(now),
            _ => None,
        };
        if holder.is_none() && self.is_blocked(class) {
            return Round::Settled(held_until);
        }
        match self.ask(class, now) {
            Round::Settled(at) => Round::Settled(earlier(at, held_until)),
            Round::Acted => Round::Acted,
        }
    }

    /// Asks the policy of a class and carries its verdict out.
    fn ask(&mut self, class: Class, now: Nanos) -> Round {
        let Some(policy) = self.rows.values().find(|row| row.class() == class).map(|row| row.terms.policy) else {
            return Round::Settled(None);
        };
        let claims: Vec<Claim> = self
            .rows
            .iter()
            .filter(|(_, row)| row.class() == class && row.claims(now))
            .map(|(id, row)| claim(*id, row, row.wants.unwrap_or(now), now))
            .collect();
        let holder = self.holder_view(class, now);
        let view = View { now, settings: &self.settings, holder: holder.as_ref(), claims: &claims };
        let Decision { verdict, again } = policy.rule().decide(&view);
        match (verdict, holder) {
            (Verdict::Grant(id, reason), None) => {
                let preempts =
                    class == Class::Online && self.rows.values().any(|r| !r.is_online() && r.drain().is_some());
                self.grant(id, if preempts { Reason::OnlineArrived } else { reason }, now);
                Round::Acted
            }
            (Verdict::Revoke(reason), Some(holder)) => {
                self.revoke(holder.claim.tenant, reason, now);
                Round::Acted
            }
            // A grant while somebody holds, or a revoke while nobody does, would be a policy's fault: nothing happens.
            _ => Round::Settled(again),
        }
    }

    fn holder_view(&self, class: Class, now: Nanos) -> Option<Holder> {
        let (id, row) = self.rows.iter().find(|(_, row)| row.class() == class && row.turn().is_some())?;
        let turn = row.turn()?;
        let learnt = row.drain_time.expected(row.activity.in_flight, &row.launch_time, &self.settings);
        // A launch that has run for so long without an end is likely to run for as long again.
        let running = if row.activity.in_flight > 0 { row.seen.since(turn.completed) } else { Nanos(0) };
        Some(Holder {
            claim: claim(*id, row, turn.since, now),
            // Unwatched, it may have launched or be at work by now: what was seen before the silence says nothing.
            launched: turn.launched || row.watch.is_none(),
            idle_since: turn.idle_since.filter(|_| row.watch.is_some()),
            grace: row.grace.get(&self.settings),
            drain: learnt.max(running.min(self.settings.drain_deadline)),
        })
    }

    fn holder_and_class(&self) -> Option<(TenantId, Class)> {
        self.rows.iter().find(|(_, row)| row.turn().is_some()).map(|(id, row)| (*id, row.class()))
    }

    /// The only tenant, if its policy sets it no cap.
    pub(super) fn sole_uncapped(&self) -> Option<TenantId> {
        let mut rows = self.rows.iter();
        let (id, row) = rows.next()?;
        (rows.next().is_none() && row.terms.share_ppm >= WHOLE).then_some(*id)
    }

    /// A sole tenant has the turn without asking and for ever. What it left past its deadline may never complete (the GPU has
    /// gone): only its driver can tell it, and only if its launches get there.
    fn extend_sole(&mut self, id: TenantId, now: Nanos) -> Round {
        let is_free = |phase| match phase {
            Phase::Resting | Phase::Ajar { .. } => true,
            Phase::Draining(drain) => drain.expired,
            Phase::Holding(_) | Phase::Shared => false,
        };
        if !self.rows.get(&id).is_some_and(|row| is_free(row.phase)) {
            return Round::Settled(None);
        }
        self.grant(id, Reason::SoleTenant, now);
        Round::Acted
    }

    /// Somebody of that class must be waited for before a grant: offline for everybody, online only for online.
    fn is_blocked(&self, class: Class) -> bool {
        self.rows.values().any(|row| match row.phase {
            Phase::Draining(drain) => !drain.expired && (class == Class::Offline || row.is_online()),
            Phase::Ajar { confirmed } => class == Class::Offline && !confirmed,
            _ => false,
        })
    }

    /// The online class's work, tenant by tenant.
    fn online_work(&self, now: Nanos) -> impl Iterator<Item = OnlineWork> {
        let settings = self.settings;
        self.rows.values().filter(|row| row.is_online()).map(move |row| {
            let busy = row.is_at_work(now, settings.drain_deadline);
            let has_work = match row.phase {
                Phase::Holding(turn) if row.seen <= turn.since => true,
                Phase::Holding(turn) if !turn.launched => busy || now < turn.since.plus(settings.wake_grace),
                Phase::Holding(_) => busy,
                Phase::Draining(drain) => !drain.expired || busy,
                Phase::Resting | Phase::Ajar { .. } => row.claims(now),
                Phase::Shared => true,
            };
            // What an unbelieved tenant claims to be doing is no work since it last moved.
            let unbelieved = !busy && !row.activity.is_quiesced();
            let last = if unbelieved { row.last_work.map(|last| last.min(row.progress)) } else { row.last_work };
            OnlineWork { has_work, last }
        })
    }

    /// When the online class's work may stop being believed, if nothing is seen of it before.
    fn disbelief_at(&self, now: Nanos) -> Option<Nanos> {
        let settings = &self.settings;
        let online = self.rows.values().filter(|row| row.is_online());
        let ends = online.filter_map(|row| {
            let turn = row.turn()?;
            let wake = turn.since.plus(settings.wake_grace);
            Some(if turn.launched { row.progress.plus(settings.drain_deadline) } else { wake })
        });
        ends.filter(|at| *at > now).min()
    }

    /// An online holder without work makes room for offline: its gate stays ajar, or closes if it has used its cap.
    fn step_aside(&mut self, id: TenantId, now: Nanos) {
        if !self.may_stand_ajar(id, now) {
            return self.revoke(id, Reason::Idle, now);
        }
        if let Some(row) = self.rows.get_mut(&id) {
            row.phase = Phase::Ajar { confirmed: false };
            row.look = true;
        }
        self.note(id, Reason::OnlineReady);
    }

    /// Opens the gates of idle online tenants ajar while no online tenant has the turn and an offline one is attached. Says
    /// when one that has used its cap may be opened.
    fn set_ajar(&mut self, now: Nanos) -> Option<Nanos> {
        let offline = self.rows.values().any(|row| !row.is_online());
        let online_turn = self
            .rows
            .values()
            .any(|row| row.is_online() && (row.turn().is_some() || row.drain().is_some_and(|drain| !drain.expired)));
        if !offline || online_turn {
            return None;
        }
        let resting = |row: &Row| row.is_online() && row.phase == Phase::Resting && row.wants.is_none();
        let idle: Vec<TenantId> = self.rows.iter().filter(|(_, row)| resting(row)).map(|(id, _)| *id).collect();
        let mut again = None;
        for id in idle {
            if self.may_stand_ajar(id, now) {
                if let Some(row) = self.rows.get_mut(&id) {
                    row.phase = Phase::Ajar { confirmed: true };
                }
                self.note(id, Reason::OnlineReady);
            } else {
                again = earlier(again, self.may_start_at(id, now));
            }
        }
        again
    }

    fn may_stand_ajar(&self, id: TenantId, now: Nanos) -> bool {
        self.may_start_at(id, now).is_none_or(|at| at <= now)
    }

    /// When its cap lets a tenant start; none = it has no cap.
    fn may_start_at(&self, id: TenantId, now: Nanos) -> Option<Nanos> {
        let row = self.rows.get(&id)?;
        match row.terms.policy {
            PolicyKind::Fair => None,
            PolicyKind::FixedShare => Some(fixed_share::may_start_at(&claim(id, row, now, now), now, &self.settings)),
        }
    }

    /// The next drain deadline.
    pub(super) fn next_deadline(&self) -> Option<Nanos> {
        let drains = self.rows.values().filter_map(|row| row.drain()).filter(|drain| !drain.expired);
        drains.map(|drain| drain.since.plus(self.settings.drain_deadline)).min()
    }
}

/// What a policy sees of a tenant.
fn claim(tenant: TenantId, row: &Row, since: Nanos, now: Nanos) -> Claim {
    let within = fixed_share::part_of(WINDOW, row.terms.share_ppm);
    Claim {
        tenant,
        since,
        share_ppm: row.terms.share_ppm,
        weight: row.terms.weight,
        balance: row.account.balance,
        recent: row.account.recent.used(now),
        recent_within_share_at: row.account.recent.free_at(now, within),
    }
}
