//! Virtual memory management, multicast, logical endpoints.
//!
//! A chapter of the table. Grammar and meaning: the parent module.

#[doc(hidden)]
#[macro_export]
macro_rules! __families_vmm {
    ($callback:tt $($before:tt)*) => { $crate::__families_pool! {
        $callback
        $($before)*
        pass()
        because("address space, access rights and questions; physical memory comes from cuMemCreate alone")
        cuMemAddressReserve {
            10020 cuMemAddressReserve(
                ptr: *mut CUdeviceptr, size: usize, alignment: usize, addr: CUdeviceptr, flags: c_ulonglong
            );
        }
        pass()
        because("address space, access rights and questions; physical memory comes from cuMemCreate alone")
        cuMemAddressFree {
            10020 cuMemAddressFree(ptr: CUdeviceptr, size: usize);
        }
        memory(physical)
        later("issue 4: charged to the device in its properties; until then not limited by the ledger, only seen by \
            the audit")
        cuMemCreate {
            10020 cuMemCreate(
                handle: *mut CUmemGenericAllocationHandle, size: usize, prop: *const CUmemAllocationProp,
                flags: c_ulonglong
            );
        }
        free(physical)
        later("issue 4: the charge of cuMemCreate ends with the last handle and the last mapping; until then there is \
            no charge to end")
        cuMemRelease {
            10020 cuMemRelease(handle: CUmemGenericAllocationHandle);
        }
        reference(map)
        later("issue 4: a mapping keeps the physical memory; until then there is no charge that it could prolong")
        cuMemMap {
            10020 cuMemMap(
                ptr: CUdeviceptr, size: usize, offset: usize, handle: CUmemGenericAllocationHandle, flags: c_ulonglong
            );
        }
        reference(map)
        later("issue 4: a mapping keeps the physical memory; until then there is no charge that it could prolong")
        cuMemMapArrayAsync {
            11010 cuMemMapArrayAsync(
                mapInfoList: *mut CUarrayMapInfo, count: c_uint, hStream: CUstream
            ), 11010 cuMemMapArrayAsync_ptsz;
        }
        reference(unmap)
        later("issue 4: the last unmapping may end the charge of cuMemCreate; until then there is no charge to end")
        cuMemUnmap {
            10020 cuMemUnmap(ptr: CUdeviceptr, size: usize);
        }
        pass()
        because("address space, access rights and questions; physical memory comes from cuMemCreate alone")
        cuMemSetAccess {
            10020 cuMemSetAccess(ptr: CUdeviceptr, size: usize, desc: *const CUmemAccessDesc, count: usize);
        }
        pass()
        because("address space, access rights and questions; physical memory comes from cuMemCreate alone")
        cuMemGetAccess {
            10020 cuMemGetAccess(flags: *mut c_ulonglong, location: *const CUmemLocation, ptr: CUdeviceptr);
        }
        reference(export)
        later("issue 4: an importer can keep the memory when its exporter is gone; until then only the audit sees \
            that")
        cuMemExportToShareableHandle {
            10020 cuMemExportToShareableHandle(
                shareableHandle: *mut c_void, handle: CUmemGenericAllocationHandle,
                handleType: CUmemAllocationHandleType, flags: c_ulonglong
            );
        }
        memory(import)
        later("issue 4: paid once, by the exporter, and moved when it dies; until then an import is not charged")
        cuMemImportFromShareableHandle {
            10020 cuMemImportFromShareableHandle(
                handle: *mut CUmemGenericAllocationHandle, osHandle: *mut c_void,
                shHandleType: CUmemAllocationHandleType
            );
        }
        pass()
        because("address space, access rights and questions; physical memory comes from cuMemCreate alone")
        cuMemGetAllocationGranularity {
            10020 cuMemGetAllocationGranularity(
                granularity: *mut usize, prop: *const CUmemAllocationProp, option: CUmemAllocationGranularity_flags
            );
        }
        pass()
        because("address space, access rights and questions; physical memory comes from cuMemCreate alone")
        cuMemGetAllocationPropertiesFromHandle {
            10020 cuMemGetAllocationPropertiesFromHandle(
                prop: *mut CUmemAllocationProp, handle: CUmemGenericAllocationHandle
            );
        }
        reference(handle)
        later("issue 4: one more handle keeps the physical memory; until then there is no charge that it could \
            prolong")
        cuMemRetainAllocationHandle {
            11000 cuMemRetainAllocationHandle(handle: *mut CUmemGenericAllocationHandle, addr: *mut c_void);
        }
        pass() because("a multicast object has addresses but no memory of its own; no GPU work") cuMulticastCreate {
            12010 cuMulticastCreate(mcHandle: *mut CUmemGenericAllocationHandle, prop: *const CUmulticastObjectProp);
        }
        pass()
        because("a multicast object has addresses but no memory of its own; no GPU work")
        cuMulticastAddDevice {
            12010 cuMulticastAddDevice(mcHandle: CUmemGenericAllocationHandle, dev: CUdevice);
        }
        reference(bind)
        later("issue 4: a binding keeps the bound handle alive; until then there is no charge that it could prolong")
        cuMulticastBindMem {
            12010 cuMulticastBindMem(
                mcHandle: CUmemGenericAllocationHandle, mcOffset: usize, memHandle: CUmemGenericAllocationHandle,
                memOffset: usize, size: usize, flags: c_ulonglong
            );
            13010 cuMulticastBindMem_v2(
                mcHandle: CUmemGenericAllocationHandle, dev: CUdevice, mcOffset: usize,
                memHandle: CUmemGenericAllocationHandle, memOffset: usize, size: usize, flags: c_ulonglong
            );
        }
        reference(bind)
        later("issue 4: a binding keeps the bound handle alive; until then there is no charge that it could prolong")
        cuMulticastBindAddr {
            12010 cuMulticastBindAddr(
                mcHandle: CUmemGenericAllocationHandle, mcOffset: usize, memptr: CUdeviceptr, size: usize,
                flags: c_ulonglong
            );
            13010 cuMulticastBindAddr_v2(
                mcHandle: CUmemGenericAllocationHandle, dev: CUdevice, mcOffset: usize, memptr: CUdeviceptr,
                size: usize, flags: c_ulonglong
            );
        }
        pass() because("a multicast object has addresses but no memory of its own; no GPU work") cuMulticastUnbind {
            12010 cuMulticastUnbind(
                mcHandle: CUmemGenericAllocationHandle, dev: CUdevice, mcOffset: usize, size: usize
            );
        }
        pass()
        because("a multicast object has addresses but no memory of its own; no GPU work")
        cuMulticastGetGranularity {
            12010 cuMulticastGetGranularity(
                granularity: *mut usize, prop: *const CUmulticastObjectProp, option: CUmulticastGranularity_flags
            );
        }
        pass()
        because("names memory for the fabric; holds no memory of its own and runs no kernel")
        cuLogicalEndpointIdReserve {
            13030 cuLogicalEndpointIdReserve(baseLeId: *mut CUlogicalEndpointId, count: cuuint32_t);
        }
        pass()
        because("names memory for the fabric; holds no memory of its own and runs no kernel")
        cuLogicalEndpointIdRelease {
            13030 cuLogicalEndpointIdRelease(baseLeId: CUlogicalEndpointId, count: cuuint32_t);
        }
        pass()
        because("names memory for the fabric; holds no memory of its own and runs no kernel")
        cuLogicalEndpointCreate {
            13030 cuLogicalEndpointCreate(leId: CUlogicalEndpointId, prop: *const CUlogicalEndpointProp);
        }
        pass()
        because("names memory for the fabric; holds no memory of its own and runs no kernel")
        cuLogicalEndpointAddDevice {
            13030 cuLogicalEndpointAddDevice(leId: CUlogicalEndpointId, dev: CUdevice);
        }
        pass()
        because("names memory for the fabric; holds no memory of its own and runs no kernel")
        cuLogicalEndpointDestroy {
            13030 cuLogicalEndpointDestroy(leId: CUlogicalEndpointId);
        }
        reference(bind)
        later("issue 4: a binding keeps the bound handle alive; until then there is no charge that it could prolong")
        cuLogicalEndpointBindAddr {
            13030 cuLogicalEndpointBindAddr(
                leId: CUlogicalEndpointId, dev: CUdevice, offset: cuuint64_t, ptr: *mut c_void, size: cuuint64_t,
                flags: c_ulonglong
            );
        }
        reference(bind)
        later("issue 4: a binding keeps the bound handle alive; until then there is no charge that it could prolong")
        cuLogicalEndpointBindMem {
            13030 cuLogicalEndpointBindMem(
                leId: CUlogicalEndpointId, dev: CUdevice, offset: cuuint64_t, memHandle: CUmemGenericAllocationHandle,
                memOffset: cuuint64_t, size: cuuint64_t, flags: c_ulonglong
            );
        }
        pass()
        because("names memory for the fabric; holds no memory of its own and runs no kernel")
        cuLogicalEndpointUnbind {
            13030 cuLogicalEndpointUnbind(
                leId: CUlogicalEndpointId, dev: CUdevice, offset: cuuint64_t, size: cuuint64_t
            );
        }
        pass()
        because("names memory for the fabric; holds no memory of its own and runs no kernel")
        cuLogicalEndpointExport {
            13030 cuLogicalEndpointExport(
                handle: *mut c_void, leId: CUlogicalEndpointId, handleType: CUlogicalEndpointIpcHandleType
            );
        }
        pass()
        because("names memory for the fabric; holds no memory of its own and runs no kernel")
        cuLogicalEndpointImport {
            13030 cuLogicalEndpointImport(
                leId: CUlogicalEndpointId, handle: *const c_void, handleType: CUlogicalEndpointIpcHandleType
            );
        }
        pass()
        because("names memory for the fabric; holds no memory of its own and runs no kernel")
        cuLogicalEndpointGetLimits {
            13030 cuLogicalEndpointGetLimits(
                bindAlignment: *mut cuuint64_t, maxSize: *mut cuuint64_t, prop: *const CUlogicalEndpointProp
            );
        }
        pass()
        because("names memory for the fabric; holds no memory of its own and runs no kernel")
        cuLogicalEndpointQuery {
            13030 cuLogicalEndpointQuery(leId: CUlogicalEndpointId, count: cuuint32_t, queryStatus: *mut c_int);
        }
    } };
}
