//! Handles that can be checked: fixed cells in one reserved range per kind of object.
//!
//! A handle is a cell's address, so a wild or stale handle is told from a live one by arithmetic and one load, without
//! a lock (the launch path does this for its function and its stream). Cells are initialised once and never dropped or
//! moved: a reused cell is refilled through shared references only, so even a racing use after destroy stays sound.
//! It must never know what the objects are.

use std::mem::MaybeUninit;
use std::ptr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

use crate::sync::lock;

#[repr(C)]
struct Cell<T> {
    value: MaybeUninit<T>,
    live: AtomicU32,
}

/// All objects of one kind. `T::default()` builds a cell once; whoever takes a cell sets its fields through `&T`.
pub(crate) struct Slots<T: 'static> {
    base: AtomicPtr<Cell<T>>,
    built: AtomicU32,
    capacity: u32,
    free: Mutex<Vec<u32>>,
}

impl<T: Default + Send + Sync> Slots<T> {
    /// A kind with room for `capacity` objects at a time; nothing is reserved before the first one.
    pub(crate) const fn new(capacity: u32) -> Self {
        Self { base: AtomicPtr::new(ptr::null_mut()), built: AtomicU32::new(0), capacity, free: Mutex::new(Vec::new()) }
    }

    /// Takes a dead cell and lets `fill` set it before any other thread can find it. `None`: no room left.
    pub(crate) fn insert(&self, fill: impl FnOnce(&'static T)) -> Option<&'static T> {
        let mut free = lock(&self.free);
        let base = self.reserve()?;
        let index = match free.pop() {
            Some(index) => index,
            None => self.build_next(base)?,
        };
        drop(free);
        // SAFETY: `index` < `built`, so the cell is initialised and lies in the reserved range, which is never unmapped.
        let cell: &'static Cell<T> = unsafe { &*base.wrapping_add(index as usize) };
        // SAFETY: built cells hold a `T` that is never dropped.
        let value = unsafe { cell.value.assume_init_ref() };
        fill(value);
        cell.live.store(1, Ordering::Release);
        Some(value)
    }

    /// The object behind `handle`, or `None` for any address that is not a live one of this kind.
    #[inline]
    pub(crate) fn get(&self, handle: *const ()) -> Option<&'static T> {
        let cell = self.cell(handle)?;
        if cell.live.load(Ordering::Acquire) == 0 {
            return None;
        }
        // SAFETY: `cell` only returns built cells, which hold a `T` that is never dropped.
        Some(unsafe { cell.value.assume_init_ref() })
    }

    /// Ends `handle`. Exactly one caller gets the object (to tear it down) and then gives the cell back.
    pub(crate) fn remove(&self, handle: *const ()) -> Option<&'static T> {
        let cell = self.cell(handle)?;
        if cell.live.swap(0, Ordering::AcqRel) == 0 {
            return None;
        }
        // SAFETY: as in `get`.
        Some(unsafe { cell.value.assume_init_ref() })
    }

    /// Makes the cell of a removed object available again.
    pub(crate) fn recycle(&self, value: &'static T) {
        let base = self.base.load(Ordering::Acquire);
        let offset = (ptr::from_ref(value) as usize).wrapping_sub(base as usize);
        if let Ok(index) = u32::try_from(offset / size_of::<Cell<T>>()) {
            lock(&self.free).push(index);
        }
    }

    /// Every live object, in the order of their cells.
    pub(crate) fn live(&self) -> impl Iterator<Item = &'static T> + '_ {
        let base = self.base.load(Ordering::Acquire);
        (0..self.built.load(Ordering::Acquire) as usize).filter_map(move |i| self.get(base.wrapping_add(i).cast()))
    }

    #[inline]
    fn cell(&self, handle: *const ()) -> Option<&'static Cell<T>> {
        let built = self.built.load(Ordering::Acquire) as usize;
        let base = self.base.load(Ordering::Relaxed);
        let offset = (handle as usize).wrapping_sub(base as usize);
        if offset >= built * size_of::<Cell<T>>() || !offset.is_multiple_of(size_of::<Cell<T>>()) {
            return None;
        }
        // SAFETY: inside the reserved range, on a cell boundary, and below `built`, which was published after the cell.
        Some(unsafe { &*handle.cast::<Cell<T>>() })
    }

    fn reserve(&self) -> Option<*mut Cell<T>> {
        let base = self.base.load(Ordering::Acquire);
        if !base.is_null() {
            return Some(base);
        }
        let base = crate::mapping::reserve(self.capacity as usize * size_of::<Cell<T>>())?.cast::<Cell<T>>();
        self.base.store(base, Ordering::Release);
        Some(base)
    }

    fn build_next(&self, base: *mut Cell<T>) -> Option<u32> {
        let index = self.built.load(Ordering::Relaxed);
        if index == self.capacity {
            return None;
        }
        let cell = Cell { value: MaybeUninit::new(T::default()), live: AtomicU32::new(0) };
        // SAFETY: inside the reserved, writable range; nobody else refers to a cell that is not below `built` yet, and
        // the caller holds the lock of the free list.
        unsafe { base.wrapping_add(index as usize).write(cell) };
        self.built.store(index + 1, Ordering::Release);
        Some(index)
    }
}

/// The handle of an object that lives in a [`Slots`].
#[inline]
pub(crate) fn handle_of<T>(value: &'static T) -> *mut () {
    // `Cell` is repr(C) with the value first, so the two addresses are the same.
    ptr::from_ref(value).cast_mut().cast()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU64;

    static THINGS: Slots<AtomicU64> = Slots::new(4);

    #[test]
    fn only_live_handles_are_found() {
        assert!(THINGS.get(ptr::null()).is_none());
        let one = THINGS.insert(|v| v.store(7, Ordering::Relaxed)).expect("room for one");
        let handle = handle_of(one);
        assert_eq!(THINGS.get(handle).map(|v| v.load(Ordering::Relaxed)), Some(7));
        assert!(THINGS.get(handle.wrapping_byte_add(1)).is_none());
        assert!(THINGS.get(0x10_usize as *const ()).is_none());
        let removed = THINGS.remove(handle).expect("it was live");
        assert!(THINGS.remove(handle).is_none());
        assert!(THINGS.get(handle).is_none());
        THINGS.recycle(removed);
        let again = THINGS.insert(|v| v.store(8, Ordering::Relaxed)).expect("the cell came back");
        assert_eq!(handle_of(again), handle);
        let more: Vec<_> = (0..4).map_while(|_| THINGS.insert(|_| ())).collect();
        assert_eq!(more.len(), 3, "capacity is a bound");
    }
}
