//! Copies. Those within a device (or between two) run beside kernels and are gated like them; those with the host run on copy
//! engines and are not. Which one a unified copy is costs questions to the driver, asked only while a gate is contended: an
//! uncontended one lets everything through, and such a copy is not counted then.

use super::launch::{entry, is_capturing, launch};
use crate::session;
use crate::streams::explicit;
use mgpu_cuda::CUresult;
use mgpu_cuda::types::CUstream;
use mgpu_protocol::line::load_gate;
use mgpu_shim_core::gate::is_contended;

/// `cuMemcpy` and its kin: two addresses that may be of any kind.
#[inline]
pub(crate) fn unified(
    destination: u64,
    source: u64,
    stream: CUstream,
    per_thread: bool,
    call: impl FnOnce() -> CUresult,
) -> CUresult {
    descriptor(|| is_device(destination) && is_device(source), stream, per_thread, call)
}

/// A copy of which `is_within_device` tells whether neither side is the host's; asked only if a gate could matter.
#[inline]
pub(crate) fn descriptor(
    is_within_device: impl FnOnce() -> bool,
    stream: CUstream,
    per_thread: bool,
    call: impl FnOnce() -> CUresult,
) -> CUresult {
    if is_gate_contended(stream, per_thread) && is_within_device() { launch(stream, per_thread, call) } else { call() }
}

/// Whether the driver knows `address` as device (or managed) memory.
pub(crate) fn is_device(address: u64) -> bool {
    session::process().is_some_and(|process| process.driver.is_device_memory(address))
}

fn is_gate_contended(stream: CUstream, per_thread: bool) -> bool {
    let Some((process, attachment)) = session::get() else { return false };
    let stream = explicit(stream, per_thread);
    if session::anchor::get().is_none_or(|anchor| is_capturing(anchor, process, stream)) {
        return false;
    }
    // Before the entry is remembered, the thread needs its place.
    let _ = crate::threads::place(attachment.desk);
    entry(process, attachment, stream)
        .and_then(|entry| entry.line())
        .is_some_and(|line| is_contended(load_gate(&attachment.grant(line).gate)))
}
