//! A Rust client on the cudarc crate (dynamic loading: one `dlsym` a function): launches one kernel in a loop.
//!
//! Options and output are those of the Python clients (`tests/workloads/python/common.py`). The kernel's name carries its
//! duration for the simulated device; a real one sleeps that long.

use std::error::Error;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use cudarc::driver::{CudaContext, CudaSlice, CudaStream, DriverError, LaunchConfig, PushKernelArg};
use cudarc::nvrtc::Ptx;

const BLOCK: usize = 64 << 20;

static STOPPING: AtomicBool = AtomicBool::new(false);

extern "C" fn stop(_signal: libc::c_int) {
    STOPPING.store(true, Ordering::Relaxed);
}

struct Options {
    seconds: Duration,
    kernel_us: u64,
    memory_mib: usize,
}

fn options() -> Result<Options, Box<dyn Error>> {
    let mut options = Options { seconds: Duration::from_secs(5), kernel_us: 1000, memory_mib: 0 };
    let mut words = std::env::args().skip(1);
    while let Some(name) = words.next() {
        let value = words.next().ok_or_else(|| format!("{name} needs a value"))?;
        match name.as_str() {
            "--seconds" => options.seconds = Duration::try_from_secs_f64(value.parse()?)?,
            "--kernel-us" => options.kernel_us = value.parse()?,
            "--memory-mib" => options.memory_mib = value.parse()?,
            _ => return Err(format!("unknown option {name}").into()),
        }
    }
    Ok(options)
}

/// A kernel that sleeps for `us` microseconds, in PTX.
fn ptx(us: u64) -> String {
    format!(
        ".version 7.0\n.target sm_70\n.address_size 64\n\
         .visible .entry spin_{us}us(.param .u64 out)\n{{\n\
         .reg .u32 %i, %n;\n.reg .pred %p;\nmov.u32 %n, {us};\nmov.u32 %i, 0;\n\
         again:\nnanosleep.u32 1000;\nadd.u32 %i, %i, 1;\nsetp.lt.u32 %p, %i, %n;\n@%p bra again;\nret;\n}}\n"
    )
}

/// Takes blocks of 64 MiB until `mebibytes` or a refusal.
fn fill(stream: &std::sync::Arc<CudaStream>, mebibytes: usize) -> (Vec<CudaSlice<u8>>, Option<DriverError>) {
    let mut blocks = Vec::new();
    while (blocks.len() + 1) * BLOCK <= mebibytes << 20 {
        match stream.alloc_zeros::<u8>(BLOCK) {
            Ok(block) => blocks.push(block),
            Err(refusal) => return (blocks, Some(refusal)),
        }
    }
    (blocks, None)
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = options()?;
    for signal in [libc::SIGTERM, libc::SIGINT] {
        // SAFETY: the handler only stores to an atomic.
        unsafe { libc::signal(signal, stop as *const () as libc::sighandler_t) };
    }
    let context = CudaContext::new(0)?;
    let stream = context.new_stream()?;
    let name = format!("spin_{}us", options.kernel_us);
    let module = context.load_module(Ptx::from_src(ptx(options.kernel_us)))?;
    let function = module.load_function(&name)?;
    let mut out = stream.alloc_zeros::<f32>(108 * 128)?;
    let (blocks, refusal) = fill(&stream, options.memory_mib);

    let config = LaunchConfig { grid_dim: (108, 1, 1), block_dim: (128, 1, 1), shared_mem_bytes: 0 };
    let mut launch = || {
        let mut builder = stream.launch_builder(&function);
        builder.arg(&mut out);
        // SAFETY: the kernel has this one parameter and touches nothing.
        unsafe { builder.launch(config) }
    };
    launch()?;
    stream.synchronize()?;
    println!("ready");
    let (start, mut launches) = (Instant::now(), 0_u64);
    while !STOPPING.load(Ordering::Relaxed) && start.elapsed() < options.seconds {
        launch()?;
        launches += 1;
    }
    stream.synchronize()?;
    let oom = refusal
        .map(|error| error.error_name().map_or_else(|_| error.to_string(), |n| n.to_string_lossy().into_owned()));
    let result = serde_json::json!({
        "client": "cudarc",
        "launches": launches,
        "allocated_bytes": blocks.len() * BLOCK,
        "oom": oom,
    });
    println!("{result}");
    Ok(())
}
