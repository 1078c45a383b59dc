//! One side of a link.
//!
//! | word | written by | read by | line | ordering |
//! |---|---|---|---|---|
//! | `channel.asleep` of a side | both | both | its own | contended: set before the last look at the ring, cleared after an entry is written |
//!
//! **No signal is lost.** A sleeper sets its word, then looks at the ring, then sleeps. A sender writes an entry, then
//! clears the word, and signals if it was set. Both are read-modify-writes of one word, so one comes first:
//!
//! - The sender's comes later: it sees the bit, and signals.
//! - The sleeper's comes later: it reads what the sender's wrote, or a later write of that chain. It thereby acquires
//!   what the sender wrote before, the entry among it, and its look at the ring finds that.
//!
//! Loads and stores alone would need a full fence on both sides. A signal that comes while nobody sleeps is found by
//! the next sleep, which is short.

use core::ptr::NonNull;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use memory::native::Payload;
use memory::{Buf, Class, Field, Memory, NativeView, Region, Side as Of, Space};
use rings::Segment;
use rings::ccnic::{self, Side};

use crate::config::Config;
use crate::error::Error;
use crate::link::Link;

/// Handles of a channel. They point into its region, which the channel keeps until they are gone.
type View = NativeView<'static>;
type Buffers = <View as Memory>::Buffers;
type Word = <View as Memory>::Words<1>;

const ASLEEP: Field = Field {
    name: "channel.asleep",
    len: 1,
    width: 1,
    class: Class::Contended,
    writer: Of::Both,
    reader: Of::Both,
    home: Of::Host,
};
/// The bit of [`ASLEEP`].
const SLEEPS: u64 = 1;

/// Which side of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// It made the region.
    Listener,
    /// It was handed the region.
    Connector,
}

/// One side of a link to another process, for one thread at a time.
///
/// A buffer belongs to one side: who takes it with [`alloc`](Self::alloc) or [`receive`](Self::receive) holds it until
/// [`send`](Self::send) or [`free`](Self::free). All that comes from the other side is checked, and bytes are copied:
/// a hostile peer can send wrong frames, or stop this link.
///
/// That the peer is gone is found out by calls that find nothing to do, and by sends. They look each millisecond, or sooner.
/// Where they are rarer, each call that finds nothing looks, and a send after eight others at the latest.
pub struct Channel {
    side: Side<View>,
    m: View,
    buffers: Buffers,
    /// Of this side, and of the other one.
    asleep: [Word; 2],
    link: Link,
    config: Config,
    /// Calls of `write` since buffers were taken.
    written: usize,
    /// Nothing is to be received any more.
    over: bool,
    /// Last, since the others point into it.
    region: Box<Region>,
}

impl Channel {
    /// A side over `region`: the listener lays it out, the connector finds all there.
    pub(crate) fn new(
        region: Region,
        socket: OwnedFd,
        config: &Config,
        role: Role,
    ) -> Result<Channel, Error> {
        let region = Box::new(region);
        // SAFETY: the region lives on the heap and keeps its mapping until it is dropped, which is after all fields
        // that come from here. None of them leaves the channel, and none keeps a reference to `Region` itself.
        let mut space: &'static Region = unsafe { NonNull::from(&*region).as_ref() };
        let asleep = [space.words(&ASLEEP, 0)?, space.words(&ASLEEP, 1)?];
        let buffers = space.buffers(&config.geometry())?;
        let mut links = ccnic::connect(&mut space, &config.sizes(), &config.pool(), 1, buffers)?;
        let Some((listener, connector)) = links.pop() else { return Err(Error::Config("no link".into())) };
        let [first, second] = asleep;
        let (side, asleep) = match role {
            Role::Listener => (listener, [first, second]),
            Role::Connector => (connector, [second, first]),
        };
        let (m, link, config) = (space.view(), Link::new(socket), *config);
        Ok(Channel { side, m, buffers, asleep, link, config, written: 0, over: false, region })
    }

    /// Takes up to `out.len()` buffers; how many there were.
    #[inline]
    pub fn alloc(&mut self, out: &mut [Buf]) -> usize {
        let n = self.side.alloc(&mut self.m, out);
        self.written = 0;
        if n < out.len() {
            self.link.fruitless();
        }
        n
    }

    /// Gives buffers back that this side holds. Others are counted, and stay where they are.
    #[inline]
    pub fn free(&mut self, bufs: &[Buf]) {
        self.side.free(&mut self.m, bufs);
    }

    /// Writes `bytes` at `off` of a buffer, which this side should hold.
    ///
    /// # Errors
    /// The link has no such buffer, or they do not fit.
    #[inline]
    pub fn write(&mut self, buf: Buf, off: u32, bytes: &[u8]) -> Result<(), Error> {
        // The other side has read the lines of the buffers that come next: they are on their way while these are written.
        if let Some(next) = self.side.end().upcoming(self.written) {
            self.buffers.put_ahead(next);
        }
        self.written += 1;
        if self.buffers.write(buf, off, bytes) { Ok(()) } else { Err(self.outside(buf, off, bytes.len())) }
    }

    /// Reads `out.len()` bytes at `off` of a buffer, which this side should hold. Judge the copy: a hostile peer may
    /// change the buffer meanwhile.
    ///
    /// # Errors
    /// The link has no such buffer, or it has not so many bytes.
    #[inline]
    pub fn read(&mut self, buf: Buf, off: u32, out: &mut [u8]) -> Result<(), Error> {
        if self.buffers.read(buf, off, out) { Ok(()) } else { Err(self.outside(buf, off, out.len())) }
    }

    /// Sends as many whole frames of `segs` as there is room for; the segments taken. A frame ends with a segment that
    /// is marked, and has at most as many as the ring. Its buffers are the other side's from then on. A frame with a
    /// buffer that this side does not hold is counted, and goes nowhere.
    ///
    /// # Errors
    /// A segment lies outside its buffer, then nothing was sent; or the other side is gone.
    #[inline]
    pub fn send(&mut self, segs: &[Segment]) -> Result<usize, Error> {
        let Config { bytes, buffers, .. } = self.config;
        let lies_outside =
            |s: &&Segment| s.buf.0 >= u64::from(buffers) || u32::from(s.off) + u32::from(s.len) > bytes;
        if let Some(s) = segs.iter().find(lies_outside) {
            return Err(self.outside(s.buf, s.off.into(), s.len.into()));
        }
        self.link.sends();
        if self.link.is_gone() {
            return Err(Error::Gone);
        }
        let taken = self.side.tx_burst(&mut self.m, segs);
        if taken == 0 {
            self.link.fruitless();
            return Ok(0);
        }
        let [_, theirs] = self.asleep;
        // Partner: the `or` in `wait`. See above why it is no load.
        if self.config.events && self.m.clear(theirs, 0, SLEEPS) & SLEEPS != 0 {
            self.link.signal();
        }
        Ok(taken)
    }

    /// Receives up to `out.len()` segments; how many. Their buffers are this side's from then on. A frame ends with a
    /// segment that is marked, perhaps in a later call.
    ///
    /// # Errors
    /// The other side is gone, and all that it sent has been received.
    #[inline]
    pub fn receive(&mut self, out: &mut [Segment]) -> Result<usize, Error> {
        let n = self.look(out);
        if n > 0 {
            return Ok(n);
        }
        self.link.fruitless();
        if !self.link.is_gone() {
            return Ok(0);
        }
        match self.look(out) {
            0 if !out.is_empty() => Err(Error::Gone),
            n => Ok(n), // came between the look and the end
        }
    }

    /// Receives like [`receive`](Self::receive), but sleeps while there is nothing, for `patience` at most. It costs no
    /// CPU time meanwhile.
    ///
    /// # Errors
    /// As of [`receive`](Self::receive); or [`Config::events`] is off.
    pub fn wait(&mut self, out: &mut [Segment], patience: Duration) -> Result<usize, Error> {
        if !self.config.events {
            return Err(Error::Config("events are off: no call may sleep; allowed: receive".into()));
        }
        let n = self.receive(out)?;
        if n > 0 || out.is_empty() {
            return Ok(n);
        }
        let [ours, _] = self.asleep;
        let start = self.m.now();
        let n = loop {
            self.m.or(ours, 0, SLEEPS); // partner: the `clear` in `send`
            let gone = self.link.is_gone();
            let n = self.look(out);
            let waited = Duration::from_nanos(self.m.now().saturating_sub(start).0 / 1000);
            let left = patience.saturating_sub(waited);
            if n > 0 || gone || left.is_zero() {
                break n;
            }
            self.link.sleep(left);
        };
        self.m.clear(ours, 0, SLEEPS); // orders nothing: only saves signals
        if n == 0 && self.link.is_gone() { self.receive(out) } else { Ok(n) }
    }

    /// Looks whether the other side is there, at the cost of a system call.
    pub fn is_alive(&mut self) -> bool {
        !self.link.look()
    }

    /// Takes back all that the other side had, once it is gone: how many buffers. Frames that were not received are
    /// lost, so [receive](Self::receive) to the end first. Nothing comes or goes from now on.
    ///
    /// # Errors
    /// The other side is alive.
    pub fn reclaim(&mut self) -> Result<u64, Error> {
        if !self.link.look() {
            return Err(Error::Config(
                "the other side is alive; allowed: to reclaim what a dead one had".into(),
            ));
        }
        self.over = true;
        Ok(self.side.end_mut().reclaim())
    }

    /// Ends the link and keeps the memory: what this side holds can be read and freed, and what it frees be taken again.
    /// Nothing comes or goes from now on, and what the other side has it keeps.
    pub fn hang_up(&mut self) {
        self.link.end();
        self.over = true;
        self.side.end_mut().part();
    }

    /// Where the buffers lie: the first byte of buffer 0, and the bytes from one buffer to the next. For code that reaches
    /// frames in place, as long as the channel is there. The other side may change what lies there at any time.
    pub fn place(&self) -> (NonNull<u8>, usize) {
        (self.buffers.base(), self.config.geometry().stride as usize)
    }

    /// Buffers that this side keeps free, and those that it holds.
    pub fn buffers(&self) -> (u64, u64) {
        (self.side.end().free(), self.side.end().held())
    }

    /// What both sides agreed on.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Named counters. `pool_lies` are words of the other side that were none of its own to say; `pool_foreign` are
    /// buffers that this side did not hold and wanted to free or send.
    pub fn counters(&self) -> Vec<(&'static str, u64)> {
        let mut all = self.side.end().counters();
        all.extend([("signals", self.link.signals), ("sleeps", self.link.sleeps)]);
        all
    }

    /// The file of the memory that both sides share.
    pub fn memory(&self) -> Option<BorrowedFd<'_>> {
        self.region.file()
    }

    pub(crate) fn socket(&self) -> BorrowedFd<'_> {
        self.link.fd()
    }

    #[inline(always)]
    fn look(&mut self, out: &mut [Segment]) -> usize {
        if self.over { 0 } else { self.side.rx_burst(&mut self.m, out) }
    }

    #[cold]
    fn outside(&self, buf: Buf, off: u32, len: usize) -> Error {
        let Config { bytes, buffers, .. } = self.config;
        Error::Bounds { buf: buf.0, off, len, bytes, buffers }
    }
}

/// The socket becomes readable when a signal comes or the other side is gone.
impl AsFd for Channel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket()
    }
}
