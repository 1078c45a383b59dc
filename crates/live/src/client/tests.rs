//! What the client takes for right, and what not.

#![allow(clippy::unwrap_used, reason = "a set-up that fails fails its test")]

use packet::kv::Reply;

use super::*;

fn client() -> Client {
    Client::new(&"kv:put=50,objects=geo,keys=20".parse().unwrap(), 1).unwrap()
}

/// The answer of a store to a request.
fn answer(asking: &Asking, status: Status, value: &[u8]) -> Vec<u8> {
    let Asked { op, id, .. } = asking.asked;
    let reply = Reply { op, status, value_len: value.len() as u16, id };
    let mut frame = asking.frame[..HEADERS].to_vec();
    frame.extend(reply.bytes());
    frame.extend(value);
    let (total, udp) = (frame.len() as u16 - 14, frame.len() as u16 - 34);
    frame[16..18].copy_from_slice(&total.to_be_bytes());
    frame[38..40].copy_from_slice(&udp.to_be_bytes());
    frame[40..42].fill(0);
    let sum = checksum::transport(&frame[26..34], 17, &frame[34..]);
    frame[40..42].copy_from_slice(&sum.to_be_bytes());
    frame
}

fn of(client: &mut Client, op: Op, key: u64) -> Asking {
    loop {
        let asking = client.next(Vec::new()).unwrap();
        if (asking.asked.op, asking.asked.key) == (op, key) {
            return asking;
        }
    }
}

#[test]
fn answers_are_held_to_what_was_put() {
    let mut client = client();
    let put = client.put(Vec::new()).unwrap();
    let (key, start) = (put.asked.key, HEADERS + HEADER + 16);
    let value = put.frame[start..].to_vec();
    let (ok, second) = (answer(&put, Status::Ok, b""), of(&mut client, Op::Put, key));
    client.stored(0, put);
    client.judge(0, &ok);
    let get = of(&mut client, Op::Get, key);
    let good = answer(&get, Status::Ok, &value);
    let mut torn = value.clone();
    *torn.last_mut().unwrap() ^= 1;
    let wrong = [
        answer(&get, Status::Ok, &torn),
        answer(&get, Status::Ok, &second.frame[start..]),
        answer(&get, Status::Ok, &value[..value.len() - 1]),
        answer(&get, Status::NotFound, b""),
        answer(&second, Status::Ok, b""),
        {
            let mut sum = good.clone();
            sum[40] ^= 1;
            sum
        },
    ];
    client.stored(0, get);
    for frame in wrong {
        let before = (client.corrupt, client.open.clone(), client.known.clone());
        client.judge(0, &frame);
        assert_eq!(client.corrupt, before.0 + 1);
        (client.open, client.known) = (before.1, before.2);
    }
    let corrupt = client.corrupt;
    client.judge(0, &good);
    assert_eq!((client.corrupt, client.waiting(), client.faults().missing), (corrupt, 0, 0));
}

#[test]
fn where_a_put_was_not_answered_either_value_is_right() {
    for served in [false, true] {
        let mut client = client();
        let first = client.put(Vec::new()).unwrap();
        let (key, start) = (first.asked.key, HEADERS + HEADER + 16);
        let old = first.frame[start..].to_vec();
        let ok = answer(&first, Status::Ok, b"");
        client.stored(0, first);
        client.judge(0, &ok);
        let second = of(&mut client, Op::Put, key);
        let new = second.frame[start..].to_vec();
        client.stored(0, second);
        let (now, other) = if served { (&new, &old) } else { (&old, &new) };
        for value in [now, now, other] {
            let get = of(&mut client, Op::Get, key);
            let frame = answer(&get, Status::Ok, value);
            client.stored(0, get);
            client.judge(0, &frame);
        }
        assert_eq!((client.corrupt, client.faults().missing), (1, 1), "it does not change back");
    }
}
