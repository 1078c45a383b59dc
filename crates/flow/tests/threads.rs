//! Readers beside a writer: each burst sees a batch whole or not at all, and nothing that was never committed.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use flow::{Action, Burst, Ending, Field, Key, Layer, Limits, Match, Reader, Rule, RuleId, Writer};

const RULES: u32 = if cfg!(miri) { 12 } else { 200 };
const BATCHES: u32 = if cfg!(miri) { 6 } else { 150 };
const READERS: usize = 2;

/// A frame of flow `n`: UDP over IPv4.
fn key(n: u32) -> Key {
    let mut frame = vec![0; 42];
    frame[12..15].copy_from_slice(&[8, 0, 0x45]);
    frame[17] = 28;
    frame[23] = 17;
    frame[26..30].copy_from_slice(&n.to_be_bytes());
    Key::read(&frame, &packet::parse(&frame))
}

fn flow(n: u32) -> Match {
    Match::any().field(Layer::Outer, Field::Ipv4Src, n.into()).unwrap()
}

fn insert(writer: &mut Writer, n: u32, actions: &[Action]) -> RuleId {
    writer.insert(&Rule { group: 0, priority: 0, matching: flow(n), actions: actions.into() }).unwrap()
}

/// The mark of each frame; none where no rule matched.
fn marks(burst: &Burst<'_>, flows: impl Iterator<Item = u32>) -> Vec<Option<u32>> {
    let mut keys: Vec<Key> = flows.map(key).collect();
    let mut verdicts = Vec::new();
    let bytes = vec![60; keys.len()];
    burst.classify_all(&mut keys, &bytes, &mut verdicts);
    let mark = |v: &flow::Verdict<'_>| (!matches!(v.ending, Ending::Missed(0))).then_some(v.mark).flatten();
    verdicts.iter().map(mark).collect()
}

/// Runs `look` on readers until `change` has made all its batches.
fn beside(
    writer: &mut Writer,
    look: impl Fn(&Reader) -> u64 + Sync,
    mut change: impl FnMut(&mut Writer, u32),
) {
    let ended = AtomicBool::new(false);
    thread::scope(|scope| {
        let readers: Vec<_> = (0..READERS)
            .map(|_| {
                let (reader, ended, look) = (writer.reader(), &ended, &look);
                scope.spawn(move || {
                    let mut seen = look(&reader);
                    while !ended.load(Ordering::Acquire) {
                        let now = look(&reader);
                        assert!(now >= seen, "version {now} after {seen}");
                        seen = now;
                    }
                    look(&reader)
                })
            })
            .collect();
        for batch in 1..=BATCHES {
            change(writer, batch);
            writer.commit();
        }
        ended.store(true, Ordering::Release);
        let last = writer.commit();
        assert!(readers.into_iter().all(|reader| reader.join().unwrap() == last), "the last version is seen");
    });
}

#[test]
fn an_update_of_all_actions_is_seen_whole() {
    let mut writer = Writer::new(Limits::for_rules(8 * RULES)).unwrap();
    let list = |mark| [Action::Mark(mark), Action::Count, Action::Queue(0)];
    let ids: Vec<_> = (0..RULES).map(|n| insert(&mut writer, n, &list(0))).collect();
    writer.commit();
    let look = |reader: &Reader| {
        let burst = reader.burst(0);
        let marks = marks(&burst, 0..RULES);
        assert!(marks.iter().all(|m| *m == marks[0]), "two batches in one burst: {marks:?}");
        // The first commit was of the marks 0.
        assert_eq!(marks[0].map(|m| u64::from(m) + 1), Some(burst.version()));
        burst.version()
    };
    let mut refused = 0;
    beside(&mut writer, look, |writer, batch| {
        for id in &ids {
            // A reader that lost its CPU keeps units of old batches; when there are no more, it has to come back.
            while writer.update_actions(*id, &list(batch)).is_err() {
                refused += 1;
                thread::yield_now();
            }
        }
    });
    println!("{refused} updates had to be tried again");
}

#[test]
fn rules_that_move_match_in_one_place() {
    let mut writer = Writer::new(Limits::for_rules(8 * RULES)).unwrap();
    let ids: Vec<_> =
        (0..RULES).map(|n| insert(&mut writer, n, &[Action::Mark(n), Action::Queue(0)])).collect();
    writer.commit();
    let look = |reader: &Reader| {
        let burst = reader.burst(0);
        let [here, there] = [0, RULES].map(|from| marks(&burst, from..from + RULES));
        let moved = burst.version() % 2 == 0;
        for (n, (here, there)) in (0..).zip(here.into_iter().zip(there)) {
            let expected = if moved { (None, Some(n)) } else { (Some(n), None) };
            assert_eq!((here, there), expected, "rule {n} at version {}", burst.version());
        }
        burst.version()
    };
    beside(&mut writer, look, |writer, batch| {
        let from = if batch % 2 == 1 { RULES } else { 0 };
        for (n, id) in (from..).zip(&ids) {
            while writer.update_match(*id, &flow(n)).is_err() {
                thread::yield_now();
            }
        }
    });
}

#[test]
fn rules_come_and_go_while_the_table_grows() {
    let mut writer = Writer::new(Limits::for_rules(16 * RULES)).unwrap();
    let record = [Action::Mark(7), Action::Age(1), Action::Queue(0)];
    for n in 0..RULES {
        insert(&mut writer, n, &record);
    }
    writer.commit();
    let look = |reader: &Reader| {
        let burst = reader.burst(0);
        let marks = marks(&burst, 0..3 * RULES);
        let (stay, others) = marks.split_at(RULES as usize);
        assert!(stay.iter().all(|m| *m == Some(7)), "a rule that stays is missed");
        // Each batch replaces all rules of the one before.
        let (even, odd) = others.split_at(RULES as usize);
        let (there, gone) = if burst.version() % 2 == 0 { (even, odd) } else { (odd, even) };
        let batch = u32::try_from(burst.version() - 1).unwrap();
        if batch > 0 {
            assert!(there.iter().all(|m| *m == Some(batch)), "batch {batch}: {there:?}");
        }
        assert!(gone.iter().all(Option::is_none), "batch {batch}: {gone:?}");
        burst.version()
    };
    let mut last: Vec<RuleId> = Vec::new();
    beside(&mut writer, look, |writer, batch| {
        for id in last.drain(..) {
            while writer.remove(id).is_err() {
                thread::yield_now();
            }
        }
        let from = if batch % 2 == 1 { RULES } else { 2 * RULES };
        for n in from..from + RULES {
            last.push(insert_patiently(writer, n, batch));
        }
    });
}

fn insert_patiently(writer: &mut Writer, n: u32, mark: u32) -> RuleId {
    let actions = [Action::Mark(mark), Action::Queue(0)];
    loop {
        let rule = Rule { group: 0, priority: 0, matching: flow(n), actions: (&actions[..]).into() };
        match writer.insert(&rule) {
            Ok(id) => return id,
            Err(flow::Error::Full { .. }) => thread::yield_now(),
            Err(error) => panic!("{error}"),
        }
    }
}
