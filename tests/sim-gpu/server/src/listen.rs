//! Taking possession of the socket's path: one server for each, and what a dead one left is cleared away.

use rustix::fs::{FlockOperation, flock};
use std::fs::{File, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

/// A listening socket, and the lock that says so. Both go when it is dropped.
#[derive(Debug)]
pub(crate) struct Listener {
    pub(crate) socket: UnixListener,
    path: PathBuf,
    _lock: File,
}

/// Why there is no listener.
#[derive(Debug)]
pub(crate) enum Refused {
    /// A live server has the path.
    Taken,
    /// Something else.
    Failed(io::Error),
}

impl From<io::Error> for Refused {
    fn from(error: io::Error) -> Self {
        Self::Failed(error)
    }
}

impl Listener {
    /// Listens at `path`, for everybody who can reach it, as a device node would be. Makes its folder (0700) if needed.
    pub(crate) fn at(path: &Path) -> Result<Self, Refused> {
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        }
        let mut lock_path = path.as_os_str().to_owned();
        lock_path.push(".lock");
        let lock = File::options().create(true).truncate(false).write(true).open(lock_path)?;
        match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(rustix::io::Errno::WOULDBLOCK) => return Err(Refused::Taken),
            Err(error) => return Err(Refused::Failed(error.into())),
        }
        // The lock is ours, so whoever made this socket is dead.
        match std::fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(Refused::Failed(error)),
            _ => {}
        }
        let socket = UnixListener::bind(path)?;
        socket.set_nonblocking(true)?;
        std::fs::set_permissions(path, Permissions::from_mode(0o666))?;
        Ok(Self { socket, path: path.to_owned(), _lock: lock })
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        // Best effort: the next server clears it away too. The lock file stays, or two servers could hold two of them.
        let _ = std::fs::remove_file(&self.path);
    }
}
