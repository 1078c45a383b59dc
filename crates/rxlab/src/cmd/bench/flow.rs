//! `rxlab bench flow`: our flow tables beside DPDK's, and beside themselves.

mod data;
mod peers;

use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use clap::{Args, ValueEnum};
use live::tables::{Beside, Change, Forwarded, LookUps, Shape, Tables, forward};

use crate::cmd::bench::flow::data::{Report, Samples};
use crate::cmd::bench::flow::peers::{Peer, Peers};
use crate::cmd::bench::{built, check_repeats};
use crate::cpus::limit;
use crate::fail::Fail;
use crate::show::bar;
use crate::show::out;

/// Rules that changes come to at the most, beside those that there are.
const ROOM: u32 = 250_000;
/// Of the rate at which frames are forwarded without changes, the part at which latencies are looked at.
const LOAD: f64 = 0.7;
/// Rules of the batch that another core inserts.
const BATCH: u32 = 100_000;

/// Options of `bench flow`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  rxlab bench flow
  rxlab bench flow --rules 1000,1000000 --measure look-ups --rounds 9
  rxlab bench flow --rules 100000 --measure changes,beside --json

Before it: make dpdk, and huge pages for DPDK's tables (echo 512 > /proc/sys/vm/nr_hugepages). Rules match IPv4 5-tuples
of UDP; look-ups of the same tuples in the same order go through each table in turn, in bursts of 32, round after
round, on one CPU. Ratios are medians over rounds.")]
pub(crate) struct FlowBench {
    /// How many rules
    #[arg(long, value_name = "N,..", value_delimiter = ',', default_values_t = [1000, 100_000, 1_000_000, 4_000_000],
        value_parser = clap::value_parser!(u32).range(100..=8_000_000))]
    rules: Vec<u32>,
    /// What to measure
    #[arg(long, value_name = "A,B,..", value_delimiter = ',', default_values = ["look-ups", "changes", "beside"])]
    measure: Vec<Kind>,
    /// Tables, chained one behind the other, over which the rules are spread; DPDK's tables are beside one alone
    #[arg(long, value_name = "N,..", value_delimiter = ',', default_values_t = [1],
        value_parser = clap::value_parser!(u16).range(1..=16))]
    tables: Vec<u16>,
    /// Changes of a batch
    #[arg(long, value_name = "N,..", value_delimiter = ',', default_values_t = [64],
        value_parser = clap::value_parser!(u32).range(1..=200_000))]
    batches: Vec<u32>,
    /// Rules that are inserted a second, by another core and by the one that forwards
    #[arg(long, value_name = "N,..", value_delimiter = ',', default_values_t = [500_000],
        value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    rates: Vec<u32>,
    /// Rounds, each of everything in turn
    #[arg(long, value_name = "N", default_value_t = 7)]
    rounds: u32,
    /// Milliseconds of look-ups of a round
    #[arg(long, value_name = "MS", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=60_000))]
    ms: u32,
    /// The two CPUs; default: the first two that this process may use
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    cpus: Option<Vec<usize>>,
    /// Where `make dpdk` built rxlookup; default: dpdk/build here or where this program was built
    #[arg(long, value_name = "DIR")]
    build: Option<PathBuf>,
    /// Write JSON instead of tables
    #[arg(long)]
    json: bool,
}

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// Look-ups, beside DPDK's tables
    LookUps,
    /// Insertions, updates and removals
    Changes,
    /// Forwarding while another core changes rules
    Beside,
}

/// Runs it.
///
/// # Errors
/// An option that is not allowed, something that is not installed, or a run that fails.
pub(crate) fn run(options: &FlowBench) -> Result<(), Fail> {
    check_repeats(options.rounds)?;
    let cpus = built::cpus(options.cpus.as_deref())?;
    let mut report = Report::default();
    for rules in &options.rules {
        for kind in &options.measure {
            let one = Measured { options, cpus, rules: *rules };
            match kind {
                Kind::LookUps => {
                    for tables in &options.tables {
                        report.look_ups.extend(one.look_ups(*tables)?);
                    }
                }
                Kind::Changes => {
                    for batch in &options.batches {
                        report.changes.extend(one.changes(*batch)?);
                    }
                }
                Kind::Beside => report.beside.extend(one.beside()?),
            }
        }
    }
    if options.json { out::json(&report) } else { out::print(&report.text()) }
}

/// Measurements with so many rules.
struct Measured<'a> {
    options: &'a FlowBench,
    cpus: [usize; 2],
    rules: u32,
}

impl Measured<'_> {
    /// Runs `work` on the first CPU.
    fn here<T: Send>(&self, work: impl FnOnce() -> Result<T, Fail> + Send) -> Result<T, Fail> {
        let died = || Fail::new("a thread of the measurement died");
        let pinned = || limit::pin(self.cpus[0]).and_then(|()| work());
        thread::scope(|scope| scope.spawn(pinned).join().map_err(|_| died())?)
    }

    fn tables(&self, more: u32, counted: bool, groups: u16) -> Result<Tables, Fail> {
        let shape = Shape { rules: self.rules, more, counted, groups };
        Tables::new(shape).map_err(|e| Fail::new(format!("{} rules: {e}", self.rules)))
    }

    fn look_ups(&self, groups: u16) -> Result<Vec<data::LookUps>, Fail> {
        let mut peers = match groups {
            1 => Peers::start(self.options.build.clone(), self.cpus[0], self.rules)?,
            _ => Peers::default(),
        };
        let time = Duration::from_millis(self.options.ms.into());
        let bar = bar::live(u64::from(self.options.rounds), "looking up");
        self.here(|| {
            let tables = [self.tables(0, false, groups)?, self.tables(0, true, groups)?];
            let mut ours = tables.each_ref().map(LookUps::new);
            let mut samples =
                Samples::new([self.rules, groups.into()], tables.each_ref().map(|t| t.bytes() as u64));
            for _ in 0..self.options.rounds {
                for (at, look_ups) in ours.iter_mut().enumerate() {
                    let told = look_ups.sample(time);
                    samples.ours(at, told.ns, told.look_ups == told.found)?;
                }
                for peer in Peer::ALL {
                    if let Some(told) = peers.sample(peer, time)? {
                        samples.theirs(peer, told.ns, told.found == told.look_ups)?;
                    }
                }
                samples.round();
                bar.inc(1);
            }
            bar.finish_and_clear();
            Ok(samples.rows(&peers))
        })
    }

    fn changes(&self, batch: u32) -> Result<Vec<data::Changes>, Fail> {
        let n = self.rules.clamp(20_000, ROOM);
        let bar = bar::live(u64::from(self.options.rounds), "changing rules");
        self.here(|| {
            let mut tables = self.tables(ROOM, true, 1)?;
            let mut rates: [Vec<f64>; 4] = Default::default();
            for _ in 0..self.options.rounds {
                for (kind, rates) in Change::ALL.into_iter().zip(&mut rates) {
                    let rate = tables.change(kind, n, batch);
                    rates.push(rate.map_err(|e| Fail::new(format!("{} rules: {e}", self.rules)))?);
                }
                bar.inc(1);
            }
            bar.finish_and_clear();
            Ok(data::changes([self.rules, batch], rates))
        })
    }

    fn beside(&self) -> Result<Vec<data::Besides>, Fail> {
        let rates = self.options.rates.iter().flat_map(|rate| [Beside::Rate(*rate), Beside::Same(*rate)]);
        let whats: Vec<Beside> =
            [Beside::Nothing].into_iter().chain(rates).chain([Beside::Batch(BATCH)]).collect();
        let bar = bar::live(u64::from(self.options.rounds), "forwarding");
        self.here(|| {
            let mut tables = self.tables(ROOM, true, 1)?;
            let mut runs: Vec<Vec<[Forwarded; 2]>> = whats.iter().map(|_| Vec::new()).collect();
            for _ in 0..self.options.rounds {
                let mut load = None;
                for (what, runs) in whats.iter().zip(&mut runs) {
                    let most = self.forward(&mut tables, *what, None)?;
                    let load = *load.get_or_insert(LOAD * most.mpps);
                    runs.push([most, self.forward(&mut tables, *what, Some(load))?]);
                }
                bar.inc(1);
            }
            bar.finish_and_clear();
            Ok(data::beside(self.rules, &whats, &runs))
        })
    }

    fn forward(&self, tables: &mut Tables, what: Beside, mpps: Option<f64>) -> Result<Forwarded, Fail> {
        let time = Duration::from_millis(4 * u64::from(self.options.ms));
        // Where it may not run there, it runs wherever it is put: said by the rate of insertions.
        let start = || drop(limit::pin(self.cpus[1]));
        forward(tables, what, mpps, time, start).map_err(|e| Fail::new(format!("{} rules: {e}", self.rules)))
    }
}
