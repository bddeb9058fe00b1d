//! Messages to people, on stderr, one write a line. Off the hot path only; no allocation-free promise, no stdout, no file. No
//! lock either: a child forked while another thread was writing would wait for it for ever.

use mgpu_shim_core::config::Verbosity;
use std::sync::atomic::{AtomicU8, Ordering};

static LEVEL: AtomicU8 = AtomicU8::new(1);

/// Sets how much is said from now on.
pub(crate) fn set(level: Verbosity) {
    LEVEL.store(level as u8, Ordering::Relaxed);
}

/// Whether a line of `level` would be written.
pub(crate) fn is_on(level: Verbosity) -> bool {
    level as u8 <= LEVEL.load(Ordering::Relaxed)
}

/// Writes a line, if its level is on. A broken stderr is nobody's trouble.
pub(crate) fn write(level: Verbosity, message: &std::fmt::Arguments<'_>) {
    if level != Verbosity::Off && is_on(level) {
        let line = format!("mgpu[{}]: {message}\n", std::process::id());
        // SAFETY: the bytes of a live string.
        unsafe { libc::write(libc::STDERR_FILENO, line.as_ptr().cast(), line.len()) };
    }
}

/// What the user must know: something is not enforced as asked, or stuck.
macro_rules! error {
    ($($text:tt)*) => { $crate::log::write(mgpu_shim_core::config::Verbosity::Error, &format_args!($($text)*)) };
}
/// Attachments and losses.
macro_rules! info {
    ($($text:tt)*) => { $crate::log::write(mgpu_shim_core::config::Verbosity::Info, &format_args!($($text)*)) };
}
/// Everything.
macro_rules! debug {
    ($($text:tt)*) => { $crate::log::write(mgpu_shim_core::config::Verbosity::Debug, &format_args!($($text)*)) };
}
pub(crate) use {debug, error, info};
