//! A pair of ends without stacks of their own: what one side frees, the other one takes.

use memory::checked::{CheckedBuffers, CheckedSpace, CheckedView, Scenario, spawn};
use memory::{Buf, Memory, Side, Touch};
use rings::Buffers;
use rings::pool::sides::{End, Exchange, Sizes, build};

use crate::oracle::buffers;

pub(crate) const EXCHANGED: Scenario =
    Scenario { name: "pool of two sides, 2 buffers", run: |space| run(space, Exchange::Lanes) };
pub(crate) const QUEUED: Scenario =
    Scenario { name: "pool of two sides, one queue, 2 buffers", run: |space| run(space, Exchange::Queue) };

/// Takes what there is, uses it as only an owner may, gives it back; three times.
fn work(m: &mut CheckedView, end: &mut End<CheckedView>, b: CheckedBuffers) {
    for _ in 0..3 {
        let mut bufs = [Buf(u64::MAX); 2];
        let n = end.take(m, &mut bufs);
        for buf in &bufs[..n] {
            m.meta(b, *buf, 0, Touch::Write);
        }
        end.give(m, &bufs[..n]);
    }
}

fn run(mut space: CheckedSpace, exchange: Exchange) {
    let b = buffers(&mut space, 2);
    let (mut host, mut nic) =
        build(&mut space, &Sizes { exchange, ..Sizes::new(2, 0) }, 1, b).unwrap().remove(0);
    let space = space.share();
    let mut m = space.view(Side::Nic);
    let thread = spawn(move || {
        work(&mut m, &mut nic, b);
        (nic, m)
    });
    let mut h = space.view(Side::Host);
    work(&mut h, &mut host, b);
    let (mut nic, mut n) = thread.join().unwrap();
    assert_eq!([host.held(), nic.held()], [0, 0]);
    nic.flush(&mut n);
    let mut all = [Buf(u64::MAX); 3];
    assert_eq!(host.take(&mut h, &mut all), 2, "each came back");
    all.sort_unstable();
    assert_eq!(all[..2], [Buf(0), Buf(1)]);
}

#[test]
fn a_buffer_is_on_one_side() {
    crate::passes(EXCHANGED);
}

#[test]
fn a_queued_buffer_is_taken_once() {
    crate::passes(QUEUED);
}
