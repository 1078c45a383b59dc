//! Lines of words that move from node to node with the loads that ask for them, to the picosecond.

use crate::world::price::{ATOMIC, DRAM, LLC, LOADS, NS, OP, REMOTE, SNOOP, cost, until};
use crate::world::{Out, World, server};
use memory::{Buf, Class, Field, Geometry, Memory, Side, Space, Touch};
use model::profile::{Constant, NicKind, RemoteReads};
use model::{Crossed, View, Words};

/// A line that the other node's cache has: of that node's memory, and of the memory of the node that asks.
const ACROSS: u64 = SNOOP + REMOTE;
const AWAY: u64 = DRAM + REMOTE + LLC;

/// A world whose NIC is a core of the other node.
fn world(remote_reads: RemoteReads) -> World {
    let mut w = World::new(server());
    w.server.caches.remote_reads = remote_reads;
    w.server.constants.dram.load_ns.value = 0.0;
    w.space = w.space.served_by(NicKind::Core);
    w
}

/// Words of `class` that either side writes, `len` of them in lines of the host's memory.
fn words(w: &mut World, class: Class, len: u32) -> Words<1> {
    let field = Field {
        name: "test",
        len,
        width: 1,
        class,
        writer: Side::Both,
        reader: Side::Both,
        home: Side::Host,
    };
    w.space.words(&field, 0).unwrap()
}

/// A load of a core that has something else to do meanwhile: it waits for a share of what comes.
fn some(line: u64) -> u64 {
    OP + line / LOADS
}

fn load(m: &mut View, word: Words<1>, i: u64) -> u64 {
    cost(m, |m| _ = m.acquire(word, i))
}

/// When a store of the word shows, from its beginning on: an atomic on a line of the core's own waits for that.
fn store(m: &mut View, word: Words<1>, i: u64, own: Words<1>) -> u64 {
    m.add(own, 0, 1);
    cost(m, |m| {
        m.release(word, i, 7);
        m.add(own, 0, 1);
    }) - ATOMIC
}

#[test]
fn cost_80_a_line_that_was_written_moves_to_the_node_that_loads_it() {
    for (remote_reads, theirs, ours) in
        [(RemoteReads::Move, OP, some(AWAY)), (RemoteReads::Frames, OP + SNOOP, OP)]
    {
        let mut w = world(remote_reads);
        let word = words(&mut w, Class::Signal, 1);
        w.core(0, move |m| {
            m.release(word, 0, 1);
            until(m, 2_000 * NS);
            assert_eq!(load(m, word, 0), ours, "{remote_reads:?}");
        });
        w.far_core(move |m| {
            until(m, 1_000 * NS);
            assert_eq!(load(m, word, 0), some(ACROSS), "{remote_reads:?}");
            assert_eq!(load(m, word, 0), OP, "it is here: {remote_reads:?}");
        });
        w.run();
        let mut w = world(remote_reads);
        let word = words(&mut w, Class::Signal, 1);
        let own = words(&mut w, Class::Contended, 1);
        w.core(0, move |m| m.release(word, 0, 1));
        w.far_core(move |m| {
            until(m, 1_000 * NS);
            assert_eq!(load(m, word, 0), some(ACROSS), "{remote_reads:?}");
            assert_eq!(store(m, word, 0, own), theirs, "{remote_reads:?}");
        });
        w.run();
    }
}

/// What nobody has stored into is shared, whoever loads it.
#[test]
fn cost_81_a_line_that_memory_has_is_shared() {
    let mut w = world(RemoteReads::Move);
    let word = words(&mut w, Class::Signal, 1);
    w.core(0, move |m| {
        assert_eq!(load(m, word, 0), some(DRAM));
        until(m, 2_000 * NS);
        assert_eq!(load(m, word, 0), OP, "the copy stays");
    });
    w.far_core(move |m| {
        until(m, 1_000 * NS);
        assert_eq!(load(m, word, 0), some(ACROSS));
    });
    let [near, far] = w.run().sim().crossed();
    assert_eq!((near, far), (Crossed::default(), Crossed { reads: 1, words: 1, rfos: 0 }));
}

/// A lock word is looked at before it is taken: the look brings the line.
#[test]
fn cost_82_a_contended_word_moves_as_well() {
    for (remote_reads, take, rfos) in
        [(RemoteReads::Move, ATOMIC, 0), (RemoteReads::Frames, ATOMIC + ACROSS, 1)]
    {
        let mut w = world(remote_reads);
        let lock = words(&mut w, Class::Contended, 1);
        w.core(0, move |m| _ = m.add(lock, 0, 1));
        w.far_core(move |m| {
            until(m, 1_000 * NS);
            assert_eq!(load(m, lock, 0), OP + ACROSS, "{remote_reads:?}");
            assert_eq!(cost(m, |m| _ = m.add(lock, 0, 1)), take, "{remote_reads:?}");
        });
        assert_eq!(w.run().sim().crossed()[1], Crossed { reads: 1, words: 1, rfos }, "{remote_reads:?}");
    }
}

/// Stores into a line that is on its way join the first one: it is asked for once.
#[test]
fn cost_83_stores_into_one_line_take_it_once() {
    let mut w = world(RemoteReads::Move);
    let group = words(&mut w, Class::Signal, 8);
    let own = words(&mut w, Class::Contended, 1);
    w.core(0, move |m| m.release(group, 7, 1));
    w.far_core(move |m| {
        m.add(own, 0, 1);
        until(m, 1_000 * NS);
        let began = m.now();
        (0..8).for_each(|i| m.release(group, i, 2));
        assert_eq!((m.now() - began).0, 8 * OP, "the core goes on");
        assert_eq!(load(m, group, 3), ACROSS - 7 * OP, "a load waits for the line");
        assert_eq!(m.acquire(group, 7), 2);
    });
    let [near, far] = w.run().sim().crossed();
    assert_eq!(
        (near, far),
        (Crossed::default(), Crossed { rfos: 2, ..Crossed::default() }),
        "own, and the group's line"
    );
}

/// Where memory is read beside the other node's cache, a load waits a little longer, a store does not, and the read is
/// traffic.
#[test]
fn cost_85_a_line_homed_with_its_reader_costs_a_read_of_memory_in_vain() {
    const MORE: u64 = 9 * NS;
    let world = || {
        let mut w = world(RemoteReads::Move);
        w.server.constants.interconnect.away_ns = Constant { value: 9.0, origin: "assumed: a test".into() };
        w
    };
    // Homed with the writer it is read, and marked as it leaves; with the reader it was marked before, and is read again.
    for (home, takes, reads) in [(Side::Host, ACROSS, [1, 0]), (Side::Nic, ACROSS + MORE, [0, 2])] {
        let mut w = world();
        let b = w.space.buffers(&Geometry::dpdk(1).homed(home)).unwrap();
        w.core(0, move |m| m.meta(b, Buf(0), 0, Touch::Write));
        w.far_core(move |m| {
            until(m, 1_000 * NS);
            assert_eq!(cost(m, |m| m.meta(b, Buf(0), 0, Touch::Read)), takes, "{home:?}");
        });
        let counts = w.run().sim().counts();
        assert_eq!([counts.dram_reads, counts.far_dram_reads], reads, "{home:?}");
        assert_eq!(counts.dram_writes + counts.far_dram_writes, 1, "{home:?}");
        let mut w = world();
        let class = Class::Signal;
        let (writer, reader) = (Side::Both, Side::Both);
        let word = w.space.words(&Field { name: "test", len: 1, width: 1, class, writer, reader, home }, 0);
        let (word, own) = (word.unwrap(), words(&mut w, Class::Contended, 1));
        w.core(0, move |m| m.release(word, 0, 1));
        w.far_core(move |m| {
            until(m, 1_000 * NS);
            assert_eq!(store(m, word, 0, own), OP + ACROSS, "{home:?}");
        });
        w.run();
    }
}

/// A word each way, in a line each or in one, over and over: the last round trip, ps, and what crosses of it on each side.
fn ping_pong(remote_reads: RemoteReads, one_line: bool) -> (u64, [Crossed; 2]) {
    const ROUNDS: u64 = 20;
    let run = |rounds: u64| {
        let mut w = world(remote_reads);
        let down = words(&mut w, Class::Signal, 2);
        let up = if one_line { down } else { words(&mut w, Class::Signal, 2) };
        let ends = Out::default();
        let times = ends.clone();
        w.core(0, move |m| {
            for round in 1..=rounds {
                m.release(down, 0, round);
                while m.acquire(up, 1) < round {
                    m.idle();
                }
                ends.push(m.now().0);
            }
        });
        w.far_core(move |m| {
            for round in 1..=rounds {
                while m.acquire(down, 0) < round {
                    m.idle();
                }
                m.release(up, 1, round);
            }
        });
        let crossed = w.run().sim().crossed();
        (times.all().pop().unwrap(), crossed)
    };
    let ((from, before), (to, after)) = (run(ROUNDS), run(ROUNDS + 1));
    let more = |i: usize| Crossed {
        reads: after[i].reads - before[i].reads,
        words: after[i].words - before[i].words,
        rfos: after[i].rfos - before[i].rfos,
    };
    (to - from, [more(0), more(1)])
}

/// In one line the answer comes with the line. In two, each store first takes the copy that the other side polls.
#[test]
fn cost_84_one_line_for_both_ways_is_half_the_requests() {
    const TRIP: u64 = ACROSS + AWAY;
    let (reads, rfos) = (1, 1);
    for (remote_reads, one_line, want, trip) in [
        (RemoteReads::Move, true, Crossed { reads, words: reads, rfos: 0 }, TRIP),
        (RemoteReads::Move, false, Crossed { reads, words: reads, rfos }, 2 * TRIP + 4 * OP),
        // Where a copy stays, the next store has to take it away.
        (RemoteReads::Frames, true, Crossed { reads, words: reads, rfos }, TRIP + 2 * SNOOP + 3 * OP),
        (RemoteReads::Frames, false, Crossed { reads, words: reads, rfos }, 2 * TRIP + 4 * OP),
    ] {
        let (took, crossed) = ping_pong(remote_reads, one_line);
        assert_eq!((took, crossed), (trip, [want; 2]), "{remote_reads:?}, one line: {one_line}");
    }
}
