//! The shim's block of each thread: a few zeroed words with no constructor, no destructor and no call to reach them.
//!
//! Rust's `thread_local!` in a shared library goes through `__tls_get_addr`, which may allocate on a thread's first use;
//! the launch path can afford neither. The block is in the initial-exec model: two instructions from the thread pointer.

use std::cell::Cell;

/// One thread's words. Zero on a new thread. Only the owning thread reads or writes them.
#[repr(C, align(64))]
pub(crate) struct Local {
    /// How many hooks this thread is inside of; above 0 the driver is calling itself.
    depth: Cell<usize>,
    /// For the session: the thread's line in the tenant page, or whatever it keeps there.
    pub(crate) line: Cell<*const ()>,
    /// For the session, as it likes.
    pub(crate) user: [Cell<usize>; 6],
}

const _: () = assert!(size_of::<Local>() == 64);

std::arch::global_asm!(
    ".pushsection .tbss.mgpu_local,\"awT\",@nobits",
    ".balign 64",
    ".hidden mgpu_local",
    ".globl mgpu_local",
    ".type mgpu_local, @object",
    ".size mgpu_local, 64",
    "mgpu_local:",
    ".zero 64",
    ".popsection",
);

/// The calling thread's block. It lives as long as the thread.
#[inline]
pub(crate) fn get<'a>() -> &'a Local {
    // SAFETY: the block above is as large and aligned as `Local`, zero is a valid `Local`, and no other thread sees it.
    unsafe { &*address() }
}

#[cfg(target_arch = "x86_64")]
#[inline]
fn address() -> *const Local {
    let block: *const Local;
    // SAFETY: reads the thread pointer and a relocated constant.
    unsafe {
        std::arch::asm!(
            "mov {block}, qword ptr fs:[0]",
            "add {block}, qword ptr [rip + mgpu_local@GOTTPOFF]",
            block = out(reg) block,
            options(pure, nomem, nostack),
        );
    }
    block
}

#[cfg(target_arch = "aarch64")]
#[inline]
fn address() -> *const Local {
    let block: *const Local;
    // SAFETY: reads the thread pointer and a relocated constant.
    unsafe {
        std::arch::asm!(
            "mrs {block}, tpidr_el0",
            "adrp {offset}, :gottprel:mgpu_local",
            "ldr {offset}, [{offset}, :gottprel_lo12:mgpu_local]",
            "add {block}, {block}, {offset}",
            block = out(reg) block,
            offset = out(reg) _,
            options(pure, nomem, nostack),
        );
    }
    block
}

/// This thread is inside a hook while one of these lives; also when the hook is left by a panic.
pub(crate) struct Inside(&'static Local);

impl Inside {
    /// Enters the outermost hook; None if this thread is inside of one already.
    #[inline]
    pub(crate) fn enter() -> Option<Self> {
        let local = get();
        if local.depth.get() != 0 {
            return None;
        }
        local.depth.set(1);
        Some(Self(local))
    }
}

impl Drop for Inside {
    #[inline]
    fn drop(&mut self) {
        self.0.depth.set(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_outermost_hook_enters() {
        let outer = Inside::enter();
        assert!(outer.is_some());
        assert!(Inside::enter().is_none());
        drop(outer);
        assert!(Inside::enter().is_some());
    }

    #[test]
    fn a_panic_leaves_the_hook() {
        let _ = std::panic::catch_unwind(|| {
            let _inside = Inside::enter();
            panic!("on purpose");
        });
        assert!(Inside::enter().is_some());
    }

    #[test]
    fn each_thread_has_its_own_zeroed_block() {
        get().user[0].set(7);
        let (there, value) =
            std::thread::spawn(|| (std::ptr::from_ref(get()) as usize, get().user[0].get())).join().unwrap_or((0, 1));
        assert_eq!(value, 0);
        assert_ne!(there, std::ptr::from_ref(get()) as usize);
    }
}
