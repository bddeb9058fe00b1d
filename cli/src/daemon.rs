//! Finding a coordinator, starting a per-user one, and asking it. Knows sockets and messages, nothing of what is asked.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, OpenOptionsExt};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use mgpu_protocol::control::{Request, Response};

use crate::failure::Failure;

/// A coordinator that does not answer for so long is broken.
const ANSWER: Duration = Duration::from_secs(20);
/// A coordinator that was just started answers within this.
const READY: Duration = Duration::from_secs(15);
/// Distance of two looks whether it does.
const LOOK: Duration = Duration::from_millis(5);

const SYSTEM_DIR: &str = "/run/mgpu";

/// A connection to a coordinator.
#[derive(Debug)]
pub(crate) struct Daemon {
    stream: BufReader<UnixStream>,
    path: PathBuf,
}

/// Where this user's coordinators may be, the one to ask first first; the last is where a new one is started.
fn places(explicit: Option<&Path>) -> Vec<PathBuf> {
    if let Some(path) = explicit {
        return vec![path.to_owned()];
    }
    vec![PathBuf::from(SYSTEM_DIR), user_dir()]
}

/// The same rule as `mgpud --user` has.
pub(crate) fn user_dir() -> PathBuf {
    match std::env::var_os("XDG_RUNTIME_DIR") {
        Some(dir) if !dir.is_empty() => PathBuf::from(dir).join("mgpu"),
        _ => PathBuf::from(format!("/tmp/mgpu-{}", rustix::process::geteuid().as_raw())),
    }
}

impl Daemon {
    /// Connects to a coordinator that runs.
    ///
    /// # Errors
    /// A socket is there that can't be trusted. `Ok(None)`: none runs.
    pub(crate) fn find(explicit: Option<&Path>) -> Result<Option<Self>, Failure> {
        for place in places(explicit) {
            if let Some(found) = Self::connect(&place)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// As [`Self::find`], but none is an error.
    pub(crate) fn expect(explicit: Option<&Path>) -> Result<Self, Failure> {
        Self::find(explicit)?.ok_or_else(|| {
            let places: Vec<String> = places(explicit).iter().map(|p| p.display().to_string()).collect();
            Failure::environment(format!(
                "no coordinator answers in {}: start mgpud, or name its directory by --runtime-dir",
                places.join(" or ")
            ))
        })
    }

    /// Connects, after starting a per-user coordinator if none runs.
    pub(crate) fn find_or_start(explicit: Option<&Path>) -> Result<Self, Failure> {
        if let Some(found) = Self::find(explicit)? {
            return Ok(found);
        }
        start_detached(explicit)?;
        Self::expect(explicit)
    }

    fn connect(place: &Path) -> Result<Option<Self>, Failure> {
        let path = place.join("control.sock");
        let found = match fs::symlink_metadata(&path) {
            Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied) => return Ok(None),
            Err(e) => return Err(Failure::environment(format!("{}: {e}", path.display()))),
            Ok(found) => found,
        };
        let me = rustix::process::geteuid().as_raw();
        if !found.file_type().is_socket() {
            return Err(Failure::input(format!(
                "{} is not a coordinator's socket (it is no socket at all): remove it or name another runtime directory",
                path.display()
            )));
        }
        if found.uid() != me && found.uid() != 0 {
            return Err(Failure::input(format!(
                "{} belongs to user {}, neither to you ({me}) nor to root: it is not asked",
                path.display(),
                found.uid()
            )));
        }
        match UnixStream::connect(&path) {
            Ok(stream) => {
                let _ = stream.set_read_timeout(Some(ANSWER));
                Ok(Some(Self { stream: BufReader::new(stream), path }))
            }
            Err(e) if matches!(e.kind(), io::ErrorKind::ConnectionRefused | io::ErrorKind::NotFound) => Ok(None),
            Err(e) if e.kind() == io::ErrorKind::PermissionDenied => Err(Failure::environment(format!(
                "{}: this coordinator takes commands from user {} and root alone, you are user {me}: ask as one of them",
                path.display(),
                found.uid()
            ))),
            Err(e) => Err(Failure::environment(format!("{}: {e}", path.display()))),
        }
    }

    /// Asks one question. `Ok(None)`: the coordinator went before it answered.
    ///
    /// # Errors
    /// It refuses (its message, exit code 2), or makes no sense.
    pub(crate) fn ask(&mut self, request: &Request) -> Result<Option<Response>, Failure> {
        let broken = |e: &dyn std::fmt::Display| Failure::environment(format!("{}: {e}", self.path.display()));
        let mut text = serde_json::to_string(request).map_err(|e| broken(&e))?;
        text.push('\n');
        let mut line = String::new();
        let sent = self.stream.get_mut().write_all(text.as_bytes());
        match sent.and_then(|()| self.stream.read_line(&mut line)) {
            Ok(0) => return Ok(None),
            Ok(_) => {}
            Err(e) if matches!(e.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset) => {
                return Ok(None);
            }
            Err(e) => return Err(Failure::environment(format!("{}: no answer: {e}", self.path.display()))),
        }
        match serde_json::from_str(&line).map_err(|e| broken(&e))? {
            Response::Error { message } => Err(Failure::input(message)),
            response => Ok(Some(response)),
        }
    }

    /// As [`Self::ask`], but an answer is expected.
    pub(crate) fn command(&mut self, request: &Request) -> Result<Response, Failure> {
        let path = self.path.clone();
        self.ask(request)?
            .ok_or_else(|| Failure::environment(format!("{}: the coordinator went without an answer", path.display())))
    }
}

/// Starts a per-user coordinator as nobody's child: this process becomes the program, which must not inherit one. So a copy of
/// this command starts it, waits until it answers, and ends.
fn start_detached(explicit: Option<&Path>) -> Result<(), Failure> {
    let me = std::env::current_exe().map_err(|e| Failure::environment(format!("my own path: {e}")))?;
    let mut command = Command::new(me);
    if let Some(dir) = explicit {
        command.arg("--runtime-dir").arg(dir);
    }
    let status = command
        .arg("start-daemon")
        .env_remove("LD_PRELOAD")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status()
        .map_err(|e| Failure::environment(format!("a coordinator can't be started: {e}")))?;
    // It has told why.
    if status.success() { Ok(()) } else { Err(Failure::environment("no coordinator, so nothing was started")) }
}

/// `mgpu start-daemon`: starts `mgpud --user --exit-when-idle` and waits until somebody answers there.
pub(crate) fn start(explicit: Option<&Path>) -> Result<(), Failure> {
    let dir = explicit.map_or_else(user_dir, Path::to_owned);
    let log = open_log(&dir)?;
    let started = start_in(&dir, log);
    // What it said has been told. Where anything else stands, somebody else has the directory, or had it.
    if started.is_err() && fs::read_dir(&dir).is_ok_and(|found| found.flatten().all(|e| e.file_name() == LOG)) {
        let _ = fs::remove_file(dir.join(LOG));
        let _ = fs::remove_dir(&dir);
    }
    started
}

fn start_in(dir: &Path, log: File) -> Result<(), Failure> {
    let program = mgpud_path();
    let copy = log.try_clone().map_err(|e| Failure::environment(format!("{}: {e}", dir.display())))?;
    let mut child = Command::new(&program)
        .args(["--user", "--exit-when-idle", "--runtime-dir"])
        .arg(dir)
        .env_remove("LD_PRELOAD")
        .stdin(Stdio::null())
        .stdout(Stdio::from(copy))
        .stderr(Stdio::from(log))
        // Signals of the terminal are for the program, not for the coordinator of all programs.
        .process_group(0)
        .spawn()
        .map_err(|e| Failure::environment(format!("{}: {e} (MGPU_MGPUD names the coordinator)", program.display())))?;
    let deadline = Instant::now() + READY;
    let mut ended = None;
    while Instant::now() < deadline {
        if Daemon::connect(dir)?.is_some() {
            return Ok(());
        }
        if ended.is_none() {
            ended = child.try_wait().ok().flatten().map(|status| (status, Instant::now()));
        }
        // Another command may have been quicker: then ours refuses and theirs answers soon.
        if let Some((status, at)) = ended
            && at.elapsed() > Duration::from_millis(500)
        {
            return Err(Failure::environment(format!(
                "the coordinator did not start ({status}):\n{}",
                last_words(&dir.join(LOG))
            )));
        }
        std::thread::sleep(LOOK);
    }
    let _ = child.kill();
    Err(Failure::environment(format!(
        "the coordinator does not answer after {} s:\n{}",
        READY.as_secs(),
        last_words(&dir.join(LOG))
    )))
}

const LOG: &str = "mgpud.log";

/// The log of a coordinator that this command starts: in its runtime directory, which must be ours.
fn open_log(dir: &Path) -> Result<File, Failure> {
    match fs::DirBuilder::new().mode(0o700).create(dir) {
        Err(e) if e.kind() != io::ErrorKind::AlreadyExists => {
            return Err(Failure::environment(format!("runtime directory {}: {e}", dir.display())));
        }
        _ => {}
    }
    let found = fs::symlink_metadata(dir).map_err(|e| Failure::environment(format!("{}: {e}", dir.display())))?;
    let me = rustix::process::geteuid().as_raw();
    if !found.is_dir() || found.uid() != me || found.mode() & 0o022 != 0 {
        return Err(Failure::input(format!(
            "runtime directory {} can't be used: it must be a directory of user {me} that nobody else may write to",
            dir.display()
        )));
    }
    let path = dir.join(LOG);
    File::options()
        .append(true)
        .create(true)
        .mode(0o600)
        .open(&path)
        .map_err(|e| Failure::environment(format!("{}: {e}", path.display())))
}

/// The lines by which a coordinator said why it ended.
fn last_words(log: &Path) -> String {
    let text = fs::read_to_string(log).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    lines.iter().rev().take(3).rev().copied().collect::<Vec<_>>().join("\n")
}

/// `MGPU_MGPUD`, else beside this command, else by the search path.
fn mgpud_path() -> PathBuf {
    if let Some(path) = std::env::var_os("MGPU_MGPUD") {
        return PathBuf::from(path);
    }
    let beside = std::env::current_exe().ok().and_then(|me| Some(me.parent()?.join("mgpud")));
    beside.filter(|path| path.exists()).unwrap_or_else(|| PathBuf::from("mgpud"))
}
