//! Leases: whoever moves bytes in whatever order, none appear and none are lost.
#![cfg(loom)]

mod model;

use loom::sync::Arc;
use loom::thread;
use mgpu_protocol::lease::{give, put_back, take, take_all, take_up_to};
use mgpu_protocol::sync::{AtomicU64, Ordering};

/// Two clients' lease words.
#[derive(Default)]
struct World {
    ours: AtomicU64,
    theirs: AtomicU64,
}

impl World {
    fn unused(&self) -> u64 {
        self.ours.load(Ordering::Relaxed) + self.theirs.load(Ordering::Relaxed)
    }
}

/// A client takes and puts back while the coordinator gives and takes away.
fn client_and_coordinator() {
    let world = Arc::new(World::default());
    give(&world.ours, 5);
    let client = {
        let world = world.clone();
        thread::spawn(move || {
            let used = if take(&world.ours, 4) { 4 } else { 0 };
            put_back(&world.ours, used / 2);
            used - used / 2
        })
    };
    give(&world.ours, 3);
    let reclaimed = take_up_to(&world.ours, 6);
    let used = client.join().unwrap();
    assert_eq!(world.unused() + used + reclaimed, 8);
}

/// A sibling takes from us while we use and the coordinator buries us.
fn sibling_and_death() {
    let world = Arc::new(World::default());
    give(&world.ours, 5);
    let sibling = {
        let world = world.clone();
        thread::spawn(move || give(&world.theirs, take_up_to(&world.ours, 3)))
    };
    let client = {
        let world = world.clone();
        thread::spawn(move || if take(&world.ours, 2) { 2 } else { 0 })
    };
    let returned = take_all(&world.ours);
    sibling.join().unwrap();
    let used = client.join().unwrap();
    assert_eq!(world.unused() + used + returned, 5);
}

/// Two threads of one client never get more than there is.
fn two_takers() {
    let world = Arc::new(World::default());
    give(&world.ours, 5);
    let other = {
        let world = world.clone();
        thread::spawn(move || u64::from(take(&world.ours, 3)))
    };
    let won = u64::from(take(&world.ours, 3)) + other.join().unwrap();
    assert_eq!(won, 1);
    assert_eq!(world.unused(), 2);
}

#[test]
fn bytes_are_conserved() {
    model::holds("lease, client and coordinator", client_and_coordinator);
    model::holds("lease, sibling and death", sibling_and_death);
    model::holds("lease, two takers", two_takers);
}

#[test]
fn a_taking_in_two_steps_would_be_noticed() {
    model::fails("a take by load and store", || {
        let word = Arc::new(AtomicU64::new(5));
        let naive = |word: &AtomicU64| {
            let rest = word.load(Ordering::SeqCst);
            if rest >= 3 {
                word.store(rest - 3, Ordering::SeqCst);
            }
            u64::from(rest >= 3)
        };
        let other = {
            let word = word.clone();
            thread::spawn(move || naive(&word))
        };
        assert_eq!(naive(&word) + other.join().unwrap(), 1);
    });
}
