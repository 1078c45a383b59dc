//! The transmit side over real rings and memory: what leaves, when, and what does not.

#![allow(clippy::unwrap_used, reason = "a set-up that fails fails its test")]

use memory::native::Buffers;
use memory::{Backing, Buf, Geometry, Memory, NativeView, Ps, Region, Space};
use nic::{TxConfig, TxPort};
use rings::pool::{self, CoreCache};
use rings::tx::{self, HostTx, NicTx};
use rings::{Buffers as _, Segment, TxHost};

struct Rig<'r> {
    m: NativeView<'r>,
    buffers: Buffers<'r>,
    host: HostTx<NativeView<'r>>,
    pool: CoreCache<NativeView<'r>>,
    port: TxPort<NativeView<'r>, NicTx<NativeView<'r>>>,
}

fn rig(region: &Region, config: TxConfig) -> Rig<'_> {
    let mut space = region;
    let buffers = space.buffers(&Geometry::dpdk(32)).unwrap();
    let (mut hosts, nic) = tx::build(&mut space, tx::Sizes { ring: 16, complete_every: 4 }, 1).unwrap();
    let pool = pool::build(&mut space, 32, 1, 0).unwrap().pop().unwrap();
    let port = TxPort::new(nic, buffers, config);
    Rig { m: region.view(), buffers, host: hosts.pop().unwrap(), pool, port }
}

impl Rig<'_> {
    fn take(&mut self, bytes: &[u8]) -> Buf {
        let mut buf = [Buf(0)];
        assert_eq!(self.pool.take(&mut self.m, &mut buf), 1);
        self.m.put(self.buffers, buf[0], 0, bytes, bytes.len() as u32);
        buf[0]
    }

    fn post(&mut self, segments: &[Segment]) {
        assert_eq!(self.host.tx_burst(&mut self.m, &mut self.pool, segments), segments.len());
    }

    fn send(&mut self) -> Vec<(Vec<u8>, u32, Ps)> {
        let mut out = Vec::new();
        while self.port.send(&mut self.m, |s| out.push((s.head.to_vec(), s.len, s.at))) {}
        out
    }
}

const UNPACED: TxConfig = TxConfig { rate_bps: 0, ahead: Ps::ZERO, head: nic::HEAD };

#[test]
fn frames_leave_whole_and_their_buffers_come_back() {
    let region = Region::new(1 << 20, Backing::Heap).unwrap();
    let mut rig = rig(&region, UNPACED);
    let long: Vec<u8> = (0..200).collect();
    let (a, b, c) = (rig.take(b"single"), rig.take(&long), rig.take(b"tail"));
    rig.post(&[
        Segment { buf: a, off: 2, len: 4, last: true },
        Segment { buf: b, off: 100, len: 100, last: false },
        Segment { buf: c, off: 0, len: 4, last: true },
    ]);
    let sent = rig.send();
    assert_eq!(sent[0], (b"ngle".to_vec(), 4, Ps::ZERO));
    assert_eq!(sent[1].0, [&long[100..], b"tail"].concat());
    assert_eq!((sent[1].1, sent.len()), (104, 2));
    assert_eq!((rig.port.sent(), rig.port.bytes(), rig.port.faults()), (2, 108, 0));
    rig.host.reclaim(&mut rig.m, &mut rig.pool);
    assert_eq!(rig.pool.available(&mut rig.m), 32);
}

#[test]
fn only_the_first_bytes_are_shown_of_a_long_frame() {
    let region = Region::new(1 << 20, Backing::Heap).unwrap();
    let mut rig = rig(&region, UNPACED);
    let bytes: Vec<u8> = (0..=255).cycle().take(1500).collect();
    let buf = rig.take(&bytes);
    rig.post(&[Segment { buf, off: 0, len: 1500, last: true }]);
    assert_eq!(rig.send(), [(bytes[..nic::HEAD].to_vec(), 1500, Ps::ZERO)]);
}

#[test]
fn descriptors_that_name_nothing_are_counted_and_skipped() {
    let region = Region::new(1 << 20, Backing::Heap).unwrap();
    let mut rig = rig(&region, UNPACED);
    let good = rig.take(b"good");
    rig.post(&[
        Segment { buf: Buf(99), off: 0, len: 4, last: true },
        Segment { buf: good, off: 2000, len: 100, last: true },
        Segment { buf: good, off: 0, len: 4, last: true },
    ]);
    assert_eq!(rig.send().len(), 1);
    assert_eq!((rig.port.sent(), rig.port.faults()), (1, 2));
}

#[test]
fn a_wire_with_a_rate_spaces_frames() {
    let region = Region::new(1 << 20, Backing::Heap).unwrap();
    // 1 Gbps: a frame of 60 B and its 24 B of overhead take 672 ns.
    let mut rig = rig(&region, TxConfig { rate_bps: 1_000_000_000, ahead: Ps::from_us(100), ..UNPACED });
    let burst: Vec<_> =
        (0..8).map(|_| Segment { buf: rig.take(&[7; 60]), off: 0, len: 60, last: true }).collect();
    rig.post(&burst);
    let times: Vec<_> = rig.send().iter().map(|s| s.2).collect();
    assert_eq!(times.len(), 8);
    for pair in times.windows(2) {
        assert!(pair[1].0 >= pair[0].0 + 672_000, "{pair:?}");
    }
}

#[test]
fn a_card_reads_no_further_ahead_than_its_buffer() {
    let region = Region::new(1 << 20, Backing::Heap).unwrap();
    let mut rig = rig(&region, TxConfig { rate_bps: 10_000_000, ahead: Ps::from_us(100), ..UNPACED });
    let burst: Vec<_> =
        (0..4).map(|_| Segment { buf: rig.take(&[7; 60]), off: 0, len: 60, last: true }).collect();
    rig.post(&burst);
    // 67.2 us a frame: the card holds the first two, and reads the last when the first two are through.
    let start = rig.m.now();
    assert_eq!(rig.send().len(), 4);
    let took = rig.m.now().saturating_sub(start);
    assert!(took >= Ps::from_ns(3 * 67_200 - 100_000), "{took:?}");
}
