//! What the loom models share: running one, counting its executions, and expecting one to fail.

#![allow(dead_code, reason = "each model is a test program of its own and uses a part")]

use mgpu_protocol::sync::{Point, weak};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Context switches that a model may force between two threads; what loom's authors find enough for nearly all faults.
const PREEMPTIONS: usize = 3;

fn explore(model: impl Fn() + Send + Sync + 'static) -> usize {
    let executions = Arc::new(AtomicUsize::new(0));
    let count = executions.clone();
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(PREEMPTIONS);
    builder.check(move || {
        count.fetch_add(1, Ordering::Relaxed);
        model();
    });
    executions.load(Ordering::Relaxed)
}

/// Runs every execution of a model; prints how many, of which there must be several.
pub(crate) fn holds(name: &str, model: impl Fn() + Send + Sync + 'static) {
    weak::set(None);
    let executions = explore(model);
    println!("loom: {name}: {executions} executions");
    assert!(executions > 1, "{name}: loom has explored nothing");
}

/// The model must fail in some execution when `point` is weakened: it can tell.
pub(crate) fn breaks_without(point: Point, model: impl Fn() + Send + Sync + 'static) {
    weak::set(Some(point));
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| explore(model)));
    weak::set(None);
    println!("loom: weakened {point:?}: {}", if outcome.is_err() { "red, as it must be" } else { "still green" });
    assert!(outcome.is_err(), "the model doesn't notice a weakened {point:?}");
}

/// A model of something wrong must fail in some execution.
pub(crate) fn fails(name: &str, model: impl Fn() + Send + Sync + 'static) {
    weak::set(None);
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| explore(model)));
    println!("loom: {name}: {}", if outcome.is_err() { "red, as it must be" } else { "still green" });
    assert!(outcome.is_err(), "the model doesn't notice: {name}");
}
