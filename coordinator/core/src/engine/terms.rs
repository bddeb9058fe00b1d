//! From rows and policy to terms: what each tenant's share, weight and policy are now. Done again when the membership, a row
//! or the policy changes.

use mgpu_protocol::units::{Class, Nanos};

use super::Engine;
use super::row::Terms;
use crate::accounts::{WHOLE, signed};
use crate::policy::{PolicyKind, fixed_share, online_offline};
use crate::tenant::TenantId;

/// Share of an online tenant that has none on a device that needs one. Admission refuses this; a tenant must not come to
/// stand still if it happens all the same.
const NO_SHARE_PPM: u32 = 10_000;

impl Engine {
    /// Sets every tenant's terms anew; balances are carried over as far as they mean the same.
    pub(super) fn refresh_terms(&mut self) {
        let online_attached = self.rows.values().any(super::row::Row::is_online);
        let offline_policy = online_offline::offline_policy(self.policy, online_attached);
        let offline: Vec<(TenantId, u32)> = self
            .rows
            .iter()
            .filter(|(_, row)| !row.is_online())
            .map(|(id, row)| (*id, row.entitlement.weight.get()))
            .collect();
        let weights: Vec<u32> = offline.iter().map(|(_, weight)| *weight).collect();
        let mut became_fair = false;
        for ((id, weight), share) in offline.iter().zip(online_offline::normalised(&weights)) {
            // `fair` alone knows no weights; what is left beside online tenants is split by them.
            let weight = if online_attached { *weight } else { 1 };
            let share_ppm = if offline_policy == PolicyKind::FixedShare { share } else { WHOLE };
            became_fair |= self.set_terms(*id, Terms { policy: offline_policy, share_ppm, weight });
        }
        let online: Vec<TenantId> = self.rows.iter().filter(|(_, row)| row.is_online()).map(|(id, _)| *id).collect();
        for id in online {
            let share = self.rows.get(&id).and_then(|row| row.entitlement.share);
            let share_ppm = match self.policy {
                PolicyKind::Fair => WHOLE,
                PolicyKind::FixedShare => share.map_or(NO_SHARE_PPM, |share| u32::from(share.get()) * (WHOLE / 100)),
            };
            became_fair |= self.set_terms(id, Terms { policy: self.policy, share_ppm, weight: 1 });
        }
        if became_fair {
            self.rebase(Class::Online);
            self.rebase(Class::Offline);
        }
    }

    /// True if the tenant came under `fair` from another policy.
    fn set_terms(&mut self, id: TenantId, terms: Terms) -> bool {
        let Some(row) = self.rows.get_mut(&id) else { return false };
        let before = std::mem::replace(&mut row.terms, terms);
        if terms.policy == PolicyKind::FixedShare {
            // What it may have saved is one slice of its present share; debts stay.
            let most = signed(fixed_share::slice(terms.share_ppm, &self.settings));
            let owed = before.policy == PolicyKind::FixedShare && before.share_ppm == terms.share_ppm;
            row.account.balance = if owed { row.account.balance } else { row.account.balance.min(most) };
        }
        before.policy == PolicyKind::FixedShare && terms.policy == PolicyKind::Fair
    }

    /// After a change to `fair`: shifts the balances of a class so that they sum to zero. Differences, and so debts, stay.
    fn rebase(&mut self, class: Class) {
        let fair = |row: &super::row::Row| row.class() == class && row.terms.policy == PolicyKind::Fair;
        let count = self.rows.values().filter(|row| fair(row)).count();
        let sum: i128 = self.rows.values().filter(|row| fair(row)).map(|row| i128::from(row.account.balance)).sum();
        let Ok(mean) = i64::try_from(sum / i128::try_from(count.max(1)).unwrap_or(1)) else { return };
        for row in self.rows.values_mut().filter(|row| fair(row)) {
            row.account.balance = row.account.balance.saturating_sub(mean);
        }
    }

    /// What a tenant starts with: under a cap one slice, so that it may run at once; else nothing.
    pub(super) fn opening_balance(&self, id: TenantId) -> i64 {
        self.rows.get(&id).map_or(0, |row| match row.terms.policy {
            PolicyKind::FixedShare => signed(fixed_share::slice(row.terms.share_ppm, &self.settings)),
            PolicyKind::Fair => 0,
        })
    }

    /// A fair balance older than 10 s without a claim is forgotten.
    pub(super) fn forget_old_balance(&mut self, id: TenantId, now: Nanos) {
        let Some(row) = self.rows.get_mut(&id) else { return };
        let idle = row.last_work.is_some_and(|last| now.since(last) >= crate::accounts::MEMORY);
        if !idle || row.terms.policy != PolicyKind::Fair {
            return;
        }
        let balance = std::mem::take(&mut row.account.balance);
        let class = row.class();
        self.redistribute(class, balance, id);
    }
}
