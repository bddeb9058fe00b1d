//! Many threads over one ledger, one pool and one purse, with a driver behind a lock as real drivers have one. Whatever the
//! schedule, at rest the count is what the driver holds; and while they run, the driver's plain memory never exceeds the
//! limit, and all of it by one surprise of the pool at most.

use mgpu_protocol::lease;
use mgpu_protocol::sync::{AtomicU64, Ordering};
use mgpu_shim_core::ledger::{Backing, Ledger, Record, worst_case};
use mgpu_shim_core::pool::{Pools, Wanted};
use mgpu_shim_core::purse::{LeaseWords, Purse, Reservation};
use std::sync::{Barrier, Mutex};

const BLOCK: u64 = 2 << 20;
const CHUNK: u64 = 8 << 20;
const LIMIT: u64 = 96 << 20;
const POOL: u64 = 9;
/// What one allocation that leans on a pool's slack may grow it by: its size in whole chunks.
const SURPRISE: u64 = CHUNK;
const THREADS: u64 = 8;
const ROUNDS: u64 = 100;
const STEPS: u64 = 100;

struct Word(AtomicU64);

impl LeaseWords for Word {
    fn word(&self, ordinal: usize) -> Option<&AtomicU64> {
        (ordinal == 0).then_some(&self.0)
    }
}

/// Plain allocations own their blocks; the pool grows by chunks and only shrinks at a synchronisation.
#[derive(Default)]
struct Driver {
    next: u64,
    plain: u64,
    most: u64,
    most_of_all: u64,
    reserved: u64,
    live: u64,
}

impl Driver {
    fn address(&mut self, bytes: u64) -> u64 {
        self.next += worst_case(bytes, BLOCK);
        self.next - worst_case(bytes, BLOCK)
    }

    fn ordered(&mut self, bytes: u64) -> u64 {
        self.live += bytes;
        self.reserved = self.reserved.max(worst_case(self.live, CHUNK));
        self.most_of_all = self.most_of_all.max(self.plain + self.reserved);
        self.address(bytes)
    }
}

struct World {
    driver: Mutex<Driver>,
    ledger: Ledger,
    pools: Pools,
    purse: Purse<Word>,
}

impl World {
    fn plain(&self, bytes: u64) -> Option<u64> {
        let reservation = Reservation::new(&self.purse, 0, worst_case(bytes, BLOCK)).ok()?;
        let address = {
            let mut driver = self.driver.lock().unwrap();
            driver.plain += worst_case(bytes, BLOCK);
            // No panic here: the other threads would wait at the barrier for ever.
            driver.most = driver.most.max(driver.plain);
            driver.most_of_all = driver.most_of_all.max(driver.plain + driver.reserved);
            driver.address(bytes)
        };
        let record = Record { ordinal: 0, context: 1, bytes, backing: Backing::Blocks(BLOCK) };
        self.ledger.enter(address, record, reservation).ok()?;
        Some(address)
    }

    fn ordered(&self, bytes: u64) -> Option<u64> {
        let wanted = Wanted { handle: POOL, ordinal: 0, bytes, block: BLOCK };
        let reserve = |bytes| Reservation::new(&self.purse, 0, bytes).ok();
        let reserved = || Some(self.driver.lock().unwrap().reserved);
        let mut tries = 0;
        let wait = || {
            std::thread::yield_now();
            tries += 1;
            tries < 1000
        };
        let mut coming = self.pools.start(&wanted, &self.purse, reserve, reserved, wait)?;
        let address = self.driver.lock().unwrap().ordered(bytes);
        // Lets others look at the pool while it has grown and nobody has paid.
        std::thread::yield_now();
        let Some(id) = coming.finish(reserve, reserved) else {
            self.driver.lock().unwrap().live -= bytes;
            return None;
        };
        let record = Record { ordinal: 0, context: 0, bytes, backing: Backing::Pool(id) };
        self.ledger.enter(address, record, Reservation::new(&self.purse, 0, 0).ok()?).ok()?;
        Some(address)
    }

    fn free(&self, address: u64) {
        let Some(record) = self.ledger.take(address) else { return };
        match record.backing {
            Backing::Blocks(_) => {
                self.driver.lock().unwrap().plain -= worst_case(record.bytes, BLOCK);
                self.ledger.release(address, &record, &self.purse);
            }
            Backing::Pool(pool) => {
                self.driver.lock().unwrap().live -= record.bytes;
                self.pools.freed(pool, record.bytes);
            }
        }
    }

    fn synchronize(&self) {
        {
            let mut driver = self.driver.lock().unwrap();
            driver.reserved = worst_case(driver.live, CHUNK);
        }
        self.pools.refresh(&self.purse, |_| Some(self.driver.lock().unwrap().reserved));
    }

    fn steps(&self, thread: u64, round: u64, live: &mut Vec<u64>) {
        let mut random = (thread << 32 | round).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        for _ in 0..STEPS {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let bytes = 1 + random % (5 << 20);
            match (random >> 40) % 8 {
                0..=2 => live.extend(self.plain(bytes)),
                3..=4 => live.extend(self.ordered(bytes)),
                5..=6 if !live.is_empty() => {
                    let place = usize::try_from(random >> 48).unwrap() % live.len();
                    self.free(live.swap_remove(place));
                }
                _ => self.synchronize(),
            }
        }
    }
}

#[test]
fn every_byte_is_counted_whatever_the_schedule() {
    let purse = Purse::default();
    let word = Word(AtomicU64::new(0));
    lease::give(&word.0, LIMIT);
    purse.exchange(word);
    let world = World { driver: Mutex::default(), ledger: Ledger::default(), pools: Pools::default(), purse };
    let rest = Barrier::new(usize::try_from(THREADS).unwrap());
    let failed = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (world, rest, failed) = (&world, &rest, &failed);
            scope.spawn(move || {
                let mut live = Vec::new();
                for round in 0..ROUNDS {
                    world.steps(thread, round, &mut live);
                    if rest.wait().is_leader() {
                        world.synchronize();
                        let driver = world.driver.lock().unwrap();
                        if world.purse.in_use()[0] != driver.plain + driver.reserved {
                            failed.fetch_add(1, Ordering::Relaxed);
                        }
                    }
                    rest.wait();
                }
                live.into_iter().for_each(|address| world.free(address));
            });
        }
    });
    assert_eq!(failed.into_inner(), 0, "rounds at whose end the count differed from the driver's");
    let most = world.driver.lock().unwrap().most_of_all;
    assert!(world.driver.lock().unwrap().most <= LIMIT, "plain memory over the limit");
    assert!(most <= LIMIT + SURPRISE, "{most}: more than one surprise over the limit");
    world.synchronize();
    assert_eq!(world.purse.in_use()[0], 0);
    assert!(world.ledger.is_empty());
}
