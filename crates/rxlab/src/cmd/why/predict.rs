//! What the model says of a program that was looked at: on a described server, as things are and after a change.
//!
//! The application's cycles are those that the program showed: its cores were the limit, so what they received a second
//! tells what a frame took. The model's own share of them is found by a run.

use model::profile::Server;
use serde::Serialize;

use super::case::Asked;
use crate::fail::Fail;
use crate::lab::search;
use crate::lab::setup::Setup;
use crate::show::table::num;
use crate::verdict::probe::{self, Probe};

/// DDIO hit rate below which frames leave the cache before a core reads them, percent.
const LEAKS_PCT: f64 = 90.0;
/// How far a change must lower the loss to be one that matters, in parts.
const MATTERS: f64 = 0.5;
/// The same of the cycles that a frame takes: it costs nothing, and comes before more cores.
const LEAK_COSTS: f64 = 0.2;
/// Fewest cycles of an application that the model is asked for.
const LEAST_CYCLES: f64 = 20.0;
/// Runs of the model that look for them: waiting for memory depends on them in turn.
const FITS: u32 = 3;
/// Shortest frame without FCS, B.
const SHORTEST: f64 = 60.0;
/// Flows of the traffic: telemetry does not tell how many there are.
const FLOWS: u32 = 10_000;

/// What the model says.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Prediction {
    /// The server.
    pub server: String,
    /// Cores of it.
    pub cores: u32,
    /// Entries of the rings of a core.
    pub ring: u32,
    /// Load on the wire, Gbps.
    pub rate_gbps: f64,
    /// Bytes of a frame.
    pub frame_bytes: u32,
    /// Cycles of the application for a frame, as the program showed them; `None` where its cores were not the limit.
    pub app_cycles: Option<u32>,
    /// MiB of the cache ways that DDIO fills.
    pub ddio_mib: f64,
    /// As things are.
    pub now: Outcome,
    /// After the smallest change that ends the loss or most of it.
    pub change: Option<Change>,
    /// What stands for something else than the program has.
    pub notes: Vec<String>,
}

/// A run of the model.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Outcome {
    /// Gbps of frames sent.
    pub sent_gbps: f64,
    /// Share of the offered frames that is lost, percent.
    pub lost_pct: f64,
    /// Share of the lines written by the card that the cache held, percent.
    pub ddio_hit_pct: f64,
    /// Memory that the card writes before it comes back to the same buffer, MiB.
    pub io_working_set_mib: f64,
    /// Cycles of a core for a frame.
    pub frame_cycles: f64,
}

/// A change and what comes of it.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Change {
    /// What is changed.
    pub what: What,
    /// To which value: entries of the ring of a queue, cores, or buffers.
    pub value: u32,
    /// The run with it.
    pub outcome: Outcome,
}

/// What a change is about.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum What {
    /// Entries of a receive ring.
    Ring,
    /// Cores.
    Cores,
    /// Enough buffers for all rings.
    Pool,
}

/// The set-up of the model that stands for the program.
struct Bed<'a> {
    server: &'a str,
    cores: u32,
    ports: u32,
    ring: u32,
    rate: f64,
    frame: u32,
    app_cycles: f64,
    pool: Option<u64>,
}

impl Bed<'_> {
    fn look(&self, change: impl FnOnce(&mut Vec<String>)) -> Result<Probe, Fail> {
        let mut words: Vec<String> = Vec::new();
        let mut say = |name: &str, value: String| words.extend([format!("--{name}"), value]);
        say("server", self.server.into());
        say("cores", self.cores.to_string());
        say("ports", self.ports.to_string());
        say("ring", self.ring.to_string());
        say("rate", format!("{:.4}", self.rate));
        say("workload", format!("fixed:{},flows={FLOWS}", self.frame));
        say("app", "l3fwd".into());
        say("app-cycles", format!("{:.0}", self.app_cycles));
        say("placements", "1".into());
        if let Some(pool) = self.pool {
            say("pool", pool.to_string());
        }
        change(&mut words);
        let ready = Setup::parse(&words)?.ready()?;
        let found = probe::all(&[(&ready, "privring")], "asking the model")?;
        found.into_iter().next().ok_or_else(|| Fail::new("the model ran nothing"))
    }
}

/// What the model says of `asked` on `server`.
///
/// # Errors
/// An unknown server, a set-up that the model refuses.
pub(super) fn predict(server: &str, asked: &Asked) -> Result<Prediction, Fail> {
    let profile = Server::by_name(server).map_err(|e| Fail::new(format!("--server: {e}")))?;
    let mut notes = Vec::new();
    let cores = asked.cores.clamp(1, profile.cores);
    if cores < asked.cores {
        notes.push(format!(
            "{} has {} cores, the program polls with {}",
            profile.name, profile.cores, asked.cores
        ));
    }
    let (least, most) = (profile.nic.min_ring, profile.nic.max_ring);
    let queues = asked.queues.div_ceil(cores);
    let entries = asked.entries.unwrap_or_else(|| {
        notes.push("rings of 1024 entries are assumed: --ring N tells their size".into());
        1024
    });
    let ring = entries.saturating_mul(queues).clamp(least, most).next_power_of_two().min(most);
    let frame = asked.frame_bytes.clamp(SHORTEST, f64::from(profile.buffers.room)).round() as u32;
    let wire = asked.offered * (f64::from(frame) + super::rates::WIRE_BYTES as f64) * 8e-9;
    let line = profile.nic.port_gbps;
    let ports = ((wire / line).ceil() as u32).clamp(1, profile.nic.ports.min(cores));
    let rate = wire.clamp(0.001, line * f64::from(ports));
    if rate < wire {
        notes.push(format!("its ports take {} Gbps on the wire, {} came", num(rate), num(wire)));
    }
    let posted = u64::from(cores) * u64::from(ring + model::BURST);
    let pool = asked.pool.map(|n| n.max(posted));
    if let (Some(has), Some(takes)) = (asked.pool, pool.filter(|n| asked.pool < Some(*n))) {
        notes.push(format!(
            "the program's pool has {has}; the model fills all rings, and takes one of {takes}"
        ));
    }
    let mut bed = Bed { server, cores, ports, ring, rate, frame, app_cycles: LEAST_CYCLES, pool };
    let limited = asked.done < asked.offered * 0.999 && asked.pool.is_none();
    if limited {
        let shown = profile.ghz * 1e9 * f64::from(cores) * asked.share.clamp(0.01, 1.0) / asked.done.max(1.0);
        bed.app_cycles = fit(&mut bed, shown, &mut notes)?;
    }
    let now = outcome(&bed.look(|_| ())?);
    let change = change(&bed, asked, &now, &profile, queues)?;
    Ok(Prediction {
        server: profile.name.clone(),
        cores,
        ring,
        rate_gbps: rate,
        frame_bytes: frame,
        app_cycles: limited.then_some(bed.app_cycles as u32),
        ddio_mib: profile.ddio_bytes() as f64 / (1 << 20) as f64,
        now,
        change,
        notes,
    })
}

/// The application's cycles with which a frame takes `shown` in all.
fn fit(bed: &mut Bed, shown: f64, notes: &mut Vec<String>) -> Result<f64, Fail> {
    const MOST_CYCLES: f64 = 1e6;
    let shown = shown.min(MOST_CYCLES);
    bed.app_cycles = (shown / 2.0).max(LEAST_CYCLES);
    let mut other = 0.0;
    for _ in 0..FITS {
        other = outcome(&bed.look(|_| ())?).frame_cycles - bed.app_cycles;
        bed.app_cycles = (shown - other).max(LEAST_CYCLES);
    }
    if shown - other < LEAST_CYCLES {
        notes.push(format!(
            "a frame took {shown:.0} cycles of such a core; receiving and sending alone take {other:.0} in the model"
        ));
    }
    Ok(bed.app_cycles)
}

fn outcome(probe: &Probe) -> Outcome {
    let r = &probe.report;
    Outcome {
        sent_gbps: r.throughput_gbps,
        lost_pct: search::lost(r) as f64 / r.counted.offered.max(1) as f64 * 100.0,
        ddio_hit_pct: r.ddio_hit_pct,
        io_working_set_mib: r.io_working_set_mib,
        frame_cycles: r.cycles_per_packet,
    }
}

/// The smallest change with which the model loses nothing, or at most half: smaller rings where frames leave the cache,
/// then more cores.
fn change(
    bed: &Bed,
    asked: &Asked,
    now: &Outcome,
    profile: &Server,
    queues: u32,
) -> Result<Option<Change>, Fail> {
    let better = |o: &Outcome| {
        let cheaper = o.frame_cycles < (1.0 - LEAK_COSTS) * now.frame_cycles;
        o.lost_pct < now.lost_pct && (o.lost_pct <= MATTERS * now.lost_pct || cheaper)
    };
    let set = |words: &mut Vec<String>, name: &str, value: u32| {
        if let Some(at) = words.iter().position(|w| w == name) {
            words[at + 1] = value.to_string();
        }
    };
    if asked.pool.is_some() {
        let outcome = outcome(&Bed { pool: None, ..*bed }.look(|_| ())?);
        let value = bed.cores * bed.ring * 2;
        return Ok(Some(Change { what: What::Pool, value, outcome }));
    }
    let leaks =
        now.ddio_hit_pct < LEAKS_PCT && now.io_working_set_mib > profile.ddio_bytes() as f64 / 1048576.0;
    let mut best: Option<Change> = None;
    let mut ring = bed.ring / 2;
    while leaks && now.lost_pct > 0.0 && ring >= profile.nic.min_ring.max(128 * queues.next_power_of_two()) {
        let outcome = outcome(&bed.look(|words| set(words, "--ring", ring))?);
        let value = ring / queues.next_power_of_two();
        let clean = outcome.lost_pct == 0.0;
        if better(&outcome) && best.as_ref().is_none_or(|b| outcome.lost_pct < b.outcome.lost_pct) {
            best = Some(Change { what: What::Ring, value, outcome });
        }
        if clean {
            break;
        }
        ring /= 2;
    }
    if best.is_some() || now.lost_pct == 0.0 {
        return Ok(best);
    }
    let wanted = f64::from(bed.cores) * asked.offered / asked.done.max(1.0) * 1.1;
    let value = (wanted.ceil() as u32).clamp(bed.cores + 1, profile.cores.max(bed.cores + 1));
    if value > profile.cores {
        return Ok(None);
    }
    let outcome = outcome(&bed.look(|words| set(words, "--cores", value))?);
    Ok(better(&outcome).then_some(Change { what: What::Cores, value, outcome }))
}

impl Outcome {
    /// In words.
    pub(super) fn words(&self) -> String {
        format!(
            "{} Gbps sent, {}% lost, DDIO hit rate {:.0}%, I/O working set {} MiB, {:.0} cycles a frame",
            num(self.sent_gbps),
            num(self.lost_pct),
            self.ddio_hit_pct,
            num(self.io_working_set_mib),
            self.frame_cycles
        )
    }
}
