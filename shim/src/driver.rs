//! The few driver functions that the shim calls for itself, resolved once a process. Never a wrapper, never an own context;
//! nothing here waits for the device. A function that this driver lacks answers `None`.

use crate::resolver;
use mgpu_cuda::types::{
    CUcontext, CUmemAllocationProp, CUmemAllocationPropFlags, CUmemLocation, CUmemoryPool, CUstream, CUuuid,
};
use mgpu_cuda::{CUDA_SUCCESS, CUresult};
use std::ffi::{c_int, c_uint, c_void};
use std::ptr;

/// `CU_STREAM_CAPTURE_MODE_RELAXED`.
const RELAXED: c_uint = 2;
/// `CU_POINTER_ATTRIBUTE_MEMORY_TYPE`, and its answer for host memory.
const ATTRIBUTE_MEMORY_TYPE: c_uint = 2;
const MEMORY_TYPE_HOST: c_uint = 1;
/// `CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT`.
const POOL_RESERVED: c_uint = 5;
/// `CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP`.
const REGISTER_FOR_ALL: c_uint = 3;

macro_rules! driver {
    ($($field:ident: [$($name:literal),+] ($($arg:ty),*);)*) => {
        /// See the module. Pointers into a driver that stays loaded for good.
        pub(crate) struct Driver { $($field: Option<unsafe extern "C" fn($($arg),*) -> CUresult>,)* }

        impl Driver {
            /// Looks all of them up; the first name that the driver has wins.
            pub(crate) fn resolve() -> Self {
                Self { $($field: {
                    let found = [$($name),+].into_iter().map(resolver::real).find(|address| !address.is_null());
                    // SAFETY: the driver's function of this name has this signature.
                    found.map(|address| unsafe {
                        std::mem::transmute::<*const c_void, unsafe extern "C" fn($($arg),*) -> CUresult>(address)
                    })
                },)* }
            }
        }
    };
}

driver! {
    ctx_get_current: [c"cuCtxGetCurrent"] (*mut CUcontext);
    ctx_get_device: [c"cuCtxGetDevice"] (*mut c_int);
    ctx_push: [c"cuCtxPushCurrent_v2"] (CUcontext);
    ctx_pop: [c"cuCtxPopCurrent_v2"] (*mut CUcontext);
    device_count: [c"cuDeviceGetCount"] (*mut c_int);
    device_uuid: [c"cuDeviceGetUuid_v2", c"cuDeviceGetUuid"] (*mut CUuuid, c_int);
    driver_version: [c"cuDriverGetVersion"] (*mut c_int);
    stream_get_ctx: [c"cuStreamGetCtx"] (CUstream, *mut CUcontext);
    stream_is_capturing: [c"cuStreamIsCapturing"] (CUstream, *mut c_uint);
    exchange_capture_mode: [c"cuThreadExchangeStreamCaptureMode"] (*mut c_uint);
    write_value: [c"cuStreamWriteValue32_v2", c"cuStreamWriteValue32"] (CUstream, u64, u32, c_uint);
    host_register: [c"cuMemHostRegister_v2"] (*mut c_void, usize, c_uint);
    host_unregister: [c"cuMemHostUnregister"] (*mut c_void);
    host_device_pointer: [c"cuMemHostGetDevicePointer_v2"] (*mut u64, *mut c_void, c_uint);
    pointer_attribute: [c"cuPointerGetAttribute"] (*mut c_void, c_uint, u64);
    granularity: [c"cuMemGetAllocationGranularity"] (*mut usize, *const CUmemAllocationProp, c_uint);
    device_pool: [c"cuDeviceGetMemPool"] (*mut CUmemoryPool, c_int);
    pool_attribute: [c"cuMemPoolGetAttribute"] (CUmemoryPool, c_uint, *mut c_void);
    primary_state: [c"cuDevicePrimaryCtxGetState"] (c_int, *mut c_uint, *mut c_int);
    primary_retain: [c"cuDevicePrimaryCtxRetain"] (*mut CUcontext, c_int);
    primary_release: [c"cuDevicePrimaryCtxRelease_v2", c"cuDevicePrimaryCtxRelease"] (c_int);
    mem_free: [c"cuMemFree_v2"] (u64);
    mem_free_async: [c"cuMemFreeAsync"] (u64, CUstream);
}

/// Calls an optional driver function; `NOT_SUPPORTED` if it is missing. The caller vouches for the arguments.
macro_rules! call {
    ($function:expr, $($arg:expr),*) => {
        match $function {
            // SAFETY: arguments are plain values, or pointers to locals that outlive the call.
            Some(function) => unsafe { function($($arg),*) },
            None => mgpu_cuda::CUDA_ERROR_NOT_SUPPORTED,
        }
    };
}

fn answer<T>(result: CUresult, value: T) -> Option<T> {
    (result == CUDA_SUCCESS).then_some(value)
}

impl Driver {
    /// The calling thread's context; null if it has none.
    #[inline]
    pub(crate) fn current_context(&self) -> CUcontext {
        let mut context = ptr::null_mut();
        let _ = call!(self.ctx_get_current, &raw mut context);
        context
    }

    /// Ordinal of the current context's device.
    #[inline]
    pub(crate) fn current_device(&self) -> Option<usize> {
        let mut device = -1;
        let result = call!(self.ctx_get_device, &raw mut device);
        answer(result, device).and_then(|device| usize::try_from(device).ok())
    }

    /// Ordinal of a context's device; makes it current for a moment if it isn't.
    pub(crate) fn device_of(&self, context: CUcontext) -> Option<usize> {
        self.within(context, |driver| driver.current_device())?
    }

    /// Runs `work` with `context` current on this thread; `None` if that can't be.
    pub(crate) fn within<T>(&self, context: CUcontext, work: impl FnOnce(&Self) -> T) -> Option<T> {
        if context == self.current_context() {
            return Some(work(self));
        }
        if call!(self.ctx_push, context) != CUDA_SUCCESS {
            return None;
        }
        let done = work(self);
        let mut popped = ptr::null_mut();
        let _ = call!(self.ctx_pop, &raw mut popped);
        Some(done)
    }

    /// Whether a device's primary context exists.
    pub(crate) fn is_primary_active(&self, device: c_int) -> bool {
        let (mut flags, mut active) = (0, 0);
        call!(self.primary_state, device, &raw mut flags, &raw mut active) == CUDA_SUCCESS && active != 0
    }

    /// A device's primary context, if it exists. Its count of references is the same afterwards.
    pub(crate) fn primary_of(&self, device: c_int) -> Option<CUcontext> {
        if !self.is_primary_active(device) {
            return None;
        }
        let mut context = ptr::null_mut();
        let result = call!(self.primary_retain, &raw mut context, device);
        if result == CUDA_SUCCESS {
            let _ = call!(self.primary_release, device);
        }
        answer(result, context)
    }

    /// UUIDs of the devices that this process sees, by ordinal.
    pub(crate) fn devices(&self) -> Vec<[u8; 16]> {
        let mut count = 0;
        let _ = call!(self.device_count, &raw mut count);
        (0..count)
            .map_while(|ordinal| {
                let mut uuid = CUuuid { bytes: [0; 16] };
                let result = call!(self.device_uuid, &raw mut uuid, ordinal);
                answer(result, uuid.bytes)
            })
            .collect()
    }

    /// The driver's version, as it counts it; 0 if it doesn't say.
    pub(crate) fn version(&self) -> u32 {
        let mut version = 0;
        let _ = call!(self.driver_version, &raw mut version);
        u32::try_from(version).unwrap_or(0)
    }

    /// The context of a stream that isn't one of the default ones.
    pub(crate) fn stream_context(&self, stream: CUstream) -> Option<CUcontext> {
        let mut context = ptr::null_mut();
        let result = call!(self.stream_get_ctx, stream, &raw mut context);
        answer(result, context)
    }

    /// Whether work for the stream goes into a graph now. A stream that can't even be asked because another one captures
    /// counts as capturing.
    pub(crate) fn is_capturing(&self, stream: CUstream) -> bool {
        let mut status = 0;
        let result = call!(self.stream_is_capturing, stream, &raw mut status);
        self.stream_is_capturing.is_some() && (result != CUDA_SUCCESS || status != 0)
    }

    /// Runs `work` in such a way that it can't break another thread's capture.
    pub(crate) fn relaxed<T>(&self, work: impl FnOnce(&Self) -> T) -> T {
        let mut mode = RELAXED;
        let exchanged = call!(self.exchange_capture_mode, &raw mut mode) == CUDA_SUCCESS;
        let done = work(self);
        if exchanged {
            let _ = call!(self.exchange_capture_mode, &raw mut mode);
        }
        done
    }

    /// Lets the GPU write `value` to `address` behind all that is in the stream.
    pub(crate) fn write_value(&self, stream: CUstream, address: u64, value: u32) -> CUresult {
        call!(self.write_value, stream, address, value, 0)
    }

    /// Makes host memory known to all contexts; gives its address as the device sees it.
    pub(crate) fn register(&self, at: *mut c_void, bytes: usize) -> Result<u64, CUresult> {
        let result = call!(self.host_register, at, bytes, REGISTER_FOR_ALL);
        if result != CUDA_SUCCESS && result != mgpu_cuda::CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED {
            return Err(result);
        }
        let mut device = 0;
        match call!(self.host_device_pointer, &raw mut device, at, 0) {
            CUDA_SUCCESS => Ok(device),
            error => Err(error),
        }
    }

    /// Takes a registration back. Needs a current context.
    pub(crate) fn unregister(&self, at: *mut c_void) -> bool {
        call!(self.host_unregister, at) == CUDA_SUCCESS
    }

    /// Whether the driver knows `address` as something else than host memory.
    pub(crate) fn is_device_memory(&self, address: u64) -> bool {
        let mut kind: c_uint = 0;
        let result = call!(self.pointer_attribute, (&raw mut kind).cast(), ATTRIBUTE_MEMORY_TYPE, address);
        result == CUDA_SUCCESS && kind != MEMORY_TYPE_HOST
    }

    /// Size of the blocks in which the driver takes memory of a device.
    pub(crate) fn block(&self, ordinal: usize) -> Option<u64> {
        // Pinned memory on that device; minimum granularity.
        let property = CUmemAllocationProp {
            type_: 1,
            requestedHandleTypes: 0,
            location: CUmemLocation { type_: 1, id: c_int::try_from(ordinal).ok()? },
            win32HandleMetaData: ptr::null_mut(),
            // SAFETY: plain integers, for which zero is valid.
            allocFlags: unsafe { std::mem::zeroed::<CUmemAllocationPropFlags>() },
        };
        let mut bytes = 0;
        let result = call!(self.granularity, &raw mut bytes, &raw const property, 0);
        answer(result, u64::try_from(bytes).ok()?).filter(|bytes| *bytes > 0)
    }

    /// The pool that `cuMemAllocAsync` draws from on a device.
    pub(crate) fn device_pool(&self, ordinal: usize) -> Option<CUmemoryPool> {
        let mut pool = ptr::null_mut();
        let result = call!(self.device_pool, &raw mut pool, c_int::try_from(ordinal).ok()?);
        answer(result, pool)
    }

    /// Bytes that a pool has reserved from its device now.
    pub(crate) fn pool_reserved(&self, pool: CUmemoryPool) -> Option<u64> {
        let mut bytes: u64 = 0;
        let result = call!(self.pool_attribute, pool, POOL_RESERVED, (&raw mut bytes).cast());
        answer(result, bytes)
    }

    /// Undoes an allocation that the tenant can't pay.
    pub(crate) fn undo(&self, address: u64) {
        let _ = call!(self.mem_free, address);
    }

    /// Undoes a stream-ordered allocation that the tenant can't pay.
    pub(crate) fn undo_async(&self, address: u64, stream: CUstream) {
        let _ = call!(self.mem_free_async, address, stream);
    }
}
