//! Façade over atomics: the standard ones, or loom's under `cfg(loom)`. Every shared word goes through here, so that the
//! functions which the shim links are the very functions that the models check.
//!
//! Each ordering that a hand-over relies on is named by a [`Point`] and taken through [`at`]. In a product build `at` gives
//! back its argument; in a model a test may weaken one point and must then see the model fail, else the model proves nothing.

#[cfg(loom)]
pub use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
#[cfg(not(loom))]
pub use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

/// An ordering that something relies on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Point {
    /// A thread line turns odd before the gate is loaded.
    LineEnter,
    /// A thread line turns even after the launch was counted.
    LineLeave,
    /// The coordinator's gate store comes before its reading of the lines.
    GateStore,
    /// A line's reader sees what its owner did before it turned even.
    LineRead,
    /// A claimed line's predecessor is done with it.
    Claim,
}

/// The ordering to use at `point`: `wanted`.
#[cfg(not(loom))]
#[inline(always)]
#[must_use]
pub const fn at(_point: Point, wanted: Ordering) -> Ordering {
    wanted
}

/// The ordering to use at `point`: `wanted`, or relaxed if a test weakened it.
#[cfg(loom)]
#[must_use]
pub fn at(point: Point, wanted: Ordering) -> Ordering {
    if weak::is(point) { Ordering::Relaxed } else { wanted }
}

/// Nothing: in a product build sequentially consistent accesses order themselves.
#[cfg(not(loom))]
#[inline(always)]
pub const fn model_fence(_point: Point) {}

/// Loom treats sequentially consistent accesses as acquire/release only; this fence gives them back their strength.
#[cfg(loom)]
pub fn model_fence(point: Point) {
    if !weak::is(point) {
        fence(Ordering::SeqCst);
    }
}

/// Which point a test has weakened.
#[cfg(loom)]
pub mod weak {
    use super::Point;
    use std::cell::Cell;

    thread_local! {
        static WEAKENED: Cell<Option<Point>> = const { Cell::new(None) };
    }

    pub(super) fn is(point: Point) -> bool {
        WEAKENED.get() == Some(point)
    }

    /// Weakens `point` (or none) for every model that this test thread runs from now on.
    pub fn set(point: Option<Point>) {
        WEAKENED.set(point);
    }
}
