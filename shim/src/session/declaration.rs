//! A tenant that declares itself by `MGPU_*` variables: what they ask for, told to the per-user coordinator, and what they entitle
//! the process to while there is none. A value that makes no sense is an error here already: nobody may get everything because
//! of a typing error.

use super::connect::set_patience;
use mgpu_protocol::entitlement::Entitlement;
use mgpu_protocol::socket;
use mgpu_protocol::units::{Bytes, Class, DeviceUuid, MIB, MIN_MEMORY_PER_DEVICE, parse_total_share};
use mgpu_shim_core::config::Config;
use std::fmt::{self, Write as _};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

/// Settings by key, as they were written.
type Settings = [(&'static str, String)];

/// What to tell, and whom.
pub(crate) struct Declaration {
    socket: PathBuf,
    text: String,
}

/// Why there is no tenant.
pub(crate) enum Undeclared {
    /// No coordinator takes declarations there.
    Nobody(String),
    /// One does, and refuses this.
    Refused(String),
}

impl fmt::Display for Undeclared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Nobody(why) | Self::Refused(why)) = self;
        f.write_str(why)
    }
}

impl Declaration {
    pub(super) fn new(config: &Config, settings: &Settings) -> Self {
        let runtime = config.runtime_dir.clone().unwrap_or_else(usual_runtime_dir);
        let mut text = String::new();
        for (key, value) in settings {
            let _ = writeln!(text, "{key} = {}", value.replace(['\n', '\r'], " "));
        }
        Self { socket: runtime.join("declare.sock"), text }
    }

    /// Tells the coordinator; gives the directory that it made.
    pub(super) fn send(&self) -> Result<PathBuf, Undeclared> {
        let nobody = |why: std::io::Error| Undeclared::Nobody(format!("{}: {why}", self.socket.display()));
        let socket = socket::connect(&self.socket).map_err(nobody)?;
        set_patience(&socket);
        socket::send(socket.as_fd(), self.text.as_bytes(), &[]).map_err(nobody)?;
        let mut buffer = [0; 4096];
        let received = socket::receive(socket.as_fd(), &mut buffer).map_err(nobody)?;
        let answer = String::from_utf8_lossy(buffer.get(..received.len).unwrap_or(&[])).into_owned();
        match answer.split_once('=').map(|(key, value)| (key.trim(), value.trim())) {
            Some(("directory", directory)) => Ok(directory.into()),
            Some(("error", why)) => Err(Undeclared::Refused(why.to_owned())),
            _ => Err(Undeclared::Nobody("the coordinator speaks another language".to_owned())),
        }
    }
}

fn usual_runtime_dir() -> PathBuf {
    match std::env::var_os("XDG_RUNTIME_DIR") {
        Some(directory) if !directory.is_empty() => Path::new(&directory).join("mgpu"),
        _ => {
            // SAFETY: no arguments, can't fail.
            let user = unsafe { libc::geteuid() };
            PathBuf::from(format!("/tmp/mgpu-{user}"))
        }
    }
}

/// What the settings entitle this process to, alone: as the coordinator would take them, as far as that can be told without one.
///
/// # Errors
/// A value that no coordinator would take; names it and the valid range.
pub(super) fn entitlement(settings: &Settings, devices: &[[u8; 16]], closed: bool) -> Result<Entitlement, String> {
    let value = |key: &str| settings.iter().find(|(k, _)| *k == key).map(|(_, value)| value.as_str());
    if let Some(text) = value("class") {
        text.parse::<Class>().map_err(|e| e.0)?;
    }
    if let Some(text) = value("weight")
        && !text.trim().parse::<u32>().is_ok_and(|weight| weight > 0)
    {
        return Err(format!("weight \"{text}\" is not a whole number from 1 on"));
    }
    let named = named(value("devices"), devices)?;
    if let Some(text) = value("share") {
        check_share(text, named.len())?;
    }
    let limit = value("memory").map(|text| per_device(text, named.len())).transpose()?;
    Ok(Entitlement {
        tenant: value("name").unwrap_or("self").to_owned(),
        devices: named.into_iter().map(|uuid| (uuid, limit)).collect(),
        closed_without_coordinator: closed,
    })
}

/// Devices by UUID or by index; none named = the first.
fn named(text: Option<&str>, devices: &[[u8; 16]]) -> Result<Vec<DeviceUuid>, String> {
    let at = |index: usize| devices.get(index).map(|uuid| DeviceUuid(*uuid));
    let Some(text) = text else { return Ok(at(0).into_iter().collect()) };
    let device = |name: &str| match name.parse::<usize>() {
        Ok(index) => at(index).ok_or_else(|| format!("device {index} is unknown: this process sees {}", devices.len())),
        Err(_) => name.parse::<DeviceUuid>().map_err(|e| e.0),
    };
    text.split(',').map(|name| device(name.trim())).collect()
}

fn check_share(text: &str, devices: usize) -> Result<(), String> {
    let total = parse_total_share(text).map_err(|e| e.0)?;
    let count = u32::try_from(devices.max(1)).unwrap_or(1);
    if total > 100 * count || total % count != 0 {
        return Err(format!("share {total} is out of range: a whole percent, 1 to 100, of each of {count} device(s)"));
    }
    Ok(())
}

fn per_device(text: &str, devices: usize) -> Result<Bytes, String> {
    let total = text.parse::<Bytes>().map_err(|e| e.0)?;
    let count = u64::try_from(devices.max(1)).unwrap_or(1);
    let each = Bytes(total.0 / count);
    if each < MIN_MEMORY_PER_DEVICE || total.0 % (count * MIB) != 0 {
        return Err(format!(
            "memory {text} is out of range: whole MiB, {MIN_MEMORY_PER_DEVICE} or more, for each of {count} device(s)"
        ));
    }
    Ok(each)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEVICES: [[u8; 16]; 2] = [[1; 16], [2; 16]];

    fn entitled(settings: &[(&'static str, &str)]) -> Result<Entitlement, String> {
        let settings: Vec<_> = settings.iter().map(|(key, value)| (*key, (*value).to_owned())).collect();
        entitlement(&settings, &DEVICES, false)
    }

    #[test]
    fn memory_is_that_of_the_first_device_unless_others_are_named() {
        let devices = entitled(&[("memory", "2GiB")]).unwrap().devices;
        assert_eq!(devices, [(DeviceUuid([1; 16]), Some(Bytes(2 << 30)))]);
        let both = format!("1, {}", DeviceUuid([1; 16]));
        let devices = entitled(&[("memory", "2GiB"), ("devices", &both)]).unwrap().devices;
        assert_eq!(devices, [2, 1].map(|n| (DeviceUuid([n; 16]), Some(Bytes(1 << 30)))));
        assert_eq!(entitled(&[("share", "30")]).unwrap().devices, [(DeviceUuid([1; 16]), None)]);
    }

    #[test]
    fn what_makes_no_sense_is_named_and_never_means_no_limit() {
        for (key, value) in [
            ("memory", "4 GX"),
            ("memory", "100MiB"),
            ("memory", "-1"),
            ("memory", "1073741825"),
            ("share", "0"),
            ("share", "101"),
            ("share", "30.5"),
            ("class", "fast"),
            ("weight", "0"),
            ("devices", "2"),
            ("devices", "GPU-1"),
        ] {
            let why = entitled(&[(key, value)]).expect_err(value);
            assert!(why.contains(value) && why.starts_with(key.trim_end_matches('s')), "{key}={value}: {why}");
        }
    }
}
