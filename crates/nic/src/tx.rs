//! One port's transmit side: collect, read, pace, send.

use memory::{Buf, Memory, Ps};
use rings::{Segment, TxNic};

use crate::wire::Pace;

/// Bytes of a sent frame that the wire's end gets to see, unless told otherwise.
pub const HEAD: usize = 128;

/// What a port's transmit side can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TxConfig {
    /// Wire rate in bits per second; 0 = no limit.
    pub rate_bps: u64,
    /// How far the card reads ahead of the wire: what its transmit buffer holds, as time on the wire.
    pub ahead: Ps,
    /// Bytes of a frame that the wire's end wants to see.
    pub head: usize,
}

impl Default for TxConfig {
    /// 100 Gbps, 2 us (some 25 kB) ahead: two PCIe round trips.
    fn default() -> TxConfig {
        TxConfig { rate_bps: 100_000_000_000, ahead: Ps::from_us(2), head: HEAD }
    }
}

/// A frame on the wire.
#[derive(Clone, Copy, Debug)]
pub struct Sent<'a> {
    /// The transmit queue that it came from.
    pub queue: u16,
    /// The buffer of its first segment, which the card no longer needs.
    pub buf: Buf,
    /// Its first bytes, as many as [`TxConfig::head`] asks for.
    pub head: &'a [u8],
    /// Bytes, without FCS.
    pub len: u32,
    /// When its last bit is on the wire; 0 where the wire has no rate, and the clock is not read.
    pub at: Ps,
}

/// The transmit side of a port.
pub struct TxPort<M: Memory, T> {
    tx: T,
    buffers: M::Buffers,
    wire: Pace,
    ahead: Ps,
    /// Scratch: the frame in hand.
    segments: Vec<Segment>,
    head: Box<[u8]>,
    sent: u64,
    bytes: u64,
    faults: u64,
}

impl<M: Memory, T: TxNic<M>> TxPort<M, T> {
    /// A port that sends what `tx` collects from `buffers`.
    pub fn new(tx: T, buffers: M::Buffers, config: TxConfig) -> TxPort<M, T> {
        TxPort {
            tx,
            buffers,
            wire: Pace::new(config.rate_bps),
            ahead: config.ahead,
            segments: Vec::with_capacity(8),
            head: vec![0; config.head].into_boxed_slice(),
            sent: 0,
            bytes: 0,
            faults: 0,
        }
    }

    /// Frames sent.
    pub fn sent(&self) -> u64 {
        self.sent
    }

    /// Bytes of the frames sent, without FCS.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Frames not sent because a descriptor named no buffer, or bytes outside of it.
    pub fn faults(&self) -> u64 {
        self.faults
    }

    /// Sends the next frame and tells `wire`; whether there was one. A card that is further ahead of the
    /// wire than its buffer allows pauses first.
    #[inline(always)]
    pub fn send(&mut self, m: &mut M, wire: impl FnOnce(Sent<'_>)) -> bool {
        let Some((queue, descriptors)) = self.tx.collect(m, &mut self.segments) else { return false };
        let start = self.wire.free().saturating_sub(self.ahead);
        if self.wire.limits() && m.now() < start {
            m.pause(start, false);
        }
        let read = self.read(m);
        // Only now may the host free the buffers.
        self.tx.sent(m, queue, descriptors);
        let Some((buf, len)) = read else {
            self.faults += 1;
            return true;
        };
        let at = if self.wire.limits() { self.wire.send(m.now(), len) } else { Ps::ZERO };
        self.sent += 1;
        self.bytes += u64::from(len);
        wire(Sent { queue, buf, head: &self.head[..self.head.len().min(len as usize)], len, at });
        true
    }

    /// Reads the frame in hand: its first buffer and its length; `None` if it names no bytes of ours.
    #[inline(always)]
    fn read(&mut self, m: &mut M) -> Option<(Buf, u32)> {
        let (mut first, mut len, mut seen) = (None, 0, 0);
        for s in &self.segments {
            let end = u32::from(s.off) + u32::from(s.len);
            let buf = m.check(self.buffers, s.buf.0, end).ok()?;
            let keep = usize::from(s.len).min(self.head.len() - seen);
            m.get(self.buffers, buf, u32::from(s.off), &mut self.head[seen..seen + keep], u32::from(s.len));
            seen += keep;
            len += u32::from(s.len);
            first = first.or(Some(buf));
        }
        Some((first?, len))
    }

    /// Waits for work: until a queue's rate allows its next frame, or until something is posted.
    pub fn idle(&mut self, m: &mut M) {
        match self.tx.next_due() {
            Some(due) => m.pause(due, true),
            None => m.idle(),
        }
    }
}
