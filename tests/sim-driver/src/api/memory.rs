//! Plain, pitched, managed and page-locked memory.

use std::ffi::{c_int, c_uint, c_void};

use mgpu_sim_link::{burn, now_ns};

use crate::capture;
use crate::context;
use crate::error::{
    HOST_MEMORY_ALREADY_REGISTERED, HOST_MEMORY_NOT_REGISTERED, INVALID_VALUE, NOT_SUPPORTED, OUT_OF_MEMORY, Res, put,
    put_if,
};
use crate::memory::{self, Kind, Range};
use crate::state::{Driver, driver};
use crate::types::{CUdevice, CUdeviceptr, CUmem_advise, CUmemLocation};

/// Rows of pitched memory start at multiples of this.
const PITCH: usize = 512;
const PAGE: usize = 4096;

/// Runs an allocation or free, and burns what such a call costs.
fn charged<T>(cost: impl FnOnce(&'static Driver) -> u64, act: impl FnOnce() -> Res<T>) -> Res<T> {
    let driver = driver()?;
    let cost = cost(driver);
    if cost == 0 {
        return act();
    }
    let start = now_ns();
    let result = act();
    burn(start, cost);
    result
}

pub(crate) unsafe fn cuMemGetInfo(free: *mut c_uint, total: *mut c_uint) -> Res {
    let info = info()?;
    // SAFETY: the caller's pointer, or null.
    unsafe { put_if(free, c_uint::try_from(info.free).unwrap_or(c_uint::MAX)) };
    // SAFETY: the caller's pointer, or null.
    unsafe { put_if(total, c_uint::try_from(info.total).unwrap_or(c_uint::MAX)) };
    Ok(())
}

pub(crate) unsafe fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize) -> Res {
    let info = info()?;
    // SAFETY: the caller's pointer, or null.
    unsafe { put_if(free, usize::try_from(info.free).unwrap_or(usize::MAX)) };
    // SAFETY: the caller's pointer, or null.
    unsafe { put_if(total, usize::try_from(info.total).unwrap_or(usize::MAX)) };
    Ok(())
}

fn info() -> Res<mgpu_sim_link::MemoryInfo> {
    let driver = driver()?;
    let device = context::current()?.device(driver)?;
    Ok(driver.session.memory_info(device.index)?)
}

pub(crate) unsafe fn cuMemAlloc_v2(out: *mut CUdeviceptr, bytes: usize) -> Res {
    let context = context::current()?;
    capture::check_allowed()?;
    context.check_fault(driver()?)?;
    if out.is_null() {
        return Err(INVALID_VALUE);
    }
    let start = charged(|d| d.costs.alloc_ns, || memory::allocate(context, bytes))?;
    // SAFETY: the caller's pointer, as the API demands.
    unsafe { put(out, start as CUdeviceptr) }
}

pub(crate) unsafe fn cuMemAllocPitch_v2(
    out: *mut CUdeviceptr,
    pitch: *mut usize,
    width: usize,
    height: usize,
    element: c_uint,
) -> Res {
    context::current()?;
    if out.is_null() || pitch.is_null() || width == 0 || height == 0 || !matches!(element, 4 | 8 | 16) {
        return Err(INVALID_VALUE);
    }
    let row = width.checked_next_multiple_of(PITCH).ok_or(OUT_OF_MEMORY)?;
    let bytes = row.checked_mul(height).ok_or(OUT_OF_MEMORY)?;
    // SAFETY: the same function.
    unsafe { cuMemAlloc_v2(out, bytes) }?;
    // SAFETY: the caller's pointer, as the API demands.
    unsafe { put(pitch, row) }
}

pub(crate) unsafe fn cuMemAllocManaged(out: *mut CUdeviceptr, bytes: usize, flags: c_uint) -> Res {
    let context = context::current()?;
    capture::check_allowed()?;
    if out.is_null() || !matches!(flags, 1 | 2) {
        return Err(INVALID_VALUE);
    }
    let start = charged(|d| d.costs.alloc_ns, || memory::allocate_managed(context, bytes))?;
    // SAFETY: the caller's pointer, as the API demands.
    unsafe { put(out, start as CUdeviceptr) }
}

pub(crate) unsafe fn cuMemFree_v2(address: CUdeviceptr) -> Res {
    driver()?;
    if address == 0 {
        return Ok(());
    }
    // The address says which context it belongs to; none need be current (Numba frees so at its end).
    capture::check_allowed()?;
    let start = usize::try_from(address).map_err(|_| INVALID_VALUE)?;
    charged(|d| d.costs.free_ns, || memory::free(start))
}

pub(crate) unsafe fn cuMemGetAddressRange_v2(base: *mut CUdeviceptr, bytes: *mut usize, address: CUdeviceptr) -> Res {
    context::current()?;
    let range = memory::check(address, 0)?;
    // SAFETY: the caller's pointer, or null.
    unsafe { put_if(base, range.start as CUdeviceptr) };
    // SAFETY: the caller's pointer, or null.
    unsafe { put_if(bytes, range.bytes) };
    Ok(())
}

unsafe fn host_alloc(out: *mut *mut c_void, bytes: usize, flags: c_uint) -> Res {
    let context = context::current()?;
    capture::check_allowed()?;
    if out.is_null() || bytes == 0 || flags & !0x7 != 0 {
        return Err(INVALID_VALUE);
    }
    let length = bytes.checked_next_multiple_of(PAGE).ok_or(OUT_OF_MEMORY)?;
    let mut address = std::ptr::null_mut();
    // SAFETY: a valid out-pointer, and a power of two.
    if unsafe { libc::posix_memalign(&raw mut address, PAGE, length) } != 0 {
        return Err(OUT_OF_MEMORY);
    }
    memory::insert(Range { flags, ..Range::new(address as usize, bytes, Kind::Host, context) });
    // SAFETY: the caller's pointer, as the API demands.
    unsafe { put(out, address) }
}

pub(crate) unsafe fn cuMemHostAlloc(out: *mut *mut c_void, bytes: usize, flags: c_uint) -> Res {
    // SAFETY: the caller's pointer.
    unsafe { host_alloc(out, bytes, flags) }
}

pub(crate) unsafe fn cuMemAllocHost(out: *mut *mut c_void, bytes: c_uint) -> Res {
    // SAFETY: the caller's pointer.
    unsafe { host_alloc(out, bytes as usize, 0) }
}

pub(crate) unsafe fn cuMemAllocHost_v2(out: *mut *mut c_void, bytes: usize) -> Res {
    // SAFETY: the caller's pointer.
    unsafe { host_alloc(out, bytes, 0) }
}

pub(crate) unsafe fn cuMemFreeHost(address: *mut c_void) -> Res {
    driver()?;
    if address.is_null() {
        return Ok(());
    }
    let range = memory::find(address as usize).filter(|r| r.start == address as usize && r.kind == Kind::Host);
    let range = range.ok_or(INVALID_VALUE)?;
    if let Ok(context) = context::find(range.context as *const ()) {
        // Queued copies may still use it. A dead context uses nothing any more.
        let _ = crate::stream::wait_context(context);
    }
    memory::remove(range.start).ok_or(INVALID_VALUE)?;
    // SAFETY: made by `posix_memalign` in `host_alloc`, and only one caller took the range out.
    unsafe { libc::free(address) };
    Ok(())
}

unsafe fn host_register(address: *mut c_void, bytes: usize, flags: c_uint) -> Res {
    let context = context::current()?;
    if address.is_null() || bytes == 0 || flags & !0xf != 0 {
        return Err(INVALID_VALUE);
    }
    let last = (address as usize).checked_add(bytes - 1).ok_or(INVALID_VALUE)?;
    if memory::find(address as usize).is_some() || memory::find(last).is_some() {
        return Err(HOST_MEMORY_ALREADY_REGISTERED);
    }
    memory::insert(Range { flags, ..Range::new(address as usize, bytes, Kind::Registered, context) });
    Ok(())
}

pub(crate) unsafe fn cuMemHostRegister(address: *mut c_void, bytes: usize, flags: c_uint) -> Res {
    // SAFETY: the caller's range.
    unsafe { host_register(address, bytes, flags) }
}

pub(crate) unsafe fn cuMemHostRegister_v2(address: *mut c_void, bytes: usize, flags: c_uint) -> Res {
    // SAFETY: the caller's range.
    unsafe { host_register(address, bytes, flags) }
}

pub(crate) unsafe fn cuMemHostUnregister(address: *mut c_void) -> Res {
    driver()?;
    if address.is_null() {
        return Err(INVALID_VALUE);
    }
    let start = address as usize;
    let known = memory::find(start).is_some_and(|r| r.start == start && r.kind == Kind::Registered);
    if !known {
        return Err(HOST_MEMORY_NOT_REGISTERED);
    }
    memory::remove(start).map(|_| ()).ok_or(HOST_MEMORY_NOT_REGISTERED)
}

fn host_range(address: *mut c_void) -> Res<Range> {
    memory::find(address as usize).filter(|r| r.is_host() || r.kind == Kind::Managed).ok_or(INVALID_VALUE)
}

pub(crate) unsafe fn cuMemHostGetDevicePointer_v2(out: *mut CUdeviceptr, address: *mut c_void, flags: c_uint) -> Res {
    context::current()?;
    if flags != 0 {
        return Err(INVALID_VALUE);
    }
    host_range(address)?;
    // SAFETY: the caller's pointer, as the API demands. One address space: the device uses the host's address.
    unsafe { put(out, address as CUdeviceptr) }
}

pub(crate) unsafe fn cuMemHostGetFlags(out: *mut c_uint, address: *mut c_void) -> Res {
    driver()?;
    let range = host_range(address)?;
    // SAFETY: the caller's pointer, as the API demands.
    unsafe { put(out, range.flags) }
}

fn advise(address: CUdeviceptr, bytes: usize, advice: CUmem_advise) -> Res {
    driver()?;
    if !(1..=6).contains(&advice) {
        return Err(INVALID_VALUE);
    }
    let range = memory::check(address, bytes)?;
    if range.kind == Kind::Managed { Ok(()) } else { Err(INVALID_VALUE) }
}

pub(crate) unsafe fn cuMemAdvise(address: CUdeviceptr, bytes: usize, advice: CUmem_advise, _dev: CUdevice) -> Res {
    advise(address, bytes, advice)
}

pub(crate) unsafe fn cuMemAdvise_v2(
    address: CUdeviceptr,
    bytes: usize,
    advice: CUmem_advise,
    _location: CUmemLocation,
) -> Res {
    advise(address, bytes, advice)
}

pub(crate) unsafe fn cuMemGetHandleForAddressRange(
    out: *mut c_void,
    address: CUdeviceptr,
    bytes: usize,
    _kind: c_uint,
    _flags: std::ffi::c_ulonglong,
) -> Res {
    memory::check(address, bytes)?;
    if out.is_null() { Err(INVALID_VALUE) } else { Err(NOT_SUPPORTED) }
}

/// `CU_DEVICE_CPU` and the like have no ordinal of their own.
pub(crate) const NO_ORDINAL: c_int = -2;
