//! From the engine's picture to effects: what gates, watches and the timer should be, compared with what was last asked for.
//! Gates that close come before gates that open.

use mgpu_protocol::gate::{Gate, GateState, Markers};
use mgpu_protocol::units::Nanos;

use super::row::Row;
use super::{Engine, Phase};
use crate::accounts::WHOLE;
use crate::event::Effect;
use crate::tenant::TenantId;

/// Bits of the epoch that the gate word carries.
const EPOCH_MASK: u32 = (1 << 26) - 1;
/// Looks at a holder that never pauses, and at one that is past its drain deadline and moves, are this many times rarer than
/// looks at a holder that may pause.
const STEADY: u64 = 4;
/// The same, of a tenant past its deadline that does not move.
const RARE: u64 = 10;
/// A timer is never nearer than this: a policy that asks again at once must not turn into a busy loop.
const TIMER_MIN: Nanos = Nanos::from_micros(10);

impl Engine {
    /// All effects of this step.
    pub(super) fn emit(&mut self, again: Option<Nanos>, now: Nanos) -> Vec<Effect> {
        let mut effects = Vec::new();
        self.emit_gates(&mut effects);
        self.emit_watches(&mut effects);
        effects.extend(self.marks.drain(..).map(|tenant| Effect::MarkTails { tenant }));
        let at = again.map(|at| at.max(now.plus(TIMER_MIN)));
        // A timer that has come is spent, even if the same wish stands.
        if at != self.timer || at.is_some_and(|at| at <= now) {
            self.timer = at;
            effects.push(Effect::WakeAt { at });
        }
        effects.extend(self.decided.drain(..).map(|(tenant, reason)| Effect::Decided { tenant, reason }));
        effects
    }

    fn emit_gates(&mut self, effects: &mut Vec<Effect>) {
        let sole = self.sole_uncapped();
        let wanted: Vec<(TenantId, Gate)> =
            self.rows.iter().map(|(id, row)| (*id, self.gate(*id, row, sole))).collect();
        let mut opened = Vec::new();
        for (id, mut gate) in wanted {
            let Some(row) = self.rows.get_mut(&id) else { continue };
            if gate.state == row.gate.state && (gate.state == GateState::Closed || nearly_same(gate, row.gate)) {
                continue;
            }
            if gate.state == row.gate.state {
                gate.epoch = row.gate.epoch;
            } else {
                self.epoch = (self.epoch + 1) & EPOCH_MASK;
                gate.epoch = self.epoch;
            }
            row.gate = gate;
            let effect = Effect::SetGate { tenant: id, gate };
            if gate.state == GateState::Closed { effects.push(effect) } else { opened.push(effect) }
        }
        effects.append(&mut opened);
    }

    /// What a tenant's gate should be; the epoch is set later.
    fn gate(&self, id: TenantId, row: &Row, sole: Option<TenantId>) -> Gate {
        let settings = &self.settings;
        let open = |state| Gate {
            state,
            epoch: 0,
            markers: row.launch_time.markers(settings),
            window: row.launch_time.window(settings),
        };
        match row.phase {
            Phase::Resting | Phase::Draining(_) => Gate::CLOSED,
            Phase::Ajar { .. } => open(GateState::OpenNotify),
            Phase::Shared => open(GateState::Open),
            // Offline keeps its window also alone: what it has queued would stand before the first online launch.
            Phase::Holding(_) if sole == Some(id) && row.is_online() => {
                Gate { state: GateState::Open, epoch: 0, markers: Markers::None, window: 0 }
            }
            // Nobody waits, nobody looks, and how long its launches take is not known: be told when it launches, to learn.
            Phase::Holding(turn) if turn.lessons == 0 && !row.launch_time.is_known() && !self.is_contended(id, row) => {
                open(GateState::OpenNotify)
            }
            Phase::Holding(_) => open(GateState::Open),
        }
    }

    /// Somebody else could use the device, or a cap has to be kept: the holder has to be looked at.
    fn is_contended(&self, id: TenantId, holder: &Row) -> bool {
        let capped = holder.terms.share_ppm < WHOLE;
        capped || self.rows.iter().any(|(other, row)| *other != id && row.wants.is_some())
    }

    fn emit_watches(&mut self, effects: &mut Vec<Effect>) {
        let wanted: Vec<(TenantId, Option<Nanos>)> =
            self.rows.iter().map(|(id, row)| (*id, self.watch(*id, row))).collect();
        for (tenant, every) in wanted {
            let Some(row) = self.rows.get_mut(&tenant) else { continue };
            let look = std::mem::take(&mut row.look) || row.watch.is_none();
            let at_once = look && every.is_some();
            if row.watch != every || at_once {
                row.watch = every;
                effects.push(Effect::Watch { tenant, every, at_once });
            }
        }
    }

    /// How often a tenant should be looked at.
    fn watch(&self, id: TenantId, row: &Row) -> Option<Nanos> {
        let settings = &self.settings;
        let rarer = |times| Nanos(settings.poll_holder.0.saturating_mul(times));
        match row.phase {
            Phase::Draining(drain) if drain.expired => {
                let at_work = row.is_at_work(self.now, settings.drain_deadline);
                Some(rarer(if at_work { STEADY } else { RARE }))
            }
            // Nobody waits for leftovers beside online work; they are looked at to know what to charge.
            Phase::Draining(_) if !row.is_online() && self.online_has_turn() => Some(settings.poll_holder),
            Phase::Draining(_) => Some(self.drain_look(row)),
            Phase::Ajar { confirmed: false } => Some(settings.poll_drain),
            Phase::Holding(turn) if self.is_contended(id, row) => {
                let steady = turn.launched && row.launch_time.is_known() && !row.pauses(self.now);
                // Still several in each turn.
                let rare = rarer(STEADY).min(Nanos(self.nominal_slice(id).0 / 8)).max(settings.poll_holder);
                Some(if steady { rare } else { settings.poll_holder })
            }
            Phase::Holding(turn) if turn.lessons > 0 && !row.launch_time.is_known() => {
                let unbounded = row.is_online() && self.rows.len() == 1;
                (!unbounded).then_some(settings.poll_holder)
            }
            _ => None,
        }
    }

    /// How often to look at a tenant that drains: the half of what it needs at least, in steps of two, so that few looks are
    /// wasted on a drain that can't be over yet and none comes late at one that may.
    fn drain_look(&self, row: &Row) -> Nanos {
        let settings = &self.settings;
        let half = row.shortest_drain(self.now).0 / 2;
        let least = settings.poll_drain;
        let steps = (half / least.0.max(1)).max(1).ilog2();
        Nanos(least.0 << steps).min(settings.poll_holder).max(least)
    }

    fn online_has_turn(&self) -> bool {
        self.rows.values().any(|row| row.is_online() && row.turn().is_some())
    }
}

/// True if a new window is so near to the old one that the word need not be written again.
fn nearly_same(new: Gate, old: Gate) -> bool {
    let (a, b) = (u64::from(new.window), u64::from(old.window));
    let both_bounded = (a == 0) == (b == 0);
    both_bounded && (new.markers == Markers::None) == (old.markers == Markers::None) && a.abs_diff(b) * 8 <= b
}
