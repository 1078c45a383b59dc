//! The physical rings below an emulated NIC: the card's end and the emulator's.

use std::cell::Cell;
use std::rc::Rc;

use memory::{Buf, Ps};
use rings::{Buffers, Completion, Frame, Interface, Nic, Outcome, SizeError, privring};

use crate::engine::space::ModelSpace;
use crate::engine::view::View;
use crate::machine::layout::{PoolId, Table};
use crate::scenario::physical;

/// Both ends of a port's physical rings.
pub(crate) struct Physical {
    pub card: CardRings,
    pub(super) rings: Vec<Ring>,
    /// Host memory that the card writes to delay a notice.
    pub(super) notice: Table,
}

impl Physical {
    pub(crate) fn build(
        space: &mut ModelSpace,
        interface: &Interface,
        queues: u32,
        buffers: PoolId,
    ) -> Result<Physical, SizeError> {
        let (count, each) = physical::rings(interface, queues);
        let (hosts, nic) =
            privring::build(space, &privring::Sizes { ring: physical::entries(each) }, count, buffers)?;
        let waits: Vec<Rc<Cell<bool>>> = hosts.iter().map(|_| Rc::default()).collect();
        let card = CardRings { nic, waits: waits.clone() };
        let ring = |(host, waits)| Ring {
            host,
            spares: Spares(Vec::new()),
            each,
            held: Vec::new(),
            free: each,
            waits,
        };
        let notice = memory::Space::table(space, "notice", 64)?;
        Ok(Physical { card, rings: hosts.into_iter().zip(waits).map(ring).collect(), notice })
    }
}

/// The physical rings as the card sees them.
pub(crate) struct CardRings {
    nic: privring::NicHalf<View>,
    /// Whether the worker is behind, ring by ring.
    waits: Vec<Rc<Cell<bool>>>,
}

impl Nic<View> for CardRings {
    /// Frames of all queues share a physical ring if there is one. Where it is full, either the worker is
    /// behind, or the emulator: then it is the NIC that cannot follow.
    fn deliver(&mut self, m: &mut View, queue: u16, frames: &[Frame<'_>], out: &mut [Outcome]) {
        let ring = if self.waits.len() == 1 { 0 } else { queue };
        self.nic.deliver(m, ring, frames, out);
        let waits = self.waits.get(usize::from(ring)).is_some_and(|w| w.get());
        let full = if waits { Outcome::RingFull } else { Outcome::NicBufferFull };
        out.iter_mut().filter(|o| **o == Outcome::RingFull).for_each(|o| *o = full);
    }

    fn poll(&mut self, m: &mut View) -> Option<Ps> {
        self.nic.poll(m)
    }

    fn stop_queue(&mut self, m: &mut View, queue: u16) {
        self.nic.stop_queue(m, queue);
    }

    fn start_queue(&mut self, m: &mut View, queue: u16) {
        self.nic.start_queue(m, queue);
    }
}

/// Empty buffers on their way from the virtual rings to a physical one, in the emulator's own memory.
pub(super) struct Spares(pub Vec<Buf>);

impl Buffers<View> for Spares {
    fn take(&mut self, _m: &mut View, out: &mut [Buf]) -> usize {
        let n = out.len().min(self.0.len());
        out.iter_mut().zip(self.0.drain(..n)).for_each(|(slot, buf)| *slot = buf);
        n
    }

    fn give(&mut self, _m: &mut View, bufs: &[Buf]) {
        self.0.extend_from_slice(bufs);
    }
}

/// The emulator's end of a physical ring.
pub(super) struct Ring {
    pub host: privring::HostHalf<View>,
    pub spares: Spares,
    /// Buffers that it holds.
    pub each: u32,
    /// Frames that were received and wait for a worker's empty buffer, with their virtual queues.
    pub held: Vec<(Completion, u16)>,
    /// Frames moved since one had to wait.
    pub free: u32,
    /// Whether that was within one round of the ring: what fills it then is the worker.
    pub waits: Rc<Cell<bool>>,
}
