//! Answering what clients ask by socket: objects of the model are made, counted to their client, and let go.

use crate::client::Client;
use crate::node::Node;
use crate::{effects, report, submit};
use mgpu_sim_gpu::{self as model, Model, ProcessId, Refusal};
use mgpu_sim_link::layout::CHANNELS;
use mgpu_sim_link::rpc::{Request, Response};
use mgpu_sim_link::*;
use std::rc::Rc;

/// Longest name of a kernel or a missing function, bytes.
const LONGEST_NAME: usize = 4096;
/// Nodes of one graph.
const MOST_NODES: usize = 65_536;
/// Objects of one kind that one client may hold.
const MOST_OBJECTS: usize = 1 << 20;
/// Missing functions that are told apart.
const MOST_NAMES: usize = 4096;

/// The link's word for the model's refusal.
fn error(refusal: Refusal) -> Error {
    match refusal {
        Refusal::OutOfMemory => Error::OutOfMemory,
        Refusal::ContextDead(fault) => Error::Fault(fault.code()),
        Refusal::NoSuchObject => Error::InvalidHandle,
        Refusal::QueueFull | Refusal::InvalidValue => Error::InvalidValue,
    }
}

/// `Ok` when `known`.
fn owned(known: bool) -> Result<(), Error> {
    if known { Ok(()) } else { Err(Error::InvalidHandle) }
}

impl Node {
    /// Answers a client's request, behind all that it has submitted before.
    pub(crate) fn answer(&mut self, process: ProcessId, request: Request, now: u64) -> Response {
        self.drain_one(process, now);
        let Some(client) = self.clients.get_mut(&process) else { return Response::Failed(Error::ServerGone) };
        let known = match request {
            Request::UnloadModule { module } => Some(client.holdings.modules.contains(&module.0)),
            Request::DropGraph { graph } => Some(client.holdings.graphs.contains_key(&graph.0)),
            _ => None,
        };
        match known {
            Some(true) => {
                self.answer_later(process, now, request);
                Response::Done
            }
            Some(false) => Response::Failed(Error::InvalidHandle),
            None => self.answer_now(process, request),
        }
    }

    /// Answers at the model's time. What is submitted and not yet fed comes after it: so nothing that such work may name is
    /// dropped this way, see [`Node::answer_later`].
    pub(crate) fn answer_now(&mut self, process: ProcessId, request: Request) -> Response {
        let Some(client) = self.clients.get_mut(&process) else { return Response::Failed(Error::ServerGone) };
        let mut call = Call { model: &mut self.model, client, process };
        let answer = match request {
            Request::CreateContext { device } => call.create_context(device),
            Request::DestroyContext { context } => call.destroy_context(context),
            Request::CreateStream { context, kind, priority } => call.create_stream(context, kind, priority),
            Request::DestroyStream { stream } => call.destroy_stream(stream),
            Request::Alloc { context, bytes, kind } => call.alloc(context, bytes, kind),
            Request::AllocPhysical { device, bytes } => call.alloc_physical(device, bytes),
            Request::Free { alloc } => call.free(alloc),
            Request::CreatePool { device } => call.create_pool(device),
            Request::DestroyPool { pool } => call.destroy_pool(pool),
            Request::PoolAlloc { pool, stream, bytes } => call.pool_alloc(pool, stream, bytes),
            Request::PoolTrim { pool, keep } => {
                call.pool_change(pool, |model, at, pool| model.trim_pool(at, pool, keep))
            }
            Request::PoolThreshold { pool, bytes } => {
                call.pool_change(pool, |model, at, pool| model.set_release_threshold(at, pool, bytes))
            }
            Request::PoolStats { pool } => call.pool_stats(pool),
            Request::LoadModule { context, bytes } => call.load_module(context, bytes),
            Request::UnloadModule { module } => call.unload_module(module),
            Request::RegisterFunction { module, name } => call.register_function(module, &name),
            Request::DefineGraph { context, nodes } => call.define_graph(context, nodes),
            Request::DropGraph { graph } => call.drop_graph(graph),
            other => return self.observe(&other),
        };
        answer.unwrap_or_else(Response::Failed)
    }

    /// Answers what needs no client. The model should have been stepped just before.
    pub(crate) fn observe(&mut self, request: &Request) -> Response {
        match request {
            Request::MemoryInfo { device } => match self.model.memory_info(model::DeviceId(*device)) {
                Some(info) => Response::Memory(MemoryInfo { free: info.free, total: info.total }),
                None => Response::Failed(Error::InvalidValue),
            },
            Request::Nvml { device } => match self.model.nvml(model::DeviceId(*device)) {
                Some(view) => Response::Nvml(Box::new(report::nvml(view))),
                None => Response::Failed(Error::InvalidValue),
            },
            Request::Unimplemented { name } => {
                let name: String = name.chars().take(256).collect();
                if self.unimplemented.len() < MOST_NAMES || self.unimplemented.contains_key(&name) {
                    *self.unimplemented.entry(name).or_default() += 1;
                }
                Response::Done
            }
            Request::Intervals { since_ns } => Response::Json(report::intervals(self, *since_ns)),
            Request::Launches { since_ns } => Response::Json(report::launches(self, *since_ns)),
            _ => Response::Failed(Error::NotSupported),
        }
    }
}

/// One request of one client.
struct Call<'a> {
    model: &'a mut Model,
    client: &'a mut Client,
    process: ProcessId,
}

type Answer = Result<Response, Error>;

impl Call<'_> {
    /// The model's context for the client's number.
    fn context(&self, context: ContextId) -> Result<model::ContextId, Error> {
        self.client.context(context.0).map(|context| context.model).ok_or(Error::InvalidHandle)
    }

    fn create_context(&mut self, device: u32) -> Answer {
        if device >= self.model.devices() {
            return Err(Error::InvalidValue);
        }
        let at = self.model.now();
        let made = self.model.create_context(at, self.process, model::DeviceId(device)).map_err(error)?;
        match self.client.add_context(made).and_then(|index| u32::try_from(index).ok()) {
            Some(index) => Ok(Response::Context(ContextId(index))),
            None => {
                self.model.destroy_context(at, made).map_err(error)?;
                Err(Error::OutOfMemory)
            }
        }
    }

    fn destroy_context(&mut self, context: ContextId) -> Answer {
        let known = self.context(context)?;
        let at = self.model.now();
        self.model.destroy_context(at, known).map_err(error)?;
        self.client.drop_context(context.0 as usize);
        Ok(Response::Done)
    }

    fn create_stream(&mut self, context: ContextId, kind: StreamKind, priority: i32) -> Answer {
        let known = self.context(context)?;
        let at = self.model.now();
        let made = match kind {
            StreamKind::Legacy => {
                if let Some(answer) = self.legacy_line(context) {
                    return Ok(answer);
                }
                self.model.legacy_stream(known).ok_or(Error::InvalidHandle)?
            }
            StreamKind::NonBlocking => {
                self.model.create_stream(at, known, model::StreamKind::NonBlocking, priority).map_err(error)?
            }
            StreamKind::Blocking | StreamKind::PerThread => {
                self.model.create_stream(at, known, model::StreamKind::Blocking, priority).map_err(error)?
            }
        };
        let channel = self.model.channel_of(made).filter(|&channel| (channel as usize) < CHANNELS).unwrap_or(0);
        let line = self.client.add_stream(made, context.0 as usize, channel as usize, kind);
        match line.and_then(|line| u32::try_from(line).ok()) {
            Some(line) => Ok(Response::Stream { stream: StreamId(line), channel, fresh: true }),
            None => {
                self.model.destroy_stream(at, made).map_err(error)?;
                Err(Error::OutOfMemory)
            }
        }
    }

    /// The context's legacy stream, when the client has asked for it before.
    fn legacy_line(&self, context: ContextId) -> Option<Response> {
        let is_it =
            |stream: &crate::client::Stream| stream.context == context.0 as usize && stream.kind == StreamKind::Legacy;
        let line = self.client.streams.iter().position(|stream| stream.as_ref().is_some_and(is_it))?;
        let number = u32::try_from(line).ok()?;
        let channel = u32::try_from(self.client.stream(number)?.channel).ok()?;
        Some(Response::Stream { stream: StreamId(number), channel, fresh: false })
    }

    fn destroy_stream(&mut self, stream: StreamId) -> Answer {
        let index = stream.0 as usize;
        let known = self.client.streams.get_mut(index).and_then(Option::as_mut).ok_or(Error::InvalidHandle)?;
        if known.closing || known.kind == StreamKind::Legacy {
            return Err(Error::InvalidHandle);
        }
        known.closing = true;
        if known.is_done() {
            effects::retire_stream(self.model, self.client, index);
        }
        Ok(Response::Done)
    }

    /// Books an allocation of the model to the client.
    fn booked(&mut self, made: Result<model::AllocationId, Refusal>) -> Answer {
        let made = made.map_err(error)?;
        self.client.holdings.allocations.insert(made.0);
        Ok(Response::Alloc(AllocId(made.0)))
    }

    fn alloc(&mut self, context: ContextId, bytes: u64, kind: AllocKind) -> Answer {
        let (known, at) = (self.context(context)?, self.model.now());
        let made = match kind {
            AllocKind::Plain | AllocKind::Array => self.model.allocate(at, known, bytes),
            AllocKind::Managed => self.model.allocate_managed(at, known, bytes),
        };
        self.booked(made)
    }

    fn alloc_physical(&mut self, device: u32, bytes: u64) -> Answer {
        let at = self.model.now();
        let made = self.model.allocate_physical(at, self.process, model::DeviceId(device), bytes);
        self.booked(made)
    }

    fn free(&mut self, alloc: AllocId) -> Answer {
        owned(self.client.holdings.allocations.remove(&alloc.0))?;
        let at = self.model.now();
        self.model.free(at, model::AllocationId(alloc.0)).map_err(error)?;
        Ok(Response::Done)
    }

    fn create_pool(&mut self, device: u32) -> Answer {
        let at = self.model.now();
        let pool = self.model.create_pool(at, self.process, model::DeviceId(device)).map_err(error)?;
        self.client.holdings.pools.insert(pool.0, (0, 0));
        Ok(Response::Pool(PoolId(pool.0)))
    }

    fn destroy_pool(&mut self, pool: PoolId) -> Answer {
        owned(self.client.holdings.pools.remove(&pool.0).is_some())?;
        let at = self.model.now();
        self.model.destroy_pool(at, model::PoolId(pool.0)).map_err(error)?;
        Ok(Response::Done)
    }

    fn pool_alloc(&mut self, pool: PoolId, stream: StreamId, bytes: u64) -> Answer {
        owned(self.client.holdings.pools.contains_key(&pool.0))?;
        let stream = self.client.stream(stream.0).ok_or(Error::InvalidHandle)?.model;
        let at = self.model.now();
        let made = self.model.allocate_from_pool(at, model::PoolId(pool.0), stream, bytes);
        let answer = self.booked(made)?;
        let (reserved, used) = self.model.pool_usage(model::PoolId(pool.0)).unwrap_or_default();
        if let Some(highest) = self.client.holdings.pools.get_mut(&pool.0) {
            *highest = (highest.0.max(reserved), highest.1.max(used));
        }
        Ok(answer)
    }

    fn pool_change(
        &mut self,
        pool: PoolId,
        change: impl FnOnce(&mut Model, u64, model::PoolId) -> Result<(), Refusal>,
    ) -> Answer {
        owned(self.client.holdings.pools.contains_key(&pool.0))?;
        let at = self.model.now();
        change(self.model, at, model::PoolId(pool.0)).map_err(error)?;
        Ok(Response::Done)
    }

    fn pool_stats(&self, pool: PoolId) -> Answer {
        let highest = self.client.holdings.pools.get(&pool.0).ok_or(Error::InvalidHandle)?;
        let (reserved, used) = self.model.pool_usage(model::PoolId(pool.0)).ok_or(Error::InvalidHandle)?;
        let (reserved_high, used_high) = (highest.0.max(reserved), highest.1.max(used));
        Ok(Response::PoolStats(PoolStats { reserved, reserved_high, used, used_high }))
    }

    fn load_module(&mut self, context: ContextId, bytes: u64) -> Answer {
        let (known, at) = (self.context(context)?, self.model.now());
        let module = self.model.load_module(at, known, bytes).map_err(error)?;
        self.client.holdings.modules.insert(module.0);
        Ok(Response::Module(ModuleId(module.0)))
    }

    fn unload_module(&mut self, module: ModuleId) -> Answer {
        owned(self.client.holdings.modules.remove(&module.0))?;
        let at = self.model.now();
        self.model.unload_module(at, model::ModuleId(module.0)).map_err(error)?;
        Ok(Response::Done)
    }

    fn register_function(&mut self, module: ModuleId, name: &str) -> Answer {
        owned(self.client.holdings.modules.contains(&module.0))?;
        if name.len() > LONGEST_NAME || self.client.holdings.functions.len() >= MOST_OBJECTS {
            return Err(Error::InvalidValue);
        }
        let at = self.model.now();
        let function = self.model.create_function(at, model::ModuleId(module.0), name).map_err(error)?;
        self.client.holdings.functions.insert(function.0);
        Ok(Response::Function(FunctionId(function.0)))
    }

    fn define_graph(&mut self, context: ContextId, nodes: Vec<GraphNode>) -> Answer {
        let known = self.context(context)?;
        if nodes.len() > MOST_NODES || self.client.holdings.graphs.len() >= MOST_OBJECTS {
            return Err(Error::InvalidValue);
        }
        let translated =
            submit::translate_graph(self.model, self.process, self.client, &nodes).ok_or(Error::InvalidValue)?;
        let at = self.model.now();
        let graph = self.model.create_graph(at, known, translated).map_err(error)?;
        self.client.holdings.graphs.insert(graph.0, Rc::new(nodes));
        Ok(Response::Graph(GraphId(graph.0)))
    }

    fn drop_graph(&mut self, graph: GraphId) -> Answer {
        owned(self.client.holdings.graphs.remove(&graph.0).is_some())?;
        let at = self.model.now();
        self.model.destroy_graph(at, model::GraphId(graph.0)).map_err(error)?;
        Ok(Response::Done)
    }
}
