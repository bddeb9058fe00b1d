//! `CUresult`: every code of the newest header, each with its name and what it means in our own words.
//!
//! The list is compared with the header by `scripts/check-symbols`. A code that a newer driver invents is carried
//! unchanged; it only has no name here.

/// What a driver function returns. Any 32-bit value may come from a driver newer than this table.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[must_use]
pub struct CUresult(pub u32);

impl CUresult {
    /// Whether the call succeeded.
    pub const fn is_success(self) -> bool {
        self.0 == CUDA_SUCCESS.0
    }

    /// `Ok` for success, else the code: for `?` inside adapters.
    pub const fn ok(self) -> Result<(), CUresult> {
        if self.is_success() { Ok(()) } else { Err(self) }
    }

    /// The header's name of the code, `None` for one that the newest known header lacks.
    pub fn name(self) -> Option<&'static str> {
        self.entry().map(|(_, name, _)| *name)
    }

    /// What the code means, `None` for one that the newest known header lacks.
    pub fn description(self) -> Option<&'static str> {
        self.entry().map(|(_, _, what)| *what)
    }

    fn entry(self) -> Option<&'static (CUresult, &'static str, &'static str)> {
        let index = RESULTS.binary_search_by_key(&self, |(code, _, _)| *code).ok()?;
        RESULTS.get(index)
    }
}

impl core::fmt::Debug for CUresult {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self.name() {
            Some(name) => write!(f, "{name} ({})", self.0),
            None => write!(f, "CUresult({})", self.0),
        }
    }
}

impl core::fmt::Display for CUresult {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        core::fmt::Debug::fmt(self, f)
    }
}

impl core::error::Error for CUresult {}

macro_rules! results {
    ($($code:literal $name:ident $what:literal;)*) => {
        $(#[doc = $what] pub const $name: CUresult = CUresult($code);)*
        /// Every code with its name and meaning, by rising code.
        pub const RESULTS: &[(CUresult, &str, &str)] = &[$(($name, stringify!($name), $what)),*];
    };
}

results! {
    0 CUDA_SUCCESS "no error";
    1 CUDA_ERROR_INVALID_VALUE "an argument is out of range";
    2 CUDA_ERROR_OUT_OF_MEMORY "not enough memory";
    3 CUDA_ERROR_NOT_INITIALIZED "cuInit has not succeeded in this process";
    4 CUDA_ERROR_DEINITIALIZED "the driver is shutting down";
    5 CUDA_ERROR_PROFILER_DISABLED "the profiler is not running";
    6 CUDA_ERROR_PROFILER_NOT_INITIALIZED "the profiler was not initialised (no longer returned)";
    7 CUDA_ERROR_PROFILER_ALREADY_STARTED "the profiler runs already (no longer returned)";
    8 CUDA_ERROR_PROFILER_ALREADY_STOPPED "the profiler is stopped already (no longer returned)";
    34 CUDA_ERROR_STUB_LIBRARY "the loaded library is the toolkit's link-time stub";
    36 CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER "the installed driver is too old for this call";
    46 CUDA_ERROR_DEVICE_UNAVAILABLE "the device is busy or in a mode that refuses this";
    47 CUDA_ERROR_MULTICAST_RESOURCE_FULL "no multicast resource of the device is left";
    100 CUDA_ERROR_NO_DEVICE "no usable device";
    101 CUDA_ERROR_INVALID_DEVICE "no such device, or the wrong kind of device";
    102 CUDA_ERROR_DEVICE_NOT_LICENSED "the device lacks its licence";
    200 CUDA_ERROR_INVALID_IMAGE "the code image is broken or missing";
    201 CUDA_ERROR_INVALID_CONTEXT "no context is current, or it is not valid here";
    202 CUDA_ERROR_CONTEXT_ALREADY_CURRENT "the context is current already (no longer returned)";
    205 CUDA_ERROR_MAP_FAILED "a map or register operation failed";
    206 CUDA_ERROR_UNMAP_FAILED "an unmap or unregister operation failed";
    207 CUDA_ERROR_ARRAY_IS_MAPPED "the array is mapped and so cannot go";
    208 CUDA_ERROR_ALREADY_MAPPED "mapped already";
    209 CUDA_ERROR_NO_BINARY_FOR_GPU "the image has no code for this device";
    210 CUDA_ERROR_ALREADY_ACQUIRED "acquired already";
    211 CUDA_ERROR_NOT_MAPPED "not mapped";
    212 CUDA_ERROR_NOT_MAPPED_AS_ARRAY "not mapped as an array";
    213 CUDA_ERROR_NOT_MAPPED_AS_POINTER "not mapped as a pointer";
    214 CUDA_ERROR_ECC_UNCORRECTABLE "memory had an error that could not be corrected";
    215 CUDA_ERROR_UNSUPPORTED_LIMIT "the device has no such limit";
    216 CUDA_ERROR_CONTEXT_ALREADY_IN_USE "the context belongs to another thread now";
    217 CUDA_ERROR_PEER_ACCESS_UNSUPPORTED "these devices cannot reach each other's memory";
    218 CUDA_ERROR_INVALID_PTX "PTX that does not compile";
    219 CUDA_ERROR_INVALID_GRAPHICS_CONTEXT "the graphics context is not valid";
    220 CUDA_ERROR_NVLINK_UNCORRECTABLE "a link between devices had an error that could not be corrected";
    221 CUDA_ERROR_JIT_COMPILER_NOT_FOUND "the PTX compiler library is missing";
    222 CUDA_ERROR_UNSUPPORTED_PTX_VERSION "PTX newer than the driver's compiler";
    223 CUDA_ERROR_JIT_COMPILATION_DISABLED "compilation of PTX is switched off";
    224 CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY "the device has no such execution affinity";
    225 CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC "code calls a device-side synchronisation that is gone";
    226 CUDA_ERROR_CONTAINED "a contained fault ended work of this process; restart it";
    227 CUDA_ERROR_INSUFFICIENT_LOADER_VERSION "the loader is too old for this image";
    300 CUDA_ERROR_INVALID_SOURCE "device source that does not compile";
    301 CUDA_ERROR_FILE_NOT_FOUND "no such file";
    302 CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND "a shared object lacks a symbol";
    303 CUDA_ERROR_SHARED_OBJECT_INIT_FAILED "a shared object did not initialise";
    304 CUDA_ERROR_OPERATING_SYSTEM "a call to the operating system failed";
    400 CUDA_ERROR_INVALID_HANDLE "a handle that names nothing";
    401 CUDA_ERROR_ILLEGAL_STATE "something needed is not in the state for this call";
    402 CUDA_ERROR_LOSSY_QUERY "the answer would lose information";
    500 CUDA_ERROR_NOT_FOUND "no such name";
    600 CUDA_ERROR_NOT_READY "not done yet; no failure";
    700 CUDA_ERROR_ILLEGAL_ADDRESS "a kernel touched memory that is not its own; the context is dead";
    701 CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES "a launch asks for more than the device has";
    702 CUDA_ERROR_LAUNCH_TIMEOUT "a kernel ran past the watchdog; the context is dead";
    703 CUDA_ERROR_LAUNCH_INCOMPATIBLE_TEXTURING "a launch with an incompatible texturing mode";
    704 CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED "peer access is on already";
    705 CUDA_ERROR_PEER_ACCESS_NOT_ENABLED "peer access is off already";
    708 CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE "the primary context is active, so its flags stand";
    709 CUDA_ERROR_CONTEXT_IS_DESTROYED "the current context was destroyed";
    710 CUDA_ERROR_ASSERT "an assertion in a kernel failed; the context is dead";
    711 CUDA_ERROR_TOO_MANY_PEERS "no resource left for one more peer";
    712 CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED "host memory is registered already";
    713 CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED "host memory is not registered";
    714 CUDA_ERROR_HARDWARE_STACK_ERROR "a kernel broke its stack; the context is dead";
    715 CUDA_ERROR_ILLEGAL_INSTRUCTION "a kernel met an illegal instruction; the context is dead";
    716 CUDA_ERROR_MISALIGNED_ADDRESS "a kernel used a misaligned address; the context is dead";
    717 CUDA_ERROR_INVALID_ADDRESS_SPACE "a kernel used an address of the wrong space; the context is dead";
    718 CUDA_ERROR_INVALID_PC "a kernel jumped out of its code; the context is dead";
    719 CUDA_ERROR_LAUNCH_FAILED "a kernel failed; the context is dead";
    720 CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE "a cooperative grid does not fit on the device at once";
    721 CUDA_ERROR_TENSOR_MEMORY_LEAK "a kernel ended without giving its tensor memory back";
    800 CUDA_ERROR_NOT_PERMITTED "not permitted";
    801 CUDA_ERROR_NOT_SUPPORTED "not supported on this system or device";
    802 CUDA_ERROR_SYSTEM_NOT_READY "the system is not ready for CUDA work yet";
    803 CUDA_ERROR_SYSTEM_DRIVER_MISMATCH "kernel module and library are of different versions";
    804 CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE "forward compatibility does not cover this device";
    805 CUDA_ERROR_MPS_CONNECTION_FAILED "no connection to the MPS control daemon or server";
    806 CUDA_ERROR_MPS_RPC_FAILURE "a remote call of MPS failed";
    807 CUDA_ERROR_MPS_SERVER_NOT_READY "the MPS server takes no new clients now";
    808 CUDA_ERROR_MPS_MAX_CLIENTS_REACHED "MPS has its most clients";
    809 CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED "MPS has its most connections to the device";
    810 CUDA_ERROR_MPS_CLIENT_TERMINATED "MPS ended this client";
    811 CUDA_ERROR_CDP_NOT_SUPPORTED "a module uses dynamic parallelism, which is not to be had here";
    812 CUDA_ERROR_CDP_VERSION_MISMATCH "a module mixes versions of dynamic parallelism";
    900 CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED "not allowed while the stream is captured";
    901 CUDA_ERROR_STREAM_CAPTURE_INVALIDATED "an earlier error has invalidated the capture";
    902 CUDA_ERROR_STREAM_CAPTURE_MERGE "the call would join two captures";
    903 CUDA_ERROR_STREAM_CAPTURE_UNMATCHED "the capture did not begin in this stream";
    904 CUDA_ERROR_STREAM_CAPTURE_UNJOINED "the capture has a fork that was never joined";
    905 CUDA_ERROR_STREAM_CAPTURE_ISOLATION "a dependency crosses the edge of the capture";
    906 CUDA_ERROR_STREAM_CAPTURE_IMPLICIT "the call would depend on the legacy stream during a capture";
    907 CUDA_ERROR_CAPTURED_EVENT "the event was last recorded in a capture";
    908 CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD "the capture began in another thread";
    909 CUDA_ERROR_TIMEOUT "the time for the wait is over";
    910 CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE "the executable graph cannot be changed like that";
    911 CUDA_ERROR_EXTERNAL_DEVICE "a device beyond CUDA's control failed";
    912 CUDA_ERROR_INVALID_CLUSTER_SIZE "the cluster does not fit the kernel";
    913 CUDA_ERROR_FUNCTION_NOT_LOADED "the function is not loaded yet";
    914 CUDA_ERROR_INVALID_RESOURCE_TYPE "a resource of the wrong type";
    915 CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION "resources that do not go together";
    916 CUDA_ERROR_KEY_ROTATION "keys are being rotated; try again";
    917 CUDA_ERROR_STREAM_DETACHED "the stream is detached from its context";
    918 CUDA_ERROR_GRAPH_RECAPTURE_FAILURE "the graph cannot be captured again like that";
    919 CUDA_ERROR_FABRIC_NOT_READY "the fabric is not ready yet";
    999 CUDA_ERROR_UNKNOWN "an unknown fault inside the driver";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_rise_and_every_one_is_named_and_described() {
        assert!(RESULTS.is_sorted_by(|a, b| a.0 < b.0));
        for (code, name, what) in RESULTS {
            assert_eq!((code.name(), code.description()), (Some(*name), Some(*what)));
        }
    }

    #[test]
    fn an_unknown_code_is_carried_and_shown_by_number() {
        let code = CUresult(4711);
        assert_eq!(code.name(), None);
        assert_eq!(code.to_string(), "CUresult(4711)");
        assert_eq!(code.ok(), Err(code));
        assert_eq!(CUDA_ERROR_OUT_OF_MEMORY.to_string(), "CUDA_ERROR_OUT_OF_MEMORY (2)");
        assert_eq!(CUDA_SUCCESS.ok(), Ok(()));
    }
}
