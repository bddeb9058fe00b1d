//! Properties over random traces in virtual time. A failure names its seed; `MGPU_SEED=n` runs that one alone.

#![allow(clippy::disallowed_macros, reason = "tests print their seeds")]

mod world;

use mgpu_coordinator_core::PolicyKind::{Fair, FixedShare};
use world::random::{Trouble, Wish, scenario};
use world::{MS, US, World};

const LENGTH: u64 = 1200 * MS;
const ANYTHING: Wish = Wish { policy: None, trouble: Trouble::All, offline: true, length: LENGTH };

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

/// The checks of every step (`world/checks.rs`): one turn at a time, nobody granted beside work that is not drained, epochs
/// never used twice, gates close before others open, no offline turn while online has work.
#[test]
fn never_two_turns_at_once_whatever_happens() {
    each_seed(2000, ANYTHING, |_, _| {});
}

#[test]
fn the_same_seed_gives_the_same_run_to_the_bit() {
    each_seed(100, ANYTHING, |seed, world| {
        let mut again = scenario(seed, ANYTHING);
        again.run_until(LENGTH);
        assert_eq!(again.journal, world.journal, "seed {seed}");
        assert_eq!(again.device.spans, world.device.spans, "seed {seed}");
        assert_eq!(again.steps, world.steps, "seed {seed}");
    });
}

/// While someone waits under a work-conserving policy, the device is idle for a grace and a hand-over at most.
#[test]
fn no_device_is_idle_while_someone_may_run() {
    let wish = Wish { policy: Some(Fair), trouble: Trouble::None, offline: false, length: LENGTH };
    each_seed(500, wish, |seed, world| {
        let settings = *world.engine.settings();
        // Grace, the look that sees its end, the look that sees it quiesced, and three wake-ups.
        let allowed = settings.grace_max.0 + 4 * settings.poll_holder.0 + settings.poll_drain.0 + 5 * world.host.wake.1;
        for (from, to) in world.device.idle_spans(0, wish.length) {
            for (tenant, client) in world.clients.iter().enumerate() {
                let waits = client.waits.iter().copied().chain(client.waiting_since.map(|at| (at, wish.length)));
                for (since, until) in waits {
                    let idle = until.min(to).saturating_sub(since.max(from));
                    assert!(
                        idle <= allowed,
                        "seed {seed}: the device was idle for {} µs from {} µs while {tenant} waited",
                        idle / US,
                        since.max(from) / US
                    );
                }
            }
        }
    });
}

/// Everybody who waits is served in the end, and the end is near.
#[test]
fn nobody_starves() {
    for policy in [Fair, FixedShare] {
        let wish = Wish { policy: Some(policy), trouble: Trouble::None, offline: false, length: 3 * LENGTH };
        each_seed(150, wish, |seed, world| {
            let settings = *world.engine.settings();
            // Before a second tenant comes, a queue may grow as deep as the driver lets it.
            let deepest = |t: usize| world.device.queues[t].deepest;
            let count = world.tenants.len();
            let others: u64 =
                (0..count).map(|t| settings.slice_max.0 + 2 * deepest(t) + settings.drain_deadline.0).sum();
            for (tenant, client) in world.clients.iter().enumerate() {
                let own = 2 * deepest(tenant) + settings.slice_max.0;
                let repay = match policy {
                    Fair => own * count as u64,
                    FixedShare => own * 100 / u64::from(world.tenants[tenant].share.unwrap_or(1)),
                };
                let waits = client.waits.iter().copied().chain(client.waiting_since.map(|at| (at, wish.length)));
                let worst = waits.map(|(from, to)| to - from).max().unwrap_or(0);
                assert!(
                    worst <= others + repay,
                    "{policy}, seed {seed}: tenant {tenant} waited for {} ms, allowed {}",
                    worst / MS,
                    (others + repay) / MS
                );
            }
        });
    }
}

/// The promise of `fixed-share`, whatever tenants launch: in any 100 ms share × 100 ms + one slice + one kernel.
#[test]
fn caps_hold_whatever_tenants_launch() {
    let wish = Wish { policy: Some(FixedShare), trouble: Trouble::None, offline: false, length: 2 * LENGTH };
    each_seed(400, wish, |seed, world| {
        for (tenant, row) in world.tenants.iter().enumerate() {
            let share = u64::from(row.share.unwrap_or(1));
            let kernel = row.load.kernel();
            let slice = (share * 600 * US).clamp(2 * MS, 50 * MS);
            let allowed = share * MS + slice + kernel;
            let starts = world.device.spans.iter().filter(|s| s.tenant == tenant).map(|s| s.from);
            for from in starts {
                let used = world.device.busy(tenant, from, from + 100 * MS);
                assert!(
                    used <= allowed,
                    "seed {seed}: tenant {tenant} ({row:?}) had {} µs in the 100 ms from {} µs, allowed {}",
                    used / US,
                    from / US,
                    allowed / US
                );
            }
        }
    });
}

/// Not a test of its own: prints what happened in the run of `MGPU_SEED`, for a person to read.
#[test]
#[ignore = "prints a run; use with MGPU_SEED and --ignored --nocapture"]
fn tell() {
    let wish = match std::env::var("MGPU_WISH").as_deref() {
        Ok("caps") => Wish { policy: Some(FixedShare), trouble: Trouble::None, offline: false, length: 2 * LENGTH },
        Ok("fair") => Wish { policy: Some(Fair), trouble: Trouble::None, offline: false, length: LENGTH },
        _ => ANYTHING,
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
