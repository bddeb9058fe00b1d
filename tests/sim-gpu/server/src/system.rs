//! Signals as a file.

use std::io;
use std::os::fd::{FromRawFd, OwnedFd};

/// Blocks SIGTERM and SIGINT for this thread (and those it makes) and gives a file that is readable when one has come.
pub(crate) fn termination() -> io::Result<OwnedFd> {
    // SAFETY: plain data, filled on the next lines.
    let mut set: libc::sigset_t = unsafe { std::mem::zeroed() };
    // SAFETY: a valid set.
    unsafe { libc::sigemptyset(&raw mut set) };
    for signal in [libc::SIGTERM, libc::SIGINT] {
        // SAFETY: a valid set and signal.
        unsafe { libc::sigaddset(&raw mut set, signal) };
    }
    // SAFETY: a valid set; the old mask isn't wanted.
    unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut()) };
    // SAFETY: a valid set; the result is checked.
    let raw = unsafe { libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK) };
    if raw < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: a new descriptor that nobody else owns.
    Ok(unsafe { OwnedFd::from_raw_fd(raw) })
}
