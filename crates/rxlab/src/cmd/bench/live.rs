//! `rxlab bench live`: our interfaces and other DPDK drivers, driven by one program on the same two CPUs, in turn.

use std::fs;
use std::path::PathBuf;

use crate::cmd::bench::built;
use crate::cmd::bench::peer::{App, Case, Kind, PEERS, Peer};
use crate::cmd::bench::sample::{MEMORY_MB, Stage};
use crate::cmd::bench::tally::Tally;
use crate::fail::Fail;
use crate::show::bar;
use crate::show::out;
use clap::Args;

/// The program and the driver, as `make dpdk` leaves them.
const RXBENCH: &str = "bench/rxbench";
const DRIVER: &str = "librte_net_rxlab.so";

/// Options of `bench live`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  rxlab bench live --quick
  rxlab bench live --only memif,rxbisect --measure stream --sizes 64,1500 --bursts 32
  rxlab bench live --measure cycles,share --only ddring,ddring-each,ddring-lock,corec --json

Before it: make dpdk. One program writes, sends, receives and reads every payload byte, over each driver in turn,
round after round. Beside every sample stands what the machine allowed between the two CPUs, with the processes
paused: the round trip of one cache line, the lines that stream one way, and what short chains of instructions take
on either core (the receiver's first), twice as long while another guest of the host has its other thread. It also
tells how close the CPUs sit; samples during which they moved are left out and counted.")]
pub(crate) struct LiveBench {
    /// Only these: memif, memif-zc, vhost-split, vhost-packed (each also with -back: from server to client), ring,
    /// null, privring, shring, rxbisect (each also with -pair: two joined ports; privring and rxbisect also with -128:
    /// cycles on rings that hold 128 frames, not 1024), dynamic, ddring (one consumer, bulk refill; also -each: a
    /// buffer per frame, -lock: two threads and a lock), corec, ccnic (a link between two processes by its crate's own
    /// calls; also -copy and -in-place: by our driver, which copies frames or has mbufs in the link's memory)
    #[arg(long, value_name = "A,B,..", value_delimiter = ',')]
    only: Vec<String>,
    /// What to measure
    #[arg(long, value_name = "A,B,..", value_delimiter = ',', default_values = ["stream", "loop", "rtt", "cycles", "share"])]
    measure: Vec<Kind>,
    /// Bytes of a frame, without FCS
    #[arg(long, value_name = "BYTES,..", value_delimiter = ',', default_values_t = [64, 256, 1024, 1500],
        value_parser = clap::value_parser!(u16).range(64..=1518))]
    sizes: Vec<u16>,
    /// Frames of a call
    #[arg(long, value_name = "N,..", value_delimiter = ',', default_values_t = [1, 8, 32],
        value_parser = clap::value_parser!(u16).range(1..=256))]
    bursts: Vec<u16>,
    /// Rounds, each of everything in turn
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    rounds: u32,
    /// Rounds of cycles and of shared queues
    #[arg(long, value_name = "N", default_value_t = 31, value_parser = clap::value_parser!(u32).range(1..=1000))]
    cycle_rounds: u32,
    /// Samples of a run, of which the median counts
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    samples: u32,
    /// Milliseconds of a sample
    #[arg(long, value_name = "MS", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=60_000))]
    ms: u32,
    /// The two CPUs; default: the first two that this process may use
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    cpus: Option<Vec<usize>>,
    /// Where `make dpdk` built rxbench and the driver; default: dpdk/build here or where this program was built
    #[arg(long, value_name = "DIR")]
    build: Option<PathBuf>,
    /// Check every frame that rxbench wrote, also one way: whole, in order, how many lost
    #[arg(long)]
    check: bool,
    /// Buffers of rxbench in no order, as in programs that have run for long; a new pool has them one behind the other
    #[arg(long)]
    mixed: bool,
    /// How ccnic links are configured: layout, back, ring, buffers, bytes, events
    #[arg(long, value_name = "KEY=VALUE,..", default_value = "", hide_default_value = true)]
    channel: ccnic::Config,
    /// Only see whether all is there: one round, three of cycles, 64 B, bursts of 32
    #[arg(long, conflicts_with_all = ["sizes", "bursts", "rounds", "cycle_rounds"])]
    quick: bool,
    /// Write JSON instead of tables
    #[arg(long)]
    json: bool,
}

/// Runs it.
///
/// # Errors
/// An option that is not allowed, something that is not installed, or a run that fails.
pub(crate) fn run(options: &LiveBench) -> Result<(), Fail> {
    let cases = options.cases()?;
    let stage = options.stage(&cases)?;
    let rounds = options.cycle_rounds().max(options.rounds());
    let turns: Vec<(u32, usize)> = (0..rounds)
        .flat_map(|round| (0..cases.len()).map(move |case| (round, case)))
        .filter(|&(round, case)| round < options.rounds_of(&cases[case]))
        .collect();
    let bar = bar::rounds(turns.len() as u64, "running live");
    let mut tally = Tally::new(cases);
    for (round, case) in turns {
        let sample = stage.sample(&tally.cases[case])?;
        tally.add(case, round, sample);
        bar.inc(1);
    }
    bar.finish_and_clear();
    let report = tally.report(options.mixed);
    if options.json { out::json(&report) } else { out::print(&report.text()) }
}

impl LiveBench {
    fn rounds(&self) -> u32 {
        if self.quick { 1 } else { self.rounds }
    }

    fn cycle_rounds(&self) -> u32 {
        if self.quick { 3 } else { self.cycle_rounds }
    }

    fn rounds_of(&self, case: &Case) -> u32 {
        if matches!(case.kind, Kind::Cycles | Kind::Share) { self.cycle_rounds() } else { self.rounds() }
    }

    fn peers(&self) -> Result<Vec<&'static Peer>, Fail> {
        let names = || PEERS.iter().map(|p| p.name).collect::<Vec<_>>().join(", ");
        if let Some(name) = self.only.iter().find(|name| PEERS.iter().all(|p| p.name != name.as_str())) {
            return Err(Fail::new(format!("--only {name}: allowed: {}", names())));
        }
        let wanted = |p: &&Peer| self.only.is_empty() || self.only.iter().any(|name| name == p.name);
        Ok(PEERS.iter().filter(wanted).collect())
    }

    /// Peers of one kind, size and burst next to each other, so that what disturbs one disturbs its neighbours.
    fn cases(&self) -> Result<Vec<Case>, Fail> {
        let peers = self.peers()?;
        let sizes = if self.quick { vec![64] } else { self.sizes.clone() };
        let bursts = if self.quick { vec![32] } else { self.bursts.clone() };
        let small = sizes.iter().min().copied().into_iter().collect::<Vec<_>>();
        let long = bursts.iter().max().copied().into_iter().collect::<Vec<_>>();
        let longest = long.first().copied().unwrap_or_default();
        let mut cases = Vec::new();
        for &kind in &self.measure {
            let (sizes, bursts, cores, apps) = match kind {
                Kind::Stream | Kind::Loop => (&sizes, &bursts, 1..=1, &[App::Bare][..]),
                // One is in flight, however many may be received.
                Kind::Rtt => (&sizes, &long, 1..=1, &[App::Bare][..]),
                Kind::Cycles => (&small, &bursts, 1..=2, &[App::Bare, App::L3fwd][..]),
                Kind::Share => (&small, &long, 1..=2, &[App::Bare][..]),
            };
            for (&size, &burst) in sizes.iter().flat_map(|size| bursts.iter().map(move |burst| (size, burst)))
            {
                for (&app, cores) in apps.iter().flat_map(|app| cores.clone().map(move |cores| (app, cores)))
                {
                    let alike = peers.iter().map(|&peer| Case { kind, peer, size, burst, cores, app });
                    cases.extend(alike.filter(|case| case.fits(longest)));
                }
            }
        }
        if cases.is_empty() {
            return Err(Fail::new("nothing to measure: --only names none that --measure can be asked of"));
        }
        Ok(cases)
    }

    fn stage(&self, cases: &[Case]) -> Result<Stage, Fail> {
        let build = self.build.clone().unwrap_or_else(built::directory);
        let (rxbench, driver) = (build.join(RXBENCH), build.join(DRIVER));
        built::present(&rxbench, "")?;
        if cases.iter().any(|case| case.peer.ours()) {
            built::present(&driver, ", or leave its interfaces out with --only")?;
        }
        huge_pages()?;
        let driver = fs::canonicalize(&driver).unwrap_or(driver);
        let (samples, ms) = (self.samples, self.ms);
        Ok(Stage {
            rxbench,
            driver,
            channel: self.channel.to_string(),
            cpus: built::cpus(self.cpus.as_deref())?,
            samples,
            ms,
            check: self.check,
            mixed: self.mixed,
        })
    }
}

/// Two processes and the rings of our driver must fit; memif and virtio-user need pages that can be shared.
fn huge_pages() -> Result<(), Fail> {
    let path = "/proc/meminfo";
    let text =
        fs::read_to_string(path).map_err(|e| Fail::new(format!("{path}: {e}; the bench needs Linux")))?;
    let field = |name: &str| {
        let line = text.lines().find_map(|l| l.strip_prefix(name))?;
        line.trim_start_matches(':').split_whitespace().next()?.parse::<u64>().ok()
    };
    let free = field("HugePages_Free").unwrap_or(0) * field("Hugepagesize").unwrap_or(0) / 1024;
    let needed = 2 * MEMORY_MB;
    if free >= needed {
        return Ok(());
    }
    Err(Fail::new(format!(
        "huge pages: {free} MB free, {needed} MB needed: as root, echo 256 > /proc/sys/vm/nr_hugepages"
    )))
}
