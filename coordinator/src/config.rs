//! The configuration file: one struct, its defaults, and errors that name the key and its nearest valid neighbour.
//! `docs/mgpud.toml` documents every key and a test holds it against these defaults. Knows nothing of the running daemon.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};

use mgpu_coordinator_core::{CappedOnline, PolicyKind, Settings};
use mgpu_protocol::units::{Bytes, Nanos, ParseError};
use serde::{Deserialize, Serialize};

use crate::values::{Size, Span};

/// How the loop asks the kernel to be woken soon.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Scheduling {
    /// SCHED_FIFO at the lowest real-time priority, else nice -20, else as started.
    Fifo,
    /// nice -20, else as started.
    Nice,
    /// As started.
    Normal,
}

/// A choice that depends on how the daemon was started unless it is spelled out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Declared {
    /// Allowed for the per-user daemon only.
    Auto,
    /// Allowed.
    Allow,
    /// Refused.
    Refuse,
}

/// What clients do while no coordinator answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Without {
    /// Gates open after the grace; memory stays limited per process.
    Open,
    /// Gates stay closed.
    Closed,
}

/// Everything that `mgpud.toml` may say.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[allow(missing_docs, reason = "docs/mgpud.toml is the documentation, and a test holds the two together")]
pub(crate) struct Config {
    pub(crate) runtime_dir: String,
    pub(crate) lock_dir: String,
    pub(crate) nvml: String,
    pub(crate) log_level: String,
    pub(crate) scheduling: Scheduling,
    pub(crate) declared_tenants: Declared,
    pub(crate) without_coordinator: Without,
    pub(crate) overcommit: bool,
    pub(crate) memory_reserve: Size,
    pub(crate) lease_chunk: Size,
    pub(crate) teardown_timeout: Span,
    pub(crate) save_interval: Span,
    pub(crate) policy: String,
    pub(crate) hold: Span,
    pub(crate) round: Span,
    pub(crate) slice_min: Span,
    pub(crate) slice_max: Span,
    pub(crate) drain_deadline: Span,
    pub(crate) grace_min: Span,
    pub(crate) grace_max: Span,
    pub(crate) wake_grace: Span,
    pub(crate) poll_holder: Span,
    pub(crate) poll_drain: Span,
    pub(crate) window_time: Span,
    pub(crate) window_first: u32,
    pub(crate) window_max: u32,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) device: Vec<DeviceConfig>,
}

/// What one device has of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct DeviceConfig {
    /// UUID.
    pub(crate) uuid: String,
    /// Instead of the policy above.
    pub(crate) policy: Option<String>,
    /// Instead of the hold above.
    pub(crate) hold: Option<Span>,
    /// Instead of the reserve above.
    pub(crate) memory_reserve: Option<Size>,
}

const DEVICE_KEYS: [&str; 4] = ["uuid", "policy", "hold", "memory_reserve"];

/// The word for "decide by how the daemon was started" in text settings.
pub(crate) const AUTO: &str = "auto";

impl Default for Config {
    fn default() -> Self {
        let engine = Settings::default();
        let auto = || AUTO.to_owned();
        Self {
            runtime_dir: auto(),
            lock_dir: auto(),
            nvml: auto(),
            log_level: "info".to_owned(),
            scheduling: Scheduling::Fifo,
            declared_tenants: Declared::Auto,
            without_coordinator: Without::Open,
            overcommit: false,
            memory_reserve: Size(Bytes(0)),
            lease_chunk: Size(Bytes(64 << 20)),
            teardown_timeout: Span(Nanos::from_millis(10_000)),
            save_interval: Span(Nanos::from_millis(1_000)),
            policy: auto(),
            hold: Span(engine.hold),
            round: Span(engine.round),
            slice_min: Span(engine.slice_min),
            slice_max: Span(engine.slice_max),
            drain_deadline: Span(engine.drain_deadline),
            grace_min: Span(engine.grace_min),
            grace_max: Span(engine.grace_max),
            wake_grace: Span(engine.wake_grace),
            poll_holder: Span(engine.poll_holder),
            poll_drain: Span(engine.poll_drain),
            window_time: Span(engine.window_time),
            window_first: engine.window_first,
            window_max: engine.window_max,
            device: Vec::new(),
        }
    }
}

/// Why a configuration was refused; says where, what, and what would be right.
#[derive(Debug)]
pub(crate) struct ConfigError(pub(crate) String);

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ConfigError {}

impl Config {
    /// Reads and checks a file.
    ///
    /// # Errors
    /// The file can't be read, is no TOML, has an unknown key (the nearest valid one is named) or a value out of range.
    pub(crate) fn load(path: &Path) -> Result<Self, ConfigError> {
        let text =
            std::fs::read_to_string(path).map_err(|e| ConfigError(format!("configuration {}: {e}", path.display())))?;
        Self::parse(&text).map_err(|e| ConfigError(format!("configuration {}: {e}", path.display())))
    }

    /// Reads and checks a text; see [`Self::load`].
    pub(crate) fn parse(text: &str) -> Result<Self, ConfigError> {
        let table: toml::Table = text.parse().map_err(|e: toml::de::Error| ConfigError(e.to_string()))?;
        refuse_unknown_keys(&table)?;
        let config: Self = toml::from_str(text).map_err(|e| ConfigError(e.to_string().trim_end().to_owned()))?;
        config.check()?;
        Ok(config)
    }

    fn check(&self) -> Result<(), ConfigError> {
        let levels = ["error", "warn", "info", "debug", "trace"];
        if !levels.contains(&self.log_level.as_str()) {
            return Err(ConfigError(format!(
                "log_level \"{}\" is unknown: the levels are {}",
                self.log_level,
                levels.join(", ")
            )));
        }
        let policies = self.device.iter().filter_map(|d| d.policy.as_deref()).chain([self.policy.as_str()]);
        for policy in policies {
            parse_policy(policy).map_err(|e| ConfigError(e.0))?;
        }
        for device in &self.device {
            device.uuid.parse::<mgpu_protocol::units::DeviceUuid>().map_err(|e| ConfigError(e.0))?;
        }
        for (low, high, name) in [
            (self.slice_min, self.slice_max, "slice_min"),
            (self.grace_min, self.grace_max, "grace_min"),
            (
                Span(Nanos::from_micros(10)),
                self.poll_drain,
                "10us <= poll_drain, the shortest distance of two looks, and it",
            ),
            (
                Span(Nanos::from_micros(10)),
                self.poll_holder,
                "10us <= poll_holder, the shortest distance of two looks, and it",
            ),
        ] {
            if low.0 > high.0 {
                return Err(ConfigError(format!("{name} is {low}, which is more than its upper bound {high}")));
            }
        }
        if self.window_first == 0 || self.window_first > self.window_max {
            return Err(ConfigError(format!(
                "window_first is {}: it must be from 1 to window_max ({})",
                self.window_first, self.window_max
            )));
        }
        Ok(())
    }

    /// The settings of a device's engine.
    pub(crate) fn engine(&self, uuid: &str) -> Settings {
        Settings {
            hold: self.of(uuid).and_then(|d| d.hold).unwrap_or(self.hold).0,
            round: self.round.0,
            slice_min: self.slice_min.0,
            slice_max: self.slice_max.0,
            drain_deadline: self.drain_deadline.0,
            grace_min: self.grace_min.0,
            grace_max: self.grace_max.0,
            wake_grace: self.wake_grace.0,
            poll_holder: self.poll_holder.0,
            poll_drain: self.poll_drain.0,
            window_time: self.window_time.0,
            window_first: self.window_first,
            window_max: self.window_max,
            capped_online: CappedOnline::Strict,
        }
    }

    /// The policy that the file sets for a device, if it sets one.
    pub(crate) fn policy(&self, uuid: &str) -> Option<PolicyKind> {
        let text = self.of(uuid).and_then(|d| d.policy.as_deref()).unwrap_or(&self.policy);
        parse_policy(text).ok().flatten()
    }

    /// Memory of a device that no limit may claim.
    pub(crate) fn reserve(&self, uuid: &str) -> Bytes {
        self.of(uuid).and_then(|d| d.memory_reserve).unwrap_or(self.memory_reserve).0
    }

    fn of(&self, uuid: &str) -> Option<&DeviceConfig> {
        self.device.iter().find(|d| d.uuid == uuid)
    }

    /// The file's text with every value.
    pub(crate) fn to_text(&self) -> String {
        toml::to_string(self).unwrap_or_default()
    }
}

/// A path setting: none if it is left to the daemon.
pub(crate) fn explicit(path: &str) -> Option<PathBuf> {
    (path != AUTO).then(|| PathBuf::from(path))
}

fn parse_policy(text: &str) -> Result<Option<PolicyKind>, ParseError> {
    if text == AUTO { Ok(None) } else { text.parse().map(Some) }
}

fn refuse_unknown_keys(table: &toml::Table) -> Result<(), ConfigError> {
    let defaults = toml::Table::try_from(Config::default()).unwrap_or_default();
    let mut known: BTreeSet<&str> = defaults.keys().map(String::as_str).collect();
    known.insert("device");
    check_keys(table, &known, "")?;
    let devices = table.get("device").and_then(toml::Value::as_array).map(Vec::as_slice).unwrap_or_default();
    for device in devices.iter().filter_map(toml::Value::as_table) {
        check_keys(device, &DEVICE_KEYS.into_iter().collect(), " of a [[device]]")?;
    }
    Ok(())
}

fn check_keys(table: &toml::Table, known: &BTreeSet<&str>, of: &str) -> Result<(), ConfigError> {
    let Some(key) = table.keys().find(|k| !known.contains(k.as_str())) else { return Ok(()) };
    let nearest = known.iter().min_by_key(|k| strsim::levenshtein(k, key)).copied().unwrap_or_default();
    let all = known.iter().copied().collect::<Vec<_>>().join(", ");
    Err(ConfigError(format!("key \"{key}\"{of} is unknown: did you mean \"{nearest}\"? The keys are {all}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXAMPLE: &str = include_str!("../../docs/mgpud.toml");

    #[test]
    fn the_documented_example_holds_every_key_with_its_default() {
        let commented: String = EXAMPLE
            .lines()
            .map(|line| line.strip_prefix("#: ").unwrap_or(line))
            .take_while(|line| !line.starts_with("# --- per device"))
            .collect::<Vec<_>>()
            .join("\n");
        let table: toml::Table = commented.parse().expect("the example is TOML");
        let defaults = toml::Table::try_from(Config::default()).expect("defaults are TOML");
        assert_eq!(table, defaults);
        assert_eq!(Config::parse(&commented).expect("the example is valid"), Config::default());
    }

    #[test]
    fn the_whole_example_is_valid_with_its_device_part() {
        let all: String =
            EXAMPLE.lines().map(|line| line.strip_prefix("#: ").unwrap_or(line)).collect::<Vec<_>>().join("\n");
        let config = Config::parse(&all).expect("valid");
        assert_eq!(config.device.len(), 1);
        let device = toml::Table::try_from(&config.device[0]).expect("TOML");
        assert_eq!(device.keys().map(String::as_str).collect::<BTreeSet<_>>(), DEVICE_KEYS.into_iter().collect());
    }

    #[test]
    fn a_typo_names_the_key_and_the_nearest_valid_one() {
        let error = Config::parse("drain_dedline = \"1ms\"").expect_err("a typo").0;
        assert!(error.contains("\"drain_dedline\"") && error.contains("did you mean \"drain_deadline\""), "{error}");
        let error = Config::parse("[[device]]\nuid = \"x\"").expect_err("a typo").0;
        assert!(error.contains("did you mean \"uuid\""), "{error}");
    }

    #[test]
    fn values_out_of_range_are_named() {
        for (text, part) in [
            ("hold = \"fast\"", "\"fast\""),
            ("hold = 5", "hold"),
            ("policy = \"fairest\"", "fairest"),
            ("policy = \"native-burst-share\"", "not in this version"),
            ("slice_min = \"90ms\"", "slice_min"),
            ("window_first = 0", "window_first"),
            ("log_level = \"loud\"", "loud"),
            ("poll_drain = \"1us\"", "poll_drain"),
        ] {
            let error = Config::parse(text).expect_err(text).0;
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
