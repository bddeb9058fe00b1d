//! `fair`: equal device time for every tenant that wants it, by weight where weights differ.
//!
//! **Units.** ns of device time; weights are relative.
//!
//! **Problem.** Tenants ask for very different pieces (kernels of 1 µs to 100 ms, pauses of any length) and a running kernel
//! can't be cut. Equal *turns* are therefore not equal *time*: whoever has long kernels overruns each turn.
//!
//! **Approach.** Each tenant has a balance: what it paid against what was due to it while it contended (`accounts`). Turns
//! of nominal length go to whoever is owed most; an overrun makes the balance of the one who overran negative, so others
//! have the next turns until they are even. The nominal turn is the round divided by weight:
//!
//! ```text
//! slice(i)   = clamp(round × weight(i) / Σ weight over holder and claims, slice_min, slice_max)
//! next       = the claim with the greatest balance; ties: waiting longest, then the lower number
//! turn over  = elapsed + expected drain ≥ slice, and next's balance ≥ the holder's after its drain
//! turn given = idle for longer than its grace (or never launched within wake_grace), and somebody waits
//! ```
//!
//! A holder that is owed more than any other goes on beyond its slice: handing over to come straight back would only cost
//! a hand-over. Its balance sinks while it runs, so that ends.
//!
//! **Properties.**
//! * Work conserving: while somebody claims, the verdict is Grant, or somebody holds; nobody is ever refused for having
//!   used much.
//! * Alone, a tenant keeps the turn for ever, with no timer and no end.
//! * Two tenants that never stop wanting differ by at most one slice and one kernel at any time.
//! * No starvation: a claim's balance grows while others run; the holder's falls.
//!
//! **Worked example.** Round 60 ms, A with kernels of 1 ms, B with one kernel of 90 ms, both never idle. Slices 30 ms.
//!
//! ```text
//! time    0         30              120                     180
//! A       runs 30                   runs 60 (2 slices: still owed)
//! B                 runs 90 (one kernel)                    runs 90 …
//! A's     0 → −15   −15 → +30       +30 → 0
//! B's     0 → +15   +15 → −30       −30 → 0
//! ```
//! At 120 A is owed 30 and B owes 30; at 150 A's slice is over, but with 15 and −15 it is still owed more, so it goes on until
//! they are even at 180. Over the first 180 ms each had 90.

use std::cmp::Reverse;

use mgpu_protocol::units::Nanos;

use super::{Claim, Decision, Holder, Policy, Verdict, View, earlier};
use crate::accounts::signed;
use crate::reason::Reason;

/// The policy.
#[derive(Clone, Copy, Debug)]
pub struct Fair;

impl Policy for Fair {
    fn decide(&self, view: &View<'_>) -> Decision {
        let next = most_owed(view.claims);
        match (view.holder, next) {
            (None, None) => Decision::keep(None),
            (None, Some(next)) => {
                let reason = if view.claims.len() > 1 { Reason::MostOwed } else { Reason::NobodyElse };
                Decision::now(Verdict::Grant(next.tenant, reason))
            }
            (Some(_), None) => Decision::keep(None),
            (Some(holder), Some(next)) => contended(view, holder, next),
        }
    }
}

/// The claim that is owed most; ties go to who waits longest, then to the lower number.
fn most_owed(claims: &[Claim]) -> Option<&Claim> {
    claims.iter().max_by_key(|c| (c.balance, Reverse(c.since), Reverse(c.tenant)))
}

/// Somebody holds and somebody else wants.
fn contended(view: &View<'_>, holder: &Holder, next: &Claim) -> Decision {
    let now = view.now;
    let idle = holder.idle_end(view.settings);
    if let Some((end, reason)) = idle
        && end <= now
    {
        return Decision::now(Verdict::Revoke(reason));
    }
    let drain = holder.expected_drain();
    let slice = slice(view, &holder.claim);
    let end = Nanos(holder.claim.since.plus(slice).0.saturating_sub(drain.0));
    let mut again = earlier(Some(end), idle.map(|(end, _)| end));
    if end <= now {
        // What the holder is still owed beyond `next` once it has drained.
        let lead = holder.claim.balance.saturating_sub(signed(drain)).saturating_sub(next.balance);
        if lead <= 0 {
            return Decision::now(Verdict::Revoke(Reason::SliceOver));
        }
        // Balances close by at most 2 ns per ns, so they can't be even earlier; look at most each 50 µs.
        let even = now.plus(Nanos(lead.unsigned_abs() / 2).max(Nanos::from_micros(50)));
        again = earlier(Some(even), idle.map(|(end, _)| end));
    }
    Decision::keep(again)
}

/// A tenant's nominal turn among all who have or want the device.
fn slice(view: &View<'_>, claim: &Claim) -> Nanos {
    let others: u64 = view.claims.iter().filter(|c| c.tenant != claim.tenant).map(|c| u64::from(c.weight)).sum();
    let own = u64::from(claim.weight);
    let part = u128::from(view.settings.round.0) * u128::from(own) / u128::from((others + own).max(1));
    bounded(part, view)
}

fn bounded(part: u128, view: &View<'_>) -> Nanos {
    let low = view.settings.slice_min;
    let high = view.settings.slice_max.max(low);
    Nanos(u64::try_from(part).unwrap_or(u64::MAX)).clamp(low, high)
}
