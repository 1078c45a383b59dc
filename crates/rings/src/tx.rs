//! The transmit ring: of every interface that has no way of its own to send.
//!
//! | word | written by | read by | line | ordering |
//! |---|---|---|---|---|
//! | `descriptor` | core | NIC | 4 descriptors | body, published by `doorbell` |
//! | `doorbell` | core | NIC | a register | ring -> acquire: descriptors below it are whole frames |
//! | `consumed` | NIC | core | its own | release -> acquire: buffers of descriptors below it may be freed |
//!
//! A descriptor is one segment: `[buffer, offset | len << 16 | last << 32]`. The host frees buffers
//! itself, from the descriptors that it wrote, before it posts more (host-side free).
//!
//! **Stop and start.** A stopped queue is not collected. What it had posted by the time it starts again is
//! not sent: the NIC skips it and calls it consumed.
//!
//! Host half: `tx/host.rs`; NIC half: `tx/nic.rs`.

mod host;
mod nic;

use memory::{Buf, Class, Field, Mapping, Side, Space};

use crate::contract::Segment;
use crate::sizes::SizeError;
use nic::Queue;

pub use host::HostTx;
pub use nic::{Collects, NicTx};

// ## Words

const DESCRIPTOR: Field = Field {
    name: "tx.descriptor",
    len: 1,
    width: 2,
    class: Class::Body,
    writer: Side::Host,
    reader: Side::Nic,
    home: Side::Host,
};
const DOORBELL: Field = Field {
    name: "tx.doorbell",
    len: 1,
    width: 1,
    class: Class::Register(Mapping::Uncached),
    writer: Side::Host,
    reader: Side::Nic,
    home: Side::Host,
};
const CONSUMED: Field = Field {
    name: "tx.consumed",
    len: 1,
    width: 1,
    class: Class::Signal,
    writer: Side::Nic,
    reader: Side::Host,
    home: Side::Host,
};

/// The frame ends with this descriptor.
const LAST: u64 = 1 << 32;

/// The descriptor of a segment.
#[inline(always)]
fn pack(s: &Segment) -> [u64; 2] {
    let last = if s.last { LAST } else { 0 };
    [s.buf.0, u64::from(s.off) | u64::from(s.len) << 16 | last]
}

/// The segment of a descriptor.
#[inline(always)]
fn unpack([raw, what]: [u64; 2]) -> Segment {
    Segment { buf: Buf(raw), off: what as u16, len: (what >> 16) as u16, last: what & LAST != 0 }
}

// ## Sizes

pub use crate::contract::TxSizes as Sizes;

/// One port: a host half for each queue, and the NIC half.
pub type Port<M> = (Vec<HostTx<M>>, NicTx<M>);

/// Binds one port.
///
/// # Errors
/// A size is not allowed, or the space has no room.
pub fn build<S: Space>(space: &mut S, sizes: Sizes, queues: u32) -> Result<Port<S::Mem>, SizeError> {
    sizes.validate(queues)?;
    let size = u64::from(sizes.ring);
    let (mut hosts, mut rings) = (Vec::new(), Vec::new());
    for q in 0..queues {
        let descriptor = space.words(&DESCRIPTOR.of(sizes.ring), q)?;
        let doorbell = space.words(&DOORBELL, q)?;
        let consumed = space.words(&CONSUMED, q)?;
        hosts.push(HostTx::new(descriptor, [doorbell, consumed], size));
        rings.push(Queue::new(descriptor, [doorbell, consumed], size));
    }
    Ok((hosts, NicTx::new(rings, sizes.complete_every)))
}
