//! Kernel launches, the one path that must cost next to nothing: no lock, no allocation, no system call of its own.
//!
//! Kernels compute nothing and their arguments are never read. The name gives the duration (`spin_500us`, `fault_…`: the
//! model's rules), whatever the signature. So the sample kernels of `tests/workloads/cuda` are plain names here, and their
//! programs check results on a real device only: `empty()`, `spin_<n>us()`, `vector_add(a, b, c: f32*, n: i32)`,
//! `matmul(a, b, c: f32*, side: i32)`, `scale(x: f32*, factor: f32, n: i32)`.

use std::ffi::{c_int, c_uint, c_void};
use std::sync::atomic::Ordering;

use mgpu_sim_link::Op;

use crate::api::function::resident_blocks;
use crate::attributes::{MAX_BLOCK, MAX_GRID, MAX_THREADS_PER_BLOCK, MULTIPROCESSORS};
use crate::context;
use crate::error::{COOPERATIVE_LAUNCH_TOO_LARGE, INVALID_VALUE, Res};
use crate::graph::{Kernel, Work};
use crate::module::{Function, find_function};
use crate::slots::handle_of;
use crate::state::driver;
use crate::stream::{self, Stream, Zero};
use crate::submit::submit;
use crate::types::{CUDA_LAUNCH_PARAMS, CUfunction, CUlaunchConfig, CUstream, list, one, raw};

/// Shape of a launch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    pub(crate) shared: u32,
    pub(crate) cooperative: bool,
}

impl Shape {
    /// The link's form of a launch of `function`, checked.
    ///
    /// # Errors
    /// [`INVALID_VALUE`] for sizes that are 0 or more than the device takes; [`COOPERATIVE_LAUNCH_TOO_LARGE`].
    #[inline]
    pub(crate) fn op(&self, function: &'static Function) -> Res<Op> {
        let fits = |size: &[u32; 3], most: &[u32; 3]| size.iter().zip(most).all(|(s, m)| *s > 0 && s <= m);
        if !fits(&self.grid, &MAX_GRID) || !fits(&self.block, &MAX_BLOCK) {
            return Err(INVALID_VALUE);
        }
        let threads = self.block[0] * self.block[1] * self.block[2];
        let most = function.max_dynamic_shared.load(Ordering::Relaxed);
        if threads > MAX_THREADS_PER_BLOCK || i64::from(self.shared) > i64::from(most) {
            return Err(INVALID_VALUE);
        }
        let Self { grid, block, shared, cooperative } = *self;
        if cooperative && !all_resident(grid, function, threads, shared) {
            return Err(COOPERATIVE_LAUNCH_TOO_LARGE);
        }
        Ok(Op::Kernel { function: function.link_id()?, grid, block, shared, cooperative })
    }
}

/// Whether the blocks of a cooperative launch, which wait for each other, fit on the device at a time.
#[cold]
fn all_resident(grid: [u32; 3], function: &Function, threads: u32, shared: u32) -> bool {
    let resident = resident_blocks(function, threads, shared as usize) * MULTIPROCESSORS.unsigned_abs();
    grid.iter().map(|side| u64::from(*side)).product::<u64>() <= u64::from(resident)
}

/// Copies of the arguments, where the image told their sizes.
///
/// # Safety
/// `parameters` is null or has a valid pointer for each of the function's parameters.
pub(crate) unsafe fn arguments(function: &Function, parameters: *mut *mut c_void) -> Vec<Box<[u8]>> {
    if parameters.is_null() {
        return Vec::new();
    }
    let sizes = function.parameters().unwrap_or_default();
    let copy = |(i, parameter): (usize, &crate::image::Parameter)| {
        // SAFETY: as promised by the caller.
        let at = unsafe { parameters.wrapping_add(i).read() }.cast::<u8>();
        if at.is_null() {
            return Box::default();
        }
        // SAFETY: as promised by the caller, the argument has its parameter's size.
        unsafe { std::slice::from_raw_parts(at, parameter.size) }.into()
    };
    sizes.iter().enumerate().map(copy).collect()
}

#[inline]
unsafe fn launch(stream: &'static Stream, function: CUfunction, shape: &Shape, parameters: *mut *mut c_void) -> Res {
    let driver = driver()?;
    let function = find_function(raw(function))?;
    let op = shape.op(function)?;
    let work = || {
        // SAFETY: the caller's arguments, as the API demands.
        let arguments = unsafe { arguments(function, parameters) };
        Work::Kernel(Kernel { function: handle_of(function) as usize, op, arguments })
    };
    submit(driver, stream, driver.costs.launch_ns, &op, work).map(|_| ())
}

#[allow(clippy::too_many_arguments, reason = "the API's signature")]
#[inline]
pub(crate) unsafe fn cuLaunchKernel(
    zero: Zero,
    function: CUfunction,
    grid_x: c_uint,
    grid_y: c_uint,
    grid_z: c_uint,
    block_x: c_uint,
    block_y: c_uint,
    block_z: c_uint,
    shared: c_uint,
    on: CUstream,
    parameters: *mut *mut c_void,
    _extra: *mut *mut c_void,
) -> Res {
    context::current()?;
    let stream = stream::resolve(raw(on), zero)?;
    let shape =
        Shape { grid: [grid_x, grid_y, grid_z], block: [block_x, block_y, block_z], shared, cooperative: false };
    // SAFETY: the caller's arguments.
    unsafe { launch(stream, function, &shape, parameters) }
}

#[allow(clippy::too_many_arguments, reason = "the API's signature")]
pub(crate) unsafe fn cuLaunchCooperativeKernel(
    zero: Zero,
    function: CUfunction,
    grid_x: c_uint,
    grid_y: c_uint,
    grid_z: c_uint,
    block_x: c_uint,
    block_y: c_uint,
    block_z: c_uint,
    shared: c_uint,
    on: CUstream,
    parameters: *mut *mut c_void,
) -> Res {
    context::current()?;
    let stream = stream::resolve(raw(on), zero)?;
    let shape = Shape { grid: [grid_x, grid_y, grid_z], block: [block_x, block_y, block_z], shared, cooperative: true };
    // SAFETY: the caller's arguments.
    unsafe { launch(stream, function, &shape, parameters) }
}

const ATTRIBUTE_COOPERATIVE: u32 = 2;
const ATTRIBUTES: u32 = 32;

unsafe fn config_shape(config: &CUlaunchConfig) -> Res<Shape> {
    // SAFETY: the caller's array, as the API demands.
    let attributes = unsafe { list(config.attrs, config.numAttrs as usize) }?;
    let mut cooperative = false;
    for attribute in attributes {
        if attribute.id >= ATTRIBUTES {
            return Err(INVALID_VALUE);
        }
        if attribute.id == ATTRIBUTE_COOPERATIVE {
            // SAFETY: the member that this id names; any bits make an `int`.
            cooperative = unsafe { attribute.value.cooperative } != 0;
        }
    }
    Ok(Shape {
        grid: [config.gridDimX, config.gridDimY, config.gridDimZ],
        block: [config.blockDimX, config.blockDimY, config.blockDimZ],
        shared: config.sharedMemBytes,
        cooperative,
    })
}

pub(crate) unsafe fn cuLaunchKernelEx(
    zero: Zero,
    config: *const CUlaunchConfig,
    function: CUfunction,
    parameters: *mut *mut c_void,
    _extra: *mut *mut c_void,
) -> Res {
    context::current()?;
    // SAFETY: the caller's structure.
    let config = unsafe { one(config) }?;
    let stream = stream::resolve(raw(config.hStream), zero)?;
    // SAFETY: the caller's structure.
    let shape = unsafe { config_shape(config) }?;
    // SAFETY: the caller's arguments.
    unsafe { launch(stream, function, &shape, parameters) }
}

pub(crate) unsafe fn cuLaunchCooperativeKernelMultiDevice(
    launches: *mut CUDA_LAUNCH_PARAMS,
    devices: c_uint,
    _flags: c_uint,
) -> Res {
    driver()?;
    // SAFETY: the caller's array.
    let launches = unsafe { list(launches, devices as usize) }?;
    if launches.is_empty() {
        return Err(INVALID_VALUE);
    }
    for each in launches {
        let stream = stream::resolve(raw(each.hStream), Zero::Legacy)?;
        let shape = Shape {
            grid: [each.gridDimX, each.gridDimY, each.gridDimZ],
            block: [each.blockDimX, each.blockDimY, each.blockDimZ],
            shared: each.sharedMemBytes,
            cooperative: true,
        };
        // SAFETY: the caller's arguments.
        unsafe { launch(stream, each.function, &shape, each.kernelParams) }?;
    }
    Ok(())
}

// The first interface: shape and arguments are set on the function before.

pub(crate) unsafe fn cuFuncSetBlockShape(function: CUfunction, x: c_int, y: c_int, z: c_int) -> Res {
    driver()?;
    let function = find_function(raw(function))?;
    for (field, size) in function.shape.iter().zip([x, y, z]) {
        let size = u32::try_from(size).ok().filter(|s| *s > 0).ok_or(INVALID_VALUE)?;
        field.store(size, Ordering::Relaxed);
    }
    Ok(())
}

pub(crate) unsafe fn cuFuncSetSharedSize(function: CUfunction, bytes: c_uint) -> Res {
    driver()?;
    find_function(raw(function))?.shape[3].store(bytes, Ordering::Relaxed);
    Ok(())
}

/// Arguments are checked for their place only: nothing reads them.
fn parameter(function: CUfunction, offset: c_int) -> Res {
    driver()?;
    find_function(raw(function))?;
    if (0..4096).contains(&offset) { Ok(()) } else { Err(INVALID_VALUE) }
}

pub(crate) unsafe fn cuParamSetSize(function: CUfunction, bytes: c_uint) -> Res {
    parameter(function, c_int::try_from(bytes).unwrap_or(-1))
}

pub(crate) unsafe fn cuParamSeti(function: CUfunction, offset: c_int, _value: c_uint) -> Res {
    parameter(function, offset)
}

pub(crate) unsafe fn cuParamSetf(function: CUfunction, offset: c_int, _value: f32) -> Res {
    parameter(function, offset)
}

pub(crate) unsafe fn cuParamSetv(function: CUfunction, offset: c_int, at: *mut c_void, _bytes: c_uint) -> Res {
    parameter(function, offset)?;
    if at.is_null() { Err(INVALID_VALUE) } else { Ok(()) }
}

fn legacy(function: CUfunction, width: c_int, height: c_int, on: CUstream) -> Res {
    context::current()?;
    let stream = stream::resolve(raw(on), Zero::Legacy)?;
    let size = |n: c_int| u32::try_from(n).map_err(|_| INVALID_VALUE);
    let [x, y, z, shared] = find_function(raw(function))?.shape.each_ref().map(|f| f.load(Ordering::Relaxed));
    let shape = Shape { grid: [size(width)?, size(height)?, 1], block: [x, y, z], shared, cooperative: false };
    // SAFETY: no arguments.
    unsafe { launch(stream, function, &shape, std::ptr::null_mut()) }
}

pub(crate) unsafe fn cuLaunch(function: CUfunction) -> Res {
    legacy(function, 1, 1, std::ptr::null_mut())
}

pub(crate) unsafe fn cuLaunchGrid(function: CUfunction, width: c_int, height: c_int) -> Res {
    legacy(function, width, height, std::ptr::null_mut())
}

pub(crate) unsafe fn cuLaunchGridAsync(function: CUfunction, width: c_int, height: c_int, on: CUstream) -> Res {
    legacy(function, width, height, on)
}
