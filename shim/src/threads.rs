//! Each thread's own line in the tenant page, and what it remembers of its last launch, in its [`crate::local`] block.

use crate::local::{self, Local};
use crate::session::attachment::Desk;
use crate::streams::Entry;
use mgpu_protocol::layout::{ClientSlot, ThreadLine};
use std::ptr;

/// Positions in [`Local::user`].
const DESK: usize = 0;
const STREAM: usize = 1;
const CONTEXT: usize = 2;
const ENTRY: usize = 3;
const GENERATION: usize = 4;

/// The calling thread's id, as the kernel knows it.
pub(crate) fn id() -> u32 {
    // SAFETY: no arguments, no effect.
    let id = unsafe { libc::syscall(libc::SYS_gettid) };
    u32::try_from(id).unwrap_or(0)
}

/// Whether thread `id` of this process is gone.
pub(crate) fn is_dead(id: u32) -> bool {
    let process = libc::c_long::from(std::process::id());
    // SAFETY: signal 0 is never delivered; this only asks whether the thread exists.
    let result = unsafe { libc::syscall(libc::SYS_tgkill, process, libc::c_long::from(id), 0) };
    result != 0 && std::io::Error::last_os_error().raw_os_error() == Some(libc::ESRCH)
}

/// Where a thread says that it is entering.
#[derive(Clone, Copy)]
pub(crate) enum Place {
    /// Its own line.
    Own(&'static ThreadLine),
    /// The counter that threads without a line share.
    Shared(&'static ClientSlot),
}

impl Place {
    pub(crate) fn enter(self) {
        match self {
            Self::Own(line) => line.enter(),
            Self::Shared(slot) => slot.enter_overflow(),
        }
    }

    pub(crate) fn leave(self) {
        match self {
            Self::Own(line) => line.leave(),
            Self::Shared(slot) => slot.leave_overflow(),
        }
    }
}

/// The calling thread's place at `desk`; claims a line on its first visit.
pub(crate) fn place(desk: &'static Desk) -> Place {
    let local = local::get();
    if word(local, DESK) == address(desk) {
        // SAFETY: null, or the line that this thread claimed at this desk, whose page is never unmapped.
        if let Some(line) = unsafe { local.line.get().cast::<ThreadLine>().as_ref() } {
            return Place::Own(line);
        }
        return Place::Shared(desk.client());
    }
    forget(local);
    let claimed = desk.tenant().claim_thread(desk.slot, id(), is_dead);
    local.line.set(claimed.map_or(ptr::null(), |line| ptr::from_ref(line).cast()));
    set(local, DESK, address(desk));
    claimed.map_or(Place::Shared(desk.client()), Place::Own)
}

/// What the thread needs for a launch like its last one.
#[derive(Clone, Copy)]
pub(crate) struct Remembered {
    pub(crate) line: &'static ThreadLine,
    pub(crate) entry: &'static Entry,
    /// The context that was current then.
    pub(crate) context: usize,
}

/// The last launch's finds, if it was at the same desk and on the same stream, and no stream was closed since.
#[inline]
pub(crate) fn remembered(desk: &'static Desk, stream: usize) -> Option<Remembered> {
    let local = local::get();
    if word(local, DESK) != address(desk)
        || word(local, STREAM) != stream
        || word(local, GENERATION) != desk.streams.generation()
    {
        return None;
    }
    // SAFETY: null, or this thread's line at this desk (leaked, never unmapped).
    let line = unsafe { local.line.get().cast::<ThreadLine>().as_ref() }?;
    // SAFETY: null, or an entry of this desk (leaked).
    let entry = unsafe { (word(local, ENTRY) as *const Entry).as_ref() }?;
    Some(Remembered { line, entry, context: word(local, CONTEXT) })
}

/// Remembers a stream for the next launch. Only after [`place`] at the same desk.
pub(crate) fn remember(stream: usize, context: usize, entry: &'static Entry, generation: usize) {
    let local = local::get();
    set(local, STREAM, stream);
    set(local, CONTEXT, context);
    set(local, ENTRY, ptr::from_ref(entry) as usize);
    set(local, GENERATION, generation);
}

fn forget(local: &Local) {
    local.line.set(ptr::null());
    [DESK, STREAM, CONTEXT, ENTRY, GENERATION].into_iter().for_each(|place| set(local, place, 0));
}

#[inline]
fn address(desk: &Desk) -> usize {
    ptr::from_ref(desk) as usize
}

#[inline]
fn word(local: &Local, place: usize) -> usize {
    local.user.get(place).map_or(0, std::cell::Cell::get)
}

#[inline]
fn set(local: &Local, place: usize, value: usize) {
    if let Some(cell) = local.user.get(place) {
        cell.set(value);
    }
}
