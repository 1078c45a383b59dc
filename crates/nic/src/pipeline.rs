//! What the card finds out about a received frame: whether it is for this port, what it is, which queue it goes to.
//!
//! Link, address filter, length, parser, [`Choose`], checksums: one pipeline for the modelled card, the live one and the
//! driver's. What is wrong with the packet in a frame is for the host to find: as on cards, the type tells how far the
//! headers could be followed.

mod bits;
mod bulk;
mod checksums;
mod filter;
mod incoming;
mod tables;

use arrayvec::ArrayVec;
use memory::Ps;
use packet::{ETHERNET, Parsed, Steering};
use rings::{Frame, Outcome, Rest};

pub use bits::{CHECKSUMS, FOLLOWS, HASHED, IP_BAD, IP_GOOD, L4_BAD, L4_GOOD, META, MORE};
pub use bulk::Admitted;
pub use filter::{Filter, GROUPS, MACS};
pub use incoming::Incoming;
pub use tables::{CONTEXTS, Contexts, Tables};

/// Bytes in which the headers of a frame in pieces are looked for.
const HEADERS: usize = 256;

/// What the pipeline found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Class {
    /// Receive queue.
    pub queue: u16,
    /// RSS hash, or the number that steering goes by; 0 where the frame has none.
    pub rss: u32,
    /// Packet type, the bits of [`packet::kind`], and what was found of checksums and hash, from [`IP_GOOD`] to [`HASHED`].
    pub kind: u32,
    /// The mark for its completion; 0 is none.
    pub mark: u32,
    /// The number of its flow, as a [`Frame`] has it. The pipeline knows no better one than the hash.
    pub flow: u32,
    /// How long the pipeline takes no other frame.
    pub cost: Ps,
}

impl Class {
    /// The frame that it describes, for a ring.
    #[inline(always)]
    pub fn frame<'a>(&self, f: &Incoming<'a>) -> Frame<'a> {
        // What passes is no longer than `Checks::max_frame`.
        let mut frame = Frame::new(f.head, f.len as u16, self.rss, self.kind).with_rest(f.rest);
        frame.flow = self.flow;
        frame.marked(self.mark)
    }
}

/// What chooses a frame's queue, behind the parser: steering, or tables before it.
pub trait Choose {
    /// What becomes of a frame of `len` bytes that begins with `head`, in which the parser found `parsed`. `class` has
    /// what is known so far, and queue 0.
    ///
    /// # Errors
    /// The frame goes no further.
    fn choose(&self, parsed: &Parsed, head: &[u8], len: u32, class: Class) -> Result<Class, Outcome>;
}

impl<S: Steering> Choose for S {
    /// Steering goes by what there is: frames that give nothing to steer by have number 0.
    #[inline(always)]
    fn choose(&self, parsed: &Parsed, head: &[u8], _len: u32, class: Class) -> Result<Class, Outcome> {
        let number = self.number(parsed, head);
        let (rss, hashed) = (number.unwrap_or(0), if number.is_some() { HASHED } else { 0 });
        Ok(Class { queue: self.queue(rss), rss, kind: class.kind | hashed, flow: rss, ..class })
    }
}

/// What a port asks of received frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checks {
    /// The longest frame to receive, in bytes. A completion has 16 bits for it.
    pub max_frame: u16,
    /// Whether IP and transport checksums are looked at.
    pub checksums: bool,
}

/// The receive pipeline of a port.
#[derive(Clone, Debug)]
pub struct Pipeline<C> {
    /// Which frames are for the port.
    pub filter: Filter,
    /// What chooses queues.
    pub choice: C,
    /// What else is asked.
    pub checks: Checks,
    /// What a frame costs at the least.
    pub pace: Ps,
}

impl<C: Choose> Pipeline<C> {
    /// Takes every frame that `checks` allows, without a limit of its own.
    pub fn new(choice: C, checks: Checks) -> Pipeline<C> {
        Pipeline { filter: Filter::default(), choice, checks, pace: Ps::ZERO }
    }

    /// What a frame is, and where it goes.
    ///
    /// # Errors
    /// Why it goes no further: no link, not for this port, no Ethernet frame or longer than allowed.
    #[inline(always)]
    pub fn admit(&self, f: &Incoming<'_>) -> Result<Class, Outcome> {
        match self.admit_usual(f) {
            Some(class) => Ok(class),
            None => self.admit_any(f),
        }
    }

    /// [`admit`](Self::admit) by another choice, such as one that is made for a burst.
    ///
    /// # Errors
    /// As there.
    pub fn admit_by(&self, choice: &impl Choose, f: &Incoming<'_>) -> Result<Class, Outcome> {
        with_head(f, |head| self.look(choice, f, head))
    }

    /// [`admit`](Self::admit) for what most frames are, in one piece and passing; `None` leaves it to
    /// [`admit_any`](Self::admit_any). What the parser finds in such a frame stays in registers: to read it back from
    /// memory would wait for the stores of its parts. A caller that goes on apart from here for each of the two has
    /// nothing to bring together.
    #[inline(always)]
    pub fn admit_usual(&self, f: &Incoming<'_>) -> Option<Class> {
        if matches!(f.rest, Rest::Pieces(_)) || self.bars(f, f.head).is_some() {
            return None;
        }
        self.choose(&self.choice, f, f.head, packet::usual(f.head)?).ok()
    }

    /// [`admit`](Self::admit) for any frame.
    ///
    /// # Errors
    /// As there.
    #[inline(never)]
    pub fn admit_any(&self, f: &Incoming<'_>) -> Result<Class, Outcome> {
        self.admit_by(&self.choice, f)
    }

    fn look(&self, choice: &impl Choose, f: &Incoming<'_>, head: &[u8]) -> Result<Class, Outcome> {
        match self.bars(f, head) {
            Some(outcome) => Err(outcome),
            None => self.choose(choice, f, head, packet::parse(head)),
        }
    }

    /// What keeps a frame that begins with `head` from the parser.
    #[inline(always)]
    fn bars(&self, f: &Incoming<'_>, head: &[u8]) -> Option<Outcome> {
        let barred = self.filter.bars(head);
        if barred.is_some() {
            return barred;
        }
        (!self.fits(f.len)).then_some(Outcome::BadFrame)
    }

    /// Whether a frame of so many bytes is one, and no longer than allowed.
    #[inline(always)]
    pub fn fits(&self, len: u32) -> bool {
        (ETHERNET as u32..=self.checks.max_frame.into()).contains(&len)
    }

    #[inline(always)]
    fn choose(
        &self,
        choice: &impl Choose,
        f: &Incoming<'_>,
        head: &[u8],
        parsed: Parsed,
    ) -> Result<Class, Outcome> {
        let class = choice.choose(&parsed, head, f.len, self.seen(&parsed))?;
        Ok(self.verified(f, parsed, class))
    }

    /// What is known of a frame behind the parser.
    #[inline(always)]
    fn seen(&self, parsed: &Parsed) -> Class {
        Class { queue: 0, rss: 0, kind: parsed.kind, mark: 0, flow: 0, cost: self.pace }
    }

    /// The class of a frame that goes on, with the verdict on its checksums if that is asked for.
    #[inline(always)]
    fn verified(&self, f: &Incoming<'_>, parsed: Parsed, class: Class) -> Class {
        match self.checks.checksums {
            true => Class { kind: class.kind | f.verify(parsed), ..class },
            false => class,
        }
    }
}

/// The first bytes of a frame in one piece, for `look`.
#[inline(always)]
fn with_head<R>(f: &Incoming<'_>, look: impl FnOnce(&[u8]) -> R) -> R {
    match f.rest {
        Rest::Pieces(more) => look(&headers(f.head, more)),
        _ => look(f.head),
    }
}

/// The first bytes of a frame in pieces: its headers may go on behind the first piece.
fn headers(head: &[u8], more: &[&[u8]]) -> ArrayVec<u8, HEADERS> {
    let mut headers = ArrayVec::new();
    for piece in core::iter::once(&head).chain(more) {
        let room = headers.remaining_capacity();
        headers.extend(piece.iter().copied().take(room));
    }
    headers
}
