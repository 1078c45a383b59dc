//! Rule programs and frames, drawn at random, against the naive classifier.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "tests that tell how much they did")]

use std::thread;

use flow::testing::{Acts, Ask, Draft, Reference, Shape};
use flow::{BURST, Key, Limits, RuleId, Writer};
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::RngCore;

/// Frames of a program.
const FRAMES: u64 = 4096;

fn ask(chance: &mut Pcg64Mcg) -> Ask {
    let [kind, value, bits, ..] = chance.next_u32().to_le_bytes();
    Ask { kind, value, bits }
}

fn acts(chance: &mut Pcg64Mcg) -> Acts {
    let [fate, extra, value, ..] = chance.next_u32().to_le_bytes();
    Acts { fate, extra, value }
}

/// Tables and the naive classifier after the same program: some 40 rules, of which some are changed or removed.
fn program(chance: &mut Pcg64Mcg) -> (Writer, Reference) {
    let mut writer = Writer::new(Limits { groups: 6, ..Limits::for_rules(200) }).unwrap();
    let mut reference = Reference::default();
    let mut ids: Vec<(u32, RuleId)> = Vec::new();
    for name in 0..60 {
        let [group, priority, what, which] = chance.next_u32().to_le_bytes();
        let chosen = (!ids.is_empty()).then(|| usize::from(which) % ids.len().max(1));
        match (what % 6, chosen) {
            (0, Some(at)) => {
                let (name, id) = ids.swap_remove(at);
                writer.remove(id).unwrap();
                reference.rules.retain(|(n, _)| *n != name);
            }
            (1, Some(at)) => {
                let list = acts(chance).actions();
                if writer.update_actions(ids[at].1, &list).is_ok() {
                    reference.get(ids[at].0).unwrap().actions = list.into();
                }
            }
            (2, Some(at)) => {
                if let Ok(matching) = ask(chance).matching()
                    && writer.update_match(ids[at].1, &matching).is_ok()
                {
                    reference.get(ids[at].0).unwrap().matching = matching;
                }
            }
            _ => {
                let draft = Draft { group, priority, ask: ask(chance), acts: acts(chance) };
                if let Ok(rule) = draft.rule()
                    && let Ok(id) = writer.insert(&rule)
                {
                    ids.push((name, id));
                    reference.rules.push((name, rule));
                }
            }
        }
        if which & 3 == 0 {
            writer.commit();
        }
    }
    writer.commit();
    (writer, reference)
}

/// Compares verdicts of frames; how many there were, and how many of them some rule took.
fn compare(chance: &mut Pcg64Mcg) -> [u64; 2] {
    let (writer, reference) = program(chance);
    let reader = writer.reader();
    let mut taken = 0;
    for _ in 0..FRAMES / BURST as u64 {
        let shapes: [Shape; BURST] = std::array::from_fn(|_| {
            let [kind, value, more, _] = chance.next_u32().to_le_bytes();
            Shape { kind, value, more }
        });
        let mut keys: [Key; BURST] = shapes.map(|shape| shape.key());
        let before = keys;
        let burst = reader.burst(0);
        let verdicts = burst.classify_burst(&mut keys, &[60; BURST]);
        for (i, verdict) in verdicts.iter().enumerate() {
            let mut key = before[i];
            let expected = reference.classify(&mut key);
            assert_eq!(
                (verdict.ending, verdict.mark, verdict.groups),
                (expected.ending, expected.mark, expected.groups),
                "{:?} among {:?}",
                shapes[i],
                reference.rules
            );
            assert!(
                verdict.edits().eq(&expected.edits) && keys[i] == key,
                "{:?} among {:?}",
                shapes[i],
                reference.rules
            );
            taken += u64::from(!expected.hits.is_empty());
        }
    }
    [FRAMES, taken]
}

/// Compares at least so many pairs, on all CPUs.
fn pairs(least: u64, seed: u64) {
    let threads = thread::available_parallelism().map_or(1, |n| n.get() as u64);
    let programs = least.div_ceil(FRAMES * threads);
    let told: Vec<[u64; 2]> = thread::scope(|scope| {
        let all: Vec<_> = (0..threads)
            .map(|thread| {
                scope.spawn(move || {
                    let mut chance = Pcg64Mcg::new(u128::from(seed + thread) << 64 | 1);
                    (0..programs).fold([0, 0], |sum, _| {
                        let one = compare(&mut chance);
                        [sum[0] + one[0], sum[1] + one[1]]
                    })
                })
            })
            .collect();
        all.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let [all, taken] = told.iter().fold([0, 0], |sum, one| [sum[0] + one[0], sum[1] + one[1]]);
    println!("{all} pairs of {} programs, {taken} frames taken by a rule", programs * threads);
    assert!(all >= least && taken > all / 4 && taken < all, "most of them mean something");
}

#[test]
#[cfg_attr(miri, ignore = "too many")]
fn verdicts_are_those_of_the_naive_classifier() {
    pairs(500_000, 0);
}

/// A part of `make long`.
#[test]
#[ignore = "some minutes"]
fn verdicts_of_a_hundred_million_pairs_are_those_of_the_naive_classifier() {
    pairs(100_000_000, 1 << 32);
}
