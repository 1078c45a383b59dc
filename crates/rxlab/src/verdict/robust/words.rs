//! How robust a verdict is, in a table and in sentences.

use super::{Change, Robust, Standing};
use crate::show::table::{Table, num, number, words};

/// The columns of intervals: fields, and what the table of a comparison calls them.
const COLUMNS: [(&str, &str, &str); 8] = [
    ("throughput_gbps", "sent", "Gbps"),
    ("no_drop_gbps", "no-drop", "Gbps"),
    ("lost_pct", "drops", "%"),
    ("latency_mean_us", "mean", "us"),
    ("latency_p99_us", "p99", "us"),
    ("ddio_hit_pct", "DDIO", "hit %"),
    ("dram_gbps", "DRAM", "Gbps"),
    ("cycles_per_packet", "frame", "cycles"),
];

/// A row for each interface: how often it wins, and between which values four fifths of the draws are.
pub(crate) fn table(r: &Robust) -> Table {
    let mut columns = vec![words("80% of draws"), number("wins", "draws"), number("carries", "draws")];
    columns.extend(COLUMNS.map(|(_, name, unit)| number(name, unit)));
    let mut table = Table::new(&columns);
    for (i, row) in r.rows.iter().enumerate() {
        let mut cells = vec![row.label.clone(), row.wins.to_string(), row.carries.to_string()];
        cells.extend(COLUMNS.map(|(field, ..)| cell(row, field)));
        table.rows.push(cells);
        if r.rows.iter().all(|other| other.wins <= row.wins) && row.wins > 0 {
            table.bold.push(i);
        }
    }
    table
}

fn cell(row: &Standing, field: &str) -> String {
    let Some(i) = row.intervals.iter().find(|i| i.field == field) else { return "-".into() };
    let (low, high) = (num(i.low), num(i.high));
    if low == high { low } else { format!("{low}..{high}") }
}

/// What is said below the table, for a comparison that `winner` won.
pub(crate) fn lines(r: &Robust, winner: Option<&str>) -> Vec<String> {
    let who = match winner {
        Some(winner) => format!("{winner} wins in {} of {} draws", r.same, r.draws),
        None => format!("nobody leads in {} of {} draws", r.same, r.draws),
    };
    let drawn = format!(
        "{} assumed and fitted constants vary over their spreads (profiles/spreads.toml), a Latin hypercube; short runs, one placement each",
        r.constants.len()
    );
    let others: Vec<String> = r
        .rows
        .iter()
        .filter(|row| row.wins > 0 && Some(row.label.as_str()) != winner)
        .map(|row| format!("{} in {}", row.label, row.wins))
        .chain((r.level > 0 && winner.is_some()).then(|| format!("nobody in {}", r.level)))
        .collect();
    let mut lines = vec![if others.is_empty() {
        format!("{who}: {drawn}")
    } else {
        format!("{who}, {}: {drawn}", others.join(", "))
    }];
    if r.nominal.as_deref() != winner {
        let nominal = r.nominal.as_deref().unwrap_or("nobody");
        lines.push(format!(
            "runs as short as these with the profile's own constants end otherwise: {nominal} leads"
        ));
    }
    if r.same == r.draws {
        lines.push("no draw changes that".into());
    } else if r.changes.is_empty() {
        lines
            .push("no single constant tells the draws that end otherwise: several together change it".into());
    } else {
        let changes: Vec<String> = r.changes.iter().map(change).collect();
        lines.push(format!("what would change it: {}", changes.join("; ")));
    }
    lines
}

fn change(c: &Change) -> String {
    format!(
        "{} {} {} {} ({} of {} such draws, {} of the others)",
        c.constant,
        if c.above { "above" } else { "below" },
        num(c.value),
        c.unit,
        c.beyond_other,
        c.beyond,
        c.rest_other
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::fields;

    #[test]
    fn each_column_is_a_field_with_an_interval() {
        for (field, ..) in COLUMNS {
            assert!(fields::describe(field).is_some(), "{field}");
            assert!(super::super::FIELDS.contains(&field), "{field}");
        }
    }
}
