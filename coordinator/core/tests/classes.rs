//! Online and offline over either policy, by the device's truth.

mod world;

use mgpu_coordinator_core::PolicyKind::{self, Fair, FixedShare};
use mgpu_coordinator_core::Settings;
use mgpu_protocol::units::Nanos;
use world::rng::Rng;
use world::{Act, Host, Load, MS, S, Tenant, US, World};

const POLICIES: [PolicyKind; 2] = [Fair, FixedShare];

fn saturating(kernel: u64) -> Load {
    Load::Saturate { kernel }
}

fn launches_between(world: &World, tenant: usize, from: u64, to: u64) -> usize {
    world.clients[tenant].launches.iter().filter(|(checked, _)| *checked > from && *checked < to).count()
}

/// Offline has the device before, launches nothing while online works, and has it again within hold + one slice.
#[test]
fn offline_before_during_and_after_online() {
    for policy in POLICIES {
        for kernel in [50 * US, MS, 5 * MS] {
            for host in [Host::QUICK, Host::BUSY] {
                let online = Load::Once { kernel: MS, count: 1000, at: 2 * S };
                let tenants = vec![Tenant::online(online).share(100), Tenant::offline(saturating(kernel))];
                let mut world = World::new(policy, Settings::default(), host, tenants, 1);
                world.watchdog.reaction += host.wake.1 + host.late;
                world.run_until(6 * S);
                let what = format!("{policy}, offline kernel {} µs, {host:?}", kernel / US);
                world.assert_no_faults(&what);
                let before = world.percent100(1, S, 2 * S);
                assert!(before >= 9000, "{what}: {before} before");
                let (first, last) = {
                    let launches = &world.clients[0].launches;
                    (launches[0].0, launches[launches.len() - 1].1 + MS)
                };
                // The news of the first launch takes one wake-up; after that nothing.
                let heard = first + host.wake.1 + host.late;
                assert_eq!(launches_between(&world, 1, heard, last), 0, "{what}");
                let busy_end = world.device.spans.iter().rev().find(|s| s.tenant == 0).unwrap().to;
                let settings = Settings::default();
                let back = busy_end + settings.hold.0 + settings.slice_max.0;
                let after = world.percent100(1, back, back + S);
                assert!(after >= 9000, "{what}: {after} after");
                let held = world.device.busy(1, busy_end, busy_end + 99 * MS);
                assert_eq!(held, 0, "{what}: offline ran within the hold");
            }
        }
    }
}

#[test]
fn an_online_launch_never_waits_for_the_take_over() {
    for policy in POLICIES {
        let bursts = Load::Bursts { kernel: 50 * US, count: 1, think: 20 * MS };
        let tenants = vec![Tenant::offline(saturating(50 * MS)), Tenant::online(bursts).share(100).join(MS)];
        let settings = Settings { hold: Nanos::from_millis(1), ..Settings::default() };
        let mut world = World::new(policy, settings, Host::QUICK, tenants, 2);
        world.run_until(10 * S);
        world.assert_no_faults("take-over");
        assert!(world.clients[1].launches.len() > 300, "{policy}: {} launches", world.clients[1].launches.len());
        assert_eq!(world.clients[1].waits, [], "{policy}: an online launch waited at its gate");
        // 20 ms gaps with a hold of 1 ms leave most of the device to offline.
        assert!(world.percent100(0, S, 10 * S) >= 8500, "{policy}: {}", world.percent100(0, S, 10 * S));
    }
}

/// A pause shorter than the hold is no gap to fill; a longer one is.
#[test]
fn the_hold_decides_which_gaps_are_filled() {
    let run = |hold: u64, think: u64| {
        let bursts = Load::Bursts { kernel: MS, count: 10, think };
        let tenants = vec![Tenant::online(bursts), Tenant::offline(saturating(MS))];
        let settings = Settings { hold: Nanos::from_millis(hold), ..Settings::default() };
        let mut world = World::new(Fair, settings, Host::QUICK, tenants, 3);
        world.run_until(5 * S);
        world.assert_no_faults("hold");
        world.percent100(1, S, 5 * S)
    };
    assert_eq!(run(100, 40 * MS), 0, "gaps of up to 60 ms stay empty under a hold of 100 ms");
    // Gaps of 40 ms on average and bursts of 10 ms: four fifths of the time, less 5 ms of hold in each 50.
    assert!(run(5, 40 * MS) > 6000);
}

#[test]
fn offline_tenants_split_what_is_left_by_weight() {
    for policy in POLICIES {
        let idle = Tenant::online(Load::Idle).share(50);
        let tenants =
            vec![idle, Tenant::offline(saturating(MS)).weight(1), Tenant::offline(saturating(100 * US)).weight(3)];
        let mut world = World::new(policy, Settings::default(), Host::QUICK, tenants, 4);
        world.run_until(11 * S);
        world.assert_no_faults("weights");
        for (tenant, expected) in [(1, 2500), (2, 7500)] {
            let got = world.percent100(tenant, S, 11 * S);
            assert!(got.abs_diff(expected) <= 100, "{policy}: tenant {tenant} has {got}");
        }
        // One of them alone has all that is left, also under a cap.
        world.act_at(11 * S, Act::Leave(2));
        world.run_until(13 * S);
        assert!(world.percent100(1, 12 * S, 13 * S) > 9800, "{policy}: uncapped beside an idle online tenant");
    }
}

/// With no online tenant the device's policy applies: equal under `fair`, capped by weights under `fixed-share`.
#[test]
fn without_online_tenants_the_devices_policy_applies() {
    let pair = || vec![Tenant::offline(saturating(MS)).weight(1), Tenant::offline(saturating(MS)).weight(3)];
    let mut fair = World::quick(Fair, pair());
    fair.run_until(6 * S);
    assert!(fair.percent100(0, S, 6 * S).abs_diff(5000) <= 100, "fair: {}", fair.percent100(0, S, 6 * S));
    let mut fixed = World::quick(FixedShare, pair());
    fixed.run_until(6 * S);
    assert!(fixed.percent100(0, S, 6 * S).abs_diff(2500) <= 100, "fixed: {}", fixed.percent100(0, S, 6 * S));
    let mut idle =
        World::quick(FixedShare, vec![Tenant::offline(saturating(MS)), Tenant::offline(Load::Idle).weight(3)]);
    idle.run_until(6 * S);
    assert!(
        idle.percent100(0, S, 6 * S).abs_diff(2500) <= 100,
        "capped though alone: {}",
        idle.percent100(0, S, 6 * S)
    );
}

/// Strict: an online tenant that waits for its own cap has work, so offline stays out.
#[test]
fn a_capped_online_tenant_keeps_offline_out() {
    let tenants = vec![Tenant::online(saturating(MS)).share(30), Tenant::offline(saturating(MS)).join(S)];
    let mut world = World::quick(FixedShare, tenants);
    world.run_until(6 * S);
    world.assert_no_faults("strict");
    assert_eq!(world.device.busy(1, S, 6 * S), 0);
    assert!(world.percent100(0, S, 6 * S).abs_diff(3000) <= 100);
}

#[test]
fn online_tenants_share_among_themselves_by_the_policy() {
    let tenants = vec![
        Tenant::online(saturating(MS)).share(30),
        Tenant::online(saturating(MS)).share(70),
        Tenant::offline(saturating(MS)),
    ];
    let mut world = World::quick(FixedShare, tenants);
    world.run_until(11 * S);
    world.assert_no_faults("online 30/70");
    for (tenant, expected) in [(0, 3000), (1, 7000), (2, 0)] {
        let got = world.percent100(tenant, S, 11 * S);
        assert!(got.abs_diff(expected) <= 100, "tenant {tenant} has {got}");
    }
}

/// A stopped online client is believed for one drain deadline, wherever it was stopped.
#[test]
fn a_stopped_online_client_does_not_starve_offline() {
    let mut rng = Rng::new(9);
    for seed in 0..40 {
        let at = S + rng.below(50 * MS);
        let load = Load::Bursts { kernel: rng.log_between(20 * US, 10 * MS), count: 20, think: 5 * MS };
        let tenants = vec![Tenant::online(load), Tenant::offline(saturating(MS))];
        let mut world = World::new(Fair, Settings::default(), Host::QUICK, tenants, seed);
        world.act_at(at, Act::Stop(0));
        world.run_until(4 * S);
        let settings = Settings::default();
        // 20 launches of up to 10 ms may still stand in the queue; then one deadline and one hold.
        let from = at + 200 * MS + settings.drain_deadline.0 + settings.hold.0 + 50 * MS;
        let got = world.percent100(1, from, 4 * S);
        assert!(got >= 9000, "seed {seed}: offline has {got} beside a stopped online client");
    }
}

#[test]
fn a_change_of_class_takes_effect_at_once() {
    let tenants = vec![Tenant::online(saturating(MS)), Tenant::online(saturating(MS))];
    let mut world = World::quick(Fair, tenants);
    world.act_at(2 * S, Act::Class(1, mgpu_protocol::units::Class::Offline));
    world.run_until(4 * S);
    world.assert_no_faults("class");
    assert!(world.percent100(0, S, 2 * S).abs_diff(5000) <= 300);
    assert!(world.percent100(1, 2 * S + 50 * MS, 4 * S) == 0, "offline now, beside saturating online work");
}
