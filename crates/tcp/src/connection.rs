//! One end of a connection: two halves, opened and closed together.

use core::ops::Range;

use arrayvec::ArrayVec;

use crate::receiver::Receiver;
use crate::segment::{Segment, Syn};
use crate::sender::{Ack, Sender};
use crate::{MSS, US, WINDOW};

/// Windows are announced in units of 2^7 bytes.
const SCALE: u8 = 7;

/// One end of a connection.
///
/// The active end sends its bytes and closes; the passive end sends none and closes when it has seen the other's
/// FIN. After every call [`Connection::send`] may have more to send, until it returns `None`.
#[derive(Clone, Debug)]
pub struct Connection {
    sender: Sender,
    receiver: Receiver,
    active: bool,
    isn: u32,
    peer_isn: Option<u32>,
    peer_scale: u8,
    /// The newest timestamp of the other side.
    echo: u32,
    /// Behind the FIN of the other side.
    peer_end: Option<u64>,
    closed: Option<u64>,
}

impl Connection {
    /// The end that connects at `now`, sends `bytes` and closes. `isn` is its first sequence number.
    pub fn connect(bytes: u64, isn: u32, now: u64) -> Connection {
        Connection {
            sender: Sender::new(bytes, now),
            receiver: Receiver::default(),
            active: true,
            isn,
            peer_isn: None,
            peer_scale: 0,
            echo: 0,
            peer_end: None,
            closed: None,
        }
    }

    /// The end that is connected to: it answers a SYN.
    pub fn accept(isn: u32, now: u64) -> Connection {
        Connection { active: false, ..Connection::connect(0, isn, now) }
    }

    /// A segment arrived at `now`; the bytes that are in order now (the SYN is byte 0).
    pub fn receive(&mut self, segment: &Segment, now: u64) -> Range<u64> {
        let nothing = self.receiver.next()..self.receiver.next();
        match (segment.syn, self.peer_isn) {
            (Some(syn), None) => {
                self.peer_isn = Some(segment.seq);
                self.peer_scale = syn.scale;
                self.sender.limit(syn.mss);
            }
            (None, None) => return nothing,
            _ => {}
        }
        // A timestamp counts if its segment starts at the byte expected next, or before it (RFC 7323 §4.3).
        let got = self.bytes(segment);
        if got.start <= self.receiver.next() && segment.stamps[0].wrapping_sub(self.echo).cast_signed() >= 0 {
            self.echo = segment.stamps[0];
        }
        if segment.fin {
            self.peer_end = Some(got.end);
        }
        let at_once = segment.syn.is_some() || segment.fin;
        let fresh = self.receiver.take(got, at_once, now);
        if let Some(ack) = segment.ack {
            self.acknowledge(segment, ack, now);
        }
        // The client writes all and closes as soon as it is connected; the server closes after it.
        let ended = self.peer_end == Some(self.receiver.next());
        if self.active || ended {
            self.sender.open(true);
        }
        if ended && self.sender.finished() && self.closed.is_none() {
            self.closed = Some(now);
        }
        fresh
    }

    fn acknowledge(&mut self, segment: &Segment, ack: u32, now: u64) {
        let una = self.sender.una();
        let widen = |wire: u32| widen(wire, self.isn, una);
        let next = widen(ack);
        let blocks: ArrayVec<Range<u64>, 3> =
            segment.sacks.iter().map(|[a, b]| widen(*a)..widen(*b)).collect();
        let duplicate = match blocks.as_slice() {
            [first, second, ..] if second.start <= first.start && first.end <= second.end => true,
            [first, ..] => first.end <= next,
            [] => false,
        };
        let scale = if segment.syn.is_some() { 0 } else { self.peer_scale };
        let window = u64::from(segment.window) << scale;
        // The clock's lower half is on the wire.
        let clock = now / US;
        let echo = clock.saturating_sub(u64::from((clock as u32).wrapping_sub(segment.stamps[1])));
        let ack = Ack { next, window, blocks, duplicate, echo: echo * US };
        self.sender.acknowledged(&ack, now);
    }

    /// The bytes that a segment holds, SYN and FIN among them.
    fn bytes(&self, segment: &Segment) -> Range<u64> {
        let start = widen(segment.seq, self.peer_isn.unwrap_or(segment.seq), self.receiver.next());
        start..start + segment.units()
    }

    /// Whether [`Connection::send`] has a segment.
    pub fn wants(&self) -> bool {
        match self.peer_isn {
            Some(_) => self.sender.wants() || self.receiver.wants(),
            None => self.active && self.sender.wants(), // nobody but the client begins
        }
    }

    /// The next segment to send at `now`.
    pub fn send(&mut self, now: u64) -> Option<Segment> {
        if !self.wants() {
            return None;
        }
        let bytes = self.sender.send(now).unwrap_or(self.sender.next()..self.sender.next());
        let syn = bytes.contains(&0);
        let fin = bytes.contains(&self.sender.fin());
        let len = bytes.end - bytes.start - u64::from(syn) - u64::from(fin);
        let scale = if syn { 0 } else { SCALE };
        let mut segment = Segment {
            seq: self.isn.wrapping_add(bytes.start as u32),
            ack: None,
            syn: syn.then_some(Syn { mss: MSS, scale: SCALE }),
            fin,
            window: (WINDOW >> scale).min(u32::from(u16::MAX)) as u16,
            stamps: [(now / US) as u32, self.echo],
            len: len as u16,
            ..Segment::default()
        };
        if let Some(isn) = self.peer_isn {
            let wire = |byte: u64| isn.wrapping_add(byte as u32);
            segment.ack = Some(wire(self.receiver.next()));
            if !syn {
                let blocks = self.receiver.blocks().map(|b| [wire(b.start), wire(b.end)]);
                segment.sacks = blocks.take(segment.sacks.capacity()).collect();
            }
            self.receiver.acknowledged();
        }
        Some(segment)
    }

    /// When to call [`Connection::tick`] at the latest.
    pub fn due(&self) -> Option<u64> {
        self.sender.due().into_iter().chain(self.receiver.due()).min()
    }

    /// Timers that are due by `now` expire.
    pub fn tick(&mut self, now: u64) {
        self.sender.tick(now);
        self.receiver.tick(now);
    }

    /// When both FINs had been acknowledged and seen here.
    pub fn closed(&self) -> Option<u64> {
        self.closed
    }

    /// Segments that this end sent again.
    pub fn retransmitted(&self) -> u64 {
        self.sender.retransmitted
    }

    /// Retransmission timers that expired here.
    pub fn timeouts(&self) -> u64 {
        self.sender.timeouts
    }

    /// Recoveries that proved needless.
    pub fn undone(&self) -> u64 {
        self.sender.undone
    }

    /// Segments that arrived here behind later ones.
    pub fn late(&self) -> u64 {
        self.receiver.late
    }
}

/// The byte that `wire` stands for, where byte 0 has the number `isn`: the one nearest to `near`.
fn widen(wire: u32, isn: u32, near: u64) -> u64 {
    let off = wire.wrapping_sub(isn).wrapping_sub(near as u32).cast_signed();
    near.saturating_add_signed(i64::from(off))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_widened_to_the_nearest_byte() {
        let isn = u32::MAX - 5;
        for near in [0, 3, 10, 1 << 31, (1 << 33) + 7] {
            for off in [-3_i64, 0, 1, 1 << 20] {
                let byte = near + off;
                if byte >= 0 {
                    assert_eq!(widen(isn.wrapping_add(byte as u32), isn, near as u64), byte as u64);
                }
            }
        }
    }
}
