//! Arrays and mipmaps: device memory that is addressed by element and only through a handle.
//!
//! Here an array is pitched memory with a shape. It must never move bytes: copies take its place from here.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::attributes;
use crate::context::Context;
use crate::error::{INVALID_HANDLE, INVALID_VALUE, OUT_OF_MEMORY, Res};
use crate::memory;
use crate::slots::{Slots, handle_of};
use crate::sync::lock;
use crate::types::{
    CUDA_ARRAY3D_DEFERRED_MAPPING, CUDA_ARRAY3D_DESCRIPTOR, CUDA_ARRAY3D_SPARSE, CUarray_format, c_uint,
};

/// Rows start at multiples of this, as the device's texture alignment says.
const ALIGN: usize = 512;

const LAYERED: c_uint = 1;
const CUBEMAP: c_uint = 4;
/// Every flag up to the newest header's.
const FLAGS: c_uint = 0x1ff;

/// Where an array's elements lie.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) descriptor: CUDA_ARRAY3D_DESCRIPTOR,
    pub(crate) address: usize,
    /// Bytes of a row that are elements.
    pub(crate) width: usize,
    /// Bytes from row to row.
    pub(crate) row: usize,
    pub(crate) height: usize,
    pub(crate) depth: usize,
}

impl Shape {
    /// Checks a descriptor and lays its rows out, with no address yet.
    ///
    /// # Errors
    /// [`INVALID_VALUE`] for what the device can't address; not supported: sparse arrays and formats of less than a byte.
    fn of(descriptor: CUDA_ARRAY3D_DESCRIPTOR) -> Res<Self> {
        let CUDA_ARRAY3D_DESCRIPTOR {
            Width: width,
            Height: height,
            Depth: depth,
            NumChannels: channels,
            Flags: flags,
            ..
        } = descriptor;
        let layered = flags & LAYERED != 0;
        let flat = height == 0 && depth > 0 && !layered;
        let cube = flags & CUBEMAP != 0 && (width != height || depth % 6 != 0 || depth == 0 || (!layered && depth > 6));
        if flags & !FLAGS != 0 || width == 0 || !matches!(channels, 1 | 2 | 4) || flat || cube {
            return Err(INVALID_VALUE);
        }
        let most = match (height, depth, layered || flags & CUBEMAP != 0) {
            (0, _, false) => [21, 0, 0],
            (_, 0, false) => [22, 23, 0],
            (_, _, false) => [24, 25, 26],
            (0, _, true) => [42, 0, 43],
            (_, _, true) => [27, 28, 29],
        };
        for (size, attribute) in [width, height, depth].into_iter().zip(most) {
            let limit = attributes::value(attribute).and_then(|v| usize::try_from(v).ok()).unwrap_or(0);
            if attribute != 0 && size > limit {
                return Err(INVALID_VALUE);
            }
        }
        if flags & (CUDA_ARRAY3D_SPARSE | CUDA_ARRAY3D_DEFERRED_MAPPING) != 0 {
            return Err(crate::unimplemented::call("a sparse or deferred array"));
        }
        let width = width * element(descriptor.Format)? * channels as usize;
        Ok(Self {
            descriptor,
            address: 0,
            width,
            row: width.next_multiple_of(ALIGN),
            height: height.max(1),
            depth: depth.max(1),
        })
    }

    /// Bytes from the first row to the end of the last. The limits of the device keep it far from an overflow.
    fn bytes(&self) -> usize {
        self.row * self.height * self.depth
    }

    /// The next smaller level of a mipmap. Layers stay as many as they are.
    fn halved(descriptor: CUDA_ARRAY3D_DESCRIPTOR) -> CUDA_ARRAY3D_DESCRIPTOR {
        let half = |size: usize| if size == 0 { 0 } else { (size / 2).max(1) };
        let layers = descriptor.Flags & (LAYERED | CUBEMAP) != 0;
        CUDA_ARRAY3D_DESCRIPTOR {
            Width: half(descriptor.Width),
            Height: half(descriptor.Height),
            Depth: if layers { descriptor.Depth } else { half(descriptor.Depth) },
            ..descriptor
        }
    }
}

/// Bytes of one channel.
fn element(format: CUarray_format) -> Res<usize> {
    match format {
        0x01 | 0x08 => Ok(1),
        0x02 | 0x09 | 0x10 => Ok(2),
        0x03 | 0x0a | 0x20 => Ok(4),
        0xb0.. | 0x91..=0xa3 => Err(crate::unimplemented::call("an array of a packed or compressed format")),
        _ => Err(INVALID_VALUE),
    }
}

/// An array, or one level of a mipmap.
#[derive(Debug, Default)]
pub(crate) struct Array {
    context_id: AtomicU64,
    shape: Mutex<Option<Shape>>,
    /// The mipmap that it is a level of; 0: it has memory of its own.
    mipmap_id: AtomicU64,
}

/// A mipmap; its levels are arrays in one piece of memory.
#[derive(Debug, Default)]
pub(crate) struct Mipmap {
    context_id: AtomicU64,
    id: AtomicU64,
    address: AtomicU64,
    levels: Mutex<Vec<&'static Array>>,
}

static ARRAYS: Slots<Array> = Slots::new(1 << 16);
static MIPMAPS: Slots<Mipmap> = Slots::new(1 << 12);

fn put(context: &Context, shape: Shape, mipmap_id: u64) -> Res<&'static Array> {
    let array = ARRAYS.insert(|a| {
        a.context_id.store(context.id(), Ordering::Relaxed);
        a.mipmap_id.store(mipmap_id, Ordering::Relaxed);
        *lock(&a.shape) = Some(shape);
    });
    array.ok_or(OUT_OF_MEMORY)
}

/// Makes an array in `context`.
///
/// # Errors
/// [`INVALID_VALUE`] for a bad descriptor; [`OUT_OF_MEMORY`].
pub(crate) fn create(context: &'static Context, descriptor: CUDA_ARRAY3D_DESCRIPTOR) -> Res<&'static Array> {
    let mut shape = Shape::of(descriptor)?;
    shape.address = memory::allocate(context, shape.bytes())?;
    put(context, shape, 0).or_else(|fail| memory::free(shape.address).and(Err(fail)))
}

/// Shape of the live array behind a handle.
///
/// # Errors
/// [`INVALID_HANDLE`].
pub(crate) fn shape(handle: *const ()) -> Res<Shape> {
    let array = ARRAYS.get(handle).ok_or(INVALID_HANDLE)?;
    let shape = *lock(&array.shape);
    shape.ok_or(INVALID_HANDLE)
}

/// Ends an array: waits for its context's work, as any free does.
///
/// # Errors
/// [`INVALID_HANDLE`], also for a level of a mipmap.
pub(crate) fn destroy(handle: *const ()) -> Res {
    let array = ARRAYS.get(handle).filter(|a| a.mipmap_id.load(Ordering::Relaxed) == 0).ok_or(INVALID_HANDLE)?;
    let shape = drop_array(array).ok_or(INVALID_HANDLE)?;
    memory::free(shape.address)
}

fn drop_array(array: &'static Array) -> Option<Shape> {
    ARRAYS.remove(handle_of(array))?;
    let shape = lock(&array.shape).take();
    ARRAYS.recycle(array);
    shape
}

/// Makes a mipmap of `levels` levels, clamped to as many as the largest side has halvings.
///
/// # Errors
/// As [`create`].
pub(crate) fn create_mipmap(
    context: &'static Context,
    descriptor: CUDA_ARRAY3D_DESCRIPTOR,
    levels: c_uint,
) -> Res<&'static Mipmap> {
    let layers = descriptor.Flags & (LAYERED | CUBEMAP) != 0;
    let largest = descriptor.Width.max(descriptor.Height).max(if layers { 0 } else { descriptor.Depth });
    let most = largest.checked_ilog2().ok_or(INVALID_VALUE)? + 1;
    let mut shapes = Vec::new();
    let (mut next, mut bytes) = (descriptor, 0);
    for _ in 0..levels.clamp(1, most) {
        let shape = Shape::of(next)?;
        // Offsets for now; the start is added when it is known.
        shapes.push(Shape { address: bytes, ..shape });
        bytes += shape.bytes();
        next = Shape::halved(next);
    }
    let start = memory::allocate(context, bytes)?;
    let id = crate::state::next_id();
    let mut arrays = Vec::new();
    for shape in shapes {
        match put(context, Shape { address: start + shape.address, ..shape }, id) {
            Ok(array) => arrays.push(array),
            Err(fail) => {
                for array in arrays {
                    let _ = drop_array(array);
                }
                return memory::free(start).and(Err(fail));
            }
        }
    }
    let mipmap = MIPMAPS.insert(|m| {
        m.context_id.store(context.id(), Ordering::Relaxed);
        m.id.store(id, Ordering::Relaxed);
        m.address.store(start as u64, Ordering::Relaxed);
        *lock(&m.levels) = arrays;
    });
    mipmap.ok_or(OUT_OF_MEMORY)
}

/// One level, as the array that it is.
///
/// # Errors
/// [`INVALID_HANDLE`]; [`INVALID_VALUE`] for a level that there is not.
pub(crate) fn level(handle: *const (), level: c_uint) -> Res<&'static Array> {
    let mipmap = MIPMAPS.get(handle).ok_or(INVALID_HANDLE)?;
    let found = lock(&mipmap.levels).get(level as usize).copied();
    found.ok_or(INVALID_VALUE)
}

/// Ends a mipmap with its levels.
///
/// # Errors
/// [`INVALID_HANDLE`].
pub(crate) fn destroy_mipmap(handle: *const ()) -> Res {
    let address = MIPMAPS.remove(handle).map(drop_levels).ok_or(INVALID_HANDLE)?;
    memory::free(usize::try_from(address).map_err(|_| INVALID_VALUE)?)
}

fn drop_levels(mipmap: &'static Mipmap) -> u64 {
    let levels = std::mem::take(&mut *lock(&mipmap.levels));
    for array in levels {
        let _ = drop_array(array);
    }
    let address = mipmap.address.load(Ordering::Relaxed);
    MIPMAPS.recycle(mipmap);
    address
}

/// Forgets a dead context's arrays; their memory goes with the context's other memory.
pub(crate) fn drop_context(context: &Context) {
    let id = context.id();
    for mipmap in MIPMAPS.live().filter(|m| m.context_id.load(Ordering::Relaxed) == id) {
        // A racing destroy by the application has the same effect.
        let _ = MIPMAPS.remove(handle_of(mipmap)).map(drop_levels);
    }
    for array in ARRAYS.live().filter(|a| a.context_id.load(Ordering::Relaxed) == id) {
        let _ = drop_array(array);
    }
}
