//! One coordinator per device: a `flock` on a file per UUID in a directory that all daemons of a node share. The kernel drops
//! the lock with its holder, so a dead daemon never blocks a new one; the file's text only tells who holds it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, OFlags};

use crate::runtime_dir::PathError;

/// Both places of the lock directory, best first: /run does not outlive a boot and nobody tidies it.
const PLACES: [&str; 2] = ["/run/lock/mgpu", "/tmp/mgpu-locks"];

/// Held while it lives.
#[derive(Debug)]
pub(crate) struct DeviceLock {
    _file: File,
}

/// Why something could not be taken.
#[derive(Debug)]
pub(crate) enum Taken {
    /// Another daemon has it, and may be about to go.
    By {
        /// Its control socket, if it told.
        socket: Option<PathBuf>,
        /// For people.
        error: PathError,
    },
    /// It can't be taken at all.
    Never(PathError),
}

impl From<PathError> for Taken {
    fn from(error: PathError) -> Self {
        Self::Never(error)
    }
}

/// Where to look for locks, and where to take ours.
#[derive(Debug)]
pub(crate) struct LockDirectory {
    /// Ours are taken here.
    path: PathBuf,
    /// Daemons that could not use `path` lock here: looked at, never made.
    other: Option<PathBuf>,
}

impl LockDirectory {
    /// Finds or makes the directory: `explicit`, else the best of the usual places that this user can lock in.
    ///
    /// # Errors
    /// It can't be made, or is no directory.
    pub(crate) fn open(explicit: Option<PathBuf>) -> Result<Self, PathError> {
        if let Some(path) = explicit {
            make(&path)?;
            return Ok(Self { path, other: None });
        }
        Self::best_of(PLACES.map(PathBuf::from))
    }

    fn best_of([best, second]: [PathBuf; 2]) -> Result<Self, PathError> {
        if make(&best).is_ok() {
            return Ok(Self { path: best, other: Some(second) });
        }
        make(&second)?;
        Ok(Self { path: second, other: Some(best) })
    }

    /// Takes a device for the daemon whose control socket is `socket`.
    ///
    /// # Errors
    /// Another daemon has it: names its pid and socket.
    pub(crate) fn take(&self, uuid: &str, socket: &Path) -> Result<DeviceLock, Taken> {
        let name = format!("{uuid}.lock");
        let path = self.path.join(&name);
        let mut file = open_or_make(&path).map_err(|e| PathError(format!("lock {}: {e}", path.display())))?;
        if rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
            return Err(held(uuid, file));
        }
        // Looked at with ours in hand: of two daemons with different places, at least one sees the other.
        if let Some(other) = &self.other
            && let Ok(file) = open_existing(&other.join(&name))
            && rustix::fs::flock(&file, FlockOperation::NonBlockingLockShared).is_err()
        {
            return Err(held(uuid, file));
        }
        let text = format!("pid = {}\nsocket = {}\n", std::process::id(), socket.display());
        let told = file.set_len(0).and_then(|()| file.write_all(text.as_bytes()));
        told.map_err(|e| PathError(format!("lock {}: {e}", path.display())))?;
        Ok(DeviceLock { _file: file })
    }
}

fn held(uuid: &str, mut file: File) -> Taken {
    let mut owner = String::new();
    let _ = Read::by_ref(&mut file).take(4096).read_to_string(&mut owner);
    let socket = owner.lines().find_map(|line| line.strip_prefix("socket = ")).map(PathBuf::from);
    let owner = owner.trim().replace('\n', ", ");
    let owner = if owner.is_empty() { "it has not said who it is" } else { &owner };
    let error = PathError(format!(
        "device {uuid} has a coordinator already ({owner}); a device has one, so this one does not start"
    ));
    Taken::By { socket, error }
}

fn make(path: &Path) -> Result<(), PathError> {
    let fail = |e: io::Error| PathError(format!("lock directory {}: {e}", path.display()));
    match fs::DirBuilder::new().mode(0o1777).create(path) {
        Ok(()) => fs::set_permissions(path, fs::Permissions::from_mode(0o1777)).map_err(fail)?,
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
        Err(e) => return Err(fail(e)),
    }
    let found = fs::symlink_metadata(path).map_err(fail)?;
    if !found.is_dir() {
        return Err(PathError(format!("lock directory {} is not a directory", path.display())));
    }
    let me = rustix::process::geteuid().as_raw();
    if found.uid() != me && found.mode() & 0o1002 != 0o1002 {
        return Err(PathError(format!(
            "lock directory {} belongs to user {} and is not open to all (mode {:o}, 1777 is needed)",
            path.display(),
            found.uid(),
            found.mode() & 0o7777
        )));
    }
    Ok(())
}

/// Without O_CREAT: in a sticky directory the kernel refuses O_CREAT on a file of another user, even one that may be written.
fn open_existing(path: &Path) -> io::Result<File> {
    let flags = i32::try_from((OFlags::NOFOLLOW | OFlags::CLOEXEC).bits()).unwrap_or_default();
    OpenOptions::new().read(true).write(true).custom_flags(flags).open(path)
}

fn open_or_make(path: &Path) -> io::Result<File> {
    for _ in 0..8 {
        match open_existing(path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            result => return result,
        }
        match OpenOptions::new().read(true).write(true).create_new(true).mode(0o666).open(path) {
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
            Ok(file) => {
                file.set_permissions(fs::Permissions::from_mode(0o666))?;
                return Ok(file);
            }
            Err(e) => return Err(e),
        }
    }
    Err(io::Error::other("it comes and goes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_is_told_who_the_first_is_and_gets_the_lock_after_it() {
        let dir = std::env::temp_dir().join(format!("mgpud-unit-lock-{}", std::process::id()));
        let locks = LockDirectory::open(Some(dir.clone())).expect("directory");
        let first = locks.take("GPU-1", Path::new("/run/a/control.sock")).expect("first");
        let Err(Taken::By { socket, error }) = locks.take("GPU-1", Path::new("/run/b/control.sock")) else {
            panic!("the second took it")
        };
        assert_eq!(socket.as_deref(), Some(Path::new("/run/a/control.sock")));
        let pid = std::process::id().to_string();
        assert!(error.0.contains(&pid) && error.0.contains("/run/a/control.sock"), "{error}");
        locks.take("GPU-2", Path::new("/run/b/control.sock")).expect("another device");
        drop(first);
        locks.take("GPU-1", Path::new("/run/b/control.sock")).expect("after the first has gone");
        fs::remove_dir_all(dir).expect("clean");
    }

    /// A file stands for a place that this user can't make a directory in: that goes for root, too.
    #[test]
    fn daemons_that_lock_in_different_places_see_each_other() {
        let dir = std::env::temp_dir().join(format!("mgpud-unit-lock-places-{}", std::process::id()));
        fs::create_dir_all(&dir).expect("directory");
        fs::write(dir.join("file"), "").expect("file");
        let (run, tmp) = (dir.join("run"), dir.join("tmp"));
        let fallback = || {
            let locks = LockDirectory::best_of([dir.join("file/mgpu"), tmp.clone()]).expect("the second place");
            // What it would look like to one that can't use the directory that another one can.
            LockDirectory { other: Some(run.clone()), ..locks }
        };
        let best = LockDirectory::best_of([run.clone(), tmp.clone()]).expect("the best place");
        assert_eq!((best.path.as_path(), fallback().path.as_path()), (run.as_path(), tmp.as_path()));
        let socket = Path::new("/run/a/control.sock");
        let held = best.take("GPU-1", socket).expect("first");
        assert!(matches!(fallback().take("GPU-1", socket), Err(Taken::By { .. })), "the fallback overlooked it");
        drop(held);
        let held = fallback().take("GPU-1", socket).expect("after the first has gone");
        assert!(matches!(best.take("GPU-1", socket), Err(Taken::By { .. })), "the best place overlooked it");
        drop(held);
        best.take("GPU-1", socket).expect("after the second has gone");
        fs::remove_dir_all(dir).expect("clean");
    }
}
