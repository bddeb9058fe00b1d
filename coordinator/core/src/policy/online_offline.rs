//! Online and offline: which class has the device. Lies over every policy, which then only shares within that class.
//!
//! **Units.** ns; shares in parts per million of the device.
//!
//! **Problem.** Online work comes unannounced and must not wait; offline work fills every gap. But a gap of 1 ms between two
//! online requests is no gap worth filling if the kernel that fills it lasts 10.
//!
//! **Approach.**
//! ```text
//! online has work = some online tenant waits at its gate, or has work in flight, or has a thread in a launch
//! the class with the device = online, if it has work or had some within the last `hold`; else offline
//! ```
//! While online has the device every offline gate is closed, even if online does not fill it. When offline has it, online
//! gates stand *ajar* (open and notify): the first launch passes at once and is noticed, and then offline is revoked
//! (`Preempted`) and runs out beside it.
//!
//! Among offline tenants: beside attached online tenants what is left is split by weight, uncapped; with no online tenant
//! attached the device's policy applies, with weights made shares that sum to 100 %.
//!
//! An online tenant that has used its cap (`fixed-share`) still waits, so it still has work: offline stays closed
//! ([`CappedOnline::Strict`](crate::CappedOnline), the only choice in this version).
//!
//! **Properties.**
//! * Offline launches granted while online has work: none.
//! * Offline has the device again `hold` after online's last work, plus one look.
//! * Online never waits for offline to drain.
//! * A stopped or lying online client is believed for one drain deadline; then it no longer keeps offline out.
//!
//! **Worked example.** hold 100 ms. Online works from 0 to 30 ms, launches again at 90 for 5 ms: offline has the device
//! until 0, nothing until 195, everything after. The pause of 60 ms was shorter than the hold.

use mgpu_protocol::units::Nanos;

use crate::accounts::WHOLE;
use crate::policy::PolicyKind;

/// What one online tenant does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OnlineWork {
    /// It waits, has work in flight or enters a launch.
    pub has_work: bool,
    /// When it last had work, as far as was seen; none = never.
    pub last: Option<Nanos>,
}

/// Which class has the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Power {
    /// Online works.
    OnlineWorks,
    /// Online has no work; the device is held for it until then.
    OnlineHolds(Nanos),
    /// Offline may run.
    Offline,
}

/// Which class has the device now.
#[must_use]
pub fn power(now: Nanos, hold: Nanos, online: impl Iterator<Item = OnlineWork>) -> Power {
    let mut until = Nanos(0);
    for tenant in online {
        if tenant.has_work {
            return Power::OnlineWorks;
        }
        until = until.max(tenant.last.map_or(Nanos(0), |last| last.plus(hold)));
    }
    if until > now { Power::OnlineHolds(until) } else { Power::Offline }
}

/// The policy among offline tenants.
#[must_use]
pub const fn offline_policy(device: PolicyKind, online_attached: bool) -> PolicyKind {
    if online_attached { PolicyKind::Fair } else { device }
}

/// Weights as shares that sum to a million exactly; the rest of the division goes to the first ones, one each.
#[must_use]
pub fn normalised(weights: &[u32]) -> Vec<u32> {
    let total: u64 = weights.iter().map(|w| u64::from(*w)).sum();
    if total == 0 {
        return vec![0; weights.len()];
    }
    let part = |w: u32| u32::try_from(u64::from(w) * u64::from(WHOLE) / total).unwrap_or(WHOLE);
    let mut shares: Vec<u32> = weights.iter().map(|w| part(*w)).collect();
    let left = WHOLE - shares.iter().sum::<u32>();
    for share in shares.iter_mut().take(left as usize) {
        *share += 1;
    }
    shares
}
