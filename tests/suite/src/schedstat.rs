//! The kernel's own account of how long threads waited for a CPU (`/proc/PID/task/*/schedstat`), and how much CPU they used.

use std::fs;

/// Sums over all threads of one process, ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Schedstat {
    /// Time on a CPU.
    pub ran_ns: u64,
    /// Time runnable but not running.
    pub delayed_ns: u64,
}

/// Reads the account of `pid`; zero if it is gone.
#[must_use]
pub fn of(pid: u32) -> Schedstat {
    let Ok(tasks) = fs::read_dir(format!("/proc/{pid}/task")) else { return Schedstat::default() };
    tasks.flatten().fold(Schedstat::default(), |sum, task| {
        let text = fs::read_to_string(task.path().join("schedstat")).unwrap_or_default();
        let mut numbers = text.split_whitespace().map(|n| n.parse().unwrap_or(0));
        Schedstat {
            ran_ns: sum.ran_ns + numbers.next().unwrap_or(0),
            delayed_ns: sum.delayed_ns + numbers.next().unwrap_or(0),
        }
    })
}
