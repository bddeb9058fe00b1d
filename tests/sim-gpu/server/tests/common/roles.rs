//! What client processes do. A line `@word …` on standard output tells the test how far it is.

use mgpu_sim_link::*;
use std::sync::atomic::{AtomicU32, Ordering};

/// One context with one stream and a kernel, as most roles need.
pub struct Setup {
    pub session: &'static Session,
    pub context: ContextId,
    pub stream: Stream,
    pub module: ModuleId,
}

impl Setup {
    pub fn new() -> Self {
        let session = session().expect("a server");
        let context = session.create_context(0).expect("a context");
        let stream = session.create_stream(context, StreamKind::NonBlocking, 0).expect("a stream");
        let module = session.load_module(context, 1 << 20).expect("a module");
        Self { session, context, stream, module }
    }

    pub fn kernel(&self, name: &str) -> Op {
        let function = self.session.register_function(self.module, name).expect("a function");
        Op::Kernel { function, grid: [4096, 1, 1], block: [256, 1, 1], shared: 0, cooperative: false }
    }

    pub fn submit(&self, op: &Op) -> u64 {
        self.session.submit(self.stream, op).expect("submitted")
    }

    pub fn wait(&self) {
        self.session.wait_stream(self.stream).expect("complete");
    }
}

pub fn say(line: &str) {
    println!("@{line}");
}

/// Blocks until the test says something (or ends).
pub fn hear() -> String {
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).expect("readable");
    line.trim().to_owned()
}

/// Keeps the queue as full as it gets, until killed.
pub fn saturate(kernel: &str) {
    let setup = Setup::new();
    let kernel = setup.kernel(kernel);
    say("ready");
    loop {
        setup.submit(&kernel);
    }
}

/// Says how many submissions returned, from a second thread, while the first blocks. Ends with the server.
pub fn fill(kernel: &str) {
    static RETURNED: AtomicU32 = AtomicU32::new(0);
    let setup = Setup::new();
    let kernel = setup.kernel(kernel);
    say(&format!("depth {}", setup.session.costs().queue_depth));
    std::thread::spawn(|| {
        loop {
            hear();
            say(&format!("returned {}", RETURNED.load(Ordering::SeqCst)));
        }
    });
    while setup.session.submit(setup.stream, &kernel).is_ok() {
        RETURNED.fetch_add(1, Ordering::SeqCst);
    }
}

/// Submits a 20 ms kernel and a marker behind it, tells where the marker goes, and stops itself.
pub fn stopped_marker() {
    let setup = Setup::new();
    let (word, kernel) = (Box::leak(Box::new(AtomicU32::new(0))), setup.kernel("spin_20ms"));
    setup.submit(&kernel);
    setup.submit(&Op::WriteWord { address: word.as_ptr() as u64, value: 7, width: 4 });
    setup.submit(&Op::Nop);
    say(&format!("address {}", word.as_ptr() as u64));
    // SAFETY: a plain call; this process goes on when the test says so.
    unsafe { libc::raise(libc::SIGSTOP) };
    setup.wait();
    say(&format!("word {}", word.load(Ordering::SeqCst)));
}

/// Everything once: copies, memsets, words, events, host functions, graphs, pools.
pub fn everything() {
    let setup = Setup::new();
    moves(&setup);
    words(&setup);
    events(&setup);
    host(&setup);
    graph(&setup);
    memory(&setup);
    say("done");
}

fn plain_copy(dst: u64, src: u64, width: u64) -> Op {
    let pitch = Pitch::default();
    let direction = Direction::HostToDevice;
    Op::Copy { dst, src, width, height: 1, depth: 1, dst_pitch: pitch, src_pitch: pitch, direction }
}

fn moves(setup: &Setup) {
    // Longer than what the main loop moves itself; the marker must not overtake it.
    let length = 8 << 20;
    let (from, to) = (vec![3u8; length], vec![0u8; length]);
    let word = AtomicU32::new(0);
    setup.submit(&plain_copy(to.as_ptr() as u64, from.as_ptr() as u64, length as u64));
    setup.submit(&Op::Memset { dst: to.as_ptr() as u64, value: 9, element: 1, width: 16, height: 1, pitch: 0 });
    setup.submit(&Op::WriteWord { address: word.as_ptr() as u64, value: 1, width: 4 });
    while word.load(Ordering::SeqCst) == 0 {
        std::hint::spin_loop();
    }
    let to = std::hint::black_box(to);
    assert!(to[..16].iter().all(|&byte| byte == 9) && to[16..].iter().all(|&byte| byte == 3));
    setup.wait();
}

fn words(setup: &Setup) {
    let (gate, mark) = (AtomicU32::new(0), AtomicU32::new(0));
    let condition = Condition::GreaterOrEqual;
    setup.submit(&Op::WaitWord { address: gate.as_ptr() as u64, value: 2, width: 4, condition });
    setup.submit(&Op::WriteWord { address: mark.as_ptr() as u64, value: 5, width: 4 });
    let other = setup.session.create_stream(setup.context, StreamKind::NonBlocking, 0).expect("a stream");
    setup.session.submit(other, &Op::Nop).expect("submitted");
    setup.session.wait_stream(other).expect("the other stream goes on");
    assert!(!setup.session.query_stream(setup.stream).expect("no fault"));
    assert_eq!(mark.load(Ordering::SeqCst), 0);
    setup
        .session
        .submit(other, &Op::WriteWord { address: gate.as_ptr() as u64, value: 2, width: 4 })
        .expect("submitted");
    setup.wait();
    assert_eq!(mark.load(Ordering::SeqCst), 5);
    setup.session.destroy_stream(other).expect("ours");
}

fn events(setup: &Setup) {
    let session = setup.session;
    let (start, end) = (session.create_event().expect("an event"), session.create_event().expect("an event"));
    assert!(session.query_event(start) && session.event_time(start).is_none());
    session.record(start, setup.stream).expect("recorded");
    setup.submit(&setup.kernel("spin_5ms"));
    session.record(end, setup.stream).expect("recorded");
    let other = session.create_stream(setup.context, StreamKind::NonBlocking, 0).expect("a stream");
    session.stream_wait_event(other, end).expect("submitted");
    session.submit(other, &Op::Nop).expect("submitted");
    session.wait_stream(other).expect("complete");
    assert!(session.query_event(end), "the other stream waited for it");
    session.wait_event(end, setup.context).expect("complete");
    let times = (session.event_time(start).expect("recorded"), session.event_time(end).expect("recorded"));
    assert!(times.1 - times.0 >= 4_000_000, "a 5 ms kernel between them: {times:?}");
    session.destroy_event(end);
    let again = session.create_event().expect("an event");
    assert!(again.id == end.id && session.event_time(again).is_none(), "a used slot is a new event");
    session.destroy_stream(other).expect("ours");
}

fn host(setup: &Setup) {
    let order = std::sync::Arc::new(AtomicU32::new(0));
    let seen = std::sync::Arc::clone(&order);
    let mark = AtomicU32::new(0);
    setup.submit(&Op::WriteWord { address: mark.as_ptr() as u64, value: 1, width: 4 });
    let at = mark.as_ptr() as usize;
    let call = move || {
        // SAFETY: `mark` lives until the stream is complete.
        let mark = unsafe { AtomicU32::from_ptr(at as *mut u32) };
        seen.store(mark.load(Ordering::SeqCst) + 1, Ordering::SeqCst);
    };
    setup.session.host_func(setup.stream, Box::new(call)).expect("submitted");
    setup.submit(&Op::WriteWord { address: mark.as_ptr() as u64, value: 8, width: 4 });
    setup.wait();
    assert_eq!((order.load(Ordering::SeqCst), mark.load(Ordering::SeqCst)), (2, 8));
}

fn graph(setup: &Setup) {
    let words: &'static [AtomicU32; 3] = Box::leak(Box::default());
    let address = |index: usize| words[index].as_ptr() as u64;
    let calls = std::sync::Arc::new(AtomicU32::new(0));
    let count = std::sync::Arc::clone(&calls);
    let token = setup.session.host_token(Box::new(move || {
        count.fetch_add(1, Ordering::SeqCst);
    }));
    let node = |op, after: &[u32]| GraphNode { op, after: after.to_vec() };
    let nodes = [
        node(Op::Memset { dst: address(0), value: 6, element: 4, width: 1, height: 1, pitch: 0 }, &[]),
        node(setup.kernel("spin_1ms"), &[0]),
        node(plain_copy(address(1), address(0), 4), &[1]),
        node(Op::HostFunc { token: token.expect("a token") }, &[1]),
        node(Op::WriteWord { address: address(2), value: 9, width: 4 }, &[2, 3]),
    ];
    let graph = setup.session.define_graph(setup.context, &nodes).expect("a graph");
    for _ in 0..2 {
        setup.submit(&Op::Graph { graph });
    }
    setup.session.drop_graph(graph).expect("ours");
    setup.wait();
    let values = [0, 1, 2].map(|index| words[index].load(Ordering::SeqCst));
    assert_eq!((values, calls.load(Ordering::SeqCst)), ([6, 6, 9], 2));
    assert_eq!(setup.session.define_graph(setup.context, &[node(Op::Nop, &[1])]), Err(Error::InvalidValue));
}

fn memory(setup: &Setup) {
    let session = setup.session;
    let before = session.memory_info(0).expect("device 0");
    let big = session.alloc(setup.context, 1 << 30, AllocKind::Plain).expect("there is room");
    let physical = session.alloc_physical(0, 64 << 20).expect("there is room");
    let after = session.memory_info(0).expect("device 0");
    assert_eq!(before.free - after.free, (1 << 30) + (64 << 20));
    assert_eq!(session.alloc(setup.context, 1 << 50, AllocKind::Plain), Err(Error::OutOfMemory));
    session.free(big).expect("ours");
    session.free(physical).expect("ours");
    assert_eq!(session.free(big), Err(Error::InvalidHandle));
    let pool = session.create_pool(0).expect("a pool");
    let piece = session.pool_alloc(pool, setup.stream, 1000).expect("there is room");
    assert!(session.pool_stats(pool).expect("ours").reserved > 0);
    setup.submit(&Op::PoolFree { alloc: piece });
    setup.wait();
    let stats = session.pool_stats(pool).expect("ours");
    assert_eq!((stats.used, stats.reserved, stats.used_high > 0), (0, 0, true), "trimmed at the synchronisation");
    session.destroy_pool(pool).expect("ours");
    assert_eq!(session.memory_info(0).expect("device 0").free, before.free);
    assert_eq!(session.create_context(99), Err(Error::InvalidValue));
}

/// Faults a context; others of the process go on.
pub fn fault() {
    let setup = Setup::new();
    setup.submit(&setup.kernel("fault_x"));
    assert_eq!(setup.session.wait_stream(setup.stream), Err(Error::Fault(700)));
    assert_eq!(setup.session.submit(setup.stream, &Op::Nop), Err(Error::Fault(700)));
    let faulty = setup.context;
    setup.session.destroy_context(faulty).expect("ours");
    assert_eq!(setup.session.submit(setup.stream, &Op::Nop), Err(Error::Fault(709)));
    let fresh = Setup::new();
    assert_eq!((fresh.context, fresh.session.fault(faulty)), (faulty, 0), "its line is used again");
    fresh.submit(&Op::Nop);
    fresh.wait();
    say("done");
}

/// A forked child has no session of its parent's, and may make its own.
pub fn fork() {
    let setup = Setup::new();
    setup.submit(&Op::Nop);
    setup.wait();
    say("ready");
    // SAFETY: only this thread exists that matters to the child (the test harness's waits).
    let child = unsafe { libc::fork() };
    if child == 0 {
        assert!(forked_from_connected());
        assert_eq!(setup.session.submit(setup.stream, &Op::Nop), Err(Error::Forked));
        let own = Setup::new();
        own.submit(&Op::Nop);
        own.wait();
        assert!(!forked_from_connected());
        println!("@child {}", std::process::id());
        hear();
        std::process::exit(0);
    }
    loop {
        std::thread::park();
    }
}

/// Lies in every way that the shared memory allows, then says so.
pub fn liar() {
    use mgpu_sim_link::layout::{RING, Region, SLOT_WORDS};
    let setup = Setup::new();
    let region = find_region::<Region>();
    let mut random = 1u64;
    let mut next = move || {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        random >> 11
    };
    for round in 0..20_000u64 {
        let slot = &region.slots[usize::try_from(next()).unwrap_or(0) % RING].0;
        for word in slot.iter().take(SLOT_WORDS).skip(1) {
            word.store(next() << 30 ^ next(), Ordering::Relaxed);
        }
        slot[2].store(next() % 70, Ordering::Relaxed);
        slot[0].store(next() % 8, Ordering::Release);
        region.tail.0.store(if round % 3 == 0 { next() } else { round }, Ordering::Release);
        region.host_head.0.store(next(), Ordering::Release);
        region.streams[0].completed.store(next(), Ordering::Release);
        region.streams[0].waiters.store(1, Ordering::Release);
        if round % 100 == 0 {
            setup.session.memory_info(0).expect("the server lives");
        }
    }
    say("done");
}

/// The region's mapping, by its name in this process's own maps.
fn find_region<T>() -> &'static T {
    let maps = std::fs::read_to_string("/proc/self/maps").expect("own maps");
    let line = maps.lines().find(|line| line.contains("mgpu-sim-region")).expect("mapped");
    let start = u64::from_str_radix(line.split('-').next().expect("an address"), 16).expect("hexadecimal");
    // SAFETY: the session's mapping is of this type, aligned, and never unmapped.
    unsafe { &*(start as *const T) }
}

pub fn run(role: &str) {
    match role.split_once(' ').unwrap_or((role, "")) {
        ("saturate", kernel) => saturate(kernel),
        ("fill", kernel) => fill(kernel),
        ("stopped-marker", _) => stopped_marker(),
        ("everything", _) => everything(),
        ("fault", _) => fault(),
        ("fork", _) => fork(),
        ("liar", _) => liar(),
        ("sleep", _) => {
            let setup = Setup::new();
            let _ = setup.session.alloc(setup.context, 1 << 30, AllocKind::Plain).expect("there is room");
            say("ready");
            hear();
        }
        ("burst", _) => burst(),
        ("latency", _) => latency(),
        ("find", _) => say(&format!("found {:?}", session().err())),
        ("cost", threads) => cost(threads.parse().expect("a number")),
        other => panic!("no such role: {other:?}"),
    }
}

/// Waits after each kernel, as latency-bound programs do.
fn burst() {
    let setup = Setup::new();
    let kernel = setup.kernel("spin_100us");
    for _ in 0..200 {
        setup.submit(&kernel);
        setup.wait();
    }
    say("done");
}

/// The mean cost of a submission that does not block, by thread.
pub fn cost(threads: usize) {
    let setup = std::sync::Arc::new(Setup::new());
    let kernel = setup.kernel("spin_1us");
    let workers = (0..threads).map(|_| {
        let setup = std::sync::Arc::clone(&setup);
        std::thread::spawn(move || {
            let stream = setup.session.create_stream(setup.context, StreamKind::NonBlocking, 0).expect("a stream");
            let mut total = 0;
            for _ in 0..200 {
                let begin = now_ns();
                for _ in 0..100 {
                    setup.session.submit(stream, &kernel).expect("submitted");
                }
                total += now_ns() - begin;
                setup.session.wait_stream(stream).expect("complete");
            }
            total / 20_000
        })
    });
    let workers: Vec<_> = workers.collect();
    let means: Vec<u64> = workers.into_iter().map(|worker| worker.join().expect("ends well")).collect();
    say(&format!("cost {means:?}"));
}

/// Medians of an allocation with its free, and of a kernel of 1 µs with its wait, ns of the wall clock.
pub fn latency() {
    let setup = Setup::new();
    let kernel = setup.kernel("spin_1us");
    let median = |step: &dyn Fn()| {
        let mut times: Vec<u64> = (0..2000)
            .map(|_| {
                let begin = now_ns();
                step();
                now_ns() - begin
            })
            .collect();
        times.sort_unstable();
        times[times.len() / 2]
    };
    let pair = median(&|| {
        let piece = setup.session.alloc(setup.context, 4096, AllocKind::Plain).expect("there is room");
        setup.session.free(piece).expect("ours");
    });
    let round = median(&|| {
        setup.submit(&kernel);
        setup.wait();
    });
    say(&format!("latency alloc+free {pair} launch+wait {round}"));
}
