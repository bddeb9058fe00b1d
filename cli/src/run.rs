//! `mgpu run`: check, ask for a tenant, become the program. Nothing is started before everything that can be checked has been.

use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use mgpu_coordinator_core::{Admission, DeviceRules, Request as Wish, admission};
use mgpu_protocol::control::{Request, Response, Settings};
use mgpu_protocol::units::Bytes;

use crate::args::RunArgs;
use crate::daemon::Daemon;
use crate::failure::Failure;
use crate::shim::{self, ShimVersion};

/// A coordinator that goes while we ask (its last tenant has just gone) is replaced within this.
const PATIENCE: Duration = Duration::from_secs(20);

/// Becomes the program; returns only if that fails.
pub(crate) fn run(runtime_dir: Option<&Path>, args: RunArgs) -> Failure {
    match prepare(runtime_dir, &args) {
        Ok(mut command) => {
            let error = command.exec();
            Failure::program(format!("{}: {error}", command.get_program().display()), true)
        }
        Err(failure) => failure,
    }
}

fn prepare(runtime_dir: Option<&Path>, args: &RunArgs) -> Result<Command, Failure> {
    let settings = settings(args);
    check(&settings)?;
    let (program, arguments) = args.program.split_first().ok_or_else(|| Failure::input("no program given"))?;
    let path = find_program(program)?;
    let shim = shim::find()?;
    let shim_version = shim::version(&shim)?;
    let (directory, devices) = create(runtime_dir, &settings, &shim, &shim_version)?;
    let mut command = Command::new(path);
    command.arg0(program).args(arguments).env("LD_PRELOAD", preload(&shim)).env("MGPU_DIR", directory);
    if !settings.devices.is_empty() {
        command.env("CUDA_VISIBLE_DEVICES", devices.join(","));
    }
    Ok(command)
}

fn settings(args: &RunArgs) -> Settings {
    Settings {
        name: args.name.clone(),
        memory: args.tenant.memory,
        share: args.tenant.share,
        class: args.tenant.class.clone(),
        weight: args.tenant.weight,
        policy: args.policy.clone(),
        devices: args.devices.clone(),
    }
}

/// What no device could give is refused before a coordinator is started; the coordinator checks again, with its devices.
pub(crate) fn check(settings: &Settings) -> Result<(), Failure> {
    let refuse = |e: &dyn std::fmt::Display| Failure::input(e.to_string());
    let wish = Wish {
        memory: settings.memory.map(Bytes),
        share: settings.share,
        class: settings.class.as_deref().map(str::parse).transpose().map_err(|e| refuse(&e))?,
        weight: settings.weight,
        policy: settings.policy.as_deref().map(str::parse).transpose().map_err(|e| refuse(&e))?,
    };
    let devices = u32::try_from(settings.devices.len().max(1)).unwrap_or(u32::MAX);
    let each = admission::divide(&wish, devices).map_err(|e| refuse(&e))?;
    let any_device = DeviceRules { memory: Bytes(1 << 50), reserve: Bytes(0), overcommit: true, policy: None };
    // A device that needs shares is for the coordinator to know.
    let each = Wish { policy: None, ..each };
    Admission::new(any_device).check(&each).map(|_| ()).map_err(|e| refuse(&e))
}

fn create(
    runtime_dir: Option<&Path>,
    settings: &Settings,
    shim: &Path,
    shim_version: &ShimVersion,
) -> Result<(String, Vec<String>), Failure> {
    let request = Request::Create { settings: settings.clone(), pid: std::process::id() };
    let deadline = Instant::now() + PATIENCE;
    while Instant::now() < deadline {
        let mut daemon = Daemon::find_or_start(runtime_dir)?;
        match daemon.ask(&Request::Version)? {
            Some(Response::Version { daemon, protocol, page, .. }) => {
                check_versions(&daemon, protocol, page, shim, shim_version)?;
            }
            Some(other) => return Err(Failure::environment(format!("the coordinator answers {other:?} to a version"))),
            None => continue,
        }
        match daemon.ask(&request)? {
            Some(Response::Created { directory, devices, .. }) => return Ok((directory, devices)),
            Some(other) => return Err(Failure::environment(format!("the coordinator answers {other:?} to a tenant"))),
            // An idle per-user coordinator was about to go: the next one will serve.
            None => {}
        }
    }
    Err(Failure::environment("coordinators come and go without an answer"))
}

fn check_versions(daemon: &str, protocol: u16, page: u16, shim: &Path, version: &ShimVersion) -> Result<(), Failure> {
    if version.protocol == protocol && version.page == page {
        return Ok(());
    }
    Err(Failure::input(format!(
        "shim {} ({}) speaks protocol {} and page {}, coordinator {daemon} protocol {protocol} and page {page}: use a shim of \
         the coordinator's version",
        shim.display(),
        version.version,
        version.protocol,
        version.page
    )))
}

/// The shim before whatever was preloaded already.
fn preload(shim: &Path) -> OsString {
    let mut value = shim.as_os_str().to_owned();
    if let Some(others) = std::env::var_os("LD_PRELOAD").filter(|others| !others.is_empty()) {
        value.push(":");
        value.push(others);
    }
    value
}

/// As `execvp` looks, but before anything is started.
fn find_program(name: &OsStr) -> Result<PathBuf, Failure> {
    let path = Path::new(name);
    if path.components().count() > 1 {
        return match runnable(path) {
            Some(true) => Ok(path.to_owned()),
            Some(false) => Err(Failure::program(format!("{}: not executable", path.display()), true)),
            None => Err(Failure::program(format!("{}: no such program", path.display()), false)),
        };
    }
    let search = std::env::var_os("PATH").unwrap_or_else(|| OsString::from("/usr/local/bin:/usr/bin:/bin"));
    let found = std::env::split_paths(&search).map(|dir| dir.join(path)).find(|p| runnable(p) == Some(true));
    found.ok_or_else(|| Failure::program(format!("{}: no such program in PATH", path.display()), false))
}

/// `None`: not there.
fn runnable(path: &Path) -> Option<bool> {
    let found = std::fs::metadata(path).ok()?;
    Some(found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_device_could_give_is_refused_without_a_coordinator() {
        let refused = |settings: Settings| check(&settings).expect_err("refused").to_string();
        let two = || vec!["0".to_owned(), "1".to_owned()];
        assert!(refused(Settings { memory: Some(100 << 20), ..Settings::default() }).contains("256MiB"));
        assert!(refused(Settings { memory: Some(0), ..Settings::default() }).contains("256MiB"));
        assert!(refused(Settings { share: Some(101), ..Settings::default() }).contains("100"));
        let odd = refused(Settings { share: Some(61), devices: two(), ..Settings::default() });
        assert!(odd.contains("60") && odd.contains("62"), "{odd}");
        assert!(
            check(&Settings { share: Some(160), memory: Some(8 << 30), devices: two(), ..Settings::default() }).is_ok()
        );
    }

    #[test]
    fn another_shim_is_refused_with_both_versions() {
        let shim = ShimVersion { version: "0.2.0".to_owned(), protocol: 2, page: 1 };
        let error = check_versions("0.1.0", 1, 1, Path::new("/x.so"), &shim).expect_err("refused").to_string();
        assert!(error.contains("0.2.0") && error.contains("0.1.0") && error.contains("protocol 2"), "{error}");
    }

    #[test]
    fn a_program_is_found_as_a_shell_finds_it() {
        assert_eq!(find_program(OsStr::new("/bin/sh")).ok(), Some(PathBuf::from("/bin/sh")));
        assert_eq!(find_program(OsStr::new("no-such-program-here")).expect_err("none").code(), 127);
        assert_eq!(find_program(OsStr::new("/etc/passwd")).expect_err("not executable").code(), 126);
    }
}
