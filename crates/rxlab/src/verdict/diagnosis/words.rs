//! A mechanism in words, with the numbers of the run.

use model::Report;

use super::load::Load;
use super::{Contender, Machine, Mechanism, dram};

/// Cycles per frame beyond the winner's from which on a lower DDIO hit rate is worth a word.
const LEAK_COSTS_PCT: f64 = 5.0;

/// What lies behind the losses of `c`, beside the same numbers of `winner`.
pub(super) fn words(
    mechanism: Mechanism,
    m: &Machine,
    c: &Contender,
    winner: &Contender,
    load: &Load,
) -> String {
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
        Mechanism::CacheLeak if m.ddio_mib == 0.0 => format!(
            "no cache injection: the card writes {:.1} MiB of I/O working set to DRAM, from where cores fetch it, DRAM traffic {:.0} Gbps ({:.0}% of peak), {:.0} cycles per frame",
            r.io_working_set_mib,
            dram(r),
            dram(r) / m.dram_peak_gbps * 100.0,
            r.cycles_per_packet,
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
            "bursts longer than what is posted; the cores have time ({:.0}% of it is asked for, {:.0}% of the busiest one's), so more entries or shared buffers would take them",
            load.mean_pct(),
            load.busiest_pct()
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
