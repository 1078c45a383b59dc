//! `privring`, each half in a process of its own.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;

use memory::native::{hung_up, send_file};
use memory::{Backing, Buf, Geometry, Memory, NativeView, Region, Space};
use rings::privring::{self, HostHalf, NicHalf, Sizes};
use rings::{Buffers, Completion, Frame, Host, Interface, Nic, Outcome};

use crate::other::{ENDLESS, Ended, Other, PATIENCE};

const FRAMES: u64 = 1_000_000;
const SIZES: Sizes = Sizes { ring: 256 };
const GEOMETRY: Geometry = Geometry::plain(1024, 128);
/// Bytes of a frame.
const LEN: u16 = 60;

type View<'r> = NativeView<'r>;
type Pool<'r> = <View<'r> as Memory>::Buffers;

/// Both halves in `region`; each process uses one of them.
fn bind(mut region: &Region) -> (Pool<'_>, HostHalf<View<'_>>, NicHalf<View<'_>>) {
    let buffers = region.buffers(&GEOMETRY).unwrap();
    let (mut hosts, nic) = privring::build(&mut region, &SIZES, 1, buffers).unwrap();
    (buffers, hosts.remove(0), nic)
}

/// The frame with this number.
fn frame(number: u64) -> [u8; LEN as usize] {
    let mut bytes = [number as u8; LEN as usize];
    bytes[..8].copy_from_slice(&number.to_le_bytes());
    bytes
}

/// Delivers frames until `until`, or until the peer is gone; how many.
fn deliver<'r>(
    m: &mut View<'r>,
    nic: &mut NicHalf<View<'r>>,
    socket: &UnixStream,
    until: u64,
) -> (u64, Ended) {
    let (mut next, mut since) = (0, m.now());
    while next < until {
        let burst: [_; 16] = std::array::from_fn(|k| frame(next + k as u64));
        let frames = burst.each_ref().map(|bytes| Frame::new(bytes, LEN, 0, 0));
        let n = frames.len().min((until - next) as usize);
        let mut out = [Outcome::BadFrame; 16];
        nic.deliver(m, 0, &frames[..n], &mut out[..n]);
        let stored = out[..n].iter().take_while(|o| **o == Outcome::Delivered).count();
        // What was refused comes again: nothing may have been delivered behind it.
        assert!(out[stored..n].iter().all(|o| *o == Outcome::RingFull), "{out:?}");
        next += stored as u64;
        if stored > 0 {
            since = m.now();
        } else if hung_up(socket) {
            return (next, Ended::Alone);
        } else {
            assert!(m.now().saturating_sub(since) < PATIENCE, "no room since frame {next}");
            m.idle();
        }
    }
    (next, Ended::Done)
}

/// The buffers of the host, in its own memory.
struct Stack(Vec<Buf>);

impl<M: Memory> Buffers<M> for Stack {
    fn take(&mut self, _m: &mut M, out: &mut [Buf]) -> usize {
        let n = out.len().min(self.0.len());
        out.iter_mut().zip(self.0.drain(..n)).for_each(|(slot, buf)| *slot = buf);
        n
    }

    fn give(&mut self, _m: &mut M, bufs: &[Buf]) {
        self.0.extend_from_slice(bufs);
    }
}

/// The host's side.
struct Core<'r> {
    m: View<'r>,
    b: Pool<'r>,
    rx: HostHalf<View<'r>>,
    stack: Stack,
    /// The number of the next frame.
    next: u64,
}

impl<'r> Core<'r> {
    fn new(region: &'r Region) -> Core<'r> {
        let (b, rx, _) = bind(region);
        let stack = Stack((0..u64::from(GEOMETRY.count)).map(Buf).collect());
        let mut core = Core { m: region.view(), b, rx, stack, next: 0 };
        assert_eq!(core.rx.fill(&mut core.m, &mut core.stack), 0);
        core
    }

    /// Receives a burst and holds each frame to its number.
    fn poll(&mut self) -> usize {
        let mut out = [Completion { buf: Buf(u64::MAX), ..Completion::none() }; 32];
        let n = self.rx.rx_burst(&mut self.m, &mut self.stack, &mut out);
        for got in &out[..n] {
            let mut bytes = [0; LEN as usize];
            self.m.get(self.b, got.buf, 0, &mut bytes, LEN.into());
            assert_eq!((got.len, bytes), (LEN, frame(self.next)), "frame {}", self.next);
            self.next += 1;
            self.stack.0.push(got.buf);
        }
        n
    }

    /// Receives until frame `until` has come, or the peer is gone and all that it delivered has come.
    fn receive(&mut self, socket: &UnixStream, until: u64) -> Ended {
        let mut since = self.m.now();
        while self.next < until {
            if self.poll() > 0 {
                since = self.m.now();
            } else if hung_up(socket) {
                while self.poll() > 0 {}
                return if self.next < until { Ended::Alone } else { Ended::Done };
            } else {
                assert!(self.m.now().saturating_sub(since) < PATIENCE, "nothing since frame {}", self.next);
                self.m.idle();
            }
        }
        Ended::Done
    }

    /// The NIC half has stopped, or is dead: each buffer is here.
    fn settle(mut self) {
        self.rx.drain(&mut self.m, &mut self.stack);
        let mut all = self.stack.0;
        all.sort_unstable();
        assert!(all.into_iter().eq((0..u64::from(GEOMETRY.count)).map(Buf)), "buffers at the end");
        assert_eq!(self.rx.counters(), [("debts", 0), ("faults", 0)]);
    }
}

fn region() -> Region {
    Region::shared(1 << 20, Backing::Pages).unwrap()
}

/// What the other process does.
pub(crate) fn play(role: &str, region: &Region, mut socket: &UnixStream) {
    match role {
        "nic" | "endless nic" => {
            let (_, _, mut nic) = bind(region);
            let until = if role == "nic" { FRAMES } else { ENDLESS };
            let (sent, ended) = deliver(&mut region.view(), &mut nic, socket, until);
            assert_eq!((sent, ended), (FRAMES, Ended::Done));
            socket.write_all(&[1]).unwrap(); // done: the host has all of it to come
        }
        "endless host" => {
            let mut core = Core::new(region);
            socket.write_all(&[1]).unwrap(); // filled
            core.receive(socket, ENDLESS);
        }
        _ => panic!("{role}"),
    }
}

#[test]
fn a_million_frames_pass_between_processes() {
    let region = region();
    let mut core = Core::new(&region);
    let mut nic = Other::start("nic");
    send_file(&nic.socket, region.file().unwrap()).unwrap();
    assert_eq!(core.receive(&nic.socket, FRAMES), Ended::Done);
    nic.socket.read_exact(&mut [0; 1]).unwrap();
    assert!(nic.process.wait().unwrap().success(), "the NIC's process");
    assert_eq!(core.poll(), 0);
    core.settle();
}

/// Whatever the NIC's process delivered has come in order, and each buffer is back.
#[test]
fn a_host_survives_a_nic_that_is_killed() {
    for kill_at in [1, 5_000, 20_011] {
        let region = region();
        let mut core = Core::new(&region);
        let mut nic = Other::start("endless nic");
        send_file(&nic.socket, region.file().unwrap()).unwrap();
        assert_eq!(core.receive(&nic.socket, kill_at), Ended::Done);
        nic.process.kill().unwrap(); // by its id
        assert_eq!(core.receive(&nic.socket, ENDLESS), Ended::Alone);
        nic.process.wait().unwrap();
        core.settle();
    }
}

#[test]
fn a_nic_survives_a_host_that_is_killed() {
    let region = region();
    let (_, _, mut nic) = bind(&region);
    let mut m = region.view();
    let mut host = Other::start("endless host");
    send_file(&host.socket, region.file().unwrap()).unwrap();
    host.socket.read_exact(&mut [0; 1]).unwrap();
    assert_eq!(deliver(&mut m, &mut nic, &host.socket, 20_000), (20_000, Ended::Done));
    host.process.kill().unwrap(); // by its id
    host.process.wait().unwrap();
    // It fills what was posted, and stops.
    let (more, ended) = deliver(&mut m, &mut nic, &host.socket, ENDLESS);
    assert_eq!(ended, Ended::Alone);
    assert!(more <= u64::from(SIZES.ring), "{more} frames for a dead host");
}

/// Every interface binds the same words in both processes.
#[test]
fn each_interface_is_found_again() {
    for line in ["privring", "shring", "rxbisect", "dynamic", "ddring", "corec", "ccnic"] {
        let interface = interface(line);
        let here = Region::shared(8 << 20, Backing::Pages).unwrap();
        let build = |mut region: &Region| {
            let b = region.buffers(&GEOMETRY).unwrap();
            let halves = rings::receive(&mut region, &interface, 4, b).map(|(hosts, _)| hosts.len()).unwrap();
            rings::tx::build(&mut region, rings::tx::Sizes { ring: 32, complete_every: 8 }, 4).unwrap();
            rings::pool::build(&mut region, GEOMETRY.count, 4, 16).unwrap();
            halves
        };
        let halves = build(&here);
        let there = Region::attach(here.file().unwrap().try_clone_to_owned().unwrap()).unwrap();
        assert_eq!(build(&there), halves, "{line}");
    }
}

fn interface(name: &str) -> Interface {
    match name {
        "privring" => Interface::PrivRing(SIZES),
        "shring" => Interface::ShRing(rings::shring::Sizes { shared_by: 2, ..Default::default() }),
        "rxbisect" => Interface::RxBisect(Default::default()),
        "dynamic" => Interface::Dynamic(rings::dynamic::Sizes { shared_by: 2, ..Default::default() }),
        "ccnic" => Interface::CcNic(Default::default()),
        "ddring" => Interface::DdRing(rings::ddring::Sizes { shared_by: 2, ..Default::default() }),
        _ => Interface::Corec(rings::corec::Sizes { shared_by: 2, ..Default::default() }),
    }
}
