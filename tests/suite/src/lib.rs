//! The harness of the end-to-end tests, the demo and the benches: a node of its own (simulated GPU server, `mgpud`, tenants
//! started by `mgpu run`) in a temporary folder, and the witness's view of it.
//!
//! It judges by the witness and by what the clients print, never by the shim's or the daemon's own counters. It waits on
//! conditions with generous limits ([`wait`]), never for a fixed time, except where a measured window *is* the time.

pub mod measure;
pub mod node;
pub mod paths;
pub mod real;
pub mod scene;
pub mod schedstat;
pub mod tenant;
pub mod wait;
pub mod witness;
