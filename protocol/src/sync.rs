//! Façade over atomics: the standard ones, or loom's under `cfg(loom)`. Every shared word goes through here, so that the
//! functions which the shim links are the very functions that the models check.

#[cfg(loom)]
pub use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
#[cfg(not(loom))]
pub use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
