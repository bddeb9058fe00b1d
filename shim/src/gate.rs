//! Passing a gate: the shell around the core's verdicts. Enters the thread's line, loads the gate, then launches or waits.
//!
//! The order within one launch is the protocol's: enter, load gate, driver, count, leave, re-load gate, mark. A thread never
//! waits while its line is odd.

use crate::log;
use crate::markers;
use crate::session::anchor::Anchor;
use crate::session::attachment::Attachment;
use crate::session::process::{Process, now};
use crate::streams::Entry;
use crate::threads::Place;
use mgpu_cuda::CUresult;
use mgpu_protocol::gate::{Gate, GateState, Markers};
use mgpu_protocol::layout::{GrantLine, StreamLine};
use mgpu_protocol::line::load_gate;
use mgpu_protocol::sync::Ordering;
use mgpu_protocol::units::Nanos;
use mgpu_protocol::wait::{Futex, Parker, futex_half, wait_round};
use mgpu_shim_core::gate::{Verdict, after_launch, judge};
use mgpu_shim_core::session::Pulse;
use mgpu_shim_core::window::{CAP, Window};
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::Ordering as StdOrdering;

/// Every waiter looks again after this, whatever it missed.
const ROUND: Nanos = Nanos::from_millis(100);
/// A policy wait is named in the log each so often.
const NAMED_EACH: Nanos = Nanos::from_millis(10_000);

/// One launch, with all that it needs.
pub(crate) struct Launch<'a> {
    pub(crate) anchor: &'static Anchor,
    pub(crate) process: &'static Process,
    pub(crate) attachment: &'static Attachment,
    pub(crate) place: Place,
    /// The streams it goes to, each ruled by a gate; the first gate that isn't open is waited for.
    pub(crate) streams: &'a [&'static Entry],
}

/// What became of an attempt.
pub(crate) enum Outcome {
    /// The driver was called.
    Done(CUresult),
    /// Another attachment rules now: find everything anew.
    Superseded,
}

/// Why an attempt did not go through.
enum Block {
    Closed(usize),
    Full(usize, u32),
    Superseded,
}

impl Launch<'_> {
    /// Waits until every gate lets it through, then calls the driver, once.
    pub(crate) fn pass(&self, call: &mut dyn FnMut() -> CUresult) -> Outcome {
        let mut ignore_window = false;
        // Since when this launch has been waiting for room; other threads may take the room that it waited for.
        let mut full_since = None;
        loop {
            match self.attempt(ignore_window, call) {
                Ok(result) => return Outcome::Done(result),
                Err(Block::Superseded) => return Outcome::Superseded,
                Err(Block::Closed(line)) => {
                    self.wait_for_grant(line);
                    full_since = None;
                }
                Err(Block::Full(line, granted)) => {
                    let since = *full_since.get_or_insert_with(now);
                    ignore_window = !self.wait_for_room(line, granted, since);
                }
            }
        }
    }

    fn attempt(&self, ignore_window: bool, call: &mut dyn FnMut() -> CUresult) -> Result<CUresult, Block> {
        self.place.enter();
        let verdict = self.judge(ignore_window);
        let (word, notify) = match verdict {
            Ok(passed) => passed,
            Err(block) => {
                self.place.leave();
                return Err(block);
            }
        };
        let result = call();
        if result.is_success() {
            self.count();
        }
        self.place.leave();
        for entry in self.streams {
            after(self.process, self.attachment, entry, word, result);
        }
        if let Some(line) = notify {
            self.ring(line);
        }
        Ok(result)
    }

    /// Asks every gate. All pass: the words that let it through, and the line whose coordinator wants to be told.
    fn judge(&self, ignore_window: bool) -> Result<(u64, Option<usize>), Block> {
        if !self.anchor.is_current(self.attachment) {
            return Err(Block::Superseded);
        }
        let (mut first_word, mut notify) = (None, None);
        for entry in self.streams {
            let Some(line) = entry.line() else { continue };
            let word = load_gate(&self.attachment.grant(line).gate);
            let is_full = |granted| !ignore_window && is_full(self.attachment, entry, line, granted);
            match judge(word, self.attachment.notified(line), is_full) {
                Verdict::Pass => {}
                Verdict::PassAndNotify => {
                    notify = self.attachment.set_notified(line, Gate::unpack(word).epoch).then_some(line).or(notify);
                }
                Verdict::Wait => return Err(Block::Closed(line)),
                Verdict::WindowFull => return Err(Block::Full(line, Gate::unpack(word).window)),
            }
            first_word.get_or_insert(word);
        }
        Ok((first_word.unwrap_or(0), notify))
    }

    /// Counts the launch on each of its streams.
    fn count(&self) {
        for entry in self.streams {
            match entry.counters() {
                Some(line) => {
                    line.count_launch();
                }
                None => {
                    self.attachment.desk.client().untracked.fetch_add(1, Ordering::Relaxed);
                }
            }
        }
    }

    /// Tells the coordinator that this client uses or wants `line`.
    fn ring(&self, line: usize) {
        let device = u32::try_from(line).unwrap_or(0);
        if self.attachment.desk.client().raise_want(device) {
            write_edge(self.attachment.want.as_ref());
        }
    }

    /// A policy wait: until the gate opens, or another attachment rules. Its own end only; never a time-out.
    #[cold]
    fn wait_for_grant(&self, line: usize) {
        self.mark_tails(line);
        self.attachment.with_window(line, Window::pause);
        let client = self.attachment.desk.client();
        client.waiting.fetch_add(1, Ordering::AcqRel);
        self.wait_rounds(line, self.attachment.grant(line));
        client.waiting.fetch_sub(1, Ordering::AcqRel);
    }

    fn wait_rounds(&self, line: usize, grant: &GrantLine) {
        let device = u32::try_from(line).unwrap_or(0);
        let client = self.attachment.desk.client();
        let heartbeat = || self.attachment.grants.heartbeat.load(Ordering::Relaxed);
        let began = now();
        let mut pulse = Pulse::new(heartbeat(), began);
        let mut named = began;
        loop {
            let ring = || write_edge(self.attachment.want.as_ref());
            let word = wait_round(&grant.gate, client, device, &Futex, ring, ROUND);
            if Gate::unpack(word).state != GateState::Closed {
                return self.attachment.set_last_open(line, word);
            }
            if !self.anchor.is_current(self.attachment) {
                return;
            }
            let now = now();
            if self.attachment.want.is_some() && pulse.is_silent(heartbeat(), now) {
                pulse = Pulse::new(heartbeat(), now);
                self.process.hang_up();
            }
            if now.since(named) >= NAMED_EACH {
                named = now;
                log::error!(
                    "a launch has been waiting for {} s at a closed gate of device {line}",
                    now.since(began).0 / 1_000_000_000
                );
            }
        }
    }

    /// A window wait: until enough has completed, the gate changes, or the cap, counted from `since`. `false`: the cap; the launch
    /// passes as a violation.
    #[cold]
    fn wait_for_room(&self, line: usize, granted: u32, since: Nanos) -> bool {
        let grant = self.attachment.grant(line);
        let streams = &self.attachment.desk.streams;
        self.mark_tails(line);
        loop {
            let word = load_gate(&grant.gate);
            let gate = Gate::unpack(word);
            if gate.state == GateState::Closed || gate.window != granted || !self.anchor.is_current(self.attachment) {
                return true;
            }
            let (in_flight, now) = (streams.in_flight(line), now());
            let (resume, sleep) = self.attachment.with_window(line, |window| {
                window.look(now, streams.completed(line), distance(gate.markers), gate.epoch);
                let resume = window.resume_at(granted);
                (resume, window.sleep(in_flight.saturating_sub(resume), granted))
            });
            if in_flight <= resume {
                return true;
            }
            if now.since(since) >= CAP {
                self.attachment.desk.client().violations.fetch_add(1, Ordering::Relaxed);
                return false;
            }
            // A change of the gate wakes early.
            Futex.wait(&grant.gate, futex_half(word), sleep);
        }
    }

    /// What this thread can reach must not stay unmarked while it waits.
    fn mark_tails(&self, line: usize) {
        // A thread that begins a capture counts itself and then waits for this lock. Never waited for here: its holder is at it.
        let marking = self.process.marking.try_lock();
        if marking.is_ok() && self.anchor.captures.load(StdOrdering::SeqCst) == 0 {
            markers::mark_tails(self.attachment.desk, &self.process.driver, line, false);
        } else {
            // Only this launch's own streams are known not to capture.
            self.streams.iter().for_each(|entry| markers::mark(self.attachment.desk, &self.process.driver, entry));
        }
    }
}

/// Whether a window of `granted` launches on `line` is full. Asks the launch's own stream first: that mostly tells.
#[inline]
pub(crate) fn is_full(attachment: &Attachment, entry: &Entry, line: usize, granted: u32) -> bool {
    let size = attachment.window_size(line, granted);
    let own = entry.counters().map_or(0, StreamLine::in_flight);
    let streams = &attachment.desk.streams;
    own >= size || (!Window::is_modest(own, streams.most(), size, granted) && streams.in_flight(line) >= size)
}

/// After a launch on a stream, and after leaving: was it late, is a marker due? `word` let it pass.
#[inline]
pub(crate) fn after(process: &Process, attachment: &Attachment, entry: &Entry, word: u64, result: CUresult) {
    let desk = attachment.desk;
    if !result.is_success() {
        return markers::note_result(desk, &process.driver, result);
    }
    let Some(line) = entry.line() else { return };
    let unmarked = entry.counters().map_or(0, StreamLine::unmarked);
    let after = after_launch(word, load_gate(&attachment.grant(line).gate), unmarked);
    if after.late {
        desk.client().late_launches.fetch_add(1, Ordering::Relaxed);
    }
    if after.mark {
        markers::mark(desk, &process.driver, entry);
    }
}

/// Launches between two markers.
fn distance(markers: Markers) -> u32 {
    match markers {
        Markers::None => 1,
        Markers::Every { shift } => 1 << (shift & 31),
    }
}

/// Wakes the coordinator. Only on the 0→1 edge of the want word, which the coordinator takes back to 0: so no more often than
/// it reads.
fn write_edge(want: Option<&OwnedFd>) {
    if let Some(want) = want {
        let one: u64 = 1;
        // SAFETY: eight bytes of a live integer. A full counter means that a wake-up is already pending.
        unsafe { libc::write(want.as_raw_fd(), (&raw const one).cast(), size_of::<u64>()) };
    }
}
