//! Frames that nobody sends: generated ones and captures, made once and offered over and over.

use nic::Pace;
use traffic::{Arrival, Rate, Workload};

use crate::args::Source;
use crate::error::Error;
use crate::limits::SLACK;

/// Frames that a generator makes. The NIC core parses and hashes each of them anew on every lap.
const FRAMES: usize = 8192;
const SEED: u64 = 1;
/// The most bytes of a capture that are kept.
const CAPTURE: usize = 1 << 30;

/// A stock of frames, offered in turn.
pub(crate) struct Stock {
    bytes: Box<[u8]>,
    frames: Box<[Kept]>,
    next: usize,
}

/// A frame of a stock: its first bytes lie from `at`, zeros follow until `len`.
#[derive(Clone, Copy)]
struct Kept {
    at: u32,
    head: u16,
    len: u16,
}

impl Stock {
    /// The stock of a source that has one.
    ///
    /// # Errors
    /// The capture cannot be read or has no frame.
    pub(crate) fn of(source: &Source) -> Result<Option<Stock>, Error> {
        match source {
            Source::Generated(spec) => Stock::generated(spec).map(Some),
            Source::Capture(path) => Stock::captured(path).map(Some),
            Source::Loop | Source::Port(_) | Source::Pair(_) => Ok(None),
        }
    }

    fn generated(spec: &traffic::Spec) -> Result<Stock, Error> {
        let mut source = Workload::Generated(spec.clone()).source(0, 1, Rate::Gbps(100.0), SEED);
        let (mut arrival, mut stock) = (Arrival::EMPTY, Filling::default());
        while stock.frames.len() < FRAMES && source.next(&mut arrival) {
            stock.add(arrival.bytes(), usize::from(arrival.len));
        }
        stock.finish("gen")
    }

    fn captured(path: &str) -> Result<Stock, Error> {
        let mut stock = Filling::default();
        traffic::each_frame(path, |frame, len| {
            let fits = stock.bytes.len() + len <= CAPTURE;
            if fits {
                stock.add(frame, len);
            }
            fits
        })
        .map_err(|e| Error::Invalid(format!("source=pcap:{path}: {e}")))?;
        stock.finish("pcap")
    }

    /// The next frames, first bytes and length, until `pace` allows no more by `now`.
    pub(crate) fn take<'a>(&'a mut self, pace: &'a mut Pace, now: memory::Ps) -> Offered<'a> {
        Offered { bytes: &self.bytes, frames: &self.frames, next: &mut self.next, pace, now }
    }
}

/// Frames that a stock offers.
pub(crate) struct Offered<'a> {
    bytes: &'a [u8],
    frames: &'a [Kept],
    next: &'a mut usize,
    pace: &'a mut Pace,
    now: memory::Ps,
}

impl<'a> Iterator for Offered<'a> {
    type Item = (&'a [u8], u32);

    // Inlined always: a call returns the frame through memory, and to read it back waits for the stores of its parts.
    #[inline(always)]
    fn next(&mut self) -> Option<(&'a [u8], u32)> {
        let pace = &mut *self.pace;
        if pace.limits() && pace.free() > self.now {
            return None;
        }
        let Kept { at, head, len } = self.frames[*self.next];
        *self.next = if *self.next + 1 == self.frames.len() { 0 } else { *self.next + 1 };
        if pace.limits() {
            pace.send(self.now.saturating_sub(SLACK), u32::from(len));
        }
        Some((&self.bytes[at as usize..][..usize::from(head)], u32::from(len)))
    }
}

/// A stock in the making.
#[derive(Default)]
struct Filling {
    bytes: Vec<u8>,
    frames: Vec<Kept>,
}

impl Filling {
    /// A frame of `len` bytes that begins with `head`; zeros follow.
    fn add(&mut self, head: &[u8], len: usize) {
        let Ok(len) = u16::try_from(len) else { return };
        // Frames start on lines, as a card's buffer would hold them.
        let start = self.bytes.len().next_multiple_of(memory::LINE);
        let Ok(at) = u32::try_from(start) else { return };
        let head = &head[..head.len().min(usize::from(len))];
        self.bytes.resize(start, 0);
        self.bytes.extend_from_slice(head);
        self.frames.push(Kept { at, head: head.len() as u16, len });
    }

    fn finish(self, kind: &str) -> Result<Stock, Error> {
        if self.frames.is_empty() {
            return Err(Error::Invalid(format!("source={kind}: gives no frame")));
        }
        Ok(Stock { bytes: self.bytes.into(), frames: self.frames.into(), next: 0 })
    }
}
