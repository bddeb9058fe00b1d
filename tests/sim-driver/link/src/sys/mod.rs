//! The operating system, as little of it as both ends need: clock, futexes, shared memory, sockets that carry files.
//!
//! All unsafe code of the link that is not the fork page lives here. It must know nothing of devices or messages.

pub mod futex;
pub mod memory;
pub mod socket;

/// CLOCK_MONOTONIC in ns: the time of stamps, of the model and of the witness.
#[must_use]
pub fn now_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid timespec for the kernel to fill.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    let nanos = u64::try_from(time.tv_nsec).unwrap_or(0);
    seconds * 1_000_000_000 + nanos
}

/// A timespec of `ns`.
#[must_use]
pub fn timespec(ns: u64) -> libc::timespec {
    libc::timespec {
        tv_sec: libc::time_t::try_from(ns / 1_000_000_000).unwrap_or(libc::time_t::MAX),
        tv_nsec: libc::c_long::try_from(ns % 1_000_000_000).unwrap_or(0),
    }
}
