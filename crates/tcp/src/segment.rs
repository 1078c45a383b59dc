//! A segment, and its headers as they are on the wire.

use arrayvec::ArrayVec;
use packet::{ETHERNET, checksum};
use traffic::{Arrival, HEAD, MIN_FRAME};

const IPV4: usize = 20;
const TCP: usize = 20;
/// Where the TCP header begins.
const L4: usize = ETHERNET + IPV4;

const FIN: u8 = 1;
const SYN: u8 = 2;
const ACK: u8 = 16;

/// Who talks to whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    /// Source address.
    pub src: [u8; 4],
    /// Destination address.
    pub dst: [u8; 4],
    /// Source port.
    pub sport: u16,
    /// Destination port.
    pub dport: u16,
}

/// What a SYN says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Syn {
    /// Largest payload that the sender takes.
    pub mss: u16,
    /// Windows of the sender are to be shifted left by so much.
    pub scale: u8,
}

/// A segment. Payload is a number of zeros.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// Sequence number of its first byte.
    pub seq: u32,
    /// The next byte that its sender expects; none in the first SYN.
    pub ack: Option<u32>,
    /// Whether it opens the connection.
    pub syn: Option<Syn>,
    /// Whether it closes it.
    pub fin: bool,
    /// Window as it stands in the header.
    pub window: u16,
    /// Received blocks beyond `ack`, from their first byte to that behind the last; a duplicate comes first
    /// (RFC 2883).
    pub sacks: ArrayVec<[u32; 2], 3>,
    /// The sender's clock, and the newest clock of the other side that it has received (RFC 7323).
    pub stamps: [u32; 2],
    /// Bytes of payload.
    pub len: u16,
}

impl Segment {
    /// Sequence numbers that it takes.
    pub fn units(&self) -> u64 {
        u64::from(self.len) + u64::from(self.syn.is_some()) + u64::from(self.fin)
    }

    /// The frame of this segment of `flow`; its time is left as it is.
    pub fn encode(&self, flow: &Flow, out: &mut Arrival) {
        let options = self.options();
        let headers = L4 + TCP + options.len();
        let total = headers - ETHERNET + usize::from(self.len);
        out.head = [0; HEAD];
        let h = &mut out.head;
        h[..ETHERNET].copy_from_slice(&[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 9, 8, 0]);
        // No fragments, 64 hops.
        h[ETHERNET..ETHERNET + 12].copy_from_slice(&[0x45, 0, 0, 0, 0, 0, 0x40, 0, 64, 6, 0, 0]);
        h[ETHERNET + 2..ETHERNET + 4].copy_from_slice(&(total as u16).to_be_bytes());
        h[ETHERNET + 12..ETHERNET + 16].copy_from_slice(&flow.src);
        h[ETHERNET + 16..L4].copy_from_slice(&flow.dst);
        let sum = checksum::finish(checksum::add(0, &h[ETHERNET..L4]));
        h[ETHERNET + 10..ETHERNET + 12].copy_from_slice(&sum.to_be_bytes());

        let tcp = &mut h[L4..headers];
        tcp[0..2].copy_from_slice(&flow.sport.to_be_bytes());
        tcp[2..4].copy_from_slice(&flow.dport.to_be_bytes());
        tcp[4..8].copy_from_slice(&self.seq.to_be_bytes());
        tcp[8..12].copy_from_slice(&self.ack.unwrap_or(0).to_be_bytes());
        tcp[12] = (((TCP + options.len()) / 4) << 4) as u8;
        let flag = |set: bool, bit: u8| if set { bit } else { 0 };
        tcp[13] = flag(self.fin, FIN) | flag(self.syn.is_some(), SYN) | flag(self.ack.is_some(), ACK);
        tcp[14..16].copy_from_slice(&self.window.to_be_bytes());
        tcp[TCP..].copy_from_slice(&options);
        // Zeros add nothing, but the length counts.
        let sum = transport(&h[ETHERNET + 12..L4], &h[L4..headers], total - IPV4);
        h[L4 + 16..L4 + 18].copy_from_slice(&sum.to_be_bytes());
        out.len = ((ETHERNET + total) as u16).max(MIN_FRAME);
        out.head_len = headers as u8;
    }

    fn options(&self) -> ArrayVec<u8, 40> {
        let mut o = ArrayVec::new();
        let mut add = |bytes: &[u8]| o.extend(bytes.iter().copied());
        if let Some(syn) = self.syn {
            add(&[2, 4]);
            add(&syn.mss.to_be_bytes());
            add(&[4, 2, 8, 10]); // SACK permitted
        } else {
            add(&[1, 1, 8, 10]);
        }
        self.stamps.iter().for_each(|s| add(&s.to_be_bytes()));
        if let Some(syn) = self.syn {
            add(&[1, 3, 3, syn.scale]);
        } else if !self.sacks.is_empty() {
            add(&[1, 1, 5, (2 + 8 * self.sacks.len()) as u8]);
            self.sacks.iter().flatten().for_each(|edge| add(&edge.to_be_bytes()));
        }
        o
    }

    /// The segment in a frame that begins with `head`; none where a checksum is wrong or headers are missing.
    pub fn decode(head: &[u8]) -> Option<(Flow, Segment)> {
        let parsed = packet::parse(head);
        if !parsed.is_ipv4() || parsed.proto != 6 || parsed.fault.is_some() || usize::from(parsed.l4) != L4 {
            return None;
        }
        let b16 = |at: usize| Some(u16::from_be_bytes(*head.get(at..)?.first_chunk()?));
        let b32 = |at: usize| Some(u32::from_be_bytes(*head.get(at..)?.first_chunk()?));
        let total = usize::from(b16(ETHERNET + 2)?);
        let header = usize::from(head.get(L4 + 12)? >> 4) * 4;
        let (tcp, len) = (head.get(L4..L4 + header)?, total.checked_sub(IPV4 + header)?);
        let right = checksum::finish(checksum::add(0, &head[ETHERNET..L4])) == 0;
        if header < TCP || !right || transport(&head[ETHERNET + 12..L4], tcp, total - IPV4) != 0 {
            return None;
        }
        let flow = Flow {
            src: *head[ETHERNET + 12..].first_chunk()?,
            dst: *head[ETHERNET + 16..].first_chunk()?,
            sport: b16(L4)?,
            dport: b16(L4 + 2)?,
        };
        let flags = tcp[13];
        let mut segment = Segment {
            seq: b32(L4 + 4)?,
            ack: if flags & ACK != 0 { b32(L4 + 8) } else { None },
            syn: (flags & SYN != 0).then_some(Syn { mss: 536, scale: 0 }),
            fin: flags & FIN != 0,
            window: b16(L4 + 14)?,
            len: u16::try_from(len).ok()?,
            ..Segment::default()
        };
        segment.read_options(&tcp[TCP..])?;
        Some((flow, segment))
    }

    fn read_options(&mut self, mut rest: &[u8]) -> Option<()> {
        while let [kind, after @ ..] = rest {
            match kind {
                0 => break,
                1 => rest = after,
                _ => {
                    let len = usize::from(*after.first()?);
                    let value = rest.get(2..len)?;
                    rest = &rest[len..];
                    self.option(*kind, value)?;
                }
            }
        }
        Some(())
    }

    fn option(&mut self, kind: u8, value: &[u8]) -> Option<()> {
        match (kind, value, &mut self.syn) {
            (2, [a, b], Some(syn)) => syn.mss = u16::from_be_bytes([*a, *b]),
            (3, [scale], Some(syn)) => syn.scale = (*scale).min(14),
            (8, stamps, _) => {
                let (edges, _) = stamps.as_chunks::<4>();
                let [value, echo] = edges else { return None };
                self.stamps = [u32::from_be_bytes(*value), u32::from_be_bytes(*echo)];
            }
            (5, blocks, None) => {
                for block in blocks.as_chunks::<8>().0 {
                    let [a, b, c, d, e, f, g, h] = *block;
                    self.sacks.try_push([[a, b, c, d], [e, f, g, h]].map(u32::from_be_bytes)).ok()?;
                }
            }
            _ => {}
        }
        Some(())
    }
}

/// The checksum of `header` with a payload of zeros, `len` bytes together.
fn transport(addresses: &[u8], header: &[u8], len: usize) -> u16 {
    let sum = checksum::add(6 + len as u64, addresses);
    checksum::finish(checksum::add(sum, header))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLOW: Flow = Flow { src: [10, 0, 0, 1], dst: [48, 0, 0, 1], sport: 1024, dport: 5001 };

    fn samples() -> Vec<Segment> {
        let syn = Segment { seq: u32::MAX, syn: Some(Syn { mss: 1448, scale: 7 }), ..Segment::default() };
        let data =
            Segment { seq: 7, ack: Some(9), window: 4096, stamps: [1, 2], len: 1448, ..Segment::default() };
        let sacks: ArrayVec<_, 3> = [[1, 2], [5, 9], [u32::MAX, 3]].into();
        vec![
            Segment { ack: Some(1), ..syn.clone() },
            syn,
            Segment { fin: true, len: 3, ..data.clone() },
            Segment { sacks, len: 0, ..data.clone() },
            data,
        ]
    }

    #[test]
    fn what_is_encoded_is_decoded() {
        for segment in samples() {
            let mut a = Arrival::EMPTY;
            segment.encode(&FLOW, &mut a);
            assert_eq!(Segment::decode(a.bytes()), Some((FLOW, segment.clone())));
            assert_eq!(usize::from(a.len), (usize::from(a.head_len) + usize::from(segment.len)).max(60));
            let parsed = packet::parse(a.bytes());
            assert_eq!((parsed.proto, parsed.fault, parsed.l4), (6, None, 34));
        }
        let mut a = Arrival::EMPTY;
        samples()[4].encode(&FLOW, &mut a);
        assert_eq!(a.len, 1514, "a full segment is a full frame");
    }

    #[test]
    fn a_changed_byte_is_found_and_no_bytes_panic() {
        let mut a = Arrival::EMPTY;
        samples()[3].encode(&FLOW, &mut a);
        let bytes = a.bytes().to_vec();
        for at in ETHERNET..usize::from(a.head_len) {
            for bit in 0..8 {
                let mut b = bytes.clone();
                b[at] ^= 1 << bit;
                assert!(Segment::decode(&b).is_none(), "byte {at} bit {bit}");
            }
        }
        for len in 0..usize::from(a.head_len) {
            assert!(Segment::decode(&bytes[..len]).is_none());
        }
    }
}
