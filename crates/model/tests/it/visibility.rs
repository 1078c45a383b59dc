//! When agents meet: what a transfer costs, and when a store shows, to the picosecond. No agent runs
//! ahead of another; `world::price` has the sums' terms.

use crate::world::price::{
    ATOMIC, BELL, BYTE, DRAM, LLC, NS, OP, REMOTE, SNOOP, TLP, TO_CACHE, TURNS, cost, until,
};
use crate::world::{Out, World, server};
use memory::{Buf, Class, Memory, Ps, Side, Touch};
use model::View;

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
        let at = m.now();
        assert_eq!(cost(m, |m| m.release(c, 0, 0)), OP, "the store waits in its buffer");
        out.push(at + Ps(SNOOP)); // until the line is back from the core that tried
    });
    w.core(1, move |m| {
        until(m, 1_000 * NS);
        let Err(seen) = m.swap_if(c, 0, 0, 1) else { panic!("the lock is held") };
        assert_eq!(m.now(), Ps(1_000 * NS + SNOOP + ATOMIC));
        m.wait(c, 0, seen);
        let [shows] = released.all()[..] else { panic!("woken before the release") };
        assert_eq!(m.now(), shows + Ps(OP + SNOOP), "parked until the store shows, then it loads the word");
        assert_eq!(cost(m, |m| assert_eq!(m.swap_if(c, 0, 0, 1), Ok(()))), SNOOP + ATOMIC);
    });
    w.run();
}

#[test]
fn cost_38_who_spins_looks_once_per_pause() {
    let mut s = server();
    s.constants.core.spin_cycles.value = 140.0; // 70 ns
    let mut w = World::new(s);
    let c = w.contended();
    w.core(0, move |m| {
        assert_eq!(m.swap_if(c, 0, 0, 1), Ok(()));
        until(m, 1_290 * NS);
        m.release(c, 0, 0); // shows at 1350, when the line is back
    });
    w.core(1, move |m| {
        until(m, 1_000 * NS);
        let Err(seen) = m.swap_if(c, 0, 0, 1) else { panic!("the lock is held") };
        m.wait(c, 0, seen);
        // It tried until 1070, and looked then (for an operation) and every 70 ns.
        assert_eq!(m.now(), Ps((1_071 + 4 * 70) * NS + OP + SNOOP));
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

#[test]
fn behind_a_pause_contended_words_are_still_in_order() {
    let mut w = World::new(server());
    let c = w.contended();
    let out = Out::default();
    for (core, cycles) in [(0, 400), (1, 200)] {
        let out = out.clone();
        w.core(core, move |m| {
            m.work(cycles); // into the pause
            let before = m.add(c, 0, 1);
            out.push((core, before, m.now().0));
        });
    }
    w.nic(|_| {}); // at time 0: core 1 hands over to it, and comes back in the pause
    let mut engine = w.start(Ps::ZERO);
    engine.sim().stall_cores(Ps(50 * NS), Ps(950 * NS));
    engine.run_until(Ps::from_us(100)).unwrap();
    let turn = SNOOP + ATOMIC;
    let end = 1000 * NS;
    assert_eq!(out.all(), [(0, 0, end + turn), (1, 1, end + 2 * turn)], "at one time, by number (A18)");
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
        [("frame and completion left", 214_800), ("doorbell seen", 1_572_000), ("frame fetched", 1_590_000)];
    assert_eq!(card.all(), went);
    let went = [
        ("completion seen", 537_000),
        ("frame read, worked on", 599_000),
        ("lock taken", 669_000),
        ("lock released", 770_000),
        ("doorbell rung", 772_000),
    ];
    assert_eq!(zero.all(), went);
    let went = [("swap failed", 739_000), ("woken", 890_000), ("lock taken", 960_000)];
    assert_eq!(one.all(), went);
}

/// Readers of a line share it until it is written, whether or not its word is contended.
#[test]
fn cost_37_cores_share_a_line_until_it_is_written() {
    let mut w = World::new(server());
    let contended = w.contended();
    let signal = w.words::<1>(Class::Signal, Side::Nic, 1);
    w.nic(move |m| {
        until(m, 10_000 * NS);
        m.release(signal, 0, 1);
    });
    for core in 0..3 {
        w.core(core, move |m| {
            until(m, u64::from(core) * 1000 * NS);
            // The card's last write left the line in the LLC, or nobody ever had it: then it is in DRAM.
            let first = if core == 0 { DRAM } else { SNOOP };
            assert_eq!(
                cost(m, |m| {
                    m.acquire(signal, 0);
                }),
                OP + first
            );
            assert_eq!(
                cost(m, |m| {
                    m.acquire(contended, 0);
                }),
                OP + SNOOP
            );
            until(m, (5000 + 100 * u64::from(core)) * NS);
            for _ in 0..3 {
                assert_eq!(
                    cost(m, |m| {
                        m.acquire(signal, 0);
                    }),
                    OP,
                    "nobody took the copy away"
                );
                assert_eq!(
                    cost(m, |m| {
                        m.acquire(contended, 0);
                    }),
                    OP
                );
            }
            until(m, (20_000 + 100 * u64::from(core)) * NS);
            assert_eq!(
                cost(m, |m| {
                    m.acquire(signal, 0);
                }),
                OP + LLC,
                "the LLC gives each reader a copy"
            );
            if core == 0 {
                assert_eq!(cost(m, |m| m.release(contended, 0, 1)), OP, "copies are recalled meanwhile");
                assert_eq!(cost(m, |m| m.release(contended, 0, 2)), OP, "now it has the line to itself");
            } else {
                assert_eq!(cost(m, |m| assert_eq!(m.acquire(contended, 0), 2)), OP + SNOOP);
            }
        });
    }
    w.run();
}

/// An atomic has its line to itself from when it has come until it is done: a reader waits for that, and its
/// copy has to be recalled by the next one.
#[test]
fn cost_38_readers_and_atomics_on_one_line() {
    let mut w = World::new(server());
    let c = w.contended();
    w.core(0, move |m| {
        until(m, 1000 * NS);
        assert_eq!(
            cost(m, |m| {
                m.add(c, 0, 1);
            }),
            SNOOP + ATOMIC
        );
        until(m, 2000 * NS);
        assert_eq!(
            cost(m, |m| {
                m.add(c, 0, 1);
            }),
            SNOOP + ATOMIC,
            "core 1 has read it"
        );
        assert_eq!(
            cost(m, |m| {
                m.add(c, 0, 1);
            }),
            ATOMIC
        );
    });
    w.core(1, move |m| {
        until(m, 1010 * NS);
        let took = cost(m, |m| assert_eq!(m.acquire(c, 0), 1));
        let held = SNOOP + ATOMIC - 10 * NS;
        assert!((OP + held + SNOOP..OP + held + SNOOP + TURNS).contains(&took), "{took}");
    });
    w.run();
}

/// A core whose stores are under way does not hold a line meanwhile: its atomic begins behind them, and so
/// does what it releases.
#[test]
fn cost_39_stores_show_before_the_release_behind_them() {
    let mut w = World::new(server());
    let (c, b) = (w.contended(), w.buffers(1));
    w.core(0, move |m| {
        until(m, 1000 * NS);
        assert_eq!(cost(m, |m| m.meta(b, Buf(0), 0, Touch::Write)), 0);
        let begun = Ps(1000 * NS);
        m.add(c, 0, 1);
        assert_eq!(m.now(), begun + Ps(DRAM + SNOOP + ATOMIC));
        let begun = m.now();
        m.meta(b, Buf(0), 1, Touch::Write);
        m.release(c, 0, 7);
        assert!(m.now() < begun + Ps(DRAM), "the core goes on");
        m.add(c, 0, 1);
        assert_eq!(m.now(), begun + Ps(DRAM + ATOMIC));
    });
    w.run();
}

/// The PCIe root answers a posted store as a cache on the mesh would, and stores leave a core in order (A64).
#[test]
fn cost_45_an_atomic_waits_for_the_doorbell_before_it() {
    let mut w = World::new(server());
    let (c, bell, b) = (w.contended(), w.bell(), w.buffers(1));
    w.core(0, move |m| {
        m.add(c, 0, 1);
        let begun = m.now();
        assert_eq!(cost(m, |m| m.ring(bell, 1)), OP, "posted");
        m.add(c, 0, 1);
        assert_eq!(m.now(), begun + Ps(OP + SNOOP + ATOMIC));
        let begun = m.now();
        m.meta(b, Buf(0), 0, Touch::Write);
        m.ring(bell, 2);
        m.release(c, 0, 7);
        assert_eq!(m.now(), begun + Ps(OP + OP), "no store waits");
        m.add(c, 0, 1);
        assert_eq!(m.now(), begun + Ps(DRAM + SNOOP + ATOMIC), "the doorbell left behind the line's store");
    });
    w.run();
}

/// A card on the other node writes into the LLC there: what it posts comes half a round trip later, and a
/// core's first load of a line crosses. Of lines in a row, the second is asked for with the first.
#[test]
fn cost_40_a_card_on_the_other_node() {
    let mut far = server();
    far.nic.remote = true;
    let mut w = World::new(far);
    let f = w.words::<2>(Class::Signal, Side::Nic, 16);
    let bell = w.bell();
    w.nic(move |m| {
        (0..12).for_each(|i| m.publish(f, i, [5, 1]));
        until(m, 5_000 * NS + OP + BELL + REMOTE / 2 - 1);
        assert_eq!(m.acquire(bell, 0), 0);
        until(m, 5_000 * NS + OP + BELL + REMOTE / 2);
        assert_eq!(m.acquire(bell, 0), 9);
    });
    w.core(0, move |m| {
        let shows = 12 * (16 * BYTE + TLP) + TO_CACHE + REMOTE / 2;
        until(m, shows - 1 - OP - SNOOP - REMOTE);
        assert_eq!(m.acquire(f, 11), 0, "the load is over before the last one shows");
        until(m, 2_000 * NS);
        assert_eq!(cost(m, |m| assert_eq!(m.acquire(f, 0), 1)), OP + SNOOP + REMOTE);
        assert_eq!(cost(m, |m| assert_eq!(m.acquire(f, 1), 1)), OP, "the same line");
        assert_eq!(cost(m, |m| assert_eq!(m.acquire(f, 4), 1)), OP + (SNOOP + REMOTE) / 2, "the next one");
        until(m, 5_000 * NS);
        m.ring(bell, 9);
    });
    let mut engine = w.run();
    assert_eq!(engine.sim().counts().dram_writes, 0, "the node's memory is not written");
}

/// Eight cores that want one lock most of the time: none of them starves.
#[test]
fn who_waits_for_a_lock_gets_it_in_turn() {
    let mut s = server();
    s.constants.core.spin_cycles.value = 140.0;
    let mut w = World::new(s);
    let c = w.contended();
    let out = Out::default();
    for core in 0..8 {
        let out = out.clone();
        w.core(core, move |m| {
            let mut turns = 0;
            while m.now() < Ps(5_000_000 * NS) {
                let mut seen = 0;
                while let Err(now) = m.swap_if(c, 0, seen, seen | 1) {
                    seen = now;
                    while seen & 1 == 1 {
                        m.wait(c, 0, seen);
                        seen = m.relaxed(c, 0);
                    }
                }
                m.work(100);
                m.release(c, 0, seen + 2);
                // Until the lock shows as free behind all swaps that failed; else its last holder is there first.
                m.work(3000);
                turns += 1;
            }
            out.push(turns);
        });
    }
    w.run();
    let turns = out.all();
    let (least, most) = (turns.iter().min().unwrap(), turns.iter().max().unwrap());
    assert!(*most < 4 * *least, "{turns:?}");
}
