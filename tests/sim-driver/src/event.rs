//! Events, recorded by streams of the link or by a capture.
//! It must never know how time is measured.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use mgpu_sim_link::EventId;

use crate::capture::Capture;
use crate::context::Context;
use crate::error::{CAPTURED_EVENT, INVALID_HANDLE, OUT_OF_MEMORY, Res};
use crate::slots::{Slots, handle_of};
use crate::state::driver;
use crate::sync::lock;

/// `cuEventCreate`'s flag for an event without a time.
pub(crate) const DISABLE_TIMING: u32 = 2;

/// The capture and the nodes that an event stands for after a record in a capturing stream.
pub(crate) type Captured = (Arc<Capture>, Vec<usize>);

/// An event.
#[derive(Debug, Default)]
pub(crate) struct Event {
    link: AtomicU32,
    pub(crate) flags: AtomicU32,
    pub(crate) context_id: AtomicU64,
    pub(crate) link_context: AtomicU32,
    pub(crate) is_captured: AtomicBool,
    pub(crate) captured: Mutex<Option<Captured>>,
}

pub(crate) static EVENTS: Slots<Event> = Slots::new(1 << 17);

impl Event {
    pub(crate) fn link(&self) -> mgpu_sim_link::Event {
        mgpu_sim_link::Event { id: EventId(self.link.load(Ordering::Relaxed)) }
    }

    pub(crate) fn has_time(&self) -> bool {
        self.flags.load(Ordering::Relaxed) & DISABLE_TIMING == 0
    }

    /// # Errors
    /// [`CAPTURED_EVENT`] when its last record was captured and so never happens outside the graph.
    pub(crate) fn check_not_captured(&self) -> Res {
        if self.is_captured.load(Ordering::Acquire) { Err(CAPTURED_EVENT) } else { Ok(()) }
    }

    pub(crate) fn set_captured(&self, captured: Option<Captured>) {
        let mut slot = lock(&self.captured);
        self.is_captured.store(captured.is_some(), Ordering::Release);
        *slot = captured;
    }
}

/// Makes an event of `context`.
///
/// # Errors
/// [`OUT_OF_MEMORY`] when there are too many.
pub(crate) fn create(context: &Context, flags: u32) -> Res<&'static Event> {
    let link = driver()?.session.create_event()?;
    let event = EVENTS.insert(|e| {
        e.link.store(link.id.0, Ordering::Relaxed);
        e.flags.store(flags, Ordering::Relaxed);
        e.context_id.store(context.id(), Ordering::Relaxed);
        e.link_context.store(context.link_id().0, Ordering::Relaxed);
        e.set_captured(None);
    });
    event.ok_or(OUT_OF_MEMORY)
}

/// The live event behind a handle.
///
/// # Errors
/// [`INVALID_HANDLE`].
pub(crate) fn find(handle: *const ()) -> Res<&'static Event> {
    EVENTS.get(handle).ok_or(INVALID_HANDLE)
}

/// Ends an event; a pending record still completes.
///
/// # Errors
/// [`INVALID_HANDLE`].
pub(crate) fn destroy(handle: *const ()) -> Res {
    let event = EVENTS.remove(handle).ok_or(INVALID_HANDLE)?;
    event.set_captured(None);
    driver()?.session.destroy_event(event.link());
    EVENTS.recycle(event);
    Ok(())
}

/// Ends all events of a context.
pub(crate) fn drop_context(context: &Context) {
    let id = context.id();
    for event in EVENTS.live().filter(|e| e.context_id.load(Ordering::Relaxed) == id) {
        // A racing destroy by the application has the same effect.
        let _ = destroy(handle_of(event));
    }
}
