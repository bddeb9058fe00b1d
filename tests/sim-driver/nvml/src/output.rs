//! Writing to where a caller's pointers say. All pointer handling of the library is here.

use crate::abi::Return;
use std::ffi::{CStr, c_char};

/// Stores `value` through `to`.
///
/// # Safety
/// `to` is null or valid for a write of a `T`.
pub(crate) unsafe fn put<T>(to: *mut T, value: T) -> Return {
    if to.is_null() {
        return Return::INVALID_ARGUMENT;
    }
    // SAFETY: not null, so valid by this function's own contract.
    unsafe { to.write_unaligned(value) };
    Return::SUCCESS
}

/// Loads through `from`; `None` for null.
///
/// # Safety
/// `from` is null or valid for a read of a `T`, which every bit pattern is.
pub(crate) unsafe fn get<T: Copy>(from: *const T) -> Option<T> {
    // SAFETY: not null, so valid by this function's own contract.
    (!from.is_null()).then(|| unsafe { from.read_unaligned() })
}

/// Stores `text` and its end in a buffer of `length` bytes.
///
/// # Safety
/// `to` is null or valid for writes of `length` bytes.
pub(crate) unsafe fn put_text(to: *mut c_char, length: u32, text: &str) -> Return {
    if to.is_null() {
        return Return::INVALID_ARGUMENT;
    }
    if length as usize <= text.len() {
        return Return::INSUFFICIENT_SIZE;
    }
    // SAFETY: room for the text and its end was checked just above.
    unsafe { std::ptr::copy_nonoverlapping(text.as_ptr(), to.cast(), text.len()) };
    // SAFETY: as above.
    let end = unsafe { to.add(text.len()) };
    // SAFETY: as above.
    unsafe { end.write(0) };
    Return::SUCCESS
}

/// The caller's string; `None` for null or what is not UTF-8.
///
/// # Safety
/// `from` is null or a C string.
pub(crate) unsafe fn text<'a>(from: *const c_char) -> Option<&'a str> {
    if from.is_null() {
        return None;
    }
    // SAFETY: not null, so a C string by this function's own contract.
    unsafe { CStr::from_ptr(from) }.to_str().ok()
}

/// NVML's count-then-fill: stores `items`, or only their number when `capacity` is too small.
///
/// # Safety
/// `count` is null or valid for a read and a write; `to` is null or valid for writes of `*count` items.
pub(crate) unsafe fn put_list<T: Copy>(count: *mut u32, to: *mut T, items: &[T]) -> Return {
    // SAFETY: as promised by the caller.
    let Some(capacity) = (unsafe { get(count) }) else { return Return::INVALID_ARGUMENT };
    let there = u32::try_from(items.len()).unwrap_or(u32::MAX);
    // SAFETY: as promised by the caller.
    unsafe { put(count, there) };
    if there > capacity {
        return Return::INSUFFICIENT_SIZE;
    }
    if there > 0 && to.is_null() {
        return Return::INVALID_ARGUMENT;
    }
    for (index, item) in items.iter().enumerate() {
        // SAFETY: `index` is below the capacity.
        let place = unsafe { to.add(index) };
        // SAFETY: as above.
        unsafe { place.write_unaligned(*item) };
    }
    Return::SUCCESS
}
