//! Stopped, dead and faulty clients; contexts destroyed in mid-flight.

mod common;

use common::*;
use mgpu_sim_gpu::*;

fn used(rig: &Rig) -> u64 {
    rig.model.witness().devices[0].used_bytes
}

fn torn_down(rig: &Rig) -> Option<Nanos> {
    rig.effects.iter().find_map(|e| if let Effect::TornDown { at, .. } = e { Some(*at) } else { None })
}

#[test]
fn a_stopped_client_s_queued_work_completes_and_its_marker_lands() {
    let mut rig = Rig::new("default");
    let client = rig.client();
    let stream = rig.stream(client);
    let tokens: Vec<_> = (0..100).map(|_| rig.kernel(client, stream, MS)).collect();
    rig.submit(stream, Op::WriteValue { address: 16, value: 100, width: 4 });
    // From here on the client does nothing at all.
    rig.run_out();
    assert!(tokens.iter().all(|t| rig.done(*t).is_some()));
    assert!(rig.effects.iter().any(|e| matches!(e, Effect::WriteWord { address: 16, value: 100, .. })));
}

#[test]
fn death_drops_the_queue_and_frees_memory_after_the_teardown_delay() {
    let mut rig = Rig::new("ideal");
    let empty = used(&rig);
    let client = rig.client();
    let stream = rig.stream(client);
    rig.model.allocate(0, client.context, 100 * MIB).unwrap();
    let tokens: Vec<_> = (0..10).map(|_| rig.kernel(client, stream, MS)).collect();
    rig.run_for(MS / 2);
    let held = used(&rig);
    rig.model.close(rig.now(), client.process, false);
    let teardown = rig.model.profile().life.teardown_ns;
    rig.run_for(MS / 2 + teardown - 1);
    assert_eq!((used(&rig), torn_down(&rig)), (held, None));
    rig.run_for(1);
    assert_eq!((used(&rig), torn_down(&rig)), (empty, Some(MS + teardown)), "counted from the kernel's end");
    let account = rig.account(client);
    assert_eq!((account.busy_ns, account.alive, account.allocated, account.overhead), (MS, false, 0, 0));
    assert_eq!(account.allocated_peak, 100 * MIB);
    assert!(tokens.iter().all(|t| rig.done(*t).is_none()), "nobody is there to be told");
    assert_eq!(rig.model.unfinished(), 0);
}

#[test]
fn a_dead_process_s_long_kernel_ends_with_its_slice() {
    for rivals in [0, 1] {
        let mut rig = Rig::new("ideal");
        let client = rig.client();
        rig.kernel(client, client.legacy, 500 * MS);
        rig.run_for(10 * MS);
        rig.model.close(rig.now(), client.process, false);
        let quick: Vec<_> = (0..rivals).map(|_| rig.client()).collect();
        let tokens: Vec<_> = quick.iter().map(|c| rig.kernel(*c, c.legacy, MS)).collect();
        rig.run_out();
        let slice = rig.model.profile().compute.slice_ns;
        assert_eq!(rig.account(client).busy_ns, 10 * MS + slice);
        assert!(tokens.iter().all(|t| rig.at(*t) == 11 * MS + slice));
    }
}

#[test]
fn a_saved_kernel_of_a_dead_process_does_not_come_back() {
    let mut rig = Rig::new("ideal");
    let (one, two) = (rig.client(), rig.client());
    rig.kernel(one, one.legacy, 50 * MS);
    let other = rig.kernel(two, two.legacy, 50 * MS);
    rig.run_for(3 * MS);
    rig.model.close(rig.now(), one.process, false);
    rig.run_out();
    assert_eq!((rig.account(one).busy_ns, rig.at(other)), (2 * MS, 52 * MS));
}

#[test]
fn a_device_file_held_by_a_forked_child_delays_the_teardown() {
    let mut rig = Rig::new("ideal");
    let empty = used(&rig);
    let client = rig.client();
    rig.model.close(0, client.process, true);
    rig.run_for(10 * S);
    assert!(used(&rig) > empty);
    rig.model.release_device_file(rig.now(), client.process);
    let teardown = rig.model.profile().life.teardown_ns;
    rig.run_for(teardown);
    assert_eq!((used(&rig), torn_down(&rig)), (empty, Some(10 * S + teardown)));
    rig.model.release_device_file(rig.now(), client.process);
    rig.model.close(rig.now(), client.process, false);
    assert_eq!(rig.model.next_event(), None);
}

#[test]
fn a_fault_kills_its_context_and_touches_no_other() {
    let mut rig = Rig::new("ideal");
    let client = rig.client();
    let (sibling, stranger) = (rig.context(client.process), rig.client());
    let (a, b) = (rig.stream(client), rig.stream(client));
    let faulty = rig.function(client.context, "fault_1ms");
    let bad = rig.submit(a, Op::Kernel { function: faulty, blocks: 1, threads: 1, duration_ns: None });
    let behind = rig.submit(a, Op::Marker);
    let beside = rig.small(client, b, 5 * MS);
    let others = [rig.small(sibling, sibling.legacy, MS), rig.small(stranger, stranger.legacy, MS)];
    rig.run_out();
    assert!([bad, behind, beside].iter().all(|t| rig.done(*t).is_none()));
    assert!(others.iter().all(|t| rig.done(*t).is_some()));
    let faults: Vec<_> = rig.effects.iter().filter(|e| matches!(e, Effect::Fault { .. })).collect();
    let (process, context, fault) = (client.process, client.context, Fault::IllegalAddress);
    assert_eq!(faults, [&Effect::Fault { process, context, fault, at: MS }]);
    let dead = Err(Refusal::ContextDead(fault));
    assert_eq!(rig.try_submit(a, Op::Marker).map(drop), dead);
    assert_eq!(rig.model.allocate(rig.now(), context, 1).map(drop), dead);
    let before = used(&rig);
    rig.model.destroy_context(rig.now(), context).unwrap();
    assert!(used(&rig) < before);
    assert_eq!(rig.account(client).busy_ns, 2 * MS);
}

#[test]
fn a_destroyed_context_gives_its_memory_back_once_it_is_off_the_device() {
    let mut rig = Rig::new("ideal");
    let client = rig.client();
    let other = rig.context(client.process);
    let before = used(&rig);
    rig.model.allocate(0, client.context, 64 * MIB).unwrap();
    let kernel = rig.kernel(client, client.legacy, MS);
    rig.run_for(MS / 2);
    rig.model.destroy_context(rig.now(), client.context).unwrap();
    assert_eq!(rig.model.destroy_context(rig.now(), client.context), Err(Refusal::NoSuchObject));
    assert!(used(&rig) > before);
    rig.run_for(MS / 2);
    let overhead = rig.model.profile().memory.context_bytes;
    assert_eq!(used(&rig), before - overhead, "at the kernel's end, without a teardown");
    let last = rig.small(other, other.legacy, MS);
    rig.run_out();
    assert_eq!((rig.done(kernel), rig.at(last)), (None, 2 * MS));
    assert_eq!(rig.try_submit(client.legacy, Op::Marker), Err(Refusal::NoSuchObject));
}

#[test]
fn an_op_of_another_context_does_not_hang_on_one_that_died() {
    let mut rig = Rig::new("ideal");
    let client = rig.client();
    let other = rig.context(client.process);
    let event = rig.event(client);
    rig.submit(client.legacy, Op::HostFunc);
    rig.submit(client.legacy, Op::EventRecord(event));
    let waits = rig.submit(other.legacy, Op::EventWait(event));
    rig.run_for(MS);
    rig.model.destroy_context(rig.now(), client.context).unwrap();
    rig.run_out();
    assert_eq!(rig.at(waits), MS);
}

#[test]
fn the_dead_can_do_nothing() {
    let mut rig = Rig::new("ideal");
    let client = rig.client();
    rig.model.close(0, client.process, true);
    let gone = Refusal::NoSuchObject;
    assert_eq!(rig.try_submit(client.legacy, Op::Marker), Err(gone));
    assert_eq!(rig.model.create_context(0, client.process, DeviceId(0)), Err(gone));
    assert_eq!(rig.model.allocate(0, client.context, 1), Err(gone));
    assert_eq!(rig.model.create_pool(0, client.process, DeviceId(0)), Err(gone));
    assert_eq!(rig.model.allocate_physical(0, client.process, DeviceId(0), 1), Err(gone));
}
