//! When agents meet: what a transfer costs, and when a store shows, to the picosecond. No agent runs
//! ahead of another; `world::price` has the sums' terms.

#![allow(clippy::unwrap_used, reason = "a test")]

mod world;

use memory::{Buf, Class, Memory, Ps, Side};
use model::View;
use world::price::{ATOMIC, BELL, BYTE, DRAM, LLC, NS, OP, SNOOP, TLP, TO_CACHE, cost, until};
use world::{Out, World, server};

#[test]
fn cost_15_words_that_the_card_has_touched() {
    let mut w = World::new(server());
    let f = w.words::<2>(Class::Signal, Side::Nic, 4);
    w.nic(move |m| {
        assert_eq!(cost(m, |m| m.publish(f, 0, [5, 1])), 16 * BYTE + TLP);
    });
    w.core(0, move |m| {
        until(m, 1000 * NS);
        assert_eq!(cost(m, |m| assert_eq!(m.acquire(f, 0), 1)), OP + LLC, "DDIO put it there");
        assert_eq!(cost(m, |m| assert_eq!(m.body(f, 0), [5])), OP, "the same line");
    });
    w.run();
}

#[test]
fn cost_16_atomic_of_one_core() {
    let mut w = World::new(server());
    let c = w.contended();
    w.core(0, move |m| {
        assert_eq!(cost(m, |m| assert_eq!(m.add(c, 0, 1), 0)), SNOOP + ATOMIC, "the line has to come");
        assert_eq!(cost(m, |m| assert_eq!(m.add(c, 0, 1), 1)), ATOMIC);
        assert_eq!(cost(m, |m| assert_eq!(m.swap_if(c, 0, 2, 7), Ok(()))), ATOMIC);
        assert_eq!(cost(m, |m| assert_eq!(m.swap_if(c, 0, 2, 8), Err(7))), ATOMIC, "a failure costs as much");
    });
    w.run();
}

#[test]
fn cost_17_atomics_queue_for_their_line() {
    let mut w = World::new(server());
    let c = w.contended();
    let out = Out::default();
    for core in 0..4 {
        let out = out.clone();
        w.core(core, move |m| {
            until(m, 1000 * NS);
            let before = m.add(c, 0, 1);
            out.push((before, m.now().0));
        });
    }
    w.run();
    let turn = SNOOP + ATOMIC;
    assert_eq!(out.all(), [1, 2, 3, 4].map(|n| (n - 1, 1000 * NS + n * turn)));
}

#[test]
fn cost_18_a_swap_that_comes_later_fails() {
    let mut w = World::new(server());
    let c = w.contended();
    w.core(0, move |m| {
        until(m, 100 * NS);
        assert_eq!(m.swap_if(c, 0, 0, 1), Ok(()));
        assert_eq!(m.now(), Ps(100 * NS + SNOOP + ATOMIC));
    });
    w.core(1, move |m| {
        until(m, 101 * NS);
        assert_eq!(m.swap_if(c, 0, 0, 2), Err(1));
        assert_eq!(m.now(), Ps(100 * NS + 2 * (SNOOP + ATOMIC)), "it waited for the line");
    });
    w.run();
}

#[test]
fn cost_19_lock_hand_over() {
    let mut w = World::new(server());
    let c = w.contended();
    let released = Out::default();
    let out = released.clone();
    w.core(0, move |m| {
        assert_eq!(m.swap_if(c, 0, 0, 1), Ok(()));
        until(m, 5_000 * NS);
        m.release(c, 0, 0);
        out.push(m.now());
    });
    w.core(1, move |m| {
        until(m, 1_000 * NS);
        let Err(seen) = m.swap_if(c, 0, 0, 1) else { panic!("the lock is held") };
        assert_eq!(m.now(), Ps(1_000 * NS + SNOOP + ATOMIC));
        m.wait(c, 0, seen);
        let [at] = released.all()[..] else { panic!("woken before the release") };
        assert_eq!(m.now(), at, "parked until the word changes");
        assert_eq!(m.swap_if(c, 0, 0, 1), Ok(()));
        assert_eq!(m.now(), at + Ps(SNOOP + ATOMIC));
    });
    w.run();
}

#[test]
fn cost_20_doorbell() {
    let mut w = World::new(server());
    let bell = w.bell();
    w.core(0, move |m| {
        until(m, 50 * NS);
        assert_eq!(cost(m, |m| m.ring(bell, 9)), OP, "posted");
    });
    w.nic(move |m| {
        let due = 50 * NS + OP + BELL;
        until(m, due - 1);
        assert_eq!(cost(m, |m| assert_eq!(m.acquire(bell, 0), 0)), 0, "a register of the card");
        until(m, due);
        assert_eq!(m.acquire(bell, 0), 9);
    });
    w.run();
}

#[test]
fn cost_21_a_second_doorbell_does_not_hurry_the_first() {
    let mut w = World::new(server());
    let bell = w.bell();
    w.core(0, move |m| {
        m.ring(bell, 1);
        until(m, 500 * NS);
        m.ring(bell, 2);
    });
    w.nic(move |m| {
        for (at, seen) in
            [(OP + BELL - 1, 0), (OP + BELL, 1), (500 * NS + OP + BELL - 1, 1), (500 * NS + OP + BELL, 2)]
        {
            until(m, at);
            assert_eq!(m.acquire(bell, 0), seen, "at {at} ps");
        }
    });
    w.run();
}

#[test]
fn cost_22_a_doorbell_wakes_the_card() {
    let mut w = World::new(server());
    let bell = w.bell();
    w.nic(move |m| {
        let due = Ps(2_000 * NS + OP + BELL);
        while m.acquire(bell, 0) == 0 {
            m.idle();
        }
        assert_eq!(m.now(), due);
    });
    w.agent(model::Agent::NicTx(0), move |m| {
        assert_eq!(m.acquire(bell, 0), 0);
        m.pause(Ps(1_500 * NS), true);
        assert_eq!(m.now(), Ps(1_500 * NS), "nothing came earlier");
        assert_eq!(m.acquire(bell, 0), 0);
        m.pause(Ps(9_000 * NS), true);
        assert_eq!(m.now(), Ps(2_000 * NS + OP + BELL), "ended early");
    });
    w.core(0, move |m| {
        until(m, 2_000 * NS);
        m.ring(bell, 1);
    });
    w.run();
}

#[test]
fn cost_23_a_completion_shows_after_its_payload_and_the_way() {
    let due = (64 * BYTE + TLP) + (32 * BYTE + TLP) + TO_CACHE;
    for (core, early, seen) in [(0, 1, 0), (1, 0, 1)] {
        let mut w = World::new(server());
        let b = w.buffers(1);
        let f = w.words::<4>(Class::Signal, Side::Nic, 2);
        w.nic(move |m| {
            m.put(b, Buf(0), 0, &[1; 64], 64);
            m.publish(f, 0, [0, 0, 0, 1]);
        });
        w.core(core, move |m| {
            // The load of a line that the card wrote returns its value after `OP + LLC`.
            until(m, due - early - OP - LLC);
            assert_eq!(m.acquire(f, 0), seen, "the load is over {early} ps before the completion shows");
        });
        w.run();
    }
}

#[test]
fn cost_24_a_parked_core_wakes_on_its_polling_grid() {
    let mut w = World::new(server());
    let [f, g] = [0, 1].map(|_| w.words::<1>(Class::Signal, Side::Nic, 1));
    let write = 8 * BYTE + TLP;
    w.nic(move |m| {
        until(m, 7_778 * NS);
        m.release(f, 0, 1);
    });
    w.core(0, move |m| {
        let poll = |m: &mut View| m.acquire(f, 0) + m.acquire(g, 0);
        assert_eq!(cost(m, |m| assert_eq!(poll(m), 0)), 2 * (OP + DRAM));
        m.idle(); // the first after other work has no period yet
        assert_eq!(cost(m, |m| assert_eq!(poll(m), 0)), 2 * OP);
        let (from, period) = (m.now().0, 2 * OP);
        m.idle();
        // The first poll that begins when the signal shows, or later.
        let shows = 7_778 * NS + write + TO_CACHE;
        assert_eq!(m.now(), Ps(from + (shows - from).div_ceil(period) * period));
        assert_eq!(cost(m, |m| assert_eq!(poll(m), 1)), 2 * OP + LLC);
    });
    w.run();
}

#[test]
fn cost_25_a_stall_of_all_cores() {
    let mut w = World::new(server());
    let (core, card) = (Out::default(), Out::default());
    let (by_core, by_card) = (core.clone(), card.clone());
    w.core(0, move |m| {
        m.pause(Ps(3_000 * NS), false);
        by_core.push(m.now());
    });
    w.nic(move |m| {
        m.pause(Ps(3_000 * NS), false);
        by_card.push(m.now());
    });
    let mut engine = w.start(Ps::ZERO);
    engine.sim().stall_cores(Ps(2_000 * NS), Ps(4_000 * NS));
    engine.run_until(Ps::from_us(100)).unwrap();
    assert_eq!(core.all(), [Ps(6_000 * NS)], "a core goes on at its end");
    assert_eq!(card.all(), [Ps(3_000 * NS)], "the card does not stop");
}

/// What docs/timeline.svg draws, in its numbers.
#[test]
fn cost_26_the_timeline_of_the_documentation() {
    let mut w = World::new(server());
    let b = w.buffers(1);
    let completion = w.words::<4>(Class::Signal, Side::Nic, 2);
    let lock = w.contended();
    let descriptor = w.words::<2>(Class::Body, Side::Host, 4);
    let bell = w.bell();
    let (zero, one, card) = (Out::default(), Out::default(), Out::default());
    let log = zero.clone();
    w.core(0, move |m| {
        while m.acquire(completion, 0) == 0 {
            m.idle();
        }
        log.push(("completion seen", m.now().0));
        m.get(b, Buf(0), 0, &mut [0; 64], 64);
        m.work(80);
        log.push(("frame read, worked on", m.now().0));
        assert_eq!(m.swap_if(lock, 0, 0, 1), Ok(()));
        log.push(("lock taken", m.now().0));
        m.work(200);
        m.release(lock, 0, 0);
        log.push(("lock released", m.now().0));
        m.write(descriptor, 0, [0, 0]);
        m.ring(bell, 1);
        log.push(("doorbell rung", m.now().0));
    });
    let log = one.clone();
    w.core(1, move |m| {
        until(m, 640 * NS);
        let Err(seen) = m.swap_if(lock, 0, 0, 1) else { panic!("the lock is held") };
        log.push(("swap failed", m.now().0));
        m.wait(lock, 0, seen);
        log.push(("woken", m.now().0));
        assert_eq!(m.swap_if(lock, 0, 0, 1), Ok(()));
        log.push(("lock taken", m.now().0));
    });
    let log = card.clone();
    w.nic(move |m| {
        until(m, 200 * NS);
        m.put(b, Buf(0), 0, &[1; 64], 64);
        m.publish(completion, 0, [0, 0, 0, 1]);
        log.push(("frame and completion left", m.now().0));
        while m.acquire(bell, 0) == 0 {
            m.idle();
        }
        log.push(("doorbell seen", m.now().0));
        m.read(descriptor, 0);
        m.get(b, Buf(0), 0, &mut [], 64);
        log.push(("frame fetched", m.now().0));
    });
    w.run();
    let went =
        [("frame and completion left", 214_800), ("doorbell seen", 1_593_250), ("frame fetched", 1_611_250)];
    assert_eq!(card.all(), went);
    let went = [
        ("completion seen", 537_000),
        ("frame read, worked on", 599_000),
        ("lock taken", 669_000),
        ("lock released", 780_625),
        ("doorbell rung", 793_250),
    ];
    assert_eq!(zero.all(), went);
    let went = [("swap failed", 739_000), ("woken", 780_625), ("lock taken", 850_625)];
    assert_eq!(one.all(), went);
}
