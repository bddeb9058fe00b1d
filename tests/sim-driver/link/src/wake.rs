//! Publishing a count in a [`Progress`] line and waiting for it: the one protocol of all completion words.

use crate::layout::Progress;
use crate::sys::futex;
use std::sync::atomic::Ordering;

/// Server: stores the new count and wakes who waits.
pub fn publish(line: &Progress, completed: u64) {
    store(line, completed);
    notify(line);
}

/// Server: stores the new count; [`notify`] must follow.
pub fn store(line: &Progress, completed: u64) {
    line.completed.store(completed, Ordering::SeqCst);
    // The futex word changes after the count: who saw the old word and sleeps on it is woken by the notify that follows.
    line.word.store((completed & 0xffff_ffff) as u32, Ordering::SeqCst);
}

/// Server: wakes who waits on the line.
pub fn notify(line: &Progress) {
    futex::notify(&line.word, &line.waiters);
}

/// Server: wakes everybody on the line although its count stands still (a fault, the end).
pub fn shake(line: &Progress) {
    line.word.fetch_xor(1 << 31, Ordering::SeqCst);
    notify(line);
}

/// Client: blocks until `done`; `look_around` as in [`futex::block`].
///
/// # Errors
/// What `done` or `look_around` give.
pub fn block<E>(
    line: &Progress,
    done: impl Fn() -> Result<bool, E>,
    look_around: impl Fn() -> Result<(), E>,
) -> Result<(), E> {
    futex::block(&line.word, &line.waiters, done, look_around)
}
