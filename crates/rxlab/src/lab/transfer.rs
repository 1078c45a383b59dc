//! TCP between two hosts through a modelled router: its options, and how long connections take.

use std::cell::RefCell;
use std::rc::Rc;

use apps::Kind;
use clap::Args;
use memory::Ps;
use model::{App, SAMPLING, Scenario, Start};
use tcp::{Host, Job, Totals};

use crate::fail::Fail;
use crate::lab::alone;
use crate::lab::measured::Measured;
use crate::lab::point::Point;
use crate::lab::setup::Setup;

/// From a frame's last bit at a host to the first bit of its answer, ps (A60): half a round trip of an idle path,
/// about. The server's own share comes on top.
const HOST_DELAY: u64 = 10 * tcp::US;

/// A router, and what is sent through it.
#[derive(Args, Clone, Debug)]
pub(crate) struct Options {
    /// Connections at a time
    #[arg(long, value_name = "N", default_value_t = 1)]
    flows: u32,
    /// Bytes that the client sends on each
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    bytes: u64,
    /// Rounds of connections, one when all of the last have closed
    #[arg(long, value_name = "N", default_value_t = 1)]
    rounds: u32,
    /// Receive interface of both ports
    #[arg(long, value_name = "NAME", default_value = "corec")]
    pub interface: String,
    /// Server profile; the router has two of its NICs, or a NIC of two ports
    #[arg(long, value_name = "NAME", default_value = "corec-testbed-x520")]
    pub server: String,
    /// Cores of each port
    #[arg(long, value_name = "N", default_value_t = 1)]
    cores: u32,
    /// Rx ring entries, as `rxlab compare` has them
    #[arg(long, value_name = "N", default_value_t = 512)]
    ring: u32,
    /// Seed of placement, replacement and sequence numbers
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub seed: u64,
    /// Page placements to run (seeds S, S+1 ..): connections of all of them count
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub placements: u32,
    /// Simulate one cache set in N, a power of two up to 64; 1 is exact
    #[arg(long, value_name = "N", default_value_t = SAMPLING)]
    pub sampling: u32,
    /// Longest simulated time of a run, s
    #[arg(long, value_name = "S", default_value_t = 60)]
    pub limit_s: u64,
}

/// What one placement gave.
struct Run {
    /// Of each connection, ps.
    times: Vec<u64>,
    client: Totals,
    server: Totals,
    dropped: u64,
    done: bool,
}

impl Options {
    /// Reads options as a command line has them.
    ///
    /// # Errors
    /// In one line: the option that is not allowed.
    pub(crate) fn parse(words: &[String]) -> Result<Options, Fail> {
        let options: Options = alone::parse(words)?;
        options.points()?;
        Ok(options)
    }

    /// One port's interface and cores, once for each placement.
    fn points(&self) -> Result<Vec<Point>, Fail> {
        let in_all = u64::from(self.flows) * u64::from(self.rounds);
        if in_all == 0 || in_all > Job::MOST {
            let what = format!("--flows {} --rounds {}", self.flows, self.rounds);
            return Err(Fail::new(format!("{what}: allowed: 1 to {} connections in all", Job::MOST)));
        }
        if self.bytes > 1 << 40 {
            return Err(Fail::new(format!("--bytes {}: allowed: 0 to {}", self.bytes, 1_u64 << 40)));
        }
        if !(1..=100).contains(&self.limit_s) {
            return Err(Fail::new(format!("--limit-s {}: allowed: 1 to 100 s", self.limit_s)));
        }
        let words = format!(
            "--server {} --cores {} --ports 1 --app {} --ring {} --seed {} --placements {} --sampling {}",
            self.server,
            self.cores,
            Kind::L3fwd.name(),
            self.ring,
            self.seed,
            self.placements,
            self.sampling
        );
        let words: Vec<String> = words.split(' ').map(str::to_string).collect();
        let ready = Setup::parse(&words)?.ready()?;
        if 2 * self.cores > ready.server.cores {
            return Err(Fail::new(format!(
                "--cores {}: allowed: 1 to {}, half of the cores of {}",
                self.cores,
                ready.server.cores / 2,
                ready.server.name
            )));
        }
        ready.points(&self.interface, Start::Empty)
    }

    /// In all placements.
    pub(crate) fn connections(&self) -> u64 {
        u64::from(self.flows) * u64::from(self.rounds) * u64::from(self.placements)
    }

    /// Transfers, over all placements.
    ///
    /// # Errors
    /// What the model cannot run.
    pub(crate) fn measure(&self) -> Result<Measured, Fail> {
        let runs = self.points()?.iter().map(|p| self.transfer(p)).collect::<Result<Vec<_>, _>>()?;
        let mut times: Vec<u64> = runs.iter().flat_map(|r| r.times.iter().copied()).collect();
        times.sort_unstable();
        let connections = self.connections();
        // A time that is missing must not improve the others.
        let all = runs.iter().all(|r| r.done);
        let us = |ps: f64| if all { ps / tcp::US as f64 } else { f64::NAN };
        let quantile = |q: f64| {
            let rank = (q * times.len() as f64).ceil() as usize;
            us(times.get(rank.saturating_sub(1)).map_or(f64::NAN, |t| *t as f64))
        };
        let mean = us(times.iter().map(|t| *t as f64).sum::<f64>() / times.len() as f64);
        let count = |of: fn(&Run) -> u64| runs.iter().map(of).sum::<u64>() as f64;
        let each = |n: f64| n / connections as f64;
        Ok(Measured {
            fields: vec![
                ("fct_mean_us", mean),
                ("fct_p50_us", quantile(0.5)),
                ("fct_p99_us", quantile(0.99)),
                ("fct_max_us", quantile(1.0)),
                ("fct_s", mean / 1e6),
                ("goodput_gbps", self.bytes as f64 * 8e-3 / mean),
                ("retransmissions", each(count(|r| r.client.retransmitted + r.server.retransmitted))),
                ("needless", each(count(|r| r.client.undone + r.server.undone))),
                ("timeouts", each(count(|r| r.client.timeouts + r.server.timeouts))),
                ("late_pct", 100.0 * count(|r| r.client.late + r.server.late) / count(frames)),
                ("dropped", count(|r| r.dropped)),
                ("frames", count(frames)),
                ("connections", times.len() as f64),
                ("unfinished", connections as f64 - times.len() as f64),
            ],
            reproduce: self.command(),
        })
    }

    fn transfer(&self, point: &Point) -> Result<Run, Fail> {
        let job = Job { flows: self.flows, bytes: self.bytes, rounds: self.rounds, seed: point.seed };
        let gbps = point.server.nic.port_gbps;
        let client = Rc::new(RefCell::new(Host::client(job, gbps, HOST_DELAY)));
        let server = Rc::new(RefCell::new(Host::server(job, gbps, HOST_DELAY)));
        let point = point.with(|s| {
            (s.app, s.limit) = (App::L3fwd, Ps::from_us(self.limit_s * 1_000_000));
            s.server.nic.ports = 2;
        });
        let mut scenario = Scenario {
            port_cores: point.ports.cores.repeat(2),
            peers: vec![client.clone(), server.clone()],
            ..point.scenario(Vec::new())
        };
        let (report, done) = model::transfer(&mut scenario)
            .map_err(|e| Fail::new(format!("{}: {e}", point.interface.name())))?;
        let (client, server) = (client.borrow(), server.borrow());
        Ok(Run {
            times: client.times(),
            client: client.totals(),
            server: server.totals(),
            dropped: report.drops.values().sum(),
            done,
        })
    }

    fn command(&self) -> String {
        format!(
            "rxlab tcp --flows {} --bytes {} --rounds {} --interface {} --server {} --cores {} --ring {} --seed {} \
             --placements {} --sampling {} --limit-s {}",
            self.flows,
            self.bytes,
            self.rounds,
            self.interface,
            self.server,
            self.cores,
            self.ring,
            self.seed,
            self.placements,
            self.sampling,
            self.limit_s
        )
    }
}

fn frames(run: &Run) -> u64 {
    run.client.sent + run.server.sent
}
