//! Events: life, recording, waiting, time between two.

use std::ffi::c_uint;
use std::sync::atomic::Ordering;

use mgpu_sim_link::{ContextId, burn, now_ns};

use crate::capture;
use crate::context;
use crate::error::{INVALID_HANDLE, INVALID_VALUE, NOT_READY, Res, put};
use crate::event::{self, DISABLE_TIMING, Event};
use crate::graph::Work;
use crate::slots::handle_of;
use crate::state::driver;
use crate::stream::{self, Stream, Zero};
use crate::submit;
use crate::types::{CUcontext, CUevent, CUstream, raw};

const EXTERNAL: c_uint = 1;

pub(crate) unsafe fn cuEventCreate(out: *mut CUevent, flags: c_uint) -> Res {
    let context = context::current()?;
    // An event for other processes must not carry a time.
    let bad_pair = flags & 4 != 0 && flags & DISABLE_TIMING == 0;
    if out.is_null() || flags & !7 != 0 || bad_pair {
        return Err(INVALID_VALUE);
    }
    let event = event::create(context, flags)?;
    // SAFETY: the caller's pointer, as the API demands.
    unsafe { put(out, handle_of(event).cast()) }
}

pub(crate) unsafe fn cuEventDestroy(event: CUevent) -> Res {
    driver()?;
    event::destroy(raw(event))
}

pub(crate) unsafe fn cuEventDestroy_v2(event: CUevent) -> Res {
    driver()?;
    event::destroy(raw(event))
}

fn record(zero: Zero, event: CUevent, on: CUstream, flags: c_uint) -> Res {
    let driver = driver()?;
    let event = event::find(raw(event))?;
    let stream = stream::resolve(raw(on), zero)?;
    if flags > EXTERNAL {
        return Err(INVALID_VALUE);
    }
    if stream.capturing.load(Ordering::Acquire) != 0 {
        if flags == EXTERNAL {
            return capture::add(stream, Work::Record(event));
        }
        return capture::record(stream, event);
    }
    submit::check_implicit(stream)?;
    if flags == EXTERNAL {
        return Err(crate::error::ILLEGAL_STATE);
    }
    if event.context_id.load(Ordering::Relaxed) != stream.context_id.load(Ordering::Relaxed) {
        return Err(INVALID_HANDLE);
    }
    let start = now_ns();
    if event.is_captured.load(Ordering::Acquire) {
        event.set_captured(None);
    }
    driver.session.record(event.link(), stream.link())?;
    burn(start, driver.costs.event_ns);
    Ok(())
}

pub(crate) unsafe fn cuEventRecord(zero: Zero, event: CUevent, on: CUstream) -> Res {
    record(zero, event, on, 0)
}

pub(crate) unsafe fn cuEventRecordWithFlags(zero: Zero, event: CUevent, on: CUstream, flags: c_uint) -> Res {
    record(zero, event, on, flags)
}

fn wait(stream: &'static Stream, event: &'static Event, flags: c_uint) -> Res {
    if flags > EXTERNAL {
        return Err(INVALID_VALUE);
    }
    let driver = driver()?;
    let capturing = stream.capturing.load(Ordering::Acquire) != 0;
    if capturing && flags == EXTERNAL {
        return capture::add(stream, Work::Wait(event));
    }
    if capturing || event.is_captured.load(Ordering::Acquire) {
        return capture::wait(stream, event);
    }
    submit::check_implicit(stream)?;
    let start = now_ns();
    driver.session.stream_wait_event(stream.link(), event.link())?;
    burn(start, driver.costs.event_ns);
    Ok(())
}

pub(crate) unsafe fn cuStreamWaitEvent(zero: Zero, on: CUstream, event: CUevent, flags: c_uint) -> Res {
    driver()?;
    let event = event::find(raw(event))?;
    wait(stream::resolve(raw(on), zero)?, event, flags)
}

pub(crate) unsafe fn cuCtxRecordEvent(ctx: CUcontext, event: CUevent) -> Res {
    driver()?;
    let legacy = context::find(raw(ctx))?.legacy_stream()?;
    record(Zero::Legacy, event, handle_of(legacy).cast(), 0)
}

pub(crate) unsafe fn cuCtxWaitEvent(ctx: CUcontext, event: CUevent) -> Res {
    driver()?;
    let context = context::find(raw(ctx))?;
    let event = event::find(raw(event))?;
    let streams: Vec<_> = stream::of_context(context).collect();
    streams.into_iter().try_for_each(|stream| wait(stream, event, 0))
}

/// An event to ask or wait for, and its context at the link.
fn asked(event: CUevent) -> Res<(&'static Event, ContextId)> {
    let driver = driver()?;
    let event = event::find(raw(event))?;
    // Asking may break the caller's own capture; that the event stands for a node is the answer nevertheless.
    let allowed = capture::check_allowed();
    event.check_not_captured()?;
    allowed?;
    let context = ContextId(event.link_context.load(Ordering::Relaxed));
    match driver.session.fault(context) {
        0 => Ok((event, context)),
        code => Err(crate::error::Fail(code)),
    }
}

pub(crate) unsafe fn cuEventQuery(event: CUevent) -> Res {
    let (event, _) = asked(event)?;
    if driver()?.session.query_event(event.link()) { Ok(()) } else { Err(NOT_READY) }
}

pub(crate) unsafe fn cuEventSynchronize(event: CUevent) -> Res {
    let (event, context) = asked(event)?;
    Ok(driver()?.session.wait_event(event.link(), context)?)
}

pub(crate) unsafe fn cuEventElapsedTime(out: *mut f32, start: CUevent, end: CUevent) -> Res {
    let driver = driver()?;
    let (start, end) = (event::find(raw(start))?, event::find(raw(end))?);
    if out.is_null() {
        return Err(INVALID_VALUE);
    }
    let mut times = [0_u64; 2];
    for (event, time) in [start, end].into_iter().zip(&mut times) {
        event.check_not_captured()?;
        if !event.has_time() || driver.session.last_record(event.link()).is_none() {
            return Err(INVALID_HANDLE);
        }
        if !driver.session.query_event(event.link()) {
            return Err(NOT_READY);
        }
        *time = driver.session.event_time(event.link()).ok_or(NOT_READY)?;
    }
    // SAFETY: not null; the caller's pointer.
    unsafe { put(out, milliseconds(times[0], times[1])) }
}

#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "the API answers in single precision")]
fn milliseconds(start: u64, end: u64) -> f32 {
    let (sign, nanos) = if end >= start { (1.0, end - start) } else { (-1.0, start - end) };
    (sign * nanos as f64 / 1e6) as f32
}

pub(crate) unsafe fn cuEventElapsedTime_v2(out: *mut f32, start: CUevent, end: CUevent) -> Res {
    // SAFETY: the same function.
    unsafe { cuEventElapsedTime(out, start, end) }
}
