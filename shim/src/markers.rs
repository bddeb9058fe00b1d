//! Markers: numbers that the GPU writes into the tenant page behind a stream's work. Put in on an application's thread (or the
//! agent's), under the stream's own order, never into a capture.
//!
//! Several threads may launch on one stream. Only one at a time puts a marker in, with the number of launches counted just
//! before; whoever comes meanwhile leaves a wish that the first one fulfils. So numbers in a stream only rise.

use crate::driver::Driver;
use crate::log;
use crate::session::attachment::Desk;
use crate::streams::{Entry, LEGACY, PER_THREAD};
use mgpu_cuda::CUresult;
use mgpu_cuda::types::{CUcontext, CUstream};
use mgpu_protocol::layout::StreamLine;
use std::sync::atomic::Ordering;

/// In [`Desk::device_address`]: not tried yet; the driver refused.
const UNKNOWN: u64 = 0;
const REFUSED: u64 = u64::MAX;

/// Errors after which nothing in the context completes any more.
const STICKY: &[u32] = &[214, 220, 226, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 720, 721, 722];

/// Whether `result` means that the context is broken for good.
pub(crate) fn is_sticky(result: CUresult) -> bool {
    STICKY.contains(&result.0)
}

/// If `result` says that the calling thread's context is broken, its streams no longer claim to be busy.
pub(crate) fn note_result(desk: &Desk, driver: &Driver, result: CUresult) {
    if is_sticky(result) {
        desk.streams.set_dead(driver.current_context());
    }
}

/// Puts a marker behind what was launched on the stream so far. The stream's context must be current if it is a default one;
/// no capture may be under way on it.
pub(crate) fn mark(desk: &Desk, driver: &Driver, entry: &Entry) {
    mark_through(desk, driver, entry, entry.handle());
}

/// As [`mark`], with the marker put into `stream`, which must run it after all that was launched on the entry's.
fn mark_through(desk: &Desk, driver: &Driver, entry: &Entry, stream: CUstream) {
    let Some(line) = entry.counters() else { return };
    loop {
        if entry.is_marking.swap(true, Ordering::SeqCst) {
            // Somebody else is at it. Either they see the wish after they are done, or we see that they are done.
            entry.wants_mark.store(true, Ordering::SeqCst);
            if entry.is_marking.load(Ordering::SeqCst) {
                return;
            }
        } else {
            put(desk, driver, stream, line);
            entry.is_marking.store(false, Ordering::SeqCst);
            if !entry.wants_mark.load(Ordering::SeqCst) {
                return;
            }
            entry.wants_mark.store(false, Ordering::SeqCst);
        }
    }
}

fn put(desk: &Desk, driver: &Driver, stream: CUstream, line: &StreamLine) {
    if !line.has_unmarked_tail() {
        return;
    }
    let Some(address) = address(desk, driver, line) else { return };
    let number = line.launched();
    let result = driver.write_value(stream, address, number);
    if result.is_success() {
        line.note_marked(number);
    } else if is_sticky(result) {
        line.set_dead();
    } else {
        log::debug!("no marker on a stream: {result:?}");
    }
}

/// Where the GPU finds the line's marker word. Registers the page on first use.
fn address(desk: &Desk, driver: &Driver, line: &StreamLine) -> Option<u64> {
    let (base, bytes) = desk.memory();
    let offset = (std::ptr::from_ref(&line.marker) as u64).wrapping_sub(base as u64);
    let known = match desk.device_address.load(Ordering::Acquire) {
        UNKNOWN => match driver.relaxed(|driver| driver.register(base, bytes)) {
            Ok(device) => {
                desk.device_address.store(device, Ordering::Release);
                device
            }
            Err(error) => {
                desk.device_address.store(REFUSED, Ordering::Release);
                log::error!(
                    "the driver can't map the tenant's page ({error:?}): completions are seen at synchronisations only"
                );
                REFUSED
            }
        },
        known => known,
    };
    (known != REFUSED).then(|| known.wrapping_add(offset))
}

/// A context went away, and with it perhaps the registration.
pub(crate) fn forget_registration(desk: &Desk) {
    desk.device_address.store(UNKNOWN, Ordering::Release);
}

/// Before a desk's memory is given back: the GPU must not know it any more. `context` is any live one of this process. `false`: it
/// still does.
pub(crate) fn unregister(desk: &Desk, driver: &Driver, context: Option<CUcontext>) -> bool {
    if matches!(desk.device_address.load(Ordering::Acquire), UNKNOWN | REFUSED) {
        return true;
    }
    let (base, _) = desk.memory();
    let unregister = |driver: &Driver| driver.relaxed(|driver| driver.unregister(base));
    let is_gone = context.and_then(|context| driver.within(context, unregister)).unwrap_or(false);
    if is_gone {
        desk.device_address.store(REFUSED, Ordering::Release);
    }
    is_gone
}

/// Marks every unmarked tail on the devices of grant `line` that this thread can reach; gives how many. No capture may be under
/// way in the process. `everywhere`: also streams of other contexts, by making those current for a moment, and other threads'
/// default streams. Only their own thread can put anything into those, and it may have ended or never launch again; but the
/// legacy stream waits for them, so their marker goes there.
pub(crate) fn mark_tails(desk: &Desk, driver: &Driver, line: usize, everywhere: bool) -> u32 {
    let context = driver.current_context();
    let mut marked = 0;
    for entry in desk.streams.live().filter(|entry| entry.line() == Some(line)) {
        let has_tail = entry.counters().is_some_and(StreamLine::has_unmarked_tail);
        let is_foreign = entry.handle() as usize == PER_THREAD && entry.thread() != crate::threads::id();
        if !has_tail || (is_foreign && !everywhere) {
            continue;
        }
        let stream = if is_foreign { LEGACY as CUstream } else { entry.handle() };
        if entry.context() == context {
            mark_through(desk, driver, entry, stream);
            marked += 1;
        } else if everywhere
            && driver.within(entry.context(), |driver| mark_through(desk, driver, entry, stream)).is_some()
        {
            marked += 1;
        }
    }
    marked
}
