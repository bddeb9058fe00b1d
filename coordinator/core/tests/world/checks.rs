//! What must hold after every step, judged by the world's own truth.

use mgpu_protocol::gate::GateState;
use mgpu_protocol::units::Class;

use super::client::At;
use super::{US, World, id};

/// What the checks remember between steps.
pub struct Watchdog {
    seen: usize,
    last_epoch: Option<u32>,
    /// Since when each gate is closed.
    closed: Vec<u64>,
    /// How long online may have had work before no offline gate may be open any more.
    pub reaction: u64,
}

impl Watchdog {
    pub fn new(tenants: usize) -> Self {
        Self { seen: 0, last_epoch: None, closed: vec![0; tenants], reaction: 150 * US }
    }

    /// The gates that opened because the daemon died are nobody's grants, and epochs begin anew.
    pub(crate) fn restarted(&mut self, seen: usize) {
        self.seen = seen;
        self.last_epoch = None;
    }
}

impl World {
    pub fn fault(&mut self, what: String) {
        let text = format!("at {} µs: {what}", self.now / US);
        self.faults.push(text);
    }

    pub(crate) fn check_gates(&mut self) {
        if self.engine.is_observing() {
            self.watchdog.last_epoch = None;
            self.watchdog.seen = self.gates.len();
            return;
        }
        self.check_open_set();
        self.check_offline_closed();
        for number in self.watchdog.seen..self.gates.len() {
            let change = self.gates[number];
            if change.state == GateState::Closed {
                self.watchdog.closed[change.tenant] = change.at;
            }
            if change.state != GateState::Closed {
                self.check_epoch(change.epoch);
            }
            if change.holds {
                self.check_alone(change.tenant);
            }
        }
        self.watchdog.seen = self.gates.len();
    }

    /// At most one tenant has the turn; beside an offline one only ajar gates of online tenants are open.
    fn check_open_set(&mut self) {
        let holder = self.engine.holder();
        let mut problems = Vec::new();
        for (tenant, state) in self.open() {
            let class = self.tenants[tenant].class;
            let is_holder = holder == Some(id(tenant));
            if is_holder {
                continue;
            }
            let beside_online = holder.is_some_and(|h| self.tenants[h.0 as usize].class == Class::Online);
            if state != GateState::OpenNotify || class != Class::Online || beside_online {
                problems
                    .push(format!("tenant {tenant} ({class}) has an open gate ({state:?}) beside holder {holder:?}"));
            }
        }
        for problem in problems {
            self.fault(problem);
        }
    }

    /// While online has had work for longer than the news of it takes, no offline gate is open.
    fn check_offline_closed(&mut self) {
        let Some(holder) = self.engine.holder().map(|h| h.0 as usize) else { return };
        if self.tenants[holder].class == Class::Online {
            return;
        }
        let (now, reaction) = (self.now, self.watchdog.reaction);
        let deadline = self.engine.settings().drain_deadline.0;
        let problem = (0..self.clients.len()).find(|t| {
            let client = &self.clients[*t];
            let stopped_lately = client.last_stop.is_some_and(|at| client.stopped || now - at < 20 * deadline);
            self.tenants[*t].class == Class::Online
                && !stopped_lately
                && client.busy_since.is_some_and(|since| now - since > reaction)
        });
        if let Some(online) = problem {
            let since = self.clients[online].busy_since.unwrap_or(0) / US;
            self.fault(format!("offline {holder} has the turn while online {online} has had work since {since} µs"));
        }
    }

    fn check_epoch(&mut self, epoch: u32) {
        if self.watchdog.last_epoch.is_some_and(|last| epoch <= last) {
            self.fault(format!("epoch {epoch} was used before"));
        }
        self.watchdog.last_epoch = Some(epoch);
    }

    /// Whoever is granted finds nobody else of its class at work, unless their drain deadline has passed.
    fn check_alone(&mut self, tenant: usize) {
        let class = self.tenants[tenant].class;
        let deadline = self.engine.settings().drain_deadline.0;
        let mut problems = Vec::new();
        for other in (0..self.clients.len()).filter(|other| *other != tenant) {
            let busy = self.device.queues[other].in_flight() > 0 || self.clients[other].at == At::Entering;
            let overdue = self.now.saturating_sub(self.watchdog.closed[other]) >= deadline;
            let leftover = class == Class::Online && self.tenants[other].class == Class::Offline;
            // The news of a launch through an ajar gate may be on its way.
            let unheard = self.clients[other].busy_since.is_some_and(|at| self.now - at <= self.watchdog.reaction);
            if busy && !overdue && !leftover && !(self.was_ajar(other) && (unheard || class == Class::Online)) {
                problems.push(format!("tenant {tenant} ({class}) was granted while {other} had work"));
            }
        }
        for problem in problems {
            self.fault(problem);
        }
    }

    /// Its last open gate was open-and-notify.
    fn was_ajar(&self, tenant: usize) -> bool {
        let last = self.gates.iter().rev().find(|c| c.tenant == tenant && c.state != GateState::Closed);
        last.is_some_and(|c| c.state == GateState::OpenNotify)
    }

    /// Panics with all faults, if there are any.
    pub fn assert_no_faults(&self, what: &str) {
        assert!(
            self.faults.is_empty(),
            "{what}: {} faults, first: {:#?}",
            self.faults.len(),
            &self.faults[..self.faults.len().min(3)]
        );
    }
}
