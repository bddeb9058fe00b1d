//! What the daemon asks NVML: which devices there are, and which processes still hold memory on one. By explicit library
//! path, in the daemon only, and never a simulated device by itself. Calls may take milliseconds: not for the loop.

use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};

use mgpu_protocol::units::{Bytes, DeviceUuid};
use nvml_wrapper::Nvml;
use nvml_wrapper::enums::device::UsedGpuMemory;
use nvml_wrapper::error::NvmlError;

/// Why there are no devices; says what was tried.
#[derive(Debug)]
pub(crate) struct GpuError(pub(crate) String);

impl fmt::Display for GpuError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for GpuError {}

/// A physical device as NVML describes it.
#[derive(Clone, Debug)]
pub(crate) struct DeviceFacts {
    /// Its only name.
    pub(crate) uuid: DeviceUuid,
    /// Product name, a label.
    pub(crate) name: String,
    /// Physical memory.
    pub(crate) total: Bytes,
}

/// The loaded library. `Sync`: the chores thread asks while the loop runs.
pub(crate) struct Gpu {
    nvml: Nvml,
    path: PathBuf,
    driver_version: Option<String>,
}

impl fmt::Debug for Gpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gpu").field("path", &self.path).finish_non_exhaustive()
    }
}

/// Usual places, absolute ones first: a search path of the environment should not decide which driver is believed.
const USUAL: [&str; 4] = [
    "/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1",
    "/usr/lib64/libnvidia-ml.so.1",
    "/usr/lib/aarch64-linux-gnu/libnvidia-ml.so.1",
    "libnvidia-ml.so.1",
];

impl Gpu {
    /// Loads NVML from `explicit`, else from its usual places.
    ///
    /// # Errors
    /// None of them can be loaded, or the driver does not answer.
    pub(crate) fn open(explicit: Option<&Path>) -> Result<Self, GpuError> {
        let tried: Vec<PathBuf> = explicit.map_or_else(|| USUAL.map(PathBuf::from).to_vec(), |p| vec![p.to_owned()]);
        let mut reasons = Vec::new();
        for path in tried {
            match load(path.as_os_str()) {
                Ok(nvml) => {
                    let driver_version = nvml.sys_driver_version().ok();
                    return Ok(Self { nvml, path, driver_version });
                }
                Err(e) => reasons.push(format!("{}: {e}", path.display())),
            }
        }
        Err(GpuError(format!(
            "no NVML, so no device to coordinate ({}); install the NVIDIA driver, or name the library by MGPU_NVML or \
             the key nvml",
            reasons.join("; ")
        )))
    }

    /// Where it was loaded from.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Version of the driver, as it said at the start: the loop asks for it, and a driver may hang.
    pub(crate) fn driver_version(&self) -> Option<String> {
        self.driver_version.clone()
    }

    /// All devices, in NVML's order (by PCI address).
    ///
    /// # Errors
    /// There are none, or one does not answer.
    pub(crate) fn devices(&self) -> Result<Vec<DeviceFacts>, GpuError> {
        let ask = |e: NvmlError| GpuError(format!("NVML ({}): {e}", self.path.display()));
        let count = self.nvml.device_count().map_err(ask)?;
        if count == 0 {
            return Err(GpuError(format!("NVML ({}) lists no device", self.path.display())));
        }
        (0..count)
            .map(|index| {
                let device = self.nvml.device_by_index(index).map_err(ask)?;
                let uuid = device.uuid().map_err(ask)?;
                let uuid: DeviceUuid = uuid.parse().map_err(|e| GpuError(format!("NVML, device {index}: {e}")))?;
                let name = device.name().unwrap_or_default();
                let total = Bytes(device.memory_info().map_err(ask)?.total);
                if total.0 == 0 {
                    return Err(GpuError(format!(
                        "NVML ({}) says that device {uuid} has no memory: the driver is not ready, or this is no usable GPU",
                        self.path.display()
                    )));
                }
                Ok(DeviceFacts { uuid, name, total })
            })
            .collect()
    }

    /// Processes that hold memory on a device: pid and bytes (none = the driver does not tell).
    ///
    /// # Errors
    /// The driver does not answer; then nothing is known about who let go.
    pub(crate) fn processes(&self, uuid: DeviceUuid) -> Result<Vec<(u32, Option<u64>)>, GpuError> {
        let ask = |e: NvmlError| GpuError(format!("NVML, processes of {uuid}: {e}"));
        let device = self.nvml.device_by_uuid(uuid.to_string()).map_err(ask)?;
        let listed = device.running_compute_processes().map_err(ask)?;
        Ok(listed
            .into_iter()
            .map(|p| match p.used_gpu_memory {
                UsedGpuMemory::Used(bytes) => (p.pid, Some(bytes)),
                UsedGpuMemory::Unavailable => (p.pid, None),
            })
            .collect())
    }
}

fn load(path: &OsStr) -> Result<Nvml, NvmlError> {
    Nvml::builder().lib_path(path).init()
}
