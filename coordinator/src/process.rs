//! Other processes as the kernel knows them: who is at the other end of a socket, is it the same process as before, tell me
//! when it dies. Pids are those of the daemon's namespace. A pid alone is never an identity: it is paired with the process's
//! start time, and death is read off a pidfd.

use std::fs;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;

use rustix::process::{Pid, PidfdFlags};
use serde::{Deserialize, Serialize};

/// One process, also over a restart of the daemon.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ProcessId {
    /// Pid in the daemon's namespace.
    pub(crate) pid: u32,
    /// Start time in clock ticks since boot (field 22 of /proc/PID/stat), 0 if unknown.
    pub(crate) started: u64,
}

/// Who connected.
#[derive(Debug)]
pub(crate) struct Peer {
    /// The process that called connect().
    pub(crate) process: ProcessId,
    /// Its effective user then.
    pub(crate) uid: u32,
    /// Readable when it has died; none if the kernel can't give one (then it may be gone already).
    pub(crate) pidfd: Option<OwnedFd>,
}

/// Reads the peer of a connected socket; none if the kernel doesn't tell (then the connection is refused).
pub(crate) fn peer(socket: BorrowedFd<'_>) -> Option<Peer> {
    let credentials = rustix::net::sockopt::socket_peercred(socket).ok()?;
    let pid = u32::try_from(credentials.pid.as_raw_nonzero().get()).ok()?;
    let pidfd = peer_pidfd(socket).or_else(|| pidfd(pid));
    // Read after the pidfd exists: if the process behind it lives, the number was not reused in between.
    let process = ProcessId { pid, started: start_time(pid).unwrap_or(0) };
    Some(Peer { process, uid: credentials.uid.as_raw(), pidfd })
}

/// A pidfd of a process that is alive or a zombie now.
pub(crate) fn pidfd(pid: u32) -> Option<OwnedFd> {
    let pid = Pid::from_raw(i32::try_from(pid).ok()?)?;
    rustix::process::pidfd_open(pid, PidfdFlags::empty()).ok()
}

/// A pidfd of exactly this process; none if it has gone, its number reused or not.
pub(crate) fn pidfd_of(process: ProcessId) -> Option<OwnedFd> {
    let fd = pidfd(process.pid)?;
    let same = process.started == 0 || start_time(process.pid) == Some(process.started);
    same.then_some(fd)
}

/// Start time of a process in clock ticks since boot.
pub(crate) fn start_time(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The command may hold spaces and brackets, so fields are counted from the last bracket; state is field 3.
    let after = stat.rsplit_once(')')?.1;
    after.split_ascii_whitespace().nth(19)?.parse().ok()
}

/// A process that is there now, with the user that the kernel holds to be its owner: the effective one, or root for a process
/// that may not be inspected (set-user-id programs).
pub(crate) fn with_owner(pid: u32) -> Option<(ProcessId, u32)> {
    let started = start_time(pid)?;
    let owner = fs::metadata(format!("/proc/{pid}")).ok()?.uid();
    // The number was not reused in between.
    (start_time(pid) == Some(started)).then_some((ProcessId { pid, started }, owner))
}

/// The session that a process belongs to (`getsid`), the key of a declared tenant without a name.
pub(crate) fn session_of(pid: u32) -> Option<u32> {
    let pid = Pid::from_raw(i32::try_from(pid).ok()?)?;
    let session = rustix::process::getsid(Some(pid)).ok()?;
    u32::try_from(session.as_raw_nonzero().get()).ok()
}

/// Names this boot: pids of another one mean nothing.
pub(crate) fn boot_id() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").map(|s| s.trim().to_owned()).unwrap_or_default()
}

/// SO_PEERPIDFD: the connecting process itself, even if its number was reused since. Linux 6.5.
fn peer_pidfd(socket: BorrowedFd<'_>) -> Option<OwnedFd> {
    const SO_PEERPIDFD: libc::c_int = 77;
    let mut fd: libc::c_int = -1;
    let mut length = libc::socklen_t::try_from(size_of::<libc::c_int>()).ok()?;
    let place = std::ptr::from_mut(&mut fd).cast::<libc::c_void>();
    // SAFETY: `place` points to a c_int that lives through the call and `length` says so.
    let status =
        unsafe { libc::getsockopt(socket.as_raw_fd(), libc::SOL_SOCKET, SO_PEERPIDFD, place, &raw mut length) };
    if status != 0 || fd < 0 {
        return None;
    }
    // SAFETY: the kernel has just made this descriptor for us and nobody else knows it.
    Some(unsafe { OwnedFd::from_raw_fd(fd) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_known_by_number_and_start_time() {
        let pid = std::process::id();
        let me = ProcessId { pid, started: start_time(pid).expect("own stat") };
        assert!(pidfd_of(me).is_some());
        assert!(pidfd_of(ProcessId { started: me.started + 1, ..me }).is_none(), "another process of that number");
        assert!(!boot_id().is_empty());
    }

    #[test]
    fn a_peer_is_named_by_the_kernel() {
        use std::os::fd::AsFd;
        let (a, _b) = std::os::unix::net::UnixStream::pair().expect("pair");
        let peer = peer(a.as_fd()).expect("credentials");
        assert_eq!(peer.process.pid, std::process::id());
        assert!(peer.pidfd.is_some());
    }
}
