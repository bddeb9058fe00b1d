//! Small allocations: they share the driver's blocks, one charge a block, as real drivers do it. So only every few thousandth
//! small allocation costs a call of the server.

use std::collections::BTreeMap;
use std::sync::Mutex;

use mgpu_sim_link::{AllocId, AllocKind};

use crate::context::Context;
use crate::error::{INVALID_VALUE, OUT_OF_MEMORY, Res};
use crate::state::Driver;
use crate::sync::lock;

/// Alignment and unit of a small allocation.
const UNIT: usize = 512;

struct Block {
    charge: AllocId,
    context_id: u64,
    span: usize,
    /// Used pieces: offset and length.
    used: BTreeMap<usize, usize>,
    /// Bytes behind the last piece and in gaps, to skip full blocks quickly.
    free: usize,
}

impl Block {
    fn fit(&mut self, bytes: usize) -> Option<usize> {
        if self.free < bytes {
            return None;
        }
        let mut at = 0;
        for (offset, length) in &self.used {
            if offset - at >= bytes {
                break;
            }
            at = offset + length;
        }
        if at + bytes > self.span {
            return None;
        }
        self.used.insert(at, bytes);
        self.free -= bytes;
        Some(at)
    }
}

static BLOCKS: Mutex<BTreeMap<usize, Block>> = Mutex::new(BTreeMap::new());

/// A piece of `bytes` out of a block of `context`; a new block of `granularity` bytes is charged when none has room.
pub(super) fn allocate(driver: &Driver, context: &Context, bytes: usize, granularity: usize) -> Res<usize> {
    let bytes = bytes.next_multiple_of(UNIT);
    let mut blocks = lock(&BLOCKS);
    let own = blocks.iter_mut().filter(|(_, b)| b.context_id == context.id());
    if let Some(address) = own.filter_map(|(start, b)| Some(start + b.fit(bytes)?)).next() {
        return Ok(address);
    }
    let charge = driver.session.alloc(context.link_id(), granularity as u64, AllocKind::Plain)?;
    let Some((start, span)) = lock(&super::ARENA).take(granularity, granularity) else {
        driver.session.free(charge)?;
        return Err(OUT_OF_MEMORY);
    };
    let used = BTreeMap::from([(0, bytes)]);
    blocks.insert(start, Block { charge, context_id: context.id(), span, used, free: span - bytes });
    Ok(start)
}

/// Gives a piece back, and its block when it was the last.
pub(super) fn free(driver: &Driver, context_id: u64, address: usize) -> Res {
    let mut blocks = lock(&BLOCKS);
    let (start, block) = blocks.range_mut(..=address).next_back().ok_or(INVALID_VALUE)?;
    let start = *start;
    if block.context_id != context_id {
        return Err(INVALID_VALUE);
    }
    block.free += block.used.remove(&(address - start)).ok_or(INVALID_VALUE)?;
    if !block.used.is_empty() {
        return Ok(());
    }
    let Some(block) = blocks.remove(&start) else { return Ok(()) };
    drop(blocks);
    let result = driver.session.free(block.charge);
    lock(&super::ARENA).give(start, block.span);
    Ok(result?)
}

/// Forgets a dead context's blocks; gives their addresses.
pub(super) fn drop_context(id: u64) -> Vec<(usize, usize)> {
    let mut gone = Vec::new();
    lock(&BLOCKS).retain(|start, block| {
        if block.context_id == id {
            gone.push((*start, block.span));
        }
        block.context_id != id
    });
    gone
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_fill_gaps_first() {
        let mut block =
            Block { charge: AllocId(0), context_id: 1, span: 4 * UNIT, used: BTreeMap::new(), free: 4 * UNIT };
        let pieces: Vec<_> = (0..4).map(|_| block.fit(UNIT)).collect();
        assert_eq!(pieces, [Some(0), Some(UNIT), Some(2 * UNIT), Some(3 * UNIT)]);
        assert_eq!(block.fit(UNIT), None);
        block.used.remove(&UNIT);
        block.free += UNIT;
        assert_eq!(block.fit(2 * UNIT), None);
        assert_eq!(block.fit(UNIT), Some(UNIT));
    }
}
