//! `scripts/bench`: figures against the same program without the shim, alternating in one run. Ratios and differences only;
//! figures from the simulated GPU are claims about mgpu's logic, not about hardware.

mod overhead;
mod share_error;
mod stats;
mod syscalls;
mod worker;

use clap::{Parser, ValueEnum};
use serde_json::json;

/// Benchmarks of mgpu on the simulated GPU.
#[derive(Parser)]
struct Arguments {
    /// Which suite.
    suite: Suite,
    /// Print nothing but one JSON object on stdout.
    #[arg(long)]
    json: bool,
    /// Rounds of alternating batches a case (overhead suites), or seconds a case (share-error); fewer = faster, wider intervals.
    #[arg(long)]
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
}

fn main() {
    let arguments = Arguments::parse();
    let (name, figures) = match arguments.suite {
        Suite::LaunchOverhead => {
            ("launch-overhead", overhead::run(overhead::Call::Launch, arguments.length.unwrap_or(150)))
        }
        Suite::AllocOverhead => {
            ("alloc-overhead", overhead::run(overhead::Call::Alloc, arguments.length.unwrap_or(100)))
        }
        Suite::ShareError => ("share-error", share_error::run(arguments.length.unwrap_or(10))),
    };
    if arguments.json {
        println!("{}", json!({"bench": name, "figures": figures}));
    } else {
        print!("{}", table(name, &figures));
    }
}

/// The figures as text: headline figures first, then one line a case.
fn table(name: &str, figures: &serde_json::Value) -> String {
    use std::fmt::Write as _;
    let mut out = format!("{name} (simulated GPU: mgpu's logic, not hardware)\n");
    for (key, value) in figures.as_object().into_iter().flatten().filter(|(_, v)| !v.is_array()) {
        let _ = writeln!(out, "  {key:<24} {value}");
    }
    for case in figures["cases"].as_array().into_iter().flatten() {
        let cells: Vec<String> = case.as_object().into_iter().flatten().map(|(k, v)| format!("{k}={v}")).collect();
        let _ = writeln!(out, "  - {}", cells.join("  "));
    }
    out
}
