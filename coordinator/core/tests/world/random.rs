//! Random scenarios: who is there, what they do, what happens to them, how late everybody is. All from one seed.

use mgpu_coordinator_core::{PolicyKind, Settings};
use mgpu_protocol::units::{Class, Nanos};

use super::rng::Rng;
use super::{Act, Host, Load, MS, Tenant, US, World};

/// Which kind of trouble a scenario has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// Tenants come, work and go; the host is quick.
    None,
    /// Everything: kills, stops, stalls of the daemon, changes of policy, share and class, restarts, a slow host.
    All,
}

/// A scenario's ingredients that tests ask for.
#[derive(Clone, Copy, Debug)]
pub struct Wish {
    pub policy: Option<PolicyKind>,
    pub trouble: Trouble,
    pub offline: bool,
    pub length: u64,
}

/// Shares that sum to 100 at most, at least 1 each.
fn shares(rng: &mut Rng, count: usize) -> Vec<u8> {
    let mut left = 100;
    let mut shares = Vec::new();
    for i in 0..count {
        let others = (count - i - 1) as u64;
        let most = (left - others).clamp(1, 100);
        let share = rng.between(1, most);
        left -= share;
        shares.push(u8::try_from(share).unwrap());
    }
    shares
}

fn load(rng: &mut Rng) -> Load {
    // Short kernels cost the test much time: few of them.
    let low = if rng.one_in(12) { US } else { 30 * US };
    let kernel = rng.log_between(low, 100 * MS);
    match rng.below(4) {
        0 | 1 => Load::Saturate { kernel },
        2 => Load::Bursts { kernel, count: rng.between(1, 20), think: rng.log_between(50 * US, 200 * MS) },
        _ if rng.one_in(3) => Load::Idle,
        _ => Load::Once { kernel, count: rng.between(1, 50), at: rng.between(0, 800 * MS) },
    }
}

pub fn scenario(seed: u64, wish: Wish) -> World {
    let mut rng = Rng::new(seed ^ 0x5ce0);
    let count = usize::try_from(rng.between(1, 6)).unwrap();
    let shares = shares(&mut rng, count);
    let policy = wish.policy.unwrap_or(if rng.one_in(2) { PolicyKind::Fair } else { PolicyKind::FixedShare });
    let tenants: Vec<Tenant> = shares
        .into_iter()
        .map(|share| {
            let offline = wish.offline && rng.one_in(2);
            let tenant = if offline { Tenant::offline(load(&mut rng)) } else { Tenant::online(load(&mut rng)) };
            let join = if rng.one_in(2) { 0 } else { rng.below(500 * MS) };
            tenant.share(share).weight(u32::try_from(rng.between(1, 5)).unwrap()).join(join)
        })
        .collect();
    let hold = rng.log_between(MS, 200 * MS);
    let settings = Settings { hold: Nanos(hold), ..Settings::default() };
    let host = if wish.trouble == Trouble::None || rng.one_in(2) { Host::QUICK } else { Host::BUSY };
    let mut world = World::new(policy, settings, host, tenants, seed);
    if host.late_one_in > 0 {
        world.watchdog.reaction += host.wake.1 + host.late;
    }
    if wish.trouble == Trouble::All {
        trouble(&mut world, &mut rng, wish);
    }
    world
}

fn trouble(world: &mut World, rng: &mut Rng, wish: Wish) {
    let count = world.tenants.len() as u64;
    for _ in 0..rng.below(6) {
        let tenant = usize::try_from(rng.below(count)).unwrap();
        // What happens to a tenant before it joins would be lost.
        let at = world.tenants[tenant].join + rng.between(1, wish.length);
        match rng.below(8) {
            0 => {
                world.act_at(at, Act::Leave(tenant));
                if rng.one_in(2) {
                    world.act_at(at + rng.between(1, 300 * MS), Act::Join(tenant));
                }
            }
            1 => world.act_at(at, Act::Kill(tenant)),
            2 | 3 => {
                world.act_at(at, Act::Stop(tenant));
                world.act_at(at + rng.log_between(MS, 700 * MS), Act::Continue(tenant));
            }
            4 => {
                let span = rng.log_between(100 * US, 20 * MS);
                world.watchdog.reaction += span;
                world.act_at(at, Act::Stall(span));
            }
            5 if wish.policy.is_none() => {
                let policy = if rng.one_in(2) { PolicyKind::Fair } else { PolicyKind::FixedShare };
                world.act_at(at, Act::Policy(policy));
            }
            6 if wish.offline => {
                let class = if rng.one_in(2) { Class::Online } else { Class::Offline };
                world.act_at(at, Act::Class(tenant, class));
            }
            7 if rng.one_in(4) => world.act_at(at, Act::Restart),
            _ => {}
        }
    }
}
