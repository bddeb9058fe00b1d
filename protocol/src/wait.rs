//! Waiting at a closed gate. The futex word is the low half of the gate word; a client waits on it through its read-only
//! mapping, the coordinator wakes through its own.
//!
//! Only plain shared futexes: priority-inheritance and robust ones name the wrong task across pid namespaces.

use crate::gate::{Gate, GateState};
use crate::layout::ClientSlot;
use crate::sync::{AtomicU64, Ordering};
use crate::units::Nanos;

/// How a thread sleeps until a word changes; the kernel's futex, or a model of it.
pub trait Parker {
    /// Returns at once if the low half of `word` is not `seen`, else sleeps until woken, or `timeout` (or earlier).
    fn wait(&self, word: &AtomicU64, seen: u32, timeout: Nanos);
    /// Wakes all who sleep on `word`; gives how many there were, if known.
    fn wake_all(&self, word: &AtomicU64) -> u32;
}

/// The half of a gate word on which threads sleep. Every change that matters to a waiter changes it.
#[must_use]
#[allow(clippy::cast_possible_truncation, reason = "the low half is what is asked for")]
pub const fn futex_half(word: u64) -> u32 {
    word as u32
}

/// One round of a policy wait: if the gate is closed, say that this client wants `device` (calling `ring` on the 0→1 edge, it
/// writes the eventfd) and sleep until the gate changes or `timeout`. Gives the gate as it is now. May return early.
pub fn wait_round<P: Parker>(
    gate: &AtomicU64,
    slot: &ClientSlot,
    device: u32,
    parker: &P,
    ring: impl FnOnce(),
    timeout: Nanos,
) -> u64 {
    let seen = gate.load(Ordering::Acquire);
    if Gate::unpack(seen).state != GateState::Closed {
        return seen;
    }
    if slot.raise_want(device) {
        ring();
    }
    parker.wait(gate, futex_half(seen), timeout);
    gate.load(Ordering::Acquire)
}

#[cfg(not(loom))]
pub use kernel::{Futex, wake_all};

#[cfg(not(loom))]
mod kernel {
    use super::{AtomicU64, Nanos, Parker};

    /// The kernel's futex, shared between processes.
    #[derive(Clone, Copy, Debug, Default)]
    pub struct Futex;

    impl Parker for Futex {
        fn wait(&self, word: &AtomicU64, seen: u32, timeout: Nanos) {
            const SECOND: u64 = 1_000_000_000;
            let timeout = libc::timespec {
                tv_sec: libc::time_t::try_from(timeout.0 / SECOND).unwrap_or(libc::time_t::MAX),
                // Below 10⁹ always.
                tv_nsec: libc::c_long::try_from(timeout.0 % SECOND).unwrap_or(0),
            };
            // SAFETY: the word's address is valid for the call (a live reference) and 4-byte aligned; its low half lies first
            // (little-endian, asserted in `layout`); the kernel only reads it. Every error means "look again".
            unsafe {
                libc::syscall(libc::SYS_futex, word.as_ptr().cast::<u32>(), libc::FUTEX_WAIT, seen, &raw const timeout);
            }
        }

        fn wake_all(&self, word: &AtomicU64) -> u32 {
            // SAFETY: as above; FUTEX_WAKE doesn't even read the word.
            let woken =
                unsafe { libc::syscall(libc::SYS_futex, word.as_ptr().cast::<u32>(), libc::FUTEX_WAKE, i32::MAX) };
            u32::try_from(woken).unwrap_or(0)
        }
    }

    /// Wakes every thread that sleeps on the gate word, in whatever process; gives how many.
    pub fn wake_all(word: &AtomicU64) -> u32 {
        Futex.wake_all(word)
    }
}
