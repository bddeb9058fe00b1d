//! The socket messages: one request, one response, always in that order; and the hello that begins a connection.
//!
//! Both are encoded by postcard, whose decoder is safe on any input; [`frame`](crate::frame) bounds their size.

use crate::op::GraphNode;
use crate::types::*;
use serde::{Deserialize, Serialize};

/// What a connection is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Role {
    /// Uses the devices. Brings its memory's file (`/proc/self/mem`) and gets region, notice and doorbell.
    Client,
    /// Only asks (NVML, the witness commands).
    Observer,
}

/// The first message of a connection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// [`crate::layout::VERSION`].
    pub version: u32,
    /// What for.
    pub role: Role,
    /// The process's name, for the witness; cut to 255 bytes.
    pub command: String,
}

/// The answer to the hello.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Welcome {
    /// Come in. For a client three files come along: region, notice, doorbell (an eventfd).
    Accepted {
        /// All devices, in index order.
        devices: Vec<DeviceInfo>,
        /// The profile's host costs.
        costs: HostCosts,
        /// The server's pid in its own namespace.
        server_pid: u32,
    },
    /// Another build.
    Version {
        /// The server's.
        server: u32,
    },
}

/// What can be asked. Comments where the session's method of that name doesn't tell all.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)] // Named and documented by the methods of `Session` and `Observer`.
pub enum Request {
    CreateContext {
        device: u32,
    },
    DestroyContext {
        context: ContextId,
    },
    CreateStream {
        context: ContextId,
        kind: StreamKind,
        priority: i32,
    },
    DestroyStream {
        stream: StreamId,
    },
    Alloc {
        context: ContextId,
        bytes: u64,
        kind: AllocKind,
    },
    AllocPhysical {
        device: u32,
        bytes: u64,
    },
    Free {
        alloc: AllocId,
    },
    MemoryInfo {
        device: u32,
    },
    CreatePool {
        device: u32,
    },
    DestroyPool {
        pool: PoolId,
    },
    PoolAlloc {
        pool: PoolId,
        stream: StreamId,
        bytes: u64,
    },
    PoolTrim {
        pool: PoolId,
        keep: u64,
    },
    PoolThreshold {
        pool: PoolId,
        bytes: u64,
    },
    PoolStats {
        pool: PoolId,
    },
    LoadModule {
        context: ContextId,
        bytes: u64,
    },
    UnloadModule {
        module: ModuleId,
    },
    RegisterFunction {
        module: ModuleId,
        name: String,
    },
    DefineGraph {
        context: ContextId,
        nodes: Vec<GraphNode>,
    },
    DropGraph {
        graph: GraphId,
    },
    Unimplemented {
        name: String,
    },
    Nvml {
        device: u32,
    },
    /// The witness as JSON.
    Witness,
    /// Residency segments since then, as JSON.
    Intervals {
        since_ns: u64,
    },
    /// Launch stamps since then, as JSON.
    Launches {
        since_ns: u64,
    },
}

/// What is answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)] // The variants are the return types of `Session`'s methods.
pub enum Response {
    Done,
    Context(ContextId),
    Stream { stream: StreamId, channel: u32, fresh: bool },
    Alloc(AllocId),
    Pool(PoolId),
    Module(ModuleId),
    Function(FunctionId),
    Graph(GraphId),
    Memory(MemoryInfo),
    PoolStats(PoolStats),
    Nvml(Box<NvmlSample>),
    Json(String),
    Failed(Error),
}
