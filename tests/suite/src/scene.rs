//! One scene of the demo: tenants with settings, a measured window, who got what. Also the JSON that `scripts/demo --json`
//! writes.

use crate::measure::{Window, best_window};
use crate::node::Node;
use crate::tenant::{Program, Tenant};
use serde::Serialize;
use std::time::Duration;

/// A tenant of a scene, before it starts.
pub struct Cast {
    /// Its name.
    pub name: &'static str,
    /// `online` or `offline`.
    pub class: &'static str,
    /// Which client program, for the table.
    pub client: &'static str,
    /// Percent of the device, if it has a share.
    pub share: Option<u32>,
    /// Limit in bytes, if it has one.
    pub memory: Option<u64>,
    /// What runs.
    pub program: Program,
}

impl Cast {
    /// Arguments of `mgpu run`.
    #[must_use]
    pub fn settings(&self, policy: &str) -> Vec<String> {
        let mut words = vec!["--name".to_owned(), self.name.to_owned(), "--class".to_owned(), self.class.to_owned()];
        words.extend(["--policy".to_owned(), policy.to_owned()]);
        if let Some(share) = self.share {
            words.extend(["--share".to_owned(), share.to_string()]);
        }
        if let Some(memory) = self.memory {
            words.extend(["--memory".to_owned(), memory.to_string()]);
        }
        words
    }

    /// Starts it and waits until its first kernel has completed.
    #[must_use]
    pub fn start(&self, node: &Node, policy: &str) -> Tenant {
        let settings = self.settings(policy);
        let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
        let mut tenant = node.run(&settings, &self.program);
        tenant.wait_ready();
        tenant
    }
}

/// One row of the result.
#[derive(Clone, Debug, Serialize)]
pub struct TenantResult {
    /// Name of the tenant.
    pub name: String,
    /// Its class.
    pub class: String,
    /// Its client program.
    pub client: String,
    /// Its share, if any.
    pub share_percent: Option<u32>,
    /// Device time in percent of the window, by the witness.
    pub device_time_percent: f64,
    /// Its limit, if any.
    pub memory_limit_bytes: Option<u64>,
    /// Most bytes that it held in driver blocks, by the witness.
    pub memory_peak_bytes: u64,
    /// Most bytes of its contexts and modules, by the witness; on a real GPU nobody tells.
    pub memory_overhead_bytes: Option<u64>,
    /// True if an allocation past the limit was refused (by what the client saw).
    pub oom_refused: bool,
}

/// One scene's result.
#[derive(Clone, Debug, Serialize)]
pub struct SceneResult {
    /// Name of the scene.
    pub name: String,
    /// Policy of the device.
    pub policy: String,
    /// Length of the window.
    pub seconds: f64,
    /// Who got what.
    pub tenants: Vec<TenantResult>,
}

/// Measures running tenants for `length` and makes the scene's rows.
#[must_use]
pub fn observe(node: &Node, name: &str, policy: &str, cast: &[(&Cast, &Tenant)], length: Duration) -> SceneResult {
    let shares: u32 = cast.iter().filter_map(|(cast, _)| cast.share).sum();
    let granted = if policy == "fixed-share" { shares } else { 100 };
    let pids: Vec<u32> = cast.iter().map(|(_, tenant)| tenant.pid()).collect();
    let window = best_window(node, 0, &pids, granted, length);
    if !window.valid() {
        eprintln!("the machine is too busy for a valid run; these figures are from one that is not valid");
    }
    SceneResult {
        name: name.to_owned(),
        policy: policy.to_owned(),
        seconds: seconds(&window),
        tenants: cast.iter().map(|(cast, tenant)| row(cast, tenant.pid(), &window, false)).collect(),
    }
}

#[allow(clippy::cast_precision_loss, reason = "a demo's nanoseconds fit 53 bits")]
fn seconds(window: &Window) -> f64 {
    window.elapsed_ns as f64 / 1e9
}

/// The row of one tenant.
#[must_use]
pub fn row(cast: &Cast, pid: u32, window: &Window, oom_refused: bool) -> TenantResult {
    let process = window.last.process(0, pid);
    TenantResult {
        name: cast.name.to_owned(),
        class: cast.class.to_owned(),
        client: cast.client.to_owned(),
        share_percent: cast.share,
        device_time_percent: (window.percent(pid) * 100.0).round() / 100.0,
        memory_limit_bytes: cast.memory,
        memory_peak_bytes: process.allocated_peak,
        memory_overhead_bytes: Some(process.overhead_peak),
        oom_refused,
    }
}
