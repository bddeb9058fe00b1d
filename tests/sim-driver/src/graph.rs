//! Graphs as an application builds them: nodes with work, and the edges between them.
//! Nothing runs here; `exec` turns a graph into what the link takes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};

use mgpu_sim_link::Op;

use crate::error::{INVALID_VALUE, OUT_OF_MEMORY, Res};
use crate::event::Event;
use crate::slots::{Slots, handle_of};
use crate::state::next_id;
use crate::sync::lock;
use crate::types::CUDA_MEMCPY3D;

/// A kernel node's parameters; argument bytes are kept where their sizes are known.
#[derive(Clone, Debug)]
pub(crate) struct Kernel {
    pub(crate) function: usize,
    pub(crate) op: Op,
    pub(crate) arguments: Vec<Box<[u8]>>,
}

impl Kernel {
    /// An array of pointers to the arguments, as `kernelParams` wants it, or null. It belongs to whoever asked and is never
    /// freed: the API says that it stays valid, but not until when.
    pub(crate) fn pointers(&self) -> *mut *mut std::ffi::c_void {
        if self.arguments.is_empty() {
            return std::ptr::null_mut();
        }
        let copies = self.arguments.iter().map(|a| Box::leak(a.clone()).as_mut_ptr().cast()).collect::<Vec<_>>();
        Box::leak(copies.into_boxed_slice()).as_mut_ptr()
    }
}

/// What a node does.
#[derive(Clone, Debug)]
pub(crate) enum Work {
    Kernel(Kernel),
    /// With the parameters as given, where the node was made from them.
    Copy(Op, Option<Box<CopyParameters>>),
    Memset(Op),
    Host(HostCall),
    Child(&'static Graph),
    Empty,
    Record(&'static Event),
    Wait(&'static Event),
    /// In order, as one node.
    MemoryOps(Vec<Op>),
}

/// A host function and its argument, both the application's.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HostCall {
    pub(crate) function: unsafe extern "C" fn(*mut std::ffi::c_void),
    pub(crate) argument: usize,
}

/// `CUDA_MEMCPY3D` as bytes that may cross threads.
#[derive(Clone, Copy)]
pub(crate) struct CopyParameters(pub(crate) [u8; size_of::<CUDA_MEMCPY3D>()]);

impl std::fmt::Debug for CopyParameters {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("CopyParameters")
    }
}

impl Work {
    /// `CUgraphNodeType`.
    pub(crate) fn kind(&self) -> u32 {
        match self {
            Self::Kernel(_) => 0,
            Self::Copy(..) => 1,
            Self::Memset(_) => 2,
            Self::Host(_) => 3,
            Self::Child(_) => 4,
            Self::Empty => 5,
            Self::Wait(_) => 6,
            Self::Record(_) => 7,
            Self::MemoryOps(_) => 12,
        }
    }
}

/// What a node handle points to: its graph and its place there.
#[derive(Debug, Default)]
pub(crate) struct NodeHandle {
    graph: AtomicPtr<Graph>,
    pub(crate) index: AtomicUsize,
}

pub(crate) static NODES: Slots<NodeHandle> = Slots::new(1 << 22);

#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) handle: &'static NodeHandle,
    pub(crate) work: Work,
    pub(crate) after: BTreeSet<usize>,
}

/// A graph. Places of nodes are never reused, so a clone has its nodes at the same places.
#[derive(Debug, Default)]
pub(crate) struct Graph {
    pub(crate) id: AtomicU64,
    /// The graph that this one was cloned from.
    pub(crate) original: AtomicU64,
    pub(crate) body: Mutex<Body>,
}

/// Nodes by place.
#[derive(Clone, Debug, Default)]
pub(crate) struct Body {
    pub(crate) nodes: BTreeMap<usize, Node>,
    next: usize,
}

pub(crate) static GRAPHS: Slots<Graph> = Slots::new(1 << 18);

/// An empty graph; `None` when there are too many.
pub(crate) fn create() -> Option<&'static Graph> {
    GRAPHS.insert(|g| {
        g.id.store(next_id(), Ordering::Relaxed);
        g.original.store(0, Ordering::Relaxed);
        *lock(&g.body) = Body::default();
    })
}

/// The live graph behind a handle.
///
/// # Errors
/// [`INVALID_VALUE`].
pub(crate) fn find(handle: *const ()) -> Res<&'static Graph> {
    GRAPHS.get(handle).ok_or(INVALID_VALUE)
}

/// The graph and place behind a node handle.
///
/// # Errors
/// [`INVALID_VALUE`].
pub(crate) fn find_node(handle: *const ()) -> Res<(&'static Graph, usize)> {
    let node = NODES.get(handle).ok_or(INVALID_VALUE)?;
    let graph = GRAPHS.get(node.graph.load(Ordering::Acquire).cast_const().cast()).ok_or(INVALID_VALUE)?;
    Ok((graph, node.index.load(Ordering::Relaxed)))
}

/// Ends a graph, its nodes, and the graphs inside it. Executable graphs made from it stay.
pub(crate) fn destroy(graph: &'static Graph) {
    let Some(graph) = GRAPHS.remove(handle_of(graph)) else { return };
    let body = std::mem::take(&mut *lock(&graph.body));
    for node in body.nodes.into_values() {
        forget(node);
    }
    GRAPHS.recycle(graph);
}

fn forget(node: Node) {
    if let Work::Child(child) = node.work {
        destroy(child);
    }
    if let Some(handle) = NODES.remove(handle_of(node.handle)) {
        NODES.recycle(handle);
    }
}

impl Graph {
    /// Adds a node behind `after` and gives its place.
    ///
    /// # Errors
    /// [`INVALID_VALUE`] for a place without a node, [`OUT_OF_MEMORY`].
    pub(crate) fn add(&'static self, work: Work, after: &[usize]) -> Res<usize> {
        let mut body = lock(&self.body);
        if after.iter().any(|place| !body.nodes.contains_key(place)) {
            return Err(INVALID_VALUE);
        }
        let place = body.next;
        let handle = self.handle(place)?;
        body.next += 1;
        body.nodes.insert(place, Node { handle, work, after: after.iter().copied().collect() });
        Ok(place)
    }

    fn handle(&'static self, place: usize) -> Res<&'static NodeHandle> {
        let handle = NODES.insert(|n| {
            n.graph.store(std::ptr::from_ref(self).cast_mut(), Ordering::Release);
            n.index.store(place, Ordering::Relaxed);
        });
        handle.ok_or(OUT_OF_MEMORY)
    }

    /// Takes a node out; what waited for it waits for it no more.
    pub(crate) fn remove(&self, place: usize) {
        let mut body = lock(&self.body);
        let Some(node) = body.nodes.remove(&place) else { return };
        for other in body.nodes.values_mut() {
            other.after.remove(&place);
        }
        drop(body);
        forget(node);
    }

    /// Adds or removes edges.
    ///
    /// # Errors
    /// [`INVALID_VALUE`] for unknown nodes, a missing edge, or one that would close a circle.
    pub(crate) fn edge(&self, from: usize, to: usize, add: bool) -> Res {
        let mut body = lock(&self.body);
        if from == to || !body.nodes.contains_key(&from) || (add && body.ancestors(from).contains(&to)) {
            return Err(INVALID_VALUE);
        }
        let node = body.nodes.get_mut(&to).ok_or(INVALID_VALUE)?;
        let changed = if add { node.after.insert(from) } else { node.after.remove(&from) };
        if changed || add { Ok(()) } else { Err(INVALID_VALUE) }
    }

    /// Whether each of `nodes` is one of `tails` or comes before one.
    pub(crate) fn reaches_all(&self, tails: &[usize], nodes: &[usize]) -> bool {
        let body = lock(&self.body);
        let mut before: BTreeSet<usize> = tails.iter().copied().collect();
        for tail in tails {
            before.extend(body.ancestors(*tail));
        }
        nodes.iter().all(|n| before.contains(n))
    }

    /// A copy with handles of its own, child graphs included.
    ///
    /// # Errors
    /// [`OUT_OF_MEMORY`].
    pub(crate) fn duplicate(&'static self) -> Res<&'static Graph> {
        let copy = create().ok_or(OUT_OF_MEMORY)?;
        copy.original.store(self.id.load(Ordering::Relaxed), Ordering::Relaxed);
        let body = lock(&self.body).clone();
        let mut nodes = BTreeMap::new();
        for (place, node) in body.nodes {
            let work = match node.work {
                Work::Child(child) => Work::Child(child.duplicate()?),
                other => other,
            };
            nodes.insert(place, Node { handle: copy.handle(place)?, work, after: node.after });
        }
        *lock(&copy.body) = Body { nodes, next: body.next };
        Ok(copy)
    }
}

impl Body {
    fn ancestors(&self, place: usize) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        let mut open = vec![place];
        while let Some(next) = open.pop() {
            let Some(node) = self.nodes.get(&next) else { continue };
            open.extend(node.after.iter().filter(|p| !found.contains(*p)));
            found.extend(&node.after);
        }
        found
    }

    /// The places in an order in which each comes after all that it waits for.
    pub(crate) fn order(&self) -> Vec<usize> {
        let mut done = BTreeSet::new();
        let mut order = Vec::with_capacity(self.nodes.len());
        while order.len() < self.nodes.len() {
            let before = order.len();
            for (place, node) in &self.nodes {
                if !done.contains(place) && node.after.iter().all(|p| done.contains(p)) {
                    done.insert(*place);
                    order.push(*place);
                }
            }
            if order.len() == before {
                break;
            }
        }
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_order_and_clones() {
        let graph = create().expect("room");
        let places: Vec<_> = (0..3).map(|_| graph.add(Work::Empty, &[]).expect("a node")).collect();
        graph.edge(places[2], places[0], true).expect("an edge");
        graph.edge(places[0], places[1], true).expect("an edge");
        assert_eq!(graph.edge(places[1], places[2], true), Err(INVALID_VALUE), "no circle");
        assert_eq!(lock(&graph.body).order(), [places[2], places[0], places[1]]);
        assert!(graph.reaches_all(&[places[1]], &places));
        assert!(!graph.reaches_all(&[places[0]], &places));
        let copy = graph.duplicate().expect("a copy");
        assert_eq!(lock(&copy.body).order(), lock(&graph.body).order());
        let handle = handle_of(lock(&graph.body).nodes[&places[0]].handle);
        graph.remove(places[0]);
        assert!(find_node(handle).is_err());
        assert_eq!(graph.edge(places[0], places[1], false), Err(INVALID_VALUE));
        destroy(graph);
        assert!(find(handle_of(graph)).is_err());
        assert_eq!(lock(&copy.body).nodes.len(), 3);
    }
}
