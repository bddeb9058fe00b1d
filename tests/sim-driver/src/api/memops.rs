//! Stream memory operations: the device writes a word, or waits until one fits.

use std::ffi::c_uint;

use mgpu_sim_link::{Condition, Op};

use crate::error::{INVALID_VALUE, Res};
use crate::graph::Work;
use crate::memory;
use crate::state::driver;
use crate::stream::{self, Stream, Zero};
use crate::submit::submit;
use crate::types::{CUdeviceptr, CUstream, CUstreamBatchMemOpParams, cuuint32_t, cuuint64_t, list, raw};

/// Waits may ask to flush remote writes first; nothing is remote here.
const FLUSH: c_uint = 1 << 30;
/// Writes may leave the barrier out; the model has none.
const NO_BARRIER: c_uint = 1;

fn check(address: u64, width: u8) -> Res {
    if !address.is_multiple_of(u64::from(width)) {
        return Err(INVALID_VALUE);
    }
    memory::check(address, usize::from(width)).map(|_| ())
}

fn write_op(address: u64, value: u64, width: u8, flags: c_uint) -> Res<Op> {
    if flags & !NO_BARRIER != 0 {
        return Err(INVALID_VALUE);
    }
    check(address, width)?;
    Ok(Op::WriteWord { address, value, width })
}

fn wait_op(address: u64, value: u64, width: u8, flags: c_uint) -> Res<Op> {
    let condition = match flags & !FLUSH {
        0 => Condition::GreaterOrEqual,
        1 => Condition::Equal,
        2 => Condition::And,
        3 => Condition::Nor,
        _ => return Err(INVALID_VALUE),
    };
    check(address, width)?;
    Ok(Op::WaitWord { address, value, width, condition })
}

/// The stream of a memory operation, which needs no current context unless its handle does.
fn target(zero: Zero, on: CUstream) -> Res<&'static Stream> {
    driver()?;
    stream::resolve(raw(on), zero)
}

fn queue(stream: &'static Stream, op: Op) -> Res {
    let driver = driver()?;
    submit(driver, stream, driver.costs.memop_ns, &op, || Work::MemoryOps(vec![op])).map(|_| ())
}

macro_rules! operations {
    ($($name:ident $newer:ident $ty:ty, $width:literal, $op:ident;)*) => { $(
        pub(crate) unsafe fn $name(zero: Zero, on: CUstream, address: CUdeviceptr, value: $ty, flags: c_uint) -> Res {
            queue(target(zero, on)?, $op(address, u64::from(value), $width, flags)?)
        }

        pub(crate) unsafe fn $newer(zero: Zero, on: CUstream, address: CUdeviceptr, value: $ty, flags: c_uint) -> Res {
            queue(target(zero, on)?, $op(address, u64::from(value), $width, flags)?)
        }
    )* };
}

operations! {
    cuStreamWriteValue32 cuStreamWriteValue32_v2 cuuint32_t, 4, write_op;
    cuStreamWriteValue64 cuStreamWriteValue64_v2 cuuint64_t, 8, write_op;
    cuStreamWaitValue32 cuStreamWaitValue32_v2 cuuint32_t, 4, wait_op;
    cuStreamWaitValue64 cuStreamWaitValue64_v2 cuuint64_t, 8, wait_op;
}

const WAIT_32: u32 = 1;
const WRITE_32: u32 = 2;
const FLUSH_REMOTE: u32 = 3;
const WAIT_64: u32 = 4;
const WRITE_64: u32 = 5;
const BARRIER: u32 = 6;

/// The operations of a batch, checked before any is queued.
///
/// # Safety
/// `batch` is null or valid for reads of `count` operations.
///
/// # Errors
/// [`INVALID_VALUE`].
pub(crate) unsafe fn batch(batch: *const CUstreamBatchMemOpParams, count: c_uint) -> Res<Vec<Op>> {
    // SAFETY: as promised by the caller.
    let batch = unsafe { list(batch, count as usize) }?;
    let mut ops = Vec::with_capacity(batch.len());
    for entry in batch {
        // SAFETY: every member begins with the kind of operation.
        let kind = unsafe { entry.operation };
        if matches!(kind, FLUSH_REMOTE | BARRIER) {
            continue;
        }
        // SAFETY: waits and writes have the same layout, plain numbers all through.
        let value = unsafe { &entry.waitValue };
        let low = value.value64 & 0xffff_ffff;
        ops.push(match kind {
            WAIT_32 => wait_op(value.address, low, 4, value.flags)?,
            WRITE_32 => write_op(value.address, low, 4, value.flags)?,
            WAIT_64 => wait_op(value.address, value.value64, 8, value.flags)?,
            WRITE_64 => write_op(value.address, value.value64, 8, value.flags)?,
            _ => return Err(INVALID_VALUE),
        });
    }
    Ok(ops)
}

pub(crate) unsafe fn cuStreamBatchMemOp(
    zero: Zero,
    on: CUstream,
    count: c_uint,
    parameters: *mut CUstreamBatchMemOpParams,
    flags: c_uint,
) -> Res {
    let stream = target(zero, on)?;
    if flags != 0 || count > 256 {
        return Err(INVALID_VALUE);
    }
    // SAFETY: the caller's array.
    let ops = unsafe { batch(parameters, count) }?;
    if stream.capturing.load(std::sync::atomic::Ordering::Acquire) != 0 {
        return crate::capture::add(stream, Work::MemoryOps(ops));
    }
    ops.into_iter().try_for_each(|op| queue(stream, op))
}

pub(crate) unsafe fn cuStreamBatchMemOp_v2(
    zero: Zero,
    on: CUstream,
    count: c_uint,
    parameters: *mut CUstreamBatchMemOpParams,
    flags: c_uint,
) -> Res {
    // SAFETY: the same function.
    unsafe { cuStreamBatchMemOp(zero, on, count, parameters, flags) }
}
