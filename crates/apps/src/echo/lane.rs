//! A burst of a queue as a device of smoltcp: frames come out of buffers, and answers go into them.

use core::slice;

use memory::{Buf, Memory};
use packet::ETHERNET;
use rings::Completion;
use smoltcp::phy::{Device, DeviceCapabilities, RxToken, TxToken};
use smoltcp::time::Instant;

use super::{IPV4, LONGEST, capabilities};
use crate::headers::{self, SHORTEST};

/// Where frames lie while the stack has them: the stack wants plain slices, and buffers are reached by calls.
pub(super) struct Bench {
    received: Vec<u8>,
    made: Vec<u8>,
    /// Who spoke last: the wire has two ends.
    peer: [u8; 12],
    /// Buffers for frames.
    pub(super) empty: Vec<Buf>,
    /// Frames that were made, and their lengths.
    pub(super) sent: Vec<(Buf, u16)>,
}

impl Bench {
    pub(super) fn new() -> Bench {
        let longest = vec![0; LONGEST];
        let (empty, sent) = (Vec::new(), Vec::new());
        Bench { received: longest.clone(), made: longest, peer: [0; 12], empty, sent }
    }
}

/// A burst on its way through the stack.
pub(super) struct Lane<'a, M: Memory> {
    pub(super) m: &'a mut M,
    pub(super) frames: M::Buffers,
    pub(super) burst: slice::Iter<'a, Completion>,
    pub(super) bench: &'a mut Bench,
    /// Cycles of a frame.
    pub(super) cycles: u32,
    /// Frames that are none of IPv4, or longer than the service's.
    pub(super) strange: u64,
}

impl<M: Memory> Lane<'_, M> {
    /// Reads the next frame with an IP packet in it; its bytes.
    fn read(&mut self) -> Option<usize> {
        loop {
            let c = self.burst.next()?;
            headers::metadata(self.m, self.frames, c);
            self.m.work(self.cycles);
            self.m.chain();
            self.bench.empty.push(c.buf);
            let len = usize::from(c.len);
            let Some(bytes) = self.bench.received.get_mut(..len).filter(|b| b.len() > ETHERNET) else {
                self.strange += 1;
                continue;
            };
            self.m.get(self.frames, c.buf, 0, bytes, u32::from(c.len));
            if bytes[12..ETHERNET] == IPV4 {
                let (to, from) = bytes[..12].split_at(6);
                self.bench.peer[..6].copy_from_slice(from);
                self.bench.peer[6..].copy_from_slice(to);
                return Some(len);
            }
            self.strange += 1;
        }
    }
}

/// A packet that was read.
pub(super) struct Received<'a>(&'a [u8]);

impl RxToken for Received<'_> {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, f: F) -> R {
        f(self.0)
    }
}

/// Leave to make a packet: there is an empty buffer for it.
pub(super) struct Leave<'a, M: Memory> {
    m: &'a mut M,
    frames: M::Buffers,
    made: &'a mut Vec<u8>,
    peer: [u8; 12],
    empty: &'a mut Vec<Buf>,
    sent: &'a mut Vec<(Buf, u16)>,
}

impl<M: Memory> TxToken for Leave<'_, M> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, len: usize, f: F) -> R {
        let frame = (ETHERNET + len).max(SHORTEST);
        self.made.clear();
        self.made.extend(self.peer.iter().chain(&IPV4));
        self.made.resize(frame, 0);
        let result = f(&mut self.made[ETHERNET..ETHERNET + len]);
        // The stack keeps to the longest packet: a buffer has room for it.
        if frame <= LONGEST
            && let Some(buf) = self.empty.pop()
        {
            self.m.put(self.frames, buf, 0, self.made, frame as u32);
            self.sent.push((buf, frame as u16));
        }
        result
    }
}

impl<M: Memory> Device for Lane<'_, M> {
    type RxToken<'a>
        = Received<'a>
    where
        Self: 'a;
    type TxToken<'a>
        = Leave<'a, M>
    where
        Self: 'a;

    fn receive(&mut self, _: Instant) -> Option<(Received<'_>, Leave<'_, M>)> {
        let len = self.read()?;
        let (m, frames) = (&mut *self.m, self.frames);
        let Bench { received, made, peer, empty, sent } = &mut *self.bench;
        Some((Received(&received[ETHERNET..len]), Leave { m, frames, made, peer: *peer, empty, sent }))
    }

    fn transmit(&mut self, _: Instant) -> Option<Leave<'_, M>> {
        let (m, frames) = (&mut *self.m, self.frames);
        let Bench { made, peer, empty, sent, .. } = &mut *self.bench;
        (!empty.is_empty()).then_some(Leave { m, frames, made, peer: *peer, empty, sent })
    }

    fn capabilities(&self) -> DeviceCapabilities {
        capabilities()
    }
}
