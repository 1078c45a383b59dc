//! What `rxlab flow` prints, and its report.

use std::fmt::Write as _;

use flow::text::TextRule;
use flow::{BURST, CHAIN, Count, Ending};

use super::Options;
use crate::lab::rules::Found;
use crate::lab::rules::lookup::Lookup;
use crate::show::html::Html;
use crate::show::out;
use crate::show::table::{Table, num, number, words};

/// Characters of a pattern and of actions that a terminal shows.
const PATTERN: usize = 40;
const ACTIONS: usize = 24;
/// Rules that a sentence names.
const NAMED: usize = 10;

/// All of it, for a terminal.
pub(super) fn text(options: &Options, found: &Found) -> String {
    let mut text = lines(options, found).join("\n") + "\n\n";
    let colour = out::colour();
    let _ = writeln!(text, "{}", endings(found).text(colour));
    let rules = rules(options, found, true);
    if !rules.rows.is_empty() {
        let _ = write!(text, "{}\n{}\n", heading(options, found), rules.text(colour));
    }
    text += &groups(found).text(colour);
    for line in remarks(options, found) {
        text += &format!("\n{line}\n");
    }
    text
}

/// The same as a page.
pub(super) fn report(options: &Options, found: &Found) -> Html {
    let mut page = Html::new(&format!("{} over {}", options.rules.display(), options.pcap.display()));
    page.list(lines(options, found));
    page.section("What becomes of the frames");
    page.table(&endings(found));
    page.section(&heading(options, found));
    page.table(&rules(options, found, false));
    page.section("Groups");
    page.table(&groups(found));
    page.list(remarks(options, found));
    page
}

/// What was read.
fn lines(options: &Options, found: &Found) -> Vec<String> {
    let (file, seen) = (&found.file, &found.seen);
    let entries: u32 = found.groups.values().map(|group| group.entries).sum();
    let masks: usize = found.groups.values().map(|group| group.masks).sum();
    let mut rules = format!("{}: {}", options.rules.display(), plural(file.rules.len() as u64, "rule"));
    if entries as usize != file.rules.len() {
        let _ = write!(rules, ", {entries} entries");
    }
    let _ = write!(rules, ", {}", plural(masks as u64, "mask"));
    if file.ignored > 0 {
        let _ = write!(rules, "; {} that change no rule passed over", plural(file.ignored.into(), "line"));
    }
    let frames = plural(seen.all.frames, "frame");
    let mut frames = format!("{}: {frames}, {} bytes without FCS", options.pcap.display(), seen.all.bytes);
    let left = &seen.left;
    let notes = [
        (seen.malformed(), "with malformed headers, looked up by what comes before the fault"),
        (left.skipped.malformed, "damaged records, left out"),
        (left.skipped.unknown_link, "of an unknown link type, left out"),
        (u64::from(left.truncated), "record cut off at the end of the file"),
    ];
    for (n, what) in notes.iter().filter(|(n, _)| *n > 0) {
        let _ = write!(frames, "; {n} {what}");
    }
    if seen.malformed() > 0 {
        let faults = [
            (seen.short, "cut short"),
            (seen.version, "of another IP version"),
            (seen.length, "too small a length"),
        ];
        let faults = faults.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}"));
        let _ = write!(frames, " ({})", faults.collect::<Vec<_>>().join(", "));
    }
    vec![rules, frames]
}

fn plural(n: u64, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}

fn endings(found: &Found) -> Table {
    let mut table =
        Table::new(&[words("ending"), number("frames", ""), number("bytes", ""), number("frames", "%")]);
    for (ending, count) in &found.endings {
        let what = match ending {
            Ending::Queue(queue) => format!("queue {queue}"),
            Ending::Rss(context) => spread(found, *context),
            Ending::Drop => "drop".into(),
            Ending::Missed(group) => format!("missed in group {group}"),
            Ending::TooLong => format!("more than {CHAIN} groups"),
        };
        let mut row = vec![what];
        row.extend(share(*count, found));
        table.rows.push(row);
    }
    table
}

fn spread(found: &Found, context: u16) -> String {
    let spread = found.file.spreads.get(usize::from(context));
    let queues = spread.map(|s| s.queues.iter().map(u16::to_string).collect::<Vec<_>>()).unwrap_or_default();
    let queues = if queues.is_empty() { "all queues".into() } else { format!("queues {}", queues.join(" ")) };
    match spread.map(|s| &*s.how) {
        Some(how) if !how.is_empty() => clip(&format!("rss {queues}, {how}"), PATTERN),
        _ => clip(&format!("rss {queues}"), PATTERN),
    }
}

fn share(count: Count, found: &Found) -> [String; 3] {
    let part = count.frames as f64 / found.seen.all.frames.max(1) as f64 * 100.0;
    [count.frames.to_string(), count.bytes.to_string(), format!("{part:.2}")]
}

/// Indices of the rules of the chosen group that `choose` has, in the file's order.
fn chosen(options: &Options, found: &Found, choose: impl Fn(usize, &TextRule) -> bool) -> Vec<usize> {
    let all = found.file.rules.iter().enumerate();
    let wanted = all.filter(|(_, rule)| options.group.is_none_or(|group| rule.group == group));
    wanted.filter(|(index, rule)| choose(*index, rule)).map(|(index, _)| index).collect()
}

/// Rules to be shown: those with the most frames first, and those that a query asks for.
fn busiest(options: &Options, found: &Found) -> Vec<usize> {
    let mut all = chosen(options, found, |index, rule| found.hits[index].frames > 0 || rule.queried);
    all.sort_by_key(|index| std::cmp::Reverse(found.hits[*index].frames));
    let mut place = 0..;
    all.retain(|index| place.next().is_some_and(|n| n < options.top) || found.file.rules[*index].queried);
    all
}

fn heading(options: &Options, found: &Found) -> String {
    let matched = chosen(options, found, |index, _| found.hits[index].frames > 0).len();
    let of = options.group.map_or(String::new(), |group| format!(" of group {group}"));
    match matched > options.top {
        true => format!("Rules{of} that match frames, the {} busiest of {matched}:", options.top),
        false => format!("Rules{of} that match frames, {matched}:"),
    }
}

fn rules(options: &Options, found: &Found, narrow: bool) -> Table {
    let mut table = Table::new(&[
        number("rule", ""),
        number("line", ""),
        number("group", ""),
        number("prio", ""),
        words("pattern"),
        words("actions"),
        number("frames", ""),
        number("bytes", ""),
        number("frames", "%"),
    ]);
    for index in busiest(options, found) {
        let rule = &found.file.rules[index];
        let [pattern, does] = match narrow {
            true => [clip(&rule.pattern, PATTERN), clip(&rule.does, ACTIONS)],
            false => [rule.pattern.clone(), rule.does.clone()],
        };
        let numbers = [rule.number, rule.line, rule.group.into(), rule.priority];
        let mut row: Vec<String> = numbers.iter().map(u32::to_string).collect();
        row.extend([pattern, does]);
        row.extend(share(found.hits[index], found));
        table.rows.push(row);
    }
    table
}

fn groups(found: &Found) -> Table {
    let mut table = Table::new(&[
        number("group", ""),
        number("rules", ""),
        number("entries", ""),
        number("masks", ""),
        number("looked up", "frames"),
        number("missed", "frames"),
    ]);
    for (number, group) in &found.groups {
        table.rows.push(vec![
            number.to_string(),
            group.rules.to_string(),
            group.entries.to_string(),
            group.masks.to_string(),
            group.frames.to_string(),
            group.missed.to_string(),
        ]);
    }
    table
}

/// What the tables do not say.
fn remarks(options: &Options, found: &Found) -> Vec<String> {
    let rules = &found.file.rules;
    let mut all = Vec::new();
    let idle = chosen(options, found, |index, _| found.hits[index].frames == 0);
    if !idle.is_empty() {
        let named =
            idle.iter().map(|index| format!("{} (line {})", rules[*index].number, rules[*index].line));
        all.push(format!("No frame for {}: {}", plural(idle.len() as u64, "rule"), some(named)));
    }
    let shadowed = chosen(options, found, |index, _| found.shadowed[index].is_some());
    if !shadowed.is_empty() {
        let named = shadowed.iter().filter_map(|index| {
            let by = &rules[found.shadowed[*index]?];
            Some(format!("{} by {} (line {})", rules[*index].number, by.number, by.line))
        });
        let whom = if shadowed.len() == 1 { "it: rule".into() } else { format!("{} rules:", shadowed.len()) };
        all.push(format!("Shadowed, so that no frame can reach {whom} {}", some(named)));
    }
    let memory = &found.memory;
    all.push(format!("Tables: {} of at most {}, told by the limits", size(memory.bytes), size(memory.most)));
    all.extend(found.lookup.as_ref().map(|lookup| timed(lookup, found)));
    all
}

/// The first few, and how many more there are.
fn some(mut all: impl Iterator<Item = String>) -> String {
    let first: Vec<String> = all.by_ref().take(NAMED).collect();
    let more = all.count();
    let end = if more > 0 { format!(" and {more} more") } else { String::new() };
    first.join(", ") + &end
}

fn timed(l: &Lookup, found: &Found) -> String {
    let frames = match l.lookups / l.frames.max(1) {
        1 if l.frames as u64 == found.seen.all.frames => "all frames".into(),
        1 => format!("the first {} frames", l.frames),
        times => format!("all frames, {times} times over"),
    };
    let passes =
        if l.repeats == 1 { "the only pass".into() } else { format!("median of {} passes", l.repeats) };
    let [median, least, most] = [l.median_ns, l.least_ns, l.most_ns].map(num);
    format!(
        "Look-up: {median} ns a frame, {passes} ({least} to {most}), {frames} in bursts of {BURST}, keys ready in memory"
    )
}

fn size(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..0x10_0000 => format!("{} KiB", num(bytes as f64 / 1024.0)),
        _ => format!("{} MiB", num(bytes as f64 / 1_048_576.0)),
    }
}

fn clip(text: &str, most: usize) -> String {
    match text.chars().count() > most {
        true => text.chars().take(most - 3).chain("...".chars()).collect(),
        false => text.into(),
    }
}
