//! A map from 64-bit keys (addresses, block numbers) for many threads: spread over locked shards, so that two threads seldom
//! meet. Looked up by key only, never walked in an order that a hash decides.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::{Mutex, MutexGuard, PoisonError};

const SHARDS: usize = 64;

/// One multiplication: keys are addresses, nobody chooses them to collide but their own process.
#[derive(Default)]
pub(crate) struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }
    fn write_u64(&mut self, key: u64) {
        self.0 = spread(self.0 ^ key);
    }
}

fn spread(key: u64) -> u64 {
    let product = key.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    product ^ (product >> 32)
}

type Shard<V> = HashMap<u64, V, BuildHasherDefault<KeyHasher>>;

pub(crate) struct Sharded<V> {
    shards: [Mutex<Shard<V>>; SHARDS],
}

impl<V> Default for Sharded<V> {
    fn default() -> Self {
        Self { shards: std::array::from_fn(|_| Mutex::default()) }
    }
}

impl<V> Sharded<V> {
    /// The shard that `key` lives in, locked.
    pub(crate) fn shard(&self, key: u64) -> MutexGuard<'_, Shard<V>> {
        // The low bits pick the bucket inside the shard, so take other ones here.
        let index = usize::try_from(spread(key) >> 20).unwrap_or(0) % SHARDS;
        #[allow(clippy::indexing_slicing, reason = "reduced modulo the length")]
        lock(&self.shards[index])
    }

    /// Removes every entry for which `gone` says so; hands them to `each` (in no particular order).
    pub(crate) fn extract(&self, mut gone: impl FnMut(&V) -> bool, mut each: impl FnMut(u64, V)) {
        for shard in &self.shards {
            let taken: Vec<(u64, V)> = lock(shard).extract_if(|_, value| gone(value)).collect();
            taken.into_iter().for_each(|(key, value)| each(key, value));
        }
    }

    /// Number of entries.
    pub(crate) fn len(&self) -> usize {
        self.shards.iter().map(|shard| lock(shard).len()).sum()
    }
}

/// A panic while a lock is held can't leave these maps half-changed, so poison means nothing.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
