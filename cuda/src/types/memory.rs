//! Memory: locations, allocation properties, pools, array descriptors, multi-dimensional copies.
use super::*;

structures! {
    MEMORY_LAYOUTS;

    /// Where memory lives or should live. In 13.x the number is a union whose other arm (a device byte and a locality
    /// domain byte) is used by `CU_MEM_LOCATION_TYPE_DEVICE_LOCALITY_DOMAIN` alone.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    struct CUmemLocation {
        /// Which kind of place.
        type_: CUmemLocationType,
        /// Device ordinal or NUMA node, by `type_`.
        id: c_int,
    }

    /// The flags inside [`CUmemAllocationProp`].
    #[derive(Clone, Copy, Debug, Default)]
    struct CUmemAllocationPropFlags as "__typeof__(((CUmemAllocationProp *)0)->allocFlags)" {
        /// 0 none, 1 generic compression.
        compressionType: c_uchar,
        /// Nonzero when other PCIe devices may reach it.
        gpuDirectRDMACapable: c_uchar,
        /// Bit field of uses (tile pool, decompression).
        usage: c_ushort,
        /// Zero.
        reserved: [c_uchar; 4],
    }

    /// Properties of physical memory made by `cuMemCreate`; its charge goes to `location`.
    #[derive(Clone, Copy, Debug)]
    struct CUmemAllocationProp {
        /// Pinned or managed.
        type_: CUmemAllocationType,
        /// How it may be shared.
        requestedHandleTypes: CUmemAllocationHandleType,
        /// Where it lives.
        location: CUmemLocation,
        /// Windows only.
        win32HandleMetaData: *mut c_void,
        /// Compression and sharing with other devices.
        allocFlags: CUmemAllocationPropFlags,
    }

    /// Properties of a memory pool.
    #[derive(Clone, Copy, Debug)]
    struct CUmemPoolProps {
        /// Pinned or managed.
        allocType: CUmemAllocationType,
        /// How it may be shared.
        handleTypes: CUmemAllocationHandleType,
        /// Where its memory lives.
        location: CUmemLocation,
        /// Windows only.
        win32SecurityAttributes: *mut c_void,
        /// Largest size in bytes, 0 for the system's bound (12.2 on; reserved before).
        maxSize: usize,
        /// Bit field of uses.
        usage: c_ushort,
        /// Nonzero when other PCIe devices may reach it (late 13.x; reserved before).
        gpuDirectRDMACapable: c_uchar,
        /// Zero.
        reserved: [c_uchar; 53],
    }

    /// Who may touch a mapping or a pool.
    #[derive(Clone, Copy, Debug, Default)]
    struct CUmemAccessDesc {
        /// The device that is allowed.
        location: CUmemLocation,
        /// Nothing, read, read and write.
        flags: CUmemAccess_flags,
    }

    /// 16 bytes that name a device.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
    struct CUuuid {
        /// In the order in which the text form prints them.
        bytes: [u8; 16],
    }

    /// Old device properties, all integers.
    #[derive(Clone, Copy, Debug, Default)]
    struct CUdevprop {
        maxThreadsPerBlock: c_int,
        maxThreadsDim: [c_int; 3],
        maxGridSize: [c_int; 3],
        sharedMemPerBlock: c_int,
        totalConstantMemory: c_int,
        SIMDWidth: c_int,
        memPitch: c_int,
        regsPerBlock: c_int,
        clockRate: c_int,
        textureAlign: c_int,
    }

    /// A one- or two-dimensional array; sizes in elements.
    #[derive(Clone, Copy, Debug, Default)]
    struct CUDA_ARRAY_DESCRIPTOR {
        Width: usize,
        Height: usize,
        Format: CUarray_format,
        NumChannels: c_uint,
    }

    /// A one- or two-dimensional array in the 32-bit interface.
    #[derive(Clone, Copy, Debug, Default)]
    struct CUDA_ARRAY_DESCRIPTOR_v1 {
        Width: c_uint,
        Height: c_uint,
        Format: CUarray_format,
        NumChannels: c_uint,
    }

    /// A three-dimensional, layered or cubemap array; sizes in elements.
    #[derive(Clone, Copy, Debug, Default)]
    struct CUDA_ARRAY3D_DESCRIPTOR {
        Width: usize,
        Height: usize,
        Depth: usize,
        Format: CUarray_format,
        NumChannels: c_uint,
        Flags: c_uint,
    }

    /// A three-dimensional array in the 32-bit interface.
    #[derive(Clone, Copy, Debug, Default)]
    struct CUDA_ARRAY3D_DESCRIPTOR_v1 {
        Width: c_uint,
        Height: c_uint,
        Depth: c_uint,
        Format: CUarray_format,
        NumChannels: c_uint,
        Flags: c_uint,
    }

    /// A two-dimensional copy. Which of host, device and array counts follows from each side's memory type.
    #[derive(Clone, Copy, Debug)]
    struct CUDA_MEMCPY2D {
        srcXInBytes: usize,
        srcY: usize,
        srcMemoryType: CUmemorytype,
        srcHost: *const c_void,
        srcDevice: CUdeviceptr,
        srcArray: CUarray,
        srcPitch: usize,
        dstXInBytes: usize,
        dstY: usize,
        dstMemoryType: CUmemorytype,
        dstHost: *mut c_void,
        dstDevice: CUdeviceptr,
        dstArray: CUarray,
        dstPitch: usize,
        WidthInBytes: usize,
        Height: usize,
    }

    /// A two-dimensional copy in the 32-bit interface.
    #[derive(Clone, Copy, Debug)]
    struct CUDA_MEMCPY2D_v1 {
        srcXInBytes: c_uint,
        srcY: c_uint,
        srcMemoryType: CUmemorytype,
        srcHost: *const c_void,
        srcDevice: CUdeviceptr_v1,
        srcArray: CUarray,
        srcPitch: c_uint,
        dstXInBytes: c_uint,
        dstY: c_uint,
        dstMemoryType: CUmemorytype,
        dstHost: *mut c_void,
        dstDevice: CUdeviceptr_v1,
        dstArray: CUarray,
        dstPitch: c_uint,
        WidthInBytes: c_uint,
        Height: c_uint,
    }

    /// A three-dimensional copy.
    #[derive(Clone, Copy, Debug)]
    struct CUDA_MEMCPY3D {
        srcXInBytes: usize,
        srcY: usize,
        srcZ: usize,
        srcLOD: usize,
        srcMemoryType: CUmemorytype,
        srcHost: *const c_void,
        srcDevice: CUdeviceptr,
        srcArray: CUarray,
        reserved0: *mut c_void,
        srcPitch: usize,
        srcHeight: usize,
        dstXInBytes: usize,
        dstY: usize,
        dstZ: usize,
        dstLOD: usize,
        dstMemoryType: CUmemorytype,
        dstHost: *mut c_void,
        dstDevice: CUdeviceptr,
        dstArray: CUarray,
        reserved1: *mut c_void,
        dstPitch: usize,
        dstHeight: usize,
        WidthInBytes: usize,
        Height: usize,
        Depth: usize,
    }

    /// A three-dimensional copy in the 32-bit interface.
    #[derive(Clone, Copy, Debug)]
    struct CUDA_MEMCPY3D_v1 {
        srcXInBytes: c_uint,
        srcY: c_uint,
        srcZ: c_uint,
        srcLOD: c_uint,
        srcMemoryType: CUmemorytype,
        srcHost: *const c_void,
        srcDevice: CUdeviceptr_v1,
        srcArray: CUarray,
        reserved0: *mut c_void,
        srcPitch: c_uint,
        srcHeight: c_uint,
        dstXInBytes: c_uint,
        dstY: c_uint,
        dstZ: c_uint,
        dstLOD: c_uint,
        dstMemoryType: CUmemorytype,
        dstHost: *mut c_void,
        dstDevice: CUdeviceptr_v1,
        dstArray: CUarray,
        reserved1: *mut c_void,
        dstPitch: c_uint,
        dstHeight: c_uint,
        WidthInBytes: c_uint,
        Height: c_uint,
        Depth: c_uint,
    }

    /// A three-dimensional copy between contexts.
    #[derive(Clone, Copy, Debug)]
    struct CUDA_MEMCPY3D_PEER {
        srcXInBytes: usize,
        srcY: usize,
        srcZ: usize,
        srcLOD: usize,
        srcMemoryType: CUmemorytype,
        srcHost: *const c_void,
        srcDevice: CUdeviceptr,
        srcArray: CUarray,
        srcContext: CUcontext,
        srcPitch: usize,
        srcHeight: usize,
        dstXInBytes: usize,
        dstY: usize,
        dstZ: usize,
        dstLOD: usize,
        dstMemoryType: CUmemorytype,
        dstHost: *mut c_void,
        dstDevice: CUdeviceptr,
        dstArray: CUarray,
        dstContext: CUcontext,
        dstPitch: usize,
        dstHeight: usize,
        WidthInBytes: usize,
        Height: usize,
        Depth: usize,
    }

    /// Hints of one copy of a batch.
    #[derive(Clone, Copy, Debug)]
    struct CUmemcpyAttributes {
        srcAccessOrder: CUmemcpySrcAccessOrder,
        srcLocHint: CUmemLocation,
        dstLocHint: CUmemLocation,
        flags: c_uint,
    }

    /// Three sizes in elements.
    #[derive(Clone, Copy, Debug)]
    struct CUextent3D {
        width: usize,
        height: usize,
        depth: usize,
    }

    /// Three offsets in elements.
    #[derive(Clone, Copy, Debug)]
    struct CUoffset3D {
        x: usize,
        y: usize,
        z: usize,
    }

    /// Pointer arm of [`CUmemcpy3DOperand`].
    #[derive(Clone, Copy, Debug)]
    struct CUmemcpy3DOperandPointer as "__typeof__(((CUmemcpy3DOperand *)0)->op.ptr)" {
        ptr: CUdeviceptr,
        rowLength: usize,
        layerHeight: usize,
        locHint: CUmemLocation,
    }

    /// Array arm of [`CUmemcpy3DOperand`].
    #[derive(Clone, Copy, Debug)]
    struct CUmemcpy3DOperandArray as "__typeof__(((CUmemcpy3DOperand *)0)->op.array)" {
        array: CUarray,
        offset: CUoffset3D,
    }

    /// The arms of [`CUmemcpy3DOperand`].
    #[derive(Clone, Copy)]
    union CUmemcpy3DOperandUnion as "__typeof__(((CUmemcpy3DOperand *)0)->op)" {
        /// When the type is pointer.
        ptr: CUmemcpy3DOperandPointer,
        /// When the type is array.
        array: CUmemcpy3DOperandArray,
    }

    /// One side of a copy of a batch.
    #[derive(Clone, Copy)]
    struct CUmemcpy3DOperand {
        /// Pointer or array.
        type_: CUmemcpy3DOperandType,
        /// By `type_`.
        op: CUmemcpy3DOperandUnion,
    }

    /// One three-dimensional copy of a batch.
    #[derive(Clone, Copy)]
    struct CUDA_MEMCPY3D_BATCH_OP {
        /// From.
        src: CUmemcpy3DOperand,
        /// To.
        dst: CUmemcpy3DOperand,
        /// How much.
        extent: CUextent3D,
        /// When the source may be read.
        srcAccessOrder: CUmemcpySrcAccessOrder,
        /// Hints.
        flags: c_uint,
    }

    /// The handle inside [`CUDA_EXTERNAL_MEMORY_HANDLE_DESC`].
    #[derive(Clone, Copy)]
    union CUexternalMemoryHandle as "__typeof__(((CUDA_EXTERNAL_MEMORY_HANDLE_DESC *)0)->handle)" {
        /// File descriptor.
        fd: c_int,
        /// Windows handle and name.
        win32: [*const c_void; 2],
        /// NvSciBuf object.
        nvSciBufObject: *const c_void,
    }

    /// Memory of another API to import.
    #[derive(Clone, Copy)]
    struct CUDA_EXTERNAL_MEMORY_HANDLE_DESC {
        /// Which arm of `handle` counts.
        type_: CUexternalMemoryHandleType,
        /// What to import.
        handle: CUexternalMemoryHandle,
        /// Bytes.
        size: c_ulonglong,
        /// Dedicated or not.
        flags: c_uint,
        /// Zero.
        reserved: [c_uint; 16],
    }
}
