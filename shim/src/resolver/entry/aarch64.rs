//! The entries for AArch64. See the parent module for what they promise.

use crate::resolver::answer;
use std::arch::naked_asm;
use std::ffi::{c_char, c_int, c_void};

/// libc's `dlsym`, which gives the wrapper where libc would give the driver's function.
///
/// # Safety
/// As libc's.
#[unsafe(naked)]
#[cfg_attr(not(test), unsafe(no_mangle))]
pub(in crate::resolver) unsafe extern "C" fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void {
    naked_asm!(
        "stp x29, x30, [sp, #-32]!",
        "stp x0, x1, [sp, #16]",
        "mov x29, sp",
        "mov x2, x30", // the caller's return address
        "bl {answer}",
        "mov x16, x0",
        "mov x17, x1",
        "ldp x0, x1, [sp, #16]",
        "ldp x29, x30, [sp], #32",
        "cbz x16, 2f",
        "br x16",
        "2: mov x0, x17",
        "ret",
        answer = sym answer::dlsym,
    )
}

/// libc's `dlvsym`, like [`dlsym`].
///
/// # Safety
/// As libc's.
#[unsafe(naked)]
#[cfg_attr(not(test), unsafe(no_mangle))]
pub(in crate::resolver) unsafe extern "C" fn dlvsym(
    handle: *mut c_void,
    name: *const c_char,
    version: *const c_char,
) -> *mut c_void {
    naked_asm!(
        "stp x29, x30, [sp, #-48]!",
        "stp x0, x1, [sp, #16]",
        "str x2, [sp, #32]",
        "mov x29, sp",
        "mov x3, x30", // the caller's return address
        "bl {answer}",
        "mov x16, x0",
        "mov x17, x1",
        "ldp x0, x1, [sp, #16]",
        "ldr x2, [sp, #32]",
        "ldp x29, x30, [sp], #48",
        "cbz x16, 2f",
        "br x16",
        "2: mov x0, x17",
        "ret",
        answer = sym answer::dlvsym,
    )
}

/// libc's `dlopen` without RTLD_DEEPBIND.
///
/// # Safety
/// As libc's.
#[unsafe(naked)]
#[cfg_attr(not(test), unsafe(no_mangle))]
pub(in crate::resolver) unsafe extern "C" fn dlopen(file: *const c_char, flags: c_int) -> *mut c_void {
    naked_asm!(
        "stp x29, x30, [sp, #-32]!",
        "str x0, [sp, #16]",
        "mov x29, sp",
        "bl {answer}",
        "mov x16, x0",
        "ldr x0, [sp, #16]",
        "ldp x29, x30, [sp], #32",
        "cbz x16, 2f",
        "br x16", // w1 holds the flags
        "2: mov x0, xzr",
        "ret",
        answer = sym answer::dlopen,
    )
}

/// libc's `dlmopen`, in the base namespace without RTLD_DEEPBIND.
///
/// # Safety
/// As libc's.
#[unsafe(naked)]
#[cfg_attr(not(test), unsafe(no_mangle))]
pub(in crate::resolver) unsafe extern "C" fn dlmopen(
    namespace: libc::Lmid_t,
    file: *const c_char,
    flags: c_int,
) -> *mut c_void {
    naked_asm!(
        "stp x29, x30, [sp, #-32]!",
        "stp x0, x1, [sp, #16]",
        "mov x29, sp",
        "bl {answer}",
        "mov x16, x0",
        "mov x2, x1",
        "ldp x0, x1, [sp, #16]",
        "ldp x29, x30, [sp], #32",
        "cbz x16, 2f",
        "br x16",
        "2: mov x0, xzr",
        "ret",
        answer = sym answer::dlmopen,
    )
}
