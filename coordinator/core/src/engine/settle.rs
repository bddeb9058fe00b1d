//! Who pays for the time since the last step. Roles don't change between steps, so a span is charged as a whole.
//!
//! * The holder pays; a tenant that drains pays until it is quiesced, also past its deadline.
//! * Several of one class at once (past a deadline): the time is split among them, as the device splits it. Under a cap one
//!   that shows no progress pays on but no longer relieves those that may launch: else a hung or lying process would lift its
//!   neighbour's cap. Where there is no cap the split stands: the device gives what is queued its part, seen or not.
//! * A stopped client (a thread in a launch, or a short tail without a marker, and nothing moves) is believed for one
//!   deadline; then it pays nothing: nobody waits for it any more.
//! * Offline leftovers beside online work: offline pays all of it.

use mgpu_protocol::units::{Class, Nanos};

use super::Engine;
use super::row::Row;
use crate::accounts::{MEMORY, MEMORY_NS, WHOLE, signed, split_by_weight};
use crate::policy::{PolicyKind, fixed_share};
use crate::tenant::TenantId;

impl Engine {
    /// Charges the span from the last step to `now`.
    pub(super) fn settle(&mut self, now: Nanos) {
        let from = self.now;
        let span = now.since(from);
        self.now = self.now.max(now);
        if span.0 == 0 || self.is_observing() {
            return;
        }
        self.accrue(from, span);
        for class in [Class::Online, Class::Offline] {
            let bills = self.bills(class, from, span);
            self.charge(class, &bills, from, now);
        }
    }

    /// Grows the balances of tenants under `fixed-share`.
    fn accrue(&mut self, from: Nanos, span: Nanos) {
        let settings = self.settings;
        for row in self.rows.values_mut().filter(|row| row.terms.policy == PolicyKind::FixedShare) {
            let share = row.terms.share_ppm;
            let slice = signed(fixed_share::slice(share, &settings));
            let most = if row.contends(from) { slice.max(signed(fixed_share::part_of(MEMORY, share))) } else { slice };
            row.account.accrue(span, share, most);
        }
    }

    /// What each tenant of a class owes for `span`.
    fn bills(&self, class: Class, from: Nanos, span: Nanos) -> Vec<(TenantId, Nanos)> {
        let deadline = self.settings.drain_deadline;
        let fresh = |row: &Row| row.drain().is_some_and(|drain| !drain.expired);
        let pays = |row: &Row| row.drain().is_some() && (fresh(row) || row.owes_on(from, deadline));
        let believed = |row: &Row| pays(row) && (fresh(row) || row.is_believed(from, deadline));
        let relieves = |row: &Row| pays(row) && (row.terms.policy == PolicyKind::Fair || believed(row));
        let of_class = |wanted: Class| self.rows.iter().filter(move |(_, row)| row.class() == wanted);
        let leftovers = of_class(Class::Offline).any(|(_, row)| believed(row));
        // Online beside offline leftovers pays nothing: they are charged to the offline tenant.
        let holder_free = class == Class::Online && leftovers;
        let holder = of_class(class).find(|(_, row)| row.turn().is_some() && !holder_free).map(|(id, _)| *id);
        let draining: Vec<(TenantId, bool)> =
            of_class(class).filter(|(_, row)| pays(row)).map(|(id, row)| (*id, relieves(row))).collect();
        let sharing = draining.iter().filter(|(_, relieves)| *relieves).count() as u64;
        // Nobody of them can launch, so one without progress relieves another one: queues from before a restart have no markers.
        let without_progress = draining.len() as u64 + u64::from(holder.is_some());
        let mut bills: Vec<(TenantId, Nanos)> = draining
            .iter()
            .map(|(id, relieves)| {
                let among = if *relieves { sharing + u64::from(holder.is_some()) } else { without_progress };
                (*id, Nanos(span.0 / among.max(1)))
            })
            .collect();
        bills.extend(holder.map(|holder| (holder, Nanos(span.0 / (sharing + 1)))));
        bills
    }

    /// Takes the bills off the accounts and hands what was paid to those who contend.
    fn charge(&mut self, class: Class, bills: &[(TenantId, Nanos)], from: Nanos, to: Nanos) {
        let contenders = self.contenders(class, from);
        let total: u64 = contenders.iter().map(|(_, weight)| u64::from(*weight)).sum();
        let mut pot = 0;
        for (id, amount) in bills {
            let alone = contenders.iter().all(|(other, _)| other == id);
            let Some(row) = self.rows.get_mut(id) else { continue };
            row.account.paid = row.account.paid.plus(*amount);
            row.account.recent.add(from, to);
            match row.terms.policy {
                PolicyKind::FixedShare if row.terms.share_ppm < WHOLE => {
                    row.account.debit(*amount, MEMORY);
                }
                PolicyKind::FixedShare => {}
                PolicyKind::Fair if alone => {}
                PolicyKind::Fair => {
                    // While others run a debt shrinks by the debtor's part of their time: no more than 10 s repay.
                    let own = u64::from(row.terms.weight);
                    pot += row.account.debit(*amount, Nanos(MEMORY.0 / total.max(own).max(1) * own));
                }
            }
        }
        if pot > 0 {
            let weights: Vec<u32> = contenders.iter().map(|(_, weight)| *weight).collect();
            for ((id, _), part) in contenders.iter().zip(split_by_weight(pot, &weights)) {
                self.credit(*id, part);
            }
        }
    }

    /// Tenants of a class under `fair` that have or want device time, with their weights.
    fn contenders(&self, class: Class, now: Nanos) -> Vec<(TenantId, u32)> {
        self.rows
            .iter()
            .filter(|(_, row)| row.class() == class && row.terms.policy == PolicyKind::Fair && row.contends(now))
            .map(|(id, row)| (*id, row.terms.weight))
            .collect()
    }

    fn credit(&mut self, id: TenantId, part: i64) {
        if let Some(row) = self.rows.get_mut(&id) {
            row.account.balance = row.account.balance.saturating_add(part).min(MEMORY_NS);
        }
    }

    /// A tenant that did not take its turn is owed no more than any other, or than one turn under a cap.
    pub(super) fn waive(&mut self, id: TenantId) {
        let settings = self.settings;
        let Some(row) = self.rows.get_mut(&id) else { return };
        let most = match row.terms.policy {
            PolicyKind::Fair => 0,
            PolicyKind::FixedShare => signed(fixed_share::slice(row.terms.share_ppm, &settings)),
        };
        let waived = row.account.balance - row.account.balance.min(most);
        row.account.balance -= waived;
        if row.terms.policy == PolicyKind::Fair && waived > 0 {
            let class = row.class();
            self.redistribute(class, waived, id);
        }
    }

    /// Takes a balance out of a fair class: the others share it evenly, so that the sum stays zero and nobody repays what
    /// nobody is owed.
    pub(super) fn redistribute(&mut self, class: Class, balance: i64, except: TenantId) {
        let others: Vec<TenantId> = self
            .rows
            .iter()
            .filter(|(id, row)| **id != except && row.class() == class && row.terms.policy == PolicyKind::Fair)
            .map(|(id, _)| *id)
            .collect();
        for (id, part) in others.iter().zip(split_by_weight(balance, &vec![1; others.len()])) {
            self.credit(*id, part);
        }
    }
}
