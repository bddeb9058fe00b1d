//! Where the built things are. Nothing here builds: `scripts/test` and `scripts/demo` do that first, and a missing file
//! ends the run with the command that makes it.

use std::path::{Path, PathBuf};

/// Root of the checkout.
#[must_use]
pub fn repo() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).map_or_else(|| here.to_path_buf(), Path::to_path_buf)
}

fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| repo().join("target"), PathBuf::from)
}

/// A file that a script built.
///
/// # Panics
/// If it isn't there, with the command that makes it.
fn built(path: PathBuf) -> PathBuf {
    assert!(path.exists(), "{} is missing: run scripts/test build", path.display());
    path
}

/// A binary or library of the release build.
#[must_use]
pub fn release(name: &str) -> PathBuf {
    built(target().join("release").join(name))
}

/// Folder with `libcuda.so.1` and `libnvidia-ml.so.1` of the simulated driver.
#[must_use]
pub fn sim_lib() -> PathBuf {
    built(target().join("sim"))
}

/// A compiled program of `tests/workloads`.
#[must_use]
pub fn workload(name: &str) -> PathBuf {
    built(target().join("workloads").join(name))
}

/// A Python program of `tests/workloads/python`.
#[must_use]
pub fn python_workload(name: &str) -> PathBuf {
    built(repo().join("tests/workloads/python").join(name))
}

fn venv() -> PathBuf {
    std::env::var_os("MGPU_CACHE").map_or_else(|| repo().join(".cache"), PathBuf::from).join("venv")
}

/// Why `scripts/setup` left out the pinned client `name` on this machine's Python; none if it is there.
#[must_use]
pub fn absent_client(name: &str) -> Option<String> {
    let absent = std::fs::read_to_string(venv().join("absent")).unwrap_or_default();
    absent.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": ").map(str::to_owned))
}

/// The interpreter with the pinned clients.
#[must_use]
pub fn python() -> PathBuf {
    let python = venv().join("bin/python");
    assert!(python.exists(), "{} is missing: run scripts/setup", python.display());
    python
}
