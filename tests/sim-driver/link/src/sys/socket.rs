//! Stream sockets that carry open files, and what the kernel knows of the peer.

use std::io;
use std::mem::zeroed;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;

/// Most files in one message.
const MAX_FILES: usize = 8;

/// Room for `MAX_FILES` descriptors, aligned as `cmsghdr` wants.
#[repr(C, align(8))]
struct Control([u8; 128]);

/// The peer's pid in our namespace, as of its `connect`.
///
/// # Errors
/// What the kernel says.
pub fn peer_pid(socket: &UnixStream) -> io::Result<u32> {
    // SAFETY: ucred is plain integers.
    let mut peer: libc::ucred = unsafe { zeroed() };
    let mut length = libc::socklen_t::try_from(size_of::<libc::ucred>()).unwrap_or(0);
    // SAFETY: the kernel writes at most `length` bytes to `peer`.
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            (&raw mut peer).cast(),
            &raw mut length,
        )
    };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(u32::try_from(peer.pid).unwrap_or(0)) }
}

/// A file that becomes readable when the process `pid` dies.
///
/// # Errors
/// What the kernel says; `NotFound`-like when it is gone already.
pub fn pidfd(pid: u32) -> io::Result<OwnedFd> {
    // SAFETY: plain system call; the result is checked.
    let raw = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
    match RawFd::try_from(raw) {
        // SAFETY: a new descriptor that nobody else owns.
        Ok(raw) if raw >= 0 => Ok(unsafe { OwnedFd::from_raw_fd(raw) }),
        _ => Err(io::Error::last_os_error()),
    }
}

/// True when the other end has been closed by all who had it.
pub fn hung_up(socket: BorrowedFd<'_>) -> bool {
    let mut poll = libc::pollfd { fd: socket.as_raw_fd(), events: libc::POLLRDHUP, revents: 0 };
    // SAFETY: one valid pollfd, no waiting.
    let ready = unsafe { libc::poll(&raw mut poll, 1, 0) };
    ready > 0 && poll.revents & (libc::POLLHUP | libc::POLLRDHUP | libc::POLLERR | libc::POLLNVAL) != 0
}

/// Sends `bytes`, the files with the first of them. Returns how many bytes went.
///
/// # Errors
/// What the kernel says; never raises SIGPIPE. `InvalidInput` for too many files.
pub fn send(socket: &UnixStream, bytes: &[u8], files: &[BorrowedFd<'_>]) -> io::Result<usize> {
    if files.len() > MAX_FILES {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut part = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
    let mut control = Control([0; 128]);
    // SAFETY: msghdr is plain data; zero means "none" everywhere.
    let mut message: libc::msghdr = unsafe { zeroed() };
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    if !files.is_empty() {
        let raw: Vec<RawFd> = files.iter().map(AsRawFd::as_raw_fd).collect();
        attach(&mut message, &mut control, &raw);
    }
    // SAFETY: all that `message` points to outlives the call.
    let sent = unsafe { libc::sendmsg(socket.as_raw_fd(), &raw const message, libc::MSG_NOSIGNAL) };
    usize::try_from(sent).map_err(|_| io::Error::last_os_error())
}

/// Puts `files` into the control part of `message`.
fn attach(message: &mut libc::msghdr, control: &mut Control, files: &[RawFd]) {
    let payload = u32::try_from(size_of_val(files)).unwrap_or(0);
    message.msg_control = control.0.as_mut_ptr().cast();
    // SAFETY: pure arithmetic on `payload`.
    message.msg_controllen = unsafe { libc::CMSG_SPACE(payload) } as _;
    // SAFETY: the control buffer is larger than one header and MAX_FILES descriptors, and 8-aligned.
    let header = unsafe { libc::CMSG_FIRSTHDR(message) };
    let filled = libc::cmsghdr {
        // SAFETY: pure arithmetic on `payload`.
        cmsg_len: unsafe { libc::CMSG_LEN(payload) } as _,
        cmsg_level: libc::SOL_SOCKET,
        cmsg_type: libc::SCM_RIGHTS,
    };
    // SAFETY: `header` points into `control`, which has room for it.
    unsafe { header.write(filled) };
    // SAFETY: as above; the data begins behind the header.
    let data: *mut RawFd = unsafe { libc::CMSG_DATA(header) }.cast();
    // SAFETY: `control` has room for MAX_FILES descriptors behind the header, and `files` is no longer than that.
    unsafe { std::ptr::copy_nonoverlapping(files.as_ptr(), data, files.len()) };
}

/// Receives into `bytes`; files that came along are appended to `files`. 0 means the peer has closed.
///
/// # Errors
/// What the kernel says.
pub fn receive(socket: &UnixStream, bytes: &mut [u8], files: &mut Vec<OwnedFd>) -> io::Result<usize> {
    let mut part = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
    let mut control = Control([0; 128]);
    // SAFETY: msghdr is plain data; zero means "none" everywhere.
    let mut message: libc::msghdr = unsafe { zeroed() };
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    message.msg_control = control.0.as_mut_ptr().cast();
    message.msg_controllen = control.0.len() as _;
    // SAFETY: all that `message` points to outlives the call.
    let got = unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut message, libc::MSG_CMSG_CLOEXEC) };
    let got = usize::try_from(got).map_err(|_| io::Error::last_os_error())?;
    detach(&message, files);
    Ok(got)
}

/// Takes ownership of the files in a received message.
fn detach(message: &libc::msghdr, files: &mut Vec<OwnedFd>) {
    // SAFETY: `message` is as the kernel filled it.
    let mut next = unsafe { libc::CMSG_FIRSTHDR(message) };
    while !next.is_null() {
        // SAFETY: the kernel's macros keep `next` inside the control buffer.
        let header = unsafe { next.read() };
        if header.cmsg_level == libc::SOL_SOCKET && header.cmsg_type == libc::SCM_RIGHTS {
            // SAFETY: the data begins behind a header of our own buffer.
            let data: *const RawFd = unsafe { libc::CMSG_DATA(next) }.cast();
            // SAFETY: pure arithmetic.
            let head = unsafe { libc::CMSG_LEN(0) } as usize;
            let count = (header.cmsg_len as usize).saturating_sub(head) / size_of::<RawFd>();
            for index in 0..count {
                // SAFETY: `count` descriptors lie behind the header, as the kernel's length says.
                let at = unsafe { data.add(index) };
                // SAFETY: as above; aligned because the buffer and the header are.
                let raw = unsafe { at.read() };
                // SAFETY: a new descriptor that the kernel made for us.
                files.push(unsafe { OwnedFd::from_raw_fd(raw) });
            }
        }
        // SAFETY: as for CMSG_FIRSTHDR.
        next = unsafe { libc::CMSG_NXTHDR(message, next) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd;

    #[test]
    fn files_travel_with_bytes() {
        let (left, right) = UnixStream::pair().expect("a pair");
        let (one, other) = UnixStream::pair().expect("another pair");
        assert_eq!(send(&left, b"two", &[one.as_fd(), other.as_fd()]).expect("sent"), 3);
        let (mut bytes, mut files) = ([0u8; 8], Vec::new());
        assert_eq!(receive(&right, &mut bytes, &mut files).expect("received"), 3);
        assert_eq!((&bytes[..3], files.len()), (&b"two"[..], 2));
    }

    #[test]
    fn a_closed_peer_is_seen() {
        let (left, right) = UnixStream::pair().expect("a pair");
        assert!(!hung_up(left.as_fd()));
        drop(right);
        assert!(hung_up(left.as_fd()));
    }

    #[test]
    fn the_peer_is_this_process() {
        let (left, _right) = UnixStream::pair().expect("a pair");
        assert_eq!(peer_pid(&left).expect("credentials"), std::process::id());
        assert!(pidfd(std::process::id()).is_ok());
    }
}
