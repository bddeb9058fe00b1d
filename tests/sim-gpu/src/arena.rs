//! Ranges handed out of chunks: what is behind both the driver's shared blocks and a stream-ordered pool. Sizes only.

use std::collections::BTreeMap;

/// Where a range lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) chunk: u64,
    pub(crate) offset: u64,
    pub(crate) bytes: u64,
}

#[derive(Debug)]
struct Chunk {
    bytes: u64,
    used: u64,
    /// Free ranges, offset → length; neighbours are always merged.
    free: BTreeMap<u64, u64>,
}

/// Chunks of one owner (a context's small allocations, a pool).
#[derive(Debug, Default)]
pub(crate) struct Arena {
    /// By number; numbers only grow.
    chunks: BTreeMap<u64, Chunk>,
    pub(crate) reserved: u64,
    pub(crate) used: u64,
}

impl Arena {
    /// First fit, in the oldest chunk that has room.
    pub(crate) fn take(&mut self, bytes: u64) -> Option<Place> {
        for (number, chunk) in &mut self.chunks {
            if chunk.bytes - chunk.used < bytes {
                continue;
            }
            let Some((offset, length)) = chunk.free.iter().find(|(_, l)| **l >= bytes).map(|(o, l)| (*o, *l)) else {
                continue;
            };
            chunk.free.remove(&offset);
            if length > bytes {
                chunk.free.insert(offset + bytes, length - bytes);
            }
            chunk.used += bytes;
            self.used += bytes;
            return Some(Place { chunk: *number, offset, bytes });
        }
        None
    }

    /// `number` is new, and above all before it.
    pub(crate) fn add_chunk(&mut self, number: u64, bytes: u64) {
        let chunk = Chunk { bytes, used: 0, free: BTreeMap::from([(0, bytes)]) };
        self.chunks.insert(number, chunk);
        self.reserved += bytes;
    }

    pub(crate) fn chunk_bytes(&self, number: u64) -> Option<u64> {
        self.chunks.get(&number).map(|chunk| chunk.bytes)
    }

    /// Gives a range back; its chunk stays until [`Arena::release`]. Returns whether that chunk is unused now.
    pub(crate) fn give(&mut self, place: Place) -> bool {
        let Some(chunk) = self.chunks.get_mut(&place.chunk) else { return false };
        chunk.used -= place.bytes;
        self.used -= place.bytes;
        let (mut offset, mut bytes) = (place.offset, place.bytes);
        if let Some((before, length)) = chunk.free.range(..offset).next_back().map(|(o, l)| (*o, *l))
            && before + length == offset
        {
            chunk.free.remove(&before);
            (offset, bytes) = (before, bytes + length);
        }
        if let Some(length) = chunk.free.remove(&(offset + bytes)) {
            bytes += length;
        }
        chunk.free.insert(offset, bytes);
        chunk.used == 0
    }

    /// Drops unused chunks, newest first, while more than `keep` bytes are reserved. Returns the bytes dropped.
    pub(crate) fn release(&mut self, keep: u64) -> u64 {
        let mut dropped = 0;
        while self.reserved > keep {
            let Some(number) = self.chunks.iter().rev().find(|(_, c)| c.used == 0).map(|(n, _)| *n) else { break };
            let bytes = self.chunks.remove(&number).map_or(0, |c| c.bytes);
            self.reserved -= bytes;
            dropped += bytes;
        }
        dropped
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_merge_again() {
        let mut arena = Arena::default();
        arena.add_chunk(1, 1024);
        let places: Vec<_> = (0..4).map(|_| arena.take(256).unwrap()).collect();
        assert_eq!(arena.take(1), None);
        for index in [1, 3, 2] {
            arena.give(places[index]);
        }
        assert_eq!((arena.used, arena.reserved), (256, 1024));
        assert_eq!(arena.take(768).unwrap().bytes, 768);
        assert_eq!(arena.release(0), 0);
        arena.give(places[0]);
        assert_eq!(arena.release(0), 0);
    }

    #[test]
    fn release_keeps_what_is_asked() {
        let mut arena = Arena::default();
        for number in 0..4 {
            arena.add_chunk(number, 100);
        }
        let held = arena.take(50).unwrap();
        assert_eq!(arena.release(250), 200);
        assert_eq!(arena.release(0), 100);
        arena.give(held);
        assert_eq!(arena.release(0), 100);
        assert_eq!((arena.used, arena.reserved), (0, 0));
    }
}
