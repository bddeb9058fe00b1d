//! Shares of saturating tenants by the device's truth: the vectors of issue 2, and error bounds over 1 s and 10 s.

mod world;

use mgpu_coordinator_core::PolicyKind::{Fair, FixedShare};
use world::{Host, Load, MS, S, Tenant, US, World};

fn saturating(kernel: u64) -> Tenant {
    Tenant::online(Load::Saturate { kernel })
}

/// Device time in hundredths of a percent over 10 s, after 1 s to settle; and the worst over any aligned 1 s.
fn measured(world: &mut World, tenant: usize, expected: u64) -> (u64, u64) {
    world.run_until(11 * S);
    world.assert_no_faults("shares");
    let over_10 = world.percent100(tenant, S, 11 * S);
    let worst = (10..110)
        .map(|tenth| tenth * 100 * MS)
        .filter(|from| from + S <= 11 * S)
        .map(|from| world.percent100(tenant, from, from + S).abs_diff(expected))
        .max();
    (over_10, worst.unwrap_or(0))
}

#[test]
fn explore() {
    for kernel in [10 * US, 100 * US, MS, 10 * MS, 50 * MS] {
        for host in [Host::QUICK, Host::BUSY] {
            let mut w = World::new(
                FixedShare,
                mgpu_coordinator_core::Settings::default(),
                host,
                vec![saturating(kernel).share(30), saturating(MS).share(70)],
                1,
            );
            let a = measured(&mut w, 0, 3000);
            let b = measured(&mut w, 1, 7000);
            println!("fixed 30/70 kernel {}us: {a:?} {b:?} steps {}", kernel / 1000, w.steps);
            let mut w = World::new(
                FixedShare,
                mgpu_coordinator_core::Settings::default(),
                host,
                vec![saturating(kernel).share(30)],
                1,
            );
            let a = measured(&mut w, 0, 3000);
            println!("fixed 30 alone kernel {}us: {a:?}", kernel / 1000);
            let mut w = World::new(
                Fair,
                mgpu_coordinator_core::Settings::default(),
                host,
                vec![saturating(kernel), saturating(MS)],
                1,
            );
            let a = measured(&mut w, 0, 5000);
            let b = measured(&mut w, 1, 5000);
            println!("fair kernel {}us: {a:?} {b:?} steps {}", kernel / 1000, w.steps);
        }
    }
}
