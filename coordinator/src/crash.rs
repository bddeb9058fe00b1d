//! Places where a test may kill the daemon: `MGPUD_CRASH_AT=NAME:N` (the N-th time) in a build with the feature `crash-points`.
//! In a product build a point is nothing.

/// Dies here, by SIGKILL to itself, if the test asked for this point.
#[cfg(feature = "crash-points")]
pub(crate) fn point(name: &str) {
    use std::sync::atomic::{AtomicU32, Ordering};
    static REACHED: AtomicU32 = AtomicU32::new(0);
    let Ok(wanted) = std::env::var("MGPUD_CRASH_AT") else { return };
    let Some((wanted, times)) = wanted.split_once(':') else { return };
    if wanted == name && REACHED.fetch_add(1, Ordering::Relaxed) + 1 == times.parse().unwrap_or(1) {
        let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
        std::process::abort();
    }
}

/// Nothing.
#[cfg(not(feature = "crash-points"))]
pub(crate) const fn point(_name: &str) {}
