//! Messages on a stream socket: a little-endian length, then that many bytes. Knows nothing of what they say.

use crate::sys::socket;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

/// Longest message that a client may send, bytes.
pub const LONGEST_REQUEST: usize = 4 << 20;
/// Longest message that a server may send, bytes (witness reports grow).
pub const LONGEST_RESPONSE: usize = 256 << 20;
/// Bytes of the length.
const HEAD: usize = 4;

/// `message` as a frame.
///
/// # Errors
/// `InvalidInput` when it cannot be encoded or its length not be written.
pub fn encode(message: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut bytes = postcard::to_extend(message, vec![0; HEAD]).map_err(|_| io::ErrorKind::InvalidInput)?;
    let length = u32::try_from(bytes.len() - HEAD).map_err(|_| io::ErrorKind::InvalidInput)?;
    bytes[..HEAD].copy_from_slice(&length.to_le_bytes());
    Ok(bytes)
}

/// Bytes on their way to being a message, and the files that came with them.
#[derive(Debug, Default)]
pub struct Inbox {
    bytes: Vec<u8>,
    files: Vec<OwnedFd>,
}

impl Inbox {
    /// Reads once. False when the peer has closed.
    ///
    /// # Errors
    /// What the socket says (`WouldBlock` included); `InvalidData` when more than 8 files pile up.
    pub fn fill(&mut self, from: &UnixStream) -> io::Result<bool> {
        let mut chunk = [0u8; 16_384];
        let got = socket::receive(from, &mut chunk, &mut self.files)?;
        if self.files.len() > 8 {
            return Err(io::ErrorKind::InvalidData.into());
        }
        self.bytes.extend_from_slice(&chunk[..got]);
        Ok(got > 0)
    }

    /// The next message, when it is all there.
    ///
    /// # Errors
    /// `InvalidData` when it is over `longest` bytes or not an `M`.
    pub fn next<M: DeserializeOwned>(&mut self, longest: usize) -> io::Result<Option<M>> {
        let Some(head) = self.bytes.first_chunk::<HEAD>() else { return Ok(None) };
        let length = u32::from_le_bytes(*head) as usize;
        if length > longest {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let Some(body) = self.bytes.get(HEAD..HEAD + length) else { return Ok(None) };
        let message = postcard::from_bytes(body).map_err(|_| io::ErrorKind::InvalidData)?;
        self.bytes.drain(..HEAD + length);
        Ok(Some(message))
    }

    /// The files that have come so far.
    pub fn take_files(&mut self) -> Vec<OwnedFd> {
        std::mem::take(&mut self.files)
    }
}

/// Sends a whole frame on a blocking socket, the files with its first byte.
///
/// # Errors
/// What the socket says.
pub fn send(to: &UnixStream, message: &impl Serialize, files: &[BorrowedFd<'_>]) -> io::Result<()> {
    let bytes = encode(message)?;
    let mut done = 0;
    while done < bytes.len() {
        let files = if done == 0 { files } else { &[] };
        match socket::send(to, &bytes[done..], files) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(sent) => done += sent,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Receives one message on a blocking socket.
///
/// # Errors
/// `UnexpectedEof` when the peer has closed; as [`Inbox::next`].
pub fn receive<M: DeserializeOwned>(from: &UnixStream, inbox: &mut Inbox) -> io::Result<M> {
    loop {
        if let Some(message) = inbox.next(LONGEST_RESPONSE)? {
            return Ok(message);
        }
        match inbox.fill(from) {
            Ok(true) => {}
            Ok(false) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rpc::{Hello, Request};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_bytes_are_a_crash(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let mut inbox = Inbox { bytes: bytes.clone(), files: Vec::new() };
            while let Ok(Some(_)) = inbox.next::<Request>(LONGEST_REQUEST) {}
            let mut inbox = Inbox { bytes, files: Vec::new() };
            while let Ok(Some(_)) = inbox.next::<Hello>(LONGEST_REQUEST) {}
        }

        #[test]
        fn a_message_survives_any_cut(cut in 0usize..40, name in "[a-z]{0,20}") {
            let request = Request::Unimplemented { name };
            let bytes = encode(&request).expect("encodable");
            let cut = cut.min(bytes.len());
            let mut inbox = Inbox { bytes: bytes[..cut].to_vec(), files: Vec::new() };
            if cut < bytes.len() {
                prop_assert_eq!(inbox.next::<Request>(LONGEST_REQUEST).expect("no lie so far"), None);
            }
            inbox.bytes.extend_from_slice(&bytes[cut..]);
            prop_assert_eq!(inbox.next::<Request>(LONGEST_REQUEST).expect("whole"), Some(request));
        }
    }

    #[test]
    fn a_length_beyond_the_bound_is_refused_before_its_bytes_come() {
        let mut inbox = Inbox { bytes: vec![0xff; 4], files: Vec::new() };
        assert!(inbox.next::<Request>(LONGEST_REQUEST).is_err());
    }
}
