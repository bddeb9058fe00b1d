//! The submission ring: many producers in one client, one consumer in the server, no lock, no system call.
//!
//! A position is claimed by a compare-and-swap of the tail, filled, and published by its slot's state, which is twice the
//! lap while the slot is empty in that lap and one more while it is full. The consumer takes *any* full slot between head
//! and tail: a producer that was stopped between claim and publish holds up nobody but itself. Order comes from the stamps,
//! not from the positions: whoever submits after another's submission returned has the later stamp.
//!
//! The consumer believes nothing: a wild tail, a wild state or a changing slot costs the liar its own submissions.

use crate::layout::{RING, Region, SLOT_WORDS};
use std::sync::atomic::{AtomicU64, Ordering};

/// Words of a slot behind the state: stamp, head, arguments.
pub const BODY: usize = SLOT_WORDS - 1;

/// What a slot holds, copied out.
pub type Body = [u64; BODY];

/// Index of the stamp in a [`Body`].
pub const STAMP: usize = 0;

/// State of an empty slot in the lap of `position`.
fn empty_in(position: u64) -> u64 {
    position / RING as u64 * 2
}

/// The slot of `position`.
fn slot(region: &Region, position: u64) -> &[AtomicU64; SLOT_WORDS] {
    let index = usize::try_from(position % RING as u64).unwrap_or(0);
    &region.slots[index].0
}

/// Publishes `body`, with the stamp that `stamp` gives taken as late as possible. `None` when the ring is full. Otherwise
/// the position.
pub fn push(region: &Region, mut body: Body, stamp: impl FnOnce() -> u64) -> Option<u64> {
    let mut position = region.tail.0.load(Ordering::Relaxed);
    loop {
        let state = slot(region, position)[0].load(Ordering::Acquire);
        if state < empty_in(position) {
            return None;
        }
        if state > empty_in(position) {
            position = region.tail.0.load(Ordering::Relaxed);
            continue;
        }
        match region.tail.0.compare_exchange_weak(position, position + 1, Ordering::AcqRel, Ordering::Relaxed) {
            Ok(_) => break,
            Err(now) => position = now,
        }
    }
    body[STAMP] = stamp();
    let words = slot(region, position);
    for (word, value) in words[1..].iter().zip(body) {
        word.store(value, Ordering::Relaxed);
    }
    words[0].store(empty_in(position) + 1, Ordering::Release);
    Some(position)
}

/// The consumer's own account of the ring.
#[derive(Debug)]
pub struct Consumer {
    /// All below are taken.
    head: u64,
    /// Which of the `RING` positions from `head` on are taken already.
    taken: Box<[bool; RING]>,
}

impl Default for Consumer {
    fn default() -> Self {
        Self { head: 0, taken: Box::new([false; RING]) }
    }
}

impl Consumer {
    /// Takes up to `room` full slots and gives their bodies to `sink`, in order of position.
    pub fn drain(&mut self, region: &Region, room: usize, mut sink: impl FnMut(Body)) {
        let tail = region.tail.0.load(Ordering::Acquire);
        let span = tail.wrapping_sub(self.head);
        // A tail behind the head, or too far ahead, is a lie: such a client's ring is read no further than it is long.
        let end = self.head.saturating_add(span.min(RING as u64));
        let mut left = room;
        for position in self.head..end {
            if left == 0 {
                break;
            }
            if let Some(body) = self.take(region, position) {
                left -= 1;
                sink(body);
            }
        }
        self.pass(region);
    }

    /// Copies a full slot out.
    fn take(&mut self, region: &Region, position: u64) -> Option<Body> {
        let taken = self.taken.get_mut(index(position))?;
        let words = slot(region, position);
        if *taken || words[0].load(Ordering::Acquire) != empty_in(position) + 1 {
            return None;
        }
        *taken = true;
        let mut body = [0; BODY];
        for (value, word) in body.iter_mut().zip(&words[1..]) {
            *value = word.load(Ordering::Relaxed);
        }
        Some(body)
    }

    /// Frees the taken positions at the head for the next lap and wakes who found the ring full.
    fn pass(&mut self, region: &Region) {
        let before = self.head;
        while self.taken[index(self.head)] {
            self.taken[index(self.head)] = false;
            slot(region, self.head)[0].store(empty_in(self.head) + 2, Ordering::Release);
            self.head += 1;
        }
        if self.head != before {
            crate::wake::publish(&region.head, self.head);
        }
    }
}

/// Index of a position.
fn index(position: u64) -> usize {
    usize::try_from(position % RING as u64).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::memory::{Mapping, create};
    use proptest::prelude::*;
    use std::os::fd::AsFd;
    use std::sync::Arc;

    fn region() -> Mapping<Region> {
        let file = create::<Region>(c"test").expect("a memfd");
        Mapping::new(file.as_fd(), true).expect("mapped")
    }

    fn body(thread: u64, number: u64) -> Body {
        let mut body = [number; BODY];
        body[1] = thread;
        body
    }

    #[test]
    fn a_full_ring_takes_no_more_until_it_is_drained() {
        let (region, mut consumer) = (region(), Consumer::default());
        for lap in 0..3u64 {
            for _ in 0..RING {
                assert!(push(&region, body(0, lap), || lap).is_some());
            }
            assert!(push(&region, body(0, lap), || lap).is_none());
            let mut taken = 0;
            consumer.drain(&region, usize::MAX, |_| taken += 1);
            assert_eq!(taken, RING);
        }
    }

    #[test]
    fn what_many_threads_push_comes_out_once_and_whole() {
        const EACH: u64 = 20_000;
        const THREADS: u64 = 4;
        let region = Arc::new(region());
        let producers: Vec<_> = (0..THREADS)
            .map(|thread| {
                let region = Arc::clone(&region);
                std::thread::spawn(move || {
                    for number in 0..EACH {
                        while push(&region, body(thread, number), || number).is_none() {
                            std::thread::yield_now();
                        }
                    }
                })
            })
            .collect();
        let (mut consumer, mut next) = (Consumer::default(), [0; 4]);
        while next.iter().sum::<u64>() < EACH * THREADS {
            consumer.drain(&region, 100, |found| {
                let thread = usize::try_from(found[1]).expect("a thread's number");
                assert_eq!(found, body(found[1], found[0]), "not torn");
                assert_eq!(found[0], next[thread], "each thread's own order");
                next[thread] += 1;
            });
        }
        producers.into_iter().for_each(|producer| producer.join().expect("ends well"));
    }

    #[test]
    fn a_producer_stopped_between_claim_and_publish_holds_up_nobody() {
        let (region, mut consumer) = (region(), Consumer::default());
        // The claim that is never published.
        region.tail.0.fetch_add(1, Ordering::SeqCst);
        let mut seen = Vec::new();
        for number in 1..RING as u64 {
            assert!(push(&region, body(0, number), || number).is_some());
            consumer.drain(&region, usize::MAX, |found| seen.push(found[STAMP]));
        }
        assert_eq!(seen, (1..RING as u64).collect::<Vec<_>>());
        assert!(push(&region, body(0, 0), || 0).is_none(), "its slot is in the way of the next lap only");
    }

    proptest! {
        #[test]
        fn no_tail_and_no_state_is_a_crash_or_an_endless_loop(
            words in proptest::collection::vec((0usize..RING, any::<u64>(), 0u64..6), 0..50),
            tails in proptest::collection::vec(any::<u64>(), 1..10),
        ) {
            let (region, mut consumer) = (region(), Consumer::default());
            for tail in tails {
                region.tail.0.store(tail, Ordering::SeqCst);
                for &(index, value, state) in &words {
                    region.slots[index].0[1].store(value, Ordering::SeqCst);
                    region.slots[index].0[0].store(state, Ordering::SeqCst);
                }
                let mut taken = 0;
                consumer.drain(&region, usize::MAX, |_| taken += 1);
                prop_assert!(taken <= RING);
            }
        }
    }
}
