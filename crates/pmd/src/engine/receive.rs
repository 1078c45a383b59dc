//! From the wire to the rings: filter, parse, hash, deliver, count.

use core::array;
use core::cell::Cell;

use arrayvec::ArrayVec;
use memory::Buf;
use packet::Parsed;
use rings::{Frame, Nic, Outcome, Rest};

use super::flight::Flight;
use super::incoming::Incoming;
use super::tags::Tags;
use super::{Engine, Far, Rings, Taken};
use crate::counters::add;
use crate::limits::{BURST, QUEUES, SLACK, TAG};
use crate::lower::{Lower, LowerFrame};

/// The RSS value of a frame is a hash.
pub const HASHED: u32 = 1 << 20;

/// Bytes in which the headers of a frame in pieces are looked for.
const HEADERS: usize = 256;

/// Frames in one piece.
struct Whole<I>(I);

impl<'a, I: Iterator<Item = (&'a [u8], u32)>> Iterator for Whole<I> {
    type Item = Incoming<'a>;

    // As where they come from: `receive` has two places for it, and would call it.
    #[inline(always)]
    fn next(&mut self) -> Option<Incoming<'a>> {
        let (head, len) = self.0.next()?;
        Some(Incoming { head, rest: Rest::Nothing, len })
    }
}

/// Frames that passed, each with its queue.
struct Burst<'a> {
    frames: ArrayVec<Frame<'a>, BURST>,
    queues: ArrayVec<u16, BURST>,
}

impl Engine {
    /// A burst of the stock; whether any frame found room.
    pub(super) fn receive_stock(&mut self) -> bool {
        let now = self.clock();
        let Far::Stock(mut stock) = core::mem::replace(&mut self.far, Far::Own) else { return false };
        let mut wire = self.rx_wire;
        let stored = self.receive(Whole(stock.take(&mut wire, now)));
        self.rx_wire = wire;
        self.far = Far::Stock(stock);
        stored > 0
    }

    /// A burst of the port below; whether there was any frame. A burst, as nobody knows frames that are not taken: the
    /// wire is busy with all of it before the next.
    pub(super) fn receive_lower(&mut self, lower: &Lower) -> bool {
        let now = self.clock();
        if self.rx_wire.limits() && self.rx_wire.free() > now {
            return false;
        }
        let mut frames = [LowerFrame::NONE; BURST];
        // SAFETY: `Far::Lower` holds a port only while it is there, and the frames of the last call were
        // given back below.
        let n = unsafe { lower.receive(&mut frames) };
        if n == 0 {
            return false;
        }
        let lies: [Cell<Buf>; BURST] = array::from_fn(|i| Cell::new(Buf(frames[i].buf)));
        self.receive(frames[..n].iter().zip(&lies).map(|(f, lies)| {
            // SAFETY: the driver filled in the frame, which stays as it is until `rx_done`; one that is passed
            // on is not looked at once its completion is published.
            let head = unsafe { core::slice::from_raw_parts(f.data, f.len as usize) };
            let rest = if f.buf == 0 { Rest::Nothing } else { Rest::Buffer(lies) };
            Incoming { head, rest, len: f.len }
        }));
        if self.rx_wire.limits() {
            for f in &frames[..n] {
                self.rx_wire.send(now.saturating_sub(SLACK), f.len);
            }
        }
        let bufs = lies.map(|lies| lies.into_inner().0);
        // SAFETY: as above; no frame is looked at any more.
        unsafe { (lower.rx_done)(lower.ctx, bufs.as_ptr()) };
        true
    }

    /// Frames that a peer has sent.
    pub(super) fn receive_from_peer(&mut self, flight: &Flight) -> Taken {
        if !self.running {
            return Taken::Down;
        }
        let now = self.clock();
        let n = flight.carried(&mut self.rx_wire, now);
        self.receive(flight.incoming(n));
        Taken::First(n)
    }

    /// Takes at most [`BURST`] frames from the wire; how many were delivered.
    #[inline(always)]
    pub(super) fn receive<'a>(&mut self, frames: impl Iterator<Item = Incoming<'a>>) -> usize {
        if let Some(mut tags) = self.rings.as_mut().and_then(|rings| rings.tags.take()) {
            let stored = self.receive_tagged(frames, &mut tags);
            if let Some(rings) = &mut self.rings {
                rings.tags = Some(tags);
            }
            return stored;
        }
        let mut burst = Burst { frames: ArrayVec::new(), queues: ArrayVec::new() };
        for f in frames.take(BURST) {
            match self.admit(&f) {
                Ok((queue, frame)) => {
                    burst.frames.push(frame);
                    burst.queues.push(queue);
                }
                Err(outcome) => self.refuse(outcome),
            }
        }
        self.deliver(&burst)
    }

    /// [`receive`](Self::receive) with a tag before each frame.
    #[inline(never)]
    fn receive_tagged<'a>(&mut self, frames: impl Iterator<Item = Incoming<'a>>, tags: &mut Tags) -> usize {
        let mut passed = ArrayVec::<_, BURST>::new();
        tags.begin();
        for f in frames.take(BURST) {
            match self.admit(&f) {
                Ok((queue, frame)) => passed.push((queue, tags.tag(&f), frame.len, frame.meta)),
                Err(outcome) => self.refuse(outcome),
            }
        }
        let mut burst = Burst { frames: ArrayVec::new(), queues: ArrayVec::new() };
        for (queue, at, len, meta) in passed {
            let (head, len) = (tags.copy(at), len + TAG as u16);
            burst.frames.push(Frame { head, rest: Rest::Nothing, len, meta });
            burst.queues.push(queue);
        }
        self.deliver(&burst)
    }

    /// Counts a frame that goes no further. Before RSS there is no queue: the first one's counters stand for the
    /// port's.
    fn refuse(&self, outcome: Outcome) {
        add(&self.counters.rx[0].outcome[outcome as usize], 1);
    }

    /// Queue and description of a frame.
    #[inline(always)]
    fn admit<'a>(&self, f: &Incoming<'a>) -> Result<(u16, Frame<'a>), Outcome> {
        let Some(rings) = &self.rings else { return Err(Outcome::QueueStopped) };
        if !self.filter.link_up {
            return Err(Outcome::LinkDown);
        }
        let class = match f.rest {
            Rest::Pieces(more) => self.look_into_pieces(rings, f, more)?,
            _ => self.look(rings, f, f.head)?,
        };
        // A completion has 16 bits for the length.
        let len = u16::try_from(f.len).map_err(|_| Outcome::BadFrame)?;
        if f.len > rings.max_frame {
            return Err(Outcome::BadFrame);
        }
        let kind = class.kind | if class.hashed { HASHED } else { 0 };
        let described = Frame::new(f.head, len, class.rss, kind);
        Ok((class.queue, Frame { rest: f.rest, ..described }))
    }

    /// Filters, parses and steers a frame that begins with `head`. Of a usual one all that the parser finds stays in
    /// registers: in memory it would be read back before its parts have arrived there.
    #[inline(always)]
    fn look(&self, rings: &Rings, f: &Incoming<'_>, head: &[u8]) -> Result<nic::Class, Outcome> {
        if !self.filter.takes(head) {
            return Err(Outcome::Filtered);
        }
        match packet::usual(head) {
            Some(parsed) => self.steer(rings, f, head, parsed),
            None => self.look_properly(rings, f, head),
        }
    }

    #[inline(never)]
    fn look_properly(&self, rings: &Rings, f: &Incoming<'_>, head: &[u8]) -> Result<nic::Class, Outcome> {
        self.steer(rings, f, head, packet::parse(head))
    }

    #[inline(always)]
    fn steer(
        &self,
        rings: &Rings,
        f: &Incoming<'_>,
        head: &[u8],
        parsed: Parsed,
    ) -> Result<nic::Class, Outcome> {
        let mut class = nic::classify(&self.rss, &parsed, head, f.len).ok_or(Outcome::BadFrame)?;
        if rings.checksums {
            class.kind |= f.verify(parsed);
        }
        Ok(class)
    }

    /// [`look`](Self::look) where the headers may go on behind the first piece.
    #[inline(never)]
    fn look_into_pieces(
        &self,
        rings: &Rings,
        f: &Incoming<'_>,
        more: &[&[u8]],
    ) -> Result<nic::Class, Outcome> {
        let mut head = ArrayVec::<u8, HEADERS>::new();
        for piece in core::iter::once(&f.head).chain(more) {
            let room = head.remaining_capacity();
            head.extend(piece.iter().copied().take(room));
        }
        self.look(rings, f, &head)
    }

    /// Stores a burst, queue by queue, each queue's frames in order.
    fn deliver(&mut self, burst: &Burst<'_>) -> usize {
        let (Some(rings), Some(last)) = (&self.rings, burst.frames.len().checked_sub(1)) else { return 0 };
        if rings.rx_queues == 1 {
            return self.store(0, &burst.frames);
        }
        let mut stored = 0;
        // One bit for each frame that is left.
        let mut left = u64::MAX >> (BURST - 1 - last);
        while left != 0 {
            let queue = burst.queues[left.trailing_zeros() as usize];
            let mut run = ArrayVec::<_, BURST>::new();
            for (i, frame) in burst.frames.iter().enumerate() {
                if left >> i & 1 == 1 && burst.queues[i] == queue {
                    run.push(*frame);
                    left &= !(1 << i);
                }
            }
            stored += self.store(queue, &run);
        }
        stored
    }

    /// Stores frames of one queue and counts what became of them.
    #[inline(always)]
    fn store(&mut self, queue: u16, frames: &[Frame<'_>]) -> usize {
        let Some(rings) = &mut self.rings else { return 0 };
        let counters = &self.counters.rx[usize::from(queue).min(QUEUES - 1)];
        let mut outcomes = [Outcome::RingFull; BURST];
        let outcomes = &mut outcomes[..frames.len()];
        rings.nic.deliver(&mut rings.m, queue * rings.threads, frames, outcomes);
        let front = rings.front;
        let fates = || frames.iter().zip(outcomes.iter());
        let delivered = fates().filter(|(_, o)| **o == Outcome::Delivered);
        let bytes = delivered.clone().map(|(f, _)| u64::from(f.len - front)).sum();
        let stored = delivered.count();
        add(&counters.outcome[Outcome::Delivered as usize], stored as u64);
        add(&counters.bytes, bytes);
        if stored < frames.len() {
            for (_, outcome) in fates().filter(|(_, o)| **o != Outcome::Delivered) {
                add(&counters.outcome[*outcome as usize], 1);
            }
        }
        stored
    }
}

/// Sorting keeps one bit for each frame.
const _: () = assert!(BURST == u64::BITS as usize);
