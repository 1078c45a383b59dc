//! `kv`: a key-value store that answers requests ([`packet::kv`]), a partition on every core.
//!
//! The card brings a request to the core of its key's partition (steering by UDP port), so no core looks
//! into another's items: MICA's exclusive reads and writes. A reply is built in the request's buffer. Where items
//! lie in buffers themselves ([`Slabs`]), a value follows its reply's headers as a segment of its own, without a copy.

mod contract;
mod declared;
mod either;
mod erpc;
pub mod fuzz;
mod pages;
mod request;
mod shape;
mod slabs;
mod store;

pub use contract::{Refused, Store, Value};
pub use declared::{Declared, DeclaredSlabs};
pub use either::Either;
pub use erpc::{ErpcKv, RPC};
pub use shape::Shape;
pub use slabs::{SlabShape, Slabs};
pub use store::Partition;

use std::collections::VecDeque;

use memory::{Buf, Memory, Ps};
use packet::kv::{self, HEADER, Op, Protocol, Reply, Request, Status};
use rings::Completion;

use crate::{App, Batch, Cause, Headers, Packet, Verdict, headers};
use request::{Asked, Served, value_of};

/// Cycles per request beside memory accesses: those of `l3fwd`, a program as bare as this one.
pub const CYCLES: u32 = crate::l3fwd::CYCLES;
/// Bytes of keys and values that are hashed, compared or copied in a cycle: a word.
const BYTES_A_CYCLE: usize = 8;
/// Requests between two stages of a burst: first a request's headers are fetched, then its bucket, then its
/// item, then it is served (Lim et al., NSDI 2014, §4.1).
const AHEAD: usize = 4;

/// One core's part of the store.
pub struct Kv<S> {
    store: S,
    /// Which partition of how many.
    partition: u32,
    partitions: u32,
    cycles: u32,
    protocol: Protocol,
    /// Requests by operation, and those that found their key.
    served: [u64; 3],
    hits: u64,
    /// Frames between their headers and their answers, in order.
    open: VecDeque<Open>,
}

impl<S> Kv<S> {
    /// Partition `partition` of `partitions`.
    pub fn new(store: S, partition: u32, partitions: u32, cycles: u32) -> Kv<S> {
        let protocol = Protocol::default();
        Kv { store, partition, partitions, cycles, protocol, served: [0; 3], hits: 0, open: VecDeque::new() }
    }

    /// The same in other words.
    #[must_use]
    fn speaking(self, protocol: Protocol) -> Kv<S> {
        Kv { protocol, ..self }
    }

    /// Does what a request asks for.
    fn serve<M: Memory>(&mut self, m: &mut M, packet: &Packet<M>, asked: &Asked) -> Served
    where
        S: Store<M>,
    {
        let (key, hash) = (asked.key(), asked.hash);
        if kv::partition(hash, self.partitions) != self.partition {
            return Served::just(Status::WrongPartition);
        }
        m.work((2 * key.len() / BYTES_A_CYCLE) as u32);
        let found = match asked.request.op {
            Op::Get => match self.store.get(m, hash, key) {
                Some(value) => {
                    let served = value_of(m, packet, asked.at + self.protocol.before_value() as u32, value);
                    self.hits += u64::from(served.status == Status::Ok);
                    return served;
                }
                None => false,
            },
            Op::Put => {
                let len = asked.request.value_len;
                let from = asked.at + (HEADER + key.len()) as u32;
                let put = self.store.put(m, hash, key, len, |m, place| {
                    if len > 0 {
                        m.work((usize::from(len) / BYTES_A_CYCLE) as u32);
                        m.get(packet.frames, packet.buf, from, place, len.into());
                    }
                });
                if let Err(refused) = put {
                    return Served::just(refused.status());
                }
                true
            }
            Op::Delete => self.store.delete(m, hash, key),
        };
        self.hits += u64::from(found);
        Served::just(if found { Status::Ok } else { Status::NotFound })
    }
}

/// A frame whose headers have been read, and what they ask for.
struct Open {
    headers: Headers,
    asked: Option<Asked>,
}

impl Open {
    fn read<M: Memory>(m: &mut M, frames: M::Buffers, c: &Completion, now: Ps, protocol: Protocol) -> Open {
        let mut headers = Headers::of(c, now);
        headers.load(m, frames, c);
        let whole = !headers.is_bad() && headers.is_ip();
        let packet = Packet { frames, buf: c.buf, len: c.len };
        let asked = if whole { Asked::read(m, &packet, &headers, protocol) } else { None };
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
        let Served { status, len, sum, lying } = self.serve(m, packet, asked);
        let reply = Reply { op, status, value_len: len, id };
        let request = headers.bytes().get(asked.at as usize..).unwrap_or_default();
        let head = self.protocol.answer(request, &reply);
        match (headers.answer(&head[..self.protocol.before_value()], len, sum), lying) {
            (Some(len), None) => Verdict::Reply(len),
            (Some(all), Some(value)) => {
                self.store.keep(m, value.buf);
                Verdict::Gather(all - len, value)
            }
            (None, _) => Verdict::Drop(Cause::BadRequest),
        }
    }
}

impl<M: Memory, S: Store<M>> App<M> for Kv<S> {
    fn cycles(&self) -> u32 {
        self.cycles
    }

    #[inline]
    fn frame(&mut self, m: &mut M, packet: &Packet<M>, headers: &mut Headers) -> Verdict {
        let asked = Asked::read(m, packet, headers, self.protocol);
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
                let open = Open::read(m, frames, c, now, self.protocol);
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
                if matches!(verdict, Verdict::Reply(_) | Verdict::Gather(..)) {
                    headers.store(m, frames, c);
                }
                batch.file(c.buf, c.len, verdict);
            }
            m.chain();
        }
    }

    fn own_buffers(&self) -> u64 {
        self.store.own_buffers()
    }

    fn returned(&mut self, m: &mut M, bufs: &[Buf]) {
        for buf in bufs {
            self.store.returned(m, *buf);
        }
    }

    fn kept(&self) -> u64 {
        self.store.sending()
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        let [gets, puts, deletes] = self.served;
        vec![("gets", gets), ("puts", puts), ("deletes", deletes), ("hits", self.hits)]
    }
}
