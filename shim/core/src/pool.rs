//! Stream-ordered pools. What a pool costs is what it has reserved from the device, not the sum of its live allocations; the
//! driver tells it (`reserved` below). So a pool is charged as a whole, and the charge is set right at every look.
//!
//! Before an allocation, [`Pools::plan`] says what to reserve: nothing if the pool's slack should cover it, else whole chunks
//! (the size of a chunk is learnt from the growth seen). After it, [`Pools::settle`] charges the real growth. Where slack was
//! there but in pieces, the growth comes as a surprise: the caller reserves that much and settles again, or undoes the
//! allocation. So a pool may exceed the limit by one chunk for the moment between the two calls.

use crate::ledger::worst_case;
use crate::purse::{LeaseWords, Purse, Reservation};
use crate::shards::lock;
use std::sync::Mutex;

#[derive(Clone, Copy, Debug)]
struct Pool {
    handle: u64,
    ordinal: usize,
    /// Bytes charged for it.
    charge: u64,
    /// Bytes of allocations not freed.
    live: u64,
    /// Greatest common divisor of the growths seen; 0 = none yet.
    chunk: u64,
}

/// The pools that this process has allocated from.
#[derive(Default)]
pub struct Pools(Mutex<Vec<Pool>>);

impl Pools {
    /// Bytes to reserve before `bytes` are allocated from pool `handle` of device `ordinal`.
    #[must_use]
    pub fn plan(&self, handle: u64, ordinal: usize, bytes: u64, block: u64) -> u64 {
        let mut pools = lock(&self.0);
        let pool = find(&mut pools, handle, ordinal);
        if pool.charge.saturating_sub(pool.live) >= bytes { 0 } else { worst_case(bytes, block.max(pool.chunk)) }
    }

    /// After the driver has allocated `bytes` from the pool: charges its real growth. `reserved` asks the driver how much the
    /// pool has reserved now (`None`: it can't tell; then what is live counts). Called under the pools' lock, so that an older
    /// answer never overwrites a newer one.
    ///
    /// # Errors
    /// The growth is more than reserved, so many bytes: nothing was charged. Reserve that much and settle again, or free the
    /// allocation and refuse.
    pub fn settle<W: LeaseWords>(
        &self,
        handle: u64,
        bytes: u64,
        reservation: Reservation<'_, W>,
        purse: &Purse<W>,
        reserved: impl FnOnce() -> Option<u64>,
    ) -> Result<(), u64> {
        let mut pools = lock(&self.0);
        let pool = find(&mut pools, handle, reservation.ordinal());
        let live = pool.live.saturating_add(bytes);
        let now = reserved().unwrap_or(live);
        let growth = now.saturating_sub(pool.charge);
        if growth > reservation.bytes() {
            return Err(growth);
        }
        reservation.commit(growth);
        if growth > 0 {
            pool.chunk = gcd(growth, pool.chunk);
        }
        pool.live = live;
        pool.charge += growth;
        pool.lower(now, purse);
        Ok(())
    }

    /// An allocation of the pool was freed, in stream order: the pool keeps the memory for now.
    pub fn freed(&self, handle: u64, bytes: u64) {
        if let Some(pool) = lock(&self.0).iter_mut().find(|pool| pool.handle == handle) {
            pool.live = pool.live.saturating_sub(bytes);
        }
    }

    /// After a synchronisation, a trim, or before a refusal: gives back what pools have let go. `reserved` as in `settle`.
    pub fn refresh<W: LeaseWords>(&self, purse: &Purse<W>, reserved: impl Fn(u64) -> Option<u64>) {
        let mut pools = lock(&self.0);
        for pool in pools.iter_mut().filter(|pool| pool.charge > pool.live) {
            let now = reserved(pool.handle).unwrap_or(pool.live);
            pool.lower(now, purse);
        }
        pools.retain(|pool| pool.charge > 0 || pool.live > 0 || pool.chunk > 0);
    }

    /// The application destroyed the pool: what is live stays until it is freed, its handle may come back as another pool's.
    pub fn destroyed<W: LeaseWords>(&self, handle: u64, purse: &Purse<W>) {
        let mut pools = lock(&self.0);
        if let Some(pool) = pools.iter_mut().find(|pool| pool.handle == handle) {
            let live = pool.live;
            pool.lower(live, purse);
            pool.chunk = 0;
        }
        pools.retain(|pool| pool.handle != handle || pool.live > 0);
    }

    /// Whether any pool is charged more than is live in it, so that a refresh could give something back.
    #[must_use]
    pub fn has_slack(&self) -> bool {
        lock(&self.0).iter().any(|pool| pool.charge > pool.live)
    }
}

impl Pool {
    /// The pool has `now` bytes reserved: gives back what it is charged beyond that. More than the charge is an allocation that
    /// another thread has yet to settle.
    fn lower<W: LeaseWords>(&mut self, now: u64, purse: &Purse<W>) {
        if now < self.charge {
            purse.put_back(self.ordinal, self.charge - now);
            self.charge = now;
        }
    }
}

fn find(pools: &mut Vec<Pool>, handle: u64, ordinal: usize) -> &mut Pool {
    let index = pools.iter().position(|pool| pool.handle == handle).unwrap_or_else(|| {
        pools.push(Pool { handle, ordinal, charge: 0, live: 0, chunk: 0 });
        pools.len() - 1
    });
    #[allow(clippy::indexing_slicing, reason = "found, or just pushed")]
    &mut pools[index]
}

const fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::purse::OwnWords;
    use mgpu_protocol::sync::AtomicU64;

    const MIB: u64 = 1 << 20;

    fn purse(bytes: u64) -> Purse<OwnWords> {
        let purse = Purse::default();
        let mut words = OwnWords::default();
        words.0[0] = Some(AtomicU64::new(bytes));
        purse.exchange(words);
        purse
    }

    /// As the hook does it: plan, call, settle, and once more with what was missing. `false`: refused.
    fn allocate(pools: &Pools, purse: &Purse<OwnWords>, bytes: u64, reserved_after: u64) -> bool {
        let mut bytes_to_reserve = pools.plan(7, 0, bytes, 2 * MIB);
        loop {
            let Ok(reservation) = Reservation::new(purse, 0, bytes_to_reserve) else { return false };
            match pools.settle(7, bytes, reservation, purse, || Some(reserved_after)) {
                Ok(()) => return true,
                Err(growth) => bytes_to_reserve = growth,
            }
        }
    }

    #[test]
    fn a_pool_costs_what_it_has_reserved() {
        let (pools, purse) = (Pools::default(), purse(100 * MIB));
        assert!(allocate(&pools, &purse, MIB, 32 * MIB));
        assert_eq!(purse.in_use()[0], 32 * MIB);
        assert_eq!(pools.plan(7, 0, MIB, 2 * MIB), 0, "slack covers it");
        assert_eq!(pools.plan(7, 0, 40 * MIB, 2 * MIB), 64 * MIB, "whole chunks");
    }

    #[test]
    fn slack_in_pieces_grows_the_pool_and_is_paid() {
        let (pools, purse) = (Pools::default(), purse(100 * MIB));
        for n in 1..=6 {
            assert!(allocate(&pools, &purse, 5 * MIB, 32 * MIB), "{n}");
        }
        for n in 7..=12 {
            assert!(allocate(&pools, &purse, 5 * MIB, 64 * MIB), "{n}");
        }
        assert_eq!(pools.plan(7, 0, 3 * MIB, 2 * MIB), 0);
        assert!(allocate(&pools, &purse, 3 * MIB, 96 * MIB), "two pieces of 2 MiB hold no 3");
        assert_eq!(purse.in_use()[0], 96 * MIB);
    }

    #[test]
    fn a_synchronisation_gives_slack_back() {
        let (pools, purse) = (Pools::default(), purse(100 * MIB));
        assert!(allocate(&pools, &purse, MIB, 32 * MIB));
        pools.freed(7, MIB);
        pools.refresh(&purse, |_| Some(32 * MIB));
        assert_eq!(purse.in_use()[0], 32 * MIB, "the driver still has it");
        pools.refresh(&purse, |_| Some(0));
        assert_eq!(purse.in_use()[0], 0);
        assert!(!pools.has_slack());
    }

    #[test]
    fn a_look_between_an_allocation_and_its_settlement_charges_nothing() {
        let (pools, purse) = (Pools::default(), purse(100 * MIB));
        assert!(allocate(&pools, &purse, MIB, 32 * MIB));
        pools.refresh(&purse, |_| Some(64 * MIB));
        assert_eq!(purse.in_use()[0], 32 * MIB);
        assert!(allocate(&pools, &purse, 32 * MIB, 64 * MIB));
        assert_eq!(purse.in_use()[0], 64 * MIB, "and the settlement pays for it");
    }

    #[test]
    fn a_growth_that_nobody_can_pay_is_refused_whole() {
        let (pools, purse) = (Pools::default(), purse(20 * MIB));
        assert!(!allocate(&pools, &purse, MIB, 32 * MIB));
        assert_eq!(purse.in_use()[0], 0);
    }

    #[test]
    fn a_destroyed_pool_costs_what_is_live_in_it() {
        let (pools, purse) = (Pools::default(), purse(100 * MIB));
        assert!(allocate(&pools, &purse, MIB, 32 * MIB));
        pools.destroyed(7, &purse);
        assert_eq!(purse.in_use()[0], MIB);
        pools.freed(7, MIB);
        pools.refresh(&purse, |_| None);
        assert_eq!(purse.in_use()[0], 0);
    }
}
