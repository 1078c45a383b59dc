//! A port's traffic and cores in the model: frames that are judged, cores that receive, work and send.

use memory::{Buf, Memory, Ps};
use model::{PoolId, View};
use rings::oracle::{self, Ledger, MARK, Offered};
use rings::pool::CoreCache;
use rings::tx::HostTx;
use rings::{
    AnyHost, AnyNic, Buffers, Completion, Host, Interface, Nic, Outcome, Segment, TxHost, ccnic, ceio, corec,
    ddring, dynamic, privring, rxbisect, shring,
};

use crate::caches::Chance;

pub(crate) const QUEUES: u32 = 3;
pub(crate) const FRAMES: u64 = 3000;
pub(crate) const BUFFERS: u32 = 1024;
const BURST: usize = 16;
/// Work on a frame, cycles of 0.5 ns.
const WORK: u32 = 1000;

/// The receive half of the card: frames of random queue and size, in bursts that the cores cannot follow
/// and gaps in which they catch up. `before` each frame the caller may do something else.
pub(crate) fn arrive(
    m: &mut View,
    (interface, nic): (&Interface, &mut AnyNic<View>),
    seed: u64,
    mut before: impl FnMut(&mut View, &mut AnyNic<View>, &mut Offered),
) -> Offered {
    let (mut chance, mut offered) = (Chance::new(seed), Offered::new(QUEUES));
    for n in 0..FRAMES {
        let gap = if n / 300 % 2 == 0 { 100_000 } else { 1_000 };
        rest(m, nic, Ps(u64::from(chance.below(2 * gap))));
        before(m, nic, &mut offered);
        let queue = chance.below(QUEUES * 2).min(QUEUES - 1) as u16; // the last queue has the most
        let len = MARK as u32 + chance.below(1500);
        let ring = interface.ring_of(queue); // in whose books the frame stands
        let number = offered.next(ring);
        let mark = oracle::mark(ring, number);
        let mut outcome = [Outcome::BadFrame];
        nic.deliver(m, queue, &[oracle::frame(&mark, len as u16)], &mut outcome);
        offered.ended(ring, number, outcome[0]).unwrap();
    }
    offered
}

/// So much time passes behind the last frame: what is in the rings is received and sent.
pub(crate) const REST: Ps = Ps::from_us(500);

/// Passes time, and sends the notices that fall due.
pub(crate) fn rest(m: &mut View, nic: &mut AnyNic<View>, span: Ps) {
    let end = m.now() + span;
    while let Some(due) = nic.poll(m)
        && due < end
    {
        let next = m.now() + Ps(1);
        m.pause(due.max(next), false);
    }
    m.pause(end, false);
}

/// Lets a card hand out what it keeps for its cores, for 20 ms at the most.
pub(crate) fn hand_out(m: &mut View, nic: &mut AnyNic<View>) {
    let end = m.now() + Ps::from_us(20_000);
    while let Some(due) = nic.poll(m)
        && due < end
    {
        let next = m.now() + Ps(1);
        m.pause(due.max(next), false);
    }
}

/// One core: its receive ring, its transmit ring, its buffers, and frames that wait for room.
pub(crate) struct Core {
    queue: u16,
    pub(crate) host: AnyHost<View>,
    pub(crate) tx: HostTx<View>,
    pub(crate) pool: CoreCache<View>,
    buffers: PoolId,
    pub(crate) ledger: Ledger,
    waiting: Vec<Segment>,
}

impl Core {
    pub(crate) fn new(
        queue: u16,
        host: AnyHost<View>,
        tx: HostTx<View>,
        pool: CoreCache<View>,
        buffers: PoolId,
    ) -> Core {
        Core { queue, host, tx, pool, buffers, ledger: Ledger::default(), waiting: Vec::new() }
    }

    /// The run is over: every buffer goes home; what was received.
    pub(crate) fn empty(mut self, m: &mut View) -> Ledger {
        let held: Vec<Buf> = self.waiting.iter().map(|s| s.buf).collect();
        self.pool.give(m, &held);
        self.tx.drain(m, &mut self.pool);
        self.host.drain(m, &mut self.pool);
        self.pool.flush(m);
        self.ledger
    }

    /// Receives a burst and works on it; how many frames.
    pub(crate) fn receive(&mut self, m: &mut View) -> usize {
        let mut got = [Completion::none(); BURST];
        let n = self.host.rx_burst(m, &mut self.pool, &mut got);
        for c in &got[..n] {
            let mut payload = [0; MARK];
            m.get(self.buffers, c.buf, 0, &mut payload, u32::from(c.len));
            self.ledger.receive(self.queue, *c, &payload).unwrap();
            m.work(WORK);
            self.waiting.push(Segment { buf: c.buf, off: 0, len: c.len, last: true });
        }
        n
    }

    /// Posts the frames that wait for room; how many.
    pub(crate) fn send(&mut self, m: &mut View) -> usize {
        let taken = self.tx.tx_burst(m, &mut self.pool, &self.waiting);
        self.waiting.drain(..taken);
        taken
    }
}

pub(crate) const BISECT: rxbisect::Sizes =
    rxbisect::Sizes { ax: 16, bx: 64, group: 0, batch: 4, timeout: Ps::from_us(1), alloc_queues: 0 };

/// Judges every 20 us, so that bursts are trials.
const DYNAMIC: dynamic::Sizes = dynamic::Sizes {
    ring: 64,
    shared_by: 2,
    completions: 64,
    unlock: shring::Unlock::Store,
    report: 4,
    round: Ps::from_us(20),
};

pub(crate) fn interfaces() -> [Interface; 13] {
    let nic_memory = ceio::NicMemory { slots: 32 };
    let shring = shring::Sizes { ring: 64, shared_by: 2, completions: 64, ..Default::default() };
    [
        Interface::PrivRing(privring::Sizes { ring: 64 }),
        Interface::ShRing(shring),
        Interface::ShRing(shring::Sizes { unlock: shring::Unlock::Swap, ..shring }),
        Interface::RxBisect(BISECT),
        Interface::Dynamic(DYNAMIC),
        Interface::DdRing(ddring::Sizes { ring: 64, shared_by: 1, refill: ddring::Refill::Each }),
        Interface::DdRing(ddring::Sizes { ring: 64, shared_by: 3, refill: ddring::Refill::Bulk }),
        Interface::Corec(corec::Sizes { ring: 64, shared_by: 3, ..Default::default() }),
        Interface::Corec(corec::Sizes { ring: 32, shared_by: 2, ..Default::default() }),
        Interface::CcNic(ccnic::Sizes { ring: 64, homing: ccnic::Homing::Host, ..Default::default() }),
        Interface::CcNic(ccnic::Sizes::e810(64)),
        Interface::Ceio(ceio::Sizes { ring: 64, credits: 40, release: 8, nic_memory, ..Default::default() }),
        Interface::Ceio(ceio::Sizes {
            ring: 64,
            credits: 0,
            nic_memory: ceio::NicMemory { slots: 400 },
            ..Default::default()
        }),
    ]
}
