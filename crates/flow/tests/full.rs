//! A rule program that is longer than the tables have room for.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "tests that tell how much they did")]

use flow::{Action, BURST, Ending, Error, Field, Key, Layer, Limits, Match, Resource, Rule, Writer};

fn key(n: u32) -> Key {
    let mut frame = [0; 42];
    frame[12..15].copy_from_slice(&[8, 0, 0x45]);
    (frame[17], frame[23]) = (28, 17);
    frame[26..30].copy_from_slice(&n.to_be_bytes());
    frame[30..34].copy_from_slice(&n.wrapping_mul(0x9e37_79b1).to_be_bytes());
    Key::read(&frame, &packet::parse(&frame))
}

/// Inserts `rules` where there is room for `room`: the rest is refused, and what went in is as it was.
fn ends_in_table_full(rules: u32, room: u32) {
    let limits = Limits::for_rules(room);
    let mut tables = Writer::new(limits).unwrap();
    let fields = [Field::Ipv4Src, Field::Ipv4Dst, Field::UdpSrc, Field::UdpDst];
    let any = fields.into_iter().try_fold(Match::any(), |m, f| m.field(Layer::Outer, f, 0));
    let mut matching = any.unwrap().field(Layer::Outer, Field::Ipv4Proto, 17).unwrap();
    for n in 0..rules {
        matching.set(Layer::Outer, Field::Ipv4Src, n.into()).unwrap();
        matching.set(Layer::Outer, Field::Ipv4Dst, n.wrapping_mul(0x9e37_79b1).into()).unwrap();
        let actions = [Action::Mark(n), Action::Count, Action::Queue(0)];
        let rule = Rule { group: 0, priority: 0, matching, actions: (&actions[..]).into() };
        match tables.insert(&rule) {
            Ok(_) => assert!(n < room),
            Err(error) => {
                let full = Error::Full { what: Resource::Rules, limit: room, retiring: 0 };
                assert_eq!((n >= room, error), (true, full));
            }
        }
        if n % 4096 == 0 {
            tables.commit();
        }
    }
    tables.commit();
    assert_eq!(tables.len(), room);
    assert!(tables.bytes() as u64 <= limits.bytes(), "what was told before it was taken");
    println!("{room} rules in {} B, {} B were told", tables.bytes(), limits.bytes());
    let reader = tables.reader();
    for first in (0..room).step_by(BURST) {
        let mut keys: [Key; BURST] = std::array::from_fn(|i| key(first + i as u32));
        let burst = reader.burst(0);
        for (n, verdict) in (first..).zip(burst.classify_burst(&mut keys, &[60; BURST])) {
            let expected = if n < room { (Ending::Queue(0), Some(n)) } else { (Ending::Missed(0), None) };
            assert_eq!((verdict.ending, verdict.mark), expected, "rule {n}");
        }
    }
}

#[test]
fn a_program_that_is_too_long_ends_in_table_full() {
    let room = if cfg!(miri) { 70 } else { 70_000 };
    ends_in_table_full(room + room / 7, room);
}

/// A part of `make long`: some 1.3 GB.
#[test]
#[ignore = "takes memory"]
fn a_program_of_ten_million_rules_ends_in_table_full() {
    ends_in_table_full(10_000_000, 9_900_000);
}
