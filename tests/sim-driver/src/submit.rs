//! The one way into a stream: run now, or become a node of the graph that the stream is captured into.
//! It must never know which function of the driver asked.

use std::sync::atomic::Ordering;

use mgpu_sim_link::{Op, burn, now_ns};

use crate::capture;
use crate::error::{CAPTURE_IMPLICIT, Res};
use crate::graph::Work;
use crate::state::Driver;
use crate::stream::Stream;

/// Puts `op` in `stream`, and burns what the call costs. `work` describes it for a capture and is only asked for then.
/// Gives the ticket, or `None` when it was captured.
///
/// # Errors
/// The context's fault; the capture's errors.
#[inline]
pub(crate) fn submit(
    driver: &'static Driver,
    stream: &'static Stream,
    cost_ns: u64,
    op: &Op,
    work: impl FnOnce() -> Work,
) -> Res<Option<u64>> {
    if stream.capturing.load(Ordering::Acquire) != 0 {
        return capture::add(stream, work()).map(|()| None);
    }
    check_implicit(stream)?;
    if cost_ns == 0 {
        return Ok(Some(driver.session.submit(stream.link(), op)?));
    }
    let start = now_ns();
    let ticket = driver.session.submit(stream.link(), op)?;
    burn(start, cost_ns);
    Ok(Some(ticket))
}

/// Work in the legacy stream would order itself against a blocking stream that is being captured.
///
/// # Errors
/// [`CAPTURE_IMPLICIT`], and the captures are invalid then.
#[inline]
pub(crate) fn check_implicit(stream: &Stream) -> Res {
    if stream.is_legacy() {
        let context = stream.context()?;
        if context.capturing.load(Ordering::Relaxed) != 0 {
            capture::invalidate_blocking(context);
            return Err(CAPTURE_IMPLICIT);
        }
    }
    Ok(())
}
