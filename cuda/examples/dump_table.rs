//! Prints the table as tab-separated lines for `scripts/check-symbols`; the first word says what a line is.
use mgpu_cuda::types::{CONSTANTS, LAYOUTS};
use mgpu_cuda::{FAMILIES, NOT_IN_TABLE, RESULTS, Resolution, SYMBOLS, TEGRA_ONLY, resolution};
use std::collections::BTreeSet;
use std::io::{self, BufWriter, Write};

fn main() -> io::Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    rows(&mut out)?;
    answers(&mut out)?;
    for (code, name, _) in RESULTS {
        writeln!(out, "result\t{name}\t{}", code.0)?;
    }
    for (name, value) in CONSTANTS {
        writeln!(out, "constant\t{name}\t{value}")?;
    }
    for layout in LAYOUTS.iter().flat_map(|group| group.iter()) {
        writeln!(out, "layout\t{}\t{}\t{}\t{}", layout.name, layout.c_type, layout.size, layout.align)?;
        for (field, offset) in layout.fields {
            writeln!(out, "field\t{}\t{field}\t{offset}", layout.name)?;
        }
    }
    for (name, _) in NOT_IN_TABLE {
        writeln!(out, "not-in-table\t{name}")?;
    }
    for name in TEGRA_ONLY {
        writeln!(out, "tegra-only\t{name}")?;
    }
    out.flush()
}

fn rows(out: &mut impl Write) -> io::Result<()> {
    for family in FAMILIES {
        let (name, status) = (family.name, family.status);
        writeln!(out, "family\t{name}\t{}\t{}\t{}", family.class.word(), status.word(), status.words())?;
        for variant in family.variants {
            let types: Vec<_> = variant.arguments.iter().map(|(_, ty)| ty.replace("* ", "*")).collect();
            let (twin, introduced) = variant.twin.unwrap_or(("-", 0));
            let (plain, since) = (variant.name, variant.introduced);
            writeln!(out, "variant\t{name}\t{plain}\t{since}\t{twin}\t{introduced}\t{}", types.join(", "))?;
        }
    }
    Ok(())
}

/// What `resolution` says for every name, around every version that matters.
fn answers(out: &mut impl Write) -> io::Result<()> {
    let introduced =
        SYMBOLS.iter().flat_map(|symbol| [symbol.introduced - 1, symbol.introduced, symbol.introduced + 1]);
    let versions: BTreeSet<u32> = introduced.chain([0, 1000, 99999]).collect();
    let suffixed = SYMBOLS.iter().map(|symbol| symbol.name).filter(|name| name.contains('_'));
    for name in suffixed {
        let known = resolution(name, i32::MAX, false) != Resolution::Unknown;
        writeln!(out, "answer\t{name}\t0\t{}\t{}", i32::MAX, if known { name } else { "unknown" })?;
    }
    for name in FAMILIES.iter().map(|family| family.name) {
        for per_thread in [false, true] {
            for version in &versions {
                let answer = match resolution(name, i32::try_from(*version).unwrap_or(i32::MAX), per_thread) {
                    Resolution::Found(export) => export,
                    Resolution::TooOld => "too-old",
                    Resolution::Unknown => "unknown",
                };
                writeln!(out, "answer\t{name}\t{}\t{version}\t{answer}", u8::from(per_thread))?;
            }
        }
    }
    Ok(())
}
