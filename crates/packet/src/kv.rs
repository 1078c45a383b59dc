//! What a key-value store and its clients say to each other, one datagram each way.
//!
//! Behind the UDP header, numbers in network order:
//!
//! | bytes | field |
//! |---|---|
//! | 0, 1 | [`MAGIC`] |
//! | 2 | [`VERSION`] |
//! | 3 | operation: 1 get, 2 put, 3 delete; a reply adds 128 |
//! | 4 | status of a reply; 0 in a request |
//! | 5 | 0 |
//! | 6, 7 | bytes of the key, 1 to [`MAX_KEY`]; 0 in a reply |
//! | 8, 9 | bytes of the value; 0 but in a put and in the reply to a get |
//! | 10, 11 | 0 |
//! | 12 to 15 | a number that the client chooses and the reply repeats |
//! | 16 .. | the key, then the value |
//!
//! A client sends a request to the UDP port of its key's partition ([`partition`] behind
//! [`PARTITION_PORT`](crate::PARTITION_PORT)), so that the card finds the core.

pub mod erpc;
mod objects;
mod protocol;

use crate::be16;

pub use objects::{MTU, Objects};
pub use protocol::Protocol;

/// Bytes before the key.
pub const HEADER: usize = 16;
/// "KV".
pub const MAGIC: u16 = 0x4b56;
/// Of this layout.
pub const VERSION: u8 = 1;
/// The longest key.
pub const MAX_KEY: usize = 256;
/// Key and value of generated requests, in bytes (rxbisect §6.1).
pub const KEY: u16 = 128;
/// As [`KEY`].
pub const VALUE: u16 = 1024;

const REPLY: u8 = 128;

/// What a client asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// The value of a key.
    Get = 1,
    /// This value from now on.
    Put = 2,
    /// No value from now on.
    Delete = 3,
}

impl Op {
    fn from_bits(bits: u8) -> Option<Op> {
        [Op::Get, Op::Put, Op::Delete].into_iter().find(|op| *op as u8 == bits)
    }
}

/// How it went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// Done.
    Ok = 0,
    /// The store has no value of this key, or has forgotten it.
    NotFound = 1,
    /// Another core has this key.
    WrongPartition = 2,
    /// The item does not fit the store, or the value not the reply.
    TooLarge = 3,
    /// The store has no room for the item. What it had of this key it still has.
    Full = 4,
}

impl Status {
    fn from_bits(bits: u8) -> Option<Status> {
        let all = [Status::Ok, Status::NotFound, Status::WrongPartition, Status::TooLarge, Status::Full];
        all.into_iter().find(|s| *s as u8 == bits)
    }
}

/// A request's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// What is asked for.
    pub op: Op,
    /// Bytes of the key.
    pub key_len: u16,
    /// Bytes of the value.
    pub value_len: u16,
    /// The client's number.
    pub id: u32,
}

impl Request {
    /// The request in a datagram whose payload of `len` bytes begins with `bytes`; `None` if it is none, or
    /// its lengths contradict the datagram's.
    pub fn parse(bytes: &[u8], len: usize) -> Option<Request> {
        let h = header(bytes)?;
        let request =
            Request { op: Op::from_bits(h[3])?, key_len: be16(h, 6)?, value_len: be16(h, 8)?, id: id(h) };
        let (key, value) = (usize::from(request.key_len), usize::from(request.value_len));
        let zeros = h[4] == 0 && h[5] == 0 && h[10] == 0 && h[11] == 0;
        let fits = (1..=MAX_KEY).contains(&key) && HEADER + key + value == len;
        (zeros && fits && (request.op == Op::Put || value == 0)).then_some(request)
    }

    /// Its bytes.
    pub fn bytes(&self) -> [u8; HEADER] {
        write(self.op as u8, 0, self.key_len, self.value_len, self.id)
    }

    /// Bytes of its payload.
    pub fn payload_len(&self) -> u16 {
        HEADER as u16 + self.key_len + self.value_len
    }
}

/// A reply's header; the value follows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reply {
    /// What was asked for.
    pub op: Op,
    /// How it went.
    pub status: Status,
    /// Bytes of the value.
    pub value_len: u16,
    /// The client's number.
    pub id: u32,
}

impl Reply {
    /// The reply in a datagram whose payload is `bytes`; `None` if it is none.
    pub fn parse(bytes: &[u8]) -> Option<Reply> {
        let h = header(bytes)?;
        let op = Op::from_bits(h[3].checked_sub(REPLY)?)?;
        let reply = Reply { op, status: Status::from_bits(h[4])?, value_len: be16(h, 8)?, id: id(h) };
        let zeros = h[5] == 0 && be16(h, 6) == Some(0) && be16(h, 10) == Some(0);
        (zeros && HEADER + usize::from(reply.value_len) == bytes.len()).then_some(reply)
    }

    /// Its bytes.
    pub fn bytes(&self) -> [u8; HEADER] {
        write(self.op as u8 | REPLY, self.status as u8, 0, self.value_len, self.id)
    }
}

fn header(bytes: &[u8]) -> Option<&[u8]> {
    let h = bytes.get(..HEADER)?;
    (be16(h, 0) == Some(MAGIC) && h[2] == VERSION).then_some(h)
}

fn id(h: &[u8]) -> u32 {
    h.last_chunk().map_or(0, |id| u32::from_be_bytes(*id))
}

fn write(op: u8, status: u8, key_len: u16, value_len: u16, id: u32) -> [u8; HEADER] {
    let mut h = [0; HEADER];
    h[..2].copy_from_slice(&MAGIC.to_be_bytes());
    h[2..5].copy_from_slice(&[VERSION, op, status]);
    h[6..8].copy_from_slice(&key_len.to_be_bytes());
    h[8..10].copy_from_slice(&value_len.to_be_bytes());
    h[12..].copy_from_slice(&id.to_be_bytes());
    h
}

const MIX: u64 = 0x9e37_79b9_7f4a_7c15;

/// The hash of a key, part of what client and store agree on: the key's length, then its bytes as
/// little-endian words, the last one filled up with zeros, each mixed in by
/// `h = (h ^ word) * 0x9e3779b97f4a7c15; h ^= h >> 32`, and at the end once more with a word of 0.
pub fn hash(key: &[u8]) -> u64 {
    let mix = |h: u64, word: u64| {
        let h = (h ^ word).wrapping_mul(MIX);
        h ^ (h >> 32)
    };
    let (words, rest) = key.as_chunks::<8>();
    let mut h = words.iter().fold(key.len() as u64, |h, w| mix(h, u64::from_le_bytes(*w)));
    if !rest.is_empty() {
        let mut word = [0; 8];
        word[..rest.len()].copy_from_slice(rest);
        h = mix(h, u64::from_le_bytes(word));
    }
    mix(h, 0)
}

/// The partition of a key among `count`: the top 16 bits of its hash, spread evenly.
pub fn partition(hash: u64, count: u32) -> u32 {
    (((hash >> 48) * u64::from(count)) >> 16) as u32
}
