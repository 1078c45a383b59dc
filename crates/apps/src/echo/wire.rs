//! The client's end of the wire, a device of smoltcp: it loses frames, and counts segments that were repeated.

use std::collections::{HashMap, VecDeque};

use packet::{ETHERNET, parse};
use smoltcp::phy::{Device, DeviceCapabilities, RxToken, TxToken};
use smoltcp::time::Instant;

use super::{IPV4, capabilities};
use crate::headers::SHORTEST;

const TCP: u8 = 6;
const SYN: u8 = 2;
const FIN: u8 = 1;
/// Ethernet addresses: the server's, the client's.
const ADDRESSES: [u8; 12] = [2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 9];

/// What one direction of the wire has seen.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    /// Of each connection by its two ports, the sequence number behind the last byte.
    ends: HashMap<[u8; 4], u32>,
    /// Segments that began before that.
    pub(super) repeated: u64,
    /// Frames that were lost.
    pub(super) lost: u64,
}

impl Seen {
    /// Looks at a frame that somebody has sent.
    fn see(&mut self, frame: &[u8]) {
        if let Some((ports, seq, units, opens)) = segment(frame)
            && units > 0
        {
            let end = seq.wrapping_add(units);
            match self.ends.get_mut(&ports) {
                // A number is behind another one if it is less than half of all numbers ahead.
                Some(last) if !opens && seq.wrapping_sub(*last).cast_signed() < 0 => {
                    self.repeated += 1;
                    if end.wrapping_sub(*last).cast_signed() > 0 {
                        *last = end;
                    }
                }
                Some(last) if opens && *last == end => self.repeated += 1,
                Some(last) => *last = end,
                None => _ = self.ends.insert(ports, end),
            }
        }
    }
}

/// Of a segment: ports, its first number, how many it takes, and whether it opens a connection.
fn segment(frame: &[u8]) -> Option<([u8; 4], u32, u32, bool)> {
    let parsed = parse(frame);
    if parsed.proto != TCP || parsed.fault.is_some() || !parsed.is_ipv4() {
        return None;
    }
    let tcp = frame.get(usize::from(parsed.l4)..)?;
    let total = u16::from_be_bytes(*frame.get(usize::from(parsed.l3) + 2..)?.first_chunk()?);
    let headers = parsed.l4 - parsed.l3 + u16::from(tcp.get(12)? >> 4) * 4;
    let flags = *tcp.get(13)?;
    let bits = u32::from(flags & SYN != 0) + u32::from(flags & FIN != 0);
    let units = u32::from(total.checked_sub(headers)?) + bits;
    Some((*tcp.first_chunk()?, u32::from_be_bytes(*tcp.get(4..)?.first_chunk()?), units, flags & SYN != 0))
}

/// The wire.
pub(super) struct Wire {
    received: VecDeque<Vec<u8>>,
    made: VecDeque<Vec<u8>>,
    /// Frames of a million that are lost.
    loss_ppm: u32,
    random: u64,
    /// From the client, and to it.
    pub(super) seen: [Seen; 2],
}

impl Wire {
    /// A wire that loses `loss_ppm` of a million frames, those that `seed` picks.
    pub(super) fn new(loss_ppm: u32, seed: u64) -> Wire {
        let (received, made) = (VecDeque::new(), VecDeque::new());
        Wire { received, made, loss_ppm, random: seed, seen: [Seen::default(), Seen::default()] }
    }

    /// Whether the next frame of a direction is lost (SplitMix64).
    fn loses(&mut self, direction: usize) -> bool {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.random;
        x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        let lost = (x ^ x >> 31) % 1_000_000 < u64::from(self.loss_ppm);
        self.seen[direction].lost += u64::from(lost);
        lost
    }

    /// A frame of the server.
    pub(super) fn receive(&mut self, frame: &[u8]) {
        self.seen[1].see(frame);
        if !self.loses(1) {
            self.received.push_back(frame.to_vec());
        }
    }

    /// The next frame of the client.
    pub(super) fn send(&mut self) -> Option<Vec<u8>> {
        loop {
            let frame = self.made.pop_front()?;
            self.seen[0].see(&frame);
            if !self.loses(0) {
                return Some(frame);
            }
        }
    }
}

/// A frame that was received.
pub(super) struct Received(Vec<u8>);

impl RxToken for Received {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, f: F) -> R {
        f(self.0.get(ETHERNET..).unwrap_or_default())
    }
}

/// Where frames go.
pub(super) struct Leave<'a>(&'a mut VecDeque<Vec<u8>>);

impl TxToken for Leave<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, len: usize, f: F) -> R {
        let mut frame = Vec::with_capacity((ETHERNET + len).max(SHORTEST));
        frame.extend(ADDRESSES.iter().chain(&IPV4));
        frame.resize((ETHERNET + len).max(SHORTEST), 0);
        let result = f(&mut frame[ETHERNET..ETHERNET + len]);
        self.0.push_back(frame);
        result
    }
}

impl Device for Wire {
    type RxToken<'a> = Received;
    type TxToken<'a> = Leave<'a>;

    fn receive(&mut self, _: Instant) -> Option<(Received, Leave<'_>)> {
        Some((Received(self.received.pop_front()?), Leave(&mut self.made)))
    }

    fn transmit(&mut self, _: Instant) -> Option<Leave<'_>> {
        Some(Leave(&mut self.made))
    }

    fn capabilities(&self) -> DeviceCapabilities {
        capabilities()
    }
}
