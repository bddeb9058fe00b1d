//! Sequenced-packet Unix sockets with descriptors beside the packet: connect, listen, send, receive. No message knowledge.
//! No allocation on send and receive, so that a hook may use them. Every descriptor is close-on-exec.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Descriptors that one packet can carry.
pub const MAX_DESCRIPTORS: usize = 4;

/// Room for the control message of [`MAX_DESCRIPTORS`] descriptors, aligned as its header wants.
#[repr(C, align(8))]
struct Control([u8; 64]);

/// What came with a packet.
#[derive(Debug, Default)]
pub struct Received {
    /// Bytes of the packet; 0 = the other side hung up.
    pub len: usize,
    /// Descriptors, in the order in which they were sent. Any that aren't taken out are closed.
    pub descriptors: [Option<OwnedFd>; MAX_DESCRIPTORS],
}

/// Connects to a listening socket. Blocks only as long as its backlog is full.
///
/// # Errors
/// The kernel's: no such file, nobody listening, another kind of socket.
pub fn connect(path: &Path) -> io::Result<OwnedFd> {
    let socket = new_socket()?;
    let (directory, address) = address(path)?;
    // SAFETY: a live descriptor and a whole sockaddr_un.
    let result = unsafe { libc::connect(socket.as_raw_fd(), (&raw const address).cast(), ADDRESS_SIZE) };
    drop(directory);
    check(result)?;
    Ok(socket)
}

/// Listens at `path`, which must not exist.
///
/// # Errors
/// The kernel's.
pub fn listen(path: &Path) -> io::Result<OwnedFd> {
    let socket = new_socket()?;
    let (directory, address) = address(path)?;
    // SAFETY: a live descriptor and a whole sockaddr_un.
    let result = unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), ADDRESS_SIZE) };
    drop(directory);
    check(result)?;
    // SAFETY: plain call on our own descriptor.
    check(unsafe { libc::listen(socket.as_raw_fd(), 128) })?;
    Ok(socket)
}

/// Accepts one connection; blocks or not as the listener does, the new socket never blocks.
///
/// # Errors
/// The kernel's; `WouldBlock` if nobody is waiting.
pub fn accept(listener: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    let flags = libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
    // SAFETY: no address is asked for.
    let fd = unsafe { libc::accept4(listener.as_raw_fd(), std::ptr::null_mut(), std::ptr::null_mut(), flags) };
    check(fd)?;
    // SAFETY: a new descriptor that nobody else owns.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Sends one packet with descriptors beside it. Never raises SIGPIPE.
///
/// # Errors
/// The kernel's; too many descriptors is `InvalidInput`.
pub fn send(socket: BorrowedFd<'_>, packet: &[u8], descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
    if descriptors.len() > MAX_DESCRIPTORS {
        return Err(io::Error::from(io::ErrorKind::InvalidInput));
    }
    let mut control = Control([0; 64]);
    let mut part = libc::iovec { iov_base: packet.as_ptr().cast_mut().cast(), iov_len: packet.len() };
    let mut header = empty_header(&mut part);
    if !descriptors.is_empty() {
        attach(&mut header, &mut control, descriptors);
    }
    loop {
        // SAFETY: header, packet and control live through the call.
        let sent = unsafe { libc::sendmsg(socket.as_raw_fd(), &raw const header, libc::MSG_NOSIGNAL) };
        match check_size(sent) {
            Ok(_) => return Ok(()),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
}

/// Receives one packet; waits if the socket blocks.
///
/// # Errors
/// The kernel's; a packet longer than `buffer` is `InvalidData` (and is gone).
pub fn receive(socket: BorrowedFd<'_>, buffer: &mut [u8]) -> io::Result<Received> {
    let mut control = Control([0; 64]);
    let mut part = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    let mut header = empty_header(&mut part);
    header.msg_control = control.0.as_mut_ptr().cast();
    header.msg_controllen = control.0.len();
    let len = loop {
        // SAFETY: header, buffer and control live through the call and are as long as the header says.
        let got = unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut header, libc::MSG_CMSG_CLOEXEC) };
        match check_size(got) {
            Ok(len) => break len,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    };
    let received = Received { len, descriptors: detach(&header) };
    if header.msg_flags & (libc::MSG_TRUNC | libc::MSG_CTRUNC) != 0 {
        return Err(io::Error::from(io::ErrorKind::InvalidData));
    }
    Ok(received)
}

/// Who connected, as the kernel knows it, in this process's namespaces.
///
/// # Errors
/// The kernel's.
pub fn peer(socket: BorrowedFd<'_>) -> io::Result<libc::ucred> {
    let mut peer = MaybeUninit::<libc::ucred>::zeroed();
    let mut len = libc::socklen_t::try_from(size_of::<libc::ucred>()).map_err(io::Error::other)?;
    // SAFETY: the buffer is as long as `len` says.
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            peer.as_mut_ptr().cast(),
            &raw mut len,
        )
    };
    check(result)?;
    // SAFETY: plain integers, zeroed or filled by the successful call.
    Ok(unsafe { peer.assume_init() })
}

#[allow(clippy::cast_possible_truncation, reason = "110 bytes")]
const ADDRESS_SIZE: libc::socklen_t = size_of::<libc::sockaddr_un>() as libc::socklen_t;

fn new_socket() -> io::Result<OwnedFd> {
    // SAFETY: no pointers.
    let fd = unsafe { libc::socket(libc::AF_UNIX, libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC, 0) };
    check(fd)?;
    // SAFETY: a new descriptor that nobody else owns.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// The address of `path`. A path too long for the 108 bytes of an address is named through a descriptor of its directory,
/// which must live as long as the address is in use.
fn address(path: &Path) -> io::Result<(Option<OwnedFd>, libc::sockaddr_un)> {
    match short_address(path) {
        Some(address) => Ok((None, address)),
        None => {
            let directory = open_directory(path.parent().unwrap_or(Path::new(".")))?;
            let name = path.file_name().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
            let short = Path::new("/proc/self/fd").join(directory.as_raw_fd().to_string()).join(name);
            let address = short_address(&short).ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
            Ok((Some(directory), address))
        }
    }
}

fn short_address(path: &Path) -> Option<libc::sockaddr_un> {
    let mut address =
        libc::sockaddr_un { sun_family: libc::sa_family_t::try_from(libc::AF_UNIX).ok()?, sun_path: [0; 108] };
    let bytes = path.as_os_str().as_bytes();
    // One byte is left for the end of the string.
    if bytes.len() >= address.sun_path.len() || bytes.is_empty() {
        return None;
    }
    for (slot, byte) in address.sun_path.iter_mut().zip(bytes) {
        *slot = libc::c_char::from_ne_bytes([*byte]);
    }
    Some(address)
}

fn open_directory(path: &Path) -> io::Result<OwnedFd> {
    let path = std::ffi::CString::new(path.as_os_str().as_bytes())?;
    // SAFETY: a C string and flags.
    let fd = unsafe { libc::open(path.as_ptr(), libc::O_PATH | libc::O_DIRECTORY | libc::O_CLOEXEC) };
    check(fd)?;
    // SAFETY: a new descriptor that nobody else owns.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

fn empty_header(part: &mut libc::iovec) -> libc::msghdr {
    // SAFETY: a zeroed msghdr is a valid empty one (it has private padding on some targets, so no literal).
    let mut header: libc::msghdr = unsafe { std::mem::zeroed() };
    header.msg_iov = part;
    header.msg_iovlen = 1;
    header
}

fn attach(header: &mut libc::msghdr, control: &mut Control, descriptors: &[BorrowedFd<'_>]) {
    let payload = u32::try_from(size_of_val(descriptors)).unwrap_or(0);
    header.msg_control = control.0.as_mut_ptr().cast();
    // SAFETY: pure arithmetic.
    header.msg_controllen = unsafe { libc::CMSG_SPACE(payload) } as usize;
    // SAFETY: the header's control part is as long as it says and has room for one message.
    let first = unsafe { libc::CMSG_FIRSTHDR(header) };
    // SAFETY: pure arithmetic.
    let len = unsafe { libc::CMSG_LEN(payload) } as usize;
    // SAFETY: `first` points into `control`, which is aligned for it and large enough.
    unsafe { first.write(libc::cmsghdr { cmsg_len: len, cmsg_level: libc::SOL_SOCKET, cmsg_type: libc::SCM_RIGHTS }) };
    for (i, fd) in descriptors.iter().enumerate() {
        // SAFETY: data of the message, within `control`.
        let data = unsafe { libc::CMSG_DATA(first) }.cast::<RawFd>();
        // SAFETY: `i` is below MAX_DESCRIPTORS, for which `control` has room.
        let place = unsafe { data.add(i) };
        // SAFETY: within `control`; may be unaligned in principle.
        unsafe { place.write_unaligned(fd.as_raw_fd()) };
    }
}

/// Takes the descriptors out of a received header. All of them are owned, so none leaks however many were sent.
fn detach(header: &libc::msghdr) -> [Option<OwnedFd>; MAX_DESCRIPTORS] {
    let mut out = [const { None }; MAX_DESCRIPTORS];
    // SAFETY: the kernel has filled the header.
    let mut message = unsafe { libc::CMSG_FIRSTHDR(header) };
    let mut places = out.iter_mut();
    while !message.is_null() {
        // SAFETY: not null: points to a whole message header within the control buffer.
        let head = unsafe { message.read() };
        if head.cmsg_level == libc::SOL_SOCKET && head.cmsg_type == libc::SCM_RIGHTS {
            // SAFETY: data of that message.
            let data = unsafe { libc::CMSG_DATA(message) }.cast::<RawFd>();
            // SAFETY: pure arithmetic.
            let overhead = unsafe { libc::CMSG_LEN(0) } as usize;
            for i in 0..head.cmsg_len.saturating_sub(overhead) / size_of::<RawFd>() {
                // SAFETY: the message says that it holds so many.
                let place = unsafe { data.add(i) };
                // SAFETY: as above; may be unaligned in principle.
                let fd = unsafe { place.read_unaligned() };
                // SAFETY: the kernel made this descriptor for us with this message; nobody else owns it.
                let fd = unsafe { OwnedFd::from_raw_fd(fd) };
                if let Some(place) = places.next() {
                    *place = Some(fd);
                }
            }
        }
        // SAFETY: header and message as the kernel left them.
        message = unsafe { libc::CMSG_NXTHDR(header, message) };
    }
    out
}

fn check(result: i32) -> io::Result<i32> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

fn check_size(result: isize) -> io::Result<usize> {
    usize::try_from(result).map_err(|_| io::Error::last_os_error())
}
