//! The echo server behind a worker loop over a real ring, in one thread: what it answers, and what it survives.
#![allow(clippy::unwrap_used, reason = "a set-up that fails fails its test")]

use apps::echo::{Client, LONGEST, MESSAGE, Order, Server};
use apps::{App, Cause, Unsent, Worker};
use memory::native::Buffers;
use memory::{Backing, Geometry, Memory, NativeView, Region, Space};
use proptest::prelude::*;
use rings::privring::{self, HostHalf, NicHalf};
use rings::tx::{self, HostTx, NicTx};
use rings::{Frame, Nic, Outcome, TxNic, pool};

type View<'r> = NativeView<'r>;
type Echo<'r> = Worker<View<'r>, HostHalf<View<'r>>, HostTx<View<'r>>, pool::CoreCache<View<'r>>, Server>;

const BUFFERS: u32 = 256;

struct Rig<'r> {
    m: View<'r>,
    buffers: Buffers<'r>,
    nic: NicHalf<View<'r>>,
    wire: NicTx<View<'r>>,
    worker: Echo<'r>,
}

fn rig(region: &Region, flows: u32) -> Rig<'_> {
    let mut space = region;
    let buffers = space.buffers(&Geometry::dpdk(BUFFERS)).unwrap();
    let (mut hosts, nic) = privring::build(&mut space, &privring::Sizes { ring: 64 }, 1, buffers).unwrap();
    let (mut txs, wire) = tx::build(&mut space, tx::Sizes { ring: 64, complete_every: 4 }, 1).unwrap();
    let pool = pool::build(&mut space, BUFFERS, 1, 0).unwrap().pop().unwrap();
    let mut m = region.view();
    let (host, tx, app) = (hosts.pop().unwrap(), txs.pop().unwrap(), Server::new(flows, 7, 0));
    let mut worker = Worker::new(host, tx, pool, buffers, app, 32).with_unsent(Unsent::Keep);
    worker.fill(&mut m);
    Rig { m, buffers, nic, wire, worker }
}

impl Rig<'_> {
    fn deliver(&mut self, bytes: &[u8]) -> Outcome {
        let mut out = [Outcome::BadFrame];
        self.nic.deliver(&mut self.m, 0, &[Frame::new(bytes, bytes.len() as u16, 0, 0)], &mut out);
        out[0]
    }

    /// What the server has sent.
    fn sent(&mut self) -> Vec<Vec<u8>> {
        let (mut segments, mut frames) = (Vec::new(), Vec::new());
        while let Some((queue, descriptors)) = self.wire.collect(&mut self.m, &mut segments) {
            let s = segments[0];
            let mut bytes = vec![0; usize::from(s.len)];
            self.m.get(self.buffers, s.buf, 0, &mut bytes, u32::from(s.len));
            self.wire.sent(&mut self.m, queue, descriptors);
            frames.push(bytes);
        }
        frames
    }

    /// One turn of both sides; what the client sent passes through `change` first.
    fn turn(&mut self, client: &mut Client, mut change: impl FnMut(Vec<u8>) -> Option<Vec<u8>>) {
        client.turn(self.m.now());
        while let Some(frame) = client.send() {
            if let Some(frame) = change(frame) {
                while self.deliver(&frame) != Outcome::Delivered {
                    self.worker.poll(&mut self.m);
                    self.sent().iter().for_each(|frame| client.receive(frame));
                }
            }
        }
        while self.worker.poll(&mut self.m) > 0 {}
        self.sent().iter().for_each(|frame| client.receive(frame));
    }

    fn all_back(&mut self) {
        self.worker.stop(&mut self.m);
        assert_eq!(self.worker.pool_mut().available(&mut self.m), u64::from(BUFFERS));
        assert!(self.worker.counters().balanced(), "{:?}", self.worker.counters());
    }
}

fn client(flows: u32, requests: u64) -> Client {
    Client::new(&Order { flows, requests, loss_ppm: 0, seed: 3 }).unwrap()
}

#[test]
fn requests_are_answered_and_a_place_serves_another_connection() {
    let region = Region::new(1 << 21, Backing::Heap).unwrap();
    let mut rig = rig(&region, 8);
    // Twice as many connections as places, one half after the other.
    for _ in 0..2 {
        let mut client = client(8, 400);
        while !client.is_done() {
            rig.turn(&mut client, Some);
        }
        let found = client.found();
        assert_eq!((found.asked, found.answered, found.corrupt, found.broken), (400, 400, 0, 0));
        assert_eq!(found.repeated, [0, 0]);
        // The last acknowledgements let the places go.
        for _ in 0..4 {
            rig.turn(&mut client, Some);
        }
    }
    let counters = App::<View>::counters(rig.worker.app());
    assert_eq!(counters, [("echoed_bytes", 800 * MESSAGE as u64)]);
    rig.all_back();
}

#[test]
fn a_changed_byte_is_no_answer() {
    let region = Region::new(1 << 21, Backing::Heap).unwrap();
    let mut rig = rig(&region, 1);
    let mut client = client(1, 5);
    while client.answered() < 1 {
        rig.turn(&mut client, Some);
    }
    // The next request, changed under way so that its checksum holds: the server sends back what it got.
    let mut changed = false;
    while !client.is_done() {
        rig.turn(&mut client, |mut frame| {
            if !changed && frame.len() > 54 + MESSAGE - 1 {
                // Two bytes of a 16-bit word's place change places with those of another: the sum stays.
                frame.swap(54, 56);
                frame.swap(55, 57);
                changed = true;
            }
            Some(frame)
        });
    }
    let found = client.found();
    assert_eq!((changed, found.answered, found.corrupt), (true, 5, 1));
    rig.all_back();
}

#[test]
fn a_damaged_segment_is_not_answered() {
    let region = Region::new(1 << 21, Backing::Heap).unwrap();
    let mut rig = rig(&region, 1);
    let mut client = client(1, 1);
    let mut damaged = 0;
    for _ in 0..50 {
        rig.turn(&mut client, |mut frame| {
            if frame.len() > 60 {
                *frame.last_mut().unwrap() ^= 1;
                damaged += 1;
            }
            Some(frame)
        });
    }
    assert_eq!((damaged, client.answered()), (1, 0), "one request, which waits for its timer");
    rig.all_back();
}

/// A frame for the server with these bytes behind its addresses, right checksums where `sums`.
fn hostile(kind: u8, tcp: &[u8], source: [u8; 4], sums: bool) -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 9, 8, 0];
    frame.extend([0x45, 0, 0, 0, 0, 0, 0x40, 0, 64, 6, 0, 0]);
    frame.extend(source);
    frame.extend([48, 0, 0, 1]);
    frame.extend(tcp);
    let total = (frame.len() - 14) as u16;
    frame[16..18].copy_from_slice(&total.to_be_bytes());
    if let Some(port) = frame.get_mut(36..38).filter(|_| kind > 0) {
        port.copy_from_slice(&7u16.to_be_bytes());
    }
    if sums && frame.len() >= 54 {
        frame[50..52].fill(0);
        let sum = packet::checksum::transport(&frame[26..34], 6, &frame[34..]);
        frame[50..52].copy_from_slice(&sum.to_be_bytes());
    }
    let sum = packet::checksum::ipv4(&frame[14..34]).unwrap_or(0);
    frame[24..26].copy_from_slice(&sum.to_be_bytes());
    frame
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Segments of any content, with right checksums so that they get far: no panic, no buffer is lost, and the
    /// connections of others are served.
    #[test]
    fn no_segment_stops_the_server(
        frames in prop::collection::vec(
            (0u8..4, prop::collection::vec(any::<u8>(), 0..90), any::<[u8; 4]>(), 0u8..4), 1..60),
        like_a_client in any::<bool>(),
    ) {
        let region = Region::new(1 << 21, Backing::Heap).unwrap();
        let mut rig = rig(&region, 64);
        let mut client = client(1, 20);
        for (kind, mut tcp, source, what) in frames {
            // With the client's address and port, it speaks in the client's name; a header of right length gets far.
            let source = if like_a_client { [10, 0, 0, 1] } else { source };
            if let Some(offset) = tcp.get_mut(12).filter(|_| what > 0) {
                *offset = 0x50 | *offset & 0xa0;
            }
            if let Some(port) = tcp.get_mut(0..2).filter(|_| like_a_client && what > 1) {
                port.copy_from_slice(&1024u16.to_be_bytes());
            }
            rig.deliver(&hostile(kind, &tcp, source, what > 0));
            rig.worker.poll(&mut rig.m);
            rig.turn(&mut client, Some);
        }
        for _ in 0..400 {
            rig.turn(&mut client, Some);
        }
        if !like_a_client {
            prop_assert_eq!(client.found().corrupt, 0);
        }
        rig.all_back();
    }

    /// Frames of any bytes at all, of any length that a buffer holds.
    #[test]
    fn no_bytes_stop_the_server(
        frames in prop::collection::vec((prop::collection::vec(any::<u8>(), 0..200), 0usize..2048, 0u8..3), 1..40),
    ) {
        let region = Region::new(1 << 21, Backing::Heap).unwrap();
        let mut rig = rig(&region, 2);
        let mut strange = 0;
        for (mut bytes, len, what) in frames {
            bytes.resize(len, 0);
            if let Some(kind) = bytes.get_mut(12..14).filter(|_| what > 0) {
                kind.copy_from_slice(&[8, 0]);
            }
            if let Some(version) = bytes.get_mut(14).filter(|_| what > 1) {
                *version = 0x40 | *version & 15;
            }
            let ip = len > 14 && len <= LONGEST && bytes[12..14] == [8, 0];
            prop_assert_eq!(rig.deliver(&bytes), Outcome::Delivered);
            rig.worker.poll(&mut rig.m);
            strange += u64::from(!ip);
            rig.sent();
        }
        prop_assert_eq!(rig.worker.counters().app.of(Cause::BadRequest), strange);
        rig.all_back();
    }
}
