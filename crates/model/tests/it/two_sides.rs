//! A pool with an end on each side, in the model: the card allocates, a core frees.

use std::cell::Cell;
use std::rc::Rc;

use crate::world::{Out, World, server};
use memory::{Buf, Class, Memory, Side};
use rings::Buffers;
use rings::pool::sides::{Sizes, build};

const COUNT: u32 = 64;
const SIZES: Sizes = Sizes::new(COUNT, 8);
const FRAMES: u64 = 2000;

/// Frames pass from the card to a core in buffers that the card takes and the core gives back.
#[test]
fn the_card_allocates_and_the_core_frees() {
    let mut w = World::new(server());
    let b = w.buffers(COUNT);
    // As many entries as buffers, so it cannot overflow.
    let wire = w.words::<2>(Class::Signal, Side::Nic, COUNT);
    let (mut host, mut nic) = build(&mut w.space, &SIZES, 1, b).unwrap().remove(0);
    let (received, done): (Out<(u64, u64)>, _) = (Out::default(), Rc::new(Cell::new(false)));
    let over = done.clone();
    w.nic(move |m| {
        let mut next = 1;
        while next <= FRAMES {
            let mut buf = [Buf(u64::MAX)];
            if nic.take(m, &mut buf) == 0 {
                m.idle();
                continue;
            }
            m.put(b, buf[0], 0, &u64::to_le_bytes(next), 60);
            assert!(nic.pass(buf[0]));
            m.publish(wire, next, [buf[0].0, next]);
            next += 1;
        }
        // The core gives all it has: each buffer comes home once.
        let (mut home, mut buf) = (Vec::new(), [Buf(u64::MAX)]);
        while home.len() < COUNT as usize && !m.stopped() {
            match nic.take(m, &mut buf) {
                0 => m.idle(),
                _ => home.push(buf[0].0),
            }
        }
        home.sort_unstable();
        assert!(home.into_iter().eq(0..u64::from(COUNT)));
        assert_eq!(nic.take(m, &mut buf), 0);
        over.set(true);
    });
    let got = received.clone();
    w.core(0, move |m| {
        for next in 1..=FRAMES {
            while m.acquire(wire, next) != next {
                m.idle();
            }
            let [raw] = m.body(wire, next);
            let buf = host.admit(m, raw, 60).unwrap();
            let mut bytes = [0; 8];
            m.get(b, buf, 0, &mut bytes, 60);
            got.push((next, u64::from_le_bytes(bytes)));
            host.give(m, &[buf]);
        }
        host.flush(m);
        assert!(host.counters().iter().all(|(name, n)| *name == "pool_shortages" || *n == 0));
    });
    w.run_while_not(&done);
    let all = received.all();
    assert_eq!(all.len() as u64, FRAMES);
    assert!(all.iter().all(|(next, seen)| next == seen), "a frame in a buffer of another");
}
