//! Futexes on shared memory: the waiting half and the waking half of a word that counts.
//!
//! A waiter announces itself in a second word, so that whoever changes the first makes a system call only when somebody
//! waits. Neither side trusts the other's words: a wrong one costs a needless call or, at most, `PATIENCE`.

use std::sync::atomic::{AtomicU32, Ordering, fence};

/// How long one wait lasts before the caller looks around (for a dead server), ns.
pub const PATIENCE_NS: u64 = 250_000_000;

/// Sleeps until `word` is no longer `seen`, a wake, a signal, or `timeout_ns`.
pub fn wait(word: &AtomicU32, seen: u32, timeout_ns: u64) {
    let timeout = super::timespec(timeout_ns);
    // SAFETY: the word outlives the call, the timespec too; FUTEX_WAIT only reads both. Errors mean "look again".
    unsafe {
        libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAIT, seen, &raw const timeout, 0usize, 0u32);
    }
}

/// Wakes everybody who waits on `word`, in any process.
pub fn wake_all(word: &AtomicU32) {
    // SAFETY: the address is only used as a key by the kernel.
    unsafe {
        libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE, i32::MAX, 0usize, 0usize, 0u32);
    }
}

/// Blocks until `done` says so or `look_around`, called at least each [`PATIENCE_NS`], gives an error.
///
/// # Errors
/// Whatever `look_around` gives.
pub fn block<E>(
    word: &AtomicU32,
    waiters: &AtomicU32,
    done: impl Fn() -> Result<bool, E>,
    look_around: impl Fn() -> Result<(), E>,
) -> Result<(), E> {
    loop {
        waiters.fetch_add(1, Ordering::SeqCst);
        fence(Ordering::SeqCst);
        let seen = word.load(Ordering::SeqCst);
        let state = done();
        if let Ok(false) = state {
            wait(word, seen, PATIENCE_NS);
        }
        waiters.fetch_sub(1, Ordering::SeqCst);
        if state? {
            return Ok(());
        }
        look_around()?;
    }
}

/// The other half of [`block`]: call after the change of the word that `block` watches.
pub fn notify(word: &AtomicU32, waiters: &AtomicU32) {
    fence(Ordering::SeqCst);
    if waiters.load(Ordering::SeqCst) != 0 {
        wake_all(word);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn a_waiter_sees_every_change() {
        let words = Arc::new((AtomicU32::new(0), AtomicU32::new(0)));
        let waiting = Arc::clone(&words);
        let waiter = std::thread::spawn(move || {
            for step in 1..=200u32 {
                let reached = || Ok::<_, ()>(waiting.0.load(Ordering::SeqCst) >= step);
                block(&waiting.0, &waiting.1, reached, || Ok(())).ok();
            }
        });
        for step in 1..=200u32 {
            words.0.store(step, Ordering::SeqCst);
            notify(&words.0, &words.1);
        }
        waiter.join().expect("the waiter ends once the last step is in");
    }
}
