//! A frame's headers in an application's hands: read once, rewritten in place, stored once.

use core::ops::Range;

use memory::{Memory, Ps, Touch};
use packet::{Fault, Parsed, checksum};
use rings::Completion;

use crate::table::Key;

/// Bytes of a frame that applications look at: two lines hold every header but exotic IPv6 chains.
pub const SEEN: usize = 128;

/// The shortest frame, without FCS.
pub(crate) const SHORTEST: usize = 60;
/// Hops that an answer may take.
const LIFE: u8 = 64;
const TCP: u8 = 6;
const UDP: u8 = 17;
const ICMP: u8 = 1;

/// One end of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Where it comes from.
    Source,
    /// Where it goes.
    Destination,
}

/// The first bytes of a frame and what the parser found in them. Every change keeps the IP and
/// transport checksums right by RFC 1624, without a look at the payload.
pub struct Headers {
    bytes: [u8; SEEN],
    seen: usize,
    len: u16,
    parsed: Parsed,
    now: Ps,
    /// The bytes that have changed, as one range. At first it is empty: its start lies behind its end.
    dirty: Range<usize>,
}

impl Headers {
    /// The headers of a frame of a burst that began at `now`. Nothing is read before [`load`](Self::load).
    #[inline(always)]
    pub fn of(c: &Completion, now: Ps) -> Headers {
        let seen = SEEN.min(usize::from(c.len));
        let dirty = Range { start: SEEN, end: 0 };
        Headers { bytes: [0; SEEN], seen, len: c.len, parsed: Parsed::default(), now, dirty }
    }

    /// Reads the headers to where they stay; whether they are the usual ones. A function that returned them would copy all
    /// their bytes. What is done with usual headers in the same function is compiled for them: they lie at fixed places.
    #[inline(always)]
    pub fn load<M: Memory>(&mut self, m: &mut M, frames: M::Buffers, c: &Completion) -> bool {
        m.get(frames, c.buf, 0, &mut self.bytes[..self.seen], self.seen as u32);
        match packet::usual(&self.bytes[..self.seen]) {
            Some(parsed) => {
                self.parsed = parsed;
                true
            }
            None => {
                self.parsed = packet::parse(&self.bytes[..self.seen]);
                false
            }
        }
    }

    /// Writes back what has changed.
    #[inline(always)]
    pub fn store<M: Memory>(&self, m: &mut M, frames: M::Buffers, c: &Completion) {
        if let Some(changed) = self.bytes.get(self.dirty.clone()) {
            m.put(frames, c.buf, self.dirty.start as u32, changed, changed.len() as u32);
        }
    }

    /// When the frame's burst began: one look at the clock for all of it.
    pub fn now(&self) -> Ps {
        self.now
    }

    /// What the parser found.
    pub fn parsed(&self) -> &Parsed {
        &self.parsed
    }

    /// The bytes in view.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.seen]
    }

    /// Whether the headers contradict themselves or the frame ends inside them.
    pub fn is_bad(&self) -> bool {
        match self.parsed.fault {
            None => false,
            Some(Fault::Short) => self.seen == usize::from(self.len),
            Some(Fault::Version | Fault::Length) => true,
        }
    }

    /// Whether there is an IP header, and all headers are in view.
    pub fn is_ip(&self) -> bool {
        self.parsed.fault.is_none() && self.parsed.l3 != 0
    }

    /// The flow that the frame belongs to, as it came.
    #[inline(always)]
    pub fn key(&self) -> Option<Key> {
        let ports = match self.echo() {
            Some(at) => [self.bytes[at], self.bytes[at + 1], 0, 0],
            None => *self.parsed.ports(self.bytes()).unwrap_or(&[0; 4]),
        };
        Key::new(self.parsed.addresses(self.bytes())?, ports, self.parsed.proto)
    }

    /// Whether the frame opens a TCP connection: SYN without ACK.
    pub fn opens(&self) -> bool {
        const SYN: u8 = 2;
        const ACK: u8 = 16;
        self.parsed.has_ports()
            && self.parsed.proto == TCP
            && self.bytes().get(usize::from(self.parsed.l4) + 13).is_some_and(|f| f & (SYN | ACK) == SYN)
    }

    /// An IPv4 address.
    pub fn ipv4(&self, end: End) -> Option<[u8; 4]> {
        let at = self.parsed.is_ipv4().then(|| self.address_at(end))?;
        self.bytes.get(at..at + 4)?.first_chunk().copied()
    }

    /// An IPv6 address.
    pub fn ipv6(&self, end: End) -> Option<[u8; 16]> {
        let at = self.parsed.is_ipv6().then(|| self.address_at(end))?;
        self.bytes.get(at..at + 16)?.first_chunk().copied()
    }

    /// The port, or an ICMP echo's identifier (the same at both ends): what a translation may change.
    pub fn port(&self, end: End) -> Option<u16> {
        let at = self.port_at(end)?;
        Some(u16::from_be_bytes([self.bytes[at], self.bytes[at + 1]]))
    }

    /// Where the payload of a UDP datagram lies in the frame; `None` for other packets, for one whose
    /// lengths contradict the frame's, and for one with IP options, which an answer would have to heed.
    pub fn datagram(&self) -> Option<Range<usize>> {
        const HEADER: usize = 8;
        let (l3, l4) = (usize::from(self.parsed.l3), usize::from(self.parsed.l4));
        let plain = l4 == l3 + if self.parsed.is_ipv4() { 20 } else { 40 };
        if !plain || self.parsed.proto != UDP || !self.parsed.has_ports() {
            return None;
        }
        let len = self.bytes().get(l4 + 4..l4 + 6)?;
        let len = usize::from(u16::from_be_bytes([len[0], len[1]]));
        (len >= HEADER && l4 + len <= usize::from(self.len)).then_some(l4 + HEADER..l4 + len)
    }

    /// Turns a [`datagram`](Self::datagram) into its answer: source and destination change places, and the
    /// payload becomes `head` and `rest` more bytes. The 16-bit words of those `rest` bytes add up to `sum`.
    /// Returns the frame's new length; `None`, and nothing changed, if the frame is no datagram or `head`
    /// reaches out of view.
    pub fn answer(&mut self, head: &[u8], rest: u16, sum: u64) -> Option<u16> {
        let payload = self.datagram()?;
        let (l3, l4) = (usize::from(self.parsed.l3), usize::from(self.parsed.l4));
        let end = payload.start + head.len();
        let whole = u16::try_from(end + usize::from(rest)).ok().filter(|_| end <= SEEN)?;
        let size = if self.parsed.is_ipv4() { 4 } else { 16 };
        self.turn();
        let bytes = &mut self.bytes;
        bytes[payload.start..end].copy_from_slice(head);
        let udp = whole - l4 as u16;
        bytes[l4 + 4..l4 + 6].copy_from_slice(&udp.to_be_bytes());
        if self.parsed.is_ipv4() {
            bytes[l3 + 2..l3 + 4].copy_from_slice(&(whole - l3 as u16).to_be_bytes());
            bytes[l3 + 8] = LIFE;
            let sum = checksum::ipv4(&bytes[l3..l4])?;
            bytes[l3 + 10..l3 + 12].copy_from_slice(&sum.to_be_bytes());
        } else {
            bytes[l3 + 4..l3 + 6].copy_from_slice(&udp.to_be_bytes());
            bytes[l3 + 7] = LIFE;
        }
        // A client that asks without a checksum gets none.
        if self.parsed.is_ipv6() || bytes[l4 + 6..l4 + 8] != [0, 0] {
            bytes[l4 + 6..l4 + 8].fill(0);
            let covered = checksum::add(sum + u64::from(UDP) + u64::from(udp), &bytes[l4 - 2 * size..end]);
            let sum = match checksum::finish(covered) {
                0 => 0xffff, // 0 would say that there is none
                sum => sum,
            };
            bytes[l4 + 6..l4 + 8].copy_from_slice(&sum.to_be_bytes());
        }
        // A short answer is padded with zeros, not with what is left of the request.
        let shown = if rest == 0 { end.max(SHORTEST) } else { end };
        bytes[end..shown].fill(0);
        (self.seen, self.dirty) = (self.seen.max(shown), 0..shown);
        Some(whole.max(SHORTEST as u16))
    }

    /// Sends a datagram back as it is: source and destination change places, which changes no checksum. `false`, and nothing
    /// changed, if the frame is no [`datagram`](Self::datagram).
    #[inline]
    pub fn turn(&mut self) -> bool {
        let Some(payload) = self.datagram() else { return false };
        let l4 = usize::from(self.parsed.l4);
        let size = if self.parsed.is_ipv4() { 4 } else { 16 };
        swap(&mut self.bytes[..12]);
        swap(&mut self.bytes[l4 - 2 * size..l4]);
        swap(&mut self.bytes[l4..l4 + 4]);
        self.changed(0, payload.start);
        true
    }

    /// Where the IP packet lies in the frame, which may be longer: short frames are padded. `None` if the
    /// packet says that it is longer than the frame, or does not say.
    pub fn packet(&self) -> Option<Range<usize>> {
        let l3 = usize::from(self.parsed.l3);
        let (at, more) = if self.parsed.is_ipv4() { (l3 + 2, 0) } else { (l3 + 4, 40) };
        let len = self.bytes().get(at..)?.first_chunk()?;
        let end = l3 + usize::from(u16::from_be_bytes(*len)) + more;
        (self.is_ip() && l3 + 20 <= end && end <= usize::from(self.len)).then_some(l3..end)
    }

    /// Another frame has been written in place of this one: nothing is to be stored.
    pub fn replaced(&mut self) {
        self.dirty = Range { start: SEEN, end: 0 };
    }

    /// One hop less to live; `false`, and nothing changed, if there was none to lose.
    #[inline(always)]
    pub fn hop(&mut self) -> bool {
        if let Some((l3, header)) = self.ipv4_header() {
            let life = header[8];
            if life <= 1 {
                return false;
            }
            // Time to live is the first half of its 16-bit word.
            let [old, new] = [life, life - 1].map(|life| u16::from(life) << 8);
            let sum = checksum::update(u16::from_be_bytes([header[10], header[11]]), old, new);
            header[8] = life - 1;
            header[10..12].copy_from_slice(&sum.to_be_bytes());
            self.changed(l3 + 8, 4);
            return true;
        }
        let at = usize::from(self.parsed.l3) + 7;
        let life = self.bytes[at];
        if life > 1 {
            self.set(at, &[life - 1]);
        }
        life > 1
    }

    /// Where the IPv4 header is, if there is one: the parser has found all of it in view.
    #[inline(always)]
    fn ipv4_header(&mut self) -> Option<(usize, &mut [u8; 20])> {
        let l3 = usize::from(self.parsed.l3);
        let header = self.parsed.is_ipv4().then(|| self.bytes.get_mut(l3..))??;
        Some((l3, header.first_chunk_mut()?))
    }

    /// Another IPv4 address at one end.
    #[inline(always)]
    pub fn set_ipv4(&mut self, end: End, address: [u8; 4]) {
        let at = if end == End::Source { 12 } else { 16 };
        let Some((l3, header)) = self.ipv4_header() else { return };
        let old = [header[at], header[at + 1], header[at + 2], header[at + 3]];
        let (old, new) = (u32::from_be_bytes(old), u32::from_be_bytes(address));
        let sum = checksum::update32(u16::from_be_bytes([header[10], header[11]]), old, new);
        header[at..at + 4].copy_from_slice(&address);
        header[10..12].copy_from_slice(&sum.to_be_bytes());
        self.changed(l3 + 10, at - 6);
        if let Some(at) = self.pseudo_checksum_at() {
            self.fix_transport(at, old, new);
        }
    }

    /// Another IPv6 address at one end.
    #[inline]
    pub fn set_ipv6(&mut self, end: End, address: [u8; 16]) {
        let Some(old) = self.ipv6(end) else { return };
        self.set(self.address_at(end), &address);
        let Some(at) = self.pseudo_checksum_at() else { return };
        for (old, new) in old.as_chunks::<4>().0.iter().zip(address.as_chunks::<4>().0) {
            self.fix_transport(at, u32::from_be_bytes(*old), u32::from_be_bytes(*new));
        }
    }

    /// Another port (or echo identifier) at one end.
    #[inline]
    pub fn set_port(&mut self, end: End, port: u16) {
        let (Some(at), Some(old)) = (self.port_at(end), self.port(end)) else { return };
        self.set(at, &port.to_be_bytes());
        if let Some(sum) = self.transport_checksum_at() {
            self.fix_transport(sum, u32::from(old), u32::from(port));
        }
    }

    /// The link addresses of the next hop and of the port that sends.
    #[inline(always)]
    pub fn set_macs(&mut self, destination: [u8; 6], source: [u8; 6]) {
        self.set(0, &destination);
        self.set(6, &source);
    }

    #[inline(always)]
    fn set(&mut self, at: usize, new: &[u8]) {
        if let Some(place) = self.bytes[..self.seen].get_mut(at..at + new.len()) {
            place.copy_from_slice(new);
            self.changed(at, new.len());
        }
    }

    /// `len` bytes from `at` on are to be stored.
    #[inline(always)]
    fn changed(&mut self, at: usize, len: usize) {
        self.dirty = self.dirty.start.min(at)..self.dirty.end.max(at + len);
    }

    /// The checksum at `at` follows a change of a word that it covers.
    #[inline(always)]
    fn fix(&mut self, at: usize, old: u32, new: u32) {
        let Some(sum) = self.bytes.get(at..at + 2) else { return };
        let sum = checksum::update32(u16::from_be_bytes([sum[0], sum[1]]), old, new);
        self.set(at, &sum.to_be_bytes());
    }

    /// As [`fix`](Self::fix) for the transport's checksum, of which UDP over IPv4 may have none.
    #[inline(always)]
    fn fix_transport(&mut self, at: usize, old: u32, new: u32) {
        if self.parsed.proto != UDP {
            return self.fix(at, old, new);
        }
        let Some(sum) = self.bytes.get(at..at + 2) else { return };
        let sum = checksum::update32_udp(u16::from_be_bytes([sum[0], sum[1]]), old, new);
        self.set(at, &sum.to_be_bytes());
    }

    fn address_at(&self, end: End) -> usize {
        let (first, size) = if self.parsed.is_ipv4() { (12, 4) } else { (8, 16) };
        usize::from(self.parsed.l3) + first + if end == End::Destination { size } else { 0 }
    }

    fn port_at(&self, end: End) -> Option<usize> {
        let second = if end == End::Destination { 2 } else { 0 };
        // An SCTP checksum is a CRC over the whole packet: its ports stay.
        let at = match self.parsed.proto {
            TCP | UDP if self.parsed.has_ports() => usize::from(self.parsed.l4) + second,
            _ => self.echo()?,
        };
        (at + 2 <= self.seen).then_some(at)
    }

    /// Where an ICMP echo's identifier stands.
    fn echo(&self) -> Option<usize> {
        let l4 = usize::from(self.parsed.l4);
        let whole = self.parsed.is_ipv4() && self.parsed.proto == ICMP && !self.parsed.is_fragment();
        (whole && l4 != 0 && l4 + 8 <= self.seen && matches!(self.bytes[l4], 0 | 8)).then_some(l4 + 4)
    }

    /// The checksum that covers the ports.
    fn transport_checksum_at(&self) -> Option<usize> {
        let l4 = usize::from(self.parsed.l4);
        let field = match self.parsed.proto {
            TCP => 16,
            UDP => 6,
            ICMP => 2,
            _ => return None,
        };
        (l4 != 0 && l4 + field + 2 <= self.seen).then_some(l4 + field)
    }

    /// The checksum that covers the addresses, a first fragment's included.
    fn pseudo_checksum_at(&self) -> Option<usize> {
        const ICMPV6: u8 = 58;
        let l4 = usize::from(self.parsed.l4);
        match self.parsed.proto {
            TCP | UDP => self.transport_checksum_at(),
            ICMPV6 if self.parsed.is_ipv6() && l4 != 0 && l4 + 4 <= self.seen => Some(l4 + 2),
            _ => None,
        }
    }
}

/// Exchanges two halves.
fn swap(halves: &mut [u8]) {
    let (a, b) = halves.split_at_mut(halves.len() / 2);
    a.swap_with_slice(b);
}

/// Touches the packet's metadata as a driver and its framework do: the mbuf's two lines.
#[inline]
pub(crate) fn metadata<M: Memory>(m: &mut M, frames: M::Buffers, c: &Completion) {
    m.meta(frames, c.buf, 0, Touch::Write);
    m.meta(frames, c.buf, 1, Touch::Write);
}
