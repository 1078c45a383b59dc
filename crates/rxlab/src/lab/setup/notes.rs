//! A setup for people: what is offered, and what was done to it.

use traffic::{Arrivals, Rate, Stamps, Trace, Workload};

use super::Ready;
use super::read::BELOW_LINE;
use crate::show::table::{num, plain};

/// The load of line rate from which on nothing drains.
const FULL: f64 = 0.998;

impl Ready {
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
                line * BELOW_LINE
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
