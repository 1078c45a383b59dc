//! Sides that sleep.

use std::path::Path;
use std::time::Duration;

use ccnic::{Buf, Channel, Config, Error, Listener, Segment};
use rustix::time::{ClockId, clock_gettime};

use crate::other::{Other, PATIENCE};
use crate::traffic::{NONE, SMALL};

/// Sends back what it receives, asleep in between.
pub(crate) fn play(path: &Path, config: Config) {
    let mut channel = Channel::connect(path, config).unwrap();
    let mut segs = [NONE; 8];
    while let Ok(n) = channel.wait(&mut segs, PATIENCE) {
        assert!(n > 0, "no signal came");
        assert_eq!(channel.send(&segs[..n]).unwrap_or(n), n);
    }
}

/// Sends frames of eight bytes to an echo, each after the last has come back; both sides sleep.
fn ping(config: Config, role: &str, frames: u64) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("socket");
    let mut listener = Listener::bind(&path, config).unwrap();
    let mut other = Other::start(role, &path);
    let mut channel = listener.accept().unwrap();
    let mut bufs = [Buf(0)];
    assert_eq!(channel.alloc(&mut bufs), 1);
    let [mut buf] = bufs;
    for n in 0..frames {
        channel.write(buf, 0, &n.to_le_bytes()).unwrap();
        assert_eq!(channel.send(&[Segment { buf, off: 0, len: 8, last: true }]).unwrap(), 1);
        let mut segs = [NONE];
        assert_eq!(channel.wait(&mut segs, PATIENCE).unwrap(), 1, "frame {n}: no signal came");
        let mut bytes = [0; 8];
        channel.read(segs[0].buf, 0, &mut bytes).unwrap();
        assert_eq!(u64::from_le_bytes(bytes), n);
        buf = segs[0].buf;
    }
    let sleeps = channel.counters().into_iter().find(|(name, _)| *name == "sleeps").unwrap().1;
    assert!(sleeps > frames / 10, "{sleeps} sleeps: this side hardly ever slept");
    drop(channel);
    assert!(other.ends(), "the echo");
}

#[test]
fn no_signal_is_lost() {
    ping(SMALL, "small echo", 100_000);
}

#[test]
#[ignore = "a minute"]
fn no_signal_is_lost_in_a_million() {
    ping(Config::default(), "echo", 1_000_000);
}

fn cpu_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap()
}

#[test]
fn a_side_that_sleeps_uses_no_cpu_time() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("socket");
    let mut listener = Listener::bind(&path, SMALL).unwrap();
    let mut other = Other::start("small echo", &path);
    let mut channel = listener.accept().unwrap();
    let (before, slept) = (cpu_time(), Duration::from_millis(500));
    assert_eq!(channel.wait(&mut [NONE], slept).unwrap(), 0);
    let used = cpu_time() - before;
    // One system call, where a poller would have used half a second.
    assert_eq!(channel.counters().last(), Some(&("sleeps", 1)));
    assert!(used < slept / 20, "{used:?} of {slept:?}");
    // A sleeper learns of the end at once.
    other.kill();
    assert!(matches!(channel.wait(&mut [NONE], PATIENCE), Err(Error::Gone)));
    other.ends();
}

#[test]
fn without_events_nobody_sleeps() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("socket");
    let config = Config { events: false, ..SMALL };
    let mut listener = Listener::bind(&path, config).unwrap();
    let there = std::thread::spawn(move || Channel::connect(path, config).unwrap());
    let mut channel = listener.accept().unwrap();
    let told = channel.wait(&mut [NONE], PATIENCE).unwrap_err().to_string();
    assert!(told.contains("events are off"), "{told}");
    there.join().unwrap();
}

/// The other side says that it sleeps and takes no signals: they fill the socket, and nobody waits for it.
#[test]
fn a_side_that_takes_no_signals_holds_nobody_up() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("socket");
    let mut listener = Listener::bind(&path, SMALL).unwrap();
    let there = std::thread::spawn(move || Channel::connect(path, SMALL).unwrap());
    let mut channel = listener.accept().unwrap();
    let mut there = there.join().unwrap();
    let mut bufs = [Buf(0)];
    assert_eq!(channel.alloc(&mut bufs), 1);
    let [mut buf] = bufs;
    for _ in 0..10_000 {
        assert_eq!(there.wait(&mut [NONE], Duration::ZERO).unwrap(), 0);
        crate::hostile::say_asleep(&there);
        assert_eq!(channel.send(&[Segment { buf, off: 0, len: 8, last: true }]).unwrap(), 1);
        let mut segs = [NONE];
        assert_eq!(there.receive(&mut segs).unwrap(), 1);
        assert_eq!(there.send(&segs).unwrap(), 1);
        assert_eq!(channel.receive(&mut segs).unwrap(), 1);
        buf = segs[0].buf;
    }
    let signals = channel.counters().into_iter().find(|(name, _)| *name == "signals").unwrap().1;
    assert_eq!(signals, 10_000);
    assert!(channel.is_alive() && there.is_alive());
}
