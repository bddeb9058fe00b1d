//! What the tests of the preload library share: the library itself, C programs, and a fake driver made from the table.
//! Each function of the fake driver returns its own number, so a test can tell by calling whose ABI a pointer is.

#![allow(dead_code, reason = "each test file uses a part")]

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, OnceLock};

/// The preload library of this build's profile, built if need be.
pub(crate) fn shim() -> &'static Path {
    static SHIM: OnceLock<PathBuf> = OnceLock::new();
    SHIM.get_or_init(|| built("mgpu-shim", "libmgpu_shim.so"))
}

/// The library `file` of a package that nothing can link to, built in this build's profile if need be.
pub(crate) fn built(package: &str, file: &str) -> PathBuf {
    let test = std::env::current_exe().expect("a test knows its path");
    let profile = test.parent().and_then(Path::parent).expect("target/<profile>/deps/<test>");
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--quiet", "--package", package]).current_dir(env!("CARGO_MANIFEST_DIR"));
    if profile.ends_with("release") {
        cargo.arg("--release");
    }
    assert!(cargo.status().expect("cargo runs").success(), "{package} does not build");
    let library = profile.join(file);
    assert!(library.exists(), "{} is missing", library.display());
    library
}

/// Says that a test did not run, on a line of its own that the test runner does not swallow.
pub(crate) fn skipped(name: &str, why: &str) {
    let _ = writeln!(std::io::stdout(), "\nskipped: {name}: {why}");
}

/// A folder of its own for one test file's build products.
pub(crate) fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).expect("the target folder is writable");
    folder
}

/// Compiles `shim/tests/programs/<source>` to `output`, once a test process.
pub(crate) fn compile(source: &str, output: &Path, arguments: &[&str]) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(source);
    once(output, || cc(&source, output, arguments));
}

fn cc(source: &Path, output: &Path, arguments: &[&str]) {
    let mut cc = Command::new("cc");
    cc.args(["-O1", "-w", "-o"]).arg(output).arg(source).args(arguments).arg("-ldl").arg("-lpthread");
    let done = cc.output().expect("a C compiler");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

/// Tests of one process run side by side: each product is made by one of them.
fn once(output: &Path, make: impl FnOnce()) {
    static MADE: Mutex<Option<HashMap<PathBuf, ()>>> = Mutex::new(None);
    let mut made = MADE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let made = made.get_or_insert_default();
    if made.insert(output.to_path_buf(), ()).is_none() {
        make();
    }
}

/// How a fake driver differs from the full one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fake {
    /// Every function of the table; exported addresses; version 13.5.
    Full,
    /// As of CUDA 12.2: later functions don't exist.
    Old,
    /// `cuGetProcAddress` gives addresses that are not the exported ones.
    Internal,
    /// A function and its per-thread twin have one body.
    Merged,
}

/// Path of a fake `libcuda.so.1` in `folder`, with `libcuda.so` beside it to link against.
pub(crate) fn fake_driver(folder: &Path, fake: Fake) -> PathBuf {
    let directory = folder.join(format!("{fake:?}").to_lowercase());
    let library = directory.join("libcuda.so.1");
    once(&library, || {
        std::fs::create_dir_all(&directory).expect("the target folder is writable");
        let source = directory.join("fake.c");
        std::fs::write(&source, fake_source(fake)).expect("the target folder is writable");
        let arguments = ["-shared", "-fPIC", "-Wl,-soname,libcuda.so.1", "-Wl,-Bsymbolic"];
        cc(&source, &library, &arguments);
        let development = directory.join("libcuda.so");
        let _ = std::fs::remove_file(&development);
        std::os::unix::fs::symlink("libcuda.so.1", &development).expect("the target folder is writable");
    });
    library
}

const BY_HAND: &[&str] = &["cuInit", "cuDriverGetVersion", "cuGetProcAddress", "cuGetProcAddress_v2", "cuLaunchKernel"];

fn fake_source(fake: Fake) -> String {
    let version = if fake == Fake::Old { 12020 } else { 13050 };
    let exists = |introduced: u32| introduced <= version;
    let mut source = String::from("#include <string.h>\nstatic const char *const names[] = {");
    for symbol in mgpu_cuda::SYMBOLS {
        let _ = write!(source, "\"{}\",", symbol.name);
    }
    source.push_str("};\n");
    source.push_str(
        "const char *fake_name(unsigned code) {
            return code - 10000 < sizeof names / sizeof *names ? names[code - 10000] : \"none\";
        }\n",
    );
    let _ = writeln!(source, "unsigned cuInit(unsigned flags) {{ return flags; }}");
    let _ = writeln!(source, "unsigned cuDriverGetVersion(int *to) {{ if (to) *to = {version}; return 0; }}");
    let _ = writeln!(source, "{}", include_str!("../programs/fake_launch.c").replace("CODE", &code("cuLaunchKernel")));
    for symbol in mgpu_cuda::SYMBOLS.iter().filter(|symbol| exists(symbol.introduced)) {
        let (name, code) = (symbol.name, code(symbol.name));
        if BY_HAND.contains(&name) {
            continue;
        }
        match symbol.twin_of {
            Some(plain) if fake == Fake::Merged => {
                let _ = writeln!(source, "unsigned {name}() __attribute__((alias(\"{plain}\")));");
            }
            _ => {
                let _ = writeln!(source, "unsigned {name}() {{ return {code}; }}");
            }
        }
    }
    source.push_str("unsigned cuGetProcAddress(), cuGetProcAddress_v2();\n");
    if fake == Fake::Internal {
        for symbol in mgpu_cuda::SYMBOLS.iter().filter(|symbol| !BY_HAND.contains(&symbol.name)) {
            let _ =
                writeln!(source, "static unsigned internal_{0}() {{ return {1}; }}", symbol.name, code(symbol.name));
        }
    }
    source.push_str("static const struct row rows[] = {\n");
    for family in mgpu_cuda::FAMILIES {
        for variant in family.variants.iter().filter(|variant| exists(variant.introduced)) {
            let prefix = if fake == Fake::Internal && !BY_HAND.contains(&variant.name) { "internal_" } else { "" };
            let twin = variant.twin.filter(|(_, introduced)| exists(*introduced));
            let (twin, twin_introduced) =
                twin.map_or(("0".to_owned(), 0), |(name, introduced)| (format!("{prefix}{name}"), introduced));
            let (family, name, introduced) = (family.name, variant.name, variant.introduced);
            let _ = writeln!(source, "{{\"{family}\", {introduced}, {prefix}{name}, {twin_introduced}, {twin}}},");
        }
    }
    source.push_str("};\n");
    source.replace("static const char *const names", &format!("{}\nstatic const char *const names", fake_row()))
        + include_str!("../programs/fake_proc_address.c")
}

fn fake_row() -> &'static str {
    "struct row { const char *family; int introduced; void *plain; int twin_introduced; void *twin; };"
}

fn code(name: &str) -> String {
    let index = mgpu_cuda::SYMBOLS.iter().position(|symbol| symbol.name == name).expect("a name of the table");
    (10_000 + index).to_string()
}

/// A command with the libraries preloaded, in this order.
pub(crate) fn preloaded(program: &Path, libraries: &[&Path]) -> Command {
    let mut command = Command::new(program);
    let list: Vec<_> = libraries.iter().map(|library| library.display().to_string()).collect();
    command.env_remove("LD_PRELOAD");
    if !list.is_empty() {
        command.env("LD_PRELOAD", list.join(":"));
    }
    command
}

/// Runs a command to its end; its standard output, and an assertion that it succeeded.
pub(crate) fn output(command: &mut Command) -> String {
    let done = command.output().expect("the program starts");
    let (out, errors) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert!(done.status.success(), "{command:?}: {}\n{out}\n{errors}", done.status);
    out.into_owned()
}

/// The probe program, linked to nothing.
pub(crate) fn probe(folder: &Path) -> PathBuf {
    let probe = folder.join("probe");
    compile("probe.c", &probe, &["-rdynamic"]);
    probe
}

/// Asks the probe; one line an answer, `learn` gives none.
pub(crate) fn ask(command: &mut Command, questions: &str) -> Vec<String> {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the probe starts");
    let mut input = child.stdin.take().expect("piped");
    let questions = questions.to_owned();
    let writer = std::thread::spawn(move || input.write_all(questions.as_bytes()));
    let done = child.wait_with_output().expect("the probe ends");
    let _ = writer.join();
    assert!(done.status.success(), "{command:?}: {}\n{}", done.status, String::from_utf8_lossy(&done.stderr));
    String::from_utf8_lossy(&done.stdout).lines().map(str::to_owned).collect()
}
