//! The header of a packet of eRPC (Kalia, Kaminsky and Andersen, NSDI 2019), as its programs for x86 lay it out: two
//! words of fields in little-endian order, the lowest bits first.
//!
//! | bits of the first word | field |
//! |---|---|
//! | 0 to 7 | type of the request |
//! | 8 to 31 | bytes of the whole message |
//! | 32 to 47 | session of the receiver |
//! | 48, 49 | kind of the packet |
//! | 50 to 63 | number of the packet in its message |
//!
//! The second word has the number of the request in its session in bits 0 to 43, and [`MAGIC`] in bits 44 to 47.
//!
//! A store hears single-packet requests only. Their message is a key of [`KEY`] bytes, then room for a value: a put's
//! value fills it, a get leaves it empty or zero. So requests of both types are alike in length, as a program's are that
//! has one structure for all of them. An answer's message is [`STATUS`] bytes, the status and zeros, then the value.

use super::{Op, Reply, Request, Status};

/// Bytes of the header.
pub const HEADER: usize = 16;
/// What the second word ends with.
pub const MAGIC: u64 = 11;
/// Bytes of a key.
pub const KEY: u16 = 16;
/// Bytes of an answer's message before the value.
pub const STATUS: usize = 8;

/// What a packet is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Packet {
    /// A part of a request.
    Request = 0,
    /// Asks for the next part of an answer.
    Pull = 1,
    /// Gives a credit back.
    Credit = 2,
    /// A part of an answer.
    Response = 3,
}

/// A packet's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Type of the request, the program's own.
    pub request: u8,
    /// Bytes of the whole message; 24 bits.
    pub message: u32,
    /// Session of the receiver.
    pub session: u16,
    /// What the packet is for.
    pub packet: Packet,
    /// Its number in its message; 14 bits.
    pub number: u16,
    /// Number of the request in its session; 44 bits.
    pub sequence: u64,
}

impl Header {
    /// The header that `bytes` begin with; `None` if they hold none.
    pub fn parse(bytes: &[u8]) -> Option<Header> {
        let (words, _) = bytes.get(..HEADER)?.as_chunks::<8>();
        let [first, second] = [0, 1].map(|i| words.get(i).map_or(0, |word| u64::from_le_bytes(*word)));
        let kinds = [Packet::Request, Packet::Pull, Packet::Credit, Packet::Response];
        let header = Header {
            request: first as u8,
            message: (first >> 8) as u32 & 0x00ff_ffff,
            session: (first >> 32) as u16,
            packet: kinds[(first >> 48) as usize & 3],
            number: (first >> 50) as u16,
            sequence: second & SEQUENCE,
        };
        (second >> 44 == MAGIC).then_some(header)
    }

    /// Its bytes.
    pub fn bytes(&self) -> [u8; HEADER] {
        let first = u64::from(self.request)
            | (u64::from(self.message) & 0x00ff_ffff) << 8
            | u64::from(self.session) << 32
            | (self.packet as u64) << 48
            | (u64::from(self.number) & 0x3fff) << 50;
        let second = self.sequence & SEQUENCE | MAGIC << 44;
        let mut bytes = [0; HEADER];
        bytes[..8].copy_from_slice(&first.to_le_bytes());
        bytes[8..].copy_from_slice(&second.to_le_bytes());
        bytes
    }
}

const SEQUENCE: u64 = (1 << 44) - 1;

/// The request in a datagram whose payload of `len` bytes begins with `bytes`; `None` if it is no whole request to a store.
pub(super) fn request(bytes: &[u8], len: usize) -> Option<Request> {
    let header = Header::parse(bytes)?;
    let op = Op::from_bits(header.request)?;
    let whole = header.packet == Packet::Request && header.number == 0;
    let room = len.checked_sub(HEADER + usize::from(KEY))?;
    let said = header.message as usize == usize::from(KEY) + room;
    let value_len = if op == Op::Put { u16::try_from(room).ok()? } else { 0 };
    (whole && said).then_some(Request { op, key_len: KEY, value_len, id: header.sequence as u32 })
}

/// The header of a request whose message has room for a value of `room` bytes.
pub(super) fn ask(request: &Request, room: u16, session: u16) -> [u8; HEADER] {
    let message = u32::from(KEY) + u32::from(room);
    let (request, sequence) = (request.op as u8, request.id.into());
    Header { request, message, session, packet: Packet::Request, number: 0, sequence }.bytes()
}

/// What an answer begins with, to the request whose header `asked` begins with.
pub(super) fn answer(asked: &[u8], reply: &Reply) -> [u8; HEADER + STATUS] {
    let message = STATUS as u32 + u32::from(reply.value_len);
    // The numbers of a request, its session among them, come back: both ends number their sessions alike.
    let asked = Header::parse(asked).map_or((0, reply.id.into()), |h| (h.session, h.sequence));
    let (request, packet, (session, sequence)) = (reply.op as u8, Packet::Response, asked);
    let mut bytes = [0; HEADER + STATUS];
    bytes[..HEADER]
        .copy_from_slice(&Header { request, message, session, packet, number: 0, sequence }.bytes());
    bytes[HEADER] = reply.status as u8;
    bytes
}

/// The answer in a datagram whose payload is `bytes`; `None` if it is none.
pub(super) fn reply(bytes: &[u8]) -> Option<Reply> {
    let header = Header::parse(bytes)?;
    let status = bytes.get(HEADER..HEADER + STATUS)?;
    let value_len = u16::try_from(bytes.len() - HEADER - STATUS).ok()?;
    let whole = header.packet == Packet::Response && header.number == 0;
    let said = header.message as usize == bytes.len() - HEADER && status[1..] == [0; STATUS - 1];
    let status = Status::from_bits(status[0])?;
    let reply = Reply { op: Op::from_bits(header.request)?, status, value_len, id: header.sequence as u32 };
    (whole && said).then_some(reply)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a packet that is not read fails its test")]

    use super::*;

    const LAST: Header = Header {
        request: 255,
        message: 0x00ff_ffff,
        session: u16::MAX,
        packet: Packet::Response,
        number: 0x3fff,
        sequence: SEQUENCE,
    };

    #[test]
    fn fields_stand_where_the_table_says() {
        let zero =
            Header { request: 0, message: 0, session: 0, packet: Packet::Request, number: 0, sequence: 0 };
        let cases = [
            (Header { request: 0xab, ..zero }, 0xab, 0),
            (Header { message: 0x0012_3456, ..zero }, 0x1234_5600, 0),
            (Header { session: 0x4321, ..zero }, 0x4321 << 32, 0),
            (Header { packet: Packet::Response, ..zero }, 3 << 48, 0),
            (Header { number: 0x2001, ..zero }, 0x2001 << 50, 0),
            (Header { sequence: 0x0fed_cba9_8765, ..zero }, 0, 0x0fed_cba9_8765),
            (LAST, u64::MAX, SEQUENCE),
        ];
        for (header, first, second) in cases {
            let bytes = header.bytes();
            assert_eq!(bytes[..8], first.to_le_bytes(), "{header:?}");
            assert_eq!(bytes[8..], (second | MAGIC << 44).to_le_bytes(), "{header:?}");
            assert_eq!(Header::parse(&bytes), Some(header));
        }
        let mut bytes = LAST.bytes();
        bytes[14] = 1;
        assert_eq!((Header::parse(&bytes), Header::parse(&bytes[..15])), (None, None));
    }

    #[test]
    fn a_request_and_its_answer_are_read_as_they_were_written() {
        for (op, value_len, room) in
            [(Op::Get, 0, 64), (Op::Put, 64, 64), (Op::Get, 0, 0), (Op::Delete, 0, 9)]
        {
            let asked = Request { op, key_len: KEY, value_len, id: 77 };
            let bytes = ask(&asked, room, 5);
            let len = HEADER + usize::from(KEY + room);
            assert_eq!(request(&bytes, len), Some(asked));
            assert_eq!([request(&bytes, len + 1), request(&bytes, HEADER)], [None; 2]);
            let said = Reply { op, status: Status::NotFound, value_len: 3, id: 77 };
            let mut back = answer(&bytes, &said).to_vec();
            assert_eq!(Header::parse(&back).unwrap().session, 5);
            back.extend([1, 2, 3]);
            assert_eq!(reply(&back), Some(said));
            assert_eq!([reply(&back[..back.len() - 1]), reply(&bytes)], [None; 2]);
            assert_eq!(request(&back, back.len()), None, "an answer is no request");
        }
    }
}
