//! What the server answers about memory, code and graphs: one round trip each, behind all that this thread submitted.

use super::{Session, Stream};
use crate::op::GraphNode;
use crate::rpc::{Request, Response};
use crate::types::*;
use std::sync::atomic::Ordering;

/// Unwraps the response that a request has, or says that the server spoke nonsense.
macro_rules! expect {
    ($response:expr, $variant:ident) => {
        match $response? {
            Response::$variant(value) => Ok(value),
            _ => Err(Error::ServerGone),
        }
    };
}

impl Session {
    /// Charges device memory. Synchronous.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn alloc(&self, context: ContextId, bytes: u64, kind: AllocKind) -> Result<AllocId, Error> {
        expect!(self.call(&Request::Alloc { context, bytes, kind }), Alloc)
    }

    /// Charges physical memory, which needs no context (`cuMemCreate`).
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], [`Error::InvalidValue`] for an unknown device.
    pub fn alloc_physical(&self, device: u32, bytes: u64) -> Result<AllocId, Error> {
        expect!(self.call(&Request::AllocPhysical { device, bytes }), Alloc)
    }

    /// Gives memory back at once: wait for the device before, as the driver's free does.
    ///
    /// # Errors
    /// [`Error::InvalidHandle`].
    pub fn free(&self, alloc: AllocId) -> Result<(), Error> {
        self.call_done(&Request::Free { alloc })
    }

    /// Free and total memory of a device.
    ///
    /// # Errors
    /// [`Error::InvalidValue`].
    pub fn memory_info(&self, device: u32) -> Result<MemoryInfo, Error> {
        expect!(self.call(&Request::MemoryInfo { device }), Memory)
    }

    /// Makes a pool on a device.
    ///
    /// # Errors
    /// [`Error::InvalidValue`].
    pub fn create_pool(&self, device: u32) -> Result<PoolId, Error> {
        self.pools_used.store(true, Ordering::Relaxed);
        expect!(self.call(&Request::CreatePool { device }), Pool)
    }

    /// Drops the pool when its last allocation is free.
    ///
    /// # Errors
    /// [`Error::InvalidHandle`].
    pub fn destroy_pool(&self, pool: PoolId) -> Result<(), Error> {
        self.call_done(&Request::DestroyPool { pool })
    }

    /// Allocates from the pool for use in the stream's order. Give back by [`crate::Op::PoolFree`] or [`Session::free`].
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn pool_alloc(&self, pool: PoolId, stream: Stream, bytes: u64) -> Result<AllocId, Error> {
        expect!(self.call(&Request::PoolAlloc { pool, stream: stream.id, bytes }), Alloc)
    }

    /// Gives unused chunks back until `keep` bytes are reserved.
    ///
    /// # Errors
    /// [`Error::InvalidHandle`].
    pub fn pool_trim(&self, pool: PoolId, keep: u64) -> Result<(), Error> {
        self.call_done(&Request::PoolTrim { pool, keep })
    }

    /// How many free bytes the pool keeps at a synchronisation; 0 by default.
    ///
    /// # Errors
    /// [`Error::InvalidHandle`].
    pub fn pool_threshold(&self, pool: PoolId, bytes: u64) -> Result<(), Error> {
        self.call_done(&Request::PoolThreshold { pool, bytes })
    }

    /// The pool's numbers.
    ///
    /// # Errors
    /// [`Error::InvalidHandle`].
    pub fn pool_stats(&self, pool: PoolId) -> Result<PoolStats, Error> {
        expect!(self.call(&Request::PoolStats { pool }), PoolStats)
    }

    /// Registers a module; the model charges its code at the first launch out of it.
    ///
    /// # Errors
    /// [`Error::InvalidHandle`].
    pub fn load_module(&self, context: ContextId, bytes: u64) -> Result<ModuleId, Error> {
        expect!(self.call(&Request::LoadModule { context, bytes }), Module)
    }

    /// Lets the code go.
    ///
    /// # Errors
    /// [`Error::InvalidHandle`].
    pub fn unload_module(&self, module: ModuleId) -> Result<(), Error> {
        self.call_done(&Request::UnloadModule { module })
    }

    /// Names a kernel of a module. Keep the id: each call makes another.
    ///
    /// # Errors
    /// [`Error::InvalidHandle`], [`Error::InvalidValue`] for a name over 4096 bytes.
    pub fn register_function(&self, module: ModuleId, name: &str) -> Result<FunctionId, Error> {
        expect!(self.call(&Request::RegisterFunction { module, name: name.to_owned() }), Function)
    }

    /// Uploads a graph.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] for a node that waits for a later one, or holds an op that graphs can't.
    pub fn define_graph(&self, context: ContextId, nodes: &[GraphNode]) -> Result<GraphId, Error> {
        expect!(self.call(&Request::DefineGraph { context, nodes: nodes.to_vec() }), Graph)
    }

    /// Drops a graph; launches under way still finish.
    ///
    /// # Errors
    /// [`Error::InvalidHandle`].
    pub fn drop_graph(&self, graph: GraphId) -> Result<(), Error> {
        self.call_done(&Request::DropGraph { graph })
    }

    /// Tells the server that a function of the driver was called that is not simulated. Tests fail on it.
    pub fn report_unimplemented(&self, name: &str) {
        // Nothing more can be done about a server that is gone.
        let _ = self.call_done(&Request::Unimplemented { name: name.to_owned() });
    }
}
