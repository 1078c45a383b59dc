//! Two ports of one process over a channel.
#![allow(clippy::disallowed_methods, reason = "waits for threads of the ports, whose clock is the system's")]

use core::ffi::{CStr, c_char, c_void};
use std::path::Path;
use std::sync::Mutex;
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::*;
use crate::args::Args;

/// What a port was told.
type Said = Mutex<Vec<(bool, Option<String>)>>;

unsafe extern "C" fn told(ctx: *mut c_void, up: bool, why: *const c_char) {
    // SAFETY: `port` made it of a `Said` that is never freed.
    let said = unsafe { &*ctx.cast::<Said>() };
    // SAFETY: null, or a text that lives as long as the call.
    let why = (!why.is_null()).then(|| unsafe { CStr::from_ptr(why) }.to_string_lossy().into_owned());
    said.lock().unwrap().push((up, why));
}

fn port(path: &Path, conf: &str) -> (ChannelPort, &'static Said) {
    let said: &'static Said = Box::leak(Box::default());
    let mut args = Args::default();
    let pairs = [("iface", "ccnic"), ("channel", path.to_str().unwrap()), ("channel_conf", conf)];
    pairs.into_iter().for_each(|(key, value)| args.set(key, value).unwrap());
    args.check().unwrap();
    let told = Told { ctx: core::ptr::from_ref(said).cast_mut().cast(), call: told };
    let port = ChannelPort::new(args.wire().unwrap(), told);
    port.start().unwrap();
    (port, said)
}

fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(60), "{what}");
        sleep(Duration::from_millis(1));
    }
}

fn ups(said: &Said) -> usize {
    said.lock().unwrap().iter().filter(|(up, _)| *up).count()
}

/// A piece that lies in no buffer of the link.
fn piece(data: &[u8], last: bool) -> Piece {
    Piece { data: data.as_ptr(), buf: ELSEWHERE, off: 0, len: data.len() as u16, last }
}

/// A frame of these pieces goes out, once there is a link with room.
fn send(port: &ChannelPort, frame: &[&[u8]]) {
    let last = frame.len() - 1;
    let pieces: Vec<_> = frame.iter().enumerate().map(|(i, data)| piece(data, i == last)).collect();
    // SAFETY: the pieces lie in `frame`.
    until("a frame is sent", || unsafe { port.line().send(&pieces) } == (1, false));
}

/// The pieces of the next frame, into rooms of so many bytes.
fn receive(port: &ChannelPort, room: u16) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    let mut bytes = vec![0; room.into()];
    until("a frame is received", || {
        let mut rooms = [Room { data: bytes.as_mut_ptr(), len: 0, last: false }];
        // SAFETY: `bytes` has `room` of them.
        if unsafe { port.line().receive(&mut rooms, room) }.0 == 0 {
            return false;
        }
        all.push(bytes[..rooms[0].len.into()].to_vec());
        rooms[0].last
    });
    all
}

#[test]
fn frames_go_both_ways_whatever_their_pieces() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("wire");
    let conf = "ring:64+buffers:256+bytes:256";
    let ((a, _), (b, _)) = (port(&path, conf), port(&path, conf));
    assert_eq!(a.longest(), 256 * 32);
    let long: Vec<u8> = (0..600).map(|i| i as u8).collect();
    for round in 0..200_u8 {
        send(&a, &[&[round; 60]]);
        assert_eq!(receive(&b, 256), [[round; 60]]);
        send(&b, &[&[1; 100], &[2; 100]]);
        assert_eq!(receive(&a, 256), [[[1; 100], [2; 100]].concat()], "in one buffer");
        send(&a, &[&long, &[round; 3]]);
        let whole = receive(&b, 256);
        assert_eq!(whole.iter().map(Vec::len).collect::<Vec<_>>(), [256, 256, 91]);
        assert_eq!(whole.concat(), [&long[..], &[round; 3]].concat());
    }
    send(&a, &[&[7; 60]]);
    assert_eq!(receive(&b, 59), [[0_u8; 0]], "longer than the room");
}

#[test]
fn a_side_that_went_comes_back() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("wire");
    let (a, said) = port(&path, "ring:64");
    for round in 1..=3 {
        let (b, _) = port(&path, "ring:64");
        send(&b, &[&[round; 60]]);
        drop(b);
        assert_eq!(receive(&a, 2048), [[round; 60]], "what it had sent is there");
        until("its end is told", || {
            // SAFETY: there is no room to be written.
            assert_eq!(unsafe { a.line().receive(&mut [], 0) }, (0, u32::from(round)));
            said.lock().unwrap().last() == Some(&(false, None))
        });
        assert_eq!(ups(said), usize::from(round));
    }
    a.stop();
    // SAFETY: the bytes are there.
    assert_eq!(unsafe { a.line().send(&[piece(&[0; 60], true)]) }, (0, false));
}

#[test]
fn a_difference_is_told_once() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("wire");
    let ((_a, one), (_b, other)) = (port(&path, "ring:64"), port(&path, "ring:128"));
    let tells = |said: &Said, what: &str| {
        let said = said.lock().unwrap();
        said.iter().any(|(up, why)| !up && why.as_ref().is_some_and(|why| why.contains(what)))
    };
    until("both are told", || {
        tells(one, "ring 64 here, 128 there") && tells(other, "ring 128 here, 64 there")
    });
    sleep(Duration::from_millis(300));
    for said in [one, other] {
        let said = said.lock().unwrap();
        let differences =
            said.iter().filter(|(_, why)| why.as_ref().is_some_and(|why| why.contains(" here, ")));
        assert_eq!(differences.count(), 1, "{said:?}");
    }
}
