//! What each tenant has paid, and what it owes or is owed. Kept by the engine, read by policies, saved by the shell.
//!
//! Units: ns of device time. A balance above zero means that the tenant is owed time, below zero that it is in debt. Two
//! rules move balances, by the policy in force (DESIGN §4):
//!
//! * **fixed-share**: the balance grows by `share` of every elapsed ns and falls by every ns paid. While the tenant does not
//!   ask for the device it grows to one slice at most (idle time is not saved up); while it asks, to 10 s of its share.
//! * **fair** (and weighted): when one pays while others contend, what it pays is handed to the contenders by weight, itself
//!   included. The sum over the class stays zero; alone, a tenant pays itself, that is nothing.
//!
//! Debt is bounded to 10 s of what repays it, and after 10 s without asking for the device a fair balance is forgotten; not before.

use mgpu_protocol::units::Nanos;

use crate::recent::Recent;
use crate::tenant::TenantId;

/// No balance is remembered beyond this, in time or in amount.
pub const MEMORY: Nanos = Nanos(10_000_000_000);
/// [`MEMORY`] as a balance.
pub const MEMORY_NS: i64 = 10_000_000_000;
/// Shares in parts per million of one device.
pub const WHOLE: u32 = 1_000_000;

/// One tenant's account as the shell writes it to the state file and hands it back after a restart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SavedAccount {
    /// Whose; 0 if made by `Default`.
    pub tenant: u32,
    /// Device time charged since it was admitted.
    pub paid: Nanos,
    /// Balance in ns: positive = it is owed device time, negative = debt.
    pub balance_ns: i64,
    /// When it was true.
    pub at: Nanos,
}

impl SavedAccount {
    /// The tenant's number.
    #[must_use]
    pub const fn tenant(&self) -> TenantId {
        TenantId(self.tenant)
    }
}

/// One tenant's account in use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Account {
    /// Device time charged since admission, whatever the policy.
    pub(crate) paid: Nanos,
    /// Owed (above zero) or owing (below zero), in ns.
    pub(crate) balance: i64,
    /// Reserved time of the last 100 ms.
    pub(crate) recent: Recent,
    /// What integer division left over, in ns × ppm.
    rest: u64,
}

/// A span as a balance; spans in use here are far below 2^63 ns.
pub(crate) fn signed(span: Nanos) -> i64 {
    i64::try_from(span.0).unwrap_or(i64::MAX)
}

impl Account {
    /// A share's growth over `span`, to `most` and not beyond (a balance already above stays).
    pub(crate) fn accrue(&mut self, span: Nanos, share_ppm: u32, most: i64) {
        let grown = u128::from(span.0) * u128::from(share_ppm) + u128::from(self.rest);
        self.rest = u64::try_from(grown % u128::from(WHOLE)).unwrap_or(0);
        let grown = i64::try_from(grown / u128::from(WHOLE)).unwrap_or(i64::MAX);
        if self.balance < most {
            self.balance = self.balance.saturating_add(grown).min(most);
        }
    }

    /// Takes `amount` off the balance, down to a debt of `most`; says how much was taken.
    pub(crate) fn debit(&mut self, amount: Nanos, most: Nanos) -> i64 {
        let taken = signed(amount).min(self.balance.saturating_add(signed(most))).max(0);
        self.balance -= taken;
        taken
    }
}

/// Hands `amount` out by weight; the parts sum to `amount` exactly, what division leaves goes to the first.
pub(crate) fn split_by_weight(amount: i64, weights: &[u32]) -> Vec<i64> {
    let total: i128 = weights.iter().map(|w| i128::from(*w)).sum();
    if total == 0 {
        return vec![0; weights.len()];
    }
    let mut parts: Vec<i64> =
        weights.iter().map(|w| i64::try_from(i128::from(amount) * i128::from(*w) / total).unwrap_or(0)).collect();
    let left = amount - parts.iter().sum::<i64>();
    if let Some(first) = parts.first_mut() {
        *first += left;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accrual_loses_nothing_to_rounding() {
        let mut account = Account::default();
        // 1 ns at 30 % a million times: 300 000 ns, though each step alone rounds to 0.
        for _ in 0..1_000_000 {
            account.accrue(Nanos(1), 300_000, i64::MAX);
        }
        assert_eq!(account.balance, 300_000);
    }

    #[test]
    fn accrual_stops_at_its_bound_and_takes_nothing_away() {
        let mut account = Account { balance: 50, ..Account::default() };
        account.accrue(Nanos(1000), WHOLE, 20);
        assert_eq!(account.balance, 50);
        account.balance = 10;
        account.accrue(Nanos(1000), WHOLE, 20);
        assert_eq!(account.balance, 20);
    }

    #[test]
    fn debt_is_bounded() {
        let mut account = Account::default();
        assert_eq!(account.debit(Nanos(3 * MEMORY.0), MEMORY), MEMORY_NS);
        assert_eq!(account.debit(Nanos(1), MEMORY), 0);
        assert_eq!(account.debit(Nanos(1), Nanos(5)), 0, "a debt beyond the bound stays");
        assert_eq!(account.balance, -MEMORY_NS);
    }

    #[test]
    fn parts_sum_to_the_whole() {
        // 100 by 1:1:1 is 33 each and 1 left, for the first.
        assert_eq!(split_by_weight(100, &[1, 1, 1]), [34, 33, 33]);
        assert_eq!(split_by_weight(-100, &[1, 3]), [-25, -75]);
        assert_eq!(split_by_weight(5, &[]), Vec::<i64>::new());
        assert_eq!(split_by_weight(7, &[0, 0]), [0, 0]);
    }
}
