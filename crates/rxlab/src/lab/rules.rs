//! A rule file over a capture: which rule takes which frames, and what a look-up costs.

pub(crate) mod lookup;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use flow::text::{self, RuleFile};
use flow::{Action, BURST, Count, Ending, Key, Limits, Reader, RuleId, Survey, Writer};
use packet::Fault;
use traffic::{Left, TraceError};

use crate::fail::Fail;
use crate::lab::capture;
use lookup::{Lookup, Sample};

/// What is found of a rule file and a capture.
pub(crate) struct Found {
    /// The rules.
    pub file: RuleFile,
    /// What the capture has.
    pub seen: Seen,
    /// What becomes of frames.
    pub endings: BTreeMap<Ending, Count>,
    /// The frames that each rule matches, in the order of the file's rules.
    pub hits: Vec<Count>,
    /// Entries, masks, misses of each group that has rules or frames.
    pub groups: BTreeMap<u16, Group>,
    /// For each rule the index of one that takes all its frames, where one does.
    pub shadowed: Vec<Option<usize>>,
    /// What the tables take.
    pub memory: Memory,
    /// What a look-up costs, where it was asked for.
    pub lookup: Option<Lookup>,
}

/// What a capture has.
#[derive(Default)]
pub(crate) struct Seen {
    /// Usable frames.
    pub all: Count,
    /// Frames with a header that runs past the bytes that were captured.
    pub short: u64,
    /// Frames with another IP version than their type says.
    pub version: u64,
    /// Frames with an IP length that its header contradicts.
    pub length: u64,
    /// What cannot be used.
    pub left: Left,
}

/// A group of rules.
#[derive(Default)]
pub(crate) struct Group {
    pub rules: u32,
    pub entries: u32,
    pub masks: usize,
    /// Frames that were looked up in it.
    pub frames: u64,
    /// Those that no rule of it matched.
    pub missed: u64,
}

/// Bytes of the tables.
pub(crate) struct Memory {
    /// What they take.
    pub bytes: u64,
    /// What their limits allow, told before.
    pub most: u64,
}

impl Seen {
    /// Frames with bad headers; they are looked up by what comes before the fault.
    pub(crate) fn malformed(&self) -> u64 {
        self.short + self.version + self.length
    }
}

/// Reads a rule file.
///
/// # Errors
/// Names the file, and where in it what is not allowed.
pub(crate) fn read(path: &Path) -> Result<RuleFile, Fail> {
    let name = path.display();
    let bytes = fs::read(path).map_err(|e| Fail::new(format!("{name}: {e}; expected a rule file")))?;
    let text = String::from_utf8(bytes).map_err(|e| {
        let line = e.as_bytes()[..e.utf8_error().valid_up_to()].iter().filter(|b| **b == b'\n').count() + 1;
        Fail::new(format!("{name}: line {line}: not UTF-8; expected a rule file, which is text"))
    })?;
    text::read(&text).map_err(|e| Fail::new(format!("{name}: {e}")))
}

/// Runs a capture through the rules, and times the look-ups of its frames `repeats` times.
///
/// # Errors
/// A capture that cannot be read, more rules than tables take.
pub(crate) fn run(file: RuleFile, pcap: &Path, repeats: u32) -> Result<Found, Fail> {
    let limits = file.limits();
    let (tables, ids) = tables(&file, limits, true)?;
    let reader = tables.reader();
    let mut pass = Pass::new(&reader, repeats > 0);
    let left = capture::frames(pcap, |frame, len| pass.add(frame, len)).map_err(Fail::new)?;
    pass.flush();
    let Pass { seen, endings, sample, .. } = pass;
    if seen.all.frames == 0 {
        return Err(Fail::new(TraceError::NoFrames { path: pcap.into(), skipped: left.skipped.total() }));
    }
    let mut hits = vec![Count::default(); file.rules.len()];
    for (index, id) in ids {
        let count = tables.count(id).map_err(Fail::new)?;
        hits[index] = sum(hits[index], count);
    }
    let survey = flow::survey(&file.entries().map(|(_, rule)| rule).collect::<Vec<_>>());
    let lookup = match repeats {
        0 => None,
        _ => Some(lookup::measure(&self::tables(&file, limits, false)?.0.reader(), sample, repeats)),
    };
    Ok(Found {
        groups: groups(&file, &survey, &hits, &endings),
        shadowed: shadowed(&file, &survey),
        memory: Memory { bytes: tables.bytes() as u64, most: limits.bytes() },
        seen: Seen { left, ..seen },
        file,
        endings,
        hits,
        lookup,
    })
}

/// Tables with the rules of a file, and the rule of each entry. With `counting` all of them count.
fn tables(file: &RuleFile, limits: Limits, counting: bool) -> Result<(Writer, Vec<(usize, RuleId)>), Fail> {
    let mut tables = Writer::new(limits).map_err(Fail::new)?;
    let mut ids = Vec::with_capacity(limits.rules as usize);
    for (index, mut rule) in file.entries() {
        if counting && !rule.actions.contains(&Action::Count) {
            rule.actions.to_mut().push(Action::Count);
        }
        ids.push((index, tables.insert(&rule).map_err(Fail::new)?));
    }
    tables.commit();
    Ok((tables, ids))
}

/// A capture's way through tables.
struct Pass<'r> {
    reader: &'r Reader,
    keys: Vec<Key>,
    bytes: Vec<u32>,
    seen: Seen,
    endings: BTreeMap<Ending, Count>,
    /// Keys for the measurement, where there is one.
    sample: Sample,
}

impl<'r> Pass<'r> {
    fn new(reader: &'r Reader, sampled: bool) -> Pass<'r> {
        Pass {
            reader,
            keys: Vec::with_capacity(BURST),
            bytes: Vec::with_capacity(BURST),
            seen: Seen::default(),
            endings: BTreeMap::new(),
            sample: Sample::new(sampled),
        }
    }

    fn add(&mut self, frame: &[u8], len: usize) -> bool {
        let parsed = packet::parse(frame);
        match parsed.fault {
            Some(Fault::Short) => self.seen.short += 1,
            Some(Fault::Version) => self.seen.version += 1,
            Some(Fault::Length) => self.seen.length += 1,
            None => {}
        }
        let (key, bytes) = (Key::read(frame, &parsed), u32::try_from(len).unwrap_or(u32::MAX));
        self.seen.all = sum(self.seen.all, Count { frames: 1, bytes: bytes.into() });
        self.sample.add(&key, bytes);
        self.keys.push(key);
        self.bytes.push(bytes);
        if self.keys.len() == BURST {
            self.flush();
        }
        true
    }

    fn flush(&mut self) {
        let burst = self.reader.burst(0);
        let mut verdicts = Vec::with_capacity(BURST);
        burst.classify_all(&mut self.keys, &self.bytes, &mut verdicts);
        for (verdict, bytes) in verdicts.iter().zip(&self.bytes) {
            let count = self.endings.entry(verdict.ending).or_default();
            *count = sum(*count, Count { frames: 1, bytes: (*bytes).into() });
        }
        self.keys.clear();
        self.bytes.clear();
    }
}

fn sum(a: Count, b: Count) -> Count {
    Count { frames: a.frames + b.frames, bytes: a.bytes + b.bytes }
}

fn groups(
    file: &RuleFile,
    survey: &Survey,
    hits: &[Count],
    endings: &BTreeMap<Ending, Count>,
) -> BTreeMap<u16, Group> {
    let mut groups: BTreeMap<u16, Group> = BTreeMap::new();
    for (rule, hits) in file.rules.iter().zip(hits) {
        let group = groups.entry(rule.group).or_default();
        group.rules += 1;
        group.entries += rule.matches.len() as u32;
        group.frames += hits.frames;
    }
    for (number, masks) in &survey.masks {
        groups.entry(*number).or_default().masks = *masks;
    }
    for (ending, count) in endings {
        if let Ending::Missed(number) = ending {
            let group = groups.entry(*number).or_default();
            group.missed += count.frames;
            group.frames += count.frames;
        }
    }
    groups
}

/// A rule is shadowed if all its entries are; the rule that takes the frames of the first one is named.
fn shadowed(file: &RuleFile, survey: &Survey) -> Vec<Option<usize>> {
    let of: Vec<usize> = file.entries().map(|(index, _)| index).collect();
    let mut by = vec![None; file.rules.len()];
    let mut at = 0;
    for (index, rule) in file.rules.iter().enumerate() {
        let entries = &survey.shadowed[at..at + rule.matches.len()];
        at += rule.matches.len();
        if entries.iter().all(Option::is_some) {
            by[index] = entries.first().copied().flatten().map(|entry| of[entry]);
        }
    }
    by
}
