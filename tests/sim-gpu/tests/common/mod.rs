//! A node under test: drives a model in virtual time and keeps what it said.

#![allow(dead_code, unreachable_pub, missing_docs)] // Each test file uses its part.

use mgpu_sim_gpu::*;

pub const US: Nanos = 1_000;
pub const MS: Nanos = 1_000_000;
pub const S: Nanos = 1_000_000_000;
pub const MIB: u64 = 1 << 20;

pub struct Rig {
    pub model: Model,
    pub effects: Vec<Effect>,
    next_token: u64,
    next_pid: u32,
}

/// A process with one context on one device.
#[derive(Clone, Copy)]
pub struct Client {
    pub process: ProcessId,
    pub context: ContextId,
    pub legacy: StreamId,
    pub function: FunctionId,
}

impl Rig {
    pub fn new(profile: &str) -> Self {
        Self::with(Profile::built_in(profile).unwrap())
    }

    pub fn with(profile: Profile) -> Self {
        let mut model = Model::new(profile, 7, 2, None);
        model.advance(0, &mut Vec::new());
        Self { model, effects: Vec::new(), next_token: 0, next_pid: 100 }
    }

    pub fn now(&self) -> Nanos {
        self.model.now()
    }

    pub fn client(&mut self) -> Client {
        let process = self.model.connect(self.now(), self.next_pid, "test");
        self.next_pid += 1;
        self.context(process)
    }

    pub fn context(&mut self, process: ProcessId) -> Client {
        let context = self.model.create_context(self.now(), process, DeviceId(0)).unwrap();
        let legacy = self.model.legacy_stream(context).unwrap();
        let function = self.function(context, "kernel");
        Client { process, context, legacy, function }
    }

    pub fn function(&mut self, context: ContextId, name: &str) -> FunctionId {
        let module = self.model.load_module(self.now(), context, 0).unwrap();
        self.model.create_function(self.now(), module, name).unwrap()
    }

    pub fn stream(&mut self, client: Client) -> StreamId {
        self.model.create_stream(self.now(), client.context, StreamKind::NonBlocking, 0).unwrap()
    }

    pub fn blocking(&mut self, client: Client) -> StreamId {
        self.model.create_stream(self.now(), client.context, StreamKind::Blocking, 0).unwrap()
    }

    pub fn event(&mut self, client: Client) -> EventId {
        self.model.create_event(self.now(), client.process).unwrap()
    }

    /// Submits now; returns the token.
    pub fn submit(&mut self, stream: StreamId, op: Op) -> u64 {
        self.try_submit(stream, op).unwrap()
    }

    pub fn try_submit(&mut self, stream: StreamId, op: Op) -> Result<u64, Refusal> {
        self.next_token += 1;
        self.model.submit(self.now(), stream, self.next_token, op).map(|()| self.next_token)
    }

    /// A kernel that fills the device.
    pub fn kernel(&mut self, client: Client, stream: StreamId, ns: Nanos) -> u64 {
        self.submit(stream, full(client, ns))
    }

    /// A kernel of one block.
    pub fn small(&mut self, client: Client, stream: StreamId, ns: Nanos) -> u64 {
        let function = client.function;
        self.submit(stream, Op::Kernel { function, blocks: 1, threads: 128, duration_ns: Some(ns) })
    }

    pub fn run_for(&mut self, ns: Nanos) {
        let to = self.now() + ns;
        self.model.advance(to, &mut self.effects);
    }

    /// Runs until nothing more will happen by itself.
    pub fn run_out(&mut self) {
        while let Some(at) = self.model.next_event() {
            self.model.advance(at, &mut self.effects);
        }
    }

    pub fn done(&self, token: u64) -> Option<Nanos> {
        let mut found = self.effects.iter().filter_map(|effect| match effect {
            Effect::Completed { token: t, at, .. } if *t == token => Some(*at),
            _ => None,
        });
        let first = found.next();
        assert_eq!(found.next(), None, "op {token} completed twice");
        first
    }

    /// Completion time of an op that must be complete.
    pub fn at(&self, token: u64) -> Nanos {
        self.done(token).unwrap_or_else(|| panic!("op {token} is not complete at {}", self.now()))
    }

    pub fn account(&self, client: Client) -> ProcessWitness {
        let witness = self.model.witness();
        let mut all = witness.devices[0].processes.iter();
        all.find(|p| p.process == client.process.0).unwrap().clone()
    }

    /// Keeps each client's stream full of kernels of its length for `ns`.
    pub fn saturate(&mut self, clients: &[(Client, StreamId, Nanos)], ns: Nanos) {
        let end = self.now() + ns;
        while self.now() < end {
            for (client, stream, length) in clients {
                while self.model.queue_room(*stream) > 0 {
                    self.next_token += 1;
                    self.model.submit(self.now(), *stream, self.next_token, full(*client, *length)).unwrap();
                }
            }
            let shortest = clients.iter().map(|c| c.2).min().unwrap();
            self.effects.clear();
            self.run_for((shortest * 400).min(end - self.now()));
        }
    }
}

pub fn full(client: Client, ns: Nanos) -> Op {
    Op::Kernel { function: client.function, blocks: 1 << 20, threads: 256, duration_ns: Some(ns) }
}
