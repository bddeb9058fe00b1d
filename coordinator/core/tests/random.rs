//! Properties over random traces in virtual time. A failure names its seed; `MGPU_SEED=n` runs that one alone.

mod world;

use mgpu_coordinator_core::PolicyKind;
use world::random::{Trouble, Wish, scenario};
use world::{MS, World};

const LENGTH: u64 = 1200 * MS;

/// Runs `count` seeds of a wish and hands each finished world to `check`.
fn each_seed(count: u64, wish: Wish, check: impl Fn(u64, &mut World)) {
    let one = std::env::var("MGPU_SEED").ok().and_then(|seed| seed.parse().ok());
    let seeds = one.map_or(0..count, |seed| seed..seed + 1);
    println!("seeds {seeds:?} of {wish:?}");
    for seed in seeds {
        let mut world = scenario(seed, wish);
        world.run_until(wish.length);
        world.assert_no_faults(&format!("seed {seed}"));
        check(seed, &mut world);
    }
}

#[test]
fn never_two_turns_at_once_whatever_happens() {
    let wish = Wish { policy: None, trouble: Trouble::All, offline: true, length: LENGTH };
    each_seed(1500, wish, |_, _| {});
}

#[test]
fn calm() {
    let wish = Wish { policy: None, trouble: Trouble::None, offline: true, length: LENGTH };
    each_seed(500, wish, |_, _| {});
}

#[test]
fn the_same_seed_gives_the_same_run_to_the_bit() {
    let wish = Wish { policy: None, trouble: Trouble::All, offline: true, length: LENGTH };
    each_seed(50, wish, |seed, world| {
        let mut again = scenario(seed, wish);
        again.run_until(wish.length);
        assert_eq!(again.journal, world.journal, "seed {seed}");
        assert_eq!(again.device.spans, world.device.spans, "seed {seed}");
        assert_eq!(again.steps, world.steps, "seed {seed}");
    });
    let _ = PolicyKind::Fair;
}

/// Not a test of its own: prints what happened in the run of `MGPU_SEED`, for a person to read.
#[test]
#[ignore = "prints a run; use with MGPU_SEED and --ignored --nocapture"]
fn tell() {
    let wish = match std::env::var("MGPU_WISH").as_deref() {
        Ok("calm") => Wish { policy: None, trouble: Trouble::None, offline: true, length: LENGTH },
        _ => Wish { policy: None, trouble: Trouble::All, offline: true, length: LENGTH },
    };
    let seed = std::env::var("MGPU_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(0);
    let mut world = scenario(seed, wish);
    println!("{:#?} {:?}", world.tenants, world.engine.policy());
    world.run_until(wish.length);
    let from = std::env::var("MGPU_FROM").ok().and_then(|n| n.parse().ok()).unwrap_or(0);
    for (at, tenant, text) in world.journal.iter().filter(|line| line.0 >= from * 1000).take(60) {
        println!("{:>10} µs  {tenant}: {text}", at / 1000);
    }
    for change in world.gates.iter().filter(|c| c.at >= from * 1000).take(40) {
        println!("{change:?}");
    }
    println!("{:#?}", &world.faults[..world.faults.len().min(5)]);
}
