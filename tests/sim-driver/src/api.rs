//! The simulated functions, in the chapters of NVIDIA's manual, with its names and argument order.
//!
//! Each gets the caller's raw arguments, checks them as the real driver documents it, and gives a result code. A function
//! that has a per-thread twin takes a leading [`crate::stream::Zero`] instead of being written twice.
#![allow(non_snake_case, reason = "the API's names")]
#![allow(clippy::missing_safety_doc, reason = "each is called by its export alone, with what the application passed")]

pub(crate) mod array;
pub(crate) mod capture;
pub(crate) mod context;
pub(crate) mod copy;
pub(crate) mod device;
pub(crate) mod event;
pub(crate) mod function;
pub(crate) mod graph;
pub(crate) mod graph_exec;
pub(crate) mod graph_nodes;
pub(crate) mod launch;
pub(crate) mod memops;
pub(crate) mod memory;
pub(crate) mod memset;
pub(crate) mod module;
pub(crate) mod pointer;
pub(crate) mod pool;
pub(crate) mod primary;
pub(crate) mod shapes;
pub(crate) mod start;
pub(crate) mod stream;
pub(crate) mod tools;
pub(crate) mod vmm;
