//! A request as it is read from a frame, and what becomes of it.

use memory::Memory;
use packet::checksum;
use packet::kv::{self, HEADER, MAX_KEY, Protocol, Request, Status};
use rings::Segment;

use super::BYTES_A_CYCLE;
use super::contract::Value;
use crate::headers::SHORTEST;
use crate::{Headers, Packet, SEEN};

/// A request, its key, and where it stands in the frame.
pub(super) struct Asked {
    pub(super) request: Request,
    pub(super) hash: u64,
    key: [u8; MAX_KEY],
    pub(super) at: u32,
}

impl Asked {
    /// The request of a frame; `None` if it is none.
    pub(super) fn read<M: Memory>(
        m: &mut M,
        packet: &Packet<M>,
        headers: &Headers,
        protocol: Protocol,
    ) -> Option<Asked> {
        let payload = headers.datagram()?;
        let request = protocol.request(headers.bytes().get(payload.start..)?, payload.len())?;
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

    pub(super) fn key(&self) -> &[u8] {
        &self.key[..self.request.key_len.into()]
    }
}

/// How a request went.
pub(super) struct Served {
    pub(super) status: Status,
    /// Bytes of the value that follows the reply's header.
    pub(super) len: u16,
    /// What they add to the reply's checksum.
    pub(super) sum: u64,
    /// Where they lie, if not behind the header.
    pub(super) lying: Option<Segment>,
}

impl Served {
    pub(super) fn just(status: Status) -> Served {
        Served { status, len: 0, sum: 0, lying: None }
    }
}

/// Brings a value to its place `behind` the header of the reply, or tells where it lies.
pub(super) fn value_of<M: Memory>(m: &mut M, packet: &Packet<M>, behind: u32, value: Value<'_>) -> Served {
    match value {
        Value::Bytes { bytes, len } => {
            if m.check(packet.frames, packet.buf.0, behind + u32::from(len)).is_err() {
                return Served::just(Status::TooLarge);
            }
            if len > 0 {
                m.work((usize::from(len) / BYTES_A_CYCLE) as u32);
                m.put(packet.frames, packet.buf, behind, bytes, len.into());
            }
            Served { status: Status::Ok, len, sum: checksum::add(0, bytes), lying: None }
        }
        Value::Lying { buf, off, len, sum } => {
            let mut served = Served { status: Status::Ok, len, sum: sum.into(), lying: None };
            if behind + u32::from(len) < SHORTEST as u32 {
                // Padding would have to follow the value.
                let mut bytes = [0; SHORTEST];
                let bytes = &mut bytes[..len.into()];
                m.get(packet.frames, buf, off.into(), bytes, len.into());
                m.put(packet.frames, packet.buf, behind, bytes, len.into());
            } else {
                served.lying = Some(Segment { buf, off, len, last: true });
            }
            served
        }
    }
}
