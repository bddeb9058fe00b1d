//! Virtual memory management: addresses here, physical memory there, mappings between them.
//!
//! Physical memory is a memfd, so that two mappings of one handle show the same bytes and contents survive an unmapping. It is
//! charged from `cuMemCreate` until the last reference and the last mapping are gone.

use std::collections::BTreeMap;
use std::ffi::{c_int, c_ulonglong, c_void};
use std::sync::Mutex;

use mgpu_sim_link::AllocId;

use crate::context::device;
use crate::error::{INVALID_VALUE, NOT_SUPPORTED, OUT_OF_MEMORY, Res, put};
use crate::mapping;
use crate::memory::{self, Kind, Range};
use crate::state::{driver, next_id};
use crate::sync::lock;
use crate::types::{
    CUdeviceptr, CUmemAccessDesc, CUmemAllocationGranularity_flags, CUmemAllocationHandleType, CUmemAllocationProp,
    CUmemGenericAllocationHandle, CUmemLocation, list, one,
};

struct Physical {
    bytes: usize,
    ordinal: i32,
    file: c_int,
    /// `None` for what another process paid.
    charge: Option<AllocId>,
    references: usize,
    mappings: usize,
    handle_types: CUmemAllocationHandleType,
}

#[derive(Default)]
struct State {
    physical: BTreeMap<u64, Physical>,
    reserved: BTreeMap<usize, usize>,
    mapped: BTreeMap<usize, (usize, u64)>,
}

static STATE: Mutex<State> =
    Mutex::new(State { physical: BTreeMap::new(), reserved: BTreeMap::new(), mapped: BTreeMap::new() });

const LOCATION_DEVICE: u32 = 1;
const POSIX: CUmemAllocationHandleType = 1;

fn address(value: CUdeviceptr) -> Res<usize> {
    usize::try_from(value).map_err(|_| INVALID_VALUE)
}

fn granularity(ordinal: i32) -> Res<usize> {
    usize::try_from(device(driver()?, ordinal)?.granularity).map_err(|_| INVALID_VALUE)
}

pub(crate) unsafe fn cuMemGetAllocationGranularity(
    out: *mut usize,
    properties: *const CUmemAllocationProp,
    option: CUmemAllocationGranularity_flags,
) -> Res {
    driver()?;
    // SAFETY: null or the caller's structure.
    let properties = unsafe { one(properties) }?;
    if option > 1 || properties.type_ != 1 {
        return Err(INVALID_VALUE);
    }
    let granularity = match properties.location.type_ {
        LOCATION_DEVICE => granularity(properties.location.id)?,
        _ => mapping::BLOCK,
    };
    // SAFETY: the caller's pointer, as the API demands.
    unsafe { put(out, granularity) }
}

pub(crate) unsafe fn cuMemCreate(
    out: *mut CUmemGenericAllocationHandle,
    bytes: usize,
    properties: *const CUmemAllocationProp,
    flags: c_ulonglong,
) -> Res {
    let driver = driver()?;
    // SAFETY: null or the caller's structure.
    let properties = unsafe { one(properties) }?;
    let location = &properties.location;
    if location.type_ != LOCATION_DEVICE {
        return Err(NOT_SUPPORTED);
    }
    let step = granularity(location.id)?;
    if out.is_null() || flags != 0 || bytes == 0 || !bytes.is_multiple_of(step) || properties.type_ != 1 {
        return Err(INVALID_VALUE);
    }
    if properties.requestedHandleTypes & !POSIX != 0 {
        return Err(NOT_SUPPORTED);
    }
    let file = memory_file(bytes)?;
    let charge = match driver.session.alloc_physical(device(driver, location.id)?.index, bytes as u64) {
        Ok(charge) => charge,
        Err(error) => {
            close(file);
            return Err(error.into());
        }
    };
    let physical = Physical {
        bytes,
        ordinal: location.id,
        file,
        charge: Some(charge),
        references: 1,
        mappings: 0,
        handle_types: properties.requestedHandleTypes,
    };
    let handle = next_id();
    lock(&STATE).physical.insert(handle, physical);
    // SAFETY: not null; the caller's pointer.
    unsafe { put(out, handle) }
}

fn memory_file(bytes: usize) -> Res<c_int> {
    // SAFETY: a NUL-terminated name.
    let file = unsafe { libc::memfd_create(c"mgpu-sim-memory".as_ptr(), libc::MFD_CLOEXEC) };
    let length = libc::off_t::try_from(bytes).map_err(|_| OUT_OF_MEMORY)?;
    // SAFETY: our own file; a bad one only gives an error.
    if file < 0 || unsafe { libc::ftruncate(file, length) } != 0 {
        close(file);
        return Err(OUT_OF_MEMORY);
    }
    Ok(file)
}

fn close(file: c_int) {
    if file >= 0 {
        // SAFETY: a descriptor of ours that is closed once.
        unsafe { libc::close(file) };
    }
}

/// Lets the memory go when nothing refers to it any more.
fn settle(state: &mut State, handle: u64) -> Res {
    let gone = state.physical.get(&handle).is_some_and(|p| p.references == 0 && p.mappings == 0);
    if gone && let Some(physical) = state.physical.remove(&handle) {
        close(physical.file);
        if let Some(charge) = physical.charge {
            driver()?.session.free(charge)?;
        }
    }
    Ok(())
}

pub(crate) unsafe fn cuMemRelease(handle: CUmemGenericAllocationHandle) -> Res {
    driver()?;
    let mut state = lock(&STATE);
    let physical = state.physical.get_mut(&handle).filter(|p| p.references > 0).ok_or(INVALID_VALUE)?;
    physical.references -= 1;
    settle(&mut state, handle)
}

pub(crate) unsafe fn cuMemRetainAllocationHandle(out: *mut CUmemGenericAllocationHandle, at: *mut c_void) -> Res {
    driver()?;
    let mut state = lock(&STATE);
    let (start, (bytes, handle)) =
        state.mapped.range(..=at as usize).next_back().map(|(s, m)| (*s, *m)).ok_or(INVALID_VALUE)?;
    if at as usize >= start + bytes || out.is_null() {
        return Err(INVALID_VALUE);
    }
    state.physical.get_mut(&handle).ok_or(INVALID_VALUE)?.references += 1;
    // SAFETY: not null; the caller's pointer.
    unsafe { put(out, handle) }
}

pub(crate) unsafe fn cuMemAddressReserve(
    out: *mut CUdeviceptr,
    bytes: usize,
    alignment: usize,
    _wish: CUdeviceptr,
    flags: c_ulonglong,
) -> Res {
    driver()?;
    let aligned = alignment == 0 || (alignment.is_power_of_two() && alignment <= 1 << 30);
    if out.is_null() || bytes == 0 || !bytes.is_multiple_of(mapping::BLOCK) || flags != 0 || !aligned {
        return Err(INVALID_VALUE);
    }
    let start = mapping::reserve_addresses(bytes, alignment).ok_or(OUT_OF_MEMORY)? as usize;
    lock(&STATE).reserved.insert(start, bytes);
    // SAFETY: not null; the caller's pointer.
    unsafe { put(out, start as CUdeviceptr) }
}

pub(crate) unsafe fn cuMemAddressFree(at: CUdeviceptr, bytes: usize) -> Res {
    driver()?;
    let start = address(at)?;
    let mut state = lock(&STATE);
    let busy = state.mapped.range(start..start.saturating_add(bytes)).next().is_some();
    if busy || state.reserved.get(&start) != Some(&bytes) {
        return Err(INVALID_VALUE);
    }
    state.reserved.remove(&start);
    mapping::release(start, bytes);
    Ok(())
}

/// Whether a range lies in one reservation.
fn is_reserved(state: &State, start: usize, bytes: usize) -> bool {
    let around = state.reserved.range(..=start).next_back();
    around.is_some_and(|(s, length)| start.checked_add(bytes).is_some_and(|end| end <= s + length))
}

pub(crate) unsafe fn cuMemMap(
    at: CUdeviceptr,
    bytes: usize,
    offset: usize,
    handle: CUmemGenericAllocationHandle,
    flags: c_ulonglong,
) -> Res {
    driver()?;
    let start = address(at)?;
    let mut state = lock(&STATE);
    let before = state.mapped.range(..start.saturating_add(bytes)).next_back();
    let taken = before.is_some_and(|(s, (length, _))| s + length > start);
    if bytes == 0 || offset != 0 || flags != 0 || taken || !is_reserved(&state, start, bytes) {
        return Err(INVALID_VALUE);
    }
    let physical = state.physical.get_mut(&handle).filter(|p| p.references > 0).ok_or(INVALID_VALUE)?;
    if bytes > physical.bytes {
        return Err(INVALID_VALUE);
    }
    if !mapping::map_file(start, bytes, physical.file) {
        return Err(OUT_OF_MEMORY);
    }
    physical.mappings += 1;
    let ordinal = physical.ordinal;
    state.mapped.insert(start, (bytes, handle));
    drop(state);
    memory::insert(Range {
        start,
        bytes,
        kind: Kind::Mapped,
        context: 0,
        context_id: 0,
        ordinal,
        charge: None,
        span: 0,
        buffer_id: next_id(),
        flags: 0,
    });
    Ok(())
}

pub(crate) unsafe fn cuMemUnmap(at: CUdeviceptr, bytes: usize) -> Res {
    driver()?;
    let start = address(at)?;
    let end = start.checked_add(bytes).ok_or(INVALID_VALUE)?;
    let mut state = lock(&STATE);
    let inside: Vec<(usize, usize, u64)> = state.mapped.range(start..end).map(|(s, (b, h))| (*s, *b, *h)).collect();
    let covered: usize = inside.iter().map(|(_, b, _)| b).sum();
    if inside.is_empty() || covered != bytes {
        return Err(INVALID_VALUE);
    }
    for (start, bytes, handle) in inside {
        state.mapped.remove(&start);
        memory::remove(start);
        mapping::unmap_file(start, bytes);
        if let Some(physical) = state.physical.get_mut(&handle) {
            physical.mappings -= 1;
        }
        settle(&mut state, handle)?;
    }
    Ok(())
}

pub(crate) unsafe fn cuMemSetAccess(
    at: CUdeviceptr,
    bytes: usize,
    access: *const CUmemAccessDesc,
    count: usize,
) -> Res {
    let driver = driver()?;
    let start = address(at)?;
    // SAFETY: the caller's array.
    let access = unsafe { list(access, count) }?;
    let mapped = lock(&STATE).mapped.range(..=start).next_back().is_some_and(|(s, (b, _))| start < s + b);
    if !mapped || bytes == 0 || access.is_empty() {
        return Err(INVALID_VALUE);
    }
    for entry in access {
        if entry.location.type_ == LOCATION_DEVICE {
            device(driver, entry.location.id)?;
        }
        // None, read, read and write: the server writes whatever the mapping's rights are.
        if !matches!(entry.flags, 0 | 1 | 3) {
            return Err(INVALID_VALUE);
        }
    }
    mapping::protect(start, bytes, access.iter().any(|a| a.flags != 0));
    Ok(())
}

pub(crate) unsafe fn cuMemGetAccess(out: *mut c_ulonglong, location: *const CUmemLocation, at: CUdeviceptr) -> Res {
    driver()?;
    // SAFETY: null or the caller's structure.
    unsafe { one(location) }?;
    memory::check(at, 0)?;
    // SAFETY: the caller's pointer, as the API demands. Read and write.
    unsafe { put(out, 3) }
}

pub(crate) unsafe fn cuMemGetAllocationPropertiesFromHandle(
    out: *mut CUmemAllocationProp,
    handle: CUmemGenericAllocationHandle,
) -> Res {
    driver()?;
    let state = lock(&STATE);
    let physical = state.physical.get(&handle).ok_or(INVALID_VALUE)?;
    // SAFETY: a C structure of plain numbers and one pointer; zeros are valid.
    let mut properties: CUmemAllocationProp = unsafe { std::mem::zeroed() };
    properties.type_ = 1;
    properties.requestedHandleTypes = physical.handle_types;
    properties.location.type_ = LOCATION_DEVICE;
    properties.location.id = physical.ordinal;
    // SAFETY: the caller's pointer, as the API demands.
    unsafe { put(out, properties) }
}

pub(crate) unsafe fn cuMemExportToShareableHandle(
    out: *mut c_void,
    handle: CUmemGenericAllocationHandle,
    kind: CUmemAllocationHandleType,
    _flags: c_ulonglong,
) -> Res {
    driver()?;
    let state = lock(&STATE);
    let physical = state.physical.get(&handle).ok_or(INVALID_VALUE)?;
    if kind != POSIX || physical.handle_types & POSIX == 0 {
        return Err(NOT_SUPPORTED);
    }
    // SAFETY: duplicates a descriptor of ours for the caller to own.
    let copy = unsafe { libc::fcntl(physical.file, libc::F_DUPFD_CLOEXEC, 0) };
    if copy < 0 {
        return Err(OUT_OF_MEMORY);
    }
    // SAFETY: the caller's place for a descriptor.
    unsafe { put(out.cast::<c_int>(), copy) }
}

/// The exporter has paid, so an import is not charged.
pub(crate) unsafe fn cuMemImportFromShareableHandle(
    out: *mut CUmemGenericAllocationHandle,
    shared: *mut c_void,
    kind: CUmemAllocationHandleType,
) -> Res {
    driver()?;
    if out.is_null() || kind != POSIX {
        return Err(INVALID_VALUE);
    }
    let file = c_int::try_from(shared as isize).map_err(|_| INVALID_VALUE)?;
    // SAFETY: asks for the size of whatever the caller named; a bad descriptor only gives an error.
    let length = unsafe { libc::lseek(file, 0, libc::SEEK_END) };
    let bytes = usize::try_from(length).ok().filter(|b| *b > 0).ok_or(INVALID_VALUE)?;
    // SAFETY: duplicates the caller's descriptor.
    let copy = unsafe { libc::fcntl(file, libc::F_DUPFD_CLOEXEC, 0) };
    let physical =
        Physical { bytes, ordinal: 0, file: copy, charge: None, references: 1, mappings: 0, handle_types: POSIX };
    let handle = next_id();
    lock(&STATE).physical.insert(handle, physical);
    // SAFETY: not null; the caller's pointer.
    unsafe { put(out, handle) }
}
