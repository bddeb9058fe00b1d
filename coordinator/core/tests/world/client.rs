//! A tenant's program: one thread, one stream. Does what a shim does at a launch: check the gate, wait, mind the window, put
//! markers, mark its tail when it finds the gate closed.

use mgpu_protocol::gate::{Gate, GateState, Markers};

use super::rng::Rng;
use super::{MS, Thing, US, World};

/// What a program does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Load {
    /// Launches without end, as fast as gate and window let it.
    Saturate { kernel: u64 },
    /// Launches `count`, waits until all are done, thinks for `think` (± half), again.
    Bursts { kernel: u64, count: u64, think: u64 },
    /// Does one burst of launches that last about `busy` in all at `at`, then nothing.
    Once { kernel: u64, count: u64, at: u64 },
    /// Launches nothing.
    Idle,
}

impl Load {
    pub fn kernel(&self) -> u64 {
        match self {
            Self::Saturate { kernel } | Self::Bursts { kernel, .. } | Self::Once { kernel, .. } => *kernel,
            Self::Idle => 0,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum At {
    /// About to check the gate.
    Launch,
    Gate,
    Window {
        since: u64,
    },
    /// Between check and return of the driver's launch.
    Entering,
    /// Waits until its stream is empty.
    Sync,
    End,
}

const HOST_COST: u64 = 3 * US;
/// Launches that the driver takes before it blocks.
const DRIVER_QUEUE: usize = 1000;
const WINDOW_POLL: u64 = 60 * US;
const WINDOW_CAP: u64 = 20 * MS;

#[derive(Clone, Debug)]
pub struct Client {
    pub load: Load,
    pub gate: Gate,
    pub joined: bool,
    pub stopped: bool,
    /// Incarnation: what was scheduled for an earlier one is void.
    pub life: u32,
    pub(crate) at: At,
    /// Want bit.
    pub want: bool,
    /// Since when it waits at the gate.
    pub waiting_since: Option<u64>,
    /// Every wait at the gate: (from, to).
    pub waits: Vec<(u64, u64)>,
    /// Launch submissions: time of the gate check and of the submission.
    pub launches: Vec<(u64, u64)>,
    /// Since when it has had work without a break: waiting, entering or in flight.
    pub busy_since: Option<u64>,
    /// When it last had work.
    pub last_busy: Option<u64>,
    pub last_stop: Option<u64>,
    notified: Option<u32>,
    left: u64,
    checked: u64,
    ticket: u64,
}

impl Client {
    pub fn new(load: Load) -> Self {
        Self {
            load,
            gate: Gate::CLOSED,
            joined: false,
            stopped: false,
            life: 0,
            at: At::Launch,
            want: false,
            waiting_since: None,
            waits: Vec::new(),
            launches: Vec::new(),
            busy_since: None,
            last_busy: None,
            last_stop: None,
            notified: None,
            left: match load {
                Load::Bursts { count, .. } | Load::Once { count, .. } => count,
                _ => 0,
            },
            checked: 0,
            ticket: 0,
        }
    }

    /// Killed: nothing of it goes on.
    pub(crate) fn die(&mut self) {
        self.life += 1;
        self.at = At::Launch;
        self.want = false;
        self.waiting_since = None;
        self.busy_since = None;
        self.stopped = false;
        if let Load::Bursts { count, .. } = self.load {
            self.left = count;
        }
    }

    /// Gone for good, until it joins again.
    pub(crate) fn end(&mut self) {
        self.die();
        self.joined = false;
        self.gate = Gate::CLOSED;
    }

    fn think(&self, rng: &mut Rng) -> u64 {
        match self.load {
            Load::Bursts { think, .. } => rng.between(think / 2, think * 3 / 2),
            _ => 0,
        }
    }
}

impl World {
    /// Lets a client's thread run after `delay`.
    pub(crate) fn client_soon(&mut self, tenant: usize, delay: u64) {
        // One thread: what is scheduled last is what it does next.
        self.clients[tenant].ticket += 1;
        let ticket = self.clients[tenant].ticket;
        self.put(self.now + delay, Thing::Client(tenant, ticket));
    }

    pub(crate) fn client_runs(&mut self, tenant: usize, ticket: u64) {
        let client = &mut self.clients[tenant];
        if client.ticket != ticket || !client.joined {
            return;
        }
        if client.stopped {
            return;
        }
        match client.at {
            At::Launch | At::Gate | At::Window { .. } => self.check_gate(tenant),
            At::Entering => self.submit(tenant),
            At::Sync => self.sync(tenant),
            At::End => {}
        }
    }

    fn check_gate(&mut self, tenant: usize) {
        if self.clients[tenant].load == Load::Idle {
            return;
        }
        if let Load::Once { at, .. } = self.clients[tenant].load
            && self.now < at
        {
            return self.client_soon(tenant, at - self.now);
        }
        let gate = self.clients[tenant].gate;
        if gate.state == GateState::Closed {
            return self.wait_at_gate(tenant);
        }
        let full = gate.window > 0 && self.device.queues[tenant].visible_in_flight() >= u64::from(gate.window);
        let now = self.now;
        let client = &mut self.clients[tenant];
        if let Some(since) = client.waiting_since.take() {
            client.waits.push((since, now));
        }
        client.want = false;
        if full {
            self.device.mark_tail(tenant);
            let since = if let At::Window { since } = client.at { since } else { now };
            if now - since < WINDOW_CAP {
                client.at = At::Window { since };
                return self.client_soon(tenant, WINDOW_POLL);
            }
        }
        if gate.state == GateState::OpenNotify && client.notified != Some(gate.epoch) {
            client.notified = Some(gate.epoch);
            self.ring(tenant);
        }
        let client = &mut self.clients[tenant];
        client.at = At::Entering;
        client.busy_since.get_or_insert(now);
        client.checked = now;
        self.client_soon(tenant, HOST_COST);
    }

    fn wait_at_gate(&mut self, tenant: usize) {
        self.device.mark_tail(tenant);
        let now = self.now;
        let client = &mut self.clients[tenant];
        client.at = At::Gate;
        client.waiting_since.get_or_insert(now);
        client.busy_since.get_or_insert(now);
        if !std::mem::replace(&mut client.want, true) {
            self.ring(tenant);
        }
        // Every waiter re-checks at least each 100 ms; the wake-up of an opened gate comes by `set_gate`.
        self.client_soon(tenant, 100 * MS);
    }

    fn submit(&mut self, tenant: usize) {
        let now = self.now;
        if self.device.queues[tenant].in_flight() >= DRIVER_QUEUE {
            // The driver's own launch blocks until there is room.
            return self.client_soon(tenant, WINDOW_POLL);
        }
        let gate = self.clients[tenant].gate;
        let number = self.device.queues[tenant].launched + 1;
        let marked = match gate.markers {
            Markers::None => gate.state == GateState::Closed,
            Markers::Every { shift } => gate.state == GateState::Closed || number.is_multiple_of(1 << shift),
        };
        let kernel = self.clients[tenant].load.kernel();
        self.device.submit(tenant, kernel, marked, now);
        let client = &mut self.clients[tenant];
        client.launches.push((client.checked, now));
        client.at = At::Launch;
        let bursts = matches!(client.load, Load::Bursts { .. } | Load::Once { .. });
        if bursts {
            client.left = client.left.saturating_sub(1);
            if client.left == 0 {
                client.at = At::Sync;
                self.device.mark_tail(tenant);
            }
        }
        self.wake_device();
        if self.clients[tenant].at == At::Launch {
            self.client_soon(tenant, 2 * US);
        }
    }

    /// A launch of this tenant has ended.
    pub(crate) fn completed(&mut self, tenant: usize) {
        let client = &mut self.clients[tenant];
        client.last_busy = Some(self.now);
        let waits = matches!(client.at, At::Gate | At::Entering);
        if self.device.queues[tenant].in_flight() == 0 && !waits {
            client.busy_since = None;
        }
        if self.clients[tenant].at == At::Sync && self.device.queues[tenant].in_flight() == 0 {
            self.client_soon(tenant, 5 * US);
        }
    }

    fn sync(&mut self, tenant: usize) {
        if self.device.queues[tenant].in_flight() > 0 {
            return;
        }
        let client = &mut self.clients[tenant];
        match client.load {
            Load::Bursts { count, .. } => {
                client.at = At::Launch;
                client.left = count;
                let think = self.clients[tenant].think(&mut self.rng);
                self.client_soon(tenant, think);
            }
            _ => client.at = At::End,
        }
    }

    fn ring(&mut self, tenant: usize) {
        let delay = self.wake_delay();
        let life = u64::from(self.clients[tenant].life);
        self.put(self.now + delay, Thing::Ring(tenant, life));
    }
}
