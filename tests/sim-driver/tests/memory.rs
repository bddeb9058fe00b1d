//! Memory: bytes come back as they went in, addresses tell what they are, and the server holds what it should.

#![allow(clippy::multiple_unsafe_ops_per_block, reason = "a test is a list of calls of the driver")]

mod common;

use std::ffi::{c_int, c_void};
use std::ptr;

use common::*;
use mgpu_cuda::*;

#[test]
fn copies_and_fills_round_trip() {
    let api = api();
    context(api);
    let source: Vec<u8> = (0..200_000_u32).map(|i| (i % 251) as u8).collect();
    let mut back = vec![0_u8; source.len()];
    // SAFETY: valid buffers of these lengths.
    unsafe {
        let a = out(|p| (api.cuMemAlloc_v2)(p, source.len()));
        let b = out(|p| (api.cuMemAlloc_v2)(p, source.len()));
        ok((api.cuMemcpyHtoD_v2)(a, source.as_ptr().cast(), source.len()));
        ok((api.cuMemcpyDtoD_v2)(b, a, source.len()));
        ok((api.cuMemcpyDtoH_v2)(back.as_mut_ptr().cast(), b, back.len()));
        assert!(back == source);
        ok((api.cuMemsetD8_v2)(b, 7, 1000));
        ok((api.cuMemsetD32_v2)(b + 1000, 0x0102_0304, 250));
        ok((api.cuMemcpy)(back.as_mut_ptr() as u64, b, back.len()));
        assert!(back[..1000].iter().all(|byte| *byte == 7));
        assert!(back[1000..2000].chunks(4).all(|word| word == [4, 3, 2, 1]));
        assert!(back[2000..] == source[2000..]);
        assert_eq!((api.cuMemsetD32_v2)(b + 1, 0, 1), CUDA_ERROR_INVALID_VALUE);
        assert_eq!((api.cuMemcpyDtoH_v2)(back.as_mut_ptr().cast(), b, source.len() + 1), CUDA_ERROR_INVALID_VALUE);
        ok((api.cuMemFree_v2)(a));
        assert_eq!((api.cuMemFree_v2)(a), CUDA_ERROR_INVALID_VALUE);
        ok((api.cuMemFree_v2)(b));
    }
}

/// A caller may reuse pageable memory as soon as the asynchronous call returns, whatever is queued before the copy.
#[test]
fn pageable_memory_is_taken_at_the_call() {
    let api = api();
    context(api);
    let busy = kernel(api, "busy_20ms");
    for length in [64_usize, 300_000] {
        let mut source = vec![1_u8; length];
        let mut back = vec![0_u8; length];
        // SAFETY: valid buffers of this length.
        unsafe {
            let stream = out(|p| (api.cuStreamCreate)(p, CU_STREAM_NON_BLOCKING));
            let memory = out(|p| (api.cuMemAlloc_v2)(p, length));
            ok(launch(api, busy, stream));
            ok((api.cuMemcpyHtoDAsync_v2)(memory, source.as_ptr().cast(), length, stream));
            source.fill(9);
            ok((api.cuMemcpyDtoHAsync_v2)(back.as_mut_ptr().cast(), memory, length, stream));
            ok((api.cuStreamSynchronize)(stream));
            assert!(back.iter().all(|byte| *byte == 1), "{length} bytes");
            ok((api.cuMemFree_v2)(memory));
            ok((api.cuStreamDestroy_v2)(stream));
        }
    }
}

#[test]
fn two_dimensional_copies_keep_to_their_rows() {
    let api = api();
    context(api);
    let source: Vec<u8> = (0..48).collect();
    let mut back = vec![0xff_u8; 48];
    // SAFETY: valid buffers for these shapes.
    unsafe {
        let mut pitch = 0;
        let memory = out(|p| (api.cuMemAllocPitch_v2)(p, &raw mut pitch, 12, 4, 4));
        assert_eq!(pitch % 512, 0);
        let mut copy: CUDA_MEMCPY2D = std::mem::zeroed();
        copy.srcMemoryType = CU_MEMORYTYPE_HOST;
        copy.srcHost = source.as_ptr().cast();
        copy.srcPitch = 12;
        copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
        copy.dstDevice = memory;
        copy.dstPitch = pitch;
        copy.WidthInBytes = 12;
        copy.Height = 4;
        ok((api.cuMemcpy2D_v2)(&raw const copy));
        ok((api.cuMemsetD2D8_v2)(memory + 4, pitch, 0, 2, 4));
        let mut copy: CUDA_MEMCPY2D = std::mem::zeroed();
        copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
        copy.srcDevice = memory;
        copy.srcPitch = pitch;
        copy.dstMemoryType = CU_MEMORYTYPE_HOST;
        copy.dstHost = back.as_mut_ptr().cast();
        copy.dstPitch = 12;
        copy.WidthInBytes = 12;
        copy.Height = 4;
        ok((api.cuMemcpy2D_v2)(&raw const copy));
        ok((api.cuMemFree_v2)(memory));
    }
    let hole = |i: usize| matches!(i % 12, 4 | 5);
    let expected: Vec<u8> = source.iter().enumerate().map(|(i, b)| if hole(i) { 0 } else { *b }).collect();
    assert_eq!(back, expected);
}

#[test]
fn pointers_tell_what_they_are() {
    let api = api();
    let context = context(api);
    // SAFETY: valid places for each attribute.
    unsafe {
        let device = out(|p| (api.cuMemAlloc_v2)(p, 3 << 20));
        assert_eq!(device % (2 << 20), 0, "a large allocation owns its blocks");
        let host = out(|p| (api.cuMemHostAlloc)(p, 4096, CU_MEMHOSTALLOC_PORTABLE)) as u64;
        let managed = out(|p| (api.cuMemAllocManaged)(p, 4096, CU_MEM_ATTACH_GLOBAL));
        for (address, kind, is_managed) in [(device, 2, false), (host, 1, false), (managed, 2, true)] {
            let asked = |attribute| out(|p: *mut u64| (api.cuPointerGetAttribute)(p.cast(), attribute, address));
            assert_eq!(asked(CU_POINTER_ATTRIBUTE_MEMORY_TYPE), kind);
            // A client's place may hold anything before: all of its 32 bits are the answer.
            let mut place = -1_i32;
            ok((api.cuPointerGetAttribute)((&raw mut place).cast(), CU_POINTER_ATTRIBUTE_IS_MANAGED, address));
            assert_eq!(place, i32::from(is_managed));
            assert_eq!(asked(CU_POINTER_ATTRIBUTE_CONTEXT), context as u64);
            assert_eq!(asked(CU_POINTER_ATTRIBUTE_DEVICE_POINTER), address);
            assert_eq!(asked(CU_POINTER_ATTRIBUTE_RANGE_START_ADDR), address);
            assert_eq!(asked(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL), 0);
            assert_eq!(asked(CU_POINTER_ATTRIBUTE_IS_MANAGED), u64::from(is_managed));
        }
        let (mut base, mut size) = (0, 0);
        ok((api.cuMemGetAddressRange_v2)(&raw mut base, &raw mut size, device + 12_345));
        assert_eq!((base, size), (device, 3 << 20));
        unknown_addresses_give_zeros(api);
        ok((api.cuMemFree_v2)(device));
        ok((api.cuMemFree_v2)(managed));
        ok((api.cuMemFreeHost)(host as *mut c_void));
        let mut kind = 0_u32;
        let gone = (api.cuPointerGetAttribute)((&raw mut kind).cast(), CU_POINTER_ATTRIBUTE_MEMORY_TYPE, device);
        assert_eq!(gone, CUDA_ERROR_INVALID_VALUE);
    }
}

unsafe fn unknown_addresses_give_zeros(api: &Api) {
    let (mut kind, mut ordinal) = (77_u32, 77 as c_int);
    let mut attributes = [CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL];
    let mut data = [(&raw mut kind).cast::<c_void>(), (&raw mut ordinal).cast()];
    let local = 0_u8;
    // SAFETY: two attributes and two places.
    ok(unsafe { (api.cuPointerGetAttributes)(2, attributes.as_mut_ptr(), data.as_mut_ptr(), &raw const local as u64) });
    assert_eq!((kind, ordinal), (0, -2));
}

/// What the server holds for this process, bytes.
fn allocated() -> u64 {
    let witness = server_of_this_process(&[]).witness();
    let processes = witness["devices"][0]["processes"].as_array().expect("processes").clone();
    let own = processes.iter().find(|p| p["pid"] == std::process::id()).expect("this process");
    own["allocated"].as_u64().expect("bytes")
}

#[test]
fn registered_memory_takes_part_in_stream_memory_operations() {
    let api = api();
    context(api);
    // SAFETY: our own shared mapping of one page.
    unsafe {
        let file = libc::memfd_create(c"words".as_ptr(), 0);
        assert_eq!(libc::ftruncate(file, 4096), 0);
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let page = libc::mmap(ptr::null_mut(), 4096, access, libc::MAP_SHARED, file, 0);
        assert_ne!(page, libc::MAP_FAILED);
        ok((api.cuMemHostRegister_v2)(page, 4096, 2));
        assert_eq!((api.cuMemHostRegister_v2)(page, 4096, 2), CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
        let device = out(|p| (api.cuMemHostGetDevicePointer_v2)(p, page, 0));
        let stream = out(|p| (api.cuStreamCreate)(p, CU_STREAM_NON_BLOCKING));
        ok((api.cuStreamWaitValue32_v2)(stream, device + 8, 5, CU_STREAM_WAIT_VALUE_GEQ));
        ok((api.cuStreamWriteValue32_v2)(stream, device, 42, 0));
        assert_eq!((api.cuStreamQuery)(stream), CUDA_ERROR_NOT_READY);
        assert_eq!(page.cast::<u32>().read_volatile(), 0);
        page.cast::<u32>().add(2).write_volatile(6);
        ok((api.cuStreamSynchronize)(stream));
        assert_eq!(page.cast::<u32>().read_volatile(), 42);
        assert_eq!((api.cuStreamWriteValue32_v2)(stream, device + 2, 1, 0), CUDA_ERROR_INVALID_VALUE);
        ok((api.cuMemHostUnregister)(page));
        assert_eq!((api.cuMemHostUnregister)(page), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
        assert_eq!((api.cuStreamWriteValue32_v2)(stream, device, 1, 0), CUDA_ERROR_INVALID_VALUE);
    }
}

#[test]
fn pools_hand_out_in_stream_order() {
    let api = api();
    context(api);
    // SAFETY: plain calls with valid arguments.
    unsafe {
        let pool = out(|p| (api.cuDeviceGetDefaultMemPool)(p, 0));
        assert_eq!(out(|p| (api.cuDeviceGetMemPool)(p, 0)), pool);
        let stream = out(|p| (api.cuStreamCreate)(p, CU_STREAM_NON_BLOCKING));
        let memory = out(|p| (api.cuMemAllocAsync)(p, 1 << 20, stream));
        let asked = |attribute| out(|p: *mut u64| (api.cuMemPoolGetAttribute)(pool, attribute, p.cast()));
        assert!(asked(5) >= 1 << 20, "reserved");
        assert!(asked(7) >= 1 << 20, "used");
        let seen =
            out(|p: *mut u64| (api.cuPointerGetAttribute)(p.cast(), CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, memory));
        assert_eq!(seen, pool as u64);
        ok((api.cuMemFreeAsync)(memory, stream));
        ok((api.cuStreamSynchronize)(stream));
        assert_eq!(asked(7), 0);
        assert_eq!((api.cuMemFreeAsync)(memory, stream), CUDA_ERROR_INVALID_VALUE);
        let plain = out(|p| (api.cuMemAllocAsync)(p, 4096, stream));
        ok((api.cuMemFree_v2)(plain));
        ok((api.cuMemPoolTrimTo)(pool, 0));
    }
}

#[test]
fn virtual_memory_keeps_bytes_across_mappings() {
    let api = api();
    context(api);
    // SAFETY: addresses that the driver gave, within their mappings.
    unsafe {
        let mut properties: CUmemAllocationProp = std::mem::zeroed();
        properties.type_ = CU_MEM_ALLOCATION_TYPE_PINNED;
        properties.location.type_ = CU_MEM_LOCATION_TYPE_DEVICE;
        let step = out(|p| (api.cuMemGetAllocationGranularity)(p, &raw const properties, 0));
        let handle = out(|p| (api.cuMemCreate)(p, step, &raw const properties, 0));
        let range = out(|p| (api.cuMemAddressReserve)(p, 2 * step, 0, 0, 0));
        let access =
            CUmemAccessDesc { location: CUmemLocation { type_: CU_MEM_LOCATION_TYPE_DEVICE, id: 0 }, flags: 3 };
        ok((api.cuMemMap)(range, step, 0, handle, 0));
        ok((api.cuMemSetAccess)(range, step, &raw const access, 1));
        ok((api.cuMemsetD8_v2)(range, 3, step));
        ok((api.cuMemMap)(range + step as u64, step, 0, handle, 0));
        ok((api.cuMemSetAccess)(range + step as u64, step, &raw const access, 1));
        let mut byte = 0_u8;
        ok((api.cuMemcpyDtoH_v2)((&raw mut byte).cast(), range + step as u64 + 77, 1));
        assert_eq!(byte, 3, "the same memory at another address");
        assert_eq!((api.cuMemMap)(range, step, 0, handle, 0), CUDA_ERROR_INVALID_VALUE);
        assert_eq!((api.cuMemAddressFree)(range, 2 * step), CUDA_ERROR_INVALID_VALUE, "still mapped");
        let before = allocated();
        ok((api.cuMemRelease)(handle));
        assert_eq!((api.cuMemRelease)(handle), CUDA_ERROR_INVALID_VALUE);
        assert!(allocated() >= step as u64 && before >= step as u64, "mappings keep it");
        ok((api.cuMemUnmap)(range, 2 * step));
        ok((api.cuMemAddressFree)(range, 2 * step));
    }
}
