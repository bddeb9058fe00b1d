//! A client without a shim: hello, pages, leases.

use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use mgpu_protocol::layout::{ClientSlot, GrantsPage, MAX_DEVICES, TenantPage};
use mgpu_protocol::message::{Hello, MAX_PACKET, Reply, Request, Welcome};
use mgpu_protocol::page::Mapping;
use mgpu_protocol::socket::{self, Received};
use mgpu_protocol::{lease, sync::Ordering};

use super::until;

pub(crate) struct Client {
    pub(crate) socket: OwnedFd,
    pub(crate) welcome: Welcome,
    pub(crate) grants: Mapping<GrantsPage>,
    pub(crate) grants_fd: OwnedFd,
    pub(crate) page: Mapping<TenantPage>,
    pub(crate) bell: OwnedFd,
}

impl Client {
    /// Attaches to the tenant in `directory`, retrying while its daemon is away.
    pub(crate) fn attach(directory: &Path) -> Self {
        Self::reattach(directory, 0)
    }

    pub(crate) fn reattach(directory: &Path, previous_daemon: u64) -> Self {
        let hello = Hello { previous_daemon, ..Hello::new(std::process::id()) };
        until("attached", || Self::try_attach(directory, hello).ok())
    }

    /// One try; gives the refusal if there is one.
    pub(crate) fn try_attach(directory: &Path, hello: Hello) -> Result<Self, Option<Box<Reply>>> {
        let socket = socket::connect(&directory.join("socket")).map_err(|_| None)?;
        socket::send(socket.as_fd(), Request::Hello(hello).encode().as_bytes(), &[]).map_err(|_| None)?;
        let (reply, received) = receive(&socket).ok_or(None)?;
        let Reply::Welcome(welcome) = reply else { return Err(Some(Box::new(reply))) };
        let mut fds = received.descriptors.into_iter().flatten();
        let mut next = || fds.next().expect("a descriptor");
        let grants_fd = next();
        let grants = Mapping::open(grants_fd.as_fd()).expect("grants page");
        let page = Mapping::open(next().as_fd()).expect("tenant page");
        Ok(Self { socket, welcome, grants, grants_fd, page, bell: next() })
    }

    pub(crate) fn send(&self, request: &Request) {
        socket::send(self.socket.as_fd(), request.encode().as_bytes(), &[]).expect("sent");
    }

    /// The next answer to a lease; other messages are passed over. `None`: hung up.
    pub(crate) fn lease_answer(&self) -> Option<u64> {
        loop {
            if let (Reply::Lease { given, .. }, _) = receive(&self.socket)? {
                return Some(given);
            }
        }
    }

    /// Asks for more on device 0; gives what was given.
    pub(crate) fn lease(&self, bytes: u64) -> u64 {
        self.send(&Request::Lease { device: 0, bytes });
        self.lease_answer().expect("an answer")
    }

    pub(crate) fn carry(&self, bytes: u64) {
        let mut used = [0; MAX_DEVICES];
        used[0] = bytes;
        self.send(&Request::Carry { used });
    }

    pub(crate) fn slot(&self) -> &ClientSlot {
        &self.page.slots[self.welcome.slot as usize]
    }

    /// Uses bytes of the lease, asking for more if needed; `false` = out of memory.
    pub(crate) fn allocate(&self, bytes: u64) -> bool {
        let word = &self.slot().lease[0];
        lease::take(word, bytes) || (self.lease(bytes) >= bytes && lease::take(word, bytes))
    }

    pub(crate) fn free(&self, bytes: u64) {
        lease::put_back(&self.slot().lease[0], bytes);
    }

    pub(crate) fn gate(&self) -> mgpu_protocol::gate::Gate {
        mgpu_protocol::gate::Gate::unpack(self.grants.devices[0].gate.load(Ordering::SeqCst))
    }

    /// A thread waits at the closed gate, as the shim does it.
    pub(crate) fn want(&self) {
        self.slot().waiting.fetch_add(1, Ordering::SeqCst);
        self.ring();
    }

    pub(crate) fn ring(&self) {
        if self.slot().raise_want(0) {
            rustix::io::write(&self.bell, &1_u64.to_ne_bytes()).expect("rang");
        }
    }
}

fn receive(socket: &OwnedFd) -> Option<(Reply, Received)> {
    let mut buffer = [0_u8; MAX_PACKET];
    let received = socket::receive(socket.as_fd(), &mut buffer).ok()?;
    if received.len == 0 {
        return None;
    }
    let reply = Reply::decode(&buffer[..received.len]).expect("a reply of this version");
    Some((reply, received))
}
