//! The shell: carries effects out, delivers events, always a little late, sometimes very.

use mgpu_coordinator_core::{Activity, Effect, Engine, Event};
use mgpu_protocol::gate::{Gate, GateState, Markers};
use mgpu_protocol::units::Nanos;

use super::client::At;
use super::{GateChange, Thing, US, World, id};

pub(crate) struct Daemon {
    timer: u64,
    watches: Vec<(u64, Option<u64>)>,
    /// When each tenant was last looked at.
    looked: Vec<u64>,
    /// It does nothing before then.
    stalled_until: u64,
    down: bool,
}

impl Daemon {
    pub(crate) fn new(tenants: usize) -> Self {
        Self { timer: 0, watches: vec![(0, None); tenants], looked: vec![0; tenants], stalled_until: 0, down: false }
    }

    pub(crate) fn timer(&mut self) -> u64 {
        self.timer += 1;
        self.timer
    }

    pub(crate) fn forget(&mut self, tenant: usize) {
        let watch = &mut self.watches[tenant];
        *watch = (watch.0 + 1, None);
    }
}

impl World {
    /// The daemon does nothing for `span`.
    pub fn stall_daemon(&mut self, span: u64) {
        self.daemon.stalled_until = self.now + span;
    }

    /// A new interval; the next look, if any.
    pub(crate) fn watch(&mut self, tenant: usize, every: Option<u64>, at_once: bool) -> Option<(u64, usize, u64)> {
        self.daemon.forget(tenant);
        let watch = &mut self.daemon.watches[tenant];
        watch.1 = every;
        let generation = watch.0;
        // A look at once comes in the same round of the daemon's loop.
        let soon = self.now + 2 * US;
        let at = if at_once { soon } else { soon.max(self.daemon.looked[tenant] + every? + self.wake_delay()) };
        every.map(|_| (at, tenant, generation))
    }

    pub(crate) fn daemon_runs(&mut self, thing: Thing) {
        if self.daemon.down {
            return;
        }
        if self.now < self.daemon.stalled_until {
            return self.put(self.daemon.stalled_until, thing);
        }
        match thing {
            Thing::Timer(generation) if generation == self.daemon.timer => self.step(Event::Timer),
            Thing::Ring(tenant, life) if life == u64::from(self.clients[tenant].life) => {
                self.step(Event::Wanted { tenant: id(tenant) });
            }
            Thing::Gone(tenant, life) if life == u64::from(self.clients[tenant].life) => {
                self.step(Event::ClientsGone { tenant: id(tenant) });
                // If the next client rang before the last one's death was known, its want bit still stands.
                if self.clients[tenant].want {
                    self.step(Event::Wanted { tenant: id(tenant) });
                }
            }
            Thing::Poll(tenant, generation) => self.poll(tenant, generation),
            _ => {}
        }
    }

    fn poll(&mut self, tenant: usize, generation: u64) {
        let (current, every) = self.daemon.watches[tenant];
        let Some(every) = every.filter(|_| current == generation) else { return };
        self.daemon.looked[tenant] = self.now;
        let activity = self.activity(tenant);
        self.step(Event::Observed { tenant: id(tenant), activity });
        if self.daemon.watches[tenant].0 == generation {
            let late = self.wake_delay();
            self.put(self.now + every + late, Thing::Poll(tenant, generation));
        }
    }

    /// What stands in the tenant's page.
    pub fn activity(&self, tenant: usize) -> Activity {
        let (client, queue) = (&self.clients[tenant], &self.device.queues[tenant]);
        Activity {
            waiting: client.at == At::Gate,
            entering: u32::from(client.at == At::Entering),
            in_flight: u32::try_from(queue.visible_in_flight()).unwrap(),
            unmarked: u32::from(queue.marked != queue.launched),
            launches: queue.launched,
        }
    }

    pub(crate) fn step(&mut self, event: Event) {
        self.steps += 1;
        let effects = self.engine.step(event, Nanos(self.now));
        self.check_effects(&effects);
        self.effects(effects);
        self.check_gates();
    }

    pub(crate) fn set_gate(&mut self, tenant: usize, gate: Gate) {
        let before = std::mem::replace(&mut self.clients[tenant].gate, gate);
        if before.state != gate.state || before.epoch != gate.epoch {
            let holds = self.engine.holder() == Some(id(tenant));
            self.gates.push(GateChange { at: self.now, tenant, state: gate.state, epoch: gate.epoch, holds });
        }
        if before.state == GateState::Closed && gate.state != GateState::Closed && self.clients[tenant].at == At::Gate {
            let wake = self.wake_delay();
            self.client_soon(tenant, wake);
        }
    }

    /// The daemon dies and a new one starts: all gates open (the clients' own doing), then clients come back one by one.
    pub(crate) fn restart(&mut self) {
        let saved = self.engine.saved_accounts();
        let expected: Vec<_> = (0..self.clients.len()).filter(|t| self.clients[*t].joined).map(id).collect();
        let (policy, settings) = (self.engine.policy(), *self.engine.settings());
        for tenant in 0..self.clients.len() {
            self.daemon.forget(tenant);
            if self.clients[tenant].joined {
                // Open, with the window of a shim that knows nothing.
                let markers = Markers::Every { shift: 0 };
                let open = Gate { state: GateState::Open, epoch: 0, markers, window: 8 };
                self.set_gate(tenant, open);
            }
        }
        self.daemon.timer();
        self.engine = Engine::recovered(policy, settings, &saved, &expected, Nanos(self.now));
        self.watchdog.restarted(self.gates.len());
        for tenant in expected {
            let delay = self.rng.between(1_000_000, 200_000_000);
            self.act_at(self.now + delay, super::Act::Reattach(tenant.0 as usize));
        }
    }

    /// A client re-attaches: its gate is the new page's, closed until told otherwise.
    pub(crate) fn reattach(&mut self, tenant: usize) {
        if !self.clients[tenant].joined {
            return;
        }
        self.set_gate(tenant, Gate::CLOSED);
        let entitlement = self.tenants[tenant].entitlement();
        self.step(Event::TenantJoined { tenant: id(tenant), entitlement, reattached: true });
        if self.clients[tenant].want {
            self.step(Event::Wanted { tenant: id(tenant) });
        }
    }

    fn check_effects(&mut self, effects: &[Effect]) {
        let mut opened = false;
        for effect in effects {
            if let Effect::SetGate { gate, .. } = effect {
                if gate.state != GateState::Closed {
                    opened = true;
                } else if opened {
                    self.fault("a gate closes after another was opened in the same step".to_owned());
                }
            }
        }
    }
}
