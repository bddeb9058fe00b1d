//! The model of a node's simulated GPUs: pure, deterministic, takes the time as an argument.
//!
//! It stands in for hardware and driver and knows nothing of mgpu: no shares, no gates, no tenants. It has no clock, no
//! threads and no access to clients' memory; what must happen outside it says by [`Effect`]s.

#![forbid(unsafe_code)]

mod ids;
mod model;
mod nvml;
mod op;
mod profile;
mod random;
mod witness;

pub use ids::*;
pub use model::*;
pub use nvml::*;
pub use op::*;
pub use profile::*;
pub use witness::*;
