//! How a [`Ready`] setup is told: its settings, the command line that runs it again, its traffic.

use traffic::{Arrivals, Rate, Stamps, Trace, Workload};

use crate::show::stamp::quoted;
use crate::show::table::{num, plain};

use super::Ready;

impl Ready {
    /// Every setting in force, by the name of its option.
    pub(crate) fn settings(&self) -> serde_json::Map<String, serde_json::Value> {
        let s = &self.setup;
        // A number is one in JSON too; only the traffic's own rate is a word.
        let rate = match self.rate {
            Rate::Gbps(gbps) => serde_json::json!(gbps),
            Rate::Own => self.rate.to_string().into(),
        };
        let value = serde_json::json!({
            "cores": self.ports.all_cores(),
            "ports": self.ports.count(),
            "emulated": s.emulated,
            "app": s.app,
            "target_reads": s.target_reads,
            "rate": rate,
            "steer": self.steer.name(),
            "numa": s.numa,
            "ddio_ways": self.server.caches.ddio_ways,
            "ring": s.ring,
            "shared_by": s.shared_by,
            "unlock": s.unlock,
            "refill": s.refill,
            "marks": s.marks,
            "ax": s.ax,
            "bx": s.bx,
            "tx_ring": s.tx_ring,
            "pool": s.pool,
            "burst": s.burst,
            "sampling": s.sampling,
            "placements": s.placements,
            "frames": s.frames,
            "limit_ms": s.limit_ms,
            "antagonist": s.antagonist,
            "arrivals": s.arrivals,
            "app_cycles": s.app_cycles,
            "resolution_pct": s.resolution,
            "trial_ms": s.trial_ms,
        });
        let mut map = match value {
            serde_json::Value::Object(map) => map,
            _ => serde_json::Map::new(),
        };
        if self.ports.stated {
            map.insert("port_load".into(), self.ports.load_text().into());
            map.insert("port_cores".into(), self.ports.cores_text().into());
        }
        map
    }

    /// The command line that runs `interface` alone with every setting in force.
    pub(crate) fn command(&self, interface: &str) -> String {
        let s = &self.setup;
        let traffic = match &s.pcap {
            Some(path) => {
                let truncated = if s.allow_truncated { " --allow-truncated" } else { "" };
                format!("--pcap {}{truncated}", quoted(&path.display().to_string()))
            }
            None => format!("--workload {}", quoted(&s.workload)),
        };
        let mut words = vec!["rxlab compare".to_string(), traffic];
        let mut flag = |name: &str, value: &dyn std::fmt::Display| words.push(format!("--{name} {value}"));
        flag("rate", &self.rate);
        flag("steer", &s.steer);
        flag("server", &quoted(&s.server));
        flag("cores", &self.ports.all_cores());
        flag("ports", &self.ports.count());
        if self.ports.stated {
            flag("port-load", &self.ports.load_text());
            flag("port-cores", &self.ports.cores_text());
        }
        if let Some(arrivals) = &s.arrivals {
            flag("arrivals", arrivals);
        }
        flag("app", &s.app);
        if let Some(cycles) = s.app_cycles {
            flag("app-cycles", &cycles);
        }
        if s.target_reads > 0 {
            flag("target-reads", &s.target_reads);
        }
        if self.server.nic.remote {
            flag("numa", &s.numa);
        }
        flag("ddio-ways", &self.server.caches.ddio_ways);
        flag("interfaces", &interface);
        match interface {
            "rxbisect" => {
                flag("ax", &s.ax);
                flag("bx", &s.bx);
            }
            _ => flag("ring", &s.ring),
        }
        if let Some(shared_by) = s.shared_by {
            flag("shared-by", &shared_by);
        }
        if matches!(interface, "shring" | "dynamic") {
            flag("unlock", &s.unlock);
        }
        if interface == "ddring" {
            flag("refill", &s.refill);
        }
        if interface == "corec" {
            flag("marks", &s.marks);
        }
        flag("tx-ring", &s.tx_ring);
        if let Some(pool) = s.pool {
            flag("pool", &pool);
        }
        if let Some(antagonist) = &s.antagonist {
            flag("antagonist", antagonist);
        }
        flag("burst", &s.burst);
        flag("seed", &s.seed);
        flag("sampling", &s.sampling);
        flag("placements", &s.placements);
        if s.frames > 0 {
            flag("frames", &s.frames);
        }
        flag("limit-ms", &s.limit_ms);
        flag("resolution", &s.resolution);
        flag("trial-ms", &s.trial_ms);
        if s.emulated {
            words.push("--emulated".into());
        }
        words.join(" ")
    }

    /// What is offered, in a line for people.
    pub(crate) fn traffic(&self) -> String {
        match (&self.setup.pcap, &self.workload) {
            (Some(path), Workload::Pcap(trace, _)) => {
                let i = trace.stats();
                format!(
                    "{} ({} frames, {} flows, mean {:.0} B without FCS)",
                    path.display(),
                    i.packets,
                    i.flows,
                    i.bytes as f64 / i.packets.max(1) as f64
                )
            }
            (_, Workload::Generated(spec)) => spec.to_string(),
            (None, Workload::Pcap(..)) => "capture".into(),
        }
    }

    /// What was done to the traffic so that it is what was asked for, a sentence each.
    pub(crate) fn traffic_notes(&self) -> Vec<String> {
        let mut notes = match &self.workload {
            Workload::Pcap(trace, arrivals) => capture_notes(trace, *arrivals, self.rate),
            Workload::Generated(_) => Vec::new(),
        };
        let line = self.ports.most_gbps(self.server.nic.port_gbps);
        if matches!(self.rate, Rate::Gbps(rate) if rate > FULL * line) {
            notes.push(format!(
                "at line rate a backlog never drains: what one stall leaves behind stays, and results from full rings are those of a backlog; --rate {} leaves room",
                line * 0.98
            ));
        }
        notes
    }

    /// The same as data.
    pub(crate) fn traffic_json(&self) -> serde_json::Value {
        match &self.workload {
            Workload::Pcap(trace, _) => serde_json::json!({"pcap": self.setup.pcap, "info": trace.stats()}),
            Workload::Generated(spec) => serde_json::json!({"workload": spec.to_string()}),
        }
    }
}

/// The load of line rate from which on nothing drains.
const FULL: f64 = 0.998;

/// How a capture's frames come to their times.
fn capture_notes(trace: &Trace, arrivals: Option<Arrivals>, rate: Rate) -> Vec<String> {
    let mut notes = Vec::new();
    let info = trace.stats();
    let (frames, late, timing) = (info.packets, info.out_of_order, info.timing());
    if late > 0 && timing != Stamps::None {
        notes.push(format!("{late} of {frames} frames are stamped earlier than the one before: sorted by their stamps, unless a clock was set back by more than a second"));
    }
    match (arrivals, timing) {
        (Some(arrivals), _) => notes.push(format!("time stamps are overridden: arrivals {arrivals}")),
        (None, Stamps::None) => {
            notes.push("the capture has no timing, all frames have the same time stamp: they are paced evenly (--arrivals says otherwise)".into());
        }
        (None, Stamps::Few) => notes.push(format!(
            "{frames} frames have only {} different time stamps: those of one are spread evenly up to the next",
            info.stamps
        )),
        (None, Stamps::Full) => (),
    }
    let idle = trace.idle();
    if let (Rate::Gbps(rate), None, true) = (rate, arrivals, timing != Stamps::None) {
        if idle.gaps > 0 {
            notes.push(format!(
                "idle time is left out: {} gaps of {} s in all",
                idle.gaps,
                num(idle.ns as f64 / 1e9)
            ));
        }
        let seconds = info.duration_ns.saturating_sub(idle.ns) as f64 / 1e9;
        let own = info.wire_bytes as f64 * 8e-9 / seconds.max(1e-9);
        let (what, factor) = if rate >= own { ("compressed", rate / own) } else { ("stretched", own / rate) };
        notes.push(format!(
            "{what} in time by a factor of {}, its bursts with it: its own rate is {} Gbps on the wire",
            plain(factor),
            fixed(own)
        ));
    }
    notes
}

/// A rate of any size in Gbps, without an exponent.
fn fixed(gbps: f64) -> String {
    if gbps < 0.01 { format!("{gbps:.6}") } else { num(gbps) }
}
