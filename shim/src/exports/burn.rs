//! The control build of the benches: every launch costs 50 ns more, which the benches must find. Never in a product.
//!
//! Where there is a counter of constant rate it says when the time is over: turns of a loop take twice as long while the
//! machine's other thread works on the same core.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// What a launch costs more, ns.
const NANOS: u64 = 50;
/// For how long the counter's rate is measured.
const CALIBRATION: Duration = Duration::from_millis(2);

/// Spends 50 ns.
#[inline(never)]
pub(super) fn burn() {
    static TICKS: AtomicU64 = AtomicU64::new(0);
    let mut ticks = TICKS.load(Ordering::Relaxed);
    if ticks == 0 {
        ticks = calibrate();
        TICKS.store(ticks, Ordering::Relaxed);
    }
    spend(ticks);
}

fn spend(ticks: u64) {
    let start = counter();
    while counter().wrapping_sub(start) < ticks {}
}

/// Ticks that take 50 ns with the reading of the counter itself: half a reading is what passes unseen before the first and after
/// the last one.
fn calibrate() -> u64 {
    let (start, first) = (Instant::now(), counter());
    while start.elapsed() < CALIBRATION {}
    let nanos = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX).max(1);
    let ticks = counter().wrapping_sub(first).saturating_mul(NANOS) / nanos;
    let readings = (0..1000).map(|_| {
        let before = counter();
        counter().wrapping_sub(before)
    });
    ticks.saturating_sub(readings.min().unwrap_or(0)).max(1)
}

#[cfg(target_arch = "x86_64")]
fn counter() -> u64 {
    // SAFETY: every x86-64 CPU has the instruction; user programs may use it, or the kernel would say so by SIGSEGV at calibration.
    unsafe { std::arch::x86_64::_rdtsc() }
}

/// Without such a counter the loop counts its own turns.
#[cfg(not(target_arch = "x86_64"))]
fn counter() -> u64 {
    static TURNS: AtomicU64 = AtomicU64::new(0);
    TURNS.fetch_add(1, Ordering::Relaxed)
}
