//! `rxlab flow`: a capture through a file of flow rules.
//!
//! `show` has the tables, `data` the JSON.

mod data;
mod show;

use std::path::PathBuf;

use clap::Args;

use crate::fail::Fail;
use crate::lab::rules;
use crate::show::file::Target;
use crate::show::html;
use crate::show::out;

/// Most passes of the measurement.
const MAX_REPEATS: u32 = 1000;

/// Options of `flow`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  rxlab flow rules.flow --pcap capture.pcap
  rxlab flow rules.flow --pcap capture.pcapng.zst --group 1 --top 50
  rxlab flow rules.flow --pcap capture.pcap --repeat 0 --json
  rxlab flow rules.flow --pcap capture.pcap --html rules.html

A line of the file is a command of DPDK's testpmd, such as:
  flow create 0 ingress pattern eth / ipv4 / udp dst is 53 / end actions queue index 3 / end
or flow validate, destroy, flush, query, or set vxlan. docs/flow-tables.md has items, fields and actions.

Frames begin in group 0. In each group the rule with the lowest priority number acts, of equal ones the more specific.
A look-up is a frame's whole way through the groups. The times are those of the capture's first 262144 frames in bursts of
32, with keys that are ready in memory: the median of the passes, with the fastest and the slowest.")]
pub(crate) struct Options {
    /// The rules: commands of testpmd, one a line
    rules: PathBuf,
    /// The frames: pcap or pcapng, plain, gzip or zstd
    #[arg(long, value_name = "FILE")]
    pcap: PathBuf,
    /// Show the rules of this group only
    #[arg(long, value_name = "N")]
    group: Option<u16>,
    /// Show so many rules, those with the most frames
    #[arg(long, value_name = "N", default_value_t = 20)]
    top: usize,
    /// Time the look-ups so many times; 0 does not
    #[arg(long, value_name = "N", default_value_t = 9)]
    repeat: u32,
    /// Write a report
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write JSON instead of tables
    #[arg(long)]
    json: bool,
}

/// Runs it.
///
/// # Errors
/// A rule that is not allowed, a file that is no capture or cannot be written.
pub(crate) fn run(options: &Options) -> Result<(), Fail> {
    let inputs = [options.rules.clone(), options.pcap.clone()];
    let target = Target::asked("--html", options.html.as_deref(), &inputs)?;
    if options.repeat > MAX_REPEATS {
        return Err(Fail::new(format!("--repeat {}: allowed: 0 to {MAX_REPEATS}", options.repeat)));
    }
    let file = rules::read(&options.rules)?;
    if let Some(group) = options.group {
        let mut groups: Vec<u16> = file.rules.iter().map(|rule| rule.group).collect();
        groups.sort_unstable();
        groups.dedup();
        if !groups.contains(&group) {
            let groups: Vec<String> = groups.iter().map(u16::to_string).collect();
            return Err(Fail::new(format!("--group {group}: no rule; allowed: {}", groups.join(", "))));
        }
    }
    let found = rules::run(file, &options.pcap, options.repeat)?;
    let shown = match options.json {
        true => out::json(&data::data(options, &found)),
        false => out::print(&show::text(options, &found)),
    };
    html::deliver(shown, target.as_ref(), || Ok(show::report(options, &found)))
}
