//! The money: lease words, and what this process has taken out of them. Every byte that the process uses went through
//! [`Purse::take`]; what it no longer uses goes back through [`Purse::put_back`].
//!
//! Which words those are changes when the coordinator is replaced ([`Purse::exchange`]): taking, putting back and exchanging
//! exclude each other, so that the amount carried over to the new coordinator is exact.

use mgpu_protocol::layout::MAX_DEVICES;
use mgpu_protocol::lease;
use mgpu_protocol::sync::{AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

/// Where this process's lease words live: its slot in a tenant page, or private memory.
pub trait LeaseWords: Send + Sync {
    /// The word for the process's device `ordinal`; `None` if the tenant has no such device (its memory is not counted).
    fn word(&self, ordinal: usize) -> Option<&AtomicU64>;
}

/// Lease words of this process alone, filled once: what a client without a coordinator enforces.
#[derive(Debug, Default)]
pub struct OwnWords(pub [Option<AtomicU64>; MAX_DEVICES]);

impl LeaseWords for OwnWords {
    fn word(&self, ordinal: usize) -> Option<&AtomicU64> {
        self.0.get(ordinal)?.as_ref()
    }
}

/// See the module. `W` is a shared handle, cheap to clone out of nothing: a `&'static` in the shim.
pub struct Purse<W> {
    words: RwLock<Option<W>>,
    used: [AtomicU64; MAX_DEVICES],
}

impl<W> Default for Purse<W> {
    fn default() -> Self {
        Self { words: RwLock::new(None), used: Default::default() }
    }
}

/// Why nothing was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Short {
    /// The lease word holds less: ask the coordinator for more, then try again.
    Lease,
    /// There are no words yet: attach first.
    Unattached,
}

impl<W: LeaseWords> Purse<W> {
    /// Takes `bytes` of device `ordinal`'s lease: all or nothing. A device that isn't the tenant's costs nothing.
    ///
    /// # Errors
    /// See [`Short`]; nothing was taken.
    pub fn take(&self, ordinal: usize, bytes: u64) -> Result<(), Short> {
        let words = self.words();
        let words = words.as_ref().ok_or(Short::Unattached)?;
        let Some(word) = words.word(ordinal) else { return Ok(()) };
        if !lease::take(word, bytes) {
            return Err(Short::Lease);
        }
        self.used(ordinal).fetch_add(bytes, Ordering::Relaxed);
        Ok(())
    }

    /// Gives `bytes` back to the lease, for any client of the tenant to use at once.
    pub fn put_back(&self, ordinal: usize, bytes: u64) {
        let words = self.words();
        let Some(word) = words.as_ref().and_then(|words| words.word(ordinal)) else { return };
        // Before the word rises: a reader of both must never see more in use than was given.
        self.used(ordinal).fetch_sub(bytes, Ordering::Relaxed);
        lease::put_back(word, bytes);
    }

    /// Bytes in use of each device.
    pub fn in_use(&self) -> [u64; MAX_DEVICES] {
        std::array::from_fn(|ordinal| self.used(ordinal).load(Ordering::Relaxed))
    }

    /// Uses other words from now on. What was unused in the old ones is forfeited (whoever gave it knows); gives what is in
    /// use, which the giver of the new words must count as given and used.
    pub fn exchange(&self, words: W) -> [u64; MAX_DEVICES] {
        let mut place = self.words.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(old) = place.as_ref() {
            for word in (0..MAX_DEVICES).filter_map(|ordinal| old.word(ordinal)) {
                lease::take_all(word);
            }
        }
        *place = Some(words);
        self.in_use()
    }

    fn words(&self) -> RwLockReadGuard<'_, Option<W>> {
        self.words.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn used(&self, ordinal: usize) -> &AtomicU64 {
        #[allow(clippy::indexing_slicing, reason = "reduced modulo the length; real ordinals are below it")]
        &self.used[ordinal % MAX_DEVICES]
    }
}

impl<W: LeaseWords + ?Sized> LeaseWords for &W {
    fn word(&self, ordinal: usize) -> Option<&AtomicU64> {
        (**self).word(ordinal)
    }
}

/// Bytes taken for a call that the driver has yet to accept; put back when dropped.
pub struct Reservation<'a, W: LeaseWords> {
    purse: &'a Purse<W>,
    ordinal: usize,
    bytes: u64,
}

impl<'a, W: LeaseWords> Reservation<'a, W> {
    /// Takes `bytes` now.
    ///
    /// # Errors
    /// As [`Purse::take`].
    pub fn new(purse: &'a Purse<W>, ordinal: usize, bytes: u64) -> Result<Self, Short> {
        purse.take(ordinal, bytes)?;
        Ok(Self { purse, ordinal, bytes })
    }

    /// Bytes reserved.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The device's ordinal.
    #[must_use]
    pub fn ordinal(&self) -> usize {
        self.ordinal
    }

    /// Whose bytes they are.
    #[must_use]
    pub fn purse(&self) -> &'a Purse<W> {
        self.purse
    }

    /// Both in one. `more` must be of the same device.
    #[must_use]
    pub fn and(mut self, mut more: Self) -> Self {
        self.bytes += std::mem::take(&mut more.bytes);
        self
    }

    /// Takes more until `bytes` are reserved.
    ///
    /// # Errors
    /// As [`Purse::take`]; what was reserved before stays.
    pub fn raise_to(&mut self, bytes: u64) -> Result<(), Short> {
        let more = bytes.saturating_sub(self.bytes);
        self.purse.take(self.ordinal, more)?;
        self.bytes += more;
        Ok(())
    }

    /// Keeps `charge` of it in use (at most what is reserved) and gives the rest back.
    pub fn commit(mut self, charge: u64) {
        self.bytes = self.bytes.saturating_sub(charge);
    }
}

impl<W: LeaseWords> Drop for Reservation<'_, W> {
    fn drop(&mut self) {
        self.purse.put_back(self.ordinal, self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn purse(bytes: u64) -> Purse<OwnWords> {
        let purse = Purse::default();
        let mut words = OwnWords::default();
        words.0[1] = Some(AtomicU64::new(bytes));
        purse.exchange(words);
        purse
    }

    #[test]
    fn a_dropped_reservation_leaves_no_trace() {
        let purse = purse(100);
        drop(Reservation::new(&purse, 1, 60).unwrap());
        assert_eq!(purse.in_use(), [0; MAX_DEVICES]);
        assert!(purse.take(1, 100).is_ok());
    }

    #[test]
    fn a_commit_keeps_the_charge_only() {
        let purse = purse(100);
        let reservation = Reservation::new(&purse, 1, 60).unwrap();
        assert_eq!(Reservation::new(&purse, 1, 60).err(), Some(Short::Lease));
        reservation.commit(20);
        assert_eq!(purse.in_use()[1], 20);
        assert!(purse.take(1, 80).is_ok());
    }

    #[test]
    fn a_foreign_device_costs_nothing_and_no_words_means_unattached() {
        assert!(purse(0).take(0, 1 << 40).is_ok());
        assert_eq!(Purse::<OwnWords>::default().take(0, 1), Err(Short::Unattached));
    }

    #[test]
    fn new_words_take_over_what_is_in_use() {
        let purse = purse(100);
        purse.take(1, 30).unwrap();
        let mut words = OwnWords::default();
        words.0[1] = Some(AtomicU64::new(0));
        assert_eq!(purse.exchange(words)[1], 30);
        purse.put_back(1, 30);
        assert!(purse.take(1, 30).is_ok(), "what was used before comes back into the new words");
        assert_eq!(purse.take(1, 1), Err(Short::Lease), "what was unused before doesn't");
    }
}
