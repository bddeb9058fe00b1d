//! Profiler switches, user objects, the linker: host-side things that clients expect to be there.

use std::ffi::{c_char, c_uint, c_void};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use crate::error::{INVALID_HANDLE, INVALID_VALUE, OUT_OF_MEMORY, Res, put, put_if};
use crate::graph;
use crate::slots::{Slots, handle_of};
use crate::state::driver;
use crate::sync::lock;
use crate::types::{CUgraph, CUhostFn, CUjit_option, CUjitInputType, CUlinkState, CUuserObject, list, raw, text};

pub(crate) unsafe fn cuProfilerStart() -> Res {
    driver().map(|_| ())
}

pub(crate) unsafe fn cuProfilerStop() -> Res {
    driver().map(|_| ())
}

/// Something of the application's that graphs refer to: counted, and told when the last reference goes.
#[derive(Debug, Default)]
struct UserObject {
    count: AtomicU32,
    destroy: AtomicUsize,
    argument: AtomicUsize,
}

static USER_OBJECTS: Slots<UserObject> = Slots::new(1 << 16);

pub(crate) unsafe fn cuUserObjectCreate(
    out: *mut CUuserObject,
    argument: *mut c_void,
    destroy: CUhostFn,
    count: c_uint,
    flags: c_uint,
) -> Res {
    driver()?;
    let destroy = destroy.filter(|_| !out.is_null() && count > 0 && flags == 1).ok_or(INVALID_VALUE)?;
    let object = USER_OBJECTS.insert(|o| {
        o.count.store(count, Ordering::Relaxed);
        o.destroy.store(destroy as usize, Ordering::Relaxed);
        o.argument.store(argument as usize, Ordering::Relaxed);
    });
    // SAFETY: not null; the caller's pointer.
    unsafe { put(out, handle_of(object.ok_or(OUT_OF_MEMORY)?).cast()) }
}

fn user_object(handle: CUuserObject, count: c_uint) -> Res<&'static UserObject> {
    driver()?;
    if count == 0 {
        return Err(INVALID_VALUE);
    }
    USER_OBJECTS.get(raw(handle)).ok_or(INVALID_HANDLE)
}

pub(crate) unsafe fn cuUserObjectRetain(object: CUuserObject, count: c_uint) -> Res {
    user_object(object, count)?.count.fetch_add(count, Ordering::AcqRel);
    Ok(())
}

pub(crate) unsafe fn cuUserObjectRelease(handle: CUuserObject, count: c_uint) -> Res {
    let object = user_object(handle, count)?;
    if object.count.fetch_sub(count, Ordering::AcqRel) > count {
        return Ok(());
    }
    let Some(object) = USER_OBJECTS.remove(raw(handle)) else { return Ok(()) };
    let (destroy, argument) = (object.destroy.load(Ordering::Relaxed), object.argument.load(Ordering::Relaxed));
    USER_OBJECTS.recycle(object);
    // SAFETY: the address of such a function, stored by `cuUserObjectCreate`.
    let destroy = unsafe { std::mem::transmute::<usize, unsafe extern "C" fn(*mut c_void)>(destroy) };
    // SAFETY: the application gave this function and its argument for exactly this call.
    unsafe { destroy(argument as *mut c_void) };
    Ok(())
}

pub(crate) unsafe fn cuGraphRetainUserObject(
    graph: CUgraph,
    object: CUuserObject,
    count: c_uint,
    flags: c_uint,
) -> Res {
    driver()?;
    graph::find(raw(graph))?;
    // Flag 1 moves the caller's references to the graph.
    if flags == 1 {
        return user_object(object, count).map(|_| ());
    }
    // SAFETY: the same object.
    unsafe { cuUserObjectRetain(object, count) }
}

pub(crate) unsafe fn cuGraphReleaseUserObject(graph: CUgraph, object: CUuserObject, count: c_uint) -> Res {
    driver()?;
    graph::find(raw(graph))?;
    // SAFETY: the same object.
    unsafe { cuUserObjectRelease(object, count) }
}

/// A linker: what was added is kept, and the first piece is given back as the result, since any image can be loaded.
#[derive(Debug, Default)]
struct Linker {
    pieces: Mutex<Vec<Box<[u8]>>>,
}

static LINKERS: Slots<Linker> = Slots::new(1 << 10);

pub(crate) unsafe fn cuLinkCreate(
    _count: c_uint,
    _names: *mut CUjit_option,
    _values: *mut *mut c_void,
    out: *mut CUlinkState,
) -> Res {
    driver()?;
    if out.is_null() {
        return Err(INVALID_VALUE);
    }
    let linker = LINKERS.insert(|l| lock(&l.pieces).clear()).ok_or(OUT_OF_MEMORY)?;
    // SAFETY: not null; the caller's pointer.
    unsafe { put(out, handle_of(linker).cast()) }
}

pub(crate) unsafe fn cuLinkCreate_v2(
    count: c_uint,
    names: *mut CUjit_option,
    values: *mut *mut c_void,
    out: *mut CUlinkState,
) -> Res {
    // SAFETY: the same function.
    unsafe { cuLinkCreate(count, names, values, out) }
}

fn linker(state: CUlinkState) -> Res<&'static Linker> {
    driver()?;
    LINKERS.get(raw(state)).ok_or(INVALID_HANDLE)
}

#[allow(clippy::too_many_arguments, reason = "the API's signature")]
pub(crate) unsafe fn cuLinkAddData(
    state: CUlinkState,
    _kind: CUjitInputType,
    data: *mut c_void,
    bytes: usize,
    _name: *const c_char,
    _count: c_uint,
    _names: *mut CUjit_option,
    _values: *mut *mut c_void,
) -> Res {
    let linker = linker(state)?;
    // SAFETY: the caller's buffer.
    let data = unsafe { list(data.cast::<u8>(), bytes) }?;
    let mut piece = data.to_vec();
    piece.extend_from_slice(&[0; 64]);
    lock(&linker.pieces).push(piece.into_boxed_slice());
    Ok(())
}

#[allow(clippy::too_many_arguments, reason = "the API's signature")]
pub(crate) unsafe fn cuLinkAddData_v2(
    state: CUlinkState,
    kind: CUjitInputType,
    data: *mut c_void,
    bytes: usize,
    name: *const c_char,
    count: c_uint,
    names: *mut CUjit_option,
    values: *mut *mut c_void,
) -> Res {
    // SAFETY: the same function.
    unsafe { cuLinkAddData(state, kind, data, bytes, name, count, names, values) }
}

pub(crate) unsafe fn cuLinkAddFile(
    state: CUlinkState,
    _kind: CUjitInputType,
    path: *const c_char,
    _count: c_uint,
    _names: *mut CUjit_option,
    _values: *mut *mut c_void,
) -> Res {
    let linker = linker(state)?;
    // SAFETY: the caller's string.
    let path = unsafe { text(path) }?;
    let mut piece = std::fs::read(&*path).map_err(|_| crate::error::FILE_NOT_FOUND)?;
    piece.extend_from_slice(&[0; 64]);
    lock(&linker.pieces).push(piece.into_boxed_slice());
    Ok(())
}

pub(crate) unsafe fn cuLinkAddFile_v2(
    state: CUlinkState,
    kind: CUjitInputType,
    path: *const c_char,
    count: c_uint,
    names: *mut CUjit_option,
    values: *mut *mut c_void,
) -> Res {
    // SAFETY: the same function.
    unsafe { cuLinkAddFile(state, kind, path, count, names, values) }
}

pub(crate) unsafe fn cuLinkComplete(state: CUlinkState, image: *mut *mut c_void, bytes: *mut usize) -> Res {
    let linker = linker(state)?;
    let pieces = lock(&linker.pieces);
    let first = pieces.first().ok_or(INVALID_VALUE)?;
    // SAFETY: the caller's pointer, as the API demands. The piece lives until the linker goes.
    unsafe { put(image, first.as_ptr().cast_mut().cast()) }?;
    // SAFETY: the caller's pointer, or null.
    unsafe { put_if(bytes, first.len().saturating_sub(64)) };
    Ok(())
}

pub(crate) unsafe fn cuLinkDestroy(state: CUlinkState) -> Res {
    driver()?;
    let linker = LINKERS.remove(raw(state)).ok_or(INVALID_HANDLE)?;
    lock(&linker.pieces).clear();
    LINKERS.recycle(linker);
    Ok(())
}
