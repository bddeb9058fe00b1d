//! The library as a file: what it exports, what it needs, how large it is.

mod common;

use common::{output, shim};
use std::collections::BTreeSet;
use std::process::Command;

/// What it exports beside the hooked names.
const OWN: &[&str] = &["dlmopen", "dlopen", "dlsym", "dlvsym", "mgpu_shim_version"];

#[test]
fn it_exports_the_hooked_names_of_the_table_and_the_loaders_and_nothing_else() {
    let listing = output(Command::new("nm").args(["--dynamic", "--defined-only"]).arg(shim()));
    let exported: BTreeSet<&str> = listing.lines().filter_map(|line| line.split_whitespace().nth(2)).collect();
    let hooked = mgpu_cuda::SYMBOLS.iter().filter(|symbol| symbol.status == mgpu_cuda::Status::Now);
    let expected: BTreeSet<&str> = hooked.map(|symbol| symbol.name).chain(OWN.iter().copied()).collect();
    assert_eq!(exported, expected);
}

#[test]
fn it_needs_nothing_but_libc() {
    let listing = output(Command::new("readelf").args(["--dynamic", "--wide"]).arg(shim()));
    let needed: Vec<&str> = listing
        .lines()
        .filter(|line| line.contains("(NEEDED)"))
        .filter_map(|line| line.split(['[', ']']).nth(1))
        .collect();
    let allowed = |name: &&str| name.starts_with("libc.so") || name.starts_with("ld-linux");
    assert!(needed.iter().all(allowed), "{needed:?}");
    assert!(listing.contains("SYMBOLIC") && listing.contains("NODELETE"), "{listing}");
}

/// Two entries: the C runtime's, and std's note of the program's arguments. A third would be a constructor of ours.
#[test]
fn it_runs_nothing_of_its_own_at_load() {
    let listing = output(Command::new("readelf").args(["--dynamic", "--wide"]).arg(shim()));
    let line = listing.lines().find(|line| line.contains("(INIT_ARRAYSZ)")).unwrap_or_default();
    assert!(line.ends_with(" 16 (bytes)"), "{line}");
}

/// The limit of the release build; the dev build carries its line tables.
#[test]
fn it_is_small() {
    let size = std::fs::metadata(shim()).expect("just built").len();
    let limit = if cfg!(debug_assertions) { 64 } else { 4 };
    assert!(size < limit << 20, "{size} bytes");
}
