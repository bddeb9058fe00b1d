//! Stream memory operations, host functions, graphs.

mod common;

use common::*;
use mgpu_sim_gpu::*;

fn polls(rig: &Rig) -> Vec<(OpId, Nanos)> {
    rig.effects
        .iter()
        .filter_map(|e| if let Effect::PollWord { op, at, .. } = e { Some((*op, *at)) } else { None })
        .collect()
}

fn host_calls(rig: &Rig) -> Vec<OpId> {
    rig.effects.iter().filter_map(|e| if let Effect::HostFunc { op, .. } = e { Some(*op) } else { None }).collect()
}

const WAIT: Op = Op::WaitValue { address: 64, value: 5, width: 4, condition: Condition::GreaterOrEqual };

#[test]
fn a_word_is_written_behind_the_kernel() {
    let mut rig = Rig::new("ideal");
    let client = rig.client();
    rig.small(client, client.legacy, MS);
    let token = rig.submit(client.legacy, Op::WriteValue { address: 4096, value: 3, width: 8 });
    rig.run_out();
    let tag = Tag { token, node: Tag::WHOLE };
    let write = Effect::WriteWord { process: client.process, tag, address: 4096, value: 3, width: 8, at: MS };
    assert!(rig.effects.contains(&write));
    assert_eq!((rig.at(token), rig.account(client).stream_writes), (MS, 1));
}

#[test]
fn the_device_polls_a_word_by_itself() {
    let mut rig = Rig::new("ideal");
    let client = rig.client();
    let (a, b) = (rig.stream(client), rig.stream(client));
    let wait = rig.submit(a, WAIT);
    let behind = rig.small(client, a, MS);
    let beside = rig.small(client, b, MS);
    rig.run_for(5 * MS);
    let seen = polls(&rig);
    let every = rig.model.profile().compute.poll_ns;
    assert_eq!(seen.len() as u64, 5 * MS / every + 1);
    assert!(seen.windows(2).all(|pair| pair[1].1 - pair[0].1 == every && pair[1].0 == pair[0].0));
    assert_eq!((rig.done(wait), rig.done(behind), rig.at(beside)), (None, None, MS));
    rig.model.word_ready(rig.now(), seen[0].0);
    rig.model.word_ready(rig.now(), seen[0].0);
    rig.run_out();
    assert_eq!((rig.at(wait), rig.at(behind)), (5 * MS, 6 * MS));
    assert_eq!(rig.model.next_event(), None, "nothing polls any more");
}

#[test]
fn a_wait_also_holds_the_neighbours_in_its_hardware_channel() {
    let mut profile = Profile::built_in("ideal").unwrap();
    profile.compute.channels = 2;
    let mut rig = Rig::with(profile);
    let client = rig.client();
    let streams: Vec<_> = (0..3).map(|_| rig.stream(client)).collect();
    rig.submit(streams[0], WAIT);
    let apart = rig.small(client, streams[1], MS);
    let neighbour = rig.small(client, streams[2], MS);
    rig.run_for(10 * MS);
    assert_eq!((rig.done(apart), rig.done(neighbour)), (Some(MS), None));
    rig.model.word_ready(rig.now(), polls(&rig)[0].0);
    rig.submit(streams[0], Op::HostFunc);
    let behind = rig.small(client, streams[2], MS);
    rig.run_for(10 * MS);
    assert_eq!((rig.done(neighbour), rig.done(behind)), (Some(11 * MS), None));
    rig.model.host_done(rig.now(), host_calls(&rig)[0]);
    rig.run_out();
    assert_eq!(rig.at(behind), 21 * MS);
}

#[test]
fn a_waiting_stream_leaves_the_device_to_others() {
    let mut rig = Rig::new("default");
    let (one, two) = (rig.client(), rig.client());
    rig.submit(one.legacy, WAIT);
    rig.small(one, one.legacy, MS);
    let other = rig.kernel(two, two.legacy, 50 * MS);
    rig.run_for(60 * MS);
    assert!(rig.done(other).is_some());
    assert_eq!(rig.model.witness().devices[0].switch_ns, rig.model.profile().compute.reload_ns);
}

#[test]
fn conditions_compare_as_the_driver_api_says() {
    use Condition::*;
    for (condition, word, value, width, want) in [
        (GreaterOrEqual, 5, 5, 4, true),
        (GreaterOrEqual, 4, 5, 4, false),
        (GreaterOrEqual, 3, 0xffff_fffe, 4, true),
        (GreaterOrEqual, 0xffff_fffe, 3, 4, false),
        (GreaterOrEqual, 3, u64::MAX, 8, true),
        (GreaterOrEqual, 0x1_0000_0000, 1, 8, true),
        (GreaterOrEqual, 0x1_0000_0000, 1, 4, false),
        (Equal, 0x1_0000_0007, 7, 4, true),
        (Equal, 0x1_0000_0007, 7, 8, false),
        (And, 6, 2, 4, true),
        (And, 4, 2, 4, false),
        (Nor, 0xffff_fff0, 0x0000_000f, 4, false),
        (Nor, 0xffff_fff0, 0x0000_0007, 4, true),
    ] {
        assert_eq!(condition.holds(word, value, width), want, "{condition:?} {word:#x} {value:#x} {width}");
    }
}

#[test]
fn a_host_function_holds_its_stream_until_it_returns() {
    let mut rig = Rig::new("ideal");
    let client = rig.client();
    let stream = rig.stream(client);
    rig.small(client, stream, MS);
    let call = rig.submit(stream, Op::HostFunc);
    let after = rig.small(client, stream, MS);
    rig.run_for(10 * MS);
    let calls = host_calls(&rig);
    assert_eq!((calls.len(), rig.done(call)), (1, None));
    rig.model.word_ready(rig.now(), calls[0]);
    assert_eq!(rig.model.unfinished(), 2, "the wrong kind of answer is ignored");
    rig.model.host_done(rig.now(), calls[0]);
    rig.run_out();
    assert_eq!((rig.at(call), rig.at(after)), (10 * MS, 11 * MS));
    rig.model.host_done(rig.now(), OpId::from_bits(u64::MAX));
    rig.model.host_done(rig.now(), calls[0]);
}

fn node(op: Op, after: &[u32]) -> Node {
    Node { op, after: after.to_vec() }
}

fn one_block(client: Client, ns: Nanos) -> Op {
    Op::Kernel { function: client.function, blocks: 1, threads: 32, duration_ns: Some(ns) }
}

#[test]
fn a_graph_runs_by_its_edges() {
    let mut rig = Rig::new("ideal");
    let client = rig.client();
    let event = rig.event(client);
    let nodes = vec![
        node(one_block(client, 2 * MS), &[]),
        node(one_block(client, 3 * MS), &[]),
        node(Op::WriteValue { address: 8, value: 1, width: 4 }, &[0]),
        node(Op::Copy { direction: Direction::HostToDevice, bytes: 20_000_000 }, &[0, 1]),
        node(Op::EventRecord(event), &[0]),
        node(one_block(client, MS), &[3]),
    ];
    let graph = rig.model.create_graph(0, client.context, nodes).unwrap();
    let before = rig.small(client, client.legacy, MS);
    let launch = rig.submit(client.legacy, Op::GraphLaunch(graph));
    let after = rig.small(client, client.legacy, MS);
    rig.model.destroy_graph(0, graph).unwrap();
    rig.run_out();
    assert_eq!([before, launch, after].map(|t| rig.at(t)), [MS, 6 * MS, 7 * MS]);
    let tag = |node| Tag { token: launch, node };
    let process = client.process;
    for effect in [
        Effect::WriteWord { process, tag: tag(2), address: 8, value: 1, width: 4, at: 3 * MS },
        Effect::Copy { process, tag: tag(3), at: 5 * MS },
        Effect::EventRecorded { process, event, at: 3 * MS },
    ] {
        assert!(rig.effects.contains(&effect), "{effect:?}");
    }
    let account = rig.account(client);
    assert_eq!((account.launches, account.completed, account.ops, account.stream_writes), (3, 3, 3, 1));
    assert_eq!(rig.try_submit(client.legacy, Op::GraphLaunch(graph)), Err(Refusal::NoSuchObject));
}

#[test]
fn launches_of_one_graph_do_not_overlap_and_others_may_wait_for_its_events() {
    let mut rig = Rig::new("ideal");
    let client = rig.client();
    let (a, b, c) = (rig.stream(client), rig.stream(client), rig.stream(client));
    let event = rig.event(client);
    let nodes = vec![node(one_block(client, MS), &[]), node(Op::EventRecord(event), &[0])];
    let graph = rig.model.create_graph(0, client.context, nodes).unwrap();
    let first = rig.submit(a, Op::GraphLaunch(graph));
    let second = rig.submit(b, Op::GraphLaunch(graph));
    let waits = rig.submit(c, Op::EventWait(event));
    rig.run_out();
    assert_eq!([first, second, waits].map(|t| rig.at(t)), [MS, 2 * MS, 2 * MS]);
}

#[test]
fn an_empty_graph_completes_and_a_senseless_one_is_refused() {
    let mut rig = Rig::new("ideal");
    let client = rig.client();
    let empty = rig.model.create_graph(0, client.context, Vec::new()).unwrap();
    let token = rig.submit(client.legacy, Op::GraphLaunch(empty));
    rig.run_out();
    assert_eq!(rig.at(token), 0);
    for nodes in [vec![node(Op::Marker, &[0])], vec![node(Op::Marker, &[7])], vec![node(Op::GraphLaunch(empty), &[])]] {
        assert_eq!(rig.model.create_graph(0, client.context, nodes), Err(Refusal::InvalidValue));
    }
}

#[test]
fn a_long_chain_of_nodes_needs_no_stack() {
    let mut rig = Rig::new("ideal");
    let client = rig.client();
    let nodes =
        (0..200_000_u32).map(|index| Node { op: Op::Marker, after: index.checked_sub(1).into_iter().collect() });
    let graph = rig.model.create_graph(0, client.context, nodes.collect()).unwrap();
    let token = rig.submit(client.legacy, Op::GraphLaunch(graph));
    rig.run_out();
    assert_eq!((rig.at(token), rig.model.unfinished()), (0, 0));
}
