//! Which words a store and its clients use.

use super::{HEADER, Reply, Request, erpc};

/// The headers of requests and answers. Both kinds of request have as many bytes before their key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// The project's own, see [`kv`](super).
    #[default]
    Plain,
    /// Those of eRPC, see [`erpc`].
    Erpc,
}

/// The most bytes before the value of an answer.
const LONGEST: usize = HEADER + erpc::STATUS;

impl Protocol {
    /// The name in a workload.
    pub const fn name(self) -> &'static str {
        match self {
            Protocol::Plain => "kv",
            Protocol::Erpc => "erpc",
        }
    }

    /// The request in a datagram whose payload of `len` bytes begins with `bytes`; `None` if it is none.
    pub fn request(self, bytes: &[u8], len: usize) -> Option<Request> {
        match self {
            Protocol::Plain => Request::parse(bytes, len),
            Protocol::Erpc => erpc::request(bytes, len),
        }
    }

    /// The bytes before the key of a request; one that has no value leaves `room` bytes for it.
    pub fn ask(self, request: &Request, room: u16) -> [u8; HEADER] {
        match self {
            Protocol::Plain => request.bytes(),
            Protocol::Erpc => erpc::ask(request, room, 0),
        }
    }

    /// Bytes before the value of an answer.
    pub const fn before_value(self) -> usize {
        match self {
            Protocol::Plain => HEADER,
            Protocol::Erpc => HEADER + erpc::STATUS,
        }
    }

    /// Those bytes, [`before_value`](Self::before_value) of them, to the request that begins with `asked`.
    pub fn answer(self, asked: &[u8], reply: &Reply) -> [u8; LONGEST] {
        match self {
            Protocol::Plain => {
                let mut bytes = [0; LONGEST];
                bytes[..HEADER].copy_from_slice(&reply.bytes());
                bytes
            }
            Protocol::Erpc => erpc::answer(asked, reply),
        }
    }

    /// The answer in a datagram whose payload is `bytes`; `None` if it is none.
    pub fn reply(self, bytes: &[u8]) -> Option<Reply> {
        match self {
            Protocol::Plain => Reply::parse(bytes),
            Protocol::Erpc => erpc::reply(bytes),
        }
    }
}
