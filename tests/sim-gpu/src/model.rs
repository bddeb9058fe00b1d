//! The model of one node: its tables, and how they are looked up. The calls are in the file named after what they are about.

use std::collections::BTreeMap;

use crate::account::Account;
use crate::ids::{
    AllocationId, ContextId, DeviceId, EventId, FunctionId, ModuleId, Nanos, PoolId, ProcessId, StreamId,
};
use crate::launches::LaunchRing;
use crate::objects::{Allocation, Compute, Context, Device, Event, Function, Graph, Module, Pool, Process, Stream};
use crate::op::{Effect, Refusal};
use crate::profile::Profile;
use crate::random::mix;
use crate::slab::Slab;
use crate::table::Table;
use crate::time::Timers;
use crate::witness::Lateness;
use crate::{flow::Flow, kernel, nvml::Sampler};

/// One node's devices. Pure: no clock, no thread, no randomness but the seed's. Equal calls give equal effects, bit for bit.
///
/// Every call takes its stamp `at`. The model first runs up to it (its effects are queued for the next [`Model::advance`]);
/// a stamp behind the model's time is taken as *now*, and the lateness of submissions is counted. So a stamp must never lie
/// ahead of the real time (cut a client's to it), and calls that are not submissions should come at the horizon, or they push
/// the clock past submissions still under way. A call never fails for its stamp.
#[derive(Debug)]
pub struct Model {
    pub(crate) profile: Profile,
    pub(crate) seed: u64,
    pub(crate) now: Nanos,
    /// Time of the first call; the accounts begin there.
    pub(crate) began: Option<Nanos>,
    pub(crate) next_sample: Nanos,
    pub(crate) timers: Timers,
    pub(crate) flow: Flow,
    pub(crate) effects: Vec<Effect>,
    pub(crate) ops: Slab,
    pub(crate) devices: Vec<Device>,
    pub(crate) processes: Table<Process>,
    pub(crate) contexts: Table<Context>,
    pub(crate) streams: Table<Stream>,
    pub(crate) modules: Table<Module>,
    pub(crate) functions: Table<Function>,
    pub(crate) graphs: Table<Graph>,
    pub(crate) pools: Table<Pool>,
    pub(crate) events: BTreeMap<EventId, Event>,
    pub(crate) next_event_id: u32,
    pub(crate) allocations: BTreeMap<AllocationId, Allocation>,
    pub(crate) next_allocation: u64,
    pub(crate) late: Lateness,
    pub(crate) launches: LaunchRing,
}

impl Model {
    /// A node with `devices` equal devices. `memory` overrides the profile's size of each.
    pub fn new(profile: Profile, seed: u64, devices: u32, memory: Option<u64>) -> Self {
        let total = memory.unwrap_or(profile.device.memory_bytes);
        let devices = (0..devices).map(|index| device(&profile, seed, index, total)).collect();
        Self {
            profile,
            seed,
            now: 0,
            began: None,
            next_sample: 0,
            timers: Timers::default(),
            flow: Flow::default(),
            effects: Vec::new(),
            ops: Slab::default(),
            devices,
            processes: Table::default(),
            contexts: Table::default(),
            streams: Table::default(),
            modules: Table::default(),
            functions: Table::default(),
            graphs: Table::default(),
            pools: Table::default(),
            events: BTreeMap::new(),
            next_event_id: 0,
            allocations: BTreeMap::new(),
            next_allocation: 0,
            late: Lateness::default(),
            launches: LaunchRing::default(),
        }
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
        u32::try_from(self.devices.len()).unwrap_or(u32::MAX)
    }

    /// Ops accepted and not complete, graph nodes included.
    pub fn unfinished(&self) -> usize {
        self.ops.live()
    }

    /// A device's UUID: fixed by the seed and the index.
    pub fn uuid(&self, device: DeviceId) -> Option<[u8; 16]> {
        self.devices.get(device.index()).map(|d| d.uuid)
    }

    // ---- lookups by the client's names: they may be anything ----

    pub(crate) fn live_process(&self, process: ProcessId) -> Result<&Process, Refusal> {
        self.processes.get(process.0).filter(|p| p.alive).ok_or(Refusal::NoSuchObject)
    }

    pub(crate) fn live_context(&self, context: ContextId) -> Result<&Context, Refusal> {
        let context = self.contexts.get(context.0).filter(|c| !c.gone).ok_or(Refusal::NoSuchObject)?;
        context.dead.map_or(Ok(context), |fault| Err(Refusal::ContextDead(fault)))
    }

    pub(crate) fn live_stream(&self, stream: StreamId) -> Result<&Stream, Refusal> {
        self.streams.get(stream.0).filter(|s| !s.destroyed).ok_or(Refusal::NoSuchObject)
    }

    pub(crate) fn live_pool(&mut self, pool: PoolId) -> Result<&mut Pool, Refusal> {
        self.pools.get_mut(pool.0).filter(|p| !p.destroyed).ok_or(Refusal::NoSuchObject)
    }

    pub(crate) fn module_of(&self, function: FunctionId) -> Result<(ModuleId, &Module), Refusal> {
        let module = self.functions.get(function.0).ok_or(Refusal::NoSuchObject)?.module;
        Ok((module, self.modules.get(module.0).ok_or(Refusal::NoSuchObject)?))
    }

    // ---- lookups by the model's own names: they are there ----

    /// The account of a process on a device, made at first use.
    pub(crate) fn account(&mut self, process: ProcessId, device: DeviceId) -> &mut Account {
        let count = self.devices.len();
        let process = self.processes.get_mut(process.0).expect("processes are never removed");
        if process.accounts.len() < count {
            process.accounts.resize_with(count, || None);
        }
        process.accounts[device.index()].get_or_insert_default()
    }

    pub(crate) fn device(&mut self, device: DeviceId) -> &mut Device {
        &mut self.devices[device.index()]
    }
}

fn device(profile: &Profile, seed: u64, index: u32, total: u64) -> Device {
    Device {
        uuid: uuid(seed, index),
        total,
        used: profile.device.reserved_bytes.min(total),
        managed_here: std::collections::BTreeSet::new(),
        compute: Compute {
            room: kernel::capacity(&profile.device),
            on: None,
            switching: None,
            line: std::collections::VecDeque::new(),
            turn: 0,
            slice_armed: false,
            dirty: false,
            busy: crate::account::Counter::default(),
            switch: crate::account::Counter::default(),
        },
        engines: Default::default(),
        segments: crate::segments::Segments::default(),
        sampler: Sampler::default(),
    }
}

/// A version 4 UUID.
fn uuid(seed: u64, index: u32) -> [u8; 16] {
    let high = mix(seed ^ 0x5549_4400);
    let low = mix(high ^ u64::from(index).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let mut bytes = (u128::from(mix(high ^ low)) << 64 | u128::from(low)).to_be_bytes();
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    bytes
}
