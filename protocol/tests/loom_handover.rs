//! Gate and thread lines: after the coordinator has closed the gate and seen every line even, it knows of every launch there
//! will ever be under the old grant.
#![cfg(loom)]

mod model;

use loom::sync::Arc;
use loom::thread;
use mgpu_protocol::gate::{Gate, GateState, Markers};
use mgpu_protocol::layout::{ClientSlot, StreamLine, ThreadLine};
use mgpu_protocol::line::{closing_barrier, load_gate, store_gate};
use mgpu_protocol::sync::{AtomicU32, AtomicU64, Ordering, Point};

const OPEN: Gate = Gate { state: GateState::Open, epoch: 1, markers: Markers::None, window: 0 };
const CLOSED: Gate = Gate { state: GateState::Closed, epoch: 2, ..OPEN };

struct World {
    gate: AtomicU64,
    lines: [ThreadLine; 2],
    slot: ClientSlot,
    streams: [StreamLine; 2],
    /// What the driver was given; the coordinator never reads it.
    submitted: [AtomicU32; 2],
}

impl World {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            gate: AtomicU64::new(OPEN.pack()),
            lines: Default::default(),
            slot: ClientSlot::default(),
            streams: Default::default(),
            submitted: Default::default(),
        })
    }

    fn is_open(&self) -> bool {
        Gate::unpack(load_gate(&self.gate)).state == GateState::Open
    }

    /// The hook's order: enter, load gate, driver, count, leave.
    fn launch(&self, thread: usize) {
        self.lines[thread].enter();
        if self.is_open() {
            self.submitted[thread].fetch_add(1, Ordering::Relaxed);
            self.streams[thread].count_launch();
        }
        self.lines[thread].leave();
    }

    fn launch_without_a_line(&self, thread: usize) {
        self.slot.enter_overflow();
        if self.is_open() {
            self.submitted[thread].fetch_add(1, Ordering::Relaxed);
            self.streams[thread].count_launch();
        }
        self.slot.leave_overflow();
    }

    /// The coordinator's order; gives the launches that it takes to be all.
    fn close(&self) -> u32 {
        store_gate(&self.gate, CLOSED);
        closing_barrier();
        while self.lines.iter().any(ThreadLine::is_entering) || self.slot.is_overflow_entering() {
            thread::yield_now();
        }
        self.streams.iter().map(StreamLine::launched).sum()
    }

    fn all_submitted(&self) -> u32 {
        self.submitted.iter().map(|n| n.load(Ordering::Relaxed)).sum()
    }
}

fn one_thread_two_launches() {
    let world = World::new();
    let client = {
        let world = world.clone();
        thread::spawn(move || {
            world.launch(0);
            world.launch(0);
        })
    };
    let known = world.close();
    client.join().unwrap();
    assert_eq!(world.all_submitted(), known, "a launch that the coordinator missed");
}

fn two_threads() {
    let world = World::new();
    let clients = [0, 1].map(|i| {
        let world = world.clone();
        thread::spawn(move || world.launch(i))
    });
    let known = world.close();
    clients.into_iter().for_each(|client| client.join().unwrap());
    assert_eq!(world.all_submitted(), known, "a launch that the coordinator missed");
}

fn two_threads_without_lines() {
    let world = World::new();
    let clients = [0, 1].map(|i| {
        let world = world.clone();
        thread::spawn(move || world.launch_without_a_line(i))
    });
    let known = world.close();
    clients.into_iter().for_each(|client| client.join().unwrap());
    assert_eq!(world.all_submitted(), known, "a launch that the coordinator missed");
}

#[test]
fn no_launch_is_missed_at_a_hand_over() {
    model::holds("hand-over, one thread, two launches", one_thread_two_launches);
    model::holds("hand-over, two threads", two_threads);
    model::holds("hand-over, two threads on the overflow counter", two_threads_without_lines);
}

#[test]
fn each_ordering_is_needed() {
    for point in [Point::LineEnter, Point::LineLeave, Point::GateStore, Point::LineRead] {
        model::breaks_without(point, one_thread_two_launches);
    }
}
