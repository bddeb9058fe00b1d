//! Nobody polls when nobody competes: what the engine asks of the shell while there is nothing to decide.

mod world;

use mgpu_coordinator_core::PolicyKind::{Fair, FixedShare};
use mgpu_protocol::gate::{GateState, Markers};
use world::{Act, Load, MS, S, Tenant, US, World};

fn saturating() -> Load {
    Load::Saturate { kernel: 500 * US }
}

#[test]
fn a_sole_tenant_has_an_open_gate_and_causes_no_wish_at_all() {
    for tenant in [Tenant::online(saturating()), Tenant::online(Load::Bursts { kernel: MS, count: 3, think: 30 * MS })]
    {
        for policy in [Fair, FixedShare] {
            let mut world = World::quick(policy, vec![tenant.clone().share(100)]);
            world.run_until(3 * S);
            assert_eq!(world.wishes, (0, 0), "timers and watches");
            assert_eq!(world.steps, 1, "one step: the join");
            let gate = world.clients[0].gate;
            assert_eq!((gate.state, gate.markers, gate.window), (GateState::Open, Markers::None, 0));
            assert_eq!(world.clients[0].waits, [], "it never waits, not even the first time");
        }
    }
}

/// Offline keeps its window also alone, so that online work finds little before it; learning is short.
#[test]
fn a_sole_offline_tenant_has_a_window_and_is_left_alone_once_it_is_known() {
    let mut world = World::quick(Fair, vec![Tenant::offline(saturating())]);
    world.run_until(S);
    let (steps, gate) = (world.steps, world.clients[0].gate);
    assert_eq!(gate.state, GateState::Open);
    assert!((2..=16).contains(&gate.window), "4 ms of 500 µs: {}", gate.window);
    world.run_until(5 * S);
    assert_eq!(world.steps, steps, "no step in 4 s");
    assert!(world.percent100(0, S, 5 * S) > 9900);
}

#[test]
fn beside_idle_tenants_a_holder_keeps_its_gate_without_polls() {
    let mut world = World::quick(Fair, vec![Tenant::online(saturating()), Tenant::online(Load::Idle)]);
    world.run_until(S);
    let (steps, wishes) = (world.steps, world.wishes);
    world.run_until(5 * S);
    assert_eq!((world.steps, world.wishes), (steps, wishes), "nothing in 4 s");
    assert!(world.percent100(0, S, 5 * S) > 9900);
}

#[test]
fn when_all_have_ended_nothing_stirs() {
    for policy in [Fair, FixedShare] {
        let once = |at| Load::Once { kernel: MS, count: 50, at };
        let tenants = vec![
            Tenant::online(once(0)).share(30),
            Tenant::online(once(10 * MS)).share(30),
            Tenant::offline(once(20 * MS)),
        ];
        let mut world = World::quick(policy, tenants);
        world.run_until(3 * S);
        let steps = world.steps;
        world.run_until(20 * S);
        assert_eq!(world.steps, steps, "{policy}: nothing in 17 s");
        for tenant in 0..3 {
            assert_eq!(world.device.queues[tenant].completed, 50, "{policy}: tenant {tenant} is done");
        }
    }
}

#[test]
fn a_rival_that_leaves_restores_the_silence() {
    let mut world = World::quick(Fair, vec![Tenant::online(saturating()), Tenant::online(saturating()).join(S)]);
    world.act_at(2 * S, Act::Leave(1));
    world.run_until(2 * S + 200 * MS);
    let steps = world.steps;
    world.run_until(6 * S);
    assert_eq!(world.steps, steps);
    assert_eq!(world.clients[0].gate.window, 0);
    assert!(world.percent100(0, 2 * S + 200 * MS, 6 * S) > 9900);
}

/// While two compete the daemon looks often only where a look decides something: at the end of a drain.
#[test]
fn competition_costs_a_bounded_number_of_steps() {
    for kernel in [50 * US, 100 * US, 500 * US, MS, 10 * MS] {
        let saturating = Tenant::online(Load::Saturate { kernel }).share(50);
        for policy in [Fair, FixedShare] {
            let mut world = World::quick(policy, vec![saturating.clone(), saturating.clone()]);
            world.run_until(11 * S);
            let steps = world.steps;
            world.run_until(21 * S);
            let steps = world.steps - steps;
            assert!(steps < 16_000, "{policy}, {} µs: {steps} steps in 10 s", kernel / US);
        }
    }
}

#[test]
fn a_capped_tenant_alone_is_looked_at_rarely() {
    let mut world = World::quick(FixedShare, vec![Tenant::online(saturating()).share(30)]);
    world.run_until(11 * S);
    assert!(world.steps < 6_000, "{} steps in 11 s", world.steps);
}
