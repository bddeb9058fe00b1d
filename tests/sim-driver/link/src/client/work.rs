//! The launch path: into the ring without a system call, and waiting for what came of it.

use super::{Session, Stream};
use crate::layout::{Progress, RING};
use crate::op::{Entry, Op, encode};
use crate::rpc::{Request, Response};
use crate::types::{ContextId, Error, StreamId, StreamKind};
use crate::{ring, wake};
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering, fence};

/// The server need not be told when it looks at the rings by itself within this time, ns.
const SOON_NS: u64 = 80_000;

impl Session {
    /// Makes a context on the device; its overhead is charged by the model.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], [`Error::InvalidValue`] for an unknown device.
    pub fn create_context(&self, device: u32) -> Result<ContextId, Error> {
        let Response::Context(context) = self.call(&Request::CreateContext { device })? else {
            return Err(Error::ServerGone);
        };
        let channels = self.region.private.issued.get(context.0 as usize).ok_or(Error::ServerGone)?;
        for issued in channels {
            issued.0.store(0, Ordering::SeqCst);
        }
        Ok(context)
    }

    /// Drops the context with all that is in it; work that has not begun is dropped with it. Waiting for it first, as
    /// the driver does, is the caller's business; no other thread may use the context meanwhile.
    ///
    /// # Errors
    /// [`Error::InvalidHandle`].
    pub fn destroy_context(&self, context: ContextId) -> Result<(), Error> {
        self.call_done(&Request::DestroyContext { context })
    }

    /// Makes a stream. `Legacy` gives the context's one legacy stream, always the same. Lower `priority` runs first.
    ///
    /// # Errors
    /// [`Error::InvalidHandle`], [`Error::OutOfMemory`] when there are too many.
    pub fn create_stream(&self, context: ContextId, kind: StreamKind, priority: i32) -> Result<Stream, Error> {
        let request = Request::CreateStream { context, kind, priority };
        let Response::Stream { stream, channel, fresh } = self.call(&request)? else {
            return Err(Error::ServerGone);
        };
        let stream = Stream { id: stream, context, channel };
        if fresh {
            self.submitted(stream).ok_or(Error::ServerGone)?.store(0, Ordering::SeqCst);
        }
        Ok(stream)
    }

    /// Gives the stream up; what is queued in it still runs. The legacy stream goes with its context only.
    ///
    /// # Errors
    /// [`Error::InvalidHandle`].
    pub fn destroy_stream(&self, stream: Stream) -> Result<(), Error> {
        self.call_done(&Request::DestroyStream { stream: stream.id })
    }

    /// Puts `op` in the stream: stamped now, no system call while the server is awake, no lock, no allocation. Blocks
    /// while the stream's channel has its depth of ops outstanding. Returns a ticket for [`Session::query_ticket`] and
    /// [`Session::wait_ticket`]: once reached, this op and everything that was submitted before it is complete.
    ///
    /// # Errors
    /// [`Error::Fault`] when the context has one (also while blocked); [`Error::InvalidValue`] for an op that is not
    /// [sane](Op::is_sane); [`Error::InvalidHandle`].
    pub fn submit(&self, stream: Stream, op: &Op) -> Result<u64, Error> {
        self.check()?;
        if !op.is_sane() {
            return Err(Error::InvalidValue);
        }
        let line = self.line(stream.id).ok_or(Error::InvalidHandle)?;
        let submitted = self.submitted(stream).ok_or(Error::InvalidHandle)?;
        self.faultless(stream.context)?;
        self.take_room(stream)?;
        let before = submitted.fetch_add(1, Ordering::SeqCst);
        let (position, stamp) = self.push(&Entry::Submit(stream.id, *op))?;
        // Either we see the predecessor complete, or the server, before it sleeps, sees this slot.
        fence(Ordering::SeqCst);
        let idle = line.completed.load(Ordering::SeqCst) >= before;
        let head = self.region.head.completed.load(Ordering::Relaxed);
        if idle || position.wrapping_sub(head) > RING as u64 / 2 {
            self.ring_doorbell(stamp);
        }
        Ok(submitted.load(Ordering::SeqCst))
    }

    /// The ticket of everything submitted to the stream so far; 0 for an unknown one. No system call.
    pub fn ticket(&self, stream: Stream) -> u64 {
        self.submitted(stream).map_or(0, |count| count.load(Ordering::SeqCst))
    }

    /// Whether the ticket is reached. No system call.
    ///
    /// # Errors
    /// [`Error::Fault`], [`Error::InvalidHandle`].
    pub fn query_ticket(&self, stream: Stream, ticket: u64) -> Result<bool, Error> {
        self.check()?;
        self.faultless(stream.context)?;
        let line = self.line(stream.id).ok_or(Error::InvalidHandle)?;
        Ok(line.completed.load(Ordering::SeqCst) >= ticket)
    }

    /// Blocks until the ticket is reached.
    ///
    /// # Errors
    /// [`Error::Fault`], [`Error::InvalidHandle`].
    pub fn wait_ticket(&self, stream: Stream, ticket: u64) -> Result<(), Error> {
        if !self.query_ticket(stream, ticket)? {
            let line = self.line(stream.id).ok_or(Error::InvalidHandle)?;
            wake::block(line, || self.query_ticket(stream, ticket), || self.look_around())?;
        }
        self.synchronized(stream.context);
        Ok(())
    }

    /// [`Session::query_ticket`] of everything so far.
    ///
    /// # Errors
    /// As there.
    pub fn query_stream(&self, stream: Stream) -> Result<bool, Error> {
        self.query_ticket(stream, self.ticket(stream))
    }

    /// [`Session::wait_ticket`] of everything so far.
    ///
    /// # Errors
    /// As there.
    pub fn wait_stream(&self, stream: Stream) -> Result<(), Error> {
        self.wait_ticket(stream, self.ticket(stream))
    }

    /// The context's sticky fault, a CUresult; 0 = none. One load.
    pub fn fault(&self, context: ContextId) -> u32 {
        self.region.contexts.get(context.0 as usize).map_or(0, |line| line.fault.load(Ordering::Acquire))
    }

    /// Tells the model that a thread has waited for work of the context, so that pools trim; only where pools are.
    pub(super) fn synchronized(&self, context: ContextId) {
        if self.pools_used.load(Ordering::Relaxed) {
            // A full ring means that there is no news of a synchronisation to tell.
            ring::push(&self.region, encode(&Entry::Synchronized(context)), crate::now_ns);
        }
    }

    /// An answer to a host call: never blocks on a channel, always wakes the server.
    pub(super) fn host_done(&self, answer: u64) -> Result<(), Error> {
        let (_, stamp) = self.push(&Entry::HostDone(answer))?;
        fence(Ordering::SeqCst);
        self.ring_doorbell(stamp);
        Ok(())
    }

    /// `Err` with the context's fault, if it has one.
    pub(super) fn faultless(&self, context: ContextId) -> Result<(), Error> {
        match self.fault(context) {
            0 => Ok(()),
            code => Err(Error::Fault(code)),
        }
    }

    fn line(&self, stream: StreamId) -> Option<&Progress> {
        self.region.streams.get(stream.0 as usize)
    }

    fn submitted(&self, stream: Stream) -> Option<&AtomicU64> {
        self.region.private.submitted.get(stream.id.0 as usize).map(|line| &line.0)
    }

    /// Takes one of the channel's places; blocks while there is none.
    fn take_room(&self, stream: Stream) -> Result<(), Error> {
        let (context, channel) = (stream.context.0 as usize, stream.channel as usize);
        let line =
            self.region.channels.get(context).and_then(|lines| lines.get(channel)).ok_or(Error::InvalidHandle)?;
        let issued = &self.region.private.issued[context][channel].0;
        let number = issued.fetch_add(1, Ordering::Relaxed) + 1;
        let depth = u64::from(self.costs.queue_depth.max(1));
        let room = || number.saturating_sub(line.completed.load(Ordering::SeqCst)) <= depth;
        if room() {
            return Ok(());
        }
        let waited = wake::block(line, || self.faultless(stream.context).map(|()| room()), || self.look_around());
        if waited.is_err() {
            issued.fetch_sub(1, Ordering::Relaxed);
        }
        waited
    }

    /// Puts an entry in the ring, waiting while that is full. Gives its position and stamp.
    fn push(&self, entry: &Entry) -> Result<(u64, u64), Error> {
        let body = encode(entry);
        let mut stamp = 0;
        loop {
            let seen = self.region.head.completed.load(Ordering::SeqCst);
            let pushed = ring::push(&self.region, body, || {
                stamp = crate::now_ns();
                stamp
            });
            if let Some(position) = pushed {
                return Ok((position, stamp));
            }
            self.ring_doorbell(0);
            let head = &self.region.head;
            wake::block(head, || Ok(head.completed.load(Ordering::SeqCst) != seen), || self.look_around())?;
        }
    }

    /// Wakes the server unless it looks soon anyway.
    fn ring_doorbell(&self, stamp: u64) {
        if self.notice.sleeps_until.load(Ordering::SeqCst) > stamp.saturating_add(SOON_NS) {
            // The counter cannot overflow in practice, and a failed write means that the server is gone.
            let _ = (&self.doorbell).write(&1u64.to_ne_bytes());
        }
    }
}
