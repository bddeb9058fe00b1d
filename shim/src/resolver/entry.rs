//! The exported `dlsym`, `dlvsym`, `dlopen` and `dlmopen`. libc tells RTLD_NEXT and RUNPATH by the caller's return
//! address, so these must leave the stack as they found it and *jump* to the next function: they are naked, ask `answer`,
//! and either return its value or jump with the caller's own arguments.

use super::answer;
use std::ffi::{CStr, c_char, c_int, c_void};

/// Our own entry of that name.
pub(super) fn find(name: &CStr) -> Option<*const c_void> {
    let entry = match name.to_bytes() {
        b"dlsym" => dlsym as *const c_void,
        b"dlvsym" => dlvsym as *const c_void,
        b"dlopen" => dlopen as *const c_void,
        b"dlmopen" => dlmopen as *const c_void,
        _ => return None,
    };
    Some(entry)
}

#[cfg(target_arch = "x86_64")]
mod entries {
    use super::*;
    use std::arch::naked_asm;

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
}

#[cfg(target_arch = "aarch64")]
mod entries {
    use super::*;
    use std::arch::naked_asm;

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
}

use entries::{dlmopen, dlopen, dlsym, dlvsym};
