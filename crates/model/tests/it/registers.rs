//! What registers of a card cost a core, and when its stores show, to the picosecond. `world::price` has the sums'
//! terms.

use crate::world::price::{ATOMIC, BELL, BYTE, NS, OP, REMOTE, SNOOP, STORES, TLP, cost, until};
use crate::world::{World, server, soft_server};
use memory::{Buf, Class, Mapping, Memory, Ps, Side};
use model::profile::{Constant, Server};
use model::{View, Words};

/// From a core to the PCIe root.
const ROOT: u64 = SNOOP;
/// A word on the link.
const WORD: u64 = 8 * BYTE + TLP;
/// A line on the link.
const LINE: u64 = 64 * BYTE + TLP;
/// A load, there and back: twice a doorbell's way.
const TRIP: u64 = 2 * BELL;

fn uncached<const W: usize>(w: &mut World, writer: Side) -> Words<W> {
    w.words(Class::Register(Mapping::Uncached), writer, 2)
}

fn combining<const W: usize>(w: &mut World, lines: u32) -> Words<W> {
    w.words(Class::Register(Mapping::Combining), Side::Host, lines * 8 / W as u32)
}

fn stated(value: f64) -> Constant {
    Constant { value, origin: "measured: a test".into() }
}

/// A card's view shows `seen` of entry `i` from `at` on, and 0 before.
fn shows<const W: usize>(m: &mut View, w: Words<W>, i: u64, (at, seen): (u64, u64)) {
    until(m, at - 1);
    assert_eq!(cost(m, |m| assert_eq!(m.acquire(w, i), 0)), 0, "nothing before {at} ps");
    until(m, at);
    assert_eq!(cost(m, |m| assert_eq!(m.acquire(w, i), seen)), 0, "at {at} ps");
}

#[test]
fn cost_46_uncached_words_leave_one_by_one() {
    let mut w = World::new(server());
    let f = uncached::<8>(&mut w, Side::Host);
    w.core(0, move |m| {
        assert_eq!(cost(m, |m| m.write(f, 0, [1, 2, 3, 4, 5, 6, 7, 8])), 8 * OP, "into the store buffer");
        // The first one left at `OP`, each other when the root had the one before. So do these, each into the place of
        // one that has left.
        let leaves = OP + STORES * ROOT;
        assert_eq!(cost(m, |m| m.write(f, 1, [9; 8])), leaves - 8 * OP);
    });
    w.nic(move |m| {
        shows(m, f, 0, (OP + 7 * ROOT + WORD + BELL, 8));
        assert_eq!(cost(m, |m| assert_eq!(m.read(f, 0), [1, 2, 3, 4, 5, 6, 7, 8])), 0, "the card's own");
        shows(m, f, 1, (OP + 15 * ROOT + WORD + BELL, 9));
    });
    w.run();
}

#[test]
fn cost_47_nothing_overtakes_a_posted_store() {
    let mut w = World::new(server());
    let f = uncached::<4>(&mut w, Side::Host);
    let bell = w.bell();
    let signal = w.words::<1>(Class::Signal, Side::Host, 1);
    let last = OP + 3 * ROOT + WORD + BELL;
    w.core(0, move |m| {
        m.write(f, 0, [1; 4]);
        assert_eq!(cost(m, |m| m.release(signal, 0, 1)), OP, "the core does not wait");
        assert_eq!(cost(m, |m| m.ring(bell, 1)), OP);
    });
    w.nic(move |m| {
        until(m, last - 1);
        assert_eq!([m.acquire(signal, 0), m.acquire(bell, 0)], [0, 0]);
        until(m, last);
        assert_eq!([m.acquire(f, 0), m.acquire(signal, 0), m.acquire(bell, 0)], [1, 1, 1]);
    });
    w.run();
}

#[test]
fn cost_48_a_load_is_a_round_trip() {
    for (stated_ns, trip) in [(None, TRIP), (Some(982.0), 982 * NS)] {
        // It finds what the card has stored until it arrives.
        for (late, seen) in [(0, 5), (1, 0)] {
            let mut s = server();
            if let Some(ns) = stated_ns {
                s.constants.pcie.mmio_read_ns = stated(ns);
            }
            let mut w = World::new(s);
            let f = uncached::<2>(&mut w, Side::Nic);
            let arrives = 1_000 * NS + OP + trip / 2;
            w.nic(move |m| {
                until(m, arrives + late);
                assert_eq!(cost(m, |m| m.publish(f, 0, [4, 5])), 0, "its own");
            });
            w.core(0, move |m| {
                until(m, 1_000 * NS);
                assert_eq!(cost(m, |m| assert_eq!(m.acquire(f, 0), seen)), OP + trip);
                assert_eq!(cost(m, |m| assert_eq!(m.read(f, 0), [4, 5])), OP + trip, "an entry at a time");
                assert_eq!(cost(m, |m| assert_eq!(m.body(f, 0), [4])), OP + trip, "every time");
            });
            w.run();
        }
    }
}

#[test]
fn cost_49_loads_and_stores_take_their_bytes_of_the_link() {
    let mut w = World::new(server());
    let f = uncached::<8>(&mut w, Side::Host);
    let b = w.buffers(1);
    w.core(0, move |m| {
        m.acquire(f, 0);
        m.read(f, 0);
        m.write(f, 0, [1; 8]);
    });
    w.nic(move |m| {
        until(m, 10_000 * NS);
        // Answers went up, requests and words down.
        assert_eq!(cost(m, |m| m.put(b, Buf(0), 0, &[], 64)), LINE + WORD + LINE);
        assert_eq!(cost(m, |m| m.get(b, Buf(0), 0, &mut [], 64)), LINE);
    });
    w.run();
    let mut w = World::new(server());
    let f = uncached::<1>(&mut w, Side::Nic);
    let b = w.buffers(1);
    w.core(0, move |m| _ = m.acquire(f, 0));
    w.nic(move |m| {
        until(m, 10_000 * NS);
        assert_eq!(cost(m, |m| m.get(b, Buf(0), 0, &mut [], 64)), LINE + TLP, "a request went down");
    });
    w.run();
}

#[test]
fn cost_50_a_load_waits_for_the_stores_before_it() {
    let mut s = server();
    s.constants.pcie.mmio_read_ns = stated(100.0);
    for (server, end) in [
        // The bell leaves at `OP`; the load is behind it at the root, and has as far to go.
        (server(), OP + ROOT + TRIP),
        // A faster load does not pass it.
        (s, OP + BELL + 50 * NS),
    ] {
        let mut w = World::new(server);
        let bell = w.bell();
        w.core(0, move |m| {
            m.ring(bell, 9);
            assert_eq!(m.acquire(bell, 0), 9);
            assert_eq!(m.now(), Ps(end));
        });
        w.run();
    }
}

#[test]
fn cost_51_a_full_line_leaves_at_once_and_whole() {
    let mut w = World::new(server());
    let f = combining::<4>(&mut w, 1);
    w.core(0, move |m| {
        assert_eq!(cost(m, |m| m.write(f, 0, [1, 2, 3, 4])), OP, "a store");
        until(m, 500 * NS);
        assert_eq!(cost(m, |m| m.write(f, 1, [5, 6, 7, 8])), OP, "posted");
    });
    w.nic(move |m| {
        let at = 500 * NS + OP + LINE + BELL;
        until(m, at - 1);
        assert_eq!([0, 1].map(|i| m.acquire(f, i)), [0, 0]);
        until(m, at);
        assert_eq!([0, 1].map(|i| m.acquire(f, i)), [4, 8]);
        assert_eq!([0, 1].map(|i| m.read(f, i)), [[1, 2, 3, 4], [5, 6, 7, 8]]);
    });
    w.run();
}

#[test]
fn cost_52_a_part_of_a_line_waits_for_a_barrier() {
    let mut w = World::new(server());
    let f = combining::<2>(&mut w, 1);
    let bell = w.bell();
    w.core(0, move |m| {
        m.write(f, 2, [1, 2]);
        m.write(f, 2, [3, 4]); // into the same words
        until(m, 5_000 * NS);
        assert_eq!(cost(m, |m| m.ring(bell, 1)), ROOT + OP, "the root has the line, then the bell leaves");
        assert_eq!(cost(m, |m| m.ring(bell, 1)), OP, "nothing is left");
    });
    w.nic(move |m| {
        shows(m, f, 2, (5_000 * NS + 2 * WORD + BELL, 4));
        assert_eq!(m.read(f, 2), [3, 4]);
        shows(m, bell, 0, (5_000 * NS + ROOT + OP + BELL, 1));
    });
    w.run();
}

/// Whatever publishes is a barrier, and so is a load.
#[test]
fn cost_53_calls_that_are_barriers() {
    let barriers: [(Call, u64); 6] = [
        (|m, b| m.release(b.signal, 0, 1), ROOT + OP),
        (|m, b| m.publish(b.signal, 0, [1]), ROOT + OP),
        (|m, b| m.release(b.lock, 0, 1), ROOT + OP),
        (|m, b| _ = m.add(b.lock, 0, 1), ROOT + SNOOP + ATOMIC),
        (|m, b| m.release(b.other, 0, 1), ROOT + OP + ROOT),
        (|m, b| _ = m.acquire(b.other, 0), OP + ROOT + TRIP),
    ];
    for (nth, (barrier, took)) in barriers.into_iter().enumerate() {
        let mut w = World::new(server());
        let b = Bound {
            window: combining(&mut w, 1),
            other: combining(&mut w, 1),
            signal: w.words(Class::Signal, Side::Host, 1),
            lock: w.contended(),
        };
        w.core(0, move |m| {
            m.write(b.window, 0, [1; 4]);
            until(m, 2_000 * NS);
            assert_eq!(cost(m, |m| barrier(m, b)), took, "call {nth}");
        });
        w.nic(move |m| {
            let late = if nth < 5 { 0 } else { OP }; // a load is made first
            shows(m, b.window, 0, (2_000 * NS + late + 4 * WORD + BELL, 1));
        });
        w.run();
    }
}

type Call = fn(&mut View, Bound);

#[derive(Clone, Copy)]
struct Bound {
    window: Words<4>,
    other: Words<1>,
    signal: Words<1>,
    lock: Words<1>,
}

#[test]
fn cost_54_another_line_needs_the_buffer() {
    for (stated_lines, lines) in [(None, STORES), (Some(24.0), 24), (Some(1.0), 1)] {
        let mut s = server();
        if let Some(lines) = stated_lines {
            s.constants.core.combining_buffers = stated(lines);
        }
        let mut w = World::new(s);
        let f = combining::<1>(&mut w, 32);
        w.core(0, move |m| {
            let store = |m: &mut View, line: u64| cost(m, |m| m.write(f, 8 * line, [7]));
            for line in 0..lines {
                assert_eq!(store(m, line), OP, "line {line} has a buffer");
            }
            assert_eq!(store(m, lines), OP + ROOT, "the first one has to go");
            assert_eq!(store(m, 0), OP + ROOT, "it comes again, and the second one goes");
        });
        w.nic(move |m| shows(m, f, 0, (lines * OP + OP + WORD + BELL, 7)));
        w.run();
    }
}

#[test]
fn cost_55_full_lines_leave_as_fast_as_buffers_and_link_allow() {
    let mut s = server();
    s.constants.core.combining_buffers = stated(2.0);
    let mut w = World::new(s);
    let f = combining::<8>(&mut w, 64);
    w.core(0, move |m| {
        for line in 0..64 {
            m.write(f, line, [line + 1; 8]);
        }
        // Two buffers: each is busy until the root has its line.
        assert_eq!(m.now(), Ps(2 * OP + 31 * ROOT));
    });
    w.nic(move |m| shows(m, f, 63, (OP + 31 * ROOT + 2 * LINE + BELL, 64)));
    w.run();
    let mut s = server();
    s.constants.core.combining_buffers = stated(64.0);
    let mut w = World::new(s);
    let f = combining::<8>(&mut w, 128);
    w.core(0, move |m| {
        for line in 0..128 {
            m.write(f, line, [1; 8]);
        }
        // The link takes 9 ns for a line: a buffer is free when its line is on it.
        assert_eq!(m.now(), Ps(OP + 64 * LINE));
    });
    w.run();
}

#[test]
fn cost_56_who_polls_a_register_wakes_when_it_is_stored() {
    let mut w = World::new(server());
    let status = uncached::<1>(&mut w, Side::Nic);
    let bell = w.bell();
    w.core(0, move |m| {
        m.idle();
        let poll = OP + TRIP;
        while m.acquire(status, 0) == 0 {
            m.idle();
        }
        // Of its polls, one each `poll`, the first that arrives after the store.
        let arrives = OP + TRIP / 2;
        let before = (20_000 * NS - arrives).div_ceil(poll);
        assert_eq!(m.now(), Ps(before * poll + poll));
        m.ring(bell, 1);
    });
    w.nic(move |m| {
        until(m, 20_000 * NS);
        m.release(status, 0, 1);
        assert_eq!(m.acquire(bell, 0), 0);
        m.wait(bell, 0, 0);
        assert_eq!(m.acquire(bell, 0), 1, "it waited until the bell shows");
    });
    w.run();
}

#[test]
fn cost_57_a_core_that_waits_for_a_register_loads_it() {
    let mut w = World::new(server());
    let status = uncached::<1>(&mut w, Side::Nic);
    w.core(0, move |m| {
        assert_eq!(cost(m, |m| m.wait(status, 0, 0)), OP + TRIP);
        assert_eq!(cost(m, |m| m.wait(status, 0, 0)), OP + TRIP);
        assert_eq!(m.acquire(status, 0), 1);
    });
    w.nic(move |m| {
        until(m, 2_000 * NS);
        m.release(status, 0, 1);
    });
    w.run();
}

#[test]
fn cost_58_from_the_other_node_it_is_farther() {
    let mut w = World::new(server());
    let status = uncached::<1>(&mut w, Side::Nic);
    let f = combining::<1>(&mut w, 1);
    let bell = w.bell();
    w.far_core(move |m| {
        assert_eq!(cost(m, |m| _ = m.acquire(status, 0)), OP + TRIP + REMOTE);
        m.write(f, 0, [1]);
        assert_eq!(cost(m, |m| m.ring(bell, 1)), ROOT + REMOTE + OP);
    });
    w.run();
    let mut s = server();
    s.nic.remote = true;
    let mut w = World::new(s);
    let status = uncached::<1>(&mut w, Side::Nic);
    w.core(0, move |m| assert_eq!(cost(m, |m| _ = m.acquire(status, 0)), OP + TRIP + REMOTE));
    w.run();
}

#[test]
fn cost_59_of_a_core_that_plays_the_card_registers_are_words() {
    let mut w = World::new(soft_server());
    let f = combining::<4>(&mut w, 1);
    let plain = w.words::<4>(Class::Signal, Side::Host, 2);
    w.core(0, move |m| {
        let costs = |m: &mut View, w| {
            let stores = [0, 1].map(|i| cost(m, |m| m.write(w, i, [i + 1; 4])));
            (stores, cost(m, |m| assert_eq!(m.acquire(w, 0), 1)))
        };
        assert_eq!(costs(m, f), costs(m, plain));
    });
    w.run();
}

/// A mapping is the server's: results that have none of this do not tell of it.
#[test]
fn no_profile_states_what_nobody_measured() {
    for name in Server::names() {
        let c = Server::by_name(name).unwrap().constants;
        let stated = [&c.pcie.mmio_read_ns, &c.core.combining_buffers].map(|c| !c.is_absent());
        assert_eq!(stated, [name == "icx"; 2], "{name}");
    }
}
