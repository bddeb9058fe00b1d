//! Functions: attributes, parameters, names, occupancy.

use std::ffi::{c_char, c_int, c_uint};
use std::sync::atomic::Ordering;

use crate::attributes::{
    BLOCKS_PER_MULTIPROCESSOR, CAPABILITY, MAX_THREADS_PER_BLOCK, MULTIPROCESSORS, SHARED_PER_BLOCK_OPT_IN,
    SHARED_PER_MULTIPROCESSOR, THREADS_PER_MULTIPROCESSOR,
};
use crate::context::device;
use crate::error::{INVALID_VALUE, Res, put, put_if};
use crate::module::{Function, find_function};
use crate::state::driver;
use crate::types::{
    CUdevice, CUfunc_cache, CUfunction, CUfunction_attribute, CUfunctionLoadingState, CUkernel, CUlaunchConfig,
    CUoccupancyB2DSize, CUsharedconfig, raw,
};

const REGISTERS: c_int = 32;
const ATTRIBUTES: CUfunction_attribute = 16;
const MAX_DYNAMIC_SHARED: CUfunction_attribute = 8;
const CARVEOUT: CUfunction_attribute = 9;

fn attribute(function: &Function, attribute: CUfunction_attribute) -> Res<c_int> {
    let capability = CAPABILITY.0 * 10 + CAPABILITY.1;
    Ok(match attribute {
        0 => c_int::try_from(MAX_THREADS_PER_BLOCK).unwrap_or(c_int::MAX),
        4 => REGISTERS,
        5 | 6 => capability,
        MAX_DYNAMIC_SHARED => function.max_dynamic_shared.load(Ordering::Relaxed),
        CARVEOUT => function.carveout.load(Ordering::Relaxed),
        _ if attribute < ATTRIBUTES => 0,
        _ => return Err(INVALID_VALUE),
    })
}

fn set_attribute(function: &Function, attribute: CUfunction_attribute, value: c_int) -> Res {
    match attribute {
        MAX_DYNAMIC_SHARED if (0..=SHARED_PER_BLOCK_OPT_IN).contains(&value) => {
            function.max_dynamic_shared.store(value, Ordering::Relaxed);
        }
        CARVEOUT if (-1..=100).contains(&value) => function.carveout.store(value, Ordering::Relaxed),
        // Cluster sizes and the like: taken, of no effect.
        10..=15 => {}
        _ => return Err(INVALID_VALUE),
    }
    Ok(())
}

pub(crate) unsafe fn cuFuncGetAttribute(out: *mut c_int, which: CUfunction_attribute, function: CUfunction) -> Res {
    driver()?;
    let value = attribute(find_function(raw(function))?, which)?;
    // SAFETY: the caller's pointer, as the API demands.
    unsafe { put(out, value) }
}

pub(crate) unsafe fn cuFuncSetAttribute(function: CUfunction, which: CUfunction_attribute, value: c_int) -> Res {
    driver()?;
    set_attribute(find_function(raw(function))?, which, value)
}

pub(crate) unsafe fn cuKernelGetAttribute(
    out: *mut c_int,
    which: CUfunction_attribute,
    kernel: CUkernel,
    dev: CUdevice,
) -> Res {
    device(driver()?, dev)?;
    let value = attribute(find_function(raw(kernel))?, which)?;
    // SAFETY: the caller's pointer, as the API demands.
    unsafe { put(out, value) }
}

pub(crate) unsafe fn cuKernelSetAttribute(
    which: CUfunction_attribute,
    value: c_int,
    kernel: CUkernel,
    dev: CUdevice,
) -> Res {
    device(driver()?, dev)?;
    set_attribute(find_function(raw(kernel))?, which, value)
}

fn set_cache_config(function: *const (), config: CUfunc_cache) -> Res {
    driver()?;
    find_function(function)?;
    if config > 3 { Err(INVALID_VALUE) } else { Ok(()) }
}

pub(crate) unsafe fn cuFuncSetCacheConfig(function: CUfunction, config: CUfunc_cache) -> Res {
    set_cache_config(raw(function), config)
}

pub(crate) unsafe fn cuKernelSetCacheConfig(kernel: CUkernel, config: CUfunc_cache, dev: CUdevice) -> Res {
    device(driver()?, dev)?;
    set_cache_config(raw(kernel), config)
}

pub(crate) unsafe fn cuFuncSetSharedMemConfig(function: CUfunction, config: CUsharedconfig) -> Res {
    driver()?;
    find_function(raw(function))?;
    if config > 2 { Err(INVALID_VALUE) } else { Ok(()) }
}

unsafe fn name(out: *mut *const c_char, function: *const ()) -> Res {
    driver()?;
    let name = find_function(function)?.name();
    // SAFETY: the caller's pointer, as the API demands.
    unsafe { put(out, name.as_ptr()) }
}

pub(crate) unsafe fn cuFuncGetName(out: *mut *const c_char, function: CUfunction) -> Res {
    // SAFETY: the caller's pointer.
    unsafe { name(out, raw(function)) }
}

pub(crate) unsafe fn cuKernelGetName(out: *mut *const c_char, kernel: CUkernel) -> Res {
    // SAFETY: the caller's pointer.
    unsafe { name(out, raw(kernel)) }
}

unsafe fn parameter(function: *const (), index: usize, offset: *mut usize, size: *mut usize) -> Res {
    driver()?;
    let parameters = find_function(function)?.parameters().unwrap_or_default();
    let parameter = parameters.get(index).ok_or(INVALID_VALUE)?;
    // SAFETY: the caller's pointer, as the API demands.
    unsafe { put(offset, parameter.offset) }?;
    // SAFETY: the caller's pointer, or null.
    unsafe { put_if(size, parameter.size) };
    Ok(())
}

pub(crate) unsafe fn cuFuncGetParamInfo(
    function: CUfunction,
    index: usize,
    offset: *mut usize,
    size: *mut usize,
) -> Res {
    // SAFETY: the caller's pointers.
    unsafe { parameter(raw(function), index, offset, size) }
}

pub(crate) unsafe fn cuKernelGetParamInfo(kernel: CUkernel, index: usize, offset: *mut usize, size: *mut usize) -> Res {
    // SAFETY: the caller's pointers.
    unsafe { parameter(raw(kernel), index, offset, size) }
}

unsafe fn parameter_count(function: *const (), out: *mut usize) -> Res {
    driver()?;
    let count = find_function(function)?.parameters().unwrap_or_default().len();
    // SAFETY: the caller's pointer, as the API demands.
    unsafe { put(out, count) }
}

pub(crate) unsafe fn cuFuncGetParamCount(function: CUfunction, out: *mut usize) -> Res {
    // SAFETY: the caller's pointer.
    unsafe { parameter_count(raw(function), out) }
}

pub(crate) unsafe fn cuKernelGetParamCount(kernel: CUkernel, out: *mut usize) -> Res {
    // SAFETY: the caller's pointer.
    unsafe { parameter_count(raw(kernel), out) }
}

pub(crate) unsafe fn cuFuncIsLoaded(out: *mut CUfunctionLoadingState, function: CUfunction) -> Res {
    driver()?;
    find_function(raw(function))?;
    // SAFETY: the caller's pointer, as the API demands. Loaded.
    unsafe { put(out, 1) }
}

pub(crate) unsafe fn cuFuncLoad(function: CUfunction) -> Res {
    driver()?;
    find_function(raw(function))?.link_id().map(|_| ())
}

/// As [`resident_blocks`], in the API's types.
fn blocks(function: &Function, threads: c_int, shared: usize) -> Res<c_int> {
    let threads =
        u32::try_from(threads).ok().filter(|t| (1..=MAX_THREADS_PER_BLOCK).contains(t)).ok_or(INVALID_VALUE)?;
    c_int::try_from(resident_blocks(function, threads, shared)).map_err(|_| INVALID_VALUE)
}

/// Blocks of `threads` threads and `shared` bytes that fit on a multiprocessor at a time; never 0 for what can run at all.
pub(super) fn resident_blocks(function: &Function, threads: u32, shared: usize) -> u32 {
    let room = usize::try_from(function.max_dynamic_shared.load(Ordering::Relaxed)).unwrap_or(0);
    if shared > room {
        return 0;
    }
    let by_threads = THREADS_PER_MULTIPROCESSOR / threads.next_multiple_of(32);
    let by_shared = usize::try_from(SHARED_PER_MULTIPROCESSOR).unwrap_or(0).checked_div(shared);
    let by_shared = by_shared.and_then(|n| u32::try_from(n).ok()).unwrap_or(u32::MAX);
    by_threads.min(by_shared).clamp(1, BLOCKS_PER_MULTIPROCESSOR)
}

pub(crate) unsafe fn cuOccupancyMaxActiveBlocksPerMultiprocessor(
    out: *mut c_int,
    function: CUfunction,
    threads: c_int,
    shared: usize,
) -> Res {
    driver()?;
    let count = blocks(find_function(raw(function))?, threads, shared)?;
    // SAFETY: the caller's pointer, as the API demands.
    unsafe { put(out, count) }
}

pub(crate) unsafe fn cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    out: *mut c_int,
    function: CUfunction,
    threads: c_int,
    shared: usize,
    _flags: c_uint,
) -> Res {
    // SAFETY: the same function; the flag concerns caches.
    unsafe { cuOccupancyMaxActiveBlocksPerMultiprocessor(out, function, threads, shared) }
}

pub(crate) unsafe fn cuOccupancyMaxPotentialBlockSize(
    grid: *mut c_int,
    block: *mut c_int,
    function: CUfunction,
    _shared_of: CUoccupancyB2DSize,
    shared: usize,
    limit: c_int,
) -> Res {
    driver()?;
    let most = c_int::try_from(MAX_THREADS_PER_BLOCK).unwrap_or(c_int::MAX);
    let threads = if limit > 0 { limit.min(most) } else { most };
    let resident = blocks(find_function(raw(function))?, threads, shared)?;
    // SAFETY: the caller's pointer, as the API demands.
    unsafe { put(grid, resident * MULTIPROCESSORS) }?;
    // SAFETY: the caller's pointer, as the API demands.
    unsafe { put(block, threads) }
}

pub(crate) unsafe fn cuOccupancyMaxPotentialBlockSizeWithFlags(
    grid: *mut c_int,
    block: *mut c_int,
    function: CUfunction,
    shared_of: CUoccupancyB2DSize,
    shared: usize,
    limit: c_int,
    _flags: c_uint,
) -> Res {
    // SAFETY: the same function; the flag concerns caches.
    unsafe { cuOccupancyMaxPotentialBlockSize(grid, block, function, shared_of, shared, limit) }
}

pub(crate) unsafe fn cuOccupancyAvailableDynamicSMemPerBlock(
    out: *mut usize,
    function: CUfunction,
    count: c_int,
    threads: c_int,
) -> Res {
    driver()?;
    let function = find_function(raw(function))?;
    let count = usize::try_from(count).ok().filter(|n| *n > 0 && threads > 0).ok_or(INVALID_VALUE)?;
    let share = usize::try_from(SHARED_PER_MULTIPROCESSOR).unwrap_or(0) / count;
    let most = usize::try_from(function.max_dynamic_shared.load(Ordering::Relaxed)).unwrap_or(0);
    // SAFETY: the caller's pointer, as the API demands.
    unsafe { put(out, share.min(most)) }
}

pub(crate) unsafe fn cuOccupancyMaxPotentialClusterSize(
    out: *mut c_int,
    function: CUfunction,
    _config: *const CUlaunchConfig,
) -> Res {
    driver()?;
    find_function(raw(function))?;
    // SAFETY: the caller's pointer, as the API demands. No clusters in this architecture.
    unsafe { put(out, 1) }
}
