//! Flow tables against a plain map, at their limits, and the declared one against the real one.

use apps::table::{Declared, FlowTable, Full, HashTable, Key, Shape, Value};
use memory::{Backing, Ps, Region, native::Table};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::io::Write as _;

mod tally;
use tally::Tally;

fn key(n: u32) -> Key {
    let [a, b, c, d] = n.to_be_bytes();
    Key::ipv4([a, b, c, d], [20, 0, 0, 1], 1000, 80, 6)
}

const LONG: Ps = Ps::from_us(1_000_000);

#[test]
fn a_table_takes_as_many_flows_as_it_says() {
    let region = Region::new(64, Backing::Heap).unwrap();
    let mut m = region.view();
    for capacity in [1, 5, 64, 1000, 100_000] {
        let mut t = HashTable::new(Shape::new(capacity), Table, LONG);
        for n in 0..capacity {
            let k = key(n);
            assert_eq!(t.find(&mut m, &k, k.hash(), Ps(1), false), None);
            t.insert(&mut m, &k, k.hash(), [n.into(), 1], Ps(1)).unwrap();
        }
        assert_eq!((t.len(), t.refused()), (capacity as usize, 0));
        let one_more = key(capacity);
        assert_eq!(t.insert(&mut m, &one_more, one_more.hash(), [0; 2], Ps(2)), Err(Full));
        for n in 0..capacity {
            let k = key(n);
            assert_eq!(t.find(&mut m, &k, k.hash(), Ps(2), false).unwrap().value, [n.into(), 1]);
        }
    }
}

#[test]
fn the_flow_unused_for_longest_gives_way_after_its_timeout() {
    let region = Region::new(64, Backing::Heap).unwrap();
    let mut m = region.view();
    let mut t = HashTable::new(Shape::new(4), Table, Ps(100));
    for n in 0..4 {
        t.insert(&mut m, &key(n), key(n).hash(), [0; 2], Ps(u64::from(n))).unwrap();
    }
    t.find(&mut m, &key(0), key(0).hash(), Ps(50), false).unwrap();
    let new = key(9);
    assert_eq!(t.insert(&mut m, &new, new.hash(), [0; 2], Ps(100)), Err(Full), "1 is 99 old");
    t.insert(&mut m, &new, new.hash(), [0; 2], Ps(101)).unwrap();
    assert!(!t.taken(&mut m, &key(1), key(1).hash()));
    assert!(t.taken(&mut m, &key(0), key(0).hash()), "it was used since");
    assert_eq!((t.len(), t.expired(), t.refused()), (4, 1, 1));
}

#[test]
fn two_directions_expire_together_and_only_when_both_are_idle() {
    let region = Region::new(64, Backing::Heap).unwrap();
    let mut m = region.view();
    let mut t = HashTable::new(Shape::new(2), Table, Ps(100));
    let a = t.insert(&mut m, &key(0), key(0).hash(), [0; 2], Ps(0)).unwrap();
    let b = t.insert(&mut m, &key(1), key(1).hash(), [0; 2], Ps(0)).unwrap();
    t.link(a, b);
    t.find(&mut m, &key(1), key(1).hash(), Ps(90), false).unwrap();
    let new = key(2);
    assert_eq!(t.insert(&mut m, &new, new.hash(), [0; 2], Ps(150)), Err(Full), "the peer is in use");
    t.insert(&mut m, &new, new.hash(), [0; 2], Ps(190)).unwrap();
    assert_eq!((t.len(), t.expired()), (1, 2));
}

proptest! {
    /// Any sequence of operations: the table knows exactly what a map knows, while it has room.
    #[test]
    fn agrees_with_a_map(ops in prop::collection::vec((0u32..60, 0u8..3, any::<u64>()), 1..400)) {
        let region = Region::new(64, Backing::Heap).unwrap();
        let mut m = region.view();
        let mut t = HashTable::new(Shape::new(40), Table, LONG);
        let mut map: BTreeMap<u32, Value> = BTreeMap::new();
        for (n, op, v) in ops {
            let k = key(n);
            match op {
                0 if !map.contains_key(&n) => {
                    let done = t.insert(&mut m, &k, k.hash(), [v, 0], Ps(1)).is_ok();
                    prop_assert_eq!(done, map.len() < 40);
                    if done {
                        map.insert(n, [v, 0]);
                    }
                }
                1 => {
                    t.remove(&mut m, &k, k.hash());
                    map.remove(&n);
                }
                _ => {
                    let found = t.find(&mut m, &k, k.hash(), Ps(1), false).map(|f| f.value);
                    prop_assert_eq!(found, map.get(&n).copied());
                }
            }
            prop_assert_eq!(t.len(), map.len());
        }
    }
}

#[test]
fn the_declared_table_touches_what_the_real_one_touches() {
    let shape = Shape::new(10_000);
    let mut real = HashTable::<Tally>::new(shape, (), LONG);
    let mut declared = Declared::<Tally>::new(shape, (), |h| [h, 0]);
    let (mut m, mut d) = (Tally::default(), Tally::default());
    let mut filled = Tally::default();
    for n in 0..6_000 {
        let _ = real.insert(&mut filled, &key(n), key(n).hash(), [0; 2], Ps(1));
    }
    for n in 0..6_000 {
        let k = key(n);
        assert!(real.find(&mut m, &k, k.hash(), Ps(1), false).is_some());
        assert!(declared.find(&mut d, &k, k.hash(), Ps(1), false).is_some());
    }
    // Three lines a lookup: bucket, key, state. The real table reads a second bucket now and then.
    assert_eq!(d.touches.len(), 3 * 6_000);
    assert!((18_000..18_600).contains(&m.touches.len()), "{}", m.touches.len());
    assert!(m.touches.iter().chain(&d.touches).all(|at| *at < shape.bytes()));
    // Spread over the whole table, as entries of a table in long use are.
    let far = d.touches.iter().filter(|at| **at > shape.bytes() / 2).count();
    assert!(far > 6_000, "{far}");
}

#[test]
fn the_declared_table_opens_flows_where_frames_do() {
    let mut t = Declared::<Tally>::new(Shape::new(100), (), |h| [h % 32, 0]);
    let mut m = Tally::default();
    let k = key(1);
    assert_eq!(t.find(&mut m, &k, k.hash(), Ps(1), true), None);
    assert!(!t.taken(&mut m, &k, k.hash()));
    assert_eq!(t.insert(&mut m, &k, k.hash(), [7, 0], Ps(1)).unwrap().value, [7, 0]);
    assert_eq!(t.find(&mut m, &k, k.hash(), Ps(1), false).unwrap().value, [k.hash() % 32, 0]);
}

/// Resident bytes of this process; `None` where the system does not tell.
fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/statm").ok()?;
    Some(status.split(' ').nth(1)?.parse::<u64>().ok()? * 4096)
}

#[test]
fn ten_million_flows_take_memory_as_they_come() {
    let region = Region::new(64, Backing::Heap).unwrap();
    let mut m = region.view();
    let Some(before) = resident() else {
        return writeln!(
            std::io::stderr(),
            "skipped: ten_million_flows_take_memory_as_they_come: no /proc/self/statm"
        )
        .unwrap();
    };
    let mut t = HashTable::new(Shape::new(10_000_000), Table, LONG);
    for n in 0..5_000 {
        t.insert(&mut m, &key(n), key(n).hash(), [n.into(), 0], Ps(1)).unwrap();
    }
    // Buckets are random: their pages come first, all 128 MiB of them where pages are huge. Keys and
    // states, 900 MB, lie side by side.
    let grown = resident().unwrap_or(u64::MAX).saturating_sub(before);
    assert!(grown < 256 << 20, "{grown} B");
    assert_eq!(t.find(&mut m, &key(4_999), key(4_999).hash(), Ps(1), false).unwrap().value, [4_999, 0]);
}
