//! Contexts: creation, the thread's stack, limits and settings.

use std::ffi::{c_int, c_uint, c_ulonglong};
use std::sync::atomic::Ordering;

use crate::api::primary;
use crate::capture;
use crate::context::{self, Context, LIMITS};
use crate::error::{INVALID_CONTEXT, INVALID_VALUE, NOT_SUPPORTED, Res, put, put_if};
use crate::state::driver;
use crate::stream;
use crate::types::{
    CUcontext, CUctxCreateParams, CUdevice, CUexecAffinityParam, CUexecAffinityType, CUfunc_cache, CUlimit,
    CUsharedconfig, raw,
};

unsafe fn create(out: *mut CUcontext, flags: c_uint, dev: CUdevice) -> Res {
    context::device(driver()?, dev)?;
    if out.is_null() || flags & !0xff != 0 {
        return Err(INVALID_VALUE);
    }
    let context = context::create(dev, flags, false)?;
    context::push(context)?;
    // SAFETY: the caller's pointer, as the API demands.
    unsafe { put(out, context::handle(context).cast()) }
}

pub(crate) unsafe fn cuCtxCreate(out: *mut CUcontext, flags: c_uint, dev: CUdevice) -> Res {
    // SAFETY: the same function.
    unsafe { create(out, flags, dev) }
}

pub(crate) unsafe fn cuCtxCreate_v2(out: *mut CUcontext, flags: c_uint, dev: CUdevice) -> Res {
    // SAFETY: the same function.
    unsafe { create(out, flags, dev) }
}

pub(crate) unsafe fn cuCtxCreate_v3(
    out: *mut CUcontext,
    _affinity: *mut CUexecAffinityParam,
    parameters: c_int,
    flags: c_uint,
    dev: CUdevice,
) -> Res {
    if parameters != 0 {
        driver()?;
        return Err(NOT_SUPPORTED);
    }
    // SAFETY: the same function.
    unsafe { create(out, flags, dev) }
}

pub(crate) unsafe fn cuCtxCreate_v4(
    out: *mut CUcontext,
    parameters: *mut CUctxCreateParams,
    flags: c_uint,
    dev: CUdevice,
) -> Res {
    // SAFETY: null or the caller's structure.
    if let Some(parameters) = unsafe { parameters.as_ref() }
        && (parameters.numExecAffinityParams != 0 || !parameters.cigParams.is_null())
    {
        driver()?;
        return Err(NOT_SUPPORTED);
    }
    // SAFETY: the same function.
    unsafe { create(out, flags, dev) }
}

pub(crate) unsafe fn cuCtxDestroy(ctx: CUcontext) -> Res {
    driver()?;
    context::find(raw(ctx))?;
    if primary::is_primary(raw(ctx)) {
        return Err(INVALID_CONTEXT);
    }
    context::pop_if_current(raw(ctx));
    context::destroy(raw(ctx))
}

pub(crate) unsafe fn cuCtxDestroy_v2(ctx: CUcontext) -> Res {
    // SAFETY: the same function.
    unsafe { cuCtxDestroy(ctx) }
}

pub(crate) unsafe fn cuCtxAttach(out: *mut CUcontext, flags: c_uint) -> Res {
    let context = context::current()?;
    if flags != 0 {
        return Err(INVALID_VALUE);
    }
    // SAFETY: the caller's pointer, as the API demands.
    unsafe { put(out, context::handle(context).cast()) }?;
    context.attached.fetch_add(1, Ordering::Relaxed);
    Ok(())
}

pub(crate) unsafe fn cuCtxDetach(ctx: CUcontext) -> Res {
    driver()?;
    let context = context::find(raw(ctx))?;
    if context.attached.fetch_sub(1, Ordering::Relaxed) > 1 {
        return Ok(());
    }
    // SAFETY: the last usage is gone, so the context goes.
    unsafe { cuCtxDestroy(ctx) }
}

pub(crate) unsafe fn cuCtxPushCurrent(ctx: CUcontext) -> Res {
    driver()?;
    context::push(context::find(raw(ctx))?)
}

pub(crate) unsafe fn cuCtxPushCurrent_v2(ctx: CUcontext) -> Res {
    // SAFETY: the same function.
    unsafe { cuCtxPushCurrent(ctx) }
}

pub(crate) unsafe fn cuCtxPopCurrent(out: *mut CUcontext) -> Res {
    driver()?;
    let handle = context::pop()?;
    // SAFETY: the caller's pointer, or null.
    unsafe { put_if(out, handle.cast()) };
    Ok(())
}

pub(crate) unsafe fn cuCtxPopCurrent_v2(out: *mut CUcontext) -> Res {
    // SAFETY: the same function.
    unsafe { cuCtxPopCurrent(out) }
}

pub(crate) unsafe fn cuCtxSetCurrent(ctx: CUcontext) -> Res {
    driver()?;
    if ctx.is_null() {
        return context::set(None);
    }
    context::set(Some(context::find(raw(ctx))?))
}

pub(crate) unsafe fn cuCtxGetCurrent(out: *mut CUcontext) -> Res {
    driver()?;
    // SAFETY: the caller's pointer, as the API demands.
    unsafe { put(out, context::current_handle().cast()) }
}

/// The context that a call names, or the current one for null.
fn named(ctx: CUcontext) -> Res<&'static Context> {
    driver()?;
    if ctx.is_null() { context::current() } else { context::find(raw(ctx)) }
}

pub(crate) unsafe fn cuCtxGetDevice(out: *mut CUdevice) -> Res {
    let ordinal = context::current()?.ordinal.load(Ordering::Relaxed);
    // SAFETY: the caller's pointer, as the API demands.
    unsafe { put(out, ordinal) }
}

pub(crate) unsafe fn cuCtxGetDevice_v2(out: *mut CUdevice, ctx: CUcontext) -> Res {
    let ordinal = named(ctx)?.ordinal.load(Ordering::Relaxed);
    // SAFETY: the caller's pointer, as the API demands.
    unsafe { put(out, ordinal) }
}

pub(crate) unsafe fn cuCtxGetFlags(out: *mut c_uint) -> Res {
    let flags = context::current()?.flags.load(Ordering::Relaxed);
    // SAFETY: the caller's pointer, as the API demands.
    unsafe { put(out, flags) }
}

pub(crate) unsafe fn cuCtxSetFlags(flags: c_uint) -> Res {
    let context = context::current()?;
    if flags & !0xff != 0 {
        return Err(INVALID_VALUE);
    }
    context.flags.store(flags, Ordering::Relaxed);
    Ok(())
}

pub(crate) unsafe fn cuCtxGetId(ctx: CUcontext, out: *mut c_ulonglong) -> Res {
    let id = named(ctx)?.id();
    // SAFETY: the caller's pointer, as the API demands.
    unsafe { put(out, id) }
}

pub(crate) unsafe fn cuCtxGetApiVersion(ctx: CUcontext, out: *mut c_uint) -> Res {
    let version = named(ctx)?.version.load(Ordering::Relaxed);
    // SAFETY: the caller's pointer, as the API demands.
    unsafe { put(out, version) }
}

fn limit(context: &'static Context, limit: CUlimit) -> Res<&'static std::sync::atomic::AtomicU64> {
    usize::try_from(limit).ok().filter(|i| *i < LIMITS).map(|i| &context.limits[i]).ok_or(INVALID_VALUE)
}

pub(crate) unsafe fn cuCtxSetLimit(which: CUlimit, value: usize) -> Res {
    limit(context::current()?, which)?.store(value as u64, Ordering::Relaxed);
    Ok(())
}

pub(crate) unsafe fn cuCtxGetLimit(out: *mut usize, which: CUlimit) -> Res {
    let value = limit(context::current()?, which)?.load(Ordering::Relaxed);
    // SAFETY: the caller's pointer, as the API demands.
    unsafe { put(out, usize::try_from(value).unwrap_or(usize::MAX)) }
}

pub(crate) unsafe fn cuCtxGetCacheConfig(out: *mut CUfunc_cache) -> Res {
    let config = context::current()?.cache_config.load(Ordering::Relaxed);
    // SAFETY: the caller's pointer, as the API demands.
    unsafe { put(out, config) }
}

pub(crate) unsafe fn cuCtxSetCacheConfig(config: CUfunc_cache) -> Res {
    let context = context::current()?;
    if config > 3 {
        return Err(INVALID_VALUE);
    }
    context.cache_config.store(config, Ordering::Relaxed);
    Ok(())
}

pub(crate) unsafe fn cuCtxGetSharedMemConfig(out: *mut CUsharedconfig) -> Res {
    context::current()?;
    // SAFETY: the caller's pointer, as the API demands. Four-byte banks, whatever was asked for.
    unsafe { put(out, 1) }
}

pub(crate) unsafe fn cuCtxSetSharedMemConfig(config: CUsharedconfig) -> Res {
    context::current()?;
    if config > 2 { Err(INVALID_VALUE) } else { Ok(()) }
}

pub(crate) unsafe fn cuCtxGetStreamPriorityRange(least: *mut c_int, greatest: *mut c_int) -> Res {
    context::current()?;
    // SAFETY: the caller's pointer, or null.
    unsafe { put_if(least, 0) };
    // SAFETY: the caller's pointer, or null.
    unsafe { put_if(greatest, super::stream::GREATEST_PRIORITY) };
    Ok(())
}

pub(crate) unsafe fn cuCtxResetPersistingL2Cache() -> Res {
    context::current().map(|_| ())
}

pub(crate) unsafe fn cuCtxGetExecAffinity(_out: *mut CUexecAffinityParam, _type: CUexecAffinityType) -> Res {
    context::current()?;
    Err(NOT_SUPPORTED)
}

fn synchronize(context: &'static Context) -> Res {
    capture::check_allowed()?;
    stream::wait_context(context)
}

pub(crate) unsafe fn cuCtxSynchronize() -> Res {
    synchronize(context::current()?)
}

pub(crate) unsafe fn cuCtxSynchronize_v2(ctx: CUcontext) -> Res {
    synchronize(named(ctx)?)
}
