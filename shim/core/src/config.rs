//! What the environment asks for: one row a variable. Values of settings are passed on as they were written; whoever grants
//! them checks them. Read once, when CUDA is initialised.

use std::path::PathBuf;

/// One environment variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: &'static str,
    /// The setting's name elsewhere (`--share`, TOML key `share`), if it is one.
    pub setting: Option<&'static str>,
    /// What it means, one line.
    pub meaning: &'static str,
}

const fn setting(name: &'static str, key: &'static str, meaning: &'static str) -> Variable {
    Variable { name, setting: Some(key), meaning }
}

const fn own(name: &'static str, meaning: &'static str) -> Variable {
    Variable { name, setting: None, meaning }
}

/// All of them; `docs` and `mgpu doctor` list this.
pub const VARIABLES: &[Variable] = &[
    own(
        "MGPU_DIR",
        "directory of this tenant, with its socket and entitlement; set by `mgpu run` and container runtimes",
    ),
    own("MGPU_LOG", "messages on stderr: off, error (default), info, debug"),
    own("MGPU_MODE", "without a coordinator: open (default) or closed; only for self-declared tenants"),
    own("MGPU_RUNTIME_DIR", "directory of the per-user coordinator that a self-declared tenant asks"),
    setting("MGPU_NAME", "name", "name of a self-declared tenant; processes of one name share it"),
    setting("MGPU_MEMORY", "memory", "device memory of all devices together, as 4GiB"),
    setting("MGPU_SHARE", "share", "whole percent of one device, all devices together"),
    setting("MGPU_CLASS", "class", "online or offline"),
    setting("MGPU_WEIGHT", "weight", "relative claim within the offline class"),
    setting("MGPU_POLICY", "policy", "policy of the device"),
    setting("MGPU_DEVICES", "devices", "devices by UUID, separated by commas"),
];

/// Where a tenant of every container is mounted.
pub const WELL_KNOWN_DIRECTORY: &str = "/run/mgpu/self";

/// Who this process is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Identity {
    /// The tenant whose directory this is.
    Directory(PathBuf),
    /// A tenant that declares itself: settings by key, as written.
    SelfDeclared(Vec<(&'static str, String)>),
    /// None: the shim stays inert.
    Nobody,
}

/// How much is said on stderr.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verbosity {
    /// Nothing at all.
    Off,
    /// What the user must know: limits not enforced as asked, gates stuck.
    #[default]
    Error,
    /// Attachments and losses.
    Info,
    /// Everything.
    Debug,
}

/// The environment, understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Who this process is.
    pub identity: Identity,
    /// How much to say.
    pub verbosity: Verbosity,
    /// Gates of a self-declared tenant stay closed without a coordinator.
    pub closed: bool,
    /// Where the per-user coordinator is, if not at the usual place.
    pub runtime_dir: Option<PathBuf>,
    /// Values that made no sense; to be logged.
    pub complaints: Vec<String>,
}

impl Config {
    /// Reads the environment through `get`; `has_well_known` tells whether [`WELL_KNOWN_DIRECTORY`] exists.
    pub fn read(get: impl Fn(&str) -> Option<String>, has_well_known: impl FnOnce() -> bool) -> Self {
        let get = |name: &str| get(name).filter(|value| !value.is_empty());
        let mut complaints = Vec::new();
        let verbosity = match get("MGPU_LOG").as_deref() {
            None | Some("error") => Verbosity::Error,
            Some("off") => Verbosity::Off,
            Some("info") => Verbosity::Info,
            Some("debug") => Verbosity::Debug,
            Some(other) => {
                complaints.push(format!("MGPU_LOG=\"{other}\" is unknown: off, error, info or debug"));
                Verbosity::Error
            }
        };
        let closed = match get("MGPU_MODE").as_deref() {
            None | Some("open") => false,
            Some("closed") => true,
            Some(other) => {
                complaints.push(format!("MGPU_MODE=\"{other}\" is unknown: open or closed; taken as closed"));
                true
            }
        };
        let identity = if let Some(directory) = get("MGPU_DIR") {
            Identity::Directory(directory.into())
        } else if has_well_known() {
            Identity::Directory(WELL_KNOWN_DIRECTORY.into())
        } else {
            let declared: Vec<_> =
                VARIABLES.iter().filter_map(|variable| Some((variable.setting?, get(variable.name)?))).collect();
            if declared.is_empty() { Identity::Nobody } else { Identity::SelfDeclared(declared) }
        };
        Self { identity, verbosity, closed, runtime_dir: get("MGPU_RUNTIME_DIR").map(Into::into), complaints }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pairs: &[(&str, &str)], well_known: bool) -> Config {
        let get = |name: &str| pairs.iter().find(|(n, _)| *n == name).map(|(_, v)| (*v).to_owned());
        Config::read(get, || well_known)
    }

    #[test]
    fn the_directory_wins_over_what_the_environment_declares() {
        let config = read(&[("MGPU_DIR", "/d"), ("MGPU_SHARE", "30")], true);
        assert_eq!(config.identity, Identity::Directory("/d".into()));
        assert_eq!(read(&[("MGPU_SHARE", "30")], true).identity, Identity::Directory(WELL_KNOWN_DIRECTORY.into()));
    }

    #[test]
    fn settings_declare_a_tenant_under_their_common_names() {
        let config = read(&[("MGPU_SHARE", "30"), ("MGPU_MEMORY", "2GiB")], false);
        let expected = vec![("memory", "2GiB".to_owned()), ("share", "30".to_owned())];
        assert_eq!(config.identity, Identity::SelfDeclared(expected));
    }

    #[test]
    fn nothing_set_means_nobody_and_empty_means_unset() {
        assert_eq!(read(&[("MGPU_SHARE", "")], false).identity, Identity::Nobody);
    }

    #[test]
    fn unknown_words_are_named() {
        let config = read(&[("MGPU_LOG", "loud"), ("MGPU_MODE", "ajar")], false);
        assert_eq!(config.complaints.len(), 2);
        assert!(config.complaints.iter().any(|c| c.contains("loud")));
        assert!(config.closed, "not more than may have been meant");
    }
}
