//! `rxlab profile explain`: what a number of a profile is, and how to measure it. docs/profiles.md has the words.

use model::profile::{declared, ranges};
use serde::Serialize;

use crate::fail::Fail;
use crate::show::out;
use crate::show::table::{Table, words};

const PAGE: &str = include_str!("../../../../../docs/profiles.md");

/// A number of a profile.
#[derive(Serialize)]
struct Number {
    place: &'static str,
    /// What results call it, if it is a constant.
    result: Option<&'static str>,
    allowed: String,
    meaning: String,
    measure: String,
}

/// Rows of a table of the page, as cells.
fn rows() -> impl Iterator<Item = Vec<&'static str>> {
    let cells = |line: &'static str| line.trim_matches('|').split('|').map(str::trim).collect();
    PAGE.lines().filter(|line| line.starts_with('|')).map(cells)
}

/// How to measure a number: its row, or that of its short name in the tables of a NIC.
fn measure(place: &str) -> Option<&'static str> {
    let quoted = format!("`{place}`");
    let own = rows().find(|row| row.len() == 4 && row[0] == quoted).map(|row| row[3]);
    let of_nic = || {
        let short = format!("`{}`", place.strip_prefix("tables.")?);
        rows().find(|row| row.len() == 2 && row[0].split(", ").any(|name| name == short)).map(|row| row[1])
    };
    own.or_else(of_nic)
}

fn meaning(place: &str) -> String {
    if let Some(constant) = declared().find(|d| d.place == place) {
        return constant.about().to_owned();
    }
    let quoted = format!("`{place}`");
    rows().find(|row| row.len() == 4 && row[0] == quoted).map_or_else(String::new, |row| row[2].to_owned())
}

fn all() -> Vec<Number> {
    let one = |(place, range): (&'static str, &model::profile::Range)| Number {
        place,
        result: declared().find(|d| d.place == place).map(|d| d.name),
        allowed: range.to_string(),
        meaning: meaning(place),
        measure: measure(place).unwrap_or("as the manual of the card has it").to_owned(),
    };
    ranges().map(one).collect()
}

/// Explains one number, those of a table, or all.
///
/// # Errors
/// A field that no profile has.
pub(super) fn run(field: Option<&str>, json: bool) -> Result<(), Fail> {
    let asked = |n: &Number| {
        field.is_none_or(|field| {
            n.place == field
                || n.result == Some(field)
                || n.place.starts_with(&format!("{field}."))
                || n.place.ends_with(&format!(".{field}"))
        })
    };
    let found: Vec<Number> = all().into_iter().filter(asked).collect();
    if found.is_empty() {
        let field = field.unwrap_or_default();
        return Err(Fail::new(format!(
            "explain: no profile has `{field}`; allowed: a place such as caches.ways, a table such as constants.pcie, a name in results such as pcie_write_ns"
        )));
    }
    if json {
        return out::json_rows(&found);
    }
    if let [n] = found.as_slice() {
        let name = n.result.map(|name| format!(", {name} in results")).unwrap_or_default();
        return out::print(&format!(
            "{}{name}\n  {}\n  allowed: {}\n  measure: {}\n",
            n.place, n.meaning, n.allowed, n.measure
        ));
    }
    let mut table =
        Table::new(&[words("field"), words("allowed"), words("meaning"), words("how to measure")]);
    let row = |n: &Number| vec![n.place.into(), n.allowed.clone(), n.meaning.clone(), n.measure.clone()];
    table.rows = found.iter().map(row).collect();
    out::print(&table.text(out::colour()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_every_number_as_the_program_does() {
        for n in all() {
            assert!(measure(n.place).is_some_and(|text| text.len() > 5), "{}: no way to measure it", n.place);
            if n.place.starts_with("tables.") {
                continue;
            }
            let row = rows().find(|row| row.len() == 4 && row[0] == format!("`{}`", n.place)).unwrap();
            assert_eq!((row[1], row[2]), (n.allowed.as_str(), n.meaning.as_str()), "{}", n.place);
        }
        let known: Vec<_> = ranges().map(|(place, _)| format!("`{place}`")).collect();
        let strange = rows().filter(|row| row.len() == 4 && row[0].starts_with('`'));
        assert_eq!(strange.filter(|row| !known.contains(&row[0].to_owned())).count(), 0);
    }
}
