//! What lies at which address: every allocation, host range and reservation of the process.
//!
//! Addresses are this library's affair, sizes are charged at the server. It must never move bytes: copies run when the model
//! says so.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError, RwLock};

use mgpu_sim_link::AllocId;

use crate::context::Context;
use crate::error::{INVALID_VALUE, OUT_OF_MEMORY, Res};
use crate::mapping;
use crate::state::{driver, next_id};
use crate::sync::lock;

mod arena;
mod blocks;
pub(crate) mod quarantine;

pub(crate) use arena::Arena;

/// What a range is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `cuMemAlloc`, out of a shared block.
    Small,
    /// `cuMemAlloc` with blocks of its own.
    Device,
    Managed,
    /// From a pool (its handle).
    Pool(usize),
    /// A module's variable; freed with the module.
    Global,
    /// `cuMemHostAlloc`: page-locked by us.
    Host,
    /// `cuMemHostRegister`: the application's own pages.
    Registered,
    /// A mapped `cuMemCreate` handle.
    Mapped,
}

/// One range of addresses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Range {
    pub(crate) start: usize,
    /// As asked for, bytes.
    pub(crate) bytes: usize,
    pub(crate) kind: Kind,
    pub(crate) context: usize,
    pub(crate) context_id: u64,
    pub(crate) ordinal: i32,
    pub(crate) charge: Option<AllocId>,
    /// Bytes of address space.
    pub(crate) span: usize,
    pub(crate) buffer_id: u64,
    pub(crate) flags: u32,
}

impl Range {
    /// A range in `context`, not charged.
    pub(crate) fn new(start: usize, bytes: usize, kind: Kind, context: &'static Context) -> Self {
        Self {
            start,
            bytes,
            kind,
            context: crate::context::handle(context) as usize,
            context_id: context.id(),
            ordinal: context.ordinal.load(std::sync::atomic::Ordering::Relaxed),
            charge: None,
            span: 0,
            buffer_id: next_id(),
            flags: 0,
        }
    }

    /// Lies in host memory.
    pub(crate) fn is_host(&self) -> bool {
        matches!(self.kind, Kind::Host | Kind::Registered)
    }
}

static RANGES: RwLock<BTreeMap<usize, Range>> = RwLock::new(BTreeMap::new());

/// Addresses of everything that owns whole blocks.
pub(crate) static ARENA: Mutex<Arena> = Mutex::new(Arena::new());

/// Adds a range.
pub(crate) fn insert(range: Range) {
    RANGES.write().unwrap_or_else(PoisonError::into_inner).insert(range.start, range);
}

/// Takes the range that starts at `start` out.
pub(crate) fn remove(start: usize) -> Option<Range> {
    RANGES.write().unwrap_or_else(PoisonError::into_inner).remove(&start)
}

/// The range that `address` lies in.
pub(crate) fn find(address: usize) -> Option<Range> {
    let ranges = RANGES.read().unwrap_or_else(PoisonError::into_inner);
    let (_, range) = ranges.range(..=address).next_back()?;
    (address - range.start < range.bytes).then_some(*range)
}

/// Checks that `bytes` from `address` lie in memory that the device can reach.
///
/// # Errors
/// [`INVALID_VALUE`].
pub(crate) fn check(address: u64, bytes: usize) -> Res<Range> {
    let address = usize::try_from(address).map_err(|_| INVALID_VALUE)?;
    let range = find(address).ok_or(INVALID_VALUE)?;
    let end = address.checked_add(bytes).ok_or(INVALID_VALUE)?;
    // Mapped ranges may follow each other without a gap; the first is as far as we look.
    if end > range.start + range.bytes && range.kind != Kind::Mapped {
        return Err(INVALID_VALUE);
    }
    Ok(range)
}

/// Whether the address lies in ordinary memory, which the device can't read by itself.
pub(crate) fn is_pageable(address: usize) -> bool {
    find(address).is_none()
}

/// Device memory for `cuMemAlloc` and its kin.
///
/// # Errors
/// [`INVALID_VALUE`] for 0 bytes; [`OUT_OF_MEMORY`].
pub(crate) fn allocate(context: &'static Context, bytes: usize) -> Res<usize> {
    if bytes == 0 {
        return Err(INVALID_VALUE);
    }
    let driver = driver()?;
    let granularity = usize::try_from(context.device(driver)?.granularity).map_err(|_| OUT_OF_MEMORY)?;
    if bytes <= granularity / 2 {
        let start = blocks::allocate(driver, context, bytes, granularity)?;
        insert(Range::new(start, bytes, Kind::Small, context));
        return Ok(start);
    }
    let charge = driver.session.alloc(context.link_id(), bytes as u64, mgpu_sim_link::AllocKind::Plain)?;
    place(context, bytes, Kind::Device, charge, granularity)
}

/// Managed memory: charged as the server sees fit, reachable by the host as it is.
///
/// # Errors
/// As [`allocate`].
pub(crate) fn allocate_managed(context: &'static Context, bytes: usize) -> Res<usize> {
    if bytes == 0 {
        return Err(INVALID_VALUE);
    }
    let driver = driver()?;
    let charge = driver.session.alloc(context.link_id(), bytes as u64, mgpu_sim_link::AllocKind::Managed)?;
    place(context, bytes, Kind::Managed, charge, mapping::BLOCK)
}

/// Gives charged memory an address of its own blocks.
///
/// # Errors
/// [`OUT_OF_MEMORY`] when no addresses are left; the charge is then given back.
pub(crate) fn place(context: &'static Context, bytes: usize, kind: Kind, charge: AllocId, align: usize) -> Res<usize> {
    let taken = lock(&ARENA).take(bytes, align);
    let Some((start, span)) = taken else {
        driver()?.session.free(charge)?;
        return Err(OUT_OF_MEMORY);
    };
    insert(Range { charge: Some(charge), span, ..Range::new(start, bytes, kind, context) });
    Ok(start)
}

/// `cuMemFree`: waits for the context's work, then gives memory and addresses back.
///
/// # Errors
/// [`INVALID_VALUE`] for what is no allocation; the context's fault.
pub(crate) fn free(start: usize) -> Res {
    let range = find(start).filter(|r| r.start == start).ok_or(INVALID_VALUE)?;
    if !matches!(range.kind, Kind::Small | Kind::Device | Kind::Managed | Kind::Pool(_)) {
        return Err(INVALID_VALUE);
    }
    if let Ok(context) = crate::context::find(range.context as *const ()) {
        crate::stream::wait_context(context)?;
    }
    let range = remove(start).ok_or(INVALID_VALUE)?;
    give_back(&range)
}

fn give_back(range: &Range) -> Res {
    let driver = driver()?;
    if range.kind == Kind::Small {
        return blocks::free(driver, range.context_id, range.start);
    }
    let result = range.charge.map_or(Ok(()), |charge| driver.session.free(charge));
    lock(&ARENA).give(range.start, range.span);
    Ok(result?)
}

/// Forgets a dead context's memory: the server drops the charges with the context. What came from a pool is the device's, and
/// stays.
pub(crate) fn drop_context(context: &Context) {
    let id = context.id();
    let mut gone = Vec::new();
    RANGES.write().unwrap_or_else(PoisonError::into_inner).retain(|_, range| {
        let stays = range.context_id != id
            || matches!(range.kind, Kind::Registered | Kind::Mapped | Kind::Host | Kind::Pool(_));
        if !stays {
            gone.push(*range);
        }
        stays
    });
    let mut arena = lock(&ARENA);
    for range in gone.iter().filter(|r| r.span > 0) {
        arena.give(range.start, range.span);
    }
    for (start, span) in blocks::drop_context(id) {
        arena.give(start, span);
    }
}
