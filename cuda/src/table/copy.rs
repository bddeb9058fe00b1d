//! Copies, fills, decompression.
//!
//! A chapter of the table. Grammar and meaning: the parent module.

#[doc(hidden)]
#[macro_export]
macro_rules! __families_copy {
    ($callback:tt $($before:tt)*) => { $crate::__families_stream! {
        $callback
        $($before)*
        copy(ask context) now() cuMemcpy {
            4000 cuMemcpy(dst: CUdeviceptr, src: CUdeviceptr, ByteCount: usize), 7000 cuMemcpy_ptds;
        }
        copy(device context) now() cuMemcpyPeer {
            4000 cuMemcpyPeer(
                dstDevice: CUdeviceptr, dstContext: CUcontext, srcDevice: CUdeviceptr, srcContext: CUcontext,
                ByteCount: usize
            ), 7000 cuMemcpyPeer_ptds;
        }
        copy(host context)
        because("moved by the copy engines, which are neither gated nor charged: one side is host memory")
        cuMemcpyHtoD {
            2000 cuMemcpyHtoD(dstDevice: CUdeviceptr_v1, srcHost: *const c_void, ByteCount: c_uint);
            3020 cuMemcpyHtoD_v2(
                dstDevice: CUdeviceptr, srcHost: *const c_void, ByteCount: usize
            ), 7000 cuMemcpyHtoD_v2_ptds;
        }
        copy(host context)
        because("moved by the copy engines, which are neither gated nor charged: one side is host memory")
        cuMemcpyDtoH {
            2000 cuMemcpyDtoH(dstHost: *mut c_void, srcDevice: CUdeviceptr_v1, ByteCount: c_uint);
            3020 cuMemcpyDtoH_v2(
                dstHost: *mut c_void, srcDevice: CUdeviceptr, ByteCount: usize
            ), 7000 cuMemcpyDtoH_v2_ptds;
        }
        copy(device context) now() cuMemcpyDtoD {
            2000 cuMemcpyDtoD(dstDevice: CUdeviceptr_v1, srcDevice: CUdeviceptr_v1, ByteCount: c_uint);
            3020 cuMemcpyDtoD_v2(
                dstDevice: CUdeviceptr, srcDevice: CUdeviceptr, ByteCount: usize
            ), 7000 cuMemcpyDtoD_v2_ptds;
        }
        copy(device context) now() cuMemcpyDtoA {
            2000 cuMemcpyDtoA(dstArray: CUarray, dstOffset: c_uint, srcDevice: CUdeviceptr_v1, ByteCount: c_uint);
            3020 cuMemcpyDtoA_v2(
                dstArray: CUarray, dstOffset: usize, srcDevice: CUdeviceptr, ByteCount: usize
            ), 7000 cuMemcpyDtoA_v2_ptds;
        }
        copy(device context) now() cuMemcpyAtoD {
            2000 cuMemcpyAtoD(dstDevice: CUdeviceptr_v1, srcArray: CUarray, srcOffset: c_uint, ByteCount: c_uint);
            3020 cuMemcpyAtoD_v2(
                dstDevice: CUdeviceptr, srcArray: CUarray, srcOffset: usize, ByteCount: usize
            ), 7000 cuMemcpyAtoD_v2_ptds;
        }
        copy(host context)
        because("moved by the copy engines, which are neither gated nor charged: one side is host memory")
        cuMemcpyHtoA {
            2000 cuMemcpyHtoA(dstArray: CUarray, dstOffset: c_uint, srcHost: *const c_void, ByteCount: c_uint);
            3020 cuMemcpyHtoA_v2(
                dstArray: CUarray, dstOffset: usize, srcHost: *const c_void, ByteCount: usize
            ), 7000 cuMemcpyHtoA_v2_ptds;
        }
        copy(host context)
        because("moved by the copy engines, which are neither gated nor charged: one side is host memory")
        cuMemcpyAtoH {
            2000 cuMemcpyAtoH(dstHost: *mut c_void, srcArray: CUarray, srcOffset: c_uint, ByteCount: c_uint);
            3020 cuMemcpyAtoH_v2(
                dstHost: *mut c_void, srcArray: CUarray, srcOffset: usize, ByteCount: usize
            ), 7000 cuMemcpyAtoH_v2_ptds;
        }
        copy(device context) now() cuMemcpyAtoA {
            2000 cuMemcpyAtoA(
                dstArray: CUarray, dstOffset: c_uint, srcArray: CUarray, srcOffset: c_uint, ByteCount: c_uint
            );
            3020 cuMemcpyAtoA_v2(
                dstArray: CUarray, dstOffset: usize, srcArray: CUarray, srcOffset: usize, ByteCount: usize
            ), 7000 cuMemcpyAtoA_v2_ptds;
        }
        copy(ask context) now() cuMemcpy2D {
            2000 cuMemcpy2D(pCopy: *const CUDA_MEMCPY2D_v1);
            3020 cuMemcpy2D_v2(pCopy: *const CUDA_MEMCPY2D), 7000 cuMemcpy2D_v2_ptds;
        }
        copy(ask context) now() cuMemcpy2DUnaligned {
            2000 cuMemcpy2DUnaligned(pCopy: *const CUDA_MEMCPY2D_v1);
            3020 cuMemcpy2DUnaligned_v2(pCopy: *const CUDA_MEMCPY2D), 7000 cuMemcpy2DUnaligned_v2_ptds;
        }
        copy(ask context) now() cuMemcpy3D {
            2000 cuMemcpy3D(pCopy: *const CUDA_MEMCPY3D_v1);
            3020 cuMemcpy3D_v2(pCopy: *const CUDA_MEMCPY3D), 7000 cuMemcpy3D_v2_ptds;
        }
        copy(ask context) now() cuMemcpy3DPeer {
            4000 cuMemcpy3DPeer(pCopy: *const CUDA_MEMCPY3D_PEER), 7000 cuMemcpy3DPeer_ptds;
        }
        copy(ask stream hStream) now() cuMemcpyAsync {
            4000 cuMemcpyAsync(
                dst: CUdeviceptr, src: CUdeviceptr, ByteCount: usize, hStream: CUstream
            ), 7000 cuMemcpyAsync_ptsz;
        }
        copy(device stream hStream) now() cuMemcpyPeerAsync {
            4000 cuMemcpyPeerAsync(
                dstDevice: CUdeviceptr, dstContext: CUcontext, srcDevice: CUdeviceptr, srcContext: CUcontext,
                ByteCount: usize, hStream: CUstream
            ), 7000 cuMemcpyPeerAsync_ptsz;
        }
        copy(host stream hStream)
        because("moved by the copy engines, which are neither gated nor charged: one side is host memory")
        cuMemcpyHtoDAsync {
            2000 cuMemcpyHtoDAsync(
                dstDevice: CUdeviceptr_v1, srcHost: *const c_void, ByteCount: c_uint, hStream: CUstream
            );
            3020 cuMemcpyHtoDAsync_v2(
                dstDevice: CUdeviceptr, srcHost: *const c_void, ByteCount: usize, hStream: CUstream
            ), 7000 cuMemcpyHtoDAsync_v2_ptsz;
        }
        copy(host stream hStream)
        because("moved by the copy engines, which are neither gated nor charged: one side is host memory")
        cuMemcpyDtoHAsync {
            2000 cuMemcpyDtoHAsync(
                dstHost: *mut c_void, srcDevice: CUdeviceptr_v1, ByteCount: c_uint, hStream: CUstream
            );
            3020 cuMemcpyDtoHAsync_v2(
                dstHost: *mut c_void, srcDevice: CUdeviceptr, ByteCount: usize, hStream: CUstream
            ), 7000 cuMemcpyDtoHAsync_v2_ptsz;
        }
        copy(device stream hStream) now() cuMemcpyDtoDAsync {
            3000 cuMemcpyDtoDAsync(
                dstDevice: CUdeviceptr_v1, srcDevice: CUdeviceptr_v1, ByteCount: c_uint, hStream: CUstream
            );
            3020 cuMemcpyDtoDAsync_v2(
                dstDevice: CUdeviceptr, srcDevice: CUdeviceptr, ByteCount: usize, hStream: CUstream
            ), 7000 cuMemcpyDtoDAsync_v2_ptsz;
        }
        copy(host stream hStream)
        because("moved by the copy engines, which are neither gated nor charged: one side is host memory")
        cuMemcpyHtoAAsync {
            2000 cuMemcpyHtoAAsync(
                dstArray: CUarray, dstOffset: c_uint, srcHost: *const c_void, ByteCount: c_uint, hStream: CUstream
            );
            3020 cuMemcpyHtoAAsync_v2(
                dstArray: CUarray, dstOffset: usize, srcHost: *const c_void, ByteCount: usize, hStream: CUstream
            ), 7000 cuMemcpyHtoAAsync_v2_ptsz;
        }
        copy(host stream hStream)
        because("moved by the copy engines, which are neither gated nor charged: one side is host memory")
        cuMemcpyAtoHAsync {
            2000 cuMemcpyAtoHAsync(
                dstHost: *mut c_void, srcArray: CUarray, srcOffset: c_uint, ByteCount: c_uint, hStream: CUstream
            );
            3020 cuMemcpyAtoHAsync_v2(
                dstHost: *mut c_void, srcArray: CUarray, srcOffset: usize, ByteCount: usize, hStream: CUstream
            ), 7000 cuMemcpyAtoHAsync_v2_ptsz;
        }
        copy(ask stream hStream) now() cuMemcpy2DAsync {
            2000 cuMemcpy2DAsync(pCopy: *const CUDA_MEMCPY2D_v1, hStream: CUstream);
            3020 cuMemcpy2DAsync_v2(pCopy: *const CUDA_MEMCPY2D, hStream: CUstream), 7000 cuMemcpy2DAsync_v2_ptsz;
        }
        copy(ask stream hStream) now() cuMemcpy3DAsync {
            2000 cuMemcpy3DAsync(pCopy: *const CUDA_MEMCPY3D_v1, hStream: CUstream);
            3020 cuMemcpy3DAsync_v2(pCopy: *const CUDA_MEMCPY3D, hStream: CUstream), 7000 cuMemcpy3DAsync_v2_ptsz;
        }
        copy(ask stream hStream) now() cuMemcpy3DPeerAsync {
            4000 cuMemcpy3DPeerAsync(
                pCopy: *const CUDA_MEMCPY3D_PEER, hStream: CUstream
            ), 7000 cuMemcpy3DPeerAsync_ptsz;
        }
        copy(ask stream hStream) now() cuMemcpyBatchAsync {
            12080 cuMemcpyBatchAsync(
                dsts: *mut CUdeviceptr, srcs: *mut CUdeviceptr, sizes: *mut usize, count: usize,
                attrs: *mut CUmemcpyAttributes, attrsIdxs: *mut usize, numAttrs: usize, failIdx: *mut usize,
                hStream: CUstream
            ), 12080 cuMemcpyBatchAsync_ptsz;
            13000 cuMemcpyBatchAsync_v2(
                dsts: *mut CUdeviceptr, srcs: *mut CUdeviceptr, sizes: *mut usize, count: usize,
                attrs: *mut CUmemcpyAttributes, attrsIdxs: *mut usize, numAttrs: usize, hStream: CUstream
            ), 13000 cuMemcpyBatchAsync_v2_ptsz;
        }
        copy(ask stream hStream) now() cuMemcpy3DBatchAsync {
            12080 cuMemcpy3DBatchAsync(
                numOps: usize, opList: *mut CUDA_MEMCPY3D_BATCH_OP, failIdx: *mut usize, flags: c_ulonglong,
                hStream: CUstream
            ), 12080 cuMemcpy3DBatchAsync_ptsz;
            13000 cuMemcpy3DBatchAsync_v2(
                numOps: usize, opList: *mut CUDA_MEMCPY3D_BATCH_OP, flags: c_ulonglong, hStream: CUstream
            ), 13000 cuMemcpy3DBatchAsync_v2_ptsz;
        }
        fill(context) now() cuMemsetD8 {
            2000 cuMemsetD8(dstDevice: CUdeviceptr_v1, uc: c_uchar, N: c_uint);
            3020 cuMemsetD8_v2(dstDevice: CUdeviceptr, uc: c_uchar, N: usize), 7000 cuMemsetD8_v2_ptds;
        }
        fill(context) now() cuMemsetD16 {
            2000 cuMemsetD16(dstDevice: CUdeviceptr_v1, us: c_ushort, N: c_uint);
            3020 cuMemsetD16_v2(dstDevice: CUdeviceptr, us: c_ushort, N: usize), 7000 cuMemsetD16_v2_ptds;
        }
        fill(context) now() cuMemsetD32 {
            2000 cuMemsetD32(dstDevice: CUdeviceptr_v1, ui: c_uint, N: c_uint);
            3020 cuMemsetD32_v2(dstDevice: CUdeviceptr, ui: c_uint, N: usize), 7000 cuMemsetD32_v2_ptds;
        }
        fill(context) now() cuMemsetD2D8 {
            2000 cuMemsetD2D8(
                dstDevice: CUdeviceptr_v1, dstPitch: c_uint, uc: c_uchar, Width: c_uint, Height: c_uint
            );
            3020 cuMemsetD2D8_v2(
                dstDevice: CUdeviceptr, dstPitch: usize, uc: c_uchar, Width: usize, Height: usize
            ), 7000 cuMemsetD2D8_v2_ptds;
        }
        fill(context) now() cuMemsetD2D16 {
            2000 cuMemsetD2D16(
                dstDevice: CUdeviceptr_v1, dstPitch: c_uint, us: c_ushort, Width: c_uint, Height: c_uint
            );
            3020 cuMemsetD2D16_v2(
                dstDevice: CUdeviceptr, dstPitch: usize, us: c_ushort, Width: usize, Height: usize
            ), 7000 cuMemsetD2D16_v2_ptds;
        }
        fill(context) now() cuMemsetD2D32 {
            2000 cuMemsetD2D32(
                dstDevice: CUdeviceptr_v1, dstPitch: c_uint, ui: c_uint, Width: c_uint, Height: c_uint
            );
            3020 cuMemsetD2D32_v2(
                dstDevice: CUdeviceptr, dstPitch: usize, ui: c_uint, Width: usize, Height: usize
            ), 7000 cuMemsetD2D32_v2_ptds;
        }
        fill(stream hStream) now() cuMemsetD8Async {
            3020 cuMemsetD8Async(
                dstDevice: CUdeviceptr, uc: c_uchar, N: usize, hStream: CUstream
            ), 7000 cuMemsetD8Async_ptsz;
        }
        fill(stream hStream) now() cuMemsetD16Async {
            3020 cuMemsetD16Async(
                dstDevice: CUdeviceptr, us: c_ushort, N: usize, hStream: CUstream
            ), 7000 cuMemsetD16Async_ptsz;
        }
        fill(stream hStream) now() cuMemsetD32Async {
            3020 cuMemsetD32Async(
                dstDevice: CUdeviceptr, ui: c_uint, N: usize, hStream: CUstream
            ), 7000 cuMemsetD32Async_ptsz;
        }
        fill(stream hStream) now() cuMemsetD2D8Async {
            3020 cuMemsetD2D8Async(
                dstDevice: CUdeviceptr, dstPitch: usize, uc: c_uchar, Width: usize, Height: usize, hStream: CUstream
            ), 7000 cuMemsetD2D8Async_ptsz;
        }
        fill(stream hStream) now() cuMemsetD2D16Async {
            3020 cuMemsetD2D16Async(
                dstDevice: CUdeviceptr, dstPitch: usize, us: c_ushort, Width: usize, Height: usize, hStream: CUstream
            ), 7000 cuMemsetD2D16Async_ptsz;
        }
        fill(stream hStream) now() cuMemsetD2D32Async {
            3020 cuMemsetD2D32Async(
                dstDevice: CUdeviceptr, dstPitch: usize, ui: c_uint, Width: usize, Height: usize, hStream: CUstream
            ), 7000 cuMemsetD2D32Async_ptsz;
        }
        launch(stream stream) now() cuMemBatchDecompressAsync {
            12060 cuMemBatchDecompressAsync(
                paramsArray: *mut CUmemDecompressParams, count: usize, flags: c_uint, errorIndex: *mut usize,
                stream: CUstream
            ), 12060 cuMemBatchDecompressAsync_ptsz;
        }
        copy(ask stream hStream) now() cuMemcpyWithAttributesAsync {
            13020 cuMemcpyWithAttributesAsync(
                dst: CUdeviceptr, src: CUdeviceptr, size: usize, attr: *mut CUmemcpyAttributes, hStream: CUstream
            ), 13020 cuMemcpyWithAttributesAsync_ptsz;
        }
        copy(ask stream hStream) now() cuMemcpy3DWithAttributesAsync {
            13020 cuMemcpy3DWithAttributesAsync(
                op: *mut CUDA_MEMCPY3D_BATCH_OP, flags: c_ulonglong, hStream: CUstream
            ), 13020 cuMemcpy3DWithAttributesAsync_ptsz;
        }
        copy(device stream hStream) now() cuFabricCpyBatchAsync {
            13050 cuFabricCpyBatchAsync(
                numOps: usize, opList: *mut CUDA_FABRIC_COPY_BATCH_OP, flags: c_ulonglong, hStream: CUstream
            ), 13050 cuFabricCpyBatchAsync_ptsz;
        }
    } };
}
