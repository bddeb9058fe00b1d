//! The real driver: which loaded object it is, what it exports, and which of its addresses has a wrapper.
//!
//! Found lazily, when somebody asks for one of the driver's names; a process without CUDA never comes here.

use super::loader;
use crate::elf::Image;
use crate::exports::records::{self, Hooked};
use crate::objects::{self, Object};
use std::ffi::{CStr, c_void};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

const SONAME: &CStr = c"libcuda.so.1";

/// The loaded driver. Made once, never freed; the driver stays loaded from then on, whatever the application closes.
pub(crate) struct Library {
    image: Image,
    object: Object,
    /// Address of each hooked export and its record, sorted by address.
    by_address: Vec<(usize, &'static Hooked)>,
}

static LIBRARY: AtomicPtr<Library> = AtomicPtr::new(ptr::null_mut());

/// The driver, if it is loaded into this process.
pub(crate) fn loaded() -> Option<&'static Library> {
    // SAFETY: only `adopt` stores here, a leaked `Library`.
    let known = unsafe { LIBRARY.load(Ordering::Acquire).as_ref() };
    known.or_else(|| {
        let object = objects::find(is_driver)?;
        // Stays loaded from here on: the wrappers keep its addresses. Another thread may have closed it meanwhile; what is
        // there after this call is there for good.
        let kept = loader::dlopen(object.path(), libc::RTLD_LAZY | libc::RTLD_NOLOAD | libc::RTLD_NODELETE);
        if kept.is_null() { None } else { objects::find(is_driver).and_then(adopt) }
    })
}

/// The driver, loading it if nobody has: for a program that was linked against it and whose hook is called.
pub(crate) fn open() -> Option<&'static Library> {
    loaded().or_else(|| {
        loader::dlopen(SONAME, libc::RTLD_LAZY | libc::RTLD_LOCAL);
        loaded()
    })
}

impl Library {
    /// Address of the driver's export `name`, or null.
    pub(crate) fn find(&self, name: &CStr) -> *const c_void {
        self.image.find(name)
    }

    /// True if `address` is the driver's export that `record` wraps.
    pub(crate) fn is_export(&self, record: &Hooked, address: *const c_void) -> bool {
        !address.is_null() && self.find(record.name()) == address
    }

    /// True if `object` is this library.
    pub(super) fn is(&self, object: &Object) -> bool {
        self.object.is(object)
    }

    /// The records of the hooked exports at `address`: usually one, several where the driver has one body for them.
    pub(super) fn at(&self, address: *const c_void) -> impl Iterator<Item = &'static Hooked> {
        let address = address as usize;
        let from = self.by_address.partition_point(|(known, _)| *known < address);
        self.by_address.iter().skip(from).take_while(move |(known, _)| *known == address).map(|(_, record)| *record)
    }
}

/// By its own name; a driver that was built without one is known by its file.
fn is_driver(object: &Object) -> bool {
    let Some(image) = object.image() else { return false };
    match image.soname() {
        Some(soname) => soname == SONAME,
        None => file_name(object.path()).starts_with(b"libcuda.so") && !image.find(c"cuInit").is_null(),
    }
}

fn file_name(path: &CStr) -> &[u8] {
    path.to_bytes().rsplit(|byte| *byte == b'/').next().unwrap_or_default()
}

/// Several threads may come here at once, or a child forked meanwhile: all build the same, one is kept, none waits.
fn adopt(object: Object) -> Option<&'static Library> {
    let image = object.image()?;
    let mut by_address: Vec<(usize, &'static Hooked)> = records::all()
        .map(|record| (image.find(record.name()) as usize, record))
        .filter(|(address, _)| *address != 0)
        .collect();
    by_address.sort_unstable_by_key(|(address, _)| *address);
    let made = Box::into_raw(Box::new(Library { image, object, by_address }));
    if LIBRARY.compare_exchange(ptr::null_mut(), made, Ordering::AcqRel, Ordering::Acquire).is_err() {
        // SAFETY: made above, and nobody has seen it.
        drop(unsafe { Box::from_raw(made) });
    }
    // SAFETY: stored above or by another thread; never freed.
    unsafe { LIBRARY.load(Ordering::Acquire).as_ref() }
}
