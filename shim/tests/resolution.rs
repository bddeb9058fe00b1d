//! Whose function a program gets, by every way of looking one up: the driver's wrapper where it would get the driver's
//! function, and what it would get without us everywhere else.

mod common;

use common::{Fake, ask, fake_driver, folder, preloaded, probe, shim};
use mgpu_cuda::{Status, Symbol};
use std::fmt::Write as _;
use std::path::Path;

const LAZY: i32 = 1;
const GLOBAL: i32 = 0x100;

fn is_hooked(symbol: &Symbol) -> bool {
    symbol.status == Status::Now
}

fn owner(symbol: &Symbol) -> &'static str {
    if is_hooked(symbol) { "libmgpu_shim.so" } else { "libcuda.so.1" }
}

fn ask_with(driver: Option<&Path>, folder: &Path, questions: &str) -> Vec<String> {
    let open = driver.map_or_else(String::new, |driver| format!("open {} {LAZY}\n", driver.display()));
    let mut answers = ask(&mut preloaded(&probe(folder), &[shim()]), &(open + questions));
    if driver.is_some() {
        assert_eq!(answers.remove(0), "open: done");
    }
    answers
}

#[test]
fn each_name_through_a_handle_leads_to_its_own_function() {
    let folder = folder("resolution");
    let driver = fake_driver(&folder, Fake::Full);
    let by_hand = |symbol: &&Symbol| !matches!(symbol.family, "cuInit" | "cuDriverGetVersion" | "cuGetProcAddress");
    let symbols: Vec<_> = mgpu_cuda::SYMBOLS.iter().filter(by_hand).collect();
    let questions = symbols.iter().fold(String::new(), |mut all, symbol| {
        let _ = writeln!(all, "call {}", symbol.name);
        all
    });
    let answers = ask_with(Some(&driver), &folder, &questions);
    assert_eq!(answers.len(), symbols.len());
    for (symbol, answer) in symbols.iter().zip(answers) {
        assert_eq!(answer, format!("{0}: {1} {0}", symbol.name, owner(symbol)));
    }
}

#[test]
fn names_that_are_not_the_drivers_stay_what_they_are() {
    let folder = folder("resolution");
    let driver = fake_driver(&folder, Fake::Full);
    let questions = "sym fake_name\nsym getpid\nsym cuNoSuchThing\nsym cu\ndefault getpid\ndefault cudaMalloc\n";
    let shimmed = ask_with(Some(&driver), &folder, questions);
    let mut bare = ask(&mut preloaded(&probe(&folder), &[]), &format!("open {} {LAZY}\n{questions}", driver.display()));
    bare.remove(0);
    assert_eq!(shimmed, bare);
    assert!(shimmed.iter().any(|answer| answer.ends_with("null with an error")));
}

#[test]
fn nobody_finds_the_driver_where_nobody_loaded_it() {
    let answers = ask_with(None, &folder("resolution"), "default cuInit\nnext cuInit\nopen - 1\nsym cuInit\n");
    assert_eq!(
        answers,
        ["cuInit: null with an error", "cuInit: null with an error", "open: done", "cuInit: null with an error"]
    );
}

#[test]
fn a_driver_in_the_global_scope_is_found_by_default_and_as_the_next() {
    let folder = folder("resolution");
    let driver = fake_driver(&folder, Fake::Full);
    let questions = format!(
        "open {} {}\ncalldefault cuMemAlloc_v2\ncalldefault cuGetErrorName\nnext cuMemAlloc_v2\n",
        driver.display(),
        LAZY | GLOBAL
    );
    let answers = ask_with(None, &folder, &questions);
    assert_eq!(answers[1], "cuMemAlloc_v2: libmgpu_shim.so cuMemAlloc_v2");
    assert_eq!(answers[2], "cuGetErrorName: libcuda.so.1 cuGetErrorName");
    assert_eq!(answers[3], "cuMemAlloc_v2: libmgpu_shim.so cuMemAlloc_v2");
}

#[test]
fn a_version_is_no_way_round() {
    let folder = folder("resolution");
    let driver = fake_driver(&folder, Fake::Full);
    let questions = "vsym cuMemAlloc_v2 ANY\nvdefault cuMemAlloc_v2 ANY\nvnext dlsym GLIBC_2.2.5\nvsym getpid NONE\n";
    let questions = format!("learn cuMemAlloc_v2\n{questions}");
    let answers = ask_with(Some(&driver), &folder, &questions);
    // The fake driver was linked without versions; whether the loader accepts one then is its business, but it may only
    // ever lead to the wrapper.
    let allowed = ["cuMemAlloc_v2: libmgpu_shim.so cuMemAlloc_v2", "cuMemAlloc_v2: null with an error"];
    assert!(allowed.contains(&answers[0].as_str()), "{}", answers[0]);
    assert!(allowed.contains(&answers[1].as_str()), "{}", answers[1]);
    assert!(answers[2].contains("libmgpu_shim.so"), "{}", answers[2]);
    assert_eq!(answers[3], "getpid: null with an error");
}

#[test]
fn another_namespace_stays_as_it_is() {
    let folder = folder("resolution");
    let driver = fake_driver(&folder, Fake::Full);
    let questions = format!("newopen {0} 2\nsym cuMemAlloc_v2\nopen {0} 2\nsym cuMemAlloc_v2\n", driver.display());
    let answers = ask_with(None, &folder, &questions);
    assert_eq!(answers[1], "cuMemAlloc_v2: libcuda.so.1 cuMemAlloc_v2");
    assert!(answers[3].starts_with("cuMemAlloc_v2: libmgpu_shim.so"), "{}", answers[3]);
}

#[test]
fn an_old_driver_lacks_what_it_lacks() {
    let folder = folder("resolution");
    let driver = fake_driver(&folder, Fake::Old);
    let questions = "learn cuMemAlloc_v2\nsym cuCtxSynchronize_v2\nproc2 cuCtxSynchronize 13000 0\nproc2 cuMemAlloc 13000 0\n\
                     proc2 cuMemcpyBatchAsync 13000 0\nproc1 cuMemcpyBatchAsync 13000 0\n";
    let questions = format!("learn cuCtxSynchronize\n{questions}");
    let answers = ask_with(Some(&driver), &folder, &questions);
    assert_eq!(
        answers,
        [
            "cuCtxSynchronize_v2: null with an error",
            "proc2 cuCtxSynchronize 13000 0: 0 0 libmgpu_shim.so cuCtxSynchronize",
            "proc2 cuMemAlloc 13000 0: 0 0 libmgpu_shim.so cuMemAlloc_v2",
            "proc2 cuMemcpyBatchAsync 13000 0: 0 1 null null",
            "proc1 cuMemcpyBatchAsync 13000 0: 500 -1 null null",
        ]
    );
}

/// Every name, version and flag that matters, asked with and without us: same result, same status, and the pointer is
/// the wrapper of exactly the function that the driver gave.
fn proc_address_matches(fake: Fake) {
    let folder = folder("resolution");
    let driver = fake_driver(&folder, fake);
    let mut questions = format!("open {} {LAZY}\n", driver.display());
    for symbol in mgpu_cuda::SYMBOLS {
        let _ = writeln!(questions, "learn {}", symbol.name);
    }
    let mut count = 0;
    for family in mgpu_cuda::FAMILIES {
        let mut versions = vec![0, 99_999];
        for variant in family.variants {
            let twin = variant.twin.map(|(_, introduced)| introduced);
            for introduced in [Some(variant.introduced), twin].into_iter().flatten() {
                versions.extend([introduced, introduced - 1]);
            }
        }
        versions.sort_unstable();
        versions.dedup();
        for version in versions {
            for flags in 0..3 {
                let _ = writeln!(questions, "proc1 {0} {version} {flags}\nproc2 {0} {version} {flags}", family.name);
                count += 2;
            }
        }
    }
    let bare = ask(&mut preloaded(&probe(&folder), &[]), &questions);
    let shimmed = ask(&mut preloaded(&probe(&folder), &[shim()]), &questions);
    assert_eq!(bare.len(), count + 1);
    assert_eq!(shimmed.len(), bare.len());
    for (bare, shimmed) in bare.iter().zip(&shimmed).skip(1) {
        assert_eq!(*shimmed, expected(bare), "without us: {bare}");
    }
}

/// The answer that we must give where the driver gives `bare`.
fn expected(bare: &str) -> String {
    let name = bare.rsplit(' ').next().unwrap_or_default();
    match mgpu_cuda::lookup(name) {
        Some(symbol) if is_hooked(symbol) => bare.replace("libcuda.so.1", "libmgpu_shim.so"),
        _ => bare.to_owned(),
    }
}

#[test]
fn proc_address_gives_the_wrapper_of_exactly_that_abi() {
    proc_address_matches(Fake::Full);
}

#[test]
fn proc_address_of_an_old_driver_too() {
    proc_address_matches(Fake::Old);
}

#[test]
fn proc_address_of_a_driver_that_gives_addresses_which_it_does_not_export() {
    let folder = folder("resolution");
    let driver = fake_driver(&folder, Fake::Internal);
    let questions = "learn cuMemAlloc_v2\nlearn cuMemAlloc\nlearn cuLaunchKernel_ptsz\nproc2 cuMemAlloc 12000 0\n\
                     proc2 cuMemAlloc 3010 0\nproc2 cuLaunchKernel 12000 2\nproc1 cuMemAlloc 13050 1\n";
    assert_eq!(
        ask_with(Some(&driver), &folder, questions),
        [
            "proc2 cuMemAlloc 12000 0: 0 0 libmgpu_shim.so cuMemAlloc_v2",
            "proc2 cuMemAlloc 3010 0: 0 0 libmgpu_shim.so cuMemAlloc",
            "proc2 cuLaunchKernel 12000 2: 0 0 libmgpu_shim.so cuLaunchKernel_ptsz",
            "proc1 cuMemAlloc 13050 1: 0 -1 libmgpu_shim.so cuMemAlloc_v2",
        ]
    );
}

#[test]
fn one_body_for_two_names_still_gives_the_wrapper_of_the_name_asked_for() {
    let folder = folder("resolution");
    let driver = fake_driver(&folder, Fake::Merged);
    let questions =
        "learn cuMemsetD8_v2\nlearn cuMemsetD8_v2_ptds\nproc2 cuMemsetD8 12000 0\nproc2 cuMemsetD8 12000 2\n";
    assert_eq!(
        ask_with(Some(&driver), &folder, questions),
        [
            "proc2 cuMemsetD8 12000 0: 0 0 libmgpu_shim.so cuMemsetD8_v2",
            "proc2 cuMemsetD8 12000 2: 0 0 libmgpu_shim.so cuMemsetD8_v2_ptds",
        ]
    );
}

#[test]
fn the_resolver_asked_for_through_itself_is_ours_again() {
    let folder = folder("resolution");
    let driver = fake_driver(&folder, Fake::Full);
    let questions = "learn cuGetProcAddress\nlearn cuGetProcAddress_v2\nlearn cuMemAlloc_v2\nself 11040 cuMemAlloc\n\
                     self 12000 cuMemAlloc\n";
    assert_eq!(
        ask_with(Some(&driver), &folder, questions),
        [
            "self 11040: libmgpu_shim.so cuGetProcAddress",
            "proc1 cuMemAlloc 11040 0: 0 -1 libmgpu_shim.so cuMemAlloc_v2",
            "self 12000: libmgpu_shim.so cuGetProcAddress_v2",
            "proc2 cuMemAlloc 12000 0: 0 0 libmgpu_shim.so cuMemAlloc_v2",
        ]
    );
}
