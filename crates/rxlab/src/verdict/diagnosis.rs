//! Why an interface loses frames or time: from the numbers of its run and of the winner's.

use model::profile::Server;
use model::{CoreReport, PortReport, Report};
use serde::Serialize;

use crate::lab::search::REFUSED;
use crate::show::table::num;

/// Share of a core's time that its offered frames ask for, from which on it has none left.
const OVERLOADED: f64 = 0.97;
/// The share below which it has time to spare.
const SPARE: f64 = 0.75;
/// A core that works for less of its time while frames for it drop is starved by others, percent.
const STARVED_PCT: f64 = 90.0;
/// Cycles per frame beyond the winner's from which on a lower DDIO hit rate is worth a word.
const LEAK_COSTS_PCT: f64 = 5.0;
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
            dram_peak_gbps: server.constants.dram_peak_gbytes.value * 8.0,
            tx_ring: f64::from(tx_ring),
            ghz: server.ghz,
            cores: server.cores,
            pause_us: server.constants.pause_us.value,
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
    pub cause: String,
    /// What lies behind it.
    pub mechanism: Mechanism,
    /// The same in words, with the numbers.
    pub text: String,
}

/// DRAM traffic, both ways, Gbps.
pub(crate) fn dram(r: &Report) -> f64 {
    r.dram_gbps.read + r.dram_gbps.write
}

/// How the load lies on the cores.
struct Load {
    /// Share of its time that each core's offered frames ask for; above 1 some must drop.
    demand: Vec<f64>,
    /// The same with the winner's cycles per frame.
    at_best: Vec<f64>,
    /// Frames dropped on the way to cores that have time for them.
    innocent: u64,
    /// Cores that are offered more than they can do and yet stand idle at times.
    starved: usize,
    /// Cores of each port and their mean demand; none where ports are not told apart.
    ports: Vec<(u32, f64)>,
}

impl Load {
    fn new(ghz: f64, r: &Report, best: &Report) -> Load {
        let offered = |c: &CoreReport| c.mpps * 1e6 + c.drops as f64 / r.measured_s.max(1e-9);
        let demand = |cycles: f64| -> Vec<f64> {
            r.per_core.iter().map(|c| offered(c) * cycles / (ghz * 1e9)).collect()
        };
        let own = demand(r.cycles_per_packet);
        let innocent =
            r.per_core.iter().zip(&own).filter(|(_, d)| **d < OVERLOADED).map(|(c, _)| c.drops).sum();
        let starving = |(c, d): &(&CoreReport, &f64)| **d >= OVERLOADED && c.busy_pct < STARVED_PCT;
        let starved = r.per_core.iter().zip(&own).filter(starving).count();
        let port = |p: &PortReport| {
            let mine = own.iter().skip(p.first_core as usize).take(p.cores as usize);
            (p.cores, mine.sum::<f64>() / f64::from(p.cores.max(1)))
        };
        let ports = r.per_port.iter().map(port).collect();
        Load { demand: own, at_best: demand(best.cycles_per_packet), innocent, starved, ports }
    }

    /// The port that is asked for most and the one that is asked for least, where the one is overloaded and the
    /// other has time to spare.
    fn ports_apart(&self) -> Option<[usize; 2]> {
        let by_demand = |a: &usize, b: &usize| self.ports[*a].1.total_cmp(&self.ports[*b].1);
        let (most, least) =
            ((0..self.ports.len()).max_by(by_demand)?, (0..self.ports.len()).min_by(by_demand)?);
        (self.ports[most].1 >= OVERLOADED && self.ports[least].1 < SPARE).then_some([most, least])
    }

    fn overloaded(&self) -> usize {
        self.demand.iter().filter(|d| **d >= OVERLOADED).count()
    }

    fn spare(&self) -> usize {
        self.demand.iter().filter(|d| **d < SPARE).count()
    }

    /// Whether most cores lack time.
    fn most(&self) -> bool {
        self.overloaded() * 2 > self.demand.len()
    }

    /// Whether fewer cores would lack time with the winner's cycles per frame.
    fn saved_by_best(&self) -> bool {
        self.at_best.iter().filter(|d| **d >= OVERLOADED).count() < self.overloaded()
    }

    /// The core that is offered most, and its share of all frames, percent.
    fn heaviest(&self) -> (usize, f64) {
        let all = self.demand.iter().sum::<f64>().max(1e-9);
        let most = self
            .demand
            .iter()
            .enumerate()
            .fold((0, 0.0), |top, (i, &d)| if d > top.1 { (i, d) } else { top });
        (most.0, most.1 / all * 100.0)
    }

    fn mean_pct(&self) -> f64 {
        self.demand.iter().sum::<f64>() / self.demand.len().max(1) as f64 * 100.0
    }
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
            let all = r.drops.iter().filter(|d| REFUSED.contains(d.0) == REFUSED.contains(&cause));
            let all: u64 = all.map(|d| d.1).sum();
            let share = n as f64 / all as f64 * 100.0;
            let frames = num(all as f64 / r.counted.offered.max(1) as f64 * 100.0);
            format!(
                "{frames}% of the frames drop, {share:.0}% of them as {cause}: {why}{}",
                refused(r, cause)
            )
        }
    };
    let cause = dominant.map_or("none", |d| d.0).to_string();
    Diagnosis { interface: c.interface.to_string(), gbps: r.offered_gbps, cause, mechanism, text }
}

/// The most frequent cause of a drop. What is refused at any load comes last: it says nothing of what broke.
pub(crate) fn dominant(r: &Report) -> Option<(&'static str, u64)> {
    let rank = |cause: &str, n: u64| (!REFUSED.contains(&cause), n);
    let drops = r.drops.iter().filter(|d| *d.1 > 0);
    drops.max_by_key(|d| rank(d.0, *d.1)).map(|d| (*d.0, *d.1))
}

/// Whether DRAM traffic beyond the other's is worth a word although nothing drops.
fn leaks_much(m: &Machine, r: &Report, best: &Report) -> bool {
    let more = dram(r) - dram(best);
    more > LEAK_DRAM_PCT / 100.0 * dram(best) && more > LEAK_PEAK_PCT / 100.0 * m.dram_peak_gbps
}

/// What is refused at any load, where something else drops as well.
fn refused(r: &Report, cause: &str) -> String {
    let n: u64 = r.drops.iter().filter(|(c, _)| REFUSED.contains(c)).map(|(_, n)| n).sum();
    if n == 0 || REFUSED.contains(&cause) {
        return String::new();
    }
    let share = n as f64 / r.counted.offered.max(1) as f64 * 100.0;
    format!("; {}% are refused at any load, as malformed or by the application", num(share))
}

/// What lies behind the dominant cause of drops.
fn mechanism(m: &Machine, c: &Contender, best: &Report, cause: Option<&str>, load: &Load) -> Mechanism {
    let r = c.report;
    let total: u64 = r.drops.values().sum();
    let leaks = r.ddio_hit_pct < 90.0 && r.io_working_set_mib > m.ddio_mib;
    let nic_behind = r.nic_busy_pct.is_some_and(|busy| busy > 99.0);
    match cause {
        None if leaks && leaks_much(m, r, best) => Mechanism::CacheLeak,
        None => Mechanism::None,
        Some("bad_frame" | "application") => Mechanism::BadFrames,
        Some("tx_full") => Mechanism::Transmit,
        Some("nic_buffer_full") if nic_behind => Mechanism::NicCoreBusy,
        Some(_) if load.ports_apart().is_some() => Mechanism::PortImbalance,
        // Only others can keep a core from frames that it has time for.
        Some("no_buffer") if load.starved * 4 >= r.per_core.len() => Mechanism::SharedRingClogged,
        // Cores that share a ring have no frames of their own: drops are told of the ring.
        Some(_) if r.reordering.is_none() && load.overloaded() > 0 && load.spare() > 0 => {
            // With private rings nobody but an overloaded core loses frames.
            if load.innocent * 4 > total { Mechanism::SharedRingClogged } else { Mechanism::RssImbalance }
        }
        Some(_) if r.tx_ring_mean >= 0.9 * m.tx_ring => Mechanism::Transmit,
        Some(_) if leaks && load.saved_by_best() => Mechanism::CacheLeak,
        Some(_) if load.most() || load.mean_pct() >= 100.0 * OVERLOADED => Mechanism::CoresBusy,
        Some("nic_buffer_full") => Mechanism::CardToMemory,
        Some(_) if c.in_a_pause(m) * PAUSE_FILLS >= c.posted as f64 => Mechanism::Pauses,
        Some(_) => Mechanism::Bursts,
    }
}

fn words(mechanism: Mechanism, m: &Machine, c: &Contender, winner: &Contender, load: &Load) -> String {
    let (r, best) = (c.report, winner.report);
    let cores = r.per_core.len();
    match mechanism {
        Mechanism::None => {
            format!(
                "no drops, DDIO hit rate {:.0}%, {:.0} cycles per frame",
                r.ddio_hit_pct, r.cycles_per_packet
            )
        }
        Mechanism::PortImbalance => {
            let asked = |p: usize| {
                let (cores, demand) = load.ports[p];
                format!("the {cores} cores of port {p} are asked for {:.0}% of their time", demand * 100.0)
            };
            let [most, least] = load.ports_apart().unwrap_or_default().map(asked);
            format!("cores are divided otherwise than the traffic: {most}, {least}")
        }
        Mechanism::RssImbalance => imbalance(load),
        Mechanism::SharedRingClogged if load.starved > 0 => format!(
            "the shared buffers are held by overloaded cores: {} of {cores} cores stand idle at times although frames for them drop (core {} is offered {:.0}% of the frames, an even share is {:.0}%)",
            load.starved,
            load.heaviest().0,
            load.heaviest().1,
            100.0 / cores.max(1) as f64
        ),
        Mechanism::SharedRingClogged => format!(
            "the shared buffers are held by overloaded cores, and frames of the others drop with theirs; {}",
            imbalance(load)
        ),
        Mechanism::CacheLeak => format!(
            "cache leak: an I/O working set of {:.1} MiB against {:.1} MiB of DDIO ways ({:.1} MiB LLC), DDIO hit rate {:.0}%, DRAM traffic {:.0} Gbps ({:.0}% of peak), {:.0} cycles per frame{}",
            r.io_working_set_mib,
            m.ddio_mib,
            m.llc_mib,
            r.ddio_hit_pct,
            dram(r),
            dram(r) / m.dram_peak_gbps * 100.0,
            r.cycles_per_packet,
            beside(c, winner, |b| {
                let (hits, cycles) = (b.ddio_hit_pct, b.cycles_per_packet);
                format!("{hits:.0}%, {:.0} Gbps, {cycles:.0} cycles", dram(b))
            })
        ),
        Mechanism::CoresBusy => format!(
            "too little CPU: the offered frames ask for {:.0}% of the time of {cores} cores at {:.0} cycles per frame{}{}",
            load.mean_pct(),
            r.cycles_per_packet,
            beside(c, winner, |b| format!("{:.0}", b.cycles_per_packet)),
            leak_adds(r, best)
        ),
        Mechanism::Transmit => {
            format!(
                "transmit rings hold {:.0} of {:.0} entries: sending is the limit",
                r.tx_ring_mean, m.tx_ring
            )
        }
        Mechanism::NicCoreBusy => {
            let busy = r.nic_busy_pct.unwrap_or_default();
            format!(
                "the emulated NIC cannot follow: its core is {busy:.0}% busy, and frames pile up below it"
            )
        }
        Mechanism::CardToMemory => format!(
            "the card cannot hand frames over although cores have time ({:.0}% of it is asked for): PCIe or memory behind it (DRAM {:.0}% of peak)",
            load.mean_pct(),
            dram(r) / m.dram_peak_gbps * 100.0
        ),
        Mechanism::Pauses => format!(
            "the cores have time ({:.0}% of it is asked for), but firmware pauses all of them for {:.0} us now and then, in which {:.0} frames come for rings that hold {}: more entries would hold them",
            load.mean_pct(),
            m.pause_us,
            c.in_a_pause(m),
            c.posted
        ),
        Mechanism::Bursts => format!(
            "bursts longer than what is posted; the cores have time ({:.0}% of it is asked for), so more entries or shared buffers would take them",
            load.mean_pct()
        ),
        Mechanism::BadFrames => {
            "frames that are no Ethernet frames, longer than a buffer, or refused by the application".into()
        }
    }
}

/// The same numbers of the winner, in parentheses; nothing beside its own.
fn beside(c: &Contender, winner: &Contender, numbers: impl Fn(&Report) -> String) -> String {
    if c.interface == winner.interface {
        return String::new();
    }
    format!(" ({}: {})", winner.interface, numbers(winner.report))
}

/// What a leak adds to the trouble of a core that has too little time anyway.
fn leak_adds(r: &Report, best: &Report) -> String {
    let more = r.cycles_per_packet / best.cycles_per_packet.max(1.0) - 1.0;
    if more * 100.0 < LEAK_COSTS_PCT || r.ddio_hit_pct >= best.ddio_hit_pct {
        return String::new();
    }
    format!(
        ", a cache leak among them: DDIO hit rate {:.0}%, DRAM traffic {:.0} Gbps",
        r.ddio_hit_pct,
        dram(r)
    )
}

fn imbalance(load: &Load) -> String {
    let cores = load.demand.len();
    let (over, spare) = (load.overloaded(), load.spare());
    let (heaviest, share) = load.heaviest();
    format!(
        "RSS imbalance: {over} of {cores} cores {} more than {} can do (core {heaviest} is offered {share:.0}% of the frames, an even share is {:.0}%) while {spare} {} time to spare",
        if over == 1 { "gets" } else { "get" },
        if over == 1 { "it" } else { "they" },
        100.0 / cores.max(1) as f64,
        if spare == 1 { "has" } else { "have" },
    )
}
