//! One tenant as the daemon keeps it: its directory and listener, its two pages, its attached clients, and the processes that
//! are gone from it but still hold device memory ("ghosts"). Data and its upkeep; who may join and what follows is `daemon`'s.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

use mgpu_coordinator_core::TenantId;
use mgpu_protocol::control::Settings;
use mgpu_protocol::layout::{GrantLine, GrantsPage, MAX_CLIENTS, MAX_DEVICES, TenantPage};
use mgpu_protocol::page::Mapping;
use mgpu_protocol::slot;
use mgpu_protocol::sync::Ordering;
use mgpu_protocol::units::Nanos;
use rustix::event::EventfdFlags;

use crate::books::Books;
use crate::look::{Memory, Slots};
use crate::meter::Meter;
use crate::poller::Token;
use crate::process::ProcessId;
use crate::state::{ClientState, Origin, TenantState};

/// One connection on a tenant's socket.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) socket: OwnedFd,
    /// Who connected, by the kernel's word.
    pub(crate) process: ProcessId,
    /// Readable when it has died.
    pub(crate) pidfd: Option<(OwnedFd, Token)>,
    pub(crate) since: Nanos,
    pub(crate) meter: Meter,
    /// Its place in the page, once its hello was accepted.
    pub(crate) seat: Option<Seat>,
}

/// A client's place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seat {
    pub(crate) slot: u32,
    /// It still has to tell what it uses (re-attach).
    pub(crate) carry_due: bool,
    /// It was asked to mark tails and has not answered.
    pub(crate) is_marking: bool,
}

/// A process without a slot whose memory counts until the driver has let go.
#[derive(Debug)]
pub(crate) struct Ghost {
    pub(crate) process: ProcessId,
    /// When it attached.
    pub(crate) attached: Nanos,
    /// By device index of the tenant.
    pub(crate) bytes: [u64; MAX_DEVICES],
    pub(crate) phase: Phase,
}

/// Where a ghost stands.
#[derive(Debug)]
pub(crate) enum Phase {
    /// Known from the state file, alive, not back yet.
    Absent(Option<(OwnedFd, Token)>),
    /// Hung up, alive (exec, or the connection was closed).
    Detached(Option<(OwnedFd, Token)>),
    /// Dead since then; the driver may still be tearing down.
    Gone(Nanos),
    /// Another program since then (exec); what the old one had is being torn down.
    Replaced(Nanos),
}

impl Ghost {
    /// The process lives and may come back.
    pub(crate) const fn is_alive(&self) -> bool {
        matches!(self.phase, Phase::Absent(_) | Phase::Detached(_))
    }
}

/// A lease question that can't be answered yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HeldLease {
    pub(crate) from: Token,
    pub(crate) device: u32,
    pub(crate) bytes: u64,
}

/// A tenant.
#[derive(Debug)]
pub(crate) struct Tenant {
    pub(crate) number: TenantId,
    /// Name of its directory.
    pub(crate) id: String,
    /// Its label.
    pub(crate) name: String,
    /// As in force now; totals over its devices.
    pub(crate) settings: Settings,
    /// Indices of its devices in the daemon, in the order of its page.
    pub(crate) devices: Vec<usize>,
    pub(crate) origin: Origin,
    /// pidfd of the process that it was made for, while that lives.
    pub(crate) keeper: Option<(OwnedFd, Token)>,
    pub(crate) made: Nanos,
    pub(crate) directory: PathBuf,
    pub(crate) listener: (OwnedFd, Token),
    pub(crate) connects: Meter,
    pub(crate) pages: Pages,
    pub(crate) bell: Bell,
    pub(crate) connections: BTreeMap<Token, Connection>,
    pub(crate) ghosts: Vec<Ghost>,
    pub(crate) books: Vec<Books>,
    pub(crate) memories: Vec<Memory>,
    /// Bit per device: asked for since its gate was last open.
    pub(crate) asked: u32,
    pub(crate) held: Vec<HeldLease>,
    /// The engines know it.
    pub(crate) joined: bool,
    pub(crate) had_client: bool,
    /// Until then lease questions may wait for clients of the last daemon.
    pub(crate) settling_until: Option<Nanos>,
    pub(crate) next_beat: Option<Nanos>,
    pub(crate) slot_epoch: u32,
}

/// The two pages and their descriptors for clients.
#[derive(Debug)]
pub(crate) struct Pages {
    pub(crate) grants: Mapping<GrantsPage>,
    pub(crate) grants_fd: OwnedFd,
    pub(crate) tenant: Mapping<TenantPage>,
    pub(crate) tenant_fd: OwnedFd,
}

impl Pages {
    /// Fresh pages of this incarnation of the daemon for `devices` devices.
    pub(crate) fn make(daemon_epoch: u64, devices: usize) -> io::Result<Self> {
        let (grants, grants_fd) = Mapping::<GrantsPage>::create(c"mgpu-grants")?;
        let (tenant, tenant_fd) = Mapping::<TenantPage>::create(c"mgpu-tenant")?;
        grants.daemon_epoch.store(daemon_epoch, Ordering::Relaxed);
        grants.device_count.store(u32::try_from(devices).unwrap_or(0), Ordering::Release);
        Ok(Self { grants, grants_fd, tenant, tenant_fd })
    }
}

/// The want eventfd.
#[derive(Debug)]
pub(crate) struct Bell {
    pub(crate) fd: OwnedFd,
    pub(crate) token: Token,
    pub(crate) meter: Meter,
}

/// Each waiting thread rings at most each 100 ms, and once per closing of a gate.
const RINGS: u32 = 400;
/// One question per allocation at most, each answered before the next.
pub(crate) const PACKETS: u32 = 1_000;
/// All slots taken at once is 64.
pub(crate) const CONNECTS: u32 = 200;

impl Bell {
    /// An eventfd for the clients.
    pub(crate) fn make() -> io::Result<OwnedFd> {
        Ok(rustix::event::eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?)
    }

    /// Watched under `token`.
    pub(crate) const fn new(fd: OwnedFd, token: Token) -> Self {
        Self { fd, token, meter: Meter::new(RINGS) }
    }

    /// It rang. `false`: too often, so it should not be listened to for a while. Not read: a client could have made it block.
    pub(crate) fn rang(&mut self, now: Nanos) -> bool {
        self.meter.count(now)
    }
}

impl Tenant {
    /// The tenant's line for its device number `line`.
    pub(crate) fn grant_line(&self, line: usize) -> Option<&GrantLine> {
        self.pages.grants.devices.get(line)
    }

    /// Which line a daemon's device has in this tenant's page.
    pub(crate) fn line_of(&self, device: usize) -> Option<usize> {
        self.devices.iter().position(|d| *d == device)
    }

    /// Slots of the attached clients.
    pub(crate) fn live(&self) -> Slots {
        let seats = self.connections.values().filter_map(|c| c.seat);
        seats.fold(Slots::default(), |slots, seat| slots.with(seat.slot))
    }

    /// Attached clients, with their connections' tokens.
    pub(crate) fn seated(&self) -> impl Iterator<Item = (Token, &Connection, Seat)> {
        self.connections.iter().filter_map(|(token, c)| c.seat.map(|seat| (*token, c, seat)))
    }

    /// A slot that nobody has.
    pub(crate) fn free_slot(&self) -> Option<u32> {
        let live = self.live().0;
        (0..u32::try_from(MAX_CLIENTS).unwrap_or(0)).find(|slot| live >> slot & 1 == 0)
    }

    /// Some client of the last daemon, alive, has not come back or has not told what it uses.
    pub(crate) fn is_settling(&self) -> bool {
        let absent = self.ghosts.iter().any(|g| matches!(g.phase, Phase::Absent(_)));
        absent || self.seated().any(|(_, _, seat)| seat.carry_due)
    }

    /// Some thread waits at a gate, by the clients' word.
    pub(crate) fn has_waiters(&self) -> bool {
        let slots = self.seated().filter_map(|(_, _, seat)| usize::try_from(seat.slot).ok());
        slots
            .filter_map(|slot| self.pages.tenant.slots.get(slot))
            .any(|slot| slot.waiting.load(Ordering::Acquire) > 0 || slot.want.load(Ordering::Acquire) != 0)
    }

    /// When somebody who asked too often is to be heard again.
    pub(crate) fn next_unmute(&self) -> Option<Nanos> {
        let meters = self.connections.values().map(|c| &c.meter).chain([&self.bell.meter, &self.connects]);
        meters.filter_map(Meter::muted_until).min()
    }

    /// The heartbeat begins, if it is not going on.
    pub(crate) fn start_heart(&mut self, now: Nanos) {
        self.next_beat.get_or_insert(now);
    }

    /// Nobody keeps it: not the process that it was made for, no client, none that may come back, none on its way.
    pub(crate) fn is_over(&self, now: Nanos) -> bool {
        let awaited = match &self.origin {
            Origin::Process(_) => self.keeper.is_some(),
            Origin::Declared { .. } => !self.had_client && now.since(self.made) < DECLARED_GRACE,
        };
        !awaited && self.seated().next().is_none() && !self.ghosts.iter().any(Ghost::is_alive)
    }

    /// Writes the books' numbers where the clients read them.
    pub(crate) fn publish(&mut self) {
        for (line, books) in self.books.iter_mut().enumerate() {
            let ghosts = self.ghosts.iter().filter_map(|g| g.bytes.get(line)).fold(0_u64, |a, b| a.saturating_add(*b));
            books.set_ghosts(ghosts);
            let Some(line) = self.pages.grants.devices.get(line) else { continue };
            line.limit.store(books.limit(), Ordering::Relaxed);
            line.given.store(books.given(), Ordering::Relaxed);
            line.overhead.store(books.ghosts(), Ordering::Release);
        }
    }

    /// Takes a seat away: clears its slot and lines, closes its books; gives the bytes that it had in use, by device.
    pub(crate) fn clear_seat(&mut self, seat: Seat) -> [u64; MAX_DEVICES] {
        let unused = slot::clear(&self.pages.tenant, seat.slot);
        let mut used = [0; MAX_DEVICES];
        let slot = usize::try_from(seat.slot).unwrap_or(usize::MAX);
        for ((used, unused), books) in used.iter_mut().zip(unused).zip(&mut self.books) {
            *used = books.close_slot(slot, unused);
        }
        used
    }

    /// What the state file keeps. `uuids`: of all devices of the daemon.
    pub(crate) fn state(&self, uuids: &[String]) -> TenantState {
        let seated = self.seated().map(|(_, connection, seat)| ClientState {
            process: connection.process,
            given: self.books.iter().map(|b| b.given_to(usize::try_from(seat.slot).unwrap_or(usize::MAX))).collect(),
        });
        let ghosts = self.ghosts.iter().map(|g| ClientState {
            process: g.process,
            given: g.bytes.iter().take(self.devices.len()).copied().collect(),
        });
        TenantState {
            number: self.number.0,
            id: self.id.clone(),
            name: self.name.clone(),
            settings: self.settings.clone(),
            devices: self.devices.iter().filter_map(|d| uuids.get(*d).cloned()).collect(),
            origin: self.origin.clone(),
            clients: seated.chain(ghosts).collect(),
        }
    }
}

/// A declared tenant whose client never attached goes after this.
pub(crate) const DECLARED_GRACE: Nanos = Nanos::from_millis(5_000);
