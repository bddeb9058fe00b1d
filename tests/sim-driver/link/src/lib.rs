//! The link between a process that uses a simulated GPU and `mgpu-sim`, the server process in which that GPU lives.
//!
//! Both ends are here, so that they cannot disagree: the shared memory (`layout`, `op`, `ring`), the socket messages
//! (`rpc`, `frame`), and the client's side of it (`client`), which the simulated `libcuda.so.1` and
//! `libnvidia-ml.so.1` are built on. Nothing here knows CUDA's types or mgpu.
//!
//! A client calls [`session`] and goes from there: [`Session`] for everything that is answered by the server,
//! [`Stream`] for what goes through the shared ring without a system call, [`Event`] and [`Session::wait_stream`] for
//! completion.

pub mod client;
pub mod op;
pub mod rpc;
pub mod types;

pub use client::{Event, Session, Stream, burn, now_ns, session};
pub use op::Op;
pub use types::*;
