//! Clients that die, stop or lie; a daemon that comes back.

mod world;

use mgpu_coordinator_core::PolicyKind::{self, Fair, FixedShare};
use mgpu_coordinator_core::{Activity, Effect, Engine, Entitlement, Event, Settings, TenantId, Weight};
use mgpu_protocol::gate::GateState;
use mgpu_protocol::units::{Class, Nanos, Percent};
use world::rng::Rng;
use world::{Act, Host, Load, MS, S, Tenant, US, World};

fn saturating(kernel: u64) -> Tenant {
    Tenant::online(Load::Saturate { kernel }).share(50)
}

/// The longest time within `from..to` without a tenant on the device.
fn longest_gap(world: &World, tenant: usize, from: u64, to: u64) -> u64 {
    let mut at = from;
    let mut longest = 0;
    for span in world.device.spans.iter().filter(|s| s.tenant == tenant && s.to > from && s.from < to) {
        longest = longest.max(span.from.saturating_sub(at));
        at = span.to;
    }
    longest.max(to.saturating_sub(at))
}

#[test]
fn a_killed_holder_is_followed_at_once() {
    for seed in 0..30 {
        let mut world = World::new(Fair, Settings::default(), Host::QUICK, vec![saturating(MS), saturating(MS)], seed);
        world.run_until(S);
        let holder = world.engine.holder().unwrap().0 as usize;
        world.act_at(S, Act::Kill(holder));
        world.run_until(S + 5 * MS);
        world.assert_no_faults(&format!("seed {seed}"));
        let other = 1 - holder;
        let first = world.device.spans.iter().find(|s| s.tenant == other && s.to > S).map(|s| s.from);
        assert!(first.is_some_and(|at| at < S + MS), "seed {seed}: the other came at {first:?}");
        // The tenant lives on: its next client has its share again.
        world.run_until(4 * S);
        assert!(world.percent100(holder, 2 * S, 4 * S).abs_diff(5000) <= 200);
    }
}

#[test]
fn a_stopped_holder_loses_its_turn_at_the_deadline_and_others_go_on() {
    for seed in 0..60 {
        let mut rng = Rng::new(seed);
        let kernel = rng.log_between(20 * US, 5 * MS);
        let mut world =
            World::new(Fair, Settings::default(), Host::QUICK, vec![saturating(kernel), saturating(MS)], seed);
        let at = S + rng.below(100 * MS);
        world.act_at(at, Act::Stop(0));
        world.run_until(6 * S);
        let settings = Settings::default();
        let allowed = settings.slice_max.0 + settings.drain_deadline.0 + 20 * MS;
        let gap = longest_gap(&world, 1, at, 6 * S);
        assert!(gap <= allowed, "seed {seed}: the other waited {} ms", gap / MS);
        let got = world.percent100(1, at + S, 6 * S);
        assert!(got >= 9500, "seed {seed}: beside a stopped tenant the other has {got}");
        // It comes back: shares are even again, and it is not punished for the time it was stopped for ever.
        world.act_at(6 * S, Act::Continue(0));
        world.run_until(10 * S);
        world.assert_no_faults(&format!("seed {seed}"));
        let back = world.percent100(0, 8 * S, 10 * S);
        assert!(back.abs_diff(5000) <= 300, "seed {seed}: back with {back}");
    }
}

/// A stopped neighbour must not lift a cap.
#[test]
fn a_cap_holds_beside_a_stopped_tenant() {
    for seed in 0..30 {
        let mut rng = Rng::new(seed);
        let tenants = vec![saturating(MS).share(30), saturating(rng.log_between(20 * US, 5 * MS)).share(50)];
        let mut world = World::new(FixedShare, Settings::default(), Host::QUICK, tenants, seed);
        world.act_at(S + rng.below(100 * MS), Act::Stop(1));
        world.run_until(7 * S);
        let got = world.percent100(0, 2 * S, 7 * S);
        assert!(got <= 3100, "seed {seed}: {got}");
        assert!(got >= 2800, "seed {seed}: {got}");
    }
}

#[test]
fn after_a_restart_nobody_stands_still_and_shares_come_back() {
    for policy in [Fair, FixedShare] {
        for seed in 0..20 {
            let tenants = vec![saturating(MS).share(30), saturating(200 * US).share(70)];
            let mut world = World::new(policy, Settings::default(), Host::QUICK, tenants, seed);
            world.act_at(2 * S, Act::Restart);
            world.run_until(2 * S + 500 * MS);
            assert!(!world.engine.is_observing(), "seed {seed}: all are back within 200 ms");
            world.run_until(8 * S);
            world.assert_no_faults(&format!("seed {seed}"));
            let expected = if policy == Fair { 5000 } else { 3000 };
            let got = world.percent100(0, 3 * S, 8 * S);
            assert!(got.abs_diff(expected) <= 100, "{policy}, seed {seed}: {got}");
            for tenant in 0..2 {
                let gap = longest_gap(&world, tenant, 2 * S, 3 * S);
                assert!(gap < 250 * MS, "seed {seed}: tenant {tenant} stood still for {} ms", gap / MS);
            }
        }
    }
}

fn entitlement(share: u8) -> Entitlement {
    Entitlement { memory: None, share: Percent::new(share), class: Class::Online, weight: Weight::DEFAULT }
}

#[test]
fn a_debt_survives_a_restart() {
    let id = TenantId(4);
    let mut engine = Engine::new(FixedShare, Settings::default(), Nanos(0));
    engine.step(Event::TenantJoined { tenant: id, entitlement: entitlement(10), reattached: false }, Nanos(0));
    engine.step(Event::Wanted { tenant: id }, Nanos(0));
    assert_eq!(engine.holder(), Some(id));
    let busy = Activity { in_flight: 1, launches: 1, ..Activity::default() };
    engine.step(Event::Observed { tenant: id, activity: busy }, Nanos(80 * MS));
    let saved = engine.saved_accounts();
    assert!(saved[0].balance_ns < -60_000_000, "{saved:?}");
    let mut next = Engine::recovered(FixedShare, Settings::default(), &saved, &[id], Nanos(81 * MS));
    assert!(next.is_observing());
    assert_eq!(next.saved_accounts(), saved, "kept until the tenant is back");
    next.step(Event::TenantJoined { tenant: id, entitlement: entitlement(10), reattached: true }, Nanos(90 * MS));
    next.step(Event::Observed { tenant: id, activity: Activity { in_flight: 0, ..busy } }, Nanos(91 * MS));
    let account = next.status(id).unwrap().account;
    assert_eq!(account.paid, Nanos(80 * MS));
    // 10 ms at 10 % were gained meanwhile.
    assert!(account.balance_ns < -59_000_000, "{account:?}");
}

/// What never completes (the GPU has gone) holds nobody up where nobody competes: the driver's error reaches only who may launch.
#[test]
fn who_is_left_alone_with_work_that_never_completes_may_launch() {
    let (first, second) = (TenantId(1), TenantId(2));
    let mut engine = Engine::new(Fair, Settings::default(), Nanos(0));
    for tenant in [first, second] {
        engine.step(Event::TenantJoined { tenant, entitlement: entitlement(50), reattached: false }, Nanos(0));
        engine.step(Event::Wanted { tenant }, Nanos(0));
    }
    let stuck = Activity { waiting: true, in_flight: 3, launches: 3, ..Activity::default() };
    let mut now = Nanos(0);
    while engine.holder() != Some(second) {
        now = now.plus(Nanos(5 * MS));
        assert!(now < Nanos(10 * S), "the second one never had its turn");
        engine.step(Event::Observed { tenant: first, activity: stuck }, now);
    }
    now = now.plus(Nanos(S));
    engine.step(Event::Observed { tenant: first, activity: stuck }, now);
    assert_eq!(engine.holder(), Some(second), "no end of its work was seen, so it is not let in again");
    engine.step(Event::TenantLeft { tenant: second }, now);
    assert_eq!(engine.holder(), Some(first), "it waits for nobody");
}

#[test]
fn nobody_is_granted_exclusively_before_all_were_seen_quiesced() {
    let (a, b) = (TenantId(1), TenantId(2));
    let mut engine = Engine::recovered(Fair, Settings::default(), &[], &[a, b], Nanos(0));
    let join = |tenant| Event::TenantJoined { tenant, entitlement: entitlement(10), reattached: true };
    engine.step(join(a), Nanos(10));
    let effects = engine.step(Event::Observed { tenant: a, activity: Activity::default() }, Nanos(20));
    let opened = |effects: &[Effect], who| {
        effects
            .iter()
            .any(|e| matches!(e, Effect::SetGate { tenant, gate } if *tenant == who && gate.state == GateState::Open))
    };
    assert!(opened(&effects, a), "seen quiesced: it runs beside others");
    assert_eq!(engine.holder(), None);
    engine.step(join(b), Nanos(30));
    engine.step(Event::Wanted { tenant: b }, Nanos(40));
    assert_eq!((engine.holder(), engine.is_observing()), (None, true));
    let busy = Activity { in_flight: 3, launches: 9, ..Activity::default() };
    engine.step(Event::Observed { tenant: b, activity: busy }, Nanos(50));
    assert!(engine.is_observing());
    engine.step(Event::Observed { tenant: b, activity: Activity { in_flight: 0, ..busy } }, Nanos(60));
    assert!(!engine.is_observing(), "both were seen quiesced");
    assert_eq!(engine.holder(), None, "a ran beside others, so it drains once more");
    engine.step(Event::Wanted { tenant: b }, Nanos(70));
    engine.step(Event::Observed { tenant: a, activity: Activity::default() }, Nanos(80));
    assert_eq!(engine.holder(), Some(b));
}

/// What clients queued while no daemon was there runs out side by side, and nobody sees how far: each pays its half, not all.
#[test]
fn queues_from_before_a_restart_are_paid_in_halves() {
    let ids = [TenantId(1), TenantId(2)];
    let mut engine = Engine::recovered(FixedShare, Settings::default(), &[], &ids, Nanos(0));
    let busy = Activity { in_flight: 1, launches: 1, ..Activity::default() };
    for tenant in ids {
        engine.step(Event::TenantJoined { tenant, entitlement: entitlement(30), reattached: true }, Nanos(MS));
        engine.step(Event::Observed { tenant, activity: busy }, Nanos(2 * MS));
    }
    engine.step(Event::Timer, Nanos(1_200 * MS));
    assert!(!engine.is_observing());
    engine.step(Event::Timer, Nanos(2_200 * MS));
    let paid = ids.map(|id| engine.status(id).unwrap().account.paid);
    assert_eq!(paid, [Nanos(500 * MS); 2]);
}

/// A tenant that never comes back is waited for only so long.
#[test]
fn observation_ends_by_itself() {
    let (a, b) = (TenantId(1), TenantId(2));
    let mut engine = Engine::recovered(Fair, Settings::default(), &[], &[a, b], Nanos(0));
    engine.step(Event::TenantJoined { tenant: a, entitlement: entitlement(10), reattached: true }, Nanos(10));
    engine.step(Event::Observed { tenant: a, activity: Activity::default() }, Nanos(20));
    let effects = engine.step(Event::Timer, Nanos(30));
    assert!(engine.is_observing(), "{effects:?}");
    engine.step(Event::Timer, Nanos(1_100 * MS));
    assert!(!engine.is_observing());
}

/// Whatever stands in the pages and in whatever order events come: no panic, one holder, time never goes back.
#[test]
fn hostile_pages_and_odd_orders_of_events_change_no_invariant() {
    for seed in 0..300 {
        let mut rng = Rng::new(seed);
        let policy = if rng.one_in(2) { Fair } else { FixedShare };
        let mut engine = Engine::new(policy, Settings::default(), Nanos(0));
        let mut now = 0_u64;
        let mut open = std::collections::BTreeSet::new();
        for _ in 0..400 {
            now = now.saturating_add(rng.log_between(1, 2 * S));
            let at = if rng.one_in(20) { now / 2 } else { now };
            let event = random_event(&mut rng);
            if let Event::TenantLeft { tenant } = &event {
                open.remove(tenant);
            }
            for effect in engine.step(event, Nanos(at)) {
                match effect {
                    Effect::SetGate { tenant, gate } if gate.state == GateState::Open => drop(open.insert(tenant)),
                    Effect::SetGate { tenant, .. } => drop(open.remove(&tenant)),
                    Effect::WakeAt { at: Some(wake) } => assert!(wake.0 > at, "seed {seed}: a timer in the past"),
                    _ => {}
                }
            }
            assert!(open.len() <= 1, "seed {seed}: {open:?} are open");
        }
    }
}

fn narrow(n: u64) -> u32 {
    u32::try_from(n & u64::from(u32::MAX)).unwrap()
}

fn random_event(rng: &mut Rng) -> Event {
    let tenant = TenantId(u32::try_from(rng.below(5)).unwrap());
    let any = |rng: &mut Rng| if rng.one_in(3) { rng.next() } else { rng.below(3) };
    let class = if rng.one_in(2) { Class::Online } else { Class::Offline };
    let row = Entitlement { class, ..entitlement(u8::try_from(rng.between(1, 100)).unwrap()) };
    match rng.below(14) {
        0 | 1 => Event::TenantJoined { tenant, entitlement: row, reattached: rng.one_in(4) },
        2 => Event::TenantLeft { tenant },
        3 => Event::TenantChanged { tenant, entitlement: row },
        4 => Event::ClientsGone { tenant },
        5..=7 => Event::Wanted { tenant },
        8 => Event::Timer,
        9 => Event::PolicyChanged { policy: [PolicyKind::Fair, PolicyKind::FixedShare][usize::from(rng.one_in(2))] },
        _ => Event::Observed {
            tenant,
            activity: Activity {
                waiting: rng.one_in(2),
                entering: narrow(any(rng)),
                in_flight: narrow(any(rng)),
                unmarked: narrow(any(rng)),
                launches: any(rng),
            },
        },
    }
}

/// One who asks without ever launching costs the others little.
#[test]
fn asking_without_launching_is_answered_ever_more_rarely() {
    let tenants = vec![saturating(MS), saturating(MS)];
    let mut world = World::new(Fair, Settings::default(), Host::QUICK, tenants, 1);
    world.run_until(S);
    // It is stopped while it waits at its gate: its want stands for ever.
    while world.clients[1].waiting_since.is_none() {
        let next = world.now + MS;
        world.run_until(next);
    }
    world.act_at(world.now, Act::Stop(1));
    let from = world.now;
    world.run_until(from + 10 * S);
    let got = world.percent100(0, from + S, from + 10 * S);
    assert!(got >= 9800, "{got}");
}
