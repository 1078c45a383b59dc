//! The key-value store's datagrams.

use packet::kv::{HEADER, KEY, MAX_KEY, Op, Reply, Request, Status, VALUE, hash, partition};
use proptest::prelude::*;

fn ops() -> impl Strategy<Value = Op> {
    prop_oneof![Just(Op::Get), Just(Op::Put), Just(Op::Delete)]
}

fn statuses() -> impl Strategy<Value = Status> {
    prop_oneof![
        Just(Status::Ok),
        Just(Status::NotFound),
        Just(Status::WrongPartition),
        Just(Status::TooLarge),
        Just(Status::Full)
    ]
}

proptest! {
    #[test]
    fn headers_read_back(op in ops(), status in statuses(), key_len in 1..=MAX_KEY as u16, value_len in 0..1400u16, id: u32) {
        let value_len = if op == Op::Put { value_len } else { 0 };
        let request = Request { op, key_len, value_len, id };
        let len = usize::from(request.payload_len());
        prop_assert_eq!(Request::parse(&request.bytes(), len), Some(request));
        prop_assert_eq!(Request::parse(&request.bytes(), len + 1), None, "a byte more than it says");
        prop_assert_eq!(Reply::parse(&request.bytes()), None, "a request is no reply");
        let reply = Reply { op, status, value_len, id };
        let mut bytes = reply.bytes().to_vec();
        bytes.resize(HEADER + usize::from(value_len), 7);
        prop_assert_eq!(Reply::parse(&bytes), Some(reply));
        prop_assert_eq!(Request::parse(&bytes, bytes.len()), None);
    }

    /// What is taken says itself: no two headers mean the same.
    #[test]
    fn any_bytes_are_refused_or_say_themselves(
        mut bytes: [u8; HEADER], hits in prop::collection::vec(0..HEADER, 0..4), len in 0..1500usize,
    ) {
        let good = Request { op: Op::Put, key_len: KEY, value_len: VALUE, id: 5 }.bytes();
        for at in (0..HEADER).filter(|at| !hits.contains(at)) {
            bytes[at] = good[at];
        }
        if let Some(request) = Request::parse(&bytes, len) {
            prop_assert_eq!(request.bytes(), bytes);
            prop_assert_eq!(usize::from(request.payload_len()), len);
        }
        prop_assert_eq!(Request::parse(&bytes[..HEADER - 1], len), None);
    }
}

const KNOWN: [u64; 4] =
    [0x0000_0000_0000_0000, 0x27d1_3417_8074_a30c, 0x78d7_9b94_8a23_1e6b, 0x888f_22c1_f3a7_27b4];

/// Another program must find the same partition: these are from the formula, computed elsewhere.
#[test]
fn hashes_are_the_published_ones() {
    assert_eq!(hash(b""), KNOWN[0]);
    assert_eq!(hash(b"a"), KNOWN[1]);
    assert_eq!(hash(b"abcdefgh"), KNOWN[2]);
    assert_eq!(hash(&[0; 128]), KNOWN[3]);
}

#[test]
fn partitions_are_even_whatever_part_of_the_key_differs() {
    for at in [0, 60, 120] {
        let mut counts = [0u32; 8];
        for n in 0..80_000u64 {
            let mut key = [0; 128];
            key[at..at + 8].copy_from_slice(&n.to_be_bytes());
            counts[partition(hash(&key), 8) as usize] += 1;
        }
        assert!(counts.iter().all(|n| n.abs_diff(10_000) < 500), "{counts:?}");
    }
    assert_eq!(partition(u64::MAX, 7), 6);
}
