//! Threads that share a ring without a lock.

use memory::checked::{CheckedBuffers, CheckedSpace, CheckedView, Scenario};
use rings::corec::{Marks, Port, Sizes};

use crate::sharing::{claimed, drained, rejoined};

/// Over two wraps.
pub(crate) const CLAIMED: Scenario =
    Scenario { name: "corec, 2 threads, ring 2, 5 frames", run: |space| claimed::<_, 2>(space, build, 2, 3) };

const EACH: Scenario = Scenario {
    name: "corec, 2 threads, ring 2, 5 frames, each batch marked",
    run: |space| claimed::<_, 2>(space, build_each, 2, 3),
};

const THREE: Scenario =
    Scenario { name: "corec, 3 threads, ring 2, 4 frames", run: |space| claimed::<_, 1>(space, build, 3, 2) };

pub(crate) const REJOINED: Scenario =
    Scenario { name: "corec, 2 threads, one leaves and joins", run: |space| rejoined(space, build) };

pub(crate) const DRAINED: Scenario =
    Scenario { name: "corec, 2 threads drain", run: |space| drained(space, build) };

fn build(space: &mut CheckedSpace, threads: u32, b: CheckedBuffers) -> Port<CheckedView> {
    rings::corec::build(space, &Sizes { ring: 2, shared_by: threads, marks: Marks::Waiting }, threads, b)
        .unwrap()
}

fn build_each(space: &mut CheckedSpace, threads: u32, b: CheckedBuffers) -> Port<CheckedView> {
    rings::corec::build(space, &Sizes { ring: 2, shared_by: threads, marks: Marks::Each }, threads, b)
        .unwrap()
}

#[test]
fn threads_claim_each_frame_once() {
    crate::passes(CLAIMED);
}

#[test]
fn threads_that_mark_each_batch_claim_each_frame_once() {
    crate::passes(EACH);
}

#[test]
#[ignore = "for the long target"]
fn three_threads_claim_each_frame_once() {
    crate::passes(THREE);
}

#[test]
fn a_thread_leaves_and_joins_while_another_receives() {
    crate::passes(REJOINED);
}

#[test]
fn the_last_thread_takes_back_what_is_posted() {
    crate::passes(DRAINED);
}
