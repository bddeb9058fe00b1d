//! Making a session: find the server, say hello, map what it hands over.

use super::{Session, find, host};
use crate::frame::{self, Inbox};
use crate::layout::VERSION;
use crate::rpc::{Hello, Role, Welcome};
use crate::sys::memory::Mapping;
use crate::types::{DeviceInfo, Error, HostCosts};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

/// What the server said, and what is left of the stream.
pub(super) struct Greeting {
    pub(super) inbox: Inbox,
    pub(super) devices: Vec<DeviceInfo>,
    pub(super) costs: HostCosts,
}

/// This process's name for the witness.
fn command() -> String {
    std::fs::read_to_string("/proc/self/comm").map(|name| name.trim_end().to_owned()).unwrap_or_default()
}

/// Says hello and waits for the answer.
pub(super) fn greet(socket: &UnixStream, role: Role, files: &[BorrowedFd<'_>]) -> io::Result<Greeting> {
    let mut inbox = Inbox::default();
    frame::send(socket, &Hello { version: VERSION, role, command: command() }, files)?;
    match frame::receive(socket, &mut inbox)? {
        Welcome::Accepted { devices, costs, .. } => Ok(Greeting { inbox, devices, costs }),
        Welcome::Version { .. } => Err(io::ErrorKind::InvalidData.into()),
    }
}

impl Session {
    pub(super) fn connect() -> Result<Self, Error> {
        let socket = find::server()?;
        Self::over(socket).map_err(|_| Error::NoServer)
    }

    /// A session over a connected socket.
    fn over(socket: UnixStream) -> io::Result<Self> {
        let memory = OpenOptions::new().read(true).write(true).open("/proc/self/mem")?;
        let mut greeting = greet(&socket, Role::Client, &[memory.as_fd()])?;
        let mut files = greeting.inbox.take_files().into_iter();
        let mut file = || files.next().ok_or(io::ErrorKind::InvalidData);
        let (region, notice, doorbell) = (file()?, file()?, File::from(file()?));
        Ok(Self {
            region: Mapping::new(region.as_fd(), true)?,
            notice: Mapping::new(notice.as_fd(), false)?,
            socket,
            inbox: Mutex::new(greeting.inbox),
            doorbell,
            devices: greeting.devices,
            costs: greeting.costs,
            gone: AtomicBool::new(false),
            pools_used: AtomicBool::new(false),
            events: Mutex::default(),
            host: host::Table::default(),
        })
    }
}
