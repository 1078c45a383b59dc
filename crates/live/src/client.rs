//! The client of a key-value store: it asks, and holds every answer to what was put.
//!
//! Requests of a queue are answered in their order. So an answer tells which values its key may have had when the
//! request was served: the last one put, or, where the answer to a put was lost, that one or the one before it.

use std::collections::{HashMap, VecDeque};

use packet::kv::{self, HEADER, Objects, Op, Protocol, Status};
use packet::{checksum, parse};
use traffic::{Arrival, Line, Rate, Sizes, Source, Spec, Workload};

use crate::ledger::Faults;

/// Bytes before a datagram's payload.
const HEADERS: usize = 42;
/// Of keys and of what is asked for.
const SEED: u64 = 1;

/// A request that is to be sent.
pub(crate) struct Asking {
    pub(crate) frame: Vec<u8>,
    asked: Asked,
}

/// A request that was sent.
#[derive(Clone, Copy)]
struct Asked {
    id: u32,
    op: Op,
    key: u64,
    /// Of a put: the number of its value.
    version: u32,
}

/// Asks and judges.
pub(crate) struct Client {
    puts: Option<Box<dyn Source>>,
    source: Box<dyn Source>,
    objects: Objects,
    protocol: Protocol,
    /// Whether a store of such objects may forget keys.
    forgets: bool,
    /// Requests that are not answered, by queue, in the order in which they were stored.
    open: Vec<VecDeque<Asked>>,
    /// Values that each key may have; `None`: none.
    known: HashMap<u64, Vec<Option<u32>>>,
    version: u32,
    /// Answers.
    pub(crate) answered: u64,
    /// Requests whose answer did not come.
    lost: u64,
    corrupt: u64,
    /// Answers by what they say, and gets that found their key.
    refused: u64,
    hits: u64,
    gets: u64,
    /// Bytes of values that were sent back.
    bytes: u64,
}

impl Client {
    /// A client of a store of as many partitions as there are queues; `None` where `spec` holds no requests.
    pub(crate) fn new(spec: &Spec, queues: u16) -> Option<Client> {
        let spec = Spec { partitions: queues.into(), ..spec.clone() };
        let Sizes::Kv { objects, protocol, .. } = spec.sizes else { return None };
        let puts = spec.puts(SEED);
        // In no hurry: the card asks as fast as it can.
        let source = Workload::Generated(spec).source(0, 1, Rate::Gbps(Line::GBPS), SEED);
        Some(Client {
            puts,
            source,
            objects,
            protocol,
            forgets: !objects.differ(),
            open: vec![VecDeque::new(); queues.into()],
            known: HashMap::new(),
            version: 0,
            answered: 0,
            lost: 0,
            corrupt: 0,
            refused: 0,
            hits: 0,
            gets: 0,
            bytes: 0,
        })
    }

    /// The longest frame of a request or an answer.
    pub(crate) fn longest(&self) -> u16 {
        self.objects.longest_frame()
    }

    /// A put of the next key, before anything else is asked; `None` after the last one.
    pub(crate) fn put(&mut self, frame: Vec<u8>) -> Option<Asking> {
        let mut arrival = Arrival::EMPTY;
        let more = self.puts.as_mut()?.next(&mut arrival);
        more.then(|| self.asking(&arrival, frame))?
    }

    /// The next request, in `frame`.
    pub(crate) fn next(&mut self, frame: Vec<u8>) -> Option<Asking> {
        let mut arrival = Arrival::EMPTY;
        self.source.next(&mut arrival);
        self.asking(&arrival, frame)
    }

    /// A generated request, with bytes in its value that no other one has.
    fn asking(&mut self, arrival: &Arrival, mut frame: Vec<u8>) -> Option<Asking> {
        let len = usize::from(arrival.len);
        frame.clear();
        frame.extend(&arrival.head[..len.min(arrival.head.len())]);
        frame.resize(len, 0);
        let request = self.protocol.request(&frame[HEADERS..], len - HEADERS)?;
        let start = HEADERS + HEADER;
        let key = u64::from_be_bytes(*frame.get(start..)?.first_chunk()?);
        let mut asked = Asked { id: request.id, op: request.op, key, version: 0 };
        if request.op == Op::Put {
            self.version += 1;
            asked.version = self.version;
            write(&mut frame[start + usize::from(request.key_len)..], key, self.version);
            frame[40..42].fill(0);
            let sum = checksum::transport(&frame[26..34], 17, &frame[34..]);
            let sum = if sum == 0 { 0xffff } else { sum }; // 0 would say that there is none
            frame[40..42].copy_from_slice(&sum.to_be_bytes());
        }
        Some(Asking { frame, asked })
    }

    /// A request has been stored for `queue`. Its frame comes back.
    pub(crate) fn stored(&mut self, queue: u16, asking: Asking) -> Vec<u8> {
        if let Some(open) = self.open.get_mut(usize::from(queue)) {
            open.push_back(asking.asked);
        }
        asking.frame
    }

    /// A request has been dropped.
    pub(crate) fn dropped(&mut self, asking: Asking) -> Vec<u8> {
        self.lost += 1;
        asking.frame
    }

    /// Requests that wait for their answers.
    pub(crate) fn waiting(&self) -> usize {
        self.open.iter().map(VecDeque::len).sum()
    }

    /// Judges a frame that a worker sent.
    pub(crate) fn judge(&mut self, queue: u16, frame: &[u8]) {
        self.answered += 1;
        let right = self.answer(queue, frame);
        self.corrupt += u64::from(right.is_none());
    }

    fn answer(&mut self, queue: u16, frame: &[u8]) -> Option<()> {
        let parsed = parse(frame);
        let udp = frame.get(usize::from(parsed.l4)..)?;
        let udp = udp.get(..u16::from_be_bytes([*udp.get(4)?, *udp.get(5)?]).into())?;
        if parsed.l4 != 34 || checksum::transport(parsed.addresses(frame)?, 17, udp) != 0xffff {
            return None;
        }
        let reply = self.protocol.reply(udp.get(8..)?)?;
        let asked = self.asked(queue, reply.id).filter(|asked| asked.op == reply.op)?;
        let known = self.known.entry(asked.key).or_insert_with(|| vec![None]);
        match (reply.op, reply.status) {
            (Op::Put, Status::Ok) => *known = vec![Some(asked.version)],
            (Op::Put, Status::Full) => self.refused += 1,
            (Op::Get, Status::Ok) => {
                let value = udp.get(8 + self.protocol.before_value()..)?;
                let is = |version: &&Option<u32>| version.is_some_and(|v| is_value(value, asked.key, v));
                let version = *known.iter().find(is)?;
                *known = vec![version];
                let len = self.objects.value_len(kv::hash(&key(self.objects, asked.key)));
                self.gets += 1;
                self.hits += 1;
                self.bytes += u64::from(len);
                if value.len() != usize::from(len) {
                    return None;
                }
            }
            (Op::Get, Status::NotFound) if self.forgets || known.contains(&None) => {
                *known = vec![None];
                self.gets += 1;
            }
            _ => return None,
        }
        Some(())
    }

    /// The request with this number, whose answer is the next one of its queue. What it passes over has none.
    fn asked(&mut self, queue: u16, id: u32) -> Option<Asked> {
        let open = self.open.get_mut(usize::from(queue))?;
        let at = open.iter().position(|asked| asked.id == id)?;
        for lost in open.drain(..at) {
            self.lost += 1;
            if lost.op == Op::Put {
                let known = self.known.entry(lost.key).or_insert_with(|| vec![None]);
                known.push(Some(lost.version));
            }
        }
        open.pop_front()
    }

    /// What was wrong, once no more answers come.
    pub(crate) fn faults(&self) -> Faults {
        let missing = self.lost + self.waiting() as u64;
        Faults { missing, corrupt: self.corrupt, ..Faults::default() }
    }

    /// Counters, for the report.
    pub(crate) fn counters(&self) -> [(&'static str, u64); 4] {
        [
            ("gets", self.gets),
            ("hits", self.hits),
            ("puts_refused", self.refused),
            ("value_bytes", self.bytes),
        ]
    }
}

/// A key by its number.
fn key(objects: Objects, number: u64) -> Vec<u8> {
    let mut key = number.to_be_bytes().to_vec();
    key.resize(objects.key_len().into(), 0);
    key
}

/// Words of a value that is `version` of `key`.
fn words(key: u64, version: u32) -> impl Iterator<Item = [u8; 8]> {
    let start = (key << 32 ^ u64::from(version)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (0u64..).map(move |i| {
        let x = start.wrapping_add(i.wrapping_mul(0xbf58_476d_1ce4_e5b9));
        (x ^ x >> 31).wrapping_mul(0x94d0_49bb_1331_11eb).to_be_bytes()
    })
}

fn write(value: &mut [u8], key: u64, version: u32) {
    for (piece, word) in value.chunks_mut(8).zip(words(key, version)) {
        piece.copy_from_slice(&word[..piece.len()]);
    }
}

fn is_value(value: &[u8], key: u64, version: u32) -> bool {
    value.chunks(8).zip(words(key, version)).all(|(piece, word)| *piece == word[..piece.len()])
}

#[cfg(test)]
mod tests;
