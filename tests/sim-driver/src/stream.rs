//! Streams, and what a stream handle means: 0, 1 and 2 are names, the rest are objects.
//! It must never know what is submitted.

use std::cell::Cell;
use std::ptr;
use std::sync::atomic::{AtomicI32, AtomicPtr, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use mgpu_sim_link::{ContextId, Op, StreamId, StreamKind};

use crate::capture::Capture;
use crate::context::{self, CONTEXTS, Context};
use crate::error::{CONTEXT_IS_DESTROYED, Fail, INVALID_HANDLE, OUT_OF_MEMORY, Res};
use crate::slots::{Slots, handle_of};
use crate::staging::Staged;
use crate::state::{driver, next_id};
use crate::sync::lock;

/// What stream 0 means to a caller: the plain entry points take it for the legacy stream, their twins for the thread's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Zero {
    Legacy,
    PerThread,
}

/// `cuStreamCreate`'s flag for a stream without implicit ordering.
pub(crate) const NON_BLOCKING: u32 = 1;

/// A stream.
#[derive(Debug, Default)]
pub(crate) struct Stream {
    context: AtomicPtr<Context>,
    pub(crate) context_id: AtomicU64,
    link: AtomicU32,
    link_context: AtomicU32,
    channel: AtomicU32,
    pub(crate) kind: AtomicU32,
    pub(crate) flags: AtomicU32,
    pub(crate) priority: AtomicI32,
    pub(crate) id: AtomicU64,
    /// The thread whose default stream it is, as the kernel numbers it.
    owner: AtomicI32,
    /// 0, or the capture's state (`capture::ACTIVE`, `capture::INVALIDATED`): the launch path looks at nothing else.
    pub(crate) capturing: AtomicU32,
    pub(crate) capture: Mutex<Option<Arc<Capture>>>,
    /// Copies of pageable memory that a queued operation still reads.
    pub(crate) staged: Mutex<Vec<Staged>>,
}

pub(crate) static STREAMS: Slots<Stream> = Slots::new(1 << 18);

pub(crate) const KIND_LEGACY: u32 = 0;
pub(crate) const KIND_PER_THREAD: u32 = 1;
pub(crate) const KIND_BLOCKING: u32 = 2;
pub(crate) const KIND_NON_BLOCKING: u32 = 3;

impl Stream {
    #[inline]
    pub(crate) fn link(&self) -> mgpu_sim_link::Stream {
        mgpu_sim_link::Stream {
            id: StreamId(self.link.load(Ordering::Relaxed)),
            context: ContextId(self.link_context.load(Ordering::Relaxed)),
            channel: self.channel.load(Ordering::Relaxed),
        }
    }

    /// The stream's context.
    ///
    /// # Errors
    /// [`CONTEXT_IS_DESTROYED`].
    pub(crate) fn context(&self) -> Res<&'static Context> {
        let id = self.context_id.load(Ordering::Relaxed);
        let handle = self.context.load(Ordering::Acquire);
        CONTEXTS.get(handle.cast_const().cast()).filter(|c| c.id() == id).ok_or(CONTEXT_IS_DESTROYED)
    }

    #[inline]
    pub(crate) fn is_legacy(&self) -> bool {
        self.kind.load(Ordering::Relaxed) == KIND_LEGACY
    }

    /// Ordered with the legacy stream.
    pub(crate) fn is_blocking(&self) -> bool {
        self.kind.load(Ordering::Relaxed) != KIND_NON_BLOCKING
    }

    /// Everything submitted so far is complete.
    ///
    /// # Errors
    /// The context's fault.
    pub(crate) fn is_done(&self) -> Res<bool> {
        Ok(driver()?.session.query_stream(self.link())?)
    }

    /// Blocks until everything submitted so far is complete.
    ///
    /// # Errors
    /// The context's fault.
    pub(crate) fn wait(&self) -> Res {
        let session = driver()?.session;
        if self.is_legacy() {
            // The legacy stream's end comes after the blocking streams' work: an empty op is that barrier.
            session.submit(self.link(), &Op::Nop)?;
        }
        Ok(session.wait_stream(self.link())?)
    }
}

/// Makes a stream of a context.
///
/// # Errors
/// [`OUT_OF_MEMORY`] when there are too many.
pub(crate) fn create(context: &'static Context, kind: StreamKind, flags: u32, priority: i32) -> Res<&'static Stream> {
    let link = driver()?.session.create_stream(context.link_id(), kind, priority)?;
    let stream = STREAMS.insert(|s| {
        s.context.store(ptr::from_ref(context).cast_mut(), Ordering::Relaxed);
        s.context_id.store(context.id(), Ordering::Relaxed);
        s.link.store(link.id.0, Ordering::Relaxed);
        s.link_context.store(link.context.0, Ordering::Relaxed);
        s.channel.store(link.channel, Ordering::Relaxed);
        s.kind.store(kind_number(kind), Ordering::Relaxed);
        s.flags.store(flags, Ordering::Relaxed);
        s.priority.store(priority, Ordering::Relaxed);
        s.id.store(next_id(), Ordering::Relaxed);
        s.owner.store(0, Ordering::Relaxed);
        s.capturing.store(0, Ordering::Relaxed);
        *lock(&s.capture) = None;
        lock(&s.staged).clear();
    });
    stream.ok_or(OUT_OF_MEMORY)
}

fn kind_number(kind: StreamKind) -> u32 {
    match kind {
        StreamKind::Legacy => KIND_LEGACY,
        StreamKind::PerThread => KIND_PER_THREAD,
        StreamKind::Blocking => KIND_BLOCKING,
        StreamKind::NonBlocking => KIND_NON_BLOCKING,
    }
}

/// The stream that a handle names for this thread.
///
/// # Errors
/// [`INVALID_HANDLE`] for what is no stream; the errors of [`context::current`] where the handle needs it.
#[inline]
pub(crate) fn resolve(handle: *const (), zero: Zero) -> Res<&'static Stream> {
    match (handle as usize, zero) {
        (0, Zero::Legacy) | (1, _) => context::current()?.legacy_stream(),
        (0, Zero::PerThread) | (2, _) => per_thread(context::current()?),
        _ => STREAMS.get(handle).ok_or(INVALID_HANDLE),
    }
}

const OWN: usize = 8;

struct Own {
    context: Cell<u64>,
    stream: Cell<*const Stream>,
}

thread_local! {
    // No destructor: a thread's default streams stay until their context goes.
    static OWN_STREAMS: [Own; OWN] =
        const { [const { Own { context: Cell::new(0), stream: Cell::new(ptr::null()) } }; OWN] };
}

/// The calling thread's own default stream in `context`, made at first use.
fn per_thread(context: &'static Context) -> Res<&'static Stream> {
    let id = context.id();
    OWN_STREAMS.with(|own| {
        if let Some(slot) = own.iter().find(|o| o.context.get() == id)
            && let Some(stream) = STREAMS.get(slot.stream.get().cast())
        {
            return Ok(stream);
        }
        let stream = match orphan(context) {
            Some(stream) => stream,
            None => create(context, StreamKind::PerThread, 0, 0)?,
        };
        stream.owner.store(this_thread(), Ordering::Release);
        let is_stale = |o: &&Own| o.context.get() == 0 || STREAMS.get(o.stream.get().cast()).is_none();
        let slot = own.iter().find(is_stale).or(own.first());
        if let Some(slot) = slot {
            slot.context.set(id);
            slot.stream.set(stream);
        }
        Ok(stream)
    })
}

/// A default stream of a thread that has ended, with all its work. Threads come and go; without a destructor nobody gives
/// their streams back, so the next new thread takes one over.
fn orphan(context: &Context) -> Option<&'static Stream> {
    let own = this_thread();
    of_context(context).filter(|s| s.kind.load(Ordering::Relaxed) == KIND_PER_THREAD).find(|s| {
        let owner = s.owner.load(Ordering::Acquire);
        // A number used again: were that stream ours, we would know it.
        let ended = owner == own || !lives(owner);
        let idle = s.capturing.load(Ordering::Acquire) == 0 && matches!(s.is_done(), Ok(true));
        // Of two threads that want it, one gets it.
        ended && idle && s.owner.compare_exchange(owner, own, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    })
}

fn this_thread() -> i32 {
    // SAFETY: no arguments, cannot fail.
    unsafe { libc::gettid() }
}

/// Whether a thread of this process has that number. 0 stands for one that is just being set up.
fn lives(thread: i32) -> bool {
    // SAFETY: no arguments, cannot fail.
    let process = unsafe { libc::getpid() };
    // SAFETY: signal 0 sends nothing.
    thread == 0 || unsafe { libc::syscall(libc::SYS_tgkill, process, thread, 0) } == 0
}

/// Ends a stream that the application made; what is queued still runs.
///
/// # Errors
/// [`INVALID_HANDLE`] for anything else.
pub(crate) fn destroy(handle: *const ()) -> Res {
    let stream = STREAMS.get(handle).ok_or(INVALID_HANDLE)?;
    if matches!(stream.kind.load(Ordering::Relaxed), KIND_LEGACY | KIND_PER_THREAD) {
        return Err(INVALID_HANDLE);
    }
    let stream = STREAMS.remove(handle).ok_or(INVALID_HANDLE)?;
    crate::capture::abandon(stream);
    crate::staging::settle(stream);
    let result = driver()?.session.destroy_stream(stream.link());
    STREAMS.recycle(stream);
    result.map_err(Fail::from)
}

/// The streams of a context.
pub(crate) fn of_context(context: &Context) -> impl Iterator<Item = &'static Stream> {
    let id = context.id();
    STREAMS.live().filter(move |s| s.context_id.load(Ordering::Relaxed) == id)
}

/// Forgets a context's streams; the link drops them with the context.
pub(crate) fn drop_context(context: &Context) {
    for stream in of_context(context) {
        if let Some(stream) = STREAMS.remove(handle_of(stream)) {
            *lock(&stream.capture) = None;
            STREAMS.recycle(stream);
        }
    }
}

/// Blocks until all that was submitted to a context's streams so far is complete.
///
/// # Errors
/// The context's fault.
pub(crate) fn wait_context(context: &'static Context) -> Res {
    let session = driver()?.session;
    let tickets: Vec<_> = of_context(context).map(|s| (s.link(), session.ticket(s.link()))).collect();
    for (stream, ticket) in tickets {
        session.wait_ticket(stream, ticket)?;
    }
    context.check_fault(driver()?)
}
