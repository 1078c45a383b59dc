//! A card that writes used descriptors back by the row, as some do: `ddring` and `corec`.

use crate::common;
use crate::common::Plain;
use memory::Ps;
use rings::ddring::{self, WriteBack};
use rings::world::World;
use rings::{Interface, Nic, corec};

const LEN: u16 = 64;
const AFTER: Ps = Ps::from_ns(1000);

fn interfaces() -> [Interface; 2] {
    let ddring = ddring::Sizes { ring: 16, ..ddring::Sizes::default() };
    [
        Interface::DdRing(ddring),
        Interface::Corec(corec::Sizes { ring: 16, shared_by: 2, ..Default::default() }),
    ]
}

/// Two cores, and a card that writes `together` descriptors back at a time.
fn world(interface: Interface, together: u32) -> (World<Plain>, Plain) {
    let (mut world, plain) = common::world(interface, 2, 128);
    let (_, rx, _) = world.nic.parts();
    rx.set_write_back(WriteBack { together, after: AFTER });
    assert_eq!(world.fill(), 0);
    (world, plain)
}

#[test]
fn a_row_shows_when_it_is_whole() {
    for interface in interfaces() {
        for (together, row) in [(0, 1), (1, 1), (2, 2), (4, 4), (7, 4), (8, 8), (64, 8)] {
            let (mut world, _) = world(interface.clone(), together);
            for n in 1..=24 {
                assert_eq!(world.nic.arrive(0, 1, LEN), Ok(1));
                let shown = if n % row == 0 { row } else { 0 };
                assert_eq!(world.cores[0].poll(32), Ok(shown), "{} {together}: after {n}", interface.name());
            }
            world.finish(false).unwrap();
        }
    }
}

#[test]
fn or_when_its_time_has_come() {
    for interface in interfaces() {
        let (mut world, mut plain) = world(interface, 4);
        assert_eq!(world.nic.poll(), None);
        world.nic.arrive(0, 1, LEN).unwrap();
        assert_eq!(world.nic.poll(), None, "nothing was written back early before: at once");
        assert_eq!(world.cores[0].poll(32), Ok(1));
        plain.advance(Ps::from_ns(400));
        world.nic.arrive(0, 2, LEN).unwrap();
        assert_eq!(world.nic.poll(), Some(AFTER), "so long after the last time");
        assert_eq!(world.cores[0].poll(32), Ok(0));
        world.nic.arrive(0, 1, LEN).unwrap();
        assert_eq!(world.nic.poll(), None, "the row is whole");
        assert_eq!(world.cores[0].poll(32), Ok(3));
        world.nic.arrive(0, 1, LEN).unwrap();
        plain.advance(Ps::from_ns(599));
        assert_eq!((world.nic.poll(), world.cores[0].poll(32)), (Some(AFTER), Ok(0)));
        plain.advance(Ps::from_ns(1));
        assert_eq!((world.nic.poll(), world.cores[0].poll(32)), (None, Ok(1)));
        world.finish(false).unwrap();
    }
}

#[test]
fn what_waits_is_not_lost_when_its_queue_stops() {
    for interface in interfaces() {
        let (mut world, _) = world(interface, 8);
        world.nic.arrive(0, 3, LEN).unwrap();
        world.nic.stop_queue(0);
        assert_eq!(world.cores[0].poll(32), Ok(3));
        world.nic.arrive(1, 5, LEN).unwrap();
        world.finish(false).unwrap();
    }
}
