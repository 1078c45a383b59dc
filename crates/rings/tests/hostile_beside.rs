//! Native memory where the words of one queue are overwritten with anything, and an honest queue of the same port, in
//! the same region, beside it: its frames all arrive and leave once, in order and intact, and it keeps its buffers.
//!
//! Each queue has a ring and buffers of its own: who shares those with a liar shares its fate. A lie therefore never names
//! a buffer of the honest queue.

#![allow(clippy::unwrap_used, reason = "a test")]

mod common;

use common::lies::{WORDS, value};
use common::noting::{Noting, Poke};
use memory::{Backing, Buf, Geometry, Memory, NativeView, Ps, Region, Space};
use proptest::prelude::*;
use rings::oracle::{self, Ledger, MARK, Offered};
use rings::{
    AnyHost, AnyNic, AnyTxHost, AnyTxNic, Buffers, Completion, Host, Interface, Nic, Segment, TxHost, TxNic,
    ccnic, corec, ddring, dynamic, privring, rxbisect, shring, tx,
};

const LIAR: u16 = 0;
const HONEST: u16 = 1;
/// Buffers of each queue.
const SHARE: u64 = 16;
const CASES: u32 = if cfg!(miri) { 12 } else { 5000 };

type View<'r> = NativeView<'r>;
type Pool<'r> = <View<'r> as Memory>::Buffers;

/// A queue's own buffers.
struct Share(Vec<Buf>);

impl<M: Memory> Buffers<M> for Share {
    fn take(&mut self, _m: &mut M, out: &mut [Buf]) -> usize {
        let n = out.len().min(self.0.len());
        out.iter_mut().zip(self.0.drain(..n)).for_each(|(slot, buf)| *slot = buf);
        n
    }

    fn give(&mut self, _m: &mut M, bufs: &[Buf]) {
        self.0.extend_from_slice(bufs);
    }
}

/// A core, what it holds, received and posted to be sent.
struct Core<'r> {
    rx: AnyHost<View<'r>>,
    tx: AnyTxHost<View<'r>>,
    share: Share,
    held: Vec<Segment>,
    received: Ledger,
    posted: u64,
}

impl<'r> Core<'r> {
    /// Receives up to `burst` frames; those of the honest queue are judged.
    fn poll(&mut self, m: &mut View<'r>, b: Pool<'r>, queue: u16, burst: usize) -> usize {
        let mut out = [Completion { buf: Buf(u64::MAX), ..Completion::none() }; 8];
        let n = self.rx.rx_burst(m, &mut self.share, &mut out[..burst]);
        for got in &out[..n] {
            let mut bytes = [0; MARK];
            m.get(b, got.buf, 0, &mut bytes, MARK as u32);
            if queue == HONEST {
                self.received.receive(queue, *got, &bytes).unwrap();
            }
            self.held.push(Segment { buf: got.buf, off: 0, len: got.len, last: true });
        }
        n
    }

    fn send(&mut self, m: &mut View<'r>, count: usize) -> usize {
        let taken = self.tx.tx_burst(m, &mut self.share, &self.held[..count.min(self.held.len())]);
        self.held.drain(..taken);
        self.posted += taken as u64;
        taken
    }
}

/// Both queues of a port.
struct Bed<'r> {
    m: View<'r>,
    b: Pool<'r>,
    cores: Vec<Core<'r>>,
    rx: AnyNic<View<'r>>,
    tx: AnyTxNic<View<'r>>,
    offered: Offered,
    sent: Ledger,
    pokes: Vec<Poke<'r>>,
}

impl<'r> Bed<'r> {
    fn new(region: &'r Region, interface: &Interface, lies: &[(&str, usize)]) -> Bed<'r> {
        let mut space = Noting::new(region);
        let geometry = Geometry::plain(2 * SHARE as u32, 128);
        let b = space.buffers(&geometry).unwrap();
        let (hosts, rx) = rings::receive(&mut space, interface, 2, b).unwrap();
        let (host_tx, tx) =
            rings::transmit(&mut space, interface, tx::Sizes { ring: 4, complete_every: 2 }, 2).unwrap();
        let core = |((share, rx), tx)| Core {
            rx,
            tx,
            share,
            held: Vec::new(),
            received: Ledger::default(),
            posted: 0,
        };
        let shares = [0..SHARE, SHARE..2 * SHARE].map(|range| Share(range.map(Buf).collect()));
        let cores: Vec<_> = shares.into_iter().zip(hosts).zip(host_tx).map(core).collect();
        let named = |name: &str, of: u32| of == u32::from(LIAR) && lies.iter().any(|(lie, _)| *lie == name);
        let pokes = space.pokes.into_iter().filter(|(name, of, _)| named(name, *of));
        let pokes: Vec<_> = pokes.map(|(_, _, poke)| poke).collect();
        assert_eq!(pokes.len(), lies.len(), "fields of the liar");
        let (offered, sent) = (Offered::new(2), Ledger::default());
        let mut bed = Bed { m: region.view(), b, cores, rx, tx, offered, sent, pokes };
        for core in &mut bed.cores {
            assert_eq!(core.rx.fill(&mut bed.m, &mut core.share), 0);
        }
        bed
    }

    fn apply(&mut self, step: Step) {
        match step {
            Step::Arrive { queue, n } => (0..n).for_each(|_| self.arrive(queue)),
            Step::Poll { queue, burst } => {
                self.cores[usize::from(queue)].poll(&mut self.m, self.b, queue, burst);
            }
            Step::Send { queue, n } => {
                self.cores[usize::from(queue)].send(&mut self.m, n);
            }
            Step::Collect { n } => {
                (0..n).take_while(|_| self.collect()).count();
            }
            Step::Free { n } => {
                let Core { held, share, .. } = &mut self.cores[usize::from(LIAR)];
                let n = n.min(held.len());
                share.0.extend(held.drain(..n).map(|segment| segment.buf));
            }
            Step::Notices => {
                self.rx.poll(&mut self.m);
            }
            Step::Lie { field, word, value } => {
                // Not the name of a buffer that the liar has no part in: some words have a length above it.
                let name = value & ((1 << 48) - 1);
                let value = if (SHARE..2 * SHARE).contains(&name) { value - SHARE } else { value };
                self.pokes[field % self.pokes.len()](&mut self.m, word, value);
            }
        }
    }

    fn arrive(&mut self, queue: u16) {
        let mut outcome = [rings::Outcome::BadFrame];
        if queue == LIAR {
            let frame = oracle::mark(LIAR, 0);
            return self.rx.deliver(&mut self.m, queue, &[oracle::frame(&frame, 64)], &mut outcome);
        }
        let number = self.offered.next(queue);
        let mark = oracle::mark(queue, number);
        self.rx.deliver(&mut self.m, queue, &[oracle::frame(&mark, 64)], &mut outcome);
        self.offered.ended(queue, number, outcome[0]).unwrap();
    }

    /// Sends a frame; whether there was one. Those of the honest queue are judged.
    fn collect(&mut self) -> bool {
        let mut frame = Vec::new();
        let Some((queue, count)) = self.tx.collect(&mut self.m, &mut frame) else { return false };
        for s in &frame {
            let mut bytes = [0; MARK];
            let end = u32::from(s.off) + u32::from(s.len);
            let Ok(buf) = self.m.check(self.b, s.buf.0, end) else {
                assert_eq!(queue, LIAR, "{s:?}");
                continue;
            };
            self.m.get(self.b, buf, s.off.into(), &mut bytes, s.len.into());
            if queue == HONEST {
                let number = u64::from_le_bytes(*bytes.first_chunk().unwrap());
                assert_eq!(bytes, oracle::mark(HONEST, number), "payload");
                self.sent.note(number).unwrap();
            }
        }
        self.tx.sent(&mut self.m, queue, count);
        true
    }

    /// The honest queue receives and sends all that is left, and has its buffers.
    fn settle(mut self) {
        self.rx.stop(&mut self.m);
        let honest = usize::from(HONEST);
        loop {
            let core = &mut self.cores[honest];
            let n = core.poll(&mut self.m, self.b, HONEST, 8) + core.send(&mut self.m, 8);
            // The liar's doorbell may have announced some more.
            let sent = (0..16).filter(|_| self.collect()).count();
            if n + sent == 0 {
                break;
            }
        }
        let Bed { mut m, mut cores, offered, sent, .. } = self;
        offered.judge([(HONEST, &cores[honest].received)]).unwrap();
        assert_eq!(sent, cores[honest].received, "sent in the order of arrival");
        assert_eq!(sent.count(), cores[honest].posted);
        for Core { rx, tx, share, held, .. } in &mut cores {
            rx.drain(&mut m, share);
            tx.drain(&mut m, share);
            share.0.extend(held.iter().map(|segment| segment.buf));
        }
        let mut own = cores.swap_remove(honest).share.0;
        own.sort_unstable();
        assert!(own.iter().copied().eq((SHARE..2 * SHARE).map(Buf)), "buffers at the end: {own:?}");
    }
}

#[derive(Clone, Copy, Debug)]
enum Step {
    /// Frames arrive.
    Arrive { queue: u16, n: u16 },
    /// A core receives.
    Poll { queue: u16, burst: usize },
    /// A core posts what it holds.
    Send { queue: u16, n: usize },
    /// The NIC sends.
    Collect { n: u16 },
    /// The liar's core frees what it holds.
    Free { n: usize },
    /// The NIC looks at its deadlines.
    Notices,
    /// A word of the liar's queue is overwritten.
    Lie { field: usize, word: u64, value: u64 },
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..2u16, 1..6u16).prop_map(|(queue, n)| Step::Arrive { queue, n }),
        4 => (0..2u16, 0..9usize).prop_map(|(queue, burst)| Step::Poll { queue, burst: burst.min(8) }),
        2 => (0..2u16, 1..5usize).prop_map(|(queue, n)| Step::Send { queue, n }),
        2 => (1..5u16).prop_map(|n| Step::Collect { n }),
        1 => (1..5usize).prop_map(|n| Step::Free { n }),
        1 => Just(Step::Notices),
        5 => (0..36usize, 0..16u64, value()).prop_map(|(field, word, value)| Step::Lie { field, word, value }),
    ]
}

/// Interfaces whose queues share neither a ring nor buffers, and which fields of theirs are overwritten.
fn interface() -> impl Strategy<Value = (usize, Interface)> {
    let shring = shring::Sizes { ring: 4, shared_by: 1, completions: 4, ..Default::default() };
    let timeout = Ps::from_ns(500);
    let bisect = rxbisect::Sizes { ax: 4, bx: 4, group: 1, batch: 2, timeout, alloc_queues: 0 };
    let dynamic = dynamic::Sizes {
        ring: 4,
        shared_by: 1,
        completions: 4,
        report: 1,
        round: Ps(1),
        ..Default::default()
    };
    let ddring = ddring::Sizes { ring: 4, shared_by: 1, ..ddring::Sizes::default() };
    let corec = corec::Sizes { ring: 4, shared_by: 1, ..Default::default() };
    prop::sample::select(vec![
        (1, Interface::PrivRing(privring::Sizes { ring: 4 })),
        (2, Interface::ShRing(shring)),
        (3, Interface::RxBisect(bisect)),
        (4, Interface::Dynamic(dynamic)),
        (5, Interface::DdRing(ddring)),
        (5, Interface::Corec(corec)),
        (6, Interface::CcNic(ccnic::Sizes { ring: 8, ..Default::default() })),
        (7, Interface::CcNic(ccnic::Sizes::e810(4))),
    ])
}

/// The NIC has read a frame in part when the core's register goes back to before it. It must not go round for ever.
#[test]
fn a_tail_that_goes_back_announces_nothing() {
    let region = Region::new(1 << 16, Backing::Heap).unwrap();
    let mut space = Noting::new(&region);
    let sizes = tx::Sizes { ring: 4, complete_every: 1 };
    let interface = Interface::CcNic(ccnic::Sizes::e810(4));
    let (_, mut nic) = rings::transmit(&mut space, &interface, sizes, 1).unwrap();
    let mut m = region.view();
    let poke = |field: &str| &space.pokes.iter().find(|(name, _, _)| *name == field).unwrap().2;
    let (entry, tail) = (poke("ccnic.tx"), poke("ccnic.tx.tail"));
    let begun = 1 << 62; // a descriptor that is no frame's last
    entry(&mut m, 1, begun);
    tail(&mut m, 0, 1);
    assert_eq!(nic.collect(&mut m, &mut Vec::new()), None);
    tail(&mut m, 0, 0);
    assert_eq!(nic.collect(&mut m, &mut Vec::new()), None);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: CASES, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_honest_queue_does_not_notice(
        (kind, interface) in interface(),
        steps in prop::collection::vec(step(), 0..100),
    ) {
        let region = Region::new(1 << 16, Backing::Heap).unwrap();
        // An interface that sends in its own way has those words among its own.
        let tx = if matches!(interface, Interface::CcNic(_)) { &[] } else { WORDS[0] };
        let lies: Vec<_> = tx.iter().chain(WORDS[kind]).copied().collect();
        let mut bed = Bed::new(&region, &interface, &lies);
        steps.into_iter().for_each(|step| bed.apply(step));
        bed.settle();
    }
}
