//! How many kernels a second the model carries on one core. Prints; judges nothing.
//!
//! `cargo bench -p mgpu-sim-gpu --bench rate`

use std::time::Instant;

use mgpu_sim_gpu::{DeviceId, Effect, Model, Op, Profile, StreamKind};

const KERNELS: u64 = 2_000_000;

fn main() {
    for clients in [1, 2, 16] {
        for marker in [false, true] {
            println!("{clients} clients, markers {marker}: {} kernels/s", rate(clients, marker));
        }
    }
}

/// 10 µs kernels, submitted as they would come in, `clients` of them at once; with a marker behind each or not.
fn rate(clients: u32, marker: bool) -> u64 {
    let mut model = Model::new(Profile::built_in("default").expect("a built-in"), 1, 1, None);
    let mut lanes = Vec::new();
    for pid in 0..clients {
        let process = model.connect(0, pid, "bench");
        let context = model.create_context(0, process, DeviceId(0)).expect("a context");
        let module = model.load_module(0, context, 0).expect("a module");
        let function = model.create_function(0, module, "spin_10us").expect("a function");
        let stream = model.create_stream(0, context, StreamKind::NonBlocking, 0).expect("a stream");
        lanes.push((stream, function));
    }
    let mut effects: Vec<Effect> = Vec::new();
    let (mut stamp, mut token, mut full) = (0, 0, 0);
    let began = Instant::now();
    while token < KERNELS {
        stamp += 9_000;
        let (stream, function) = lanes[usize::try_from(token).unwrap_or(0) % lanes.len()];
        token += 1;
        let op = Op::Kernel { function, blocks: 1 << 16, threads: 256, duration_ns: None };
        if model.submit(stamp, stream, token, op).is_err() {
            full += 1;
            stamp += 1_000_000;
        }
        if marker {
            let _ = model.submit(stamp, stream, token, Op::WriteValue { address: 64, value: token, width: 4 });
        }
        if token.is_multiple_of(16) {
            effects.clear();
            model.advance(stamp, &mut effects);
        }
    }
    std::hint::black_box(&effects);
    let micros = u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX).max(1);
    assert!(full < KERNELS / 10, "the queue was full too often to tell anything");
    (KERNELS - full) * 1_000_000 / micros
}
