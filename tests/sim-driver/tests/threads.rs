//! Many threads at once, with objects that come and go: no crash, no lost completion, nothing left allocated.
#![allow(clippy::multiple_unsafe_ops_per_block, reason = "a test is a list of calls of the driver")]

mod common;

use std::ptr;

use common::*;

const THREADS: u64 = 6;
const ROUNDS: u64 = 60;

#[test]
fn threads_share_a_context() {
    let api = api_with(&["--profile", "zero-host-cost"]);
    context(api);
    let function = kernel(api, "shared_2us") as usize;
    let workers: Vec<_> =
        (0..THREADS).map(|seed| std::thread::spawn(move || work(api, function as CUfunction, seed))).collect();
    for worker in workers {
        worker.join().expect("no thread fails");
    }
    let server = server_of_this_process(&[]);
    let process = server.witness()["devices"][0]["processes"][0].clone();
    assert_eq!(process["completed"], process["launches"]);
    assert_eq!(process["launches"], THREADS * ROUNDS * 4, "three kernels and a fill each");
    assert_eq!(process["allocated"], 0, "all was freed");
}

fn work(api: &'static Api, function: CUfunction, seed: u64) {
    context(api);
    let mut back = vec![0_u8; 10_000];
    for round in 0..ROUNDS {
        let value = u8::try_from((seed * ROUNDS + round) % 255).expect("a byte");
        // SAFETY: handles and buffers of this thread's own.
        unsafe {
            let stream = out(|p| (api.cuStreamCreate)(p, u32::try_from(round % 2).expect("a flag")));
            let event = out(|p| (api.cuEventCreate)(p, CU_EVENT_DISABLE_TIMING));
            let size = if round % 3 == 0 { 3 << 20 } else { back.len() };
            let memory = out(|p| (api.cuMemAlloc_v2)(p, size));
            for _ in 0..2 {
                ok(launch(api, function, stream));
            }
            ok((api.cuMemsetD8Async)(memory, value, back.len(), stream));
            ok((api.cuEventRecord)(event, stream));
            ok((api.cuEventSynchronize)(event));
            ok((api.cuMemcpyDtoHAsync_v2)(back.as_mut_ptr().cast(), memory, back.len(), stream));
            assert!(back.iter().all(|byte| *byte == value), "thread {seed}, round {round}");
            let none = ptr::null_mut();
            ok((api.cuLaunchKernel_ptsz)(function, 1, 1, 1, 32, 1, 1, 0, none, ptr::null_mut(), ptr::null_mut()));
            ok((api.cuStreamSynchronize_ptsz)(none));
            ok((api.cuEventDestroy_v2)(event));
            ok((api.cuStreamDestroy_v2)(stream));
            ok((api.cuMemFree_v2)(memory));
        }
    }
}
