//! `mgpu-sim`: the process in which a node's simulated GPUs live, and the commands that ask it for its witness.
//!
//! It stands in for hardware and knows nothing of mgpu.

mod calls;
mod client;
mod connection;
mod effects;
mod identity;
mod listen;
mod memory;
mod mover;
mod node;
mod report;
mod scheduling;
mod serve;
mod submit;
mod system;

use clap::{Args, Parser, Subcommand};
use listen::{Listener, Refused};
use mgpu_sim_gpu::{Model, PROFILES, Profile};
use mgpu_sim_link::Observer;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

/// The simulated GPUs of a node.
#[derive(Debug, Parser)]
#[command(name = "mgpu-sim", version)]
struct Arguments {
    #[command(subcommand)]
    command: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Run the devices until SIGTERM.
    Serve(Serve),
    /// Print what each process truly had of each device.
    Witness {
        #[command(flatten)]
        server: ServerAt,
        /// JSON (the only form; the flag is there to say so).
        #[arg(long)]
        json: bool,
    },
    /// Print, as JSON, who was on each device and when nobody was.
    Intervals {
        #[command(flatten)]
        server: ServerAt,
        /// CLOCK_MONOTONIC, ns.
        #[arg(long, value_name = "NS", default_value_t = 0)]
        since: u64,
    },
    /// Print, as JSON, the stamps of recent launches.
    Launches {
        #[command(flatten)]
        server: ServerAt,
        /// CLOCK_MONOTONIC, ns.
        #[arg(long, value_name = "NS", default_value_t = 0)]
        since: u64,
    },
    /// List the built-in profiles, or print one as TOML.
    Profiles {
        /// Which.
        name: Option<String>,
    },
}

#[derive(Debug, Args)]
struct ServerAt {
    /// The server's socket; by default the one that a client would use.
    #[arg(long, env = "MGPU_SIM_SOCKET")]
    socket: Option<PathBuf>,
}

#[derive(Debug, Args)]
struct Serve {
    /// Where to listen. Its folder is made if needed.
    #[arg(long)]
    socket: PathBuf,
    /// A built-in profile, or a TOML file.
    #[arg(long, default_value = "default")]
    profile: String,
    /// For jitter, outliers and UUIDs.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Number of devices.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=64))]
    devices: u32,
    /// Memory of each device, bytes, instead of the profile's.
    #[arg(long)]
    memory: Option<u64>,
    /// Append the witness here, a line of JSON whenever a client leaves and at the end.
    #[arg(long)]
    witness_log: Option<PathBuf>,
    /// Exit when there has been no client for so many seconds.
    #[arg(long, value_name = "SECONDS")]
    exit_when_idle: Option<u64>,
    /// Return when the server listens (or another one does already); it goes on in the background.
    #[arg(long)]
    detach: bool,
    /// The background half of `--detach`.
    #[arg(long, hide = true)]
    background: bool,
}

fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        Action::Serve(options) if options.detach => detach(&options),
        Action::Serve(options) => serve(&options),
        Action::Witness { server, json: _ } => ask(&server, Observer::witness_json),
        Action::Intervals { server, since } => ask(&server, |server| server.intervals_json(since)),
        Action::Launches { server, since } => ask(&server, |server| server.launches_json(since)),
        Action::Profiles { name } => profiles(name.as_deref()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            // In the background nobody may be there to read it.
            let _ = writeln!(std::io::stderr(), "mgpu-sim: {message}");
            ExitCode::FAILURE
        }
    }
}

/// The profile of that name, or in that file.
fn profile(name: &str) -> Result<Profile, String> {
    if let Some(profile) = Profile::built_in(name) {
        return Ok(profile);
    }
    let text = std::fs::read_to_string(name)
        .map_err(|error| format!("--profile {name}: neither one of {} nor a file: {error}", PROFILES.join(", ")))?;
    Profile::from_toml(&text).map_err(|error| format!("--profile {name}: {error}"))
}

fn serve(options: &Serve) -> Result<(), String> {
    let told = |what: &str, error: &dyn std::fmt::Display| format!("{what}: {error}");
    if options.background {
        rustix::process::setsid().map_err(|error| told("setsid", &error))?;
    }
    let profile = profile(&options.profile)?;
    let memory = options.memory.unwrap_or(profile.device.memory_bytes);
    let listener = Listener::at(&options.socket).map_err(|refused| match refused {
        Refused::Taken => format!("{}: a server is running there", options.socket.display()),
        Refused::Failed(error) => told(&options.socket.display().to_string(), &error),
    })?;
    let log = match &options.witness_log {
        Some(path) => Some(
            std::fs::File::options()
                .create(true)
                .append(true)
                .open(path)
                .map_err(|error| told(&path.display().to_string(), &error))?,
        ),
        None => None,
    };
    let signal = system::termination().map_err(|error| told("signals", &error))?;
    // The mover is started before the main thread is raised above it.
    let mover = mover::Mover::start().map_err(|error| told("mover", &error))?;
    let facts = report::ServerFacts { scheduling: scheduling::raise().to_string(), ..report::ServerFacts::default() };
    // The path as it is found again from any folder, so that the UUIDs are the same.
    let place = std::fs::canonicalize(&options.socket).unwrap_or_else(|_| options.socket.clone());
    let devices = identity::devices(&profile, memory, options.devices, options.seed, &place);
    let costs = identity::costs(&profile);
    let mut model = Model::new(profile, options.seed, options.devices, options.memory);
    // Its accounts begin now, not when the machine was booted. Nothing has happened yet, so nothing comes of it.
    model.advance(mgpu_sim_link::now_ns().saturating_sub(node::HORIZON_NS), &mut Vec::new());
    let node = node::Node::new(model, mover, devices, costs);
    let idle = options.exit_when_idle.map(|seconds| seconds.saturating_mul(1_000_000_000));
    let mut server =
        serve::Server::new(node, listener, signal, facts, log, idle).map_err(|error| told("start", &error))?;
    announce(&options.socket);
    server.run().map_err(|error| told("main loop", &error))
}

/// One line on standard output, for whoever waits for it; nothing is ever written there again.
fn announce(socket: &Path) {
    let mut out = std::io::stdout();
    // Nobody need listen.
    let _ = writeln!(out, "mgpu-sim: listening on {}", socket.display());
    let _ = out.flush();
}

/// Starts the same command in the background, in a session of its own, and waits until it listens.
fn detach(options: &Serve) -> Result<(), String> {
    let told = |error: std::io::Error| format!("cannot start in the background: {error}");
    let program = std::env::current_exe().map_err(told)?;
    let mut command = Command::new(program);
    command.args(std::env::args_os().skip(1).filter(|argument| argument != "--detach")).arg("--background");
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(told)?;
    let mut line = String::new();
    if let Some(out) = child.stdout.take() {
        BufReader::new(out).read_line(&mut line).map_err(told)?;
    }
    if !line.is_empty() || std::os::unix::net::UnixStream::connect(&options.socket).is_ok() {
        return Ok(());
    }
    let output = child.wait_with_output().map_err(told)?;
    Err(String::from_utf8_lossy(&output.stderr).trim().trim_start_matches("mgpu-sim: ").to_owned())
}

/// Asks the server and prints its answer.
fn ask(
    server: &ServerAt,
    question: impl FnOnce(&mut Observer) -> Result<String, mgpu_sim_link::Error>,
) -> Result<(), String> {
    let mut observer = match &server.socket {
        Some(path) => Observer::connect(path).map_err(|error| format!("{}: {error}", path.display())),
        None => Observer::connect_default().map_err(|error| error.to_string()),
    }?;
    println!("{}", question(&mut observer).map_err(|error| error.to_string())?);
    Ok(())
}

/// The names, or one profile.
fn profiles(name: Option<&str>) -> Result<(), String> {
    match name {
        None => println!("{}", PROFILES.join("\n")),
        Some(name) => {
            let text = toml::to_string_pretty(&profile(name)?).map_err(|error| error.to_string())?;
            print!("{text}");
        }
    }
    Ok(())
}
