//! Between the engines and the pages: events in, effects carried out. Everything a tenant wrote goes through `look`.

use mgpu_coordinator_core::{Activity, Effect, Event, TenantId};
use mgpu_protocol::gate::{Gate, GateState};
use mgpu_protocol::message::Reply;
use mgpu_protocol::sync::Ordering;
use mgpu_protocol::units::Nanos;
use mgpu_protocol::{line, wait};
use tracing::debug;

use super::{Daemon, Pending, ROUNDS};
use crate::clock;
use crate::device::Decision;
use crate::look::{Seen, look};

/// Distance of two heartbeats while somebody waits; a waiter gives up after 2 s without one.
const BEAT: Nanos = Nanos::from_millis(500);

impl Daemon {
    /// Gives an event to a device's engine and carries out what follows.
    pub(super) fn drive(&mut self, device: usize, event: Event) {
        let mut pending = Pending::from([event]);
        for _ in 0..ROUNDS {
            let Some(event) = pending.pop_front() else { return };
            let now = clock::now();
            let event = match event {
                // A look is taken when its turn comes, so that it is never older than the effects before it.
                Event::Observed { tenant, .. } => match self.look_at(device, tenant) {
                    Some(activity) => Event::Observed { tenant, activity },
                    None => continue,
                },
                other => other,
            };
            let Some(target) = self.devices.get_mut(device) else { return };
            for effect in target.engine.step(event, now) {
                self.carry_out(device, effect, now, &mut pending);
            }
        }
        debug!(
            device,
            left = pending.len(),
            "engine and looks went back and forth, the rest follows with the next look"
        );
    }

    fn carry_out(&mut self, device: usize, effect: Effect, now: Nanos, pending: &mut Pending) {
        match effect {
            Effect::SetGate { tenant, gate } => self.set_gate(device, tenant, gate, now),
            Effect::Watch { tenant, every, at_once } => {
                if let Some(target) = self.devices.get_mut(device) {
                    target.watch(tenant, every, at_once, now);
                }
                if at_once {
                    pending.push_back(Event::Observed { tenant, activity: Activity::default() });
                }
            }
            Effect::MarkTails { tenant } => self.ask_for_marks(device, tenant),
            Effect::WakeAt { at } => {
                if let Some(target) = self.devices.get_mut(device) {
                    target.wake_at = at;
                }
            }
            Effect::Decided { tenant, reason } => {
                if let Some(target) = self.devices.get_mut(device) {
                    target.note(Decision { at: now, tenant, reason });
                }
                debug!(device, tenant = tenant.0, %reason, "decided");
            }
        }
    }

    fn set_gate(&mut self, device: usize, tenant: TenantId, gate: Gate, now: Nanos) {
        let Some(tenant) = self.tenants.get_mut(&tenant) else { return };
        let Some(index) = tenant.line_of(device) else { return };
        let Some(line) = tenant.grant_line(index) else { return };
        line::set_gate(line, gate);
        if gate.state == GateState::Closed {
            tenant.start_heart(now);
        } else {
            wait::wake_all(&line.gate);
            tenant.asked &= !(1 << index);
        }
    }

    /// Reads a tenant's page for a device; none if the tenant has gone.
    fn look_at(&mut self, device: usize, tenant: TenantId) -> Option<Activity> {
        Some(self.look_closely(device, tenant)?.activity)
    }

    fn look_closely(&mut self, device: usize, tenant: TenantId) -> Option<Seen> {
        let tenant = self.tenants.get_mut(&tenant)?;
        let index = tenant.line_of(device)?;
        let live = tenant.live();
        let asked = tenant.devices.len() == 1 || tenant.asked >> index & 1 == 1;
        let number = u32::try_from(index).ok()?;
        Some(look(&tenant.pages.tenant, number, live, asked, tenant.memories.get_mut(index)?))
    }

    /// Timers and looks whose time has come.
    pub(super) fn run_engines(&mut self, now: Nanos) {
        for device in 0..self.devices.len() {
            if self.devices[device].wake_at.is_some_and(|at| at <= now) {
                self.devices[device].wake_at = None;
                self.drive(device, Event::Timer);
            }
            while let Some(tenant) = self.devices[device].due(now) {
                self.drive(device, Event::Observed { tenant, activity: Activity::default() });
            }
        }
    }

    /// A tenant's want eventfd rang.
    pub(super) fn on_bell(&mut self, number: TenantId) {
        let Some(tenant) = self.tenants.get_mut(&number) else { return };
        if !tenant.bell.rang(clock::now()) {
            debug!(tenant = %tenant.name, "rings too often, not heard for a while");
            self.poller.listen_to_bell(&tenant.bell.fd, tenant.bell.token, false);
        }
        self.take_wants(number);
    }

    /// Reads which devices a tenant's clients ask for, and tells the engines.
    pub(super) fn take_wants(&mut self, number: TenantId) {
        let Some(tenant) = self.tenants.get_mut(&number) else { return };
        let slots = tenant.seated().map(|(_, _, seat)| seat.slot).collect::<Vec<_>>();
        let words = slots.into_iter().filter_map(|slot| tenant.pages.tenant.slots.get(usize::try_from(slot).ok()?));
        let wants = words.fold(0, |wants, slot| wants | slot.take_wants());
        tenant.asked |= wants;
        if wants != 0 {
            tenant.start_heart(clock::now());
        }
        let devices: Vec<usize> = tenant.devices.clone();
        for (index, device) in devices.into_iter().enumerate() {
            if wants >> index & 1 == 1 {
                self.drive(device, Event::Wanted { tenant: number });
            }
        }
    }

    /// Listens again to those who asked too often; what they wanted meanwhile is taken first.
    pub(super) fn unmute(&mut self, now: Nanos) {
        if self.deaf.is_due(now) {
            self.hear_own_listeners(true);
        }
        let mut rang = Vec::new();
        for tenant in self.tenants.values_mut().filter(|t| t.next_unmute().is_some_and(|at| at <= now)) {
            if tenant.bell.meter.is_due(now) {
                self.poller.listen_to_bell(&tenant.bell.fd, tenant.bell.token, true);
                rang.push(tenant.number);
            }
            if tenant.connects.is_due(now) {
                self.poller.listen_to(&tenant.listener.0, tenant.listener.1, true);
            }
            for (token, connection) in &mut tenant.connections {
                if connection.meter.is_due(now) {
                    self.poller.listen_to(&connection.socket, *token, true);
                }
            }
        }
        for number in rang {
            self.take_wants(number);
        }
    }

    /// Asks the clients with unmarked tails to mark them, each once until it answers: one that is stopped answers when it goes on,
    /// and must not find its socket full, which would cost it its place.
    fn ask_for_marks(&mut self, device: usize, number: TenantId) {
        let Some(seen) = self.look_closely(device, number) else { return };
        let Some(tenant) = self.tenants.get_mut(&number) else { return };
        let Some(index) = tenant.line_of(device).and_then(|i| u32::try_from(i).ok()) else { return };
        let packet = Reply::MarkTails { device: index }.encode();
        let mut deaf = Vec::new();
        for (token, connection) in &mut tenant.connections {
            let Some(seat) = &mut connection.seat else { continue };
            if seen.unmarked_by.0 >> seat.slot & 1 == 0 || seat.is_marking {
                continue;
            }
            seat.is_marking = true;
            if !super::session::send(&connection.socket, &packet) {
                deaf.push(*token);
            }
        }
        for token in deaf {
            self.lose_client(number, token, false);
        }
    }

    /// While somebody waits at a closed gate, that tenant's heartbeat goes on. Nobody else looks at it: a waiter rings when it
    /// begins, so the heart begins then.
    pub(super) fn beat(&mut self, now: Nanos) {
        for tenant in self.tenants.values_mut().filter(|t| t.next_beat.is_some_and(|at| at <= now)) {
            let gates = tenant.pages.grants.devices.iter().take(tenant.devices.len());
            let closed = gates
                .map(|line| Gate::unpack(line.gate.load(Ordering::Relaxed)))
                .any(|gate| gate.state == GateState::Closed);
            tenant.next_beat = None;
            if closed && tenant.has_waiters() {
                tenant.pages.grants.heartbeat.fetch_add(1, Ordering::Release);
                tenant.next_beat = Some(now.plus(BEAT));
            }
        }
    }

    /// The last client of a tenant has gone.
    pub(super) fn clients_gone(&mut self, number: TenantId) {
        let Some(tenant) = self.tenants.get(&number) else { return };
        for device in tenant.devices.clone() {
            self.drive(device, Event::ClientsGone { tenant: number });
        }
    }

    /// One of several clients has gone: whoever is watched is looked at now, since its claims may have been the last.
    pub(super) fn look_again(&mut self, number: TenantId) {
        let Some(tenant) = self.tenants.get(&number) else { return };
        for device in tenant.devices.clone() {
            if self.devices.get(device).is_some_and(|d| d.is_watched(number)) {
                self.drive(device, Event::Observed { tenant: number, activity: Activity::default() });
            }
        }
    }
}
