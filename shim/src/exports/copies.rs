//! Whether a copy stays on the device, read out of the caller's own structures. Lazily: nobody asks while no gate could
//! close. Null pointers are left to the driver to refuse.

use crate::hooks::copy::is_device;
use mgpu_cuda::types::*;

/// A structure of the driver that describes one copy.
pub(super) trait Described {
    /// True if neither side is host memory.
    fn stays_on_device(&self) -> bool;
}

/// True if the copy at `description` stays on the device.
///
/// # Safety
/// Null, or the address of a description: the application's own argument.
pub(super) unsafe fn one<D: Described>(description: *const D) -> bool {
    // SAFETY: see above.
    unsafe { description.as_ref() }.is_some_and(Described::stays_on_device)
}

/// True if any of `count` copies at `descriptions` stays on the device.
///
/// # Safety
/// Null, or the address of that many descriptions: the application's own arguments.
pub(super) unsafe fn any<D: Described>(descriptions: *const D, count: usize) -> bool {
    // SAFETY: see above.
    (0..count).any(|index| unsafe { one(descriptions.wrapping_add(index)) }) && !descriptions.is_null()
}

/// True if any of `count` copies between plain addresses stays on the device.
///
/// # Safety
/// Null, or arrays of that many addresses: the application's own arguments.
pub(super) unsafe fn any_pair(to: *const CUdeviceptr, from: *const CUdeviceptr, count: usize) -> bool {
    if to.is_null() || from.is_null() {
        return false;
    }
    // SAFETY: see above.
    let to = unsafe { std::slice::from_raw_parts(to, count) };
    // SAFETY: see above.
    let from = unsafe { std::slice::from_raw_parts(from, count) };
    to.iter().zip(from).any(|(to, from)| is_device(*to) && is_device(*from))
}

fn side(kind: CUmemorytype, unified: CUdeviceptr) -> bool {
    match kind {
        CU_MEMORYTYPE_HOST => false,
        CU_MEMORYTYPE_UNIFIED => is_device(unified),
        _ => true,
    }
}

macro_rules! described {
    ($($structure:ty),*) => { $(
        impl Described for $structure {
            fn stays_on_device(&self) -> bool {
                side(self.srcMemoryType, self.srcDevice.into()) && side(self.dstMemoryType, self.dstDevice.into())
            }
        }
    )* };
}

described!(CUDA_MEMCPY2D, CUDA_MEMCPY3D, CUDA_MEMCPY3D_PEER);

/// The 32-bit interface knows no unified addresses.
macro_rules! described_v1 {
    ($($structure:ty),*) => { $(
        impl Described for $structure {
            fn stays_on_device(&self) -> bool {
                self.srcMemoryType != CU_MEMORYTYPE_HOST && self.dstMemoryType != CU_MEMORYTYPE_HOST
            }
        }
    )* };
}

described_v1!(CUDA_MEMCPY2D_v1, CUDA_MEMCPY3D_v1);

/// `CU_MEMCPY_OPERAND_TYPE_POINTER` of the header.
const OPERAND_POINTER: CUmemcpy3DOperandType = 1;

impl Described for CUDA_MEMCPY3D_BATCH_OP {
    fn stays_on_device(&self) -> bool {
        operand(&self.src) && operand(&self.dst)
    }
}

fn operand(operand: &CUmemcpy3DOperand) -> bool {
    if operand.type_ != OPERAND_POINTER {
        return true;
    }
    // SAFETY: the type says which arm the application filled, and both arms are plain numbers.
    let pointer = unsafe { operand.op.ptr };
    is_device(pointer.ptr)
}
