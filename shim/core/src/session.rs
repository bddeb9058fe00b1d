//! Where the session with the coordinator stands, and what follows for the gates. Pure: events in with their time, answers out.
//!
//! ```text
//!                 connected                hang-up, silence
//!  Seeking(since) ─────────► Attached(e) ─────────────────► Seeking(since, was attached)
//!       │  ▲ refused: stays Seeking, slow retry                   │ connected (another e)
//!       └──┘                                                      └──► Attached(e')
//! ```
//! While seeking, gates follow [`Gates`]: before the first attachment they are closed for a grace, then open (or stay closed in
//! `closed` mode); after a loss they open at once (or stay as they are).

use mgpu_protocol::units::Nanos;

/// How long a first launch waits for a coordinator that doesn't answer.
pub const GRACE: Nanos = Nanos::from_millis(2_000);
/// A closed gate whose heartbeat hasn't moved for this long belongs to a dead coordinator.
pub const SILENCE: Nanos = Nanos::from_millis(2_000);
/// Longest pause between two attempts to attach.
pub const BACK_OFF_MOST: Nanos = Nanos::from_millis(1_000);
const BACK_OFF_FIRST: Nanos = Nanos::from_millis(10);

/// What a tenant's gates do while nobody rules them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WithoutCoordinator {
    /// They open.
    Open,
    /// They stay closed, and say so each 10 s.
    Closed,
}

/// What holds for the gates now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gates {
    /// The grants page rules.
    Coordinator,
    /// Closed until the given time, then ask again.
    ClosedUntil(Nanos),
    /// Open: nobody rules, loudly logged.
    Open,
    /// As they were when the coordinator was lost (`closed` mode); closed if it was never there.
    AsLast,
}

/// See the module.
#[derive(Clone, Copy, Debug)]
pub struct Session {
    mode: WithoutCoordinator,
    state: State,
    failures: u32,
    attempt_at: Nanos,
    was_attached: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Seeking { since: Nanos },
    Attached { daemon_epoch: u64 },
}

impl Session {
    /// A process that has just initialised CUDA.
    #[must_use]
    pub fn new(mode: WithoutCoordinator, now: Nanos) -> Self {
        Self { mode, state: State::Seeking { since: now }, failures: 0, attempt_at: now, was_attached: false }
    }

    /// A coordinator has accepted us. `true`: it is another one than before (its books know nothing of this process).
    pub fn connected(&mut self, daemon_epoch: u64) -> bool {
        let is_new = self.state != State::Attached { daemon_epoch };
        self.state = State::Attached { daemon_epoch };
        self.failures = 0;
        self.was_attached = true;
        is_new
    }

    /// An attempt to attach has failed; the next one is due at [`Session::attempt_at`].
    pub fn failed(&mut self, now: Nanos) {
        let pause = BACK_OFF_FIRST.0.checked_shl(self.failures.min(16)).unwrap_or(u64::MAX).min(BACK_OFF_MOST.0);
        self.failures = self.failures.saturating_add(1);
        self.attempt_at = now.plus(Nanos(pause));
    }

    /// The socket hung up, or the heartbeat is silent.
    pub fn lost(&mut self, now: Nanos) {
        if matches!(self.state, State::Attached { .. }) {
            self.state = State::Seeking { since: now };
            self.failures = 0;
            self.attempt_at = now;
        }
    }

    /// When to try to attach next; `None` while attached.
    #[must_use]
    pub fn attempt_at(&self) -> Option<Nanos> {
        matches!(self.state, State::Seeking { .. }).then_some(self.attempt_at)
    }

    /// The coordinator that this process was or is attached to is not there (any more).
    #[must_use]
    pub fn is_attached(&self) -> bool {
        matches!(self.state, State::Attached { .. })
    }

    /// What holds for the gates at `now`.
    #[must_use]
    pub fn gates(&self, now: Nanos) -> Gates {
        match (self.state, self.mode) {
            (State::Attached { .. }, _) => Gates::Coordinator,
            (State::Seeking { .. }, WithoutCoordinator::Closed) => Gates::AsLast,
            (State::Seeking { .. }, WithoutCoordinator::Open) if self.was_attached => Gates::Open,
            (State::Seeking { since }, WithoutCoordinator::Open) => {
                let end = since.plus(GRACE);
                if now < end { Gates::ClosedUntil(end) } else { Gates::Open }
            }
        }
    }

    /// Whether an allocation that the lease can't cover should wait for a coordinator instead of being refused: a new one may
    /// be about to come.
    #[must_use]
    pub fn allocations_wait(&self, now: Nanos) -> bool {
        matches!(self.state, State::Seeking { since } if now < since.plus(GRACE))
    }
}

/// Watches a heartbeat while some gate is closed.
#[derive(Clone, Copy, Debug)]
pub struct Pulse {
    value: u64,
    since: Nanos,
}

impl Pulse {
    /// Begins to watch.
    #[must_use]
    pub fn new(value: u64, now: Nanos) -> Self {
        Self { value, since: now }
    }

    /// A look at the heartbeat: `true` = it has been silent for too long.
    pub fn is_silent(&mut self, value: u64, now: Nanos) -> bool {
        if value != self.value {
            *self = Self::new(value, now);
        }
        now.since(self.since) >= SILENCE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Nanos = Nanos::from_millis;

    #[test]
    fn without_a_coordinator_gates_open_after_the_grace() {
        let mut session = Session::new(WithoutCoordinator::Open, MS(0));
        session.failed(MS(0));
        assert_eq!(session.gates(MS(1_999)), Gates::ClosedUntil(MS(2_000)));
        assert_eq!(session.gates(MS(2_000)), Gates::Open);
        assert!(!session.allocations_wait(MS(2_000)));
    }

    #[test]
    fn closed_mode_never_opens() {
        let session = Session::new(WithoutCoordinator::Closed, MS(0));
        assert_eq!(session.gates(MS(1_000_000)), Gates::AsLast);
    }

    #[test]
    fn a_loss_opens_at_once_and_retries_at_once() {
        let mut session = Session::new(WithoutCoordinator::Open, MS(0));
        assert!(session.connected(5));
        assert_eq!(session.gates(MS(1)), Gates::Coordinator);
        session.lost(MS(100));
        assert_eq!(session.gates(MS(100)), Gates::Open);
        assert_eq!(session.attempt_at(), Some(MS(100)));
        assert!(session.allocations_wait(MS(101)));
        assert!(session.connected(6));
        assert_eq!(session.attempt_at(), None);
    }

    #[test]
    fn back_off_doubles_to_a_second() {
        let mut session = Session::new(WithoutCoordinator::Open, MS(0));
        let mut now = MS(0);
        let mut pauses = Vec::new();
        for _ in 0..9 {
            session.failed(now);
            let next = session.attempt_at().unwrap();
            pauses.push(next.since(now).0 / 1_000_000);
            now = next;
        }
        assert_eq!(pauses, [10, 20, 40, 80, 160, 320, 640, 1_000, 1_000]);
    }

    #[test]
    fn a_pulse_is_silent_after_two_seconds_without_a_beat() {
        let mut pulse = Pulse::new(1, MS(0));
        assert!(!pulse.is_silent(1, MS(1_999)));
        assert!(!pulse.is_silent(2, MS(2_500)));
        assert!(!pulse.is_silent(2, MS(4_000)));
        assert!(pulse.is_silent(2, MS(4_500)));
    }
}
