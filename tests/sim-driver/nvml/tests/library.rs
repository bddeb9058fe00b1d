//! The built library as a program sees it that finds no server: names, codes, arguments. (With one: the real clients.)

use std::ffi::{CStr, CString, c_char, c_uint, c_void};
use std::path::PathBuf;

/// The library that this build made.
fn path() -> PathBuf {
    let program = std::env::current_exe().expect("this program");
    let profile = program.parent().and_then(std::path::Path::parent).expect("target/PROFILE/deps/PROGRAM");
    profile.join("libnvidia_ml.so")
}

fn library() -> *mut c_void {
    let name = CString::new(path().into_os_string().into_encoded_bytes()).expect("no zero byte");
    // SAFETY: loads our own library, whose constructors are Rust's only.
    let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    assert!(!handle.is_null(), "{} loads", path().display());
    handle
}

fn symbol(name: &str) -> *mut c_void {
    let name = CString::new(name).expect("no zero byte");
    // SAFETY: a valid handle and name.
    unsafe { libc::dlsym(library(), name.as_ptr()) }
}

/// Calls a function without arguments.
fn call(name: &str) -> c_uint {
    let address = symbol(name);
    assert!(!address.is_null(), "{name} is exported");
    // SAFETY: only used with functions of this form.
    let function: extern "C" fn() -> c_uint = unsafe { std::mem::transmute(address) };
    function()
}

#[test]
fn without_a_server_there_is_no_driver() {
    // SAFETY: no other thread of this program reads the environment meanwhile; the tests here are one.
    unsafe { std::env::set_var("MGPU_SIM_SOCKET", "/nowhere/socket") };
    assert_eq!(call("nvmlInit_v2"), 9);
    assert_eq!(call("nvmlShutdown"), 1);

    // SAFETY: the function's own form.
    let count: extern "C" fn(*mut c_uint) -> c_uint = unsafe { std::mem::transmute(symbol("nvmlDeviceGetCount_v2")) };
    let mut number = 7;
    assert_eq!((count(&raw mut number), number), (1, 7));

    // SAFETY: the function's own form.
    let text: extern "C" fn(c_uint) -> *const c_char = unsafe { std::mem::transmute(symbol("nvmlErrorString")) };
    // SAFETY: a static C string.
    let text = unsafe { CStr::from_ptr(text(9)) };
    assert_eq!(text.to_str(), Ok("NVIDIA driver is not loaded"));

    // SAFETY: the function's own form.
    let version: extern "C" fn(*mut c_char, c_uint) -> c_uint =
        unsafe { std::mem::transmute(symbol("nvmlSystemGetDriverVersion")) };
    let mut buffer = [0; 80];
    assert_eq!(version(buffer.as_mut_ptr(), 4), 7, "the buffer is too small");
    assert_eq!(version(std::ptr::null_mut(), 80), 2);
    assert_eq!(version(buffer.as_mut_ptr(), 80), 0);
    assert_eq!(buffer[0].to_ne_bytes(), *b"6");

    assert_eq!(call("nvmlDeviceGetSerial"), 3);
    assert!(symbol("nvmlNoSuchFunction").is_null());
}
