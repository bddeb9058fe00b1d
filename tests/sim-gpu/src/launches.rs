//! The newest launch stamps, in a bounded ring, in the order in which they were accepted.

use std::collections::VecDeque;

use crate::ids::Nanos;
use crate::model::Model;
use crate::witness::LaunchStamp;

const CAPACITY: usize = 1 << 18;

/// The ring of a node.
#[derive(Debug, Default)]
pub(crate) struct LaunchRing {
    ring: VecDeque<LaunchStamp>,
}

impl LaunchRing {
    pub(crate) fn push(&mut self, stamp: LaunchStamp) {
        if self.ring.len() == CAPACITY {
            self.ring.pop_front();
        }
        self.ring.push_back(stamp);
    }
}

impl Model {
    /// Launches stamped `since` or later, in order of acceptance, as far back as the ring (262144 entries) reaches.
    pub fn launches(&self, since: Nanos) -> Vec<LaunchStamp> {
        self.launches.ring.iter().filter(|l| l.stamp_ns >= since).copied().collect()
    }
}
