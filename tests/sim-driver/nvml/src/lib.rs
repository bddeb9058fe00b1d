//! `libnvidia-ml.so.1` of a simulated node: what nvidia-ml-py, gpustat, nvitop, JAX and mgpud ask of NVML.
//!
//! It only asks the server (`mgpu-sim`), whose numbers are sampled and late as NVML's are; a process that uses it is no
//! user of the devices. Everything else that nvidia-ml-py knows answers NOT_SUPPORTED, as real devices do for what they
//! lack. It must never start a thread, keep a lock across a fork that matters, or know of mgpu.
//!
//! Every exported function follows NVML's C interface: pointers that are null give INVALID_ARGUMENT, all others must be
//! valid for what the interface says, and any thread may call at any time.
#![allow(non_snake_case)] // The exported names are NVML's.
#![allow(clippy::missing_safety_doc)] // One contract for all, above.

mod abi;
mod decor;
mod device;
mod output;
mod process;
mod state;
mod system;
mod unsupported;
