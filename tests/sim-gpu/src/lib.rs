//! The model of a node's simulated GPUs: pure, deterministic, takes the time as an argument.
//!
//! It stands in for hardware and driver and knows nothing of mgpu: no shares, no gates, no tenants. It has no clock, no
//! threads and no access to clients' memory; what must happen outside it says by [`Effect`]s.

#![forbid(unsafe_code)]

mod account;
mod arena;
mod compute;
mod context;
mod copy;
mod flow;
mod graph;
mod ids;
mod kernel;
mod launches;
mod life;
mod memory;
mod model;
mod nvml;
mod objects;
mod op;
mod pool;
mod profile;
mod random;
mod segments;
mod slab;
mod stream;
mod submit;
mod table;
mod time;
mod witness;

pub use ids::*;
pub use memory::{MemoryInfo, Placement};
pub use model::Model;
pub use nvml::{NvmlProcess, NvmlView};
pub use op::*;
pub use profile::*;
pub use stream::StreamKind;
pub use witness::*;
