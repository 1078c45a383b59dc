//! `rxlab compare`: which interface to take on this server under this traffic, and what to set.
//!
//! `sweep` runs over loads; `show` prints all that was found, with its `words` and `plots`.

mod load;
mod plots;
mod show;
mod sweep;
mod words;

use std::collections::BTreeSet;
use std::path::PathBuf;

use clap::Args;

use crate::fail::Fail;
use crate::lab::fields;
use crate::lab::interfaces;
use crate::lab::jobs::{self, Job, Pair};
use crate::lab::setup::{Ready, Setup};
use crate::show::file::Target;
use crate::show::html;
use crate::show::out;
use crate::verdict::decide::{Order, Verdict};
use crate::verdict::diagnosis::Machine;
use crate::verdict::fail_if::{self, Outcome};
use crate::verdict::headroom::headroom;
use crate::verdict::remedy::{self, Remedy};
use crate::verdict::robust::{self, Asked, Robust};
use crate::verdict::sensitivity::{self, Sensitivity};
use crate::verdict::{best, confirm};
use sweep::Sweep;

/// Options of `compare`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  rxlab compare
  rxlab compare --pcap capture.pcap --app nat --html report.html
  rxlab compare --workload imix,flows=100k,zipf=1.1,arrivals=bursty:64 --rate 120 --cores 8
  rxlab compare --app l3fwd --app-cycles 900 --sweep rate
  rxlab compare --interfaces privring --ring 4096 --placements 1 --json
  rxlab compare --rate 150 --fail-if 'rxbisect.drops>0' --fail-if 'p99>200'
  rxlab compare --uncertainty              # how sure is the verdict?
  rxlab compare --app nat --sensitivity    # which constants to measure first

privring: a ring of buffers for each core, as all cards have it. shring: one ring of buffers that
cores share. rxbisect: small rings of empty buffers that all cores share, and large rings of
received frames. No one sells shring and rxbisect: papers describe them.

DDIO: a card writes received frames into a few ways of the last-level cache. What falls out before
a core reads it costs DRAM traffic twice.

All interfaces meet the same arrivals over the same window. Each runs from empty rings, and from
full ones: all cores stall for 2 ms, then rates settle again. Where the two end in different
states, the table shows both. The full start decides.

Columns:
  today    whether one can have it: yes, driver (a changed driver on such cards), no
  sizes    ring entries; of rxbisect those of its small rings and of its large ones
  start    rings at the start: empty, full, or either where both end alike
  sent     load sent back
  no-drop  largest load without a lost frame, while firmware pauses all cores now and then
  drops    share of the offered frames
  mean, p99  latency from wire to wire
  DDIO     share of the lines written by the card that the cache still held
  DRAM     traffic of the memory, reads and writes
  buffers  how many circulate
  frame    cycles of a core for a frame
Where frames have less than 300 B in the mean, the table has sent and no-drop in Mpps as well, but
goes without mean and buffers: --json has both.

Loads of results are Gbps of frames without FCS, preamble and gap; --rate is Gbps on the wire.
Frame sizes are without FCS: the shortest has 60 B, which rfc2544:64 names with FCS.

Most published rates of such servers are met within 12%, most latencies within twice; the misses are
told in docs/validation.md. --verbose lists the constants that were assumed or fitted. --uncertainty
draws them anew, --sensitivity moves one at a time; both by short runs of one placement each.

Exit codes: 0 as asked for, 1 if a condition of --fail-if is met, 2 for an error.")]
pub(crate) struct Compare {
    #[command(flatten)]
    setup: Setup,
    /// Interfaces to compare, separated by commas: privring, shring, rxbisect, dynamic, corec, ddring, ccnic, ceio; each with
    /// parameters of its own if need be: shring:ring=1024,unlock=swap
    #[arg(long, value_name = "A,B,..", value_delimiter = ',', default_values = interfaces::DEFAULT)]
    interfaces: Vec<String>,
    /// Interfaces to show at the best of their ring sizes as well (all but rxbisect), or `none`
    #[arg(long, value_name = "A,B,..|none", value_delimiter = ',', default_value = "privring")]
    best: Vec<String>,
    /// Whether frames of a flow must keep their order: strict leaves out what reorders them
    /// [default: any for kv, strict for all others]
    #[arg(long, value_name = "strict|any")]
    order: Option<String>,
    /// Other arrivals under which each interface runs once more, to tell noise
    #[arg(long, value_name = "N", default_value_t = 2)]
    other_arrivals: u32,
    /// Run over loads up to the one asked for, too: `rate`
    #[arg(long, value_name = "rate")]
    sweep: Option<String>,
    /// Draw the assumed and fitted constants of the server N times within their spreads: how often the verdict
    /// stays, what would change it, and between which values four fifths of all draws are
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = robust::DRAWS)]
    uncertainty: Option<u32>,
    /// Move each of these constants alone over its spread, and rank them by what they move
    #[arg(long)]
    sensitivity: bool,
    /// Leave out all searches: for the largest load without a drop, the best size, what would end a loss
    #[arg(long)]
    no_search: bool,
    // An attribute, because a documentation comment takes the brackets for links.
    #[arg(
        long,
        value_name = "CONDITION",
        help = "End with code 1 if a row of the table meets it: [INTERFACE.]NAME OP NUMBER, NAME drops, p99, sent, \
                no_drop or any field of the JSON rows, OP < <= > >= == !=; may be given several times"
    )]
    fail_if: Vec<String>,
    /// List every setting, constant and command
    #[arg(long)]
    verbose: bool,
    /// Write a report with plots
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write JSON instead of tables
    #[arg(long)]
    json: bool,
}

/// Everything that a comparison found.
pub(crate) struct Comparison {
    ready: Ready,
    /// Where the load was chosen: which, and why.
    load: Option<String>,
    pairs: Vec<Pair>,
    verdict: Verdict,
    /// What would end the loss, row by row.
    remedies: Vec<Remedy>,
    /// How far those carry that nothing tells apart, in Gbps of frames up to line rate.
    headroom: Vec<(String, f64)>,
    sweep: Option<Sweep>,
    /// What becomes of the verdict where constants are others.
    robust: Option<Robust>,
    /// What each constant moves.
    sensitivity: Option<Sensitivity>,
}

/// Runs it.
///
/// # Errors
/// An option that is not allowed, a file that cannot be used.
pub(crate) fn run(options: Compare) -> Result<Outcome, Fail> {
    let target = Target::asked("--html", options.html.as_deref(), &options.setup.inputs())?;
    let asked = interfaces::list(&options.interfaces)?;
    let mut owners = interfaces::labels(&asked);
    owners.extend(asked.iter().map(|one| one.about().name.to_string()));
    let mut seen = BTreeSet::new();
    owners.retain(|owner| seen.insert(owner.clone()));
    let conditions = fail_if::read(&options.fail_if, fields::names(), &owners)?;
    let found = options.compare()?;
    let shown = if options.json {
        out::json(&show::data(&found))
    } else {
        out::print(&show::text(&found, options.verbose))
    };
    html::deliver(shown, target.as_ref(), || show::report(&found))?;
    fail_if::judge(&conditions, &fail_if::rows(&found.pairs))
}

impl Compare {
    fn compare(&self) -> Result<Comparison, Fail> {
        let order = order(self.order.as_deref(), &self.setup.app)?;
        let sweeps = sweep::asked(self.sweep.as_deref())?;
        if self.other_arrivals > 16 {
            return Err(Fail::new(format!("--other-arrivals {}: allowed: 0 to 16", self.other_arrivals)));
        }
        let best = best::asked(&self.best)?;
        let ready = self.setup.clone().ready()?;
        let search = !self.no_search;
        let all = interfaces::list(&self.interfaces)?;
        let (ready, load) = load::of_software_card(ready, &all)?;
        let mut jobs = Vec::new();
        for (written, label) in all.iter().zip(interfaces::labels(&all)) {
            let text = written.to_string();
            let others = ready.other_arrivals(&text, self.other_arrivals)?;
            jobs.push(Job { others, label, ..ready.job(&text, search)? });
        }
        let sized = all.iter().enumerate().filter(|(_, one)| search && best::wanted(&best, one));
        // From the last on, so that places stay.
        for (at, written) in sized.collect::<Vec<_>>().into_iter().rev() {
            let text = written.to_string();
            let Some(ring) = best::ring(&ready, &text)? else { continue };
            let ready = ready.resized(|s| s.ring = ring);
            let others = ready.other_arrivals(&text, self.other_arrivals)?;
            let label = best::label(&jobs[at].label, ring);
            jobs.insert(at + 1, Job { others, label, ..ready.job(&text, search)? });
        }
        let pairs = jobs::compare(&jobs, "comparing")?;
        let verdict = confirm::verdict(&ready, &pairs, &jobs, order)?;
        let remedies = if search { remedy::find(&ready, &pairs, &verdict)? } else { Vec::new() };
        let headroom = if search { headroom(&ready, &jobs, &verdict)? } else { Vec::new() };
        let sweep = if sweeps { Some(sweep::run(&ready, &jobs)?) } else { None };
        let machine = Machine::of(&ready.server, ready.tx_ring());
        let winner = verdict.winner.as_deref();
        let asked = Asked { jobs: &jobs, order, machine, winner, seed: ready.seed() };
        let robust = self.uncertainty.map(|draws| robust::robust(&asked, draws)).transpose()?;
        let sensitivity = self.sensitivity.then(|| sensitivity::sensitivity(&asked)).transpose()?;
        Ok(Comparison { ready, load, pairs, verdict, remedies, headroom, sweep, robust, sensitivity })
    }
}

impl Comparison {
    /// What is to be known of the traffic.
    fn traffic_notes(&self) -> Vec<String> {
        self.ready.traffic_notes().into_iter().chain(self.load.clone()).collect()
    }
}

/// What `--order` says.
fn order(text: Option<&str>, app: &str) -> Result<Order, Fail> {
    match text {
        None if app == "kv" => Ok(Order::Any),
        None | Some("strict") => Ok(Order::Strict),
        Some("any") => Ok(Order::Any),
        Some(other) => Err(Fail::new(format!("--order: unknown `{other}`; allowed: strict, any"))),
    }
}

#[cfg(test)]
mod tests {
    use crate::lab::shown::{Columns, SMALL_FRAME};

    /// What `--help` says behind the options.
    fn help() -> String {
        let cli = crate::call::command();
        cli.find_subcommand("compare").unwrap().get_after_help().unwrap().to_string()
    }

    #[test]
    fn every_column_is_explained_and_what_small_frames_lack_is_told() {
        let help = help();
        let (_, listed) = help.split_once("Columns:\n").unwrap();
        let (listed, _) = listed.split_once("\nWhere").unwrap();
        let explained = |name: &str| {
            listed.lines().any(|l| l.trim_start().split("  ").next().unwrap().split(", ").any(|n| n == name))
        };
        let names = |columns: Columns| columns.headings().into_iter().map(|c| c.name).collect::<Vec<_>>();
        let (large, small) = (names(Columns::Large), names(Columns::Small));
        for name in large.iter().chain(&small).filter(|name| *name != "interface") {
            assert!(explained(name), "{name}: {listed}");
        }
        let lacking: Vec<&str> = large.iter().filter(|name| !small.contains(name)).map(|n| &**n).collect();
        let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
        for part in [format!("less than {SMALL_FRAME} B"), format!("without {}", lacking.join(" and "))] {
            assert!(help.contains(&part), "`{part}` is not in: {help}");
        }
    }
}
