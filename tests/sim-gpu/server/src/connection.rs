//! One accepted socket: its bytes in and out, what it has become, and who holds it.
//!
//! Never blocks: a peer that does not read its answer is read no further.

use mgpu_sim_gpu::ProcessId;
use mgpu_sim_link::frame::{self, Inbox};
use mgpu_sim_link::sys::socket;
use serde::Serialize;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

/// What a connection has become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// No hello yet.
    New,
    /// Only asks.
    Observer,
    /// Uses devices. `dead`: its process has died, and somebody else holds the connection open.
    Client { process: ProcessId, dead: bool },
}

/// One accepted socket.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) socket: UnixStream,
    pub(crate) inbox: Inbox,
    pub(crate) stage: Stage,
    /// Readable when the client's process is dead.
    pub(crate) pidfd: Option<OwnedFd>,
    outbox: Vec<u8>,
    sent: usize,
}

impl Connection {
    pub(crate) fn new(socket: UnixStream) -> Self {
        Self { socket, inbox: Inbox::default(), stage: Stage::New, pidfd: None, outbox: Vec::new(), sent: 0 }
    }

    /// True while an answer is on its way: no further request is taken then.
    pub(crate) fn is_writing(&self) -> bool {
        self.sent < self.outbox.len()
    }

    /// Queues an answer and sends what the socket takes.
    pub(crate) fn answer(&mut self, message: &impl Serialize, files: &[BorrowedFd<'_>]) -> io::Result<()> {
        self.outbox = frame::encode(message)?;
        self.sent = 0;
        self.sent = retry(|| socket::send(&self.socket, &self.outbox, files))?;
        self.flush()
    }

    /// Sends what is left of the answer, as far as the socket takes it.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        while self.is_writing() {
            match retry(|| socket::send(&self.socket, &self.outbox[self.sent..], &[])) {
                Ok(sent) => self.sent += sent,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// Calls again when a signal came between.
fn retry(mut call: impl FnMut() -> io::Result<usize>) -> io::Result<usize> {
    loop {
        match call() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}
