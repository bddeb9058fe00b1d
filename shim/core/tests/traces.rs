//! Random traces: a driver with blocks and pools, a coordinator with a limit, a client that allocates, frees, fails, and loses
//! its coordinator. Counted bytes never exceed the limit, never differ from what the driver really holds by more than is
//! promised, and nothing is left when everything is freed.

use mgpu_protocol::layout::MAX_DEVICES;
use mgpu_protocol::lease;
use mgpu_protocol::sync::{AtomicU64, Ordering};
use mgpu_protocol::units::Nanos;
use mgpu_shim_core::ledger::{Backing, Ledger, Record, worst_case};
use mgpu_shim_core::pool::{Pools, Wanted};
use mgpu_shim_core::purse::{LeaseWords, Purse, Reservation};
use mgpu_shim_core::session::{BACK_OFF_MOST, Gates, Session, WithoutCoordinator};
use mgpu_shim_core::window::{CAP, LONG_POLL, MOST, POLL, Window};
use proptest::prelude::*;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

const BLOCK: u64 = 2 << 20;
const CHUNK: u64 = 8 << 20;
const LIMIT: u64 = 64 << 20;
const POOL: u64 = 0x77;

#[derive(Clone, Debug)]
enum Step {
    /// Plain allocation; the driver refuses if `refused`.
    Allocate { bytes: u64, refused: bool },
    /// Stream-ordered allocation.
    FromPool { bytes: u64 },
    /// Frees the n-th live allocation; the driver refuses if `refused`.
    Free { which: usize, refused: bool },
    /// A synchronisation: the pool lets go of whole free chunks.
    Synchronize,
    /// A new coordinator takes over.
    Replace,
    /// The coordinator takes unused bytes back.
    Reclaim { bytes: u64 },
}

fn step() -> impl Strategy<Value = Step> {
    let bytes = prop_oneof![1..5000_u64, 1..BLOCK, BLOCK..(12 << 20), Just(BLOCK), Just(4 * BLOCK)];
    prop_oneof![
        4 => (bytes.clone(), prop::bool::weighted(0.1)).prop_map(|(bytes, refused)| Step::Allocate { bytes, refused }),
        2 => (1..(6_u64 << 20)).prop_map(|bytes| Step::FromPool { bytes }),
        5 => (any::<usize>(), prop::bool::weighted(0.1)).prop_map(|(which, refused)| Step::Free { which, refused }),
        1 => Just(Step::Synchronize),
        1 => Just(Step::Replace),
        1 => (1..LIMIT).prop_map(|bytes| Step::Reclaim { bytes }),
    ]
}

/// A driver that packs small allocations into shared blocks and carves pools out of chunks.
#[derive(Default)]
struct Driver {
    next_block: u64,
    /// Block number → bytes handed out of it, and live users.
    shared: BTreeMap<u64, (u64, u64)>,
    /// Address → bytes, of allocations that own their blocks.
    large: BTreeMap<u64, u64>,
    /// Free room of each chunk of the pool, and its live users.
    chunks: BTreeMap<u64, (u64, u64)>,
}

impl Driver {
    fn allocate(&mut self, bytes: u64) -> u64 {
        if bytes > BLOCK / 2 {
            let address = self.fresh(worst_case(bytes, BLOCK) / BLOCK);
            self.large.insert(address, bytes);
            return address;
        }
        let room = self.shared.iter().find(|(_, (used, _))| used + bytes <= BLOCK).map(|(block, _)| *block);
        let block = room.unwrap_or_else(|| self.fresh(1) / BLOCK);
        let (used, users) = self.shared.entry(block).or_default();
        let address = block * BLOCK + *used;
        *used += bytes;
        *users += 1;
        address
    }

    fn fresh(&mut self, blocks: u64) -> u64 {
        self.next_block += blocks;
        (1 + self.next_block - blocks) * BLOCK
    }

    fn free(&mut self, address: u64) {
        if self.large.remove(&address).is_some() {
            return;
        }
        let block = address / BLOCK;
        if let Some((_, users)) = self.shared.get_mut(&block) {
            *users -= 1;
            if *users == 0 {
                self.shared.remove(&block);
            }
        }
    }

    fn held(&self) -> u64 {
        let large: u64 = self.large.values().map(|bytes| worst_case(*bytes, BLOCK)).sum();
        large + u64::try_from(self.shared.len()).unwrap() * BLOCK
    }

    fn allocate_ordered(&mut self, bytes: u64) -> u64 {
        let room = self.chunks.iter().find(|(_, (free, _))| *free >= bytes).map(|(chunk, _)| *chunk);
        let chunk = room.unwrap_or_else(|| {
            let chunk = self.fresh(CHUNK / BLOCK);
            self.chunks.insert(chunk, (CHUNK, 0));
            chunk
        });
        let (free, users) = self.chunks.get_mut(&chunk).unwrap();
        *free -= bytes;
        *users += 1;
        // Freed ranges aren't merged here: a pool at its worst.
        chunk + *free
    }

    fn free_to_pool(&mut self, address: u64) {
        let (_, (_, users)) = self.chunks.range_mut(..=address).next_back().unwrap();
        *users -= 1;
    }

    fn trim(&mut self) {
        self.chunks.retain(|_, (_, users)| *users > 0);
    }

    fn reserved(&self) -> u64 {
        u64::try_from(self.chunks.len()).unwrap() * CHUNK
    }
}

struct Word(AtomicU64);

impl LeaseWords for Word {
    fn word(&self, ordinal: usize) -> Option<&AtomicU64> {
        (ordinal == 0).then_some(&self.0)
    }
}

/// Client and coordinator together.
struct World<'a> {
    driver: Driver,
    ledger: Ledger,
    pools: Pools,
    purse: &'a Purse<&'static Word>,
    word: &'static Word,
    /// The coordinator's books: what it has given.
    given: u64,
    live: Vec<(u64, bool)>,
}

/// The lease gets more while the limit has it.
fn reserve<'a>(
    purse: &'a Purse<&'static Word>,
    word: &'static Word,
    given: &Cell<u64>,
    bytes: u64,
) -> Option<Reservation<'a, &'static Word>> {
    let missing = bytes.saturating_sub(word.0.load(Ordering::Relaxed));
    if given.get() + missing > LIMIT {
        return None;
    }
    given.set(given.get() + missing);
    lease::give(&word.0, missing);
    Reservation::new(purse, 0, bytes).ok()
}

impl World<'_> {
    fn reserve(&mut self, bytes: u64) -> Option<Reservation<'_, &'static Word>> {
        let given = Cell::new(self.given);
        let reservation = reserve(self.purse, self.word, &given, bytes);
        self.given = given.get();
        reservation
    }

    fn allocate(&mut self, bytes: u64, refused: bool) {
        if self.reserve(worst_case(bytes, BLOCK)).is_none() || refused {
            return; // Refused by us, or by the driver: the reservation is gone again.
        }
        let address = self.driver.allocate(bytes);
        let record = Record { ordinal: 0, context: 1, bytes, backing: Backing::Blocks(BLOCK) };
        let reservation = Reservation::new(self.purse, 0, worst_case(bytes, BLOCK)).unwrap();
        self.ledger.enter(address, record, reservation).unwrap();
        self.live.push((address, false));
    }

    fn allocate_ordered(&mut self, bytes: u64) {
        let wanted = Wanted { handle: POOL, ordinal: 0, bytes, block: BLOCK };
        let (purse, word, driver) = (self.purse, self.word, RefCell::new(&mut self.driver));
        let given = Cell::new(self.given);
        let reserve = |bytes| reserve(purse, word, &given, bytes);
        let reserved = || Some(driver.borrow().reserved());
        let made = self.pools.start(&wanted, purse, reserve, reserved, || false).and_then(|mut coming| {
            let address = driver.borrow_mut().allocate_ordered(bytes);
            let id = coming.finish(reserve, reserved);
            if id.is_none() {
                driver.borrow_mut().free_to_pool(address);
            }
            Some((address, id?))
        });
        self.given = given.get();
        let Some((address, id)) = made else { return };
        let record = Record { ordinal: 0, context: 0, bytes, backing: Backing::Pool(id) };
        self.ledger.enter(address, record, Reservation::new(self.purse, 0, 0).unwrap()).unwrap();
        self.live.push((address, true));
    }

    fn free(&mut self, which: usize, refused: bool) {
        if self.live.is_empty() {
            return;
        }
        let place = which % self.live.len();
        let (address, is_pool) = self.live[place];
        let record = self.ledger.take(address).unwrap();
        if refused {
            return self.ledger.restore(address, record);
        }
        self.live.swap_remove(place);
        match record.backing {
            Backing::Blocks(_) => {
                self.driver.free(address);
                self.ledger.release(address, &record, self.purse);
            }
            Backing::Pool(pool) => {
                assert!(is_pool);
                self.driver.free_to_pool(address);
                self.pools.freed(pool, record.bytes);
            }
        }
    }

    fn synchronize(&mut self) {
        self.driver.trim();
        let reserved = self.driver.reserved();
        self.pools.refresh(self.purse, |_| Some(reserved));
    }

    fn replace(&mut self) {
        self.word = Box::leak(Box::new(Word(AtomicU64::new(0))));
        self.given = self.purse.exchange(self.word)[0];
    }

    fn reclaim(&mut self, bytes: u64) {
        self.given -= lease::take_up_to(&self.word.0, bytes);
    }

    fn check(&self) {
        let used = self.purse.in_use()[0];
        assert!(self.given <= LIMIT, "given {} over the limit", self.given);
        assert_eq!(used + self.word.0.load(Ordering::Relaxed), self.given, "bytes appeared or were lost");
        assert!(used >= self.driver.held(), "counted {used}, the driver holds {}", self.driver.held());
        let all = self.driver.held() + self.driver.reserved();
        assert!(all <= used + CHUNK, "counted {used}, the driver holds {all} with pools: more than one surprise");
        assert!(used <= self.driver.held() + self.driver.reserved().max(LIMIT), "counted {used}");
        assert_eq!(self.ledger.len(), self.live.len());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn nothing_drifts(steps in prop::collection::vec(step(), 1..120)) {
        let word: &'static Word = Box::leak(Box::new(Word(AtomicU64::new(0))));
        let purse = Purse::default();
        purse.exchange(word);
        let mut world = World {
            driver: Driver::default(),
            ledger: Ledger::default(),
            pools: Pools::default(),
            purse: &purse,
            word,
            given: 0,
            live: Vec::new(),
        };
        for step in steps {
            match step {
                Step::Allocate { bytes, refused } => world.allocate(bytes, refused),
                Step::FromPool { bytes } => world.allocate_ordered(bytes),
                Step::Free { which, refused } => world.free(which, refused),
                Step::Synchronize => world.synchronize(),
                Step::Replace => world.replace(),
                Step::Reclaim { bytes } => world.reclaim(bytes),
            }
            world.check();
        }
        // What is counted is what the driver holds, pools as a whole, to the byte.
        world.synchronize();
        prop_assert_eq!(purse.in_use()[0], world.driver.held() + world.driver.reserved());
        while !world.live.is_empty() {
            world.free(0, false);
        }
        world.synchronize();
        prop_assert_eq!(purse.in_use(), [0; MAX_DEVICES]);
        prop_assert!(world.ledger.is_empty());
    }

    #[test]
    fn a_window_stays_within_its_bounds(
        looks in prop::collection::vec((0..5_000_000_u64, 0..2_000_u32, 0..10_u32, 0..3_u32), 1..80),
        granted in 0..2_000_u32,
    ) {
        let mut window = Window::default();
        let (mut now, mut completed) = (Nanos(0), u32::MAX - 500);
        for (step, done, shift, epoch) in looks {
            now = now.plus(Nanos(step));
            completed = completed.wrapping_add(done);
            window.look(now, completed, 1 << shift, epoch);
            let size = window.size(granted);
            if granted == 0 {
                prop_assert_eq!(size, u32::MAX);
            } else {
                prop_assert!(size >= granted && size <= granted.max(MOST));
                prop_assert!(window.resume_at(granted) < size);
            }
            let sleep = window.sleep(done, granted);
            prop_assert!(sleep >= POLL.0 && sleep <= LONG_POLL && sleep < CAP);
        }
    }

    #[test]
    fn a_session_always_has_a_way_on(
        events in prop::collection::vec((0..3_000_u64, 0..3_u8), 1..60),
        closed: bool,
    ) {
        let mode = if closed { WithoutCoordinator::Closed } else { WithoutCoordinator::Open };
        let mut session = Session::new(mode, Nanos(0));
        let (mut now, mut epoch) = (Nanos(0), 1);
        for (ms, event) in events {
            now = now.plus(Nanos::from_millis(ms));
            match event {
                0 => {
                    epoch += 1;
                    session.connected(epoch);
                }
                1 => session.failed(now),
                _ => session.lost(now),
            }
            // Attached, or an attempt is due within the longest pause.
            match session.attempt_at() {
                None => prop_assert!(session.is_attached() && session.gates(now) == Gates::Coordinator),
                Some(at) => prop_assert!(!session.is_attached() && at.since(now) <= BACK_OFF_MOST),
            }
            // Without a coordinator nothing waits for ever, unless told to.
            let later = now.plus(Nanos::from_millis(2_000));
            if !session.is_attached() {
                prop_assert_eq!(session.gates(later), if closed { Gates::AsLast } else { Gates::Open });
                prop_assert!(!session.allocations_wait(later));
            }
        }
    }
}
