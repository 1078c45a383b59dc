//! Frames that lie in buffers already (rxbisect §5), over every interface: pointers move, bytes do not.

use crate::common;
use std::cell::Cell;

use memory::{Buf, Geometry, Memory};
use rings::{
    Completion, Frame, Host, Interface, Nic, Outcome, corec, ddring, dynamic, privring, rxbisect, shring,
};

const BUFFERS: Geometry = Geometry::plain(12, 128);

fn interfaces() -> [Interface; 4] {
    [
        Interface::PrivRing(privring::Sizes { ring: 4 }),
        Interface::ShRing(shring::Sizes { ring: 4, shared_by: 1, completions: 4, ..Default::default() }),
        Interface::RxBisect(rxbisect::Sizes { ax: 4, bx: 8, ..rxbisect::Sizes::default() }),
        Interface::Dynamic(dynamic::Sizes { ring: 4, shared_by: 1, report: 1, ..Default::default() }),
    ]
}

#[test]
fn the_host_gets_the_frames_own_buffer_and_the_nic_the_hosts_empty_one() {
    for interface in interfaces() {
        let name = interface.name();
        let (mut world, _) = common::world(interface, 1, BUFFERS.count);
        let [own] = world.cores[0].lend(1)[..] else { panic!("no buffer") };
        world.fill();
        let (m, rx, _) = world.nic.parts();
        (0..BUFFERS.count)
            .for_each(|buf| m.put(common::Pool::first(BUFFERS), Buf(buf.into()), 0, &[buf as u8; 128], 128));
        let lies = Cell::new(own);
        let mut out = [Outcome::BadFrame];
        let frame = Frame::lying(&lies, 100, 5, 6).marked(7);
        rx.deliver(m, 0, &[frame], &mut out);
        assert_eq!(out, [Outcome::Delivered], "{name}");
        let empty = lies.get();
        assert_ne!(empty, own, "{name}");
        let (m, rx, _, pool) = world.cores[0].parts();
        let mut got = [Completion::none(); 2];
        assert_eq!(rx.rx_burst(m, pool, &mut got), 1);
        assert_eq!(
            got[0],
            Completion { buf: own, len: 100, between: got[0].between, rss: 5, kind: 6, mark: 7 },
            "{name}"
        );
        for buf in [own, empty] {
            let mut bytes = [0xff; 128];
            m.get(common::Pool::first(BUFFERS), buf, 0, &mut bytes, 128);
            assert_eq!(bytes, [buf.0 as u8; 128], "{name}: nobody wrote a byte");
        }
        world.cores[0].take_back(&[own, empty]);
        world.finish(true).unwrap();
    }
}

#[test]
fn a_dropped_frame_stays_where_it_lies() {
    for interface in interfaces() {
        let name = interface.name();
        let (mut world, _) = common::world(interface, 1, BUFFERS.count);
        // So that four are left for a ring of four, and none for one that rests.
        let own = world.cores[0].lend(BUFFERS.count as usize - 4);
        world.fill();
        let lies: Vec<_> = (0..5).map(|_| Cell::new(own[0])).collect();
        let frames: Vec<_> = lies.iter().map(|buf| Frame::lying(buf, 60, 0, 0)).collect();
        let mut out = [Outcome::BadFrame; 5];
        let (m, rx, _) = world.nic.parts();
        rx.deliver(m, 0, &frames, &mut out);
        assert_eq!(out[..4], [Outcome::Delivered; 4], "{name}");
        assert!(matches!(out[4], Outcome::RingFull | Outcome::NoBuffer), "{name}: {:?}", out[4]);
        assert_eq!(lies[4].get(), own[0], "{name}");
        let mut empties: Vec<_> = lies[..4].iter().map(|buf| buf.get().0).collect();
        empties.sort_unstable();
        let mut posted: Vec<_> = (0..u64::from(BUFFERS.count)).filter(|b| !own.contains(&Buf(*b))).collect();
        posted.sort_unstable();
        assert_eq!(empties, posted, "{name}: the four that were posted");
    }
}

/// A descriptor that comes back holds no address, so there is none to swap.
#[test]
fn a_ring_of_done_bits_takes_no_pointers() {
    let ddring = ddring::Sizes { ring: 4, ..ddring::Sizes::default() };
    let corec = corec::Sizes { ring: 4, shared_by: 1, ..Default::default() };
    for interface in [Interface::DdRing(ddring), Interface::Corec(corec)] {
        assert!(!interface.passes_pointers());
        let (mut world, _) = common::world(interface.clone(), 1, BUFFERS.count);
        let [own] = world.cores[0].lend(1)[..] else { panic!("no buffer") };
        world.fill();
        let (m, rx, _) = world.nic.parts();
        let lies = Cell::new(own);
        let mut out = [Outcome::Delivered];
        rx.deliver(m, 0, &[Frame::lying(&lies, 100, 5, 6)], &mut out);
        assert_eq!((out, lies.get()), ([Outcome::BadFrame], own), "{}", interface.name());
        assert_eq!(world.cores[0].poll(2), Ok(0));
        world.cores[0].take_back(&[own]);
        world.finish(true).unwrap();
    }
    assert!(interfaces().iter().all(Interface::passes_pointers));
}
