//! The command line of `mgpu`, its help, and the checks that need no daemon. The same settings have the same names as options,
//! as `MGPU_*` variables and in the control messages.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use mgpu_coordinator_core::{PolicyKind, Weight};
use mgpu_protocol::units::{Bytes, Class, MIB, parse_total_share};

/// Share NVIDIA GPUs between programs: a hard limit on device memory, a share of compute time, and a class for each.
#[derive(Debug, Parser)]
#[command(name = "mgpu", version, max_term_width = 100)]
pub(crate) struct Cli {
    /// Runtime directory of the coordinator [default: /run/mgpu if one runs there, else $XDG_RUNTIME_DIR/mgpu or
    /// /tmp/mgpu-UID].
    #[arg(long, global = true, value_name = "DIR", env = "MGPU_RUNTIME_DIR")]
    pub(crate) runtime_dir: Option<PathBuf>,
    /// Use (and start) this user's own coordinator, whatever else runs; wins over --runtime-dir.
    #[arg(long, global = true)]
    pub(crate) user: bool,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a program as a tenant.
    ///
    /// Asks the coordinator for a tenant and becomes the program: same process, same terminal, same exit code. The program and
    /// everything that it starts share the tenant's limit and share. Where no coordinator runs, one is started for this user; it
    /// goes when its last tenant has gone. No root needed.
    ///
    /// Without --memory the program is bounded by the device alone; without --share the device is divided equally (policy
    /// fair); with --share on a device without a policy, the device gets fixed-share.
    #[command(after_long_help = "Examples:\n  mgpu run --memory 4GiB --share 30 -- python train.py\n  \
        mgpu run --class offline --weight 2 -- ./batch\n  mgpu run --devices 0,1 --share 100 --memory 16GiB -- ./two-gpus")]
    Run(RunArgs),
    /// List the tenants: who has what, and how much device time each has used.
    Ps {
        /// One JSON array on stdout, a row per tenant and device.
        #[arg(long)]
        json: bool,
    },
    /// Change a running tenant, or a device.
    ///
    /// Takes effect at once. A lower memory limit never takes away what is in use: further allocations are refused until it fits.
    #[command(after_long_help = "Examples:\n  mgpu set trainer --share 50 --memory 8GiB\n  \
        mgpu set --device 0 --policy fair --hold 50ms")]
    Set(SetArgs),
    /// Versions of the command, the coordinator, the shim, the pages and the driver.
    Version,
    /// Start a per-user coordinator and wait until it answers; `run` does this by itself.
    #[command(hide = true)]
    StartDaemon,
}

/// `mgpu run`.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) tenant: TenantArgs,
    /// A name for `ps` and `set` [default: made up].
    #[arg(long, env = "MGPU_NAME")]
    pub(crate) name: Option<String>,
    /// The policy that the device is expected to have, or gets if it has none: fair or fixed-share.
    #[arg(long, env = "MGPU_POLICY", value_parser = policy)]
    pub(crate) policy: Option<String>,
    /// Devices by UUID or index, separated by commas [default: the first]. Share and memory are totals over them.
    #[arg(long, env = "MGPU_DEVICES", value_delimiter = ',', value_parser = device)]
    pub(crate) devices: Vec<String>,
    /// The program and its arguments, after `--`.
    #[arg(required = true, last = true, value_name = "PROGRAM")]
    pub(crate) program: Vec<OsString>,
}

/// What `run` and `set` have in common.
#[derive(Debug, Args)]
pub(crate) struct TenantArgs {
    /// Device memory, as 4GiB or 512MiB: 256 MiB at least per device, whole MiB. GB and MB are powers of 1000, so "4GB" is
    /// refused (it is no whole number of MiB) and the nearest sizes are named.
    #[arg(long, env = "MGPU_MEMORY", value_parser = memory, allow_hyphen_values = true, value_name = "SIZE")]
    pub(crate) memory: Option<u64>,
    /// Device time in whole percent of one device, 1 to 100 for each device.
    #[arg(long, env = "MGPU_SHARE", value_parser = share, allow_hyphen_values = true, value_name = "PERCENT")]
    pub(crate) share: Option<u32>,
    /// online (never delayed by offline tenants) or offline (fills the gaps that they leave) [default: online].
    #[arg(long, env = "MGPU_CLASS", value_parser = class)]
    pub(crate) class: Option<String>,
    /// Claim among offline tenants, 1 to 10000 [default: 1].
    #[arg(long, env = "MGPU_WEIGHT", value_parser = weight, allow_hyphen_values = true, value_name = "N")]
    pub(crate) weight: Option<u32>,
}

/// `mgpu set`.
#[derive(Debug, Args)]
pub(crate) struct SetArgs {
    /// Name or id of a running tenant.
    #[arg(required_unless_present = "device", conflicts_with = "device")]
    pub(crate) tenant: Option<String>,
    /// Device memory, as 4GiB, in total over the tenant's devices.
    #[arg(long, value_parser = memory, allow_hyphen_values = true, value_name = "SIZE", conflicts_with = "device")]
    pub(crate) memory: Option<u64>,
    /// Device time in whole percent, in total over the tenant's devices.
    #[arg(long, value_parser = share, allow_hyphen_values = true, value_name = "PERCENT", conflicts_with = "device")]
    pub(crate) share: Option<u32>,
    /// online or offline.
    #[arg(long, value_parser = class, conflicts_with = "device")]
    pub(crate) class: Option<String>,
    /// Claim among offline tenants, 1 to 10000.
    #[arg(long, value_parser = weight, allow_hyphen_values = true, value_name = "N", conflicts_with = "device")]
    pub(crate) weight: Option<u32>,
    /// Change this device (UUID or index) instead of a tenant.
    #[arg(long, value_parser = device)]
    pub(crate) device: Option<String>,
    /// The device's policy: fair or fixed-share.
    #[arg(long, value_parser = policy, conflicts_with = "tenant")]
    pub(crate) policy: Option<String>,
    /// How long the device stays with the online class after its last work, as 50ms; 0ms to 60s.
    #[arg(long, value_parser = hold, allow_hyphen_values = true, conflicts_with = "tenant", value_name = "TIME")]
    pub(crate) hold: Option<u32>,
}

fn memory(text: &str) -> Result<u64, String> {
    let Bytes(bytes) = text.parse::<Bytes>().map_err(|e| e.0)?;
    if bytes % MIB == 0 {
        return Ok(bytes);
    }
    let (below, above) = (bytes / MIB, bytes.div_ceil(MIB));
    Err(format!("memory \"{text}\" is not a whole number of MiB: the nearest are {below}MiB and {above}MiB"))
}

fn share(text: &str) -> Result<u32, String> {
    parse_total_share(text).map_err(|e| e.0)
}

fn class(text: &str) -> Result<String, String> {
    text.parse::<Class>().map(|class| class.to_string()).map_err(|e| e.0)
}

fn policy(text: &str) -> Result<String, String> {
    text.parse::<PolicyKind>().map(|policy| policy.name().to_owned()).map_err(|e| e.0)
}

fn weight(text: &str) -> Result<u32, String> {
    let weight = text.parse().ok().and_then(Weight::new);
    weight
        .map(Weight::get)
        .ok_or_else(|| format!("weight \"{text}\" is not possible: a whole number, 1 to {}", Weight::MAX))
}

fn device(text: &str) -> Result<String, String> {
    let text = text.trim();
    if text.parse::<u32>().is_ok() {
        return Ok(text.to_owned());
    }
    match text.parse::<mgpu_protocol::units::DeviceUuid>() {
        Ok(uuid) => Ok(uuid.to_string()),
        Err(_) => Err(format!("device \"{text}\" is neither an index (0, 1, …) nor a UUID (GPU-xxxxxxxx-xxxx-…)")),
    }
}

fn hold(text: &str) -> Result<u32, String> {
    let bad = || format!("hold \"{text}\" is not possible: whole milliseconds or seconds, 0ms to 60s, as 50ms");
    let (number, factor) = match (text.strip_suffix("ms"), text.strip_suffix('s')) {
        (Some(number), _) => (number, 1),
        (None, Some(number)) => (number, 1000),
        (None, None) => return Err(bad()),
    };
    let ms = number.trim().parse::<u32>().ok().and_then(|n| n.checked_mul(factor)).ok_or_else(bad)?;
    if ms <= 60_000 { Ok(ms) } else { Err(bad()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(args: &[&str]) -> Result<Cli, String> {
        Cli::try_parse_from(["mgpu"].iter().chain(args)).map_err(|e| e.to_string())
    }

    #[test]
    fn bad_values_are_named_with_their_range() {
        for (args, parts) in [
            (["--share", "0"], ["0", "1 to 100"].as_slice()),
            (["--share", "801"], &["801", "1 to 100"]),
            (["--share", "30.5"], &["30.5", "whole"]),
            (["--share", "0.3"], &["0.3", "write 30"]),
            (["--share", "-1"], &["-1", "1 to 100"]),
            (["--share", "x"], &["\"x\"", "1 to 100"]),
            (["--memory", "-4GiB"], &["-4GiB", "4GiB"]),
            (["--memory", "4 GB"], &["4 GB", "3814MiB", "3815MiB"]),
            (["--memory", "lots"], &["lots", "GiB"]),
            (["--class", "batch"], &["batch", "online and offline"]),
            (["--policy", "best-effort"], &["best-effort", "fixed-share"]),
            (["--policy", "native-burst-share"], &["not in this version"]),
            (["--weight", "0"], &["0", "1 to 10000"]),
            (["--weight", "many"], &["many", "1 to 10000"]),
            (["--devices", "gpu0"], &["gpu0", "UUID"]),
        ] {
            let error = parse(&["run", args[0], args[1], "--", "true"]).expect_err(args[1]);
            for part in parts {
                assert!(error.contains(part), "{args:?}: no {part} in {error}");
            }
        }
        for hold in ["50", "-1ms", "61s", "fast"] {
            assert!(parse(&["set", "--device", "0", "--hold", hold]).expect_err(hold).contains("0ms to 60s"));
        }
    }

    #[test]
    fn a_whole_command_is_read() {
        let cli = parse(&[
            "run",
            "--memory",
            "4GiB",
            "--share",
            "30",
            "--class",
            "offline",
            "--weight",
            "2",
            "--devices",
            "0, 1",
            "--",
            "python",
            "-c",
            "pass",
        ]);
        let Command::Run(run) = cli.expect("valid").command else { panic!("not run") };
        assert_eq!(run.tenant.memory, Some(4 << 30));
        assert_eq!(run.tenant.share, Some(30));
        assert_eq!(run.devices, ["0", "1"]);
        assert_eq!(run.program.len(), 3);
    }

    #[test]
    fn a_misspelt_option_is_not_taken_for_the_program() {
        let error = parse(&["run", "--shere", "30", "--", "true"]).expect_err("a typo");
        assert!(error.contains("--shere") && error.contains("--share"), "{error}");
        assert!(parse(&["run", "--share", "30"]).is_err(), "no program");
    }

    #[test]
    fn set_takes_a_tenant_or_a_device() {
        assert!(parse(&["set", "a", "--share", "5"]).is_ok());
        assert!(parse(&["set", "--device", "0", "--hold", "1s"]).is_ok());
        assert!(parse(&["set", "a", "--hold", "1s"]).is_err());
        assert!(parse(&["set", "--share", "5"]).is_err());
    }
}
