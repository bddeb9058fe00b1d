//! The first call through an export: decides once what stands behind it, as a lazily bound program would.

use super::records::Hooked;
use crate::resolver::{self, library};
use std::ffi::c_void;

/// Binds the record in the scratch register that the export set, then goes on to what it was bound to with every argument
/// register as it was.
///
/// # Safety
/// Only reached by the jump of an export.
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
pub(super) unsafe extern "C" fn trampoline() {
    std::arch::naked_asm!(
    ".cfi_startproc",
        "push rdi",
        "push rsi",
        "push rdx",
        "push rcx",
        "push r8",
        "push r9",
        "push rax",
        "push r10",
        ".cfi_adjust_cfa_offset 64",
        "sub rsp, 136",
        ".cfi_adjust_cfa_offset 136",
        "movups [rsp], xmm0",
        "movups [rsp + 16], xmm1",
        "movups [rsp + 32], xmm2",
        "movups [rsp + 48], xmm3",
        "movups [rsp + 64], xmm4",
        "movups [rsp + 80], xmm5",
        "movups [rsp + 96], xmm6",
        "movups [rsp + 112], xmm7",
        "mov rdi, r11",
        "call {bind}",
        "mov r11, rax",
        "movups xmm0, [rsp]",
        "movups xmm1, [rsp + 16]",
        "movups xmm2, [rsp + 32]",
        "movups xmm3, [rsp + 48]",
        "movups xmm4, [rsp + 64]",
        "movups xmm5, [rsp + 80]",
        "movups xmm6, [rsp + 96]",
        "movups xmm7, [rsp + 112]",
        "add rsp, 136",
        ".cfi_adjust_cfa_offset -136",
        "pop r10",
        "pop rax",
        "pop r9",
        "pop r8",
        "pop rcx",
        "pop rdx",
        "pop rsi",
        "pop rdi",
        ".cfi_adjust_cfa_offset -64",
        "jmp r11",
        ".cfi_endproc",
        bind = sym bind,
    )
}

/// See the other one.
///
/// # Safety
/// Only reached by the jump of an export.
#[cfg(target_arch = "aarch64")]
#[unsafe(naked)]
pub(super) unsafe extern "C" fn trampoline() {
    std::arch::naked_asm!(
        "stp x29, x30, [sp, #-224]!",
        "mov x29, sp",
        "stp x0, x1, [sp, #16]",
        "stp x2, x3, [sp, #32]",
        "stp x4, x5, [sp, #48]",
        "stp x6, x7, [sp, #64]",
        "str x8, [sp, #80]",
        "stp q0, q1, [sp, #96]",
        "stp q2, q3, [sp, #128]",
        "stp q4, q5, [sp, #160]",
        "stp q6, q7, [sp, #192]",
        "mov x0, x16",
        "bl {bind}",
        "mov x16, x0",
        "ldp x0, x1, [sp, #16]",
        "ldp x2, x3, [sp, #32]",
        "ldp x4, x5, [sp, #48]",
        "ldp x6, x7, [sp, #64]",
        "ldr x8, [sp, #80]",
        "ldp q0, q1, [sp, #96]",
        "ldp q2, q3, [sp, #128]",
        "ldp q4, q5, [sp, #160]",
        "ldp q6, q7, [sp, #192]",
        "ldp x29, x30, [sp], #224",
        "br x16",
        bind = sym bind,
    )
}

/// Another library's function of this name, if one stands between us and the driver: it will call on to the driver by
/// itself and then meet the wrapper. Otherwise the wrapper.
extern "C" fn bind(record: &'static Hooked) -> *const c_void {
    let next = resolver::following(record);
    let foreign = !next.is_null() && !library::loaded().is_some_and(|library| library.is_export(record, next));
    let target = if foreign { next } else { record.wrapper() };
    record.bind_to(target);
    target
}
