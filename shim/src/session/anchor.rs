//! The anchor: where hooks find the session. One private page that the kernel zeroes in a forked child, so that a child,
//! however it was made, finds nothing and starts afresh, without a pid check on any launch.

use super::attachment::Attachment;
use super::process::Process;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

/// What the page holds. All zero = nothing known yet (also in a forked child).
#[repr(C)]
pub(crate) struct Anchor {
    attachment: AtomicPtr<Attachment>,
    process: AtomicPtr<Process>,
    /// Stream captures begun and not ended in this process.
    pub(crate) captures: AtomicU32,
    /// This process has no tenant: hooks pass through.
    inert: AtomicU32,
    /// This process asked for something that it can't have: no memory for it, whatever it does.
    refused: AtomicU32,
    /// A thread is beginning the session.
    starting: AtomicU32,
}

/// Null until CUDA is first initialised in this process or an ancestor.
static PAGE: AtomicPtr<Anchor> = AtomicPtr::new(ptr::null_mut());

/// The anchor, if there is one.
#[inline]
pub(crate) fn get() -> Option<&'static Anchor> {
    // SAFETY: only `make` stores here: a page that is never unmapped.
    unsafe { PAGE.load(Ordering::Acquire).as_ref() }
}

/// The anchor, made if need be. `None` if the kernel refuses.
pub(crate) fn make() -> Option<&'static Anchor> {
    if let Some(anchor) = get() {
        return Some(anchor);
    }
    let page = map()?;
    if PAGE.compare_exchange(ptr::null_mut(), page, Ordering::AcqRel, Ordering::Acquire).is_err() {
        // Another thread was quicker; its page counts.
        // SAFETY: our own page, which nobody has seen.
        unsafe { libc::munmap(page.cast(), SIZE) };
    }
    get()
}

const SIZE: usize = 4096;

fn map() -> Option<*mut Anchor> {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a fresh private mapping.
    let page = unsafe { libc::mmap(ptr::null_mut(), SIZE, access, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0) };
    if page == libc::MAP_FAILED {
        return None;
    }
    // SAFETY: the mapping just made.
    if unsafe { libc::madvise(page, SIZE, libc::MADV_WIPEONFORK) } != 0 {
        // Kernels before 4.14: fork() at least is covered.
        // SAFETY: a function that lives for ever.
        unsafe { libc::pthread_atfork(None, None, Some(forget)) };
    }
    Some(page.cast())
}

extern "C" fn forget() {
    if let Some(anchor) = get() {
        anchor.attachment.store(ptr::null_mut(), Ordering::Relaxed);
        anchor.process.store(ptr::null_mut(), Ordering::Relaxed);
        anchor.captures.store(0, Ordering::Relaxed);
        anchor.inert.store(0, Ordering::Relaxed);
        anchor.refused.store(0, Ordering::Relaxed);
        anchor.starting.store(0, Ordering::Relaxed);
    }
}

impl Anchor {
    /// The attachment that rules now.
    #[inline]
    pub(crate) fn attachment(&self) -> Option<&'static Attachment> {
        // SAFETY: only `publish` stores here: leaked attachments.
        unsafe { self.attachment.load(Ordering::SeqCst).as_ref() }
    }

    /// Whether `attachment` still rules; loaded after a thread entered, so that a publisher sees the thread's line odd or the
    /// thread sees the newer attachment.
    #[inline]
    pub(crate) fn is_current(&self, attachment: &Attachment) -> bool {
        ptr::eq(self.attachment.load(Ordering::SeqCst), attachment)
    }

    /// This process's state.
    pub(crate) fn process(&self) -> Option<&'static Process> {
        // SAFETY: only `set_process` stores here: a leaked process.
        unsafe { self.process.load(Ordering::Acquire).as_ref() }
    }

    /// Lets `attachment` rule from now on.
    pub(crate) fn publish(&self, attachment: &'static Attachment) {
        self.attachment.store(ptr::from_ref(attachment).cast_mut(), Ordering::SeqCst);
        std::sync::atomic::fence(Ordering::SeqCst);
    }

    /// Sets this process's state, once.
    pub(crate) fn set_process(&self, process: &'static Process) {
        self.process.store(ptr::from_ref(process).cast_mut(), Ordering::Release);
    }

    /// The calling thread begins the session, unless another one is at it.
    pub(crate) fn try_start(&self) -> bool {
        self.starting.swap(1, Ordering::AcqRel) == 0
    }

    /// It is done with that.
    pub(crate) fn end_start(&self) {
        self.starting.store(0, Ordering::Release);
    }

    /// Nothing is to be done in this process, for good.
    pub(crate) fn set_inert(&self) {
        self.inert.store(1, Ordering::Release);
    }

    /// This process gets no tenant although it should have one: CUDA doesn't start.
    pub(crate) fn set_refused(&self) {
        self.refused.store(1, Ordering::Release);
        self.set_inert();
    }

    /// See [`Anchor::set_refused`].
    pub(crate) fn is_refused(&self) -> bool {
        self.refused.load(Ordering::Acquire) != 0
    }

    /// See [`Anchor::set_inert`].
    pub(crate) fn is_inert(&self) -> bool {
        self.inert.load(Ordering::Acquire) != 0
    }
}
