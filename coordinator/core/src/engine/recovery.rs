//! After a restart of the daemon: clients ran on with open gates and come back one by one. Until each has been seen quiesced
//! once nobody has the device alone; those who have, run beside each other, so that a restart stops nobody for long.

use std::collections::BTreeSet;

use mgpu_protocol::units::Nanos;

use super::{Engine, Phase};
use crate::policy::earlier;
use crate::reason::Reason;
use crate::settings::Settings;
use crate::tenant::TenantId;

/// How long clients may take to come back (DESIGN §9).
const COME_BACK: Nanos = Nanos::from_millis(1000);

/// Observation in progress.
#[derive(Clone, Debug)]
pub(super) struct Recovery {
    until: Nanos,
    missing: BTreeSet<TenantId>,
}

impl Recovery {
    /// Starts, if somebody is expected.
    pub(super) fn start(expected: &[TenantId], settings: &Settings, now: Nanos) -> Option<Self> {
        let missing: BTreeSet<TenantId> = expected.iter().copied().collect();
        let until = now.plus(COME_BACK).plus(settings.drain_deadline);
        (!missing.is_empty()).then_some(Self { until, missing })
    }
}

impl Engine {
    /// A tenant is back, or gone for good.
    pub(super) fn recovery_joined(&mut self, id: TenantId) {
        if let Some(recovery) = &mut self.recovery {
            recovery.missing.remove(&id);
        }
    }

    /// Opens gates beside each other, or ends the observation. Some = still observing, ask again then.
    pub(super) fn observe_on(&mut self, now: Nanos) -> Option<Nanos> {
        let recovery = self.recovery.as_ref()?;
        let until = recovery.until;
        let draining = self.rows.values().filter_map(|row| row.drain()).any(|drain| !drain.expired);
        if now >= until || recovery.missing.is_empty() && !draining {
            self.end_recovery(now);
            return None;
        }
        self.share_among_quiesced();
        earlier(Some(until), self.next_deadline())
    }

    fn share_among_quiesced(&mut self) {
        let online = self.rows.values().any(super::row::Row::is_online);
        let mut opened = Vec::new();
        for (id, row) in &mut self.rows {
            if row.phase == Phase::Resting && (row.is_online() || !online) {
                row.phase = Phase::Shared;
                row.wants = None;
                opened.push(*id);
            }
        }
        for id in opened {
            self.note(id, Reason::Observing);
        }
    }

    /// Everybody drains once more, now that exclusive turns begin.
    fn end_recovery(&mut self, now: Nanos) {
        self.recovery = None;
        let shared: Vec<TenantId> =
            self.rows.iter().filter(|(_, row)| row.phase == Phase::Shared).map(|(id, _)| *id).collect();
        for id in shared {
            self.revoke(id, Reason::TurnsBegin, now);
        }
    }
}
