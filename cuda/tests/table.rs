//! The table as data: shape, order, and the driver's rule of resolution on known answers.
use mgpu_cuda::{Class, FAMILIES, NOT_IN_TABLE, Resolution, SYMBOLS, Status, family, lookup, resolution, resolve};
use std::collections::BTreeSet;

#[test]
fn sorted_without_duplicates() {
    assert!(SYMBOLS.is_sorted_by(|a, b| a.name < b.name));
    assert!(FAMILIES.is_sorted_by(|a, b| a.name < b.name));
    assert_eq!((FAMILIES.len(), SYMBOLS.len()), (516, 723), "a header has changed: say so in the changelog");
}

#[test]
fn every_name_is_found_and_no_other() {
    for symbol in SYMBOLS {
        assert_eq!(lookup(symbol.name).map(|found| found.name), Some(symbol.name));
        assert!(family(symbol.family).is_some());
    }
    for (name, reason) in NOT_IN_TABLE {
        assert!(lookup(name).is_none() && !reason.is_empty(), "{name}");
    }
    for name in ["", "cu", "cuMemAllo", "cuMemAlloc_v9", "nvmlInit", "malloc", "cuGetProcAddress_v2_ptsz"] {
        assert!(lookup(name).is_none(), "{name}");
    }
}

#[test]
fn versions_rise_within_a_family_and_twins_are_no_older() {
    for family in FAMILIES {
        assert!(family.variants.is_sorted_by(|a, b| a.introduced < b.introduced), "{}", family.name);
        for variant in family.variants {
            assert!(variant.name.starts_with(family.name));
            let Some((twin, introduced)) = variant.twin else { continue };
            let suffix = twin.strip_prefix(variant.name).expect("a twin's name is its plain name and a suffix");
            assert!(matches!(suffix, "_ptds" | "_ptsz"), "{twin}");
            assert!(introduced >= variant.introduced, "{twin}");
        }
    }
}

#[test]
fn twins_are_known_from_both_sides() {
    let twins: Vec<_> = SYMBOLS.iter().filter(|symbol| symbol.per_thread).collect();
    assert_eq!(twins.len(), 107);
    for twin in twins {
        let plain = lookup(twin.twin_of.expect("a twin has a plain function")).expect("which has a row");
        assert!(!plain.per_thread && plain.family == twin.family && plain.class == twin.class);
    }
    let suffixed = |name: &str| name.ends_with("_ptds") || name.ends_with("_ptsz");
    assert!(SYMBOLS.iter().all(|symbol| symbol.per_thread == suffixed(symbol.name)));
}

#[test]
fn resolution_follows_the_driver() {
    let cases = [
        ("cuMemAlloc", 12000, false, Some("cuMemAlloc_v2")),
        ("cuMemAlloc", 3020, false, Some("cuMemAlloc_v2")),
        ("cuMemAlloc", 3019, false, Some("cuMemAlloc")),
        ("cuMemAlloc", 1999, false, None),
        ("cuMemAlloc", 12000, true, Some("cuMemAlloc_v2")),
        ("cuMemAlloc_v2", 12000, false, None),
        ("cuMemcpyHtoD", 12000, true, Some("cuMemcpyHtoD_v2_ptds")),
        ("cuMemcpyHtoD", 5000, true, None),
        ("cuLaunchKernel", 12000, false, Some("cuLaunchKernel")),
        ("cuLaunchKernel", 12000, true, Some("cuLaunchKernel_ptsz")),
        ("cuGetProcAddress", 11030, false, Some("cuGetProcAddress")),
        ("cuGetProcAddress", 12000, true, Some("cuGetProcAddress_v2")),
        ("cuCtxCreate", 12040, false, Some("cuCtxCreate_v3")),
        ("cuCtxCreate", 13000, false, Some("cuCtxCreate_v4")),
        ("cuGraphInstantiate", 13000, false, Some("cuGraphInstantiate_v2")),
        ("cuGraphInstantiateWithFlags", 11040, false, Some("cuGraphInstantiateWithFlags")),
        ("cuStreamGetCaptureInfo", 11030, true, Some("cuStreamGetCaptureInfo_v2_ptsz")),
        ("cuMemPrefetchAsync", 12010, true, Some("cuMemPrefetchAsync_ptsz")),
        ("cuMemAlloc", -1, false, Some("cuMemAlloc_v2")),
        ("cuMemAlloc", 0, false, None),
        ("cuMemAlloc", i32::MAX, false, Some("cuMemAlloc_v2")),
        ("", 12000, false, None),
        ("nope", 12000, false, None),
    ];
    for (base, version, per_thread, expected) in cases {
        assert_eq!(resolve(base, version, per_thread), expected, "{base} {version} {per_thread}");
    }
    assert_eq!(resolution("cuMemAlloc", 1999, false), Resolution::TooOld);
    assert_eq!(resolution("cuMemcpyHtoD", 5000, true), Resolution::TooOld);
    assert_eq!(resolution("cuMemAlloc_v2", 12000, false), Resolution::Unknown);
}

#[test]
fn every_answer_of_the_resolver_is_a_symbol_introduced_by_then() {
    let versions: BTreeSet<u32> =
        SYMBOLS.iter().flat_map(|symbol| [symbol.introduced - 1, symbol.introduced]).collect();
    for family in FAMILIES {
        for version in &versions {
            for per_thread in [false, true] {
                let answer = resolve(family.name, i32::try_from(*version).expect("small"), per_thread);
                let Some(symbol) = answer.and_then(lookup) else { continue };
                assert!(symbol.introduced <= *version && symbol.family == family.name);
            }
        }
    }
}

#[test]
fn every_row_carries_a_decision() {
    for family in FAMILIES {
        match family.status {
            Status::Now => assert_ne!(family.class, Class::Pass, "{} passes: say why", family.name),
            Status::Later(words) => {
                assert_ne!(family.class, Class::Pass, "{}", family.name);
                assert!(words.contains("issue") && words.contains("until then"), "{}: {words}", family.name);
            }
            Status::Because(words) => assert!(words.len() > 20, "{}: {words}", family.name),
        }
    }
}

/// Names that smell of memory or GPU work must not slip in as plain pass-through rows (symbols.md, construction 4).
#[test]
fn every_launch_and_every_allocation_is_in_its_class() {
    let of = |class| FAMILIES.iter().filter(|family| family.class == class).map(|family| family.name).collect();
    let launches: BTreeSet<&str> = of(Class::Launch);
    let expected = [
        "cuGraphLaunch",
        "cuLaunch",
        "cuLaunchCooperativeKernel",
        "cuLaunchCooperativeKernelMultiDevice",
        "cuLaunchGrid",
        "cuLaunchGridAsync",
        "cuLaunchKernel",
        "cuLaunchKernelEx",
        "cuMemBatchDecompressAsync",
    ];
    assert_eq!(launches, BTreeSet::from(expected));
    let fills: BTreeSet<&str> = of(Class::Fill);
    let memsets = FAMILIES.iter().map(|family| family.name).filter(|name| name.starts_with("cuMemset")).collect();
    assert_eq!(fills, memsets);
    for family in FAMILIES.iter().filter(|family| family.name.starts_with("cuMemcpy")) {
        assert_eq!(family.class, Class::Copy, "{}", family.name);
        let host = family.detail.starts_with("host");
        assert_eq!(host, family.name.contains("Hto") || family.name.contains("toH"), "{}", family.name);
        assert_eq!(host, family.status != Status::Now, "{}: device copies are gated", family.name);
    }
    for family in FAMILIES.iter().filter(|family| family.name.starts_with("cuMemAlloc")) {
        let host = family.name.starts_with("cuMemAllocHost");
        assert_eq!(family.class == Class::Memory, !host, "{}", family.name);
    }
}

/// Details that name an argument name one that every version of the family has.
#[test]
fn details_name_real_arguments() {
    for family in FAMILIES {
        for word in family.detail.split(' ').filter(|word| word.contains(|c: char| c.is_ascii_uppercase())) {
            for variant in family.variants {
                let names: Vec<_> = variant.arguments.iter().map(|(name, _)| *name).collect();
                assert!(names.contains(&word), "{}: {word} is none of {names:?}", variant.name);
            }
        }
    }
}

#[test]
fn classes_and_details_are_words_of_the_documentation() {
    for family in FAMILIES {
        assert!(Class::ALL.contains(&family.class));
        let first = family.detail.split(' ').next().unwrap_or_default();
        let known: &[&str] = match family.class {
            Class::Start | Class::Loader | Class::Pass => &[""],
            Class::Memory => &[
                "plain",
                "pitch",
                "managed",
                "ordered",
                "from_pool",
                "physical",
                "array",
                "mipmap",
                "import",
                "external",
            ],
            Class::Free => &["plain", "ordered", "physical", "array", "import", "external"],
            Class::Reference => &["export", "handle", "map", "unmap", "bind", "suspend"],
            Class::Pool => &["create", "destroy", "trim", "set", "current"],
            Class::MemoryInfo => &["total", "free_total"],
            Class::Launch => &["stream", "context", "config", "list", "graph"],
            Class::Fill => &["stream", "context"],
            Class::Copy => &["device", "host", "ask"],
            Class::Sync => &["context", "stream", "event"],
            Class::Query => &["stream", "event"],
            Class::Stream => &["create", "destroy", "capture_begin", "capture_end"],
            Class::Context => &["create", "retain", "release", "reset", "destroy", "limit"],
            Class::Module => &["load", "unload"],
            Class::Graph => {
                &["add_alloc", "add_free", "add_any", "set_any", "instantiate", "upload", "update", "destroy"]
            }
        };
        assert!(known.contains(&first), "{}: {}({})", family.name, family.class.word(), family.detail);
    }
}
