//! What the coordinator decides, and nothing of how it finds out or acts: who may join ([`admission`]), who may launch and
//! for how long ([`engine`], after one of the [`policy`] rules), and what each has to pay ([`accounts`]).
//!
//! Everything here is a function of its arguments: no clock (`now` comes in), no I/O, no threads, no unsafe, integers only,
//! ordered maps only. Same events, same effects, to the bit; so a trace replays from its seed.
//!
//! One device, one [`Engine`]. The shell (`mgpud`) tells it [`Event`]s and carries out its [`Effect`]s:
//!
//! ```text
//! want eventfd, pages, timers ──► Event ──► Engine::step(event, now) ──► Effects ──► gate words, watches, one timer
//!                                               │        ▲
//!                                     view of accounts   │ decision + reason
//!                                               ▼        │
//!                                               policy (pure)
//! ```

#![forbid(unsafe_code)]

pub mod accounts;
pub mod admission;
pub mod engine;
pub mod event;
pub mod learn;
pub mod policy;
pub mod reason;
pub mod recent;
pub mod settings;
pub mod tenant;

pub use accounts::SavedAccount;
pub use admission::{Admission, DeviceRules, Refusal, Request};
pub use engine::Engine;
pub use event::{Activity, Effect, Event};
pub use policy::PolicyKind;
pub use reason::Reason;
pub use settings::{CappedOnline, Settings};
pub use tenant::{Entitlement, TenantId, Weight};
