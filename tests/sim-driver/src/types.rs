//! The driver API's types and handles, as this driver meets them.

use std::ffi::CStr;

pub(crate) use mgpu_cuda::types::*;

use crate::error::{INVALID_VALUE, Res};

/// A handle as the address that the slots know.
pub(crate) fn raw<T>(handle: *mut T) -> *const () {
    handle.cast_const().cast()
}

/// A string argument.
///
/// # Safety
/// `text` is null or a NUL-terminated string that outlives the use of the result.
///
/// # Errors
/// [`INVALID_VALUE`] for null.
pub(crate) unsafe fn text<'a>(text: *const c_char) -> Res<std::borrow::Cow<'a, str>> {
    if text.is_null() {
        return Err(INVALID_VALUE);
    }
    // SAFETY: not null, and the caller promises the rest.
    Ok(unsafe { CStr::from_ptr(text) }.to_string_lossy())
}

/// An array argument.
///
/// # Safety
/// `first` is null or valid for reads of `count` values that outlive the use of the result.
///
/// # Errors
/// [`INVALID_VALUE`] for null with a count.
pub(crate) unsafe fn list<'a, T>(first: *const T, count: usize) -> Res<&'a [T]> {
    if count == 0 {
        return Ok(&[]);
    }
    if first.is_null() {
        return Err(INVALID_VALUE);
    }
    // SAFETY: not null, and the caller promises the rest.
    Ok(unsafe { std::slice::from_raw_parts(first, count) })
}

/// A structure argument.
///
/// # Safety
/// `at` is null or valid for reads while the result is used.
///
/// # Errors
/// [`INVALID_VALUE`] for null.
pub(crate) unsafe fn one<'a, T>(at: *const T) -> Res<&'a T> {
    // SAFETY: as promised by the caller.
    unsafe { at.as_ref() }.ok_or(INVALID_VALUE)
}
