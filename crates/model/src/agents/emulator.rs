//! The emulated NIC (rxbisect §5): a core on the other NUMA node that plays the NIC of a port.
//!
//! The card stores frames in *physical* rings, today's private ones, which the emulator polls. It passes
//! pointers on to *virtual* rings, those of the interface, in which the workers find what a NIC would
//! have written: the same NIC half with a core's view. A frame keeps its buffer, the emulator gets the
//! empty one that the worker had posted for it, and posts that to the card. So each entry of both rings
//! holds a buffer, and twice as many circulate. Frames are sent by the card directly.

use std::cell::Cell;
use std::rc::Rc;

use memory::{Buf, Memory, Ps, Touch};
use packet::Steering;
use rings::pool::CoreCache;
use rings::{AnyNic, Buffers, Completion, Frame, Host, Interface, Nic, Outcome, SizeError, privring};

use super::book::Book;
use super::plug::Plug;
use crate::engine::space::ModelSpace;
use crate::engine::view::View;
use crate::machine::layout::{PoolId, Table};
use crate::scenario::Scenario;
use crate::scenario::physical;

/// Frames taken off a physical ring in one go.
const BURST: usize = 32;

/// The outcome that makes a frame wait for its worker's next empty buffer: in a physical ring of the
/// worker's own, where it holds up nobody. So it waits through two full rings (rxbisect §5). Frames that
/// share a physical ring are dropped as a NIC would drop them.
fn patient(interface: &Interface) -> Option<Outcome> {
    match interface {
        Interface::PrivRing(_) => Some(Outcome::RingFull),
        _ => None,
    }
}

/// Both ends of a port's physical rings.
pub(crate) struct Physical {
    pub card: CardRings,
    rings: Vec<Ring>,
    /// Host memory that the card writes to delay a notice.
    notice: Table,
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
struct Spares(Vec<Buf>);

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
struct Ring {
    host: privring::HostHalf<View>,
    spares: Spares,
    /// Buffers that it holds.
    each: u32,
    /// Frames that were received and wait for a worker's empty buffer, with their virtual queues.
    held: Vec<(Completion, u16)>,
    /// Frames moved since one had to wait.
    free: u32,
    /// Whether that was within one round of the ring: what fills it then is the worker.
    waits: Rc<Cell<bool>>,
}

/// One port of the emulated NIC.
pub(crate) struct Emulator {
    rings: Vec<Ring>,
    nic: AnyNic<View>,
    steer: packet::Steer,
    buffers: PoolId,
    port: u32,
    /// Core of queue 0.
    first: usize,
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
        plug: &Plug,
        physical: Physical,
        nic: AnyNic<View>,
    ) -> (Emulator, CardRings) {
        let foreign = (0..).map_while(|i| nic.counter(i)).position(|(name, _)| name == "foreign");
        let emulator = Emulator {
            rings: physical.rings,
            nic,
            steer: s.steer.over(plug.queues),
            buffers: plug.buffers,
            port: plug.port,
            first: plug.first,
            cycles: s.server.constants.emulator_cycles.value as u32,
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
        let nothing = Completion { buf: Buf(0), len: 0, rss: 0, kind: 0 };
        let mut burst = [nothing; BURST];
        let n = host.rx_burst(m, spares, &mut burst);
        for frame in &burst[..n] {
            m.meta(self.buffers, frame.buf, 0, Touch::Write); // the card's driver fills the mbuf
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
            let (len, rss, kind) = frames.get(k).map_or((0, 0, 0), |(c, _)| (c.len, c.rss, c.kind));
            Frame::lying(&lies[k], len, rss, kind)
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
            meter.fates[self.first + usize::from(queue)][fate as usize] += 1;
            meter.passing -= 1;
        }
    }

    /// A notice to another Bx ring than the frame's is a DMA write of its own on a real card: here the card
    /// writes 64 B for each (rxbisect §5).
    fn delay_notices(&mut self, m: &mut View) {
        let count = self.foreign.and_then(|i| self.nic.counter(i)).map_or(0, |(_, n)| n);
        for _ in self.notices..count {
            m.loop_write(self.port, self.notice);
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

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::cell::RefCell;

    use memory::Space;
    use rings::{pool, rxbisect, shring};

    use super::*;
    use crate::agents::meter::Meter;
    use crate::engine::Engine;
    use crate::engine::agent::Agent;
    use crate::engine::sim::Sim;
    use crate::profile::{NicKind, Server, WINDOW};
    use crate::scenario::app::App;
    use crate::scenario::{BURST, Start, TX_RING};

    const QUEUES: u32 = 2;
    const BUFFERS: u32 = 1024;
    const FRAMES: u64 = 2000;
    const FLOWS: u64 = 8;
    const END: Ps = Ps::from_us(1_000);

    /// What a core received: queue, flow, number.
    type Seen = Rc<RefCell<Vec<(u16, u64, u64)>>>;

    fn scenario(interface: Interface) -> Scenario {
        Scenario {
            server: Server::by_name("rxbisect-testbed").unwrap(),
            interface,
            emulated: true,
            app: App::L3fwd,
            port_cores: vec![QUEUES],
            sources: Vec::new(),
            peers: Vec::new(),
            steer: packet::SteerBy::Rss,
            start: Start::Empty,
            seed: 1,
            sampling: 1,
            tx_ring: TX_RING,
            burst: BURST,
            pool: None,
            limit: END,
            window: WINDOW,
            span: None,
            pauses: false,
            antagonist: None,
            frames: 0,
        }
    }

    fn hash(flow: u64) -> u32 {
        (flow as u32).wrapping_mul(0x9e37_79b9) >> 7
    }

    /// The card: frames faster than the cores follow; what becomes of them there.
    fn arrive(m: &mut View, mut card: CardRings, steer: &packet::Steer, book: &Book) {
        m.pause(Ps::from_us(50), false); // rings are filled
        for n in 0..FRAMES {
            let next = m.now() + Ps::from_ns(150);
            m.pause(next, false);
            let flow = n * 7 % FLOWS;
            let mut head = [0; 16];
            head[..8].copy_from_slice(&flow.to_le_bytes());
            head[8..].copy_from_slice(&n.to_le_bytes());
            let (queue, mut out) = (steer.queue(hash(flow)), [Outcome::BadFrame]);
            card.deliver(m, queue, &[Frame::new(&head, 1500, hash(flow), 0)], &mut out);
            let mut meter = book.meter.borrow_mut();
            match out[0] {
                Outcome::Delivered => meter.passing += 1,
                fate => meter.fates[usize::from(queue)][fate as usize] += 1,
            }
        }
        m.pause(END + END, false);
    }

    fn work<H: Host<View>>(
        m: &mut View,
        b: PoolId,
        queue: u16,
        mut host: H,
        mut pool: CoreCache<View>,
    ) -> Seen {
        let seen = Seen::default();
        host.fill(m, &mut pool);
        while !m.stopped() {
            let mut got = [Completion { buf: Buf(0), len: 0, rss: 0, kind: 0 }; BURST as usize];
            let n = host.rx_burst(m, &mut pool, &mut got);
            for frame in &got[..n] {
                let mut head = [0; 16];
                m.get(b, frame.buf, 0, &mut head, 16);
                let word = |at: usize| u64::from_le_bytes(head[at..at + 8].try_into().unwrap());
                seen.borrow_mut().push((queue, word(0), word(8)));
                m.work(1600);
                pool.give(m, &[frame.buf]);
            }
            if n == 0 {
                m.idle();
            }
        }
        host.drain(m, &mut pool);
        pool.flush(m);
        seen
    }

    fn check(interface: Interface) {
        let s = scenario(interface);
        let name = s.interface.name();
        let mut space = ModelSpace::new();
        let b = space.buffers(&s.server.buffers.geometry(BUFFERS)).unwrap();
        let (hosts, nic) =
            rings::build(&mut space.served_by(NicKind::Core), &s.interface, QUEUES, b).unwrap();
        let physical = Physical::build(&mut space, &s.interface, QUEUES, b).unwrap();
        let mut pools = pool::build(&mut space, BUFFERS, QUEUES + 2, 32).unwrap();
        let plug = Plug { port: 0, queues: QUEUES as u16, first: 0, buffers: b };
        let (emulator, card) = Emulator::new(&s, &plug, physical, nic);
        let sim = Sim::new(&s.server, space.finish(), 1, 1).emulated(&s.server, 1);
        let mut engine = Engine::new(sim, Ps::ZERO);
        let meter = Rc::new(RefCell::new(Meter::new(16, None).unwrap()));
        let book = Book { meter, orders: Rc::default(), counters: Rc::default() };
        let (steer, card_book, own_book) = (s.steer.over(QUEUES as u16), book.clone(), book.clone());
        let steered = steer.clone();
        engine.spawn(Agent::NicRx(0), move |m| arrive(m, card, &steered, &card_book)).unwrap();
        let (auditor, own) = (pools.pop().unwrap(), pools.pop().unwrap());
        engine.spawn(Agent::NicCore(16), move |m| emulator.serve(m, own, &own_book)).unwrap();
        let all: Rc<RefCell<Vec<Seen>>> = Rc::default();
        for (queue, (host, pool)) in (0..).zip(hosts.into_iter().zip(pools)) {
            let all = all.clone();
            let body = move |m: &mut View| {
                let seen = work(m, b, queue, host, pool);
                all.borrow_mut().push(seen);
            };
            engine.spawn(Agent::Core(queue.into()), body).unwrap();
        }
        engine.run_until(END).unwrap();
        engine.stop().unwrap();

        let mut next = [0; FLOWS as usize];
        let mut received = 0;
        for seen in all.borrow().iter() {
            for &(queue, flow, n) in seen.borrow().iter() {
                assert_eq!(queue, steer.queue(hash(flow)), "{name}: flow {flow}");
                assert!(n >= next[flow as usize], "{name}: frame {n} of flow {flow} is late or came again");
                next[flow as usize] = n + 1;
                received += 1;
            }
        }
        let meter = book.meter.borrow();
        let fates: u64 = meter.fates.iter().flatten().sum();
        let delivered: u64 = meter.fates.iter().map(|f| f[Outcome::Delivered as usize]).sum();
        assert_eq!((received, fates, meter.passing), (delivered, FRAMES, 0), "{name}");
        assert!(delivered < FRAMES && delivered > FRAMES / 2, "{name}: {delivered}, the cores are behind");
        let mut m = engine.set_up(Agent::Core(0));
        assert_eq!(auditor.shared(&mut m), u64::from(BUFFERS), "{name}: buffers in use");
    }

    #[test]
    fn each_flow_arrives_at_its_queue_in_order() {
        check(Interface::PrivRing(privring::Sizes { ring: 64 }));
        check(Interface::ShRing(shring::Sizes {
            ring: 64,
            shared_by: 2,
            completions: 64,
            ..Default::default()
        }));
        check(Interface::RxBisect(rxbisect::Sizes { ax: 32, bx: 64, ..Default::default() }));
    }
}
