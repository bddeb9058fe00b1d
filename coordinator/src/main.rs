//! `mgpud`, the coordinator of a node: the shell around the decisions of `coordinator/core`.
//!
//! One thread runs everything that must be quick:
//!
//! ```text
//! a client's want eventfd ─► poller ─► daemon/compute ─► core Engine::step ─► gate word in the tenant's grants page
//! a client's lease packet ─► poller ─► daemon/session ─► books            ─► lease word in the tenant page
//! a process dies (pidfd)  ─► poller ─► daemon/memory  ─► ghost until NVML no longer lists it
//! mgpu run / set / ps     ─► poller ─► daemon/control ─► core Admission   ─► directory, listener, state file
//! ```
//! A helper thread (`chores`) does what may take milliseconds: the state file and NVML. The loop owns clock, sockets and pages;
//! it decides nothing that the core could decide.
//!
//! Exit codes: 0 stopped, 1 could not start or run (the reason is on stderr), 2 wrong arguments or configuration.

mod args;
mod books;
mod chores;
mod clock;
mod config;
mod crash;
mod daemon;
mod device;
mod device_lock;
mod look;
mod meter;
mod nvml;
mod poller;
mod process;
mod runtime_dir;
mod scheduling;
mod state;
mod tenant;
mod values;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser as _;
use tracing::level_filters::LevelFilter;

use crate::config::{Config, ConfigError};
use crate::daemon::{Daemon, Launch};

const SYSTEM_CONFIG: &str = "/etc/mgpu/mgpud.toml";

fn main() -> ExitCode {
    let args = args::Args::parse();
    let (config, config_file) = match read_config(&args) {
        Ok(read) => read,
        Err(error) => return complain(&error.0, 2),
    };
    if args.print_config {
        let _ = std::io::stdout().write_all(config.to_text().as_bytes());
        return ExitCode::SUCCESS;
    }
    start_log(&config.log_level);
    let launch = Launch {
        config,
        config_file,
        runtime_dir: args.runtime_dir,
        user: args.user,
        exit_when_idle: args.exit_when_idle,
    };
    let mut daemon = match Daemon::start(launch) {
        Ok(daemon) => daemon,
        Err(error) => return complain(&error.to_string(), 1),
    };
    match daemon.run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => complain(&format!("the loop can't go on: {error}"), 1),
    }
}

/// The configuration that the arguments name, with what they override.
fn read_config(args: &args::Args) -> Result<(Config, Option<PathBuf>), ConfigError> {
    let system = Path::new(SYSTEM_CONFIG);
    let file = match &args.config {
        Some(file) => Some(file.clone()),
        None if !args.user && system.exists() => Some(system.to_owned()),
        None => None,
    };
    let mut config = file.as_deref().map_or_else(|| Ok(Config::default()), Config::load)?;
    if let Some(level) = &args.log_level {
        config.log_level.clone_from(level);
    }
    Ok((config, file))
}

/// `time level target: message key=value …` on stderr.
fn start_log(level: &str) {
    let level: LevelFilter = level.parse().unwrap_or(LevelFilter::INFO);
    let log = tracing_subscriber::fmt().with_writer(std::io::stderr).with_ansi(false).with_max_level(level);
    // A second logger can't be there: this is the first thing that the process does.
    let _ = log.try_init();
}

fn complain(message: &str, code: u8) -> ExitCode {
    let _ = writeln!(std::io::stderr(), "mgpud: {message}");
    ExitCode::from(code)
}
