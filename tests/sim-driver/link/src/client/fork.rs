//! Whose session is it? A page that the kernel wipes in every forked child (also by raw `clone`) holds the pointer to
//! this process's session, so that the check is one load and a child cannot mistake its parent's session for its own.

use super::Session;
use crate::types::Error;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering};

/// What is zero again in a child.
struct Page {
    session: AtomicPtr<Session>,
    /// Taken by the thread that connects. Not a lock that a child could inherit.
    busy: AtomicU32,
}

static PAGE: AtomicPtr<Page> = AtomicPtr::new(std::ptr::null_mut());
/// Survives a fork: some ancestor (or this process) had a session.
static EVER: AtomicBool = AtomicBool::new(false);

/// The page, made at the first call.
fn page() -> Result<&'static Page, Error> {
    let known = PAGE.load(Ordering::Acquire);
    // SAFETY: set once below to a mapping that is never unmapped.
    if let Some(page) = unsafe { known.as_ref() } {
        return Ok(page);
    }
    let length = 4096;
    let access = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a fresh private mapping; the result is checked.
    let at =
        unsafe { libc::mmap(std::ptr::null_mut(), length, access, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0) };
    if at == libc::MAP_FAILED {
        return Err(Error::NoServer);
    }
    // SAFETY: advice on our own mapping.
    if unsafe { libc::madvise(at, length, libc::MADV_WIPEONFORK) } != 0 {
        return Err(Error::NoServer);
    }
    let mine: *mut Page = at.cast();
    let page = match PAGE.compare_exchange(std::ptr::null_mut(), mine, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => mine,
        Err(other) => other,
    };
    // SAFETY: zeroed memory is a `Page`; it is never unmapped (a loser's page is leaked, once).
    unsafe { page.as_ref() }.ok_or(Error::NoServer)
}

/// This process's session, if it has one.
fn current() -> Option<&'static Session> {
    // SAFETY: as in `page`.
    let page = unsafe { PAGE.load(Ordering::Acquire).as_ref() }?;
    // SAFETY: only ever null or a leaked box of this very process.
    unsafe { page.session.load(Ordering::Acquire).as_ref() }
}

/// Whether `session` belongs to this process.
pub(super) fn is_current(session: &Session) -> bool {
    current().is_some_and(|current| std::ptr::eq(current, session))
}

/// This process's session, connected (and the server started, where allowed) at the first call. Cheap afterwards: two
/// loads. In a forked child it connects anew; objects of the parent then answer [`Error::Forked`]. Once the server has
/// gone the session stays and answers [`Error::ServerGone`].
///
/// # Errors
/// [`Error::NoServer`] when none was found. Tried again at each call.
pub fn session() -> Result<&'static Session, Error> {
    if let Some(session) = current() {
        return Ok(session);
    }
    let page = page()?;
    while page.busy.compare_exchange(0, 1, Ordering::AcqRel, Ordering::Relaxed).is_err() {
        std::thread::yield_now();
    }
    let result = match current() {
        Some(session) => Ok(session),
        None => Session::connect().map(|session| {
            let session: &'static Session = Box::leak(Box::new(session));
            page.session.store(std::ptr::from_ref(session).cast_mut(), Ordering::Release);
            EVER.store(true, Ordering::Release);
            session
        }),
    };
    page.busy.store(0, Ordering::Release);
    result
}

/// True in a forked child whose parent had a session and which has none yet: there the real driver answers
/// NOT_INITIALIZED.
pub fn forked_from_connected() -> bool {
    EVER.load(Ordering::Acquire) && current().is_none()
}
