//! The key-value store: answers as an independent parser reads them, what it keeps, what it touches.
#![allow(clippy::unwrap_used, reason = "a set-up that fails fails its test")]

mod bench;
mod tally;

use apps::kv::{Declared, Kv, Partition, Shape, Store, Value};
use apps::{App, Cause};
use bench::{Bench, L4, dropped, ipv4, ipv6, judge, region};
use memory::NativeView;
use memory::native::Table;
use packet::kv::{HEADER, KEY, Op, Reply, Request, Status, VALUE, hash, partition};
use tally::Tally;

const CLIENT: [u8; 4] = [10, 1, 2, 3];
const SERVER: [u8; 4] = [198, 51, 100, 7];
const PORTS: (u16, u16) = (4000, 20_000);

fn kv<'r>(items: u64) -> Kv<Partition<NativeView<'r>>> {
    Kv::new(Partition::new(Shape::new(items), Table), 0, 1, 0)
}

fn payload(op: Op, id: u32, key: &[u8], value: &[u8]) -> Vec<u8> {
    let request = Request { op, key_len: key.len() as u16, value_len: value.len() as u16, id };
    [&request.bytes()[..], key, value].concat()
}

fn request(op: Op, id: u32, key: &[u8], value: &[u8]) -> Vec<u8> {
    ipv4(CLIENT, SERVER, PORTS, L4::Udp, 9, &payload(op, id, key, value))
}

/// Status and value of an answer, whose checksums and ends are right.
fn read(answer: &[u8], id: u32) -> (Status, Vec<u8>) {
    let seen = judge(answer);
    assert_eq!(
        (seen.src.as_slice(), seen.dst.as_slice(), seen.ports),
        (&SERVER[..], &CLIENT[..], (PORTS.1, PORTS.0))
    );
    assert_eq!((seen.macs, seen.life), (([1; 6], [2; 6]), 64));
    let reply = Reply::parse(&seen.payload).unwrap();
    assert_eq!(reply.id, id);
    (reply.status, seen.payload[HEADER..].to_vec())
}

#[test]
fn what_is_put_comes_back_until_it_is_deleted() {
    let region = region();
    let mut bench = Bench::new(&region);
    let mut app = kv(64);
    let (key, mut id) = ([7; KEY as usize], 0);
    let mut ask = |op, key: &[u8], value: &[u8]| {
        id += 1;
        read(&bench.one(&mut app, request(op, id, key, value)).unwrap(), id)
    };
    assert_eq!(ask(Op::Get, &key, b""), (Status::NotFound, vec![]));
    // Every length of value, odd ones and none among them; then one that needs more lines than it had.
    for value in [&b"odd"[..], b"", b"even", &[0x5a; VALUE as usize], &[0xa5; 1400]] {
        assert_eq!(ask(Op::Put, &key, value), (Status::Ok, vec![]));
        assert_eq!(ask(Op::Get, &key, b""), (Status::Ok, value.to_vec()));
    }
    assert_eq!(ask(Op::Get, &key[1..], b""), (Status::NotFound, vec![]), "another key");
    assert_eq!(ask(Op::Delete, &key, b""), (Status::Ok, vec![]));
    assert_eq!(ask(Op::Delete, &key, b""), (Status::NotFound, vec![]));
    assert_eq!(ask(Op::Get, &key, b""), (Status::NotFound, vec![]));
    assert_eq!(app.counters(), [("gets", 8), ("puts", 5), ("deletes", 2), ("hits", 11)]);
}

#[test]
fn answers_come_over_ipv6_and_vlans_and_without_a_checksum() {
    let region = region();
    let mut bench = Bench::new(&region);
    let mut app = kv(64);
    bench.one(&mut app, request(Op::Put, 1, b"key", b"value")).unwrap();
    let six = ipv6([1; 16], [2; 16], PORTS, L4::Udp, 9, &payload(Op::Get, 2, b"key", b""));
    let seen = judge(&bench.one(&mut app, six).unwrap());
    assert_eq!((seen.src, seen.dst), (vec![2; 16], vec![1; 16]));
    assert_eq!(&seen.payload[HEADER..], b"value");
    let mut tagged = request(Op::Get, 3, b"key", b"");
    tagged.splice(12..12, [0x81, 0, 0, 9]);
    let answer = bench.one(&mut app, tagged).unwrap();
    assert_eq!(answer[12..16], [0x81, 0, 0, 9]);
    assert_eq!(&judge(&answer).payload[HEADER..], b"value");
    let mut unsummed = request(Op::Get, 4, b"key", b"");
    unsummed[40..42].fill(0);
    let answer = bench.one(&mut app, unsummed).unwrap();
    assert_eq!(answer[40..42], [0, 0]);
    read(&answer, 4);
}

#[test]
fn a_short_answer_is_padded_with_zeros() {
    let region = region();
    let mut bench = Bench::new(&region);
    let answer = bench.one(&mut kv(64), request(Op::Put, 1, &[9; 128], &[9; 64])).unwrap();
    assert_eq!((answer.len(), &answer[58..]), (60, &[0, 0][..]), "nothing of the key");
    read(&answer, 1);
}

#[test]
fn what_is_no_request_is_dropped() {
    let region = region();
    let mut bench = Bench::new(&region);
    let good = payload(Op::Get, 1, b"key", b"");
    let udp = |payload: &[u8]| ipv4(CLIENT, SERVER, PORTS, L4::Udp, 9, payload);
    let mut longer = udp(&good);
    longer[38..40].copy_from_slice(&100u16.to_be_bytes());
    let mut options = request(Op::Get, 1, b"key", b"");
    options[14] = 0x46;
    let bad = [
        udp(&good[..HEADER - 1]),
        udp(&good[..HEADER]),
        udp(&[&good[..], b"?"].concat()),
        udp(&payload(Op::Get, 1, b"", b"")),
        udp(&payload(Op::Get, 1, b"key", b"value")),
        ipv4(CLIENT, SERVER, PORTS, L4::Tcp, 9, &good),
        longer,
        options,
    ];
    for (i, frame) in bad.into_iter().enumerate() {
        assert!(dropped(&bench.run(&mut kv(64), &[frame]).1, Cause::BadRequest), "frame {i}");
    }
}

#[test]
fn keys_of_another_core_and_items_beyond_all_measure_are_refused() {
    let region = region();
    let mut bench = Bench::new(&region);
    let mut app = Kv::new(Partition::new(Shape::new(1), Table), 2, 4, 0);
    for n in 0..50u32 {
        let key = n.to_be_bytes();
        let (status, _) = read(&bench.one(&mut app, request(Op::Put, n, &key, b"v")).unwrap(), n);
        let own = partition(hash(&key), 4) == 2;
        assert_eq!(status, if own { Status::Ok } else { Status::WrongPartition });
    }
    let mut app = kv(1); // 19 lines: 1216 bytes
    let (status, _) = read(&bench.one(&mut app, request(Op::Put, 1, b"key", &[1; 1300])).unwrap(), 1);
    assert_eq!(status, Status::TooLarge);
}

#[test]
fn a_value_that_no_longer_fits_the_buffer_behind_longer_headers_is_not_sent() {
    let region = region();
    let mut bench = Bench::new(&region);
    let mut app = kv(64);
    let most = 2048 - 42 - HEADER - 3; // of a frame that fits a buffer of 2048 bytes
    bench.one(&mut app, request(Op::Put, 1, b"key", &vec![1; most])).unwrap();
    let six = ipv6([1; 16], [2; 16], PORTS, L4::Udp, 9, &payload(Op::Get, 2, b"key", b""));
    let seen = judge(&bench.one(&mut app, six).unwrap());
    assert_eq!(Reply::parse(&seen.payload).unwrap().status, Status::TooLarge);
}

/// A partition in which as many items lie as it was made for keeps nearly all of them, and twice as many
/// leave the younger half.
#[test]
fn a_store_keeps_what_it_has_room_for_and_then_the_youngest() {
    let region = region();
    let mut m = region.view();
    let items = 4000u64;
    let mut store = Partition::<NativeView<'_>>::new(Shape::new(items), Table);
    let key = |n: u64| {
        let mut key = [0; KEY as usize];
        key[..8].copy_from_slice(&n.to_be_bytes());
        key
    };
    for n in 0..2 * items {
        let k = key(n);
        store.put(&mut m, hash(&k), &k, VALUE, |_, place| place.fill(n as u8)).unwrap();
        if n == items - 1 {
            let kept = (0..items).filter(|n| store.get(&mut m, hash(&key(*n)), &key(*n)).is_some()).count();
            assert!(kept as u64 > items * 99 / 100, "{kept} of {items}");
        }
    }
    let there = |n: u64, store: &mut Partition<_>, m: &mut _| {
        let k = key(n);
        let same = |v| matches!(v, Value::Bytes { bytes, .. } if bytes.iter().all(|b| *b == n as u8));
        store.get(m, hash(&k), &k).map(|v| assert!(same(v))).is_some()
    };
    assert_eq!((0..items - 20).filter(|n| there(*n, &mut store, &mut m)).count(), 0, "overwritten");
    let kept = (items..2 * items).filter(|n| there(*n, &mut store, &mut m)).count() as u64;
    assert!(kept > items * 99 / 100, "{kept} of {items}");
}

/// The lines of one operation, counted from the first of its item, and the index's.
fn touched<S: Store<Tally>>(store: &mut S, op: Op, shape_bytes: u64, key: &[u8]) -> Vec<u64> {
    let mut m = Tally::default();
    match op {
        Op::Get => assert!(store.get(&mut m, hash(key), key).is_some()),
        Op::Put => assert!(store.put(&mut m, hash(key), key, VALUE, |_, _| ()).is_ok()),
        Op::Delete => assert!(store.delete(&mut m, hash(key), key)),
    }
    assert!(m.touches.iter().all(|at| *at < shape_bytes));
    let item = m.touches.get(1).copied().unwrap_or_default();
    m.touches.iter().map(|at| at.wrapping_sub(item)).skip(1).collect()
}

#[test]
fn real_and_declared_partitions_touch_the_same_lines() {
    let shape = Shape::new(1000);
    let mut real = Partition::<Tally>::new(shape, ());
    let mut declared = Declared::<Tally>::new(shape, ());
    let mut m = Tally::default();
    for n in 0..100u8 {
        let key = [n; KEY as usize];
        real.put(&mut m, hash(&key), &key, VALUE, |_, _| ()).unwrap();
    }
    for n in 0..100u8 {
        let key = [n; KEY as usize];
        for op in [Op::Put, Op::Get] {
            let ours = touched(&mut real, op, shape.bytes(), &key);
            assert_eq!(ours, touched(&mut declared, op, shape.bytes(), &key), "{op:?}");
            let lines = ours.iter().collect::<std::collections::BTreeSet<_>>().len();
            assert_eq!(lines, 19, "{op:?} reads or writes the whole item");
        }
    }
}
