//! Memory between clients, books and driver: lease questions, what a dead client leaves behind, when the driver has let go.

use mgpu_coordinator_core::TenantId;
use mgpu_protocol::layout::MAX_DEVICES;
use mgpu_protocol::message::Reply;
use mgpu_protocol::units::{Bytes, DeviceUuid, Nanos};
use tracing::{debug, info, warn};

use super::{Daemon, Source};
use crate::chores::{Chore, Done, Listed};
use crate::clock;
use crate::poller::Token;
use crate::tenant::{Connection, Ghost, HeldLease, Phase, Seat, Tenant};

/// Asking NVML whether the driver has let go of dead processes: soon, then ever more slowly.
#[derive(Debug, Default)]
pub(crate) struct Audit {
    at: Option<Nanos>,
    distance: Nanos,
    asked: bool,
}

const FIRST_ASK: Nanos = Nanos::from_millis(20);
const LAST_ASK: Nanos = Nanos::from_millis(1_000);

/// What NVML lists may be this old: that a process is missing from the list says something only if it has been here for longer.
const SAMPLE: Nanos = Nanos::from_millis(1_000);

impl Audit {
    /// When to ask next.
    pub(crate) fn due(&self) -> Option<Nanos> {
        self.at.filter(|_| !self.asked)
    }
}

impl Daemon {
    /// "Give me at least `bytes` more." `false` ends the connection.
    pub(super) fn on_lease(&mut self, number: TenantId, from: Token, device: u32, bytes: u64) -> bool {
        let Some(tenant) = self.tenants.get_mut(&number) else { return false };
        let Ok(line) = usize::try_from(device) else { return false };
        if line >= tenant.devices.len() {
            return false;
        }
        // A shim has one question open; more is a flood.
        if tenant.held.iter().any(|held| held.from == from) {
            return false;
        }
        self.answer(number, HeldLease { from, device, bytes })
    }

    /// Answers, or holds the question if a refusal now could be wrong once all clients of the last daemon have told what they
    /// use.
    fn answer(&mut self, number: TenantId, question: HeldLease) -> bool {
        let Some(tenant) = self.tenants.get_mut(&number) else { return false };
        let Some(connection) = tenant.connections.get(&question.from) else { return false };
        let Some(seat) = connection.seat else { return false };
        let line = usize::try_from(question.device).unwrap_or(usize::MAX);
        let slot = usize::try_from(seat.slot).unwrap_or(usize::MAX);
        let Some(books) = tenant.books.get_mut(line) else { return false };
        let settling = tenant.settling_until.is_some();
        let own_carry_due = settling && seat.carry_due;
        let slots = &tenant.pages.tenant.slots;
        let given = if own_carry_due { 0 } else { books.give(slot, question.bytes, slots) };
        if own_carry_due || (settling && given == 0 && question.bytes <= books.limit()) {
            debug!(tenant = %tenant.name, bytes = question.bytes, "lease: waits for clients of the last daemon");
            tenant.held.push(question);
            return true;
        }
        if given == 0 {
            let (charged, limit) = (Bytes(books.charged()), Bytes(books.limit()));
            info!(tenant = %tenant.name, pid = connection.process.pid, asked = %Bytes(question.bytes), %charged, %limit, "out of memory");
        }
        let packet = Reply::Lease { device: question.device, given }.encode();
        let heard = super::session::send(&connection.socket, &packet);
        tenant.publish();
        if given > 0 {
            self.save_soon();
        }
        heard
    }

    /// A re-attached client tells what it uses. That replaces whatever stood for it.
    pub(super) fn on_carry(&mut self, number: TenantId, token: Token, used: &[u64; MAX_DEVICES]) {
        let Some(tenant) = self.tenants.get_mut(&number) else { return };
        let Some((process, seat)) = tenant.connections.get(&token).and_then(|c| Some((c.process, c.seat?))) else {
            return;
        };
        let slot = usize::try_from(seat.slot).unwrap_or(usize::MAX);
        for (books, used) in tenant.books.iter_mut().zip(used) {
            books.carry(slot, *used);
        }
        let mut freed = Vec::new();
        tenant.ghosts.retain_mut(|ghost| {
            if ghost.process != process {
                return true;
            }
            if let Phase::Absent(fd) | Phase::Detached(fd) = &mut ghost.phase {
                freed.extend(fd.take());
            }
            false
        });
        info!(tenant = %tenant.name, pid = process.pid, used = ?used.get(..tenant.devices.len()), "re-attached, its memory is counted");
        tenant.publish();
        for (fd, token) in freed {
            self.unwatch(&fd, token);
        }
        self.answer_held(number);
        self.save_soon();
    }

    /// Lease questions that waited are answered if they can be now. Ends the settling when nobody is missing.
    pub(super) fn answer_held(&mut self, number: TenantId) {
        let Some(tenant) = self.tenants.get_mut(&number) else { return };
        if tenant.settling_until.is_some() && !tenant.is_settling() {
            end_settling(tenant);
        }
        for question in std::mem::take(&mut tenant.held) {
            if !self.answer(number, question) {
                self.lose_client(number, question.from, false);
            }
        }
    }

    /// Clients of the last daemon have had their time to come back.
    pub(super) fn settle_due(&mut self, now: Nanos) {
        let due = |t: &Tenant| t.settling_until.is_some_and(|at| at <= now);
        let numbers: Vec<TenantId> = self.tenants.values().filter(|t| due(t)).map(|t| t.number).collect();
        for number in numbers {
            if let Some(tenant) = self.tenants.get_mut(&number) {
                end_settling(tenant);
            }
            self.answer_held(number);
        }
    }

    /// A client has gone: its unused part returns now, its used part when the driver has let go.
    pub(super) fn turn_into_ghost(&mut self, number: TenantId, connection: Connection, seat: Seat, died: bool) {
        let Connection { process, pidfd, since, .. } = connection;
        let now = clock::now();
        let Some(tenant) = self.tenants.get_mut(&number) else { return };
        let bytes = tenant.clear_seat(seat);
        let phase = match pidfd {
            Some((fd, token)) if !died => {
                self.sources.insert(token, Source::GhostDeath(number));
                Phase::Detached(Some((fd, token)))
            }
            Some((fd, token)) => {
                self.poller.remove(&fd);
                self.sources.remove(&token);
                Phase::Gone(now)
            }
            None => Phase::Gone(now),
        };
        let ghost = Ghost { process, attached: since, bytes, phase };
        // A re-attaching process whose carry never came leaves what stood for it before.
        if ghost.is_alive() || bytes.iter().any(|n| *n > 0) {
            tenant.ghosts.push(ghost);
        }
        tenant.publish();
        self.audit_soon();
    }

    /// A ghost's process has died: from now on only the driver's teardown is waited for.
    pub(super) fn on_ghost_death(&mut self, number: TenantId, token: Token) {
        let now = clock::now();
        let Some(tenant) = self.tenants.get_mut(&number) else { return };
        let mut closed = Vec::new();
        for ghost in &mut tenant.ghosts {
            let (Phase::Absent(fd) | Phase::Detached(fd)) = &mut ghost.phase else { continue };
            if fd.as_ref().is_some_and(|(_, t)| *t == token) {
                closed.extend(fd.take());
                ghost.phase = Phase::Gone(now);
            }
        }
        tenant.ghosts.retain(|g| g.is_alive() || g.bytes.iter().any(|n| *n > 0));
        for (fd, token) in closed {
            self.unwatch(&fd, token);
        }
        let never_came = self.tenants.get(&number).is_some_and(|t| !t.joined && !t.is_settling());
        if never_came {
            self.join_engines(number, false);
        }
        self.answer_held(number);
        self.audit_soon();
        self.save_soon();
    }

    /// Asks NVML soon whether the driver has let go.
    pub(super) fn audit_soon(&mut self) {
        self.audit.distance = FIRST_ASK;
        if !self.audit.asked {
            self.audit.at = Some(clock::now().plus(FIRST_ASK));
        }
    }

    /// Asks, if it is time and somebody is waited for.
    pub(super) fn audit_due(&mut self, now: Nanos) {
        if self.audit.due().is_none_or(|at| at > now) {
            return;
        }
        self.audit.at = None;
        let waiting = self.tenants.values().flat_map(|t| t.ghosts.iter().map(move |g| (t, g)));
        let mut devices: Vec<usize> = waiting
            .filter(|(_, g)| !matches!(g.phase, Phase::Absent(_)))
            .flat_map(|(t, g)| t.devices.iter().zip(g.bytes).filter(|(_, bytes)| *bytes > 0).map(|(d, _)| *d))
            .collect();
        devices.sort_unstable();
        devices.dedup();
        if devices.is_empty() {
            return;
        }
        self.audit.asked = true;
        let devices = devices.into_iter().filter_map(|d| Some(self.devices.get(d)?.facts.uuid)).collect();
        self.chores.ask(Chore::Processes { devices });
    }

    /// The helper thread has answered.
    pub(super) fn on_chores(&mut self) {
        let done = self.chores.take();
        self.take_done(done);
    }

    pub(super) fn take_done(&mut self, done: Vec<Done>) {
        for done in done {
            match done {
                Done::Saved { number, error } => self.on_saved(number, error),
                Done::Processes(devices) => self.on_processes(&devices),
            }
        }
    }

    fn on_processes(&mut self, devices: &[(DeviceUuid, Result<Listed, crate::nvml::GpuError>)]) {
        let now = clock::now();
        self.audit.asked = false;
        let patience = self.config.teardown_timeout.0;
        let mut changed = Vec::new();
        for (uuid, listed) in devices {
            let Some(device) = self.devices.iter().position(|d| d.facts.uuid == *uuid) else { continue };
            if let Err(error) = listed {
                debug!(%error, "the driver does not tell who holds memory");
            }
            for tenant in self.tenants.values_mut() {
                if release(tenant, device, listed.as_ref().ok(), now, patience) {
                    changed.push(tenant.number);
                }
            }
        }
        for number in changed {
            if let Some(tenant) = self.tenants.get_mut(&number) {
                tenant.publish();
            }
            self.answer_held(number);
            self.save_soon();
        }
        self.audit.distance = Nanos((self.audit.distance.0 * 2).clamp(FIRST_ASK.0, LAST_ASK.0));
        let ghosts = self.tenants.values().flat_map(|t| &t.ghosts);
        if ghosts.filter(|g| !matches!(g.phase, Phase::Absent(_))).any(|g| g.bytes.iter().any(|n| *n > 0)) {
            self.audit.at = Some(now.plus(self.audit.distance));
        }
    }
}

fn end_settling(tenant: &mut Tenant) {
    tenant.settling_until = None;
    for books in &mut tenant.books {
        books.set_floor(0);
    }
    tenant.publish();
}

/// Releases what ghosts hold on a device once the driver no longer lists them there (or lists less than they had: another
/// program has taken the process over), or patience has run out. `true` if something was released.
fn release(tenant: &mut Tenant, device: usize, listed: Option<&Listed>, now: Nanos, patience: Nanos) -> bool {
    let Some(line) = tenant.line_of(device) else { return false };
    let mut released = false;
    for ghost in &mut tenant.ghosts {
        let Some(bytes) = ghost.bytes.get_mut(line).filter(|n| **n > 0) else { continue };
        let held = listed.map(|l| l.get(&ghost.process.pid));
        let recent = now.since(ghost.attached) < SAMPLE;
        let let_go = match held {
            _ if recent => false,
            Some(None) => true,
            Some(Some(Some(left))) => matches!(ghost.phase, Phase::Replaced(_)) && *left < *bytes,
            Some(Some(None)) | None => false,
        };
        match ghost.phase {
            Phase::Absent(_) => continue,
            _ if let_go => debug!(pid = ghost.process.pid, bytes = *bytes, "the driver has let go"),
            Phase::Gone(since) | Phase::Replaced(since) if now.since(since) >= patience => {
                warn!(
                    tenant = %tenant.name, pid = ghost.process.pid, bytes = *bytes, waited_ms = patience.0 / 1_000_000,
                    "a dead process's memory was released though the driver still lists it"
                );
            }
            Phase::Detached(_) | Phase::Gone(_) | Phase::Replaced(_) => continue,
        }
        *bytes = 0;
        released = true;
    }
    tenant.ghosts.retain(|g| g.is_alive() || g.bytes.iter().any(|n| *n > 0));
    released
}
