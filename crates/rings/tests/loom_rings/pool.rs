//! Two cores and a pool without private stacks: every take and give goes through the shared one.

use memory::checked::{CheckedBuffers, CheckedSpace, CheckedView, Scenario, spawn};
use memory::{Buf, Memory, Side, Touch};
use rings::Buffers;
use rings::pool::{CoreCache, build};

use crate::oracle::buffers;

pub(crate) const STACK: Scenario = Scenario { name: "pool, 2 cores, 3 buffers", run };

/// Takes two, uses them as only an owner may, gives them back; twice.
fn work(m: &mut CheckedView, pool: &mut CoreCache<CheckedView>, b: CheckedBuffers) {
    for _ in 0..2 {
        let mut bufs = [Buf(u64::MAX); 2];
        let n = pool.take(m, &mut bufs);
        for buf in &bufs[..n] {
            m.meta(b, *buf, 0, Touch::Write);
        }
        pool.give(m, &bufs[..n]);
    }
}

fn run(mut space: CheckedSpace) {
    let b = buffers(&mut space, 3);
    let mut cores = build(&mut space, 3, 2, 0).unwrap();
    let space = space.share();
    let (mut other, mut m) = (cores.remove(1), space.view(Side::Host));
    let thread = spawn(move || {
        work(&mut m, &mut other, b);
        other
    });
    let (mut own, mut m) = (cores.remove(0), space.view(Side::Host));
    work(&mut m, &mut own, b);
    let other = thread.join().unwrap();
    let cached = [&own, &other].map(CoreCache::cached);
    assert_eq!(cached, [0, 0], "without private stacks nothing stays behind");
    let mut all = [Buf(u64::MAX); 4];
    assert_eq!(own.take(&mut m, &mut all), 3);
    all.sort_unstable();
    assert_eq!(all[..3], [Buf(0), Buf(1), Buf(2)]);
}

#[test]
fn a_buffer_has_one_owner() {
    crate::passes(STACK);
}
