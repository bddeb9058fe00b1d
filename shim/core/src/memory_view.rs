//! What the tenant sees of its device's memory. The same numbers that admission uses: what is not leased is free, and so is
//! the unused part of every lease (it is taken back from siblings on demand).

/// What is known, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Known {
    /// The tenant's limit; `u64::MAX` = none.
    pub limit: u64,
    /// Charged beside leases: contexts, modules, what a dead client still holds.
    pub overhead: u64,
    /// Leased to clients, used or not.
    pub given: u64,
    /// The unused part of all clients' leases.
    pub unused: u64,
}

impl Known {
    /// Bytes that the tenant has in use.
    #[must_use]
    pub fn used(self) -> u64 {
        self.overhead.saturating_add(self.given.saturating_sub(self.unused))
    }

    /// `cuMemGetInfo`'s answer (free, total) from the driver's own. Use above the limit is free 0, never an error.
    #[must_use]
    pub fn info(self, real_free: u64, real_total: u64) -> (u64, u64) {
        (self.limit.saturating_sub(self.used()).min(real_free), self.total(real_total))
    }

    /// `cuDeviceTotalMem`'s answer. Never 0 unless the driver's is.
    #[must_use]
    pub fn total(self, real_total: u64) -> u64 {
        self.limit.min(real_total)
    }
}

/// For the 32-bit forms of the first CUDA versions.
#[must_use]
pub fn saturate(bytes: u64) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u64 = 1 << 30;

    #[test]
    fn free_is_the_limit_less_what_is_used_by_anybody_of_the_tenant() {
        let known = Known { limit: 4 * GIB, overhead: GIB / 2, given: 2 * GIB, unused: GIB };
        assert_eq!(known.info(20 * GIB, 24 * GIB), (4 * GIB - GIB / 2 - GIB, 4 * GIB));
    }

    #[test]
    fn the_real_device_bounds_both() {
        let known = Known { limit: 4 * GIB, ..Known::default() };
        assert_eq!(known.info(GIB, 2 * GIB), (GIB, 2 * GIB));
    }

    #[test]
    fn no_limit_is_the_device_and_too_much_use_is_nothing_free() {
        let unlimited = Known { limit: u64::MAX, given: GIB, ..Known::default() };
        assert_eq!(unlimited.info(3 * GIB, 8 * GIB), (3 * GIB, 8 * GIB));
        let over = Known { limit: GIB, overhead: 2 * GIB, ..Known::default() };
        assert_eq!(over.info(3 * GIB, 8 * GIB), (0, GIB));
    }

    #[test]
    fn old_forms_saturate() {
        assert_eq!(saturate(5 * GIB), u32::MAX);
        assert_eq!(saturate(7), 7);
    }
}
