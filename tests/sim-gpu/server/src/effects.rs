//! Carrying out what the model says has happened: bytes and words in clients' memory, completion counts, host calls.
//!
//! Strictly in the model's order for each client. A long copy holds up what follows it in the same client only.

use crate::client::Client;
use crate::mover::{Job, Mover, is_short};
use crate::submit;
use mgpu_sim_gpu::{Effect, Model, Nanos, ProcessId, Tag};
use mgpu_sim_link::Op;
use mgpu_sim_link::layout::reached;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Whose the effect is.
pub(crate) fn process_of(effect: &Effect) -> ProcessId {
    match *effect {
        Effect::Completed { process, .. }
        | Effect::EventRecorded { process, .. }
        | Effect::Copy { process, .. }
        | Effect::Memset { process, .. }
        | Effect::WriteWord { process, .. }
        | Effect::PollWord { process, .. }
        | Effect::HostFunc { process, .. }
        | Effect::Fault { process, .. }
        | Effect::QueueSpace { process, .. }
        | Effect::TornDown { process, .. } => process,
    }
}

/// Carries out one effect now, or keeps it behind the client's long copy.
pub(crate) fn apply(model: &mut Model, mover: &Mover, client: &mut Client, effect: Effect) {
    if client.moving {
        client.held.push_back(effect);
    } else {
        carry_out(model, mover, client, effect);
    }
}

/// A long copy is done: what was held goes on, up to the next long one.
pub(crate) fn resume(model: &mut Model, mover: &Mover, client: &mut Client) {
    client.moving = false;
    while !client.moving {
        let Some(effect) = client.held.pop_front() else { break };
        carry_out(model, mover, client, effect);
    }
}

fn carry_out(model: &mut Model, mover: &Mover, client: &mut Client, effect: Effect) {
    match effect {
        Effect::Completed { token, at, .. } => completed(model, client, token, at),
        Effect::EventRecorded { event, at, .. } => {
            let slot = client.events.iter().find(|(_, known)| known.model == event).map(|(slot, _)| *slot);
            if let Some((slot, event)) = slot.and_then(|slot| Some((slot, client.events.get(&slot)?))) {
                recorded(client, slot, event.completed.wrapping_add(1), at);
            }
        }
        Effect::Copy { process, tag, .. } | Effect::Memset { process, tag, .. } => {
            move_bytes(mover, client, process, tag)
        }
        Effect::WriteWord { address, value, width, .. } => {
            // A bad address is the client's own loss, as on hardware without its fault.
            let _ = client.memory.write_word(address, value, width);
        }
        Effect::PollWord { op, address, value, width, condition, at, .. } => {
            if client.memory.read_word(address, width).is_ok_and(|word| condition.holds(word, value, width)) {
                model.word_ready(at, op);
            }
        }
        Effect::HostFunc { op, tag, .. } => {
            if let Some(Op::HostFunc { token }) = op_of(client, tag) {
                client.host_call(token, op.to_bits());
            }
        }
        Effect::Fault { context, fault, .. } => {
            if let Some(index) = client.context_of(context) {
                client.fault(index, fault.code());
            }
        }
        Effect::QueueSpace { process, .. } => submit::retry(model, process, client),
        Effect::TornDown { .. } => {}
    }
}

/// The op that an effect is about: the work itself, or a node of its graph.
fn op_of(client: &Client, tag: Tag) -> Option<Op> {
    let work = client.work(tag.token)?;
    if tag.node == Tag::WHOLE {
        return Some(work.op);
    }
    work.nodes.as_ref()?.get(tag.node as usize).map(|node| node.op)
}

fn completed(model: &mut Model, client: &mut Client, token: u64, at: Nanos) {
    let Some(work) = client.take_work(token) else { return };
    if let Op::EventRecord { event, record } = work.op {
        recorded(client, event.0, record, at);
    }
    if client.complete(work.stream) {
        retire_stream(model, client, work.stream);
    }
}

/// Gives a closed and empty stream back to the model and its line to the next.
pub(crate) fn retire_stream(model: &mut Model, client: &mut Client, index: usize) {
    if let Some(stream) = client.streams.get_mut(index).and_then(Option::take) {
        let at = model.now();
        // It may have gone with its context.
        let _ = model.destroy_stream(at, stream.model);
    }
}

/// Publishes a record, unless a later one of the same event is complete already.
fn recorded(client: &mut Client, slot: u32, record: u32, at: Nanos) {
    let Some(event) = client.events.get_mut(&slot) else { return };
    if reached(event.completed, record) {
        return;
    }
    event.completed = record;
    let line = &client.region.events[slot as usize];
    line.at.store(at, Ordering::SeqCst);
    line.completed.store(record, Ordering::SeqCst);
    client.dirty.events.insert(slot as usize);
}

fn move_bytes(mover: &Mover, client: &mut Client, process: ProcessId, tag: Tag) {
    let Some(op) = op_of(client, tag) else { return };
    let job = Job { process, memory: Arc::clone(&client.memory), op };
    if is_short(&op) || !mover.give(job) {
        // A bad address is the client's own loss.
        let _ = client.memory.perform(&op);
    } else {
        client.moving = true;
    }
}
