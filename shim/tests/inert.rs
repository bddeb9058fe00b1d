//! Programs that have nothing to do with CUDA: not a byte, a thread, a socket or a file of difference.

mod common;

use common::{Fake, fake_driver, folder, output, preloaded, shim, skipped};
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn run(script: &str, shimmed: bool) -> Output {
    let libraries: &[&Path] = if shimmed { &[shim()] } else { &[] };
    let mut command = preloaded("/bin/sh".as_ref(), libraries);
    command.args(["-c", script]).stdin(Stdio::null()).output().expect("sh starts")
}

fn same(script: &str) -> String {
    let (bare, shimmed) = (run(script, false), run(script, true));
    assert_eq!(bare.status, shimmed.status, "{script}");
    assert_eq!(String::from_utf8_lossy(&bare.stdout), String::from_utf8_lossy(&shimmed.stdout), "{script}");
    assert_eq!(String::from_utf8_lossy(&bare.stderr), String::from_utf8_lossy(&shimmed.stderr), "{script}");
    String::from_utf8_lossy(&shimmed.stdout).into_owned()
}

#[test]
fn ordinary_programs_print_the_same() {
    same("echo out; echo err >&2; exit 3");
    same("ls /; ls /no/such/place");
    same("printf 'b\\na\\n' | sort | tr a-z A-Z");
    same("(sleep 0 & wait; echo done)");
    same("command -v python3 >/dev/null && python3 -c 'import ctypes, json, threading; print(1)'");
}

#[test]
fn no_thread_and_no_open_file_is_added() {
    assert_eq!(same("ls /proc/self/task | wc -l").trim(), "1");
    same("ls /proc/self/fd | wc -l");
}

/// Even where the loader's functions are used and a driver is loaded, as long as nobody calls it.
#[test]
fn looking_the_driver_up_starts_nothing() {
    let folder = folder("inert");
    let driver = fake_driver(&folder, Fake::Full);
    let script = format!(
        "import ctypes, os\nlib = ctypes.CDLL('{}')\nctypes.CDLL(None).getpid\nlib.cuMemAlloc_v2\nlib.cuLaunchKernel\n\
         print(len(os.listdir('/proc/self/task')), len(os.listdir('/proc/self/fd')))\n",
        driver.display()
    );
    let run = |libraries: &[&Path]| {
        let mut command = preloaded("/usr/bin/env".as_ref(), libraries);
        output(command.args(["python3", "-c", &script]).stdin(Stdio::null()))
    };
    assert_eq!(run(&[shim()]), run(&[]));
}

/// The names of the system calls of a program and its children, sorted: which of two children comes first is chance. None
/// without a usable strace.
fn system_calls(program: &[&str], libraries: &[&Path]) -> Option<Vec<String>> {
    let traces = folder("inert").join(if libraries.is_empty() { "bare" } else { "shimmed" });
    let _ = std::fs::remove_dir_all(&traces);
    std::fs::create_dir_all(&traces).ok()?;
    let mut strace = Command::new("strace");
    strace.args(["-ff", "-qq", "-e", "trace=%network,%process,futex,eventfd2,memfd_create,inotify_init1", "-o"]);
    strace.arg(traces.join("of"));
    if let [library] = libraries {
        strace.arg("-E").arg(format!("LD_PRELOAD={}", library.display()));
    }
    strace.args(program).stdin(Stdio::null()).output().ok().filter(|done| done.status.success())?;
    let mut names = Vec::new();
    for trace in std::fs::read_dir(&traces).ok()?.flatten() {
        let trace = std::fs::read_to_string(trace.path()).ok()?;
        let calls = trace.lines().filter(|line| line.starts_with(|letter: char| letter.is_ascii_lowercase()));
        names.extend(calls.filter_map(|line| line.split('(').next().map(str::to_owned)));
    }
    names.sort();
    Some(names)
}

#[test]
fn no_socket_thread_or_wait_is_added() {
    for program in [&["ls", "/"][..], &["sh", "-c", "ls / | cat"]] {
        let Some(bare) = system_calls(program, &[]) else {
            skipped("no_socket_thread_or_wait_is_added", "no usable strace on this machine");
            return;
        };
        assert!(bare.iter().any(|call| call == "execve"), "{bare:?}");
        assert_eq!(Some(bare), system_calls(program, &[shim()]), "{program:?}");
    }
}
