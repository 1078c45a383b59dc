//! `rxlab tcp`: TCP between two hosts through a modelled router, an interface under test on both of its ports.

use clap::Args;

use crate::fail::Fail;
use crate::lab::fields;
use crate::lab::transfer::Options;
use crate::show::bar;
use crate::show::out;
use crate::show::table::{Table, num, number, words};

/// Options of `tcp`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  rxlab tcp --flows 64 --bytes 10000 --rounds 20 --interface corec --cores 4
  rxlab tcp --bytes 1073741824 --interface corec --cores 2 --json

A client on one port sends, a server on the other receives; the router between them forwards with l3fwd, with as many
cores for each port. A connection lasts from its SYN until both FINs are acknowledged.")]
pub(crate) struct Tcp {
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
pub(crate) fn run(asked: &Tcp) -> Result<(), Fail> {
    let bar = bar::working("simulating");
    let found = asked.options.measure()?;
    bar.finish_and_clear();
    if asked.json {
        return out::json(&found.data());
    }
    let (all, ended) = (asked.options.connections(), found.value("connections"));
    let note = if ended < all as f64 {
        let limit = asked.options.limit_s;
        format!(
            "{ended} of {all} connections ended within --limit-s {limit}: no times, they would leave out the longest\n"
        )
    } else {
        String::new()
    };
    let mut table = Table::new(&[words("what"), number("found", ""), words("unit")]);
    for (name, value) in &found.fields {
        if let Some(field) = fields::describe(name) {
            table.rows.push(vec![field.heading.into(), num(*value), field.unit.into()]);
        }
    }
    out::print(&format!("{}\n{note}reproduce: {}\n", table.text(false), found.reproduce))
}
