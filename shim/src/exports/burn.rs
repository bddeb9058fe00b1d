//! The control build of the benches: every launch costs 50 ns more, which the benches must find. Never in a product.

use std::time::{Duration, Instant};

/// Spends at least 50 ns.
#[inline(never)]
pub(super) fn burn() {
    let start = Instant::now();
    while start.elapsed() < Duration::from_nanos(50) {}
}
