//! Primary contexts: one per device, counted; the first retain makes it, the last release ends it.

use std::ffi::{c_int, c_uint};
use std::sync::Mutex;

use crate::context::{self, Context, device};
use crate::error::{INVALID_CONTEXT, INVALID_VALUE, Res, put, put_if};
use crate::state::driver;
use crate::sync::lock;
use crate::types::{CUcontext, CUdevice};

#[derive(Clone, Copy)]
struct Primary {
    ordinal: i32,
    count: u32,
    flags: u32,
    context: Option<&'static Context>,
}

static PRIMARIES: Mutex<Vec<Primary>> = Mutex::new(Vec::new());

fn with<T>(dev: CUdevice, act: impl FnOnce(&mut Primary) -> Res<T>) -> Res<T> {
    device(driver()?, dev)?;
    let mut all = lock(&PRIMARIES);
    let index = match all.iter().position(|p| p.ordinal == dev) {
        Some(index) => index,
        None => {
            all.push(Primary { ordinal: dev, count: 0, flags: 0, context: None });
            all.len() - 1
        }
    };
    act(&mut all[index])
}

pub(crate) unsafe fn cuDevicePrimaryCtxRetain(out: *mut CUcontext, dev: CUdevice) -> Res {
    if out.is_null() {
        driver()?;
        return Err(INVALID_VALUE);
    }
    let context = with(dev, |p| {
        let context = match p.context {
            Some(context) => context,
            None => context::create(dev, p.flags, true)?,
        };
        p.context = Some(context);
        p.count += 1;
        Ok(context)
    })?;
    // SAFETY: the caller's pointer, as the API demands.
    unsafe { put(out, context::handle(context).cast()) }
}

pub(crate) unsafe fn cuDevicePrimaryCtxRelease(dev: CUdevice) -> Res {
    with(dev, |p| {
        if p.count == 0 {
            return Err(INVALID_CONTEXT);
        }
        p.count -= 1;
        if p.count > 0 { Ok(()) } else { end(p) }
    })
}

pub(crate) unsafe fn cuDevicePrimaryCtxRelease_v2(dev: CUdevice) -> Res {
    // SAFETY: the same function.
    unsafe { cuDevicePrimaryCtxRelease(dev) }
}

/// Ends all that is in the context; later retains, not this call, bring it to life again.
pub(crate) unsafe fn cuDevicePrimaryCtxReset(dev: CUdevice) -> Res {
    with(dev, |p| {
        p.count = 0;
        end(p)
    })
}

pub(crate) unsafe fn cuDevicePrimaryCtxReset_v2(dev: CUdevice) -> Res {
    // SAFETY: the same function.
    unsafe { cuDevicePrimaryCtxReset(dev) }
}

fn end(primary: &mut Primary) -> Res {
    primary.context.take().map_or(Ok(()), |context| context::destroy(context::handle(context)))
}

pub(crate) unsafe fn cuDevicePrimaryCtxSetFlags(dev: CUdevice, flags: c_uint) -> Res {
    if flags & !0xff != 0 {
        driver()?;
        return Err(INVALID_VALUE);
    }
    with(dev, |p| {
        p.flags = flags;
        if let Some(context) = p.context {
            context.flags.store(flags, std::sync::atomic::Ordering::Relaxed);
        }
        Ok(())
    })
}

pub(crate) unsafe fn cuDevicePrimaryCtxSetFlags_v2(dev: CUdevice, flags: c_uint) -> Res {
    // SAFETY: the same function.
    unsafe { cuDevicePrimaryCtxSetFlags(dev, flags) }
}

pub(crate) unsafe fn cuDevicePrimaryCtxGetState(dev: CUdevice, flags: *mut c_uint, active: *mut c_int) -> Res {
    let (set, live) = with(dev, |p| Ok((p.flags, p.context.is_some())))?;
    // SAFETY: the caller's pointer, or null.
    unsafe { put_if(flags, set) };
    // SAFETY: the caller's pointer, or null.
    unsafe { put_if(active, c_int::from(live)) };
    Ok(())
}

/// Whether `handle` is a primary context, which `cuCtxDestroy` refuses.
pub(crate) fn is_primary(handle: *const ()) -> bool {
    lock(&PRIMARIES).iter().any(|p| p.context.is_some_and(|c| context::handle(c).cast_const() == handle))
}
