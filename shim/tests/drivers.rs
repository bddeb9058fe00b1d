//! Resolution against whole drivers, with and without us: NVIDIA's own library, which loads on a machine without a GPU (the
//! symbol check unpacks Debian's packages into the cache; without them these tests say that they were skipped), and the
//! simulated one.

mod common;

use common::{ask, built, folder, preloaded, probe, shim, skipped};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// The libraries to ask: `MGPU_REAL_LIBCUDA` (paths with colons between), else those in the cache.
fn drivers() -> Vec<PathBuf> {
    if let Some(named) = std::env::var_os("MGPU_REAL_LIBCUDA") {
        return std::env::split_paths(&named).collect();
    }
    let repo = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let cache = std::env::var_os("MGPU_CACHE").map_or_else(|| repo.join(".cache"), PathBuf::from).join("symbols");
    let mut found = Vec::new();
    search(&cache, 8, &mut found);
    if found.is_empty() {
        skipped("real_driver", "no real libcuda.so.1 under .cache/symbols, where scripts/check symbols unpacks it");
    }
    found
}

fn search(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.file_name().is_some_and(|name| name == "libcuda.so.1") {
            found.push(path);
        } else if depth > 0 && path.is_dir() && !path.is_symlink() {
            search(&path, depth - 1, found);
        }
    }
}

fn is_hooked(name: &str) -> bool {
    mgpu_cuda::lookup(name).is_some_and(|symbol| symbol.status == mgpu_cuda::Status::Now)
}

/// Questions and the bare and the shimmed answers. Answers name an address by the exports that have it.
fn both(driver: &Path, questions: &str) -> Vec<(String, String)> {
    let folder = folder("real");
    let questions = format!("open {} 1\n{questions}", driver.display());
    let bare = ask(&mut preloaded(&probe(&folder), &[]), &questions);
    let shimmed = ask(&mut preloaded(&probe(&folder), &[shim()]), &questions);
    assert_eq!(bare.first().map(String::as_str), Some("open: done"), "{}", driver.display());
    assert_eq!(bare.len(), shimmed.len());
    bare.into_iter().zip(shimmed).skip(1).collect()
}

/// A driver's exports through its handle: wrappers for the hooked names, itself for the others.
fn exports_through_a_handle(driver: &Path) {
    let questions = mgpu_cuda::SYMBOLS.iter().fold(String::new(), |mut all, symbol| {
        let _ = writeln!(all, "sym {}", symbol.name);
        all
    });
    let mut there = 0;
    for (bare, shimmed) in both(driver, &questions) {
        let name = bare.split(':').next().unwrap_or_default();
        if bare.contains("null") || !is_hooked(name) {
            assert_eq!(bare, shimmed);
        } else {
            there += 1;
            assert!(shimmed.starts_with(&format!("{name}: libmgpu_shim.so ")), "{bare} / {shimmed}");
        }
    }
    assert!(there > 100, "{there} hooked functions in {}", driver.display());
}

/// `cuGetProcAddress`: the driver's own result and status, and the wrapper of the ABI that it gave.
fn proc_address(driver: &Path) {
    let mut questions = String::new();
    for symbol in mgpu_cuda::SYMBOLS {
        let _ = writeln!(questions, "learn {}", symbol.name);
    }
    for family in mgpu_cuda::FAMILIES {
        let introduced = family.variants.iter().flat_map(|variant| [variant.introduced, variant.introduced - 1]);
        for version in introduced.chain([0, 12_000, 13_050]) {
            for flags in 0..4 {
                let _ = writeln!(questions, "proc1 {0} {version} {flags}\nproc2 {0} {version} {flags}", family.name);
            }
        }
    }
    let mut swapped = HashMap::new();
    for (bare, shimmed) in both(driver, &questions) {
        let name = bare.rsplit(' ').next().unwrap_or_default();
        if bare.contains(" null null") || !is_hooked(name) {
            assert_eq!(bare, shimmed);
            continue;
        }
        let file = bare.rsplit(' ').nth(1).unwrap_or_default();
        assert_eq!(shimmed, bare.replace(file, "libmgpu_shim.so"));
        *swapped.entry(name.to_owned()).or_insert(0) += 1;
    }
    assert!(swapped.len() > 100, "{} wrappers given out for {}", swapped.len(), driver.display());
}

#[test]
fn exports_of_the_real_driver() {
    drivers().iter().for_each(|driver| exports_through_a_handle(driver));
}

#[test]
fn proc_address_of_the_real_driver() {
    drivers().iter().for_each(|driver| proc_address(driver));
}

#[test]
fn exports_of_the_simulated_driver() {
    exports_through_a_handle(&built("mgpu-sim-cuda", "libcuda.so"));
}

#[test]
fn proc_address_of_the_simulated_driver() {
    proc_address(&built("mgpu-sim-cuda", "libcuda.so"));
}
