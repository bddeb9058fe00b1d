//! Library and system: init, shutdown, versions, names of errors and processes.

use crate::abi::Return;
use crate::output::{put, put_text};
use crate::{decor, state};
use std::ffi::{CStr, c_char, c_int, c_uint};

/// Begins the use of the library.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn nvmlInit_v2() -> c_uint {
    state::init().0
}

/// The old name.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn nvmlInit() -> c_uint {
    state::init().0
}

/// Flags change nothing here: a node without devices is no error either way.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn nvmlInitWithFlags(_flags: c_uint) -> c_uint {
    state::init().0
}

/// Ends one use of the library.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn nvmlShutdown() -> c_uint {
    state::shutdown().0
}

/// Text of a result code.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn nvmlErrorString(code: c_uint) -> *const c_char {
    let text: &CStr = match code {
        0 => c"The operation was successful",
        1 => c"NVML was not first initialized with nvmlInit()",
        2 => c"A supplied argument is invalid",
        3 => c"The requested operation is not available on target device",
        4 => c"The current user does not have permission for operation",
        6 => c"A query to find an object was unsuccessful",
        7 => c"An input argument is not large enough",
        9 => c"NVIDIA driver is not loaded",
        12 => c"NVML Shared Library couldn't be found or loaded",
        13 => c"Local version of NVML doesn't implement this function",
        15 => c"The GPU has fallen off the bus or has otherwise become inaccessible",
        25 => c"The caller's version of a structure is not known",
        _ => c"An internal driver error occurred",
    };
    text.as_ptr()
}

/// Driver's version.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn nvmlSystemGetDriverVersion(to: *mut c_char, length: c_uint) -> c_uint {
    // SAFETY: NVML's contract, see the crate.
    unsafe { put_text(to, length, decor::DRIVER_VERSION) }.0
}

/// NVML's version.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn nvmlSystemGetNVMLVersion(to: *mut c_char, length: c_uint) -> c_uint {
    // SAFETY: NVML's contract, see the crate.
    unsafe { put_text(to, length, decor::NVML_VERSION) }.0
}

/// CUDA's version.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn nvmlSystemGetCudaDriverVersion(to: *mut c_int) -> c_uint {
    // SAFETY: NVML's contract, see the crate.
    unsafe { put(to, decor::CUDA_VERSION) }.0
}

/// CUDA's version.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn nvmlSystemGetCudaDriverVersion_v2(to: *mut c_int) -> c_uint {
    // SAFETY: NVML's contract, see the crate.
    unsafe { put(to, decor::CUDA_VERSION) }.0
}

/// A process's command, cut to the buffer as NVML does.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn nvmlSystemGetProcessName(pid: c_uint, to: *mut c_char, length: c_uint) -> c_uint {
    let Ok(name) = std::fs::read_to_string(format!("/proc/{pid}/comm")) else { return Return::NOT_FOUND.0 };
    let room = (length as usize).saturating_sub(1);
    let name: String = name.trim_end().chars().take_while(char::is_ascii).take(room).collect();
    // SAFETY: NVML's contract, see the crate.
    unsafe { put_text(to, length, &name) }.0
}
