//! What the card finds out about a received frame: whether it is for this port, what it is, which queue it goes to.

use arrayvec::ArrayVec;
use packet::{Parsed, Rss};
use rings::{Frame, Outcome, Rest};

use super::incoming::Incoming;
use crate::error::Error;
use crate::filter::Filter;

/// The RSS value of a frame is a hash.
pub const HASHED: u32 = 1 << 20;

/// Bytes in which the headers of a frame in pieces are looked for.
const HEADERS: usize = 256;

/// What a start asks of received frames.
#[derive(Clone, Copy)]
pub(crate) struct Checks {
    /// The longest frame to receive, in bytes.
    pub(crate) max_frame: u32,
    /// Whether IP and transport checksums are looked at.
    pub(crate) checksums: bool,
}

/// Filter, parser and RSS of a port.
pub(super) struct Pipeline {
    pub(super) filter: Filter,
    rss: Rss,
    pub(super) checks: Checks,
}

impl Pipeline {
    /// Takes every frame, and leads all to the first queue.
    pub(super) fn new() -> Pipeline {
        let checks = Checks { max_frame: 0, checksums: false };
        Pipeline { filter: Filter::default(), rss: Rss::spread(1), checks }
    }

    /// Steers by `rss` from now on.
    ///
    /// # Errors
    /// An entry of its indirection table is none of so many queues.
    pub(super) fn steer_by(&mut self, rss: Rss, queues: u16) -> Result<(), Error> {
        leads_to(&rss, queues).map(|()| self.rss = rss)
    }

    /// Whether RSS leads to so many queues.
    ///
    /// # Errors
    /// As [`steer_by`](Self::steer_by).
    pub(super) fn fits(&self, queues: u16) -> Result<(), Error> {
        leads_to(&self.rss, queues)
    }

    /// Queue and description of a frame.
    #[inline(always)]
    pub(super) fn admit<'a>(&self, f: &Incoming<'a>) -> Result<(u16, Frame<'a>), Outcome> {
        if !self.filter.link_up {
            return Err(Outcome::LinkDown);
        }
        let class = match f.rest {
            Rest::Pieces(more) => self.look_into_pieces(f, more)?,
            _ => self.look(f, f.head)?,
        };
        // A completion has 16 bits for the length.
        let len = u16::try_from(f.len).map_err(|_| Outcome::BadFrame)?;
        if f.len > self.checks.max_frame {
            return Err(Outcome::BadFrame);
        }
        let kind = class.kind | if class.hashed { HASHED } else { 0 };
        Ok((class.queue, Frame::new(f.head, len, class.rss, kind).with_rest(f.rest)))
    }

    /// Filters, parses and steers a frame that begins with `head`. What the parser finds in a usual frame stays in
    /// registers: to read it back from memory would wait for the stores of its parts.
    #[inline(always)]
    fn look(&self, f: &Incoming<'_>, head: &[u8]) -> Result<nic::Class, Outcome> {
        if !self.filter.takes(head) {
            return Err(Outcome::Filtered);
        }
        match packet::usual(head) {
            Some(parsed) => self.steer(f, head, parsed),
            None => self.look_properly(f, head),
        }
    }

    #[inline(never)]
    fn look_properly(&self, f: &Incoming<'_>, head: &[u8]) -> Result<nic::Class, Outcome> {
        self.steer(f, head, packet::parse(head))
    }

    #[inline(always)]
    fn steer(&self, f: &Incoming<'_>, head: &[u8], parsed: Parsed) -> Result<nic::Class, Outcome> {
        let mut class = nic::classify(&self.rss, &parsed, head, f.len).ok_or(Outcome::BadFrame)?;
        if self.checks.checksums {
            class.kind |= f.verify(parsed);
        }
        Ok(class)
    }

    /// [`look`](Self::look) where the headers may go on behind the first piece.
    #[inline(never)]
    fn look_into_pieces(&self, f: &Incoming<'_>, more: &[&[u8]]) -> Result<nic::Class, Outcome> {
        let mut head = ArrayVec::<u8, HEADERS>::new();
        for piece in core::iter::once(&f.head).chain(more) {
            let room = head.remaining_capacity();
            head.extend(piece.iter().copied().take(room));
        }
        self.look(f, &head)
    }
}

/// Whether every entry of the indirection table is a queue.
fn leads_to(rss: &Rss, queues: u16) -> Result<(), Error> {
    match rss.table().iter().find(|q| **q >= queues) {
        Some(q) => Err(Error::Invalid(format!(
            "RSS indirection table: queue {q}; allowed: 0 to {}",
            queues.saturating_sub(1)
        ))),
        None => Ok(()),
    }
}
