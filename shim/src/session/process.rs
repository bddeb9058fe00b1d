//! This process: who it is, what it has allocated, and its line to the coordinator. One per process image, leaked; a forked
//! child makes its own.

use super::attachment::{Attachment, Desk, Leases};
use super::declaration::Declaration;
use crate::driver::Driver;
use crate::log;
use mgpu_cuda::types::CUmemoryPool;
use mgpu_protocol::entitlement::Entitlement;
use mgpu_protocol::layout::MAX_DEVICES;
use mgpu_protocol::lease;
use mgpu_protocol::message::Request;
use mgpu_protocol::sync::Ordering as SharedOrdering;
use mgpu_protocol::units::Nanos;
use mgpu_protocol::{message::Packet, socket};
use mgpu_shim_core::ledger::Ledger;
use mgpu_shim_core::pool::Pools;
use mgpu_shim_core::purse::{Purse, Reservation, Short};
use mgpu_shim_core::session::Session;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long an allocation waits for the coordinator's answer before it takes it for lost.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long to wait between two looks for a new coordinator.
const PAUSE: Duration = Duration::from_millis(5);
/// Size of the driver's blocks, if it doesn't say.
const USUAL_BLOCK: u64 = 2 << 20;

/// See the module.
pub(crate) struct Process {
    pub(crate) driver: Driver,
    /// The tenant's directory; `None` until a coordinator has made one for a process that declares itself.
    directory: Mutex<Option<PathBuf>>,
    /// What a process that declares itself tells every coordinator that it finds.
    pub(crate) declaration: Option<Declaration>,
    /// What the process is entitled to when nobody answers.
    pub(crate) entitlement: Entitlement,
    /// UUIDs by ordinal.
    pub(crate) devices: Vec<[u8; 16]>,
    pub(crate) ledger: Ledger,
    pub(crate) pools: Pools,
    pub(crate) purse: Purse<Leases>,
    pub(crate) state: Mutex<Session>,
    /// Held by the agent while it marks, and by a thread that begins a capture.
    pub(crate) marking: Mutex<()>,
    blocks: [AtomicU64; MAX_DEVICES],
    link: Mutex<Option<Arc<OwnedFd>>>,
    /// One lease request at a time.
    asking: Mutex<()>,
    answer: Mutex<Answer>,
    answered: Condvar,
}

/// The coordinator's answer to the outstanding lease request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    None,
    Given(u64),
    Lost,
}

/// The process can't have more memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OutOfMemory;

/// Locks; what a panic left behind is still right, for nothing is done halfway under these locks.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// CLOCK_MONOTONIC.
pub(crate) fn now() -> Nanos {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: a whole timespec.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    Nanos(seconds.saturating_mul(1_000_000_000).saturating_add(u64::try_from(time.tv_nsec).unwrap_or(0)))
}

impl Process {
    pub(crate) fn new(
        driver: Driver,
        directory: Option<PathBuf>,
        declaration: Option<Declaration>,
        entitlement: Entitlement,
        devices: Vec<[u8; 16]>,
        state: Session,
    ) -> Self {
        Self {
            driver,
            directory: Mutex::new(directory),
            declaration,
            entitlement,
            devices,
            ledger: Ledger::default(),
            pools: Pools::default(),
            purse: Purse::default(),
            state: Mutex::new(state),
            marking: Mutex::new(()),
            blocks: Default::default(),
            link: Mutex::new(None),
            asking: Mutex::new(()),
            answer: Mutex::new(Answer::None),
            answered: Condvar::new(),
        }
    }

    /// See the field.
    pub(crate) fn directory(&self) -> Option<PathBuf> {
        lock(&self.directory).clone()
    }

    /// A coordinator has made this one.
    pub(crate) fn set_directory(&self, directory: PathBuf) {
        *lock(&self.directory) = Some(directory);
    }

    /// Size of the blocks in which the driver takes memory of a device.
    pub(crate) fn block(&self, ordinal: usize) -> u64 {
        let Some(known) = self.blocks.get(ordinal) else { return USUAL_BLOCK };
        match known.load(Ordering::Relaxed) {
            0 => {
                let block = self.driver.block(ordinal).unwrap_or(USUAL_BLOCK);
                known.store(block, Ordering::Relaxed);
                block
            }
            block => block,
        }
    }

    /// Takes or drops the line to the coordinator.
    pub(crate) fn set_link(&self, socket: Option<Arc<OwnedFd>>) {
        let is_lost = socket.is_none();
        *lock(&self.link) = socket;
        if is_lost {
            self.deliver(Answer::Lost);
        }
    }

    /// The agent has received the answer to the outstanding request.
    pub(crate) fn lease_given(&self, bytes: u64) {
        self.deliver(Answer::Given(bytes));
    }

    fn deliver(&self, answer: Answer) {
        *lock(&self.answer) = answer;
        self.answered.notify_all();
    }

    /// Hangs up on a coordinator that is silent: the agent sees it and seeks a new one.
    pub(crate) fn hang_up(&self) {
        if let Some(link) = lock(&self.link).as_ref() {
            // SAFETY: plain call on a live descriptor.
            unsafe { libc::shutdown(link.as_raw_fd(), libc::SHUT_RDWR) };
        }
    }

    /// Bytes of device `ordinal`, reserved for a call that the driver has yet to accept. Asks the coordinator, if the lease is
    /// short; while it is away, takes what siblings don't use, and waits the grace for a new one.
    pub(crate) fn reserve(
        &self,
        attachment: &Attachment,
        ordinal: usize,
        bytes: u64,
    ) -> Result<Reservation<'_, Leases>, OutOfMemory> {
        let mut has_refreshed = false;
        loop {
            match Reservation::new(&self.purse, ordinal, bytes) {
                Ok(reservation) => return Ok(reservation),
                Err(Short::Unattached) => return Err(OutOfMemory),
                Err(Short::Lease) => {}
            }
            if !has_refreshed && self.pools.has_slack() {
                has_refreshed = true;
                self.refresh_pools();
                continue;
            }
            let Some(line) = attachment.line_of(ordinal) else { return Err(OutOfMemory) };
            let desk = super::current().unwrap_or(attachment).desk;
            self.get_more(desk, line, bytes)?;
        }
    }

    /// Gets something into this client's lease word, or says that there is nothing to get.
    fn get_more(&self, desk: &Desk, line: usize, bytes: u64) -> Result<(), OutOfMemory> {
        let Some(word) = desk.client().lease.get(line) else { return Err(OutOfMemory) };
        let missing = bytes.saturating_sub(word.load(SharedOrdering::Relaxed));
        match self.ask(line, missing.max(1)) {
            Answer::Given(0) => Err(OutOfMemory),
            Answer::Given(_) => Ok(()),
            Answer::None | Answer::Lost if borrow(desk, line, missing) => Ok(()),
            Answer::None | Answer::Lost if lock(&self.state).allocations_wait(now()) => {
                std::thread::sleep(PAUSE);
                Ok(())
            }
            Answer::None | Answer::Lost => Err(OutOfMemory),
        }
    }

    fn ask(&self, line: usize, bytes: u64) -> Answer {
        let _one = lock(&self.asking);
        let Some(link) = lock(&self.link).clone() else { return Answer::Lost };
        let Ok(device) = u32::try_from(line) else { return Answer::Lost };
        *lock(&self.answer) = Answer::None;
        let packet = Request::Lease { device, bytes }.encode();
        if send(&link, &packet).is_err() {
            return Answer::Lost;
        }
        let waiting = lock(&self.answer);
        let (answer, timeout) = self
            .answered
            .wait_timeout_while(waiting, PATIENCE, |answer| *answer == Answer::None)
            .unwrap_or_else(PoisonError::into_inner);
        let answer = *answer;
        if timeout.timed_out() && answer == Answer::None {
            log::error!("the coordinator doesn't answer a memory request; hanging up on it");
            self.hang_up();
            return Answer::Lost;
        }
        answer
    }

    /// Gives back what pools have let go.
    pub(crate) fn refresh_pools(&self) {
        self.pools.refresh(&self.purse, |pool| self.driver.pool_reserved(pool as CUmemoryPool));
    }
}

/// Sends a packet to the coordinator.
pub(crate) fn send(link: &OwnedFd, packet: &Packet) -> std::io::Result<()> {
    socket::send(link.as_fd(), packet.as_bytes(), &[])
}

/// While no coordinator is there to do it: moves bytes that siblings don't use into this client's lease. `true`: enough.
fn borrow(desk: &Desk, line: usize, bytes: u64) -> bool {
    let mine = desk.client();
    let Some(word) = mine.lease.get(line) else { return false };
    let mut got = 0;
    for sibling in desk.tenant().slots.iter().filter(|slot| !std::ptr::eq(*slot, mine)) {
        if got < bytes
            && let Some(theirs) = sibling.lease.get(line)
        {
            let part = lease::take_up_to(theirs, bytes - got);
            lease::give(word, part);
            got += part;
        }
    }
    got >= bytes
}
