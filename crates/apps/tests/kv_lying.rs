//! Values that are sent from where they lie: held against a map while answers are under way, and what the store refuses.
#![allow(clippy::unwrap_used, reason = "a set-up that fails fails its test")]

use std::collections::{BTreeMap, VecDeque};

use apps::kv::{Kv, SlabShape, Slabs};
use apps::{App, Batch};
use memory::native::{Buffers, Table};
use memory::{Backing, Buf, Geometry, Memory, NativeView, Region, Space};
use packet::kv::{HEADER, MTU, Objects, Op, Reply, Request, Status};
use packet::{checksum, parse};
use proptest::prelude::*;
use rings::{Completion, Segment};

/// Bytes before a datagram's payload.
const HEADERS: usize = 42;

/// A frame that asks for something.
fn request(op: Op, id: u32, key: &[u8], value: &[u8]) -> Vec<u8> {
    let asked = Request { op, key_len: key.len() as u16, value_len: value.len() as u16, id };
    let mut frame = vec![0; HEADERS];
    frame[12..15].copy_from_slice(&[8, 0, 0x45]);
    frame[16..18].copy_from_slice(&(28 + asked.payload_len()).to_be_bytes());
    frame[22..24].copy_from_slice(&[64, 17]);
    frame[26..34].copy_from_slice(&[10, 0, 0, 1, 10, 0, 0, 2]);
    frame[34..38].copy_from_slice(&[4, 5, 6, 7]);
    frame[38..40].copy_from_slice(&(8 + asked.payload_len()).to_be_bytes());
    frame[40] = 1; // a checksum, if not a right one: that is the card's business
    frame.extend(asked.bytes());
    frame.extend(key);
    frame.extend(value);
    frame
}

/// An answer under way: its segments, and what it has to be when it is read.
struct Answer {
    segments: Vec<Segment>,
    id: u32,
    status: Status,
    value: Vec<u8>,
}

struct Server<'r> {
    m: NativeView<'r>,
    frames: Buffers<'r>,
    app: Kv<Slabs<NativeView<'r>>>,
    /// Buffers for requests, each used until its answer has been read.
    free: Vec<Buf>,
    id: u32,
    map: BTreeMap<Vec<u8>, Vec<u8>>,
    under_way: VecDeque<Answer>,
}

/// Buffers for requests.
const REQUESTS: u32 = 64;

/// Calls `with` with an empty store of `shape`, in buffers of `room` bytes behind those of requests.
fn serve<T>(room: u32, shape: SlabShape, with: impl FnOnce(&mut Server<'_>) -> T) -> T {
    let shape = shape.from(REQUESTS.into());
    let stride = room.next_multiple_of(64);
    let geometry = Geometry::new(REQUESTS + shape.pages(), stride, 0, room);
    let region = Region::new((geometry.count * stride) as usize + 4096, Backing::Heap).unwrap();
    let frames = (&mut &region).buffers(&geometry).unwrap();
    let app = Kv::new(Slabs::new(shape, Table, frames), 0, 1, 0);
    let free = (0..REQUESTS.into()).map(Buf).collect();
    let mut server = Server {
        m: region.view(),
        frames,
        app,
        free,
        id: 0,
        map: BTreeMap::new(),
        under_way: VecDeque::new(),
    };
    let out = with(&mut server);
    while server.sent() {}
    assert_eq!(App::<NativeView<'_>>::kept(&server.app), 0, "nothing is being sent any more");
    out
}

impl Server<'_> {
    /// Asks, and holds the answer back. Its status, as the headers have it already.
    fn ask(&mut self, op: Op, key: &[u8], value: &[u8]) -> Status {
        if self.free.is_empty() {
            self.sent();
        }
        self.id += 1;
        let (frame, buf) = (request(op, self.id, key, value), self.free.pop().unwrap());
        self.m.put(self.frames, buf, 0, &frame, frame.len() as u32);
        let (mut batch, c) =
            (Batch::default(), Completion { buf, len: frame.len() as u16, ..Completion::none() });
        self.app.process(&mut self.m, self.frames, &[c], &mut batch);
        assert_eq!((batch.free.len(), batch.send[0].buf), (0, buf), "answered in the request's buffer");
        assert_eq!(batch.send.iter().filter(|s| s.last).count(), 1);
        let mut head = [0; HEADERS + HEADER];
        self.m.get(self.frames, buf, 0, &mut head, (HEADERS + HEADER) as u32);
        let status = match head[HEADERS + 4] {
            0 => Status::Ok,
            1 => Status::NotFound,
            3 => Status::TooLarge,
            4 => Status::Full,
            other => panic!("status {other}"),
        };
        let known = self.map.get(key).cloned();
        let value = match (op, status) {
            (Op::Get, Status::Ok) => known.unwrap(),
            (Op::Get | Op::Delete, Status::NotFound) => {
                assert_eq!(known, None, "forgotten");
                vec![]
            }
            (Op::Put, Status::Ok) => {
                self.map.insert(key.to_vec(), value.to_vec());
                vec![]
            }
            (Op::Delete, Status::Ok) => {
                assert!(self.map.remove(key).is_some());
                vec![]
            }
            (Op::Put, Status::Full | Status::TooLarge) => vec![],
            (op, status) => panic!("{status:?} to {op:?}"),
        };
        self.under_way.push_back(Answer { segments: batch.send, id: self.id, status, value });
        status
    }

    /// The card reads the oldest answer, which is what it was when it was made; whether there was one.
    fn sent(&mut self) -> bool {
        let Some(answer) = self.under_way.pop_front() else { return false };
        let mut frame = Vec::new();
        for s in &answer.segments {
            let mut bytes = vec![0; s.len.into()];
            let end = u32::from(s.off) + u32::from(s.len);
            let buf = self.m.check(self.frames, s.buf.0, end).unwrap();
            self.m.get(self.frames, buf, s.off.into(), &mut bytes, s.len.into());
            frame.extend(bytes);
        }
        let p = parse(&frame);
        assert_eq!((p.fault, p.l4), (None, 34));
        let udp = &frame[34..34 + usize::from(u16::from_be_bytes([frame[38], frame[39]]))];
        assert_eq!(checksum::transport(p.addresses(&frame).unwrap(), 17, udp), 0xffff, "a wrong checksum");
        let reply = Reply::parse(&udp[8..]).unwrap();
        assert_eq!((reply.id, reply.status), (answer.id, answer.status));
        assert!(udp[8 + HEADER..] == answer.value, "torn: {} bytes", answer.value.len());
        self.free.push(answer.segments[0].buf);
        let own: Vec<Buf> = answer.segments[1..].iter().map(|s| s.buf).collect();
        self.app.returned(&mut self.m, &own);
        true
    }
}

/// Bytes of a value that no other one has.
fn value(len: usize, salt: usize) -> Vec<u8> {
    (0..len).map(|i| (i * 7 + i / 251 + salt * 131) as u8).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Each step asks or lets the card read an answer; answers are read long after keys have other values.
    #[test]
    fn an_answer_is_what_it_was_made_of(
        steps in prop::collection::vec((0u8..10, 0u8..12, 0usize..1600), 1..300),
        held in 0usize..60,
        items in 1u64..20,
    ) {
        serve(2048, SlabShape::new(Objects::Geo, items, 2048), |server| {
            for (n, (what, key, len)) in steps.iter().enumerate() {
                let key = vec![*key; 1 + usize::from(*key) * 3];
                match what {
                    0..=3 => server.ask(Op::Put, &key, &value(*len, n)),
                    4 => server.ask(Op::Delete, &key, b""),
                    _ => server.ask(Op::Get, &key, b""),
                };
                while server.under_way.len() > held {
                    server.sent();
                }
            }
        });
    }
}

#[test]
fn a_put_while_its_key_is_being_sent_goes_elsewhere() {
    serve(2048, SlabShape::new(Objects::Ads, 100, 2048), |server| {
        assert_eq!(server.ask(Op::Put, b"key", &value(700, 1)), Status::Ok);
        server.sent();
        assert_eq!(server.ask(Op::Get, b"key", b""), Status::Ok);
        let lying = |server: &Server<'_>| server.under_way.back().unwrap().segments[1];
        let first = lying(server);
        for salt in 2..9 {
            assert_eq!(server.ask(Op::Put, b"key", &value(700, salt)), Status::Ok);
            assert_eq!(server.ask(Op::Get, b"key", b""), Status::Ok);
            let again = lying(server);
            assert!(again.buf != first.buf || again.off.abs_diff(first.off) >= 700, "{again:?}");
        }
        while server.sent() {}
        // Nobody reads: in place.
        server.ask(Op::Get, b"key", b"");
        let before = lying(server);
        server.sent();
        while server.sent() {}
        server.ask(Op::Put, b"key", &value(690, 9));
        server.ask(Op::Get, b"key", b"");
        assert_eq!((lying(server).buf, lying(server).off), (before.buf, before.off));
    });
}

#[test]
fn sets_of_every_size_up_to_the_mtu_are_taken_and_come_back() {
    let room = 9728;
    serve(room, SlabShape::new(Objects::Ads, 200, room), |server| {
        let largest = usize::from(Objects::Ads.longest_frame()) - HEADERS - HEADER - 16;
        assert_eq!(14 + 28 + HEADER + 16 + largest, 14 + usize::from(MTU));
        let sizes = (0..300).chain((300..largest).step_by(61)).chain([largest - 1, largest]);
        for len in sizes {
            assert_eq!(server.ask(Op::Put, &[5; 16], &value(len, len)), Status::Ok, "{len} B");
            assert_eq!(server.ask(Op::Get, &[5; 16], b""), Status::Ok);
            while server.under_way.len() > 20 {
                server.sent();
            }
        }
    });
}

#[test]
fn a_full_store_says_so_and_keeps_what_it_has() {
    serve(2048, SlabShape::new(Objects::Ads, 100, 2048), |server| {
        let mut put = 0u32;
        while server.ask(Op::Put, &put.to_be_bytes(), &value(1500, put as usize)) == Status::Ok {
            put += 1;
            server.sent();
        }
        assert!(put > 5, "{put} items");
        while server.sent() {}
        for key in 0..put {
            assert_eq!(server.ask(Op::Get, &key.to_be_bytes(), b""), Status::Ok);
        }
        assert_eq!(server.ask(Op::Get, &put.to_be_bytes(), b""), Status::NotFound);
        // Room that is given up serves items of other sizes.
        while server.sent() {}
        for key in 0..put {
            server.ask(Op::Delete, &key.to_be_bytes(), b"");
        }
        for key in 0..4 * put {
            assert_eq!(server.ask(Op::Put, &key.to_be_bytes(), &value(300, 0)), Status::Ok, "{key}");
        }
    });
}

#[test]
fn an_item_that_no_page_holds_is_refused_with_an_answer() {
    // Requests come in larger buffers than items may have.
    serve(2048, SlabShape::new(Objects::Ads, 10, 1024), |server| {
        assert_eq!(server.ask(Op::Put, b"key", &value(900, 1)), Status::Ok);
        assert_eq!(server.ask(Op::Put, b"key", &value(1024, 2)), Status::TooLarge);
        assert_eq!(server.ask(Op::Get, b"key", b""), Status::Ok);
    });
}

#[test]
fn short_values_are_padded_as_frames_are() {
    serve(2048, SlabShape::new(Objects::Ads, 10, 2048), |server| {
        for len in 0..8 {
            server.ask(Op::Put, b"key", &value(len, len));
            server.ask(Op::Get, b"key", b"");
            let answer = server.under_way.back().unwrap();
            let all: usize = answer.segments.iter().map(|s| usize::from(s.len)).sum();
            assert_eq!((all, answer.segments.len()), (60.max(58 + len), if len < 2 { 1 } else { 2 }));
        }
    });
}
