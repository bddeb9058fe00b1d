//! Processes of a device: memory and utilisation, from the last sample.

use crate::abi::{Handle, ProcessInfo, ProcessInfoV1, ProcessSample, Return};
use crate::output::put_list;
use crate::state;
use std::ffi::c_uint;
use std::time::{SystemTime, UNIX_EPOCH};

/// "No instance", as devices that are not partitioned say.
const NO_INSTANCE: u32 = u32::MAX;

/// Calls `list` with the device's processes in the form of `of`.
unsafe fn processes<T: Copy>(
    handle: Handle,
    count: *mut c_uint,
    to: *mut T,
    of: impl Fn(&mgpu_sim_link::NvmlProcess) -> T,
) -> c_uint {
    match state::sample(handle) {
        Ok(sample) => {
            let items: Vec<T> = sample.processes.iter().map(of).collect();
            // SAFETY: NVML's contract, see the crate.
            unsafe { put_list(count, to, &items) }.0
        }
        Err(code) => code.0,
    }
}

fn info(process: &mgpu_sim_link::NvmlProcess) -> ProcessInfo {
    ProcessInfo {
        pid: process.pid,
        used_memory: process.memory_used,
        gpu_instance: NO_INSTANCE,
        compute_instance: NO_INSTANCE,
    }
}

/// Compute processes.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn nvmlDeviceGetComputeRunningProcesses_v3(
    device: Handle,
    count: *mut c_uint,
    to: *mut ProcessInfo,
) -> c_uint {
    // SAFETY: NVML's contract, see the crate.
    unsafe { processes(device, count, to, info) }
}

/// Compute processes.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn nvmlDeviceGetComputeRunningProcesses_v2(
    device: Handle,
    count: *mut c_uint,
    to: *mut ProcessInfo,
) -> c_uint {
    // SAFETY: NVML's contract, see the crate.
    unsafe { processes(device, count, to, info) }
}

/// Compute processes, in the first form.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn nvmlDeviceGetComputeRunningProcesses(
    device: Handle,
    count: *mut c_uint,
    to: *mut ProcessInfoV1,
) -> c_uint {
    let old =
        |process: &mgpu_sim_link::NvmlProcess| ProcessInfoV1 { pid: process.pid, used_memory: process.memory_used };
    // SAFETY: NVML's contract, see the crate.
    unsafe { processes(device, count, to, old) }
}

/// None: the devices do not draw.
unsafe fn nobody(device: Handle, count: *mut c_uint) -> c_uint {
    match state::device(device) {
        // SAFETY: NVML's contract, see the crate.
        Ok(_) => unsafe { put_list::<u8>(count, std::ptr::null_mut(), &[]) }.0,
        Err(code) => code.0,
    }
}

/// Graphics and MPS processes: always none, whatever their form.
macro_rules! nobody {
    ($($name:ident)*) => { $(
        /// Processes of a kind that the simulated devices have none of.
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C" fn $name(device: Handle, count: *mut c_uint, _to: *mut ProcessInfo) -> c_uint {
            // SAFETY: NVML's contract, see the crate.
            unsafe { nobody(device, count) }
        }
    )* };
}

nobody! {
    nvmlDeviceGetGraphicsRunningProcesses
    nvmlDeviceGetGraphicsRunningProcesses_v2
    nvmlDeviceGetGraphicsRunningProcesses_v3
    nvmlDeviceGetMPSComputeRunningProcesses
    nvmlDeviceGetMPSComputeRunningProcesses_v2
    nvmlDeviceGetMPSComputeRunningProcesses_v3
}

/// Utilisation by process, of samples newer than `since_us`. No sample is NOT_FOUND, as NVML says it.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn nvmlDeviceGetProcessUtilization(
    device: Handle,
    to: *mut ProcessSample,
    count: *mut c_uint,
    since_us: u64,
) -> c_uint {
    let sample = match state::sample(device) {
        Ok(sample) => sample,
        Err(code) => return code.0,
    };
    let time = wall_us(sample.sampled_ns);
    let items: Vec<ProcessSample> = sample
        .processes
        .iter()
        .filter(|process| process.utilization > 0 && time > since_us)
        .map(|process| ProcessSample {
            pid: process.pid,
            time,
            sm: process.utilization,
            memory: 0,
            encoder: 0,
            decoder: 0,
        })
        .collect();
    if items.is_empty() {
        // SAFETY: NVML's contract, see the crate.
        let told = unsafe { put_list::<ProcessSample>(count, to, &[]) };
        return if told == Return::SUCCESS { Return::NOT_FOUND.0 } else { told.0 };
    }
    // SAFETY: NVML's contract, see the crate.
    unsafe { put_list(count, to, &items) }.0
}

/// CLOCK_REALTIME, µs, of a moment of CLOCK_MONOTONIC.
fn wall_us(monotonic_ns: u64) -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let ago_us = mgpu_sim_link::now_ns().saturating_sub(monotonic_ns) / 1000;
    u64::try_from(now.as_micros()).unwrap_or(u64::MAX).saturating_sub(ago_us)
}
