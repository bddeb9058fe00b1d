//! `mgpu`, what people type. Follow one command: `args` reads it, `run` checks it, `daemon` finds or starts a coordinator and
//! asks it, and this process becomes the program.
//!
//! Exit codes: 0 done, 1 something is missing or broken, 2 what was asked for is not possible (the message names the value and
//! the valid range), 126 and 127 the program can't be run; after that, the program's own.

mod args;
mod daemon;
mod failure;
mod run;
mod shim;
mod show;

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use clap::Parser as _;
use mgpu_protocol::control::{Request, Settings};

use crate::args::{Cli, Command, SetArgs};
use crate::daemon::Daemon;
use crate::failure::Failure;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let runtime_dir = if cli.user { Some(daemon::user_dir()) } else { cli.runtime_dir };
    let runtime_dir = runtime_dir.as_deref();
    let mut out = std::io::stdout();
    let result = match cli.command {
        Command::Run(args) => Err(run::run(runtime_dir, args)),
        Command::Ps { json } => show::ps(runtime_dir, json, &mut out),
        Command::Set(args) => set(runtime_dir, args),
        Command::Version => show::version(runtime_dir, &mut out),
        Command::StartDaemon => daemon::start(runtime_dir),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            let _ = writeln!(std::io::stderr(), "mgpu: {failure}");
            ExitCode::from(failure.code())
        }
    }
}

fn set(runtime_dir: Option<&Path>, args: SetArgs) -> Result<(), Failure> {
    let request = match (args.device, args.tenant) {
        (Some(device), _) if args.policy.is_some() || args.hold.is_some() => {
            Request::SetDevice { device, policy: args.policy, hold_ms: args.hold }
        }
        (Some(_), _) => return Err(Failure::input("nothing to change: a device has --policy and --hold")),
        (None, Some(tenant)) => {
            let settings = Settings {
                memory: args.memory,
                share: args.share,
                class: args.class,
                weight: args.weight,
                ..Settings::default()
            };
            if settings == Settings::default() {
                return Err(Failure::input("nothing to change: a tenant has --memory, --share, --class and --weight"));
            }
            Request::Set { tenant, settings }
        }
        (None, None) => return Err(Failure::input("name a tenant, or a device by --device")),
    };
    Daemon::expect(runtime_dir)?.command(&request).map(|_| ())
}
