//! Start-up, resolution, errors.
//!
//! A chapter of the table. Grammar and meaning: the parent module.

#[doc(hidden)]
#[macro_export]
macro_rules! __families_start {
    ($callback:tt $($before:tt)*) => { $crate::__families_device! {
        $callback
        $($before)*
        pass() because("reads a static string of the library; no device is touched") cuGetErrorString {
            6000 cuGetErrorString(error: CUresult, pStr: *mut *const c_char);
        }
        pass() because("reads a static string of the library; no device is touched") cuGetErrorName {
            6000 cuGetErrorName(error: CUresult, pStr: *mut *const c_char);
        }
        start() now() cuInit {
            2000 cuInit(Flags: c_uint);
        }
        pass() because("reads a number of the library; no device is touched") cuDriverGetVersion {
            2020 cuDriverGetVersion(driverVersion: *mut c_int);
        }
        loader() now() cuGetProcAddress {
            11030 cuGetProcAddress(
                symbol: *const c_char, pfn: *mut *mut c_void, cudaVersion: c_int, flags: cuuint64_t
            );
            12000 cuGetProcAddress_v2(
                symbol: *const c_char, pfn: *mut *mut c_void, cudaVersion: c_int, flags: cuuint64_t,
                symbolStatus: *mut CUdriverProcAddressQueryResult
            );
        }
        pass()
        because("hands out undocumented function tables, which are never wrapped (their integrity is checked, their \
            length changes); contexts and modules made through them are seen by the NVML audit only")
        cuGetExportTable {
            3000 cuGetExportTable(ppExportTable: *mut *const c_void, pExportTableId: *const CUuuid);
        }
    } };
}
