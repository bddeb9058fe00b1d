//! Stream-ordered pools. What a pool costs is what it has reserved from the device, not the sum of its live allocations; the
//! driver tells it (`reserved` below). So a pool is charged as a whole, and the charge is set right at every look.
//!
//! **One allocation.** [`Pools::start`] reserves before the driver is called: nothing if the pool's slack covers it, else whole
//! chunks (the size of a chunk is learnt from the growth seen). [`Coming::finish`] charges the real growth afterwards. Where slack
//! was there but in pieces, the growth comes as a surprise: more is reserved then, or the caller undoes the allocation.
//!
//! **Many threads.** They share the slack: what is being allocated counts as taken, and only one at a time may lean on slack
//! without a reservation of its own, and only while all growth is paid. Growth is paid out of what all of them hold, whoever
//! settles first. While one leans, the charge isn't lowered, for the driver may give a chunk back to the device and take it again
//! under its feet.
//!
//! **Promise.** A pool exceeds its charge by at most one chunk: the surprise of the one that leans. If nobody can pay it, the pool
//! *owes* it; nothing more is allocated there until it is paid or given back.

use crate::ledger::worst_case;
use crate::purse::{LeaseWords, Purse, Reservation};
use crate::shards::lock;
use std::sync::Mutex;

#[derive(Clone, Copy, Debug)]
struct Pool {
    /// Tells it from an earlier pool of the same handle.
    id: u64,
    handle: u64,
    ordinal: usize,
    /// Bytes charged for it.
    charge: u64,
    /// Bytes of allocations not freed.
    live: u64,
    /// Bytes of allocations that are being made now.
    coming: u64,
    /// Bytes that those who make them have reserved.
    held: u64,
    /// One of them has reserved nothing and counts on the slack.
    is_leant_on: bool,
    /// It may have grown for an allocation that came to nothing.
    is_owing: bool,
    /// The application destroyed it: the driver must not be asked about it, its handle may come back as another pool's.
    is_destroyed: bool,
    /// Greatest common divisor of the changes seen; 0 = none yet.
    chunk: u64,
    /// The smallest change seen; 0 = none yet.
    step: u64,
    /// Bytes that it had reserved at the last look.
    seen: u64,
}

/// The pools that this process has allocated from.
#[derive(Default)]
pub struct Pools(Mutex<Known>);

#[derive(Default)]
struct Known {
    pools: Vec<Pool>,
    last_id: u64,
}

/// An allocation that somebody wants.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// Handle of the pool.
    pub handle: u64,
    /// The pool's device.
    pub ordinal: usize,
    /// Its size.
    pub bytes: u64,
    /// Size of the driver's blocks.
    pub block: u64,
}

/// What to do before the driver is called.
enum Plan<'a, W: LeaseWords> {
    /// Nothing: slack covers it.
    Covered(Coming<'a, W>),
    /// Reserve so many bytes, then [`Pools::begin`].
    Reserve(u64),
    /// The same; or plan again a moment later, for slack would cover it if another thread didn't lean on it just now.
    ReserveOrWait(u64),
    /// Reserve so many bytes and [`Pools::pay`] what the pool owes, then plan again.
    Pay(u64),
}

/// An allocation that is being made: settled, or come to nothing when dropped.
pub struct Coming<'a, W: LeaseWords> {
    pools: &'a Pools,
    purse: &'a Purse<W>,
    id: u64,
    bytes: u64,
    reservation: Option<Reservation<'a, W>>,
    /// It has leant on the slack alone.
    is_leaning: bool,
    is_settled: bool,
}

impl Pools {
    /// Makes all ready for the driver's call. `reserve` gets bytes, from the coordinator if need be; `wait` lets a moment pass, and
    /// says `false` when enough have. `None`: refused.
    pub fn start<'a, W: LeaseWords>(
        &'a self,
        wanted: &Wanted,
        purse: &'a Purse<W>,
        reserve: impl Fn(u64) -> Option<Reservation<'a, W>>,
        reserved: impl Fn() -> Option<u64>,
        mut wait: impl FnMut() -> bool,
    ) -> Option<Coming<'a, W>> {
        loop {
            match self.plan(wanted, purse, &reserved) {
                Plan::Covered(coming) => return Some(coming),
                Plan::Reserve(worst) => return Some(self.begin(wanted, reserve(worst)?)),
                Plan::ReserveOrWait(worst) => {
                    if let Ok(at_hand) = Reservation::new(purse, wanted.ordinal, worst) {
                        return Some(self.begin(wanted, at_hand));
                    }
                    if !wait() {
                        return Some(self.begin(wanted, reserve(worst)?));
                    }
                }
                Plan::Pay(owed) => self.pay(wanted, reserve(owed)?, &reserved),
            }
        }
    }

    /// What to reserve before `wanted` is allocated. `reserved` asks the driver how much the pool has reserved now; here and
    /// below it is called under the pools' lock, so that an older answer never overwrites a newer one.
    fn plan<'a, W: LeaseWords>(
        &'a self,
        wanted: &Wanted,
        purse: &'a Purse<W>,
        reserved: impl FnOnce() -> Option<u64>,
    ) -> Plan<'a, W> {
        let mut known = lock(&self.0);
        let pool = known.find(wanted);
        if pool.is_owing {
            let owed = reserved().map_or(0, |now| pool.look(now));
            if owed > 0 {
                return Plan::Pay(owed);
            }
        }
        let worst = worst_case(wanted.bytes, wanted.block.max(pool.chunk)).max(pool.step);
        if pool.charge.saturating_sub(pool.live).saturating_sub(pool.coming) < wanted.bytes {
            return Plan::Reserve(worst);
        }
        if pool.is_leant_on || pool.seen > pool.charge {
            return Plan::ReserveOrWait(worst);
        }
        pool.is_leant_on = true;
        Plan::Covered(pool.come(self, purse, wanted.bytes, None))
    }

    /// The driver is about to be called, with the worst case reserved.
    fn begin<'a, W: LeaseWords>(&'a self, wanted: &Wanted, reservation: Reservation<'a, W>) -> Coming<'a, W> {
        let mut known = lock(&self.0);
        let pool = known.find(wanted);
        pool.held += reservation.bytes();
        pool.come(self, reservation.purse(), wanted.bytes, Some(reservation))
    }

    /// Pays out of `reservation` what the pool owes; the rest goes back.
    fn pay<W: LeaseWords>(
        &self,
        wanted: &Wanted,
        reservation: Reservation<'_, W>,
        reserved: impl FnOnce() -> Option<u64>,
    ) {
        let mut known = lock(&self.0);
        let pool = known.find(wanted);
        let part = reserved().map_or(0, |now| pool.look(now)).min(reservation.bytes());
        pool.charge += part;
        reservation.commit(part);
    }

    /// An allocation of pool `id` (as [`Coming::settle`] gave it) was freed, in stream order: the pool keeps the memory for now.
    pub fn freed(&self, id: u64, bytes: u64) {
        if let Some(pool) = lock(&self.0).by_id(id) {
            pool.live = pool.live.saturating_sub(bytes);
        }
    }

    /// After a synchronisation, a trim, or before a refusal: gives back what pools have let go, and pays what they owe if the
    /// lease has it.
    pub fn refresh<W: LeaseWords>(&self, purse: &Purse<W>, reserved: impl Fn(u64) -> Option<u64>) {
        let mut known = lock(&self.0);
        for pool in known.pools.iter_mut().filter(|pool| pool.may_shrink()) {
            let now = if pool.is_destroyed { pool.least() } else { reserved(pool.handle).unwrap_or(pool.live) };
            let owed = pool.look(now);
            pool.lower(now, purse);
            if owed > 0 && purse.take(pool.ordinal, owed).is_ok() {
                pool.charge += owed;
            }
        }
        known.pools.retain(|pool| {
            let is_idle = pool.charge == 0 && pool.live == 0 && pool.coming == 0;
            !is_idle || (pool.chunk > 0 && !pool.is_destroyed)
        });
    }

    /// The application is about to destroy the pool; gives its id, if it is known. The driver isn't asked about it any more.
    #[must_use]
    pub fn destroying(&self, handle: u64) -> Option<u64> {
        let mut known = lock(&self.0);
        let pool = known.pools.iter_mut().find(|pool| pool.handle == handle && !pool.is_destroyed)?;
        pool.is_destroyed = true;
        Some(pool.id)
    }

    /// The driver refused to destroy it.
    pub fn not_destroyed(&self, id: u64) {
        if let Some(pool) = lock(&self.0).by_id(id) {
            pool.is_destroyed = false;
        }
    }

    /// Whether a refresh could give or pay something.
    #[must_use]
    pub fn has_slack(&self) -> bool {
        lock(&self.0).pools.iter().any(Pool::may_shrink)
    }
}

impl<'a, W: LeaseWords> Coming<'a, W> {
    /// The driver has allocated: settles, with as much more as it takes. Gives the pool's id, which the allocation's record keeps.
    /// `None`: nobody can pay for it; free it again, then drop this, and refuse.
    pub fn finish(
        &mut self,
        reserve: impl Fn(u64) -> Option<Reservation<'a, W>>,
        reserved: impl Fn() -> Option<u64>,
    ) -> Option<u64> {
        loop {
            match self.settle(&reserved) {
                Ok(id) => return Some(id),
                Err(missing) => match reserve(missing) {
                    Some(more) => self.raise(more),
                    None => {
                        self.fail(&reserved);
                        return None;
                    }
                },
            }
        }
    }

    /// Comes to nothing: pays what it can of what the pool has grown by.
    fn fail(&mut self, reserved: impl FnOnce() -> Option<u64>) {
        let mut known = lock(&self.pools.0);
        let (Some(pool), Some(reservation)) = (known.by_id(self.id), self.reservation.take()) else { return };
        pool.held -= reservation.bytes();
        if !pool.is_destroyed
            && let Some(now) = reserved()
        {
            pool.look(now);
            let part = now.saturating_sub(pool.charge).min(reservation.bytes());
            pool.charge += part;
            reservation.commit(part);
        }
    }

    /// After the driver has allocated: charges the pool's real growth (if the driver can't tell, what is live counts). An error is
    /// how much more it is than all have reserved; then nothing was charged.
    fn settle(&mut self, reserved: impl FnOnce() -> Option<u64>) -> Result<u64, u64> {
        let mut known = lock(&self.pools.0);
        let Some(pool) = known.by_id(self.id) else { return Ok(self.id) };
        let live = pool.live.saturating_add(self.bytes);
        let now = if pool.is_destroyed { live.max(pool.charge) } else { reserved().unwrap_or(live) };
        let growth = now.saturating_sub(pool.charge);
        if growth > pool.held {
            return Err(growth - pool.held);
        }
        pool.look(now);
        pool.live = live;
        self.is_settled = true;
        self.leave(pool);
        if let Some(reservation) = self.reservation.take() {
            let part = growth.min(reservation.bytes());
            pool.charge += part;
            reservation.commit(part);
        }
        pool.lower(now, self.purse);
        Ok(self.id)
    }

    /// Adds to what is reserved for it.
    fn raise(&mut self, more: Reservation<'a, W>) {
        if let Some(pool) = lock(&self.pools.0).by_id(self.id) {
            pool.held += more.bytes();
        }
        self.reservation = Some(match self.reservation.take() {
            Some(reservation) => reservation.and(more),
            None => more,
        });
    }
}

impl<W: LeaseWords> Coming<'_, W> {
    /// It is no longer under way.
    fn leave(&self, pool: &mut Pool) {
        pool.coming = pool.coming.saturating_sub(self.bytes);
        pool.held -= self.reservation.as_ref().map_or(0, Reservation::bytes);
        pool.is_leant_on &= !self.is_leaning;
    }
}

impl<W: LeaseWords> Drop for Coming<'_, W> {
    fn drop(&mut self) {
        if self.is_settled {
            return;
        }
        if let Some(pool) = lock(&self.pools.0).by_id(self.id) {
            self.leave(pool);
            // Whether it has grown is seen at the next look.
            pool.is_owing = true;
        }
    }
}

impl Known {
    fn find(&mut self, wanted: &Wanted) -> &mut Pool {
        let is_it = |pool: &Pool| pool.handle == wanted.handle && !pool.is_destroyed;
        let index = self.pools.iter().position(is_it).unwrap_or_else(|| {
            self.last_id += 1;
            self.pools.push(Pool::new(self.last_id, wanted));
            self.pools.len() - 1
        });
        #[allow(clippy::indexing_slicing, reason = "found, or just pushed")]
        &mut self.pools[index]
    }

    fn by_id(&mut self, id: u64) -> Option<&mut Pool> {
        self.pools.iter_mut().find(|pool| pool.id == id)
    }
}

impl Pool {
    const fn new(id: u64, wanted: &Wanted) -> Self {
        Self {
            id,
            handle: wanted.handle,
            ordinal: wanted.ordinal,
            charge: 0,
            live: 0,
            coming: 0,
            held: 0,
            is_leant_on: false,
            is_owing: false,
            is_destroyed: false,
            chunk: 0,
            step: 0,
            seen: 0,
        }
    }

    fn come<'a, W: LeaseWords>(
        &mut self,
        pools: &'a Pools,
        purse: &'a Purse<W>,
        bytes: u64,
        reservation: Option<Reservation<'a, W>>,
    ) -> Coming<'a, W> {
        self.coming = self.coming.saturating_add(bytes);
        let is_leaning = reservation.is_none();
        Coming { pools, purse, id: self.id, bytes, reservation, is_leaning, is_settled: false }
    }

    /// `now` bytes are reserved: learns from how that changed, gives how many of them nobody has paid or is about to.
    fn look(&mut self, now: u64) -> u64 {
        let change = now.abs_diff(self.seen);
        self.chunk = gcd(change, self.chunk);
        self.step = if change == 0 || self.step == 0 { change.max(self.step) } else { change.min(self.step) };
        self.seen = now;
        let owed = now.saturating_sub(self.charge).saturating_sub(self.held);
        self.is_owing &= owed > 0 || self.coming > 0;
        owed
    }

    /// The pool has `now` bytes reserved: gives back what it is charged beyond that, unless somebody leans on it. More than the
    /// charge is an allocation that another thread has yet to settle.
    fn lower<W: LeaseWords>(&mut self, now: u64, purse: &Purse<W>) {
        if now < self.charge && !self.is_leant_on {
            purse.put_back(self.ordinal, self.charge - now);
            self.charge = now;
        }
    }

    /// The least that it can cost, as far as is known without asking the driver.
    fn least(&self) -> u64 {
        if self.is_destroyed { worst_case(self.live, self.chunk).min(self.charge) } else { self.live }
    }

    fn may_shrink(&self) -> bool {
        !self.is_leant_on && (self.charge > self.least() || self.is_owing)
    }
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

    fn wanted(bytes: u64) -> Wanted {
        Wanted { handle: 7, ordinal: 0, bytes, block: 2 * MIB }
    }

    /// As the hook does it before the call. `None`: refused.
    fn start<'a>(
        pools: &'a Pools,
        purse: &'a Purse<OwnWords>,
        bytes: u64,
        reserved_before: u64,
    ) -> Option<Coming<'a, OwnWords>> {
        let reserve = |bytes| Reservation::new(purse, 0, bytes).ok();
        pools.start(&wanted(bytes), purse, reserve, || Some(reserved_before), || false)
    }

    /// As the hook does it after the call. `None`: refused.
    fn settle<'a>(mut coming: Coming<'a, OwnWords>, purse: &'a Purse<OwnWords>, reserved: u64) -> Option<u64> {
        coming.finish(|bytes| Reservation::new(purse, 0, bytes).ok(), || Some(reserved))
    }

    fn allocate(pools: &Pools, purse: &Purse<OwnWords>, bytes: u64, before: u64, after: u64) -> Option<u64> {
        settle(start(pools, purse, bytes, before)?, purse, after)
    }

    fn is_covered(pools: &Pools, purse: &Purse<OwnWords>, bytes: u64) -> bool {
        matches!(pools.plan(&wanted(bytes), purse, || None), Plan::Covered(_))
    }

    #[test]
    fn a_pool_costs_what_it_has_reserved() {
        let (pools, purse) = (Pools::default(), purse(100 * MIB));
        assert!(allocate(&pools, &purse, MIB, 0, 32 * MIB).is_some());
        assert_eq!(purse.in_use()[0], 32 * MIB);
        assert!(is_covered(&pools, &purse, MIB), "slack covers it");
        let plan = pools.plan(&wanted(40 * MIB), &purse, || Some(32 * MIB));
        assert!(matches!(plan, Plan::Reserve(bytes) if bytes == 64 * MIB), "whole chunks");
    }

    #[test]
    fn slack_in_pieces_grows_the_pool_and_is_paid() {
        let (pools, purse) = (Pools::default(), purse(100 * MIB));
        for n in 1..=6 {
            assert!(allocate(&pools, &purse, 5 * MIB, 32 * MIB, 32 * MIB).is_some(), "{n}");
        }
        for n in 7..=12 {
            assert!(allocate(&pools, &purse, 5 * MIB, 64 * MIB, 64 * MIB).is_some(), "{n}");
        }
        assert!(is_covered(&pools, &purse, 3 * MIB));
        assert!(allocate(&pools, &purse, 3 * MIB, 64 * MIB, 96 * MIB).is_some(), "two pieces of 2 MiB hold no 3");
        assert_eq!(purse.in_use()[0], 96 * MIB);
    }

    #[test]
    fn two_threads_dont_count_on_the_same_slack() {
        let (pools, purse) = (Pools::default(), purse(64 * MIB));
        assert!(allocate(&pools, &purse, 16 * MIB, 0, 32 * MIB).is_some());
        let first = start(&pools, &purse, 16 * MIB, 32 * MIB).unwrap();
        assert_eq!(purse.in_use()[0], 32 * MIB, "the first leans on the slack");
        let second = start(&pools, &purse, 16 * MIB, 32 * MIB).unwrap();
        assert_eq!(purse.in_use()[0], 64 * MIB, "the second reserves a chunk");
        assert!(start(&pools, &purse, 16 * MIB, 32 * MIB).is_none(), "and there is nothing for a third");
        // The second has taken the slack, the first has grown the pool: the one who holds a chunk pays for it.
        assert!(settle(first, &purse, 64 * MIB).is_some());
        assert!(settle(second, &purse, 64 * MIB).is_some());
        assert_eq!(purse.in_use()[0], 64 * MIB);
    }

    #[test]
    fn nobody_leans_while_growth_is_unpaid() {
        let (pools, purse) = (Pools::default(), purse(96 * MIB));
        assert!(allocate(&pools, &purse, 20 * MIB, 0, 32 * MIB).is_some());
        assert!(allocate(&pools, &purse, 20 * MIB, 32 * MIB, 64 * MIB).is_some());
        let leaning = start(&pools, &purse, 20 * MIB, 64 * MIB).unwrap();
        let holding = start(&pools, &purse, 20 * MIB, 64 * MIB).unwrap();
        assert_eq!(purse.in_use()[0], 96 * MIB);
        // Pieces of 12 MiB: the one that leans grows the pool, and goes on at the cost of the one that holds.
        assert!(settle(leaning, &purse, 96 * MIB).is_some());
        assert!(start(&pools, &purse, MIB, 96 * MIB).is_none(), "one surprise at a time");
        // That one grows it too; nobody can pay for both, so it is refused, but pays for the other.
        assert!(settle(holding, &purse, 128 * MIB).is_none());
        assert_eq!(purse.in_use()[0], 96 * MIB);
        assert!(start(&pools, &purse, MIB, 128 * MIB).is_none(), "the rest is owed");
        pools.refresh(&purse, |_| Some(96 * MIB));
        assert!(start(&pools, &purse, MIB, 96 * MIB).is_some());
    }

    #[test]
    fn large_allocations_dont_make_small_ones_look_cheap() {
        let (pools, purse) = (Pools::default(), purse(200 * MIB));
        assert!(allocate(&pools, &purse, MIB, 0, 32 * MIB).is_some());
        assert!(allocate(&pools, &purse, 50 * MIB, 32 * MIB, 82 * MIB).is_some());
        let full = start(&pools, &purse, 31 * MIB, 82 * MIB).unwrap();
        assert!(settle(full, &purse, 82 * MIB).is_some());
        let _coming = start(&pools, &purse, MIB, 82 * MIB).unwrap();
        assert_eq!(purse.in_use()[0], (82 + 32) * MIB);
    }

    #[test]
    fn one_at_a_time_leans_on_slack() {
        let (pools, purse) = (Pools::default(), purse(32 * MIB));
        assert!(allocate(&pools, &purse, MIB, 0, 32 * MIB).is_some());
        let first = start(&pools, &purse, MIB, 32 * MIB).unwrap();
        assert!(matches!(pools.plan(&wanted(MIB), &purse, || None), Plan::ReserveOrWait(bytes) if bytes == 32 * MIB));
        assert!(settle(first, &purse, 32 * MIB).is_some());
        assert!(is_covered(&pools, &purse, MIB));
    }

    #[test]
    fn a_chunk_that_somebody_leans_on_stays_paid() {
        let (pools, purse) = (Pools::default(), purse(64 * MIB));
        let id = allocate(&pools, &purse, 30 * MIB, 0, 32 * MIB).unwrap();
        pools.freed(id, 30 * MIB);
        let leaning = start(&pools, &purse, 16 * MIB, 32 * MIB).unwrap();
        // Another thread synchronises: the driver gives the chunk back, and takes one again for the allocation.
        pools.refresh(&purse, |_| Some(0));
        assert_eq!(purse.in_use()[0], 32 * MIB);
        assert!(settle(leaning, &purse, 32 * MIB).is_some());
        assert_eq!(purse.in_use()[0], 32 * MIB);
    }

    #[test]
    fn a_synchronisation_gives_slack_back() {
        let (pools, purse) = (Pools::default(), purse(100 * MIB));
        let id = allocate(&pools, &purse, MIB, 0, 32 * MIB).unwrap();
        pools.freed(id, MIB);
        pools.refresh(&purse, |_| Some(32 * MIB));
        assert_eq!(purse.in_use()[0], 32 * MIB, "the driver still has it");
        pools.refresh(&purse, |_| Some(0));
        assert_eq!(purse.in_use()[0], 0);
        assert!(!pools.has_slack());
    }

    #[test]
    fn a_look_between_an_allocation_and_its_settlement_charges_nothing() {
        let (pools, purse) = (Pools::default(), purse(100 * MIB));
        assert!(allocate(&pools, &purse, MIB, 0, 32 * MIB).is_some());
        let coming = start(&pools, &purse, 32 * MIB, 32 * MIB).unwrap();
        pools.refresh(&purse, |_| Some(64 * MIB));
        assert_eq!(purse.in_use()[0], 64 * MIB, "the reservation alone");
        assert!(settle(coming, &purse, 64 * MIB).is_some());
        assert_eq!(purse.in_use()[0], 64 * MIB, "and the settlement pays for it");
    }

    #[test]
    fn what_a_refused_growth_has_cost_is_paid_before_anything_else() {
        let (pools, purse) = (Pools::default(), purse(20 * MIB));
        assert!(allocate(&pools, &purse, MIB, 0, 32 * MIB).is_none());
        assert_eq!(purse.in_use()[0], 2 * MIB, "as much as it had reserved");
        assert!(start(&pools, &purse, MIB, 32 * MIB).is_none(), "the driver isn't asked to grow it once more");
        assert!(pools.has_slack());
        pools.refresh(&purse, |_| Some(0));
        assert!(!pools.has_slack() && purse.in_use()[0] == 0, "a synchronisation settles it");
        assert!(start(&pools, &purse, MIB, 0).is_none(), "a chunk is known to be more than there is");
    }

    #[test]
    fn what_a_pool_owes_is_taken_as_soon_as_the_lease_has_it() {
        let (pools, purse) = (Pools::default(), purse(40 * MIB));
        purse.take(0, 20 * MIB).unwrap();
        assert!(allocate(&pools, &purse, MIB, 0, 32 * MIB).is_none());
        purse.put_back(0, 20 * MIB);
        pools.refresh(&purse, |_| Some(32 * MIB));
        assert_eq!(purse.in_use()[0], 32 * MIB);
        assert!(is_covered(&pools, &purse, MIB));
    }

    #[test]
    fn a_destroyed_pool_costs_its_live_chunks_and_is_no_later_pool_of_its_handle() {
        let (pools, purse) = (Pools::default(), purse(100 * MIB));
        let old = allocate(&pools, &purse, MIB, 0, 32 * MIB).unwrap();
        assert!(allocate(&pools, &purse, 32 * MIB, 32 * MIB, 64 * MIB).is_some_and(|id| id == old));
        pools.freed(old, 32 * MIB);
        assert_eq!(pools.destroying(7), Some(old));
        pools.refresh(&purse, |_| unreachable!("the driver must not be asked about it"));
        assert_eq!(purse.in_use()[0], 32 * MIB);
        let new = allocate(&pools, &purse, MIB, 0, 32 * MIB).unwrap();
        assert_ne!(new, old);
        pools.freed(old, MIB);
        pools.refresh(&purse, |_| Some(32 * MIB));
        assert_eq!(purse.in_use()[0], 32 * MIB, "the new one's");
    }

    #[test]
    fn a_pool_that_the_driver_keeps_goes_on() {
        let (pools, purse) = (Pools::default(), purse(100 * MIB));
        let id = allocate(&pools, &purse, MIB, 0, 32 * MIB).unwrap();
        assert_eq!(pools.destroying(7), Some(id));
        pools.not_destroyed(id);
        assert!(is_covered(&pools, &purse, MIB));
        assert_eq!(pools.destroying(8), None);
    }
}
