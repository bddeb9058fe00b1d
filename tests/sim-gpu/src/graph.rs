//! Graphs: nodes with dependencies, carried out anew at each launch.

use crate::ids::{ContextId, EventId, GraphId, Nanos, OpId};
use crate::model::Model;
use crate::objects::Graph;
use crate::op::{Node, Op, Refusal};
use crate::slab::Work;

impl Model {
    /// Instantiates a graph. Node indices appear in [`crate::Tag::node`]. Lazily loaded modules are loaded here.
    pub fn create_graph(&mut self, at: Nanos, context: ContextId, nodes: Vec<Node>) -> Result<GraphId, Refusal> {
        self.run_to(at);
        self.live_context(context)?;
        let mut before = vec![Vec::new(); nodes.len()];
        for (index, node) in (0..).zip(&nodes) {
            self.check(context, &node.op)?;
            if matches!(node.op, Op::GraphLaunch(_) | Op::PoolFree(_)) {
                return Err(Refusal::InvalidValue);
            }
            for earlier in &node.after {
                if *earlier >= index {
                    return Err(Refusal::InvalidValue);
                }
                before[*earlier as usize].push(index);
            }
        }
        for node in &nodes {
            if let Op::Kernel { function, .. } = node.op {
                self.load_lazily(function)?;
            }
        }
        Ok(GraphId(self.graphs.insert(Graph { context, nodes, before, last: None, destroyed: false })))
    }

    /// Destroys an instantiated graph; launches already submitted still run.
    pub fn destroy_graph(&mut self, at: Nanos, graph: GraphId) -> Result<(), Refusal> {
        self.run_to(at);
        let found = self.graphs.get_mut(graph.0).filter(|g| !g.destroyed).ok_or(Refusal::NoSuchObject)?;
        found.destroyed = true;
        self.sweep_graph(graph);
        Ok(())
    }

    fn sweep_graph(&mut self, graph: GraphId) {
        let Some(found) = self.graphs.get(graph.0) else { return };
        if found.destroyed && !found.last.is_some_and(|last| self.ops.is_live(last)) {
            self.graphs.remove(graph.0);
        }
    }

    /// A submitted launch waits for the last one of the same graph, and as a whole for the events that nodes wait for (as of
    /// now: later records might wait for this launch). It stands as a whole for the events recorded in it.
    pub(crate) fn order_graph(&mut self, id: OpId, graph: GraphId) {
        let Some(found) = self.graphs.get_mut(graph.0) else { return };
        let last = found.last.replace(id);
        let event_of = |node: &Node| match node.op {
            Op::EventRecord(event) => Some((event, true)),
            Op::EventWait(event) => Some((event, false)),
            _ => None,
        };
        let events: Vec<(EventId, bool)> = found.nodes.iter().filter_map(event_of).collect();
        self.wait_for(id, last);
        for (event, _) in events.iter().filter(|(_, record)| !record) {
            self.wait_for(id, self.events.get(event).and_then(|e| e.last));
        }
        for (event, _) in events.iter().filter(|(_, record)| *record) {
            self.set_record(*event, id);
        }
    }

    /// Makes the nodes of a dispatched launch, and starts those that wait for none.
    pub(crate) fn expand(&mut self, launch: OpId, graph: GraphId) {
        let op = self.ops.at(launch);
        let (stream, token) = (op.stream, op.token);
        // Taken out, so that its nodes can be read while the model changes. It is put back below.
        let Some(found) = self.graphs.get_mut(graph.0) else { return self.complete(launch) };
        let (nodes, before) = (std::mem::take(&mut found.nodes), std::mem::take(&mut found.before));
        let count = u32::try_from(nodes.len()).unwrap_or(u32::MAX);
        self.ops.at(launch).children = count;
        let make = |(index, node): (u32, &Node)| self.insert(stream, token, index, Some(launch), &node.op);
        let ids: Vec<OpId> = (0..).zip(&nodes).map(make).collect();
        for ((id, node), after) in ids.iter().zip(&nodes).zip(&before) {
            let state = self.ops.at(*id);
            state.waits += u32::try_from(node.after.len()).unwrap_or(u32::MAX);
            state.dependents.extend(after.iter().map(|index| ids[*index as usize]));
        }
        for id in ids.iter().filter(|id| self.ops.get(**id).is_some_and(|op| op.waits == 0)) {
            self.flow.start(*id);
        }
        if let Some(found) = self.graphs.get_mut(graph.0) {
            (found.nodes, found.before) = (nodes, before);
        }
        if count == 0 {
            self.complete(launch);
        }
    }

    /// After the end of a launch: a destroyed graph goes with its last.
    pub(crate) fn graph_launch_ended(&mut self, work: Work) {
        if let Work::Graph(graph) = work {
            self.sweep_graph(graph);
        }
    }
}
