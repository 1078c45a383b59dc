//! Generated traffic as one port's endless stream: UDP over IPv4, no memory per flow.

use crate::clock::Clock;
use crate::flows::{Draw, Name, name};
use crate::partition::Partitions;
use crate::sizes::{HEADERS, Objects, imix};
use crate::wire::{Deal, Wire};
use crate::{Arrival, HEAD, Line, MIN_FRAME, Rate, Sizes, Source, Spec, seed, wire_bytes};
use packet::vxlan::{self, Tunnel};
use packet::{PARTITION_PORT, checksum};
use rand_pcg::Pcg64Mcg;

pub(crate) struct Generator {
    rng: Pcg64Mcg,
    frames: Frames,
    draw: Draw,
    partitions: Option<Partitions>,
    deal: Deal,
    /// Added to flow numbers: seeds give other addresses.
    salt: u32,
    clock: Clock,
    wire: Wire,
    /// Headers with everything but lengths, addresses, ports and checksums.
    template: [u8; HEAD],
    /// What carries the frames.
    tunnel: Option<Tunnel>,
    idle: bool,
}

enum Frames {
    Fixed(u16),
    Imix,
    Objects(Box<Objects>),
}

impl Generator {
    pub(crate) fn new(spec: &Spec, line: Line<'_>, rate: Rate, seed: u64) -> Self {
        let pace = line.pace(rate);
        let idle = pace.is_none();
        let flows = line.share(spec.flows);
        let mut rng = seed::rng(seed, line.port);
        let frames = match &spec.sizes {
            Sizes::Fixed(len) => Frames::Fixed(*len),
            sizes @ Sizes::Rfc2544(_) => Frames::Fixed(sizes.fixed().unwrap_or(MIN_FRAME)),
            Sizes::Imix => Frames::Imix,
            Sizes::Empirical(cdf) => Frames::Objects(Box::new(Objects::new(cdf.clone()))),
            Sizes::Kv { objects, .. } => Frames::Fixed(objects.longest_frame()), // has a source of its own
        };
        let pace = pace.unwrap_or_default();
        let clock = Clock::new(spec.arrivals, spec.mean_frame(), pace, &mut rng);
        let partitions = Partitions::new(spec, pace, &mut rng);
        Self {
            rng,
            frames,
            draw: Draw::new(spec.draw, flows.max(1)),
            partitions,
            deal: Deal::new(&line),
            salt: seed::salt(seed),
            clock,
            wire: Wire::new(line),
            template: template(line.port),
            tunnel: spec.vxlan.then(|| tunnel(line.port)),
            idle: idle || flows == 0,
        }
    }

    /// Flow (this port's number) and length of the next frame, behind one of time `at`.
    #[inline]
    fn pick(&mut self, at: u64) -> (u64, u16) {
        match &mut self.frames {
            Frames::Fixed(len) => (self.draw.next(&mut self.rng, at), *len),
            Frames::Imix => {
                let len = imix(&mut self.rng);
                (self.draw.next(&mut self.rng, at), len)
            }
            Frames::Objects(objects) => {
                let draw = &mut self.draw;
                objects.next(&mut self.rng, |rng| draw.next(rng, at))
            }
        }
    }
}

/// Source ports of a tunnel, which stand for flows, from here on (RFC 7348 section 5).
const ENTROPY: u16 = 0xc000;

/// The tunnel to a port.
fn tunnel(port: u32) -> Tunnel {
    let [a, b] = (port as u16).to_be_bytes();
    let (macs, ends) = ([[2, 0, 0, 3, a, b], [2, 0, 0, 4, a, b]], [[10, 255, a, b], [48, 255, a, b]]);
    Tunnel { macs, ends, network: port + 1 }
}

/// Bytes of a frame's head that are known.
const KNOWN: usize = HEADERS as usize;

impl Source for Generator {
    #[inline]
    fn next(&mut self, out: &mut Arrival) -> bool {
        if self.idle {
            return false;
        }
        let (flow, len) = self.pick(out.at);
        let number = self.deal.number(flow as u32);
        out.flow = number.wrapping_add(1); // of 2^32 flows the last one has none
        let (port, len) = match &mut self.partitions {
            Some(partitions) => {
                let (partition, len) = partitions.next(flow, len);
                // A flow has frames for the target as well, in partition 0: they are another flow's.
                out.flow = (number << 1 | u32::from(partition == 0)).wrapping_add(1);
                (Some(PARTITION_PORT.wrapping_add(partition as u16)), len)
            }
            None => (None, len),
        };
        let before = if self.tunnel.is_some() { vxlan::BEFORE } else { 0 };
        out.len = len.saturating_add(before as u16);
        let due = self.clock.next(wire_bytes(out.len), &mut self.rng);
        out.at = self.wire.send(due, out.len);
        // Zeros follow what is known: those behind the frame before serve this one too.
        if usize::from(out.head_len) > KNOWN + before {
            out.head = [0; HEAD];
        }
        out.head_len = KNOWN as u8;
        out.head[..KNOWN].copy_from_slice(&self.template[..KNOWN]);
        let name = name(number.wrapping_add(self.salt));
        address(&mut out.head, Name { dport: port.unwrap_or(name.dport), ..name }, len, 0);
        if let Some(tunnel) = &self.tunnel {
            out.head.copy_within(..KNOWN, before);
            out.head[..before].copy_from_slice(&tunnel.before(len, ENTROPY | name.src as u16 & !ENTROPY));
            out.head_len += before as u8;
        }
        true
    }
}

/// Ethernet, IPv4 (no fragments, TTL 64) and UDP with zeros for what differs between frames.
pub(crate) fn template(port: u32) -> [u8; HEAD] {
    let mut head = [0; HEAD];
    let [a, b] = (port as u16).to_be_bytes();
    head[..14].copy_from_slice(&[2, 0, 0, 1, a, b, 2, 0, 0, 2, a, b, 0x08, 0x00]);
    head[14] = 0x45;
    head[20] = 0x40;
    head[22] = 64;
    head[23] = 17;
    head
}

/// Fills in lengths, addresses, ports and both checksums; the payload's words add up to `payload`.
#[inline]
pub(crate) fn address(head: &mut [u8; HEAD], flow: Name, len: u16, payload: u64) {
    let (total, udp) = (len - 14, len - 34);
    head[16..18].copy_from_slice(&total.to_be_bytes());
    head[26..30].copy_from_slice(&flow.src.to_be_bytes());
    head[30..34].copy_from_slice(&flow.dst.to_be_bytes());
    head[34..36].copy_from_slice(&flow.sport.to_be_bytes());
    head[36..38].copy_from_slice(&flow.dport.to_be_bytes());
    head[38..40].copy_from_slice(&udp.to_be_bytes());
    let addresses = u64::from(flow.src) + u64::from(flow.dst);
    let ip = 0x4500 + 0x4000 + 0x4011 + u64::from(total) + addresses;
    head[24..26].copy_from_slice(&checksum::finish(ip).to_be_bytes());
    let ports = u64::from(flow.sport) + u64::from(flow.dport);
    let sum = checksum::finish(addresses + 17 + ports + 2 * u64::from(udp) + payload);
    let sum = if sum == 0 { 0xffff } else { sum };
    head[40..42].copy_from_slice(&sum.to_be_bytes());
}
