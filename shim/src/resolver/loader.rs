//! The functions that ours stand in front of. `dlsym` cannot be used to find `dlsym`, so libc's own is read out of its
//! symbol table; the next ones in the chain (another preload library's, usually libc's) are then asked of it.
//!
//! Everything here is found on first use and cached in an atomic: no lock, no allocation, safe in a forked child.

use crate::{elf::Image, objects};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::mem::transmute;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

type Dlsym = unsafe extern "C" fn(*mut c_void, *const c_char) -> *mut c_void;
type Dlvsym = unsafe extern "C" fn(*mut c_void, *const c_char, *const c_char) -> *mut c_void;
type Dlopen = unsafe extern "C" fn(*const c_char, c_int) -> *mut c_void;

/// One function behind ours.
pub(super) struct Real {
    name: &'static CStr,
    own: AtomicPtr<c_void>,
    next: AtomicPtr<c_void>,
}

pub(super) static DLSYM: Real = Real::new(c"dlsym");
pub(super) static DLVSYM: Real = Real::new(c"dlvsym");
pub(super) static DLOPEN: Real = Real::new(c"dlopen");
pub(super) static DLMOPEN: Real = Real::new(c"dlmopen");

impl Real {
    const fn new(name: &'static CStr) -> Self {
        Self { name, own: AtomicPtr::new(ptr::null_mut()), next: AtomicPtr::new(ptr::null_mut()) }
    }

    /// libc's own function; null only in a process without a glibc that we can read.
    pub(super) fn libc(&self) -> *const c_void {
        let known = self.own.load(Ordering::Relaxed);
        if !known.is_null() {
            return known;
        }
        let found = search_libc(self.name);
        self.own.store(found.cast_mut(), Ordering::Relaxed);
        found
    }

    /// The next function in the chain after this library: where a call that is none of our business continues.
    pub(super) fn next(&self) -> *const c_void {
        let known = self.next.load(Ordering::Relaxed);
        if !known.is_null() {
            return known;
        }
        let mut found = dlsym(libc::RTLD_NEXT, self.name);
        if found.is_null() {
            found = self.libc();
        }
        self.next.store(found.cast_mut(), Ordering::Relaxed);
        found
    }
}

/// libc's `dlsym` with this library as the caller.
pub(super) fn dlsym(handle: *mut c_void, name: &CStr) -> *const c_void {
    let function = DLSYM.libc();
    if function.is_null() {
        return ptr::null();
    }
    // SAFETY: the address of libc's `dlsym`.
    let function: Dlsym = unsafe { transmute(function) };
    // SAFETY: the handle is the application's own or a pseudo-handle, as it would have passed itself.
    unsafe { function(handle, name.as_ptr()) }
}

/// libc's `dlvsym` with this library as the caller.
pub(super) fn dlvsym(handle: *mut c_void, name: &CStr, version: *const c_char) -> *const c_void {
    let function = DLVSYM.libc();
    if function.is_null() {
        return ptr::null();
    }
    // SAFETY: the address of libc's `dlvsym`.
    let function: Dlvsym = unsafe { transmute(function) };
    // SAFETY: as in `dlsym`; the version is the application's own string.
    unsafe { function(handle, name.as_ptr(), version) }
}

/// libc's `dlopen` with this library as the caller.
pub(super) fn dlopen(path: &CStr, flags: c_int) -> *mut c_void {
    let function = DLOPEN.libc();
    if function.is_null() {
        return ptr::null_mut();
    }
    // SAFETY: the address of libc's `dlopen`.
    let function: Dlopen = unsafe { transmute(function) };
    // SAFETY: a terminated path.
    unsafe { function(path.as_ptr(), flags) }
}

fn search_libc(name: &CStr) -> *const c_void {
    let mut found = ptr::null();
    objects::each(|object| {
        // Before glibc 2.34 these functions lived in libdl.
        if let Some(image) = object.image()
            && is_one_of(&image, &[c"libc.so.6", c"libdl.so.2"])
        {
            found = image.find(name);
        }
        if found.is_null() { std::ops::ControlFlow::Continue(()) } else { std::ops::ControlFlow::Break(()) }
    });
    found
}

fn is_one_of(image: &Image, names: &[&CStr]) -> bool {
    image.soname().is_some_and(|soname| names.contains(&soname))
}
