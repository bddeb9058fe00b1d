//! The gate word: what one tenant may do on one device now. Written by the coordinator alone, read by clients from a
//! read-only mapping. Packing and reading only; waiting on it is `wait`'s business, deciding it the engine's.
//!
//! ```text
//!  63            32 31            6 5           2 1     0
//! +----------------+---------------+-------------+-------+
//! |     window     |     epoch     | marker code | state |
//! +----------------+---------------+-------------+-------+
//! ```
//! The low half is the futex word: every change that a waiter must see changes it.

/// What a gate lets through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GateState {
    /// Nothing may be launched; a launch waits (a policy wait).
    Closed,
    /// Launches pass.
    Open,
    /// Launches pass, and the first user of this epoch also raises `want` and the eventfd.
    OpenNotify,
}

/// How often a marker follows a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Markers {
    /// Never: nobody competes and nothing is capped.
    None,
    /// When 2^shift launches of a stream stand behind its last marker; shift 0 is after each launch. At most 13.
    Every {
        /// Binary logarithm of the distance between two markers, in launches.
        shift: u8,
    },
}

/// One gate, unpacked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gate {
    /// What passes.
    pub state: GateState,
    /// Which grant (or closing) this is; 26 bits on the wire, only compared for equality.
    pub epoch: u32,
    /// Density of markers.
    pub markers: Markers,
    /// Launches that a client may have in flight on this device; 0 = no bound.
    pub window: u32,
}

const STATE_MASK: u64 = 0b11;
const MARKER_SHIFT: u32 = 2;
const MARKER_MASK: u64 = 0b1111;
const EPOCH_SHIFT: u32 = 6;
const EPOCH_MASK: u64 = (1 << 26) - 1;
const WINDOW_SHIFT: u32 = 32;

impl Gate {
    /// A closed gate of epoch 0: what a zeroed page means.
    pub const CLOSED: Self = Self { state: GateState::Closed, epoch: 0, markers: Markers::None, window: 0 };

    /// The word as stored in the grants page.
    #[must_use]
    pub const fn pack(self) -> u64 {
        let state: u64 = match self.state {
            GateState::Closed => 0,
            GateState::Open => 1,
            GateState::OpenNotify => 2,
        };
        let markers = match self.markers {
            Markers::None => 0,
            Markers::Every { shift } => (shift as u64 + 1) & MARKER_MASK,
        };
        state
            | (markers << MARKER_SHIFT)
            | ((self.epoch as u64 & EPOCH_MASK) << EPOCH_SHIFT)
            | ((self.window as u64) << WINDOW_SHIFT)
    }

    /// Reads a word. A state that no version wrote counts as closed.
    #[must_use]
    #[allow(clippy::cast_possible_truncation, reason = "each field is masked to its width first")]
    pub const fn unpack(word: u64) -> Self {
        let state = match word & STATE_MASK {
            1 => GateState::Open,
            2 => GateState::OpenNotify,
            _ => GateState::Closed,
        };
        let markers = match (word >> MARKER_SHIFT) & MARKER_MASK {
            0 => Markers::None,
            code => Markers::Every { shift: code as u8 - 1 },
        };
        let epoch = ((word >> EPOCH_SHIFT) & EPOCH_MASK) as u32;
        Self { state, epoch, markers, window: (word >> WINDOW_SHIFT) as u32 }
    }
}

/// True if the word lets a launch through at once and without notice and without markers or window: the whole fast path.
#[must_use]
#[inline]
pub const fn is_plainly_open(word: u64) -> bool {
    word & (STATE_MASK | (MARKER_MASK << MARKER_SHIFT)) == 1 && word >> WINDOW_SHIFT == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_survives_a_round_trip() {
        for state in [GateState::Closed, GateState::Open, GateState::OpenNotify] {
            for markers in [Markers::None, Markers::Every { shift: 0 }, Markers::Every { shift: 13 }] {
                for (epoch, window) in [(0, 0), (1, 8), ((1 << 26) - 1, u32::MAX)] {
                    let gate = Gate { state, epoch, markers, window };
                    assert_eq!(Gate::unpack(gate.pack()), gate);
                }
            }
        }
    }

    #[test]
    fn a_zeroed_page_is_closed_and_an_unknown_state_too() {
        assert_eq!(Gate::unpack(0), Gate::CLOSED);
        assert_eq!(Gate::unpack(3).state, GateState::Closed);
    }

    #[test]
    fn only_a_gate_without_conditions_is_plainly_open() {
        let open = Gate { state: GateState::Open, epoch: 9, markers: Markers::None, window: 0 };
        assert!(is_plainly_open(open.pack()));
        assert!(!is_plainly_open(Gate { window: 1, ..open }.pack()));
        assert!(!is_plainly_open(Gate { markers: Markers::Every { shift: 0 }, ..open }.pack()));
        assert!(!is_plainly_open(Gate { state: GateState::OpenNotify, ..open }.pack()));
        assert!(!is_plainly_open(Gate { state: GateState::Closed, ..open }.pack()));
    }
}
