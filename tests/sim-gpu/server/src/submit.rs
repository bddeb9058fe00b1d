//! From an entry of a client's ring to an op of the model: numbers are translated, and only the client's own are accepted.

use crate::client::{Client, Event, Work};
use mgpu_sim_gpu::{self as model, Model, Nanos, ProcessId, Refusal};
use mgpu_sim_link::{Condition, Direction, GraphNode, Op};

/// Submits `op` on the client's stream `line`, stamped `at`. What the model can't take becomes a marker, so that the
/// stream still goes on and nobody hangs on a bad number.
pub(crate) fn submit(model: &mut Model, process: ProcessId, client: &mut Client, at: Nanos, line: u32, op: Op) {
    if client.stream(line).is_none() {
        return;
    }
    let nodes = match op {
        Op::Graph { graph } => client.holdings.graphs.get(&graph.0).cloned(),
        _ => None,
    };
    let work = Work { stream: line as usize, op, nodes };
    if client.stalled.is_empty() {
        offer(model, process, client, at, work);
    } else {
        client.stalled.push_back(work);
    }
}

/// Offers again what found the queue full, in order, until it is full again.
pub(crate) fn retry(model: &mut Model, process: ProcessId, client: &mut Client) {
    while let Some(work) = client.stalled.pop_front() {
        let at = model.now();
        if !offer(model, process, client, at, work) {
            return;
        }
    }
}

/// One try. False when the queue was full: the work stands at the head of `stalled` then.
fn offer(model: &mut Model, process: ProcessId, client: &mut Client, at: Nanos, work: Work) -> bool {
    let Some(stream) = u32::try_from(work.stream).ok().and_then(|line| client.stream(line)) else { return true };
    let stream = stream.model;
    let op = translate(model, process, client, at, &work.op).unwrap_or(model::Op::Marker);
    let token = client.add_work(work);
    let mut answer = model.submit(at, stream, token, op);
    if matches!(answer, Err(Refusal::NoSuchObject | Refusal::InvalidValue | Refusal::OutOfMemory)) {
        answer = model.submit(at, stream, token, model::Op::Marker);
    }
    match answer {
        Ok(()) => {
            if let Some(Op::PoolFree { alloc }) = client.work(token).map(|work| work.op) {
                client.holdings.allocations.remove(&alloc.0);
            }
            true
        }
        Err(Refusal::QueueFull) => {
            if let Some(work) = client.take_work(token) {
                client.stalled.push_front(work);
            }
            false
        }
        Err(_) => {
            client.take_work(token);
            true
        }
    }
}

/// The model's op. `None` for another client's number.
fn translate(model: &mut Model, process: ProcessId, client: &mut Client, at: Nanos, op: &Op) -> Option<model::Op> {
    let holdings = &client.holdings;
    Some(match *op {
        Op::Kernel { function, grid, block, .. } if holdings.functions.contains(&function.0) => model::Op::Kernel {
            function: model::FunctionId(function.0),
            blocks: grid.iter().fold(1, |blocks: u64, &size| blocks.saturating_mul(u64::from(size))),
            threads: block.iter().fold(1, |threads: u32, &size| threads.saturating_mul(size)),
            duration_ns: None,
        },
        Op::Copy { direction, .. } => model::Op::Copy { direction: engine(direction), bytes: op.bytes()? },
        Op::Memset { .. } => model::Op::Memset { bytes: op.bytes()? },
        Op::WriteWord { address, value, width } => model::Op::WriteValue { address, value, width },
        Op::WaitWord { address, value, width, condition } => {
            model::Op::WaitValue { address, value, width, condition: comparison(condition) }
        }
        Op::EventRecord { event, .. } => model::Op::EventRecord(event_of(model, process, client, at, event.0)?),
        Op::EventWait { event, .. } => model::Op::EventWait(event_of(model, process, client, at, event.0)?),
        Op::HostFunc { .. } => model::Op::HostFunc,
        Op::PoolFree { alloc } if holdings.allocations.contains(&alloc.0) => {
            model::Op::PoolFree(model::AllocationId(alloc.0))
        }
        Op::Graph { graph } if holdings.graphs.contains_key(&graph.0) => {
            model::Op::GraphLaunch(model::GraphId(graph.0))
        }
        Op::Nop => model::Op::Marker,
        Op::Kernel { .. } | Op::PoolFree { .. } | Op::Graph { .. } => return None,
    })
}

/// The model's form of a graph.
pub(crate) fn translate_graph(
    model: &mut Model,
    process: ProcessId,
    client: &mut Client,
    nodes: &[GraphNode],
) -> Option<Vec<model::Node>> {
    let at = model.now();
    let mut node = |node: &GraphNode| {
        let op = node.op.is_sane().then(|| translate(model, process, client, at, &node.op)).flatten()?;
        Some(model::Node { op, after: node.after.clone() })
    };
    nodes.iter().map(&mut node).collect()
}

/// The model's event for a slot of the client, made when it is first named.
fn event_of(
    model: &mut Model,
    process: ProcessId,
    client: &mut Client,
    at: Nanos,
    slot: u32,
) -> Option<model::EventId> {
    if let Some(event) = client.events.get(&slot) {
        return Some(event.model);
    }
    client.region.events.get(slot as usize)?;
    let event = model.create_event(at, process).ok()?;
    client.events.insert(slot, Event { model: event, completed: 0 });
    Some(event)
}

/// Host-to-host copies keep stream order on the engine that has least to do.
fn engine(direction: Direction) -> model::Direction {
    match direction {
        Direction::HostToDevice => model::Direction::HostToDevice,
        Direction::DeviceToHost | Direction::HostToHost => model::Direction::DeviceToHost,
        Direction::DeviceToDevice => model::Direction::DeviceToDevice,
        Direction::Peer => model::Direction::Peer,
    }
}

fn comparison(condition: Condition) -> model::Condition {
    match condition {
        Condition::GreaterOrEqual => model::Condition::GreaterOrEqual,
        Condition::Equal => model::Condition::Equal,
        Condition::And => model::Condition::And,
        Condition::Nor => model::Condition::Nor,
    }
}
