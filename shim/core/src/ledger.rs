//! What this process has allocated: an address leads to what it costs and to whose device it belongs.
//!
//! **Cost.** The driver hands out memory in blocks; small allocations of one context share one. So the charge of an allocation
//! is what the driver's use really grows by, as its address shows: every whole block it covers, and each partly covered block
//! that no earlier allocation of this process has touched. A reservation for the worst case is made before the call.
//!
//! **Promises.** Counted bytes never exceed what was reserved. A record is taken out before the driver frees (so that a
//! neighbour who gets the same address at once finds no stale one) and put back if the driver refuses. An address that isn't
//! known costs nothing and is none of our business. Random traces in the tests: nothing drifts.

use crate::purse::{LeaseWords, Purse, Reservation, Short};
use crate::shards::Sharded;

/// What an allocation draws on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backing {
    /// Blocks of so many bytes.
    Blocks(u64),
    /// A stream-ordered pool (its id), which is charged as a whole (see `pool`).
    Pool(u64),
}

/// One allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// The process's ordinal of its device.
    pub ordinal: usize,
    /// Handle of the context that made it; it dies with it.
    pub context: u64,
    /// Bytes asked for.
    pub bytes: u64,
    /// Where they come from.
    pub backing: Backing,
}

/// Number of users of a partly covered block.
type Users = u32;

/// See the module. One a process; a forked child starts an empty one.
#[derive(Default)]
pub struct Ledger {
    records: Sharded<Record>,
    blocks: Sharded<Users>,
}

/// Bytes that an allocation of `bytes` can grow the driver's use by, at worst.
#[must_use]
pub fn worst_case(bytes: u64, block: u64) -> u64 {
    bytes.checked_next_multiple_of(block.max(1)).unwrap_or(u64::MAX)
}

/// A range in blocks: some whole ones, and at most two partly covered.
struct Cover {
    whole: u64,
    partial: [Option<u64>; 2],
}

impl Cover {
    fn of(address: u64, bytes: u64, block: u64) -> Self {
        let block = block.max(1);
        let end = address.saturating_add(bytes);
        let (first, last) = (address / block, end / block);
        let head = (!address.is_multiple_of(block)).then_some(first);
        let tail = (!end.is_multiple_of(block)).then_some(last);
        if bytes == 0 {
            return Self { whole: 0, partial: [None, None] };
        }
        if head.is_some() && first == last {
            return Self { whole: 0, partial: [head, None] };
        }
        let whole = last - first - u64::from(head.is_some());
        Self { whole, partial: [head, tail] }
    }
}

impl Ledger {
    /// Enters an allocation that the driver has just made; the charge is kept out of `reservation`, the rest goes back. Gives what
    /// was still known of the address: that was freed unseen (by a graph, say), and the caller must release it.
    ///
    /// # Errors
    /// The driver used more than the worst case and the purse can't cover it: nothing is entered or charged, the caller must
    /// free the memory again and refuse.
    pub fn enter<W: LeaseWords>(
        &self,
        address: u64,
        record: Record,
        mut reservation: Reservation<'_, W>,
    ) -> Result<Option<Record>, Short> {
        let growth = match record.backing {
            Backing::Blocks(block) => self.touch(&Cover::of(address, record.bytes, block), block),
            Backing::Pool(_) => 0,
        };
        if growth > reservation.bytes()
            && let Err(short) = reservation.raise_to(growth)
        {
            self.untouch(address, &record);
            return Err(short);
        }
        reservation.commit(growth);
        Ok(self.records.shard(address).insert(address, record))
    }

    /// Takes the record of `address` out, before the driver is asked to free it.
    #[must_use]
    pub fn take(&self, address: u64) -> Option<Record> {
        self.records.shard(address).remove(&address)
    }

    /// Puts a record back: the driver did not free it.
    pub fn restore(&self, address: u64, record: Record) {
        self.records.shard(address).insert(address, record);
    }

    /// The driver has freed it: gives back what only this allocation cost. A pool's charge is the pool's business.
    pub fn release<W: LeaseWords>(&self, address: u64, record: &Record, purse: &Purse<W>) {
        purse.put_back(record.ordinal, self.untouch(address, record));
    }

    /// A context is gone, and with it all that it had allocated. Pool allocations outlive it.
    pub fn drop_context<W: LeaseWords>(&self, context: u64, purse: &Purse<W>) {
        let is_gone = |r: &Record| r.context == context && matches!(r.backing, Backing::Blocks(_));
        self.records.extract(is_gone, |address, record| self.release(address, &record, purse));
    }

    /// Allocations known.
    #[must_use]
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// No allocation is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn touch(&self, cover: &Cover, block: u64) -> u64 {
        let mut new = cover.whole;
        for number in cover.partial.into_iter().flatten() {
            let mut shard = self.blocks.shard(number);
            let users = shard.entry(number).or_insert(0);
            new += u64::from(*users == 0);
            *users += 1;
        }
        new.saturating_mul(block)
    }

    fn untouch(&self, address: u64, record: &Record) -> u64 {
        let Backing::Blocks(block) = record.backing else { return 0 };
        let cover = Cover::of(address, record.bytes, block);
        let mut gone = cover.whole;
        for number in cover.partial.into_iter().flatten() {
            let mut shard = self.blocks.shard(number);
            if let Some(users) = shard.get_mut(&number) {
                *users -= 1;
                if *users == 0 {
                    shard.remove(&number);
                    gone += 1;
                }
            }
        }
        gone.saturating_mul(block)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::purse::OwnWords;
    use mgpu_protocol::layout::MAX_DEVICES;
    use mgpu_protocol::sync::{AtomicU64, Ordering};

    const BLOCK: u64 = 2 << 20;

    fn purse(bytes: u64) -> Purse<OwnWords> {
        let purse = Purse::default();
        let mut words = OwnWords::default();
        words.0[0] = Some(AtomicU64::new(bytes));
        purse.exchange(words);
        purse
    }

    fn record(bytes: u64) -> Record {
        Record { ordinal: 0, context: 1, bytes, backing: Backing::Blocks(BLOCK) }
    }

    fn enter(ledger: &Ledger, purse: &Purse<OwnWords>, address: u64, bytes: u64) {
        let reservation = Reservation::new(purse, 0, worst_case(bytes, BLOCK)).unwrap();
        ledger.enter(address, record(bytes), reservation).unwrap();
    }

    #[test]
    fn small_neighbours_share_the_charge_of_their_block() {
        let (ledger, purse) = (Ledger::default(), purse(64 << 20));
        enter(&ledger, &purse, 4 * BLOCK, 1024);
        enter(&ledger, &purse, 4 * BLOCK + 1024, 4096);
        assert_eq!(purse.in_use()[0], BLOCK);
        let first = ledger.take(4 * BLOCK).unwrap();
        ledger.release(4 * BLOCK, &first, &purse);
        assert_eq!(purse.in_use()[0], BLOCK, "the block has another user");
        let second = ledger.take(4 * BLOCK + 1024).unwrap();
        ledger.release(4 * BLOCK + 1024, &second, &purse);
        assert_eq!(purse.in_use()[0], 0);
        assert!(ledger.is_empty());
    }

    #[test]
    fn a_large_allocation_pays_whole_blocks() {
        let (ledger, purse) = (Ledger::default(), purse(64 << 20));
        enter(&ledger, &purse, 8 * BLOCK, 5 << 20);
        assert_eq!(purse.in_use()[0], 3 * BLOCK);
    }

    #[test]
    fn a_record_survives_a_free_that_the_driver_refuses() {
        let (ledger, purse) = (Ledger::default(), purse(64 << 20));
        enter(&ledger, &purse, BLOCK, BLOCK);
        let taken = ledger.take(BLOCK).unwrap();
        ledger.restore(BLOCK, taken);
        assert_eq!(ledger.take(BLOCK), Some(record(BLOCK)));
        assert_eq!(ledger.take(BLOCK), None, "a second free finds nothing and is the driver's to judge");
    }

    #[test]
    fn an_address_that_comes_again_gives_its_old_record_back() {
        let (ledger, purse) = (Ledger::default(), purse(64 << 20));
        enter(&ledger, &purse, BLOCK, BLOCK);
        let reservation = Reservation::new(&purse, 0, 2 * BLOCK).unwrap();
        let stale = ledger.enter(BLOCK, record(2 * BLOCK), reservation).unwrap().unwrap();
        assert_eq!(stale, record(BLOCK));
        ledger.release(BLOCK, &stale, &purse);
        assert_eq!(purse.in_use()[0], 2 * BLOCK, "what is there now, and no more");
        assert_eq!(ledger.len(), 1);
    }

    #[test]
    fn a_context_takes_its_allocations_with_it() {
        let (ledger, purse) = (Ledger::default(), purse(64 << 20));
        enter(&ledger, &purse, BLOCK, BLOCK);
        enter(&ledger, &purse, 3 * BLOCK, 100);
        ledger.drop_context(2, &purse);
        assert_eq!(ledger.len(), 2);
        ledger.drop_context(1, &purse);
        assert!(ledger.is_empty());
        assert_eq!(purse.in_use(), [0; MAX_DEVICES]);
    }

    #[test]
    fn growth_past_the_worst_case_and_the_purse_is_undone() {
        let (ledger, purse) = (Ledger::default(), purse(BLOCK));
        // Straddles two blocks although one was reserved.
        let reservation = Reservation::new(&purse, 0, worst_case(100, BLOCK)).unwrap();
        assert_eq!(ledger.enter(BLOCK - 50, record(100), reservation), Err(Short::Lease));
        assert_eq!(purse.in_use()[0], 0);
        assert!(ledger.is_empty() && ledger.blocks.len() == 0);
    }

    #[test]
    fn absurd_sizes_saturate() {
        assert_eq!(worst_case(u64::MAX, BLOCK), u64::MAX);
        assert_eq!(worst_case(0, BLOCK), 0);
        assert!(Reservation::new(&purse(1 << 40), 0, worst_case(u64::MAX - 5, BLOCK)).is_err());
    }

    #[test]
    fn many_threads_leave_nothing_behind() {
        let (ledger, purse) = (Ledger::default(), purse(1 << 30));
        let limit_seen = AtomicU64::new(0);
        std::thread::scope(|scope| {
            for thread in 0..4_u64 {
                let (ledger, purse, limit_seen) = (&ledger, &purse, &limit_seen);
                scope.spawn(move || {
                    for round in 0..2_000_u64 {
                        // Neighbouring threads share blocks.
                        let address = 64 * BLOCK + (round % 7) * BLOCK + thread * 4096;
                        enter(ledger, purse, address, 4096);
                        limit_seen.fetch_max(purse.in_use()[0], Ordering::Relaxed);
                        let taken = ledger.take(address).unwrap();
                        ledger.release(address, &taken, purse);
                    }
                });
            }
        });
        assert!(limit_seen.into_inner() <= 1 << 30);
        assert_eq!(purse.in_use()[0], 0);
        assert!(ledger.is_empty() && ledger.blocks.len() == 0);
    }
}
