//! The state file: what must outlive the daemon (tenants, entitlements, policies, accounts, who was attached), as JSON,
//! written by rename. A reader finds the old state or the new one; a state of another boot names dead pids and is dropped.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use mgpu_protocol::control::Settings;
use serde::{Deserialize, Serialize};

use crate::crash;
use crate::process::ProcessId;

/// Layout of the file; another number is not read.
pub(crate) const VERSION: u32 = 1;

/// The whole file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct State {
    /// [`VERSION`].
    pub(crate) version: u32,
    /// The boot in which it was written.
    pub(crate) boot: String,
    /// Incarnation of the daemon that wrote it.
    pub(crate) daemon_epoch: u64,
    /// Next tenant number; never given twice.
    pub(crate) next_tenant: u32,
    /// Devices.
    pub(crate) devices: Vec<DeviceState>,
    /// Tenants.
    pub(crate) tenants: Vec<TenantState>,
}

/// One device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DeviceState {
    /// Its name.
    pub(crate) uuid: String,
    /// Policy in force; none = nobody has set one.
    pub(crate) policy: Option<String>,
    /// Policy and hold as the operator set them while running; they outlive the configuration's.
    pub(crate) operator_policy: Option<String>,
    /// See `operator_policy`.
    pub(crate) operator_hold_ns: Option<u64>,
    /// Accounts of its tenants.
    pub(crate) accounts: Vec<AccountState>,
}

/// One tenant's account on one device (`SavedAccount` of the core).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AccountState {
    /// Whose.
    pub(crate) tenant: u32,
    /// Device time charged, ns.
    pub(crate) paid_ns: u64,
    /// Owed to it (positive) or by it (negative), ns.
    pub(crate) balance_ns: i64,
    /// When, CLOCK_MONOTONIC ns of this boot.
    pub(crate) at_ns: u64,
}

/// One tenant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TenantState {
    /// Its number.
    pub(crate) number: u32,
    /// Its id, the name of its directory.
    pub(crate) id: String,
    /// Its label.
    pub(crate) name: String,
    /// What it was made with, as in force now; totals over its devices.
    pub(crate) settings: Settings,
    /// UUIDs of its devices, in the order of its page.
    pub(crate) devices: Vec<String>,
    /// Why it lives.
    pub(crate) origin: Origin,
    /// Processes that were attached.
    pub(crate) clients: Vec<ClientState>,
}

/// What made a tenant and, beside its clients, keeps it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Origin {
    /// `mgpu run`: this process.
    Process(ProcessId),
    /// A client by itself; the key names it among others of its user.
    Declared {
        /// `name:…` or `session:…`, with the user.
        key: String,
    },
}

/// One attached process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ClientState {
    /// Who.
    pub(crate) process: ProcessId,
    /// Bytes given to it by device index, used or not.
    pub(crate) given: Vec<u64>,
}

impl State {
    /// The file's text.
    ///
    /// # Errors
    /// Never for these types; kept so that nothing is hidden.
    pub(crate) fn to_text(&self) -> io::Result<String> {
        serde_json::to_string_pretty(self).map_err(io::Error::other)
    }
}

/// What `read` found.
#[derive(Debug)]
pub(crate) enum Found {
    /// No file: a first start, or a clean end of a per-user daemon.
    Nothing,
    /// The state of an earlier daemon of this boot.
    State(Box<State>),
    /// A file that can't be used: of another boot or version, or broken. Says why.
    Unusable(String),
}

/// Reads the file.
///
/// # Errors
/// The file is there and can't be read at all.
pub(crate) fn read(path: &Path, boot: &str) -> io::Result<Found> {
    let text = match fs::read_to_string(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Found::Nothing),
        Err(e) if e.kind() == io::ErrorKind::InvalidData => return Ok(Found::Unusable("it is not text".to_owned())),
        other => other?,
    };
    let state: State = match serde_json::from_str(&text) {
        Err(e) => return Ok(Found::Unusable(format!("it can't be read: {e}"))),
        Ok(state) => state,
    };
    if state.version != VERSION {
        return Ok(Found::Unusable(format!("it has version {}, this daemon reads {VERSION}", state.version)));
    }
    if state.boot != boot {
        return Ok(Found::Unusable("it was written before this machine last started".to_owned()));
    }
    Ok(Found::State(Box::new(state)))
}

/// Writes the file: all of it or nothing, also if the machine stops.
///
/// # Errors
/// Whatever the file system says; the old state still stands then.
pub(crate) fn write(path: &Path, text: &str) -> io::Result<()> {
    let fresh = path.with_extension("json.new");
    crash::point("state-begin");
    let mut file = File::options().write(true).create(true).truncate(true).mode(0o600).open(&fresh)?;
    let (first, rest) = text.as_bytes().split_at(text.len() / 2);
    file.write_all(first)?;
    crash::point("state-half");
    file.write_all(rest)?;
    crash::point("state-written");
    file.sync_all()?;
    crash::point("state-synced");
    fs::rename(&fresh, path)?;
    crash::point("state-renamed");
    if let Some(Ok(directory)) = path.parent().map(File::open) {
        directory.sync_all()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> State {
        let process = ProcessId { pid: 12, started: 345 };
        State {
            version: VERSION,
            boot: "b".to_owned(),
            daemon_epoch: 7,
            next_tenant: 3,
            devices: vec![DeviceState {
                uuid: "GPU-1".to_owned(),
                policy: Some("fair".to_owned()),
                accounts: vec![AccountState { tenant: 2, paid_ns: 5, balance_ns: -9, at_ns: 11 }],
                ..DeviceState::default()
            }],
            tenants: vec![TenantState {
                number: 2,
                id: "a-1".to_owned(),
                name: "a".to_owned(),
                settings: Settings { share: Some(30), ..Settings::default() },
                devices: vec!["GPU-1".to_owned()],
                origin: Origin::Process(process),
                clients: vec![ClientState { process, given: vec![1 << 20] }],
            }],
        }
    }

    #[test]
    fn a_state_reads_back_as_written_and_only_in_its_boot() {
        let path = std::env::temp_dir().join(format!("mgpud-unit-state-{}.json", std::process::id()));
        let state = example();
        write(&path, &state.to_text().expect("text")).expect("write");
        assert!(matches!(read(&path, "b").expect("read"), Found::State(found) if *found == state));
        assert!(matches!(read(&path, "another").expect("read"), Found::Unusable(why) if why.contains("started")));
        fs::write(&path, "{\"version\":").expect("write");
        assert!(matches!(read(&path, "b").expect("read"), Found::Unusable(_)));
        fs::remove_file(&path).expect("clean");
        assert!(matches!(read(&path, "b").expect("read"), Found::Nothing));
    }
}
