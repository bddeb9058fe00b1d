//! Stream-ordered pools: they reserve chunks, hand out ranges, and give chunks back at a synchronisation or a trim.

use std::collections::BTreeMap;

use crate::arena::{Arena, Place};
use crate::ids::{AllocationId, ContextId, DeviceId, Nanos, PoolId, ProcessId, StreamId};
use crate::memory::Line;
use crate::model::Model;
use crate::objects::{Allocation, AllocationKind, Pool};
use crate::op::Refusal;

impl Model {
    /// A stream-ordered pool (a process's default pool is just the first that the driver makes). Threshold 0 at first.
    pub fn create_pool(&mut self, at: Nanos, process: ProcessId, device: DeviceId) -> Result<PoolId, Refusal> {
        self.run_to(at);
        self.live_process(process)?;
        if device.index() >= self.devices.len() {
            return Err(Refusal::NoSuchObject);
        }
        let (arena, leaving) = (Arena::default(), BTreeMap::new());
        Ok(PoolId(self.pools.insert(Pool { process, device, arena, threshold: 0, destroyed: false, leaving })))
    }

    /// Destroys a pool: unused chunks go at once, the rest as its allocations are freed.
    pub fn destroy_pool(&mut self, at: Nanos, pool: PoolId) -> Result<(), Refusal> {
        self.run_to(at);
        self.live_pool(pool)?.destroyed = true;
        self.shrink_pool(pool, 0);
        Ok(())
    }

    /// Memory out of a pool for use on `stream`. Reserves whole chunks. What was freed on the same stream is reused at once,
    /// what was freed on another when its [`crate::Op::PoolFree`] is complete.
    pub fn allocate_from_pool(
        &mut self,
        at: Nanos,
        pool: PoolId,
        stream: StreamId,
        bytes: u64,
    ) -> Result<AllocationId, Refusal> {
        self.run_to(at);
        let context = self.live_stream(stream)?.context;
        self.live_context(context)?;
        let owner = self.home(context).0;
        let Pool { process, device, .. } = *self.live_pool(pool)?;
        if owner != process {
            return Err(Refusal::NoSuchObject);
        }
        if bytes == 0 {
            return Err(Refusal::InvalidValue);
        }
        let rounded = bytes.checked_next_multiple_of(self.profile.memory.small_alignment);
        let rounded = rounded.ok_or(Refusal::OutOfMemory)?;
        let place = match self.reuse(pool, stream, rounded).or_else(|| self.live_pool(pool).ok()?.arena.take(rounded)) {
            Some(place) => place,
            None => self.grow_pool(pool, rounded)?,
        };
        let kind = AllocationKind::Pool(pool, place);
        Ok(self.keep(Allocation { process, device, context: None, kind, leaving_on: None }))
    }

    /// The tightest range on its way out in this stream's own order, if it wastes no more than it serves.
    fn reuse(&mut self, pool: PoolId, stream: StreamId, bytes: u64) -> Option<Place> {
        let leaving = self.pools.get_mut(pool.0)?.leaving.get_mut(&stream)?;
        let fits = leaving.iter().enumerate().filter_map(|(index, id)| match self.allocations.get(id)?.kind {
            AllocationKind::Pool(_, place) if place.bytes >= bytes && place.bytes / 2 <= bytes => Some((index, place)),
            _ => None,
        });
        let (index, place) = fits.min_by_key(|(_, place)| place.bytes)?;
        let taken = leaving.remove(index);
        self.allocations.remove(&taken);
        Some(place)
    }

    fn grow_pool(&mut self, pool: PoolId, bytes: u64) -> Result<Place, Refusal> {
        let Pool { process, device, .. } = *self.live_pool(pool)?;
        let chunk = self.blocks(bytes)?.max(self.profile.memory.pool_chunk);
        self.charge(process, device, Line::Allocated, chunk)?;
        let number = self.next_number();
        let arena = &mut self.live_pool(pool)?.arena;
        arena.add_chunk(number, chunk);
        arena.take(bytes).ok_or(Refusal::OutOfMemory)
    }

    /// Sets how much reserve a pool keeps at a synchronisation.
    pub fn set_release_threshold(&mut self, at: Nanos, pool: PoolId, bytes: u64) -> Result<(), Refusal> {
        self.run_to(at);
        self.live_pool(pool)?.threshold = bytes;
        Ok(())
    }

    /// Gives unused chunks back until at most `keep` bytes are reserved.
    pub fn trim_pool(&mut self, at: Nanos, pool: PoolId, keep: u64) -> Result<(), Refusal> {
        self.run_to(at);
        self.live_pool(pool)?;
        self.shrink_pool(pool, keep);
        Ok(())
    }

    /// Reserved and used bytes of a pool, now.
    pub fn pool_usage(&self, pool: PoolId) -> Option<(u64, u64)> {
        self.pools.get(pool.0).map(|p| (p.arena.reserved, p.arena.used))
    }

    /// The client has synchronised (a stream, an event, the context): its process's pools on that device trim to their
    /// thresholds.
    pub fn note_synchronize(&mut self, at: Nanos, context: ContextId) {
        self.run_to(at);
        let Ok(owner) = self.live_context(context) else { return };
        let (process, device) = (owner.process, owner.device);
        let ours = self.pools.iter().filter(|(_, p)| p.process == process && p.device == device);
        let over: Vec<_> =
            ours.filter(|(_, p)| p.arena.reserved > p.threshold).map(|(n, p)| (n, p.threshold)).collect();
        for (pool, threshold) in over {
            self.shrink_pool(PoolId(pool), threshold);
        }
    }

    fn shrink_pool(&mut self, pool: PoolId, keep: u64) {
        let Some(found) = self.pools.get_mut(pool.0) else { return };
        let (process, device, bytes) = (found.process, found.device, found.arena.release(keep));
        if found.destroyed && found.arena.reserved == 0 {
            self.pools.remove(pool.0);
        }
        self.uncharge(process, device, Line::Allocated, bytes);
    }

    pub(crate) fn give_to_pool(&mut self, pool: PoolId, place: Place) {
        let Some(found) = self.pools.get_mut(pool.0) else { return };
        found.arena.give(place);
        if found.destroyed {
            self.shrink_pool(pool, 0);
        }
    }

    pub(crate) fn may_pool_free(&self, process: ProcessId, allocation: AllocationId) -> bool {
        self.allocations.get(&allocation).is_some_and(|a| {
            a.process == process && a.leaving_on.is_none() && matches!(a.kind, AllocationKind::Pool(..))
        })
    }

    pub(crate) fn begin_pool_free(&mut self, allocation: AllocationId, stream: StreamId) {
        let Some(found) = self.allocations.get_mut(&allocation) else { return };
        found.leaving_on = Some(stream);
        let AllocationKind::Pool(pool, _) = found.kind else { return };
        if let Some(pool) = self.pools.get_mut(pool.0) {
            pool.leaving.entry(stream).or_default().push(allocation);
        }
    }

    /// Does nothing for one that the same stream has taken over meanwhile.
    pub(crate) fn finish_pool_free(&mut self, allocation: AllocationId) {
        let Some(found) = self.allocations.get(&allocation) else { return };
        if let (AllocationKind::Pool(pool, _), Some(stream)) = (found.kind, found.leaving_on)
            && let Some(pool) = self.pools.get_mut(pool.0)
            && let Some(leaving) = pool.leaving.get_mut(&stream)
        {
            leaving.retain(|other| *other != allocation);
            if leaving.is_empty() {
                pool.leaving.remove(&stream);
            }
        }
        self.drop_allocation(allocation);
    }
}
