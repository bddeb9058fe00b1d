//! What `dlsym` and its relatives answer. Called by the naked entries in `entry` with the caller's own arguments and
//! return address.
//!
//! A name that is not the driver's is none of our business: the entry jumps on to the next function in the chain, which
//! sees the original caller. For one of the driver's names libc is asked first, and only the driver's own address is
//! swapped for its wrapper.

use super::{library, loader};
use crate::exports::records::{self, Hooked};
use crate::objects::{self, Object};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ops::ControlFlow;
use std::ptr;

/// What an entry does next. Returned in two registers.
#[repr(C)]
pub(super) struct Step {
    /// Jump there with the caller's arguments, or null: return `value`.
    jump: *const c_void,
    value: usize,
}

impl Step {
    fn jump(to: *const c_void) -> Self {
        Self { jump: to, value: 0 }
    }

    fn answer(value: *const c_void) -> Self {
        Self { jump: ptr::null(), value: value as usize }
    }
}

/// `dlsym(handle, name)` called from `caller`.
pub(super) extern "C" fn dlsym(handle: *mut c_void, name: *const c_char, caller: *const c_void) -> Step {
    let pass = || Step::jump(loader::DLSYM.next());
    let Some(record) = hooked(name) else { return pass() };
    let answer = match handle {
        libc::RTLD_DEFAULT => by_default(record),
        libc::RTLD_NEXT => after(record, caller),
        handle => by_handle(record, || loader::dlsym(handle, record.name())),
    };
    answer.map_or_else(pass, Step::answer)
}

/// `dlvsym(handle, name, version)` called from `caller`. The driver's names carry no version: where the loader accepts
/// one all the same, the answer is swapped like `dlsym`'s.
pub(super) extern "C" fn dlvsym(
    handle: *mut c_void,
    name: *const c_char,
    version: *const c_char,
    caller: *const c_void,
) -> Step {
    let pass = || Step::jump(loader::DLVSYM.next());
    if is_pseudo(handle)
        && let Some(own) = own_entry(name)
        && precedes_us(caller)
    {
        return Step::answer(own);
    }
    let Some(record) = hooked(name) else { return pass() };
    let answer = by_handle(record, || loader::dlvsym(handle, record.name(), version));
    // Nothing in scope of this library may still be something in scope of the caller.
    answer.filter(|found| !found.is_null() || !is_pseudo(handle)).map_or_else(pass, Step::answer)
}

/// `dlopen(file, flags)`: a module with RTLD_DEEPBIND would bind its own `dlsym` and launches past us. The value is the
/// flags to go on with.
pub(super) extern "C" fn dlopen(_file: *const c_char, flags: c_int) -> Step {
    Step { jump: loader::DLOPEN.next(), value: register(flags & !libc::RTLD_DEEPBIND) }
}

/// `dlmopen(namespace, file, flags)`: the same in the base namespace; in another one we are not in scope anyway.
pub(super) extern "C" fn dlmopen(namespace: libc::Lmid_t, _file: *const c_char, flags: c_int) -> Step {
    let flags = if namespace == libc::LM_ID_BASE { flags & !libc::RTLD_DEEPBIND } else { flags };
    Step { jump: loader::DLMOPEN.next(), value: register(flags) }
}

fn register(flags: c_int) -> usize {
    usize::try_from(flags.cast_unsigned()).unwrap_or_default()
}

fn is_pseudo(handle: *mut c_void) -> bool {
    handle == libc::RTLD_DEFAULT || handle == libc::RTLD_NEXT
}

/// The record of a hooked name. Two bytes decide for nearly every call in a process.
fn hooked(name: *const c_char) -> Option<&'static Hooked> {
    if name.is_null() {
        return None;
    }
    // SAFETY: the application's own argument, a terminated string by `dlsym`'s contract.
    let name = unsafe { CStr::from_ptr(name) };
    if !name.to_bytes().starts_with(b"cu") {
        return None;
    }
    records::find(name)
}

/// An explicit handle: `ask` is libc's own answer for it. None: let the next one in the chain answer.
fn by_handle(record: &'static Hooked, ask: impl FnOnce() -> *const c_void) -> Option<*const c_void> {
    // First the library, then the question: the last call into libc leaves the `dlerror` that the caller will see.
    let library = library::loaded();
    let real = ask();
    if real.is_null() {
        return Some(ptr::null());
    }
    if real == record.export() {
        return by_default(record);
    }
    library.filter(|library| library.is_export(record, real)).map(|_| record.wrapper())
}

/// Global scope. Our own export is found there even if nobody loaded the driver; then it must not be found.
fn by_default(record: &'static Hooked) -> Option<*const c_void> {
    if loader::dlsym(libc::RTLD_DEFAULT, record.name()) != record.export() || library::loaded().is_some() {
        return None;
    }
    Some(loader::dlsym(libc::RTLD_NEXT, record.name()))
}

/// `RTLD_NEXT`: the first definition after the caller's own object. libc would take us for the caller, so the loader's
/// order is walked here; whenever the answer is not the driver or us, libc answers with the true caller.
fn after(record: &'static Hooked, caller: *const c_void) -> Option<*const c_void> {
    let library = library::loaded();
    let definer = next_definer(record, caller)?;
    if definer.contains(record.export() as usize) {
        return by_default(record);
    }
    let visible = || !loader::dlsym(libc::RTLD_NEXT, record.name()).is_null() || depends_on_driver(record, caller);
    library.filter(|library| library.is(&definer) && visible()).map(|_| record.wrapper())
}

/// True if the caller's own object was opened together with the driver, which is then in its scope and in no other.
fn depends_on_driver(record: &'static Hooked, caller: *const c_void) -> bool {
    let Some(object) = objects::find(|object| object.contains(caller as usize)) else { return false };
    let handle = loader::dlopen(object.path(), libc::RTLD_LAZY | libc::RTLD_NOLOAD);
    if handle.is_null() {
        return false;
    }
    let found = loader::dlsym(handle, record.name());
    // SAFETY: gives back the reference just taken.
    unsafe { libc::dlclose(handle) };
    library::loaded().is_some_and(|library| library.is_export(record, found))
}

fn next_definer(record: &'static Hooked, caller: *const c_void) -> Option<Object> {
    let mut passed = false;
    objects::find(|object| {
        if !passed {
            passed = object.contains(caller as usize);
            return false;
        }
        object.image().is_some_and(|image| !image.find(record.name()).is_null())
    })
}

/// Our own entry of that name. A preload library in front of us looks for "the real `dlsym`" with a version, and must
/// find ours, as it does without one.
fn own_entry(name: *const c_char) -> Option<*const c_void> {
    if name.is_null() {
        return None;
    }
    // SAFETY: as in `hooked`.
    let name = unsafe { CStr::from_ptr(name) };
    super::entry::find(name)
}

/// True if `caller` belongs to an object that the loader searches before this library.
fn precedes_us(caller: *const c_void) -> bool {
    let mut precedes = false;
    objects::each(|object| {
        if object.contains(precedes_us as *const c_void as usize) {
            return ControlFlow::Break(());
        }
        if object.contains(caller as usize) {
            precedes = true;
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    });
    precedes
}
