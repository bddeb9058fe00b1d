//! Plain memory: allocation, free, questions, hints, pinned host memory.
//!
//! A chapter of the table. Grammar and meaning: the parent module.

#[doc(hidden)]
#[macro_export]
macro_rules! __families_memory {
    ($callback:tt $($before:tt)*) => { $crate::__families_vmm! {
        $callback
        $($before)*
        memory_info(free_total) now() cuMemGetInfo {
            2000 cuMemGetInfo(free: *mut c_uint, total: *mut c_uint);
            3020 cuMemGetInfo_v2(free: *mut usize, total: *mut usize);
        }
        memory(plain) now() cuMemAlloc {
            2000 cuMemAlloc(dptr: *mut CUdeviceptr_v1, bytesize: c_uint);
            3020 cuMemAlloc_v2(dptr: *mut CUdeviceptr, bytesize: usize);
        }
        memory(pitch) now() cuMemAllocPitch {
            2000 cuMemAllocPitch(
                dptr: *mut CUdeviceptr_v1, pPitch: *mut c_uint, WidthInBytes: c_uint, Height: c_uint,
                ElementSizeBytes: c_uint
            );
            3020 cuMemAllocPitch_v2(
                dptr: *mut CUdeviceptr, pPitch: *mut usize, WidthInBytes: usize, Height: usize,
                ElementSizeBytes: c_uint
            );
        }
        free(plain) now() cuMemFree {
            2000 cuMemFree(dptr: CUdeviceptr_v1);
            3020 cuMemFree_v2(dptr: CUdeviceptr);
        }
        pass()
        because("asks the driver about an address; allocates nothing and puts nothing in a queue")
        cuMemGetAddressRange {
            2000 cuMemGetAddressRange(pbase: *mut CUdeviceptr_v1, psize: *mut c_uint, dptr: CUdeviceptr_v1);
            3020 cuMemGetAddressRange_v2(pbase: *mut CUdeviceptr, psize: *mut usize, dptr: CUdeviceptr);
        }
        pass() because("pinned host memory; no device memory, no GPU work") cuMemAllocHost {
            2000 cuMemAllocHost(pp: *mut *mut c_void, bytesize: c_uint);
            3020 cuMemAllocHost_v2(pp: *mut *mut c_void, bytesize: usize);
        }
        pass() because("pinned host memory; no device memory, no GPU work") cuMemFreeHost {
            2000 cuMemFreeHost(p: *mut c_void);
        }
        pass() because("pinned host memory; no device memory, no GPU work") cuMemHostAlloc {
            2020 cuMemHostAlloc(pp: *mut *mut c_void, bytesize: usize, Flags: c_uint);
        }
        pass()
        because("asks the driver about an address; allocates nothing and puts nothing in a queue")
        cuMemHostGetDevicePointer {
            2020 cuMemHostGetDevicePointer(pdptr: *mut CUdeviceptr_v1, p: *mut c_void, Flags: c_uint);
            3020 cuMemHostGetDevicePointer_v2(pdptr: *mut CUdeviceptr, p: *mut c_void, Flags: c_uint);
        }
        pass()
        because("asks the driver about an address; allocates nothing and puts nothing in a queue")
        cuMemHostGetFlags {
            2030 cuMemHostGetFlags(pFlags: *mut c_uint, p: *mut c_void);
        }
        memory(managed) now() cuMemAllocManaged {
            6000 cuMemAllocManaged(dptr: *mut CUdeviceptr, bytesize: usize, flags: c_uint);
        }
        pass() because("pinned host memory; no device memory, no GPU work") cuMemHostRegister {
            4000 cuMemHostRegister(p: *mut c_void, bytesize: usize, Flags: c_uint);
            6050 cuMemHostRegister_v2(p: *mut c_void, bytesize: usize, Flags: c_uint);
        }
        pass() because("pinned host memory; no device memory, no GPU work") cuMemHostUnregister {
            4000 cuMemHostUnregister(p: *mut c_void);
        }
        reference(export)
        later("issue 4: the allocation can outlive its free through the exported dma-buf; until then the charge ends \
            at the free and the audit sees the rest")
        cuMemGetHandleForAddressRange {
            11070 cuMemGetHandleForAddressRange(
                handle: *mut c_void, dptr: CUdeviceptr, size: usize, handleType: CUmemRangeHandleType,
                flags: c_ulonglong
            );
        }
        pass()
        because("asks the driver about an address; allocates nothing and puts nothing in a queue")
        cuPointerGetAttribute {
            4000 cuPointerGetAttribute(data: *mut c_void, attribute: CUpointer_attribute, ptr: CUdeviceptr);
        }
        pass()
        because("moves managed pages by the copy engines, never gated; residency changes no charge")
        cuMemPrefetchAsync {
            8000 cuMemPrefetchAsync(
                devPtr: CUdeviceptr, count: usize, dstDevice: CUdevice, hStream: CUstream
            ), 8000 cuMemPrefetchAsync_ptsz;
            12020 cuMemPrefetchAsync_v2(
                devPtr: CUdeviceptr, count: usize, location: CUmemLocation, flags: c_uint, hStream: CUstream
            ), 12020 cuMemPrefetchAsync_v2_ptsz;
        }
        pass()
        because("a hint about managed pages; they are charged in full when allocated, so residency changes no \
            charge")
        cuMemAdvise {
            8000 cuMemAdvise(devPtr: CUdeviceptr, count: usize, advice: CUmem_advise, device: CUdevice);
            12020 cuMemAdvise_v2(devPtr: CUdeviceptr, count: usize, advice: CUmem_advise, location: CUmemLocation);
        }
        pass()
        because("asks the driver about an address; allocates nothing and puts nothing in a queue")
        cuMemRangeGetAttribute {
            8000 cuMemRangeGetAttribute(
                data: *mut c_void, dataSize: usize, attribute: CUmem_range_attribute, devPtr: CUdeviceptr,
                count: usize
            );
        }
        pass()
        because("asks the driver about an address; allocates nothing and puts nothing in a queue")
        cuMemRangeGetAttributes {
            8000 cuMemRangeGetAttributes(
                data: *mut *mut c_void, dataSizes: *mut usize, attributes: *mut CUmem_range_attribute,
                numAttributes: usize, devPtr: CUdeviceptr, count: usize
            );
        }
        pass()
        because("sets SYNC_MEMOPS and the like on an existing allocation; its size and owner stay as they are")
        cuPointerSetAttribute {
            6000 cuPointerSetAttribute(value: *const c_void, attribute: CUpointer_attribute, ptr: CUdeviceptr);
        }
        pass()
        because("asks the driver about an address; allocates nothing and puts nothing in a queue")
        cuPointerGetAttributes {
            7000 cuPointerGetAttributes(
                numAttributes: c_uint, attributes: *mut CUpointer_attribute, data: *mut *mut c_void, ptr: CUdeviceptr
            );
        }
        pass()
        because("changes which stream may see managed memory; allocates nothing and runs no kernel")
        cuStreamAttachMemAsync {
            6000 cuStreamAttachMemAsync(
                hStream: CUstream, dptr: CUdeviceptr, length: usize, flags: c_uint
            ), 7000 cuStreamAttachMemAsync_ptsz;
        }
        pass()
        because("moves managed pages by the copy engines, never gated; residency changes no charge")
        cuMemPrefetchBatchAsync {
            13000 cuMemPrefetchBatchAsync(
                dptrs: *mut CUdeviceptr, sizes: *mut usize, count: usize, prefetchLocs: *mut CUmemLocation,
                prefetchLocIdxs: *mut usize, numPrefetchLocs: usize, flags: c_ulonglong, hStream: CUstream
            ), 13000 cuMemPrefetchBatchAsync_ptsz;
        }
        pass()
        because("moves managed pages by the copy engines, never gated; residency changes no charge")
        cuMemDiscardBatchAsync {
            13000 cuMemDiscardBatchAsync(
                dptrs: *mut CUdeviceptr, sizes: *mut usize, count: usize, flags: c_ulonglong, hStream: CUstream
            ), 13000 cuMemDiscardBatchAsync_ptsz;
        }
        pass()
        because("moves managed pages by the copy engines, never gated; residency changes no charge")
        cuMemDiscardAndPrefetchBatchAsync {
            13000 cuMemDiscardAndPrefetchBatchAsync(
                dptrs: *mut CUdeviceptr, sizes: *mut usize, count: usize, prefetchLocs: *mut CUmemLocation,
                prefetchLocIdxs: *mut usize, numPrefetchLocs: usize, flags: c_ulonglong, hStream: CUstream
            ), 13000 cuMemDiscardAndPrefetchBatchAsync_ptsz;
        }
        pass()
        because("asks the driver about an address; allocates nothing and puts nothing in a queue")
        cuMemGetLocationInfo {
            13040 cuMemGetLocationInfo(
                ptr: CUdeviceptr, size: usize, summaryGranularity: usize, samplingGranularity: usize,
                location_out: *mut CUmemLocation
            );
        }
    } };
}
