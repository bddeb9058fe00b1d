//! epoll with a precise timeout. Sleeping is one `ppoll` on the epoll descriptor, so a pure timer tick costs one system call;
//! the readiness list is read only when there is one.

use std::os::fd::{AsFd, OwnedFd};

use mgpu_protocol::units::Nanos;
use rustix::event::{PollFd, PollFlags, epoll};
use rustix::io::Errno;

use crate::clock;

/// Names one watched descriptor; the loop keeps what it stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Token(pub(crate) u64);

/// The set of watched descriptors.
#[derive(Debug)]
pub(crate) struct Poller {
    epoll: OwnedFd,
    next: u64,
    /// Times that `wait` came back, for the test that an idle daemon sleeps.
    pub(crate) wakeups: u64,
}

/// Below this distance a sleep overshoots by more than the spin costs.
const SPIN: Nanos = Nanos::from_micros(20);
const BATCH: usize = 64;
/// How an eventfd is watched that is never read.
const BELL: epoll::EventFlags = epoll::EventFlags::IN.union(epoll::EventFlags::ET);

impl Poller {
    /// An empty set.
    ///
    /// # Errors
    /// No descriptor left.
    pub(crate) fn new() -> std::io::Result<Self> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        Ok(Self { epoll, next: 1, wakeups: 0 })
    }

    /// Watches a descriptor for readability (a hang-up counts). Closing the descriptor ends the watch.
    ///
    /// # Errors
    /// The kernel's limits.
    pub(crate) fn add(&mut self, fd: impl AsFd) -> std::io::Result<Token> {
        self.add_as(fd, epoll::EventFlags::IN)
    }

    /// Watches an eventfd that strangers hold, too: each write is told once, and nobody reads it. Its file description is
    /// shared, so they can make it block, and a read could find it emptied by them.
    ///
    /// # Errors
    /// The kernel's limits.
    pub(crate) fn add_bell(&mut self, fd: impl AsFd) -> std::io::Result<Token> {
        self.add_as(fd, BELL)
    }

    fn add_as(&mut self, fd: impl AsFd, flags: epoll::EventFlags) -> std::io::Result<Token> {
        let token = Token(self.next);
        self.next += 1;
        epoll::add(&self.epoll, fd, epoll::EventData::new_u64(token.0), flags)?;
        Ok(token)
    }

    /// Stops (`false`) or resumes (`true`) telling about a descriptor; for a peer that asks too often.
    pub(crate) fn listen_to(&self, fd: impl AsFd, token: Token, listen: bool) {
        self.listen_as(fd, token, if listen { epoll::EventFlags::IN } else { epoll::EventFlags::empty() });
    }

    /// As [`Self::listen_to`] for a bell; resuming tells of it once, since it was rung before.
    pub(crate) fn listen_to_bell(&self, fd: impl AsFd, token: Token, listen: bool) {
        self.listen_as(fd, token, if listen { BELL } else { epoll::EventFlags::empty() });
    }

    fn listen_as(&self, fd: impl AsFd, token: Token, flags: epoll::EventFlags) {
        let _ = epoll::modify(&self.epoll, fd, epoll::EventData::new_u64(token.0), flags);
    }

    /// Stops watching a descriptor that stays open.
    pub(crate) fn remove(&self, fd: impl AsFd) {
        let _ = epoll::delete(&self.epoll, fd);
    }

    /// Sleeps until a descriptor is ready or `until` has come (`None` = for ever); fills `ready`, cleared first.
    ///
    /// # Errors
    /// The kernel refuses; the loop can't go on then.
    pub(crate) fn wait(&mut self, until: Option<Nanos>, ready: &mut Vec<Token>) -> std::io::Result<()> {
        ready.clear();
        loop {
            let span = until.map(|at| at.since(clock::now()));
            let spin = span.is_some_and(|s| s < SPIN);
            let timeout = if spin { Some(Nanos(0)) } else { span };
            match self.sleep(timeout, ready) {
                Ok(()) if spin && ready.is_empty() && span != Some(Nanos(0)) => std::hint::spin_loop(),
                Ok(()) => break,
                Err(Errno::INTR) => {}
                Err(e) => return Err(e.into()),
            }
        }
        self.wakeups += 1;
        Ok(())
    }

    fn sleep(&self, timeout: Option<Nanos>, ready: &mut Vec<Token>) -> rustix::io::Result<()> {
        let timeout = timeout.map(clock::timespec);
        let mut one = [PollFd::new(&self.epoll, PollFlags::IN)];
        if rustix::event::poll(&mut one, timeout.as_ref())? == 0 {
            return Ok(());
        }
        let mut events = Vec::<epoll::Event>::with_capacity(BATCH);
        let zero = clock::timespec(Nanos(0));
        epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut events), Some(&zero))?;
        ready.extend(events.iter().map(|event| Token(event.data.u64())));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::unix::net::UnixStream;

    #[test]
    fn readiness_names_its_token_and_a_timeout_names_none() {
        let mut poller = Poller::new().expect("epoll");
        let (a, mut b) = UnixStream::pair().expect("pair");
        let token = poller.add(&a).expect("add");
        let mut ready = Vec::new();
        poller.wait(Some(clock::now()), &mut ready).expect("wait");
        assert!(ready.is_empty());
        b.write_all(b"x").expect("write");
        poller.wait(None, &mut ready).expect("wait");
        assert_eq!(ready, [token]);
        poller.listen_to(&a, token, false);
        poller.wait(Some(clock::now()), &mut ready).expect("wait");
        assert!(ready.is_empty(), "a muted peer is not heard");
    }

    #[test]
    fn each_ring_is_told_once_though_nobody_reads_the_bell() {
        let mut poller = Poller::new().expect("epoll");
        let bell = rustix::event::eventfd(0, rustix::event::EventfdFlags::NONBLOCK).expect("eventfd");
        let token = poller.add_bell(&bell).expect("add");
        let ring = || rustix::io::write(&bell, &1_u64.to_ne_bytes()).expect("ring");
        let heard = |poller: &mut Poller| {
            let mut ready = Vec::new();
            poller.wait(Some(clock::now()), &mut ready).expect("wait");
            ready.len()
        };
        assert_eq!(heard(&mut poller), 0);
        for _ in 0..3 {
            ring();
            assert_eq!((heard(&mut poller), heard(&mut poller)), (1, 0));
        }
        poller.listen_to_bell(&bell, token, false);
        ring();
        assert_eq!(heard(&mut poller), 0, "muted");
        poller.listen_to_bell(&bell, token, true);
        assert_eq!((heard(&mut poller), heard(&mut poller)), (1, 0), "heard again, once");
    }
}
