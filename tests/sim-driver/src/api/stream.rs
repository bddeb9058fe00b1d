//! Streams: life, questions, attributes, waiting, callbacks.

use std::ffi::{c_int, c_uint, c_ulonglong, c_void};
use std::sync::atomic::Ordering;

use mgpu_cuda::{CUDA_SUCCESS, CUresult};
use mgpu_sim_link::StreamKind;

use crate::context;
use crate::error::{INVALID_VALUE, NOT_READY, Res, put, put_if};
use crate::graph::{HostCall, Work};
use crate::slots::handle_of;
use crate::state::driver;
use crate::stream::{self, NON_BLOCKING, Stream, Zero};
use crate::submit;
use crate::types::{
    CUcontext, CUdevice, CUgreenCtx, CUhostFn, CUstream, CUstreamAttrID, CUstreamAttrValue, CUstreamCallback, raw,
};

/// Priorities go from 0, the default, down to this, the most urgent.
pub(crate) const GREATEST_PRIORITY: c_int = -5;

unsafe fn create(out: *mut CUstream, flags: c_uint, priority: c_int) -> Res {
    let context = context::current()?;
    if out.is_null() || flags & !NON_BLOCKING != 0 {
        return Err(INVALID_VALUE);
    }
    context.check_fault(driver()?)?;
    let kind = if flags & NON_BLOCKING == 0 { StreamKind::Blocking } else { StreamKind::NonBlocking };
    let stream = stream::create(context, kind, flags, priority.clamp(GREATEST_PRIORITY, 0))?;
    // SAFETY: the caller's pointer, as the API demands.
    unsafe { put(out, handle_of(stream).cast()) }
}

pub(crate) unsafe fn cuStreamCreate(out: *mut CUstream, flags: c_uint) -> Res {
    // SAFETY: the caller's pointer.
    unsafe { create(out, flags, 0) }
}

pub(crate) unsafe fn cuStreamCreateWithPriority(out: *mut CUstream, flags: c_uint, priority: c_int) -> Res {
    // SAFETY: the caller's pointer.
    unsafe { create(out, flags, priority) }
}

pub(crate) unsafe fn cuStreamDestroy(on: CUstream) -> Res {
    driver()?;
    stream::destroy(raw(on))
}

pub(crate) unsafe fn cuStreamDestroy_v2(on: CUstream) -> Res {
    driver()?;
    stream::destroy(raw(on))
}

unsafe fn ask<T>(zero: Zero, on: CUstream, out: *mut T, answer: impl FnOnce(&'static Stream) -> Res<T>) -> Res {
    driver()?;
    let value = answer(stream::resolve(raw(on), zero)?)?;
    // SAFETY: the caller's pointer, as the API demands.
    unsafe { put(out, value) }
}

pub(crate) unsafe fn cuStreamGetPriority(zero: Zero, on: CUstream, out: *mut c_int) -> Res {
    // SAFETY: the caller's pointer.
    unsafe { ask(zero, on, out, |s| Ok(s.priority.load(Ordering::Relaxed))) }
}

pub(crate) unsafe fn cuStreamGetFlags(zero: Zero, on: CUstream, out: *mut c_uint) -> Res {
    // SAFETY: the caller's pointer.
    unsafe { ask(zero, on, out, |s| Ok(s.flags.load(Ordering::Relaxed))) }
}

pub(crate) unsafe fn cuStreamGetId(zero: Zero, on: CUstream, out: *mut c_ulonglong) -> Res {
    // SAFETY: the caller's pointer.
    unsafe { ask(zero, on, out, |s| Ok(s.id.load(Ordering::Relaxed))) }
}

pub(crate) unsafe fn cuStreamGetDevice(zero: Zero, on: CUstream, out: *mut CUdevice) -> Res {
    // SAFETY: the caller's pointer.
    unsafe { ask(zero, on, out, |s| Ok(s.context()?.ordinal.load(Ordering::Relaxed))) }
}

pub(crate) unsafe fn cuStreamGetCtx(zero: Zero, on: CUstream, out: *mut CUcontext) -> Res {
    // SAFETY: the caller's pointer.
    unsafe { ask(zero, on, out, |s| Ok(context::handle(s.context()?).cast())) }
}

pub(crate) unsafe fn cuStreamGetCtx_v2(zero: Zero, on: CUstream, out: *mut CUcontext, green: *mut CUgreenCtx) -> Res {
    // SAFETY: the caller's pointer.
    unsafe { cuStreamGetCtx(zero, on, out) }?;
    // SAFETY: the caller's pointer, or null.
    unsafe { put_if(green, std::ptr::null_mut()) };
    Ok(())
}

const ATTRIBUTES: CUstreamAttrID = 32;
const ATTRIBUTE_PRIORITY: CUstreamAttrID = 8;

pub(crate) unsafe fn cuStreamGetAttribute(
    zero: Zero,
    on: CUstream,
    attribute: CUstreamAttrID,
    out: *mut CUstreamAttrValue,
) -> Res {
    if attribute == 0 || attribute >= ATTRIBUTES {
        driver()?;
        return Err(INVALID_VALUE);
    }
    let answer = |s: &'static Stream| {
        let mut value = CUstreamAttrValue { pad: [0; 64] };
        if attribute == ATTRIBUTE_PRIORITY {
            value.priority = s.priority.load(Ordering::Relaxed);
        }
        Ok(value)
    };
    // SAFETY: the caller's pointer.
    unsafe { ask(zero, on, out, answer) }
}

pub(crate) unsafe fn cuStreamSetAttribute(
    zero: Zero,
    on: CUstream,
    attribute: CUstreamAttrID,
    value: *const CUstreamAttrValue,
) -> Res {
    driver()?;
    stream::resolve(raw(on), zero)?;
    let fits = !value.is_null() && attribute != 0 && attribute < ATTRIBUTES;
    if fits { Ok(()) } else { Err(INVALID_VALUE) }
}

pub(crate) unsafe fn cuStreamCopyAttributes(zero: Zero, dst: CUstream, src: CUstream) -> Res {
    driver()?;
    stream::resolve(raw(dst), zero)?;
    stream::resolve(raw(src), zero).map(|_| ())
}

/// A stream to wait for or to ask, which a capture forbids.
fn awaited(zero: Zero, on: CUstream) -> Res<&'static Stream> {
    driver()?;
    let stream = stream::resolve(raw(on), zero)?;
    if stream.capturing.load(Ordering::Acquire) != 0 {
        return Err(crate::capture::forbid(stream));
    }
    submit::check_implicit(stream)?;
    Ok(stream)
}

pub(crate) unsafe fn cuStreamSynchronize(zero: Zero, on: CUstream) -> Res {
    awaited(zero, on)?.wait()
}

pub(crate) unsafe fn cuStreamQuery(zero: Zero, on: CUstream) -> Res {
    let stream = awaited(zero, on)?;
    let done = if stream.is_legacy() {
        let mut blocking = stream::of_context(stream.context()?).filter(|s| s.is_blocking());
        blocking.try_fold(true, |done, s| Res::Ok(done && s.is_done()?))?
    } else {
        stream.is_done()?
    };
    if done { Ok(()) } else { Err(NOT_READY) }
}

fn host(zero: Zero, on: CUstream, call: HostCall) -> Res {
    context::current()?;
    let stream = stream::resolve(raw(on), zero)?;
    let driver = driver()?;
    if stream.capturing.load(Ordering::Acquire) != 0 {
        return crate::capture::add(stream, Work::Host(call));
    }
    submit::check_implicit(stream)?;
    driver.session.host_func(
        stream.link(),
        Box::new(move || {
            // SAFETY: the application gave this function and its argument for exactly this call.
            unsafe { (call.function)(call.argument as *mut c_void) }
        }),
    )?;
    Ok(())
}

pub(crate) unsafe fn cuLaunchHostFunc(zero: Zero, on: CUstream, function: CUhostFn, argument: *mut c_void) -> Res {
    driver()?;
    let function = function.ok_or(INVALID_VALUE)?;
    host(zero, on, HostCall { function, argument: argument as usize })
}

pub(crate) unsafe fn cuLaunchHostFunc_v2(
    zero: Zero,
    on: CUstream,
    function: CUhostFn,
    argument: *mut c_void,
    _mode: c_uint,
) -> Res {
    // SAFETY: the same function; the mode is about how the GPU waits.
    unsafe { cuLaunchHostFunc(zero, on, function, argument) }
}

pub(crate) unsafe fn cuStreamAddCallback(
    zero: Zero,
    on: CUstream,
    callback: CUstreamCallback,
    argument: *mut c_void,
    flags: c_uint,
) -> Res {
    context::current()?;
    let callback = callback.filter(|_| flags == 0).ok_or(INVALID_VALUE)?;
    let stream = stream::resolve(raw(on), zero)?;
    if stream.capturing.load(Ordering::Acquire) != 0 {
        return Err(crate::capture::forbid(stream));
    }
    submit::check_implicit(stream)?;
    let (name, argument) = (on as usize, argument as usize);
    driver()?.session.host_func(
        stream.link(),
        Box::new(move || {
            let status: CUresult = CUDA_SUCCESS;
            // SAFETY: the application gave this function and its argument for exactly this call.
            unsafe { callback(name as CUstream, status, argument as *mut c_void) }
        }),
    )?;
    Ok(())
}
