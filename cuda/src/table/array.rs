//! Arrays and mipmaps.
//!
//! A chapter of the table. Grammar and meaning: the parent module.

#[doc(hidden)]
#[macro_export]
macro_rules! __families_array {
    ($callback:tt $($before:tt)*) => { $crate::__families_interop! {
        $callback
        $($before)*
        memory(array)
        later("issue 4: charged by its levels, rounded as the driver does; until then not limited by the ledger, only \
            seen by the audit")
        cuArrayCreate {
            2000 cuArrayCreate(pHandle: *mut CUarray, pAllocateArray: *const CUDA_ARRAY_DESCRIPTOR_v1);
            3020 cuArrayCreate_v2(pHandle: *mut CUarray, pAllocateArray: *const CUDA_ARRAY_DESCRIPTOR);
        }
        pass() because("asks about an array; allocates nothing") cuArrayGetDescriptor {
            2000 cuArrayGetDescriptor(pArrayDescriptor: *mut CUDA_ARRAY_DESCRIPTOR_v1, hArray: CUarray);
            3020 cuArrayGetDescriptor_v2(pArrayDescriptor: *mut CUDA_ARRAY_DESCRIPTOR, hArray: CUarray);
        }
        pass() because("asks about an array; allocates nothing") cuArrayGetSparseProperties {
            11010 cuArrayGetSparseProperties(sparseProperties: *mut CUDA_ARRAY_SPARSE_PROPERTIES, array: CUarray);
        }
        pass() because("asks about an array; allocates nothing") cuMipmappedArrayGetSparseProperties {
            11010 cuMipmappedArrayGetSparseProperties(
                sparseProperties: *mut CUDA_ARRAY_SPARSE_PROPERTIES, mipmap: CUmipmappedArray
            );
        }
        pass() because("asks about an array; allocates nothing") cuArrayGetMemoryRequirements {
            11060 cuArrayGetMemoryRequirements(
                memoryRequirements: *mut CUDA_ARRAY_MEMORY_REQUIREMENTS, array: CUarray, device: CUdevice
            );
        }
        pass() because("asks about an array; allocates nothing") cuMipmappedArrayGetMemoryRequirements {
            11060 cuMipmappedArrayGetMemoryRequirements(
                memoryRequirements: *mut CUDA_ARRAY_MEMORY_REQUIREMENTS, mipmap: CUmipmappedArray, device: CUdevice
            );
        }
        pass() because("asks about an array; allocates nothing") cuArrayGetPlane {
            11020 cuArrayGetPlane(pPlaneArray: *mut CUarray, hArray: CUarray, planeIdx: c_uint);
        }
        free(array)
        later("issue 4: ends the charge of its creation; until then there is no charge to end")
        cuArrayDestroy {
            2000 cuArrayDestroy(hArray: CUarray);
        }
        memory(array)
        later("issue 4: charged by its levels, rounded as the driver does; until then not limited by the ledger, only \
            seen by the audit")
        cuArray3DCreate {
            2000 cuArray3DCreate(pHandle: *mut CUarray, pAllocateArray: *const CUDA_ARRAY3D_DESCRIPTOR_v1);
            3020 cuArray3DCreate_v2(pHandle: *mut CUarray, pAllocateArray: *const CUDA_ARRAY3D_DESCRIPTOR);
        }
        pass() because("asks about an array; allocates nothing") cuArray3DGetDescriptor {
            2000 cuArray3DGetDescriptor(pArrayDescriptor: *mut CUDA_ARRAY3D_DESCRIPTOR_v1, hArray: CUarray);
            3020 cuArray3DGetDescriptor_v2(pArrayDescriptor: *mut CUDA_ARRAY3D_DESCRIPTOR, hArray: CUarray);
        }
        memory(mipmap)
        later("issue 4: charged by its levels, rounded as the driver does; until then not limited by the ledger, only \
            seen by the audit")
        cuMipmappedArrayCreate {
            5000 cuMipmappedArrayCreate(
                pHandle: *mut CUmipmappedArray, pMipmappedArrayDesc: *const CUDA_ARRAY3D_DESCRIPTOR,
                numMipmapLevels: c_uint
            );
        }
        pass() because("asks about an array; allocates nothing") cuMipmappedArrayGetLevel {
            5000 cuMipmappedArrayGetLevel(
                pLevelArray: *mut CUarray, hMipmappedArray: CUmipmappedArray, level: c_uint
            );
        }
        free(array)
        later("issue 4: ends the charge of its creation; until then there is no charge to end")
        cuMipmappedArrayDestroy {
            5000 cuMipmappedArrayDestroy(hMipmappedArray: CUmipmappedArray);
        }
    } };
}
