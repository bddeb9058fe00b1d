//! The compute side: sharing between processes by slices, overlap within one context, priorities.

mod common;

use common::*;
use mgpu_sim_gpu::*;

fn profiles() -> Vec<Profile> {
    let named = ["default", "fast-switch", "slow-switch", "ideal"].map(|name| Profile::built_in(name).unwrap());
    named.into_iter().chain((0..8).map(Profile::random)).collect()
}

#[test]
fn saturating_processes_get_equal_time_whatever_their_kernels() {
    for profile in profiles() {
        let slice = profile.compute.slice_ns;
        for lengths in [vec![MS, MS], vec![50 * US, 50 * MS], vec![MS, 2 * MS, 3 * MS, 200 * US, 30 * MS]] {
            let mut rig = Rig::with(profile.clone());
            let clients: Vec<_> = lengths.iter().map(|length| (rig.client(), *length)).collect();
            let clients: Vec<_> = clients.into_iter().map(|(c, length)| (c, rig.stream(c), length)).collect();
            rig.saturate(&clients, 2 * S);
            let busy: Vec<_> = clients.iter().map(|(c, ..)| rig.account(*c).busy_ns).collect();
            let (least, most) = (*busy.iter().min().unwrap(), *busy.iter().max().unwrap());
            assert!(most - least <= slice + most / 500, "{}: kernels {lengths:?}: {busy:?}", profile.name);
            let device = &rig.model.witness().devices[0];
            assert_eq!(busy.iter().sum::<u64>(), device.busy_ns);
            assert!(device.idle_ns < 2 * S / 100, "{}: idle {}", profile.name, device.idle_ns);
        }
    }
}

#[test]
fn a_short_kernel_beside_another_process_s_long_one_waits_about_one_slice() {
    for profile in profiles() {
        let rules = profile.compute.clone();
        let mut rig = Rig::with(profile);
        let (long, short) = (rig.client(), rig.client());
        let (a, b) = (rig.stream(long), rig.stream(short));
        let slow = rig.kernel(long, a, 50 * MS);
        rig.run_for(7 * MS);
        let submitted = rig.now();
        let quick = rig.kernel(short, b, 50 * US);
        rig.run_out();
        let waited = rig.at(quick) - submitted;
        let floor = rules.slice_ns + rules.switch_ns;
        // The kernel itself may be an outlier with jitter.
        let ceiling = floor + 50 * US * u64::from(rules.outlier_factor.max(1)) * 11 / 10;
        assert!((floor..=ceiling).contains(&waited), "{waited} not in {floor}..={ceiling}");
        assert!(rig.at(slow) > rig.at(quick));
    }
}

#[test]
fn a_preempted_kernel_keeps_what_it_has_done() {
    let mut rig = Rig::new("ideal");
    let (one, two) = (rig.client(), rig.client());
    let (a, b) = (rig.stream(one), rig.stream(two));
    let long = rig.kernel(one, a, 21 * MS);
    let other = rig.kernel(two, b, 9 * MS);
    rig.run_out();
    // Slices of 2 ms in turn: the other has its nine after 2·4 + 10 ms, the long one the rest.
    assert_eq!((rig.at(other), rig.at(long)), (19 * MS, 30 * MS));
    let (first, second) = (rig.account(one), rig.account(two));
    assert_eq!((first.busy_ns, first.resident_ns), (21 * MS, 30 * MS));
    assert_eq!((second.busy_ns, second.resident_ns, second.queued_ns), (9 * MS, 17 * MS, 19 * MS));
}

#[test]
fn a_sole_context_is_not_sliced() {
    let mut rig = Rig::new("default");
    let client = rig.client();
    let stream = rig.stream(client);
    rig.kernel(client, stream, 500 * MS);
    rig.run_out();
    let device = &rig.model.witness().devices[0];
    assert_eq!(device.switch_ns, rig.model.profile().compute.reload_ns);
}

#[test]
fn switches_cost_what_the_profile_says_and_nobody_is_busy_meanwhile() {
    let mut rig = Rig::new("slow-switch");
    let rules = rig.model.profile().compute.clone();
    let (one, two) = (rig.client(), rig.client());
    let (a, b) = (rig.stream(one), rig.stream(two));
    rig.saturate(&[(one, a, MS), (two, b, MS)], 10 * S);
    let device = &rig.model.witness().devices[0];
    let switched = device.switch_ns as f64 / (10 * S) as f64;
    let expected = rules.switch_ns as f64 / (rules.switch_ns + rules.slice_ns) as f64;
    assert!((switched - expected).abs() < 0.01, "{switched} {expected}");
    assert_eq!(device.busy_ns + device.switch_ns + device.idle_ns, rig.now());
}

#[test]
fn two_small_kernels_of_one_context_overlap_and_count_once() {
    let mut rig = Rig::new("ideal");
    let client = rig.client();
    let (a, b) = (rig.stream(client), rig.stream(client));
    let (first, second) = (rig.small(client, a, 5 * MS), rig.small(client, b, 5 * MS));
    rig.run_out();
    assert_eq!((rig.at(first), rig.at(second)), (5 * MS, 5 * MS));
    let account = rig.account(client);
    assert_eq!((account.busy_ns, account.resident_ns, account.launches), (5 * MS, 5 * MS, 2));
}

#[test]
fn kernels_that_fill_the_device_do_not_overlap() {
    let mut rig = Rig::new("ideal");
    let client = rig.client();
    let (a, b, c) = (rig.stream(client), rig.stream(client), rig.stream(client));
    let first = rig.small(client, a, 5 * MS);
    let big = rig.kernel(client, b, 5 * MS);
    let behind = rig.small(client, c, MS);
    rig.run_out();
    assert_eq!((rig.at(first), rig.at(big)), (5 * MS, 10 * MS));
    assert_eq!(rig.at(behind), 11 * MS, "kernels start in order: none slips past one that waits for room");
}

#[test]
fn small_kernels_of_two_processes_do_not_overlap() {
    let mut rig = Rig::new("ideal");
    let (one, two) = (rig.client(), rig.client());
    let (a, b) = (rig.stream(one), rig.stream(two));
    let (first, second) = (rig.small(one, a, MS), rig.small(two, b, MS));
    rig.run_out();
    assert_eq!((rig.at(first), rig.at(second)), (MS, 2 * MS));
}

#[test]
fn the_more_urgent_stream_goes_first() {
    let mut rig = Rig::new("ideal");
    let client = rig.client();
    let plain = rig.stream(client);
    let other = rig.stream(client);
    let urgent = rig.model.create_stream(0, client.context, StreamKind::NonBlocking, -5).unwrap();
    let running = rig.kernel(client, plain, 3 * MS);
    let waiting = rig.kernel(client, other, MS);
    let quick = rig.kernel(client, urgent, MS);
    rig.run_out();
    assert_eq!((rig.at(running), rig.at(quick), rig.at(waiting)), (3 * MS, 4 * MS, 5 * MS));
}

#[test]
fn durations_come_from_the_submission_the_name_or_the_grid() {
    let mut rig = Rig::new("ideal");
    let client = rig.client();
    let stream = rig.stream(client);
    let named = rig.function(client.context, "_Z10spin_300usPfi");
    let kernel = |function, blocks, duration_ns| Op::Kernel { function, blocks, threads: 1024, duration_ns };
    let by_name = rig.submit(stream, kernel(named, 1, None));
    let explicit = rig.submit(stream, kernel(named, 1, Some(40 * US)));
    let one_wave = rig.submit(stream, kernel(client.function, 216, None));
    let three_waves = rig.submit(stream, kernel(client.function, 216 * 2 + 1, None));
    rig.run_out();
    let ends: Vec<_> = [by_name, explicit, one_wave, three_waves].iter().map(|t| rig.at(*t)).collect();
    assert_eq!(ends, [300 * US, 340 * US, 347 * US, 364 * US]);
}

#[test]
fn one_client_s_kernels_take_the_same_time_whatever_others_do() {
    let run = |others: u32| {
        let mut rig = Rig::new("slow-switch");
        let client = rig.client();
        let stream = rig.stream(client);
        for _ in 0..others {
            let other = rig.client();
            let beside = rig.stream(other);
            for _ in 0..50 {
                rig.kernel(other, beside, 700 * US);
            }
        }
        for _ in 0..200 {
            rig.kernel(client, stream, MS);
        }
        rig.run_out();
        rig.account(client).busy_ns
    };
    assert_eq!(run(0), run(3));
}
