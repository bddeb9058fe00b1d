//! One attachment: who rules the gates (a grants page) and where this process writes what it does (its desk: the tenant page and
//! what belongs to it). Made by a welcome, or out of private memory while nobody rules. Leaked on purpose: some thread may look
//! at an old one at any time.

use crate::streams::Streams;
use mgpu_protocol::gate::{Gate, GateState};
use mgpu_protocol::layout::{ClientSlot, GrantLine, GrantsPage, MAX_DEVICES, TenantPage};
use mgpu_protocol::page::{Mapping, mapped_size};
use mgpu_protocol::sync::{AtomicU64 as SharedU64, Ordering as SharedOrdering};
use mgpu_shim_core::memory_view::Known;
use mgpu_shim_core::purse::LeaseWords;
use mgpu_shim_core::window::Window;
use std::ffi::c_void;
use std::os::fd::OwnedFd;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// No device of the tenant.
const NOT_OURS: u8 = u8::MAX;

/// A client's place in a tenant page. Outlives the coordinator that assigned it.
pub(crate) struct Desk {
    tenant: Mapping<TenantPage>,
    /// This client's slot.
    pub(crate) slot: u32,
    slot_index: usize,
    /// The streams that this process has launched on.
    pub(crate) streams: Streams,
    /// Address of the tenant page as the GPU sees it; see `markers`.
    pub(crate) device_address: AtomicU64,
}

impl Desk {
    /// Makes one; for good. `None`: the page has no such slot.
    pub(crate) fn leak(tenant: Mapping<TenantPage>, slot: u32) -> Option<&'static Self> {
        let slot_index = usize::try_from(slot).ok().filter(|index| *index < tenant.slots.len())?;
        tenant.slots.get(slot_index)?.pid.store(std::process::id(), SharedOrdering::Relaxed);
        let streams = Streams::new();
        Some(Box::leak(Box::new(Self { tenant, slot, slot_index, streams, device_address: AtomicU64::new(0) })))
    }

    /// The tenant page.
    pub(crate) fn tenant(&self) -> &TenantPage {
        &self.tenant
    }

    /// Where the tenant page lies, and how long it is: what the GPU must be able to write.
    pub(crate) fn memory(&self) -> (*mut c_void, usize) {
        (std::ptr::from_ref::<TenantPage>(&self.tenant).cast_mut().cast(), mapped_size::<TenantPage>())
    }

    /// Gives the memory of a desk that was left long ago back; its addresses stay valid, for a thread that is still looking.
    pub(crate) fn retire(&self) {
        self.tenant.retire();
    }

    /// This client's slot in the tenant page.
    pub(crate) fn client(&self) -> &ClientSlot {
        #[allow(clippy::indexing_slicing, reason = "checked when the desk was made")]
        &self.tenant.slots[self.slot_index]
    }
}

/// See the module.
pub(crate) struct Attachment {
    /// Where this process writes.
    pub(crate) desk: &'static Desk,
    /// Who rules. Read-only memory if a daemon made it.
    pub(crate) grants: Mapping<GrantsPage>,
    /// Which line of the grants page each ordinal has.
    lines: [u8; MAX_DEVICES],
    /// Written on a want edge; `None` while nobody rules.
    pub(crate) want: Option<OwnedFd>,
    /// The daemon that made the grants page; 0 = nobody did.
    pub(crate) daemon_epoch: u64,
    devices: [Device; MAX_DEVICES],
}

/// What this process remembers of one line of the grants page.
#[derive(Default)]
struct Device {
    /// 1 + epoch in which want was last raised at an open-and-notify gate.
    notified: AtomicU32,
    /// Launches that short kernels have earned.
    earned: AtomicU32,
    window: Mutex<Window>,
    /// The word of the last gate that a waiter saw open; 0 = none.
    last_open: AtomicU64,
}

/// Line of the grants page for each ordinal.
pub(crate) type Lines = [Option<usize>; MAX_DEVICES];

impl Attachment {
    /// Makes one; for good.
    pub(crate) fn leak(
        desk: &'static Desk,
        grants: Mapping<GrantsPage>,
        lines: Lines,
        want: Option<OwnedFd>,
        daemon_epoch: u64,
    ) -> &'static Self {
        let line = |line: Option<usize>| {
            line.filter(|line| *line < MAX_DEVICES).and_then(|line| u8::try_from(line).ok()).unwrap_or(NOT_OURS)
        };
        let lines = lines.map(line);
        Box::leak(Box::new(Self { desk, grants, lines, want, daemon_epoch, devices: Default::default() }))
    }

    /// Line of the grants page for each ordinal.
    pub(crate) fn lines(&self) -> Lines {
        std::array::from_fn(|ordinal| self.line_of(ordinal))
    }

    /// The line of the grants page that rules a device of this process; `None`: the tenant has no such device.
    pub(crate) fn line_of(&self, ordinal: usize) -> Option<usize> {
        self.lines.get(ordinal).copied().filter(|line| *line != NOT_OURS).map(usize::from)
    }

    /// That line.
    #[inline]
    pub(crate) fn grant(&self, line: usize) -> &GrantLine {
        #[allow(clippy::indexing_slicing, reason = "reduced modulo the length")]
        &self.grants.devices[line % MAX_DEVICES]
    }

    fn device(&self, line: usize) -> &Device {
        #[allow(clippy::indexing_slicing, reason = "reduced modulo the length")]
        &self.devices[line % MAX_DEVICES]
    }

    /// Epoch in which this process has last raised want at an open-and-notify gate.
    pub(crate) fn notified(&self, line: usize) -> Option<u32> {
        self.device(line).notified.load(Ordering::Relaxed).checked_sub(1)
    }

    /// This process raises want in `epoch`; `false` if another thread already has.
    pub(crate) fn set_notified(&self, line: usize, epoch: u32) -> bool {
        self.device(line).notified.swap(epoch + 1, Ordering::AcqRel) != epoch + 1
    }

    /// Launches that may be in flight, of a `granted` number that isn't 0.
    pub(crate) fn window_size(&self, line: usize, granted: u32) -> u32 {
        granted.max(self.device(line).earned.load(Ordering::Relaxed))
    }

    /// A waiter has seen the gate open with this word.
    pub(crate) fn set_last_open(&self, line: usize, word: u64) {
        self.device(line).last_open.store(word, Ordering::Relaxed);
    }

    /// The last word with which the gate was open, as far as this process knows.
    pub(crate) fn last_open(&self, line: usize) -> Option<Gate> {
        let words =
            [self.grant(line).gate.load(SharedOrdering::Acquire), self.device(line).last_open.load(Ordering::Relaxed)];
        words.into_iter().map(Gate::unpack).find(|gate| gate.state != GateState::Closed)
    }

    /// Works on the window of a device, off the fast path.
    pub(crate) fn with_window<T>(&self, line: usize, work: impl FnOnce(&mut Window) -> T) -> T {
        let device = self.device(line);
        let mut window = device.window.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let done = work(&mut window);
        device.earned.store(window.earned(), Ordering::Relaxed);
        done
    }

    /// What is known of the tenant's memory on one device.
    pub(crate) fn known(&self, line: usize) -> Known {
        let grant = self.grant(line);
        let unused = self.desk.tenant().slots.iter().filter_map(|slot| slot.lease.get(line));
        Known {
            limit: grant.limit.load(SharedOrdering::Relaxed),
            overhead: grant.overhead.load(SharedOrdering::Relaxed),
            given: grant.given.load(SharedOrdering::Relaxed),
            unused: unused.fold(0, |sum, word| sum.saturating_add(word.load(SharedOrdering::Relaxed))),
        }
    }
}

/// This client's lease words, as the purse wants them: by ordinal.
#[derive(Clone, Copy)]
pub(crate) struct Leases(pub(crate) &'static Attachment);

impl LeaseWords for Leases {
    fn word(&self, ordinal: usize) -> Option<&SharedU64> {
        self.0.desk.client().lease.get(self.0.line_of(ordinal)?)
    }
}
