//! The agent: one thread that sits on the line to the coordinator. Asleep in poll but for lease answers, requests to mark tails,
//! and the coordinator's end; then it opens the gates (unless told to leave them) and seeks a new coordinator.

use super::anchor::Anchor;
use super::attachment::{Attachment, Desk};
use super::process::{Process, lock, now, send};
use super::{adopt, connect, open, orphaned, wake_waiters};
use crate::log;
use crate::markers;
use crate::streams::{Entry, Streams};
use mgpu_protocol::gate::{Gate, GateState, Markers};
use mgpu_protocol::layout::ThreadLine;
use mgpu_protocol::message::{MAX_PACKET, Reply, Request};
use mgpu_protocol::socket;
use mgpu_shim_core::session::Gates;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

const STACK: usize = 256 * 1024;
/// Between two looks while no coordinator is there.
const LOOK: Duration = Duration::from_millis(10);
/// How long a new attachment waits for threads to leave the old one.
const SETTLE: Duration = Duration::from_millis(100);

type Link = Arc<OwnedFd>;

/// Starts the agent, with the line to the coordinator if there is one.
pub(super) fn spawn(anchor: &'static Anchor, process: &'static Process, link: Option<Link>) {
    let masked = mask_signals();
    let daemon = link.is_none().then_some(connect::NEVER_ATTACHED);
    let agent = Agent { anchor, process, link, daemon, left: Vec::new() };
    let spawned = std::thread::Builder::new().name("mgpu".to_owned()).stack_size(STACK).spawn(move || agent.run());
    unmask_signals(&masked);
    if let Err(error) = spawned {
        log::error!("no thread for the session ({error}): a coordinator that goes away won't be noticed at once");
    }
}

/// Blocks every signal in the calling thread; the agent inherits that, so no handler of the application ever runs on it.
fn mask_signals() -> libc::sigset_t {
    // SAFETY: a signal set is plain memory, filled by the calls below.
    let mut all: libc::sigset_t = unsafe { std::mem::zeroed() };
    let mut before = all;
    // SAFETY: a whole signal set.
    unsafe { libc::sigfillset(&raw mut all) };
    // SAFETY: two whole signal sets.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before) };
    before
}

fn unmask_signals(before: &libc::sigset_t) {
    // SAFETY: a whole signal set.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before, std::ptr::null_mut()) };
}

struct Agent {
    anchor: &'static Anchor,
    process: &'static Process,
    link: Option<Link>,
    /// The last daemon that we were attached to, by its epoch.
    daemon: Option<u64>,
    /// Desks that were left, the oldest first.
    left: Vec<&'static Desk>,
}

/// Desks that are kept as they were after they were left.
const KEPT: usize = 2;

impl Agent {
    fn run(mut self) {
        loop {
            match self.link.take() {
                Some(link) => {
                    self.daemon = self.anchor.attachment().map(|attachment| attachment.daemon_epoch);
                    self.serve(&link);
                    self.lose();
                }
                None => self.seek(),
            }
        }
    }

    /// Answers the coordinator until it hangs up.
    fn serve(&self, link: &Link) {
        let mut buffer = [0; MAX_PACKET];
        loop {
            wait_readable(link);
            let received = match socket::receive(link.as_fd(), &mut buffer) {
                Ok(received) if received.len > 0 => received,
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => continue,
                _ => return,
            };
            match buffer.get(..received.len).and_then(Reply::decode) {
                Some(Reply::Lease { given, .. }) => self.process.lease_given(given),
                Some(Reply::MarkTails { device }) => {
                    let marked = self.mark_tails(device);
                    if send(link, &Request::TailsMarked { marked }.encode()).is_err() {
                        return;
                    }
                }
                // Anything else is none of this version, or out of turn: not worth a hang-up.
                _ => log::debug!("a packet that says nothing to us"),
            }
        }
    }

    fn mark_tails(&self, device: u32) -> u32 {
        let (Some(attachment), Ok(line)) = (self.anchor.attachment(), usize::try_from(device)) else { return 0 };
        // A thread that begins a capture counts itself first and then waits for this lock.
        let _marking = lock(&self.process.marking);
        if self.anchor.captures.load(Ordering::SeqCst) > 0 {
            return 0;
        }
        let driver = &self.process.driver;
        driver.relaxed(|driver| markers::mark_tails(attachment.desk, driver, line, true))
    }

    /// The coordinator is gone.
    fn lose(&self) {
        self.process.set_link(None);
        let gates = {
            let mut state = lock(&self.process.state);
            state.lost(now());
            state.gates(now())
        };
        let Some(old) = self.anchor.attachment() else { return };
        match gates {
            Gates::Open => {
                log::info!("the coordinator is gone: gates open, memory limits stay");
                if let Some(attachment) = orphaned(old) {
                    self.anchor.publish(attachment);
                    wake_waiters(old);
                }
            }
            _ => log::error!("the coordinator is gone: gates stay as they are (closed mode)"),
        }
    }

    /// One look for a coordinator, and what time does to the gates meanwhile.
    fn seek(&mut self) {
        let (gates, attempt_at) = {
            let state = lock(&self.process.state);
            (state.gates(now()), state.attempt_at())
        };
        if gates == Gates::Open {
            self.open_private_gates();
        }
        if attempt_at.is_some_and(|at| at <= now()) {
            match connect::seek(self.process, self.daemon) {
                Ok(connected) => return self.attach(connected),
                Err(why) => {
                    log::debug!("no coordinator yet: {why}");
                    lock(&self.process.state).failed(now());
                }
            }
        }
        std::thread::sleep(self.pause());
    }

    /// Short while the grace runs or an attempt is near.
    fn pause(&self) -> Duration {
        let state = lock(&self.process.state);
        let now = now();
        match (state.gates(now), state.attempt_at()) {
            (Gates::ClosedUntil(_), _) => LOOK,
            (_, at) => {
                let until = at.unwrap_or(now).since(now).0;
                Duration::from_nanos(until).clamp(Duration::from_millis(1), Duration::from_secs(1))
            }
        }
    }

    /// The grace is over: opens the gates of a page of our own, once.
    fn open_private_gates(&self) {
        let Some(attachment) = self.anchor.attachment().filter(|attachment| attachment.daemon_epoch == 0) else {
            return;
        };
        let is_closed = |grant: &&mgpu_protocol::layout::GrantLine| {
            let word = grant.gate.load(mgpu_protocol::sync::Ordering::Relaxed);
            Gate::unpack(word).state == GateState::Closed
        };
        let closed: Vec<_> = attachment.grants.devices.iter().filter(is_closed).collect();
        if !closed.is_empty() {
            log::error!("still no coordinator: gates open, shares are not enforced");
            closed.into_iter().for_each(|grant| open(grant, Markers::None, 0));
        }
    }

    /// Moves the process to a new coordinator.
    fn attach(&mut self, connected: connect::Connected) {
        let old = self.anchor.attachment();
        let link = adopt(self.process, connected.attachment, connected.socket, self.daemon);
        self.anchor.publish(connected.attachment);
        if let Some(old) = old {
            wake_waiters(old);
            wait_until_left(old);
            hand_on(&old.desk.streams, connected.attachment);
            self.leave(old.desk, connected.attachment.desk);
        }
        self.link = Some(link);
    }

    /// Gives the memory of desks back that were left before the last ones, unless a thread never came out of a launch there or
    /// the GPU may still write there.
    fn leave(&mut self, old: &'static Desk, new: &Desk) {
        self.left.push(old);
        let Some(oldest) = (self.left.len() > KEPT).then(|| self.left.remove(0)) else { return };
        let context = new.streams.live().map(Entry::context).next();
        if !is_entered(oldest) && markers::unregister(oldest, &self.process.driver, context) {
            oldest.retire();
        }
    }
}

/// Blocks until there is something to read or the line is dead.
fn wait_readable(link: &OwnedFd) {
    let mut what = libc::pollfd { fd: link.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: one pollfd. Every outcome means "try to read".
    unsafe { libc::poll(&raw mut what, 1, -1) };
}

/// Waits (not for long) until no thread of this process is between check and launch at an old desk: whoever enters later sees
/// the new attachment.
fn wait_until_left(old: &Attachment) {
    let step = Duration::from_millis(1);
    let mut waited = Duration::ZERO;
    while is_entered(old.desk) && waited < SETTLE {
        std::thread::sleep(step);
        waited += step;
    }
}

/// Whether a thread of this process is between check and launch at a desk.
fn is_entered(desk: &Desk) -> bool {
    let owner = desk.slot + 1;
    let mut own = desk.tenant().threads.iter().filter(|line| line.owner.load(Ordering::Relaxed) == owner);
    desk.client().is_overflow_entering() || own.any(ThreadLine::is_entering)
}

/// Streams that were busy under the old coordinator are so under the new one: each with one unmarked launch, for which it will
/// want a marker.
fn hand_on(old: &Streams, attachment: &'static Attachment) {
    let desk = attachment.desk;
    for entry in old.live().filter(|entry| entry.counters().is_some_and(|line| !line.is_drained())) {
        let line = entry.line();
        if let Some(new) = desk.streams.add(desk, entry.key(), entry.context(), line).and_then(|new| new.counters()) {
            new.count_launch();
        }
    }
}
