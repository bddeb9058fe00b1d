//! What the driver's tests share: a server of their own, and the library's functions, typed by the table.
#![allow(dead_code, unused_imports, reason = "each test file uses a part")]
#![allow(non_snake_case, reason = "the API's names")]
#![allow(clippy::multiple_unsafe_ops_per_block, reason = "a test is a list of calls of the driver")]

use std::ffi::{CString, c_void};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use mgpu_cuda::{CUDA_SUCCESS, CUresult};

pub(crate) use mgpu_cuda::types::*;

/// Folder of built binaries (`target/debug` or `target/release`).
pub(crate) fn build_dir() -> PathBuf {
    let exe = std::env::current_exe().expect("the test's own path");
    exe.ancestors().nth(2).expect("target/PROFILE/deps/test").to_path_buf()
}

/// Builds server and library once per test process, in the profile that the test was built in.
fn build() -> PathBuf {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    let built = BUILT.get_or_init(|| {
        let dir = build_dir();
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = Command::new(cargo);
        command.args(["build", "--quiet", "-p", "mgpu-sim", "-p", "mgpu-sim-cuda"]);
        if dir.ends_with("release") {
            command.arg("--release");
        }
        assert!(command.status().expect("cargo").success(), "the simulated driver does not build");
        dir
    });
    built.clone()
}

/// A running `mgpu-sim serve`, with a library folder for its clients. Killed when dropped.
pub(crate) struct Server {
    child: Child,
    folder: PathBuf,
}

impl Server {
    /// Starts one; `arguments` go to `mgpu-sim serve`.
    pub(crate) fn start(arguments: &[&str]) -> Self {
        let built = build();
        let folder = fresh_folder();
        std::os::unix::fs::symlink(built.join("libcuda.so"), folder.join("libcuda.so.1")).expect("a link");
        std::os::unix::fs::symlink("libcuda.so.1", folder.join("libcuda.so")).expect("a link");
        let mut command = Command::new(built.join("mgpu-sim"));
        command.arg("serve").arg("--socket").arg(folder.join("socket")).args(arguments);
        let child = command.stdout(Stdio::null()).spawn().expect("mgpu-sim");
        let server = Self { child, folder };
        until("the server listens", || server.socket().exists());
        server
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.folder.join("socket")
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn library(&self) -> PathBuf {
        self.folder.join("libcuda.so.1")
    }

    /// The witness's view.
    pub(crate) fn witness(&self) -> serde_json::Value {
        let mut command = Command::new(build().join("mgpu-sim"));
        let output = command.arg("witness").arg("--socket").arg(self.socket()).arg("--json").output().expect("witness");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).expect("JSON")
    }

    /// Names of functions that were called and are not simulated.
    pub(crate) fn unimplemented(&self) -> Vec<String> {
        let witness = self.witness();
        let list = witness["unimplemented"].as_array().expect("a list");
        list.iter().map(|entry| entry["name"].as_str().expect("a name").to_owned()).collect()
    }

    /// A command whose CUDA is this server's.
    pub(crate) fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command.env("MGPU_SIM_SOCKET", self.socket()).env("LD_LIBRARY_PATH", &self.folder);
        command.env_remove("CUDA_VISIBLE_DEVICES");
        command
    }

    /// Compiles `tests/c/NAME.c`; `link` adds `-lcuda` as a direct client would.
    pub(crate) fn compile(&self, name: &str, link: bool) -> PathBuf {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c").join(name).with_extension("c");
        let program = self.folder.join(name);
        let mut command = Command::new("cc");
        command.args(["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-O1", "-pthread", "-o"]).arg(&program).arg(source);
        if link {
            command.arg("-L").arg(&self.folder).arg("-lcuda");
        } else {
            command.arg("-ldl");
        }
        assert!(command.status().expect("a C compiler").success(), "{name}.c does not compile");
        program
    }

    /// Runs a program to its end and gives what it printed; a failure shows all of it.
    pub(crate) fn run(&self, command: &mut Command) -> String {
        let output = command.output().expect("the program starts");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{command:?}: {}\n{text}\n{errors}", output.status);
        text
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // A server that has ended by itself is as good.
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn fresh_folder() -> PathBuf {
    static NEXT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let number = NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("mgpu-sim-cuda-{}-{number}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder of our own");
    folder
}

/// Waits for a condition, with a limit that only a hang reaches.
pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(60), "timed out: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

macro_rules! function_type {
    (($($argument:ident: $ty:ty),*)) => { unsafe extern "C" fn($($ty),*) -> CUresult };
}

macro_rules! api {
    ($($class:ident $detail:tt $status:ident $words:tt $family:ident {
        $($since:literal $name:ident $arguments:tt $(, $twin_since:literal $twin:ident)?;)+
    })*) => {
        /// Every function of the library.
        pub(crate) struct Api {
            $($(
                pub(crate) $name: function_type!($arguments),
                $(pub(crate) $twin: function_type!($arguments),)?
            )+)*
        }

        impl Api {
            fn load(library: *mut c_void) -> Self {
                Self {
                    $($(
                        $name: function(library, stringify!($name)),
                        $($twin: function(library, stringify!($twin)),)?
                    )+)*
                }
            }
        }
    };
}

mgpu_cuda::for_each_family!(api);

fn function<F>(library: *mut c_void, name: &str) -> F {
    let c_name = CString::new(name).expect("a name");
    // SAFETY: a live handle and a NUL-terminated name.
    let address = unsafe { libc::dlsym(library, c_name.as_ptr()) };
    assert!(!address.is_null(), "{name} is not exported");
    assert_eq!(size_of::<F>(), size_of::<*mut c_void>());
    // SAFETY: a function of this name has this type by the table.
    unsafe { std::mem::transmute_copy(&address) }
}

/// The library, loaded into this process, on a server that ends with it.
pub(crate) fn api_with(arguments: &'static [&'static str]) -> &'static Api {
    static LOADED: OnceLock<Api> = OnceLock::new();
    LOADED.get_or_init(|| {
        let server = server_of_this_process(arguments);
        // SAFETY: the only thread that touches the environment, before the library is loaded.
        unsafe { std::env::set_var("MGPU_SIM_SOCKET", server.socket()) };
        // SAFETY: as above.
        unsafe { std::env::remove_var("CUDA_VISIBLE_DEVICES") };
        let path = CString::new(server.library().into_os_string().into_encoded_bytes()).expect("a path");
        // SAFETY: our own library, which has no constructors.
        let library = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW) };
        assert!(!library.is_null(), "the library does not load");
        Api::load(library)
    })
}

pub(crate) fn api() -> &'static Api {
    api_with(&[])
}

/// The server that [`api`] uses. It gets a kill signal with the thread that started it, which lives as long as the process.
pub(crate) fn server_of_this_process(arguments: &'static [&'static str]) -> &'static Server {
    static SERVER: OnceLock<Server> = OnceLock::new();
    SERVER.get_or_init(|| {
        let (give, take) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            give.send(Server::start_dying(arguments)).expect("the test waits");
            loop {
                std::thread::park();
            }
        });
        take.recv().expect("a server")
    })
}

impl Server {
    fn start_dying(arguments: &[&str]) -> Self {
        use std::os::unix::process::CommandExt;
        let built = build();
        let folder = fresh_folder();
        std::os::unix::fs::symlink(built.join("libcuda.so"), folder.join("libcuda.so.1")).expect("a link");
        let mut command = Command::new(built.join("mgpu-sim"));
        command.arg("serve").arg("--socket").arg(folder.join("socket")).args(arguments).stdout(Stdio::null());
        // SAFETY: prctl is safe between fork and exec.
        unsafe {
            command.pre_exec(|| match libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) {
                0 => Ok(()),
                _ => Err(std::io::Error::last_os_error()),
            });
        }
        let server = Self { child: command.spawn().expect("mgpu-sim"), folder };
        until("the server listens", || server.socket().exists());
        LASTING.get_or_init(|| server.folder.clone());
        // SAFETY: the handler removes a folder and unwinds nowhere.
        unsafe { libc::atexit(remove_lasting) };
        server
    }
}

/// Folder of the server that lasts as long as the process: nothing drops it.
static LASTING: OnceLock<PathBuf> = OnceLock::new();

extern "C" fn remove_lasting() {
    let _ = LASTING.get().map(std::fs::remove_dir_all);
}

/// Panics with the code's name unless it is success.
#[track_caller]
pub(crate) fn ok(result: CUresult) {
    assert_eq!(result, CUDA_SUCCESS);
}

/// Calls with an out-parameter first: `out(|p| (api.cuDeviceGet)(p, 0))`.
#[track_caller]
pub(crate) fn out<T>(call: impl FnOnce(*mut T) -> CUresult) -> T {
    let mut value = std::mem::MaybeUninit::<T>::zeroed();
    ok(call(value.as_mut_ptr()));
    // SAFETY: zeros or what the driver wrote; only plain C types are asked for.
    unsafe { value.assume_init() }
}

/// Initialises and makes device 0's primary context current on this thread.
pub(crate) fn context(api: &Api) -> CUcontext {
    // SAFETY: plain calls with valid arguments.
    unsafe {
        ok((api.cuInit)(0));
        let context = out(|p| (api.cuDevicePrimaryCtxRetain)(p, 0));
        ok((api.cuCtxSetCurrent)(context));
        context
    }
}

/// A kernel by name; its duration is in the name.
pub(crate) fn kernel(api: &Api, name: &str) -> CUfunction {
    let c_name = CString::new(name).expect("a name");
    let ptx =
        format!(".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry {name}(.param .u64 p) {{ ret; }}\n");
    let ptx = CString::new(ptx).expect("PTX");
    // SAFETY: plain calls with valid arguments.
    unsafe {
        let module = out(|p| (api.cuModuleLoadData)(p, ptx.as_ptr().cast()));
        out(|p| (api.cuModuleGetFunction)(p, module, c_name.as_ptr()))
    }
}

/// Launches one block.
///
/// # Safety
/// Handles are the caller's own.
pub(crate) unsafe fn launch(api: &Api, function: CUfunction, stream: CUstream) -> CUresult {
    let none = std::ptr::null_mut();
    // SAFETY: as promised by the caller; the kernel computes nothing.
    unsafe { (api.cuLaunchKernel)(function, 1, 1, 1, 32, 1, 1, 0, stream, none, none) }
}
