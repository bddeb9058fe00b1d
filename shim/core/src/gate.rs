//! The decision about one launch, from the gate word and what this process has in flight. Pure; the shell acts on it.

use mgpu_protocol::gate::{Gate, GateState, is_plainly_open};
use mgpu_protocol::marker::is_due;

/// What to do with a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Launch now.
    Pass,
    /// Launch now; the coordinator doesn't know yet that this client uses the device in this epoch: raise want beside it.
    PassAndNotify,
    /// The gate is closed: a policy wait.
    Wait,
    /// Too much in flight: a window wait.
    WindowFull,
}

/// Judges a launch by the gate `word`. `notified` is the epoch in which this process has last raised want at an
/// open-and-notify gate; `is_full` tells whether a window of so many launches is full (asked only if there is one).
#[must_use]
pub fn judge(word: u64, notified: Option<u32>, is_full: impl FnOnce(u32) -> bool) -> Verdict {
    let gate = Gate::unpack(word);
    if gate.state == GateState::Closed {
        return Verdict::Wait;
    }
    if gate.window != 0 && is_full(gate.window) {
        return Verdict::WindowFull;
    }
    if gate.state == GateState::OpenNotify && notified != Some(gate.epoch) {
        return Verdict::PassAndNotify;
    }
    Verdict::Pass
}

/// What to do once the driver has accepted a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AfterLaunch {
    /// Put a marker behind it.
    pub mark: bool,
    /// The gate closed between check and launch: a late launch, to be counted.
    pub late: bool,
}

/// Judges the moment after a launch: `before` is the word that let it pass, `now` the word re-loaded after leaving, `unmarked`
/// how many launches stand behind the stream's last marker.
#[must_use]
pub fn after_launch(before: u64, now: u64, unmarked: u32) -> AfterLaunch {
    let late = before != now && Gate::unpack(now).state == GateState::Closed;
    // Whichever word is the denser: the tail of the old grant must be seen, and so must the first launch of a new one.
    let due = [before, now].into_iter().any(|word| is_due(unmarked, Gate::unpack(word).markers));
    AfterLaunch { mark: late || due, late }
}

/// Whether the word asks for anything at all (a wait, a notice, markers, a window), so that it matters whether a copy stays on the
/// device.
#[must_use]
pub fn is_contended(word: u64) -> bool {
    !is_plainly_open(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    use mgpu_protocol::gate::Markers;

    const OPEN: Gate = Gate { state: GateState::Open, epoch: 4, markers: Markers::None, window: 0 };

    #[test]
    fn a_closed_gate_waits_whatever_else_holds() {
        let word = Gate { state: GateState::Closed, window: 1, ..OPEN }.pack();
        assert_eq!(judge(word, None, |_| false), Verdict::Wait);
    }

    #[test]
    fn a_plainly_open_gate_asks_nothing() {
        assert_eq!(judge(OPEN.pack(), None, |_| unreachable!("no window")), Verdict::Pass);
    }

    #[test]
    fn a_full_window_waits_and_tells_its_size() {
        let word = Gate { window: 7, ..OPEN }.pack();
        assert_eq!(judge(word, None, |n| n == 7), Verdict::WindowFull);
        assert_eq!(judge(word, None, |_| false), Verdict::Pass);
    }

    #[test]
    fn a_gate_that_wants_a_notice_is_contended() {
        assert!(!is_contended(OPEN.pack()));
        for gate in [
            Gate { state: GateState::OpenNotify, ..OPEN },
            Gate { state: GateState::Closed, ..OPEN },
            Gate { window: 1, ..OPEN },
            Gate { markers: Markers::Every { shift: 0 }, ..OPEN },
        ] {
            assert!(is_contended(gate.pack()), "{gate:?}");
        }
    }

    #[test]
    fn only_the_first_launch_of_an_epoch_notifies() {
        let word = Gate { state: GateState::OpenNotify, ..OPEN }.pack();
        assert_eq!(judge(word, None, |_| false), Verdict::PassAndNotify);
        assert_eq!(judge(word, Some(3), |_| false), Verdict::PassAndNotify);
        assert_eq!(judge(word, Some(4), |_| false), Verdict::Pass);
    }

    #[test]
    fn a_launch_past_a_revoke_is_late_and_marked() {
        let closed = Gate { state: GateState::Closed, epoch: 5, ..OPEN }.pack();
        assert_eq!(after_launch(OPEN.pack(), closed, 1), AfterLaunch { mark: true, late: true });
        assert_eq!(after_launch(OPEN.pack(), OPEN.pack(), 1), AfterLaunch { mark: false, late: false });
    }

    #[test]
    fn markers_follow_the_denser_of_the_two_words() {
        let dense = Gate { markers: Markers::Every { shift: 0 }, ..OPEN }.pack();
        let sparse = Gate { markers: Markers::Every { shift: 3 }, ..OPEN }.pack();
        assert!(after_launch(OPEN.pack(), dense, 1).mark);
        assert!(!after_launch(OPEN.pack(), sparse, 7).mark);
        assert!(after_launch(sparse, OPEN.pack(), 8).mark);
    }
}
