//! Addresses that were freed in stream order: not to be handed out again before the stream has come that far.

use std::sync::Mutex;

use mgpu_sim_link::Stream;

use crate::state::driver;
use crate::sync::lock;

struct Waiting {
    stream: Stream,
    ticket: u64,
    start: usize,
    span: usize,
}

static WAITING: Mutex<Vec<Waiting>> = Mutex::new(Vec::new());

/// Holds the range back until `ticket` of `stream` is reached.
pub(crate) fn add(stream: Stream, ticket: u64, start: usize, span: usize) {
    lock(&WAITING).push(Waiting { stream, ticket, start, span });
}

/// Lets go of what may be reused by now.
pub(crate) fn sweep() {
    let Ok(driver) = driver() else { return };
    lock(&WAITING).retain(|w| {
        // A fault means that the stream will never come further.
        let waits = matches!(driver.session.query_ticket(w.stream, w.ticket), Ok(false));
        if !waits {
            lock(&super::ARENA).give(w.start, w.span);
        }
        waits
    });
}
