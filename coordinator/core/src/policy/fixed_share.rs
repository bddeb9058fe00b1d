//! `fixed-share`: never more than its share, even on an idle device.
//!
//! **Units.** ns of device time; shares in parts per million of the device (30 % = 300 000).
//!
//! **Problem.** A cap must hold over short spans (a neighbour notices 100 ms) and be exact over long ones (30 means 30),
//! with pieces that can't be cut and turns that others delay.
//!
//! **Approach.** Two accounts (`accounts`, `recent`):
//! * the *balance* grows by `share` of all time and falls by every ns reserved; it makes long spans exact, carries debts,
//!   and keeps what a tenant could not use because others had the device;
//! * *recent*, what was reserved within the last 100 ms; it keeps a tenant with a great balance from spending it at once.
//!
//! ```text
//! slice(i)    = clamp(round × share(i), slice_min, slice_max)
//! may start   = balance ≥ slice, and recent ≤ share × 100 ms
//! must end    = balance < expected drain × (1 − share), or recent + expected drain ≥ share × 100 ms + ⅞ slice
//! next        = of those who may start, the greatest balance ÷ share (the one whose turn is longest overdue)
//! turn over   = elapsed + expected drain ≥ slice, and next's balance ÷ share ≥ the holder's
//! turn given  = idle for longer than its grace, or never launched within wake_grace
//! ```
//! A share of 100 % is no cap: such a tenant may always start and never has to end.
//!
//! **Properties.**
//! * In any 100 ms at most share × 100 ms + one slice + what was running when the turn had to end (at most one kernel where
//!   launches fill a turn; see the window in `learn`).
//! * Debt from an overrun is repaid before the next start: no forgetting.
//! * Shares that sum to 100 use the whole device: balances of waiting tenants are not cut.
//! * Idle time is not saved up: an idle tenant's balance stops at one slice.
//!
//! **Worked example.** Shares 30 and 70, round 60 ms: slices 18 and 42 ms, both saturating, A first.
//!
//! ```text
//! time       0          18             60         78
//! A          runs 18                   runs 18
//! B                     runs 42                   runs 42
//! A's        18 → 5.4   5.4 → 18       18 → 5.4
//! ```
//! A alone: it starts with 18, pays 1 and gains 0.3 per ms, so it runs 18 / 0.7 = 25.7 ms, then gains 18 in 60 ms:
//! 25.7 of 85.7 ms = 30 %.

use std::cmp::Ordering;

use mgpu_protocol::units::Nanos;

use super::{Claim, Decision, Holder, Policy, Verdict, View, earlier};
use crate::accounts::{WHOLE, signed};
use crate::reason::Reason;
use crate::recent::WINDOW;
use crate::settings::Settings;

/// The policy.
#[derive(Clone, Copy, Debug)]
pub struct FixedShare;

impl Policy for FixedShare {
    fn decide(&self, view: &View<'_>) -> Decision {
        match view.holder {
            None => start(view),
            Some(holder) => go_on(view, holder),
        }
    }
}

/// Nobody holds: who may start?
fn start(view: &View<'_>) -> Decision {
    match most_overdue(view) {
        Some(next) => {
            let reason = if view.claims.len() > 1 { Reason::MostOwed } else { Reason::NobodyElse };
            Decision::now(Verdict::Grant(next.tenant, reason))
        }
        None => Decision::keep(view.claims.iter().map(|c| may_start_at(c, view.now, view.settings)).min()),
    }
}

/// Somebody holds: may it go on?
fn go_on(view: &View<'_>, holder: &Holder) -> Decision {
    let now = view.now;
    let capped = holder.claim.share_ppm < WHOLE;
    if !capped && view.claims.is_empty() {
        return Decision::keep(None);
    }
    let idle = holder.idle_end(view.settings);
    if let Some((end, reason)) = idle
        && end <= now
    {
        return Decision::now(Verdict::Revoke(reason));
    }
    let mut again = idle.map(|(end, _)| end);
    if capped {
        let end = must_end_at(holder, now, view.settings);
        if end <= now {
            return Decision::now(Verdict::Revoke(Reason::ShareUsed));
        }
        again = earlier(again, Some(end));
    }
    let slice = slice(holder.claim.share_ppm, view.settings);
    let over = Nanos(holder.claim.since.plus(slice).0.saturating_sub(holder.expected_drain().0));
    if over > now {
        return Decision::keep(earlier(again, Some(over).filter(|_| !view.claims.is_empty())));
    }
    match most_overdue(view) {
        Some(next) if overdue(next, &holder.claim) != Ordering::Less => {
            Decision::now(Verdict::Revoke(Reason::SliceOver))
        }
        // The holder's balance falls: look again soon whether the other has become the more overdue.
        Some(_) => Decision::keep(earlier(again, Some(now.plus(Nanos(slice.0 / 8 + 1))))),
        None => Decision::keep(earlier(again, view.claims.iter().map(|c| may_start_at(c, now, view.settings)).min())),
    }
}

/// A tenant's nominal turn, which is also what an idle tenant may have saved.
#[must_use]
pub fn slice(share_ppm: u32, settings: &Settings) -> Nanos {
    let part = part_of(settings.round, share_ppm);
    part.clamp(settings.slice_min, settings.slice_max.max(settings.slice_min))
}

/// `share` of a span.
#[must_use]
pub fn part_of(span: Nanos, share_ppm: u32) -> Nanos {
    Nanos(u64::try_from(u128::from(span.0) * u128::from(share_ppm) / u128::from(WHOLE)).unwrap_or(u64::MAX))
}

/// When a tenant that waits may start, if nothing is added; `now` or earlier = it may.
#[must_use]
pub fn may_start_at(claim: &Claim, now: Nanos, settings: &Settings) -> Nanos {
    if claim.share_ppm >= WHOLE {
        return now;
    }
    let short = signed(slice(claim.share_ppm, settings)).saturating_sub(claim.balance);
    let saved = if short <= 0 { now } else { now.plus(time_to_gain(short.unsigned_abs(), claim.share_ppm)) };
    saved.max(claim.recent_within_share_at)
}

/// How long a share takes to gain `amount`, rounded up.
fn time_to_gain(amount: u64, share_ppm: u32) -> Nanos {
    let needed = u128::from(amount) * u128::from(WHOLE);
    Nanos(u64::try_from(needed.div_ceil(u128::from(share_ppm.max(1)))).unwrap_or(u64::MAX))
}

/// When the holder has to stop launching so that, once drained, it has kept its cap.
fn must_end_at(holder: &Holder, now: Nanos, settings: &Settings) -> Nanos {
    let claim = &holder.claim;
    let drain = holder.expected_drain();
    let lasts = match u64::try_from(claim.balance) {
        Ok(balance) => time_to_gain(balance, WHOLE - claim.share_ppm),
        Err(_) => Nanos(0),
    };
    let slice = slice(claim.share_ppm, settings);
    // An eighth of a slice is kept back for timers that come late and drains that last longer than expected.
    let allowed = part_of(WINDOW, claim.share_ppm).plus(Nanos(slice.0 - slice.0 / 8));
    let room = allowed.since(claim.recent);
    now.plus(lasts.min(room).since(drain))
}

/// Of those who may start now, the one whose turn is longest overdue; ties: waiting longest, then the lower number.
fn most_overdue<'a>(view: &View<'a>) -> Option<&'a Claim> {
    view.claims
        .iter()
        .filter(|c| may_start_at(c, view.now, view.settings) <= view.now)
        .max_by(|a, b| overdue(a, b).then(b.since.cmp(&a.since)).then(b.tenant.cmp(&a.tenant)))
}

/// Compares balance ÷ share.
fn overdue(a: &Claim, b: &Claim) -> Ordering {
    let left = i128::from(a.balance) * i128::from(b.share_ppm);
    let right = i128::from(b.balance) * i128::from(a.share_ppm);
    left.cmp(&right)
}
