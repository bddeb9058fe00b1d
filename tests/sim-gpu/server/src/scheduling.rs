//! Getting ahead of the clients on a busy machine: real-time scheduling if allowed, else a better nice value.
//!
//! Only the calling thread changes; threads made before keep theirs.

use std::fmt;

/// Real-time priority; low, since anything real-time beats everything else here.
const PRIORITY: i32 = 5;
/// Nice value asked for otherwise.
const NICE: i32 = -10;

/// What the server got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scheduling {
    /// SCHED_FIFO.
    Fifo,
    /// Nice -10.
    Nice,
    /// Nothing.
    Normal,
}

impl fmt::Display for Scheduling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Fifo => "fifo",
            Self::Nice => "nice",
            Self::Normal => "normal",
        })
    }
}

/// Asks, best first, and asks for exact timers too.
pub(crate) fn raise() -> Scheduling {
    // SAFETY: takes plain numbers; a refusal leaves the default.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1usize, 0usize, 0usize, 0usize) };
    // Reset on fork: nothing that this thread makes later is real-time.
    let parameters = libc::sched_param { sched_priority: PRIORITY };
    // SAFETY: a valid parameter struct; 0 is this thread.
    let fifo =
        unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK, &raw const parameters) };
    if fifo == 0 {
        return Scheduling::Fifo;
    }
    // SAFETY: plain numbers; 0 is this thread.
    let nice = unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, NICE) };
    if nice == 0 { Scheduling::Nice } else { Scheduling::Normal }
}
