//! The model of a node's simulated GPUs: pure, deterministic, takes the time as an argument.
//!
//! It stands in for hardware and driver and knows nothing of mgpu: no shares, no gates, no tenants. It has no clock, no
//! threads and no access to clients' memory; what must happen outside it says by [`Effect`]s.
//!
//! A submission ([`Op`]) goes into its stream's hardware channel, with its dependencies counted (stream order, legacy
//! barrier, event waits, graph edges). From the channel's head, ready, it goes to what carries it out: the compute side
//! (kernels, memsets, copies within the device), a copy engine, or nothing (events, words). Its end lets go what waited.
//!
//! Simpler than hardware, on purpose:
//! - Kernels side by side don't slow each other down; one that waits for room holds those behind it.
//! - No gap between dependent kernels, no latency from submission to the device: both would be idle time in each account.
//! - A sole context has a full slice left when a rival comes (hardware: any part of one), the worst case for the rival.
//! - Events, words and waits don't need their context on the device; hardware may make them wait for their turn.
//! - Managed memory moves as a whole, at launches, and for free. Memory can't be shared between processes (IPC): the exporter
//!   pays, whoever maps it.
//! - Allocations inside graphs don't exist. Launches of one graph follow each other; a graph's events count when it is done.

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
