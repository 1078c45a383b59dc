//! Tuples by number, and the order in which they are looked up. `dpdk/bench/lookup.c` has the same ones.

use flow::{Error, Field, Key, Layer, Match};

/// Bytes of a frame with a tuple.
pub(super) const FRAME: usize = 60;

/// A UDP tuple.
struct Tuple {
    src: u32,
    dst: u32,
    sport: u16,
    dport: u16,
}

/// The tuple of rule `n`: all differ, and no word of them counts up alone.
fn tuple(n: u32) -> Tuple {
    let mixed = u64::from(n).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    Tuple { src: (mixed >> 32) as u32, dst: n, sport: (mixed >> 16) as u16, dport: mixed as u16 }
}

/// A frame with tuple `n`.
pub(super) fn frame(n: u32) -> [u8; FRAME] {
    let Tuple { src, dst, sport, dport } = tuple(n);
    let mut frame = [0; FRAME];
    frame[12..15].copy_from_slice(&[8, 0, 0x45]);
    frame[17] = (FRAME - 14) as u8;
    (frame[22], frame[23]) = (64, 17);
    frame[26..30].copy_from_slice(&src.to_be_bytes());
    frame[30..34].copy_from_slice(&dst.to_be_bytes());
    frame[34..36].copy_from_slice(&sport.to_be_bytes());
    frame[36..38].copy_from_slice(&dport.to_be_bytes());
    frame[39] = (FRAME - 34) as u8;
    frame
}

/// The key of a frame with tuple `n`.
pub(super) fn key(n: u32) -> Key {
    let frame = frame(n);
    Key::read(&frame, &packet::parse(&frame))
}

/// Matches of one mask, one after the other.
#[derive(Debug)]
pub(super) struct Matches(Match);

impl Matches {
    pub(super) fn new() -> Result<Matches, Error> {
        let fields = [Field::Ipv4Src, Field::Ipv4Dst, Field::UdpSrc, Field::UdpDst];
        let any =
            fields.into_iter().try_fold(Match::any(), |any, field| any.field(Layer::Outer, field, 0))?;
        Ok(Matches(any.field(Layer::Outer, Field::Ipv4Proto, 17)?))
    }

    /// What asks for tuple `n`.
    pub(super) fn of(&mut self, n: u32) -> Result<&Match, Error> {
        let Tuple { src, dst, sport, dport } = tuple(n);
        let ports = [(Field::UdpSrc, sport), (Field::UdpDst, dport)];
        let fields = [(Field::Ipv4Src, src), (Field::Ipv4Dst, dst)];
        for (field, value) in fields.into_iter().chain(ports.map(|(field, port)| (field, port.into()))) {
            self.0.set(Layer::Outer, field, value.into())?;
        }
        Ok(&self.0)
    }
}

/// Numbers of tuples below a bound, in no order.
#[derive(Debug)]
pub(super) struct Order {
    state: u64,
    bound: u32,
}

impl Order {
    pub(super) fn below(bound: u32) -> Order {
        Order { state: 0, bound }
    }

    pub(super) fn next(&mut self) -> u32 {
        self.state =
            self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (((self.state >> 32) * u64::from(self.bound)) >> 32) as u32
    }
}
