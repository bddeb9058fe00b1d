//! The device: runs one tenant's oldest launch at a time; tenants with work take turns of 1 ms (the hardware's own slicing).
//! Keeps the truth: who was on the device when.

use std::collections::VecDeque;

use super::{MS, Thing, World};

/// The hardware's slice between processes.
const HARDWARE_SLICE: u64 = MS;

#[derive(Clone, Copy, Debug)]
struct Launch {
    left: u64,
    number: u64,
    marked: bool,
}

/// One tenant's queue and counters.
#[derive(Clone, Debug, Default)]
pub struct Queue {
    launches: VecDeque<Launch>,
    /// Number of the last launch submitted.
    pub launched: u64,
    /// Number of the last launch with a marker behind it.
    pub marked: u64,
    /// Number of the last launch whose marker has landed.
    pub marker: u64,
    /// Launches that ended.
    pub completed: u64,
    /// The longest queue that there was, as device time.
    pub deepest: u64,
}

impl Queue {
    /// What is truly in flight.
    pub fn in_flight(&self) -> usize {
        self.launches.len()
    }

    /// What the markers show.
    pub fn visible_in_flight(&self) -> u64 {
        self.launched - self.marker
    }
}

/// A span in which a tenant was on the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    pub tenant: usize,
    pub from: u64,
    pub to: u64,
}

#[derive(Clone, Debug)]
struct Running {
    tenant: usize,
    since: u64,
    until: u64,
}

#[derive(Clone, Debug)]
pub struct Device {
    pub queues: Vec<Queue>,
    pub spans: Vec<Span>,
    running: Option<Running>,
    generation: u64,
    last: usize,
}

impl Device {
    pub fn new(tenants: usize) -> Self {
        Self { queues: vec![Queue::default(); tenants], spans: Vec::new(), running: None, generation: 0, last: 0 }
    }

    /// Puts a launch of `length` into a tenant's queue; a marker goes behind it if `marked`.
    pub fn submit(&mut self, tenant: usize, length: u64, marked: bool, now: u64) {
        let queue = &mut self.queues[tenant];
        queue.launched += 1;
        let number = queue.launched;
        queue.launches.push_back(Launch { left: length, number, marked });
        queue.deepest = queue.deepest.max(queue.launches.len() as u64 * length);
        if marked {
            queue.marked = number;
        }
        // One who had the device for longer than a hardware slice alone has to share it now.
        if let Some(running) = &mut self.running
            && running.tenant != tenant
        {
            running.until = running.until.min(now.max(running.since + HARDWARE_SLICE));
        }
    }

    /// Puts a marker behind the last launch.
    pub fn mark_tail(&mut self, tenant: usize) {
        let queue = &mut self.queues[tenant];
        queue.marked = queue.launched;
        match queue.launches.back_mut() {
            Some(last) => last.marked = true,
            None => queue.marker = queue.launched,
        }
    }

    /// The process died: what it had queued is gone, its counters stand as drained.
    pub fn drop_queue(&mut self, tenant: usize, now: u64) {
        self.settle(now);
        if self.running.as_ref().is_some_and(|running| running.tenant == tenant) {
            self.running = None;
        }
        let queue = &mut self.queues[tenant];
        queue.launches.clear();
        queue.marked = queue.launched;
        queue.marker = queue.launched;
    }

    /// Books the running span up to `now`.
    pub fn settle(&mut self, now: u64) {
        let Some(running) = &mut self.running else { return };
        let to = now.min(running.until);
        if to <= running.since {
            return;
        }
        let (tenant, from) = (running.tenant, running.since);
        running.since = to;
        if let Some(head) = self.queues[tenant].launches.front_mut() {
            head.left = head.left.saturating_sub(to - from);
        }
        match self.spans.last_mut() {
            Some(last) if last.tenant == tenant && last.to == from => last.to = to,
            _ => self.spans.push(Span { tenant, from, to }),
        }
    }

    /// Ends what ended by `now` and starts what is next; says when to come again and which tenant's launch ended.
    fn advance(&mut self, now: u64) -> (Option<u64>, Option<usize>) {
        self.settle(now);
        let mut ended = None;
        if let Some(running) = self.running.clone() {
            if now < running.until {
                return (Some(running.until), None);
            }
            let queue = &mut self.queues[running.tenant];
            if queue.launches.front().is_some_and(|head| head.left == 0)
                && let Some(head) = queue.launches.pop_front()
            {
                queue.completed += 1;
                if head.marked {
                    queue.marker = head.number;
                }
                ended = Some(running.tenant);
            }
            self.last = running.tenant;
            self.running = None;
        }
        (self.start_next(now), ended)
    }

    fn start_next(&mut self, now: u64) -> Option<u64> {
        let count = self.queues.len();
        let waiting: Vec<usize> = (1..=count).map(|i| (self.last + i) % count).collect();
        let waiting: Vec<usize> = waiting.into_iter().filter(|t| !self.queues[*t].launches.is_empty()).collect();
        let tenant = *waiting.first()?;
        let head = self.queues[tenant].launches.front()?;
        let slice = if waiting.len() > 1 { HARDWARE_SLICE } else { u64::MAX };
        let until = now + head.left.min(slice);
        self.running = Some(Running { tenant, since: now, until });
        Some(until)
    }

    /// Time on the device of a tenant within `from..to`.
    pub fn busy(&self, tenant: usize, from: u64, to: u64) -> u64 {
        let start = self.spans.partition_point(|s| s.to <= from);
        let spans = self.spans[start..].iter().take_while(|s| s.from < to).filter(|s| s.tenant == tenant);
        spans.map(|s| s.to.min(to) - s.from.max(from)).sum()
    }

    /// Spans within `from..to` in which nobody was on the device.
    pub fn idle_spans(&self, from: u64, to: u64) -> Vec<(u64, u64)> {
        let mut idle = Vec::new();
        let mut at = from;
        for span in self.spans.iter().filter(|s| s.to > from && s.from < to) {
            if span.from > at {
                idle.push((at, span.from));
            }
            at = at.max(span.to);
        }
        if at < to {
            idle.push((at, to));
        }
        idle
    }
}

impl World {
    /// Lets the device look at its queues now.
    pub(crate) fn wake_device(&mut self) {
        self.device.generation += 1;
        let generation = self.device.generation;
        self.device_event(generation);
    }

    pub(crate) fn device_event(&mut self, generation: u64) {
        if generation != self.device.generation {
            return;
        }
        let (again, ended) = self.device.advance(self.now);
        self.device.generation += 1;
        if let Some(at) = again {
            self.put(at, Thing::Device(self.device.generation));
        }
        if let Some(tenant) = ended {
            self.completed(tenant);
        }
    }
}
