//! Programs that do what real ones do with the loader: link, wrap, deep-bind, search by RUNPATH, fork, exec, exit.

mod common;

use common::{Fake, compile, fake_driver, folder, output, preloaded, shim, skipped};
use std::path::{Path, PathBuf};

const NOW: &str = "2";
const NOW_AND_DEEPBIND: &str = "10";

/// Arguments that link a program to the fake driver.
fn linked(driver: &Path) -> [String; 4] {
    let directory = driver.parent().expect("a file in a folder").display().to_string();
    ["-rdynamic".into(), format!("-L{directory}"), "-lcuda".into(), format!("-Wl,-rpath,{directory}")]
}

fn compile_linked(source: &str, output: &Path, driver: &Path, more: &[&str]) {
    let linked = linked(driver);
    let arguments: Vec<&str> = more.iter().copied().chain(linked.iter().map(String::as_str)).collect();
    compile(source, output, &arguments);
}

fn direct(folder: &Path, fake: Fake) -> PathBuf {
    let program = folder.join("direct");
    compile_linked("direct.c", &program, &fake_driver(folder, fake), &[]);
    program
}

fn interposer(folder: &Path, name: &str, more: &[&str]) -> PathBuf {
    let library = folder.join(name);
    let arguments: Vec<&str> = ["-shared", "-fPIC"].into_iter().chain(more.iter().copied()).collect();
    compile("interposer.c", &library, &arguments);
    library
}

#[test]
fn a_linked_program_calls_the_wrappers_with_all_its_arguments() {
    let folder = folder("linked");
    let lines = output(&mut preloaded(&direct(&folder, Fake::Full), &[shim()]));
    let expected = "init 0\nversion 0 13050\nlaunch cuLaunchKernel\nlaunch cuLaunchKernel\nalloc cuMemAlloc_v2\n\
                    synchronize cuCtxSynchronize\nbound libmgpu_shim.so libcuda.so.1\n";
    assert_eq!(lines, expected);
}

#[test]
fn a_program_may_define_one_of_the_names_for_itself() {
    let folder = folder("own");
    let program = folder.join("own");
    compile("own.c", &program, &["-rdynamic"]);
    let lines = output(preloaded(&program, &[shim()]).arg(fake_driver(&folder, Fake::Full)));
    assert!(lines.starts_with("4243 4243 1 "), "{lines}");
    assert!(lines.trim_end().ends_with("libmgpu_shim.so"), "{lines}");
}

/// `trace` of the direct program with other libraries beside us: (who is preloaded, who comes after the interposer).
fn interposed(libraries: &[&Path], expected_next: &str) {
    let folder = folder("interposed");
    let lines = output(&mut preloaded(&direct(&folder, Fake::Full), libraries));
    let alloc: Vec<_> = lines.lines().skip_while(|line| !line.starts_with("interposed alloc")).take(2).collect();
    assert_eq!(
        alloc,
        [format!("interposed alloc, next in {expected_next}").as_str(), "alloc cuMemAlloc_v2"],
        "{lines}"
    );
}

#[test]
fn another_preload_library_before_us_calls_on_to_us() {
    let other = interposer(&folder("interposed"), "libother.so", &[]);
    interposed(&[&other, shim()], "libmgpu_shim.so");
}

#[test]
fn another_preload_library_after_us_is_still_called_and_calls_on_to_us() {
    let other = interposer(&folder("interposed"), "libother.so", &[]);
    interposed(&[shim(), &other], "libmgpu_shim.so");
}

#[test]
fn a_library_that_the_program_is_linked_to_wraps_the_driver() {
    let folder = folder("wrapped");
    let driver = fake_driver(&folder, Fake::Full);
    let directory = folder.display().to_string();
    interposer(&folder, "libwrapper.so", &["-Wl,-soname,libwrapper.so"]);
    let program = folder.join("direct");
    let (search, path) = (format!("-L{directory}"), format!("-Wl,-rpath,{directory}"));
    compile_linked("direct.c", &program, &driver, &["-Wl,--no-as-needed", &search, "-lwrapper", &path]);
    let bare = output(&mut preloaded(&program, &[]));
    let shimmed = output(&mut preloaded(&program, &[shim()]));
    assert!(bare.contains("interposed alloc, next in libcuda.so.1"), "{bare}");
    assert!(shimmed.contains("interposed alloc, next in libmgpu_shim.so\nalloc cuMemAlloc_v2"), "{shimmed}");
}

#[test]
fn a_hooked_dlsym_before_us_that_looks_for_the_real_one_by_version_finds_ours() {
    let folder = folder("versioned");
    let other = interposer(&folder, "libversioned.so", &["-DVERSIONED"]);
    let driver = fake_driver(&folder, Fake::Full);
    let questions = format!("open {} 1\nsym cuMemFree_v2\n", driver.display());
    let answers = common::ask(&mut preloaded(&common::probe(&folder), &[&other, shim()]), &questions);
    assert_eq!(answers[1], "interposed dlsym, next in libmgpu_shim.so");
    assert!(answers[2].starts_with("cuMemFree_v2: libmgpu_shim.so"), "{answers:?}");
}

#[test]
fn a_hooked_dlsym_after_us_takes_no_name_of_the_driver_from_us() {
    let folder = folder("versioned");
    let other = interposer(&folder, "libversioned.so", &["-DVERSIONED"]);
    let driver = fake_driver(&folder, Fake::Full);
    let questions = format!("open {} 1\nsym cuMemFree_v2\nsym getpid\n", driver.display());
    let answers = common::ask(&mut preloaded(&common::probe(&folder), &[shim(), &other]), &questions);
    assert!(answers[1].starts_with("cuMemFree_v2: libmgpu_shim.so"), "{answers:?}");
}

#[test]
fn the_next_of_another_librarys_wrapper_is_not_the_wrapper_itself() {
    let folder = folder("caller");
    let other = interposer(&folder, "libother.so", &[]);
    let program = folder.join("caller");
    compile("caller.c", &program, &[]);
    for libraries in [&[other.as_path(), shim()], &[shim(), other.as_path()]] {
        assert_eq!(output(&mut preloaded(&program, libraries)), "interposed getpid, next in libc.so.6\nright\n");
    }
}

fn module(folder: &Path, name: &str, driver: &Path, more: &[&str]) -> PathBuf {
    let hidden = folder.join("only_here");
    std::fs::create_dir_all(&hidden).expect("the target folder is writable");
    compile("onlyhere.c", &hidden.join("libonlyhere.so"), &["-shared", "-fPIC"]);
    let module = folder.join(name);
    let path = format!("-Wl,--enable-new-dtags,-rpath,{}", hidden.display());
    let arguments: Vec<&str> = ["-shared", "-fPIC", path.as_str()].into_iter().chain(more.iter().copied()).collect();
    if more.is_empty() {
        compile("module.c", &module, &arguments);
    } else {
        compile_linked("module.c", &module, driver, &arguments);
    }
    module
}

#[test]
fn a_deep_bound_module_gets_the_wrappers_and_its_own_runpath() {
    let folder = folder("module");
    let driver = fake_driver(&folder, Fake::Full);
    let opener = folder.join("opener");
    compile("opener.c", &opener, &[]);
    let plain = module(&folder, "libmodule.so", &driver, &[]);
    let bound = module(&folder, "libbound.so", &driver, &["-DLINKED"]);
    for flags in [NOW, NOW_AND_DEEPBIND] {
        let run = |module: &Path| output(preloaded(&opener, &[shim()]).args([module, flags.as_ref(), &driver]));
        let rest = "module got libmgpu_shim.so\nmodule found its own library: yes\n";
        assert_eq!(run(&plain), rest);
        assert_eq!(
            run(&bound),
            format!("module bound to libmgpu_shim.so\nmodule's next is in libmgpu_shim.so\n{rest}")
        );
    }
}

#[test]
fn a_process_lives_through_fork_exec_threads_dlclose_and_exit() {
    let folder = folder("life");
    let program = folder.join("life");
    compile("life.c", &program, &[]);
    let lines = output(preloaded(&program, &[shim()]).arg(fake_driver(&folder, Fake::Full)));
    let expected = "fork: 7\nfork and exec: 9\nvfork and exec: 9\nforks beside a busy thread that failed: 0\n\
                    other thread: same\nafter dlclose: cuMemAlloc_v2\nopened again: same\n\
                    exit handler: cuMemAlloc_v2\ndestructor: cuMemAlloc_v2\n";
    assert_eq!(lines, expected);
}

#[test]
fn a_function_that_an_old_driver_lacks_is_not_supported() {
    // Linked against the full driver, run with the old one: the export is ours, nothing is behind it.
    let folder = folder("lacking");
    let (full, old) = (fake_driver(&folder, Fake::Full), fake_driver(&folder, Fake::Old));
    let program = folder.join("lacking");
    compile_linked("lacking.c", &program, &full, &["-Wl,-z,lazy"]);
    let mut command = preloaded(&program, &[shim()]);
    command.env("LD_LIBRARY_PATH", old.parent().expect("a file in a folder"));
    assert_eq!(output(&mut command), "801\n");
}

#[test]
fn python_reaches_the_wrappers_through_ctypes() {
    let folder = folder("ctypes");
    let driver = fake_driver(&folder, Fake::Full);
    let script = format!(
        "import ctypes\nlib = ctypes.CDLL('{}')\nlib.fake_name.restype = ctypes.c_char_p\n\
         at = ctypes.cast(lib.cuMemAlloc_v2, ctypes.c_void_p).value\n\
         for line in open('/proc/self/maps'):\n  low, high = (int(x, 16) for x in line.split()[0].split('-'))\n  \
         if low <= at < high: print(line.split('/')[-1].strip())\nprint(lib.fake_name(lib.cuMemAlloc_v2(0, 0)).decode())\n",
        driver.display()
    );
    let Ok(python) = which("python3") else {
        skipped("python_reaches_the_wrappers_through_ctypes", "no python3 on this machine");
        return;
    };
    let lines = output(preloaded(&python, &[shim()]).args(["-c", &script]));
    assert_eq!(lines, "libmgpu_shim.so\ncuMemAlloc_v2\n");
}

fn which(program: &str) -> Result<PathBuf, ()> {
    let path = std::env::var_os("PATH").ok_or(())?;
    std::env::split_paths(&path).map(|directory| directory.join(program)).find(|file| file.exists()).ok_or(())
}
