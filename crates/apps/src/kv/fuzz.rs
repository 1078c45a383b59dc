//! What a fuzzer feeds: requests, whole and mutilated, held against a map. The same function runs in
//! `cargo test` over random scripts.

use std::collections::BTreeMap;

use memory::native::{Buffers, Table};
use memory::{Backing, Geometry, Memory, NativeView, Region, Space};
use packet::kv::{HEADER, Op, Reply, Request, Status};
use packet::{checksum, parse};
use rings::Completion;

use super::{Kv, Partition, Shape};
use crate::{App, Batch};

/// Bytes of a script's step.
const STEP: usize = 8;
const HEADERS: usize = 42;

/// Runs a script against a small store. Each step of 8 bytes is one frame: operation, key, length of the
/// value (2), and two places of the frame with what is exclusive-ored there.
///
/// # Panics
/// A value comes back that was not the last one put, or a reply that does not answer its request.
pub fn requests(script: &[u8]) {
    serve(|server| {
        for (number, step) in (0u32..).zip(script.as_chunks::<STEP>().0) {
            server.step(&frame(number, step));
        }
    });
}

/// Calls `with` with an empty store.
fn serve(with: impl FnOnce(&mut Server<'_>)) {
    let Ok(region) = Region::new(1 << 16, Backing::Heap) else { return };
    let Ok(frames) = (&mut &region).buffers(&Geometry::dpdk(1)) else { return };
    let app = Kv::new(Partition::new(Shape::new(12), Table), 0, 1, 0);
    with(&mut Server { m: region.view(), frames, app, put: BTreeMap::new() });
}

struct Server<'r> {
    m: NativeView<'r>,
    frames: Buffers<'r>,
    app: Kv<Partition<NativeView<'r>>>,
    /// The last value of each key.
    put: BTreeMap<Vec<u8>, Vec<u8>>,
}

impl Server<'_> {
    fn step(&mut self, frame: &[u8]) {
        let c = Completion { len: frame.len() as u16, ..Completion::none() };
        self.m.put(self.frames, c.buf, 0, frame, c.len.into());
        let mut batch = Batch::default();
        self.app.process(&mut self.m, self.frames, &[c], &mut batch);
        assert_eq!(batch.send.len() + batch.free.len(), 1, "a buffer has one fate");
        let Some(sent) = batch.send.first() else { return };
        let mut answer = vec![0; usize::from(sent.len)];
        self.m.get(self.frames, sent.buf, 0, &mut answer, sent.len.into());
        if answer != frame {
            self.judge(frame, &answer); // what is no IP packet passes unchanged
        }
    }

    /// Holds an answer to what was asked, and remembers it.
    fn judge(&mut self, asked: &[u8], answer: &[u8]) {
        let (p, q) = (parse(asked), parse(answer));
        let payload = |frame: &[u8], l4: u16| {
            let at = usize::from(l4);
            let end = at + usize::from(u16::from_be_bytes([frame[at + 4], frame[at + 5]]));
            frame[at + 8..end].to_vec()
        };
        let (asked_bytes, bytes) = (payload(asked, p.l4), payload(answer, q.l4));
        let Some(request) = Request::parse(&asked_bytes, asked_bytes.len()) else {
            panic!("answered no request")
        };
        let Some(reply) = Reply::parse(&bytes) else { panic!("{bytes:02x?} is no reply") };
        assert_eq!((reply.op, reply.id), (request.op, request.id));
        let (there, back) = (p.tuple(asked), q.tuple(answer));
        assert_eq!(there.map(|t| (t.dst, t.dport)), back.map(|t| (t.src, t.sport)));
        if answer[usize::from(q.l4) + 6..][..2] != [0, 0]
            && let Some(addresses) = q.addresses(answer)
        {
            let udp = &answer[usize::from(q.l4)..][..bytes.len() + 8];
            assert_eq!(checksum::transport(addresses, 17, udp), 0xffff, "a wrong checksum");
        }
        let (key, value) = asked_bytes[HEADER..].split_at(request.key_len.into());
        match (reply.op, reply.status) {
            (Op::Get, Status::Ok) => {
                assert_eq!(self.put.get(key).map(Vec::as_slice), Some(&bytes[HEADER..]), "not what was put");
            }
            (Op::Put, Status::Ok) => {
                self.put.insert(key.to_vec(), value.to_vec());
            }
            (Op::Delete, Status::Ok) => {
                assert!(self.put.remove(key).is_some(), "deleted what was not there");
            }
            (_, Status::NotFound) => {} // forgotten, or never put: it may be either, and stays so
            (_, status) => panic!("{status:?} from a store with room and one partition"),
        }
    }
}

/// The frame of a step.
fn frame(number: u32, &[op, key, high, low, a, hit, b, other]: &[u8; STEP]) -> Vec<u8> {
    let op = [Op::Get, Op::Put, Op::Delete][usize::from(op) % 3];
    let key: Vec<u8> = (0..1 + (usize::from(key) * 7) % 140).map(|_| key).collect();
    let value_len = if op == Op::Put { u16::from_be_bytes([high, low]) % 1400 } else { 0 };
    let request = Request { op, key_len: key.len() as u16, value_len, id: number };
    let mut frame = vec![0; HEADERS];
    frame[12] = 8;
    frame[14] = 0x45;
    frame[16..18].copy_from_slice(&(28 + request.payload_len()).to_be_bytes());
    frame[22..24].copy_from_slice(&[64, 17]);
    frame[26..34].copy_from_slice(&[10, 0, 0, 1, 10, 0, 0, 2]);
    frame[34..38].copy_from_slice(&[4, 5, 6, 7]);
    frame[38..40].copy_from_slice(&(8 + request.payload_len()).to_be_bytes());
    frame[40] = 1; // a checksum, if not a right one: that is the card's business
    frame.extend(request.bytes());
    frame.extend(key);
    frame.extend((0..value_len).map(|i| (number as u8).wrapping_add(i as u8)));
    for (at, bits) in [(a, hit), (b, other)] {
        let at = usize::from(at) % frame.len();
        frame[at] ^= bits;
    }
    frame
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A step; most frames are whole.
    fn steps() -> impl Strategy<Value = Vec<u8>> {
        let hit = prop_oneof![4 => Just(0u8), 1 => any::<u8>()];
        let step = (any::<[u8; 4]>(), any::<[u8; 2]>(), hit.clone(), hit);
        let step = step.prop_map(|([op, key, h, l], [a, b], x, y)| [op, key % 24, h, l, a, x, b, y]);
        prop::collection::vec(step, 0..120).prop_map(|steps| steps.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn scripts(script in steps()) {
            requests(&script);
        }

        #[test]
        fn any_bytes(script in prop::collection::vec(any::<u8>(), 0..600)) {
            requests(&script);
        }
    }

    /// The map is no use if no request is understood.
    #[test]
    fn a_wrong_value_would_be_found() {
        let script = [[1, 3, 0, 9, 0, 0, 0, 0], [0, 3, 0, 0, 0, 0, 0, 0]].concat();
        requests(&script);
        let found = std::panic::catch_unwind(|| {
            // The value's last byte changes after the map was told of it.
            let put = frame(0, &[1, 3, 0, 9, 0, 0, 0, 0]);
            serve(|server| {
                server.step(&put);
                server.put.values_mut().for_each(|v| v[8] ^= 1);
                server.step(&frame(1, &[0, 3, 0, 0, 0, 0, 0, 0]));
            });
        });
        assert!(found.is_err());
    }
}
