//! What NVML shows, and the rings of the witness.

mod common;

use common::*;
use mgpu_sim_gpu::*;

fn view(rig: &Rig) -> NvmlView {
    rig.model.nvml(DeviceId(0)).unwrap()
}

#[test]
fn nvml_shows_the_last_sample_only() {
    let mut rig = Rig::new("ideal");
    let period = rig.model.profile().life.nvml_period_ns;
    let client = rig.client();
    rig.model.allocate(0, client.context, 10 * MIB).unwrap();
    rig.kernel(client, client.legacy, period / 2);
    rig.run_for(period - 1);
    let first = view(&rig);
    let size = NvmlView { total_bytes: first.total_bytes, reserved_bytes: first.reserved_bytes, ..NvmlView::default() };
    assert_eq!(first, size, "before the first sample only what never changes is known");
    assert!(first.total_bytes > 0);
    rig.run_for(1);
    let seen = view(&rig);
    assert_eq!((seen.gpu_percent, seen.sampled_at_ns, seen.processes.len()), (50, period, 1));
    let overhead = rig.model.profile().memory.context_bytes + rig.model.profile().memory.module_bytes;
    assert_eq!((seen.processes[0].used_bytes, seen.processes[0].gpu_percent), (10 * MIB + overhead, 50));
    rig.model.allocate(rig.now(), client.context, 10 * MIB).unwrap();
    rig.run_for(period / 2);
    assert_eq!(view(&rig), seen, "late");
    rig.run_for(period / 2);
    assert_eq!((view(&rig).gpu_percent, view(&rig).processes[0].used_bytes), (0, 20 * MIB + overhead));
}

#[test]
fn long_quiet_stretches_are_sampled_right_without_a_timer() {
    let mut rig = Rig::new("ideal");
    let period = rig.model.profile().life.nvml_period_ns;
    let client = rig.client();
    rig.kernel(client, client.legacy, 100 * period + period / 4);
    rig.run_for(50 * period + period / 3);
    assert_eq!((view(&rig).gpu_percent, view(&rig).sampled_at_ns), (100, 50 * period));
    rig.run_for(1000 * period);
    assert_eq!((view(&rig).gpu_percent, view(&rig).sampled_at_ns), (0, 1050 * period));
    assert_eq!(rig.model.next_event(), None, "an idle node may sleep");
}

#[test]
fn intervals_tell_who_was_on_the_device() {
    let mut rig = Rig::new("default");
    let rules = rig.model.profile().compute.clone();
    let (one, two) = (rig.client(), rig.client());
    let (a, b) = (rig.stream(one), rig.stream(two));
    rig.run_for(MS);
    for _ in 0..100 {
        rig.kernel(one, a, 10 * US);
    }
    rig.run_out();
    rig.run_for(MS);
    rig.kernel(two, b, MS);
    rig.run_out();
    let seen = &rig.model.intervals(0)[0];
    let holders: Vec<_> = seen.segments.iter().map(|s| s.holder).collect();
    let process = |c: Client, pid| Holder::Process { process: c.process, pid };
    let (idle, switch) = (Holder::Idle, Holder::Switch);
    assert_eq!(holders, [idle, switch, process(one, 100), idle, switch, process(two, 101)], "kernels in a row are one");
    assert!(seen.segments.windows(2).all(|pair| pair[0].end_ns == pair[1].start_ns));
    assert_eq!(seen.segments[1].end_ns - seen.segments[1].start_ns, rules.reload_ns);
    assert_eq!(seen.segments[2].end_ns - seen.segments[2].start_ns, rig.account(one).busy_ns);
    let middle = seen.segments[2].start_ns + 5;
    let later = &rig.model.intervals(middle)[0];
    assert_eq!((later.segments[0].start_ns, later.segments.len()), (middle, 4));
    assert_eq!(rig.model.intervals(0)[1].segments.len(), 1, "the other device was idle");
}

#[test]
fn uuids_come_from_the_seed() {
    let uuids = |seed| {
        let model = Model::new(Profile::built_in("default").unwrap(), seed, 4, None);
        (0..4).map(|d| model.uuid(DeviceId(d)).unwrap()).collect::<Vec<_>>()
    };
    let (mine, again, other) = (uuids(1), uuids(1), uuids(2));
    assert_eq!(mine, again);
    let all: std::collections::BTreeSet<_> = mine.iter().chain(&other).collect();
    assert_eq!(all.len(), 8);
    assert!(mine.iter().all(|u| u[6] >> 4 == 4 && u[8] >> 6 == 2));
}

#[test]
fn the_accounts_begin_with_the_first_call() {
    let mut model = Model::new(Profile::built_in("ideal").unwrap(), 1, 1, Some(1 << 30));
    model.connect(5 * S, 1, "late");
    model.advance(6 * S, &mut Vec::new());
    let device = &model.witness().devices[0];
    assert_eq!((device.idle_ns, device.total_bytes), (S, 1 << 30));
}
