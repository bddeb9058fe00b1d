//! Prints `docs/hooks.md`: every name of the table with its class and what this version does with it.
//! `cuda/tests/hooks_md.rs` fails when the committed file is another.
use mgpu_cuda::{Class, FAMILIES, Family, NOT_IN_TABLE, SYMBOLS, Status};
use std::fmt::Write;

#[allow(dead_code, reason = "the test includes this file and only renders")]
fn main() {
    print!("{}", render());
}

/// The whole page.
pub(crate) fn render() -> String {
    let mut page = String::from(HEAD);
    summary(&mut page);
    for class in Class::ALL {
        let rows: Vec<&Family> = FAMILIES.iter().filter(|family| family.class == *class).collect();
        let _ = write!(
            page,
            "\n## {}\n\n{}\n\n| names | detail | this version |\n| --- | --- | --- |\n",
            class.word(),
            about(*class)
        );
        for row in rows {
            let _ = writeln!(page, "| {} | {} | {} |", names(row), detail(row), decision(row.status));
        }
    }
    page.push_str("\n## Names without a row\n\n| name | why |\n| --- | --- |\n");
    for (name, why) in NOT_IN_TABLE {
        let _ = writeln!(page, "| `{name}` | {why} |");
    }
    page
}

const HEAD: &str = "# Hooks

<!-- Generated from cuda/src/table by `cargo run -p mgpu-cuda --example hooks_md > docs/hooks.md`. Do not edit. -->

Every function that NVIDIA's headers declare (CUDA 12.9 and 13.5, with the GL, EGL, VDPAU and profiler headers), and
what the shim does with it. A line is a family: the same function in all its versions; names that end in `_ptds` or
`_ptsz` are the same with the per-thread default stream. *hooked* means that the class brings its behaviour in this
version; *later* that the call reaches the driver as it is, and what that leaves open; anything else is why the
function is never hooked.

";

fn summary(page: &mut String) {
    let count = |wanted: fn(Status) -> bool| {
        let families = FAMILIES.iter().filter(|family| wanted(family.status)).count();
        let names = SYMBOLS.iter().filter(|symbol| wanted(symbol.status)).count();
        format!("{families} | {names}")
    };
    page.push_str("| | families | names |\n| --- | --- | --- |\n");
    let _ = writeln!(page, "| hooked | {} |", count(|status| status == Status::Now));
    let _ = writeln!(page, "| later | {} |", count(|status| matches!(status, Status::Later(_))));
    let _ = writeln!(page, "| never hooked | {} |", count(|status| matches!(status, Status::Because(_))));
    let _ = writeln!(page, "| all | {} |", count(|_| true));
}

fn names(row: &Family) -> String {
    let all = row.variants.iter().flat_map(|variant| [Some(variant.name), variant.twin.map(|(name, _)| name)]);
    all.flatten().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" ")
}

fn detail(row: &Family) -> String {
    if row.detail.is_empty() { String::new() } else { format!("`{}`", row.detail) }
}

fn decision(status: Status) -> String {
    match status {
        Status::Now => String::from("hooked"),
        Status::Later(words) => format!("later: {words}"),
        Status::Because(words) => String::from(words),
    }
}

fn about(class: Class) -> &'static str {
    match class {
        Class::Start => "Initialises the driver; the client attaches to its tenant after it has succeeded.",
        Class::Loader => "Hands out functions; the answer is the wrapper of exactly the ABI that the driver gave.",
        Class::Memory => {
            "Makes device memory, or brings another process's in: reserve, call the driver, commit; past the limit `CUDA_ERROR_OUT_OF_MEMORY`."
        }
        Class::Free => "Gives memory back: always reaches the driver, uncharged when it succeeds.",
        Class::Reference => "Takes or drops a reference that decides when memory goes.",
        Class::Pool => "Changes a pool or its reserved bytes.",
        Class::MemoryInfo => "Tells how much memory there is; answered with the tenant's world.",
        Class::Launch => "Puts GPU work in a queue: gated.",
        Class::Fill => "A memset, which runs as a kernel: gated.",
        Class::Copy => {
            "Device-to-device copies are gated like kernels, copies from or to host memory never; `ask` means that the direction follows from the arguments."
        }
        Class::Sync => "Blocks until work is done. Never gated; before it, an unmarked tail gets its marker.",
        Class::Query => "Asks whether work is done. Never gated, never altered.",
        Class::Stream => "Makes or ends a stream or a capture; known to the gate, never delayed.",
        Class::Context => {
            "Makes or ends a context. Creating is never refused; what the driver frees in bulk is uncharged in bulk."
        }
        Class::Module => "Loads or unloads device code, whose memory is overhead.",
        Class::Graph => "Can carry device memory in or out of a graph.",
        Class::Pass => "Touches nothing that mgpu guards.",
    }
}
