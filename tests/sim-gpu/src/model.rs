//! The model of one node: its clock, its objects, and the calls by which the server drives it.

use crate::ids::{
    AllocationId, ContextId, DeviceId, EventId, FunctionId, GraphId, ModuleId, Nanos, OpId, PoolId, ProcessId, StreamId,
};
use crate::op::{Effect, Node, Op, Refusal};
use crate::profile::Profile;
use crate::witness::{Intervals, LaunchStamp, Witness};

/// One node's devices. Pure: no clock, no thread, no randomness but the seed's. Equal calls give equal effects, bit for bit.
///
/// Every call takes its stamp `at`. The model first runs up to it (its effects are queued for the next [`Model::advance`]);
/// a stamp behind the model's time is taken as *now* and its lateness counted.
#[derive(Debug)]
pub struct Model {
    profile: Profile,
    now: Nanos,
}

/// Memory of a device as `cuMemGetInfo` gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryInfo {
    /// Bytes free for allocations.
    pub free: u64,
    /// Bytes of the device.
    pub total: u64,
}

/// How a stream relates to the legacy default stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamKind {
    /// Ordered with the legacy default stream, both ways. Per-thread default streams are of this kind too.
    Blocking,
    /// Not ordered with it.
    NonBlocking,
}

impl Model {
    /// A node with `devices` equal devices. `memory` overrides the profile's size of each.
    pub fn new(profile: Profile, seed: u64, devices: u32, memory: Option<u64>) -> Self {
        let _ = (seed, devices, memory);
        Self { profile, now: 0 }
    }

    /// The profile.
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// The model's time.
    pub fn now(&self) -> Nanos {
        self.now
    }

    /// Number of devices.
    pub fn devices(&self) -> u32 {
        0
    }

    /// A device's UUID: fixed by the seed and the index.
    pub fn uuid(&self, device: DeviceId) -> Option<[u8; 16]> {
        let _ = device;
        None
    }

    // ---- time ----

    /// Runs to `to` and appends all effects since the last call, in order of model time. Going back does nothing.
    pub fn advance(&mut self, to: Nanos, effects: &mut Vec<Effect>) {
        let _ = (to, effects);
    }

    /// When something will happen next without any further call; `None` when nothing will (the server may sleep).
    pub fn next_event(&self) -> Option<Nanos> {
        None
    }

    // ---- processes ----

    /// A client has connected.
    pub fn connect(&mut self, at: Nanos, pid: u32, command: &str) -> ProcessId {
        let _ = (at, pid, command);
        ProcessId(0)
    }

    /// The client is dead (or has left). Queued work is dropped; a kernel on the device runs to its end or the end of a slice;
    /// memory is let go `teardown_ns` later, and not before [`Model::release_device_file`] if `held` (a forked child has the
    /// device file open). Ends with [`Effect::TornDown`] per device.
    pub fn close(&mut self, at: Nanos, process: ProcessId, held: bool) {
        let _ = (at, process, held);
    }

    /// The last other holder of a dead process's device file is gone.
    pub fn release_device_file(&mut self, at: Nanos, process: ProcessId) {
        let _ = (at, process);
    }

    // ---- contexts, code ----

    /// Makes a context (the driver knows which one is primary). Costs `context_bytes` of overhead.
    pub fn create_context(&mut self, at: Nanos, process: ProcessId, device: DeviceId) -> Result<ContextId, Refusal> {
        let _ = (at, process, device);
        Err(Refusal::NoSuchObject)
    }

    /// Destroys a context with all that is in it (streams, allocations, modules): unfinished ops are dropped, a running kernel
    /// ends as in [`Model::close`] and memory is let go then.
    pub fn destroy_context(&mut self, at: Nanos, context: ContextId) -> Result<(), Refusal> {
        let _ = (at, context);
        Err(Refusal::NoSuchObject)
    }

    /// Registers a module. Its memory (code + `module_bytes`) is charged as overhead at the first launch out of it (lazy loading).
    pub fn load_module(&mut self, at: Nanos, context: ContextId, code_bytes: u64) -> Result<ModuleId, Refusal> {
        let _ = (at, context, code_bytes);
        Err(Refusal::NoSuchObject)
    }

    /// Unloads it and gives its memory back. Its functions may not be launched any more.
    pub fn unload_module(&mut self, at: Nanos, module: ModuleId) -> Result<(), Refusal> {
        let _ = (at, module);
        Err(Refusal::NoSuchObject)
    }

    /// Registers a kernel function. Rules by name: `spin_1ms`, `x_500us`, `y_20ns`, `z_2s` set the duration, `fault*` faults.
    pub fn create_function(&mut self, at: Nanos, module: ModuleId, name: &str) -> Result<FunctionId, Refusal> {
        let _ = (at, module, name);
        Err(Refusal::NoSuchObject)
    }

    // ---- memory ----

    /// Plain device memory (`cuMemAlloc`, arrays, pitched: bytes as the driver would need them). Small ones share a block.
    pub fn allocate(&mut self, at: Nanos, context: ContextId, bytes: u64) -> Result<AllocationId, Refusal> {
        let _ = (at, context, bytes);
        Err(Refusal::NoSuchObject)
    }

    /// Managed memory: on the device from the context's next launch on, as far as there is room; makes way for others.
    pub fn allocate_managed(&mut self, at: Nanos, context: ContextId, bytes: u64) -> Result<AllocationId, Refusal> {
        let _ = (at, context, bytes);
        Err(Refusal::NoSuchObject)
    }

    /// Physical memory without a context (`cuMemCreate`): rounded up to the granularity, never shared.
    pub fn allocate_physical(
        &mut self,
        at: Nanos,
        process: ProcessId,
        device: DeviceId,
        bytes: u64,
    ) -> Result<AllocationId, Refusal> {
        let _ = (at, process, device, bytes);
        Err(Refusal::NoSuchObject)
    }

    /// Frees any of the above, and a pool allocation at once (`cuMemFree` of one: the driver synchronises first).
    pub fn free(&mut self, at: Nanos, allocation: AllocationId) -> Result<(), Refusal> {
        let _ = (at, allocation);
        Err(Refusal::NoSuchObject)
    }

    /// Free and total memory of a device.
    pub fn memory_info(&self, device: DeviceId) -> Option<MemoryInfo> {
        let _ = device;
        None
    }

    /// A stream-ordered pool (a process's default pool is just the first that the driver makes). Threshold 0 at first.
    pub fn create_pool(&mut self, at: Nanos, process: ProcessId, device: DeviceId) -> Result<PoolId, Refusal> {
        let _ = (at, process, device);
        Err(Refusal::NoSuchObject)
    }

    /// Destroys a pool: at once what is free, the rest as its allocations are freed.
    pub fn destroy_pool(&mut self, at: Nanos, pool: PoolId) -> Result<(), Refusal> {
        let _ = (at, pool);
        Err(Refusal::NoSuchObject)
    }

    /// Memory out of a pool for use on `stream`. Reserves whole chunks. What was freed on the same stream is reused at once,
    /// what was freed on another when its [`Op::PoolFree`] is complete.
    pub fn allocate_from_pool(
        &mut self,
        at: Nanos,
        pool: PoolId,
        stream: StreamId,
        bytes: u64,
    ) -> Result<AllocationId, Refusal> {
        let _ = (at, pool, stream, bytes);
        Err(Refusal::NoSuchObject)
    }

    /// Sets how much unused reserve a pool keeps at a synchronisation.
    pub fn set_release_threshold(&mut self, at: Nanos, pool: PoolId, bytes: u64) -> Result<(), Refusal> {
        let _ = (at, pool, bytes);
        Err(Refusal::NoSuchObject)
    }

    /// Gives unused chunks back until at most `keep` bytes are reserved.
    pub fn trim_pool(&mut self, at: Nanos, pool: PoolId, keep: u64) -> Result<(), Refusal> {
        let _ = (at, pool, keep);
        Err(Refusal::NoSuchObject)
    }

    /// Reserved and used bytes of a pool, now.
    pub fn pool_usage(&self, pool: PoolId) -> Option<(u64, u64)> {
        let _ = pool;
        None
    }

    /// The client has synchronised with this context's device: its process's pools there trim to their thresholds.
    pub fn note_synchronize(&mut self, at: Nanos, context: ContextId) {
        let _ = (at, context);
    }

    // ---- streams, events, graphs ----

    /// A stream. `priority` as in the driver API: lower is more urgent, 0 the default.
    pub fn create_stream(
        &mut self,
        at: Nanos,
        context: ContextId,
        kind: StreamKind,
        priority: i32,
    ) -> Result<StreamId, Refusal> {
        let _ = (at, context, kind, priority);
        Err(Refusal::NoSuchObject)
    }

    /// The legacy default stream of a context.
    pub fn legacy_stream(&self, context: ContextId) -> Option<StreamId> {
        let _ = context;
        None
    }

    /// Destroys a stream; what was submitted still runs and completes.
    pub fn destroy_stream(&mut self, at: Nanos, stream: StreamId) -> Result<(), Refusal> {
        let _ = (at, stream);
        Err(Refusal::NoSuchObject)
    }

    /// An event. Usable on every stream of the process.
    pub fn create_event(&mut self, at: Nanos, process: ProcessId) -> Result<EventId, Refusal> {
        let _ = (at, process);
        Err(Refusal::NoSuchObject)
    }

    /// Destroys an event; what already waits for it still does.
    pub fn destroy_event(&mut self, at: Nanos, event: EventId) -> Result<(), Refusal> {
        let _ = (at, event);
        Err(Refusal::NoSuchObject)
    }

    /// Instantiates a graph. Node indices appear in [`crate::Tag::node`].
    pub fn create_graph(&mut self, at: Nanos, context: ContextId, nodes: Vec<Node>) -> Result<GraphId, Refusal> {
        let _ = (at, context, nodes);
        Err(Refusal::NoSuchObject)
    }

    /// Destroys an instantiated graph; launches already submitted still run.
    pub fn destroy_graph(&mut self, at: Nanos, graph: GraphId) -> Result<(), Refusal> {
        let _ = (at, graph);
        Err(Refusal::NoSuchObject)
    }

    // ---- work ----

    /// Submits work. Accepted: completes exactly once with `token`, unless the context dies first.
    pub fn submit(&mut self, at: Nanos, stream: StreamId, token: u64, op: Op) -> Result<(), Refusal> {
        let _ = (at, stream, token, op);
        Err(Refusal::NoSuchObject)
    }

    /// How many more ops the stream's channel would take now.
    pub fn queue_room(&self, stream: StreamId) -> usize {
        let _ = stream;
        0
    }

    /// A host function has returned.
    pub fn host_done(&mut self, at: Nanos, op: OpId) {
        let _ = (at, op);
    }

    /// A polled word holds what the stream waits for.
    pub fn word_ready(&mut self, at: Nanos, op: OpId) {
        let _ = (at, op);
    }

    // ---- views ----

    /// The accounts, as of now.
    pub fn witness(&self) -> Witness {
        Witness::default()
    }

    /// Who was on each device since `since`, as far back as the ring reaches.
    pub fn intervals(&self, since: Nanos) -> Vec<Intervals> {
        let _ = since;
        Vec::new()
    }

    /// Launch stamps since `since`, oldest first, as far back as the ring reaches.
    pub fn launches(&self, since: Nanos) -> Vec<LaunchStamp> {
        let _ = since;
        Vec::new()
    }

    /// What NVML shows of a device: as of its last sample, not of now.
    pub fn nvml(&self, device: DeviceId) -> Option<crate::nvml::NvmlView> {
        let _ = device;
        None
    }
}
