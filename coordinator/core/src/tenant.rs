//! Who a tenant is to the core, and what it is entitled to on one device.

use std::fmt;

use mgpu_protocol::units::{Bytes, Class, Percent};

/// A tenant's number. The shell gives it out, keeps it across restarts (state file) and never uses one twice while debts
/// of its last owner are remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TenantId(pub u32);

impl fmt::Display for TenantId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// Relative claim within the offline class, 1 to 10000.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Weight(u32);

impl Weight {
    /// Greatest weight.
    pub const MAX: u32 = 10_000;
    /// What a tenant has that names none.
    pub const DEFAULT: Self = Self(1);

    /// `n`, if it is in 1..=10000.
    #[must_use]
    pub const fn new(n: u32) -> Option<Self> {
        if n >= 1 && n <= Self::MAX { Some(Self(n)) } else { None }
    }

    /// The number, 1 to 10000.
    #[must_use]
    pub const fn get(self) -> u32 {
        self.0
    }
}

impl Default for Weight {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// A tenant's row on one device: the part of its totals that this device carries. Made by [`crate::Admission`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Entitlement {
    /// Upper bound on device memory; none = bounded by the device alone.
    pub memory: Option<Bytes>,
    /// Part of the device's time; meaning depends on the policy.
    pub share: Option<Percent>,
    /// Online is never delayed by offline.
    pub class: Class,
    /// Claim among offline tenants.
    pub weight: Weight,
}
