//! Finding a coordinator and shaking hands with it. Makes sockets and pages, changes nothing of the process.

use super::attachment::{Attachment, Desk, Lines};
use super::process::{Process, send};
use mgpu_protocol::entitlement::Entitlement;
use mgpu_protocol::layout::{GrantsPage, MAX_DEVICES, TenantPage};
use mgpu_protocol::message::{Hello, MAX_PACKET, Reply, Request, Welcome};
use mgpu_protocol::page::Mapping;
use mgpu_protocol::socket::{self, Received};
use mgpu_protocol::units::DeviceUuid;
use mgpu_protocol::{PAGE_VERSION, PROTOCOL_VERSION};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::Path;

/// How long the coordinator may take to answer a hello.
const PATIENCE_SECONDS: libc::time_t = 2;

/// A coordinator that has accepted us.
pub(crate) struct Connected {
    pub(crate) socket: OwnedFd,
    pub(crate) attachment: &'static Attachment,
}

/// `previous_daemon` of a client that may hold memory without ever having been attached.
pub(crate) const NEVER_ATTACHED: u64 = u64::MAX;

/// As [`connect`]; a process that declares itself does so again if its directory leads nowhere (any more).
pub(crate) fn seek(process: &Process, previous: Option<u64>) -> Result<Connected, String> {
    let Some(declaration) = &process.declaration else { return connect(process, previous) };
    connect(process, previous).or_else(|_| {
        process.set_directory(declaration.send().map_err(|why| why.to_string())?);
        connect(process, previous)
    })
}

/// Connects to the tenant's socket and shakes hands. `previous`: the daemon that this process was attached to before.
pub(crate) fn connect(process: &Process, previous: Option<u64>) -> Result<Connected, String> {
    let directory = process.directory().ok_or("nobody has made a tenant for this process")?;
    let path = directory.join("socket");
    let socket = socket::connect(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    set_patience(&socket);
    let hello = Request::Hello(hello(process, previous)).encode();
    send(&socket, &hello).map_err(|e| format!("the coordinator hung up: {e}"))?;
    let mut buffer = [0; MAX_PACKET];
    let received = socket::receive(socket.as_fd(), &mut buffer).map_err(|e| format!("no welcome: {e}"))?;
    let reply = buffer.get(..received.len).and_then(Reply::decode);
    match reply {
        Some(Reply::Welcome(welcome)) => {
            let attachment = attach(process, &welcome, received)?;
            Ok(Connected { socket, attachment })
        }
        Some(Reply::Refused { reason, protocol, page }) => Err(format!(
            "the coordinator refuses this process ({reason:?}); it speaks protocol {protocol} and page {page}, \
             this shim {PROTOCOL_VERSION} and {PAGE_VERSION}"
        )),
        _ => Err("the coordinator speaks another language".to_owned()),
    }
}

fn hello(process: &Process, previous: Option<u64>) -> Hello {
    let mut devices = [DeviceUuid::default(); MAX_DEVICES];
    for (place, uuid) in devices.iter_mut().zip(&process.devices) {
        *place = DeviceUuid(*uuid);
    }
    Hello {
        shim: (part(0), part(1), part(2)),
        driver: process.driver.version(),
        device_count: u32::try_from(process.devices.len().min(MAX_DEVICES)).unwrap_or(0),
        devices,
        previous_daemon: previous.unwrap_or(0),
        ..Hello::new(std::process::id())
    }
}

/// The n-th number of this package's version.
fn part(n: usize) -> u16 {
    env!("CARGO_PKG_VERSION").split('.').nth(n).and_then(|part| part.parse().ok()).unwrap_or(0)
}

fn attach(process: &Process, welcome: &Welcome, mut received: Received) -> Result<&'static Attachment, String> {
    let mut descriptors = received.descriptors.iter_mut().map(Option::take);
    let mut next = || descriptors.next().flatten().ok_or("a descriptor is missing in the welcome");
    let (grants, tenant, want) = (next()?, next()?, next()?);
    let grants = Mapping::<GrantsPage>::open(grants.as_fd()).map_err(|e| format!("grants {e}"))?;
    let tenant = Mapping::<TenantPage>::open(tenant.as_fd()).map_err(|e| format!("tenant {e}"))?;
    let desk = Desk::leak(tenant, welcome.slot).ok_or("the welcome names a slot past the end of the page")?;
    let count = usize::try_from(welcome.device_count).unwrap_or(0).min(MAX_DEVICES);
    let ruled = welcome.devices.get(..count).unwrap_or(&[]);
    let lines = lines(process, ruled);
    Ok(Attachment::leak(desk, grants, lines, Some(want), welcome.daemon_epoch))
}

/// For each ordinal its line: the position of its UUID among the tenant's devices.
pub(crate) fn lines(process: &Process, ruled: &[DeviceUuid]) -> Lines {
    std::array::from_fn(|ordinal| {
        let uuid = process.devices.get(ordinal)?;
        ruled.iter().position(|ruled| ruled.0 == *uuid)
    })
}

/// What the file beside the socket says.
pub(crate) fn entitlement(directory: &Path) -> Result<Entitlement, String> {
    let path = directory.join("entitlement");
    let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    Entitlement::from_text(&text).map_err(|e| e.0)
}

/// Bounds every wait on a socket by the coordinator's patience.
pub(super) fn set_patience(socket: &OwnedFd) {
    let limit = libc::timeval { tv_sec: PATIENCE_SECONDS, tv_usec: 0 };
    let size = libc::socklen_t::try_from(size_of_val(&limit)).unwrap_or(0);
    for option in [libc::SO_RCVTIMEO, libc::SO_SNDTIMEO] {
        // SAFETY: a whole timeval of that size.
        unsafe {
            libc::setsockopt(socket.as_raw_fd(), libc::SOL_SOCKET, option, (&raw const limit).cast(), size);
        }
    }
}
