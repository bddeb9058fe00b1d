//! Devices: finding them, what they are, and what they do at the moment.

use crate::abi::{Handle, Memory, MemoryV2, PciInfo, Return, Temperature, Utilization, version_word};
use crate::output::{get, put, put_text, text};
use crate::{decor, state};
use mgpu_sim_link::DeviceInfo;
use std::ffi::{c_char, c_int, c_uint};

/// `Ok` as its code.
fn code(result: Result<Return, Return>) -> c_uint {
    match result {
        Ok(code) | Err(code) => code.0,
    }
}

/// Domain (in `digits`), bus, device, function.
fn bus_text(info: &DeviceInfo, digits: usize) -> String {
    format!("{:0digits$X}:{:02X}:00.0", info.pci_domain, info.pci_bus)
}

/// `text` and zeros.
fn padded<const N: usize>(text: &str) -> [u8; N] {
    let mut bytes = [0; N];
    for (byte, from) in bytes.iter_mut().zip(text.bytes().take(N - 1)) {
        *byte = from;
    }
    bytes
}

/// Stores the handle of the first device that `is` it.
unsafe fn find(to: *mut Handle, is: impl Fn(usize, &DeviceInfo) -> bool, otherwise: Return) -> c_uint {
    let found = state::devices().and_then(|devices| {
        devices.iter().enumerate().find(|(index, device)| is(*index, device)).map(|(index, _)| index).ok_or(otherwise)
    });
    // SAFETY: NVML's contract, see the crate.
    code(found.map(|index| unsafe { put(to, state::handle(index)) }))
}

/// Number of devices.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn nvmlDeviceGetCount_v2(to: *mut c_uint) -> c_uint {
    let count = state::devices().map(|devices| u32::try_from(devices.len()).unwrap_or(u32::MAX));
    // SAFETY: NVML's contract, see the crate.
    code(count.map(|count| unsafe { put(to, count) }))
}

/// Number of devices.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn nvmlDeviceGetCount(to: *mut c_uint) -> c_uint {
    // SAFETY: the same contract.
    unsafe { nvmlDeviceGetCount_v2(to) }
}

/// A device by index.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn nvmlDeviceGetHandleByIndex_v2(wanted: c_uint, to: *mut Handle) -> c_uint {
    // SAFETY: NVML's contract, see the crate.
    unsafe { find(to, |index, _| index == wanted as usize, Return::INVALID_ARGUMENT) }
}

/// A device by index.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn nvmlDeviceGetHandleByIndex(wanted: c_uint, to: *mut Handle) -> c_uint {
    // SAFETY: the same contract.
    unsafe { nvmlDeviceGetHandleByIndex_v2(wanted, to) }
}

/// A device by UUID.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn nvmlDeviceGetHandleByUUID(wanted: *const c_char, to: *mut Handle) -> c_uint {
    // SAFETY: NVML's contract, see the crate.
    let Some(wanted) = (unsafe { text(wanted) }) else { return Return::INVALID_ARGUMENT.0 };
    // SAFETY: NVML's contract, see the crate.
    unsafe { find(to, |_, device| device.uuid_text() == wanted, Return::NOT_FOUND) }
}

/// A device by PCI bus id, with a domain of any length.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn nvmlDeviceGetHandleByPciBusId_v2(wanted: *const c_char, to: *mut Handle) -> c_uint {
    // SAFETY: NVML's contract, see the crate.
    let Some(wanted) = (unsafe { text(wanted) }) else { return Return::INVALID_ARGUMENT.0 };
    let is =
        |_: usize, device: &DeviceInfo| [1, 4, 8].iter().any(|&d| bus_text(device, d).eq_ignore_ascii_case(wanted));
    // SAFETY: NVML's contract, see the crate.
    unsafe { find(to, is, Return::NOT_FOUND) }
}

/// A device by PCI bus id.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn nvmlDeviceGetHandleByPciBusId(wanted: *const c_char, to: *mut Handle) -> c_uint {
    // SAFETY: the same contract.
    unsafe { nvmlDeviceGetHandleByPciBusId_v2(wanted, to) }
}

/// Text of a device.
unsafe fn tell(device: Handle, to: *mut c_char, length: c_uint, what: impl Fn(&DeviceInfo) -> String) -> c_uint {
    // SAFETY: NVML's contract, see the crate.
    code(state::device(device).map(|(_, info)| unsafe { put_text(to, length, &what(&info)) }))
}

/// Product name.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn nvmlDeviceGetName(device: Handle, to: *mut c_char, length: c_uint) -> c_uint {
    // SAFETY: NVML's contract, see the crate.
    unsafe { tell(device, to, length, |info| info.name.clone()) }
}

/// UUID.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn nvmlDeviceGetUUID(device: Handle, to: *mut c_char, length: c_uint) -> c_uint {
    // SAFETY: NVML's contract, see the crate.
    unsafe { tell(device, to, length, DeviceInfo::uuid_text) }
}

/// PCI ids.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn nvmlDeviceGetPciInfo_v3(device: Handle, to: *mut PciInfo) -> c_uint {
    let pci = state::device(device).map(|(_, info)| PciInfo {
        bus_id_legacy: padded(&bus_text(&info, 4)),
        domain: info.pci_domain,
        bus: u32::from(info.pci_bus),
        device: 0,
        pci_device_id: decor::PCI_DEVICE_ID,
        pci_subsystem_id: decor::PCI_DEVICE_ID,
        bus_id: padded(&bus_text(&info, 8)),
    });
    // SAFETY: NVML's contract, see the crate.
    code(pci.map(|pci| unsafe { put(to, pci) }))
}

/// Memory of the device, sampled.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn nvmlDeviceGetMemoryInfo(device: Handle, to: *mut Memory) -> c_uint {
    let memory = state::sample(device).map(|sample| Memory {
        total: sample.memory_total,
        free: sample.memory_total.saturating_sub(sample.memory_used),
        used: sample.memory_used,
    });
    // SAFETY: NVML's contract, see the crate.
    code(memory.map(|memory| unsafe { put(to, memory) }))
}

/// Memory of the device, sampled, with the driver's part apart.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn nvmlDeviceGetMemoryInfo_v2(device: Handle, to: *mut MemoryV2) -> c_uint {
    const VERSION: u32 = version_word::<MemoryV2>(2);
    // SAFETY: NVML's contract, see the crate; only the version word is read.
    match unsafe { get(to.cast::<u32>()) } {
        None => return Return::INVALID_ARGUMENT.0,
        Some(VERSION) => {}
        Some(_) => return Return::VERSION_MISMATCH.0,
    }
    let memory = state::sample(device).map(|sample| MemoryV2 {
        version: VERSION,
        total: sample.memory_total,
        reserved: sample.memory_reserved,
        free: sample.memory_total.saturating_sub(sample.memory_used),
        used: sample.memory_used.saturating_sub(sample.memory_reserved),
    });
    // SAFETY: NVML's contract, see the crate.
    code(memory.map(|memory| unsafe { put(to, memory) }))
}

/// Utilisation of the last sample.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn nvmlDeviceGetUtilizationRates(device: Handle, to: *mut Utilization) -> c_uint {
    let rates = state::sample(device)
        .map(|sample| Utilization { gpu: sample.utilization_gpu, memory: sample.utilization_memory });
    // SAFETY: NVML's contract, see the crate.
    code(rates.map(|rates| unsafe { put(to, rates) }))
}

/// Temperature; one sensor.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn nvmlDeviceGetTemperature(device: Handle, sensor: c_uint, to: *mut c_uint) -> c_uint {
    if sensor != 0 {
        return Return::INVALID_ARGUMENT.0;
    }
    let degrees = state::sample(device).map(|sample| decor::temperature(sample.utilization_gpu));
    // SAFETY: NVML's contract, see the crate.
    code(degrees.map(|degrees| unsafe { put(to, degrees) }))
}

/// Temperature; one sensor.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn nvmlDeviceGetTemperatureV(device: Handle, to: *mut Temperature) -> c_uint {
    // SAFETY: NVML's contract, see the crate.
    let Some(mut asked) = (unsafe { get(to) }) else { return Return::INVALID_ARGUMENT.0 };
    if asked.version != version_word::<Temperature>(1) {
        return Return::VERSION_MISMATCH.0;
    }
    if asked.sensor != 0 {
        return Return::INVALID_ARGUMENT.0;
    }
    let degrees = state::sample(device).map(|sample| decor::temperature(sample.utilization_gpu));
    code(degrees.map(|degrees| {
        asked.degrees = i32::try_from(degrees).unwrap_or(i32::MAX);
        // SAFETY: NVML's contract, see the crate.
        unsafe { put(to, asked) }
    }))
}

/// Power drawn, mW.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn nvmlDeviceGetPowerUsage(device: Handle, to: *mut c_uint) -> c_uint {
    let power = state::sample(device).map(|sample| decor::power_mw(sample.utilization_gpu));
    // SAFETY: NVML's contract, see the crate.
    code(power.map(|power| unsafe { put(to, power) }))
}

/// Compute capability.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn nvmlDeviceGetCudaComputeCapability(
    device: Handle,
    major: *mut c_int,
    minor: *mut c_int,
) -> c_uint {
    let number = |part: u32| i32::try_from(part).unwrap_or(0);
    code(state::device(device).map(|(_, info)| {
        // SAFETY: NVML's contract, see the crate.
        let first = unsafe { put(major, number(info.capability.0)) };
        // SAFETY: as above.
        let second = unsafe { put(minor, number(info.capability.1)) };
        if first == Return::SUCCESS { second } else { first }
    }))
}

/// MIG: switched off, now and later.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn nvmlDeviceGetMigMode(device: Handle, now: *mut c_uint, later: *mut c_uint) -> c_uint {
    code(state::device(device).map(|_| {
        // SAFETY: NVML's contract, see the crate.
        let first = unsafe { put(now, 0) };
        // SAFETY: as above.
        let second = unsafe { put(later, 0) };
        if first == Return::SUCCESS { second } else { first }
    }))
}

/// ECC errors: none, whatever the kind.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn nvmlDeviceGetTotalEccErrors(
    device: Handle,
    _kind: c_uint,
    _counter: c_uint,
    to: *mut u64,
) -> c_uint {
    // SAFETY: NVML's contract, see the crate.
    code(state::device(device).map(|_| unsafe { put(to, 0) }))
}

/// Utilisation of a video engine: none, over a period of 167 ms.
unsafe fn video(device: Handle, to: *mut c_uint, period_us: *mut c_uint) -> c_uint {
    code(state::device(device).map(|_| {
        // SAFETY: NVML's contract, see the crate.
        let first = unsafe { put(to, 0) };
        // SAFETY: as above.
        let second = unsafe { put(period_us, 167_000) };
        if first == Return::SUCCESS { second } else { first }
    }))
}

/// Video encoder.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn nvmlDeviceGetEncoderUtilization(
    device: Handle,
    to: *mut c_uint,
    us: *mut c_uint,
) -> c_uint {
    // SAFETY: the same contract.
    unsafe { video(device, to, us) }
}

/// Video decoder.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn nvmlDeviceGetDecoderUtilization(
    device: Handle,
    to: *mut c_uint,
    us: *mut c_uint,
) -> c_uint {
    // SAFETY: the same contract.
    unsafe { video(device, to, us) }
}

/// A clock, MHz.
unsafe fn clock(device: Handle, kind: c_uint, to: *mut c_uint) -> c_uint {
    let clock = state::device(device)
        .and_then(|_| decor::CLOCKS_MHZ.get(kind as usize).copied().ok_or(Return::INVALID_ARGUMENT));
    // SAFETY: NVML's contract, see the crate.
    code(clock.map(|clock| unsafe { put(to, clock) }))
}

/// Current clock, MHz.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn nvmlDeviceGetClockInfo(device: Handle, kind: c_uint, to: *mut c_uint) -> c_uint {
    // SAFETY: the same contract.
    unsafe { clock(device, kind, to) }
}

/// Highest clock, MHz.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn nvmlDeviceGetMaxClockInfo(device: Handle, kind: c_uint, to: *mut c_uint) -> c_uint {
    // SAFETY: the same contract.
    unsafe { clock(device, kind, to) }
}

/// Functions of one device that store one number.
macro_rules! numbers {
    ($($(#[$doc:meta])* $name:ident = $value:expr;)*) => { $(
        $(#[$doc])*
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C" fn $name(device: Handle, to: *mut c_uint) -> c_uint {
            let value: fn(u32, &DeviceInfo) -> u32 = $value;
            // SAFETY: NVML's contract, see the crate.
            code(state::device(device).map(|(index, info)| unsafe { put(to, value(index, &info)) }))
        }
    )* };
}

numbers! {
    /// Index.
    nvmlDeviceGetIndex = |index, _| index;
    /// Number of the device file.
    nvmlDeviceGetMinorNumber = |index, _| index;
    /// Multiprocessors × 64.
    nvmlDeviceGetNumGpuCores = |_, info| info.multiprocessors * 64;
    /// Limit in force, mW.
    nvmlDeviceGetEnforcedPowerLimit = |_, _| decor::POWER_LIMIT_MW;
    /// Limit set, mW.
    nvmlDeviceGetPowerManagementLimit = |_, _| decor::POWER_LIMIT_MW;
    /// Limit by default, mW.
    nvmlDeviceGetPowerManagementDefaultLimit = |_, _| decor::POWER_LIMIT_MW;
    /// On: the driver stays loaded.
    nvmlDeviceGetPersistenceMode = |_, _| 1;
    /// P0.
    nvmlDeviceGetPerformanceState = |_, _| 0;
    /// P0, by its old name.
    nvmlDeviceGetPowerState = |_, _| 0;
    /// No display.
    nvmlDeviceGetDisplayActive = |_, _| 0;
    /// No display.
    nvmlDeviceGetDisplayMode = |_, _| 0;
    /// Default: any number of processes.
    nvmlDeviceGetComputeMode = |_, _| 0;
    /// Fourth generation.
    nvmlDeviceGetCurrPcieLinkGeneration = |_, _| 4;
    /// Sixteen lanes.
    nvmlDeviceGetCurrPcieLinkWidth = |_, _| 16;
    /// Fourth generation.
    nvmlDeviceGetMaxPcieLinkGeneration = |_, _| 4;
    /// Sixteen lanes.
    nvmlDeviceGetMaxPcieLinkWidth = |_, _| 16;
    /// Ampere.
    nvmlDeviceGetArchitecture = |_, _| 7;
    /// NVIDIA's own.
    nvmlDeviceGetBrand = |_, _| 14;
    /// None can be made.
    nvmlDeviceGetMaxMigDeviceCount = |_, _| 0;
    /// It is a whole device.
    nvmlDeviceIsMigDeviceHandle = |_, _| 0;
    /// One device on the board.
    nvmlDeviceGetMultiGpuBoard = |_, _| 0;
    /// By PCI bus.
    nvmlDeviceGetBoardId = |_, info| u32::from(info.pci_bus) << 8;
}
