//! Leases: bytes that the coordinator has given to one client on one device and that the client has not used. One word, moved
//! only by single atomic operations, so that a kill at any instruction loses nothing: what isn't in the word is used, and the
//! coordinator knows the sum.
//!
//! ```text
//! coordinator: give(+)   take_up_to(-)        client: take(-)   put_back(+)       sibling, coordinator away: take_up_to(-)
//! ```
//! Bytes are conserved: `given = word + used`, whoever moves them in whatever order.

use crate::sync::{AtomicU64, Ordering};

/// The client uses `bytes` of its lease: all of them or none.
#[inline]
#[must_use]
pub fn take(word: &AtomicU64, bytes: u64) -> bool {
    let mut rest = word.load(Ordering::Relaxed);
    loop {
        let Some(less) = rest.checked_sub(bytes) else { return false };
        match word.compare_exchange_weak(rest, less, Ordering::AcqRel, Ordering::Relaxed) {
            Ok(_) => return true,
            Err(now) => rest = now,
        }
    }
}

/// Takes at most `bytes` out of a lease; gives how many. For the coordinator, and for siblings while it is away.
#[must_use = "bytes that are taken and dropped are lost to the tenant"]
pub fn take_up_to(word: &AtomicU64, bytes: u64) -> u64 {
    let mut rest = word.load(Ordering::Relaxed);
    loop {
        let part = rest.min(bytes);
        if part == 0 {
            return 0;
        }
        match word.compare_exchange_weak(rest, rest - part, Ordering::AcqRel, Ordering::Relaxed) {
            Ok(_) => return part,
            Err(now) => rest = now,
        }
    }
}

/// Empties a lease; gives what was in it. For a client that leaves its page, and for the coordinator at a client's death.
pub fn take_all(word: &AtomicU64) -> u64 {
    word.swap(0, Ordering::AcqRel)
}

/// The client no longer uses `bytes` that it had taken.
#[inline]
pub fn put_back(word: &AtomicU64, bytes: u64) {
    word.fetch_add(bytes, Ordering::AcqRel);
}

/// The coordinator adds `bytes` (already in its own books as given).
pub fn give(word: &AtomicU64, bytes: u64) {
    put_back(word, bytes);
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_lease_gives_what_it_has_and_no_more() {
        let word = AtomicU64::new(0);
        assert!(!take(&word, 1));
        give(&word, 10);
        assert!(take(&word, 7));
        assert!(!take(&word, 4));
        assert_eq!(take_up_to(&word, 100), 3);
        assert_eq!(take_up_to(&word, 100), 0);
        put_back(&word, 7);
        assert_eq!(take_all(&word), 7);
    }
}
