//! NVML's result codes and the structs that are filled here, as its public header lays them out.

/// `nvmlReturn_t`.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Return(pub(crate) u32);

impl Return {
    pub(crate) const SUCCESS: Self = Self(0);
    pub(crate) const UNINITIALIZED: Self = Self(1);
    pub(crate) const INVALID_ARGUMENT: Self = Self(2);
    pub(crate) const NOT_SUPPORTED: Self = Self(3);
    pub(crate) const NOT_FOUND: Self = Self(6);
    pub(crate) const INSUFFICIENT_SIZE: Self = Self(7);
    pub(crate) const DRIVER_NOT_LOADED: Self = Self(9);
    pub(crate) const GPU_IS_LOST: Self = Self(15);
    pub(crate) const VERSION_MISMATCH: Self = Self(25);
}

/// `nvmlDevice_t`: the index plus one, never followed.
pub(crate) type Handle = *mut std::ffi::c_void;

/// `nvmlMemory_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Memory {
    pub(crate) total: u64,
    pub(crate) free: u64,
    pub(crate) used: u64,
}

/// `nvmlMemory_v2_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct MemoryV2 {
    pub(crate) version: u32,
    pub(crate) total: u64,
    pub(crate) reserved: u64,
    pub(crate) free: u64,
    pub(crate) used: u64,
}

/// `nvmlUtilization_t`, percent.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Utilization {
    pub(crate) gpu: u32,
    pub(crate) memory: u32,
}

/// `nvmlPciInfo_t` of version 3.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct PciInfo {
    pub(crate) bus_id_legacy: [u8; 16],
    pub(crate) domain: u32,
    pub(crate) bus: u32,
    pub(crate) device: u32,
    pub(crate) pci_device_id: u32,
    pub(crate) pci_subsystem_id: u32,
    pub(crate) bus_id: [u8; 32],
}

/// `nvmlProcessInfo_t` of versions 2 and 3.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProcessInfo {
    pub(crate) pid: u32,
    pub(crate) used_memory: u64,
    pub(crate) gpu_instance: u32,
    pub(crate) compute_instance: u32,
}

/// `nvmlProcessInfo_v1_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProcessInfoV1 {
    pub(crate) pid: u32,
    pub(crate) used_memory: u64,
}

/// `nvmlProcessUtilizationSample_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProcessSample {
    pub(crate) pid: u32,
    /// CLOCK_REALTIME, µs.
    pub(crate) time: u64,
    pub(crate) sm: u32,
    pub(crate) memory: u32,
    pub(crate) encoder: u32,
    pub(crate) decoder: u32,
}

/// `nvmlTemperature_v1_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Temperature {
    pub(crate) version: u32,
    pub(crate) sensor: u32,
    pub(crate) degrees: i32,
}

/// NVML's version word of a struct: its size, and the version in the top byte.
pub(crate) const fn version_word<T>(version: u32) -> u32 {
    assert!(size_of::<T>() < 1 << 24);
    #[allow(clippy::cast_possible_truncation)] // Asserted just above.
    let size = size_of::<T>() as u32;
    size | version << 24
}

const _: () = {
    assert!(size_of::<Memory>() == 24 && size_of::<MemoryV2>() == 40);
    assert!(size_of::<PciInfo>() == 68);
    assert!(size_of::<ProcessInfo>() == 24 && size_of::<ProcessInfoV1>() == 16);
    assert!(size_of::<ProcessSample>() == 32);
};
