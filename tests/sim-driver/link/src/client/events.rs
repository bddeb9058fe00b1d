//! Events: slots of the shared memory, handed out and numbered by the client alone.

use super::{Event, Session, Stream};
use crate::layout::{EVENTS, EventSlot, reached};
use crate::op::Op;
use crate::sys::futex;
use crate::types::{ContextId, Error, EventId};
use std::sync::PoisonError;
use std::sync::atomic::Ordering;

/// Which slots are free.
#[derive(Debug, Default)]
pub(super) struct Slots {
    returned: Vec<u32>,
    /// All from here on were never used.
    fresh: u32,
}

impl Session {
    /// Takes an event slot of this process. No call of the server.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] when all 65,536 are taken.
    pub fn create_event(&self) -> Result<Event, Error> {
        self.check()?;
        let mut slots = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        let index = match slots.returned.pop() {
            Some(index) => index,
            None if (slots.fresh as usize) < EVENTS => {
                slots.fresh += 1;
                slots.fresh - 1
            }
            None => return Err(Error::OutOfMemory),
        };
        let counters = &self.region.private;
        let last = counters.recorded[index as usize].load(Ordering::SeqCst);
        counters.unrecorded[index as usize].store(last, Ordering::SeqCst);
        Ok(Event { id: EventId(index) })
    }

    /// Gives the slot up. A pending record still completes, unseen.
    pub fn destroy_event(&self, event: Event) {
        if self.check().is_ok() && (event.id.0 as usize) < EVENTS {
            self.events.lock().unwrap_or_else(PoisonError::into_inner).returned.push(event.id.0);
        }
    }

    /// Puts a record of the event in the stream and returns its number (cyclic; only good for comparing).
    ///
    /// # Errors
    /// As [`Session::submit`].
    pub fn record(&self, event: Event, stream: Stream) -> Result<u32, Error> {
        let counter = self.region.private.recorded.get(event.id.0 as usize).ok_or(Error::InvalidHandle)?;
        let record = counter.fetch_add(1, Ordering::SeqCst).wrapping_add(1);
        self.submit(stream, &Op::EventRecord { event: event.id, record })?;
        Ok(record)
    }

    /// Says that a graph just launched will record the event: one call for each such node, just before the launch.
    pub fn expect_record(&self, event: Event) {
        if let Some(counter) = self.region.private.recorded.get(event.id.0 as usize) {
            counter.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// The number of the event's last record; `None` when it was never recorded.
    pub fn last_record(&self, event: Event) -> Option<u32> {
        let (counters, index) = (&self.region.private, event.id.0 as usize);
        let last = counters.recorded.get(index)?.load(Ordering::SeqCst);
        (last != counters.unrecorded.get(index)?.load(Ordering::SeqCst)).then_some(last)
    }

    /// Makes the stream wait for the event's last record so far; nothing when there is none.
    ///
    /// # Errors
    /// As [`Session::submit`].
    pub fn stream_wait_event(&self, stream: Stream, event: Event) -> Result<(), Error> {
        if let Some(record) = self.last_record(event) {
            self.submit(stream, &Op::EventWait { event: event.id, record })?;
        }
        Ok(())
    }

    /// Whether the last record is complete (true when there is none). The driver checks [`Session::fault`] itself,
    /// since an event belongs to a context that the link does not know.
    pub fn query_event(&self, event: Event) -> bool {
        match (self.last_record(event), self.slot(event)) {
            (Some(record), Some(slot)) => reached(slot.completed.load(Ordering::SeqCst), record),
            _ => true,
        }
    }

    /// Blocks until the last record so far is complete, or `context` faults.
    ///
    /// # Errors
    /// [`Error::Fault`].
    pub fn wait_event(&self, event: Event, context: ContextId) -> Result<(), Error> {
        self.check()?;
        if let (Some(record), Some(slot)) = (self.last_record(event), self.slot(event)) {
            let done = || {
                self.faultless(context)?;
                Ok(reached(slot.completed.load(Ordering::SeqCst), record))
            };
            if !done()? {
                futex::block(&slot.completed, &slot.waiters, done, || self.look_around())?;
            }
            self.synchronized(context);
        }
        Ok(())
    }

    /// Device time of the last complete record, ns; `None` while the event has no complete record.
    pub fn event_time(&self, event: Event) -> Option<u64> {
        let (counters, index) = (&self.region.private, event.id.0 as usize);
        let first = counters.unrecorded.get(index)?.load(Ordering::SeqCst).wrapping_add(1);
        let slot = self.slot(event)?;
        reached(slot.completed.load(Ordering::SeqCst), first).then(|| slot.at.load(Ordering::SeqCst))
    }

    fn slot(&self, event: Event) -> Option<&EventSlot> {
        self.region.events.get(event.id.0 as usize)
    }
}
