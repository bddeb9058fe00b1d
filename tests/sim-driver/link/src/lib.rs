//! The link between a process that uses a simulated GPU and `mgpu-sim`, the server process in which that GPU lives.
//!
//! Both ends are here, so that they cannot disagree: the shared memory (`layout`, `op`, `ring`, `wake`), the socket
//! messages (`rpc`, `frame`), and the client's side of it (`client`), which the simulated `libcuda.so.1` and
//! `libnvidia-ml.so.1` are built on. Nothing here knows CUDA's types or mgpu.
//!
//! A client calls [`session`] and goes from there: [`Session`] for everything that is answered by the server,
//! [`Session::submit`] for what goes through the shared ring without a system call. An [`Observer`] only asks.

pub mod client;
pub mod frame;
pub mod layout;
pub mod op;
pub mod ring;
pub mod rpc;
pub mod sys;
pub mod types;
pub mod wake;

pub use client::{Event, Observer, Session, Stream, burn, forked_from_connected, session};
pub use op::{Condition, Direction, GraphNode, Op, Pitch};
pub use sys::now_ns;
pub use types::*;
