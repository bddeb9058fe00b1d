//! Random traces: conservation of time and memory, order, exactly-once completion, determinism.
//!
//! A trace is drawn from a seed and a length; proptest prints both of a failure. `PROPTEST_CASES=20000` runs more of them.

mod common;
mod trace;

use std::collections::BTreeMap;

use mgpu_sim_gpu::*;
use proptest::prelude::*;
use trace::{Run, run};

fn profile(seed: u64) -> Profile {
    let mut profile = match seed % 4 {
        0 => Profile::built_in("ideal").unwrap(),
        1 => Profile::built_in("fast-switch").unwrap(),
        _ => Profile::random(seed),
    };
    // Small limits are met often only in small worlds.
    profile.compute.channels = 1 + u32::try_from(seed % 5).unwrap();
    profile.compute.queue_depth = 4 + u32::try_from(seed % 29).unwrap();
    profile.life.teardown_ns = 5 * common::MS;
    profile
}

fn time_is_conserved(run: &Run) {
    let witness = run.model.witness();
    for (device, intervals) in witness.devices.iter().zip(run.model.intervals(0)) {
        assert_eq!(device.busy_ns + device.switch_ns + device.idle_ns, run.model.now());
        assert_eq!(device.processes.iter().map(|p| p.busy_ns).sum::<u64>(), device.busy_ns);
        assert_eq!(device.processes.iter().map(|p| p.copy_ns).sum::<u64>(), device.copy_ns);
        let mut by_process = BTreeMap::new();
        let mut end = 0;
        for segment in &intervals.segments {
            assert!(segment.start_ns == end && segment.end_ns > segment.start_ns, "segments don't touch: {segment:?}");
            end = segment.end_ns;
            if let Holder::Process { process, .. } = segment.holder {
                *by_process.entry(process.0).or_insert(0) += segment.end_ns - segment.start_ns;
            }
        }
        assert_eq!(end, run.model.now());
        for process in &device.processes {
            assert_eq!(by_process.get(&process.process).copied().unwrap_or(0), process.busy_ns, "segments and account");
            assert!(process.busy_ns <= process.resident_ns, "{process:?}");
            assert!(process.resident_ns <= process.queued_ns, "{process:?}");
            assert!(process.completed <= process.launches && process.ops_completed <= process.ops);
            assert!(process.allocated <= process.allocated_peak && process.overhead <= process.overhead_peak);
        }
    }
}

fn memory_is_conserved(run: &Run) {
    let reserved = run.model.profile().device.reserved_bytes;
    for device in &run.model.witness().devices {
        let charged: u64 = device.processes.iter().map(|p| p.allocated + p.overhead).sum();
        assert_eq!(device.used_bytes, reserved + charged);
    }
}

fn each_op_completes_once_or_its_context_died(run: &Run) {
    assert_eq!(run.model.unfinished(), 0, "something hangs");
    for (token, op) in &run.accepted {
        let count = run.completions.get(token).map_or(0, Vec::len);
        if op.context_ended {
            assert!(count <= 1, "op {token} completed {count} times");
        } else {
            assert_eq!(count, 1, "op {token} {:?}", op.op);
        }
    }
    for token in run.completions.keys() {
        assert!(run.accepted.contains_key(token), "{token} was never accepted");
    }
}

/// By the trace's own book of what must come before what: the stream, the legacy barrier, events, graphs.
fn order_is_kept(run: &Run) {
    for (token, op) in &run.accepted {
        let Some(at) = run.completions.get(token).map(|all| all[0]) else { continue };
        for before in &op.after {
            let Some(earlier) = run.completions.get(before).map(|all| all[0]) else { continue };
            assert!(earlier <= at, "{token} ({:?}) overtook {before} ({:?})", op.op, run.accepted[before].op);
        }
    }
}

fn effects_are_in_time_order(run: &Run) {
    assert!(run.effect_times.is_sorted());
}

proptest! {
    #[test]
    fn random_traces_keep_the_laws(seed in any::<u64>(), length in 10_usize..600) {
        let run = run(profile(seed), seed, length);
        time_is_conserved(&run);
        memory_is_conserved(&run);
        each_op_completes_once_or_its_context_died(&run);
        order_is_kept(&run);
        effects_are_in_time_order(&run);
    }

    #[test]
    fn when_all_are_dead_all_is_given_back(seed in any::<u64>(), length in 10_usize..300) {
        let mut run = run(profile(seed), seed, length);
        run.close_all();
        memory_is_conserved(&run);
        time_is_conserved(&run);
        for device in &run.model.witness().devices {
            prop_assert_eq!(device.used_bytes, run.model.profile().device.reserved_bytes);
            prop_assert!(device.processes.iter().all(|p| p.allocated + p.overhead == 0 && !p.alive));
        }
    }

    #[test]
    fn equal_traces_give_equal_effects_bit_for_bit(seed in any::<u64>(), length in 10_usize..300) {
        let (one, two) = (run(profile(seed), seed, length), run(profile(seed), seed, length));
        prop_assert_eq!(&one.effects, &two.effects);
        prop_assert_eq!(one.model.witness(), two.model.witness());
        prop_assert_eq!(one.model.intervals(0), two.model.intervals(0));
        prop_assert_eq!(one.model.launches(0), two.model.launches(0));
    }

    #[test]
    fn how_far_the_server_advances_at_a_time_changes_nothing(seed in any::<u64>()) {
        let whole = trace::plain(profile(seed), seed, 100 * common::MS);
        let pieces = trace::plain(profile(seed), seed, 37 * common::US);
        prop_assert_eq!(whole, pieces);
    }
}

/// Laws that are never tried hold easily.
#[test]
fn the_traces_reach_everything() {
    let mut seen = BTreeMap::new();
    let mut count = |what: &'static str, times: u64| *seen.entry(what).or_insert(0) += times;
    for seed in 0..200 {
        let run = run(profile(seed), seed, 300);
        count("accepted", run.accepted.len() as u64);
        count("ended with its context", run.accepted.values().filter(|op| op.context_ended).count() as u64);
        count("ordered", run.accepted.values().map(|op| op.after.len() as u64).sum());
        for effect in &run.effects {
            count(
                match effect {
                    Effect::Completed { .. } => "completed",
                    Effect::Copy { .. } => "copy",
                    Effect::Memset { .. } => "memset",
                    Effect::WriteWord { .. } => "write",
                    Effect::PollWord { .. } => "poll",
                    Effect::HostFunc { .. } => "host function",
                    Effect::Fault { .. } => "fault",
                    Effect::QueueSpace { .. } => "queue space",
                    Effect::TornDown { .. } => "torn down",
                    Effect::EventRecorded { .. } => "event in a graph",
                },
                1,
            );
        }
        for process in run.model.witness().devices.iter().flat_map(|d| &d.processes) {
            count("queue full", process.queue_full);
            count("refused", process.refused);
            count("preempted", u64::from(process.busy_ns < process.resident_ns));
        }
    }
    println!("{seen:?}");
    for what in ["accepted", "ordered", "completed"] {
        assert!(seen[what] > 10_000, "{what}: {seen:?}");
    }
    for what in ["copy", "memset", "write", "poll", "host function", "fault", "queue space", "torn down"] {
        assert!(seen[what] > 20, "{what}: {seen:?}");
    }
    for what in ["ended with its context", "queue full", "refused", "preempted"] {
        assert!(seen[what] > 20, "{what}: {seen:?}");
    }
}
