//! Memory pools: handles over the link's pools, and allocation in stream order.
//! Reserved and used bytes are the server's; this side only finds addresses.

use std::sync::Mutex;
use std::sync::atomic::{AtomicI32, AtomicU32, AtomicU64, Ordering};

use mgpu_sim_link::{Op, PoolId, PoolStats, burn, now_ns};

use crate::capture;
use crate::context::device;
use crate::error::{INVALID_VALUE, OUT_OF_MEMORY, Res};
use crate::mapping::BLOCK;
use crate::memory::{self, Kind, quarantine};
use crate::slots::{Slots, handle_of};
use crate::state::driver;
use crate::stream::Stream;
use crate::submit;
use crate::sync::lock;

/// A pool.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    link: AtomicU32,
    pub(crate) ordinal: AtomicI32,
    pub(crate) is_default: AtomicU32,
    pub(crate) threshold: AtomicU64,
    /// Reuse switches (attributes 1 to 3), of no effect.
    pub(crate) switches: [AtomicI32; 3],
    /// Highest numbers are the server's since the pool was made; a reset is remembered here.
    pub(crate) floor: [AtomicU64; 2],
}

pub(crate) static POOLS: Slots<Pool> = Slots::new(1 << 12);

/// Default and current pool of each device, by ordinal.
#[derive(Clone, Copy, Default)]
struct Chosen {
    default: usize,
    current: usize,
}

static CHOSEN: Mutex<Vec<Chosen>> = Mutex::new(Vec::new());

/// The live pool behind a handle.
///
/// # Errors
/// [`INVALID_VALUE`].
pub(crate) fn find(handle: *const ()) -> Res<&'static Pool> {
    POOLS.get(handle).ok_or(INVALID_VALUE)
}

/// Makes a pool on a device.
///
/// # Errors
/// Those of the link.
pub(crate) fn create(ordinal: i32, is_default: bool) -> Res<&'static Pool> {
    let driver = driver()?;
    let link = driver.session.create_pool(device(driver, ordinal)?.index)?;
    let pool = POOLS.insert(|p| {
        p.link.store(link.0, Ordering::Relaxed);
        p.ordinal.store(ordinal, Ordering::Relaxed);
        p.is_default.store(u32::from(is_default), Ordering::Relaxed);
        p.threshold.store(0, Ordering::Relaxed);
        p.switches.iter().for_each(|s| s.store(1, Ordering::Relaxed));
        p.floor.iter().for_each(|f| f.store(0, Ordering::Relaxed));
    });
    pool.ok_or(OUT_OF_MEMORY)
}

/// Ends a pool that the application made; its memory stays until the last allocation is freed.
///
/// # Errors
/// [`INVALID_VALUE`] for a default pool or none.
pub(crate) fn destroy(handle: *const ()) -> Res {
    if find(handle)?.is_default.load(Ordering::Relaxed) != 0 {
        return Err(INVALID_VALUE);
    }
    let pool = POOLS.remove(handle).ok_or(INVALID_VALUE)?;
    for chosen in lock(&CHOSEN).iter_mut().filter(|c| c.current == handle as usize) {
        chosen.current = chosen.default;
    }
    let result = driver()?.session.destroy_pool(pool.link_id());
    POOLS.recycle(pool);
    Ok(result?)
}

fn chosen<T>(ordinal: i32, act: impl FnOnce(&mut Chosen) -> T) -> Res<T> {
    device(driver()?, ordinal)?;
    let index = usize::try_from(ordinal).map_err(|_| INVALID_VALUE)?;
    let mut all = lock(&CHOSEN);
    if all.len() <= index {
        all.resize(index + 1, Chosen::default());
    }
    let entry = &mut all[index];
    if entry.default == 0 {
        let pool = create(ordinal, true)?;
        entry.default = handle_of(pool) as usize;
        entry.current = entry.default;
    }
    Ok(act(entry))
}

/// The device's own pool, made at the first question.
///
/// # Errors
/// Those of [`create`].
pub(crate) fn default_of(ordinal: i32) -> Res<&'static Pool> {
    find(chosen(ordinal, |c| c.default)? as *const ())
}

/// The pool that `cuMemAllocAsync` takes from.
///
/// # Errors
/// Those of [`create`].
pub(crate) fn current_of(ordinal: i32) -> Res<&'static Pool> {
    find(chosen(ordinal, |c| c.current)? as *const ())
}

/// Sets the pool that `cuMemAllocAsync` takes from.
///
/// # Errors
/// [`INVALID_VALUE`] for a pool of another device.
pub(crate) fn set_current(ordinal: i32, pool: &'static Pool) -> Res {
    if pool.ordinal.load(Ordering::Relaxed) != ordinal {
        return Err(INVALID_VALUE);
    }
    chosen(ordinal, |c| c.current = handle_of(pool) as usize)
}

impl Pool {
    pub(crate) fn link_id(&self) -> PoolId {
        PoolId(self.link.load(Ordering::Relaxed))
    }

    /// The server's numbers.
    ///
    /// # Errors
    /// Those of the link.
    pub(crate) fn stats(&self) -> Res<PoolStats> {
        Ok(driver()?.session.pool_stats(self.link_id())?)
    }
}

/// Allocates for use in `stream`'s order.
///
/// # Errors
/// [`INVALID_VALUE`] for 0 bytes, [`OUT_OF_MEMORY`]; not supported in a capture.
pub(crate) fn allocate(pool: &'static Pool, stream: &'static Stream, bytes: usize) -> Res<usize> {
    if bytes == 0 {
        return Err(INVALID_VALUE);
    }
    if stream.capturing.load(Ordering::Acquire) != 0 {
        return Err(capture::forbid(stream));
    }
    submit::check_implicit(stream)?;
    let driver = driver()?;
    let start = now_ns();
    quarantine::sweep();
    let charge = driver.session.pool_alloc(pool.link_id(), stream.link(), bytes as u64)?;
    let kind = Kind::Pool(handle_of(pool) as usize);
    let address = memory::place(stream.context()?, bytes, kind, charge, BLOCK)?;
    burn(start, driver.costs.pool_ns);
    Ok(address)
}

/// Frees in `stream`'s order. Plain allocations may be freed so too.
///
/// # Errors
/// [`INVALID_VALUE`] for what is no allocation.
pub(crate) fn free(stream: &'static Stream, address: usize) -> Res {
    if stream.capturing.load(Ordering::Acquire) != 0 {
        return Err(capture::forbid(stream));
    }
    submit::check_implicit(stream)?;
    let driver = driver()?;
    let range = memory::find(address).filter(|r| r.start == address).ok_or(INVALID_VALUE)?;
    let (Kind::Pool(_), Some(alloc)) = (range.kind, range.charge) else {
        stream.wait()?;
        return memory::free(address);
    };
    let start = now_ns();
    memory::remove(address).ok_or(INVALID_VALUE)?;
    let ticket = driver.session.submit(stream.link(), &Op::PoolFree { alloc })?;
    quarantine::add(stream.link(), ticket, range.start, range.span);
    burn(start, driver.costs.pool_ns);
    Ok(())
}
