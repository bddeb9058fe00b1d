//! Modules and libraries: loading images, and finding what is in them.

use std::ffi::{CStr, c_char, c_uint, c_void};
use std::os::unix::ffi::OsStrExt;
use std::sync::atomic::Ordering;

use crate::context;
use crate::error::{FILE_NOT_FOUND, INVALID_VALUE, NOT_FOUND, Res, put, put_if};
use crate::image;
use crate::module::{self, Module};
use crate::slots::handle_of;
use crate::state::driver;
use crate::types::{
    CUdeviceptr, CUfunction, CUjit_option, CUkernel, CUlibrary, CUlibraryOption, CUmodule, CUmoduleLoadingMode,
    CUsurfref, CUtexref, raw, text,
};

/// Loads an image in memory: into the current context, or as a library into none.
unsafe fn load(image: *const c_void, library: bool) -> Res<*mut ()> {
    let context = if library { None } else { Some(context::current()?) };
    driver()?;
    if image.is_null() {
        return Err(INVALID_VALUE);
    }
    // SAFETY: the caller promises a whole image, as the API demands.
    let image = unsafe { image::scan(image) };
    Ok(handle_of(module::load(image, context)?))
}

unsafe fn load_file(path: *const c_char, library: bool) -> Res<*mut ()> {
    driver()?;
    if path.is_null() {
        return Err(INVALID_VALUE);
    }
    // SAFETY: the caller's string.
    let path = std::ffi::OsStr::from_bytes(unsafe { CStr::from_ptr(path) }.to_bytes());
    let mut bytes = std::fs::read(path).map_err(|_| FILE_NOT_FOUND)?;
    // Text needs its end, and a header that is cut short must not be read past the file.
    bytes.extend_from_slice(&[0; 64]);
    // SAFETY: the whole file, followed by zeros.
    unsafe { load(bytes.as_ptr().cast(), library) }
}

pub(crate) unsafe fn cuModuleLoad(out: *mut CUmodule, path: *const c_char) -> Res {
    context::current()?;
    // SAFETY: the caller's string.
    let module = unsafe { load_file(path, false) }?;
    // SAFETY: the caller's pointer, as the API demands.
    unsafe { put(out, module.cast()) }
}

pub(crate) unsafe fn cuModuleLoadData(out: *mut CUmodule, image: *const c_void) -> Res {
    // SAFETY: the caller's image.
    let module = unsafe { load(image, false) }?;
    // SAFETY: the caller's pointer, as the API demands.
    unsafe { put(out, module.cast()) }
}

pub(crate) unsafe fn cuModuleLoadDataEx(
    out: *mut CUmodule,
    image: *const c_void,
    _options: c_uint,
    _names: *mut CUjit_option,
    _values: *mut *mut c_void,
) -> Res {
    // SAFETY: the same function; what the options ask for does not exist here.
    unsafe { cuModuleLoadData(out, image) }
}

pub(crate) unsafe fn cuModuleLoadFatBinary(out: *mut CUmodule, image: *const c_void) -> Res {
    // SAFETY: the same function.
    unsafe { cuModuleLoadData(out, image) }
}

pub(crate) unsafe fn cuModuleUnload(module: CUmodule) -> Res {
    driver()?;
    if module::find(raw(module))?.is_library.load(Ordering::Relaxed) != 0 {
        // The module form of a library lives as long as the library.
        return Ok(());
    }
    module::unload(raw(module))
}

pub(crate) unsafe fn cuModuleGetLoadingMode(mode: *mut CUmoduleLoadingMode) -> Res {
    // SAFETY: the caller's pointer, as the API demands. Lazy.
    unsafe { put(mode, 2) }
}

unsafe fn get_function(module: *const (), name: *const c_char) -> Res<*mut ()> {
    driver()?;
    let module = module::find(module)?;
    // SAFETY: the caller's string.
    let name = unsafe { text(name) }?;
    Ok(handle_of(module.function(&name)?))
}

pub(crate) unsafe fn cuModuleGetFunction(out: *mut CUfunction, module: CUmodule, name: *const c_char) -> Res {
    // SAFETY: the caller's string.
    let function = unsafe { get_function(raw(module), name) }?;
    // SAFETY: the caller's pointer, as the API demands.
    unsafe { put(out, function.cast()) }
}

/// Texture and surface references left the language before this driver's version: no image that it takes has any.
unsafe fn get_reference(module: CUmodule, name: *const c_char) -> Res {
    module::find(raw(module))?;
    // SAFETY: the caller's string.
    unsafe { text(name) }?;
    Err(NOT_FOUND)
}

pub(crate) unsafe fn cuModuleGetTexRef(_out: *mut CUtexref, module: CUmodule, name: *const c_char) -> Res {
    // SAFETY: the caller's string.
    unsafe { get_reference(module, name) }
}

pub(crate) unsafe fn cuModuleGetSurfRef(_out: *mut CUsurfref, module: CUmodule, name: *const c_char) -> Res {
    // SAFETY: the caller's string.
    unsafe { get_reference(module, name) }
}

unsafe fn count(out: *mut c_uint, module: *const ()) -> Res {
    driver()?;
    let names = module::find(module)?.names().len();
    // SAFETY: the caller's pointer, as the API demands.
    unsafe { put(out, c_uint::try_from(names).unwrap_or(c_uint::MAX)) }
}

unsafe fn enumerate<T>(out: *mut *mut T, room: c_uint, module: *const ()) -> Res {
    driver()?;
    let module = module::find(module)?;
    for (i, name) in module.names().iter().take(room as usize).enumerate() {
        // SAFETY: the caller's array of `room` handles.
        unsafe { put(out.wrapping_add(i), handle_of(module.function(name)?).cast()) }?;
    }
    Ok(())
}

pub(crate) unsafe fn cuModuleGetFunctionCount(out: *mut c_uint, module: CUmodule) -> Res {
    // SAFETY: the caller's pointer.
    unsafe { count(out, raw(module)) }
}

pub(crate) unsafe fn cuModuleEnumerateFunctions(out: *mut CUfunction, room: c_uint, module: CUmodule) -> Res {
    // SAFETY: the caller's array.
    unsafe { enumerate(out, room, raw(module)) }
}

unsafe fn get_global(address: *mut CUdeviceptr, bytes: *mut usize, module: *const (), name: *const c_char) -> Res {
    let context = context::current()?;
    let module = module::find(module)?;
    // SAFETY: the caller's string.
    let (start, size) = module.global(&unsafe { text(name) }?, context)?;
    // SAFETY: the caller's pointer, or null.
    unsafe { put_if(address, start as CUdeviceptr) };
    // SAFETY: the caller's pointer, or null.
    unsafe { put_if(bytes, size) };
    Ok(())
}

pub(crate) unsafe fn cuModuleGetGlobal_v2(
    address: *mut CUdeviceptr,
    bytes: *mut usize,
    module: CUmodule,
    name: *const c_char,
) -> Res {
    // SAFETY: the caller's pointers.
    unsafe { get_global(address, bytes, raw(module), name) }
}

pub(crate) unsafe fn cuLibraryGetGlobal(
    address: *mut CUdeviceptr,
    bytes: *mut usize,
    library: CUlibrary,
    name: *const c_char,
) -> Res {
    // SAFETY: the caller's pointers.
    unsafe { get_global(address, bytes, raw(library), name) }
}

pub(crate) unsafe fn cuLibraryGetManaged(
    _address: *mut CUdeviceptr,
    _bytes: *mut usize,
    library: CUlibrary,
    _name: *const c_char,
) -> Res {
    driver()?;
    module::find(raw(library))?;
    Err(NOT_FOUND)
}

#[allow(clippy::too_many_arguments, reason = "the API's signature")]
pub(crate) unsafe fn cuLibraryLoadData(
    out: *mut CUlibrary,
    code: *const c_void,
    _jit_names: *mut CUjit_option,
    _jit_values: *mut *mut c_void,
    _jit_count: c_uint,
    _names: *mut CUlibraryOption,
    _values: *mut *mut c_void,
    _count: c_uint,
) -> Res {
    // SAFETY: the caller's image.
    let library = unsafe { load(code, true) }?;
    // SAFETY: the caller's pointer, as the API demands.
    unsafe { put(out, library.cast()) }
}

#[allow(clippy::too_many_arguments, reason = "the API's signature")]
pub(crate) unsafe fn cuLibraryLoadFromFile(
    out: *mut CUlibrary,
    path: *const c_char,
    _jit_names: *mut CUjit_option,
    _jit_values: *mut *mut c_void,
    _jit_count: c_uint,
    _names: *mut CUlibraryOption,
    _values: *mut *mut c_void,
    _count: c_uint,
) -> Res {
    // SAFETY: the caller's string.
    let library = unsafe { load_file(path, true) }?;
    // SAFETY: the caller's pointer, as the API demands.
    unsafe { put(out, library.cast()) }
}

pub(crate) unsafe fn cuLibraryUnload(library: CUlibrary) -> Res {
    driver()?;
    module::unload(raw(library))
}

pub(crate) unsafe fn cuLibraryGetKernel(out: *mut CUkernel, library: CUlibrary, name: *const c_char) -> Res {
    // SAFETY: the caller's string.
    let kernel = unsafe { get_function(raw(library), name) }?;
    // SAFETY: the caller's pointer, as the API demands.
    unsafe { put(out, kernel.cast()) }
}

pub(crate) unsafe fn cuLibraryGetKernelCount(out: *mut c_uint, library: CUlibrary) -> Res {
    // SAFETY: the caller's pointer.
    unsafe { count(out, raw(library)) }
}

pub(crate) unsafe fn cuLibraryEnumerateKernels(out: *mut CUkernel, room: c_uint, library: CUlibrary) -> Res {
    // SAFETY: the caller's array.
    unsafe { enumerate(out, room, raw(library)) }
}

pub(crate) unsafe fn cuLibraryGetModule(out: *mut CUmodule, library: CUlibrary) -> Res {
    context::current()?;
    let library: &'static Module = module::find(raw(library))?;
    // SAFETY: the caller's pointer, as the API demands.
    unsafe { put(out, handle_of(library).cast()) }
}

pub(crate) unsafe fn cuKernelGetFunction(out: *mut CUfunction, kernel: CUkernel) -> Res {
    context::current()?;
    module::find_function(raw(kernel))?;
    // SAFETY: the caller's pointer, as the API demands.
    unsafe { put(out, kernel.cast()) }
}

pub(crate) unsafe fn cuKernelGetLibrary(out: *mut CUlibrary, kernel: CUkernel) -> Res {
    driver()?;
    let library = module::find_function(raw(kernel))?.module()?;
    // SAFETY: the caller's pointer, as the API demands.
    unsafe { put(out, handle_of(library).cast()) }
}

pub(crate) unsafe fn cuFuncGetModule(out: *mut CUmodule, function: CUfunction) -> Res {
    driver()?;
    let module = module::find_function(raw(function))?.module()?;
    // SAFETY: the caller's pointer, as the API demands.
    unsafe { put(out, handle_of(module).cast()) }
}
