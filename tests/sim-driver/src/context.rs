//! Contexts and each thread's stack of them.
//! It must never know what a context's streams or allocations are; it asks their modules to drop them.

use std::cell::Cell;
use std::ptr;
use std::sync::atomic::{AtomicI32, AtomicPtr, AtomicU32, AtomicU64, Ordering};

use mgpu_sim_link::{ContextId, StreamKind, burn, now_ns};

use crate::error::{CONTEXT_IS_DESTROYED, Fail, INVALID_CONTEXT, INVALID_DEVICE, OUT_OF_MEMORY, Res};
use crate::slots::{Slots, handle_of};
use crate::state::{Device, Driver, driver, next_id};
use crate::stream::{self, Stream};

pub(crate) const LIMITS: usize = 16;

/// A context. Fields are set when it is made and when a primary one comes to life again.
#[derive(Debug, Default)]
pub(crate) struct Context {
    /// Ordinal of its device in this process.
    pub(crate) ordinal: AtomicI32,
    pub(crate) link: AtomicU32,
    /// New for each life.
    pub(crate) id: AtomicU64,
    pub(crate) flags: AtomicU32,
    pub(crate) version: AtomicU32,
    pub(crate) primary: AtomicU32,
    pub(crate) cache_config: AtomicU32,
    pub(crate) limits: [AtomicU64; LIMITS],
    /// Blocking streams of this context that are being captured: the legacy stream is forbidden meanwhile.
    pub(crate) capturing: AtomicU32,
    pub(crate) peers: AtomicU64,
    /// Usages by `cuCtxAttach`, the creation included.
    pub(crate) attached: AtomicU32,
    legacy: AtomicPtr<Stream>,
}

pub(crate) static CONTEXTS: Slots<Context> = Slots::new(1 << 12);

impl Context {
    pub(crate) fn link_id(&self) -> ContextId {
        ContextId(self.link.load(Ordering::Relaxed))
    }

    pub(crate) fn id(&self) -> u64 {
        self.id.load(Ordering::Relaxed)
    }

    pub(crate) fn device(&self, driver: &'static Driver) -> Res<&'static Device> {
        device(driver, self.ordinal.load(Ordering::Relaxed))
    }

    pub(crate) fn legacy_stream(&self) -> Res<&'static Stream> {
        // SAFETY: set from a `&'static Stream` of the slots before the context became reachable.
        unsafe { self.legacy.load(Ordering::Acquire).as_ref() }.ok_or(INVALID_CONTEXT)
    }

    /// The sticky fault, as an error for whatever is called next.
    ///
    /// # Errors
    /// The fault's code.
    pub(crate) fn check_fault(&self, driver: &Driver) -> Res {
        match driver.session.fault(self.link_id()) {
            0 => Ok(()),
            code => Err(Fail(code)),
        }
    }
}

/// The device with this ordinal.
///
/// # Errors
/// [`INVALID_DEVICE`].
pub(crate) fn device(driver: &'static Driver, ordinal: i32) -> Res<&'static Device> {
    usize::try_from(ordinal).ok().and_then(|i| driver.devices.get(i)).ok_or(INVALID_DEVICE)
}

/// Makes a context and its default stream.
///
/// # Errors
/// [`INVALID_DEVICE`]; [`OUT_OF_MEMORY`] when its overhead does not fit.
pub(crate) fn create(ordinal: i32, flags: u32, primary: bool) -> Res<&'static Context> {
    let driver = driver()?;
    let device = device(driver, ordinal)?;
    let start = now_ns();
    let link = driver.session.create_context(device.index)?;
    burn(start, driver.costs.context_ns);
    let id = next_id();
    let context = CONTEXTS.insert(|c| {
        c.ordinal.store(ordinal, Ordering::Relaxed);
        c.link.store(link.0, Ordering::Relaxed);
        c.id.store(id, Ordering::Relaxed);
        c.flags.store(flags, Ordering::Relaxed);
        c.version.store(13_000, Ordering::Relaxed);
        c.primary.store(u32::from(primary), Ordering::Relaxed);
        c.cache_config.store(0, Ordering::Relaxed);
        c.capturing.store(0, Ordering::Relaxed);
        c.peers.store(0, Ordering::Relaxed);
        c.attached.store(1, Ordering::Relaxed);
        for (limit, value) in c.limits.iter().zip(DEFAULT_LIMITS) {
            limit.store(value, Ordering::Relaxed);
        }
    });
    let context = context.ok_or(OUT_OF_MEMORY)?;
    let legacy = stream::create(context, StreamKind::Legacy, 0, 0)?;
    context.legacy.store(ptr::from_ref(legacy).cast_mut(), Ordering::Release);
    Ok(context)
}

/// Stack size, printf buffer, heap, sync depth, pending launches, L2 fetch, persisting L2, shared memory, …; bytes or counts.
const DEFAULT_LIMITS: [u64; LIMITS] = [1024, 1 << 20, 8 << 20, 2, 2048, 128, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];

/// Ends a context with all that is in it. The link drops its streams, allocations and modules with one call.
///
/// # Errors
/// [`INVALID_CONTEXT`] when it is not live.
pub(crate) fn destroy(handle: *const ()) -> Res {
    let driver = driver()?;
    let context = CONTEXTS.remove(handle).ok_or(INVALID_CONTEXT)?;
    crate::capture::drop_context(context);
    stream::drop_context(context);
    crate::event::drop_context(context);
    crate::array::drop_context(context);
    crate::memory::drop_context(context);
    crate::module::drop_context(context);
    let result = driver.session.destroy_context(context.link_id());
    CONTEXTS.recycle(context);
    result.map_err(Fail::from)
}

const DEPTH: usize = 64;

struct Stack {
    depth: Cell<usize>,
    items: [Cell<*const Context>; DEPTH],
    /// Ids of the lives that were pushed: a recycled cell is another context.
    ids: [Cell<u64>; DEPTH],
}

thread_local! {
    // No destructor: exit handlers of a client may still call in.
    static STACK: Stack = const {
        Stack { depth: Cell::new(0), items: [const { Cell::new(ptr::null()) }; DEPTH], ids: [const { Cell::new(0) }; DEPTH] }
    };
}

/// The calling thread's current context.
///
/// # Errors
/// [`INVALID_CONTEXT`] when there is none, [`CONTEXT_IS_DESTROYED`] when it is gone.
#[inline]
pub(crate) fn current() -> Res<&'static Context> {
    let (handle, id) = top().ok_or(INVALID_CONTEXT)?;
    live(handle, id).ok_or(CONTEXT_IS_DESTROYED)
}

#[inline]
fn live(handle: *const Context, id: u64) -> Option<&'static Context> {
    CONTEXTS.get(handle.cast()).filter(|c| c.id() == id)
}

#[inline]
fn top() -> Option<(*const Context, u64)> {
    STACK.with(|s| {
        let depth = s.depth.get();
        (depth > 0).then(|| (s.items[depth - 1].get(), s.ids[depth - 1].get()))
    })
}

/// The current context's handle, or null; a destroyed one is still named.
pub(crate) fn current_handle() -> *mut () {
    top().map_or(ptr::null_mut(), |(handle, _)| handle.cast_mut().cast())
}

/// The live context behind a handle.
///
/// # Errors
/// [`INVALID_CONTEXT`].
pub(crate) fn find(handle: *const ()) -> Res<&'static Context> {
    CONTEXTS.get(handle).ok_or(INVALID_CONTEXT)
}

/// Makes `context` current above what was.
///
/// # Errors
/// [`OUT_OF_MEMORY`] when the stack is full.
pub(crate) fn push(context: &'static Context) -> Res {
    STACK.with(|s| {
        let depth = s.depth.get();
        if depth == DEPTH {
            return Err(OUT_OF_MEMORY);
        }
        s.items[depth].set(context);
        s.ids[depth].set(context.id());
        s.depth.set(depth + 1);
        Ok(())
    })
}

/// Takes the current context off and gives its handle.
///
/// # Errors
/// [`INVALID_CONTEXT`] when the stack is empty.
pub(crate) fn pop() -> Res<*mut ()> {
    STACK.with(|s| {
        let depth = s.depth.get();
        if depth == 0 {
            return Err(INVALID_CONTEXT);
        }
        s.depth.set(depth - 1);
        Ok(s.items[depth - 1].get().cast_mut().cast())
    })
}

/// Replaces the current context; `None` only takes it off.
///
/// # Errors
/// As [`push`].
pub(crate) fn set(context: Option<&'static Context>) -> Res {
    STACK.with(|s| s.depth.set(s.depth.get().saturating_sub(1)));
    context.map_or(Ok(()), push)
}

/// Takes `handle` off when it is the current one (for `cuCtxDestroy`).
pub(crate) fn pop_if_current(handle: *const ()) {
    if current_handle().cast_const() == handle {
        STACK.with(|s| s.depth.set(s.depth.get().saturating_sub(1)));
    }
}

/// The handle of a context.
pub(crate) fn handle(context: &'static Context) -> *mut () {
    handle_of(context)
}
