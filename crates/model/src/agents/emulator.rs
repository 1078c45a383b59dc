//! The emulated NIC (rxbisect §5): a core on the other NUMA node that plays the NIC of a port.
//!
//! The card stores frames in *physical* rings, today's private ones, which the emulator polls. It passes
//! pointers on to *virtual* rings, those of the interface, in which the workers find what a NIC would
//! have written: the same NIC half with a core's view. A frame keeps its buffer, the emulator gets the
//! empty one that the worker had posted for it, and posts that to the card. So each entry of both rings
//! holds a buffer, and twice as many circulate. Frames are sent by the card directly.

mod physical;
#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests;

use std::cell::Cell;

use memory::{Buf, Memory, Touch};
use packet::Steering;
use rings::pool::CoreCache;
use rings::{AnyNic, Buffers, Completion, Frame, Host, Interface, Nic, Outcome};

use super::book::Book;
use super::plug::Plug;
use crate::engine::view::View;
use crate::machine::layout::Table;
use crate::scenario::Scenario;
use physical::{CardRings, Ring};

pub(crate) use physical::Physical;

/// Frames taken off a physical ring in one go.
const BURST: usize = 32;

/// The outcome that makes a frame wait for its worker's next empty buffer. A frame waits only where its worker has
/// a physical ring of its own, in which it holds up nobody: so it waits through two full rings (rxbisect §5).
/// Frames that share a physical ring are dropped as a NIC would drop them.
fn patient(interface: &Interface) -> Option<Outcome> {
    interface.own_buffers().map(|_| Outcome::RingFull)
}

/// One port of the emulated NIC.
pub(crate) struct Emulator {
    rings: Vec<Ring>,
    nic: AnyNic<View>,
    steer: packet::Steer,
    plug: Plug,
    /// Cycles to move a frame's pointers.
    cycles: u32,
    patient: Option<Outcome>,
    /// Which counter of the NIC half counts buffers of other cores' rings, and its last value.
    foreign: Option<usize>,
    notices: u64,
    notice: Table,
}

impl Emulator {
    pub(crate) fn new(
        s: &Scenario,
        plug: Plug,
        physical: Physical,
        nic: AnyNic<View>,
    ) -> (Emulator, CardRings) {
        let foreign = (0..).map_while(|i| nic.counter(i)).position(|(name, _)| name == "foreign");
        let emulator = Emulator {
            rings: physical.rings,
            nic,
            steer: s.steer.over(plug.queues),
            plug,
            cycles: s.server.constants.nic.emulator_cycles.value as u32,
            patient: patient(&s.interface),
            foreign,
            notices: 0,
            notice: physical.notice,
        };
        (emulator, physical.card)
    }

    /// Serves its port until the run is over, with buffers of `pool`.
    pub(crate) fn serve(mut self, m: &mut View, mut pool: CoreCache<View>, book: &Book) {
        for ring in &mut self.rings {
            let mut bufs = vec![Buf(0); ring.each as usize];
            let got = pool.take(m, &mut bufs);
            ring.spares.give(m, &bufs[..got]);
            ring.host.fill(m, &mut ring.spares);
        }
        pool.flush(m);
        while !m.stopped() {
            let moved: usize = (0..self.rings.len()).map(|r| self.turn(m, r, book)).sum();
            let due = self.nic.poll(m);
            if moved > 0 {
                m.chain();
                continue;
            }
            match due {
                Some(due) => m.pause(due, true),
                None => m.idle(),
            }
        }
        self.stop(m, pool, book);
    }

    /// Moves a burst of one physical ring; how many frames came off it.
    fn turn(&mut self, m: &mut View, ring: usize, book: &Book) -> usize {
        if self.rings[ring].held.is_empty() {
            self.receive(m, ring);
        }
        let held = std::mem::take(&mut self.rings[ring].held);
        for frames in held.chunk_by(|(_, a), (_, b)| a == b) {
            self.pass(m, ring, frames, book);
        }
        let Ring { host, spares, each, held: left, free, waits } = &mut self.rings[ring];
        let moved = held.len() - left.len();
        *free = if left.is_empty() { free.saturating_add(moved as u32) } else { 0 };
        waits.set(*free < *each);
        if moved > 0 {
            host.fill(m, spares);
            self.delay_notices(m);
        }
        moved
    }

    /// Takes a burst off a physical ring and sorts it by virtual queue.
    fn receive(&mut self, m: &mut View, ring: usize) {
        let Ring { host, spares, held, .. } = &mut self.rings[ring];
        let mut burst = [Completion::none(); BURST];
        let n = host.rx_burst(m, spares, &mut burst);
        for frame in &burst[..n] {
            m.meta(self.plug.buffers, frame.buf, 0, Touch::Write); // the card's driver fills the mbuf
            m.work(self.cycles);
            held.push((*frame, self.steer.queue(frame.rss)));
            m.chain();
        }
        held.sort_by_key(|(_, queue)| *queue);
    }

    /// Delivers frames of one virtual queue, and holds those that can wait: what the card brings meanwhile
    /// stays in the physical ring, which nothing refills.
    fn pass(&mut self, m: &mut View, ring: usize, frames: &[(Completion, u16)], book: &Book) {
        let Some(&(_, queue)) = frames.first() else { return };
        let n = frames.len().min(BURST);
        let lies: [Cell<Buf>; BURST] =
            std::array::from_fn(|k| Cell::new(frames.get(k).map_or(Buf(0), |(c, _)| c.buf)));
        let burst: [Frame<'_>; BURST] = std::array::from_fn(|k| {
            let c = frames.get(k).map_or(Completion::none(), |(c, _)| *c);
            Frame::lying(&lies[k], c.len, c.rss, c.kind).marked(c.mark)
        });
        let mut fates = [Outcome::RingFull; BURST];
        self.nic.deliver(m, queue, &burst[..n], &mut fates[..n]);
        let Ring { spares, held, .. } = &mut self.rings[ring];
        let mut meter = book.meter.borrow_mut();
        for ((frame, fate), lies) in frames.iter().zip(fates).zip(&lies) {
            if Some(fate) == self.patient {
                held.push(*frame);
                continue;
            }
            spares.0.push(lies.get());
            meter.fates.count(self.plug.first + usize::from(queue), fate);
            meter.passing -= 1;
        }
    }

    /// A notice to another Bx ring than the frame's is a DMA write of its own on a real card: here the card
    /// writes 64 B for each (rxbisect §5).
    fn delay_notices(&mut self, m: &mut View) {
        let count = self.foreign.and_then(|i| self.nic.counter(i)).map_or(0, |(_, n)| n);
        for _ in self.notices..count {
            m.loop_write(self.plug.port, self.notice);
        }
        self.notices = count;
    }

    /// Gives all buffers back. The card has stopped: it was spawned first.
    fn stop(mut self, m: &mut View, mut pool: CoreCache<View>, book: &Book) {
        self.nic.stop(m);
        for Ring { host, spares, held, .. } in &mut self.rings {
            host.drain(m, spares);
            pool.give(m, &spares.0);
            held.iter().for_each(|(frame, _)| pool.give(m, &[frame.buf]));
        }
        pool.flush(m);
        book.add(self.nic.counters());
    }
}
