//! The frames that the software NIC "receives": a fixed set of UDP flows, numbered frame by frame.

use nic::{Class, Incoming, Port};
use packet::checksum;
use packet::vxlan::{BEFORE, Tunnel};
use rings::Frame;

use crate::ledger::Place;
use crate::stamp::{AT, BYTES, Stamp};

/// Frames of one queue that the card stores in one call.
pub(crate) const CHUNK: usize = 32;
/// The shortest frame, without FCS; longer ones are zeros behind it.
pub(crate) const SHORTEST: usize = 60;
/// What is known of a frame: the shortest, and what may stand before it.
const KNOWN: usize = SHORTEST + BEFORE;
/// The tunnel that carries frames in VXLAN.
const TUNNEL: Tunnel = Tunnel {
    macs: [[2, 0, 0, 0, 0, 3], [2, 0, 0, 0, 0, 4]],
    ends: [[192, 0, 2, 1], [192, 0, 2, 2]],
    network: 7,
};

/// All flows, and the order in which their frames come: chunk after chunk, then again from the first.
///
/// A flow has one frame in a chunk at most, so frames of a chunk may be stored in any order, as happens
/// when a full ring takes some and refuses others. Flows take turns, so frame `n` of every flow is in
/// turn `n`.
pub(crate) struct Flows {
    heads: Vec<[u8; KNOWN]>,
    /// Where frames begin: behind the headers of VXLAN, if they come in it.
    before: usize,
    /// Sum of the words under each flow's UDP checksum, its stamp and checksum being zero.
    sums: Vec<u64>,
    pub(crate) classes: Vec<Class>,
    pub(crate) chunks: Vec<Chunk>,
    /// Of whole frames.
    len: u16,
}

/// Some flows of one queue.
pub(crate) struct Chunk {
    pub(crate) queue: u16,
    pub(crate) flows: Vec<u32>,
}

impl Flows {
    /// `count` flows of frames of `len` bytes, with so many bytes `before` them (none, or those of VXLAN), spread over
    /// `queues` by the port's RSS; `None` if the port takes no such frame.
    pub(crate) fn new<R>(
        port: &Port<R>,
        count: u32,
        (before, len): (u16, u16),
        queues: u16,
    ) -> Option<Flows> {
        let heads: Vec<_> = (0..count).map(|flow| head(flow, (before, len))).collect();
        let (before, whole) = (usize::from(before), before + len);
        let admit = |h| port.pipeline().admit(&Incoming::whole(h, u32::from(whole)));
        let classes: Result<Vec<_>, _> =
            heads.iter().map(|h: &[u8; KNOWN]| admit(&h[..before + SHORTEST])).collect();
        // The number 0 is that of no flow.
        let classes: Vec<_> = (1..).zip(classes.ok()?).map(|(flow, class)| Class { flow, ..class }).collect();
        let sums = heads.iter().map(|h| sum(&h[before..before + SHORTEST], len)).collect();
        Some(Flows { chunks: schedule(&classes, queues), heads, before, sums, classes, len: whole })
    }

    /// Where each flow stands in a turn, and the ring of its queue.
    pub(crate) fn places(&self, ring_of: impl Fn(u16) -> u16) -> Vec<Place> {
        let mut places: Vec<_> =
            self.classes.iter().map(|c| Place { rank: 0, ring: ring_of(c.queue) }).collect();
        for (rank, flow) in (0u32..).zip(self.chunks.iter().flat_map(|c| &c.flows)) {
            places[*flow as usize].rank = rank;
        }
        places
    }

    /// Numbers the frames of a chunk for turn `turn`.
    #[inline]
    pub(crate) fn stamp(&mut self, chunk: usize, turn: u32) {
        for flow in &self.chunks[chunk].flows {
            let i = *flow as usize;
            let stamp = Stamp { flow: *flow, number: turn }.bytes();
            let head = &mut self.heads[i][self.before..];
            head[AT..AT + BYTES].copy_from_slice(&stamp);
            let sum = match checksum::finish(checksum::add(self.sums[i], &stamp)) {
                0 => 0xffff, // 0 would say that there is none
                sum => sum,
            };
            head[40..42].copy_from_slice(&sum.to_be_bytes());
        }
    }

    /// The frame of `flow` as it was stamped last.
    #[inline]
    pub(crate) fn frame(&self, flow: u32) -> Frame<'_> {
        let (head, class) = (&self.heads[flow as usize], &self.classes[flow as usize]);
        class.frame(&Incoming::whole(&head[..self.before + SHORTEST], u32::from(self.len)))
    }
}

/// Ethernet, IPv4 and UDP of a flow, with a right IP checksum, behind what carries them.
fn head(flow: u32, (before, len): (u16, u16)) -> [u8; KNOWN] {
    let mut whole = [0; KNOWN];
    // Every flow has a source port of the tunnel, as far as there are some.
    let source = 0xc000 | flow as u16 & 0x3fff;
    let outer = TUNNEL.before(len, source);
    let (first, h) = whole.split_at_mut(before.into());
    first.copy_from_slice(&outer[..before.into()]);
    h[..14].copy_from_slice(&[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 9, 8, 0]);
    h[14..24].copy_from_slice(&[0x45, 0, 0, 0, 0, 0, 0, 0, 64, 17]);
    h[16..18].copy_from_slice(&(len - 14).to_be_bytes());
    let [_, a, b, c] = flow.to_be_bytes();
    h[26..34].copy_from_slice(&[10, a, b, c, 198, 18, 0, 1]);
    // Toeplitz is linear: ports that count along with the address would fold queues onto each other.
    let port = (flow.wrapping_mul(0x9e37_79b1) >> 16) as u16 | 1024;
    h[34..36].copy_from_slice(&port.to_be_bytes());
    h[36..38].copy_from_slice(&9u16.to_be_bytes());
    h[38..40].copy_from_slice(&(len - 34).to_be_bytes());
    let sum = checksum::ipv4(&h[14..34]).unwrap_or(0);
    h[24..26].copy_from_slice(&sum.to_be_bytes());
    whole
}

/// What the UDP checksum covers, pseudo-header first; bytes behind the head are zeros.
fn sum(head: &[u8], len: u16) -> u64 {
    checksum::add(checksum::add(17 + u64::from(len - 34), &head[26..34]), &head[34..])
}

/// Whether a frame whose bytes behind `head` are zeros has right IP and UDP checksums.
pub(crate) fn checksums_hold(head: &[u8], len: u32) -> bool {
    let (Some(ip), Some(addresses), Some(udp)) = (head.get(14..34), head.get(26..34), head.get(34..)) else {
        return false;
    };
    let pseudo = checksum::add(17 + u64::from(len.saturating_sub(34)), addresses);
    checksum::finish(checksum::add(0, ip)) == 0 && checksum::finish(checksum::add(pseudo, udp)) == 0
}

/// Chunks of at most [`CHUNK`] flows of one queue; queues alternate in proportion to their flows.
fn schedule(classes: &[Class], queues: u16) -> Vec<Chunk> {
    let mut placed = Vec::new();
    for queue in 0..queues {
        let own: Vec<u32> =
            (0u32..).zip(classes).filter(|(_, c)| c.queue == queue).map(|(flow, _)| flow).collect();
        let chunks = own.chunks(CHUNK).map(|flows| Chunk { queue, flows: flows.to_vec() });
        let count = own.len().div_ceil(CHUNK) as u64;
        placed.extend((0u64..).zip(chunks).map(|(k, chunk)| ((2 * k + 1) * 1_000_000 / (2 * count), chunk)));
    }
    placed.sort_by_key(|(place, chunk)| (*place, chunk.queue));
    placed.into_iter().map(|(_, chunk)| chunk).collect()
}
