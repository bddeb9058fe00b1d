//! Codes before `cuInit`, without a context, and for null or wild arguments: documented ones, and never a crash.

#![allow(clippy::multiple_unsafe_ops_per_block, reason = "a test is a list of calls of the driver")]

mod common;

use std::ffi::c_void;
use std::ptr;

use common::*;
use mgpu_cuda::*;

type Any = unsafe extern "C" fn(
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
) -> CUresult;

/// Every function with all arguments zero (those beyond its own are ignored).
fn with_zeros(name: &str) -> CUresult {
    let (mut function, c_name) = (ptr::null_mut::<c_void>(), std::ffi::CString::new(name).expect("a name"));
    // The exports are looked for by their own names, as a linker would.
    // SAFETY: the library is loaded; dlsym only reads the name.
    let library = unsafe { libc::dlopen(c"libcuda.so.1".as_ptr(), libc::RTLD_NOW | libc::RTLD_NOLOAD) };
    if !library.is_null() {
        // SAFETY: a live handle and a NUL-terminated name.
        function = unsafe { libc::dlsym(library, c_name.as_ptr()) };
    }
    assert!(!function.is_null(), "{name}");
    // SAFETY: a C function takes what it needs of twelve zeros.
    let function = unsafe { std::mem::transmute::<*mut c_void, Any>(function) };
    // SAFETY: the point of the test: no function may crash on them.
    unsafe { function(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0) }
}

/// One test, since the order of the three states matters.
#[test]
fn every_function_answers_in_every_state() {
    let api = api();
    let early = [
        "cuInit",
        "cuDriverGetVersion",
        "cuGetErrorName",
        "cuGetErrorString",
        "cuGetProcAddress",
        "cuGetProcAddress_v2",
        "cuGetExportTable",
    ];
    for symbol in SYMBOLS.iter().filter(|s| !early.contains(&s.name)) {
        assert_eq!(with_zeros(symbol.name), CUDA_ERROR_NOT_INITIALIZED, "{}", symbol.name);
    }
    // SAFETY: plain calls with valid arguments.
    unsafe {
        assert_eq!((api.cuInit)(1), CUDA_ERROR_INVALID_VALUE);
        assert_eq!((api.cuGetExportTable)(&mut ptr::null(), &CUuuid { bytes: [0; 16] }), CUDA_ERROR_NOT_FOUND);
        ok((api.cuInit)(0));
        ok((api.cuInit)(0));
    }
    without_a_context(api);
    wild_handles(api);
    for symbol in SYMBOLS {
        context(api);
        // Any code will do; the call must come back.
        let _ = with_zeros(symbol.name);
    }
}

fn without_a_context(api: &Api) {
    let mut word = 0_u64;
    let word = &raw mut word;
    // SAFETY: valid places; the calls fail before they use anything else.
    unsafe {
        assert_eq!((api.cuDeviceGet)(word.cast(), 99), CUDA_ERROR_INVALID_DEVICE);
        assert_eq!((api.cuDeviceGet)(word.cast(), -1), CUDA_ERROR_INVALID_DEVICE);
        assert_eq!((api.cuDeviceGet)(ptr::null_mut(), 0), CUDA_ERROR_INVALID_VALUE);
        assert_eq!((api.cuDeviceGetAttribute)(word.cast(), 9999, 0), CUDA_ERROR_INVALID_VALUE);
        assert_eq!((api.cuMemAlloc_v2)(word, 16), CUDA_ERROR_INVALID_CONTEXT);
        assert_eq!((api.cuCtxSynchronize)(), CUDA_ERROR_INVALID_CONTEXT);
        assert_eq!((api.cuCtxPopCurrent_v2)(word.cast()), CUDA_ERROR_INVALID_CONTEXT);
        assert_eq!((api.cuStreamCreate)(word.cast(), 0), CUDA_ERROR_INVALID_CONTEXT);
        assert_eq!(launch(api, ptr::null_mut(), ptr::null_mut()), CUDA_ERROR_INVALID_CONTEXT);
        ok((api.cuCtxGetCurrent)(word.cast()));
        assert_eq!(*word, 0);
        ok((api.cuMemFree_v2)(0));
    }
}

fn wild_handles(api: &Api) {
    let context = context(api);
    let wild = 0x5555_5555_0000_usize;
    let function = kernel(api, "wild_1us");
    let none = ptr::null_mut::<c_void>();
    // SAFETY: wild handles are told from live ones without being followed.
    unsafe {
        assert_eq!((api.cuStreamSynchronize)(wild as CUstream), CUDA_ERROR_INVALID_HANDLE);
        assert_eq!((api.cuStreamSynchronize)(context.cast()), CUDA_ERROR_INVALID_HANDLE);
        assert_eq!((api.cuEventRecord)(wild as CUevent, none.cast()), CUDA_ERROR_INVALID_HANDLE);
        assert_eq!((api.cuCtxSetCurrent)(wild as CUcontext), CUDA_ERROR_INVALID_CONTEXT);
        assert_eq!((api.cuModuleUnload)(wild as CUmodule), CUDA_ERROR_INVALID_HANDLE);
        assert_eq!((api.cuMemFree_v2)(wild as u64), CUDA_ERROR_INVALID_VALUE);
        assert_eq!(launch(api, wild as CUfunction, none.cast()), CUDA_ERROR_INVALID_HANDLE);
        let shaped = |grid: u32, block: u32, shared: u32| {
            (api.cuLaunchKernel)(function, grid, 1, 1, block, 1, 1, shared, none.cast(), none.cast(), none.cast())
        };
        assert_eq!(shaped(0, 32, 0), CUDA_ERROR_INVALID_VALUE);
        assert_eq!(shaped(1, 0, 0), CUDA_ERROR_INVALID_VALUE);
        assert_eq!(shaped(1, 1025, 0), CUDA_ERROR_INVALID_VALUE);
        assert_eq!(shaped(1, 32, 1 << 20), CUDA_ERROR_INVALID_VALUE);
        ok(shaped(1, 1024, 0));
        let cooperative = |grid: u32| {
            let none = none.cast();
            (api.cuLaunchCooperativeKernel)(function, grid, 1, 1, 1024, 1, 1, 0, none, ptr::null_mut())
        };
        let fit = out(|p| (api.cuOccupancyMaxActiveBlocksPerMultiprocessor)(p, function, 1024, 0));
        let multiprocessors = out(|p| (api.cuDeviceGetAttribute)(p, 16, 0));
        let most = u32::try_from(fit * multiprocessors).expect("a count");
        ok(cooperative(most));
        assert_eq!(cooperative(most + 1), CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, "they would wait for each other");
        ok((api.cuCtxSynchronize)());
    }
}
