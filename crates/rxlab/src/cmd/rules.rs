//! `rxlab rules`: what operations on the rules of a NIC cost a core.

use clap::Args;

use crate::fail::Fail;
use crate::lab::operations::Options;
use crate::show::out;
use crate::show::table::{Table, num, number};

/// Options of `rules`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  rxlab rules --count 65536
  rxlab rules --tables root --match eth+ipv4 --json
  rxlab rules --operation update --count 1000000

The costs are those of a profile's [tables], see docs/flow-tables.md. What forwarding suffers from them, and what
look-ups take, is for `rxlab compare --tables`.")]
pub(crate) struct Rules {
    #[command(flatten)]
    options: Options,
    /// Write JSON instead of a table
    #[arg(long)]
    json: bool,
}

/// Runs it.
///
/// # Errors
/// A value that is not allowed.
pub(crate) fn run(rules: &Rules) -> Result<(), Fail> {
    let found = rules.options.measure()?;
    if rules.json {
        return out::json(&found.data());
    }
    let mut table =
        Table::new(&[number("rate", "krules/s"), number("a rule", "us"), number("a core", "ms in all")]);
    table.rows.push(["krules_per_s", "rule_us", "core_ms"].map(|name| num(found.value(name))).to_vec());
    out::print(&table.text(false))
}
