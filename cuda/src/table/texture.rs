//! Textures, surfaces, tensor maps.
//!
//! A chapter of the table. Grammar and meaning: the parent module.

#[doc(hidden)]
#[macro_export]
macro_rules! __families_texture {
    ($callback:tt $($before:tt)*) => { $crate::__families_tools! {
        $callback
        $($before)*
        pass() because("a view of memory that is charged elsewhere; no GPU work") cuTexRefSetArray {
            2000 cuTexRefSetArray(hTexRef: CUtexref, hArray: CUarray, Flags: c_uint);
        }
        pass() because("a view of memory that is charged elsewhere; no GPU work") cuTexRefSetMipmappedArray {
            5000 cuTexRefSetMipmappedArray(hTexRef: CUtexref, hMipmappedArray: CUmipmappedArray, Flags: c_uint);
        }
        pass() because("a view of memory that is charged elsewhere; no GPU work") cuTexRefSetAddress {
            2000 cuTexRefSetAddress(ByteOffset: *mut c_uint, hTexRef: CUtexref, dptr: CUdeviceptr_v1, bytes: c_uint);
            3020 cuTexRefSetAddress_v2(ByteOffset: *mut usize, hTexRef: CUtexref, dptr: CUdeviceptr, bytes: usize);
        }
        pass() because("a view of memory that is charged elsewhere; no GPU work") cuTexRefSetAddress2D {
            2020 cuTexRefSetAddress2D(
                hTexRef: CUtexref, desc: *const CUDA_ARRAY_DESCRIPTOR_v1, dptr: CUdeviceptr_v1, Pitch: c_uint
            );
            3020 cuTexRefSetAddress2D_v2(
                hTexRef: CUtexref, desc: *const CUDA_ARRAY_DESCRIPTOR, dptr: CUdeviceptr, Pitch: usize
            );
            4010 cuTexRefSetAddress2D_v3(
                hTexRef: CUtexref, desc: *const CUDA_ARRAY_DESCRIPTOR, dptr: CUdeviceptr, Pitch: usize
            );
        }
        pass() because("a view of memory that is charged elsewhere; no GPU work") cuTexRefSetFormat {
            2000 cuTexRefSetFormat(hTexRef: CUtexref, fmt: CUarray_format, NumPackedComponents: c_int);
        }
        pass() because("a view of memory that is charged elsewhere; no GPU work") cuTexRefSetAddressMode {
            2000 cuTexRefSetAddressMode(hTexRef: CUtexref, dim: c_int, am: CUaddress_mode);
        }
        pass() because("a view of memory that is charged elsewhere; no GPU work") cuTexRefSetFilterMode {
            2000 cuTexRefSetFilterMode(hTexRef: CUtexref, fm: CUfilter_mode);
        }
        pass() because("a view of memory that is charged elsewhere; no GPU work") cuTexRefSetMipmapFilterMode {
            5000 cuTexRefSetMipmapFilterMode(hTexRef: CUtexref, fm: CUfilter_mode);
        }
        pass() because("a view of memory that is charged elsewhere; no GPU work") cuTexRefSetMipmapLevelBias {
            5000 cuTexRefSetMipmapLevelBias(hTexRef: CUtexref, bias: f32);
        }
        pass() because("a view of memory that is charged elsewhere; no GPU work") cuTexRefSetMipmapLevelClamp {
            5000 cuTexRefSetMipmapLevelClamp(hTexRef: CUtexref, minMipmapLevelClamp: f32, maxMipmapLevelClamp: f32);
        }
        pass() because("a view of memory that is charged elsewhere; no GPU work") cuTexRefSetMaxAnisotropy {
            5000 cuTexRefSetMaxAnisotropy(hTexRef: CUtexref, maxAniso: c_uint);
        }
        pass() because("a view of memory that is charged elsewhere; no GPU work") cuTexRefSetBorderColor {
            8000 cuTexRefSetBorderColor(hTexRef: CUtexref, pBorderColor: *mut f32);
        }
        pass() because("a view of memory that is charged elsewhere; no GPU work") cuTexRefSetFlags {
            2000 cuTexRefSetFlags(hTexRef: CUtexref, Flags: c_uint);
        }
        pass() because("a view of memory that is charged elsewhere; no GPU work") cuTexRefGetAddress {
            2000 cuTexRefGetAddress(pdptr: *mut CUdeviceptr_v1, hTexRef: CUtexref);
            3020 cuTexRefGetAddress_v2(pdptr: *mut CUdeviceptr, hTexRef: CUtexref);
        }
        pass() because("a view of memory that is charged elsewhere; no GPU work") cuTexRefGetArray {
            2000 cuTexRefGetArray(phArray: *mut CUarray, hTexRef: CUtexref);
        }
        pass() because("a view of memory that is charged elsewhere; no GPU work") cuTexRefGetMipmappedArray {
            5000 cuTexRefGetMipmappedArray(phMipmappedArray: *mut CUmipmappedArray, hTexRef: CUtexref);
        }
        pass() because("a view of memory that is charged elsewhere; no GPU work") cuTexRefGetAddressMode {
            2000 cuTexRefGetAddressMode(pam: *mut CUaddress_mode, hTexRef: CUtexref, dim: c_int);
        }
        pass() because("a view of memory that is charged elsewhere; no GPU work") cuTexRefGetFilterMode {
            2000 cuTexRefGetFilterMode(pfm: *mut CUfilter_mode, hTexRef: CUtexref);
        }
        pass() because("a view of memory that is charged elsewhere; no GPU work") cuTexRefGetFormat {
            2000 cuTexRefGetFormat(pFormat: *mut CUarray_format, pNumChannels: *mut c_int, hTexRef: CUtexref);
        }
        pass() because("a view of memory that is charged elsewhere; no GPU work") cuTexRefGetMipmapFilterMode {
            5000 cuTexRefGetMipmapFilterMode(pfm: *mut CUfilter_mode, hTexRef: CUtexref);
        }
        pass() because("a view of memory that is charged elsewhere; no GPU work") cuTexRefGetMipmapLevelBias {
            5000 cuTexRefGetMipmapLevelBias(pbias: *mut f32, hTexRef: CUtexref);
        }
        pass() because("a view of memory that is charged elsewhere; no GPU work") cuTexRefGetMipmapLevelClamp {
            5000 cuTexRefGetMipmapLevelClamp(
                pminMipmapLevelClamp: *mut f32, pmaxMipmapLevelClamp: *mut f32, hTexRef: CUtexref
            );
        }
        pass() because("a view of memory that is charged elsewhere; no GPU work") cuTexRefGetMaxAnisotropy {
            5000 cuTexRefGetMaxAnisotropy(pmaxAniso: *mut c_int, hTexRef: CUtexref);
        }
        pass() because("a view of memory that is charged elsewhere; no GPU work") cuTexRefGetBorderColor {
            8000 cuTexRefGetBorderColor(pBorderColor: *mut f32, hTexRef: CUtexref);
        }
        pass() because("a view of memory that is charged elsewhere; no GPU work") cuTexRefGetFlags {
            2000 cuTexRefGetFlags(pFlags: *mut c_uint, hTexRef: CUtexref);
        }
        pass() because("a view of memory that is charged elsewhere; no GPU work") cuTexRefCreate {
            2000 cuTexRefCreate(pTexRef: *mut CUtexref);
        }
        pass() because("a view of memory that is charged elsewhere; no GPU work") cuTexRefDestroy {
            2000 cuTexRefDestroy(hTexRef: CUtexref);
        }
        pass() because("a view of memory that is charged elsewhere; no GPU work") cuSurfRefSetArray {
            3000 cuSurfRefSetArray(hSurfRef: CUsurfref, hArray: CUarray, Flags: c_uint);
        }
        pass() because("a view of memory that is charged elsewhere; no GPU work") cuSurfRefGetArray {
            3000 cuSurfRefGetArray(phArray: *mut CUarray, hSurfRef: CUsurfref);
        }
        pass() because("a view of memory that is charged elsewhere; no GPU work") cuTexObjectCreate {
            5000 cuTexObjectCreate(
                pTexObject: *mut CUtexObject, pResDesc: *const CUDA_RESOURCE_DESC, pTexDesc: *const CUDA_TEXTURE_DESC,
                pResViewDesc: *const CUDA_RESOURCE_VIEW_DESC
            );
        }
        pass() because("a view of memory that is charged elsewhere; no GPU work") cuTexObjectDestroy {
            5000 cuTexObjectDestroy(texObject: CUtexObject);
        }
        pass() because("a view of memory that is charged elsewhere; no GPU work") cuTexObjectGetResourceDesc {
            5000 cuTexObjectGetResourceDesc(pResDesc: *mut CUDA_RESOURCE_DESC, texObject: CUtexObject);
        }
        pass() because("a view of memory that is charged elsewhere; no GPU work") cuTexObjectGetTextureDesc {
            5000 cuTexObjectGetTextureDesc(pTexDesc: *mut CUDA_TEXTURE_DESC, texObject: CUtexObject);
        }
        pass() because("a view of memory that is charged elsewhere; no GPU work") cuTexObjectGetResourceViewDesc {
            5000 cuTexObjectGetResourceViewDesc(pResViewDesc: *mut CUDA_RESOURCE_VIEW_DESC, texObject: CUtexObject);
        }
        pass() because("a view of memory that is charged elsewhere; no GPU work") cuSurfObjectCreate {
            5000 cuSurfObjectCreate(pSurfObject: *mut CUsurfObject, pResDesc: *const CUDA_RESOURCE_DESC);
        }
        pass() because("a view of memory that is charged elsewhere; no GPU work") cuSurfObjectDestroy {
            5000 cuSurfObjectDestroy(surfObject: CUsurfObject);
        }
        pass() because("a view of memory that is charged elsewhere; no GPU work") cuSurfObjectGetResourceDesc {
            5000 cuSurfObjectGetResourceDesc(pResDesc: *mut CUDA_RESOURCE_DESC, surfObject: CUsurfObject);
        }
        pass() because("fills a descriptor in host memory; no device memory, no GPU work") cuTensorMapEncodeTiled {
            12000 cuTensorMapEncodeTiled(
                tensorMap: *mut CUtensorMap, tensorDataType: CUtensorMapDataType, tensorRank: cuuint32_t,
                globalAddress: *mut c_void, globalDim: *const cuuint64_t, globalStrides: *const cuuint64_t,
                boxDim: *const cuuint32_t, elementStrides: *const cuuint32_t, interleave: CUtensorMapInterleave,
                swizzle: CUtensorMapSwizzle, l2Promotion: CUtensorMapL2promotion, oobFill: CUtensorMapFloatOOBfill
            );
        }
        pass() because("fills a descriptor in host memory; no device memory, no GPU work") cuTensorMapEncodeIm2col {
            12000 cuTensorMapEncodeIm2col(
                tensorMap: *mut CUtensorMap, tensorDataType: CUtensorMapDataType, tensorRank: cuuint32_t,
                globalAddress: *mut c_void, globalDim: *const cuuint64_t, globalStrides: *const cuuint64_t,
                pixelBoxLowerCorner: *const c_int, pixelBoxUpperCorner: *const c_int, channelsPerPixel: cuuint32_t,
                pixelsPerColumn: cuuint32_t, elementStrides: *const cuuint32_t, interleave: CUtensorMapInterleave,
                swizzle: CUtensorMapSwizzle, l2Promotion: CUtensorMapL2promotion, oobFill: CUtensorMapFloatOOBfill
            );
        }
        pass()
        because("fills a descriptor in host memory; no device memory, no GPU work")
        cuTensorMapEncodeIm2colWide {
            12080 cuTensorMapEncodeIm2colWide(
                tensorMap: *mut CUtensorMap, tensorDataType: CUtensorMapDataType, tensorRank: cuuint32_t,
                globalAddress: *mut c_void, globalDim: *const cuuint64_t, globalStrides: *const cuuint64_t,
                pixelBoxLowerCornerWidth: c_int, pixelBoxUpperCornerWidth: c_int, channelsPerPixel: cuuint32_t,
                pixelsPerColumn: cuuint32_t, elementStrides: *const cuuint32_t, interleave: CUtensorMapInterleave,
                mode: CUtensorMapIm2ColWideMode, swizzle: CUtensorMapSwizzle, l2Promotion: CUtensorMapL2promotion,
                oobFill: CUtensorMapFloatOOBfill
            );
        }
        pass() because("fills a descriptor in host memory; no device memory, no GPU work") cuTensorMapReplaceAddress {
            12000 cuTensorMapReplaceAddress(tensorMap: *mut CUtensorMap, globalAddress: *mut c_void);
        }
        pass()
        because("fills a descriptor in host memory; no device memory, no GPU work")
        cuTensorMapSetAllocationClass {
            13050 cuTensorMapSetAllocationClass(
                tensorMap: *mut CUtensorMap, allocClass: CUtensorMapAllocClass,
                outAllocClass: *mut CUtensorMapAllocClass
            );
        }
    } };
}
