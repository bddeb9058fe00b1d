//! Order: streams, the legacy default stream, events, copies, full queues.

mod common;

use common::*;
use mgpu_sim_gpu::*;

#[test]
fn a_stream_runs_in_order_and_a_memset_comes_after_the_kernel() {
    let mut rig = Rig::new("ideal");
    let client = rig.client();
    let stream = rig.stream(client);
    let kernel = rig.small(client, stream, MS);
    let memset = rig.submit(stream, Op::Memset { bytes: 600 * MIB });
    let marker = rig.submit(stream, Op::Marker);
    rig.run_out();
    assert_eq!(rig.at(kernel), MS);
    assert!(rig.at(memset) > MS && rig.at(marker) == rig.at(memset));
    let fill =
        Effect::Memset { process: client.process, tag: Tag { token: memset, node: Tag::WHOLE }, at: rig.at(memset) };
    let place = |effect: &Effect| rig.effects.iter().position(|e| e == effect).unwrap();
    let done = Effect::Completed { process: client.process, stream, token: memset, at: rig.at(memset) };
    assert_eq!(place(&fill) + 1, place(&done), "the bytes move just before completion");
    assert_eq!(rig.account(client).busy_ns, rig.at(memset), "a memset keeps the compute side busy");
}

#[test]
fn the_legacy_stream_is_a_barrier_between_blocking_streams() {
    let mut rig = Rig::new("ideal");
    let client = rig.client();
    let (a, b, free) = (rig.blocking(client), rig.blocking(client), rig.stream(client));
    let before = rig.small(client, a, 5 * MS);
    let barrier = rig.small(client, client.legacy, MS);
    let after = rig.small(client, b, MS);
    let again = rig.small(client, client.legacy, MS);
    let aside = rig.small(client, free, MS);
    rig.run_out();
    assert_eq!((rig.at(before), rig.at(barrier), rig.at(after), rig.at(again)), (5 * MS, 6 * MS, 7 * MS, 8 * MS));
    assert_eq!(rig.at(aside), MS, "a non-blocking stream has nothing to do with it");
}

#[test]
fn blocking_streams_run_side_by_side_without_the_legacy_stream() {
    let mut rig = Rig::new("ideal");
    let client = rig.client();
    let (a, b) = (rig.blocking(client), rig.blocking(client));
    let (first, second) = (rig.small(client, a, 5 * MS), rig.small(client, b, MS));
    rig.run_out();
    assert_eq!((rig.at(first), rig.at(second)), (5 * MS, MS));
}

#[test]
fn the_legacy_streams_of_two_contexts_have_nothing_to_do_with_each_other() {
    let mut rig = Rig::new("ideal");
    let client = rig.client();
    let other = rig.context(client.process);
    let copy = Op::Copy { direction: Direction::HostToDevice, bytes: 20_000_000 };
    let first = rig.submit(client.legacy, copy);
    let second = rig.small(other, other.legacy, MS / 2);
    rig.run_out();
    assert_eq!((rig.at(first), rig.at(second)), (MS, MS / 2));
}

#[test]
fn an_event_orders_streams_and_keeps_its_time() {
    let mut rig = Rig::new("ideal");
    let client = rig.client();
    let (a, b) = (rig.stream(client), rig.stream(client));
    let event = rig.event(client);
    let unrecorded = rig.submit(b, Op::EventWait(event));
    rig.small(client, a, 3 * MS);
    let record = rig.submit(a, Op::EventRecord(event));
    rig.small(client, a, 9 * MS);
    rig.submit(b, Op::EventWait(event));
    let after = rig.small(client, b, MS);
    rig.run_out();
    assert_eq!((rig.at(unrecorded), rig.at(record), rig.at(after)), (0, 3 * MS, 4 * MS));
}

#[test]
fn a_wait_is_for_the_record_as_of_its_submission() {
    let mut rig = Rig::new("ideal");
    let client = rig.client();
    let (a, b) = (rig.stream(client), rig.stream(client));
    let event = rig.event(client);
    rig.small(client, a, MS);
    rig.submit(a, Op::EventRecord(event));
    let wait = rig.submit(b, Op::EventWait(event));
    rig.small(client, a, 5 * MS);
    rig.submit(a, Op::EventRecord(event));
    rig.model.destroy_event(0, event).unwrap();
    rig.run_out();
    assert_eq!(rig.at(wait), MS);
}

#[test]
fn copies_run_beside_kernels_and_each_way_beside_the_other() {
    let mut rig = Rig::new("ideal");
    let client = rig.client();
    let (a, b, c, d) = (rig.stream(client), rig.stream(client), rig.stream(client), rig.stream(client));
    let copy = |direction| Op::Copy { direction, bytes: 20_000_000 };
    let kernel = rig.kernel(client, a, MS);
    let up = rig.submit(b, copy(Direction::HostToDevice));
    let down = rig.submit(c, copy(Direction::DeviceToHost));
    let queued = rig.submit(d, copy(Direction::HostToDevice));
    rig.run_out();
    assert_eq!([kernel, up, down, queued].map(|t| rig.at(t)), [MS, MS, MS, 2 * MS]);
    let account = rig.account(client);
    assert_eq!((account.busy_ns, account.copy_ns, account.launches), (MS, 3 * MS, 1));
}

#[test]
fn a_copy_within_the_device_is_a_launch() {
    let mut rig = Rig::new("ideal");
    let client = rig.client();
    let token = rig.submit(client.legacy, Op::Copy { direction: Direction::DeviceToDevice, bytes: 600_000_000 });
    rig.run_out();
    let account = rig.account(client);
    assert_eq!((rig.at(token), account.busy_ns, account.copy_ns, account.launches), (MS, MS, 0, 1));
}

#[test]
fn long_copies_of_two_processes_take_turns() {
    let mut rig = Rig::new("ideal");
    let (one, two) = (rig.client(), rig.client());
    let copy = |bytes| Op::Copy { direction: Direction::HostToDevice, bytes };
    let long = rig.submit(one.legacy, copy(20 * 50_000_000));
    let short = rig.submit(two.legacy, copy(20_000_000));
    rig.run_out();
    assert_eq!((rig.at(short), rig.at(long)), (3 * MS, 51 * MS));
}

#[test]
fn a_full_queue_refuses_until_there_is_room() {
    let mut rig = Rig::new("ideal");
    let client = rig.client();
    let stream = rig.stream(client);
    let depth = rig.model.profile().compute.queue_depth as usize;
    let mut tokens = vec![rig.kernel(client, stream, MS)];
    assert_eq!(rig.model.queue_room(stream), depth, "what is on the device is out of the queue");
    tokens.extend((0..depth).map(|_| rig.kernel(client, stream, MS)));
    assert_eq!(rig.model.queue_room(stream), 0);
    assert_eq!(rig.try_submit(stream, full(client, MS)), Err(Refusal::QueueFull));
    rig.run_for(MS - 1);
    assert!(!rig.effects.iter().any(|e| matches!(e, Effect::QueueSpace { .. })));
    rig.run_for(1);
    let space: Vec<_> = rig.effects.iter().filter(|e| matches!(e, Effect::QueueSpace { .. })).collect();
    assert_eq!(space, [&Effect::QueueSpace { process: client.process, context: client.context, at: MS }]);
    tokens.push(rig.kernel(client, stream, MS));
    rig.run_out();
    assert_eq!(rig.at(*tokens.last().unwrap()), (depth as u64 + 2) * MS);
    let account = rig.account(client);
    assert_eq!((account.queue_full, account.launches, account.completed), (1, depth as u64 + 2, depth as u64 + 2));
}

#[test]
fn streams_of_one_channel_hold_each_other_up() {
    let mut profile = Profile::built_in("ideal").unwrap();
    profile.compute.channels = 2;
    let mut rig = Rig::with(profile);
    let client = rig.client();
    let streams: Vec<_> = (0..3).map(|_| rig.stream(client)).collect();
    let channels: Vec<_> = streams.iter().map(|s| rig.model.channel_of(*s).unwrap()).collect();
    assert_eq!(channels, [1, 0, 1]);
    rig.small(client, streams[0], 5 * MS);
    rig.small(client, streams[0], 5 * MS);
    let apart = rig.small(client, streams[1], MS);
    let held = rig.small(client, streams[2], MS);
    rig.run_out();
    assert_eq!((rig.at(apart), rig.at(held)), (MS, 6 * MS), "behind the second kernel in the same hardware queue");
}

#[test]
fn a_destroyed_stream_s_work_still_completes_and_still_counts_for_the_barrier() {
    let mut rig = Rig::new("ideal");
    let client = rig.client();
    let stream = rig.blocking(client);
    rig.small(client, stream, MS);
    let last = rig.small(client, stream, MS);
    rig.model.destroy_stream(0, stream).unwrap();
    assert_eq!(rig.try_submit(stream, Op::Marker), Err(Refusal::NoSuchObject));
    let barrier = rig.submit(client.legacy, Op::Marker);
    rig.run_out();
    assert_eq!((rig.at(last), rig.at(barrier)), (2 * MS, 2 * MS));
}

#[test]
fn late_stamps_are_taken_as_now_and_counted() {
    let mut rig = Rig::new("ideal");
    let client = rig.client();
    rig.run_for(MS);
    rig.model.submit(MS / 4, client.legacy, 1, full(client, MS)).unwrap();
    rig.run_out();
    assert_eq!(rig.at(1), 2 * MS);
    let late = rig.model.witness().late;
    assert_eq!((late.count, late.total_ns, late.max_ns), (1, MS * 3 / 4, MS * 3 / 4));
    let launches = rig.model.launches(0);
    assert_eq!((launches.len(), launches[0].stamp_ns), (1, MS / 4), "the client's own stamp is kept");
}

#[test]
fn submissions_without_sense_are_refused() {
    let mut rig = Rig::new("ideal");
    let (client, other) = (rig.client(), rig.client());
    let (stream, event) = (rig.stream(client), rig.event(other));
    let kernel = |function, blocks, threads| Op::Kernel { function, blocks, threads, duration_ns: None };
    let write = |width| Op::WriteValue { address: 0, value: 0, width };
    for (op, refusal) in [
        (kernel(client.function, 0, 1), Refusal::InvalidValue),
        (kernel(client.function, 1, 0), Refusal::InvalidValue),
        (kernel(client.function, 1, 1025), Refusal::InvalidValue),
        (kernel(other.function, 1, 1), Refusal::NoSuchObject),
        (kernel(FunctionId(99), 1, 1), Refusal::NoSuchObject),
        (Op::EventRecord(event), Refusal::NoSuchObject),
        (Op::EventWait(EventId(99)), Refusal::NoSuchObject),
        (Op::GraphLaunch(GraphId(0)), Refusal::NoSuchObject),
        (Op::PoolFree(AllocationId(99)), Refusal::NoSuchObject),
        (write(3), Refusal::InvalidValue),
    ] {
        assert_eq!(rig.try_submit(stream, op), Err(refusal), "{op:?}");
    }
    assert_eq!(rig.model.unfinished(), 0);
}
