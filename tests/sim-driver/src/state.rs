//! The process's driver: made by `cuInit`, never dropped, gone in a forked child.
//!
//! The pointer to it lies in a page that the kernel wipes in a child, so each call finds out for itself, however the child was
//! made. It must never know a context or a stream.

use std::ptr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use mgpu_sim_link::{HostCosts, Session};

use crate::error::{NO_DEVICE, NOT_INITIALIZED, OUT_OF_MEMORY, Res};
use crate::sync::lock;
use crate::visible;

/// The driver version that this library claims: the newest header's.
pub(crate) const VERSION: i32 = 13_050;

/// A device as this process sees it.
#[derive(Debug)]
pub(crate) struct Device {
    /// The server's index, which `CUDA_VISIBLE_DEVICES` may have mapped to another ordinal.
    pub(crate) index: u32,
    pub(crate) uuid: [u8; 16],
    pub(crate) name: String,
    pub(crate) memory: u64,
    pub(crate) pci_domain: i32,
    pub(crate) pci_bus: i32,
    pub(crate) granularity: u64,
}

/// All that exists once per process.
#[derive(Debug)]
pub(crate) struct Driver {
    pub(crate) session: &'static Session,
    pub(crate) devices: Vec<Device>,
    pub(crate) costs: HostCosts,
}

/// The wiped page's first word; the page itself is mapped at the first successful `cuInit`.
static PAGE: AtomicPtr<AtomicPtr<Driver>> = AtomicPtr::new(ptr::null_mut());
static STARTING: Mutex<()> = Mutex::new(());
static NEXT_ID: AtomicU64 = AtomicU64::new(1);

/// The driver.
///
/// # Errors
/// [`NOT_INITIALIZED`] before `cuInit`, and for ever in a child of a process that had called it.
#[inline]
pub(crate) fn driver() -> Res<&'static Driver> {
    let page = PAGE.load(Ordering::Acquire);
    if page.is_null() {
        return Err(NOT_INITIALIZED);
    }
    // SAFETY: the page is never unmapped, and its first word is an aligned pointer (null after a wipe).
    let driver = unsafe { (*page).load(Ordering::Acquire) };
    // SAFETY: only `start` stores here, a leaked box.
    unsafe { driver.as_ref() }.ok_or(NOT_INITIALIZED)
}

/// `cuInit`.
pub(crate) fn start() -> Res {
    if driver().is_ok() {
        return Ok(());
    }
    if !PAGE.load(Ordering::Acquire).is_null() || mgpu_sim_link::forked_from_connected() {
        return Err(NOT_INITIALIZED);
    }
    let _only_one = lock(&STARTING);
    if driver().is_ok() {
        return Ok(());
    }
    let session = mgpu_sim_link::session()?;
    let devices = visible_devices(session);
    if devices.is_empty() {
        return Err(NO_DEVICE);
    }
    let driver = Box::leak(Box::new(Driver { session, devices, costs: session.costs() }));
    let page = wiped_page()?;
    // SAFETY: a fresh page of zeros, at least one word long; zeros are a null pointer.
    unsafe { (*page).store(driver, Ordering::Release) };
    PAGE.store(page, Ordering::Release);
    Ok(())
}

fn wiped_page() -> Res<*mut AtomicPtr<Driver>> {
    let page = crate::mapping::reserve(4096).ok_or(OUT_OF_MEMORY)?;
    // SAFETY: our own new mapping. Where the advice is unknown (before Linux 4.14) children keep the parent's pointer, and
    // the link answers for them.
    unsafe { libc::madvise(page.cast(), 4096, libc::MADV_WIPEONFORK) };
    Ok(page.cast())
}

fn visible_devices(session: &Session) -> Vec<Device> {
    let infos = session.devices();
    let uuids: Vec<[u8; 16]> = infos.iter().map(|d| d.uuid).collect();
    let variable = std::env::var("CUDA_VISIBLE_DEVICES").ok();
    let device = |i: usize| {
        let info = infos.get(i)?;
        Some(Device {
            index: u32::try_from(i).ok()?,
            uuid: info.uuid,
            name: info.name.clone(),
            memory: info.memory,
            pci_domain: i32::try_from(info.pci_domain).unwrap_or(0),
            pci_bus: i32::from(info.pci_bus),
            granularity: info.granularity.max(1),
        })
    };
    visible::select(variable.as_deref(), &uuids).into_iter().filter_map(device).collect()
}

/// A number that no other context, stream, graph or allocation of this process has.
pub(crate) fn next_id() -> u64 {
    NEXT_ID.fetch_add(1, Ordering::Relaxed)
}
