//! Tables that line up: as text for a terminal, as HTML for a report.

use std::borrow::Cow;
use std::fmt::Write;

/// A column's heading: what and in which unit.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    /// First line of the heading.
    pub name: Cow<'static, str>,
    /// Second line: the unit, or nothing.
    pub unit: &'static str,
    /// Numbers stand right, words left.
    pub right: bool,
}

/// A column of words.
pub(crate) const fn words(name: &'static str) -> Column {
    Column { name: Cow::Borrowed(name), unit: "", right: false }
}

/// A column of numbers in a unit.
pub(crate) const fn number(name: &'static str, unit: &'static str) -> Column {
    Column { name: Cow::Borrowed(name), unit, right: true }
}

/// Characters of a cell from which on it is a sentence.
const SENTENCE: usize = 40;

/// Rows under headings; every row has as many cells as there are columns.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    /// Headings.
    pub columns: Vec<Column>,
    /// Cells.
    pub rows: Vec<Vec<String>>,
    /// Rows to stand out.
    pub bold: Vec<usize>,
}

impl Table {
    /// An empty table.
    pub(crate) fn new(columns: &[Column]) -> Table {
        Table { columns: columns.to_vec(), ..Table::default() }
    }

    /// Lines for a terminal; `colour` puts bold rows in bold.
    pub(crate) fn text(&self, colour: bool) -> String {
        let width = |i: usize| {
            let c = &self.columns[i];
            let cells = self.rows.iter().filter_map(|r| r.get(i)).map(|s| s.chars().count());
            cells.chain([c.name.len(), c.unit.len()]).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.columns.len()).map(width).collect();
        let line = |cells: &[&str]| {
            let mut out = String::new();
            for ((cell, column), &width) in cells.iter().zip(&self.columns).zip(&widths) {
                let pad = " ".repeat(width - cell.chars().count().min(width));
                let gap = if out.is_empty() { "" } else { "  " };
                out += &if column.right { format!("{gap}{pad}{cell}") } else { format!("{gap}{cell}{pad}") };
            }
            out.trim_end().to_string() + "\n"
        };
        let mut out = line(&self.columns.iter().map(|c| &*c.name).collect::<Vec<_>>());
        if self.columns.iter().any(|c| !c.unit.is_empty()) {
            out += &line(&self.columns.iter().map(|c| c.unit).collect::<Vec<_>>());
        }
        out += &(widths.iter().map(|&w| "-".repeat(w)).collect::<Vec<_>>().join("  ") + "\n");
        for (i, row) in self.rows.iter().enumerate() {
            let text = line(&row.iter().map(String::as_str).collect::<Vec<_>>());
            let bold = colour && self.bold.contains(&i);
            out += &if bold { format!("\x1b[1m{}\x1b[0m\n", text.trim_end()) } else { text };
        }
        out
    }

    /// The same as an HTML table.
    pub(crate) fn html(&self) -> String {
        let mut out = String::from("<table><thead><tr>");
        let class = |c: &Column| if c.right { " class=\"n\"" } else { "" };
        // Sentences would else be a word wide where the page is narrow.
        let cell_class = |c: &Column, cell: &str| match cell.chars().count() {
            SENTENCE.. if !c.right => " class=\"long\"",
            _ => class(c),
        };
        for c in &self.columns {
            let unit = if c.unit.is_empty() {
                String::new()
            } else {
                format!("<br><small>{}</small>", escape(c.unit))
            };
            let _ = write!(out, "<th{}>{}{unit}</th>", class(c), escape(&c.name));
        }
        out += "</tr></thead><tbody>\n";
        for (i, row) in self.rows.iter().enumerate() {
            out += if self.bold.contains(&i) { "<tr class=\"win\">" } else { "<tr>" };
            for (cell, c) in row.iter().zip(&self.columns) {
                let _ = write!(out, "<td{}>{}</td>", cell_class(c, cell), escape(cell));
            }
            out += "</tr>\n";
        }
        out + "</tbody></table>\n"
    }
}

/// Text that is safe inside HTML.
pub(crate) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// A number with as many digits as help: three significant ones, or all before the point.
pub(crate) fn num(v: f64) -> String {
    match v.abs() {
        _ if v.is_nan() => "-".into(),
        0.0 => "0".into(),
        a if a >= 99.95 => format!("{v:.0}"),
        a if a >= 9.995 => format!("{v:.1}"),
        a if a >= 0.9995 => format!("{v:.2}"),
        // Of 0.0156 two digits behind the point would leave one.
        a if a >= 1e-4 => format!("{v:.*}", (2.0 - a.log10().floor()) as usize),
        _ => format!("{v:.2e}"),
    }
}

/// A whole number as it is, any other as [`num`] shows it.
pub(crate) fn plain(v: f64) -> String {
    if v.fract() == 0.0 && v.abs() < 1e6 { format!("{v:.0}") } else { num(v) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut t = Table::new(&[words("interface"), number("rate", "Gbps")]);
        t.rows = vec![vec!["privring".into(), "162.1".into()], vec!["<x>".into(), "9".into()]];
        t.bold = vec![1];
        t
    }

    #[test]
    fn columns_line_up_and_units_stand_in_the_heading() {
        let expected =
            "interface   rate\n            Gbps\n---------  -----\nprivring   162.1\n<x>            9\n";
        assert_eq!(table().text(false), expected);
        assert!(table().text(true).contains("\x1b[1m<x>"));
    }

    #[test]
    fn html_is_escaped() {
        assert!(table().html().contains("&lt;x&gt;"));
        assert!(!table().html().contains("<x>"));
    }

    #[test]
    fn numbers_keep_three_digits() {
        let shown: Vec<String> =
            [0.0, 0.8, 12.34, 99.97, 162.4, 1224.4, f64::NAN, 0.01557, 0.000781, 0.00003, 0.9997]
                .into_iter()
                .map(num)
                .collect();
        let expected =
            ["0", "0.800", "12.3", "100", "162", "1224", "-", "0.0156", "0.000781", "3.00e-5", "1.00"];
        assert_eq!(shown, expected);
    }
}
