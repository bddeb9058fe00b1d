//! One tenant as its engine knows it: its row, what it is doing, what was seen and learnt of it.

use mgpu_protocol::gate::Gate;
use mgpu_protocol::units::{Class, Nanos};

use crate::accounts::Account;
use crate::event::Activity;
use crate::learn::{DrainTime, Grace, LaunchTime};
use crate::policy::PolicyKind;
use crate::reason::Reason;
use crate::tenant::Entitlement;

/// A turn in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Turn {
    /// When it was granted.
    pub(super) since: Nanos,
    /// It has launched in this turn, or was granted without asking: no launch has to be waited for.
    pub(super) launched: bool,
    /// When a launch was last seen to end, or the turn began.
    pub(super) completed: Nanos,
    /// Seen quiesced, without a launch, since then.
    pub(super) idle_since: Option<Nanos>,
    /// Looks still to take, though nobody waits, to learn the length of its launches.
    pub(super) lessons: u8,
}

/// A turn that was taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Drain {
    /// When it was revoked.
    pub(super) since: Nanos,
    /// Past its deadline: others are let in.
    pub(super) expired: bool,
    /// It was taken while at work; so the time it takes is a drain to learn from, and it still counts as a contender.
    pub(super) at_work: bool,
}

/// What a tenant may do now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Gate closed.
    Resting,
    /// Gate open-and-notify: an idle online tenant while offline may run. Confirmed once it was seen idle after the gate
    /// was set; offline is let in only then.
    Ajar {
        /// Seen idle since.
        confirmed: bool,
    },
    /// Gate open beside others: after a restart, until everyone has been seen quiesced.
    Shared,
    /// Has the turn; at most one tenant of a device.
    Holding(Turn),
    /// Gate closed, not yet seen quiesced.
    Draining(Drain),
}

/// What the policy in force makes of the tenant's row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Terms {
    /// The policy among its class.
    pub(super) policy: PolicyKind,
    /// Part of the device in ppm; a million under `fair`.
    pub(super) share_ppm: u32,
    /// Relative claim.
    pub(super) weight: u32,
}

/// A tenant that asked in vain: it did not launch when granted, so it is asked again only later.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Shun {
    pub(super) until: Nanos,
    step: u32,
}

impl Shun {
    const FIRST: Nanos = Nanos::from_millis(10);
    const LAST_STEP: u32 = 6;

    /// It has done so once more: 10 ms, 20 ms, … 640 ms.
    pub(super) fn longer(&mut self, now: Nanos) {
        self.until = now.plus(Nanos(Self::FIRST.0 << self.step));
        self.step = (self.step + 1).min(Self::LAST_STEP);
    }
}

/// A tenant that was not seen idle in a turn for so long is taken for one that never pauses.
const PAUSES: Nanos = Nanos::from_millis(1000);

/// One tenant.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) entitlement: Entitlement,
    pub(super) terms: Terms,
    pub(super) phase: Phase,
    /// It waits at its closed gate since then.
    pub(super) wants: Option<Nanos>,
    pub(super) shun: Shun,
    pub(super) account: Account,
    pub(super) launch_time: LaunchTime,
    pub(super) drain_time: DrainTime,
    pub(super) grace: Grace,
    pub(super) activity: Activity,
    /// When it was last seen.
    pub(super) seen: Nanos,
    /// When it last had work, as far as was seen.
    pub(super) last_work: Option<Nanos>,
    /// When a launch or a completion was last seen.
    pub(super) progress: Nanos,
    /// The launch that was last seen to end did not end before.
    pub(super) ended: Nanos,
    /// When it was last seen idle in a turn of its own.
    pub(super) paused: Option<Nanos>,
    /// When its clients were last asked to mark unmarked tails.
    pub(super) asked: Nanos,
    /// When its last turn ended by idleness.
    pub(super) gave_up: Option<Nanos>,
    /// As last set.
    pub(super) gate: Gate,
    /// As last asked for.
    pub(super) watch: Option<Nanos>,
    /// What it does changed with its gate: it is to be looked at in this step.
    pub(super) look: bool,
    pub(super) reason: Option<Reason>,
}

impl Row {
    pub(super) fn new(entitlement: Entitlement, now: Nanos) -> Self {
        Self {
            entitlement,
            terms: Terms { policy: PolicyKind::Fair, share_ppm: crate::accounts::WHOLE, weight: 1 },
            phase: Phase::Resting,
            wants: None,
            shun: Shun::default(),
            account: Account::default(),
            launch_time: LaunchTime::default(),
            drain_time: DrainTime::default(),
            grace: Grace::default(),
            activity: Activity::default(),
            seen: now,
            last_work: None,
            progress: now,
            ended: now,
            paused: None,
            asked: Nanos(0),
            gave_up: None,
            gate: Gate::CLOSED,
            watch: None,
            look: false,
            reason: None,
        }
    }

    pub(super) const fn class(&self) -> Class {
        self.entitlement.class
    }

    pub(super) fn is_online(&self) -> bool {
        self.class() == Class::Online
    }

    /// The turn, if it has it.
    pub(super) const fn turn(&self) -> Option<&Turn> {
        match &self.phase {
            Phase::Holding(turn) => Some(turn),
            _ => None,
        }
    }

    /// The drain, if it drains.
    pub(super) const fn drain(&self) -> Option<&Drain> {
        match &self.phase {
            Phase::Draining(drain) => Some(drain),
            _ => None,
        }
    }

    /// It waits, and is not shunned.
    pub(super) fn claims(&self, now: Nanos) -> bool {
        self.wants.is_some() && self.shun.until <= now && matches!(self.phase, Phase::Resting | Phase::Ajar { .. })
    }

    /// It has or wants device time now: what others pay is divided among those, and only they save up time.
    pub(super) fn contends(&self, now: Nanos) -> bool {
        let wants = self.wants.is_some() && self.shun.until <= now;
        match self.phase {
            Phase::Holding(_) => true,
            Phase::Draining(drain) => drain.at_work && !drain.expired || wants,
            Phase::Resting | Phase::Ajar { .. } | Phase::Shared => wants,
        }
    }

    /// It was seen idle in a turn lately: its next pause is to be seen soon.
    pub(super) fn pauses(&self, now: Nanos) -> bool {
        self.paused.is_some_and(|at| now.since(at) < PAUSES)
    }

    /// How long what it has in flight takes at least, going by its last launches; zero while unknown.
    pub(super) fn shortest_drain(&self, now: Nanos) -> Nanos {
        if !self.launch_time.is_known() || self.activity.unmarked > 0 {
            return Nanos(0);
        }
        let takes = self.launch_time.time_of(self.activity.in_flight);
        self.ended.plus(Nanos(takes.0 - takes.0 / 8)).since(now)
    }

    /// It has work, as far as that is believed. What has a marker behind it ends without the client's doing; a thread in a
    /// launch or a tail without a marker may be a stopped client's, so they count for one deadline without progress.
    pub(super) const fn is_at_work(&self, now: Nanos, deadline: Nanos) -> bool {
        let ends_by_itself = self.activity.entering == 0 && self.activity.unmarked == 0;
        !self.activity.is_quiesced() && (ends_by_itself || self.is_believed(now, deadline))
    }

    /// It still pays past its drain deadline: what it has in flight is on the device until it completes. A tail without a
    /// marker may belong to a stopped client, that no one can mark it for: it counts for as long as so many launches take,
    /// or on and on if that is not known.
    pub(super) fn owes_on(&self, now: Nanos, deadline: Nanos) -> bool {
        let activity = &self.activity;
        if activity.is_quiesced() || self.is_believed(now, deadline) {
            return !activity.is_quiesced();
        }
        let lasts = Nanos(self.launch_time.time_of(activity.in_flight).0.saturating_mul(2));
        let may_run = !self.launch_time.is_known() || self.is_believed(now, deadline.plus(lasts));
        activity.in_flight > 0 && (activity.unmarked == 0 || may_run)
    }

    /// Something moved within the last `deadline`.
    pub(super) const fn is_believed(&self, now: Nanos, deadline: Nanos) -> bool {
        now.since(self.progress).0 < deadline.0
    }
}
