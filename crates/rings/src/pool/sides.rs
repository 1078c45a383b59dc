//! A pool with an end on each side (CC-NIC §3.4): the NIC takes the buffers that it writes frames into and gives back
//! those that it has sent. Each pair of ends has buffers of its own, and one agent on each side.
//!
//! | word | written by | read by | line | ordering |
//! |---|---|---|---|---|
//! | `host.slot` | host | NIC | 8 buffers | body, published by `host.given` |
//! | `host.given` | host | NIC | its own | release -> acquire: the slots below it hold buffers, and nobody on the host's side uses them |
//! | `nic.slot` | NIC | host | 8 buffers | body, published by `nic.given` |
//! | `nic.given` | NIC | host | its own | release -> acquire: as above, from the NIC's side |
//!
//! An end keeps a stack of free buffers for itself (§3.3): what its side freed last, it takes first. What exceeds the
//! stack's limit goes to the other end, the oldest first, which therefore is in no cache. There is no lock, and no
//! word that both sides write: a peer that dies holds nothing that this side waits for. What the paper compares with has
//! other [`Sizes`]: no stacks, and one queue of both ends, whose words `sides/exchange.rs` has.
//!
//! No slot is overwritten before it is read, though no word tells of the way back:
//!
//! 1. There are `n` slots and at most `n` buffers, so among `n + 1` of them given in a row one comes twice.
//! 2. It came back in between, and the other side had taken it, with all given before it: the first of the `n + 1` too.
//! 3. The way by which it came back orders that read before the write of the last one, which takes the same slot.
//!
//! **Between processes.** An end knows of each buffer whether it is free here, held by somebody of this side, or
//! away. It hands out only what is free, passes on only what is held, and lets in only what is away: a word that names
//! another buffer is counted and dropped. A peer that names a buffer twice, or one that it never had, therefore gains
//! nothing, and one that it does not name is lost to itself. What the peer has, it may overwrite at any time.

mod exchange;
mod sizes;

use memory::{Buf, Class, Fault, Field, Memory, Side, Space};

use super::stack::Stack;
use crate::contract::Buffers;
use crate::sizes::SizeError;
use exchange::{Queue, Way};

pub use exchange::Exchange;
pub use sizes::{Fill, Sizes};

// ## Words

const fn slot(name: &'static str, writer: Side, reader: Side) -> Field {
    Field { name, len: 1, width: 1, class: Class::Body, writer, reader, home: Side::Host }
}

const fn given(name: &'static str, writer: Side, reader: Side) -> Field {
    Field { name, len: 1, width: 1, class: Class::Signal, writer, reader, home: Side::Host }
}

const HOST: [Field; 2] =
    [slot("pool.host.slot", Side::Host, Side::Nic), given("pool.host.given", Side::Host, Side::Nic)];
const NIC: [Field; 2] =
    [slot("pool.nic.slot", Side::Nic, Side::Host), given("pool.nic.given", Side::Nic, Side::Host)];

// ## Set-up

/// A host's end and the NIC's.
pub type Pair<M> = (End<M>, End<M>);

/// `pairs` of ends. Pair `p` has the buffers `p * count..(p + 1) * count` of `buffers`; at first each side has half of
/// them.
///
/// # Errors
/// A size is not allowed, or the space has no room.
pub fn build<S: Space>(
    space: &mut S,
    sizes: &Sizes,
    pairs: u32,
    buffers: <S::Mem as Memory>::Buffers,
) -> Result<Vec<Pair<S::Mem>>, SizeError> {
    sizes.validate()?;
    let slots = sizes.count.next_power_of_two();
    let pair = |pair: u32| {
        let mut lane = |[slot, given]: [Field; 2]| -> Result<_, SizeError> {
            Ok((space.words(&slot.of(slots), pair)?, space.words(&given, pair)?))
        };
        let [host, nic] = match sizes.exchange {
            Exchange::Lanes => {
                let lanes = [lane(HOST)?, lane(NIC)?];
                [0, 1].map(|own: usize| Way::lanes([lanes[own], lanes[1 - own]]))
            }
            Exchange::Queue => Queue::bind(space, slots, pair)?.map(Way::Queue),
        };
        let first = u64::from(pair) * u64::from(sizes.count);
        let end = |own, way| End::new(sizes, first, own, way, buffers);
        Ok((end(0, host), end(1, nic)))
    };
    (0..pairs).map(pair).collect()
}

// ## Both halves

/// Where a buffer is, as far as an end knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// In the stack of this end.
    Free,
    /// With somebody of this side.
    Held,
    /// On the other side, or on the way there or back.
    Away,
}

/// Where each buffer of a pair is.
struct Places {
    /// The pair's first buffer.
    first: u64,
    all: Box<[Place]>,
}

impl Places {
    /// The buffer of a number of this pair.
    #[inline(always)]
    fn buf(&self, i: u32) -> Buf {
        Buf(self.first + u64::from(i))
    }

    /// A buffer goes from one place to another: its number, if it was there.
    #[inline(always)]
    fn go(&mut self, buf: Buf, from: Place, to: Place) -> Option<u32> {
        let i = buf.0.wrapping_sub(self.first);
        let place = self.all.get_mut(usize::try_from(i).ok()?).filter(|place| **place == from)?;
        *place = to;
        Some(i as u32)
    }

    /// A buffer of this pair, by its number, goes to a place.
    #[inline(always)]
    fn put(&mut self, i: u32, to: Place) -> Buf {
        if let Some(place) = self.all.get_mut(i as usize) {
            *place = to;
        }
        self.buf(i)
    }
}

/// One side's end of a pair, for one agent. Both sides' ends do the same.
pub struct End<M: Memory> {
    free: Stack,
    places: Places,
    cache: usize,
    /// Beyond this the stack is flushed down to `cache`.
    limit: usize,
    way: Way<M>,
    buffers: M::Buffers,
    /// The other side is gone: nothing comes from there or goes there.
    alone: bool,
    /// Calls that got fewer buffers than they asked for.
    shortages: u64,
    /// Buffers of this side that were given or passed and that nobody here held.
    foreign: u64,
    /// Words of the other side that named no buffer that was away, or more buffers than there are.
    lies: u64,
}

impl<M: Memory> End<M> {
    fn new(sizes: &Sizes, first: u64, own: usize, way: Way<M>, buffers: M::Buffers) -> End<M> {
        let count = sizes.count as usize;
        let cache = sizes.cache as usize;
        let mut free = Stack::new(sizes.count);
        let mut places = Places { first, all: vec![Place::Away; count].into() };
        free.push_all(sizes.fill.of(count, own).map(|i| {
            places.put(i as u32, Place::Free);
            i as u32
        }));
        End {
            free,
            places,
            cache,
            limit: cache + cache / 2,
            way,
            buffers,
            alone: false,
            shortages: 0,
            foreign: 0,
            lies: 0,
        }
    }

    /// Buffers in this end's stack.
    pub fn free(&self) -> u64 {
        self.free.len() as u64
    }

    /// The buffer that is taken after `k` others, as far as is known by now.
    #[inline(always)]
    pub fn upcoming(&self, k: usize) -> Option<Buf> {
        let i = self.free.below(k)?;
        Some(self.places.buf(i))
    }

    /// Buffers that somebody of this side holds.
    pub fn held(&self) -> u64 {
        self.places.all.iter().filter(|place| **place == Place::Held).count() as u64
    }

    /// A buffer that the other side passed on in a ring: it is held here from now on. `raw` is the word that names
    /// it, `len` the bytes that it is said to hold.
    ///
    /// # Errors
    /// It names no buffer of this pair, one that is not away, or one without room for `len` bytes.
    #[inline(always)]
    pub fn admit(&mut self, m: &M, raw: u64, len: u32) -> Result<Buf, Fault> {
        if let Ok(buf) = m.check(self.buffers, raw, len)
            && self.places.go(buf, Place::Away, Place::Held).is_some()
        {
            return Ok(buf);
        }
        self.lies += 1;
        Err(Fault { raw })
    }

    /// This side is about to name `buf` to the other one in a ring; whether it may, which is where it held it.
    #[must_use]
    #[inline]
    pub fn pass(&mut self, buf: Buf) -> bool {
        self.pass_all([buf].into_iter())
    }

    /// The same of all buffers of a frame, or of none.
    #[must_use]
    #[inline(always)]
    pub fn pass_all(&mut self, bufs: impl Iterator<Item = Buf> + Clone) -> bool {
        let passed = self.try_pass(bufs);
        self.foreign += u64::from(!passed);
        passed
    }

    /// The same, and says nothing of a buffer that nobody held.
    #[must_use]
    #[inline(always)]
    pub(crate) fn try_pass(&mut self, bufs: impl Iterator<Item = Buf> + Clone) -> bool {
        for (passed, buf) in bufs.clone().enumerate() {
            if self.places.go(buf, Place::Held, Place::Away).is_none() {
                for buf in bufs.take(passed) {
                    self.places.go(buf, Place::Away, Place::Held);
                }
                return false;
            }
        }
        true
    }

    /// Gives the free buffers of this end to the other one (before this side stops), those on the way here too.
    pub fn flush(&mut self, m: &mut M) {
        self.load(m, usize::MAX);
        self.spill(m, 0);
    }

    /// Takes back what the other side has, once it is gone: it is dead, or has dropped its end. This end serves its
    /// side alone from now on. How many there were.
    pub fn reclaim(&mut self) -> u64 {
        self.alone = true;
        let (first, count) = (self.places.first, self.places.all.len() as u64);
        let all = (first..first + count).map(Buf);
        self.free.push_all(all.filter_map(|buf| self.places.go(buf, Place::Away, Place::Free)))
    }

    /// Nothing goes to the other end or comes from there any more. What it has it keeps: it may be alive, and write there.
    pub fn part(&mut self) {
        self.alone = true;
    }

    /// Named counters.
    pub fn counters(&self) -> Vec<(&'static str, u64)> {
        vec![("pool_shortages", self.shortages), ("pool_foreign", self.foreign), ("pool_lies", self.lies)]
    }

    /// Gives the oldest free buffers away until `keep` are left: one release for all of them.
    #[cold]
    fn spill(&mut self, m: &mut M, keep: usize) {
        if self.alone || self.free.len() <= keep {
            return;
        }
        let places = &mut self.places;
        self.way.put(m, self.free.drain_oldest(keep).map(|i| places.put(i, Place::Away).0));
    }

    /// Takes up to `want` of the buffers that were given; whether there is a free one now.
    #[cold]
    fn load(&mut self, m: &mut M, want: usize) -> bool {
        if self.alone {
            return false;
        }
        let there = self.way.begin_get(m);
        let lie = there > self.places.all.len() as u64;
        self.lies += u64::from(lie); // more than there are: which of them is true is not known
        let wanted = if lie { 0 } else { there.min(want as u64) };
        let (buffers, places, free) = (self.buffers, &mut self.places, &mut self.free);
        let mut entered = 0;
        self.way.get(m, wanted, |m, raw| {
            if let Ok(buf) = m.check(buffers, raw, 0)
                && let Some(i) = places.go(buf, Place::Away, Place::Free)
            {
                free.push(i);
                entered += 1;
            }
        });
        self.lies += wanted - entered;
        self.free.len() > 0
    }
}

impl<M: Memory> Buffers<M> for End<M> {
    #[inline(always)]
    fn take(&mut self, m: &mut M, out: &mut [Buf]) -> usize {
        let mut done = 0;
        loop {
            let n = self.free.len().min(out.len() - done);
            let places = &mut self.places;
            self.free.take_newest(&mut out[done..done + n], |i| places.put(i, Place::Held));
            done += n;
            if done == out.len() {
                return done;
            }
            if !self.load(m, out.len() - done + self.cache) {
                self.shortages += 1;
                return done;
            }
        }
    }

    #[inline(always)]
    fn give(&mut self, m: &mut M, bufs: &[Buf]) {
        for buf in bufs {
            match self.places.go(*buf, Place::Held, Place::Free) {
                Some(i) => self.free.push(i),
                None => self.foreign += 1,
            }
        }
        if self.free.len() > self.limit {
            self.spill(m, self.cache);
        }
    }
}
