//! Stream-ordered allocation and pools.
//!
//! A chapter of the table. Grammar and meaning: the parent module.

#[doc(hidden)]
#[macro_export]
macro_rules! __families_pool {
    ($callback:tt $($before:tt)*) => { $crate::__families_array! {
        $callback
        $($before)*
        pool(current)
        because("chooses a pool and holds no memory; the hook of the allocation asks which pool is current")
        cuDeviceSetMemPool {
            11020 cuDeviceSetMemPool(dev: CUdevice, pool: CUmemoryPool);
        }
        pass() because("names a pool; allocates nothing") cuDeviceGetMemPool {
            11020 cuDeviceGetMemPool(pool: *mut CUmemoryPool, dev: CUdevice);
        }
        pass() because("names a pool; allocates nothing") cuDeviceGetDefaultMemPool {
            11020 cuDeviceGetDefaultMemPool(pool_out: *mut CUmemoryPool, dev: CUdevice);
        }
        free(ordered hStream) now() cuMemFreeAsync {
            11020 cuMemFreeAsync(dptr: CUdeviceptr, hStream: CUstream), 11020 cuMemFreeAsync_ptsz;
        }
        memory(ordered hStream) now() cuMemAllocAsync {
            11020 cuMemAllocAsync(
                dptr: *mut CUdeviceptr, bytesize: usize, hStream: CUstream
            ), 11020 cuMemAllocAsync_ptsz;
        }
        pool(trim) now() cuMemPoolTrimTo {
            11020 cuMemPoolTrimTo(pool: CUmemoryPool, minBytesToKeep: usize);
        }
        pool(set) now() cuMemPoolSetAttribute {
            11020 cuMemPoolSetAttribute(pool: CUmemoryPool, attr: CUmemPool_attribute, value: *mut c_void);
        }
        pass() because("reads a pool; allocates nothing") cuMemPoolGetAttribute {
            11020 cuMemPoolGetAttribute(pool: CUmemoryPool, attr: CUmemPool_attribute, value: *mut c_void);
        }
        pass() because("access rights of peers; the memory stays where it was charged") cuMemPoolSetAccess {
            11020 cuMemPoolSetAccess(pool: CUmemoryPool, map: *const CUmemAccessDesc, count: usize);
        }
        pass() because("access rights of peers; the memory stays where it was charged") cuMemPoolGetAccess {
            11020 cuMemPoolGetAccess(
                flags: *mut CUmemAccess_flags, memPool: CUmemoryPool, location: *mut CUmemLocation
            );
        }
        pool(create)
        because("an empty pool holds no memory; what is allocated from it is charged then")
        cuMemPoolCreate {
            11020 cuMemPoolCreate(pool: *mut CUmemoryPool, poolProps: *const CUmemPoolProps);
        }
        pool(destroy) now() cuMemPoolDestroy {
            11020 cuMemPoolDestroy(pool: CUmemoryPool);
        }
        memory(from_pool pool hStream) now() cuMemAllocFromPoolAsync {
            11020 cuMemAllocFromPoolAsync(
                dptr: *mut CUdeviceptr, bytesize: usize, pool: CUmemoryPool, hStream: CUstream
            ), 11020 cuMemAllocFromPoolAsync_ptsz;
        }
        reference(export)
        later("issue 4: an importer can keep the memory when its exporter is gone; until then only the audit sees \
            that")
        cuMemPoolExportToShareableHandle {
            11020 cuMemPoolExportToShareableHandle(
                handle_out: *mut c_void, pool: CUmemoryPool, handleType: CUmemAllocationHandleType, flags: c_ulonglong
            );
        }
        memory(import)
        later("issue 4: paid once, by the exporter, and moved when it dies; until then an import is not charged")
        cuMemPoolImportFromShareableHandle {
            11020 cuMemPoolImportFromShareableHandle(
                pool_out: *mut CUmemoryPool, handle: *mut c_void, handleType: CUmemAllocationHandleType,
                flags: c_ulonglong
            );
        }
        reference(export)
        later("issue 4: an importer can keep the memory when its exporter is gone; until then only the audit sees \
            that")
        cuMemPoolExportPointer {
            11020 cuMemPoolExportPointer(shareData_out: *mut CUmemPoolPtrExportData, ptr: CUdeviceptr);
        }
        memory(import)
        later("issue 4: paid once, by the exporter, and moved when it dies; until then an import is not charged")
        cuMemPoolImportPointer {
            11020 cuMemPoolImportPointer(
                ptr_out: *mut CUdeviceptr, pool: CUmemoryPool, shareData: *mut CUmemPoolPtrExportData
            );
        }
        pass() because("names a pool; allocates nothing") cuMemGetDefaultMemPool {
            13000 cuMemGetDefaultMemPool(
                pool_out: *mut CUmemoryPool, location: *mut CUmemLocation, type_: CUmemAllocationType
            );
        }
        pass() because("names a pool; allocates nothing") cuMemGetMemPool {
            13000 cuMemGetMemPool(pool: *mut CUmemoryPool, location: *mut CUmemLocation, type_: CUmemAllocationType);
        }
        pool(current)
        because("chooses a pool and holds no memory; the hook of the allocation asks which pool is current")
        cuMemSetMemPool {
            13000 cuMemSetMemPool(location: *mut CUmemLocation, type_: CUmemAllocationType, pool: CUmemoryPool);
        }
    } };
}
