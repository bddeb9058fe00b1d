//! The session with the coordinator: found lazily when CUDA is first used, replaced when the coordinator is, started afresh in
//! a forked child. Hooks ask [`current`]; everything slow is in [`start`] and in the agent's thread.

mod agent;
pub(crate) mod anchor;
pub(crate) mod attachment;
mod connect;
pub(crate) mod process;

use crate::driver::Driver;
use crate::log;
use anchor::Anchor;
use attachment::{Attachment, Desk, Leases};
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
use std::path::Path;
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
    let config = Config::read(|name| std::env::var(name).ok(), || Path::new(WELL_KNOWN_DIRECTORY).is_dir());
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
    let (directory, entitlement) = identify(&config, &devices);
    let without =
        if entitlement.closed_without_coordinator { WithoutCoordinator::Closed } else { WithoutCoordinator::Open };
    let state = Session::new(without, now());
    let process: &'static Process = Box::leak(Box::new(Process::new(driver, directory, entitlement, devices, state)));
    let (attachment, link) = match connect::connect(process, None) {
        Ok(connected) => {
            let link = adopt(process, connected.attachment, connected.socket, None);
            (connected.attachment, Some(link))
        }
        Err(why) => (alone(process, &why)?, None),
    };
    anchor.set_process(process);
    anchor.publish(attachment);
    agent::spawn(anchor, process, link);
    Some((process, attachment))
}

/// The tenant's directory, and what the process is entitled to without a coordinator.
fn identify(config: &Config, devices: &[[u8; 16]]) -> (Option<std::path::PathBuf>, Entitlement) {
    let (directory, otherwise) = match &config.identity {
        Identity::Nobody => (None, Entitlement::default()),
        Identity::Directory(directory) => (Some(directory.clone()), Entitlement::default()),
        Identity::SelfDeclared(settings) => {
            let own = connect::own_entitlement(settings, devices, config.closed).unwrap_or_else(|why| {
                log::error!("{why}; no memory limit is enforced without a coordinator");
                Entitlement::default()
            });
            match connect::declare(config, settings) {
                Ok(directory) => (Some(directory), own),
                Err(why) => {
                    log::error!(
                        "no coordinator takes the tenant that MGPU_* variables declare ({why}): its share is not enforced, its memory limit in this process only"
                    );
                    (None, own)
                }
            }
        }
    };
    let entitlement = directory.as_deref().map_or(Ok(otherwise.clone()), connect::entitlement);
    let entitlement = entitlement.unwrap_or_else(|why| {
        log::error!("no entitlement ({why})");
        otherwise
    });
    (directory, entitlement)
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
