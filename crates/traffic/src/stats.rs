//! What is in a capture: sizes, flows, protocols, bursts, and the load that RSS would give to cores.

use crate::{Trace, TraceInfo, wire_bytes};
use packet::{Parsed, Rss, kind, parse};
use serde::Serialize;
use std::collections::BTreeMap;

/// Everything that `rxlab trace` prints.
#[derive(Clone, Debug, Serialize)]
pub struct TraceStats {
    /// Counts from reading the capture.
    pub read: TraceInfo,
    /// Mean rate in the capture's own time, in Gbps on the wire; absent when it has no duration.
    pub gbps: Option<f64>,
    /// Mean rate in packets per second; absent when it has no duration.
    pub pps: Option<f64>,
    /// Frame sizes.
    pub sizes: SizeStats,
    /// Flows.
    pub flows: FlowStats,
    /// Shares by network protocol: `ipv4`, `ipv6`, `arp`, `mpls`, `other`.
    pub network: BTreeMap<&'static str, Share>,
    /// Shares of the IP packets by transport protocol; `fragment` are those whose ports do not count.
    pub transport: BTreeMap<&'static str, Share>,
    /// Frames with a VLAN tag.
    pub vlan: Share,
    /// Frames whose outer headers announce a tunnel.
    pub tunnel: Share,
    /// Frames with headers that contradict themselves or run past their end.
    pub bad_headers: Share,
    /// Burstiness in the capture's own time.
    pub bursts: BurstStats,
    /// Load per core with RSS (default key, cores dealt round-robin).
    pub rss: Vec<RssLoad>,
}

/// So many frames, and how much of all they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Share {
    /// Frames.
    pub packets: u64,
    /// Per cent of all frames.
    pub packets_pct: f64,
    /// Per cent of all frame bytes.
    pub bytes_pct: f64,
    #[serde(skip)]
    bytes: u64,
}

/// Frame sizes in bytes, without FCS.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SizeStats {
    /// Smallest.
    pub min: u16,
    /// Mean.
    pub mean: f64,
    /// Median.
    pub p50: u16,
    /// 90th percentile.
    pub p90: u16,
    /// 99th percentile.
    pub p99: u16,
    /// Largest.
    pub max: u16,
    /// Frames by size: up to this many bytes, and more than the class before.
    pub histogram: Vec<SizeClass>,
}

/// One bar of the size histogram.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SizeClass {
    /// Largest size in it.
    pub up_to: u16,
    /// Frames.
    pub packets: u64,
}

/// Flows: IP 5-tuples in one direction; of other frames, Ethernet headers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct FlowStats {
    /// How many.
    pub count: u64,
    /// How many have one frame only.
    pub single_packet: u64,
    /// The heaviest flow's per cent of all wire bytes.
    pub top_pct: f64,
    /// The ten heaviest flows' per cent of all wire bytes.
    pub top10_pct: f64,
}

/// Burstiness.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct BurstStats {
    /// Counts in windows of several lengths, of which the capture has at least ten.
    pub windows: Vec<Window>,
    /// The most frames in a row that would leave a 100 Gbps port without a gap.
    pub longest: u64,
    /// Frames with the time stamp of the one before.
    pub equal_stamps: u64,
}

/// Frames counted in windows of one length.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Window {
    /// Length of a window, in us.
    pub us: f64,
    /// Mean frames in a window.
    pub mean: f64,
    /// Index of dispersion of counts: variance over mean. 1 for Poisson arrivals, 0 for even ones.
    pub dispersion: f64,
    /// The fullest window over the mean.
    pub peak_to_mean: f64,
}

/// What RSS gives to each of so many cores.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RssLoad {
    /// Cores, one queue each.
    pub cores: u16,
    /// Frames of each.
    pub packets: Vec<u64>,
    /// The most loaded core over the least; absent when a core gets nothing.
    pub max_min: Option<f64>,
    /// The most loaded core over the mean.
    pub max_mean: f64,
}

impl TraceStats {
    /// Looks at every frame of a capture once; RSS for each number of `cores`.
    pub fn new(trace: &Trace, cores: &[u16]) -> Self {
        let read = trace.stats().clone();
        let seconds = trace.lap_ns() / 1e9;
        let per_second = |n: f64| (seconds > 0.0).then_some(n / seconds);
        let mut stats = Self {
            gbps: per_second(read.wire_bytes as f64 * 8.0 / 1e9),
            pps: per_second(read.packets as f64),
            sizes: sizes(trace),
            flows: flows(trace),
            network: BTreeMap::new(),
            transport: BTreeMap::new(),
            vlan: Share::default(),
            tunnel: Share::default(),
            bad_headers: Share::default(),
            bursts: bursts(trace),
            rss: Vec::new(),
            read,
        };
        let mut spread: Vec<(Rss, Vec<u64>)> =
            cores.iter().map(|n| (Rss::spread(*n), vec![0; usize::from(*n).max(1)])).collect();
        for frame in trace.frames() {
            let head = trace.head(frame);
            let parsed = parse(head);
            stats.protocols(&parsed, frame.len);
            for (rss, load) in &mut spread {
                load[usize::from(rss.queue(rss.hash(&parsed, head)))] += 1;
            }
        }
        stats.rss = spread.into_iter().map(|(_, load)| rss_load(load)).collect();
        stats.per_cent();
        stats
    }

    fn protocols(&mut self, p: &Parsed, len: u16) {
        self.network.entry(network(p)).or_default().add(len);
        if p.l3 != 0 {
            self.transport.entry(transport(p)).or_default().add(len);
        }
        if matches!(p.kind & kind::L2, kind::VLAN | kind::QINQ) {
            self.vlan.add(len);
        }
        if p.kind & kind::TUNNEL != 0 {
            self.tunnel.add(len);
        }
        if p.fault.is_some() {
            self.bad_headers.add(len);
        }
    }

    fn per_cent(&mut self) {
        let (packets, bytes) = (self.read.packets as f64, self.read.bytes as f64);
        let named = self.network.values_mut().chain(self.transport.values_mut());
        for share in named.chain([&mut self.vlan, &mut self.tunnel, &mut self.bad_headers]) {
            share.packets_pct = share.packets as f64 * 100.0 / packets;
            share.bytes_pct = share.bytes as f64 * 100.0 / bytes;
        }
    }
}

impl Share {
    fn add(&mut self, len: u16) {
        self.packets += 1;
        self.bytes += u64::from(len);
    }
}

fn network(p: &Parsed) -> &'static str {
    match p.kind {
        _ if p.is_ipv4() => "ipv4",
        _ if p.is_ipv6() => "ipv6",
        kind::ARP => "arp",
        kind::MPLS => "mpls",
        _ => "other",
    }
}

fn transport(p: &Parsed) -> &'static str {
    match (p.kind & kind::L4, p.kind & kind::TUNNEL) {
        (kind::TCP, _) => "tcp",
        (kind::UDP, _) => "udp",
        (kind::SCTP, _) => "sctp",
        (kind::ICMP, _) => "icmp",
        (kind::IGMP, _) => "igmp",
        (kind::FRAG, _) => "fragment",
        (_, kind::IP_IN_IP) => "ip_in_ip",
        (_, kind::GRE | kind::NVGRE) => "gre",
        (_, kind::ESP) => "esp",
        _ => "other",
    }
}

fn sizes(trace: &Trace) -> SizeStats {
    let mut counts = vec![0u64; 1 << 16];
    for frame in trace.frames() {
        counts[usize::from(frame.len)] += 1;
    }
    let packets = trace.stats().packets;
    // The smallest size that at least `part` of the frames do not exceed.
    let percentile = |part: f64| {
        let mut left = libm::ceil(packets as f64 * part).max(1.0) as u64;
        let at = counts.iter().position(|n| {
            left = left.saturating_sub(*n);
            left == 0
        });
        at.unwrap_or_default() as u16
    };
    let mut histogram = Vec::new();
    let mut from = 0;
    for up_to in [60, 123, 251, 507, 1019, 1514, u16::MAX] {
        let packets = counts[from..=usize::from(up_to)].iter().sum();
        histogram.push(SizeClass { up_to, packets });
        from = usize::from(up_to) + 1;
    }
    SizeStats {
        min: percentile(0.0),
        mean: trace.stats().bytes as f64 / packets as f64,
        p50: percentile(0.5),
        p90: percentile(0.9),
        p99: percentile(0.99),
        max: percentile(1.0),
        histogram,
    }
}

fn flows(trace: &Trace) -> FlowStats {
    let mut packets = vec![0u32; trace.flows().len()];
    for frame in trace.frames() {
        packets[frame.flow as usize] += 1;
    }
    let mut heaviest = trace.flows().to_vec();
    heaviest.sort_unstable_by(|a, b| b.cmp(a));
    let share =
        |n: usize| heaviest.iter().take(n).sum::<u64>() as f64 * 100.0 / trace.stats().wire_bytes as f64;
    FlowStats {
        count: heaviest.len() as u64,
        single_packet: packets.iter().filter(|n| **n == 1).count() as u64,
        top_pct: share(1),
        top10_pct: share(10),
    }
}

fn bursts(trace: &Trace) -> BurstStats {
    let lengths = [10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000];
    let enough = |ns: &u64| trace.stats().duration_ns / ns >= 10;
    let windows = lengths.into_iter().filter(enough).map(|ns| window(trace, ns)).collect();
    let stamps = trace.frames().windows(2).filter(|f| f[0].at == f[1].at).count() as u64;
    BurstStats { windows, longest: longest(trace), equal_stamps: stamps }
}

/// Counts in windows of `ns`, the last incomplete one left out. Empty ones are never visited.
fn window(trace: &Trace, ns: u64) -> Window {
    let windows = trace.stats().duration_ns / ns;
    let (mut sum, mut squares, mut peak) = (0, 0.0, 0);
    for chunk in trace.frames().chunk_by(|a, b| a.at / ns == b.at / ns) {
        if chunk[0].at / ns < windows {
            let count = chunk.len() as u64;
            sum += count;
            squares += (count * count) as f64;
            peak = peak.max(count);
        }
    }
    let mean = sum as f64 / windows as f64;
    let variance = squares / windows as f64 - mean * mean;
    Window { us: ns as f64 / 1e3, mean, dispersion: variance / mean, peak_to_mean: peak as f64 / mean }
}

/// The longest row of frames without a gap on a wire of 100 Gbps (80 ps a byte).
fn longest(trace: &Trace) -> u64 {
    let (mut longest, mut row, mut free) = (0, 0, 0u128);
    for frame in trace.frames() {
        let at = u128::from(frame.at) * 1000;
        row = if at <= free { row + 1 } else { 1 };
        longest = longest.max(row);
        free = at.max(free) + u128::from(wire_bytes(frame.len)) * 80;
    }
    longest
}

fn rss_load(packets: Vec<u64>) -> RssLoad {
    let max = packets.iter().copied().max().unwrap_or_default() as f64;
    let min = packets.iter().copied().min().unwrap_or_default() as f64;
    let mean = packets.iter().sum::<u64>() as f64 / packets.len() as f64;
    RssLoad {
        cores: packets.len() as u16,
        max_min: (min > 0.0).then_some(max / min),
        max_mean: max / mean,
        packets,
    }
}
