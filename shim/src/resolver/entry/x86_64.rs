//! The entries for x86-64. See the parent module for what they promise.

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
    ".cfi_startproc",
        "push rdi",
        ".cfi_adjust_cfa_offset 8",
        "push rsi",
        ".cfi_adjust_cfa_offset 8",
        "sub rsp, 8",
        ".cfi_adjust_cfa_offset 8",
        "mov rdx, [rsp + 24]", // the caller's return address
        "call {answer}",
        "add rsp, 8",
        ".cfi_adjust_cfa_offset -8",
        "pop rsi",
        ".cfi_adjust_cfa_offset -8",
        "pop rdi",
        ".cfi_adjust_cfa_offset -8",
        "test rax, rax",
        "jz 2f",
        "jmp rax",
        "2: mov rax, rdx",
        "ret",
        ".cfi_endproc",
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
    ".cfi_startproc",
        "push rdi",
        ".cfi_adjust_cfa_offset 8",
        "push rsi",
        ".cfi_adjust_cfa_offset 8",
        "push rdx",
        ".cfi_adjust_cfa_offset 8",
        "mov rcx, [rsp + 24]", // the caller's return address
        "call {answer}",
        "mov rcx, rdx",
        "pop rdx",
        ".cfi_adjust_cfa_offset -8",
        "pop rsi",
        ".cfi_adjust_cfa_offset -8",
        "pop rdi",
        ".cfi_adjust_cfa_offset -8",
        "test rax, rax",
        "jz 2f",
        "jmp rax",
        "2: mov rax, rcx",
        "ret",
        ".cfi_endproc",
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
    ".cfi_startproc",
        "push rdi",
        ".cfi_adjust_cfa_offset 8",
        "call {answer}",
        "pop rdi",
        ".cfi_adjust_cfa_offset -8",
        "mov esi, edx",
        "test rax, rax",
        "jz 2f",
        "jmp rax",
        "2: ret",
        ".cfi_endproc",
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
    ".cfi_startproc",
        "push rdi",
        ".cfi_adjust_cfa_offset 8",
        "push rsi",
        ".cfi_adjust_cfa_offset 8",
        "sub rsp, 8",
        ".cfi_adjust_cfa_offset 8",
        "call {answer}",
        "add rsp, 8",
        ".cfi_adjust_cfa_offset -8",
        "pop rsi",
        ".cfi_adjust_cfa_offset -8",
        "pop rdi",
        ".cfi_adjust_cfa_offset -8",
        "test rax, rax",
        "jz 2f",
        "jmp rax", // edx holds the flags
        "2: ret",
        ".cfi_endproc",
        answer = sym answer::dlmopen,
    )
}
