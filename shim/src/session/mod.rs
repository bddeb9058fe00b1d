//! The session with the coordinator: found lazily when CUDA is first used, replaced when the coordinator is, started afresh in
//! a forked child. Hooks ask [`current`]; everything slow is in [`start`] and in the agent's thread.

mod agent;
pub(crate) mod anchor;
pub(crate) mod attachment;
mod connect;
mod declaration;
pub(crate) mod process;

use crate::driver::Driver;
use crate::log;
use anchor::Anchor;
use attachment::{Attachment, Desk, Leases};
use declaration::{Declaration, Undeclared};
use mgpu_protocol::entitlement::Entitlement;
use mgpu_protocol::gate::{Gate, GateState, Markers};
use mgpu_protocol::layout::{GrantLine, GrantsPage, TenantPage};
use mgpu_protocol::line::set_gate;
use mgpu_protocol::page::Mapping;
use mgpu_protocol::sync::Ordering as SharedOrdering;
use mgpu_protocol::units::DeviceUuid;
use mgpu_protocol::wait::wake_all;
use mgpu_shim_core::config::{Config, Identity, WELL_KNOWN_DIRECTORY};
use mgpu_shim_core::session::{Gates, Session, WithoutCoordinator};
use process::{Process, lock, now};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// A limit that nobody reaches, yet sums of it don't wrap.
const UNLIMITED_LEASE: u64 = u64::MAX >> 8;

/// The attachment that rules now, if one was made in this process.
#[inline]
pub(crate) fn current() -> Option<&'static Attachment> {
    anchor::get().and_then(Anchor::attachment)
}

/// This process's state, if it has a session.
#[inline]
pub(crate) fn process() -> Option<&'static Process> {
    anchor::get().and_then(Anchor::process)
}

/// The session, begun if need be: process and attachment. `None`: there is nothing to enforce here, or CUDA isn't
/// initialised yet.
#[inline]
pub(crate) fn get() -> Option<(&'static Process, &'static Attachment)> {
    if let Some(anchor) = anchor::get() {
        if let Some(attachment) = anchor.attachment() {
            return anchor.process().map(|process| (process, attachment));
        }
        if anchor.is_inert() {
            return None;
        }
    }
    start()
}

/// Begins the session. Threads that come meanwhile wait for it.
#[cold]
#[inline(never)]
fn start() -> Option<(&'static Process, &'static Attachment)> {
    let anchor = anchor::make()?;
    while !anchor.try_start() {
        std::thread::sleep(Duration::from_millis(1));
        if let Some(attachment) = anchor.attachment() {
            return anchor.process().map(|process| (process, attachment));
        }
        if anchor.is_inert() {
            return None;
        }
    }
    let started = anchor.attachment().is_none().then(|| begin(anchor)).flatten();
    anchor.end_start();
    started.or_else(|| anchor.process().zip(anchor.attachment()))
}

fn begin(anchor: &'static Anchor) -> Option<(&'static Process, &'static Attachment)> {
    let get = |name: &str| std::env::var_os(name).map(|value| value.to_string_lossy().into_owned());
    let config = Config::read(get, || Path::new(WELL_KNOWN_DIRECTORY).is_dir());
    log::set(config.verbosity);
    config.complaints.iter().for_each(|complaint| log::error!("{complaint}"));
    if config.identity == Identity::Nobody {
        anchor.set_inert();
        return None;
    }
    let driver = Driver::resolve();
    let devices = driver.devices();
    if devices.is_empty() {
        // Not initialised yet, or no device: asked again at the next call.
        return None;
    }
    let begun = identify(&config, &devices).and_then(|who| take_up(driver, devices, who));
    match begun {
        Ok((process, attachment, link)) => {
            anchor.set_process(process);
            anchor.publish(attachment);
            agent::spawn(anchor, process, link);
            Some((process, attachment))
        }
        Err(why) => {
            log::error!("{why}; CUDA doesn't start in this process");
            anchor.set_refused();
            None
        }
    }
}

/// Who this process is, and what it is entitled to without a coordinator.
///
/// # Errors
/// What it asks for makes no sense, or the coordinator refuses it; says why.
fn identify(config: &Config, devices: &[[u8; 16]]) -> Result<Who, String> {
    match &config.identity {
        Identity::SelfDeclared(settings) => {
            let entitlement = Ok(declaration::entitlement(settings, devices, config.closed)?);
            let declaration = Declaration::new(config, settings);
            let directory = match declaration.send() {
                Err(Undeclared::Refused(why)) => return Err(why),
                found => found.map_err(|nobody| nobody.to_string()),
            };
            Ok(Who { directory, declaration: Some(declaration), entitlement })
        }
        Identity::Directory(directory) => {
            let entitlement = connect::entitlement(directory);
            Ok(Who { directory: Ok(directory.clone()), declaration: None, entitlement })
        }
        Identity::Nobody => Err("no tenant".to_owned()),
    }
}

/// See [`identify`].
struct Who {
    /// An error says why there is none (yet).
    directory: Result<PathBuf, String>,
    declaration: Option<Declaration>,
    /// An error says why it can't be known.
    entitlement: Result<Entitlement, String>,
}

type Begun = (&'static Process, &'static Attachment, Option<Arc<std::os::fd::OwnedFd>>);

/// Makes the process and its first attachment.
///
/// # Errors
/// No coordinator, and nothing says what the process may use without one.
fn take_up(driver: Driver, devices: Vec<[u8; 16]>, who: Who) -> Result<Begun, String> {
    let known = who.entitlement.clone().unwrap_or_default();
    let without = if known.closed_without_coordinator { WithoutCoordinator::Closed } else { WithoutCoordinator::Open };
    let state = Session::new(without, now());
    let (directory, nobody) = match who.directory {
        Ok(directory) => (Some(directory), None),
        Err(why) => (None, Some(why)),
    };
    let process = Process::new(driver, directory, who.declaration, known, devices, state);
    let process: &'static Process = Box::leak(Box::new(process));
    match connect::connect(process, None) {
        Ok(connected) => {
            let link = adopt(process, connected.attachment, connected.socket, None);
            Ok((process, connected.attachment, Some(link)))
        }
        Err(why) => match who.entitlement {
            Ok(_) => Ok((process, alone(process, &nobody.unwrap_or(why)).ok_or("no memory for a page")?, None)),
            Err(unknown) => Err(format!("no coordinator ({why}) and no entitlement ({unknown})")),
        },
    }
}

/// Moves this process to a new coordinator's pages: carries over what it uses. Gives the line to the coordinator.
fn adopt(
    process: &Process,
    attachment: &'static Attachment,
    socket: std::os::fd::OwnedFd,
    previous: Option<u64>,
) -> Arc<std::os::fd::OwnedFd> {
    let used = process.purse.exchange(Leases(attachment));
    let link = Arc::new(socket);
    if previous.is_some() {
        let carry = carry(attachment, &used);
        // A failure is a hang-up, which the agent sees.
        let _ = process::send(&link, &mgpu_protocol::message::Request::Carry { used: carry }.encode());
    }
    lock(&process.state).connected(attachment.daemon_epoch);
    process.set_link(Some(link.clone()));
    log::info!("attached to coordinator {:x}, slot {}", attachment.daemon_epoch, attachment.desk.slot);
    link
}

/// Use by ordinal, as use by line of the grants page.
fn carry(attachment: &Attachment, used: &[u64]) -> [u64; mgpu_protocol::layout::MAX_DEVICES] {
    let mut by_line = [0_u64; mgpu_protocol::layout::MAX_DEVICES];
    for (ordinal, bytes) in used.iter().enumerate() {
        if let Some(place) = attachment.line_of(ordinal).and_then(|line| by_line.get_mut(line)) {
            *place = place.saturating_add(*bytes);
        }
    }
    by_line
}

/// An attachment out of private memory: the entitlement's limit for this process alone, gates closed for the grace.
fn alone(process: &'static Process, why: &str) -> Option<&'static Attachment> {
    let grants = Mapping::<GrantsPage>::private().ok()?;
    let desk = Desk::leak(Mapping::<TenantPage>::private().ok()?, 0)?;
    let devices = process.entitlement.devices.get(..process.entitlement.devices.len().min(grants.devices.len()))?;
    let ruled: Vec<DeviceUuid> = devices.iter().map(|(uuid, _)| *uuid).collect();
    for ((grant, word), (_, limit)) in grants.devices.iter().zip(&desk.client().lease).zip(devices) {
        let lease = limit.map_or(UNLIMITED_LEASE, |limit| limit.0);
        grant.limit.store(limit.map_or(u64::MAX, |limit| limit.0), SharedOrdering::Relaxed);
        grant.given.store(lease, SharedOrdering::Relaxed);
        word.store(lease, SharedOrdering::Relaxed);
    }
    let attachment = Attachment::leak(desk, grants, connect::lines(process, &ruled), None, 0);
    process.purse.exchange(Leases(attachment));
    let gates = match lock(&process.state).gates(now()) {
        Gates::AsLast => "gates stay closed",
        _ => "gates open in 2 s",
    };
    log::error!("no coordinator ({why}): memory limits hold for this process alone, {gates}");
    Some(attachment)
}

/// The coordinator is lost: an attachment with open gates at the same desk, so that siblings' leases go on. Windows and markers
/// stay as they last were, so that the next coordinator finds a short queue.
fn orphaned(old: &'static Attachment) -> Option<&'static Attachment> {
    let grants = Mapping::<GrantsPage>::private().ok()?;
    for (line, (new, known)) in grants.devices.iter().zip(&old.grants.devices).enumerate() {
        for (to, from) in [(&new.limit, &known.limit), (&new.given, &known.given), (&new.overhead, &known.overhead)] {
            to.store(from.load(SharedOrdering::Relaxed), SharedOrdering::Relaxed);
        }
        let (markers, window) = old.last_open(line).map_or(CAUTIOUS, |gate| (gate.markers, gate.window));
        open(new, markers, window);
    }
    Some(Attachment::leak(old.desk, grants, old.lines(), None, 0))
}

/// Markers and window of a gate that nobody was ever let through.
const CAUTIOUS: (Markers, u32) = (Markers::Every { shift: 0 }, 4);

/// Opens a gate in a page of our own.
fn open(grant: &GrantLine, markers: Markers, window: u32) {
    let epoch = Gate::unpack(grant.gate.load(SharedOrdering::Relaxed)).epoch.wrapping_add(1);
    set_gate(grant, Gate { state: GateState::Open, epoch, markers, window });
    wake_all(&grant.gate);
}

/// Wakes this process's waiters at an attachment that no longer rules, so that they look for the new one.
fn wake_waiters(old: &Attachment) {
    for grant in &old.grants.devices {
        wake_all(&grant.gate);
    }
}
