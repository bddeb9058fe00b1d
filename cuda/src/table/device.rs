//! Devices: identity, capability, topology.
//!
//! A chapter of the table. Grammar and meaning: the parent module.

#[doc(hidden)]
#[macro_export]
macro_rules! __families_device {
    ($callback:tt $($before:tt)*) => { $crate::__families_memory! {
        $callback
        $($before)*
        pass() because("names devices, never altered; no memory or queue is touched") cuDeviceGet {
            2000 cuDeviceGet(device: *mut CUdevice, ordinal: c_int);
        }
        pass() because("names devices, never altered; no memory or queue is touched") cuDeviceGetCount {
            2000 cuDeviceGetCount(count: *mut c_int);
        }
        pass() because("names devices, never altered; no memory or queue is touched") cuDeviceGetName {
            2000 cuDeviceGetName(name: *mut c_char, len: c_int, dev: CUdevice);
        }
        pass() because("names devices, never altered; no memory or queue is touched") cuDeviceGetUuid {
            9020 cuDeviceGetUuid(uuid: *mut CUuuid, dev: CUdevice);
            11040 cuDeviceGetUuid_v2(uuid: *mut CUuuid, dev: CUdevice);
        }
        pass() because("names devices, never altered; no memory or queue is touched") cuDeviceGetLuid {
            10000 cuDeviceGetLuid(luid: *mut c_char, deviceNodeMask: *mut c_uint, dev: CUdevice);
        }
        memory_info(total) now() cuDeviceTotalMem {
            2000 cuDeviceTotalMem(bytes: *mut c_uint, dev: CUdevice);
            3020 cuDeviceTotalMem_v2(bytes: *mut usize, dev: CUdevice);
        }
        pass()
        because("reads fixed properties of a device, never altered; no memory or queue is touched")
        cuDeviceGetTexture1DLinearMaxWidth {
            11010 cuDeviceGetTexture1DLinearMaxWidth(
                maxWidthInElements: *mut usize, format: CUarray_format, numChannels: c_uint, dev: CUdevice
            );
        }
        pass()
        because("reads fixed properties of a device, never altered; no memory or queue is touched")
        cuDeviceGetAttribute {
            2000 cuDeviceGetAttribute(pi: *mut c_int, attrib: CUdevice_attribute, dev: CUdevice);
        }
        pass()
        because("reads fixed properties of a device, never altered; no memory or queue is touched")
        cuDeviceGetNvSciSyncAttributes {
            10020 cuDeviceGetNvSciSyncAttributes(nvSciSyncAttrList: *mut c_void, dev: CUdevice, flags: c_int);
        }
        pass()
        because("reads fixed properties of a device, never altered; no memory or queue is touched")
        cuDeviceGetExecAffinitySupport {
            11040 cuDeviceGetExecAffinitySupport(pi: *mut c_int, type_: CUexecAffinityType, dev: CUdevice);
        }
        pass()
        because("orders writes of other PCIe devices; puts no work in a queue of the GPU and holds no memory")
        cuFlushGPUDirectRDMAWrites {
            11030 cuFlushGPUDirectRDMAWrites(
                target: CUflushGPUDirectRDMAWritesTarget, scope: CUflushGPUDirectRDMAWritesScope
            );
        }
        pass()
        because("reads fixed properties of a device, never altered; no memory or queue is touched")
        cuDeviceGetProperties {
            2000 cuDeviceGetProperties(prop: *mut CUdevprop, dev: CUdevice);
        }
        pass()
        because("reads fixed properties of a device, never altered; no memory or queue is touched")
        cuDeviceComputeCapability {
            2000 cuDeviceComputeCapability(major: *mut c_int, minor: *mut c_int, dev: CUdevice);
        }
        pass()
        because("registers a host callback of the driver; no device memory, no GPU work")
        cuDeviceRegisterAsyncNotification {
            12040 cuDeviceRegisterAsyncNotification(
                device: CUdevice, callbackFunc: CUasyncCallback, userData: *mut c_void,
                callback: *mut CUasyncCallbackHandle
            );
        }
        pass()
        because("registers a host callback of the driver; no device memory, no GPU work")
        cuDeviceUnregisterAsyncNotification {
            12040 cuDeviceUnregisterAsyncNotification(device: CUdevice, callback: CUasyncCallbackHandle);
        }
        pass()
        because("names devices, never altered; no memory or queue is touched")
        cuDeviceGetByPCIBusId {
            4010 cuDeviceGetByPCIBusId(dev: *mut CUdevice, pciBusId: *const c_char);
        }
        pass() because("names devices, never altered; no memory or queue is touched") cuDeviceGetPCIBusId {
            4010 cuDeviceGetPCIBusId(pciBusId: *mut c_char, len: c_int, dev: CUdevice);
        }
        pass()
        because("reads the topology between devices, never altered; no memory or queue is touched")
        cuDeviceCanAccessPeer {
            4000 cuDeviceCanAccessPeer(canAccessPeer: *mut c_int, dev: CUdevice, peerDev: CUdevice);
        }
        pass()
        because("reads the topology between devices, never altered; no memory or queue is touched")
        cuDeviceGetP2PAttribute {
            8000 cuDeviceGetP2PAttribute(
                value: *mut c_int, attrib: CUdevice_P2PAttribute, srcDevice: CUdevice, dstDevice: CUdevice
            );
        }
        pass()
        because("reads the topology between devices, never altered; no memory or queue is touched")
        cuDeviceGetHostAtomicCapabilities {
            13000 cuDeviceGetHostAtomicCapabilities(
                capabilities: *mut c_uint, operations: *const CUatomicOperation, count: c_uint, dev: CUdevice
            );
        }
        pass()
        because("reads the topology between devices, never altered; no memory or queue is touched")
        cuDeviceGetFabricClusterUuid {
            13040 cuDeviceGetFabricClusterUuid(uuid: *mut CUuuid, dev: CUdevice);
        }
        pass()
        because("reads the topology between devices, never altered; no memory or queue is touched")
        cuDeviceGetCliqueCount {
            13040 cuDeviceGetCliqueCount(count: *mut usize, dev: CUdevice);
        }
        pass()
        because("reads the topology between devices, never altered; no memory or queue is touched")
        cuDeviceGetCliqueInfo {
            13040 cuDeviceGetCliqueInfo(cliqueInfo: *mut CUcliqueInfo, count: *mut usize, dev: CUdevice);
        }
        pass()
        because("reads the topology between devices, never altered; no memory or queue is touched")
        cuDeviceGetP2PAtomicCapabilities {
            13000 cuDeviceGetP2PAtomicCapabilities(
                capabilities: *mut c_uint, operations: *const CUatomicOperation, count: c_uint, srcDevice: CUdevice,
                dstDevice: CUdevice
            );
        }
    } };
}
