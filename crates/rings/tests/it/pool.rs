//! The pool: last in, first out; flushes at 1.5 times the cache; cores that only free.

use crate::common::{Plain, counter};
use memory::{Buf, Side};
use rings::Buffers;
use rings::pool::{self, CoreCache};

fn pool(count: u32, cores: u32, cache: u32) -> (Vec<CoreCache<Plain>>, Plain) {
    let mut space = Plain::new(Side::Both);
    let cores = pool::build(&mut space, count, cores, cache).unwrap();
    (cores, space.side(Side::Host))
}

fn take(core: &mut CoreCache<Plain>, m: &mut Plain, n: usize) -> Vec<Buf> {
    let mut out = vec![Buf(u64::MAX); n];
    let got = core.take(m, &mut out);
    out.truncate(got);
    out
}

#[test]
fn every_buffer_comes_once() {
    for (count, cache) in [(1, 0), (7, 3), (100, 8), (600, 512), (5, 5)] {
        let (mut cores, mut m) = pool(count, 1, cache);
        let mut all = take(&mut cores[0], &mut m, count as usize + 9);
        all.sort();
        assert!(all.iter().map(|b| b.0).eq(0..u64::from(count)), "{count} with a cache of {cache}");
        assert_eq!((cores[0].available(&mut m), counter(&cores[0].counters(), "pool_shortages")), (0, 1));
        cores[0].give(&mut m, &all);
        assert_eq!(cores[0].available(&mut m), u64::from(count));
    }
}

#[test]
fn the_last_freed_is_the_first_taken() {
    let (mut cores, mut m) = pool(64, 2, 32);
    let [a, b] = &mut cores[..] else { unreachable!() };
    let held = take(a, &mut m, 20);
    a.give(&mut m, &held[..3]);
    assert_eq!(take(a, &mut m, 3), [held[2], held[1], held[0]], "from the private stack");
    a.flush(&mut m);
    a.give(&mut m, &held);
    a.flush(&mut m);
    let again: Vec<Buf> = held.iter().rev().copied().collect();
    assert_eq!(take(b, &mut m, 20), again, "from the shared one");
}

#[test]
fn a_cache_is_filled_and_flushed_in_bulk() {
    let (mut cores, mut m) = pool(1000, 1, 8);
    let core = &mut cores[0];
    let held = take(core, &mut m, 1);
    assert_eq!(core.cached(), 8, "one taken, a cache full kept");
    let more = take(core, &mut m, 8);
    assert_eq!((core.cached(), counter(&core.counters(), "pool_lock_taken")), (0, 1));
    core.give(&mut m, &more);
    core.give(&mut m, &held);
    let rest = take(core, &mut m, 0);
    assert!(rest.is_empty());
    let extra: Vec<Buf> = (900..904).map(Buf).collect();
    core.give(&mut m, &extra[..3]);
    assert_eq!(core.cached(), 12, "1.5 times the cache is not above it");
    core.give(&mut m, &extra[3..]);
    assert_eq!(core.cached(), 8, "flushed down to the cache");
}

#[test]
fn one_core_allocates_and_another_frees() {
    let (mut cores, mut m) = pool(64, 2, 8);
    let [a, b] = &mut cores[..] else { unreachable!() };
    for _ in 0..100 {
        let held = take(a, &mut m, 16);
        assert_eq!(held.len(), 16);
        b.give(&mut m, &held);
    }
    assert!(b.cached() <= 12);
    a.flush(&mut m);
    b.flush(&mut m);
    assert_eq!((a.shared(&mut m), a.cached(), b.cached()), (64, 0, 0));
}

#[test]
fn what_is_given_twice_is_counted_and_not_kept() {
    let (mut cores, mut m) = pool(4, 1, 0);
    cores[0].give(&mut m, &[Buf(0), Buf(1)]);
    assert_eq!((cores[0].available(&mut m), counter(&cores[0].counters(), "pool_foreign")), (4, 2));
}
