//! The session socket of a tenant: hello, leases, marks, carry. The listener is the identity; everything in a packet is the
//! tenant's word. A packet that makes no sense, and a peer that does not read, end the connection and nothing else.

use std::os::fd::{AsFd, OwnedFd};

use mgpu_coordinator_core::{Event, TenantId};
use mgpu_protocol::layout::MAX_DEVICES;
use mgpu_protocol::message::{Hello, MAX_PACKET, Packet, Refusal, Reply, Request, Welcome};
use mgpu_protocol::units::{DeviceUuid, Nanos};
use mgpu_protocol::{PAGE_VERSION, PROTOCOL_VERSION, socket};
use tracing::{debug, info, warn};

use super::{Daemon, Source};
use crate::clock;
use crate::meter::Meter;
use crate::poller::Token;
use crate::process;
use crate::tenant::{Connection, PACKETS, Phase, Seat, Tenant};

/// Connections of one tenant, with and without a seat. More are closed at once.
const MAX_CONNECTIONS: usize = 128;
/// A connection says hello within this, or is closed.
const HELLO_DEADLINE: Nanos = Nanos::from_millis(5_000);
/// Packets taken from one connection before the others have their turn.
const FAIR: usize = 8;

/// When the next connection without a hello is closed.
pub(super) fn hello_deadline(tenant: &Tenant) -> Option<Nanos> {
    let silent = tenant.connections.values().filter(|c| c.seat.is_none());
    silent.map(|c| c.since.plus(HELLO_DEADLINE)).min()
}

/// Sends without waiting; `false` if the peer is gone or does not read.
pub(super) fn send(to: &OwnedFd, packet: &Packet) -> bool {
    socket::send(to.as_fd(), packet.as_bytes(), &[]).is_ok()
}

impl Daemon {
    /// Somebody connects to a tenant's socket.
    pub(super) fn accept_client(&mut self, number: TenantId) {
        let Some(tenant) = self.tenants.get_mut(&number) else { return };
        if !tenant.connects.count(clock::now()) {
            warn!(tenant = %tenant.name, "connects too often, not heard for a while");
            self.poller.listen_to(&tenant.listener.0, tenant.listener.1, false);
        }
        let connection = match socket::accept(tenant.listener.0.as_fd()) {
            Ok(connection) => connection,
            Err(e) if e.kind() == std::io::ErrorKind::WouldBlock => return,
            Err(error) => {
                // No descriptor is left, and the connection stays in the queue: asking again at once would never end.
                warn!(tenant = %tenant.name, %error, "a connection could not be accepted");
                tenant.connects.mute(clock::now());
                self.poller.listen_to(&tenant.listener.0, tenant.listener.1, false);
                return;
            }
        };
        if tenant.connections.len() >= MAX_CONNECTIONS {
            warn!(tenant = %tenant.name, "has {MAX_CONNECTIONS} connections, another one was closed");
            return;
        }
        let Some(peer) = process::peer(connection.as_fd()) else { return };
        if let Err(error) = self.seat_connection(number, connection, peer) {
            warn!(%error, "a connection could not be watched and was closed");
        }
    }

    fn seat_connection(&mut self, number: TenantId, fd: OwnedFd, peer: process::Peer) -> std::io::Result<()> {
        let token = self.watch(&fd, Source::Connection(number))?;
        let pidfd = match peer.pidfd {
            Some(pidfd) => match self.watch(&pidfd, Source::ClientDeath(number, token)) {
                Ok(death) => Some((pidfd, death)),
                Err(error) => {
                    self.unwatch(&fd, token);
                    return Err(error);
                }
            },
            None => None,
        };
        let connection = Connection {
            socket: fd,
            process: peer.process,
            pidfd,
            since: clock::now(),
            meter: Meter::new(PACKETS),
            seat: None,
        };
        if let Some(tenant) = self.tenants.get_mut(&number) {
            tenant.connections.insert(token, connection);
        }
        Ok(())
    }

    /// Closes connections that never said hello.
    pub(super) fn drop_silent_connections(&mut self, now: Nanos) {
        let late = |c: &Connection| c.seat.is_none() && now.since(c.since) >= HELLO_DEADLINE;
        let silent: Vec<(TenantId, Token)> = self
            .tenants
            .values()
            .flat_map(|t| t.connections.iter().filter(|(_, c)| late(c)).map(|(token, _)| (t.number, *token)))
            .collect();
        for (tenant, token) in silent {
            debug!("a connection said nothing and was closed");
            self.lose_client(tenant, token, false);
        }
    }

    /// Packets wait on a connection.
    pub(super) fn on_packets(&mut self, number: TenantId, token: Token) {
        let mut buffer = [0_u8; MAX_PACKET + 1];
        for _ in 0..FAIR {
            let connection = self.tenants.get_mut(&number).and_then(|t| t.connections.get_mut(&token));
            let Some(connection) = connection else { return };
            // Descriptors that a client sends along are closed by dropping.
            let received = socket::receive(connection.socket.as_fd(), &mut buffer);
            let length = match received {
                Ok(received) if received.len > 0 => received.len,
                Err(e) if e.kind() == std::io::ErrorKind::WouldBlock => return,
                // Hung up (also a packet of no bytes, which no shim sends), too long, or broken.
                _ => return self.lose_client(number, token, false),
            };
            if !connection.meter.count(clock::now()) {
                let pid = connection.process.pid;
                warn!(pid, "sends too much, not heard for a while");
                self.poller.listen_to(&connection.socket, token, false);
            }
            let request = buffer.get(..length).and_then(Request::decode);
            if !self.on_request(number, token, request) {
                return self.lose_client(number, token, false);
            }
        }
    }

    /// One packet; `false` ends the connection.
    fn on_request(&mut self, number: TenantId, token: Token, request: Option<Request>) -> bool {
        let Some(tenant) = self.tenants.get_mut(&number) else { return false };
        let Some(connection) = tenant.connections.get_mut(&token) else { return false };
        match (request, &mut connection.seat) {
            (Some(Request::Hello(hello)), None) => self.on_hello(number, token, &hello),
            (Some(Request::Lease { device, bytes }), Some(_)) => self.on_lease(number, token, device, bytes),
            (Some(Request::Carry { used }), Some(seat)) if seat.carry_due => {
                seat.carry_due = false;
                self.on_carry(number, token, &used);
                true
            }
            (Some(Request::TailsMarked { marked }), Some(seat)) => {
                seat.is_marking = false;
                debug!(tenant = %tenant.name, marked, "tails marked");
                self.look_again(number);
                true
            }
            (request, _) => {
                let pid = connection.process.pid;
                info!(tenant = %tenant.name, pid, ?request, "a packet out of turn or of no known kind, connection closed");
                if connection.seat.is_none() {
                    send(&connection.socket, &refused(Refusal::Malformed));
                }
                false
            }
        }
    }

    fn on_hello(&mut self, number: TenantId, token: Token, hello: &Hello) -> bool {
        let Some(tenant) = self.tenants.get(&number) else { return false };
        let Some(connection) = tenant.connections.get(&token) else { return false };
        let pid = connection.process.pid;
        let uuids: Vec<DeviceUuid> = tenant.devices.iter().map(|d| self.devices[*d].facts.uuid).collect();
        if let Err(reason) = acceptable(hello, &uuids) {
            warn!(
                tenant = %tenant.name, pid, ?reason, shim = ?hello.shim, protocol = ?hello.protocol, page = ?hello.page,
                ours_protocol = PROTOCOL_VERSION, ours_page = PAGE_VERSION, "a client was refused"
            );
            send(&connection.socket, &refused(reason));
            return false;
        }
        let Some(slot) = tenant.free_slot() else {
            warn!(tenant = %tenant.name, pid, "all slots are taken, a client was refused");
            send(&connection.socket, &refused(Refusal::Full));
            return false;
        };
        self.welcome(number, token, slot, hello, &uuids)
    }

    fn welcome(&mut self, number: TenantId, token: Token, slot: u32, hello: &Hello, uuids: &[DeviceUuid]) -> bool {
        let Some(tenant) = self.tenants.get_mut(&number) else { return false };
        tenant.slot_epoch = tenant.slot_epoch.wrapping_add(1).max(1);
        let mut devices = [DeviceUuid::default(); MAX_DEVICES];
        for (place, uuid) in devices.iter_mut().zip(uuids) {
            *place = *uuid;
        }
        let welcome = Reply::Welcome(Welcome {
            protocol: PROTOCOL_VERSION,
            page: PAGE_VERSION,
            slot,
            slot_epoch: tenant.slot_epoch,
            daemon_epoch: self.epoch,
            device_count: u32::try_from(uuids.len()).unwrap_or(0),
            devices,
        });
        // Lines of the slot's last owner were cleared when it went; a liar may have claimed some since.
        mgpu_protocol::slot::clear(&tenant.pages.tenant, slot);
        let place = usize::try_from(slot).unwrap_or(usize::MAX);
        if let Some(place) = tenant.pages.tenant.slots.get(place) {
            place.assign(tenant.slot_epoch);
        }
        let Some(connection) = tenant.connections.get_mut(&token) else { return false };
        connection.seat = Some(Seat { slot, carry_due: hello.previous_daemon != 0, is_marking: false });
        let process = connection.process;
        let fds = [tenant.pages.grants_fd.as_fd(), tenant.pages.tenant_fd.as_fd(), tenant.bell.fd.as_fd()];
        if let Err(error) = socket::send(connection.socket.as_fd(), welcome.encode().as_bytes(), &fds) {
            debug!(%error, "a client went before its welcome");
            return false;
        }
        info!(tenant = %tenant.name, pid = process.pid, slot, previous = hello.previous_daemon, "client attached");
        tenant.had_client = true;
        tenant.start_heart(clock::now());
        if hello.previous_daemon == 0 {
            self.renew(number, process);
        }
        self.attach_to_engines(number, hello.previous_daemon != 0);
        self.save_soon();
        true
    }

    /// A process attaches afresh: whatever it was before (another program before exec) is over.
    fn renew(&mut self, number: TenantId, process: process::ProcessId) {
        let now = clock::now();
        let Some(tenant) = self.tenants.get_mut(&number) else { return };
        let mut watched = Vec::new();
        for ghost in tenant.ghosts.iter_mut().filter(|g| g.process == process && g.is_alive()) {
            if let Phase::Absent(Some(fd)) | Phase::Detached(Some(fd)) =
                std::mem::replace(&mut ghost.phase, Phase::Replaced(now))
            {
                watched.push(fd);
            }
        }
        for (fd, token) in watched {
            self.unwatch(&fd, token);
        }
        self.audit_soon();
    }

    fn attach_to_engines(&mut self, number: TenantId, reattached: bool) {
        self.join_engines(number, reattached);
        self.take_wants(number);
    }

    /// The tenant is made known to its engines, once.
    pub(super) fn join_engines(&mut self, number: TenantId, reattached: bool) {
        let Some(tenant) = self.tenants.get_mut(&number) else { return };
        if std::mem::replace(&mut tenant.joined, true) {
            return;
        }
        for device in tenant.devices.clone() {
            let Some(row) = self.devices.get(device).and_then(|d| d.admission.row(number)) else { continue };
            let entitlement = *row;
            self.drive(device, Event::TenantJoined { tenant: number, entitlement, reattached });
        }
    }

    /// A connection has ended: by its process's death (`died`), or by a hang-up of a process that may live on.
    pub(super) fn lose_client(&mut self, number: TenantId, token: Token, died: bool) {
        let Some(tenant) = self.tenants.get_mut(&number) else { return };
        let Some(connection) = tenant.connections.remove(&token) else { return };
        tenant.held.retain(|held| held.from != token);
        self.unwatch(&connection.socket, token);
        let Some(seat) = connection.seat else {
            if let Some((fd, death)) = connection.pidfd {
                self.unwatch(&fd, death);
            }
            return;
        };
        info!(pid = connection.process.pid, slot = seat.slot, died, "client gone");
        self.turn_into_ghost(number, connection, seat, died);
        let empty = self.tenants.get(&number).is_some_and(|t| t.seated().next().is_none());
        if empty {
            self.clients_gone(number);
        } else {
            self.look_again(number);
        }
        self.answer_held(number);
        self.save_soon();
    }
}

fn refused(reason: Refusal) -> Packet {
    Reply::Refused { reason, protocol: PROTOCOL_VERSION, page: PAGE_VERSION }.encode()
}

/// Whether a hello can be served: common versions, and at least one device of the tenant in sight.
fn acceptable(hello: &Hello, ours: &[DeviceUuid]) -> Result<(), Refusal> {
    let speaks = |(low, high): (u16, u16), version: u16| low <= version && version <= high;
    if !speaks(hello.protocol, PROTOCOL_VERSION) || !speaks(hello.page, PAGE_VERSION) {
        return Err(Refusal::Version);
    }
    let seen = usize::try_from(hello.device_count).unwrap_or(0);
    // A client that has not counted its devices yet says 0.
    if seen > 0 && !hello.devices.iter().take(seen).any(|uuid| ours.contains(uuid)) {
        return Err(Refusal::Device);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hello_needs_common_versions_and_a_device_in_sight() {
        let ours = [DeviceUuid([7; 16])];
        let mut hello = Hello::new(1);
        assert_eq!(acceptable(&hello, &ours), Ok(()));
        hello.device_count = 1;
        assert_eq!(acceptable(&hello, &ours), Err(Refusal::Device));
        hello.devices[0] = ours[0];
        assert_eq!(acceptable(&hello, &ours), Ok(()));
        hello.page = (PAGE_VERSION + 1, PAGE_VERSION + 3);
        assert_eq!(acceptable(&hello, &ours), Err(Refusal::Version));
        hello.page = (0, PAGE_VERSION + 3);
        assert_eq!(acceptable(&hello, &ours), Ok(()));
    }
}
