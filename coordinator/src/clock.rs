//! The daemon's one clock: CLOCK_MONOTONIC in ns, the same that clients of this node see.

use mgpu_protocol::units::Nanos;
use rustix::time::{ClockId, Timespec};

/// Now.
pub(crate) fn now() -> Nanos {
    let t = rustix::time::clock_gettime(ClockId::Monotonic);
    let seconds = u64::try_from(t.tv_sec).unwrap_or(0);
    let rest = u64::try_from(t.tv_nsec).unwrap_or(0);
    Nanos(seconds.saturating_mul(1_000_000_000).saturating_add(rest))
}

/// A span for a system call.
pub(crate) fn timespec(span: Nanos) -> Timespec {
    Timespec {
        tv_sec: i64::try_from(span.0 / 1_000_000_000).unwrap_or(i64::MAX),
        tv_nsec: i64::try_from(span.0 % 1_000_000_000).unwrap_or(0),
    }
}
