//! A pool with an end in each process: the NIC takes a buffer, writes a frame into it and names it in a ring; the host
//! lets it in, reads the frame and gives the buffer back to its own end.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;

use memory::native::{hung_up, send_file};
use memory::{Backing, Buf, Class, Field, Geometry, Memory, NativeView, Region, Side, Space};
use rings::Buffers;
use rings::pool::sides::{End, Pair, Sizes, build};

use crate::other::{ENDLESS, Ended, Other, PATIENCE};

const FRAMES: u64 = 200_000;
const COUNT: u32 = 64;
const SIZES: Sizes = Sizes::new(COUNT, 8);
const GEOMETRY: Geometry = Geometry::plain(COUNT, 128);
/// Frames that are passed on: the buffer, and the frame's number from 1 on. It has room for all buffers, so it cannot
/// overflow.
const WIRE: Field = Field {
    name: "wire",
    len: COUNT,
    width: 2,
    class: Class::Signal,
    writer: Side::Nic,
    reader: Side::Host,
    home: Side::Host,
};

type View<'r> = NativeView<'r>;

/// A process's part: its view, the buffers, the wire, and the number of the next frame.
struct Part<'r> {
    m: View<'r>,
    b: <View<'r> as Memory>::Buffers,
    wire: <View<'r> as Memory>::Words<2>,
    end: End<View<'r>>,
    next: u64,
}

impl<'r> Part<'r> {
    fn new(mut region: &'r Region, pick: impl Fn(Pair<View<'r>>) -> End<View<'r>>) -> Part<'r> {
        let b = region.buffers(&GEOMETRY).unwrap();
        let wire = Space::words::<2>(&mut region, &WIRE, 0).unwrap();
        let end = pick(build(&mut region, &SIZES, 1, b).unwrap().remove(0));
        Part { m: region.view(), b, wire, end, next: 1 }
    }

    /// The NIC's: sends until frame `until`, or until the host is gone.
    fn send(&mut self, socket: &UnixStream, until: u64) -> Ended {
        let mut since = self.m.now();
        while self.next <= until {
            let mut buf = [Buf(u64::MAX)];
            if self.end.take(&mut self.m, &mut buf) == 1 {
                let [buf] = buf;
                self.m.put(self.b, buf, 0, &self.next.to_le_bytes(), 60);
                assert!(self.end.pass(buf));
                self.m.publish(self.wire, self.next, [buf.0, self.next]);
                self.next += 1;
                since = self.m.now();
            } else if hung_up(socket) {
                return Ended::Alone;
            } else {
                assert!(self.m.now().saturating_sub(since) < PATIENCE, "no buffer since frame {}", self.next);
                self.m.idle();
            }
        }
        Ended::Done
    }

    /// The host's: lets the next frame in, if it is there, and holds it to its number.
    fn receive_one(&mut self) -> bool {
        if self.m.acquire(self.wire, self.next) != self.next {
            return false;
        }
        let [raw] = self.m.body(self.wire, self.next);
        let buf = self.end.admit(&self.m, raw, 60).unwrap();
        let mut bytes = [0; 8];
        self.m.get(self.b, buf, 0, &mut bytes, 60);
        assert_eq!(u64::from_le_bytes(bytes), self.next);
        self.end.give(&mut self.m, &[buf]);
        self.next += 1;
        true
    }

    /// The host's: receives until frame `until`, or until the NIC is gone and all that it sent has come.
    fn receive(&mut self, socket: &UnixStream, until: u64) -> Ended {
        let mut since = self.m.now();
        while self.next <= until {
            if self.receive_one() {
                since = self.m.now();
            } else if hung_up(socket) {
                while self.receive_one() {}
                return if self.next <= until { Ended::Alone } else { Ended::Done };
            } else {
                assert!(self.m.now().saturating_sub(since) < PATIENCE, "nothing since frame {}", self.next);
                self.m.idle();
            }
        }
        Ended::Done
    }

    /// The other process is gone: this side has each buffer once.
    fn settle(mut self) {
        self.end.reclaim();
        let mut all = [Buf(u64::MAX); COUNT as usize + 1];
        assert_eq!(self.end.take(&mut self.m, &mut all), COUNT as usize);
        all.sort_unstable();
        assert!(all.into_iter().take(COUNT as usize).eq((0..u64::from(COUNT)).map(Buf)));
        assert!(self.end.counters().iter().all(|(name, n)| *name == "pool_shortages" || *n == 0));
    }
}

fn region() -> Region {
    Region::shared(1 << 16, Backing::Pages).unwrap()
}

/// What the other process does.
pub(crate) fn play(role: &str, region: &Region, mut socket: &UnixStream) {
    match role {
        "nic" => {
            let ended = Part::new(region, |(_, nic)| nic).send(socket, FRAMES);
            assert_eq!(ended, Ended::Done);
            socket.write_all(&[1]).unwrap();
        }
        "endless nic" => {
            Part::new(region, |(_, nic)| nic).send(socket, ENDLESS);
        }
        "endless host" => {
            Part::new(region, |(host, _)| host).receive(socket, ENDLESS);
        }
        _ => panic!("{role}"),
    }
}

#[test]
fn the_nic_allocates_and_the_host_frees() {
    let region = region();
    let mut host = Part::new(&region, |(host, _)| host);
    let mut nic = Other::start("pool nic");
    send_file(&nic.socket, region.file().unwrap()).unwrap();
    assert_eq!(host.receive(&nic.socket, FRAMES), Ended::Done);
    nic.socket.read_exact(&mut [0; 1]).unwrap();
    assert!(nic.process.wait().unwrap().success(), "the NIC's process");
    host.settle();
}

#[test]
fn a_host_keeps_each_buffer_when_the_nic_is_killed() {
    for kill_at in [1, 3_000, 20_011] {
        let region = region();
        let mut host = Part::new(&region, |(host, _)| host);
        let mut nic = Other::start("pool endless nic");
        send_file(&nic.socket, region.file().unwrap()).unwrap();
        assert_eq!(host.receive(&nic.socket, kill_at), Ended::Done);
        nic.process.kill().unwrap(); // by its id
        assert_eq!(host.receive(&nic.socket, ENDLESS), Ended::Alone);
        nic.process.wait().unwrap();
        host.settle();
    }
}

#[test]
fn a_nic_keeps_each_buffer_when_the_host_is_killed() {
    let region = region();
    let mut nic = Part::new(&region, |(_, nic)| nic);
    let mut host = Other::start("pool endless host");
    send_file(&host.socket, region.file().unwrap()).unwrap();
    assert_eq!(nic.send(&host.socket, 20_000), Ended::Done);
    host.process.kill().unwrap(); // by its id
    host.process.wait().unwrap();
    assert_eq!(nic.send(&host.socket, ENDLESS), Ended::Alone);
    assert!(nic.next <= 20_001 + u64::from(COUNT), "{} frames for a dead host", nic.next);
    nic.settle();
}
