//! What `rxlab flow --json` writes.

use flow::{Count, Ending};
use serde::Serialize;
use traffic::Skipped;

use super::Options;
use crate::lab::rules::Found;

/// All of it.
#[derive(Serialize)]
pub(super) struct Data<'f> {
    capture: Capture,
    endings: Vec<End>,
    rules: Vec<Rule<'f>>,
    groups: Vec<Group>,
    rss: Vec<Rss<'f>>,
    tables: Tables,
    lookup: Option<Lookup>,
    ignored_lines: u32,
}

#[derive(Serialize)]
struct Capture {
    frames: u64,
    bytes: u64,
    malformed: Malformed,
    skipped: Skipped,
    truncated: bool,
}

#[derive(Serialize)]
struct Malformed {
    short: u64,
    version: u64,
    length: u64,
}

#[derive(Serialize)]
struct End {
    ending: &'static str,
    number: Option<u16>,
    #[serde(flatten)]
    share: Share,
}

/// Frames, bytes, and which part of all frames that is.
#[derive(Serialize)]
struct Share {
    frames: u64,
    bytes: u64,
    frames_pct: f64,
}

#[derive(Serialize)]
struct Rule<'f> {
    rule: u32,
    line: u32,
    group: u16,
    priority: u32,
    pattern: &'f str,
    actions: &'f str,
    entries: usize,
    queried: bool,
    #[serde(flatten)]
    share: Share,
    shadowed_by: Option<u32>,
}

#[derive(Serialize)]
struct Group {
    group: u16,
    rules: u32,
    entries: u32,
    masks: usize,
    frames: u64,
    missed: u64,
}

#[derive(Serialize)]
struct Rss<'f> {
    queues: &'f [u16],
    how: &'f str,
}

#[derive(Serialize)]
struct Tables {
    entries: u32,
    bytes: u64,
    limit_bytes: u64,
}

#[derive(Serialize)]
struct Lookup {
    median_ns: f64,
    least_ns: f64,
    most_ns: f64,
    repeats: u32,
    frames: usize,
    lookups: usize,
    burst: usize,
}

/// The rules of the chosen group, everything else of all.
pub(super) fn data<'f>(options: &Options, found: &'f Found) -> Data<'f> {
    let seen = &found.seen;
    let all = seen.all.frames;
    let file = &found.file;
    let rules = file.rules.iter().zip(&found.hits).zip(&found.shadowed);
    let wanted = |group: u16| options.group.is_none_or(|only| only == group);
    Data {
        capture: Capture {
            frames: all,
            bytes: seen.all.bytes,
            malformed: Malformed { short: seen.short, version: seen.version, length: seen.length },
            skipped: seen.left.skipped,
            truncated: seen.left.truncated,
        },
        endings: found.endings.iter().map(|(ending, count)| end(*ending, *count, all)).collect(),
        rules: rules
            .filter(|((rule, _), _)| wanted(rule.group))
            .map(|((rule, hits), by)| Rule {
                rule: rule.number,
                line: rule.line,
                group: rule.group,
                priority: rule.priority,
                pattern: &rule.pattern,
                actions: &rule.does,
                entries: rule.matches.len(),
                queried: rule.queried,
                share: share(*hits, all),
                shadowed_by: by.map(|by| file.rules[by].number),
            })
            .collect(),
        groups: found
            .groups
            .iter()
            .map(|(number, group)| Group {
                group: *number,
                rules: group.rules,
                entries: group.entries,
                masks: group.masks,
                frames: group.frames,
                missed: group.missed,
            })
            .collect(),
        rss: file.spreads.iter().map(|s| Rss { queues: &s.queues, how: &s.how }).collect(),
        tables: Tables {
            entries: found.groups.values().map(|group| group.entries).sum(),
            bytes: found.memory.bytes,
            limit_bytes: found.memory.most,
        },
        lookup: found.lookup.as_ref().map(|l| Lookup {
            median_ns: l.median_ns,
            least_ns: l.least_ns,
            most_ns: l.most_ns,
            repeats: l.repeats,
            frames: l.frames,
            lookups: l.lookups,
            burst: flow::BURST,
        }),
        ignored_lines: file.ignored,
    }
}

fn end(ending: Ending, count: Count, all: u64) -> End {
    let (ending, number) = match ending {
        Ending::Queue(queue) => ("queue", Some(queue)),
        Ending::Rss(context) => ("rss", Some(context)),
        Ending::Drop => ("drop", None),
        Ending::Missed(group) => ("missed", Some(group)),
        Ending::TooLong => ("too_long", None),
    };
    End { ending, number, share: share(count, all) }
}

fn share(count: Count, all: u64) -> Share {
    let frames_pct = count.frames as f64 / all.max(1) as f64 * 100.0;
    Share { frames: count.frames, bytes: count.bytes, frames_pct }
}
