//! The runtime directory and everything that stands in it by name: is it ours, and if not, say what is wrong. Identity hangs
//! on these paths (the listener *is* the tenant), so a path that another user could have prepared is refused, never repaired.

use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};

/// Why a path was refused; names the path, what is there, and what is needed.
#[derive(Debug)]
pub(crate) struct PathError(pub(crate) String);

impl std::fmt::Display for PathError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for PathError {}

/// Longest path of a Unix socket, in bytes.
const MAX_SOCKET_PATH: usize = 107;

/// Where a daemon of this kind lives unless told otherwise; the CLI and the shim know the same rule.
pub(crate) fn default_path(user: bool) -> PathBuf {
    if !user {
        return PathBuf::from("/run/mgpu");
    }
    match std::env::var_os("XDG_RUNTIME_DIR") {
        Some(dir) if !dir.is_empty() => PathBuf::from(dir).join("mgpu"),
        _ => PathBuf::from(format!("/tmp/mgpu-{}", rustix::process::geteuid().as_raw())),
    }
}

/// Makes a directory that is ours, or takes one that is.
///
/// # Errors
/// It is no directory, belongs to another user, others may write to it, or it can't be made.
pub(crate) fn own_directory(path: &Path, mode: u32) -> Result<(), PathError> {
    match fs::DirBuilder::new().mode(mode).create(path) {
        Ok(()) => {
            // The umask may have taken bits away that clients need to get through.
            return fs::set_permissions(path, fs::Permissions::from_mode(mode))
                .map_err(|e| PathError(format!("{}: {e}", path.display())));
        }
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            let parent = path.parent().unwrap_or(path);
            return Err(PathError(format!("{}: its parent {} does not exist", path.display(), parent.display())));
        }
        Err(e) => return Err(PathError(format!("{}: can't be made: {e}", path.display()))),
    }
    let found = fs::symlink_metadata(path).map_err(|e| PathError(format!("{}: {e}", path.display())))?;
    let me = rustix::process::geteuid().as_raw();
    if !found.is_dir() {
        return Err(PathError(format!("{} is not a directory: remove it or name another one", path.display())));
    }
    if found.uid() != me {
        return Err(PathError(format!(
            "{} belongs to user {}, not to user {me}: name a directory that is yours",
            path.display(),
            found.uid()
        )));
    }
    if found.mode() & 0o022 != 0 {
        return Err(PathError(format!(
            "{} may be written by others (mode {:o}): it must be {mode:o}",
            path.display(),
            found.mode() & 0o7777
        )));
    }
    Ok(())
}

/// Listens at `path`, in place of a dead daemon's socket if one is there.
///
/// # Errors
/// The path is too long, or something that is not our socket stands there.
pub(crate) fn listen(path: &Path, kind: SocketType, mode: u32) -> Result<OwnedFd, PathError> {
    let fail = |what: &str, e: io::Error| PathError(format!("{}: {what}: {e}", path.display()));
    let length = path.as_os_str().len();
    if length + 4 > MAX_SOCKET_PATH {
        return Err(PathError(format!(
            "socket path {} has {length} bytes: at most {} are possible, so choose a shorter runtime directory",
            path.display(),
            MAX_SOCKET_PATH - 4
        )));
    }
    ours_or_absent(path)?;
    // Bound under another name and moved, so that a client finds either the old inode or a listening one.
    let fresh = path.with_extension("new");
    match fs::remove_file(&fresh) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(fail("can't be replaced", e)),
        _ => {}
    }
    let socket =
        rustix::net::socket_with(AddressFamily::UNIX, kind, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK, None)
            .map_err(|e| fail("socket", e.into()))?;
    let address = SocketAddrUnix::new(&fresh).map_err(|e| fail("address", e.into()))?;
    rustix::net::bind(&socket, &address).map_err(|e| fail("bind", e.into()))?;
    fs::set_permissions(&fresh, fs::Permissions::from_mode(mode)).map_err(|e| fail("mode", e))?;
    rustix::net::listen(&socket, 128).map_err(|e| fail("listen", e.into()))?;
    fs::rename(&fresh, path).map_err(|e| fail("rename", e))?;
    Ok(socket)
}

/// Refuses a socket path at which something stands that we did not make.
fn ours_or_absent(path: &Path) -> Result<(), PathError> {
    let found = match fs::symlink_metadata(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(e) => return Err(PathError(format!("{}: {e}", path.display()))),
        Ok(found) => found,
    };
    if !found.file_type().is_socket() {
        return Err(PathError(format!("{} exists and is not a socket: it is not ours, so it stays", path.display())));
    }
    let me = rustix::process::geteuid().as_raw();
    if found.uid() != me {
        return Err(PathError(format!(
            "{} is a socket of user {}, not of user {me}: it is not ours, so it stays",
            path.display(),
            found.uid()
        )));
    }
    Ok(())
}

/// Writes a file by rename, so that a reader sees the old text or the new one and nothing between.
///
/// # Errors
/// Whatever the file system says.
pub(crate) fn write_by_rename(path: &Path, text: &str, mode: u32) -> io::Result<()> {
    let fresh = path.with_extension("new");
    fs::write(&fresh, text)?;
    fs::set_permissions(&fresh, fs::Permissions::from_mode(mode))?;
    fs::rename(&fresh, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scratch(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("mgpud-unit-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("scratch");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).expect("mode");
        path
    }

    #[test]
    fn a_file_in_place_of_the_directory_or_socket_is_refused_and_stays() {
        let dir = scratch("file");
        let path = dir.join("thing");
        fs::write(&path, "precious").expect("write");
        assert!(own_directory(&path, 0o700).expect_err("file").0.contains("not a directory"));
        assert!(listen(&path, SocketType::STREAM, 0o600).expect_err("file").0.contains("not a socket"));
        assert_eq!(fs::read_to_string(&path).expect("read"), "precious");
        fs::remove_dir_all(dir).expect("clean");
    }

    #[test]
    fn a_directory_that_others_may_write_to_is_refused() {
        let dir = scratch("open");
        fs::set_permissions(&dir, fs::Permissions::from_mode(0o777)).expect("mode");
        let error = own_directory(&dir, 0o700).expect_err("open to all").0;
        assert!(error.contains("777") && error.contains("700"), "{error}");
        fs::remove_dir_all(dir).expect("clean");
    }

    #[test]
    fn a_dead_socket_of_ours_is_replaced() {
        let dir = scratch("dead");
        let path = dir.join("socket");
        drop(listen(&path, SocketType::SEQPACKET, 0o600).expect("first"));
        let before = fs::metadata(&path).expect("there").ino();
        let _second = listen(&path, SocketType::SEQPACKET, 0o600).expect("second");
        assert_ne!(fs::metadata(&path).expect("there").ino(), before);
        fs::remove_dir_all(dir).expect("clean");
    }

    #[test]
    fn a_path_that_is_too_long_says_so() {
        let path = PathBuf::from(format!("/tmp/{}/socket", "x".repeat(120)));
        let error = listen(&path, SocketType::STREAM, 0o600).expect_err("too long").0;
        assert!(error.contains("at most"), "{error}");
    }
}
