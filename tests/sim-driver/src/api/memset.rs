//! Fills: 1, 2 and 4 bytes wide, linear and pitched. They run like small kernels and never block the caller.

use std::ffi::{c_uchar, c_uint, c_ushort};

use crate::context;
use crate::copy::Fill;
use crate::error::Res;
use crate::stream::{self, Zero};
use crate::types::{CUdeviceptr, CUstream, raw};

fn fill(zero: Zero, on: CUstream, fill: Fill) -> Res {
    context::current()?;
    fill.run(stream::resolve(raw(on), zero)?)
}

fn linear(dst: CUdeviceptr, value: u32, element: u8, width: usize) -> Fill {
    Fill { dst, pitch: 0, value, element, width, height: 1 }
}

/// The twelve entry points differ in the element's type alone.
macro_rules! fills {
    ($($ty:ty, $bytes:literal: $now:ident $plane:ident $queued:ident $queued_plane:ident;)*) => { $(
        pub(crate) unsafe fn $now(zero: Zero, dst: CUdeviceptr, value: $ty, count: usize) -> Res {
            fill(zero, std::ptr::null_mut(), linear(dst, u32::from(value), $bytes, count))
        }

        pub(crate) unsafe fn $plane(
            zero: Zero, dst: CUdeviceptr, pitch: usize, value: $ty, width: usize, height: usize,
        ) -> Res {
            let value = u32::from(value);
            fill(zero, std::ptr::null_mut(), Fill { dst, pitch, value, element: $bytes, width, height })
        }

        pub(crate) unsafe fn $queued(zero: Zero, dst: CUdeviceptr, value: $ty, count: usize, on: CUstream) -> Res {
            fill(zero, on, linear(dst, u32::from(value), $bytes, count))
        }

        pub(crate) unsafe fn $queued_plane(
            zero: Zero, dst: CUdeviceptr, pitch: usize, value: $ty, width: usize, height: usize, on: CUstream,
        ) -> Res {
            fill(zero, on, Fill { dst, pitch, value: u32::from(value), element: $bytes, width, height })
        }
    )* };
}

fills! {
    c_uchar, 1: cuMemsetD8_v2 cuMemsetD2D8_v2 cuMemsetD8Async cuMemsetD2D8Async;
    c_ushort, 2: cuMemsetD16_v2 cuMemsetD2D16_v2 cuMemsetD16Async cuMemsetD2D16Async;
    c_uint, 4: cuMemsetD32_v2 cuMemsetD2D32_v2 cuMemsetD32Async cuMemsetD2D32Async;
}
