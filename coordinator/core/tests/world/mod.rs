//! A node in virtual time around one engine: tenants whose programs launch, a device that runs what was launched, and a
//! daemon that sees and acts late. One seed, one run, to the bit.
//!
//! It stands in for shim, shell and hardware, and knows what is true; the engine knows only what `Activity` tells it.

#![allow(dead_code, unreachable_pub, reason = "each test binary uses a part of the world")]

pub mod checks;
mod client;
mod daemon;
pub mod device;
pub mod random;
pub mod rng;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use mgpu_coordinator_core::{Effect, Engine, Entitlement, Event, PolicyKind, Settings, TenantId, Weight};
use mgpu_protocol::gate::GateState;
use mgpu_protocol::units::{Class, Nanos, Percent};

pub use client::{Client, Load};
use daemon::Daemon;
use device::Device;
use rng::Rng;

pub const US: u64 = 1_000;
pub const MS: u64 = 1_000_000;
pub const S: u64 = 1_000_000_000;

/// One tenant of a scenario.
#[derive(Clone, Debug)]
pub struct Tenant {
    pub class: Class,
    pub share: Option<u8>,
    pub weight: u32,
    pub load: Load,
    pub join: u64,
}

impl Tenant {
    pub fn online(load: Load) -> Self {
        Self { class: Class::Online, share: None, weight: 1, load, join: 0 }
    }
    pub fn offline(load: Load) -> Self {
        Self { class: Class::Offline, ..Self::online(load) }
    }
    pub fn share(mut self, share: u8) -> Self {
        self.share = Some(share);
        self
    }
    pub fn weight(mut self, weight: u32) -> Self {
        self.weight = weight;
        self
    }
    pub fn join(mut self, at: u64) -> Self {
        self.join = at;
        self
    }
    pub fn entitlement(&self) -> Entitlement {
        Entitlement {
            memory: None,
            share: self.share.and_then(Percent::new),
            class: self.class,
            weight: Weight::new(self.weight).unwrap(),
        }
    }
}

/// How late the host is: wake-ups of clients and of the daemon.
#[derive(Clone, Copy, Debug)]
pub struct Host {
    /// Least and most that a wake-up takes, ns.
    pub wake: (u64, u64),
    /// One wake-up in so many is late by up to `late`; 0 = none.
    pub late_one_in: u64,
    pub late: u64,
}

impl Host {
    pub const QUICK: Self = Self { wake: (20 * US, 80 * US), late_one_in: 0, late: 0 };
    pub const BUSY: Self = Self { wake: (20 * US, 200 * US), late_one_in: 100, late: 3 * MS };
}

/// What happens to tenant `usize` at a time.
#[derive(Clone, Copy, Debug)]
pub enum Act {
    Join(usize),
    Leave(usize),
    Kill(usize),
    Stop(usize),
    Continue(usize),
    Policy(PolicyKind),
    Share(usize, u8),
    Class(usize, Class),
    Restart,
    Reattach(usize),
    /// The daemon does nothing for so long.
    Stall(u64),
}

/// Things in the world's queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Thing {
    Client(usize, u64),
    Device(u64),
    Timer(u64),
    Poll(usize, u64),
    Ring(usize, u64),
    Gone(usize, u64),
    Mark(usize),
    Act(usize),
}

/// One gate effect, as it was carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GateChange {
    pub at: u64,
    pub tenant: usize,
    pub state: GateState,
    pub epoch: u32,
    /// The tenant had the turn after the step.
    pub holds: bool,
}

pub struct World {
    pub now: u64,
    pub engine: Engine,
    pub tenants: Vec<Tenant>,
    pub clients: Vec<Client>,
    pub device: Device,
    pub host: Host,
    pub gates: Vec<GateChange>,
    /// Effects by kind, for tests of silence: (WakeAt with a time, Watch with an interval).
    pub wishes: (u64, u64),
    pub steps: u64,
    pub faults: Vec<String>,
    pub watchdog: checks::Watchdog,
    /// Every decision with its time, for exact reproduction.
    pub journal: Vec<(u64, u32, String)>,
    daemon: Daemon,
    rng: Rng,
    queue: BinaryHeap<Reverse<(u64, u64, Thing)>>,
    order: u64,
    acts: Vec<(u64, Act)>,
}

pub fn id(tenant: usize) -> TenantId {
    TenantId(u32::try_from(tenant).unwrap())
}

impl World {
    pub fn new(policy: PolicyKind, settings: Settings, host: Host, tenants: Vec<Tenant>, seed: u64) -> Self {
        let clients = tenants.iter().map(|t| Client::new(t.load)).collect();
        let mut world = Self {
            now: 0,
            engine: Engine::new(policy, settings, Nanos(0)),
            clients,
            device: Device::new(tenants.len()),
            host,
            gates: Vec::new(),
            wishes: (0, 0),
            steps: 0,
            faults: Vec::new(),
            watchdog: checks::Watchdog::new(tenants.len()),
            journal: Vec::new(),
            daemon: Daemon::new(tenants.len()),
            rng: Rng::new(seed),
            queue: BinaryHeap::new(),
            order: 0,
            acts: Vec::new(),
            tenants,
        };
        for tenant in 0..world.tenants.len() {
            let at = world.tenants[tenant].join;
            world.act_at(at, Act::Join(tenant));
        }
        world
    }

    /// A world with default settings and a quick host.
    pub fn quick(policy: PolicyKind, tenants: Vec<Tenant>) -> Self {
        Self::new(policy, Settings::default(), Host::QUICK, tenants, 1)
    }

    pub fn act_at(&mut self, at: u64, act: Act) {
        self.acts.push((at, act));
        let number = self.acts.len() - 1;
        self.put(at, Thing::Act(number));
    }

    pub fn run_until(&mut self, end: u64) {
        while let Some(Reverse((at, _, _))) = self.queue.peek() {
            if *at > end {
                break;
            }
            let Some(Reverse((at, _, thing))) = self.queue.pop() else { break };
            self.now = self.now.max(at);
            self.handle(thing);
        }
        self.now = end;
        self.device.settle(end);
    }

    fn handle(&mut self, thing: Thing) {
        match thing {
            Thing::Client(tenant, ticket) => self.client_runs(tenant, ticket),
            Thing::Device(generation) => self.device_event(generation),
            Thing::Act(number) => self.act(self.acts[number].1),
            Thing::Mark(tenant) => {
                if !self.clients[tenant].stopped {
                    self.device.mark_tail(tenant);
                }
            }
            Thing::Timer(_) | Thing::Poll(..) | Thing::Ring(..) | Thing::Gone(..) => self.daemon_runs(thing),
        }
    }

    fn act(&mut self, act: Act) {
        match act {
            Act::Join(tenant) => {
                self.clients[tenant].joined = true;
                self.clients[tenant].life += 1;
                let entitlement = self.tenants[tenant].entitlement();
                self.step(Event::TenantJoined { tenant: id(tenant), entitlement, reattached: false });
                self.client_soon(tenant, 0);
            }
            Act::Leave(tenant) => {
                self.clients[tenant].end();
                self.device.drop_queue(tenant, self.now);
                self.wake_device();
                self.daemon.forget(tenant);
                self.step(Event::TenantLeft { tenant: id(tenant) });
            }
            Act::Kill(tenant) => self.kill(tenant),
            Act::Stop(tenant) => {
                self.clients[tenant].stopped = true;
                self.clients[tenant].last_stop = Some(self.now);
            }
            Act::Continue(tenant) => {
                self.clients[tenant].stopped = false;
                self.client_soon(tenant, 0);
            }
            Act::Policy(policy) => self.step(Event::PolicyChanged { policy }),
            Act::Share(tenant, share) => {
                self.tenants[tenant].share = Some(share);
                self.changed(tenant);
            }
            Act::Class(tenant, class) => {
                self.tenants[tenant].class = class;
                self.changed(tenant);
            }
            Act::Stall(span) => self.stall_daemon(span),
            Act::Restart => self.restart(),
            Act::Reattach(tenant) => self.reattach(tenant),
        }
    }

    fn changed(&mut self, tenant: usize) {
        if self.clients[tenant].joined {
            let entitlement = self.tenants[tenant].entitlement();
            self.step(Event::TenantChanged { tenant: id(tenant), entitlement });
        }
    }

    /// The client dies; the kernel tells the daemon soon, and a new client of the same tenant starts after a while.
    fn kill(&mut self, tenant: usize) {
        if !self.clients[tenant].joined {
            return;
        }
        self.clients[tenant].die();
        self.device.drop_queue(tenant, self.now);
        self.wake_device();
        let wake = self.wake_delay();
        let life = u64::from(self.clients[tenant].life);
        self.put(self.now + wake, Thing::Gone(tenant, life));
        let pause = self.rng.between(5 * MS, 50 * MS);
        self.client_soon(tenant, pause);
    }

    pub(crate) fn put(&mut self, at: u64, thing: Thing) {
        self.order += 1;
        self.queue.push(Reverse((at, self.order, thing)));
    }

    pub(crate) fn wake_delay(&mut self) -> u64 {
        let host = self.host;
        let mut delay = self.rng.between(host.wake.0, host.wake.1);
        if host.late_one_in > 0 && self.rng.below(host.late_one_in) == 0 {
            delay += self.rng.below(host.late);
        }
        delay
    }

    /// Device time of a tenant between two times, in percent of that span, times 100 (so 3000 = 30 %).
    pub fn percent100(&self, tenant: usize, from: u64, to: u64) -> u64 {
        self.device.busy(tenant, from, to) * 10_000 / (to - from)
    }

    /// Who has an open gate now.
    pub fn open(&self) -> BTreeMap<usize, GateState> {
        let gates = self.clients.iter().enumerate().map(|(tenant, client)| (tenant, client.gate.state));
        gates.filter(|(_, state)| *state != GateState::Closed).collect()
    }

    fn effects(&mut self, effects: Vec<Effect>) {
        let mut looks = Vec::new();
        for effect in effects {
            match effect {
                Effect::SetGate { tenant, gate } => self.set_gate(tenant.0 as usize, gate),
                Effect::Watch { tenant, every, at_once } => {
                    self.wishes.1 += u64::from(every.is_some());
                    looks.extend(self.watch(tenant.0 as usize, every.map(|n| n.0), at_once));
                }
                Effect::MarkTails { tenant } => self.put(self.now + 100 * US, Thing::Mark(tenant.0 as usize)),
                Effect::WakeAt { at } => {
                    self.wishes.0 += u64::from(at.is_some());
                    let generation = self.daemon.timer();
                    if let Some(at) = at {
                        let late = self.wake_delay();
                        self.put(at.0 + late, Thing::Timer(generation));
                    }
                }
                Effect::Decided { tenant, reason } => self.journal.push((self.now, tenant.0, reason.to_string())),
            }
        }
        for (at, tenant, generation) in looks {
            self.put(at, Thing::Poll(tenant, generation));
        }
    }
}
