//! What the shell tells an engine and what the engine tells the shell. One engine, one device: neither names it.

use mgpu_protocol::gate::Gate;
use mgpu_protocol::units::Nanos;

use crate::policy::PolicyKind;
use crate::reason::Reason;
use crate::settings::Settings;
use crate::tenant::{Entitlement, TenantId};

/// What the shell has read off a tenant's page for this device, summed over its live clients. All of it is written by the
/// tenant: the engine uses it to end turns and to learn, never to lengthen an entitlement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Activity {
    /// A thread waits at the closed gate (want bit or waiting count).
    pub waiting: bool,
    /// Threads between their gate check and the return of the driver's launch (odd thread lines).
    pub entering: u32,
    /// Launches whose marker was not seen; an unmarked tail counts. Dead and halted streams count 0.
    pub in_flight: u32,
    /// Streams whose last launch has no marker behind it: they can't drain until someone marks them.
    pub unmarked: u32,
    /// Launches since the tenant was made; only differences matter, and it may wrap.
    pub launches: u64,
}

impl Activity {
    /// No thread enters and every stream is drained.
    #[must_use]
    pub const fn is_quiesced(&self) -> bool {
        self.entering == 0 && self.in_flight == 0
    }
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A tenant was admitted to this device. Its gate in a new grants page is closed until a `SetGate` says otherwise.
    TenantJoined {
        /// Who.
        tenant: TenantId,
        /// Its row.
        entitlement: Entitlement,
        /// It ran under an earlier daemon and may have work in flight: it is believed only after it has quiesced once.
        reattached: bool,
    },
    /// The operator changed its row (already admitted).
    TenantChanged {
        /// Who.
        tenant: TenantId,
        /// Its row from now on.
        entitlement: Entitlement,
    },
    /// The tenant is gone with all its clients. Its turn ends now.
    TenantLeft {
        /// Who.
        tenant: TenantId,
    },
    /// The tenant has no live client any more but stays admitted: its turn ends now, its claims are cleared.
    ClientsGone {
        /// Who.
        tenant: TenantId,
    },
    /// Its want eventfd rang: a thread waits at the closed gate, or an open-and-notify gate had its first user.
    Wanted {
        /// Who.
        tenant: TenantId,
    },
    /// The shell has read the tenant's page, after `now` of this step at the latest began.
    Observed {
        /// Who.
        tenant: TenantId,
        /// What stood there.
        activity: Activity,
    },
    /// The time of the last `WakeAt` has come (earlier or later calls do no harm).
    Timer,
    /// The device's policy changed (already admitted).
    PolicyChanged {
        /// The policy from now on.
        policy: PolicyKind,
    },
    /// The operator changed a setting, e.g. hold.
    SettingsChanged {
        /// All settings from now on.
        settings: Settings,
    },
}

/// What to do, in this order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Write the tenant's gate word for this device, and wake its waiters if the low half changed to an open state.
    SetGate {
        /// Whose.
        tenant: TenantId,
        /// The word, unpacked.
        gate: Gate,
    },
    /// Read the tenant's page each `every`, counted from the last look; `None` stops it. Replaces the tenant's earlier watch.
    Watch {
        /// Whose.
        tenant: TenantId,
        /// Distance of two looks.
        every: Option<Nanos>,
        /// Read it now too (an `Observed` in this round of the shell's loop): what was seen before says nothing any more.
        at_once: bool,
    },
    /// Ask the tenant's clients to put markers behind unmarked tails on this device. A request; may be lost.
    MarkTails {
        /// Whose.
        tenant: TenantId,
    },
    /// Send `Event::Timer` at this time. Replaces the earlier wish; `None` cancels it.
    WakeAt {
        /// When, by the clock that `now` comes from.
        at: Option<Nanos>,
    },
    /// For log, metrics and `mgpu why`: what was decided and why. Nothing to carry out.
    Decided {
        /// About whom.
        tenant: TenantId,
        /// What and why; its Display is a sentence without the tenant's name.
        reason: Reason,
    },
}
