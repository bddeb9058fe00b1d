//! Claiming lines: one owner at a time, and a line comes to its next owner as its last one left it.
#![cfg(loom)]

mod model;

use loom::sync::Arc;
use loom::thread;
use mgpu_protocol::layout::{StreamLine, ThreadLine};
use mgpu_protocol::sync::{Ordering, Point};

fn two_claim_one_free_line() {
    let line = Arc::new(ThreadLine::default());
    let other = {
        let line = line.clone();
        thread::spawn(move || u32::from(line.claim(0, 11)))
    };
    let won = u32::from(line.claim(1, 12)) + other.join().unwrap();
    assert_eq!(won, 1);
}

fn two_take_over_a_dead_threads_line() {
    let line = Arc::new(ThreadLine::default());
    assert!(line.claim(0, 10));
    line.enter();
    let other = {
        let line = line.clone();
        thread::spawn(move || u32::from(line.take_over(0, 10, 11)))
    };
    let won = u32::from(line.take_over(0, 10, 12)) + other.join().unwrap();
    assert_eq!(won, 1);
    assert!(!line.is_entering(), "the dead thread's launch is over with it");
}

/// A stream's line is used up and freed by one client while another one is after it.
fn a_freed_stream_line_is_drained() {
    let line = Arc::new(StreamLine::default());
    assert!(line.claim(0, 0));
    let before = {
        let line = line.clone();
        thread::spawn(move || {
            let number = line.count_launch();
            line.note_marked(number);
            line.marker.store(number, Ordering::Release);
            line.free();
        })
    };
    if line.claim(1, 1) {
        assert!(line.is_drained() && !line.has_unmarked_tail(), "a new owner's line looks busy");
    }
    before.join().unwrap();
}

/// A thread line's count never goes back, whoever owns it.
fn a_freed_thread_line_counts_on() {
    let line = Arc::new(ThreadLine::default());
    assert!(line.claim(0, 1));
    let before = {
        let line = line.clone();
        thread::spawn(move || {
            line.enter();
            line.leave();
            line.free();
        })
    };
    if line.claim(1, 2) {
        line.enter();
        line.leave();
        assert_eq!(line.entries(), 2, "the last owner's launch was forgotten");
    }
    before.join().unwrap();
}

#[test]
fn a_line_has_one_owner() {
    model::holds("claim, one free line", two_claim_one_free_line);
    model::holds("claim, a dead thread's line", two_take_over_a_dead_threads_line);
    model::holds("claim, a freed stream line", a_freed_stream_line_is_drained);
    model::holds("claim, a freed thread line", a_freed_thread_line_counts_on);
}

#[test]
fn the_claims_ordering_is_needed() {
    model::breaks_without(Point::Claim, a_freed_stream_line_is_drained);
    model::breaks_without(Point::Claim, a_freed_thread_line_counts_on);
}
