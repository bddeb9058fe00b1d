//! The `entitlement` file that stands beside a tenant's socket: what the tenant is entitled to, so that a client without a
//! coordinator still knows its limit. Written by the coordinator (by rename), read by the shim; plain `key = value` lines, no
//! library needed to read it.

use crate::units::{Bytes, DeviceUuid, ParseError};
use std::fmt::Write as _;

/// What a client must know when nobody answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entitlement {
    /// Name of the tenant, for logs.
    pub tenant: String,
    /// Per device: UUID and memory limit in bytes (`None` = no limit).
    pub devices: Vec<(DeviceUuid, Option<Bytes>)>,
    /// Without a coordinator: `true` = gates stay closed (`closed` mode), `false` = they open after the grace.
    pub closed_without_coordinator: bool,
}

const HEAD: &str = "# mgpu entitlement, version 1; written by the coordinator, edits are not read back";

impl Entitlement {
    /// The file's text.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = format!("{HEAD}\ntenant = {}\n", self.tenant);
        let _ = writeln!(text, "closed = {}", self.closed_without_coordinator);
        for (uuid, limit) in &self.devices {
            let limit = limit.map_or_else(|| "none".to_owned(), |b| b.0.to_string());
            let _ = writeln!(text, "device = {uuid} {limit}");
        }
        text
    }

    /// Reads the file's text. Unknown keys are skipped (a newer coordinator may write more).
    ///
    /// # Errors
    /// A line that is no `key = value`, a device without UUID, or a limit that is no number; names the line.
    pub fn from_text(text: &str) -> Result<Self, ParseError> {
        let mut out = Self::default();
        for line in text.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with('#')) {
            let bad = |why: &str| ParseError(format!("entitlement line \"{line}\": {why}"));
            let (key, value) = line.split_once('=').ok_or_else(|| bad("not key = value"))?;
            let value = value.trim();
            match key.trim() {
                "tenant" => value.clone_into(&mut out.tenant),
                "closed" => out.closed_without_coordinator = value == "true",
                "device" => {
                    let (uuid, limit) = value.split_once(' ').ok_or_else(|| bad("not UUID and limit"))?;
                    let limit = match limit.trim() {
                        "none" => None,
                        n => Some(Bytes(n.parse().map_err(|_| bad("limit is no number of bytes"))?)),
                    };
                    out.devices.push((uuid.parse()?, limit));
                }
                _ => {}
            }
        }
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_reads_back_as_it_was_written() {
        let entitlement = Entitlement {
            tenant: "a".to_owned(),
            devices: vec![(DeviceUuid([7; 16]), Some(Bytes(1 << 31))), (DeviceUuid([9; 16]), None)],
            closed_without_coordinator: true,
        };
        assert_eq!(Entitlement::from_text(&entitlement.to_text()), Ok(entitlement));
    }

    #[test]
    fn a_broken_line_is_named() {
        let error = Entitlement::from_text("device = GPU-1 x").unwrap_err();
        assert!(error.0.contains("GPU-1"), "{error}");
    }
}
