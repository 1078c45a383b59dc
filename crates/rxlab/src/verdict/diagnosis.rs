//! Why an interface loses frames or time: from the numbers of its run and of the winner's.

mod load;
mod words;

use apps::Fate;
use model::Report;
use model::profile::Server;
use rings::Outcome;
use serde::{Serialize, Serializer};

use crate::show::table::num;
use load::{Load, OVERLOADED};
use words::words;

/// Frames of a pause that explain a drop, in parts of what the rings hold: flows do not fall on cores evenly.
const PAUSE_FILLS: f64 = 2.0;
/// DRAM traffic beyond the winner's by which a low hit rate is a leak even where nothing drops, percent.
const LEAK_DRAM_PCT: f64 = 25.0;
/// What that is worth a word, percent of the channels' peak.
const LEAK_PEAK_PCT: f64 = 5.0;

/// What the verdict must know of the server.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Machine {
    /// LLC share in which DMA writes may allocate, MiB.
    pub ddio_mib: f64,
    /// Whole LLC, MiB.
    pub llc_mib: f64,
    /// Peak of the DRAM channels, Gbps.
    pub dram_peak_gbps: f64,
    /// Entries of a transmit ring.
    pub tx_ring: f64,
    /// Core clock, GHz.
    pub ghz: f64,
    /// Cores there are.
    pub cores: u32,
    /// How long firmware pauses all cores now and then, us.
    pub pause_us: f64,
}

impl Machine {
    /// Of `server`, with transmit rings of `tx_ring` entries.
    pub(crate) fn of(server: &Server, tx_ring: u32) -> Machine {
        const MIB: f64 = 1024.0 * 1024.0;
        Machine {
            ddio_mib: server.ddio_bytes() as f64 / MIB,
            llc_mib: server.llc_bytes() as f64 / MIB,
            dram_peak_gbps: server.constants.dram.peak_gbytes.value * 8.0,
            tx_ring: f64::from(tx_ring),
            ghz: server.ghz,
            cores: server.cores,
            pause_us: server.constants.firmware.pause_us.value,
        }
    }
}

/// One interface's run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Contender<'a> {
    /// Its row's label.
    pub interface: &'a str,
    /// What the run found.
    pub report: &'a Report,
    /// Whether firmware paused the cores meanwhile.
    pub pauses: bool,
    /// Buffers that full rings hold, of all cores.
    pub posted: u64,
}

impl Contender<'_> {
    /// Frames that come while firmware pauses the cores once; 0 where it does not.
    fn in_a_pause(&self, m: &Machine) -> f64 {
        let r = self.report;
        let rate = r.counted.offered as f64 / r.measured_s.max(1e-9);
        if self.pauses { rate * m.pause_us / 1e6 } else { 0.0 }
    }
}

/// Why frames are lost, or time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Mechanism {
    /// Nothing is lost.
    None,
    /// Cores are divided over the ports otherwise than the traffic: one port's have too little time, another's much.
    PortImbalance,
    /// RSS gives some cores more than they can do while others idle.
    RssImbalance,
    /// Overloaded cores hold the shared ring's buffers, and the frames of others drop.
    SharedRingClogged,
    /// Buffers fall out of the LLC before they are used, and cores wait for DRAM.
    CacheLeak,
    /// The cores have no time left, and not because of the caches.
    CoresBusy,
    /// The transmit rings are full.
    Transmit,
    /// The card cannot hand frames over: PCIe, or DRAM behind it.
    CardToMemory,
    /// The core that plays the card has no time left.
    NicCoreBusy,
    /// More frames than the ring holds came while firmware paused the cores.
    Pauses,
    /// Bursts longer than what the ring holds, with time to spare.
    Bursts,
    /// Frames that no buffer takes, or that the application refuses.
    BadFrames,
}

/// One interface explained.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Diagnosis {
    /// The interface.
    pub interface: String,
    /// The load of this run, Gbps of frames.
    pub gbps: f64,
    /// The most frequent cause of a drop, or `none`: of those that come with the load, where there are any.
    #[serde(serialize_with = "by_name")]
    pub cause: Option<Fate>,
    /// What lies behind it.
    pub mechanism: Mechanism,
    /// The same in words, with the numbers.
    pub text: String,
}

/// Writes a cause by its name.
fn by_name<S: Serializer>(cause: &Option<Fate>, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(cause.map_or("none", Fate::name))
}

/// DRAM traffic, both ways, Gbps.
pub(crate) fn dram(r: &Report) -> f64 {
    r.dram_gbps.read + r.dram_gbps.write
}

/// Explains one run; `winner`'s tells what is due to the interface.
pub(crate) fn diagnose(m: &Machine, c: &Contender, winner: &Contender) -> Diagnosis {
    let (r, best) = (c.report, winner.report);
    let load = Load::new(m.ghz, r, best);
    let dominant = dominant(r);
    let mechanism = mechanism(m, c, best, dominant.map(|d| d.0), &load);
    let why = words(mechanism, m, c, winner, &load);
    let text = match dominant {
        None => why,
        Some((cause, n)) => {
            let all = r.drops.iter().filter(|d| d.0.at_any_load() == cause.at_any_load());
            let all: u64 = all.map(|d| d.1).sum();
            let share = n as f64 / all as f64 * 100.0;
            let frames = num(all as f64 / r.counted.offered.max(1) as f64 * 100.0);
            format!(
                "{frames}% of the frames drop, {share:.0}% of them as {cause}: {why}{}",
                refused(r, cause)
            )
        }
    };
    let cause = dominant.map(|d| d.0);
    Diagnosis { interface: c.interface.to_string(), gbps: r.offered_gbps, cause, mechanism, text }
}

/// The most frequent cause of a drop. What is refused at any load comes last: it says nothing of what broke.
pub(crate) fn dominant(r: &Report) -> Option<(Fate, u64)> {
    let drops = r.drops.iter().map(|d| (*d.0, *d.1)).filter(|d| d.1 > 0);
    drops.max_by_key(|(cause, n)| (!cause.at_any_load(), *n))
}

/// Whether DRAM traffic beyond the other's is worth a word although nothing drops.
fn leaks_much(m: &Machine, r: &Report, best: &Report) -> bool {
    let more = dram(r) - dram(best);
    more > LEAK_DRAM_PCT / 100.0 * dram(best) && more > LEAK_PEAK_PCT / 100.0 * m.dram_peak_gbps
}

/// What is refused at any load, where something else drops as well.
fn refused(r: &Report, cause: Fate) -> String {
    let n: u64 = r.drops.iter().filter(|(c, _)| c.at_any_load()).map(|(_, n)| n).sum();
    if n == 0 || cause.at_any_load() {
        return String::new();
    }
    let share = n as f64 / r.counted.offered.max(1) as f64 * 100.0;
    format!("; {}% are refused at any load, as malformed or by the application", num(share))
}

/// What lies behind the dominant cause of drops.
fn mechanism(m: &Machine, c: &Contender, best: &Report, cause: Option<Fate>, load: &Load) -> Mechanism {
    let r = c.report;
    let total: u64 = r.drops.values().sum();
    let leaks = r.ddio_hit_pct < 90.0 && r.io_working_set_mib > m.ddio_mib;
    let nic_behind = r.nic_busy_pct.is_some_and(|busy| busy > 99.0);
    match cause {
        None if leaks && leaks_much(m, r, best) => Mechanism::CacheLeak,
        None => Mechanism::None,
        Some(Fate::Card(Outcome::BadFrame) | Fate::App(_)) => Mechanism::BadFrames,
        Some(Fate::TxFull) => Mechanism::Transmit,
        Some(Fate::Card(Outcome::NicBufferFull)) if nic_behind => Mechanism::NicCoreBusy,
        Some(_) if load.ports_apart().is_some() => Mechanism::PortImbalance,
        // Only others can keep a core from frames that it has time for.
        Some(Fate::Card(Outcome::NoBuffer)) if load.starved * 4 >= r.per_core.len() => {
            Mechanism::SharedRingClogged
        }
        // Cores that share a ring have no frames of their own: drops are told of the ring.
        Some(_) if r.reordering.is_none() && load.overloaded() > 0 && load.spare() > 0 => {
            // With private rings nobody but an overloaded core loses frames.
            if load.innocent * 4 > total { Mechanism::SharedRingClogged } else { Mechanism::RssImbalance }
        }
        Some(_) if r.tx_ring_mean >= 0.9 * m.tx_ring => Mechanism::Transmit,
        Some(_) if leaks && load.saved_by_best() => Mechanism::CacheLeak,
        Some(_) if load.most() || load.mean_pct() >= 100.0 * OVERLOADED => Mechanism::CoresBusy,
        Some(Fate::Card(Outcome::NicBufferFull)) => Mechanism::CardToMemory,
        Some(_) if c.in_a_pause(m) * PAUSE_FILLS >= c.posted as f64 => Mechanism::Pauses,
        Some(
            Fate::Card(
                Outcome::Delivered
                | Outcome::RingFull
                | Outcome::NoBuffer
                | Outcome::NicMemoryFull
                | Outcome::NoCredit
                | Outcome::QueueStopped
                | Outcome::Filtered
                | Outcome::LinkDown
                | Outcome::FlowDrop
                | Outcome::FlowMiss,
            )
            | Fate::Stopped,
        ) => Mechanism::Bursts,
    }
}
