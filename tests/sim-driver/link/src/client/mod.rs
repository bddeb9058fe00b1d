//! The client's side: one [`Session`] per process, made at the first use and never dropped.

use crate::op::{GraphNode, Op};
use crate::types::*;

/// This process's session, connected (and the server started, where allowed) at the first call. Cheap afterwards: one
/// load. In a forked child it connects anew; objects of the parent then answer [`Error::Forked`].
///
/// # Errors
/// [`Error::NoServer`] when none was found. Asked again at each call.
pub fn session() -> Result<&'static Session, Error> {
    Err(Error::NoServer)
}

/// True in a forked child whose parent had a session: there the real driver answers NOT_INITIALIZED.
pub fn forked_from_connected() -> bool {
    false
}

/// CLOCK_MONOTONIC in ns: the time of stamps, of the model and of the witness.
pub fn now_ns() -> u64 {
    0
}

/// Keeps this thread's CPU busy until `cost_ns` after `since_ns` (a [`now_ns`] value). Does nothing when past.
pub fn burn(since_ns: u64, cost_ns: u64) {
    let _ = (since_ns, cost_ns);
}

/// One process's connection to the server. All methods may be called from any thread. When the server dies each
/// returns [`Error::ServerGone`] within 1 s, blocked ones too.
#[derive(Debug)]
pub struct Session {}

/// A stream: its shared line. Copyable; stays readable after [`Session::destroy_stream`], though its line may be reused.
#[derive(Clone, Copy, Debug)]
pub struct Stream {
    /// Its name on the wire.
    pub id: StreamId,
    /// Whose fault stops it.
    pub context: ContextId,
    /// The hardware queue it shares with others, for the queue's depth.
    pub channel: u32,
}

/// An event: a slot with the number of the last complete record and its device time.
#[derive(Clone, Copy, Debug)]
pub struct Event {
    /// Its name on the wire.
    pub id: EventId,
}

impl Session {
    /// All devices of the server, in index order.
    pub fn devices(&self) -> &[DeviceInfo] {
        &[]
    }
    /// What calls cost and how deep queues are.
    pub fn costs(&self) -> HostCosts {
        HostCosts::default()
    }
    /// Makes a context on the device; its overhead is charged by the model.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], [`Error::InvalidValue`] for an unknown device.
    pub fn create_context(&self, device: u32) -> Result<ContextId, Error> {
        let _ = device;
        Err(Error::NoServer)
    }
    /// Drops the context with all that is in it; work that has not begun is dropped with it.
    ///
    /// # Errors
    /// [`Error::InvalidHandle`].
    pub fn destroy_context(&self, context: ContextId) -> Result<(), Error> {
        let _ = context;
        Err(Error::NoServer)
    }
    /// Makes a stream. Create the context's legacy stream like any other, with its kind. Lower `priority` runs first.
    ///
    /// # Errors
    /// [`Error::InvalidHandle`], [`Error::OutOfMemory`] when there are too many.
    pub fn create_stream(&self, context: ContextId, kind: StreamKind, priority: i32) -> Result<Stream, Error> {
        let _ = (context, kind, priority);
        Err(Error::NoServer)
    }
    /// Gives the stream up; what is queued in it still runs.
    ///
    /// # Errors
    /// [`Error::InvalidHandle`].
    pub fn destroy_stream(&self, stream: Stream) -> Result<(), Error> {
        let _ = stream;
        Err(Error::NoServer)
    }
    /// Puts `op` in the stream: stamped now, no system call while the server is awake, no lock, no allocation. Blocks
    /// while the stream's channel has its depth of ops outstanding. Returns a ticket for [`Session::query_ticket`] and
    /// [`Session::wait_ticket`]: once reached, this op and everything that was submitted before it is complete.
    ///
    /// # Errors
    /// [`Error::Fault`] when the context has one (also while blocked).
    pub fn submit(&self, stream: Stream, op: &Op) -> Result<u64, Error> {
        let _ = (stream, op);
        Err(Error::NoServer)
    }
    /// The ticket of everything submitted to the stream so far. No system call.
    pub fn ticket(&self, stream: Stream) -> u64 {
        let _ = stream;
        0
    }
    /// Whether the ticket is reached. No system call.
    ///
    /// # Errors
    /// [`Error::Fault`].
    pub fn query_ticket(&self, stream: Stream, ticket: u64) -> Result<bool, Error> {
        let _ = (stream, ticket);
        Err(Error::NoServer)
    }
    /// Blocks until the ticket is reached.
    ///
    /// # Errors
    /// [`Error::Fault`].
    pub fn wait_ticket(&self, stream: Stream, ticket: u64) -> Result<(), Error> {
        let _ = (stream, ticket);
        Err(Error::NoServer)
    }
    /// [`Session::query_ticket`] of everything so far.
    ///
    /// # Errors
    /// [`Error::Fault`].
    pub fn query_stream(&self, stream: Stream) -> Result<bool, Error> {
        self.query_ticket(stream, self.ticket(stream))
    }
    /// [`Session::wait_ticket`] of everything so far.
    ///
    /// # Errors
    /// [`Error::Fault`].
    pub fn wait_stream(&self, stream: Stream) -> Result<(), Error> {
        self.wait_ticket(stream, self.ticket(stream))
    }
    /// The context's sticky fault, a CUresult; 0 = none. One load.
    pub fn fault(&self, context: ContextId) -> u32 {
        let _ = context;
        0
    }
    /// Takes an event slot of this process. No call of the server.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] when all 65,536 are taken.
    pub fn create_event(&self) -> Result<Event, Error> {
        Err(Error::NoServer)
    }
    /// Gives the slot up. A pending record still completes, unseen.
    pub fn destroy_event(&self, event: Event) {
        let _ = event;
    }
    /// Puts a record of the event in the stream and returns its number (1 for the first, modulo 2^32, never 0).
    ///
    /// # Errors
    /// As [`Session::submit`].
    pub fn record(&self, event: Event, stream: Stream) -> Result<u32, Error> {
        let _ = (event, stream);
        Err(Error::NoServer)
    }
    /// The number of the last record submitted; 0 = never recorded.
    pub fn last_record(&self, event: Event) -> u32 {
        let _ = event;
        0
    }
    /// Makes the stream wait for the event's last record so far; nothing when there is none.
    ///
    /// # Errors
    /// As [`Session::submit`].
    pub fn stream_wait_event(&self, stream: Stream, event: Event) -> Result<(), Error> {
        let _ = (stream, event);
        Err(Error::NoServer)
    }
    /// Whether the last record is complete (true when there is none). The driver checks [`Session::fault`] itself,
    /// since an event belongs to a context that the link does not know.
    pub fn query_event(&self, event: Event) -> bool {
        let _ = event;
        false
    }
    /// Blocks until the last record is complete, or `context` faults.
    ///
    /// # Errors
    /// [`Error::Fault`].
    pub fn wait_event(&self, event: Event, context: ContextId) -> Result<(), Error> {
        let _ = (event, context);
        Err(Error::NoServer)
    }
    /// Device time of the last complete record, ns; None before the first.
    pub fn event_time(&self, event: Event) -> Option<u64> {
        let _ = event;
        None
    }
    /// Charges device memory. Synchronous.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn alloc(&self, context: ContextId, bytes: u64, kind: AllocKind) -> Result<AllocId, Error> {
        let _ = (context, bytes, kind);
        Err(Error::NoServer)
    }
    /// Gives it back at once: wait for the device before, as the driver's free does.
    ///
    /// # Errors
    /// [`Error::InvalidHandle`].
    pub fn free(&self, alloc: AllocId) -> Result<(), Error> {
        let _ = alloc;
        Err(Error::NoServer)
    }
    /// Free and total memory of the context's device.
    ///
    /// # Errors
    /// [`Error::InvalidValue`].
    pub fn memory_info(&self, device: u32) -> Result<MemoryInfo, Error> {
        let _ = device;
        Err(Error::NoServer)
    }
    /// Makes a pool on a device.
    ///
    /// # Errors
    /// [`Error::InvalidValue`].
    pub fn create_pool(&self, device: u32) -> Result<PoolId, Error> {
        let _ = device;
        Err(Error::NoServer)
    }
    /// Drops the pool when its last allocation is free.
    ///
    /// # Errors
    /// [`Error::InvalidHandle`].
    pub fn destroy_pool(&self, pool: PoolId) -> Result<(), Error> {
        let _ = pool;
        Err(Error::NoServer)
    }
    /// Allocates from the pool for use in the stream's order. Give back by [`Op::PoolFree`] or [`Session::free`].
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn pool_alloc(&self, pool: PoolId, stream: Stream, bytes: u64) -> Result<AllocId, Error> {
        let _ = (pool, stream, bytes);
        Err(Error::NoServer)
    }
    /// Gives unused chunks back until `keep` bytes are reserved.
    ///
    /// # Errors
    /// [`Error::InvalidHandle`].
    pub fn pool_trim(&self, pool: PoolId, keep: u64) -> Result<(), Error> {
        let _ = (pool, keep);
        Err(Error::NoServer)
    }
    /// How many free bytes the pool keeps at a synchronisation; 0 by default.
    ///
    /// # Errors
    /// [`Error::InvalidHandle`].
    pub fn pool_threshold(&self, pool: PoolId, bytes: u64) -> Result<(), Error> {
        let _ = (pool, bytes);
        Err(Error::NoServer)
    }
    /// The pool's numbers.
    ///
    /// # Errors
    /// [`Error::InvalidHandle`].
    pub fn pool_stats(&self, pool: PoolId) -> Result<PoolStats, Error> {
        let _ = pool;
        Err(Error::NoServer)
    }
    /// Charges a module's code.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn load_module(&self, context: ContextId, bytes: u64) -> Result<ModuleId, Error> {
        let _ = (context, bytes);
        Err(Error::NoServer)
    }
    /// Lets the code go.
    ///
    /// # Errors
    /// [`Error::InvalidHandle`].
    pub fn unload_module(&self, module: ModuleId) -> Result<(), Error> {
        let _ = module;
        Err(Error::NoServer)
    }
    /// Names a kernel once per process; the same name gives the same id.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] for a name over 4096 bytes.
    pub fn register_function(&self, name: &str) -> Result<FunctionId, Error> {
        let _ = name;
        Err(Error::NoServer)
    }
    /// Uploads a graph.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] for a node that waits for a later one.
    pub fn define_graph(&self, context: ContextId, nodes: &[GraphNode]) -> Result<GraphId, Error> {
        let _ = (context, nodes);
        Err(Error::NoServer)
    }
    /// Drops a graph; launches under way still finish.
    ///
    /// # Errors
    /// [`Error::InvalidHandle`].
    pub fn drop_graph(&self, graph: GraphId) -> Result<(), Error> {
        let _ = graph;
        Err(Error::NoServer)
    }
    /// Runs `call` on the link's thread when the stream reaches it; the stream goes on after its return. The thread is
    /// started at the first use. Within a graph, use [`Session::host_token`].
    ///
    /// # Errors
    /// As [`Session::submit`].
    pub fn host_func(&self, stream: Stream, call: Box<dyn FnOnce() + Send>) -> Result<u64, Error> {
        let _ = (stream, call);
        Err(Error::NoServer)
    }
    /// A token that runs `call` each time an [`Op::HostFunc`] with it is reached.
    ///
    /// # Errors
    /// [`Error::ServerGone`] when the thread cannot be started.
    pub fn host_token(&self, call: Box<dyn Fn() + Send + Sync>) -> Result<u64, Error> {
        let _ = call;
        Err(Error::NoServer)
    }
    /// Tells the server that a function of the driver was called that is not simulated. Tests fail on it.
    pub fn report_unimplemented(&self, name: &str) {
        let _ = name;
    }
    /// What NVML shows of a device. Works without a context, and is not counted as using the device.
    ///
    /// # Errors
    /// [`Error::InvalidValue`].
    pub fn nvml(&self, device: u32) -> Result<NvmlSample, Error> {
        let _ = device;
        Err(Error::NoServer)
    }
}
