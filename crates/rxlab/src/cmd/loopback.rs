//! `rxlab loopback`: frames there and back between host and NIC, over a coherent link or behind PCIe, in the model.

use clap::Args;

use crate::fail::Fail;
use crate::lab::fields;
use crate::lab::loopback::Options;
use crate::show::bar;
use crate::show::out;
use crate::show::table::{Table, num, number, words};

/// Options of `loopback`.
#[derive(Args, Debug)]
// A plan's series may give an option of the plan again: its command says both.
#[command(
    args_override_self = true,
    after_help = "\
Examples:
  rxlab loopback
  rxlab loopback --server spr --pairs 1 --in-flight 1 --tx-burst 1 --rx-burst 1
  rxlab loopback --server spr --signal register --layout pack --load 0.8
  rxlab loopback --nic e810 --bytes 1500 --json
  rxlab loopback --pairs 1 --tx-burst 8 --rx-burst 8 --in-flight 96 --frames 1280:1792

Each pair is a host's core, which writes frames, sends them and reads what comes back, and a core of the other socket,
which plays the NIC: it reads each frame and writes it into another buffer for the way back. Without --load and
--frames a pair has as many frames under way as --in-flight says, which finds the highest rate; with one, bursts of one
and one pair, it finds the least latency. What the options do not say is the paper's (CC-NIC), or with --nic e810 a
card's of today."
)]
pub(crate) struct Loopback {
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
pub(crate) fn run(asked: &Loopback) -> Result<(), Fail> {
    let given: Vec<String> = std::env::args().skip(2).filter(|word| word != "--json").collect();
    let bar = bar::working("simulating");
    let found = asked.options.measured(format!("rxlab loopback {}", given.join(" ")).trim_end().into())?;
    bar.finish_and_clear();
    if asked.json {
        return out::json(&found.data());
    }
    let mut table = Table::new(&[words("what"), number("found", ""), words("unit")]);
    for (name, value) in &found.fields {
        if let Some(field) = fields::describe(name) {
            table.rows.push(vec![field.heading.into(), num(*value), field.unit.into()]);
        }
    }
    out::print(&format!("{}\nreproduce: {}\n", table.text(false), found.reproduce))
}
