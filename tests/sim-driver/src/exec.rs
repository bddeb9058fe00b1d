//! Executable graphs: a snapshot of a graph, flattened into the ops that the link takes with one launch.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use mgpu_sim_link::{ContextId, GraphId, GraphNode, Op};

use crate::context::Context;
use crate::error::{GRAPH_EXEC_UPDATE_FAILURE, INVALID_HANDLE, INVALID_VALUE, OUT_OF_MEMORY, Res};
use crate::event::Event;
use crate::graph::{self, Body, Graph, HostCall, Work};
use crate::slots::Slots;
use crate::state::{Driver, driver, next_id};
use crate::sync::lock;

/// An executable graph.
#[derive(Debug, Default)]
pub(crate) struct Exec {
    pub(crate) id: AtomicU64,
    pub(crate) flags: AtomicU64,
    context: AtomicU32,
    link: AtomicU32,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    source: Option<&'static Graph>,
    disabled: BTreeSet<usize>,
    /// Changed since it was last given to the link.
    stale: bool,
    uploaded: bool,
    /// Events that a launch records, once for each node that does.
    records: Vec<&'static Event>,
}

pub(crate) static EXECS: Slots<Exec> = Slots::new(1 << 18);

/// The live executable graph behind a handle.
///
/// # Errors
/// [`INVALID_VALUE`].
pub(crate) fn find(handle: *const ()) -> Res<&'static Exec> {
    EXECS.get(handle).ok_or(INVALID_VALUE)
}

/// Makes an executable graph; the server learns it at once, so that an error shows here.
///
/// # Errors
/// [`OUT_OF_MEMORY`].
pub(crate) fn instantiate(context: &Context, graph: &'static Graph, flags: u64) -> Res<&'static Exec> {
    let copy = graph.duplicate()?;
    let exec = EXECS.insert(|e| {
        e.id.store(next_id(), Ordering::Relaxed);
        e.flags.store(flags, Ordering::Relaxed);
        e.context.store(context.link_id().0, Ordering::Relaxed);
        *lock(&e.state) = State { source: Some(copy), stale: true, ..State::default() };
    });
    let exec = exec.ok_or(OUT_OF_MEMORY)?;
    exec.upload(driver()?)?;
    Ok(exec)
}

/// Ends an executable graph; launches under way still finish.
///
/// # Errors
/// [`INVALID_VALUE`].
pub(crate) fn destroy(handle: *const ()) -> Res {
    let exec = EXECS.remove(handle).ok_or(INVALID_VALUE)?;
    let state = std::mem::take(&mut *lock(&exec.state));
    if let Some(graph) = state.source {
        graph::destroy(graph);
    }
    let driver = driver()?;
    // Launches under way still call their host functions, so those stay: a token costs a few words.
    let result = if state.uploaded { driver.session.drop_graph(exec.link_id()) } else { Ok(()) };
    EXECS.recycle(exec);
    Ok(result?)
}

impl Exec {
    fn link_id(&self) -> GraphId {
        GraphId(self.link.load(Ordering::Relaxed))
    }

    /// Gives the server what has changed and names the graph to launch.
    ///
    /// # Errors
    /// Those of the link.
    pub(crate) fn upload(&self, driver: &'static Driver) -> Res<GraphId> {
        self.refresh(driver, &mut lock(&self.state))
    }

    /// As [`Exec::upload`], for a launch that follows at once: the link is told which events it will record.
    ///
    /// # Errors
    /// Those of the link.
    pub(crate) fn prepare_launch(&self, driver: &'static Driver) -> Res<GraphId> {
        let mut state = lock(&self.state);
        let graph = self.refresh(driver, &mut state)?;
        for event in &state.records {
            driver.session.expect_record(event.link());
        }
        Ok(graph)
    }

    fn refresh(&self, driver: &'static Driver, state: &mut State) -> Res<GraphId> {
        if !state.stale {
            return Ok(self.link_id());
        }
        let source = state.source.ok_or(INVALID_VALUE)?;
        let mut nodes = Vec::new();
        let body = lock(&source.body).clone();
        flatten(driver, &body, &state.disabled, &[], &mut nodes)?;
        state.records.clear();
        recorded(&body, &mut state.records);
        let context = ContextId(self.context.load(Ordering::Relaxed));
        let new = driver.session.define_graph(context, &nodes)?;
        if state.uploaded {
            driver.session.drop_graph(self.link_id())?;
        }
        self.link.store(new.0, Ordering::Relaxed);
        state.stale = false;
        state.uploaded = true;
        Ok(new)
    }

    /// The graph as it was instantiated, for a capture of its launch.
    ///
    /// # Errors
    /// [`OUT_OF_MEMORY`].
    pub(crate) fn snapshot(&self) -> Res<&'static Graph> {
        lock(&self.state).source.ok_or(INVALID_VALUE)?.duplicate()
    }

    /// Replaces the work of the node at `place` by work of the same kind.
    ///
    /// # Errors
    /// [`INVALID_VALUE`].
    pub(crate) fn set_work(&self, place: usize, work: Work) -> Res {
        let mut state = lock(&self.state);
        let source = state.source.ok_or(INVALID_VALUE)?;
        let mut body = lock(&source.body);
        let node = body.nodes.get_mut(&place).ok_or(INVALID_VALUE)?;
        if node.work.kind() != work.kind() {
            return Err(INVALID_VALUE);
        }
        node.work = work;
        state.stale = true;
        Ok(())
    }

    /// Switches a kernel, copy or memset node off or on.
    ///
    /// # Errors
    /// [`INVALID_VALUE`].
    pub(crate) fn enable(&self, place: usize, on: bool) -> Res {
        let mut state = lock(&self.state);
        let source = state.source.ok_or(INVALID_VALUE)?;
        let kind = lock(&source.body).nodes.get(&place).map(|n| n.work.kind()).ok_or(INVALID_VALUE)?;
        if kind > 2 {
            return Err(INVALID_VALUE);
        }
        state.stale |= if on { state.disabled.remove(&place) } else { state.disabled.insert(place) };
        Ok(())
    }

    /// Whether the node at `place` is on.
    pub(crate) fn is_enabled(&self, place: usize) -> bool {
        !lock(&self.state).disabled.contains(&place)
    }

    /// Takes the work of `graph` over, if it has the same shape.
    ///
    /// # Errors
    /// [`GRAPH_EXEC_UPDATE_FAILURE`].
    pub(crate) fn update(&self, graph: &'static Graph) -> Res {
        let mut state = lock(&self.state);
        let source = state.source.ok_or(INVALID_HANDLE)?;
        let same = {
            let (old, new) = (lock(&source.body).clone(), lock(&graph.body).clone());
            let shape = |b: &Body| b.nodes.values().map(|n| (n.work.kind(), n.after.clone())).collect::<Vec<_>>();
            shape(&old) == shape(&new)
        };
        if !same {
            return Err(GRAPH_EXEC_UPDATE_FAILURE);
        }
        state.source = Some(graph.duplicate()?);
        state.stale = true;
        graph::destroy(source);
        Ok(())
    }
}

/// The events that a launch of `body` records, child graphs included.
fn recorded(body: &Body, events: &mut Vec<&'static Event>) {
    for node in body.nodes.values() {
        match &node.work {
            Work::Record(event) => events.push(event),
            Work::Child(child) => recorded(&lock(&child.body).clone(), events),
            _ => {}
        }
    }
}

/// Appends the nodes of `body`, child graphs inlined, all behind `after`; gives the places of its last nodes.
fn flatten(
    driver: &'static Driver,
    body: &Body,
    disabled: &BTreeSet<usize>,
    after: &[u32],
    out: &mut Vec<GraphNode>,
) -> Res<Vec<u32>> {
    // Where the nodes of this body ended up: a child or a batch ends in several or later ops.
    let mut ends: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
    let mut inner: BTreeSet<usize> = BTreeSet::new();
    for place in body.order() {
        let Some(node) = body.nodes.get(&place) else { continue };
        let mut waits: Vec<u32> = node.after.iter().filter_map(|p| ends.get(p)).flatten().copied().collect();
        if waits.is_empty() {
            waits = after.to_vec();
        }
        inner.extend(&node.after);
        let end = match &node.work {
            Work::Child(child) => flatten(driver, &lock(&child.body).clone(), &BTreeSet::new(), &waits, out)?,
            _ if disabled.contains(&place) => append(out, &[Op::Nop], waits)?,
            work => append(out, &ops(driver, work)?, waits)?,
        };
        ends.insert(place, end);
    }
    let last: Vec<u32> = ends.iter().filter(|(p, _)| !inner.contains(p)).flat_map(|(_, e)| e).copied().collect();
    Ok(if last.is_empty() { after.to_vec() } else { last })
}

fn append(out: &mut Vec<GraphNode>, ops: &[Op], mut after: Vec<u32>) -> Res<Vec<u32>> {
    for op in ops {
        let index = u32::try_from(out.len()).map_err(|_| OUT_OF_MEMORY)?;
        out.push(GraphNode { op: *op, after });
        after = vec![index];
    }
    Ok(after)
}

fn ops(driver: &'static Driver, work: &Work) -> Res<Vec<Op>> {
    Ok(match work {
        Work::Kernel(kernel) => vec![kernel.op],
        Work::Copy(op, _) | Work::Memset(op) => vec![*op],
        Work::Host(call) => vec![Op::HostFunc { token: host_token(driver, *call)? }],
        Work::Record(event) => vec![Op::EventRecord { event: event.link().id, record: 0 }],
        Work::Wait(event) => match driver.session.last_record(event.link()) {
            Some(record) => vec![Op::EventWait { event: event.link().id, record }],
            None => vec![Op::Nop],
        },
        Work::MemoryOps(ops) => ops.clone(),
        Work::Empty | Work::Child(_) => vec![Op::Nop],
    })
}

fn host_token(driver: &'static Driver, call: HostCall) -> Res<u64> {
    Ok(driver.session.host_token(Box::new(move || {
        // SAFETY: the application gave this function and its argument for exactly this call, and must keep both valid.
        unsafe { (call.function)(call.argument as *mut std::ffi::c_void) }
    }))?)
}
