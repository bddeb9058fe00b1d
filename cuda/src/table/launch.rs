//! Kernel and graph launch.
//!
//! A chapter of the table. Grammar and meaning: the parent module.

#[doc(hidden)]
#[macro_export]
macro_rules! __families_launch {
    ($callback:tt $($before:tt)*) => { $crate::__families_copy! {
        $callback
        $($before)*
        launch(stream hStream) now() cuLaunchKernel {
            4000 cuLaunchKernel(
                f: CUfunction, gridDimX: c_uint, gridDimY: c_uint, gridDimZ: c_uint, blockDimX: c_uint,
                blockDimY: c_uint, blockDimZ: c_uint, sharedMemBytes: c_uint, hStream: CUstream,
                kernelParams: *mut *mut c_void, extra: *mut *mut c_void
            ), 7000 cuLaunchKernel_ptsz;
        }
        launch(config config) now() cuLaunchKernelEx {
            11060 cuLaunchKernelEx(
                config: *const CUlaunchConfig, f: CUfunction, kernelParams: *mut *mut c_void, extra: *mut *mut c_void
            ), 11060 cuLaunchKernelEx_ptsz;
        }
        launch(stream hStream) now() cuLaunchCooperativeKernel {
            9000 cuLaunchCooperativeKernel(
                f: CUfunction, gridDimX: c_uint, gridDimY: c_uint, gridDimZ: c_uint, blockDimX: c_uint,
                blockDimY: c_uint, blockDimZ: c_uint, sharedMemBytes: c_uint, hStream: CUstream,
                kernelParams: *mut *mut c_void
            ), 9000 cuLaunchCooperativeKernel_ptsz;
        }
        launch(list launchParamsList numDevices) now() cuLaunchCooperativeKernelMultiDevice {
            9000 cuLaunchCooperativeKernelMultiDevice(
                launchParamsList: *mut CUDA_LAUNCH_PARAMS, numDevices: c_uint, flags: c_uint
            );
        }
        pass()
        because("runs a host function in stream order; no GPU time, and a gate here could deadlock the program")
        cuLaunchHostFunc {
            10000 cuLaunchHostFunc(
                hStream: CUstream, fn_: CUhostFn, userData: *mut c_void
            ), 10000 cuLaunchHostFunc_ptsz;
            13010 cuLaunchHostFunc_v2(
                hStream: CUstream, fn_: CUhostFn, userData: *mut c_void, syncMode: c_uint
            ), 13010 cuLaunchHostFunc_v2_ptsz;
        }
        pass() because("sets arguments of a later legacy launch, which is gated itself") cuFuncSetBlockShape {
            2000 cuFuncSetBlockShape(hfunc: CUfunction, x: c_int, y: c_int, z: c_int);
        }
        pass() because("sets arguments of a later legacy launch, which is gated itself") cuFuncSetSharedSize {
            2000 cuFuncSetSharedSize(hfunc: CUfunction, bytes: c_uint);
        }
        pass() because("sets arguments of a later legacy launch, which is gated itself") cuParamSetSize {
            2000 cuParamSetSize(hfunc: CUfunction, numbytes: c_uint);
        }
        pass() because("sets arguments of a later legacy launch, which is gated itself") cuParamSeti {
            2000 cuParamSeti(hfunc: CUfunction, offset: c_int, value: c_uint);
        }
        pass() because("sets arguments of a later legacy launch, which is gated itself") cuParamSetf {
            2000 cuParamSetf(hfunc: CUfunction, offset: c_int, value: f32);
        }
        pass() because("sets arguments of a later legacy launch, which is gated itself") cuParamSetv {
            2000 cuParamSetv(hfunc: CUfunction, offset: c_int, ptr: *mut c_void, numbytes: c_uint);
        }
        launch(context) now() cuLaunch {
            2000 cuLaunch(f: CUfunction);
        }
        launch(context) now() cuLaunchGrid {
            2000 cuLaunchGrid(f: CUfunction, grid_width: c_int, grid_height: c_int);
        }
        launch(stream hStream) now() cuLaunchGridAsync {
            2000 cuLaunchGridAsync(f: CUfunction, grid_width: c_int, grid_height: c_int, hStream: CUstream);
        }
        pass() because("sets arguments of a later legacy launch, which is gated itself") cuParamSetTexRef {
            2000 cuParamSetTexRef(hfunc: CUfunction, texunit: c_int, hTexRef: CUtexref);
        }
        launch(graph hGraph hStream) now() cuGraphLaunch {
            10000 cuGraphLaunch(hGraph: CUgraphExec, hStream: CUstream), 10000 cuGraphLaunch_ptsz;
        }
    } };
}
