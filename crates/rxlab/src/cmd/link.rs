//! `rxlab link`: a server's coherent link and its stores to a card, measured in the model.

use clap::Args;
use rayon::prelude::*;

use crate::fail::Fail;
use crate::lab::link::{Asked, Measure, Options};
use crate::lab::measured::Measured;
use crate::show::bar;
use crate::show::out;
use crate::show::table::{Column, Table, num, number, words};
use crate::show::text::wrapped;

/// Options of `link`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  rxlab link
  rxlab link --server spr --measure ping-pong
  rxlab link --measure stream --pairs 1,16 --mib 8
  rxlab link --measure writes --case mmio --bytes 64,4096 --json
  rxlab link --server here.toml --measure stores --count 24,25

Measures:
  access     what a core waits for a line, by where it is and whose memory it belongs to: there (rh) or here (lh)
  ping-pong  two words, one for each direction, in two lines or in one
  stream     a host's core writes and a NIC's core reads, so many pairs at a time
  writes     what one core stores with a barrier behind each so many bytes
  stores     what so many stores to registers of the card take, mapped write-combining
The NIC is a core of the other socket, the card is behind PCIe. A wrong case is answered with those that there are.")]
pub(crate) struct Link {
    #[command(flatten)]
    options: Options,
    /// Write JSON instead of a table
    #[arg(long)]
    json: bool,
}

/// Runs it.
///
/// # Errors
/// A value that is not allowed, or that the server does not have.
pub(crate) fn run(link: &Link) -> Result<(), Fail> {
    let asked = link.options.ready()?;
    let bar = bar::progress(asked.points.len() as u64, "simulating");
    let one = |point| asked.measure(point).inspect(|_| bar.inc(1));
    let found: Result<Vec<Measured>, Fail> = asked.points.par_iter().with_max_len(1).map(one).collect();
    bar.finish_and_clear();
    let found = found?;
    if link.json { out::json(&asked.data(&found)) } else { out::print(&text(&asked, &found)) }
}

/// The table, and what its cases are.
fn text(asked: &Asked, found: &[Measured]) -> String {
    let (swept, fields) = columns(asked.measure);
    let mut headings = vec![words("case")];
    headings.extend(swept);
    headings.extend(fields.iter().map(|(_, column)| column.clone()));
    let mut table = Table::new(&headings);
    let mut out = String::new();
    for (n, (point, found)) in asked.points.iter().zip(found).enumerate() {
        let mut row = vec![point.case.name.to_string()];
        row.extend(point.x.map(|x| x.to_string()));
        row.extend(fields.iter().map(|(name, _)| num(found.value(name))));
        table.rows.push(row);
        if n == 0 || asked.points[n - 1].case.name != point.case.name {
            out += &wrapped("- ", &format!("{}: {}", point.case.name, point.case.about));
        }
    }
    format!("{}\n{out}", table.text(false))
}

/// The columns of a measure: what is swept, and the fields.
fn columns(measure: Measure) -> (Option<Column>, Vec<(&'static str, Column)>) {
    let crossed = |of: &'static str| {
        [("remote_reads", number("remote reads", of)), ("remote_rfos", number("remote RFOs", of))]
    };
    match measure {
        Measure::Access => (None, vec![("latency_ns", number("latency", "ns"))]),
        Measure::PingPong => {
            let trip = [("latency_ns", number("round trip", "ns"))];
            (None, trip.into_iter().chain(crossed("a trip")).collect())
        }
        Measure::Stream => {
            let all =
                [("throughput_gbps", number("throughput", "Gbps"))].into_iter().chain(crossed("a line"));
            let fields = all.chain([("dram_lines", number("DRAM", "lines a line"))]);
            (Some(number("pairs", "of cores")), fields.collect())
        }
        Measure::Writes => {
            (Some(number("a barrier", "B")), vec![("throughput_gbps", number("throughput", "Gbps"))])
        }
        Measure::Stores => (Some(number("stores", "")), vec![("latency_ns", number("all of them", "ns"))]),
    }
}
