//! Memory: blocks, pools, managed memory, lazily loaded modules, refusals. By the accounts, in whole driver blocks.

mod common;

use common::*;
use mgpu_sim_gpu::*;

fn allocated(rig: &Rig, client: Client) -> u64 {
    rig.account(client).allocated
}

#[test]
fn small_allocations_share_a_block_of_their_context() {
    let mut rig = Rig::new("default");
    let client = rig.client();
    let other = rig.context(client.process);
    let first: Vec<_> = (0..2).map(|_| rig.model.allocate(0, client.context, MIB).unwrap()).collect();
    assert_eq!(allocated(&rig, client), 2 * MIB);
    let third = rig.model.allocate(0, client.context, 1).unwrap();
    let apart = rig.model.allocate(0, other.context, 1).unwrap();
    assert_eq!(allocated(&rig, client), 6 * MIB, "a block is full; a context has its own");
    let place = |id| rig.model.placement(id).unwrap();
    assert_eq!((place(first[0]).block, place(first[0]).offset), (place(first[1]).block, 0));
    assert_eq!((place(first[1]).offset, place(first[1]).block_bytes), (MIB, 2 * MIB));
    assert_ne!(place(third).block, place(apart).block);
    assert_eq!(place(third).bytes, rig.model.profile().memory.small_alignment);
    rig.model.free(0, first[0]).unwrap();
    assert_eq!(allocated(&rig, client), 6 * MIB, "half a block is still a block");
    rig.model.free(0, first[1]).unwrap();
    assert_eq!(allocated(&rig, client), 4 * MIB);
    assert_eq!(rig.model.free(0, first[1]), Err(Refusal::NoSuchObject));
}

#[test]
fn larger_ones_are_rounded_up_to_blocks() {
    let mut rig = Rig::new("default");
    let client = rig.client();
    for (bytes, blocks) in [(MIB + 1, 1), (2 * MIB, 1), (2 * MIB + 1, 2), (7 * MIB, 4)] {
        let id = rig.model.allocate(0, client.context, bytes).unwrap();
        assert_eq!(allocated(&rig, client), blocks * 2 * MIB, "{bytes}");
        rig.model.free(0, id).unwrap();
    }
    let physical = rig.model.allocate_physical(0, client.process, DeviceId(0), 1).unwrap();
    assert_eq!(allocated(&rig, client), 2 * MIB);
    rig.model.destroy_context(0, client.context).unwrap();
    assert_eq!(allocated(&rig, client), 2 * MIB, "physical memory belongs to no context");
    rig.model.free(0, physical).unwrap();
    assert_eq!((allocated(&rig, client), rig.account(client).allocated_peak), (0, 8 * MIB));
}

#[test]
fn a_full_device_refuses_and_counts_it() {
    let mut rig = Rig::new("default");
    let client = rig.client();
    let free = rig.model.memory_info(DeviceId(0)).unwrap().free;
    assert_eq!(rig.model.allocate(0, client.context, free + 1), Err(Refusal::OutOfMemory));
    let all = rig.model.allocate(0, client.context, free).unwrap();
    assert_eq!(rig.model.memory_info(DeviceId(0)).unwrap().free, 0);
    assert_eq!(rig.model.allocate(0, client.context, 1), Err(Refusal::OutOfMemory));
    assert_eq!(rig.model.create_context(0, client.process, DeviceId(0)), Err(Refusal::OutOfMemory));
    assert!(rig.model.create_context(0, client.process, DeviceId(1)).is_ok(), "the other device is empty");
    rig.model.free(0, all).unwrap();
    rig.model.allocate(0, client.context, free).unwrap();
    let account = rig.account(client);
    assert_eq!((account.refused, account.allocated_peak), (3, free));
    for bytes in [0, u64::MAX] {
        assert!(rig.model.allocate(0, client.context, bytes).is_err(), "{bytes}");
        assert!(rig.model.allocate_managed(0, client.context, bytes).is_err(), "{bytes}");
    }
}

#[test]
fn contexts_and_modules_are_overhead_and_modules_load_at_the_first_launch() {
    let mut rig = Rig::new("default");
    let rules = rig.model.profile().memory.clone();
    let client = rig.client();
    let module = rig.model.load_module(0, client.context, 3 * MIB).unwrap();
    let function = rig.model.create_function(0, module, "f_1us").unwrap();
    assert_eq!(rig.account(client).overhead, rules.context_bytes);
    let launch = Op::Kernel { function, blocks: 1, threads: 1, duration_ns: None };
    rig.submit(client.legacy, launch);
    rig.submit(client.legacy, launch);
    let loaded = rules.context_bytes + rules.module_bytes + 3 * MIB;
    assert_eq!((rig.account(client).overhead, rig.account(client).allocated), (loaded, 0));
    rig.run_out();
    rig.model.unload_module(rig.now(), module).unwrap();
    assert_eq!(rig.try_submit(client.legacy, launch), Err(Refusal::NoSuchObject));
    let account = rig.account(client);
    assert_eq!((account.overhead, account.overhead_peak), (rules.context_bytes, loaded));
}

#[test]
fn a_launch_that_finds_no_room_for_its_module_is_refused() {
    let mut rig = Rig::new("default");
    let client = rig.client();
    let free = rig.model.memory_info(DeviceId(0)).unwrap().free;
    rig.model.allocate(0, client.context, free).unwrap();
    assert_eq!(rig.try_submit(client.legacy, full(client, MS)), Err(Refusal::OutOfMemory));
}

#[test]
fn a_pool_reserves_chunks_and_gives_them_back_at_a_synchronisation() {
    let mut rig = Rig::new("default");
    let client = rig.client();
    let stream = client.legacy;
    let pool = rig.model.create_pool(0, client.process, DeviceId(0)).unwrap();
    let take = |rig: &mut Rig, bytes| rig.model.allocate_from_pool(rig.now(), pool, stream, bytes).unwrap();
    let small = take(&mut rig, 1000);
    assert_eq!((allocated(&rig, client), rig.model.pool_usage(pool)), (32 * MIB, Some((32 * MIB, 1024))));
    let large = take(&mut rig, 100 * MIB + 1);
    assert_eq!(allocated(&rig, client), 32 * MIB + 102 * MIB);
    rig.small(client, stream, MS);
    rig.submit(stream, Op::PoolFree(large));
    assert_eq!(rig.try_submit(stream, Op::PoolFree(large)), Err(Refusal::NoSuchObject));
    assert_eq!(rig.model.free(rig.now(), large), Err(Refusal::NoSuchObject));
    rig.model.note_synchronize(rig.now(), client.context);
    assert_eq!(allocated(&rig, client), 134 * MIB, "the free has not been reached");
    rig.run_out();
    rig.model.note_synchronize(rig.now(), client.context);
    assert_eq!(rig.model.pool_usage(pool), Some((32 * MIB, 1024)));
    rig.model.set_release_threshold(rig.now(), pool, 40 * MIB).unwrap();
    rig.model.free(rig.now(), small).unwrap();
    rig.model.note_synchronize(rig.now(), client.context);
    assert_eq!(rig.model.pool_usage(pool), Some((32 * MIB, 0)), "below the threshold");
    rig.model.trim_pool(rig.now(), pool, 0).unwrap();
    assert_eq!((allocated(&rig, client), rig.model.pool_usage(pool)), (0, Some((0, 0))));
}

#[test]
fn a_stream_reuses_at_once_what_it_freed_and_others_when_it_is_free() {
    let mut rig = Rig::new("default");
    let client = rig.client();
    let (a, b) = (rig.stream(client), rig.stream(client));
    let pool = rig.model.create_pool(0, client.process, DeviceId(0)).unwrap();
    let first = rig.model.allocate_from_pool(0, pool, a, 32 * MIB).unwrap();
    let place = rig.model.placement(first).unwrap();
    rig.small(client, a, MS);
    let free = rig.submit(a, Op::PoolFree(first));
    let again = rig.model.allocate_from_pool(0, pool, a, 20 * MIB).unwrap();
    assert_eq!(rig.model.placement(again).unwrap(), place);
    let other = rig.model.allocate_from_pool(0, pool, b, 20 * MIB).unwrap();
    assert_ne!(rig.model.placement(other).unwrap().block, place.block);
    assert_eq!(allocated(&rig, client), 64 * MIB);
    rig.run_out();
    assert!(rig.done(free).is_some());
    assert_eq!(rig.model.pool_usage(pool), Some((64 * MIB, 52 * MIB)), "taken over, so not free at all");
    rig.submit(a, Op::PoolFree(again));
    rig.run_out();
    let third = rig.model.allocate_from_pool(rig.now(), pool, b, 30 * MIB).unwrap();
    assert_eq!(rig.model.placement(third).unwrap().block, place.block);
}

#[test]
fn a_destroyed_pool_goes_with_its_last_allocation() {
    let mut rig = Rig::new("default");
    let (client, other) = (rig.client(), rig.client());
    let pool = rig.model.create_pool(0, client.process, DeviceId(0)).unwrap();
    let refused = rig.model.allocate_from_pool(0, pool, other.legacy, 1);
    assert_eq!(refused, Err(Refusal::NoSuchObject), "another process's");
    let held = rig.model.allocate_from_pool(0, pool, client.legacy, 1).unwrap();
    rig.model.destroy_pool(0, pool).unwrap();
    assert_eq!(rig.model.allocate_from_pool(0, pool, client.legacy, 1), Err(Refusal::NoSuchObject));
    assert_eq!(allocated(&rig, client), 32 * MIB);
    rig.submit(client.legacy, Op::PoolFree(held));
    rig.run_out();
    assert_eq!((allocated(&rig, client), rig.model.pool_usage(pool)), (0, None));
}

#[test]
fn managed_memory_comes_with_a_launch_and_makes_way() {
    let mut rig = Rig::new("default");
    let client = rig.client();
    let managed = rig.model.allocate_managed(0, client.context, 3 * MIB).unwrap();
    assert_eq!(allocated(&rig, client), 0, "nothing has touched it");
    rig.small(client, client.legacy, US);
    assert_eq!(allocated(&rig, client), 4 * MIB);
    let free = rig.model.memory_info(DeviceId(0)).unwrap().free;
    assert_eq!(rig.model.allocate(0, client.context, free + 5 * MIB), Err(Refusal::OutOfMemory));
    assert_eq!(allocated(&rig, client), 4 * MIB, "it doesn't leave for nothing");
    let plain = rig.model.allocate(0, client.context, free + 3 * MIB).unwrap();
    assert_eq!(allocated(&rig, client), free + 4 * MIB);
    rig.small(client, client.legacy, US);
    assert_eq!(allocated(&rig, client), free + 4 * MIB, "no room, and no refusal");
    rig.model.free(0, plain).unwrap();
    rig.small(client, client.legacy, US);
    assert_eq!(allocated(&rig, client), 4 * MIB);
    rig.model.free(0, managed).unwrap();
    assert_eq!((allocated(&rig, client), rig.account(client).refused), (0, 1));
}

#[test]
fn every_corner_counts_in_its_own_blocks() {
    for profile in
        (0..50).map(Profile::random).chain(["fast-switch", "slow-switch"].map(|n| Profile::built_in(n).unwrap()))
    {
        let rules = profile.memory.clone();
        let mut rig = Rig::with(profile);
        let client = rig.client();
        let pool = rig.model.create_pool(0, client.process, DeviceId(0)).unwrap();
        rig.model.allocate(0, client.context, rules.small_limit.max(1)).unwrap();
        rig.model.allocate(0, client.context, rules.granularity + 1).unwrap();
        rig.model.allocate_from_pool(0, pool, client.legacy, 1).unwrap();
        assert_eq!(allocated(&rig, client), 3 * rules.granularity + rules.pool_chunk);
    }
}
