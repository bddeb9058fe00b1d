//! A thread for long copies and memsets, so that the main loop keeps time while gigabytes move.
//!
//! It only moves bytes. The main loop holds back what comes after a long copy in the same client until it is done.

use crate::memory::ClientMemory;
use mgpu_sim_gpu::ProcessId;
use mgpu_sim_link::Op;
use rustix::event::{EventfdFlags, eventfd};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

/// Up to so many bytes are moved by the main loop itself: some 15 µs.
const INLINE_BYTES: u64 = 64 << 10;
/// And up to so many rows, two system calls each.
const INLINE_ROWS: u64 = 16;

/// Whether an op is short enough for the main loop.
pub(crate) fn is_short(op: &Op) -> bool {
    let within = |size: Option<u64>, limit: u64| size.is_some_and(|size| size <= limit);
    within(op.bytes(), INLINE_BYTES) && within(op.rows(), INLINE_ROWS)
}

/// One long copy.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) process: ProcessId,
    pub(crate) memory: Arc<ClientMemory>,
    pub(crate) op: Op,
}

/// The thread's two ends.
#[derive(Debug)]
pub(crate) struct Mover {
    jobs: Sender<Job>,
    done: Receiver<ProcessId>,
    bell: Arc<OwnedFd>,
}

impl Mover {
    /// Starts the thread. It ends with the server.
    pub(crate) fn start() -> io::Result<Self> {
        let (jobs, todo) = channel::<Job>();
        let (finished, done) = channel();
        let bell = Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?);
        let ring = Arc::clone(&bell);
        std::thread::Builder::new().name("mover".into()).spawn(move || {
            for job in todo {
                // A bad address is the client's own loss.
                let _ = job.memory.perform(&job.op);
                if finished.send(job.process).is_err() || rustix::io::write(&*ring, &1u64.to_ne_bytes()).is_err() {
                    break;
                }
            }
        })?;
        Ok(Self { jobs, done, bell })
    }

    /// Hands a job over. False when the thread is gone.
    pub(crate) fn give(&self, job: Job) -> bool {
        self.jobs.send(job).is_ok()
    }

    /// The clients whose jobs are done since the last call.
    pub(crate) fn finished(&self) -> impl Iterator<Item = ProcessId> + '_ {
        self.done.try_iter()
    }

    /// Rings when a job is done.
    pub(crate) fn bell(&self) -> BorrowedFd<'_> {
        self.bell.as_fd()
    }
}
