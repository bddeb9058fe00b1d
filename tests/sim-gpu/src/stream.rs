//! Streams and events: their making and their end.

use crate::ids::{ContextId, EventId, Nanos, OpId, ProcessId, StreamId};
use crate::model::Model;
use crate::objects::{Event, Stream};
use crate::op::Refusal;

/// How a stream relates to the legacy default stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamKind {
    /// Ordered with the legacy default stream, both ways. Per-thread default streams are of this kind too.
    Blocking,
    /// Not ordered with it.
    NonBlocking,
}

impl Model {
    /// A stream. `priority` as in the driver API: lower is more urgent, 0 the default. Streams are dealt out over the
    /// context's hardware channels in turn; those on one channel can hold each other up.
    pub fn create_stream(
        &mut self,
        at: Nanos,
        context: ContextId,
        kind: StreamKind,
        priority: i32,
    ) -> Result<StreamId, Refusal> {
        self.run_to(at);
        self.live_context(context)?;
        self.sweep_streams(context);
        let blocking = kind == StreamKind::Blocking;
        let owner = self.contexts.get_mut(context.0).ok_or(Refusal::NoSuchObject)?;
        let channel = owner.next_channel % owner.channels.len();
        owner.next_channel += 1;
        let stream = Stream { context, channel, blocking, priority, tail: None, destroyed: false };
        let id = StreamId(self.streams.insert(stream));
        if blocking {
            owner.blocking.push(id);
        }
        Ok(id)
    }

    /// The legacy default stream of a context.
    pub fn legacy_stream(&self, context: ContextId) -> Option<StreamId> {
        self.contexts.get(context.0).filter(|c| !c.gone).map(|c| c.legacy)
    }

    /// The hardware channel of a stream: its index within the context, below `compute.channels`. Streams of one channel
    /// share its `queue_depth`.
    pub fn channel_of(&self, stream: StreamId) -> Option<u32> {
        self.streams.get(stream.0).and_then(|s| u32::try_from(s.channel).ok())
    }

    /// Destroys a stream; what was submitted still runs and completes. The legacy stream can't be destroyed.
    pub fn destroy_stream(&mut self, at: Nanos, stream: StreamId) -> Result<(), Refusal> {
        self.run_to(at);
        let context = self.live_stream(stream)?.context;
        let owner = self.contexts.get_mut(context.0).ok_or(Refusal::NoSuchObject)?;
        if owner.legacy == stream {
            return Err(Refusal::InvalidValue);
        }
        owner.leaving.push(stream);
        if let Some(found) = self.streams.get_mut(stream.0) {
            found.destroyed = true;
        }
        self.sweep_streams(context);
        Ok(())
    }

    /// Forgets destroyed streams whose work is done.
    pub(crate) fn sweep_streams(&mut self, context: ContextId) {
        let Some(owner) = self.contexts.get_mut(context.0) else { return };
        if owner.leaving.is_empty() {
            return;
        }
        let (ops, streams) = (&self.ops, &mut self.streams);
        let blocking = &mut owner.blocking;
        owner.leaving.retain(|stream| {
            let busy = streams.get(stream.0).and_then(|s| s.tail).is_some_and(|tail| ops.is_live(tail));
            if !busy {
                streams.remove(stream.0);
                blocking.retain(|other| other != stream);
            }
            busy
        });
    }

    /// An event. Usable on every stream of the process, on any device.
    pub fn create_event(&mut self, at: Nanos, process: ProcessId) -> Result<EventId, Refusal> {
        self.run_to(at);
        self.live_process(process)?;
        let id = EventId(self.next_event_id);
        self.next_event_id += 1;
        self.events.insert(id, Event { process, last: None });
        Ok(id)
    }

    /// Destroys an event; what already waits for it still does.
    pub fn destroy_event(&mut self, at: Nanos, event: EventId) -> Result<(), Refusal> {
        self.run_to(at);
        self.events.remove(&event).map(drop).ok_or(Refusal::NoSuchObject)
    }

    pub(crate) fn set_record(&mut self, event: EventId, op: OpId) {
        if let Some(event) = self.events.get_mut(&event) {
            event.last = Some(op);
        }
    }
}
