//! Device addresses: one huge lazy mapping, handed out in 2 MiB steps, first fit.
//! It must never know what the addresses are for.

use std::collections::BTreeMap;

use crate::mapping::{self, BLOCK};

/// The first reservation tried; halved until the system grants one.
const WISH: usize = 4 << 40;
const LEAST: usize = 4 << 30;

/// Free address ranges, by start.
#[derive(Debug)]
pub(crate) struct Arena {
    free: BTreeMap<usize, usize>,
    reserved: bool,
}

impl Arena {
    pub(crate) const fn new() -> Self {
        Self { free: BTreeMap::new(), reserved: false }
    }

    /// Addresses for `bytes`, aligned to `align` (a power of two) and to [`BLOCK`]; gives start and span. The memory there
    /// reads as zeros.
    pub(crate) fn take(&mut self, bytes: usize, align: usize) -> Option<(usize, usize)> {
        self.reserve();
        let align = align.max(BLOCK);
        let span = bytes.checked_next_multiple_of(align)?;
        let (hole, start) = self.free.iter().find_map(|(hole, length)| {
            let start = hole.checked_next_multiple_of(align)?;
            (start - hole + span <= *length).then_some((*hole, start))
        })?;
        let length = self.free.remove(&hole)?;
        if start > hole {
            self.free.insert(hole, start - hole);
        }
        if hole + length > start + span {
            self.free.insert(start + span, hole + length - start - span);
        }
        Some((start, span))
    }

    /// Takes addresses back and drops what was written there.
    pub(crate) fn give(&mut self, start: usize, span: usize) {
        if span == 0 {
            return;
        }
        mapping::discard(start, span);
        let (mut start, mut span) = (start, span);
        if let Some((before, length)) = self.free.range(..start).next_back().map(|(s, l)| (*s, *l))
            && before + length == start
        {
            self.free.remove(&before);
            start = before;
            span += length;
        }
        if let Some(length) = self.free.remove(&(start + span)) {
            span += length;
        }
        self.free.insert(start, span);
    }

    fn reserve(&mut self) {
        let mut bytes = WISH;
        while !self.reserved && bytes >= LEAST {
            if let Some(start) = mapping::reserve(bytes) {
                self.free.insert(start as usize, bytes);
                self.reserved = true;
            }
            bytes /= 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_aligned_apart_and_merge_again() {
        let mut arena = Arena::new();
        let (a, span) = arena.take(1, 1).expect("addresses");
        assert_eq!((a % BLOCK, span), (0, BLOCK));
        let (b, _) = arena.take(3 * BLOCK, 4 * BLOCK).expect("addresses");
        assert_eq!(b % (4 * BLOCK), 0);
        let (c, _) = arena.take(BLOCK + 1, 1).expect("addresses");
        assert!(c >= a + BLOCK);
        let holes = arena.free.len();
        for (start, span) in [(a, BLOCK), (c, 2 * BLOCK), (b, 4 * BLOCK)] {
            arena.give(start, span);
        }
        assert_eq!(arena.free.len(), 1, "all merged; there were {holes}");
        assert_eq!(arena.take(1, 1).map(|(s, _)| s), Some(a), "first fit");
    }
}
