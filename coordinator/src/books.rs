//! One tenant's memory on one device: who was given how much. The given-total per slot stands here and nowhere else; the lease
//! words in the tenant's page are only the unused rest, and hostile. Invariant: what is charged never passes the limit, except
//! when the limit was lowered, or a client brings more with it from an earlier daemon (then nothing more is given).

use mgpu_protocol::layout::{ClientSlot, MAX_CLIENTS};
use mgpu_protocol::lease;

/// The books. Pure but for the lease words that it is handed.
#[derive(Clone, Debug)]
pub(crate) struct Books {
    /// Index of the device in the tenant's page.
    line: usize,
    /// Bytes; `u64::MAX` = no limit.
    limit: u64,
    /// Largest gift that was not asked for.
    chunk: u64,
    /// Given by slot, used or not.
    given: [u64; MAX_CLIENTS],
    /// Used by processes without a slot: dead ones whose teardown is not over, absent ones after a restart.
    ghosts: u64,
    /// Least that counts as charged, until all clients of an earlier daemon have told what they use.
    floor: u64,
}

impl Books {
    /// Empty books.
    pub(crate) const fn new(line: usize, limit: u64, chunk: u64) -> Self {
        Self { line, limit, chunk, given: [0; MAX_CLIENTS], ghosts: 0, floor: 0 }
    }

    /// What counts against the limit now.
    pub(crate) fn charged(&self) -> u64 {
        self.given().saturating_add(self.ghosts).max(self.floor)
    }

    /// Bytes in leases, used or not.
    pub(crate) fn given(&self) -> u64 {
        self.given.iter().fold(0_u64, |sum, n| sum.saturating_add(*n))
    }

    /// Bytes given to one slot.
    pub(crate) fn given_to(&self, slot: usize) -> u64 {
        self.given.get(slot).copied().unwrap_or(0)
    }

    /// The limit in force; `u64::MAX` = none.
    pub(crate) const fn limit(&self) -> u64 {
        self.limit
    }

    /// Bytes charged for processes without a slot.
    pub(crate) const fn ghosts(&self) -> u64 {
        self.ghosts
    }

    /// Sets the bytes of processes without a slot.
    pub(crate) const fn set_ghosts(&mut self, bytes: u64) {
        self.ghosts = bytes;
    }

    /// Sets the floor, see the field; 0 = none.
    pub(crate) const fn set_floor(&mut self, bytes: u64) {
        self.floor = bytes;
    }

    /// Changes the limit; what is charged above it stays, and nothing more is given until it fits.
    pub(crate) fn set_limit(&mut self, limit: u64, slots: &[ClientSlot]) {
        self.limit = limit;
        self.reclaim(self.charged().saturating_sub(limit), None, slots);
    }

    /// Gives at least `bytes` to `slot`, into its word, or nothing (0). Unused leases of siblings are taken back first if
    /// there is not enough.
    pub(crate) fn give(&mut self, slot: usize, bytes: u64, slots: &[ClientSlot]) -> u64 {
        let Some(word) = slots.get(slot).and_then(|s| s.lease.get(self.line)) else { return 0 };
        if bytes == 0 || bytes > self.limit {
            return 0;
        }
        let mut free = self.limit.saturating_sub(self.charged());
        if free < bytes {
            self.reclaim(bytes - free, Some(slot), slots);
            free = self.limit.saturating_sub(self.charged());
        }
        if free < bytes {
            return 0;
        }
        let gift = bytes.max(self.chunk.min(self.limit / 16)).min(free);
        let Some(account) = self.given.get_mut(slot) else { return 0 };
        let Some(more) = account.checked_add(gift) else { return 0 };
        *account = more;
        lease::give(word, gift);
        gift
    }

    /// Takes up to `bytes` of unused leases back from everyone but `except`.
    fn reclaim(&mut self, bytes: u64, except: Option<usize>, slots: &[ClientSlot]) {
        let mut wanted = bytes;
        for (index, (account, slot)) in self.given.iter_mut().zip(slots).enumerate() {
            if wanted == 0 {
                return;
            }
            if Some(index) == except || *account == 0 {
                continue;
            }
            let Some(word) = slot.lease.get(self.line) else { continue };
            // A lying word can't give back more than was given.
            let back = lease::take_up_to(word, wanted.min(*account)).min(*account);
            *account -= back;
            wanted -= back;
        }
    }

    /// A client's slot was cleared and its word held `unused`: gives what it had in use, and forgets it.
    pub(crate) fn close_slot(&mut self, slot: usize, unused: u64) -> u64 {
        let Some(account) = self.given.get_mut(slot) else { return 0 };
        let given = std::mem::take(account);
        given - unused.min(given)
    }

    /// A client came from an earlier daemon and has `used` bytes in use.
    pub(crate) fn carry(&mut self, slot: usize, used: u64) {
        if let Some(account) = self.given.get_mut(slot) {
            *account = account.saturating_add(used);
        }
    }

    /// Bytes in use by the clients' own words (unused rests left out), for people.
    pub(crate) fn used(&self, slots: &[ClientSlot]) -> u64 {
        let ordering = mgpu_protocol::sync::Ordering::Relaxed;
        let used = self.given.iter().zip(slots).map(|(given, slot)| {
            let rest = slot.lease.get(self.line).map_or(0, |word| word.load(ordering));
            given.saturating_sub(rest)
        });
        used.fold(self.ghosts, u64::saturating_add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mgpu_protocol::sync::Ordering;
    use proptest::prelude::*;

    fn slots(n: usize) -> Vec<ClientSlot> {
        (0..n).map(|_| ClientSlot::default()).collect()
    }

    #[test]
    fn gifts_are_chunks_and_never_pass_the_limit() {
        let slots = slots(2);
        let mut books = Books::new(0, 1600, 64);
        assert_eq!(books.give(0, 1, &slots), 64);
        assert_eq!(books.give(0, 1000, &slots), 1000);
        assert_eq!(books.give(1, 600, &slots), 600, "536 free and 64 taken back from the sibling");
        assert_eq!(books.charged(), 1600);
        assert_eq!(slots[0].lease[0].load(Ordering::Relaxed), 1000);
        // 0 uses 600 of it, 1 asks for the rest and one byte more.
        assert!(lease::take(&slots[0].lease[0], 600));
        assert_eq!(books.give(1, 401, &slots), 0);
        assert_eq!(books.give(1, 400, &slots), 400);
    }

    #[test]
    fn a_lying_word_gives_back_no_more_than_was_given() {
        let slots = slots(2);
        let mut books = Books::new(0, 1000, 0);
        books.give(0, 300, &slots);
        slots[0].lease[0].store(u64::MAX, Ordering::Relaxed);
        assert_eq!(books.give(1, 1001, &slots), 0);
        assert_eq!(books.give(1, 1000, &slots), 1000);
        assert_eq!(books.charged(), 1000);
        assert_eq!(books.close_slot(0, u64::MAX), 0);
    }

    #[test]
    fn a_dead_client_returns_its_unused_part_and_a_ghost_keeps_the_rest() {
        let slots = slots(2);
        let mut books = Books::new(0, 1000, 0);
        books.give(0, 900, &slots);
        assert!(lease::take(&slots[0].lease[0], 700));
        let used = books.close_slot(0, lease::take_all(&slots[0].lease[0]));
        assert_eq!(used, 700);
        books.set_ghosts(used);
        assert_eq!(books.give(1, 301, &slots), 0);
        assert_eq!(books.give(1, 300, &slots), 300);
        books.set_ghosts(0);
        assert_eq!(books.give(1, 700, &slots), 700);
    }

    #[test]
    fn after_a_restart_the_floor_holds_what_has_not_been_told() {
        let slots = slots(2);
        let mut books = Books::new(0, 1000, 0);
        books.set_floor(800);
        books.carry(0, 100);
        assert_eq!(books.give(0, 300, &slots), 0);
        books.set_floor(0);
        assert_eq!(books.give(0, 300, &slots), 300);
    }

    proptest! {
        /// Honest clients in any order of asking, using, freeing, dying: counted bytes never pass the limit, and none is lost.
        #[test]
        fn bytes_are_conserved(limit in 1_u64..5000, chunk in 0_u64..200,
                               steps in proptest::collection::vec((0_usize..4, 0_u8..4, 1_u64..700), 1..120)) {
            let slots = slots(4);
            let mut books = Books::new(3, limit, chunk);
            let mut used = [0_u64; 4];
            for (who, what, bytes) in steps {
                let word = &slots[who].lease[3];
                match what {
                    0 => if lease::take(word, bytes) || (books.give(who, bytes, &slots) >= bytes && lease::take(word, bytes)) {
                        used[who] += bytes;
                    },
                    1 => { let back = used[who].min(bytes); used[who] -= back; lease::put_back(word, back); }
                    2 => {
                        prop_assert_eq!(books.close_slot(who, lease::take_all(word)), used[who]);
                        used[who] = 0;
                    }
                    _ => books.set_limit(limit, &slots),
                }
                prop_assert!(books.charged() <= limit);
                let rests: u64 = slots.iter().map(|s| s.lease[3].load(Ordering::Relaxed)).sum();
                prop_assert_eq!(books.given(), rests + used.iter().sum::<u64>());
                prop_assert_eq!(books.used(&slots), used.iter().sum::<u64>());
            }
            // All unused room is usable by one client at once.
            let room = limit - used.iter().sum::<u64>();
            let own = slots[0].lease[3].load(Ordering::Relaxed);
            if room > own {
                prop_assert!(books.give(0, room - own, &slots) >= room - own);
            }
        }
    }
}
