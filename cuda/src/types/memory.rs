//! Memory: locations, allocation properties, pools, array descriptors, multi-dimensional copies.
use super::*;

/// Where memory lives or should live. In 13.x the number is a union whose other arm (a device byte and a locality
/// domain byte) is used by `CU_MEM_LOCATION_TYPE_DEVICE_LOCALITY_DOMAIN` alone.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CUmemLocation {
    /// Which kind of place.
    pub type_: CUmemLocationType,
    /// Device ordinal or NUMA node, by `type_`.
    pub id: c_int,
}

/// The flags inside [`CUmemAllocationProp`].
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct CUmemAllocationPropFlags {
    /// 0 none, 1 generic compression.
    pub compressionType: c_uchar,
    /// Nonzero when other PCIe devices may reach it.
    pub gpuDirectRDMACapable: c_uchar,
    /// Bit field of uses (tile pool, decompression).
    pub usage: c_ushort,
    /// Zero.
    pub reserved: [c_uchar; 4],
}

/// Properties of physical memory made by `cuMemCreate`; its charge goes to `location`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct CUmemAllocationProp {
    /// Pinned or managed.
    pub type_: CUmemAllocationType,
    /// How it may be shared.
    pub requestedHandleTypes: CUmemAllocationHandleType,
    /// Where it lives.
    pub location: CUmemLocation,
    /// Windows only.
    pub win32HandleMetaData: *mut c_void,
    /// Compression and sharing with other devices.
    pub allocFlags: CUmemAllocationPropFlags,
}

/// Properties of a memory pool.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct CUmemPoolProps {
    /// Pinned or managed.
    pub allocType: CUmemAllocationType,
    /// How it may be shared.
    pub handleTypes: CUmemAllocationHandleType,
    /// Where its memory lives.
    pub location: CUmemLocation,
    /// Windows only.
    pub win32SecurityAttributes: *mut c_void,
    /// Largest size in bytes, 0 for the system's bound (12.2 on; reserved before).
    pub maxSize: usize,
    /// Bit field of uses.
    pub usage: c_ushort,
    /// Nonzero when other PCIe devices may reach it (late 13.x; reserved before).
    pub gpuDirectRDMACapable: c_uchar,
    /// Zero.
    pub reserved: [c_uchar; 53],
}

/// Who may touch a mapping or a pool.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct CUmemAccessDesc {
    /// The device that is allowed.
    pub location: CUmemLocation,
    /// Nothing, read, read and write.
    pub flags: CUmemAccess_flags,
}

/// 16 bytes that name a device.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CUuuid {
    /// In the order in which the text form prints them.
    pub bytes: [u8; 16],
}

/// Old device properties, all integers.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs)]
pub struct CUdevprop {
    pub maxThreadsPerBlock: c_int,
    pub maxThreadsDim: [c_int; 3],
    pub maxGridSize: [c_int; 3],
    pub sharedMemPerBlock: c_int,
    pub totalConstantMemory: c_int,
    pub SIMDWidth: c_int,
    pub memPitch: c_int,
    pub regsPerBlock: c_int,
    pub clockRate: c_int,
    pub textureAlign: c_int,
}

macro_rules! descriptors {
    ($($name:ident { $($field:ident: $ty:ty),* $(,)? } $what:literal;)*) => { $(
        #[doc = $what]
        #[repr(C)]
        #[derive(Clone, Copy, Debug, Default)]
        #[allow(missing_docs)]
        pub struct $name { $(pub $field: $ty),* }
    )* };
}

descriptors! {
    CUDA_ARRAY_DESCRIPTOR { Width: usize, Height: usize, Format: CUarray_format, NumChannels: c_uint }
        "A one- or two-dimensional array; sizes in elements.";
    CUDA_ARRAY_DESCRIPTOR_v1 { Width: c_uint, Height: c_uint, Format: CUarray_format, NumChannels: c_uint }
        "A one- or two-dimensional array in the 32-bit interface.";
    CUDA_ARRAY3D_DESCRIPTOR {
        Width: usize, Height: usize, Depth: usize, Format: CUarray_format, NumChannels: c_uint, Flags: c_uint,
    } "A three-dimensional, layered or cubemap array; sizes in elements.";
    CUDA_ARRAY3D_DESCRIPTOR_v1 {
        Width: c_uint, Height: c_uint, Depth: c_uint, Format: CUarray_format, NumChannels: c_uint, Flags: c_uint,
    } "A three-dimensional array in the 32-bit interface.";
}

macro_rules! copies {
    ($($(#[$doc:meta])* $name:ident { $($field:ident: $ty:ty),* $(,)? })*) => { $(
        $(#[$doc])*
        #[repr(C)]
        #[derive(Clone, Copy, Debug)]
        #[allow(missing_docs)]
        pub struct $name { $(pub $field: $ty),* }
    )* };
}

copies! {
    /// A two-dimensional copy. Which of host, device and array counts follows from each side's memory type.
    CUDA_MEMCPY2D {
        srcXInBytes: usize, srcY: usize, srcMemoryType: CUmemorytype, srcHost: *const c_void, srcDevice: CUdeviceptr,
        srcArray: CUarray, srcPitch: usize,
        dstXInBytes: usize, dstY: usize, dstMemoryType: CUmemorytype, dstHost: *mut c_void, dstDevice: CUdeviceptr,
        dstArray: CUarray, dstPitch: usize,
        WidthInBytes: usize, Height: usize,
    }
    /// A two-dimensional copy in the 32-bit interface.
    CUDA_MEMCPY2D_v1 {
        srcXInBytes: c_uint, srcY: c_uint, srcMemoryType: CUmemorytype, srcHost: *const c_void,
        srcDevice: CUdeviceptr_v1, srcArray: CUarray, srcPitch: c_uint,
        dstXInBytes: c_uint, dstY: c_uint, dstMemoryType: CUmemorytype, dstHost: *mut c_void,
        dstDevice: CUdeviceptr_v1, dstArray: CUarray, dstPitch: c_uint,
        WidthInBytes: c_uint, Height: c_uint,
    }
    /// A three-dimensional copy.
    CUDA_MEMCPY3D {
        srcXInBytes: usize, srcY: usize, srcZ: usize, srcLOD: usize, srcMemoryType: CUmemorytype,
        srcHost: *const c_void, srcDevice: CUdeviceptr, srcArray: CUarray, reserved0: *mut c_void, srcPitch: usize,
        srcHeight: usize,
        dstXInBytes: usize, dstY: usize, dstZ: usize, dstLOD: usize, dstMemoryType: CUmemorytype,
        dstHost: *mut c_void, dstDevice: CUdeviceptr, dstArray: CUarray, reserved1: *mut c_void, dstPitch: usize,
        dstHeight: usize,
        WidthInBytes: usize, Height: usize, Depth: usize,
    }
    /// A three-dimensional copy in the 32-bit interface.
    CUDA_MEMCPY3D_v1 {
        srcXInBytes: c_uint, srcY: c_uint, srcZ: c_uint, srcLOD: c_uint, srcMemoryType: CUmemorytype,
        srcHost: *const c_void, srcDevice: CUdeviceptr_v1, srcArray: CUarray, reserved0: *mut c_void,
        srcPitch: c_uint, srcHeight: c_uint,
        dstXInBytes: c_uint, dstY: c_uint, dstZ: c_uint, dstLOD: c_uint, dstMemoryType: CUmemorytype,
        dstHost: *mut c_void, dstDevice: CUdeviceptr_v1, dstArray: CUarray, reserved1: *mut c_void,
        dstPitch: c_uint, dstHeight: c_uint,
        WidthInBytes: c_uint, Height: c_uint, Depth: c_uint,
    }
    /// A three-dimensional copy between contexts.
    CUDA_MEMCPY3D_PEER {
        srcXInBytes: usize, srcY: usize, srcZ: usize, srcLOD: usize, srcMemoryType: CUmemorytype,
        srcHost: *const c_void, srcDevice: CUdeviceptr, srcArray: CUarray, srcContext: CUcontext, srcPitch: usize,
        srcHeight: usize,
        dstXInBytes: usize, dstY: usize, dstZ: usize, dstLOD: usize, dstMemoryType: CUmemorytype,
        dstHost: *mut c_void, dstDevice: CUdeviceptr, dstArray: CUarray, dstContext: CUcontext, dstPitch: usize,
        dstHeight: usize,
        WidthInBytes: usize, Height: usize, Depth: usize,
    }
    /// Hints of one copy of a batch.
    CUmemcpyAttributes {
        srcAccessOrder: CUmemcpySrcAccessOrder, srcLocHint: CUmemLocation, dstLocHint: CUmemLocation, flags: c_uint,
    }
    /// Three sizes in elements.
    CUextent3D { width: usize, height: usize, depth: usize }
    /// Three offsets in elements.
    CUoffset3D { x: usize, y: usize, z: usize }
    /// Pointer arm of [`CUmemcpy3DOperand`].
    CUmemcpy3DOperandPointer { ptr: CUdeviceptr, rowLength: usize, layerHeight: usize, locHint: CUmemLocation }
    /// Array arm of [`CUmemcpy3DOperand`].
    CUmemcpy3DOperandArray { array: CUarray, offset: CUoffset3D }
}

/// The arms of [`CUmemcpy3DOperand`].
#[repr(C)]
#[derive(Clone, Copy)]
pub union CUmemcpy3DOperandUnion {
    /// When the type is pointer.
    pub ptr: CUmemcpy3DOperandPointer,
    /// When the type is array.
    pub array: CUmemcpy3DOperandArray,
}

/// One side of a copy of a batch.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct CUmemcpy3DOperand {
    /// Pointer or array.
    pub type_: CUmemcpy3DOperandType,
    /// By `type_`.
    pub op: CUmemcpy3DOperandUnion,
}

/// One three-dimensional copy of a batch.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct CUDA_MEMCPY3D_BATCH_OP {
    /// From.
    pub src: CUmemcpy3DOperand,
    /// To.
    pub dst: CUmemcpy3DOperand,
    /// How much.
    pub extent: CUextent3D,
    /// When the source may be read.
    pub srcAccessOrder: CUmemcpySrcAccessOrder,
    /// Hints.
    pub flags: c_uint,
}

/// The handle inside [`CUDA_EXTERNAL_MEMORY_HANDLE_DESC`].
#[repr(C)]
#[derive(Clone, Copy)]
pub union CUexternalMemoryHandle {
    /// File descriptor.
    pub fd: c_int,
    /// Windows handle and name.
    pub win32: [*const c_void; 2],
    /// NvSciBuf object.
    pub nvSciBufObject: *const c_void,
}

/// Memory of another API to import.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct CUDA_EXTERNAL_MEMORY_HANDLE_DESC {
    /// Which arm of `handle` counts.
    pub type_: CUexternalMemoryHandleType,
    /// What to import.
    pub handle: CUexternalMemoryHandle,
    /// Bytes.
    pub size: c_ulonglong,
    /// Dedicated or not.
    pub flags: c_uint,
    /// Zero.
    pub reserved: [c_uint; 16],
}
