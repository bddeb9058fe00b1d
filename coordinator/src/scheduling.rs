//! What the daemon asks of the kernel for itself: how soon the loop is woken (timer slack and scheduling class of the calling
//! thread; a hand-over waits for that), and as many descriptors as it may have.

use rustix::process::{Pid, Resource, Rlimit, getrlimit, setpriority_process, setrlimit};

use crate::config::Scheduling;

/// What was granted, for the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Granted {
    /// SCHED_FIFO, priority 1; children start as normal.
    Fifo,
    /// nice -20.
    Nice,
    /// As started.
    Normal,
}

impl Granted {
    /// Its word in the log.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Fifo => "fifo",
            Self::Nice => "nice",
            Self::Normal => "normal",
        }
    }
}

/// Raises the limit of open descriptors as far as it goes: a client takes two, and the usual limit of 1024 is for programs that
/// use `select`. Gives the limit in force.
pub(crate) fn raise_descriptors() -> Option<u64> {
    let limits = getrlimit(Resource::Nofile);
    let wish = Rlimit { current: limits.maximum, ..limits };
    if setrlimit(Resource::Nofile, wish).is_ok() { wish.current } else { limits.current }
}

/// Asks for the class that the configuration names, then for less.
pub(crate) fn apply(wish: Scheduling) -> Granted {
    // Without this a 50 µs sleep takes 100.
    // SAFETY: PR_SET_TIMERSLACK takes a plain number and touches no memory.
    let _ = unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1_u64) };
    if wish == Scheduling::Fifo && fifo() {
        return Granted::Fifo;
    }
    if wish != Scheduling::Normal && setpriority_process(None::<Pid>, -20).is_ok() {
        return Granted::Nice;
    }
    Granted::Normal
}

fn fifo() -> bool {
    let parameters = libc::sched_param { sched_priority: 1 };
    let class = libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK;
    // SAFETY: `parameters` outlives the call; 0 names the calling thread.
    unsafe { libc::sched_setscheduler(0, class, &raw const parameters) == 0 }
}
