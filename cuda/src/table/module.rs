//! Modules, libraries, linking, functions.
//!
//! A chapter of the table. Grammar and meaning: the parent module.

#[doc(hidden)]
#[macro_export]
macro_rules! __families_module {
    ($callback:tt $($before:tt)*) => { $crate::__families_launch! {
        $callback
        $($before)*
        module(load)
        later("issue 4: code and globals take device memory, lazily; until then it is only measured, with the \
            process's overhead")
        cuModuleLoad {
            2000 cuModuleLoad(module: *mut CUmodule, fname: *const c_char);
        }
        module(load)
        later("issue 4: code and globals take device memory, lazily; until then it is only measured, with the \
            process's overhead")
        cuModuleLoadData {
            2000 cuModuleLoadData(module: *mut CUmodule, image: *const c_void);
        }
        module(load)
        later("issue 4: code and globals take device memory, lazily; until then it is only measured, with the \
            process's overhead")
        cuModuleLoadDataEx {
            2010 cuModuleLoadDataEx(
                module: *mut CUmodule, image: *const c_void, numOptions: c_uint, options: *mut CUjit_option,
                optionValues: *mut *mut c_void
            );
        }
        module(load)
        later("issue 4: code and globals take device memory, lazily; until then it is only measured, with the \
            process's overhead")
        cuModuleLoadFatBinary {
            2000 cuModuleLoadFatBinary(module: *mut CUmodule, fatCubin: *const c_void);
        }
        module(unload)
        later("issue 4: asks for a new measurement; until then the next audit finds the lower overhead by itself")
        cuModuleUnload {
            2000 cuModuleUnload(hmod: CUmodule);
        }
        pass() because("asks about loaded code; allocates nothing and launches nothing") cuModuleGetLoadingMode {
            11070 cuModuleGetLoadingMode(mode: *mut CUmoduleLoadingMode);
        }
        pass() because("asks about loaded code; allocates nothing and launches nothing") cuModuleGetFunction {
            2000 cuModuleGetFunction(hfunc: *mut CUfunction, hmod: CUmodule, name: *const c_char);
        }
        pass() because("asks about loaded code; allocates nothing and launches nothing") cuModuleGetFunctionCount {
            12040 cuModuleGetFunctionCount(count: *mut c_uint, mod_: CUmodule);
        }
        pass() because("asks about loaded code; allocates nothing and launches nothing") cuModuleEnumerateFunctions {
            12040 cuModuleEnumerateFunctions(functions: *mut CUfunction, numFunctions: c_uint, mod_: CUmodule);
        }
        pass() because("asks about loaded code; allocates nothing and launches nothing") cuModuleGetGlobal {
            2000 cuModuleGetGlobal(
                dptr: *mut CUdeviceptr_v1, bytes: *mut c_uint, hmod: CUmodule, name: *const c_char
            );
            3020 cuModuleGetGlobal_v2(dptr: *mut CUdeviceptr, bytes: *mut usize, hmod: CUmodule, name: *const c_char);
        }
        pass() because("links device code on the host; no device memory, no GPU work") cuLinkCreate {
            5050 cuLinkCreate(
                numOptions: c_uint, options: *mut CUjit_option, optionValues: *mut *mut c_void,
                stateOut: *mut CUlinkState
            );
            6050 cuLinkCreate_v2(
                numOptions: c_uint, options: *mut CUjit_option, optionValues: *mut *mut c_void,
                stateOut: *mut CUlinkState
            );
        }
        pass() because("links device code on the host; no device memory, no GPU work") cuLinkAddData {
            5050 cuLinkAddData(
                state: CUlinkState, type_: CUjitInputType, data: *mut c_void, size: usize, name: *const c_char,
                numOptions: c_uint, options: *mut CUjit_option, optionValues: *mut *mut c_void
            );
            6050 cuLinkAddData_v2(
                state: CUlinkState, type_: CUjitInputType, data: *mut c_void, size: usize, name: *const c_char,
                numOptions: c_uint, options: *mut CUjit_option, optionValues: *mut *mut c_void
            );
        }
        pass() because("links device code on the host; no device memory, no GPU work") cuLinkAddFile {
            5050 cuLinkAddFile(
                state: CUlinkState, type_: CUjitInputType, path: *const c_char, numOptions: c_uint,
                options: *mut CUjit_option, optionValues: *mut *mut c_void
            );
            6050 cuLinkAddFile_v2(
                state: CUlinkState, type_: CUjitInputType, path: *const c_char, numOptions: c_uint,
                options: *mut CUjit_option, optionValues: *mut *mut c_void
            );
        }
        pass() because("links device code on the host; no device memory, no GPU work") cuLinkComplete {
            5050 cuLinkComplete(state: CUlinkState, cubinOut: *mut *mut c_void, sizeOut: *mut usize);
        }
        pass() because("links device code on the host; no device memory, no GPU work") cuLinkDestroy {
            5050 cuLinkDestroy(state: CUlinkState);
        }
        pass() because("asks about loaded code; allocates nothing and launches nothing") cuModuleGetTexRef {
            2000 cuModuleGetTexRef(pTexRef: *mut CUtexref, hmod: CUmodule, name: *const c_char);
        }
        pass() because("asks about loaded code; allocates nothing and launches nothing") cuModuleGetSurfRef {
            3000 cuModuleGetSurfRef(pSurfRef: *mut CUsurfref, hmod: CUmodule, name: *const c_char);
        }
        module(load)
        later("issue 4: code and globals take device memory, lazily; until then it is only measured, with the \
            process's overhead")
        cuLibraryLoadData {
            12000 cuLibraryLoadData(
                library: *mut CUlibrary, code: *const c_void, jitOptions: *mut CUjit_option,
                jitOptionsValues: *mut *mut c_void, numJitOptions: c_uint, libraryOptions: *mut CUlibraryOption,
                libraryOptionValues: *mut *mut c_void, numLibraryOptions: c_uint
            );
        }
        module(load)
        later("issue 4: code and globals take device memory, lazily; until then it is only measured, with the \
            process's overhead")
        cuLibraryLoadFromFile {
            12000 cuLibraryLoadFromFile(
                library: *mut CUlibrary, fileName: *const c_char, jitOptions: *mut CUjit_option,
                jitOptionsValues: *mut *mut c_void, numJitOptions: c_uint, libraryOptions: *mut CUlibraryOption,
                libraryOptionValues: *mut *mut c_void, numLibraryOptions: c_uint
            );
        }
        module(unload)
        later("issue 4: asks for a new measurement; until then the next audit finds the lower overhead by itself")
        cuLibraryUnload {
            12000 cuLibraryUnload(library: CUlibrary);
        }
        pass() because("asks about loaded code; allocates nothing and launches nothing") cuLibraryGetKernel {
            12000 cuLibraryGetKernel(pKernel: *mut CUkernel, library: CUlibrary, name: *const c_char);
        }
        pass() because("asks about loaded code; allocates nothing and launches nothing") cuLibraryGetKernelCount {
            12040 cuLibraryGetKernelCount(count: *mut c_uint, lib: CUlibrary);
        }
        pass() because("asks about loaded code; allocates nothing and launches nothing") cuLibraryEnumerateKernels {
            12040 cuLibraryEnumerateKernels(kernels: *mut CUkernel, numKernels: c_uint, lib: CUlibrary);
        }
        pass() because("asks about loaded code; allocates nothing and launches nothing") cuLibraryGetModule {
            12000 cuLibraryGetModule(pMod: *mut CUmodule, library: CUlibrary);
        }
        pass() because("asks about loaded code; allocates nothing and launches nothing") cuKernelGetFunction {
            12000 cuKernelGetFunction(pFunc: *mut CUfunction, kernel: CUkernel);
        }
        pass() because("asks about loaded code; allocates nothing and launches nothing") cuKernelGetLibrary {
            12050 cuKernelGetLibrary(pLib: *mut CUlibrary, kernel: CUkernel);
        }
        pass() because("asks about loaded code; allocates nothing and launches nothing") cuLibraryGetGlobal {
            12000 cuLibraryGetGlobal(
                dptr: *mut CUdeviceptr, bytes: *mut usize, library: CUlibrary, name: *const c_char
            );
        }
        pass() because("asks about loaded code; allocates nothing and launches nothing") cuLibraryGetManaged {
            12000 cuLibraryGetManaged(
                dptr: *mut CUdeviceptr, bytes: *mut usize, library: CUlibrary, name: *const c_char
            );
        }
        pass() because("asks about loaded code; allocates nothing and launches nothing") cuLibraryGetUnifiedFunction {
            12000 cuLibraryGetUnifiedFunction(fptr: *mut *mut c_void, library: CUlibrary, symbol: *const c_char);
        }
        pass() because("asks about loaded code; allocates nothing and launches nothing") cuKernelGetAttribute {
            12000 cuKernelGetAttribute(pi: *mut c_int, attrib: CUfunction_attribute, kernel: CUkernel, dev: CUdevice);
        }
        pass() because("tunes a function for later launches, which are gated themselves") cuKernelSetAttribute {
            12000 cuKernelSetAttribute(attrib: CUfunction_attribute, val: c_int, kernel: CUkernel, dev: CUdevice);
        }
        pass() because("tunes a function for later launches, which are gated themselves") cuKernelSetCacheConfig {
            12000 cuKernelSetCacheConfig(kernel: CUkernel, config: CUfunc_cache, dev: CUdevice);
        }
        pass() because("asks about loaded code; allocates nothing and launches nothing") cuKernelGetName {
            12030 cuKernelGetName(name: *mut *const c_char, hfunc: CUkernel);
        }
        pass() because("asks about loaded code; allocates nothing and launches nothing") cuKernelGetParamInfo {
            12040 cuKernelGetParamInfo(
                kernel: CUkernel, paramIndex: usize, paramOffset: *mut usize, paramSize: *mut usize
            );
        }
        pass() because("asks about loaded code; allocates nothing and launches nothing") cuFuncGetAttribute {
            2020 cuFuncGetAttribute(pi: *mut c_int, attrib: CUfunction_attribute, hfunc: CUfunction);
        }
        pass() because("tunes a function for later launches, which are gated themselves") cuFuncSetAttribute {
            9000 cuFuncSetAttribute(hfunc: CUfunction, attrib: CUfunction_attribute, value: c_int);
        }
        pass() because("tunes a function for later launches, which are gated themselves") cuFuncSetCacheConfig {
            3000 cuFuncSetCacheConfig(hfunc: CUfunction, config: CUfunc_cache);
        }
        pass() because("asks about loaded code; allocates nothing and launches nothing") cuFuncGetModule {
            11000 cuFuncGetModule(hmod: *mut CUmodule, hfunc: CUfunction);
        }
        pass() because("asks about loaded code; allocates nothing and launches nothing") cuFuncGetName {
            12030 cuFuncGetName(name: *mut *const c_char, hfunc: CUfunction);
        }
        pass() because("asks about loaded code; allocates nothing and launches nothing") cuFuncGetParamInfo {
            12040 cuFuncGetParamInfo(
                func: CUfunction, paramIndex: usize, paramOffset: *mut usize, paramSize: *mut usize
            );
        }
        pass() because("asks about loaded code; allocates nothing and launches nothing") cuFuncIsLoaded {
            12040 cuFuncIsLoaded(state: *mut CUfunctionLoadingState, function: CUfunction);
        }
        pass()
        because("loads a function that its module brought; the memory is overhead, which the coordinator measures")
        cuFuncLoad {
            12040 cuFuncLoad(function: CUfunction);
        }
        pass() because("tunes a function for later launches, which are gated themselves") cuFuncSetSharedMemConfig {
            4020 cuFuncSetSharedMemConfig(hfunc: CUfunction, config: CUsharedconfig);
        }
        pass() because("asks about loaded code; allocates nothing and launches nothing") cuKernelGetParamCount {
            13020 cuKernelGetParamCount(kernel: CUkernel, paramCount: *mut usize);
        }
        pass() because("asks about loaded code; allocates nothing and launches nothing") cuFuncGetParamCount {
            13020 cuFuncGetParamCount(func: CUfunction, paramCount: *mut usize);
        }
    } };
}
