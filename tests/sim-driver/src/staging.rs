//! Copies out of pageable memory: the bytes are taken at the call, as the real driver does, so that the caller may reuse its
//! buffer while the copy is still queued.

use std::slice;

use crate::error::Res;
use crate::state::driver;
use crate::stream::Stream;
use crate::sync::lock;

/// Up to this many bytes are taken aside; larger copies wait for the stream instead.
pub(crate) const LIMIT: usize = 64 << 10;

/// Bytes that an operation up to `ticket` reads.
#[derive(Debug)]
pub(crate) struct Staged {
    ticket: u64,
    bytes: Box<[u8]>,
}

/// Takes `length` bytes aside and lets `submit` queue the operation that reads them from the address it is given.
///
/// # Safety
/// `source` is valid for reads of `length` bytes.
///
/// # Errors
/// Those of `submit`.
pub(crate) unsafe fn stage(
    stream: &Stream,
    source: *const u8,
    length: usize,
    submit: impl FnOnce(u64) -> Res<u64>,
) -> Res {
    let session = driver()?.session;
    let mut staged = lock(&stream.staged);
    staged.retain(|s| matches!(session.query_ticket(stream.link(), s.ticket), Ok(false)));
    // SAFETY: as promised by the caller.
    let bytes: Box<[u8]> = unsafe { slice::from_raw_parts(source, length) }.into();
    let ticket = submit(bytes.as_ptr() as u64)?;
    staged.push(Staged { ticket, bytes });
    Ok(())
}

/// Waits until nothing staged is read any more (before the stream's handle goes).
pub(crate) fn settle(stream: &Stream) {
    let staged = std::mem::take(&mut *lock(&stream.staged));
    let Ok(driver) = driver() else { return };
    if let Some(last) = staged.iter().map(|s| s.ticket).max() {
        // A fault ends the wait too; either way nothing reads the bytes any more.
        let _ = driver.session.wait_ticket(stream.link(), last);
    }
    drop(staged.into_iter().map(|s| s.bytes).collect::<Vec<_>>());
}
