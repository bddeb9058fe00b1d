//! The streams that this process has launched on: from a stream handle to its line in the tenant page. Found without a lock
//! and remembered per thread; entries are reused, never freed, so that a stale pointer is at worst a wrong line.

use crate::session::attachment::Desk;
use crate::threads;
use mgpu_cuda::types::{CUcontext, CUstream};
use mgpu_protocol::layout::StreamLine;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Streams with a line at one time; further ones are gated but not followed.
const ENTRIES: usize = 1024;
/// Slots of the index; a power of two.
const INDEX: usize = 4096;

/// Which stream a call means: the handle, with the default streams told apart by context (and thread).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    /// The handle; 1 is the legacy default stream, 2 the per-thread one.
    pub(crate) stream: usize,
    /// The context of a default stream, else 0.
    pub(crate) context: usize,
    /// The thread of a per-thread default stream, else 0.
    pub(crate) thread: u32,
}

/// The legacy default stream's handle.
pub(crate) const LEGACY: usize = 1;
/// The per-thread default stream's handle.
pub(crate) const PER_THREAD: usize = 2;

/// The explicit handle of the stream that a call means.
#[inline]
pub(crate) fn explicit(stream: CUstream, per_thread: bool) -> usize {
    match stream as usize {
        0 if per_thread => PER_THREAD,
        0 => LEGACY,
        handle => handle,
    }
}

impl Key {
    fn hash(self) -> usize {
        let mixed = (self.stream >> 4) ^ self.stream ^ (self.context >> 3) ^ ((self.thread as usize) << 7);
        mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32
    }
}

/// One stream.
#[derive(Default)]
pub(crate) struct Entry {
    stream: AtomicUsize,
    key_context: AtomicUsize,
    thread: AtomicU32,
    is_live: AtomicBool,
    /// The context that the stream belongs to.
    context: AtomicUsize,
    /// 1 + line of the grants page; 0 = a device that isn't the tenant's.
    line: AtomicU32,
    /// Its line in the tenant page; null = none was free.
    counters: AtomicPtr<StreamLine>,
    /// For `markers`: a thread is putting one in; another one is wanted.
    pub(crate) is_marking: AtomicBool,
    pub(crate) wants_mark: AtomicBool,
}

impl Entry {
    /// Live before and after: an entry that is being given to another stream has its new name before it has its new line.
    fn is(&self, key: Key) -> bool {
        self.is_live.load(Ordering::Acquire)
            && self.stream.load(Ordering::Acquire) == key.stream
            && self.key_context.load(Ordering::Acquire) == key.context
            && self.thread.load(Ordering::Acquire) == key.thread
            && self.is_live.load(Ordering::Acquire)
    }

    /// Which line of the grants page rules it; `None`: not ours.
    #[inline]
    pub(crate) fn line(&self) -> Option<usize> {
        (self.line.load(Ordering::Relaxed) as usize).checked_sub(1)
    }

    /// Its line in the tenant page, if it has one.
    #[inline]
    pub(crate) fn counters(&self) -> Option<&'static StreamLine> {
        // SAFETY: null, or a line of the leaked desk that this entry belongs to; its page is never unmapped.
        unsafe { self.counters.load(Ordering::Relaxed).as_ref() }
    }

    /// Under what it is found.
    pub(crate) fn key(&self) -> Key {
        Key {
            stream: self.stream.load(Ordering::Relaxed),
            context: self.key_context.load(Ordering::Relaxed),
            thread: self.thread(),
        }
    }

    /// Its handle, never 0.
    pub(crate) fn handle(&self) -> CUstream {
        self.stream.load(Ordering::Relaxed) as CUstream
    }

    /// Its context.
    pub(crate) fn context(&self) -> CUcontext {
        self.context.load(Ordering::Relaxed) as CUcontext
    }

    /// A per-thread default stream: only its own thread can put anything into it.
    pub(crate) fn thread(&self) -> u32 {
        self.thread.load(Ordering::Relaxed)
    }

    /// Lets the line go: once drained if the stream was destroyed, at once if nothing on it can complete, or nobody would
    /// see it complete. Gives a line that still waits for its last marker.
    fn close(&self, is_dead: bool) -> Option<&'static StreamLine> {
        self.is_live.store(false, Ordering::Release);
        let line = self.counters()?;
        if is_dead || line.has_unmarked_tail() {
            line.set_dead();
            return None;
        }
        line.set_closing();
        line.is_closing().then_some(line)
    }
}

/// See the module. One per desk, since lines belong to its page.
pub(crate) struct Streams {
    entries: Box<[Entry]>,
    /// 1 + position in `entries`; 0 = empty.
    index: Box<[AtomicU32]>,
    /// Entries that were ever used.
    high: AtomicUsize,
    /// Counts up when an entry is closed: what threads remember is void then.
    generation: AtomicUsize,
    /// Lines of destroyed streams that wait for their last marker, with their contexts: a context that ends first takes them
    /// along. Locked while lines are claimed.
    closing: Mutex<Vec<(usize, &'static StreamLine)>>,
}

impl Streams {
    pub(crate) fn new() -> Self {
        Self {
            entries: (0..ENTRIES).map(|_| Entry::default()).collect(),
            index: (0..INDEX).map(|_| AtomicU32::new(0)).collect(),
            high: AtomicUsize::new(0),
            generation: AtomicUsize::new(1),
            closing: Mutex::new(Vec::new()),
        }
    }

    /// See the field.
    #[inline]
    pub(crate) fn generation(&self) -> usize {
        self.generation.load(Ordering::Acquire)
    }

    /// The entry of `key`, if it has one.
    pub(crate) fn find(&self, key: Key) -> Option<&Entry> {
        for step in 0..INDEX {
            let slot = self.index.get((key.hash() + step) % INDEX)?;
            let place = slot.load(Ordering::Acquire).checked_sub(1)?;
            let entry = self.entries.get(place as usize)?;
            if entry.is(key) {
                return Some(entry);
            }
        }
        None
    }

    /// Makes an entry for `key`, of `context`, ruled by `line`. `None`: no room; the stream is not followed.
    pub(crate) fn add(&self, desk: &Desk, key: Key, context: CUcontext, line: Option<usize>) -> Option<&Entry> {
        let mut closing = self.closing.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(entry) = self.find(key) {
            return Some(entry);
        }
        let free = || self.entries.iter().position(|entry| !entry.is_live.load(Ordering::Acquire));
        let place = free().or_else(|| {
            // Nobody tells of the end of a thread's default stream. It can't be marked any more either.
            self.close_live(true, |entry| entry.thread() != 0 && threads::is_dead(entry.thread()), &mut closing);
            free()
        })?;
        let entry = self.entries.get(place)?;
        let device = line.and_then(|line| u32::try_from(line).ok());
        let counters = device.and_then(|line| desk.tenant().claim_stream(desk.slot, line));
        // Claiming may have freed some, for this stream or another client's: they are not ours to end any more.
        closing.retain(|(_, line)| line.is_closing() && line.owner.load(Ordering::Acquire) == desk.slot + 1);
        // Whoever sees one of these sees that the entry isn't live.
        entry.stream.store(key.stream, Ordering::Release);
        entry.key_context.store(key.context, Ordering::Release);
        entry.thread.store(key.thread, Ordering::Release);
        entry.context.store(context as usize, Ordering::Relaxed);
        entry.line.store(device.map_or(0, |line| line + 1), Ordering::Relaxed);
        let counters = counters.map_or(std::ptr::null_mut(), |line| std::ptr::from_ref(line).cast_mut());
        entry.counters.store(counters, Ordering::Relaxed);
        entry.is_live.store(true, Ordering::Release);
        self.high.fetch_max(place + 1, Ordering::AcqRel);
        self.enter_index(key, u32::try_from(place).ok()? + 1);
        Some(entry)
    }

    /// Points a slot at the entry; the index is rebuilt when it has filled up with closed ones.
    fn enter_index(&self, key: Key, place: u32) {
        let used = self.index.iter().filter(|slot| slot.load(Ordering::Relaxed) != 0).count();
        if used > INDEX / 2 {
            // A reader may miss an entry meanwhile; it then comes to `add`, which waits for us and looks again.
            self.index.iter().for_each(|slot| slot.store(0, Ordering::Release));
            let rows = self.entries.iter().zip(1_u32..).filter(|(entry, _)| entry.is_live.load(Ordering::Acquire));
            for (entry, number) in rows.filter(|(_, number)| *number != place) {
                self.put(entry.key(), number);
            }
        }
        self.put(key, place);
    }

    fn put(&self, key: Key, place: u32) {
        let free = (0..INDEX)
            .filter_map(|step| self.index.get((key.hash() + step) % INDEX))
            .find(|slot| slot.load(Ordering::Relaxed) == 0);
        if let Some(slot) = free {
            slot.store(place, Ordering::Release);
        }
    }

    /// How many streams there are at most.
    pub(crate) fn most(&self) -> u32 {
        u32::try_from(self.high.load(Ordering::Relaxed)).unwrap_or(u32::MAX)
    }

    /// All streams that are followed.
    pub(crate) fn live(&self) -> impl Iterator<Item = &Entry> {
        let high = self.high.load(Ordering::Acquire);
        self.entries.iter().take(high).filter(|entry| entry.is_live.load(Ordering::Acquire))
    }

    /// Launches in flight on the devices of grant `line`, destroyed streams left out.
    pub(crate) fn in_flight(&self, line: usize) -> u32 {
        self.of(line).fold(0, |sum, counters| sum.saturating_add(counters.in_flight()))
    }

    /// Launches that have completed there since ever; wraps.
    pub(crate) fn completed(&self, line: usize) -> u32 {
        self.of(line).fold(0, |sum, counters| sum.wrapping_add(counters.launched()).wrapping_sub(counters.in_flight()))
    }

    fn of(&self, line: usize) -> impl Iterator<Item = &'static StreamLine> {
        self.live().filter(move |entry| entry.line() == Some(line)).filter_map(Entry::counters)
    }

    /// Closes entries for which `which` says so; `is_dead`: nothing on them will complete.
    pub(crate) fn close(&self, is_dead: bool, which: impl Fn(&Entry) -> bool) {
        self.close_live(is_dead, which, &mut self.closing.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Nothing in `context` will complete any more, also on streams that were destroyed with work pending.
    pub(crate) fn set_dead(&self, context: CUcontext) {
        let mut closing = self.closing.lock().unwrap_or_else(PoisonError::into_inner);
        for (_, line) in closing.extract_if(.., |(of, _)| *of == context as usize) {
            line.set_dead();
        }
        let live = self.live().filter(|entry| entry.context() == context);
        live.filter_map(Entry::counters).for_each(StreamLine::set_dead);
    }

    fn close_live(
        &self,
        is_dead: bool,
        which: impl Fn(&Entry) -> bool,
        closing: &mut Vec<(usize, &'static StreamLine)>,
    ) {
        let mut closed = false;
        for entry in self.live().filter(|entry| which(entry)) {
            closing.extend(entry.close(is_dead).map(|line| (entry.context() as usize, line)));
            closed = true;
        }
        if closed {
            self.generation.fetch_add(1, Ordering::AcqRel);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mgpu_protocol::page::Mapping;

    fn desk() -> &'static Desk {
        Desk::leak(Mapping::private().unwrap(), 0).unwrap()
    }

    fn key(stream: usize) -> Key {
        Key { stream, context: 0, thread: 0 }
    }

    fn add(desk: &'static Desk, key: Key) -> Option<&'static Entry> {
        desk.streams.add(desk, key, 0x10 as CUcontext, Some(1))
    }

    #[test]
    fn default_streams_have_explicit_handles() {
        assert_eq!(explicit(std::ptr::null_mut(), false), LEGACY);
        assert_eq!(explicit(std::ptr::null_mut(), true), PER_THREAD);
        assert_eq!(explicit(0x70 as CUstream, true), 0x70);
    }

    #[test]
    fn a_stream_keeps_its_entry_and_its_line() {
        let desk = desk();
        let entry = add(desk, key(0x100)).unwrap();
        assert!(std::ptr::eq(add(desk, key(0x100)).unwrap(), entry));
        assert!(std::ptr::eq(desk.streams.find(key(0x100)).unwrap(), entry));
        assert!(desk.streams.find(key(0x200)).is_none());
        assert_eq!((entry.line(), entry.handle() as usize), (Some(1), 0x100));
        entry.counters().unwrap().count_launch();
        assert_eq!((desk.streams.in_flight(1), desk.streams.in_flight(0)), (1, 0));
    }

    #[test]
    fn default_streams_differ_by_context_and_thread() {
        let desk = desk();
        let mine = add(desk, Key { stream: PER_THREAD, context: 7, thread: 1 }).unwrap();
        let yours = add(desk, Key { stream: PER_THREAD, context: 7, thread: 2 }).unwrap();
        let legacy = add(desk, Key { stream: LEGACY, context: 7, thread: 0 }).unwrap();
        assert!(!std::ptr::eq(mine, yours) && !std::ptr::eq(mine, legacy));
    }

    #[test]
    fn a_destroyed_stream_is_forgotten_and_its_handle_may_come_back() {
        let desk = desk();
        let before = desk.streams.generation();
        let line = add(desk, key(0x100)).unwrap().counters().unwrap();
        line.note_marked(line.count_launch());
        desk.streams.close(false, |entry| entry.handle() as usize == 0x100);
        assert!(desk.streams.find(key(0x100)).is_none());
        assert_ne!(desk.streams.generation(), before, "what threads remember is void");
        assert!(!line.is_reusable(), "its work still runs");
        let again = add(desk, key(0x100)).unwrap();
        assert!(!std::ptr::eq(again.counters().unwrap(), line));
    }

    #[test]
    fn a_context_that_ends_takes_its_destroyed_streams_along() {
        let desk = desk();
        let lines: Vec<_> = (1..4)
            .map(|stream| {
                let context = if stream == 3 { 0x20 } else { 0x10 };
                let entry = desk.streams.add(desk, key(stream << 8), context as CUcontext, Some(1)).unwrap();
                let line = entry.counters().unwrap();
                line.note_marked(line.count_launch());
                line
            })
            .collect();
        desk.streams.close(false, |entry| entry.handle() as usize != 0x200);
        assert!(lines.iter().all(|line| line.in_flight() == 1), "their markers may still land");
        desk.streams.set_dead(0x10 as CUcontext);
        let in_flight: Vec<_> = lines.iter().map(|line| line.in_flight()).collect();
        assert_eq!(in_flight, [0, 0, 1], "destroyed, live, another context's");
    }

    #[test]
    fn a_line_that_another_client_has_taken_over_is_not_ended() {
        let desk = desk();
        let line = add(desk, key(0x100)).unwrap().counters().unwrap();
        line.note_marked(line.count_launch());
        desk.streams.close(false, |_| true);
        line.free();
        assert!(line.claim(desk.slot + 1, 1));
        assert!(add(desk, key(0x200)).is_some());
        line.count_launch();
        desk.streams.set_dead(0x10 as CUcontext);
        assert_eq!(line.in_flight(), 1);
    }

    #[test]
    fn a_destroyed_stream_that_nobody_can_mark_claims_nothing() {
        let desk = desk();
        let line = add(desk, key(0x100)).unwrap().counters().unwrap();
        line.count_launch();
        desk.streams.close(false, |_| true);
        assert_eq!(line.in_flight(), 0);
        assert!(line.is_reusable());
    }

    #[test]
    fn streams_come_and_go_without_end() {
        let desk = desk();
        for stream in 3..20_000 {
            let entry = add(desk, key(stream << 8)).unwrap();
            assert!(entry.counters().is_some(), "no line for stream {stream}");
            if stream > 500 {
                desk.streams.close(false, |entry| entry.handle() as usize == (stream - 400) << 8);
            }
            assert!(desk.streams.find(key(stream << 8)).is_some());
        }
    }

    #[test]
    fn a_stream_too_many_is_not_followed_until_one_goes() {
        let desk = desk();
        for stream in 0..ENTRIES {
            assert!(add(desk, key(0x1000 + stream)).is_some());
        }
        assert!(add(desk, key(5)).is_none());
        desk.streams.close(true, |entry| entry.handle() as usize == 0x1000);
        assert!(add(desk, key(5)).is_some());
    }

    #[test]
    fn default_streams_of_ended_threads_make_room() {
        let desk = desk();
        let ended = std::thread::spawn(threads::id).join().unwrap();
        for context in 1..=ENTRIES {
            assert!(add(desk, Key { stream: PER_THREAD, context, thread: ended }).is_some());
        }
        assert!(add(desk, key(5)).is_some());
        assert_eq!(desk.streams.live().count(), 1);
    }
}
