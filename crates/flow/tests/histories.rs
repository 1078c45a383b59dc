//! Histories of threads that look up while another one changes rules: each is that of tables which change at one moment.
//!
//! Every flow has a rule whose mark is the batch that set it last. Look-ups and commits tell when they began and ended,
//! by one counter for all threads. A history is linearizable if each burst can be given a batch such that
//!
//! 1. all its flows have the marks of that batch;
//! 2. the batch was committed before the burst ended, and no later one had been committed before the burst began;
//! 3. no burst that began after another one had ended has an older batch than that one.
//!
//! Only one thread commits, so batches are in order, and what a burst allows is an interval: [`check`] takes the oldest
//! batch that the bursts before it leave. If that one is too new, no other choice is better.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "tests that tell how much they did")]

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use flow::{Action, BURST, Field, Key, Layer, Limits, Match, Reader, Rule, RuleId, Writer};

const FLOWS: u32 = if cfg!(miri) { 20 } else { 20_000 };
const BATCHES: u32 = if cfg!(miri) { 5 } else { 2_000 };
/// Flows of a batch.
const CHANGED: u32 = if cfg!(miri) { 4 } else { 48 };
const READERS: u64 = 3;

/// A burst: when it began and ended, and the mark of each flow.
#[derive(Clone, Debug)]
struct Look {
    span: [u64; 2],
    marks: Vec<(u32, u32)>,
}

/// What happened. Batch 0 is there from the start.
#[derive(Clone, Debug, Default)]
struct History {
    looks: Vec<Look>,
    /// When the commit of batch 1, 2, .. began and ended, and the flows that it changed.
    commits: Vec<([u64; 2], Vec<u32>)>,
}

/// Whether a history is one of tables that change at one moment; otherwise the burst that is not.
fn check(history: &History) -> Result<(), Look> {
    let mut changes = vec![vec![0_u32]; FLOWS as usize];
    for (batch, (_, flows)) in (1..).zip(&history.commits) {
        flows.iter().for_each(|flow| changes[*flow as usize].push(batch));
    }
    let mut looks: Vec<&Look> = history.looks.iter().collect();
    looks.sort_by_key(|look| look.span[0]);
    // Bursts by their end, with their batches.
    let mut ended = std::collections::BTreeMap::new();
    let mut newest_ended = 0;
    for look in looks {
        let [begin, end] = look.span;
        let (mut least, mut most) = (0, u32::MAX);
        for (flow, mark) in &look.marks {
            let its = &changes[*flow as usize];
            let Ok(at) = its.binary_search(mark) else { return Err(look.clone()) };
            least = least.max(*mark);
            most = most.min(its.get(at + 1).map_or(u32::MAX, |next| next - 1));
        }
        // Batches that were in force before it began, and those that began before it ended.
        let in_force = history.commits.partition_point(|(span, _)| span[1] < begin) as u32;
        let begun = history.commits.partition_point(|(span, _)| span[0] < end) as u32;
        while let Some(entry) = ended.first_entry().filter(|entry| *entry.key() < begin) {
            newest_ended = newest_ended.max(entry.remove());
        }
        let batch = least.max(in_force).max(newest_ended);
        if batch > most.min(begun) {
            return Err(look.clone());
        }
        ended.insert(end, batch);
    }
    Ok(())
}

/// Moments, one after the other for all threads.
#[derive(Default)]
struct Moments(AtomicU64);

impl Moments {
    fn next(&self) -> u64 {
        // One order of all moments, with what each thread did before and after.
        self.0.fetch_add(1, Ordering::SeqCst)
    }
}

struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (((self.0 >> 32) * u64::from(bound)) >> 32) as u32
    }
}

fn key(flow: u32) -> Key {
    let mut frame = [0; 42];
    frame[12..15].copy_from_slice(&[8, 0, 0x45]);
    (frame[17], frame[23]) = (28, 17);
    frame[26..30].copy_from_slice(&flow.to_be_bytes());
    Key::read(&frame, &packet::parse(&frame))
}

fn look(reader: &Reader, moments: &Moments, chance: &mut Chance) -> Look {
    let flows: [u32; BURST] = std::array::from_fn(|_| chance.below(FLOWS));
    let mut keys = flows.map(key);
    let begin = moments.next();
    let burst = reader.burst(0);
    let verdicts = burst.classify_burst(&mut keys, &[60; BURST]);
    // A flow without a mark has one that no batch has.
    let marks =
        flows.into_iter().zip(verdicts.iter().map(|verdict| verdict.mark.unwrap_or(u32::MAX))).collect();
    drop(verdicts);
    drop(burst);
    Look { span: [begin, moments.next()], marks }
}

/// The tables under test.
struct Tables {
    writer: Writer,
    ids: Vec<RuleId>,
    /// The frames of flow n match here: rules that move come back.
    chance: Chance,
}

impl Tables {
    fn new() -> Tables {
        let writer = Writer::new(Limits::for_rules(4 * FLOWS)).unwrap();
        let mut tables = Tables { writer, ids: Vec::new(), chance: Chance(7) };
        for flow in 0..FLOWS {
            let id = tables.insert(flow, 0);
            tables.ids.push(id);
        }
        tables.writer.commit();
        tables
    }

    fn insert(&mut self, flow: u32, batch: u32) -> RuleId {
        let matching = Match::any().field(Layer::Outer, Field::Ipv4Src, flow.into()).unwrap();
        let actions = [Action::Mark(batch), Action::Queue(0)];
        loop {
            let rule = Rule { group: 0, priority: 0, matching, actions: (&actions[..]).into() };
            match self.writer.insert(&rule) {
                Ok(id) => return id,
                // A reader that lost its CPU holds units.
                Err(_) => thread::yield_now(),
            }
        }
    }

    /// Changes flows in one of three ways: other actions; removed and inserted; a rule that gives way to a new one.
    fn change(&mut self, batch: u32) -> Vec<u32> {
        let flows: std::collections::BTreeSet<u32> = (0..CHANGED).map(|_| self.chance.below(FLOWS)).collect();
        for flow in &flows {
            let id = self.ids[*flow as usize];
            if self.chance.below(2) == 0 {
                let actions = [Action::Mark(batch), Action::Queue(0)];
                while self.writer.update_actions(id, &actions).is_err() {
                    thread::yield_now();
                }
            } else {
                while self.writer.remove(id).is_err() {
                    thread::yield_now();
                }
                self.ids[*flow as usize] = self.insert(*flow, batch);
            }
        }
        flows.into_iter().collect()
    }
}

/// Lets readers look up while batches are committed; `torn` commits each in two halves, as a faulty table would.
fn run(torn: bool) -> History {
    let mut tables = Tables::new();
    let (moments, stop) = (Moments::default(), AtomicBool::new(false));
    let mut history = History::default();
    thread::scope(|scope| {
        let readers: Vec<_> = (0..READERS)
            .map(|seed| {
                let (reader, moments, stop) = (tables.writer.reader(), &moments, &stop);
                scope.spawn(move || {
                    let mut chance = Chance(seed);
                    let mut looks = vec![look(&reader, moments, &mut chance)];
                    // Acquire pairs with the store below: the last look is after the last commit.
                    while !stop.load(Ordering::Acquire) {
                        looks.push(look(&reader, moments, &mut chance));
                    }
                    looks.push(look(&reader, moments, &mut chance));
                    looks
                })
            })
            .collect();
        for batch in 1..=BATCHES {
            let begin = moments.next();
            let mut flows = tables.change(batch);
            if torn {
                tables.writer.commit();
                thread::yield_now();
                flows.extend(tables.change(batch));
                flows.sort_unstable();
                flows.dedup();
            }
            tables.writer.commit();
            history.commits.push(([begin, moments.next()], flows));
        }
        stop.store(true, Ordering::Release);
        history.looks = readers.into_iter().flat_map(|reader| reader.join().unwrap()).collect();
    });
    history
}

#[test]
fn histories_are_those_of_tables_that_change_at_one_moment() {
    for _ in 0..if cfg!(miri) { 1 } else { 3 } {
        let history = run(false);
        let bursts = history.looks.len();
        println!("{} commits, {bursts} bursts", history.commits.len());
        assert!(bursts > READERS as usize * 2, "readers ran beside");
        check(&history).unwrap();
    }
}

#[test]
#[cfg_attr(miri, ignore = "too few bursts to meet a commit between its halves")]
fn a_table_that_commits_a_batch_in_halves_is_found() {
    assert!((0..5).any(|_| check(&run(true)).is_err()));
}

/// Bursts as moments and marks.
type Looks<'a> = &'a [(u64, u64, &'a [(u32, u32)])];

#[test]
fn what_no_such_table_could_say_is_found() {
    let commits = vec![([10, 11], vec![0, 1]), ([20, 21], vec![1, 2])];
    let history = |looks: Looks<'_>| History {
        looks: looks.iter().map(|(b, e, marks)| Look { span: [*b, *e], marks: marks.to_vec() }).collect(),
        commits: commits.clone(),
    };
    let right: Looks<'_> =
        &[(5, 15, &[(0, 0), (1, 0)]), (16, 17, &[(0, 1), (1, 1), (2, 0)]), (19, 30, &[(1, 1)])];
    check(&history(right)).unwrap();
    let wrong: [Looks<'_>; 6] = [
        &[(12, 13, &[(0, 0)])],                     // old, after the commit ended
        &[(5, 9, &[(0, 1)])],                       // new, before it began
        &[(9, 12, &[(0, 1), (1, 0)])],              // half a batch
        &[(19, 25, &[(1, 2), (2, 0)])],             // the same, of the second one
        &[(8, 9, &[(0, 3)])],                       // what nobody wrote
        &[(9, 10, &[(0, 1)]), (12, 13, &[(0, 0)])], // new, then old again
    ];
    for looks in wrong {
        assert!(check(&history(looks)).is_err(), "{looks:?}");
    }
    // While a commit goes on, one burst may see it and another one that begins meanwhile may not; not in turn.
    let commits = [([10, 40], vec![0])];
    let during = |looks: [(u64, u64, u32); 2]| History {
        looks: looks.iter().map(|(b, e, mark)| Look { span: [*b, *e], marks: vec![(0, *mark)] }).collect(),
        commits: commits.to_vec(),
    };
    check(&during([(12, 20, 1), (15, 25, 0)])).unwrap();
    check(&during([(12, 20, 0), (21, 25, 1)])).unwrap();
    assert!(check(&during([(12, 20, 1), (21, 25, 0)])).is_err());
}
