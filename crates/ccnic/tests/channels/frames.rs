//! Frames both ways.

use std::path::Path;

use ccnic::{Back, Buf, Channel, Config, Error, Layout, Listener, Segment};

use crate::other::Other;
use crate::traffic::{NONE, SMALL, Traffic};

const FRAMES: u64 = 30_000;

fn configs() -> impl Iterator<Item = Config> {
    let layouts = [Layout::Group, Layout::Pad, Layout::Pack, Layout::Dense];
    layouts
        .into_iter()
        .flat_map(|layout| [Back::Clear, Back::Credit].map(|back| Config { layout, back, ..SMALL }))
}

/// One link after the other.
pub(crate) fn play(path: &Path) {
    for config in configs() {
        let mut side = Traffic::new(Channel::connect(path, config).unwrap());
        side.run(FRAMES).unwrap();
        while side.pull().is_ok() {} // the other side closes first
    }
}

#[test]
fn frames_pass_both_ways_in_each_layout() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("socket");
    let (mut other, mut side) = (None, None);
    for config in configs() {
        let mut listener = Listener::bind(&path, config).unwrap();
        drop(side.take()); // the other side comes back
        other.get_or_insert_with(|| Other::start("frames", &path));
        let side = side.insert(Traffic::new(listener.accept().unwrap()));
        side.run(FRAMES).unwrap();
        assert_eq!((side.sent, side.got), (FRAMES, FRAMES));
    }
    drop(side);
    assert!(other.unwrap().ends());
}

fn pair(config: Config) -> (Channel, Channel) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("socket");
    let mut listener = Listener::bind(&path, config).unwrap();
    let there = std::thread::spawn(move || Channel::connect(path, config).unwrap());
    (listener.accept().unwrap(), there.join().unwrap())
}

#[test]
fn what_lies_outside_a_buffer_is_an_error_and_goes_nowhere() {
    let (mut here, mut there) = pair(SMALL);
    let mut bufs = [Buf(0)];
    assert_eq!(here.alloc(&mut bufs), 1);
    let [buf] = bufs;
    let told = here.write(buf, 250, &[0; 7]).unwrap_err().to_string();
    let wanted = format!("7 B at 250 of buffer {}; allowed: up to 256 B of buffers below 96", buf.0);
    assert_eq!(told, wanted);
    assert!(matches!(here.read(Buf(96), 0, &mut [0]), Err(Error::Bounds { buf: 96, .. })));
    assert!(matches!(here.write(buf, u32::MAX, &[0; 2]), Err(Error::Bounds { .. })));
    for seg in [
        Segment { buf, off: 200, len: 57, last: true },
        Segment { buf: Buf(u64::MAX), off: 0, len: 1, last: true },
    ] {
        assert!(matches!(here.send(&[seg]), Err(Error::Bounds { .. })));
    }
    // One that is not held is counted.
    let other = Buf((buf.0 + 1) % 96);
    assert_eq!(here.send(&[Segment { buf: other, off: 0, len: 1, last: true }]).unwrap(), 1);
    assert_eq!(here.counters()[1], ("pool_foreign", 1));
    assert_eq!(there.receive(&mut [NONE; 4]).unwrap(), 0);
    assert_eq!(here.buffers().1, 1);
    assert!(here.is_alive() && here.reclaim().is_err());
}

#[test]
fn what_a_side_sent_before_its_end_is_received() {
    let (mut here, there) = pair(SMALL);
    let mut there = Traffic::new(there);
    assert_eq!(there.push(4).unwrap(), 4);
    drop(there);
    assert!(!here.is_alive());
    let mut here = Traffic::new(here);
    assert!(here.pull().unwrap() > 0);
    assert!(matches!(here.pull(), Err(Error::Gone)));
    assert_eq!(here.got, 4);
    here.settle();
}
