//! The calls as a C program makes them.

use packet::PARTITION_PORT;
use packet::kv::{HEADER, Op, Reply, Request, Status, hash, partition};
use rxlab_kv::{rxlab_kv_free, rxlab_kv_new, rxlab_kv_partition, rxlab_kv_serve};

const UDP: usize = 34;

fn request(op: Op, key: &[u8], value: &[u8], port: u16) -> Vec<u8> {
    let request = Request { op, key_len: key.len() as u16, value_len: value.len() as u16, id: 7 };
    let mut frame = vec![0; UDP + 8];
    frame[12] = 8;
    frame[14] = 0x45;
    frame[16..18].copy_from_slice(&(28 + request.payload_len()).to_be_bytes());
    frame[22..24].copy_from_slice(&[64, 17]);
    frame[26..34].copy_from_slice(&[10, 0, 0, 1, 10, 0, 0, 2]);
    frame[UDP + 2..UDP + 4].copy_from_slice(&port.to_be_bytes());
    frame[UDP + 4..UDP + 6].copy_from_slice(&(8 + request.payload_len()).to_be_bytes());
    frame.extend(request.bytes());
    frame.extend(key);
    frame.extend(value);
    frame
}

#[test]
fn a_value_goes_in_and_comes_out() {
    let own = partition(hash(b"key"), 3);
    let kv = rxlab_kv_new(own, 3, 100);
    let ask = |frame: Vec<u8>| {
        let (len, mut buffer) = (frame.len() as u16, frame);
        buffer.resize(2048, 0xee);
        // SAFETY: `kv` is this thread's and `buffer` has its 2048 bytes.
        let reply = unsafe { rxlab_kv_serve(kv, buffer.as_mut_ptr(), len, 2048) };
        buffer.truncate(reply.into());
        buffer
    };
    let status = |frame: &[u8]| {
        let len = usize::from(u16::from_be_bytes([frame[UDP + 4], frame[UDP + 5]]));
        Reply::parse(&frame[UDP + 8..UDP + len]).map(|r| r.status)
    };
    let port = PARTITION_PORT + own as u16;
    assert_eq!(status(&ask(request(Op::Get, b"key", b"", port))), Some(Status::NotFound));
    assert_eq!(status(&ask(request(Op::Put, b"key", &[5; 1024], port))), Some(Status::Ok));
    let got = ask(request(Op::Get, b"key", b"", port));
    assert_eq!((status(&got), &got[UDP + 8 + HEADER..]), (Some(Status::Ok), &[5; 1024][..]));
    let other = (0u32..).map(u32::to_be_bytes).find(|k| partition(hash(k), 3) != own);
    let other = other.map(|key| ask(request(Op::Get, &key, b"", port)));
    assert_eq!(other.as_deref().and_then(status), Some(Status::WrongPartition));
    assert_eq!(ask(vec![0xff; 60]), [], "a broadcast of no protocol wants no reply");
    // SAFETY: made above, and used no more.
    unsafe { rxlab_kv_free(kv) };
}

#[test]
fn partitions_are_those_of_the_port() {
    let of = |frame: &[u8]| {
        // SAFETY: the slice's own bytes.
        unsafe { rxlab_kv_partition(frame.as_ptr(), frame.len() as u16, 4) }
    };
    for (port, expected) in [(0, 0), (3, 3), (4, 4), (9000, 4)] {
        assert_eq!(of(&request(Op::Get, b"k", b"", PARTITION_PORT + port)), expected);
    }
    assert_eq!(of(&request(Op::Get, b"k", b"", 80)), 4);
    assert_eq!(of(&[0; 60]), 4);
    assert!(rxlab_kv_new(4, 4, 1).is_null());
}
