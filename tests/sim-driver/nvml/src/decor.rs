//! Numbers that tools want to see and nothing is decided by: clocks, power, temperature. Made up from the utilisation.

/// Driver's version, as text; of the 13.x family that the simulated libcuda is of.
pub(crate) const DRIVER_VERSION: &str = "610.43.02";
/// NVML's own version.
pub(crate) const NVML_VERSION: &str = "13.610.43.02";
/// `1000 × major + 10 × minor` of the CUDA driver.
pub(crate) const CUDA_VERSION: i32 = 13_050;
/// Milliwatts at which the device would be held.
pub(crate) const POWER_LIMIT_MW: u32 = 400_000;
/// MHz of multiprocessors (and graphics), memory, video: current and highest alike.
pub(crate) const CLOCKS_MHZ: [u32; 4] = [1410, 1410, 1215, 1275];
/// PCI ids: NVIDIA's vendor number and a device of the capability 8.0.
pub(crate) const PCI_DEVICE_ID: u32 = 0x20b0_10de;

/// Milliwatts at that utilisation.
pub(crate) fn power_mw(percent: u32) -> u32 {
    55_000 + 2_950 * percent.min(100)
}

/// Degrees Celsius at that utilisation.
pub(crate) fn temperature(percent: u32) -> u32 {
    31 + 38 * percent.min(100) / 100
}
