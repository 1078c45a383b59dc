//! From losses to causes: a port that is down, then the one that explains most frames.

use super::case::{Case, Cause, Kind};
use super::counters::Place;
use super::dump::Look;
use super::overload;
use super::programs::Setting;
use super::rates::{self, Rates};
use crate::show::table::num;

/// Frames received and not sent that are no accident of two counters read one after the other, in parts.
const VANISHED: f64 = 0.01;
/// Share of a link at which a port can send no more.
const AT_LINE: f64 = 0.95;
/// Bytes of a buffer that takes frames of 9600 B behind the usual headroom.
const JUMBO: u64 = 9728;
/// Entries of a transmit ring where nothing tells, for the need of a pool.
const USUAL_TX: u32 = 1024;
/// A burst, of which an lcore may hold one.
const BURST: u64 = 32;

/// All causes of what was lost.
pub(super) fn find(case: &Case) -> Vec<Cause> {
    let mut causes = Vec::new();
    let mut vanished = if must_send(case) { case.vanished() } else { 0 };
    if (vanished as f64) < VANISHED * case.received() as f64 {
        vanished = 0;
    }
    for rates in case.rates.iter().filter(|r| r.down) {
        if let Some(cause) = down(case, rates, vanished) {
            vanished = 0;
            causes.push(cause);
        }
    }
    causes.extend(blocked(case, vanished));
    for rates in &case.rates {
        let down = causes.iter().any(|c| c.cause == Kind::PortDown && c.port == rates.port);
        causes.extend(of_port(case, rates, down));
    }
    // Of what goes to a port that is down nothing arrives; what filters drop is mostly meant to be.
    let class = |kind| match kind {
        Kind::PortDown => 0,
        Kind::Filtered => 2,
        _ => 1,
    };
    causes.sort_by_key(|c| (class(c.cause), std::cmp::Reverse(c.frames)));
    causes
}

/// Whether what was received and not sent is a loss: the program sends all, or a port of it cannot.
fn must_send(case: &Case) -> bool {
    let sends =
        |r: &Rates| r.ever[1] && (r.frames[1] == 0 || line_share(case, r).is_some_and(|s| s > AT_LINE));
    case.named.forwards() || case.rates.iter().any(sends)
}

/// The share of its link that a port sends with.
fn line_share(case: &Case, rates: &Rates) -> Option<f64> {
    let wire = rates.bytes[1] + rates.frames[1] * rates::WIRE_BYTES;
    Some(wire as f64 * 8e-9 / case.seconds / rates.link_gbps?)
}

/// What one port lost on the way in.
fn of_port(case: &Case, rates: &Rates, down: bool) -> Vec<Cause> {
    let mut causes = Vec::new();
    let pool = rates.lost(&[Place::Pool]);
    let ring = rates.lost(&[Place::Ring]);
    if pool > 0 || dry(case, rates) {
        // A refill that fails is tried again: where rings tell of frames, these count.
        causes.push(too_small(case, rates, if ring > 0 { ring } else { pool }));
    } else if ring > 0 && !stuck(case, rates) {
        causes.push(overload::explain(case, rates, ring));
    }
    let told = |place: Place| -> Vec<String> {
        let mine = rates.losses.iter().filter(|l| l.place == place);
        mine.map(|l| format!("{} counted {} frames", l.counter, l.frames)).collect()
    };
    let mut push = |kind: Kind, place: Place, more: Vec<String>, set: String| {
        let frames = rates.lost(&[place]);
        if frames > 0 {
            let evidence = told(place).into_iter().chain(more).collect();
            causes.push(Cause { cause: kind, port: rates.port, frames, evidence, set, asked: None });
        }
    };
    let info = case.dump.looks.last().and_then(|l| l.ports.get(&rates.port));
    let info = info.map(|p| p.info.clone()).unwrap_or_default();
    let room = format!(
        "a buffer has {} B with its headroom, the MTU is {}, a frame may {}take several buffers",
        info.rx_mbuf_size_min,
        info.mtu,
        if info.scattered_rx == 0 { "not " } else { "" }
    );
    push(Kind::FramesTooLong, Place::TooLong, vec![room], case.named.line(Setting::Buffer, JUMBO));
    push(Kind::BadFrames, Place::BadFrame, Vec::new(), "cable, transceiver, or who sends them".into());
    push(
        Kind::Filtered,
        Place::Filter,
        Vec::new(),
        "the port's addresses and flow rules, if these frames are wanted".into(),
    );
    push(Kind::Allowance, Place::Limit, Vec::new(), "a larger instance, or less traffic".into());
    if !down {
        push(Kind::PortDown, Place::Link, Vec::new(), case.named.line(Setting::Link, rates.port.into()));
        push(
            Kind::TransmitBlocked,
            Place::Transmit,
            Vec::new(),
            "what takes frames behind this port: its rate, or flow control".into(),
        );
    }
    causes.extend(card(case, rates));
    causes
}

/// The card's own buffer: behind a PCI link that is not all it could be, or without.
fn card(case: &Case, rates: &Rates) -> Option<Cause> {
    let frames = rates.lost(&[Place::Card]);
    let pcie = case.dump.looks.last()?.ports.get(&rates.port)?.pcie.clone();
    let mut evidence: Vec<String> = Vec::new();
    let mine = rates.losses.iter().filter(|l| l.place == Place::Card);
    evidence.extend(
        mine.map(|l| format!("{} counted {} frames, while rings had posted buffers", l.counter, l.frames)),
    );
    let narrow = pcie.filter(|p| p.width < p.max_width || p.speed_gts < p.max_speed_gts);
    let (cause, set) = match narrow {
        Some(p) => {
            evidence.push(format!(
                "PCIe runs {} lanes at {} GT/s; the card has {} at {}",
                p.width, p.speed_gts, p.max_width, p.max_speed_gts
            ));
            (Kind::PcieWidth, "another slot, or its settings in the firmware".to_string())
        }
        None => {
            (Kind::CardBuffer, "flow control, or smaller bursts: memory or PCIe cannot follow".to_string())
        }
    };
    (frames > 0).then_some(Cause { cause, port: rates.port, frames, evidence, set, asked: None })
}

/// Whether a port is down that should carry something.
fn down(case: &Case, rates: &Rates, vanished: u64) -> Option<Cause> {
    let lost = rates.lost(&[Place::Link, Place::Transmit]);
    let idle = case.rates.iter().all(|r| r.frames == [0, 0]);
    if lost == 0 && vanished == 0 && !idle && rates.ever == [false, false] {
        // A socket without a cable, beside ports that work.
        return None;
    }
    let mut evidence = vec!["the port is started, and its link is DOWN".to_string()];
    if vanished > 0 {
        evidence.push(format!("{vanished} frames that were received were not sent"));
    }
    if rates.ever != [false, false] {
        evidence.push("it carried frames before".into());
    }
    let mine = rates.losses.iter().filter(|l| matches!(l.place, Place::Link | Place::Transmit));
    evidence.extend(mine.map(|l| format!("{} counted {} frames", l.counter, l.frames)));
    let set = case.named.line(Setting::Link, rates.port.into());
    Some(Cause {
        cause: Kind::PortDown,
        port: rates.port,
        frames: lost + vanished,
        evidence,
        set,
        asked: None,
    })
}

/// Whether the program hangs in transmission: it sends nothing, and receives nothing although frames come.
fn stuck(case: &Case, rates: &Rates) -> bool {
    let sent: u64 = case.rates.iter().map(|r| r.frames[1]).sum();
    sent == 0 && rates.frames[0] == 0 && case.rates.iter().any(|r| r.ever[1])
}

/// What was received and not sent, at the port that leaves most of it.
fn blocked(case: &Case, vanished: u64) -> Option<Cause> {
    let hung: u64 = case.rates.iter().filter(|r| stuck(case, r)).map(|r| r.lost(&[Place::Ring])).sum();
    let frames = vanished + hung;
    if frames == 0 {
        return None;
    }
    // Where there are several ports, what one sends came from others.
    let alone = case.rates.len() == 1;
    let others = |r: &Rates| if alone { r.frames[0] } else { case.received() - r.frames[0] };
    let rates =
        case.rates.iter().filter(|r| !r.down).max_by_key(|r| others(r).saturating_sub(r.frames[1]))?;
    let mut evidence = vec![format!(
        "the program received {} frames of all ports and sent {}: {vanished} are gone between",
        case.received(),
        case.rates.iter().map(|r| r.frames[1]).sum::<u64>()
    )];
    if hung > 0 {
        evidence.push(format!(
            "it sends nothing and receives nothing, while {hung} frames found no posted buffer"
        ));
    }
    let sent_gbps = rates.bytes[1] as f64 * 8e-9 / case.seconds;
    let link = rates.link_gbps.map(|g| format!(" of {} Gbps", num(g))).unwrap_or_default();
    evidence.push(format!(
        "port {} sends {} Gbps{link}: {} frames, while {} came for it",
        rates.port,
        num(sent_gbps),
        rates.frames[1],
        others(rates)
    ));
    evidence.extend(
        rates.pauses.iter().map(|(name, n)| format!("{name} counted {n}: the other end asks to wait")),
    );
    let held = pools(case).next().map(|(name, size, least)| {
        format!(
            "pool {name}: of {size} buffers at least {} are in rings, caches and the program's hands",
            size - least
        )
    });
    evidence.extend(held);
    let set = "what takes frames behind this port: its rate, flow control, or the port's speed".to_string();
    Some(Cause { cause: Kind::TransmitBlocked, port: rates.port, frames, evidence, set, asked: None })
}

/// Pools whose fill is known: name, size, and the fewest that lay there at any look.
fn pools<'a>(case: &'a Case) -> impl Iterator<Item = (&'a str, u64, u64)> {
    let last = case.dump.looks.last();
    last.into_iter().flat_map(|l| &l.pools).filter_map(|pool| {
        let of = case.dump.looks.iter().flat_map(|l| &l.pools).filter(|p| p.name == pool.name);
        let least = of.filter_map(|p| p.free).min()?;
        Some((pool.name.as_str(), pool.size, least.min(pool.size)))
    })
}

/// Whether the port, which received before, receives nothing because the pool has nothing, where its driver counts no such thing.
fn dry(case: &Case, rates: &Rates) -> bool {
    let counted =
        case.dump.looks.iter().all(|l| !l.pools.is_empty() && l.pools.iter().all(|p| p.free == Some(0)));
    counted && rates.ever[0] && rates.frames[0] == 0 && !rates.down
}

/// The pool, and the size that takes all rings.
fn too_small(case: &Case, rates: &Rates, frames: u64) -> Cause {
    let mut evidence: Vec<String> = Vec::new();
    let mine = rates.losses.iter().filter(|l| l.place == Place::Pool);
    evidence.extend(
        mine.map(|l| format!("{} counted {} buffers that the pool did not have", l.counter, l.frames)),
    );
    let ring = rates.lost(&[Place::Ring]);
    if ring > 0 {
        evidence.push(format!("so {ring} frames found no posted buffer"));
    } else {
        evidence.push(
            "no frame found its ring empty meanwhile: whether one was lost depends on the driver".into(),
        );
    }
    evidence.extend(pools(case).map(|(name, size, least)| {
        format!("pool {name}: {size} buffers, of which {least} lay in it at the lowest look")
    }));
    let size = case.dump.looks.last().and_then(|l| l.pools.iter().map(|p| p.size).max()).unwrap_or(0);
    let need = need(case);
    if let Some(need) = need {
        evidence.push(format!("full rings, caches and a burst of each core take {need}"));
    }
    let told = |l: &Look| l.ports.values().all(|port| case.named.tx_entries(port).is_some());
    if !case.dump.looks.last().is_some_and(told) {
        evidence.push(format!("transmit rings of {USUAL_TX} entries are assumed: nothing tells their size"));
    }
    // One less than a power of two wastes least memory (rte_mempool_create()).
    let wanted = (need.unwrap_or(0).max(size + 1) + 1).next_power_of_two() - 1;
    let mut asked = overload::asked(case, rates, &[]);
    asked.pool = Some(size);
    let set = case.named.line(Setting::Pool, wanted);
    Cause { cause: Kind::PoolTooSmall, port: rates.port, frames, evidence, set, asked: Some(asked) }
}

/// Buffers that all rings of all ports hold, with the caches of all polling cores and a burst each.
fn need(case: &Case) -> Option<u64> {
    let look = case.dump.looks.last()?;
    let mut sum = 0;
    for port in look.ports.values() {
        let rx = case.named.rx_entries(port)?.entries;
        let tx = case.named.tx_entries(port).map_or(USUAL_TX, |e| e.entries);
        sum += u64::from(rx) * u64::from(port.info.nb_rx_queues)
            + u64::from(tx) * u64::from(port.info.nb_tx_queues);
    }
    let cache = look.pools.iter().map(|p| p.cache_size).max().unwrap_or(0);
    // A cache is flushed where it is half as full again.
    Some(sum + case.polling(&[]).len() as u64 * (cache * 3 / 2 + BURST))
}
