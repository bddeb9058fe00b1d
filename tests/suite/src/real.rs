//! The demo's scenes on a real GPU. No witness there: device time is what the clients themselves completed (launches × the
//! kernel's own length ÷ time), memory is what they say that they hold. Rougher than the witness, and said so wherever shown.

use crate::scene::{Cast, SceneResult, TenantResult};
use crate::tenant::{Program, Tenant};
use crate::{paths, wait};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

/// A coordinator of our own on this machine's GPU.
pub struct RealNode {
    folder: TempDir,
    daemon: Child,
}

/// True if the NVIDIA driver has made its control device.
#[must_use]
pub fn has_gpu() -> bool {
    Path::new("/dev/nvidiactl").exists()
}

impl RealNode {
    /// Starts the coordinator on the driver's own NVML.
    ///
    /// # Panics
    /// If it ends before it answers, with its log.
    #[must_use]
    pub fn start() -> Self {
        let folder = tempfile::Builder::new().prefix("mgpu-real-").tempdir().expect("a temporary folder");
        let log_path = folder.path().join("mgpud.log");
        let log = std::fs::File::create(&log_path).expect("mgpud.log");
        let daemon = Command::new(paths::release("mgpud"))
            .arg("--runtime-dir")
            .arg(folder.path().join("run"))
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .expect("mgpud starts");
        let mut node = Self { folder, daemon };
        wait::until("mgpud's control socket", || {
            if let Some(status) = node.daemon.try_wait().ok().flatten() {
                panic!("mgpud ended with {status}:\n{}", std::fs::read_to_string(&log_path).unwrap_or_default());
            }
            node.mgpu().args(["ps", "--json"]).output().ok().filter(|o| o.status.success())
        });
        node
    }

    fn mgpu(&self) -> Command {
        let mut command = Command::new(paths::release("mgpu"));
        command.env("MGPU_RUNTIME_DIR", self.folder.path().join("run"));
        command.env("MGPU_KERNELS", paths::workload("kernels.fatbin"));
        command
    }

    fn run(&self, cast: &Cast, policy: &str, program: &Program) -> Tenant {
        let mut command = self.mgpu();
        command.arg("run").args(cast.settings(policy)).arg("--").args(program.words());
        Tenant::spawn(command, program)
    }

    /// Runs all of `casts` at once; their programs end by themselves after `seconds`, with kernels of `kernel_us`.
    #[must_use]
    pub fn scene(&self, name: &str, policy: &str, casts: &[(Cast, u32)], seconds: u32) -> SceneResult {
        let mut tenants: Vec<Tenant> = casts.iter().map(|(cast, _)| self.run(cast, policy, &cast.program)).collect();
        let results: Vec<_> = tenants.iter_mut().map(Tenant::result).collect();
        let rows = casts.iter().zip(&results).map(|((cast, kernel_us), result)| row(cast, *kernel_us, seconds, result));
        SceneResult {
            name: name.to_owned(),
            policy: policy.to_owned(),
            seconds: f64::from(seconds),
            tenants: rows.collect(),
        }
    }
}

#[allow(clippy::cast_precision_loss, reason = "a demo's counts fit 53 bits")]
fn row(cast: &Cast, kernel_us: u32, seconds: u32, result: &serde_json::Value) -> TenantResult {
    let number = |key: &str| result[key].as_u64().unwrap_or(0);
    let busy_us = number("launches") as f64 * f64::from(kernel_us);
    let ran = result["seconds"].as_f64().unwrap_or(f64::from(seconds));
    // The C programs name the driver's error, the others what their own library made of it.
    let refused = result["error"] == "CUDA_ERROR_OUT_OF_MEMORY" || result["oom"].is_string();
    TenantResult {
        name: cast.name.to_owned(),
        class: cast.class.to_owned(),
        client: cast.client.to_owned(),
        share_percent: cast.share,
        device_time_percent: (busy_us / ran / 100.0).round() / 100.0,
        memory_limit_bytes: cast.memory,
        memory_peak_bytes: number("held_bytes").max(number("allocated_bytes")),
        memory_overhead_bytes: None,
        oom_refused: refused,
    }
}

impl Drop for RealNode {
    fn drop(&mut self) {
        let _ = self.daemon.kill();
        let _ = self.daemon.wait();
    }
}
