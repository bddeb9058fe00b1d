//! One client process as the server keeps it: its shared memory, and what its numbers mean to the model.
//!
//! Everything here is the server's own account; nothing is believed because the client's memory says so.

use crate::memory::ClientMemory;
use mgpu_sim_gpu as model;
use mgpu_sim_link::layout::{CHANNELS, CONTEXTS, HOST_CALLS, Progress, Region, STREAMS};
use mgpu_sim_link::ring::Consumer;
use mgpu_sim_link::sys::memory::Mapping;
use mgpu_sim_link::{GraphNode, Op, StreamKind, wake};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The driver's code for the use of a context that is gone.
const CONTEXT_IS_DESTROYED: u32 = 709;

/// A context of the client.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) model: model::ContextId,
    /// Ops complete, by channel.
    completed: [u64; CHANNELS],
}

/// A stream of the client.
#[derive(Debug)]
pub(crate) struct Stream {
    pub(crate) model: model::StreamId,
    pub(crate) context: usize,
    pub(crate) channel: usize,
    pub(crate) kind: StreamKind,
    /// Ops taken from the ring.
    pub(crate) taken: u64,
    completed: u64,
    /// Given up by the client; goes when all that was taken is complete.
    pub(crate) closing: bool,
}

/// Something submitted and not yet complete.
#[derive(Debug)]
pub(crate) struct Work {
    pub(crate) stream: usize,
    pub(crate) op: Op,
    /// The nodes of a launched graph, which may have been dropped meanwhile.
    pub(crate) nodes: Option<Rc<Vec<GraphNode>>>,
}

/// An event that has been recorded at least once.
#[derive(Debug)]
pub(crate) struct Event {
    pub(crate) model: model::EventId,
    pub(crate) completed: u32,
}

/// What else belongs to this client, so that no other one's number is accepted.
#[derive(Debug, Default)]
pub(crate) struct Holdings {
    pub(crate) allocations: BTreeSet<u64>,
    /// With its highest reserved and used bytes.
    pub(crate) pools: BTreeMap<u32, (u64, u64)>,
    pub(crate) modules: BTreeSet<u32>,
    pub(crate) functions: BTreeSet<u32>,
    pub(crate) graphs: BTreeMap<u32, Rc<Vec<GraphNode>>>,
}

/// Who has to be woken at the end of a batch.
#[derive(Debug, Default)]
pub(crate) struct Dirty {
    pub(crate) streams: BTreeSet<usize>,
    pub(crate) events: BTreeSet<usize>,
    pub(crate) channels: BTreeSet<(usize, usize)>,
    /// When the channels were last woken.
    pub(crate) channels_woken: u64,
}

/// One connected client process.
#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) memory: Arc<ClientMemory>,
    pub(crate) region: Mapping<Region>,
    pub(crate) ring: Consumer,
    pub(crate) contexts: Vec<Option<Context>>,
    pub(crate) streams: Vec<Option<Stream>>,
    pub(crate) events: BTreeMap<u32, Event>,
    pub(crate) holdings: Holdings,
    work: BTreeMap<u64, Work>,
    last_token: u64,
    /// Submissions that found the model's queue full (only a client that ignores its channel's depth has any).
    pub(crate) stalled: VecDeque<Work>,
    host_calls: VecDeque<(u64, u64)>,
    host_tail: u64,
    pub(crate) dirty: Dirty,
    /// Contexts for whose work a thread has waited, still to be told to the model.
    pub(crate) synchronized: BTreeSet<u32>,
    /// A long copy is under way elsewhere; what comes after it waits in `held`.
    pub(crate) moving: bool,
    pub(crate) held: VecDeque<model::Effect>,
}

impl Client {
    pub(crate) fn new(memory: ClientMemory, region: Mapping<Region>) -> Self {
        Self {
            memory: Arc::new(memory),
            region,
            ring: Consumer::default(),
            contexts: (0..CONTEXTS).map(|_| None).collect(),
            streams: Vec::new(),
            events: BTreeMap::new(),
            holdings: Holdings::default(),
            work: BTreeMap::new(),
            last_token: 0,
            stalled: VecDeque::new(),
            host_calls: VecDeque::new(),
            host_tail: 0,
            dirty: Dirty::default(),
            synchronized: BTreeSet::new(),
            moving: false,
            held: VecDeque::new(),
        }
    }

    /// A free line for a context.
    pub(crate) fn add_context(&mut self, model: model::ContextId) -> Option<usize> {
        let index = self.contexts.iter().position(Option::is_none)?;
        self.region.contexts[index].fault.store(0, Ordering::SeqCst);
        for line in &self.region.channels[index] {
            wake::store(line, 0);
        }
        self.contexts[index] = Some(Context { model, completed: [0; CHANNELS] });
        Some(index)
    }

    /// A free line for a stream.
    pub(crate) fn add_stream(
        &mut self,
        model: model::StreamId,
        context: usize,
        channel: usize,
        kind: StreamKind,
    ) -> Option<usize> {
        let index = match self.streams.iter().position(Option::is_none) {
            Some(index) => index,
            None if self.streams.len() < STREAMS => {
                self.streams.push(None);
                self.streams.len() - 1
            }
            None => return None,
        };
        wake::store(&self.region.streams[index], 0);
        let stream = Stream { model, context, channel, kind, taken: 0, completed: 0, closing: false };
        self.streams[index] = Some(stream);
        Some(index)
    }

    pub(crate) fn context(&self, index: u32) -> Option<&Context> {
        self.contexts.get(index as usize)?.as_ref()
    }

    pub(crate) fn stream(&self, index: u32) -> Option<&Stream> {
        self.streams.get(index as usize)?.as_ref()
    }

    /// The client's number for a context of the model.
    pub(crate) fn context_of(&self, model: model::ContextId) -> Option<usize> {
        self.contexts.iter().position(|context| context.as_ref().is_some_and(|context| context.model == model))
    }

    /// Forgets a context with its streams and their work. Whoever waits there, or comes later, finds it destroyed.
    pub(crate) fn drop_context(&mut self, index: usize) {
        self.fault(index, CONTEXT_IS_DESTROYED);
        self.contexts[index] = None;
        for stream in &mut self.streams {
            if stream.as_ref().is_some_and(|stream| stream.context == index) {
                *stream = None;
            }
        }
        let streams = &self.streams;
        self.work.retain(|_, work| streams.get(work.stream).is_some_and(Option::is_some));
        self.stalled.retain(|work| streams.get(work.stream).is_some_and(Option::is_some));
    }

    /// Stores a sticky fault and wakes everybody of this client; they look at the fault first.
    pub(crate) fn fault(&self, index: usize, code: u32) {
        self.region.contexts[index].fault.store(code, Ordering::SeqCst);
        self.region.channels[index].iter().for_each(wake::shake);
        let streams = self.streams.iter().zip(&self.region.streams);
        streams.filter(|(stream, _)| stream.is_some()).for_each(|(_, line)| wake::shake(line));
        for number in self.events.keys() {
            let slot = &self.region.events[*number as usize];
            mgpu_sim_link::sys::futex::notify(&slot.completed, &slot.waiters);
        }
    }

    /// A token for work that goes to the model.
    pub(crate) fn add_work(&mut self, work: Work) -> u64 {
        self.last_token += 1;
        self.work.insert(self.last_token, work);
        self.last_token
    }

    pub(crate) fn work(&self, token: u64) -> Option<&Work> {
        self.work.get(&token)
    }

    pub(crate) fn take_work(&mut self, token: u64) -> Option<Work> {
        self.work.remove(&token)
    }

    /// Counts a completion in the stream's and the channel's lines. True when the stream was closing and is now done.
    pub(crate) fn complete(&mut self, index: usize) -> bool {
        let Some(stream) = self.streams.get_mut(index).and_then(Option::as_mut) else { return false };
        stream.completed += 1;
        wake::store(&self.region.streams[index], stream.completed);
        self.dirty.streams.insert(index);
        let (context, channel) = (stream.context, stream.channel);
        let done = stream.is_done();
        if let Some(completed) = self.contexts[context].as_mut().and_then(|context| context.completed.get_mut(channel))
        {
            *completed += 1;
            wake::store(&self.region.channels[context][channel], *completed);
            self.dirty.channels.insert((context, channel));
        }
        done
    }

    /// Hands a host call to the client, or keeps it until there is room.
    pub(crate) fn host_call(&mut self, token: u64, answer: u64) {
        self.host_calls.push_back((token, answer));
        self.send_host_calls();
    }

    /// Moves kept host calls to the client as far as there is room.
    pub(crate) fn send_host_calls(&mut self) {
        let region = &self.region;
        let taken = region.host_head.0.load(Ordering::SeqCst);
        let before = self.host_tail;
        // A head that lies (ahead of us, or far behind) only loses the liar's own calls or leaves them here.
        while self.host_tail.wrapping_sub(taken) < HOST_CALLS as u64 {
            let Some((token, answer)) = self.host_calls.pop_front() else { break };
            let call = &region.host_calls[usize::try_from(self.host_tail % HOST_CALLS as u64).unwrap_or(0)];
            call.token.store(token, Ordering::SeqCst);
            call.answer.store(answer, Ordering::SeqCst);
            self.host_tail += 1;
        }
        if self.host_tail != before {
            wake::publish(&region.host_tail, self.host_tail);
        }
    }

    /// Wakes whoever waits for what has changed. Channels at most once in `channel_pause_ns`; gives the time when the rest
    /// is due, if some had to wait.
    pub(crate) fn wake(&mut self, now: u64, channel_pause_ns: u64) -> Option<u64> {
        let (region, dirty) = (&self.region, &mut self.dirty);
        while let Some(index) = dirty.streams.pop_first() {
            wake::notify(&region.streams[index]);
        }
        while let Some(index) = dirty.events.pop_first() {
            let slot = &region.events[index];
            mgpu_sim_link::sys::futex::notify(&slot.completed, &slot.waiters);
        }
        if dirty.channels.is_empty() {
            return None;
        }
        let due = dirty.channels_woken.saturating_add(channel_pause_ns);
        let waited = |line: &Progress| line.waiters.load(Ordering::SeqCst) != 0;
        if now < due {
            dirty.channels.retain(|&(context, channel)| waited(&region.channels[context][channel]));
            return (!dirty.channels.is_empty()).then_some(due);
        }
        while let Some((context, channel)) = dirty.channels.pop_first() {
            let line = &region.channels[context][channel];
            if waited(line) {
                dirty.channels_woken = now;
            }
            wake::notify(line);
        }
        None
    }
}

impl Stream {
    /// Closing, and nothing of it is left.
    pub(crate) fn is_done(&self) -> bool {
        self.closing && self.completed >= self.taken
    }
}
