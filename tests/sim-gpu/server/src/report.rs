//! The witness in JSON, and NVML's view in the link's words. Only forms; every number is the model's.

use crate::node::Node;
use mgpu_sim_gpu::{Holder, NvmlView, Segment};
use mgpu_sim_link::{DeviceInfo, NvmlProcess, NvmlSample};
use serde_json::{Value, json};

/// What the server knows of itself.
#[derive(Clone, Debug, Default)]
pub(crate) struct ServerFacts {
    /// `fifo`, `nice` or `normal`.
    pub(crate) scheduling: String,
    /// How often the main loop woke from sleep.
    pub(crate) wakes: u64,
    /// How often a doorbell woke it.
    pub(crate) doorbells: u64,
}

/// The UUID of a device as text.
fn uuid(node: &Node, device: usize) -> String {
    node.devices.get(device).map(DeviceInfo::uuid_text).unwrap_or_default()
}

/// The whole witness.
pub(crate) fn witness(node: &Node, server: &ServerFacts) -> String {
    let witness = node.model.witness();
    let devices: Vec<Value> = witness
        .devices
        .iter()
        .enumerate()
        .map(|(index, device)| {
            let processes: Vec<Value> = device.processes.iter().map(process).collect();
            json!({
                "uuid": uuid(node, index), "index": index, "busy_ns": device.busy_ns, "idle_ns": device.idle_ns,
                "switch_ns": device.switch_ns, "copy_ns": device.copy_ns, "used_bytes": device.used_bytes,
                "total_bytes": device.total_bytes, "processes": processes,
            })
        })
        .collect();
    let unimplemented: Vec<Value> =
        node.unimplemented.iter().map(|(name, count)| json!({"name": name, "count": count})).collect();
    json!({
        "now_ns": witness.now_ns, "scheduling": server.scheduling, "devices": devices, "unimplemented": unimplemented,
        "late": {"count": witness.late.count, "total_ns": witness.late.total_ns, "max_ns": witness.late.max_ns},
        "server": {"pid": std::process::id(), "wakes": server.wakes, "doorbells": server.doorbells},
    })
    .to_string()
}

fn process(process: &mgpu_sim_gpu::ProcessWitness) -> Value {
    json!({
        "pid": process.pid, "connection": process.process, "command": process.command, "busy_ns": process.busy_ns,
        "resident_ns": process.resident_ns, "queued_ns": process.queued_ns, "copy_ns": process.copy_ns,
        "switch_ns": process.switch_ns, "allocated": process.allocated, "allocated_peak": process.allocated_peak,
        "overhead": process.overhead, "overhead_peak": process.overhead_peak, "launches": process.launches,
        "completed": process.completed, "ops": process.ops, "ops_completed": process.ops_completed,
        "refused": process.refused, "queue_full": process.queue_full, "alive": process.alive,
        "stream_writes": process.stream_writes,
        "first_submit_ns": process.first_submit_ns.unwrap_or(0), "last_submit_ns": process.last_submit_ns.unwrap_or(0),
        "last_complete_ns": process.last_complete_ns.unwrap_or(0),
    })
}

/// Who was on each device since then, who switched, and when nobody was.
pub(crate) fn intervals(node: &Node, since: u64) -> String {
    let span = |segment: &Segment| json!({"start_ns": segment.start_ns, "end_ns": segment.end_ns});
    let of = |segments: &[Segment], holder: Holder| -> Vec<Value> {
        segments.iter().filter(|segment| segment.holder == holder).map(span).collect()
    };
    let busy = |segment: &Segment| match segment.holder {
        Holder::Process { process, pid } => Some(json!({
            "pid": pid, "connection": process.0, "start_ns": segment.start_ns, "end_ns": segment.end_ns,
        })),
        Holder::Idle | Holder::Switch => None,
    };
    let devices: Vec<Value> = node
        .model
        .intervals(since)
        .iter()
        .map(|device| {
            let segments: Vec<Value> = device.segments.iter().filter_map(busy).collect();
            json!({
                "uuid": uuid(node, device.device as usize), "index": device.device,
                "known_since_ns": device.known_since_ns, "segments": segments,
                "idle": of(&device.segments, Holder::Idle), "switch": of(&device.segments, Holder::Switch),
            })
        })
        .collect();
    json!({"now_ns": node.model.now(), "devices": devices}).to_string()
}

/// Launch stamps since then.
pub(crate) fn launches(node: &Node, since: u64) -> String {
    let launches: Vec<Value> = node
        .model
        .launches(since)
        .iter()
        .map(|launch| {
            json!({
                "stamp_ns": launch.stamp_ns, "pid": launch.pid, "connection": launch.process.0,
                "device": launch.device.0,
            })
        })
        .collect();
    json!({"now_ns": node.model.now(), "launches": launches}).to_string()
}

/// NVML's view.
pub(crate) fn nvml(view: NvmlView) -> NvmlSample {
    let process = |process: mgpu_sim_gpu::NvmlProcess| NvmlProcess {
        pid: process.pid,
        memory_used: process.used_bytes,
        utilization: process.gpu_percent,
    };
    NvmlSample {
        utilization_gpu: view.gpu_percent,
        utilization_memory: view.memory_percent,
        memory_total: view.total_bytes,
        memory_used: view.used_bytes,
        memory_reserved: view.reserved_bytes,
        sampled_ns: view.sampled_at_ns,
        processes: view.processes.into_iter().map(process).collect(),
    }
}
