//! The server process: one loop that looks at the rings, steps the node, answers sockets, and sleeps exactly as long as
//! nothing can happen.
//!
//! Sleeping is announced in the notice that all clients map: who submits to an idle stream while the server means to sleep
//! for long rings the doorbell; nobody else makes a system call.

use crate::client::Client;
use crate::connection::{Connection, Stage};
use crate::listen::Listener;
use crate::memory::ClientMemory;
use crate::node::Node;
use crate::report::{self, ServerFacts};
use mgpu_sim_link::frame::LONGEST_REQUEST;
use mgpu_sim_link::layout::{Notice, Region, VERSION};
use mgpu_sim_link::rpc::{Hello, Request, Response, Role, Welcome};
use mgpu_sim_link::sys::memory::{self, Mapping};
use mgpu_sim_link::sys::{now_ns, socket};
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::event::{EventfdFlags, Timespec, eventfd};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{Ordering, fence};

/// Shortest sleep: everything that happens within it is handled together. Bounds the wakes at 20,000 a second.
const SHORTEST_SLEEP_NS: u64 = 50_000;

const LISTENER: u64 = 0;
const DOORBELL: u64 = 1;
const MOVER: u64 = 2;
const SIGNAL: u64 = 3;
/// Connection `n` has the keys `FIRST + 2n` (socket) and one more (pidfd).
const FIRST: u64 = 4;

/// The server.
pub(crate) struct Server {
    node: Node,
    listener: Listener,
    epoll: OwnedFd,
    notice_file: OwnedFd,
    notice: Mapping<Notice>,
    doorbell: OwnedFd,
    signal: OwnedFd,
    connections: BTreeMap<u64, Connection>,
    accepted: u64,
    facts: ServerFacts,
    witness_log: Option<File>,
    idle_limit_ns: Option<u64>,
    /// Since when there has been no connection.
    idle_since: u64,
}

impl Server {
    pub(crate) fn new(
        node: Node,
        listener: Listener,
        signal: OwnedFd,
        facts: ServerFacts,
        witness_log: Option<File>,
        idle_limit_ns: Option<u64>,
    ) -> io::Result<Self> {
        let notice_file = memory::create::<Notice>(c"mgpu-sim-notice")?;
        let server = Self {
            node,
            listener,
            epoll: epoll::create(epoll::CreateFlags::CLOEXEC)?,
            notice: Mapping::new(notice_file.as_fd(), true)?,
            notice_file,
            doorbell: eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?,
            signal,
            connections: BTreeMap::new(),
            accepted: 0,
            facts,
            witness_log,
            idle_limit_ns,
            idle_since: now_ns(),
        };
        server.watch(server.listener.socket.as_fd(), LISTENER, EventFlags::IN)?;
        // Edge-triggered: each ring is an event, and nobody need read the counter.
        server.watch(server.doorbell.as_fd(), DOORBELL, EventFlags::IN | EventFlags::ET)?;
        server.watch(server.node.mover.bell(), MOVER, EventFlags::IN | EventFlags::ET)?;
        server.watch(server.signal.as_fd(), SIGNAL, EventFlags::IN)?;
        Ok(server)
    }

    fn watch(&self, file: BorrowedFd<'_>, key: u64, flags: EventFlags) -> io::Result<()> {
        Ok(epoll::add(&self.epoll, file, EventData::new_u64(key), flags)?)
    }

    /// Runs until SIGTERM, SIGINT, or nobody has been here for the idle limit.
    pub(crate) fn run(&mut self) -> io::Result<()> {
        let mut events = Vec::with_capacity(64);
        loop {
            let now = now_ns();
            self.node.drain(now);
            self.node.step(now);
            if self.is_idle_too_long(now) {
                break;
            }
            events.clear();
            self.sleep(now, &mut events)?;
            if events.iter().any(|event: &epoll::Event| event.data.u64() == SIGNAL) {
                break;
            }
            for event in &events {
                self.handle(event.data.u64(), event.flags);
            }
        }
        self.node.step(now_ns());
        self.log_witness();
        Ok(())
    }

    /// Sleeps until the next step is due, or something comes. `now` is when the last step was made.
    fn sleep(&mut self, now: u64, events: &mut Vec<epoll::Event>) -> io::Result<()> {
        let until = self.wake_time(now);
        self.notice.sleeps_until.store(until, Ordering::SeqCst);
        // A client that published before it could see this is seen now (see `Session::submit`).
        fence(Ordering::SeqCst);
        let again = self.node.drain(now_ns());
        let until = if again { self.wake_time(now).min(until) } else { until };
        let timeout = (until != u64::MAX).then(|| {
            let left = until.saturating_sub(now_ns());
            Timespec {
                tv_sec: i64::try_from(left / 1_000_000_000).unwrap_or(i64::MAX),
                tv_nsec: i64::try_from(left % 1_000_000_000).unwrap_or(0),
            }
        });
        let result = epoll::wait(&self.epoll, rustix::buffer::spare_capacity(events), timeout.as_ref());
        self.notice.sleeps_until.store(0, Ordering::SeqCst);
        self.facts.wakes += 1;
        match result {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// When to wake if nothing comes; `u64::MAX` for never.
    fn wake_time(&self, now: u64) -> u64 {
        let step = self.node.next_step().map(|at| at.max(now.saturating_add(SHORTEST_SLEEP_NS)));
        let idle = self.idle_limit_ns.filter(|_| self.connections.is_empty());
        let leave = idle.map(|limit| self.idle_since.saturating_add(limit));
        step.into_iter().chain(leave).min().unwrap_or(u64::MAX)
    }

    fn is_idle_too_long(&self, now: u64) -> bool {
        let limit = self.idle_limit_ns.filter(|_| self.connections.is_empty());
        limit.is_some_and(|limit| now.saturating_sub(self.idle_since) >= limit)
    }

    fn handle(&mut self, key: u64, flags: EventFlags) {
        match key {
            LISTENER => self.accept(),
            DOORBELL => self.facts.doorbells += 1,
            // What the mover has done is taken up by the next step.
            MOVER | SIGNAL => {}
            key if (key - FIRST) % 2 == 1 => self.process_died((key - FIRST) / 2),
            key => {
                let number = (key - FIRST) / 2;
                if self.talk(number, flags).is_err() {
                    self.hang_up(number);
                }
            }
        }
    }

    fn accept(&mut self) {
        while let Ok((socket, _)) = self.listener.socket.accept() {
            let number = self.accepted;
            self.accepted += 1;
            let watched = socket
                .set_nonblocking(true)
                .and_then(|()| self.watch(socket.as_fd(), FIRST + 2 * number, EventFlags::IN | EventFlags::RDHUP));
            if watched.is_ok() {
                self.connections.insert(number, Connection::new(socket));
            }
        }
    }

    /// Reads, answers, writes. An error ends the connection.
    fn talk(&mut self, number: u64, flags: EventFlags) -> io::Result<()> {
        let Some(connection) = self.connections.get_mut(&number) else { return Ok(()) };
        if flags.contains(EventFlags::OUT) {
            connection.flush()?;
        }
        if flags.contains(EventFlags::IN) && !connection.is_writing() {
            match connection.inbox.fill(&connection.socket) {
                Ok(true) => {}
                Ok(false) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
                Err(error) => return Err(error),
            }
        }
        self.serve_requests(number)?;
        if flags.intersects(EventFlags::RDHUP | EventFlags::HUP | EventFlags::ERR) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(())
    }

    /// Answers all requests that are there, and asks to be told when there is room for the rest of an answer.
    fn serve_requests(&mut self, number: u64) -> io::Result<()> {
        while let Some(connection) = self.connections.get_mut(&number).filter(|connection| !connection.is_writing()) {
            match connection.stage {
                Stage::New => match connection.inbox.next::<Hello>(LONGEST_REQUEST)? {
                    Some(hello) => self.welcome(number, &hello)?,
                    None => break,
                },
                Stage::Observer | Stage::Client { .. } => match connection.inbox.next::<Request>(LONGEST_REQUEST)? {
                    Some(request) => self.respond(number, request)?,
                    None => break,
                },
            }
        }
        let Some(connection) = self.connections.get(&number) else { return Ok(()) };
        let wanted = if connection.is_writing() { EventFlags::OUT } else { EventFlags::IN };
        let data = EventData::new_u64(FIRST + 2 * number);
        Ok(epoll::modify(&self.epoll, connection.socket.as_fd(), data, wanted | EventFlags::RDHUP)?)
    }

    fn respond(&mut self, number: u64, request: Request) -> io::Result<()> {
        let now = now_ns();
        let Some(connection) = self.connections.get_mut(&number) else { return Ok(()) };
        let response = match (connection.stage, request) {
            (_, Request::Witness) => {
                self.node.drain(now);
                self.node.step(now);
                Response::Json(report::witness(&self.node, &self.facts))
            }
            (Stage::Client { process, .. }, request) => self.node.answer(process, request, now),
            (_, request) => {
                self.node.drain(now);
                self.node.step(now);
                self.node.observe(&request)
            }
        };
        connection.answer(&response, &[])
    }

    /// Answers the hello, and makes a client of whoever wants to be one.
    fn welcome(&mut self, number: u64, hello: &Hello) -> io::Result<()> {
        let Some(connection) = self.connections.get_mut(&number) else { return Ok(()) };
        if hello.version != VERSION {
            return connection.answer(&Welcome::Version { server: VERSION }, &[]);
        }
        let welcome = Welcome::Accepted {
            devices: self.node.devices.clone(),
            costs: self.node.costs,
            server_pid: std::process::id(),
        };
        if hello.role == Role::Observer {
            connection.stage = Stage::Observer;
            return connection.answer(&welcome, &[]);
        }
        let memory = connection.inbox.take_files().pop().ok_or(io::ErrorKind::InvalidData)?;
        let pid = socket::peer_pid(&connection.socket)?;
        let pidfd = socket::pidfd(pid)?;
        let region_file = memory::create::<Region>(c"mgpu-sim-region")?;
        let region = Mapping::new(region_file.as_fd(), true)?;
        epoll::add(&self.epoll, &pidfd, EventData::new_u64(FIRST + 2 * number + 1), EventFlags::IN)?;
        let command: String = hello.command.chars().take(255).collect();
        let process = self.node.model.connect(self.node.model.now(), pid, &command);
        connection.pidfd = Some(pidfd);
        connection.stage = Stage::Client { process, dead: false };
        self.node.clients.insert(process, Client::new(ClientMemory::new(memory), region));
        connection.answer(&welcome, &[region_file.as_fd(), self.notice_file.as_fd(), self.doorbell.as_fd()])
    }

    /// The client's process is dead. Its connection may be held open by a forked child, as a device file would be.
    fn process_died(&mut self, number: u64) {
        let Some(connection) = self.connections.get_mut(&number) else { return };
        if let Some(pidfd) = connection.pidfd.take() {
            // Dropping it would end the watch too, but for duplicates that the kernel may still know.
            let _ = epoll::delete(&self.epoll, &pidfd);
        }
        if let Stage::Client { process, dead } = &mut connection.stage {
            *dead = true;
            let (process, held) = (*process, !socket::hung_up(connection.socket.as_fd()));
            self.end(process, held);
        }
    }

    /// Nobody holds the connection any more.
    fn hang_up(&mut self, number: u64) {
        let Some(connection) = self.connections.remove(&number) else { return };
        self.idle_since = now_ns();
        match connection.stage {
            Stage::Client { process, dead: false } => self.end(process, false),
            Stage::Client { process, dead: true } => self.node.release(process, now_ns()),
            Stage::New | Stage::Observer => {}
        }
    }

    /// A client has gone, in the order of its last submissions.
    fn end(&mut self, process: mgpu_sim_gpu::ProcessId, held: bool) {
        let now = now_ns();
        self.node.drain_one(process, now);
        self.node.close(process, now, held);
        self.log_witness();
    }

    /// Appends the witness to the log, one line.
    fn log_witness(&mut self) {
        if let Some(log) = &mut self.witness_log {
            // A full disk must not stop the devices.
            let _ = writeln!(log, "{}", report::witness(&self.node, &self.facts));
        }
    }
}
