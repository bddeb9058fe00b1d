//! Messages of the control socket: one JSON object a line, request then response. Spoken by `mgpu` and `mgpud`, never by
//! the shim. Settings have the same names as on the command line, in `MGPU_*` variables and in the configuration file.

use serde::{Deserialize, Serialize};

/// What a person asks for when a tenant starts; every field as it was written, checked by admission.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// A label; the daemon makes one up if absent.
    pub name: Option<String>,
    /// Device memory of all devices together, in bytes.
    pub memory: Option<u64>,
    /// Percent of one device, all devices together.
    pub share: Option<u32>,
    /// `online` or `offline`.
    pub class: Option<String>,
    /// Relative claim within the offline class.
    pub weight: Option<u32>,
    /// Policy of the device.
    pub policy: Option<String>,
    /// Devices by UUID or by index in the daemon's list; empty = the first device.
    pub devices: Vec<String>,
}

/// What the CLI asks the daemon.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Request {
    /// Make a tenant that lives while process `pid` or any client of it lives.
    Create {
        /// What it may use.
        settings: Settings,
        /// The process that will become the program; 0: the one that asks. Another one must belong to the user who asks,
        /// unless that is root.
        pid: u32,
    },
    /// All tenants with their accounts.
    List,
    /// Change a running tenant.
    Set {
        /// Name or id.
        tenant: String,
        /// Only the named settings change.
        settings: Settings,
    },
    /// Change a device.
    SetDevice {
        /// UUID or index.
        device: String,
        /// New policy.
        policy: Option<String>,
        /// New hold in milliseconds.
        hold_ms: Option<u32>,
    },
    /// Versions of the daemon, page and driver.
    Version,
}

/// What the daemon answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "kebab-case")]
pub enum Response {
    /// The tenant stands.
    Created {
        /// Its id.
        tenant: String,
        /// Its directory, with `socket` and `entitlement`.
        directory: String,
        /// UUIDs of its devices, for CUDA_VISIBLE_DEVICES.
        devices: Vec<String>,
    },
    /// All tenants.
    Tenants {
        /// One row a tenant and device.
        rows: Vec<TenantRow>,
    },
    /// Done, nothing to tell.
    Done,
    /// Versions.
    Version {
        /// Of mgpud.
        daemon: String,
        /// Of the session protocol.
        protocol: u16,
        /// Of the pages.
        page: u16,
        /// Driver version as NVML names it, if any.
        driver: Option<String>,
    },
    /// Refused; `message` names the value and the valid range.
    Error {
        /// For people.
        message: String,
    },
}

/// One tenant on one device, as `mgpu ps` shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TenantRow {
    /// Id of the tenant.
    pub tenant: String,
    /// Its name.
    pub name: String,
    /// UUID of the device.
    pub device: String,
    /// Policy of the device.
    pub policy: String,
    /// `online` or `offline`.
    pub class: String,
    /// Percent of this device.
    pub share: Option<u32>,
    /// Claim within the offline class.
    pub weight: u32,
    /// Limit on this device in bytes.
    pub memory_limit: Option<u64>,
    /// Counted use in bytes.
    pub memory_used: u64,
    /// Device time charged so far, in ns.
    pub device_time_ns: u64,
    /// State of the gate: closed, open, open-and-notify.
    pub gate: String,
    /// Attached processes.
    pub clients: Vec<u32>,
}
