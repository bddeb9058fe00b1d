//! Names of the model's objects. Numbers are handed out in order and never reused, so equal traces give equal names.

use serde::{Deserialize, Serialize};

/// Model time: nanoseconds of CLOCK_MONOTONIC, as far as the server is concerned.
pub type Nanos = u64;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub struct $name(pub u32);

        #[allow(dead_code)] // Each module uses the ids it needs.
        impl $name {
            pub(crate) fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

id!(
    /// A simulated device, by its index on the node.
    DeviceId
);
id!(
    /// One connection of a client process. A process that connects again is another one.
    ProcessId
);
id!(
    /// A context: a process's address space and queues on one device.
    ContextId
);
id!(
    /// A stream, the legacy default stream of a context included.
    StreamId
);
id!(
    /// An event.
    EventId
);
id!(
    /// A loaded module (or library).
    ModuleId
);
id!(
    /// A kernel function of a module.
    FunctionId
);
id!(
    /// An instantiated graph.
    GraphId
);
id!(
    /// A stream-ordered memory pool.
    PoolId
);

/// An allocation. The address is the client's matter: the model only knows sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct AllocationId(pub u64);

/// One accepted op that waits for the outside (a host function, a polled word): passed back in `host_done`, `word_ready`.
/// Stale values are ignored, so a late answer for an op that has died does no harm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct OpId {
    pub(crate) slot: u32,
    pub(crate) generation: u32,
}

impl OpId {
    /// As one number, for the wire.
    pub fn to_bits(self) -> u64 {
        u64::from(self.generation) << 32 | u64::from(self.slot)
    }

    /// The inverse of [`OpId::to_bits`]; any number is safe (an unknown one is ignored by the model).
    pub fn from_bits(bits: u64) -> Self {
        Self { slot: (bits & 0xffff_ffff) as u32, generation: (bits >> 32) as u32 }
    }
}
