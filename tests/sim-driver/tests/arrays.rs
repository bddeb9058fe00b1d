//! Arrays and mipmaps: shapes that the device takes, bytes that come back, memory that is charged and given back.

#![allow(clippy::multiple_unsafe_ops_per_block, reason = "a test is a list of calls of the driver")]

mod common;

use common::*;
use mgpu_cuda::*;

const FLOAT: CUarray_format = 0x20;
const LAYERED: u32 = 1;

fn shape(width: usize, height: usize, depth: usize) -> CUDA_ARRAY3D_DESCRIPTOR {
    CUDA_ARRAY3D_DESCRIPTOR { Width: width, Height: height, Depth: depth, Format: FLOAT, NumChannels: 2, Flags: 0 }
}

/// What this process holds on the device, by the witness.
fn allocated() -> u64 {
    let witness = server_of_this_process(&[]).witness();
    let processes = witness["devices"][0]["processes"].as_array().expect("processes").clone();
    let pid = u64::from(std::process::id());
    let own = processes.iter().find(|p| p["pid"].as_u64() == Some(pid)).expect("this process");
    own["allocated"].as_u64().expect("bytes")
}

#[test]
fn a_box_comes_back_through_an_array() {
    let api = api();
    context(api);
    let source: Vec<u8> = (0..8 * 3 * 2 * 8).map(|i| u8::try_from(i % 251).expect("a byte")).collect();
    let mut back = vec![0_u8; source.len()];
    // SAFETY: buffers of the sizes that the copies name.
    unsafe {
        let array = out(|p| (api.cuArray3DCreate_v2)(p, &shape(8, 3, 2)));
        let seen = out(|p| (api.cuArray3DGetDescriptor_v2)(p, array));
        assert_eq!((seen.Width, seen.Height, seen.Depth, seen.Format, seen.NumChannels), (8, 3, 2, FLOAT, 2));
        let mut copy: CUDA_MEMCPY3D = std::mem::zeroed();
        (copy.WidthInBytes, copy.Height, copy.Depth) = (64, 3, 2);
        (copy.srcMemoryType, copy.srcHost) = (CU_MEMORYTYPE_HOST, source.as_ptr().cast());
        (copy.srcPitch, copy.srcHeight) = (64, 3);
        (copy.dstMemoryType, copy.dstArray) = (CU_MEMORYTYPE_ARRAY, array);
        ok((api.cuMemcpy3D_v2)(&raw const copy));
        let other = out(|p| (api.cuArray3DCreate_v2)(p, &shape(8, 3, 2)));
        (copy.srcMemoryType, copy.srcArray, copy.dstArray) = (CU_MEMORYTYPE_ARRAY, array, other);
        ok((api.cuMemcpy3D_v2)(&raw const copy));
        (copy.srcArray, copy.dstMemoryType, copy.dstHost) = (other, CU_MEMORYTYPE_HOST, back.as_mut_ptr().cast());
        (copy.dstPitch, copy.dstHeight) = (64, 3);
        ok((api.cuMemcpy3D_v2)(&raw const copy));
        assert_eq!(back, source);
        copy.srcY = 1;
        assert_eq!((api.cuMemcpy3D_v2)(&raw const copy), CUDA_ERROR_INVALID_VALUE, "a row past the last");
        ok((api.cuArrayDestroy)(other));
        assert_eq!((api.cuMemcpy3D_v2)(&raw const copy), CUDA_ERROR_INVALID_HANDLE);
        ok((api.cuArrayDestroy)(array));
        assert_eq!((api.cuArrayDestroy)(array), CUDA_ERROR_INVALID_HANDLE);
    }
}

#[test]
fn a_rectangle_and_a_row_come_back_through_an_array() {
    let api = api();
    context(api);
    let source: Vec<u8> = (0..64).collect();
    // SAFETY: buffers of the sizes that the copies name.
    unsafe {
        let plane = CUDA_ARRAY_DESCRIPTOR { Width: 4, Height: 4, Format: FLOAT, NumChannels: 1 };
        let array = out(|p| (api.cuArrayCreate_v2)(p, &raw const plane));
        let seen = out(|p| (api.cuArrayGetDescriptor_v2)(p, array));
        assert_eq!((seen.Width, seen.Height, seen.Format, seen.NumChannels), (4, 4, FLOAT, 1));
        let mut copy: CUDA_MEMCPY2D = std::mem::zeroed();
        (copy.WidthInBytes, copy.Height) = (16, 4);
        (copy.srcMemoryType, copy.srcHost, copy.srcPitch) = (CU_MEMORYTYPE_HOST, source.as_ptr().cast(), 16);
        (copy.dstMemoryType, copy.dstArray) = (CU_MEMORYTYPE_ARRAY, array);
        ok((api.cuMemcpy2D_v2)(&raw const copy));
        let mut middle = [0_u8; 16];
        let mut copy: CUDA_MEMCPY2D = std::mem::zeroed();
        (copy.WidthInBytes, copy.Height, copy.srcXInBytes, copy.srcY) = (8, 2, 4, 1);
        (copy.srcMemoryType, copy.srcArray) = (CU_MEMORYTYPE_ARRAY, array);
        (copy.dstMemoryType, copy.dstHost, copy.dstPitch) = (CU_MEMORYTYPE_HOST, middle.as_mut_ptr().cast(), 8);
        ok((api.cuMemcpy2DAsync_v2)(&raw const copy, std::ptr::null_mut()));
        ok((api.cuCtxSynchronize)());
        assert_eq!(middle, [20, 21, 22, 23, 24, 25, 26, 27, 36, 37, 38, 39, 40, 41, 42, 43]);

        let row = CUDA_ARRAY_DESCRIPTOR { Width: 16, Height: 0, Format: FLOAT, NumChannels: 1 };
        let row = out(|p| (api.cuArrayCreate_v2)(p, &raw const row));
        let memory = out(|p| (api.cuMemAlloc_v2)(p, 64));
        ok((api.cuMemcpyHtoA_v2)(row, 0, source.as_ptr().cast(), 64));
        ok((api.cuMemcpyAtoD_v2)(memory, row, 32, 32));
        ok((api.cuMemcpyDtoA_v2)(row, 0, memory, 16));
        ok((api.cuMemcpyAtoA_v2)(row, 16, row, 48, 16));
        let mut back = [0_u8; 64];
        ok((api.cuMemcpyAtoH_v2)(back.as_mut_ptr().cast(), row, 0, 64));
        let expected: Vec<u8> = (32..48).chain(48..64).chain(32..64).collect();
        assert_eq!(back.to_vec(), expected);
        assert_eq!((api.cuMemcpyHtoA_v2)(row, 60, source.as_ptr().cast(), 8), CUDA_ERROR_INVALID_VALUE);
        assert_eq!((api.cuMemcpyHtoA_v2)(array, 0, source.as_ptr().cast(), 8), CUDA_ERROR_INVALID_VALUE, "two sides");
        ok((api.cuMemFree_v2)(memory));
        ok((api.cuArrayDestroy)(row));
        ok((api.cuArrayDestroy)(array));
    }
}

#[test]
fn levels_halve_and_belong_to_their_mipmap() {
    let api = api();
    context(api);
    // SAFETY: plain calls with valid arguments.
    unsafe {
        let mipmap = out(|p| (api.cuMipmappedArrayCreate)(p, &shape(16, 4, 0), 99));
        let sizes: Vec<_> = (0..5)
            .map(|i| {
                let level = out(|p| (api.cuMipmappedArrayGetLevel)(p, mipmap, i));
                let seen = out(|p| (api.cuArray3DGetDescriptor_v2)(p, level));
                assert_eq!((api.cuArrayDestroy)(level), CUDA_ERROR_INVALID_HANDLE);
                (seen.Width, seen.Height, seen.Depth)
            })
            .collect();
        assert_eq!(sizes, [(16, 4, 0), (8, 2, 0), (4, 1, 0), (2, 1, 0), (1, 1, 0)]);
        let mut level = std::ptr::null_mut();
        assert_eq!((api.cuMipmappedArrayGetLevel)(&raw mut level, mipmap, 5), CUDA_ERROR_INVALID_VALUE);
        let level = out(|p| (api.cuMipmappedArrayGetLevel)(p, mipmap, 0));
        ok((api.cuMipmappedArrayDestroy)(mipmap));
        let mut seen = CUDA_ARRAY3D_DESCRIPTOR::default();
        assert_eq!((api.cuArray3DGetDescriptor_v2)(&raw mut seen, level), CUDA_ERROR_INVALID_HANDLE);
        assert_eq!((api.cuMipmappedArrayDestroy)(mipmap), CUDA_ERROR_INVALID_HANDLE);
    }
}

#[test]
fn what_the_device_cannot_address_is_refused() {
    let api = api();
    context(api);
    let layers = |flags, depth| CUDA_ARRAY3D_DESCRIPTOR { Flags: flags, ..shape(64, 0, depth) };
    let bad = [
        shape(0, 4, 0),
        shape(1 << 20, 0, 0),
        shape(64, 1 << 20, 0),
        shape(64, 64, 1 << 20),
        shape(64, 0, 4),
        CUDA_ARRAY3D_DESCRIPTOR { NumChannels: 3, ..shape(64, 0, 0) },
        CUDA_ARRAY3D_DESCRIPTOR { Format: 0x77, ..shape(64, 0, 0) },
        CUDA_ARRAY3D_DESCRIPTOR { Flags: 1 << 20, ..shape(64, 0, 0) },
        CUDA_ARRAY3D_DESCRIPTOR { Flags: 4, ..shape(64, 32, 6) },
        layers(LAYERED, 4096),
    ];
    let mut array = std::ptr::null_mut();
    // SAFETY: plain calls with valid arguments, and a null that the API checks.
    unsafe {
        for descriptor in &bad {
            assert_eq!(
                (api.cuArray3DCreate_v2)(&raw mut array, descriptor),
                CUDA_ERROR_INVALID_VALUE,
                "{descriptor:?}"
            );
        }
        assert_eq!((api.cuArray3DCreate_v2)(std::ptr::null_mut(), &shape(8, 0, 0)), CUDA_ERROR_INVALID_VALUE);
        let whole = shape(16_384, 16_384, 16_384);
        assert_eq!((api.cuArray3DCreate_v2)(&raw mut array, &raw const whole), CUDA_ERROR_OUT_OF_MEMORY);
        for good in [layers(LAYERED, 4), CUDA_ARRAY3D_DESCRIPTOR { Flags: 4, ..shape(64, 64, 6) }] {
            let array = out(|p| (api.cuArray3DCreate_v2)(p, &raw const good));
            ok((api.cuArrayDestroy)(array));
        }
    }
}

#[test]
fn arrays_are_charged_and_go_with_their_context() {
    let api = api();
    context(api);
    // SAFETY: plain calls with valid arguments.
    unsafe {
        let own = out(|p| (api.cuCtxCreate_v2)(p, 0, 0));
        let before = allocated();
        let array = out(|p| (api.cuArray3DCreate_v2)(p, &shape(8192, 8192, 0)));
        // Other tests of this process hold some MiB at most.
        assert!(allocated() >= before + (480 << 20), "8192 × 8192 × 8 bytes");
        ok((api.cuArrayDestroy)(array));
        assert!(allocated() < before + (32 << 20), "given back");
        let array = out(|p| (api.cuArray3DCreate_v2)(p, &shape(2048, 2048, 0)));
        let mipmap = out(|p| (api.cuMipmappedArrayCreate)(p, &shape(2048, 2048, 0), 4));
        ok((api.cuCtxDestroy_v2)(own));
        assert_eq!((api.cuArrayDestroy)(array), CUDA_ERROR_INVALID_HANDLE);
        assert_eq!((api.cuMipmappedArrayDestroy)(mipmap), CUDA_ERROR_INVALID_HANDLE);
    }
}
