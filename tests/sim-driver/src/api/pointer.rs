//! Questions about an address: which kind of memory, whose, how much.

use std::ffi::{c_int, c_uint, c_void};

use crate::api::memory::NO_ORDINAL;
use crate::error::{INVALID_VALUE, NOT_SUPPORTED, Res};
use crate::memory::{self, Kind, Range};
use crate::state::driver;
use crate::types::{CUdeviceptr, CUpointer_attribute, list};

const HOST: c_uint = 1;
const DEVICE: c_uint = 2;

/// Writes one attribute; for an unknown address zeros (ordinal -2), as the plural call gives them.
unsafe fn write(range: Option<&Range>, attribute: CUpointer_attribute, data: *mut c_void, address: CUdeviceptr) -> Res {
    if data.is_null() {
        return Err(INVALID_VALUE);
    }
    let word = |value: u64| {
        // SAFETY: the caller's place for an attribute of eight bytes.
        unsafe { data.cast::<u64>().write_unaligned(value) }
    };
    let half = |value: c_uint| {
        // SAFETY: the caller's place for an attribute of four bytes.
        unsafe { data.cast::<c_uint>().write_unaligned(value) }
    };
    // The manual says "boolean"; clients pass a place of 32 bits, and some don't clear it first.
    let flag = |value: bool| half(c_uint::from(value));
    let known = range.is_some();
    match attribute {
        1 => word(range.map_or(0, |r| r.context as u64)),
        2 => half(range.map_or(0, |r| if r.is_host() { HOST } else { DEVICE })),
        3 => word(if known { address } else { 0 }),
        4 => word(if range.is_some_and(|r| r.is_host() || r.kind == Kind::Managed) { address } else { 0 }),
        6 => flag(false),
        7 => word(range.map_or(0, |r| r.buffer_id)),
        8 => flag(range.is_some_and(|r| r.kind == Kind::Managed)),
        9 => {
            let ordinal: c_int = range.map_or(NO_ORDINAL, |r| r.ordinal);
            // SAFETY: the caller's place for an `int`.
            unsafe { data.cast::<c_int>().write_unaligned(ordinal) }
        }
        10 => flag(range.is_some_and(|r| matches!(r.kind, Kind::Small | Kind::Device))),
        11 => word(range.map_or(0, |r| r.start as u64)),
        12 => word(range.map_or(0, |r| r.bytes as u64)),
        13 => flag(known),
        14 => word(0),
        15 => flag(false),
        16 => half(if known { 3 } else { 0 }),
        17 => word(range.map_or(0, |r| if let Kind::Pool(pool) = r.kind { pool as u64 } else { 0 })),
        18 => word(range.map_or(0, |r| r.start as u64)),
        19 => word(range.map_or(0, |r| r.span.max(r.bytes) as u64)),
        20 => word(range.map_or(0, |r| r.buffer_id)),
        21 => half(0),
        5 => return Err(NOT_SUPPORTED),
        _ => return Err(INVALID_VALUE),
    }
    Ok(())
}

fn range(address: CUdeviceptr) -> Option<Range> {
    usize::try_from(address).ok().and_then(memory::find)
}

pub(crate) unsafe fn cuPointerGetAttribute(
    data: *mut c_void,
    attribute: CUpointer_attribute,
    address: CUdeviceptr,
) -> Res {
    driver()?;
    let range = range(address).ok_or(INVALID_VALUE)?;
    // SAFETY: the caller's place for this attribute.
    unsafe { write(Some(&range), attribute, data, address) }
}

pub(crate) unsafe fn cuPointerGetAttributes(
    count: c_uint,
    attributes: *mut CUpointer_attribute,
    data: *mut *mut c_void,
    address: CUdeviceptr,
) -> Res {
    driver()?;
    // SAFETY: the caller's arrays of `count` values.
    let attributes = unsafe { list(attributes, count as usize) }?;
    // SAFETY: the caller's arrays of `count` values.
    let places = unsafe { list(data, count as usize) }?;
    let range = range(address);
    for (attribute, place) in attributes.iter().zip(places) {
        // SAFETY: the caller's place for this attribute.
        unsafe { write(range.as_ref(), *attribute, *place, address) }?;
    }
    Ok(())
}

pub(crate) unsafe fn cuPointerSetAttribute(
    value: *const c_void,
    attribute: CUpointer_attribute,
    address: CUdeviceptr,
) -> Res {
    driver()?;
    range(address).ok_or(INVALID_VALUE)?;
    if value.is_null() || attribute != 6 {
        return Err(INVALID_VALUE);
    }
    Ok(())
}
