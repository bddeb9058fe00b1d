//! Finding the server, and starting one where that is allowed.
//!
//! Looked at in this order: `MGPU_SIM_SOCKET` and nothing else when it is set; `/run/mgpu-sim/socket` (mounted like a
//! device node); `mgpu-sim/socket` in `$XDG_RUNTIME_DIR`, or in `/tmp/mgpu-sim-<uid>` without one. Only the last is ever
//! started, and only outside containers: who names a socket, or mounts one, runs its server.

use crate::types::Error;
use std::ffi::{CStr, OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Where a device node would be mounted.
const MOUNTED: &str = "/run/mgpu-sim/socket";

/// A server that was started by a client goes when it had none for so many seconds.
const IDLE_SECONDS: &str = "60";

/// A connected socket.
pub(super) fn server() -> Result<UnixStream, Error> {
    if let Some(path) = std::env::var_os("MGPU_SIM_SOCKET").filter(|path| !path.is_empty()) {
        return UnixStream::connect(path).map_err(|_| Error::NoServer);
    }
    let own = own_socket();
    for path in [Path::new(MOUNTED), &own] {
        if let Ok(socket) = UnixStream::connect(path) {
            return Ok(socket);
        }
    }
    if may_start() && start(&own).is_some() {
        return UnixStream::connect(own).map_err(|_| Error::NoServer);
    }
    Err(Error::NoServer)
}

/// The user's own socket.
fn own_socket() -> PathBuf {
    let base = match std::env::var_os("XDG_RUNTIME_DIR").filter(|path| !path.is_empty()) {
        Some(path) => PathBuf::from(path),
        // SAFETY: always succeeds.
        None => PathBuf::from(format!("/tmp/mgpu-sim-{}", unsafe { libc::getuid() })),
    };
    base.join("mgpu-sim/socket")
}

/// `MGPU_SIM_START` = `always` or `never` decides; else only outside containers.
fn may_start() -> bool {
    match std::env::var("MGPU_SIM_START").as_deref() {
        Ok("always") => true,
        Ok("never") => false,
        _ => !in_container(),
    }
}

/// A guess by what the usual runtimes leave behind. One that leaves nothing (a bare pid namespace) counts as well.
fn in_container() -> bool {
    /// Inode of the first pid namespace, fixed by the kernel (`PROC_PID_INIT_INO`).
    const FIRST_PID_NAMESPACE: &str = "pid:[4026531836]";
    let marked = ["/.dockerenv", "/run/.containerenv"].iter().any(|path| Path::new(path).exists());
    let namespace = std::fs::read_link("/proc/self/ns/pid").ok();
    let nested = namespace.is_some_and(|name| name.as_os_str() != FIRST_PID_NAMESPACE);
    let groups = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let grouped = ["docker", "kubepods", "libpod", "containerd", "/lxc"].iter().any(|name| groups.contains(name));
    marked || nested || grouped || std::env::var_os("container").is_some()
}

/// The server's program: `MGPU_SIM_SERVER`, else beside the library (or program) that this code is in.
fn program() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os("MGPU_SIM_SERVER").filter(|path| !path.is_empty()) {
        return Some(path.into());
    }
    // SAFETY: plain data for dladdr to fill.
    let mut info: libc::Dl_info = unsafe { std::mem::zeroed() };
    let here: fn() -> Option<PathBuf> = program;
    // SAFETY: any address may be asked about.
    let known = unsafe { libc::dladdr(here as *const libc::c_void, &raw mut info) };
    if known == 0 || info.dli_fname.is_null() {
        return None;
    }
    // SAFETY: dladdr gave a C string that lives as long as the library.
    let name = unsafe { CStr::from_ptr(info.dli_fname) };
    let library = std::fs::canonicalize(OsStr::from_bytes(name.to_bytes())).ok()?;
    Some(library.with_file_name("mgpu-sim"))
}

/// Runs `mgpu-sim serve --detach`, which returns when the server listens (or another one does already).
fn start(socket: &Path) -> Option<()> {
    let mut command = Command::new(program()?);
    command.arg("serve").arg("--detach").arg("--exit-when-idle").arg(IDLE_SECONDS).arg("--socket").arg(socket);
    for (name, option) in
        [("MGPU_SIM_PROFILE", "--profile"), ("MGPU_SIM_SEED", "--seed"), ("MGPU_SIM_DEVICES", "--devices")]
    {
        if let Some(value) = std::env::var_os(name).filter(|value| !value.is_empty()) {
            command.arg(option).arg(value);
        }
    }
    let ours = |name: &OsString| name.as_bytes().starts_with(b"MGPU_") || name.as_bytes().starts_with(b"LD_");
    for (name, _) in std::env::vars_os().filter(|(name, _)| ours(name)) {
        command.env_remove(name);
    }
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).current_dir("/");
    // An application that reaps all children may have reaped this one: the connection that follows tells.
    command.spawn().ok()?.wait().ok();
    Some(())
}
