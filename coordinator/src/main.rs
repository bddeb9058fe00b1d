//! mgpud, the coordinator daemon of a node.
mod config;
fn main() {}
mod chores;
mod clock;
mod crash;
mod device_lock;
mod nvml;
mod poller;
mod process;
mod runtime_dir;
mod scheduling;
mod state;
