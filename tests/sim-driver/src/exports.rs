//! The library's exports: one C function for every function of the table, per-thread twins included.
//!
//! An export does three things: nothing before `cuInit` (but for the few that work then), no panic across the boundary, and
//! stream 0 told apart for twins. It must never know what a function does.
#![allow(non_snake_case, reason = "the API's names")]
#![allow(clippy::missing_safety_doc, reason = "C functions: the API's manual is their contract")]
#![allow(missing_docs, reason = "C functions: the API's manual is their description")]

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};

use mgpu_cuda::{CUDA_SUCCESS, CUresult};

use crate::dispatch;
use crate::error::{Res, UNKNOWN};
use crate::state::driver;
use crate::stream::Zero;
use crate::types::*;

/// Functions that answer before `cuInit`.
const fn works_before_init(name: &str) -> bool {
    const EARLY: &[&str] = &[
        "cuInit",
        "cuDriverGetVersion",
        "cuGetErrorName",
        "cuGetErrorString",
        "cuGetProcAddress",
        "cuGetProcAddress_v2",
        "cuGetExportTable",
    ];
    let mut i = 0;
    while i < EARLY.len() {
        if same(EARLY[i], name) {
            return true;
        }
        i += 1;
    }
    false
}

const fn same(left: &str, right: &str) -> bool {
    let (left, right) = (left.as_bytes(), right.as_bytes());
    if left.len() != right.len() {
        return false;
    }
    let mut i = 0;
    while i < left.len() {
        if left[i] != right[i] {
            return false;
        }
        i += 1;
    }
    true
}

/// Runs the body of an export and turns what comes of it into a code.
#[inline]
fn fence(early: bool, body: impl FnOnce() -> Res) -> CUresult {
    let guarded = AssertUnwindSafe(|| if early { body() } else { driver().and_then(|_| body()) });
    match catch_unwind(guarded) {
        Ok(Ok(())) => CUDA_SUCCESS,
        Ok(Err(fail)) => CUresult(fail.0),
        Err(_) => CUresult(UNKNOWN.0),
    }
}

macro_rules! exports {
    ($($class:ident $detail:tt $status:ident $words:tt $family:ident {
        $($since:literal $name:ident $arguments:tt $(, $twin_since:literal $twin:ident)?;)+
    })*) => {
        $($( export! { $name $arguments $($twin)? } )+)*

        /// Stubs for the whole table; what is simulated hides its stub in `dispatch`.
        #[allow(dead_code, reason = "hidden by what is simulated")]
        #[allow(clippy::too_many_arguments, reason = "the API's signatures")]
        pub(crate) mod stubs {
            use crate::error::Res;
            use crate::stream::Zero;
            use crate::types::*;

            $($( stub! { $name $arguments $($twin)? } )+)*
        }

        /// Every export by name, in the table's order.
        pub(crate) static EXPORTS: &[(&str, Address)] = &[
            $($( (stringify!($name), Address($name as *const c_void)), $((stringify!($twin), Address($twin as *const c_void)),)? )+)*
        ];
    };
}

/// Keeps the optimiser from folding exports with equal bodies into one: in the real library each has an address of its own, and
/// whoever asks by address (a shim's table) must get the name back.
macro_rules! own_address {
    ($name:ident) => {
        // SAFETY: a comment, no instruction.
        unsafe { std::arch::asm!(concat!("/* ", stringify!($name), " */"), options(nomem, nostack, preserves_flags)) }
    };
}

macro_rules! export {
    ($name:ident ($($argument:ident: $ty:ty),* $(,)?)) => {
        #[unsafe(no_mangle)]
        #[allow(clippy::too_many_arguments, reason = "the API's signature")]
        pub unsafe extern "C" fn $name($($argument: $ty),*) -> CUresult {
            own_address!($name);
            // SAFETY: the application's arguments, which it must give as the API demands.
            fence(const { works_before_init(stringify!($name)) }, || unsafe { dispatch::$name($($argument),*) })
        }
    };
    ($name:ident ($($argument:ident: $ty:ty),* $(,)?) $twin:ident) => {
        #[unsafe(no_mangle)]
        #[allow(clippy::too_many_arguments, reason = "the API's signature")]
        pub unsafe extern "C" fn $name($($argument: $ty),*) -> CUresult {
            own_address!($name);
            // SAFETY: the application's arguments, which it must give as the API demands.
            fence(false, || unsafe { dispatch::$name(Zero::Legacy, $($argument),*) })
        }

        #[unsafe(no_mangle)]
        #[allow(clippy::too_many_arguments, reason = "the API's signature")]
        pub unsafe extern "C" fn $twin($($argument: $ty),*) -> CUresult {
            own_address!($twin);
            // SAFETY: the application's arguments, which it must give as the API demands.
            fence(false, || unsafe { dispatch::$name(Zero::PerThread, $($argument),*) })
        }
    };
}

macro_rules! stub {
    ($name:ident ($($argument:ident: $ty:ty),* $(,)?)) => {
        pub(crate) unsafe fn $name($(_: $ty),*) -> Res {
            Err(crate::unimplemented::call(stringify!($name)))
        }
    };
    ($name:ident ($($argument:ident: $ty:ty),* $(,)?) $twin:ident) => {
        pub(crate) unsafe fn $name(_: Zero, $(_: $ty),*) -> Res {
            Err(crate::unimplemented::call(stringify!($name)))
        }
    };
}

/// The address of a function of this library.
pub(crate) struct Address(pub(crate) *const c_void);

// SAFETY: addresses of code, the same in every thread.
unsafe impl Sync for Address {}

mgpu_cuda::for_each_family!(exports);
