//! Stream-ordered allocation and memory pools.

use std::ffi::{c_int, c_uint, c_void};
use std::sync::atomic::Ordering;

use crate::context::{self, device};
use crate::error::{INVALID_VALUE, NOT_SUPPORTED, Res, put};
use crate::pool::{self, Pool, find};
use crate::slots::handle_of;
use crate::state::driver;
use crate::stream::{self, Zero};
use crate::types::{
    CUdevice, CUdeviceptr, CUmemAccess_flags, CUmemAccessDesc, CUmemAllocationType, CUmemLocation, CUmemPool_attribute,
    CUmemPoolProps, CUmemoryPool, CUstream, list, one, raw,
};

const LOCATION_DEVICE: c_uint = 1;

pub(crate) unsafe fn cuMemAllocAsync(zero: Zero, out: *mut CUdeviceptr, bytes: usize, on: CUstream) -> Res {
    context::current()?;
    let stream = stream::resolve(raw(on), zero)?;
    if out.is_null() {
        return Err(INVALID_VALUE);
    }
    let pool = pool::current_of(stream.context()?.ordinal.load(Ordering::Relaxed))?;
    // SAFETY: not null; the caller's pointer.
    unsafe { put(out, pool::allocate(pool, stream, bytes)? as CUdeviceptr) }
}

pub(crate) unsafe fn cuMemAllocFromPoolAsync(
    zero: Zero,
    out: *mut CUdeviceptr,
    bytes: usize,
    from: CUmemoryPool,
    on: CUstream,
) -> Res {
    context::current()?;
    let stream = stream::resolve(raw(on), zero)?;
    let pool = find(raw(from))?;
    if out.is_null() {
        return Err(INVALID_VALUE);
    }
    // SAFETY: not null; the caller's pointer.
    unsafe { put(out, pool::allocate(pool, stream, bytes)? as CUdeviceptr) }
}

pub(crate) unsafe fn cuMemFreeAsync(zero: Zero, address: CUdeviceptr, on: CUstream) -> Res {
    context::current()?;
    let stream = stream::resolve(raw(on), zero)?;
    if address == 0 {
        return Err(INVALID_VALUE);
    }
    pool::free(stream, usize::try_from(address).map_err(|_| INVALID_VALUE)?)
}

unsafe fn give(out: *mut CUmemoryPool, pool: &'static Pool) -> Res {
    // SAFETY: the caller's pointer, as the API demands.
    unsafe { put(out, handle_of(pool).cast()) }
}

pub(crate) unsafe fn cuDeviceGetDefaultMemPool(out: *mut CUmemoryPool, dev: CUdevice) -> Res {
    device(driver()?, dev)?;
    // SAFETY: the caller's pointer.
    unsafe { give(out, pool::default_of(dev)?) }
}

pub(crate) unsafe fn cuDeviceGetMemPool(out: *mut CUmemoryPool, dev: CUdevice) -> Res {
    device(driver()?, dev)?;
    // SAFETY: the caller's pointer.
    unsafe { give(out, pool::current_of(dev)?) }
}

pub(crate) unsafe fn cuDeviceSetMemPool(dev: CUdevice, pool: CUmemoryPool) -> Res {
    device(driver()?, dev)?;
    pool::set_current(dev, find(raw(pool))?)
}

/// The ordinal of a device location; other places have no pools here.
unsafe fn place(location: *const CUmemLocation) -> Res<c_int> {
    driver()?;
    // SAFETY: null or the caller's structure.
    let location = unsafe { one(location) }?;
    if location.type_ == LOCATION_DEVICE { Ok(location.id) } else { Err(NOT_SUPPORTED) }
}

pub(crate) unsafe fn cuMemGetDefaultMemPool(
    out: *mut CUmemoryPool,
    location: *mut CUmemLocation,
    _kind: CUmemAllocationType,
) -> Res {
    // SAFETY: the caller's structure.
    let ordinal = unsafe { place(location) }?;
    // SAFETY: the caller's pointer.
    unsafe { give(out, pool::default_of(ordinal)?) }
}

pub(crate) unsafe fn cuMemGetMemPool(
    out: *mut CUmemoryPool,
    location: *mut CUmemLocation,
    _kind: CUmemAllocationType,
) -> Res {
    // SAFETY: the caller's structure.
    let ordinal = unsafe { place(location) }?;
    // SAFETY: the caller's pointer.
    unsafe { give(out, pool::current_of(ordinal)?) }
}

pub(crate) unsafe fn cuMemSetMemPool(
    location: *mut CUmemLocation,
    _kind: CUmemAllocationType,
    pool: CUmemoryPool,
) -> Res {
    // SAFETY: the caller's structure.
    pool::set_current(unsafe { place(location) }?, find(raw(pool))?)
}

pub(crate) unsafe fn cuMemPoolCreate(out: *mut CUmemoryPool, properties: *const CUmemPoolProps) -> Res {
    driver()?;
    // SAFETY: null or the caller's structure.
    let properties = unsafe { one(properties) }?;
    if out.is_null() || properties.allocType != 1 {
        return Err(INVALID_VALUE);
    }
    if properties.location.type_ != LOCATION_DEVICE || properties.handleTypes & !1 != 0 {
        return Err(NOT_SUPPORTED);
    }
    // SAFETY: not null; the caller's pointer.
    unsafe { give(out, pool::create(properties.location.id, false)?) }
}

pub(crate) unsafe fn cuMemPoolDestroy(pool: CUmemoryPool) -> Res {
    driver()?;
    pool::destroy(raw(pool))
}

pub(crate) unsafe fn cuMemPoolTrimTo(pool: CUmemoryPool, keep: usize) -> Res {
    let driver = driver()?;
    Ok(driver.session.pool_trim(find(raw(pool))?.link_id(), keep as u64)?)
}

const RELEASE_THRESHOLD: CUmemPool_attribute = 4;
const RESERVED: CUmemPool_attribute = 5;
const RESERVED_HIGH: CUmemPool_attribute = 6;
const USED: CUmemPool_attribute = 7;
const USED_HIGH: CUmemPool_attribute = 8;

pub(crate) unsafe fn cuMemPoolGetAttribute(pool: CUmemoryPool, which: CUmemPool_attribute, out: *mut c_void) -> Res {
    driver()?;
    let pool = find(raw(pool))?;
    if let 1..=3 = which {
        let value = pool.switches[which as usize - 1].load(Ordering::Relaxed);
        // SAFETY: the caller's place for an `int`.
        return unsafe { put(out.cast::<c_int>(), value) };
    }
    let value = match which {
        RELEASE_THRESHOLD => pool.threshold.load(Ordering::Relaxed),
        RESERVED => pool.stats()?.reserved,
        RESERVED_HIGH => high(pool, 0, pool.stats()?.reserved_high, pool.stats()?.reserved),
        USED => pool.stats()?.used,
        USED_HIGH => high(pool, 1, pool.stats()?.used_high, pool.stats()?.used),
        _ => return Err(INVALID_VALUE),
    };
    // SAFETY: the caller's place for a 64-bit number.
    unsafe { put(out.cast::<u64>(), value) }
}

/// The highest number since the last reset, as far as it can be told: a reset remembers the peak of then.
fn high(pool: &Pool, which: usize, peak: u64, now: u64) -> u64 {
    let floor = pool.floor[which].load(Ordering::Relaxed);
    if peak > floor { peak } else { now }
}

pub(crate) unsafe fn cuMemPoolSetAttribute(pool: CUmemoryPool, which: CUmemPool_attribute, value: *mut c_void) -> Res {
    let driver = driver()?;
    let pool = find(raw(pool))?;
    if let 1..=3 = which {
        // SAFETY: null or the caller's `int`.
        let value = *unsafe { one(value.cast::<c_int>()) }?;
        pool.switches[which as usize - 1].store(value, Ordering::Relaxed);
        return Ok(());
    }
    // SAFETY: null or the caller's 64-bit number.
    let value = *unsafe { one(value.cast::<u64>()) }?;
    match which {
        RELEASE_THRESHOLD => {
            driver.session.pool_threshold(pool.link_id(), value)?;
            pool.threshold.store(value, Ordering::Relaxed);
        }
        // Only zero may be written: a reset.
        RESERVED_HIGH if value == 0 => pool.floor[0].store(pool.stats()?.reserved_high, Ordering::Relaxed),
        USED_HIGH if value == 0 => pool.floor[1].store(pool.stats()?.used_high, Ordering::Relaxed),
        _ => return Err(INVALID_VALUE),
    }
    Ok(())
}

pub(crate) unsafe fn cuMemPoolSetAccess(pool: CUmemoryPool, map: *const CUmemAccessDesc, count: usize) -> Res {
    let driver = driver()?;
    find(raw(pool))?;
    // SAFETY: the caller's array.
    for entry in unsafe { list(map, count) }? {
        device(driver, entry.location.id)?;
    }
    Ok(())
}

pub(crate) unsafe fn cuMemPoolGetAccess(
    out: *mut CUmemAccess_flags,
    pool: CUmemoryPool,
    location: *mut CUmemLocation,
) -> Res {
    // SAFETY: the caller's structure.
    device(driver()?, unsafe { place(location) }?)?;
    find(raw(pool))?;
    // SAFETY: the caller's pointer, as the API demands. Read and write.
    unsafe { put(out, 3) }
}
