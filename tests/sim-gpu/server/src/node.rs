//! The simulated node: the model, its clients, and the order in which things reach the model.
//!
//! Entries of all rings wait here until the horizon has passed their stamps, and go to the model in stamp order. So the
//! model's time does not depend on when this code ran. No sockets, no clock: `now` is an argument.

use crate::client::Client;
use crate::effects;
use crate::mover::Mover;
use crate::submit;
use mgpu_sim_gpu::{Effect, Model, Nanos, OpId, ProcessId};
use mgpu_sim_link::op::{self, Entry};
use mgpu_sim_link::ring::STAMP;
use mgpu_sim_link::rpc::Request;
use mgpu_sim_link::{DeviceInfo, HostCosts};
use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BinaryHeap};

/// How far the model stays behind the clock: what a client stamps has this long to become visible.
pub(crate) const HORIZON_NS: u64 = 50_000;
/// Blocked submitters of one client are woken at most this often: each wake is a system call and fills several places.
const CHANNEL_PAUSE_NS: u64 = 200_000;
/// Submissions of one client that may wait here; more stay in its ring.
const MOST_STALLED: usize = 256;

/// Something on its way to the model.
#[derive(Debug)]
enum Item {
    Entry(Entry),
    /// A request that was answered already and takes effect behind the work that was submitted before it.
    Request(Request),
    Close {
        held: bool,
    },
    Release,
}

#[derive(Debug)]
struct Pending {
    stamp: Nanos,
    /// Order of arrival among equal stamps.
    order: u64,
    process: ProcessId,
    item: Item,
}

impl Pending {
    fn key(&self) -> (Nanos, u64) {
        (self.stamp, self.order)
    }
}

impl PartialEq for Pending {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}
impl Eq for Pending {}
impl PartialOrd for Pending {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Pending {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

/// The node.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) model: Model,
    pub(crate) mover: Mover,
    pub(crate) devices: Vec<DeviceInfo>,
    pub(crate) costs: HostCosts,
    pub(crate) clients: BTreeMap<ProcessId, Client>,
    pub(crate) unimplemented: BTreeMap<String, u64>,
    pending: BinaryHeap<Reverse<Pending>>,
    arrivals: u64,
    effects: Vec<Effect>,
    /// When channel wakes that were put off are due.
    wake_due: Option<Nanos>,
}

impl Node {
    pub(crate) fn new(model: Model, mover: Mover, devices: Vec<DeviceInfo>, costs: HostCosts) -> Self {
        Self {
            model,
            mover,
            devices,
            costs,
            clients: BTreeMap::new(),
            unimplemented: BTreeMap::new(),
            pending: BinaryHeap::new(),
            arrivals: 0,
            effects: Vec::new(),
            wake_due: None,
        }
    }

    /// Takes what is in the rings. `now` must have been read before: an entry that is stamped later keeps its stamp, a
    /// stamp far in the future is a lie and is taken as now. True when there was anything.
    pub(crate) fn drain(&mut self, now: Nanos) -> bool {
        let mut any = false;
        for (&process, client) in &mut self.clients {
            any |= drain_client(&mut self.pending, &mut self.arrivals, process, client, now);
            note_synchronized(&mut self.model, client);
        }
        any
    }

    /// As [`Node::drain`], for one client: before its request is answered.
    pub(crate) fn drain_one(&mut self, process: ProcessId, now: Nanos) {
        if let Some(client) = self.clients.get_mut(&process) {
            drain_client(&mut self.pending, &mut self.arrivals, process, client, now);
            note_synchronized(&mut self.model, client);
        }
    }

    /// The process has left or died at `now`. `held`: a forked child still has its connection.
    pub(crate) fn close(&mut self, process: ProcessId, now: Nanos, held: bool) {
        self.enqueue(process, now, Item::Close { held });
    }

    /// The last holder of a dead process's connection has gone.
    pub(crate) fn release(&mut self, process: ProcessId, now: Nanos) {
        self.enqueue(process, now, Item::Release);
    }

    /// Lets a request take effect behind all that is stamped before `now`.
    pub(crate) fn answer_later(&mut self, process: ProcessId, now: Nanos, request: Request) {
        self.enqueue(process, now, Item::Request(request));
    }

    fn enqueue(&mut self, process: ProcessId, stamp: Nanos, item: Item) {
        self.arrivals += 1;
        self.pending.push(Reverse(Pending { stamp, order: self.arrivals, process, item }));
    }

    /// Feeds the model up to the horizon of `now`, carries out what happens, and wakes who waited for it.
    pub(crate) fn step(&mut self, now: Nanos) {
        let horizon = now.saturating_sub(HORIZON_NS);
        self.resume_moved();
        while self.pending.peek().is_some_and(|Reverse(next)| next.stamp <= horizon) {
            let Some(Reverse(next)) = self.pending.pop() else { break };
            self.run_to(next.stamp);
            self.feed(next);
        }
        self.run_to(horizon);
        self.wake_due = None;
        for client in self.clients.values_mut() {
            let due = client.wake(now, CHANNEL_PAUSE_NS);
            self.wake_due = self.wake_due.into_iter().chain(due).min();
        }
    }

    /// When [`Node::step`] has something to do again, if nobody submits anything.
    pub(crate) fn next_step(&self) -> Option<Nanos> {
        let pending = self.pending.peek().map(|Reverse(next)| next.stamp);
        let work = pending.into_iter().chain(self.model.next_event()).min();
        work.map(|at| at.saturating_add(HORIZON_NS)).into_iter().chain(self.wake_due).min()
    }

    /// Lets clients whose long copies are done go on.
    fn resume_moved(&mut self) {
        for process in self.mover.finished() {
            if let Some(client) = self.clients.get_mut(&process) {
                effects::resume(&mut self.model, &self.mover, client);
            }
        }
    }

    /// Runs the model to `to`, one event at a time, so that what an effect leads to happens at the effect's own time.
    pub(crate) fn run_to(&mut self, to: Nanos) {
        self.carry_out(self.model.now());
        while let Some(next) = self.model.next_event().filter(|&next| next <= to) {
            self.carry_out(next);
            if self.model.next_event() == Some(next) {
                break;
            }
        }
        self.carry_out(to);
    }

    fn carry_out(&mut self, to: Nanos) {
        let mut batch = std::mem::take(&mut self.effects);
        loop {
            self.model.advance(to, &mut batch);
            if batch.is_empty() {
                break;
            }
            for effect in batch.drain(..) {
                if let Some(client) = self.clients.get_mut(&effects::process_of(&effect)) {
                    effects::apply(&mut self.model, &self.mover, client, effect);
                }
            }
        }
        self.effects = batch;
    }

    fn feed(&mut self, next: Pending) {
        let (at, process) = (next.stamp, next.process);
        match next.item {
            Item::Close { held } => {
                self.clients.remove(&process);
                self.model.close(at, process, held);
            }
            Item::Request(request) => {
                self.answer_now(process, request);
            }
            Item::Release => self.model.release_device_file(at, process),
            Item::Entry(entry) => {
                let Some(client) = self.clients.get_mut(&process) else { return };
                match entry {
                    Entry::Submit(stream, op) => submit::submit(&mut self.model, process, client, at, stream.0, op),
                    Entry::HostDone(answer) => {
                        self.model.host_done(at, OpId::from_bits(answer));
                        client.send_host_calls();
                    }
                    // Taken at once by `drain_client`.
                    Entry::Synchronized(_) => {}
                }
            }
        }
    }
}

/// Tells the model of synchronisations, so that pools trim.
fn note_synchronized(model: &mut Model, client: &mut Client) {
    while let Some(context) = client.synchronized.pop_first() {
        if let Some(context) = client.context(context) {
            model.note_synchronize(model.now(), context.model);
        }
    }
}

fn drain_client(
    pending: &mut BinaryHeap<Reverse<Pending>>,
    arrivals: &mut u64,
    process: ProcessId,
    client: &mut Client,
    now: Nanos,
) -> bool {
    if client.stalled.len() >= MOST_STALLED {
        return false;
    }
    let (ring, region, streams) = (&mut client.ring, &client.region, &mut client.streams);
    let synchronized = &mut client.synchronized;
    let before = *arrivals;
    ring.drain(region, usize::MAX, |body| {
        let Some(entry) = op::decode(&body) else { return };
        match entry {
            Entry::Submit(stream, _) => {
                let Some(stream) = streams.get_mut(stream.0 as usize).and_then(Option::as_mut) else { return };
                stream.taken += 1;
            }
            // What the thread waited for is complete by the model's time already: this need not wait for the horizon.
            Entry::Synchronized(context) => {
                synchronized.insert(context.0);
                return;
            }
            Entry::HostDone(_) => {}
        }
        *arrivals += 1;
        // Honest stamps may be a little ahead of `now`, which was read before the ring.
        let stamp = body[STAMP].min(now.saturating_add(HORIZON_NS));
        pending.push(Reverse(Pending { stamp, order: *arrivals, process, item: Item::Entry(entry) }));
    });
    *arrivals != before
}
