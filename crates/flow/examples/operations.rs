//! One kind of operation on the tables, many times, for a profiler or a clock around the process:
//!
//!     cargo run --release -p flow --example operations -- look-up 1000000 10000000
//!
//! `OPERATION RULES TIMES`: fills tables with so many IPv4 5-tuple rules with a counter, in one batch, and repeats the
//! operation on rules in a scattered order. With 0 times there is the filling alone, to be subtracted.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program")]

use std::process::ExitCode;

use flow::{Action, BURST, Error, Field, Key, Layer, Limits, Match, Rule, RuleId, Writer};

const OPERATIONS: &str = "look-up, look-up-one, update-actions, update-match, remove-insert, or fill";
/// Changes of a batch.
const BATCH: u32 = 64;

/// Tables and the names of their rules.
struct Tables {
    writer: Writer,
    ids: Vec<RuleId>,
    /// The last rule that was chosen.
    place: u32,
    /// A match with their mask.
    matching: Match,
}

fn matching() -> Result<Match, Error> {
    let any = Match::any().field(Layer::Outer, Field::Ipv4Src, 0)?.field(Layer::Outer, Field::Ipv4Dst, 0)?;
    let any = any.field(Layer::Outer, Field::UdpSrc, 1)?.field(Layer::Outer, Field::UdpDst, 2)?;
    any.field(Layer::Outer, Field::Ipv4Proto, 17)
}

fn key(n: u32) -> Key {
    let mut frame = [0; 42];
    frame[12..15].copy_from_slice(&[8, 0, 0x45]);
    frame[17] = 28;
    frame[23] = 17;
    frame[26..30].copy_from_slice(&n.to_be_bytes());
    frame[30..34].copy_from_slice(&(!n).to_be_bytes());
    (frame[35], frame[37]) = (1, 2);
    Key::read(&frame, &packet::parse(&frame))
}

impl Tables {
    fn new(rules: u32) -> Result<Tables, Error> {
        let writer = Writer::new(Limits::for_rules(rules))?;
        let mut tables = Tables { writer, ids: Vec::new(), place: 0, matching: matching()? };
        for n in 0..rules {
            let id = tables.insert(n)?;
            tables.ids.push(id);
        }
        tables.writer.commit();
        Ok(tables)
    }

    fn choose(&mut self, n: u32) -> Result<(), Error> {
        self.matching.set(Layer::Outer, Field::Ipv4Src, n.into())?;
        self.matching.set(Layer::Outer, Field::Ipv4Dst, (!n).into())
    }

    fn insert(&mut self, n: u32) -> Result<RuleId, Error> {
        self.choose(n)?;
        let actions = [Action::Count, Action::Queue(n as u16 & 7)];
        let actions = (&actions[..]).into();
        self.writer.insert(&Rule { group: 0, priority: 0, matching: self.matching, actions })
    }

    /// The next rule, far from the last one.
    fn next(&mut self) -> usize {
        self.place = self.place.wrapping_add(0x9e37_79b1);
        ((u64::from(self.place) * self.ids.len() as u64) >> 32) as usize
    }

    /// How many frames of bursts have a rule.
    fn look_up(&mut self, times: u32, one: bool) -> usize {
        let reader = self.writer.reader();
        let mut found = 0;
        for _ in 0..times / BURST as u32 {
            let mut keys = [(); BURST].map(|()| key(self.next() as u32));
            let burst = reader.burst(0);
            let mut out = Vec::with_capacity(BURST);
            match one {
                true => out.extend(keys.iter_mut().map(|key| burst.classify(key, 60))),
                false => burst.classify_all(&mut keys, &[60; BURST], &mut out),
            }
            found += out.iter().filter(|v| !matches!(v.ending, flow::Ending::Missed(_))).count();
        }
        found
    }

    fn change(
        &mut self,
        times: u32,
        mut change: impl FnMut(&mut Self, usize, u32) -> Result<(), Error>,
    ) -> Result<usize, Error> {
        for time in 0..times {
            let at = self.next();
            change(self, at, time)?;
            if time % BATCH == BATCH - 1 {
                self.writer.commit();
            }
        }
        Ok(times as usize)
    }

    fn run(&mut self, operation: &str, times: u32) -> Result<Option<usize>, Error> {
        let rules = self.ids.len() as u32;
        let done = match operation {
            "fill" => rules as usize,
            "look-up" => self.look_up(times, false),
            "look-up-one" => self.look_up(times, true),
            "update-actions" => self.change(times, |tables, at, time| {
                let actions = [Action::Count, Action::Queue(time as u16)];
                tables.writer.update_actions(tables.ids[at], &actions)
            })?,
            "update-match" => self.change(times, |tables, at, time| {
                tables.choose(rules + time)?;
                tables.writer.update_match(tables.ids[at], &tables.matching)
            })?,
            "remove-insert" => self.change(times, |tables, at, time| {
                tables.writer.remove(tables.ids[at])?;
                tables.ids[at] = tables.insert(rules + time)?;
                Ok(())
            })?,
            _ => return Ok(None),
        };
        Ok(Some(done))
    }
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let numbers: Vec<u32> = args.iter().skip(1).filter_map(|arg| arg.parse().ok()).collect();
    let ([operation, ..], [rules, times]) = (&args[..], &numbers[..]) else {
        eprintln!("OPERATION RULES TIMES; operations: {OPERATIONS}");
        return ExitCode::from(2);
    };
    match Tables::new(*rules).and_then(|mut tables| tables.run(operation, *times)) {
        Ok(Some(done)) => println!("{operation}: {done}"),
        Ok(None) => {
            eprintln!("{operation}: no such operation; there are {OPERATIONS}");
            return ExitCode::from(2);
        }
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
