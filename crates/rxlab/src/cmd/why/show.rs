//! A diagnosis as text and as JSON.

use serde::Serialize;
use serde_json::{Value, json};

use super::case::{Case, Cause};
use super::predict::{Prediction, What};
use super::rates::{Loss, Rates};
use crate::show::table::{Table, num, number, words};
use crate::show::text::wrapped;

/// Everything that was found.
pub(super) struct Found<'a> {
    /// What it is about.
    pub case: &'a Case<'a>,
    /// Why frames were lost, the cause of most first.
    pub causes: Vec<Cause>,
    /// What the model says of the first.
    pub prediction: Option<Prediction>,
    /// What a reader must know beside it.
    pub notes: Vec<String>,
}

#[derive(Serialize)]
struct PortData<'a> {
    port: u16,
    device: &'a str,
    driver: Option<&'a str>,
    link: &'a str,
    link_gbps: Option<f64>,
    received_mpps: f64,
    received_gbps: f64,
    sent_mpps: f64,
    sent_gbps: f64,
    queues: u32,
    queue_mpps: Vec<f64>,
    ring: Option<u32>,
    ring_from: Option<String>,
}

#[derive(Serialize)]
struct LossData<'a> {
    port: u16,
    place: super::counters::Place,
    counter: &'a str,
    frames: u64,
    per_s: f64,
    pct: f64,
    queues: &'a [u64],
    source: &'a str,
}

impl Found<'_> {
    fn losses(&self) -> impl Iterator<Item = (&Rates, &Loss)> {
        self.case.rates.iter().flat_map(|r| r.losses.iter().map(move |l| (r, l)))
    }

    fn pct(rates: &Rates, loss: &Loss) -> f64 {
        loss.frames as f64 / rates.offered().max(rates.frames[1]).max(loss.frames).max(1) as f64 * 100.0
    }

    fn port<'b>(&'b self, rates: &'b Rates) -> Option<PortData<'b>> {
        let port = self.case.dump.looks.last()?.ports.get(&rates.port)?;
        let mega = |n: u64| n as f64 / 1e6 / self.case.seconds;
        let gbps = |bytes: u64| bytes as f64 * 8e-9 / self.case.seconds;
        let ring = self.case.named.rx_entries(port);
        Some(PortData {
            port: rates.port,
            device: &port.info.name,
            driver: rates.driver.as_deref(),
            link: &port.link.status,
            link_gbps: rates.link_gbps,
            received_mpps: mega(rates.frames[0]),
            received_gbps: gbps(rates.bytes[0]),
            sent_mpps: mega(rates.frames[1]),
            sent_gbps: gbps(rates.bytes[1]),
            queues: port.info.nb_rx_queues,
            queue_mpps: rates.queues.iter().map(|n| mega(*n)).collect(),
            ring: ring.as_ref().map(|e| e.entries),
            ring_from: ring.map(|e| e.from),
        })
    }

    /// For programs.
    pub(super) fn data(&self) -> Value {
        let ports: Vec<_> = self.case.rates.iter().filter_map(|r| self.port(r)).collect();
        let lost: Vec<_> = self
            .losses()
            .map(|(rates, l)| LossData {
                port: l.port,
                place: l.place,
                counter: &l.counter,
                frames: l.frames,
                per_s: l.frames as f64 / self.case.seconds,
                pct: Self::pct(rates, l),
                queues: &l.queues,
                source: &l.source,
            })
            .collect();
        let program = &self.case.dump.program;
        json!({
            "program": self.case.dump.name(),
            "pid": program.pid,
            "version": program.version,
            "seconds": self.case.seconds,
            "looks": self.case.dump.looks.len(),
            "ports": ports,
            "lost": lost,
            "causes": self.causes,
            "prediction": self.prediction,
            "notes": self.notes,
        })
    }

    /// For people.
    pub(super) fn text(&self) -> String {
        let (case, program) = (self.case, &self.case.dump.program);
        let mut out = format!(
            "{} (process {}, {}), {} looks over {} s\n\n",
            case.dump.name(),
            program.pid,
            program.version,
            case.dump.looks.len(),
            num(case.seconds)
        );
        out += &self.ports();
        out += &self.dropped();
        for (n, cause) in self.causes.iter().enumerate() {
            let many = if cause.frames == 0 { String::new() } else { format!(", {} frames", cause.frames) };
            out += &format!("\n{}. {} (port {}{many})\n", n + 1, cause.cause.words(), cause.port);
            cause.evidence.iter().for_each(|line| out += &wrapped("   - ", line));
            out += &wrapped("   set: ", &cause.set);
        }
        if let Some(prediction) = &self.prediction {
            out += &predicted(prediction);
        }
        if !self.notes.is_empty() {
            out.push('\n');
        }
        self.notes.iter().for_each(|note| out += &wrapped("note: ", note));
        out
    }

    fn ports(&self) -> String {
        let mut table = Table::new(&[
            number("port", ""),
            words("device"),
            words("link"),
            number("received", "Mpps"),
            number("", "Gbps"),
            number("sent", "Mpps"),
            number("", "Gbps"),
            number("queues", ""),
            number("ring", "entries"),
        ]);
        for p in self.case.rates.iter().filter_map(|r| self.port(r)) {
            table.rows.push(vec![
                p.port.to_string(),
                p.device.into(),
                p.link_gbps
                    .map_or(p.link.to_lowercase(), |g| format!("{} {} Gbps", p.link.to_lowercase(), num(g))),
                num(p.received_mpps),
                num(p.received_gbps),
                num(p.sent_mpps),
                num(p.sent_gbps),
                p.queues.to_string(),
                p.ring.map_or("?".into(), |n| n.to_string()),
            ]);
        }
        table.text(false)
    }

    fn dropped(&self) -> String {
        let mut table = Table::new(&[
            words("lost at"),
            number("port", ""),
            words("by counter"),
            number("frames", ""),
            number("share", "%"),
            words("by queue"),
        ]);
        for (rates, l) in self.losses() {
            let queues = l.queues.iter().map(u64::to_string).collect::<Vec<_>>().join(" ");
            let (port, frames, pct) = (l.port.to_string(), l.frames.to_string(), num(Self::pct(rates, l)));
            table.rows.push(vec![l.place.words().into(), port, l.counter.clone(), frames, pct, queues]);
        }
        if table.rows.is_empty() && self.causes.is_empty() {
            let received = match self.case.received() {
                _ if self.case.rates.is_empty() => {
                    return "\nThe program has no ports: nothing to tell.\n".into();
                }
                0 => "no frame was received".to_string(),
                n => format!("{n} frames were received"),
            };
            return format!("\nNothing is dropped: {received}, and no counter tells of a loss.\n");
        }
        if table.rows.is_empty() {
            return "\nNo counter of a port tells of a loss.\n".into();
        }
        format!("\n{}", table.text(false))
    }
}

fn predicted(p: &Prediction) -> String {
    let app = p.app_cycles.map(|c| format!(", {c} cycles of the application")).unwrap_or_default();
    let mut out = wrapped(
        "\nThe model: ",
        &format!(
            "{} with {} core{}, rings of {} entries each, {} Gbps of {} B frames{app}:",
            p.server,
            p.cores,
            if p.cores == 1 { "" } else { "s" },
            p.ring,
            num(p.rate_gbps),
            p.frame_bytes
        ),
    );
    out += &wrapped("   as it is: ", &p.now.words());
    match &p.change {
        Some(change) => {
            let what = match change.what {
                What::Ring => format!("rings of {} entries", change.value),
                What::Cores => format!("{} cores", change.value),
                What::Pool => "a pool for full rings".to_string(),
            };
            out += &wrapped(&format!("   {what}: "), &change.outcome.words());
        }
        None if p.now.lost_pct > 0.0 => out += "   no smaller ring and no more cores of this server end it\n",
        None => {
            out += "   such a server would lose nothing here: what stands in the way is not in the model\n"
        }
    }
    p.notes.iter().for_each(|note| out += &wrapped("   - ", note));
    out
}
