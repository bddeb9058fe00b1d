//! The policies of DESIGN §4: the list, and what they all see and say.
//!
//! A policy is a pure function of a [`View`]: it keeps no memory (accounts are the engine's), knows no gate, no page and no
//! clock. Adding one: write `policy/NAME.rs` (essay first), give it a row in [`POLICIES`], a page in `docs/policies/`.
//!
//! `online_offline` is no policy but the rule over all of them: it says which class has the device.

pub mod fair;
pub mod fixed_share;
pub mod online_offline;

use std::fmt;
use std::str::FromStr;

use mgpu_protocol::units::{Nanos, ParseError};

use crate::reason::Reason;
use crate::settings::Settings;
use crate::tenant::TenantId;

/// Which policy a device has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PolicyKind {
    /// Equal device time for every tenant that wants it.
    Fair,
    /// Never more than its share, even on an idle device.
    FixedShare,
}

/// A policy's row in the list.
pub struct Listed {
    /// Its name in settings, CLI, metrics and docs.
    pub name: &'static str,
    /// Its promise in one line.
    pub promise: &'static str,
    /// The kind, or none if it is planned and not in this version.
    pub kind: Option<PolicyKind>,
    /// An online tenant needs a share, and the sum of shares may not pass 100.
    pub needs_share: bool,
}

/// All policies that this project knows, those to come included.
pub const POLICIES: [Listed; 4] = [
    Listed {
        name: "fair",
        promise: "equal device time for every tenant that wants it",
        kind: Some(PolicyKind::Fair),
        needs_share: false,
    },
    Listed {
        name: "fixed-share",
        promise: "never more than its share, even on an idle device",
        kind: Some(PolicyKind::FixedShare),
        needs_share: true,
    },
    Listed {
        name: "guaranteed-burst-share",
        promise: "at least its share whenever it wants it, the rest in proportion to the shares",
        kind: None,
        needs_share: true,
    },
    Listed {
        name: "native-burst-share",
        promise: "no turns: the GPU's own scheduler arbitrates, shares only steer",
        kind: None,
        needs_share: true,
    },
];

impl PolicyKind {
    /// Its row in the list.
    #[must_use]
    pub fn listed(self) -> &'static Listed {
        POLICIES.iter().find(|row| row.kind == Some(self)).unwrap_or(&POLICIES[0])
    }

    /// Its name in settings, CLI, metrics and docs.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.listed().name
    }

    /// The rule itself.
    #[must_use]
    pub fn rule(self) -> &'static dyn Policy {
        match self {
            Self::Fair => &fair::Fair,
            Self::FixedShare => &fixed_share::FixedShare,
        }
    }

    /// Names that can be chosen, for messages.
    #[must_use]
    pub fn names() -> String {
        let names: Vec<&str> = POLICIES.iter().filter(|row| row.kind.is_some()).map(|row| row.name).collect();
        names.join(" and ")
    }
}

impl fmt::Display for PolicyKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for PolicyKind {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let known = POLICIES.iter().find(|row| row.name == text);
        match known {
            Some(Listed { kind: Some(kind), .. }) => Ok(*kind),
            Some(_) => {
                Err(ParseError(format!("policy \"{text}\" is not in this version: the policies are {}", Self::names())))
            }
            None => Err(ParseError(format!("policy \"{text}\" is unknown: the policies are {}", Self::names()))),
        }
    }
}

/// What a policy sees of one tenant that wants the device or has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    /// Who; ties go to the lower number.
    pub tenant: TenantId,
    /// Since when it wants the device (the holder: since it was granted).
    pub since: Nanos,
    /// Part of the device in ppm; a million = uncapped.
    pub share_ppm: u32,
    /// Relative claim.
    pub weight: u32,
    /// What it is owed (above zero) or owes, ns.
    pub balance: i64,
    /// Reserved to it within the last 100 ms.
    pub recent: Nanos,
    /// When no more than its share of the last 100 ms will have been reserved to it, if nothing is added.
    pub recent_within_share_at: Nanos,
}

/// What a policy sees of the tenant that has the turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holder {
    /// Its claim.
    pub claim: Claim,
    /// It has launched in this turn.
    pub launched: bool,
    /// Seen with nothing in flight and nothing entering since then.
    pub idle_since: Option<Nanos>,
    /// How long it may be idle before its turn is given up.
    pub grace: Nanos,
    /// How long it will take to drain, going by its last turns.
    pub drain: Nanos,
}

impl Holder {
    /// When it has been idle for long enough to lose its turn, and why it would; none while it is not idle.
    #[must_use]
    pub fn idle_end(&self, settings: &Settings) -> Option<(Nanos, Reason)> {
        if self.launched {
            self.idle_since.map(|since| (since.plus(self.grace), Reason::Idle))
        } else {
            Some((self.claim.since.plus(settings.wake_grace), Reason::NeverLaunched))
        }
    }

    /// The drain to reckon with: none before the first launch, or a turn could end before it began.
    #[must_use]
    pub fn expected_drain(&self) -> Nanos {
        if self.launched { self.drain } else { Nanos(0) }
    }
}

/// What a policy decides on: one class of one device.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// Now.
    pub now: Nanos,
    /// The settings.
    pub settings: &'a Settings,
    /// Who has the turn.
    pub holder: Option<&'a Holder>,
    /// Those who want it, without the holder, by tenant number.
    pub claims: &'a [Claim],
}

/// What a policy wants to happen now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Give this tenant the turn; only if nobody has it.
    Grant(TenantId, Reason),
    /// Take the turn from the holder.
    Revoke(Reason),
    /// Leave things as they are.
    Keep,
}

/// A verdict, and when to ask again if nothing happens before; none = only an event can change it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// What to do.
    pub verdict: Verdict,
    /// When to ask again.
    pub again: Option<Nanos>,
}

impl Decision {
    /// A verdict that is carried out at once and followed by another question.
    #[must_use]
    pub const fn now(verdict: Verdict) -> Self {
        Self { verdict, again: None }
    }

    /// Nothing to do before `again`.
    #[must_use]
    pub const fn keep(again: Option<Nanos>) -> Self {
        Self { verdict: Verdict::Keep, again }
    }
}

/// A policy.
pub trait Policy: Sync {
    /// What to do now. Pure: same view, same decision.
    fn decide(&self, view: &View<'_>) -> Decision;
}

/// The earlier of two wishes.
#[must_use]
pub fn earlier(a: Option<Nanos>, b: Option<Nanos>) -> Option<Nanos> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (one, None) | (None, one) => one,
    }
}

#[cfg(test)]
mod tests;
