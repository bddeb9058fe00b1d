//! `scripts/bench`: figures against the same program without the shim, alternating in one run. Ratios and differences only;
//! figures from the simulated GPU are claims about mgpu's logic, not about hardware.

mod overhead;
mod process_cost;
mod share_error;
mod stats;
mod syscalls;
mod worker;

use clap::{Parser, ValueEnum};
use overhead::{Call, Outcome};
use serde_json::json;
use std::process::ExitCode;

/// Benchmarks of mgpu on the simulated GPU.
#[derive(Parser)]
struct Arguments {
    /// Which suite.
    suite: Suite,
    /// Print nothing but one JSON object on stdout.
    #[arg(long)]
    json: bool,
    /// Rounds of alternating batches or runs a case (overhead and process-cost; overheads take at least 50, launches more by
    /// themselves until the intervals are narrow), or seconds a case (share-error); fewer = faster, wider intervals.
    #[arg(long, value_parser = clap::value_parser!(u32).range(2..=100_000))]
    length: Option<u32>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Suite {
    /// What the shim adds to a kernel launch.
    LaunchOverhead,
    /// What the shim adds to an allocation.
    AllocOverhead,
    /// How far device time is from the shares.
    ShareError,
    /// What the shim adds to the start of a program without CUDA, and to the memory of a process.
    ProcessCost,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let length = |usual| arguments.length.unwrap_or(usual);
    let sound = |figures| Outcome { figures, can_be_trusted: true };
    let (name, outcome) = match arguments.suite {
        Suite::LaunchOverhead => ("launch-overhead", overhead::run(Call::Launch, length(150))),
        Suite::AllocOverhead => ("alloc-overhead", overhead::run(Call::Alloc, length(100))),
        Suite::ShareError => ("share-error", sound(share_error::run(length(10)))),
        Suite::ProcessCost => ("process-cost", sound(process_cost::run(length(200)))),
    };
    if arguments.json {
        println!("{}", json!({"bench": name, "figures": outcome.figures}));
    } else {
        print!("{}", table(name, &outcome.figures));
    }
    if !outcome.can_be_trusted {
        eprintln!("mgpu-bench: the control's 50 ns were not found: this run says nothing (is the machine busy?)");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

/// The figures as text: headline figures first, then one line a case.
fn table(name: &str, figures: &serde_json::Value) -> String {
    use std::fmt::Write as _;
    let mut out = format!("{name} (simulated GPU: mgpu's logic, not hardware)\n");
    for (key, value) in figures.as_object().into_iter().flatten().filter(|(_, v)| !v.is_array()) {
        let _ = writeln!(out, "  {key:<36} {value}");
    }
    for case in figures["cases"].as_array().into_iter().flatten() {
        let cells: Vec<String> = case.as_object().into_iter().flatten().map(|(k, v)| format!("{k}={v}")).collect();
        let _ = writeln!(out, "  - {}", cells.join("  "));
    }
    out
}
