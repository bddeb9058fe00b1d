//! Wanting and waiting: a client that waits at a closed gate is always heard, and always woken. A lost wake-up is a deadlock,
//! which loom finds; no wait here has a time-out.
#![cfg(loom)]

mod model;

use loom::sync::{Arc, Condvar, Mutex};
use loom::thread;
use mgpu_protocol::gate::{Gate, GateState, Markers};
use mgpu_protocol::layout::ClientSlot;
use mgpu_protocol::line::store_gate;
use mgpu_protocol::sync::{AtomicU64, Ordering};
use mgpu_protocol::units::Nanos;
use mgpu_protocol::wait::{Parker, futex_half, wait_round};

/// The kernel's futex: compares and sleeps in one step, as seen by wakers.
#[derive(Default)]
struct Kernel {
    bucket: Mutex<()>,
    sleepers: Condvar,
}

impl Parker for Kernel {
    fn wait(&self, word: &AtomicU64, seen: u32, _no_timeout: Nanos) {
        let bucket = self.bucket.lock().unwrap();
        if futex_half(word.load(Ordering::SeqCst)) == seen {
            drop(self.sleepers.wait(bucket).unwrap());
        }
    }

    fn wake_all(&self, _word: &AtomicU64) -> u32 {
        let _bucket = self.bucket.lock().unwrap();
        self.sleepers.notify_all();
        0
    }
}

/// An eventfd.
#[derive(Default)]
struct Event {
    count: Mutex<u64>,
    readers: Condvar,
}

impl Event {
    fn write(&self) {
        *self.count.lock().unwrap() += 1;
        self.readers.notify_all();
    }

    fn read(&self) {
        let mut count = self.count.lock().unwrap();
        while *count == 0 {
            count = self.readers.wait(count).unwrap();
        }
        *count = 0;
    }

    /// Waits until there is something to read, without reading it.
    fn poll(&self) {
        let mut count = self.count.lock().unwrap();
        while *count == 0 {
            count = self.readers.wait(count).unwrap();
        }
    }
}

#[derive(Default)]
struct World {
    gates: [AtomicU64; 2],
    slot: ClientSlot,
    kernel: [Kernel; 2],
    event: Event,
}

const OPEN: Gate = Gate { state: GateState::Open, epoch: 1, markers: Markers::None, window: 0 };

impl World {
    /// A policy wait, as the shim's hook does it.
    fn wait(&self, device: u32) {
        let index = device as usize;
        let gate = &self.gates[index];
        loop {
            let ring = || self.event.write();
            let word = wait_round(gate, &self.slot, device, &self.kernel[index], ring, Nanos(0));
            if Gate::unpack(word).state != GateState::Closed {
                return;
            }
        }
    }

    /// Opens what is wanted; gives how many gates that were.
    fn grant(&self, wants: u32) -> usize {
        let wanted: Vec<usize> = (0..2).filter(|device| wants & (1 << device) != 0).collect();
        for device in &wanted {
            store_gate(&self.gates[*device], OPEN);
            self.kernel[*device].wake_all(&self.gates[*device]);
        }
        wanted.len()
    }
}

/// Two threads of a client want a device each; the coordinator opens each gate when it is asked for it.
fn world_with(coordinator: impl Fn(&World) -> usize) {
    let world = Arc::new(World::default());
    let clients = [0, 1].map(|device| {
        let world = world.clone();
        thread::spawn(move || world.wait(device))
    });
    let mut opened = 0;
    while opened < 2 {
        opened += coordinator(&world);
    }
    clients.into_iter().for_each(|client| client.join().unwrap());
}

fn event_first(world: &World) -> usize {
    world.event.read();
    world.grant(world.slot.take_wants())
}

fn wants_first(world: &World) -> usize {
    world.event.poll();
    let opened = world.grant(world.slot.take_wants());
    world.event.read();
    opened
}

#[test]
fn every_waiter_is_heard_and_woken() {
    model::holds("want and wait, two devices", || world_with(event_first));
}

#[test]
fn reading_the_event_after_the_wants_would_be_noticed() {
    model::fails("the event read after the wants", || world_with(wants_first));
}
