//! Start-up and errors. (`cuGetProcAddress` is in `resolve`.)

use std::ffi::{CString, c_char, c_int, c_uint, c_void};
use std::ptr;
use std::sync::OnceLock;

use mgpu_cuda::{CUresult, RESULTS};

use crate::error::{Fail, INVALID_VALUE, NOT_FOUND, Res, put};
use crate::state;
use crate::types::CUuuid;

pub(crate) unsafe fn cuInit(flags: c_uint) -> Res {
    if flags != 0 {
        return Err(INVALID_VALUE);
    }
    state::start()
}

pub(crate) unsafe fn cuDriverGetVersion(version: *mut c_int) -> Res {
    // SAFETY: the caller's pointer, as the API demands.
    unsafe { put(version, state::VERSION) }
}

pub(crate) unsafe fn cuGetErrorName(error: CUresult, text: *mut *const c_char) -> Res {
    // SAFETY: the caller's pointer, as the API demands.
    unsafe { answer(error, text, |t| &t.0) }
}

pub(crate) unsafe fn cuGetErrorString(error: CUresult, text: *mut *const c_char) -> Res {
    // SAFETY: the caller's pointer, as the API demands.
    unsafe { answer(error, text, |t| &t.1) }
}

/// Name and meaning of each code, NUL-terminated.
static TEXTS: OnceLock<Vec<(CString, CString)>> = OnceLock::new();

unsafe fn answer(error: CUresult, out: *mut *const c_char, pick: fn(&(CString, CString)) -> &CString) -> Res {
    let texts = TEXTS.get_or_init(|| {
        let c_string = |s: &str| CString::new(s).unwrap_or_default();
        RESULTS.iter().map(|(_, name, meaning)| (c_string(name), c_string(meaning))).collect()
    });
    let index = RESULTS.binary_search_by_key(&error, |(code, _, _)| *code).ok();
    let found = index.and_then(|i| texts.get(i)).map(|t| pick(t).as_ptr());
    // SAFETY: the caller's pointer, as the API demands.
    unsafe { put(out, found.unwrap_or(ptr::null())) }?;
    found.map(|_| ()).ok_or(INVALID_VALUE)
}

type ExportTable = unsafe extern "C" fn(*mut *const c_void, *const CUuuid) -> CUresult;

/// Undocumented tables are not part of this project: NOT_FOUND, unless `MGPU_SIM_EXPORT_TABLES` names a library whose
/// `cuGetExportTable` answers instead.
pub(crate) unsafe fn cuGetExportTable(table: *mut *const c_void, id: *const CUuuid) -> Res {
    if table.is_null() || id.is_null() {
        return Err(INVALID_VALUE);
    }
    let Some(forward) = plugged_in() else { return Err(NOT_FOUND) };
    // SAFETY: the plug-in promises the API's own signature; the pointers are the caller's.
    match unsafe { forward(table, id) } {
        CUresult(0) => Ok(()),
        CUresult(code) => Err(Fail(code)),
    }
}

fn plugged_in() -> Option<ExportTable> {
    static FOUND: OnceLock<Option<ExportTable>> = OnceLock::new();
    *FOUND.get_or_init(|| {
        let path = std::env::var("MGPU_SIM_EXPORT_TABLES").ok()?;
        let path = CString::new(path).ok()?;
        // SAFETY: a NUL-terminated path; loading runs that library's constructors, which its user asked for.
        let library = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        if library.is_null() {
            return None;
        }
        // SAFETY: a live handle and a NUL-terminated name.
        let symbol = unsafe { libc::dlsym(library, c"cuGetExportTable".as_ptr()) };
        // SAFETY: a function of this name has this type by the driver API.
        (!symbol.is_null()).then(|| unsafe { std::mem::transmute::<*mut c_void, ExportTable>(symbol) })
    })
}
