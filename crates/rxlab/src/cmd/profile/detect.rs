//! `rxlab profile detect`: the machine at hand as a profile.

use std::path::PathBuf;

use clap::Args;

use crate::detect::{Detected, Sources, read};
use crate::fail::Fail;
use crate::show::file::Target;
use crate::show::out;
use crate::show::table::{Table, words};

/// Options of `profile detect`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  rxlab profile detect --out here.toml && rxlab compare --server here.toml
  rxlab profile detect --root /tmp/their-sysfs --json
  rxlab profile detect --cpuid /tmp/their-cpuid --nic e810

As root, more can be read: memory modules, links of cards, the ways of DDIO (modprobe msr). A number that is read has its
file; one that no file tells is the part's (rxlab profile parts), and is told as assumed or with its publication.")]
pub(super) struct Options {
    /// Read another machine's /sys and /proc, below this directory [default: /, or none with --cpuid]
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
    /// Read another machine's CPUID from a dump of hwloc-gather-cpuid
    #[arg(long, value_name = "DIR")]
    cpuid: Option<PathBuf>,
    /// Describe the processor by this part, whatever it calls itself
    #[arg(long = "as", value_name = "PROCESSOR")]
    processor: Option<String>,
    /// Describe this card, whatever is on PCI
    #[arg(long, value_name = "CARD")]
    nic: Option<String>,
    /// Write the profile to this file
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Write JSON instead of tables
    #[arg(long)]
    json: bool,
}

/// Runs it.
///
/// # Errors
/// What is missing for a profile.
pub(super) fn run(options: Options) -> Result<(), Fail> {
    let target = Target::asked("--out", options.out.as_deref(), &[])?;
    let sources = match (options.root, options.cpuid) {
        (None, None) => Sources::at("/"),
        (root, cpuid) => Sources { root, cpuid, ..Sources::default() },
    };
    let detected = read(&Sources { processor: options.processor, card: options.nic, ..sources })?;
    let text = detected.server.text().map_err(Fail::new)?;
    let shown = if options.json { out::json(&detected) } else { out::print(&report(&detected)) };
    shown.and(target.map_or(Ok(()), |target| target.write(&text)))
}

fn report(d: &Detected) -> String {
    let mut text = format!("{}\n\n", d.server.description);
    for (heading, all, last) in [("read", &d.read, "from"), ("assumed", &d.assumed, "why")] {
        let mut table = Table::new(&[words(heading), words("value"), words(last)]);
        table.rows = all.iter().map(|t| vec![t.what.clone(), t.value.clone(), t.from.clone()]).collect();
        text += &(table.text(out::colour()) + "\n");
    }
    text +=
        "All other numbers are published: rxlab profile detect --out FILE, then rxlab profile show FILE.\n";
    text
}
