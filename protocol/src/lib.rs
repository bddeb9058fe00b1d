//! The shared pages and the socket messages: the only thing that shim and coordinator both know.
//!
//! Two pages per tenant, both memfds that the coordinator makes and sends over the session socket:
//!
//! * the **grants page** ([`layout::GrantsPage`]): written by the coordinator, mapped read-only by the tenant's clients;
//! * the **tenant page** ([`layout::TenantPage`]): written by the tenant's clients, believed by nobody.
//!
//! Who may touch what, and which word is ordered against which, stands at each type. Nothing here knows a clock, a policy
//! or CUDA. `docs/protocol.md` lists which edits of these types are safe and which break running clients.

pub mod entitlement;
pub mod gate;
pub mod layout;
pub mod lease;
pub mod line;
pub mod marker;
pub mod message;
#[cfg(not(loom))]
pub mod page;
pub mod slot;
#[cfg(not(loom))]
pub mod socket;
pub mod sync;
pub mod units;
pub mod wait;

#[cfg(feature = "control")]
pub mod control;

/// Version of the messages on the session socket; the hello carries the range that a shim speaks.
pub const PROTOCOL_VERSION: u16 = 1;
/// Version of the layout of both pages.
pub const PAGE_VERSION: u16 = 1;
