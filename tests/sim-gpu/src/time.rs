//! The clock of the model: timers in order, and running up to a time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::ids::{DeviceId, Nanos, OpId, ProcessId};
use crate::model::Model;
use crate::op::Effect;

/// What a timer is for. Each carries what tells that it no longer counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Timer {
    /// A kernel's stay on the device ends.
    KernelEnd { op: OpId, stay: u32 },
    /// A context's turn ends.
    Slice { device: DeviceId, turn: u32 },
    /// A switch is over.
    Switched { device: DeviceId, turn: u32 },
    /// A copy, or a slice of it, is over.
    CopyStep { device: DeviceId, engine: u8, step: u32 },
    /// Look at a word again.
    Poll { op: OpId },
    /// A dead process's memory is let go.
    Teardown { process: ProcessId },
}

/// Timers by time, then by order of setting.
#[derive(Debug, Default)]
pub(crate) struct Timers {
    heap: BinaryHeap<Reverse<(Nanos, u64, Timer)>>,
    set: u64,
}

impl Timers {
    pub(crate) fn set(&mut self, at: Nanos, timer: Timer) {
        self.set += 1;
        self.heap.push(Reverse((at, self.set, timer)));
    }

    fn pop_until(&mut self, to: Nanos) -> Option<(Nanos, Timer)> {
        let Reverse((at, ..)) = self.heap.peek()?;
        if *at > to {
            return None;
        }
        self.heap.pop().map(|Reverse((at, _, timer))| (at, timer))
    }
}

impl Model {
    /// Runs to `to` and appends all effects since the last call, in order of model time. Going back does nothing.
    pub fn advance(&mut self, to: Nanos, effects: &mut Vec<Effect>) {
        self.run_to(to);
        effects.append(&mut self.effects);
    }

    /// When something may happen next without any further call (never later than it does); `None`: nothing will, the
    /// server may sleep. Effects that are already queued count as *now*.
    pub fn next_event(&self) -> Option<Nanos> {
        if !self.effects.is_empty() {
            return Some(self.now);
        }
        self.timers.heap.peek().map(|Reverse((at, ..))| *at)
    }

    /// Runs to `to`, or not at all if that is past.
    pub(crate) fn run_to(&mut self, to: Nanos) {
        if self.began.is_none() {
            self.begin(to);
        }
        while let Some((at, timer)) = self.timers.pop_until(to) {
            self.sample_until(at);
            self.now = self.now.max(at);
            self.fire(timer);
            self.settle();
        }
        self.sample_until(to);
        self.now = self.now.max(to);
    }

    fn begin(&mut self, at: Nanos) {
        self.began = Some(at);
        self.now = at;
        self.next_sample = at.saturating_add(self.profile.life.nvml_period_ns);
    }

    fn fire(&mut self, timer: Timer) {
        match timer {
            Timer::KernelEnd { op, stay } => self.kernel_end(op, stay),
            Timer::Slice { device, turn } => self.slice_end(device, turn),
            Timer::Switched { device, turn } => self.switch_end(device, turn),
            Timer::CopyStep { device, engine, step } => self.copy_step(device, usize::from(engine), step),
            Timer::Poll { op } => self.poll(op),
            Timer::Teardown { process } => self.let_go(process),
        }
    }
}
