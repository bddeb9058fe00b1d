//! The client's side: one [`Session`] per process, made at the first use and never dropped.
//!
//! No lock is held across a fork that matters (a child starts anew), no thread-local has a destructor, and nothing is
//! torn down at exit: the server learns of the end from the socket.

mod connect;
mod events;
mod find;
mod fork;
mod host;
mod memory;
mod observer;
mod work;

pub use fork::{forked_from_connected, session};
pub use observer::Observer;

use crate::frame::Inbox;
use crate::layout::{Notice, Region};
use crate::rpc::{Request, Response};
use crate::sys::memory::Mapping;
use crate::types::{ContextId, DeviceInfo, Error, EventId, HostCosts, StreamId};
use std::fs::File;
use std::os::unix::net::UnixStream;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// One process's connection to the server. All methods may be called from any thread. When the server dies each
/// returns [`Error::ServerGone`] within 1 s, blocked ones too. In a forked child each returns [`Error::Forked`].
#[derive(Debug)]
pub struct Session {
    socket: UnixStream,
    inbox: Mutex<Inbox>,
    region: Mapping<Region>,
    notice: Mapping<Notice>,
    doorbell: File,
    devices: Vec<DeviceInfo>,
    costs: HostCosts,
    gone: AtomicBool,
    pools_used: AtomicBool,
    events: Mutex<events::Slots>,
    host: host::Table,
}

/// A stream: its shared line. Copyable; stays readable after [`Session::destroy_stream`], though its line may be reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream {
    /// Its name on the wire.
    pub id: StreamId,
    /// Whose fault stops it.
    pub context: ContextId,
    /// The hardware queue, within the context, that it shares with others; a full one blocks submissions.
    pub channel: u32,
}

/// An event: a slot with the number of the last complete record and its device time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Its name on the wire.
    pub id: EventId,
}

/// Keeps this thread's CPU busy until `cost_ns` after `since_ns` (a [`crate::now_ns`] value). Does nothing when past.
pub fn burn(since_ns: u64, cost_ns: u64) {
    if cost_ns == 0 {
        return;
    }
    let end = since_ns.saturating_add(cost_ns);
    while crate::now_ns() < end {
        std::hint::spin_loop();
    }
}

impl Session {
    /// All devices of the server, in index order.
    pub fn devices(&self) -> &[DeviceInfo] {
        &self.devices
    }

    /// What calls cost and how deep queues are.
    pub fn costs(&self) -> HostCosts {
        self.costs
    }

    /// Whether this session can still be used here and now.
    fn check(&self) -> Result<(), Error> {
        if !fork::is_current(self) {
            Err(Error::Forked)
        } else if self.gone.load(Ordering::Relaxed) {
            Err(Error::ServerGone)
        } else {
            Ok(())
        }
    }

    /// [`Session::check`], and whether the server lives: for threads that have waited for a while.
    fn look_around(&self) -> Result<(), Error> {
        use std::os::fd::AsFd;
        if crate::sys::socket::hung_up(self.socket.as_fd()) {
            self.gone.store(true, Ordering::Relaxed);
        }
        self.check()
    }

    /// One request and its response.
    fn call(&self, request: &Request) -> Result<Response, Error> {
        self.check()?;
        let mut inbox = self.inbox.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let answer = crate::frame::send(&self.socket, request, &[])
            .and_then(|()| crate::frame::receive::<Response>(&self.socket, &mut inbox));
        match answer {
            Ok(Response::Failed(error)) => Err(error),
            Ok(response) => Ok(response),
            Err(error) if error.kind() == std::io::ErrorKind::InvalidInput => Err(Error::InvalidValue),
            Err(_) => {
                self.gone.store(true, Ordering::Relaxed);
                Err(Error::ServerGone)
            }
        }
    }

    /// A request whose only answer is success.
    fn call_done(&self, request: &Request) -> Result<(), Error> {
        match self.call(request)? {
            Response::Done => Ok(()),
            _ => Err(Error::ServerGone),
        }
    }
}
