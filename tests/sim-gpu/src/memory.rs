//! Device memory: plain, managed and physical allocations, and what each process is charged for them.

use crate::ids::{AllocationId, ContextId, DeviceId, Nanos, ProcessId};
use crate::model::Model;
use crate::objects::{Allocation, AllocationKind};
use crate::op::Refusal;

/// Memory of a device as `cuMemGetInfo` gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryInfo {
    /// Bytes free for allocations.
    pub free: u64,
    /// Bytes of the device.
    pub total: u64,
}

/// Where an allocation lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placement {
    /// The driver's block (or pool chunk): a number of its own, never used again.
    pub block: u64,
    /// Size of that block.
    pub block_bytes: u64,
    /// Where in it.
    pub offset: u64,
    /// Bytes taken there: the request, rounded up.
    pub bytes: u64,
}

/// Which line of a process's account bytes are on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Line {
    Allocated,
    Overhead,
}

impl Model {
    /// Plain device memory (`cuMemAlloc`, arrays, pitched: bytes as the driver would need them). Up to `small_limit` bytes
    /// share the context's blocks; more is rounded up to whole blocks.
    pub fn allocate(&mut self, at: Nanos, context: ContextId, bytes: u64) -> Result<AllocationId, Refusal> {
        self.run_to(at);
        self.live_context(context)?;
        let (process, device) = self.home(context);
        let kind = if bytes <= self.profile.memory.small_limit {
            self.allocate_small(context, bytes)?
        } else {
            let bytes = self.blocks(bytes)?;
            self.charge(process, device, Line::Allocated, bytes)?;
            AllocationKind::Whole(bytes)
        };
        Ok(self.keep(Allocation { process, device, context: Some(context), kind, leaving_on: None }))
    }

    fn allocate_small(&mut self, context: ContextId, bytes: u64) -> Result<AllocationKind, Refusal> {
        if bytes == 0 {
            return Err(Refusal::InvalidValue);
        }
        let rounded = bytes.next_multiple_of(self.profile.memory.small_alignment);
        let block = self.profile.memory.granularity;
        let (process, device) = self.home(context);
        let small = |model: &mut Self| model.contexts.get_mut(context.0).and_then(|c| c.small.take(rounded));
        if let Some(place) = small(self) {
            return Ok(AllocationKind::Small(place));
        }
        self.charge(process, device, Line::Allocated, block.max(rounded))?;
        let number = self.next_number();
        if let Some(owner) = self.contexts.get_mut(context.0) {
            owner.small.add_chunk(number, block.max(rounded));
        }
        small(self).map(AllocationKind::Small).ok_or(Refusal::OutOfMemory)
    }

    /// Managed memory: on the device from the context's next launch on, as far as there is room; makes way for others.
    pub fn allocate_managed(&mut self, at: Nanos, context: ContextId, bytes: u64) -> Result<AllocationId, Refusal> {
        self.run_to(at);
        self.live_context(context)?;
        let (process, device) = self.home(context);
        let kind = AllocationKind::Managed { bytes: self.blocks(bytes)?, here: false };
        let id = self.keep(Allocation { process, device, context: Some(context), kind, leaving_on: None });
        if let Some(owner) = self.contexts.get_mut(context.0) {
            owner.managed_away.insert(id);
        }
        Ok(id)
    }

    /// Physical memory without a context (`cuMemCreate`): rounded up to the granularity, never shared.
    pub fn allocate_physical(
        &mut self,
        at: Nanos,
        process: ProcessId,
        device: DeviceId,
        bytes: u64,
    ) -> Result<AllocationId, Refusal> {
        self.run_to(at);
        self.live_process(process)?;
        if device.index() >= self.devices.len() {
            return Err(Refusal::NoSuchObject);
        }
        let bytes = self.blocks(bytes)?;
        self.charge(process, device, Line::Allocated, bytes)?;
        let kind = AllocationKind::Whole(bytes);
        Ok(self.keep(Allocation { process, device, context: None, kind, leaving_on: None }))
    }

    /// Frees any allocation at once, one from a pool too (`cuMemFree` of it: the driver synchronises first). One that is
    /// already being freed in stream order is not there any more.
    pub fn free(&mut self, at: Nanos, allocation: AllocationId) -> Result<(), Refusal> {
        self.run_to(at);
        let found = self.allocations.get(&allocation).ok_or(Refusal::NoSuchObject)?;
        if found.leaving_on.is_some() {
            return Err(Refusal::NoSuchObject);
        }
        self.drop_allocation(allocation);
        Ok(())
    }

    /// Free and total memory of a device.
    pub fn memory_info(&self, device: DeviceId) -> Option<MemoryInfo> {
        let device = self.devices.get(device.index())?;
        Some(MemoryInfo { free: device.total - device.used, total: device.total })
    }

    /// Whole blocks for so many bytes.
    pub(crate) fn blocks(&self, bytes: u64) -> Result<u64, Refusal> {
        if bytes == 0 {
            return Err(Refusal::InvalidValue);
        }
        bytes.checked_next_multiple_of(self.profile.memory.granularity).ok_or(Refusal::OutOfMemory)
    }

    /// Allocations and the blocks they lie in are numbered together.
    pub(crate) fn next_number(&mut self) -> u64 {
        self.next_allocation += 1;
        self.next_allocation
    }

    /// Where an allocation lies: what shares a block here should share one in the client's addresses too.
    pub fn placement(&self, allocation: AllocationId) -> Option<Placement> {
        let found = self.allocations.get(&allocation)?;
        let (arena, place) = match found.kind {
            AllocationKind::Whole(bytes) | AllocationKind::Managed { bytes, .. } => {
                return Some(Placement { block: allocation.0, block_bytes: bytes, offset: 0, bytes });
            }
            AllocationKind::Small(place) => (&self.contexts.get(found.context?.0)?.small, place),
            AllocationKind::Pool(pool, place) => (&self.pools.get(pool.0)?.arena, place),
        };
        let (block, block_bytes) = (place.chunk, arena.chunk_bytes(place.chunk)?);
        Some(Placement { block, block_bytes, offset: place.offset, bytes: place.bytes })
    }

    pub(crate) fn keep(&mut self, allocation: Allocation) -> AllocationId {
        let id = AllocationId(self.next_number());
        self.allocations.insert(id, allocation);
        id
    }

    pub(crate) fn drop_allocation(&mut self, id: AllocationId) {
        let Some(allocation) = self.allocations.remove(&id) else { return };
        let (process, device) = (allocation.process, allocation.device);
        let owner = allocation.context.and_then(|context| self.contexts.get_mut(context.0));
        match (allocation.kind, owner) {
            (AllocationKind::Whole(bytes), _) => self.uncharge(process, device, Line::Allocated, bytes),
            (AllocationKind::Small(place), Some(owner)) => {
                let bytes = if owner.small.give(place) { owner.small.release(0) } else { 0 };
                self.uncharge(process, device, Line::Allocated, bytes);
            }
            (AllocationKind::Managed { here: true, bytes }, _) => {
                self.device(device).managed_here.remove(&id);
                self.uncharge(process, device, Line::Allocated, bytes);
            }
            (AllocationKind::Managed { here: false, .. }, Some(owner)) => drop(owner.managed_away.remove(&id)),
            (AllocationKind::Pool(pool, place), _) => self.give_to_pool(pool, place),
            _ => {}
        }
    }

    /// Takes device memory, after moving managed memory away if need be. A refusal is counted.
    pub(crate) fn charge(
        &mut self,
        process: ProcessId,
        device: DeviceId,
        line: Line,
        bytes: u64,
    ) -> Result<(), Refusal> {
        self.move_managed_away(device, bytes);
        let target = self.device(device);
        if target.total - target.used < bytes {
            self.account(process, device).refused += 1;
            return Err(Refusal::OutOfMemory);
        }
        target.used += bytes;
        let account = self.account(process, device);
        match line {
            Line::Allocated => account.allocated.add(bytes),
            Line::Overhead => account.overhead.add(bytes),
        }
        Ok(())
    }

    pub(crate) fn uncharge(&mut self, process: ProcessId, device: DeviceId, line: Line, bytes: u64) {
        self.device(device).used -= bytes;
        let account = self.account(process, device);
        match line {
            Line::Allocated => account.allocated.sub(bytes),
            Line::Overhead => account.overhead.sub(bytes),
        }
    }

    /// Brings the context's managed memory to the device, as far as there is room.
    pub(crate) fn bring_managed(&mut self, context: ContextId) {
        let Some(owner) = self.contexts.get(context.0).filter(|c| !c.managed_away.is_empty()) else { return };
        let away: Vec<_> = owner.managed_away.iter().copied().collect();
        let (process, device) = self.home(context);
        for id in away {
            let Some(Allocation { kind: AllocationKind::Managed { bytes, here }, .. }) = self.allocations.get_mut(&id)
            else {
                continue;
            };
            let (bytes, target) = (*bytes, &mut self.devices[device.index()]);
            if target.total - target.used < bytes {
                continue;
            }
            *here = true;
            target.used += bytes;
            target.managed_here.insert(id);
            self.account(process, device).allocated.add(bytes);
            if let Some(owner) = self.contexts.get_mut(context.0) {
                owner.managed_away.remove(&id);
            }
        }
    }

    /// Moves managed memory to the host, oldest first, until `bytes` fit; none, if even all of it would not do.
    fn move_managed_away(&mut self, device: DeviceId, bytes: u64) {
        let target = &self.devices[device.index()];
        let size = |id: &AllocationId| match self.allocations.get(id).map(|a| a.kind) {
            Some(AllocationKind::Managed { bytes, .. }) => bytes,
            _ => 0,
        };
        let free = target.total - target.used;
        if free >= bytes || free + target.managed_here.iter().map(size).sum::<u64>() < bytes {
            return;
        }
        while self.devices[device.index()].total - self.devices[device.index()].used < bytes {
            let Some(id) = self.device(device).managed_here.pop_first() else { return };
            let Some(Allocation { process, context, kind: AllocationKind::Managed { bytes, here }, .. }) =
                self.allocations.get_mut(&id)
            else {
                continue;
            };
            *here = false;
            let (process, context, bytes) = (*process, *context, *bytes);
            if let Some(owner) = context.and_then(|context| self.contexts.get_mut(context.0)) {
                owner.managed_away.insert(id);
            }
            self.uncharge(process, device, Line::Allocated, bytes);
        }
    }
}
