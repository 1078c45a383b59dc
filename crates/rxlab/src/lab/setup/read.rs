//! Reads a setup: every value checked, files read. The first value that is not allowed ends it.

use std::path::Path;
use std::sync::Arc;

use model::App;
use model::profile::Server;
use packet::SteerBy;
use packet::kv::Protocol;
use traffic::{Arrivals, Rate, Sizes, Spec, Target, Trace, Workload};

use super::bypass;
use super::checks::{app_cycles, check, fits, has_own_timing, with_traffic};
use super::{Ready, Setup, names};
use crate::fail::Fail;
use crate::lab::capture;
use crate::lab::ports::Ports;
use crate::lab::senders::Senders;
use crate::lab::span;

/// The longest frame of cards, bytes without FCS; it fits a buffer of so many.
const JUMBO: u32 = 9600;
/// The load offered unless told otherwise, of line rate: at line rate itself a backlog never drains, and what one
/// stall left behind stays.
pub(super) const BELOW_LINE: f64 = 0.98;

impl Setup {
    /// Reads files and checks every value.
    ///
    /// # Errors
    /// The first value that is not allowed, and what is.
    pub(crate) fn ready(self) -> Result<Ready, Fail> {
        self.ready_with(None)
    }

    /// The same, with a capture that has been read already.
    fn ready_with(self, trace: Option<Arc<Trace>>) -> Result<Ready, Fail> {
        let mut server = self.read_server()?;
        let ports = Ports::new(
            (self.cores, server.cores),
            (self.ports, server.nic.ports),
            (self.port_load.as_deref(), self.port_cores.as_deref()),
            &server.name,
        )?;
        self.check_runs()?;
        let app = self.read_app()?;
        let steer = names::steer(&self.steer)?;
        self.check_search()?;
        let antagonist = self.antagonist.as_deref().map(names::antagonist).transpose()?;
        let most = ports.most_gbps(server.nic.port_gbps);
        let rate = match &self.rate {
            Some(text) => text.parse().map_err(|e| Fail::new(format!("--rate: {e}")))?,
            None => Rate::Gbps(most * BELOW_LINE),
        };
        let span = self.window.as_deref().map(span::read).transpose()?;
        app_cycles(&mut server, app, self.app_cycles)?;
        let least = least_gbps(rate, &ports, server.nic.port_gbps)?;
        let workload = match &self.pcap {
            Some(path) => {
                let read = || self.capture(path).map(Arc::new);
                Workload::Pcap(trace.map_or_else(read, Ok)?, self.stated_arrivals()?)
            }
            None => Workload::Generated(self.spec(steer, &ports, least)?),
        };
        if rate == Rate::Own {
            has_own_timing(&workload)?;
        }
        if let Workload::Generated(Spec { sizes: sizes @ Sizes::Kv { .. }, .. }) = &workload {
            // Jumbo frames, where values are that long.
            server.buffers = server.buffers.holding(sizes.longest().unwrap_or_default().into());
        }
        if let Some(room) = self.room {
            check("--room", room, server.buffers.room, JUMBO, "bytes")?;
            server.buffers = server.buffers.holding(room);
        }
        fits(&workload, rate, &server)?;
        let app = with_keys(app, &workload, &ports)?;
        if !ports.even_load() {
            with_traffic(&ports, &workload)?;
        }
        let flows = match &workload {
            Workload::Pcap(trace, _) => trace.stats().flows,
            Workload::Generated(spec) => spec.flows,
        };
        let rules = self.rules.read(flows)?;
        let bypass = self.bypass.as_deref().map(|text| bypass::read(text, ports.count())).transpose()?;
        let bypass = bypass.unwrap_or_default();
        let senders = self.senders.as_deref().map(|text| Senders::read(text, self.hostcc)).transpose()?;
        Ok(Ready {
            server,
            workload,
            rate,
            ports,
            app,
            steer,
            antagonist,
            bypass,
            senders,
            rules,
            span,
            setup: self,
        })
    }

    /// The server, with the ways and on the node asked for.
    fn read_server(&self) -> Result<Server, Fail> {
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
        Ok(server)
    }

    /// What every run has.
    fn check_runs(&self) -> Result<(), Fail> {
        check("--burst", self.burst, 1, 1024, "frames")?;
        check("--placements", self.placements, 1, 100, "runs")?;
        if !self.sampling.is_power_of_two() || self.sampling > 64 {
            let sampling = self.sampling;
            return Err(Fail::new(format!("--sampling {sampling}: allowed: a power of two from 1 to 64")));
        }
        if !(1..=100_000).contains(&self.limit_ms) {
            return Err(Fail::new(format!("--limit-ms {}: allowed: 1 to 100000", self.limit_ms)));
        }
        Ok(())
    }

    /// What a search for the no-drop rate has.
    fn check_search(&self) -> Result<(), Fail> {
        if !(0.01..=50.0).contains(&self.resolution) {
            return Err(Fail::new(format!("--resolution {}: allowed: 0.01 to 50 percent", self.resolution)));
        }
        if !(1..=10_000).contains(&self.trial_ms) {
            return Err(Fail::new(format!("--trial-ms {}: allowed: 1 to 10000", self.trial_ms)));
        }
        Ok(())
    }

    /// The application; the keys of `kv` are those of the traffic, see [`with_keys`].
    fn read_app(&self) -> Result<App, Fail> {
        match (names::app(&self.app, "")?.into(), self.target_reads) {
            (App::Nf { .. }, target_reads) => {
                check("--target-reads", target_reads, 0, 100_000, "reads of a frame")?;
                Ok(App::Nf { target_reads })
            }
            (app, 0) => Ok(app),
            (_, n) => Err(Fail::new(format!("--target-reads {n}: allowed: with --app nf"))),
        }
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
            _ if partitions > 0 && spec.vxlan => bad("frames in VXLAN need --steer rss"),
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

impl Ready {
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
}

/// The least that a port of line rate `gbps` is offered at `rate`, Gbps.
///
/// # Errors
/// Beyond what all ports carry the busiest would be cut to its line rate: what is offered would not be as asked.
fn least_gbps(rate: Rate, ports: &Ports, gbps: f64) -> Result<f64, Fail> {
    let most = ports.most_gbps(gbps);
    match rate {
        Rate::Gbps(all) if all > most => {
            let with = if ports.even_load() {
                format!("on {} ports", ports.count())
            } else {
                format!("with --port-load {}", ports.load_text())
            };
            let most = (most * 100.0).floor() / 100.0;
            Err(Fail::new(format!(
                "--rate {all}: allowed {with}: up to {most} Gbps, with which a port is at line rate"
            )))
        }
        Rate::Gbps(all) => Ok(ports.least_gbps(gbps, all)),
        Rate::Own => Ok(ports.least_gbps(gbps, most)),
    }
}

/// `app` with as many keys as generated requests ask for.
///
/// # Errors
/// A key-value store meets generated traffic that holds no requests of its protocol.
fn with_keys(app: App, workload: &Workload, ports: &Ports) -> Result<App, Fail> {
    let Some((kind, protocol)) = app.kind().and_then(|kind| Some((kind, kind.protocol()?))) else {
        return Ok(app);
    };
    let Workload::Generated(Spec { sizes, flows, .. }) = workload else { return Ok(app) };
    match sizes {
        Sizes::Kv { objects, protocol: asked, .. } if *asked == protocol => {
            // The model gives all cores as many: the most that one has.
            let each = |port| ports.share(port, *flows).div_ceil(u64::from(ports.cores[port as usize]));
            let keys = (0..ports.count()).map(each).max().unwrap_or(0) * u64::from(ports.all_cores());
            let objects = *objects;
            Ok(match protocol {
                Protocol::Plain => App::Kv { keys, objects },
                Protocol::Erpc => App::ErpcKv { keys, objects },
            })
        }
        _ => {
            let (app, words) = (kind.name(), protocol.name());
            let allowed = format!("with --workload {words}:put=PERCENT, or a capture of requests");
            Err(Fail::new(format!("--app {app}: allowed: {allowed}")))
        }
    }
}
