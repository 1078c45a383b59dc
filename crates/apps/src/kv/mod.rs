//! `kv`: a key-value store that answers requests ([`packet::kv`]), a partition on every core.
//!
//! The card brings a request to the core of its key's partition (steering by UDP port), so no core looks
//! into another's items: MICA's exclusive reads and writes. A reply is built in the request's buffer.

mod declared;
pub mod fuzz;
mod shape;
mod store;

pub use declared::Declared;
pub use shape::Shape;
pub use store::Partition;

use std::collections::VecDeque;

use memory::{Memory, Ps};
use packet::checksum;
use packet::kv::{self, HEADER, MAX_KEY, Op, Reply, Request, Status};
use rings::Completion;

use crate::{App, Batch, Cause, Headers, Packet, SEEN, Verdict, headers};

/// Cycles per request beside memory accesses: those of `l3fwd`, a program as bare as this one.
pub const CYCLES: u32 = crate::l3fwd::CYCLES;
/// Bytes of keys and values that are hashed, compared or copied in a cycle: a word.
const BYTES_A_CYCLE: usize = 8;
/// Requests between two stages of a burst: first a request's headers are fetched, then its bucket, then its
/// item, then it is served (Lim et al., NSDI 2014, §4.1).
const AHEAD: usize = 4;

/// An item that no log of this size could take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLarge;

/// A stored value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Value<'a> {
    /// Its bytes as far as they are stored; zeros follow.
    pub bytes: &'a [u8],
    /// How long it is.
    pub len: u16,
}

/// Items by key, of one core. The hash ([`kv::hash`]) is passed beside the key.
pub trait Store<M: Memory> {
    /// Starts fetching the bucket of a hash.
    fn ahead_bucket(&self, m: &mut M, hash: u64);
    /// Starts fetching the item of a hash, where its bucket tells of one.
    fn ahead_item(&self, m: &mut M, hash: u64);
    /// The value of `key`.
    fn get(&mut self, m: &mut M, hash: u64, key: &[u8]) -> Option<Value<'_>>;
    /// Gives `key` a value of `len` bytes and returns the place of the value's first bytes, to be filled.
    ///
    /// # Errors
    /// [`TooLarge`]; nothing changed.
    fn put(&mut self, m: &mut M, hash: u64, key: &[u8], len: u16) -> Result<&mut [u8], TooLarge>;
    /// Forgets `key`; whether there was one.
    fn delete(&mut self, m: &mut M, hash: u64, key: &[u8]) -> bool;
}

/// One core's part of the store.
pub struct Kv<S> {
    store: S,
    /// Which partition of how many.
    partition: u32,
    partitions: u32,
    cycles: u32,
    /// Requests by operation, and those that found their key.
    served: [u64; 3],
    hits: u64,
    /// Frames between their headers and their answers, in order.
    open: VecDeque<Open>,
}

impl<S> Kv<S> {
    /// Partition `partition` of `partitions`.
    pub fn new(store: S, partition: u32, partitions: u32, cycles: u32) -> Kv<S> {
        Kv { store, partition, partitions, cycles, served: [0; 3], hits: 0, open: VecDeque::new() }
    }

    /// Does what a request asks for. Returns how it went, the bytes of the value that follows the reply's
    /// header, and what they add to the reply's checksum.
    fn serve<M: Memory>(&mut self, m: &mut M, packet: &Packet<M>, asked: &Asked) -> (Status, u16, u64)
    where
        S: Store<M>,
    {
        let (key, hash) = (asked.key(), asked.hash);
        if kv::partition(hash, self.partitions) != self.partition {
            return (Status::WrongPartition, 0, 0);
        }
        m.work((2 * key.len() / BYTES_A_CYCLE) as u32);
        let found = match asked.request.op {
            Op::Get => match self.store.get(m, hash, key) {
                Some(value) => {
                    let behind = asked.at + HEADER as u32;
                    if m.check(packet.frames, packet.buf.0, behind + u32::from(value.len)).is_err() {
                        return (Status::TooLarge, 0, 0);
                    }
                    if value.len > 0 {
                        m.work((usize::from(value.len) / BYTES_A_CYCLE) as u32);
                        m.put(packet.frames, packet.buf, behind, value.bytes, value.len.into());
                    }
                    self.hits += 1;
                    return (Status::Ok, value.len, checksum::add(0, value.bytes));
                }
                None => false,
            },
            Op::Put => {
                let len = asked.request.value_len;
                let Ok(place) = self.store.put(m, hash, key, len) else { return (Status::TooLarge, 0, 0) };
                if len > 0 {
                    m.work((usize::from(len) / BYTES_A_CYCLE) as u32);
                    let from = asked.at + (HEADER + key.len()) as u32;
                    m.get(packet.frames, packet.buf, from, place, len.into());
                }
                true
            }
            Op::Delete => self.store.delete(m, hash, key),
        };
        self.hits += u64::from(found);
        (if found { Status::Ok } else { Status::NotFound }, 0, 0)
    }
}

/// A request, its key, and where it stands in the frame.
struct Asked {
    request: Request,
    hash: u64,
    key: [u8; MAX_KEY],
    at: u32,
}

impl Asked {
    /// The request of a frame; `None` if it is none.
    fn read<M: Memory>(m: &mut M, packet: &Packet<M>, headers: &Headers) -> Option<Asked> {
        let payload = headers.datagram()?;
        let request = Request::parse(headers.bytes().get(payload.start..)?, payload.len())?;
        let mut asked = Asked { request, hash: 0, key: [0; MAX_KEY], at: payload.start as u32 };
        let start = payload.start + HEADER;
        let key = asked.key.get_mut(..request.key_len.into())?;
        let (seen, rest) = key.split_at_mut(key.len().min(SEEN.saturating_sub(start)));
        seen.copy_from_slice(headers.bytes().get(start..start + seen.len())?);
        if !rest.is_empty() {
            m.get(packet.frames, packet.buf, SEEN.max(start) as u32, rest, rest.len() as u32);
        }
        asked.hash = kv::hash(asked.key());
        Some(asked)
    }

    fn key(&self) -> &[u8] {
        &self.key[..self.request.key_len.into()]
    }
}

/// A frame whose headers have been read, and what they ask for.
struct Open {
    headers: Headers,
    asked: Option<Asked>,
}

impl Open {
    fn read<M: Memory>(m: &mut M, frames: M::Buffers, c: &Completion, now: Ps) -> Open {
        let mut headers = Headers::of(c, now);
        headers.load(m, frames, c);
        let whole = !headers.is_bad() && headers.is_ip();
        let packet = Packet { frames, buf: c.buf, len: c.len };
        let asked = if whole { Asked::read(m, &packet, &headers) } else { None };
        Open { headers, asked }
    }
}

impl<S> Kv<S> {
    /// Answers a request in its headers.
    fn answer<M: Memory>(
        &mut self,
        m: &mut M,
        packet: &Packet<M>,
        asked: Option<&Asked>,
        headers: &mut Headers,
    ) -> Verdict
    where
        S: Store<M>,
    {
        let Some(asked) = asked else { return Verdict::Drop(Cause::BadRequest) };
        let Request { op, id, .. } = asked.request;
        self.served[op as usize - 1] += 1;
        let (status, value_len, sum) = self.serve(m, packet, asked);
        let reply = Reply { op, status, value_len, id };
        match headers.answer(&reply.bytes(), value_len, sum) {
            Some(len) => Verdict::Reply(len),
            None => Verdict::Drop(Cause::BadRequest),
        }
    }
}

impl<M: Memory, S: Store<M>> App<M> for Kv<S> {
    fn cycles(&self) -> u32 {
        self.cycles
    }

    #[inline]
    fn frame(&mut self, m: &mut M, packet: &Packet<M>, headers: &mut Headers) -> Verdict {
        let asked = Asked::read(m, packet, headers);
        self.answer(m, packet, asked.as_ref(), headers)
    }

    /// Requests pass in stages: each stage starts fetching what the next one needs.
    fn process(&mut self, m: &mut M, frames: M::Buffers, burst: &[Completion], batch: &mut Batch) {
        let now = m.now();
        let before = |i: usize, stages: usize| i.checked_sub(stages * AHEAD).and_then(|i| burst.get(i));
        for i in 0..burst.len() + 3 * AHEAD {
            if let Some(c) = burst.get(i) {
                m.prefetch(frames, c.buf, 0);
            }
            if let Some(c) = before(i, 1) {
                headers::metadata(m, frames, c);
                m.work(self.cycles);
                let open = Open::read(m, frames, c, now);
                if let Some(asked) = &open.asked {
                    self.store.ahead_bucket(m, asked.hash);
                }
                self.open.push_back(open);
            }
            // Those before it that are still open are a stage ahead.
            if before(i, 2).is_some()
                && let Some(asked) = self.open.get((i - 2 * AHEAD).min(AHEAD)).and_then(|o| o.asked.as_ref())
            {
                self.store.ahead_item(m, asked.hash);
            }
            if let Some(c) = before(i, 3)
                && let Some(Open { mut headers, asked }) = self.open.pop_front()
            {
                let packet = Packet { frames, buf: c.buf, len: c.len };
                let verdict = if headers.is_bad() {
                    Verdict::Drop(Cause::BadHeader)
                } else if headers.is_ip() {
                    self.answer(m, &packet, asked.as_ref(), &mut headers)
                } else {
                    Verdict::Pass
                };
                if matches!(verdict, Verdict::Reply(_)) {
                    headers.store(m, frames, c);
                }
                batch.file(c.buf, c.len, verdict);
            }
            m.chain();
        }
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        let [gets, puts, deletes] = self.served;
        vec![("gets", gets), ("puts", puts), ("deletes", deletes), ("hits", self.hits)]
    }
}
