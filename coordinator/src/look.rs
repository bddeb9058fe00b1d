//! One look at a tenant's page: what its clients do on one device now. Every word is the tenant's and hostile: it is read once
//! and can change what the tenant itself gets, nothing else. Bounded by the page's size, whatever stands in it.

use mgpu_coordinator_core::Activity;
use mgpu_protocol::layout::{ClientSlot, MAX_CLIENTS, MAX_STREAMS, StreamLine, TenantPage, ThreadLine};
use mgpu_protocol::line;
use mgpu_protocol::sync::Ordering;

/// What the daemon remembers between looks, per tenant and device.
#[derive(Debug)]
pub(crate) struct Memory {
    launched: Box<[u32; MAX_STREAMS]>,
    launches: u64,
}

impl Default for Memory {
    fn default() -> Self {
        Self { launched: Box::new([0; MAX_STREAMS]), launches: 0 }
    }
}

/// A set of slots, bit `i` = slot `i`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Slots(pub(crate) u64);

const _: () = assert!(MAX_CLIENTS == 64);

impl Slots {
    /// With one slot more.
    pub(crate) const fn with(self, slot: u32) -> Self {
        Self(self.0 | (1 << (slot & 63)))
    }

    /// Whether `1 + slot`, as lines name their owner, is in the set.
    fn has_owner(self, owner: u32) -> bool {
        owner.checked_sub(1).is_some_and(|slot| slot < 64 && self.0 >> slot & 1 == 1)
    }

    fn iter(self) -> impl Iterator<Item = usize> {
        (0..MAX_CLIENTS).filter(move |slot| self.0 >> slot & 1 == 1)
    }
}

/// What a look found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Seen {
    /// For the engine.
    pub(crate) activity: Activity,
    /// Owners of streams with an unmarked tail.
    pub(crate) unmarked_by: Slots,
}

/// Looks at `page` for the device that the tenant knows as `device`, counting only the clients in `live`. `asked`: the tenant
/// is known to have asked for this device since its gate was last open (a waiting thread does not say where it waits).
pub(crate) fn look(page: &TenantPage, device: u32, live: Slots, asked: bool, memory: &mut Memory) -> Seen {
    // Gates were stored before; lines are read after.
    line::closing_barrier();
    let mut seen = Seen::default();
    for slot in live.iter().filter_map(|slot| page.slots.get(slot)) {
        seen.activity.waiting |= is_waiting(slot, device, asked);
        seen.activity.entering = seen.activity.entering.saturating_add(overflow_entering(slot));
    }
    let threads = line::clamp_high(&page.thread_high, page.threads.len());
    let entering = page.threads.iter().take(threads).filter(|line| is_in(line, live)).count();
    seen.activity.entering = seen.activity.entering.saturating_add(u32::try_from(entering).unwrap_or(u32::MAX));
    let streams = line::clamp_high(&page.stream_high, page.streams.len());
    for (stream, last) in page.streams.iter().take(streams).zip(memory.launched.iter_mut()) {
        let owner = stream.owner.load(Ordering::Acquire);
        if live.has_owner(owner) && stream.device.load(Ordering::Relaxed) == device {
            add_stream(&mut seen, stream, owner);
            let launched = stream.launched();
            memory.launches = memory.launches.wrapping_add(u64::from(launched.wrapping_sub(*last)));
            *last = launched;
        }
    }
    seen.activity.launches = memory.launches;
    seen
}

fn is_waiting(slot: &ClientSlot, device: u32, asked: bool) -> bool {
    let wanted = slot.want.load(Ordering::Acquire) >> (device & 31) & 1 == 1;
    wanted || (asked && slot.waiting.load(Ordering::Acquire) > 0)
}

fn overflow_entering(slot: &ClientSlot) -> u32 {
    u32::from(slot.is_overflow_entering())
}

fn is_in(thread: &ThreadLine, live: Slots) -> bool {
    live.has_owner(thread.owner.load(Ordering::Acquire)) && thread.is_entering()
}

fn add_stream(seen: &mut Seen, stream: &StreamLine, owner: u32) {
    seen.activity.in_flight = seen.activity.in_flight.saturating_add(stream.in_flight());
    if stream.has_unmarked_tail() {
        seen.activity.unmarked += 1;
        seen.unmarked_by = seen.unmarked_by.with(owner - 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mgpu_protocol::page::Mapping;
    use proptest::prelude::*;

    fn page() -> Mapping<TenantPage> {
        Mapping::private().expect("page")
    }

    #[test]
    fn work_of_the_living_counts_on_its_device_alone() {
        let page = page();
        let mut memory = Memory::default();
        let live = Slots::default().with(2);
        page.slots[2].assign(1);
        let stream = page.claim_stream(2, 1).expect("line");
        let thread = page.claim_thread(2, 77, |_| false).expect("line");
        thread.enter();
        stream.count_launch();
        stream.count_launch();
        stream.note_marked(1);
        let seen = look(&page, 1, live, false, &mut memory);
        assert_eq!(seen.activity, Activity { waiting: false, entering: 1, in_flight: 2, unmarked: 1, launches: 2 });
        assert_eq!(seen.unmarked_by, live);
        assert_eq!(look(&page, 0, live, false, &mut Memory::default()).activity.in_flight, 0, "another device");
        assert_eq!(look(&page, 1, Slots(1), false, &mut memory).activity.in_flight, 0, "another client");
        assert_eq!(look(&page, 1, live, false, &mut memory).activity.launches, 2, "counted once");
    }

    #[test]
    fn a_waiter_counts_where_it_asked() {
        let page = page();
        let live = Slots::default().with(0);
        page.slots[0].waiting.store(1, Ordering::Relaxed);
        assert!(!look(&page, 0, live, false, &mut Memory::default()).activity.waiting);
        assert!(look(&page, 0, live, true, &mut Memory::default()).activity.waiting);
        assert!(page.slots[0].raise_want(3));
        assert!(look(&page, 3, live, false, &mut Memory::default()).activity.waiting);
    }

    proptest! {
        /// Whatever a tenant writes, a look ends and does not panic.
        #[test]
        fn hostile_pages_are_only_read(words in proptest::collection::vec((0_usize..1024, any::<u32>(), any::<u32>()), 0..200),
                                       high in any::<u32>(), device in 0_u32..8, live in any::<u64>()) {
            let page = page();
            page.thread_high.store(high, Ordering::Relaxed);
            page.stream_high.store(high.rotate_left(7), Ordering::Relaxed);
            for (index, a, b) in words {
                page.threads[index].owner.store(a % 80, Ordering::Relaxed);
                page.threads[index].count.store(u64::from(b), Ordering::Relaxed);
                let stream = &page.streams[index];
                stream.owner.store(b % 80, Ordering::Relaxed);
                stream.device.store(a % 9, Ordering::Relaxed);
                stream.launched.store(a, Ordering::Relaxed);
                stream.marker.store(b, Ordering::Relaxed);
                page.slots[index % 64].waiting.store(a, Ordering::Relaxed);
                page.slots[index % 64].overflow.store(u64::from(a) << 16, Ordering::Relaxed);
            }
            let mut memory = Memory::default();
            look(&page, device, Slots(live), true, &mut memory);
            look(&page, device, Slots(live), true, &mut memory);
        }
    }
}
