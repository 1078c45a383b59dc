//! The worker loop over a real ring, in one thread: nothing is lost, and every buffer comes back.
#![allow(clippy::unwrap_used, reason = "a set-up that fails fails its test")]

mod bench;

use apps::lb::Lb;
use apps::table::{HashTable, Shape};
use apps::{Unsent, Worker};
use bench::{L4, ipv4, judge};
use memory::native::{Buffers, Table};
use memory::{Backing, Geometry, Memory, NativeView, Ps, Region, Space};
use proptest::prelude::*;
use rings::TxNic;
use rings::privring::{self, HostHalf, NicHalf};
use rings::tx::{self, HostTx, NicTx};
use rings::{Frame, Nic, Outcome, pool};

type View<'r> = NativeView<'r>;
type App<'r> = Lb<HashTable<View<'r>>>;

struct Rig<'r> {
    m: View<'r>,
    buffers: Buffers<'r>,
    nic: NicHalf<View<'r>>,
    wire: NicTx<View<'r>>,
    worker: Worker<View<'r>, HostHalf<View<'r>>, HostTx<View<'r>>, pool::CoreCache<View<'r>>, App<'r>>,
    count: u32,
}

/// A core with receive rings of 16 and a transmit ring of `tx_ring`.
fn rig(region: &Region, count: u32, tx_ring: u32, unsent: Unsent) -> Rig<'_> {
    let mut space = region;
    let buffers = space.buffers(&Geometry::dpdk(count)).unwrap();
    let (mut hosts, nic) = privring::build(&mut space, &privring::Sizes { ring: 16 }, 1, buffers).unwrap();
    let sizes = tx::Sizes { ring: tx_ring, complete_every: 4 };
    let (mut txs, wire) = tx::build(&mut space, sizes, 1).unwrap();
    let pool = pool::build(&mut space, count, 1, 0).unwrap().pop().unwrap();
    let app = Lb::new(HashTable::new(Shape::new(1024), Table, Ps::from_us(1_000_000)), 32, 0);
    let mut m = region.view();
    let mut worker =
        Worker::new(hosts.pop().unwrap(), txs.pop().unwrap(), pool, buffers, app, 8).with_unsent(unsent);
    worker.fill(&mut m);
    Rig { m, buffers, nic, wire, worker, count }
}

impl Rig<'_> {
    fn deliver(&mut self, port: u16) -> Outcome {
        let bytes = ipv4([10, 0, 0, 1], [10, 0, 0, 2], (port, 80), L4::Udp, 64, &port.to_be_bytes());
        let frame = Frame::new(&bytes, bytes.len() as u16, 0, 0);
        let mut out = [Outcome::BadFrame];
        self.nic.deliver(&mut self.m, 0, &[frame], &mut out);
        out[0]
    }

    /// Takes up to `n` frames off the transmit ring: their source ports, after a look at all checksums.
    fn send(&mut self, n: usize) -> Vec<u16> {
        let mut segments = Vec::new();
        let mut ports = Vec::new();
        while ports.len() < n
            && let Some((queue, descriptors)) = self.wire.collect(&mut self.m, &mut segments)
        {
            let s = segments[0];
            let mut bytes = vec![0; usize::from(s.len)];
            self.m.get(self.buffers, s.buf, 0, &mut bytes, u32::from(s.len));
            self.wire.sent(&mut self.m, queue, descriptors);
            ports.push(judge(&bytes).ports.0);
        }
        ports
    }

    fn all_back(&mut self) {
        self.worker.stop(&mut self.m);
        assert_eq!(self.worker.pool_mut().available(&mut self.m), u64::from(self.count));
        assert!(self.worker.counters().balanced(), "{:?}", self.worker.counters());
    }
}

#[test]
fn frames_come_in_and_go_out_in_order() {
    let region = Region::new(1 << 20, Backing::Heap).unwrap();
    let mut rig = rig(&region, 64, 64, Unsent::Drop);
    let mut out = Vec::new();
    for port in 0..200 {
        assert_eq!(rig.deliver(port), Outcome::Delivered);
        if port % 5 == 4 {
            assert_eq!(rig.worker.poll(&mut rig.m), 5);
            out.extend(rig.send(99));
        }
    }
    assert_eq!(out, (0..200).collect::<Vec<_>>());
    rig.all_back();
}

#[test]
fn a_full_transmit_ring_drops_or_waits_as_told() {
    for (unsent, sent, dropped) in [(Unsent::Drop, 4, 4), (Unsent::Keep, 8, 0)] {
        let region = Region::new(1 << 20, Backing::Heap).unwrap();
        let mut rig = rig(&region, 64, 4, unsent);
        for port in 0..8 {
            rig.deliver(port);
        }
        assert_eq!(rig.worker.poll(&mut rig.m), 8);
        let mut out = rig.send(99);
        assert_eq!(rig.worker.poll(&mut rig.m), 0);
        out.extend(rig.send(99));
        assert_eq!(out, (0..sent).collect::<Vec<_>>());
        assert_eq!(rig.worker.counters().tx_full, dropped);
        rig.all_back();
    }
}

#[test]
fn a_pool_that_lies_in_the_transmit_ring_comes_back_without_traffic() {
    let region = Region::new(1 << 20, Backing::Heap).unwrap();
    // As many buffers as the receive ring holds: once received, none is left to post.
    let mut rig = rig(&region, 16, 64, Unsent::Drop);
    for port in 0..16 {
        assert_eq!(rig.deliver(port), Outcome::Delivered);
    }
    assert_eq!(rig.worker.poll(&mut rig.m) + rig.worker.poll(&mut rig.m), 16);
    assert_eq!(rig.deliver(0), Outcome::RingFull, "all buffers wait to be sent");
    assert_eq!(rig.send(99).len(), 16);
    for _ in 0..3 {
        rig.worker.poll(&mut rig.m);
    }
    assert_eq!(rig.deliver(0), Outcome::Delivered);
    rig.all_back();
}

proptest! {
    /// Any interleaving of arrivals, polls and transmissions, in any shortage.
    #[test]
    fn buffers_are_conserved(
        steps in prop::collection::vec((0u8..3, 1usize..20), 1..120),
        count in 1u32..64, tx_ring in prop::sample::select(vec![2u32, 8, 64]), keep in any::<bool>(),
    ) {
        let region = Region::new(1 << 20, Backing::Heap).unwrap();
        let mut rig = rig(&region, count, tx_ring, if keep { Unsent::Keep } else { Unsent::Drop });
        let (mut port, mut delivered, mut out) = (0, Vec::new(), Vec::new());
        for (what, n) in steps {
            match what {
                0 => for _ in 0..n {
                    if rig.deliver(port) == Outcome::Delivered {
                        delivered.push(port);
                    }
                    port += 1;
                },
                1 => {
                    rig.worker.poll(&mut rig.m);
                }
                _ => out.extend(rig.send(n)),
            }
        }
        let c = rig.worker.counters();
        if keep {
            prop_assert!(delivered.starts_with(&out), "in order and without loss");
            prop_assert_eq!(c.tx_full, 0);
        }
        prop_assert!(out.is_sorted() && out.iter().all(|p| delivered.contains(p)));
        rig.all_back();
    }
}
