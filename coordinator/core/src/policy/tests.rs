//! The policies as pure functions; each sum is worked out beside its assertion.

use mgpu_protocol::units::Nanos;

use super::online_offline::{OnlineWork, Power, normalised, power};
use super::{
    Claim, Decision, Holder, Policy, PolicyKind, Verdict, View, fair::Fair, fixed_share, fixed_share::FixedShare,
};
use crate::reason::Reason;
use crate::settings::Settings;
use crate::tenant::TenantId;

const NOW: u64 = 10_000;

const fn ms(n: u64) -> Nanos {
    Nanos::from_millis(n)
}

/// A claim of tenant `id` with a balance in ms, waiting since `since` ms.
fn claim(id: u32, balance_ms: i64, since: u64) -> Claim {
    Claim {
        tenant: TenantId(id),
        since: ms(since),
        share_ppm: 1_000_000,
        weight: 1,
        balance: balance_ms * 1_000_000,
        recent: Nanos(0),
        recent_within_share_at: Nanos(0),
    }
}

fn capped(id: u32, percent: u32, balance_ms: i64) -> Claim {
    Claim { share_ppm: percent * 10_000, ..claim(id, balance_ms, NOW - 1) }
}

/// A holder that was granted `held` ms ago and is at work.
fn holder(claim: Claim, held: u64) -> Holder {
    let claim = Claim { since: ms(NOW - held), ..claim };
    Holder { claim, launched: true, idle_since: None, grace: ms(1), drain: Nanos(0) }
}

fn ask(policy: &dyn Policy, holder: Option<&Holder>, claims: &[Claim]) -> Decision {
    policy.decide(&View { now: ms(NOW), settings: &Settings::default(), holder, claims })
}

fn granted(decision: Decision) -> Option<u32> {
    match decision.verdict {
        Verdict::Grant(id, _) => Some(id.0),
        _ => None,
    }
}

fn revoked(decision: Decision) -> Option<Reason> {
    match decision.verdict {
        Verdict::Revoke(reason) => Some(reason),
        _ => None,
    }
}

#[test]
fn fair_grants_the_most_owed_then_the_longest_waiting_then_the_lowest() {
    assert_eq!(granted(ask(&Fair, None, &[claim(1, 3, 5), claim(2, 4, 9)])), Some(2));
    assert_eq!(granted(ask(&Fair, None, &[claim(1, 4, 9), claim(2, 4, 5)])), Some(2));
    assert_eq!(granted(ask(&Fair, None, &[claim(1, 4, 5), claim(2, 4, 5)])), Some(1));
    assert_eq!(ask(&Fair, None, &[]), Decision::keep(None));
}

#[test]
fn fair_leaves_a_lone_holder_alone_even_if_it_is_idle() {
    let idle = Holder { idle_since: Some(ms(NOW - 500)), ..holder(claim(1, -50, 0), 1000) };
    assert_eq!(ask(&Fair, Some(&idle), &[]), Decision::keep(None));
}

#[test]
fn fair_ends_a_turn_when_its_slice_is_over_and_another_is_owed_as_much() {
    // Two tenants share a round of 60 ms: slices of 30.
    let other = [claim(2, 15, 0)];
    let decision = ask(&Fair, Some(&holder(claim(1, -14, 0), 29)), &other);
    assert_eq!(decision, Decision::keep(Some(ms(NOW + 1))));
    assert_eq!(revoked(ask(&Fair, Some(&holder(claim(1, -15, 0), 30)), &other)), Some(Reason::SliceOver));
    // A drain of 10 ms is reckoned with: the turn ends at 20.
    let draining = Holder { drain: ms(10), ..holder(claim(1, -15, 0), 20) };
    assert_eq!(revoked(ask(&Fair, Some(&draining), &other)), Some(Reason::SliceOver));
    // One that is owed 20 more goes on; half of that is the earliest at which they can be even.
    let decision = ask(&Fair, Some(&holder(claim(1, 35, 0), 30)), &other);
    assert_eq!(decision, Decision::keep(Some(ms(NOW + 10))));
}

#[test]
fn fair_slices_follow_weights() {
    let heavy = Claim { weight: 3, ..claim(1, 0, 0) };
    // 60 × 3/4 = 45 ms.
    assert_eq!(revoked(ask(&Fair, Some(&holder(heavy, 44)), &[claim(2, 0, 0)])), None);
    assert_eq!(revoked(ask(&Fair, Some(&holder(heavy, 45)), &[claim(2, 0, 0)])), Some(Reason::SliceOver));
}

#[test]
fn an_idle_holder_gives_way_after_its_grace() {
    for policy in [&Fair as &dyn Policy, &FixedShare] {
        let other = [claim(2, -99, 0)];
        let idle_for =
            |micros: u64| Holder { idle_since: Some(Nanos(ms(NOW).0 - micros * 1000)), ..holder(claim(1, 50, 0), 3) };
        assert_eq!(revoked(ask(policy, Some(&idle_for(999)), &other)), None);
        assert_eq!(revoked(ask(policy, Some(&idle_for(1000)), &other)), Some(Reason::Idle));
        let silent = Holder { launched: false, ..holder(claim(1, 50, 0), 5) };
        assert_eq!(revoked(ask(policy, Some(&silent), &other)), Some(Reason::NeverLaunched));
    }
}

#[test]
fn a_share_starts_with_one_slice_saved() {
    // 30 % of a round of 60 ms is 18 ms. With 15 saved, 3 are missing, which 30 % gain in 10 ms.
    assert_eq!(granted(ask(&FixedShare, None, &[capped(1, 30, 18)])), Some(1));
    assert_eq!(ask(&FixedShare, None, &[capped(1, 30, 15)]), Decision::keep(Some(ms(NOW + 10))));
    // A debt of 12 needs 30 / 0.3 = 100 ms.
    assert_eq!(ask(&FixedShare, None, &[capped(1, 30, -12)]), Decision::keep(Some(ms(NOW + 100))));
    // Nor does it start before the last 100 ms hold no more than its share.
    let recent = Claim { recent_within_share_at: ms(NOW + 7), ..capped(1, 30, 18) };
    assert_eq!(ask(&FixedShare, None, &[recent]), Decision::keep(Some(ms(NOW + 7))));
}

#[test]
fn a_share_ends_when_it_is_spent() {
    // 7 saved at 30 % last 7 / 0.7 = 10 ms.
    assert_eq!(ask(&FixedShare, Some(&holder(capped(1, 30, 7), 10)), &[]), Decision::keep(Some(ms(NOW + 10))));
    assert_eq!(revoked(ask(&FixedShare, Some(&holder(capped(1, 30, 0), 20)), &[])), Some(Reason::ShareUsed));
    let draining = Holder { drain: ms(10), ..holder(capped(1, 30, 7), 10) };
    assert_eq!(revoked(ask(&FixedShare, Some(&draining), &[])), Some(Reason::ShareUsed));
    // Of the last 100 ms 30 + 18 × 7/8 = 45.75 may be its own, whatever it has saved.
    let greedy = Claim { recent: ms(46), ..capped(1, 30, 500) };
    assert_eq!(revoked(ask(&FixedShare, Some(&holder(greedy, 46)), &[])), Some(Reason::ShareUsed));
}

#[test]
fn a_share_of_100_is_no_cap() {
    let whole = holder(claim(1, -5000, 0), 5000);
    assert_eq!(ask(&FixedShare, Some(&whole), &[]), Decision::keep(None));
    assert_eq!(granted(ask(&FixedShare, None, &[claim(1, -5000, 0)])), Some(1));
}

#[test]
fn the_longest_overdue_share_comes_next() {
    // 20 of 30 % are overdue by 66 ms, 42 of 70 % by 60.
    assert_eq!(granted(ask(&FixedShare, None, &[capped(1, 70, 42), capped(2, 30, 20)])), Some(2));
    // At the end of a slice of 18 ms the holder gives way to one that is more overdue, not to one that may not start.
    let done = holder(capped(1, 30, 5), 18);
    assert_eq!(revoked(ask(&FixedShare, Some(&done), &[capped(2, 70, 42)])), Some(Reason::SliceOver));
    assert_eq!(revoked(ask(&FixedShare, Some(&done), &[capped(2, 70, 41)])), None);
}

#[test]
fn slices_are_bounded() {
    let settings = Settings::default();
    assert_eq!(fixed_share::slice(10_000, &settings), settings.slice_min);
    assert_eq!(fixed_share::slice(300_000, &settings), ms(18));
    assert_eq!(fixed_share::slice(1_000_000, &settings), settings.slice_max);
}

#[test]
fn online_has_the_device_while_it_works_and_for_the_hold() {
    let tenant = |has_work, last: Option<u64>| OnlineWork { has_work, last: last.map(ms) };
    let ask = |tenants: &[OnlineWork]| power(ms(NOW), ms(100), tenants.iter().copied());
    assert_eq!(ask(&[]), Power::Offline);
    assert_eq!(ask(&[tenant(false, None)]), Power::Offline);
    assert_eq!(ask(&[tenant(false, None), tenant(true, None)]), Power::OnlineWorks);
    assert_eq!(ask(&[tenant(false, Some(NOW - 60)), tenant(false, Some(NOW - 90))]), Power::OnlineHolds(ms(NOW + 40)));
    assert_eq!(ask(&[tenant(false, Some(NOW - 100))]), Power::Offline);
}

#[test]
fn weights_become_shares_that_sum_to_the_whole() {
    assert_eq!(normalised(&[1, 3]), [250_000, 750_000]);
    // A third of a million is 333 333; the millionth that is left goes to the first.
    assert_eq!(normalised(&[5, 5, 5]), [333_334, 333_333, 333_333]);
    assert_eq!(normalised(&[]), Vec::<u32>::new());
    assert_eq!(normalised(&[10_000, 1, 1]).iter().sum::<u32>(), 1_000_000);
}

#[test]
fn every_kind_has_a_row_and_reads_back() {
    for kind in [PolicyKind::Fair, PolicyKind::FixedShare] {
        assert_eq!(kind.listed().kind, Some(kind));
        assert_eq!(kind.name().parse(), Ok(kind));
    }
}

#[test]
fn a_planned_policy_is_told_from_an_unknown_one() {
    for planned in ["guaranteed-burst-share", "native-burst-share"] {
        let error = planned.parse::<PolicyKind>().unwrap_err().0;
        assert!(error.contains("not in this version") && error.contains("fair and fixed-share"), "{error}");
    }
    let error = "best-effort".parse::<PolicyKind>().unwrap_err().0;
    assert!(error.contains("\"best-effort\" is unknown"), "{error}");
}
