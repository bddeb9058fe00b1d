//! The daemon's command line.

use std::path::PathBuf;

use clap::Parser;

/// The mgpu coordinator: shares the GPUs of this node between tenants.
///
/// One coordinator per device. It makes a directory with a socket for each tenant, gives device memory out in leases, and opens
/// and closes the tenants' launch gates. Run it as a service for the whole node, or per user (`mgpu run` does that by itself).
/// Stops cleanly on SIGTERM and SIGINT (tenants go on and find the next daemon); reads its configuration again on SIGHUP.
#[derive(Debug, Parser)]
#[command(
    name = "mgpud",
    version,
    after_long_help = "Environment, for what the configuration leaves at \"auto\":\n  \
        MGPU_NVML      path of NVML\n  \
        MGPU_LOCK_DIR  directory of the device locks; all daemons of a node must use the same one"
)]
pub(crate) struct Args {
    /// Configuration file (TOML); docs/mgpud.toml has every option. Without it, /etc/mgpu/mgpud.toml if it exists (not with
    /// --user).
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Directory of the sockets and the state file [default: /run/mgpu; with --user $XDG_RUNTIME_DIR/mgpu or
    /// /tmp/mgpu-UID].
    #[arg(long, value_name = "DIR")]
    pub(crate) runtime_dir: Option<PathBuf>,
    /// Serve this user alone: no root needed, and tenants may declare themselves by MGPU_* variables.
    #[arg(long)]
    pub(crate) user: bool,
    /// Exit, and remove the runtime directory, when the last tenant has gone.
    #[arg(long)]
    pub(crate) exit_when_idle: bool,
    /// error, warn, info, debug or trace.
    #[arg(long, value_name = "LEVEL", value_parser = ["error", "warn", "info", "debug", "trace"])]
    pub(crate) log_level: Option<String>,
    /// Print the configuration in force and exit.
    #[arg(long)]
    pub(crate) print_config: bool,
}
