//! What happened between the first look and the last: rates, and what was dropped where, by which counter.

use std::collections::BTreeMap;

use super::counters::{Basic, Counter, Place, Table, number};
use super::dump::{DICT_ENTRIES, Dump, Port};

/// How far the drops of queues may be from those of their port to be told of, in parts.
const QUEUES_AGREE: f64 = 0.1;
/// What basic counters have beyond those of the driver that is due to their being read one after the other, in parts.
const READ_APART: f64 = 0.1;
/// Mbps that stand for "not known" (RTE_ETH_SPEED_NUM_UNKNOWN).
const SPEED_UNKNOWN: u64 = u32::MAX as u64;
/// Bytes of a frame on the wire beside those that are counted: preamble, gap and FCS.
pub(super) const WIRE_BYTES: u64 = 24;

/// Frames that were lost at a place.
#[derive(Clone, Debug)]
pub(super) struct Loss {
    /// The port.
    pub port: u16,
    /// Where.
    pub place: Place,
    /// By which counter.
    pub counter: String,
    /// How many.
    pub frames: u64,
    /// The same by queue, where that is known.
    pub queues: Vec<u64>,
    /// Where it is written what the counter counts.
    pub source: String,
}

/// A port meanwhile.
#[derive(Clone, Debug, Default)]
pub(super) struct Rates {
    /// Its number.
    pub port: u16,
    /// Its driver, as far as known.
    pub driver: Option<String>,
    /// What that driver cannot tell of.
    pub blind: Option<String>,
    /// Gbps of its link, where known.
    pub link_gbps: Option<f64>,
    /// Whether it was started and its link is down.
    pub down: bool,
    /// Frames received and sent.
    pub frames: [u64; 2],
    /// Bytes received and sent.
    pub bytes: [u64; 2],
    /// Frames received, by queue.
    pub queues: Vec<u64>,
    /// What was lost.
    pub losses: Vec<Loss>,
    /// Frames that ask to wait, by counter.
    pub pauses: Vec<(String, u64)>,
    /// Of the times between looks, the share in which frames were lost.
    pub losing: f64,
    /// Whether it ever received and ever sent.
    pub ever: [bool; 2],
    /// Whether telemetry left extended counters out.
    pub cut: bool,
    /// Whether counters were set back meanwhile.
    pub reset: bool,
}

impl Rates {
    /// Frames lost on the way in, of any place that loses them there.
    pub(super) fn lost(&self, places: &[Place]) -> u64 {
        self.losses.iter().filter(|l| places.contains(&l.place)).map(|l| l.frames).sum()
    }

    /// Frames that came: those received, and those lost before.
    pub(super) fn offered(&self) -> u64 {
        use Place::{BadFrame, Card, Ring, TooLong};
        self.frames[0] + self.lost(&[Card, Ring, TooLong, BadFrame])
    }

    /// Bytes of a frame that was received, in the mean.
    pub(super) fn mean_bytes(&self) -> Option<f64> {
        (self.frames[0] > 0).then(|| self.bytes[0] as f64 / self.frames[0] as f64)
    }

    /// Frames lost at rings, by queue; empty where that is not known.
    pub(super) fn lost_by_queue(&self) -> Vec<u64> {
        let mut sum = vec![0; self.queues.len()];
        for loss in self.losses.iter().filter(|l| l.place == Place::Ring) {
            if loss.queues.is_empty() {
                return Vec::new();
            }
            for (sum, n) in sum.iter_mut().zip(&loss.queues) {
                *sum += n;
            }
        }
        sum
    }
}

/// All ports between the first look and the last.
pub(super) fn all(dump: &Dump, table: &Table) -> Vec<Rates> {
    let (Some(first), Some(last)) = (dump.looks.first(), dump.looks.last()) else { return Vec::new() };
    let both = last.ports.iter().filter_map(|(n, end)| Some((*n, first.ports.get(n)?, end)));
    both.map(|(port, start, end)| one(dump, table, port, start, end)).collect()
}

fn one(dump: &Dump, table: &Table, port: u16, start: &Port, end: &Port) -> Rates {
    let driver = table.driver(end);
    let counters = driver.map_or(&[][..], |d| &d.counters);
    let (s, e) = (&start.stats, &end.stats);
    let queues = (end.info.nb_rx_queues as usize).min(e.q_ipackets.len());
    let by_queue = |from: &[u64], to: &[u64]| -> Vec<u64> {
        let before = |i: usize| from.get(i).copied().unwrap_or(0);
        to.iter().take(queues).enumerate().map(|(i, n)| since(before(i), *n)).collect()
    };
    let mut rates = Rates {
        port,
        driver: driver.map(|d| d.name.clone()),
        blind: driver.and_then(|d| d.blind.clone()),
        link_gbps: (end.link.status == "UP"
            && !(SPEED_UNKNOWN..).contains(&end.link.speed)
            && end.link.speed > 0)
            .then(|| end.link.speed as f64 / 1000.0),
        down: end.info.dev_started != 0 && end.link.status == "DOWN",
        frames: [since(s.ipackets, e.ipackets), since(s.opackets, e.opackets)],
        bytes: [since(s.ibytes, e.ibytes), since(s.obytes, e.obytes)],
        queues: by_queue(&s.q_ipackets, &e.q_ipackets),
        ever: [e.ipackets > 0, e.opackets > 0],
        cut: end.xstats.len() >= DICT_ENTRIES,
        reset: e.ipackets < s.ipackets || e.opackets < s.opackets,
        ..Rates::default()
    };
    rates.losses = losses(port, counters, start, end, &by_queue(&s.q_errors, &e.q_errors));
    for counter in counters.iter().filter(|c| c.place == Place::Pause) {
        let n = value(counter, end).saturating_sub(value(counter, start));
        rates.pauses.extend((n > 0).then(|| (counter.name.clone(), n)));
    }
    let steps = dump.looks.windows(2).filter_map(|w| Some((w[0].ports.get(&port)?, w[1].ports.get(&port)?)));
    let lossy = steps.map(|(a, b)| Basic::ALL.iter().any(|(basic, ..)| basic.of(b) > basic.of(a)));
    let lossy: Vec<bool> = lossy.collect();
    rates.losing = lossy.iter().filter(|l| **l).count() as f64 / lossy.len().max(1) as f64;
    rates
}

/// How far a counter went; from nothing where it was set back.
fn since(from: u64, to: u64) -> u64 {
    if to < from { to } else { to - from }
}

/// The value of a driver's counter, over all its numbers.
fn value(counter: &Counter, port: &Port) -> u64 {
    match port.xstats.get(&counter.name) {
        Some(n) => *n,
        None => {
            port.xstats.iter().filter(|(name, _)| number(&counter.name, name).is_some()).map(|(_, n)| n).sum()
        }
    }
}

/// The values of a driver's counter by queue; empty where it has none of queues.
fn values(counter: &Counter, port: &Port) -> Vec<u64> {
    // Other numbers are priorities.
    let pattern = counter.queues.as_deref().or(counter.name.contains("_q*_").then_some(&*counter.name));
    let Some(pattern) = pattern else { return Vec::new() };
    let found: BTreeMap<u32, u64> =
        port.xstats.iter().filter_map(|(name, n)| Some((number(pattern, name)?, *n))).collect();
    (0..port.info.nb_rx_queues).map_while(|q| found.get(&q).copied()).collect()
}

/// What basic counters and those of the driver say is lost, each frame once.
fn losses(port: u16, counters: &[Counter], start: &Port, end: &Port, queue_errors: &[u64]) -> Vec<Loss> {
    let of = |counter: &Counter| {
        let before = values(counter, start);
        let queues = values(counter, end).into_iter().enumerate();
        let queues = queues.map(|(i, n)| since(before.get(i).copied().unwrap_or(0), n)).collect();
        let frames = since(value(counter, start), value(counter, end));
        let (counter, place, source) = (counter.name.clone(), counter.place, counter.source.clone());
        Loss { port, place, counter, frames, queues, source }
    };
    let mut found = Vec::new();
    for (basic, name, place) in Basic::ALL {
        let all = since(basic.of(start), basic.of(end));
        let mut left = all;
        let inside = counters.iter().filter(|c| c.within == Some(basic) && c.place != Place::Pause);
        for mut loss in inside.map(of) {
            // Counters of a card are read one after the other: a part may be ahead of the whole.
            loss.frames = loss.frames.min(left);
            left -= loss.frames;
            found.push(loss);
        }
        if left < all && (left as f64) < READ_APART * all as f64 {
            continue;
        }
        let sum: u64 = queue_errors.iter().sum();
        let agree = left > 0 && (sum as f64 - left as f64).abs() <= QUEUES_AGREE * left as f64;
        let queues = if agree && basic == Basic::Imissed { queue_errors.to_vec() } else { Vec::new() };
        let source = "lib/ethdev/rte_ethdev.h: struct rte_eth_stats".to_string();
        found.push(Loss { port, place, counter: name.into(), frames: left, queues, source });
    }
    found.extend(counters.iter().filter(|c| c.within.is_none() && c.place != Place::Pause).map(of));
    found.retain(|loss| loss.frames > 0);
    found.sort_by_key(|loss| std::cmp::Reverse(loss.frames));
    found
}
