//! The control build of the benches: every launch costs 50 ns more, which the benches must find. Never in a product.

use std::hint::black_box;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

const NANOS: u128 = 50;

/// Spends 50 ns without reading a clock, which alone may cost as much.
#[inline(never)]
pub(super) fn burn() {
    static TURNS: AtomicU32 = AtomicU32::new(0);
    let mut turns = TURNS.load(Ordering::Relaxed);
    if turns == 0 {
        turns = calibrate();
        TURNS.store(turns, Ordering::Relaxed);
    }
    turn(turns);
}

fn turn(turns: u32) {
    for step in 0..turns {
        black_box(step);
    }
}

/// Turns that take 50 ns: by the best of several tries, so that a pause of this thread does not count.
fn calibrate() -> u32 {
    const TRIES: usize = 20;
    const TURNS: u32 = 100_000;
    let best = (0..TRIES).map(|_| {
        let start = Instant::now();
        turn(TURNS);
        start.elapsed().as_nanos()
    });
    let best = best.min().unwrap_or(1).max(1);
    u32::try_from(u128::from(TURNS) * NANOS / best).unwrap_or(1).max(1)
}
