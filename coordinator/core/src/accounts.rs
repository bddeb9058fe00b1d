//! What each tenant has paid and what it owes or is owed. Kept by the engine, read by policies, saved by the shell.

use mgpu_protocol::units::Nanos;

use crate::tenant::TenantId;

/// One tenant's account as the shell writes it to the state file and hands it back after a restart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SavedAccount {
    /// Whose; 0 if made by `Default`.
    pub tenant: u32,
    /// Device time charged since it was admitted.
    pub paid: Nanos,
    /// Balance in ns: positive = it is owed device time, negative = debt.
    pub balance_ns: i64,
    /// When it was true.
    pub at: Nanos,
}

impl SavedAccount {
    /// The tenant's number.
    #[must_use]
    pub const fn tenant(&self) -> TenantId {
        TenantId(self.tenant)
    }
}
