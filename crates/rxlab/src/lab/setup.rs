//! The options that say what is simulated, shared by every command that runs the model.

mod checks;
mod told;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use apps::{Antagonist, Kind};
use clap::{Args, Parser};
use memory::Ps;
use model::profile::Server;
use model::{App, BURST, SAMPLING, Span, Start, TX_RING};
use packet::SteerBy;
use rings::Interface;
use traffic::{Arrivals, Rate, Sizes, Spec, Target, Trace, Workload};

use crate::fail::Fail;
use crate::lab::capture;
use crate::lab::interfaces::Asked;
use crate::lab::jobs::Job;
use crate::lab::point::Point;
use crate::lab::ports::Ports;
use crate::lab::search::Search;
use crate::lab::span;
use checks::{app_cycles, check, fits, has_own_timing, with_traffic};

/// The load offered unless told otherwise, of line rate: at line rate itself a backlog never drains, and what one
/// stall left behind stays.
const BELOW_LINE: f64 = 0.98;

/// Traffic and server.
#[derive(Args, Clone, Debug)]
pub(crate) struct Setup {
    /// Replay a capture: pcap or pcapng, plain, gzip or zstd
    #[arg(long, value_name = "FILE", conflicts_with = "workload", help_heading = "Traffic")]
    pub pcap: Option<PathBuf>,
    /// Take the whole frames of a capture that ends inside a record
    #[arg(long, requires = "pcap")]
    pub allow_truncated: bool,
    // An attribute, because a documentation comment takes the brackets for links.
    #[arg(
        long,
        value_name = "W",
        default_value = "fixed:1500,flows=10M",
        help_heading = "Traffic",
        help = "Generate traffic: SIZES[,flows=N][,zipf=S][,arrivals=HOW][,target=WHAT]; SIZES: fixed:BYTES (without FCS), \
                rfc2544:BYTES (with FCS: 64, 128, 256, 512, 1024, 1280, 1518), imix, empirical:NAME; HOW: constant, poisson, bursty:FRAMES; WHAT goes to the first core \
                of each port (with --steer port): gbps:GBPS, pct:PERCENT/BYTES (without FCS). Requests: kv:put=PERCENT[,keys=N][,zipf=S]\
                [,arrivals=HOW]"
    )]
    pub workload: String,
    /// Offered load on the wire, Gbps of all ports together, or `own` for a capture's own timing
    /// [default: 98% of the ports' line rate, at which a backlog still drains]
    #[arg(long, value_name = "own|GBPS", help_heading = "Traffic")]
    pub rate: Option<String>,
    /// When frames arrive, whatever a capture's time stamps or --workload say: constant (paced evenly), poisson,
    /// bursty:FRAMES
    #[arg(long, value_name = "HOW", help_heading = "Traffic")]
    pub arrivals: Option<String>,
    /// What chooses a core: the hash of a flow (rss), or the UDP destination port (port), into which a
    /// generator then writes the core's number
    #[arg(long, value_name = "rss|port", default_value = "rss", help_heading = "Traffic")]
    pub steer: String,
    /// Server profile, see `rxlab profile list`
    #[arg(long, value_name = "NAME", default_value = "rxbisect-testbed", help_heading = "Server")]
    pub server: String,
    /// Cores in use [default: all of the server]
    #[arg(long, value_name = "N", help_heading = "Server")]
    pub cores: Option<u32>,
    /// Ports in use [default: all of the server, but no more than cores]
    #[arg(long, alias = "nics", value_name = "N", help_heading = "Server")]
    pub ports: Option<u32>,
    /// Parts of the traffic of each port, such as 3:1 [default: equal]
    #[arg(long, alias = "nic-load", value_name = "N:M..", help_heading = "Traffic")]
    pub port_load: Option<String>,
    /// Cores of each port, such as 12:4, or `equal` [default: in proportion to --port-load]
    #[arg(long, alias = "nic-cores", value_name = "N:M..|equal", help_heading = "Server")]
    pub port_cores: Option<String>,
    /// A core on the other node plays the NIC of each port: virtual rings over physical ones
    #[arg(long, help_heading = "Server")]
    pub emulated: bool,
    /// Application on every core: l3fwd, lb, nat, nf (random reads and a route), kv (key-value store),
    /// ipsec (gateway: a third of all flows forwarded, a third dropped, a third sealed)
    #[arg(long, value_name = "A", default_value = "lb", help_heading = "Server")]
    pub app: String,
    /// Base cycles of a frame in your own application, in place of the chosen one's, which still looks up what it
    /// looks up (l3fwd, lb, nat, nf)
    #[arg(long, value_name = "N", help_heading = "Server")]
    pub app_cycles: Option<u32>,
    /// Random reads of a frame that the first core of each port makes beside those of all (nf)
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Server")]
    pub target_reads: u32,
    /// Node of the cores in use and their memory: the card's (local), or the other one (remote)
    #[arg(long, value_name = "local|remote", default_value = "local", help_heading = "Server")]
    pub numa: String,
    /// LLC ways that DDIO may fill [default: the server's]
    #[arg(long, value_name = "N", help_heading = "Server")]
    pub ddio_ways: Option<u32>,
    /// Rx ring entries: of each core for privring, of each shared ring for shring and corec, of both for dynamic
    #[arg(long, value_name = "N", default_value_t = 1024, help_heading = "Sizes")]
    pub ring: u32,
    /// Cores of a port that share a ring [default: all for shring, dynamic and corec, 1 for ddring]
    #[arg(long, value_name = "N", help_heading = "Sizes")]
    pub shared_by: Option<u32>,
    /// How a core of shring and dynamic frees its ring's lock: by a store, or by a swap, as DPDK's spinlock does
    #[arg(long, value_name = "store|swap", default_value = "store", help_heading = "Sizes")]
    pub unlock: String,
    /// How a core of ddring takes buffers: one for each frame (each) or for a burst at a time (bulk)
    #[arg(long, value_name = "each|bulk", default_value = "each", help_heading = "Sizes")]
    pub refill: String,
    /// Batches that threads of corec mark as read: each, as published, or those that wait for others
    #[arg(long, value_name = "each|waiting", default_value = "waiting", help_heading = "Sizes")]
    pub marks: String,
    /// Ax ring entries of each core (rxbisect)
    #[arg(long, value_name = "N", default_value_t = 128, help_heading = "Sizes")]
    pub ax: u32,
    /// Bx ring entries of each core (rxbisect)
    #[arg(long, value_name = "N", default_value_t = 1024, help_heading = "Sizes")]
    pub bx: u32,
    /// Transmit ring entries of each core
    #[arg(long, value_name = "N", default_value_t = TX_RING, help_heading = "Sizes")]
    pub tx_ring: u32,
    /// Buffers of the pool, of all ports together [default: enough for full rings and caches]
    #[arg(long, value_name = "N", help_heading = "Sizes")]
    pub pool: Option<u32>,
    /// Frames in a burst
    #[arg(long, value_name = "N", default_value_t = BURST, help_heading = "Sizes")]
    pub burst: u32,
    /// Threads of the other socket on this one's memory: stream:N or pagerank:N
    #[arg(long, value_name = "WHO:N", help_heading = "Server")]
    pub antagonist: Option<String>,
    /// Resolution of the search for the no-drop rate, percent of the full load
    #[arg(long, value_name = "PCT", default_value_t = 1.0, help_heading = "Model")]
    pub resolution: f64,
    /// Length of one trial of that search, ms of simulated time
    #[arg(long, value_name = "MS", default_value_t = 20, help_heading = "Model")]
    pub trial_ms: u64,
    /// Seed of traffic, placement and replacement
    #[arg(long, value_name = "S", default_value_t = 1, help_heading = "Model")]
    pub seed: u64,
    /// Simulate one cache set in N, a power of two up to 64; 1 is exact
    #[arg(long, value_name = "N", default_value_t = SAMPLING, help_heading = "Model")]
    pub sampling: u32,
    /// Page placements to run (seeds S, S+1 ..): a result is the middle one, with the range of all
    #[arg(long, value_name = "N", default_value_t = 3, help_heading = "Model")]
    pub placements: u32,
    /// Frames of a run at least; 0: as many as it takes to settle and to measure
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Model")]
    pub frames: u64,
    /// Longest warm-up of a run, ms of simulated time
    #[arg(long, value_name = "MS", default_value_t = 400, help_heading = "Model")]
    pub limit_ms: u64,
    /// When runs count, as the command of a result says it [default: when the rates of all have settled]
    #[arg(long, value_name = "NS:NS:N:NS:N", help_heading = "Model")]
    pub window: Option<String>,
}

/// A [`Setup`] read and checked.
#[derive(Clone)]
pub(crate) struct Ready {
    /// The server, with the ways asked for.
    pub server: Server,
    /// The traffic.
    pub workload: Workload,
    /// How it is offered.
    pub rate: Rate,
    /// Ports in use, with their traffic and cores.
    pub ports: Ports,
    app: App,
    /// What chooses a core.
    pub steer: SteerBy,
    antagonist: Option<Antagonist>,
    /// When runs count, where that is stated.
    pub span: Option<Span>,
    setup: Setup,
}

/// A command line of nothing but a [`Setup`]; of an option that is given twice, the last one counts.
#[derive(Parser)]
#[command(args_override_self = true)]
struct Alone {
    #[command(flatten)]
    setup: Setup,
}

impl Setup {
    /// Reads options as a command line has them.
    ///
    /// # Errors
    /// In one line: the option that is not allowed.
    pub(crate) fn parse(words: &[String]) -> Result<Setup, Fail> {
        let words = std::iter::once("rxlab").chain(words.iter().map(String::as_str));
        Ok(Alone::try_parse_from(words).map_err(|e| Fail::usage(&e))?.setup)
    }

    /// The files that it reads, as far as its options name any.
    pub(crate) fn inputs(&self) -> Vec<PathBuf> {
        let sizes = self.workload.split(',').next().unwrap_or_default();
        let distribution = sizes.trim().strip_prefix("empirical:").map(PathBuf::from);
        [self.pcap.clone(), Some(PathBuf::from(&self.server)), distribution].into_iter().flatten().collect()
    }

    /// Reads files and checks every value.
    ///
    /// # Errors
    /// The first value that is not allowed, and what is.
    pub(crate) fn ready(self) -> Result<Ready, Fail> {
        self.ready_with(None)
    }

    /// The same, with a capture that has been read already.
    fn ready_with(self, trace: Option<Arc<Trace>>) -> Result<Ready, Fail> {
        let mut server = Server::by_name(&self.server).map_err(|e| Fail::new(format!("--server: {e}")))?;
        if let Some(ways) = self.ddio_ways {
            check("--ddio-ways", ways, 1, server.caches.ways, "LLC ways")?;
            server.caches.ddio_ways = ways;
        }
        server.nic.remote = match self.numa.as_str() {
            "local" => false,
            "remote" => true,
            other => return Err(Fail::new(format!("--numa: unknown `{other}`; allowed: local, remote"))),
        };
        server.validate().map_err(|e| Fail::new(format!("--numa {}: {e}", self.numa)))?;
        let ports = Ports::new(
            (self.cores, server.cores),
            (self.ports, server.nic.ports),
            (self.port_load.as_deref(), self.port_cores.as_deref()),
            &server.name,
        )?;
        check("--burst", self.burst, 1, 1024, "frames")?;
        check("--placements", self.placements, 1, 100, "runs")?;
        if !self.sampling.is_power_of_two() || self.sampling > 64 {
            return Err(Fail::new(format!(
                "--sampling {}: allowed: a power of two from 1 to 64",
                self.sampling
            )));
        }
        if !(1..=100_000).contains(&self.limit_ms) {
            return Err(Fail::new(format!("--limit-ms {}: allowed: 1 to 100000", self.limit_ms)));
        }
        let app = match (app(&self.app, "")?.into(), self.target_reads) {
            (App::Nf { .. }, target_reads) => {
                check("--target-reads", target_reads, 0, 100_000, "reads of a frame")?;
                App::Nf { target_reads }
            }
            (app, 0) => app,
            (_, n) => return Err(Fail::new(format!("--target-reads {n}: allowed: with --app nf"))),
        };
        let steer = steer(&self.steer)?;
        if !(0.01..=50.0).contains(&self.resolution) {
            return Err(Fail::new(format!("--resolution {}: allowed: 0.01 to 50 percent", self.resolution)));
        }
        if !(1..=10_000).contains(&self.trial_ms) {
            return Err(Fail::new(format!("--trial-ms {}: allowed: 1 to 10000", self.trial_ms)));
        }
        let antagonist = self.antagonist.as_deref().map(antagonist).transpose()?;
        let most = ports.most_gbps(server.nic.port_gbps);
        let rate = match &self.rate {
            Some(text) => text.parse().map_err(|e| Fail::new(format!("--rate: {e}")))?,
            None => Rate::Gbps(most * BELOW_LINE),
        };
        let span = self.window.as_deref().map(span::read).transpose()?;
        app_cycles(&mut server, app, self.app_cycles)?;
        let load = match rate {
            // Beyond it the busiest port would be cut to its line rate: what is offered would not be as asked.
            Rate::Gbps(all) if all > most => {
                let with = if ports.even_load() {
                    format!("on {} ports", ports.count())
                } else {
                    format!("with --port-load {}", ports.load_text())
                };
                return Err(Fail::new(format!(
                    "--rate {all}: allowed {with}: up to {most} Gbps, with which a port is at line rate"
                )));
            }
            Rate::Gbps(all) => ports.least_gbps(server.nic.port_gbps, all),
            Rate::Own => ports.least_gbps(server.nic.port_gbps, most),
        };
        let workload = match &self.pcap {
            Some(path) => {
                let read = || self.capture(path).map(Arc::new);
                Workload::Pcap(trace.map_or_else(read, Ok)?, self.stated_arrivals()?)
            }
            None => Workload::Generated(self.spec(steer, &ports, load)?),
        };
        if rate == Rate::Own {
            has_own_timing(&workload)?;
        }
        fits(&workload, rate, &server)?;
        let app = match (app, &workload) {
            (App::Kv { .. }, Workload::Generated(Spec { sizes: Sizes::Kv { .. }, flows, .. })) => {
                // The model gives all cores as many: the most that one has.
                let each = |port| ports.share(port, *flows).div_ceil(u64::from(ports.cores[port as usize]));
                let keys = (0..ports.count()).map(each).max().unwrap_or(0);
                App::Kv { keys: keys * u64::from(ports.all_cores()) }
            }
            (App::Kv { .. }, Workload::Generated(_)) => {
                return Err(Fail::new(
                    "--app kv: allowed: with --workload kv:put=PERCENT, or a capture of requests",
                ));
            }
            _ => app,
        };
        if !ports.even_load() {
            with_traffic(&ports, &workload)?;
        }
        Ok(Ready { server, workload, rate, ports, app, steer, antagonist, span, setup: self })
    }

    /// The generator's traffic; where ports steer, a partition for each core of a port, of which one is offered no more
    /// than `load` Gbps. Ports that differ in their cores differ in that, see [`Ports::source`].
    fn spec(&self, steer: SteerBy, ports: &Ports, load: f64) -> Result<Spec, Fail> {
        let bad = |what: &str| Err(Fail::new(format!("--workload {}: {what}", self.workload)));
        let mut spec: Spec = self.workload.parse().map_err(|e| Fail::new(format!("--workload: {e}")))?;
        spec.arrivals = self.stated_arrivals()?.unwrap_or(spec.arrivals);
        if spec.partitions == 0 && steer == SteerBy::Port {
            spec.partitions = ports.even_cores().unwrap_or(0);
        }
        let partitions = match spec.partitions {
            0 if steer == SteerBy::Port => ports.fewest_cores(),
            n => n,
        };
        match spec.target {
            _ if partitions == 0 && matches!(spec.sizes, Sizes::Kv { .. }) => {
                bad("requests need --steer port")
            }
            Some(_) if partitions == 0 => bad("a target needs --steer port"),
            Some(_) if partitions == 1 => bad("a target needs 2 cores of a port or more"),
            Some(Target::Gbps(gbps)) if gbps > load => {
                bad(&format!("allowed for a target: at most the {load} Gbps of a port"))
            }
            _ => Ok(spec),
        }
    }

    /// What `--arrivals` says.
    fn stated_arrivals(&self) -> Result<Option<Arrivals>, Fail> {
        let read = |text: &str| text.parse().map_err(|e| Fail::new(format!("--arrivals: {e}")));
        self.arrivals.as_deref().map(read).transpose()
    }

    /// A comparison of half a capture looks like one of the whole: it is asked for by name.
    fn capture(&self, path: &Path) -> Result<Trace, Fail> {
        let trace = capture::open(path).map_err(Fail::new)?;
        if trace.stats().truncated && !self.allow_truncated {
            let what =
                "the file ends inside a record; allowed: a whole capture, or --allow-truncated for its";
            let frames = trace.stats().packets;
            return Err(Fail::new(format!("{}: {what} {frames} whole frames", path.display())));
        }
        Ok(trace)
    }
}

/// What chooses a core, by its name.
fn steer(name: &str) -> Result<SteerBy, Fail> {
    let found = SteerBy::ALL.into_iter().find(|s| s.name() == name);
    found.ok_or_else(|| Fail::new(format!("--steer: unknown `{name}`; allowed: rss, port")))
}

/// `stream:4`, `pagerank:8`.
///
/// # Errors
/// Names what is allowed.
pub(crate) fn antagonist(text: &str) -> Result<Antagonist, Fail> {
    text.parse().map_err(|e| Fail::new(format!("--antagonist {e}")))
}

/// An application by its name; errors name `others`, which the caller allows besides.
///
/// # Errors
/// Names the applications there are.
pub(crate) fn app(name: &str, others: &str) -> Result<Kind, Fail> {
    let known: Vec<_> = Kind::ALL.iter().map(|k| k.name()).collect();
    let found = Kind::ALL.into_iter().find(|k| k.name() == name);
    found.ok_or_else(|| {
        Fail::new(format!("--app: unknown application `{name}`; allowed: {others}{}", known.join(", ")))
    })
}

impl Ready {
    /// One point per placement of `interface` from `start`, its sizes checked.
    ///
    /// # Errors
    /// Names the size and what is allowed.
    pub(crate) fn points(&self, interface: &str, start: Start) -> Result<Vec<Point>, Fail> {
        let interface = self.interface(interface)?;
        let s = &self.setup;
        let point = |placement: u32| Point {
            server: self.server.clone(),
            interface: interface.clone(),
            emulated: s.emulated,
            app: self.app,
            ports: self.ports.clone(),
            workload: self.workload.clone(),
            rate: self.rate,
            steer: self.steer,
            start,
            arrivals: s.seed,
            seed: s.seed.wrapping_add(u64::from(placement)),
            sampling: s.sampling,
            tx_ring: s.tx_ring,
            burst: s.burst,
            pool: s.pool,
            span: None,
            pauses: false,
            antagonist: self.antagonist,
            limit: Ps::from_us(s.limit_ms * 1000),
            frames: s.frames,
        };
        Ok((0..s.placements).map(point).collect())
    }

    /// The runs of `interface`, with the search for its no-drop rate.
    ///
    /// # Errors
    /// As [`Self::points`].
    pub(crate) fn job(&self, interface: &str, search: bool) -> Result<Job, Fail> {
        Ok(Job {
            empty: self.points(interface, Start::Empty)?,
            full: self.points(interface, Start::Full)?,
            others: Vec::new(),
            search: self.search().filter(|_| search),
            span: self.span,
            label: interface.to_string(),
            reproduce: self.command(interface),
        })
    }

    /// Points of `interface` from full rings under `count` other arrivals, each with a placement of its own.
    ///
    /// # Errors
    /// As [`Self::points`].
    pub(crate) fn other_arrivals(&self, interface: &str, count: u32) -> Result<Vec<Point>, Fail> {
        let Some(point) = self.points(interface, Start::Full)?.into_iter().next() else {
            return Ok(Vec::new());
        };
        let seed = |n: u32| self.setup.seed.wrapping_add(u64::from(self.setup.placements + n));
        Ok((0..count).map(|n| Point { arrivals: seed(n), seed: seed(n), ..point.clone() }).collect())
    }

    /// The same with other values of `ring`, `ax`, `bx` or `placements`; the rest has been read already.
    pub(crate) fn resized(&self, change: impl FnOnce(&mut Setup)) -> Ready {
        let mut other = self.clone();
        change(&mut other.setup);
        other
    }

    /// The interface called `name` with the sizes asked for, fit for this server's device and cores. On a port with fewer
    /// cores than share a ring, all of them do.
    fn interface(&self, name: &str) -> Result<Interface, Fail> {
        let s = &self.setup;
        let queues = self.ports.most_cores();
        let asked = Asked {
            ring: s.ring,
            ax_bx: [s.ax, s.bx],
            shared_by: s.shared_by,
            unlock: &s.unlock,
            refill: &s.refill,
            marks: &s.marks,
        };
        let interface = asked.interface(name, queues)?;
        if let Some(shared_by) = s.shared_by {
            check("--shared-by", shared_by, 1, queues, "cores of a port")?;
        }
        let (lo, hi) = (self.server.nic.min_ring, self.server.nic.max_ring);
        let sizes: &[(&str, u32)] = match name {
            "rxbisect" => &[("--ax", s.ax), ("--bx", s.bx), ("--tx-ring", s.tx_ring)],
            _ => &[("--ring", s.ring), ("--tx-ring", s.tx_ring)],
        };
        for &(flag, n) in sizes {
            if !n.is_power_of_two() || !(lo..=hi).contains(&n) {
                return Err(Fail::new(format!(
                    "{flag} {n}: allowed: a power of two from {lo} to {hi} ({} of {})",
                    self.server.nic.name, self.server.name
                )));
            }
        }
        Ok(interface)
    }

    /// Frames of the capture; `None` for generated traffic, which has no end.
    pub(crate) fn frames(&self) -> Option<u64> {
        match &self.workload {
            Workload::Pcap(trace, _) => Some(trace.stats().packets),
            Workload::Generated(_) => None,
        }
    }

    /// The same with another `change` of options, of which the traffic's file is not read again.
    ///
    /// # Errors
    /// The first value that is not allowed.
    pub(crate) fn again(&self, change: impl FnOnce(&mut Setup)) -> Result<Ready, Fail> {
        let mut setup = self.setup.clone();
        change(&mut setup);
        let trace = match &self.workload {
            Workload::Pcap(trace, _) => Some(trace.clone()),
            Workload::Generated(_) => None,
        };
        setup.ready_with(trace)
    }

    /// Rx ring entries.
    pub(crate) fn ring(&self) -> u32 {
        self.setup.ring
    }

    /// Ax and Bx ring entries.
    pub(crate) fn ax_bx(&self) -> [u32; 2] {
        [self.setup.ax, self.setup.bx]
    }

    /// Buffers of the pool, where they are stated.
    pub(crate) fn pool(&self) -> Option<u32> {
        self.setup.pool
    }

    /// Frames of a burst.
    pub(crate) fn burst(&self) -> u32 {
        self.setup.burst
    }

    /// Resolution of a search, percent.
    pub(crate) fn resolution_pct(&self) -> f64 {
        self.setup.resolution
    }

    /// The seed in force.
    pub(crate) fn seed(&self) -> u64 {
        self.setup.seed
    }

    /// How the no-drop rate of this setup is searched; `None` where there is no other rate to try.
    pub(crate) fn search(&self) -> Option<Search> {
        let Rate::Gbps(full) = self.rate else { return None };
        let trial = Ps::from_us(self.setup.trial_ms * 1000);
        Some(Search { full, resolution_pct: self.setup.resolution, trial })
    }

    /// Whether a core plays the NIC.
    pub(crate) fn emulated(&self) -> bool {
        self.setup.emulated
    }

    /// Entries of a transmit ring.
    pub(crate) fn tx_ring(&self) -> u32 {
        self.setup.tx_ring
    }
}
