//! Two nodes with memory of their own: what lines cost there, to the picosecond, and what crosses between them.

use crate::world::price::{ATOMIC, DRAM, L2, LLC, NS, OP, REMOTE, SNOOP, cost, until};
use crate::world::{Out, World, server};
use memory::{Buf, Class, Field, Geometry, Memory, Side, Space, Touch};
use model::profile::{Constant, NicKind, RemoteReads};
use model::{Crossed, ModelSpace, PoolId, Words};

/// A line that the other node's cache has, of the memory of the node that asks.
const AWAY: u64 = DRAM + REMOTE + LLC;
/// A line that the other node's cache has, of that node's memory.
const ACROSS: u64 = SNOOP + REMOTE;

/// A world whose NIC is a core of the other node.
fn world() -> World {
    let mut w = World::new(server());
    w.space = w.space.served_by(NicKind::Core);
    w
}

/// A word of `class` in the memory of a side.
fn word(w: &mut World, class: Class, writer: Side, home: Side) -> Words<1> {
    let field = Field { name: "test", len: 1, width: 1, class, writer, reader: Side::Both, home };
    w.space.words(&field, 0).unwrap()
}

/// Buffers in the memory of a side.
fn buffers(w: &mut World, home: Side) -> PoolId {
    w.space.buffers(&Geometry::dpdk(64).homed(home)).unwrap()
}

/// The first look at a frame's line after a pause: nothing is under way.
fn look(m: &mut model::View, b: PoolId, buf: u64, how: Touch) -> u64 {
    cost(m, |m| m.meta(b, Buf(buf), 0, how))
}

#[test]
fn cost_70_each_side_has_memory_of_its_own() {
    let mut w = world();
    let [ours, theirs] = [Side::Host, Side::Nic].map(|home| buffers(&mut w, home));
    w.core(0, move |m| {
        assert_eq!(look(m, ours, 0, Touch::Read), DRAM);
        assert_eq!(look(m, theirs, 0, Touch::Read), DRAM + REMOTE);
    });
    w.far_core(move |m| {
        assert_eq!(look(m, ours, 1, Touch::Read), DRAM + REMOTE);
        assert_eq!(look(m, theirs, 1, Touch::Read), DRAM);
    });
    let mut engine = w.run();
    let counts = engine.sim().counts();
    assert_eq!((counts.dram_reads, counts.far_dram_reads), (2, 2));
    assert_eq!((counts.dram_writes, counts.far_dram_writes), (1, 1), "the mark of each line that left");
    assert_eq!(engine.sim().crossed(), [Crossed { reads: 1, ..Crossed::default() }; 2]);
}

#[test]
fn cost_71_a_line_away_from_home_is_asked_for_at_home() {
    for (home, [near, far]) in [(Side::Host, [AWAY, ACROSS]), (Side::Nic, [ACROSS, AWAY])] {
        let mut w = world();
        let b = buffers(&mut w, home);
        w.core(0, move |m| {
            look(m, b, 0, Touch::Write);
            until(m, 2_000 * NS);
            assert_eq!(look(m, b, 0, Touch::Read), near, "{home:?}");
            assert_eq!(look(m, b, 0, Touch::Read), L2);
        });
        w.far_core(move |m| {
            until(m, 1_000 * NS);
            assert_eq!(look(m, b, 0, Touch::Read), far, "{home:?}");
        });
        w.run();
    }
}

#[test]
fn cost_72_a_lock_of_both_nodes_goes_over_the_link() {
    let mut w = world();
    let lock = word(&mut w, Class::Contended, Side::Both, Side::Host);
    w.core(0, move |m| {
        assert_eq!(cost(m, |m| assert_eq!(m.add(lock, 0, 1), 0)), ATOMIC + SNOOP);
        until(m, 3_000 * NS);
        assert_eq!(
            cost(m, |m| assert_eq!(m.add(lock, 0, 1), 2)),
            ATOMIC + ACROSS,
            "the far core still has it"
        );
        assert_eq!(cost(m, |m| assert_eq!(m.add(lock, 0, 1), 3)), ATOMIC);
    });
    w.core(1, move |m| {
        until(m, 2_000 * NS);
        assert_eq!(cost(m, |m| assert_eq!(m.acquire(lock, 0), 2)), OP + ACROSS);
    });
    w.far_core(move |m| {
        until(m, 1_000 * NS);
        assert_eq!(cost(m, |m| assert_eq!(m.add(lock, 0, 1), 1)), ATOMIC + ACROSS);
    });
    let [near, far] = w.run().sim().crossed();
    assert_eq!(near, Crossed { reads: 1, words: 1, rfos: 1 });
    assert_eq!(far, Crossed { rfos: 1, ..Crossed::default() });
}

/// A word that a core still holds has to come from that core, wherever it was before.
#[test]
fn cost_75_who_waits_for_a_lock_of_the_other_node_gets_it_over_the_link() {
    let mut w = world();
    let lock = word(&mut w, Class::Contended, Side::Both, Side::Host);
    w.far_core(move |m| {
        until(m, 1_000 * NS);
        m.add(lock, 0, 1);
    });
    w.core(0, move |m| {
        m.add(lock, 0, 1);
        until(m, 1_050 * NS);
        assert_eq!(cost(m, |m| _ = m.add(lock, 0, 1)), ATOMIC + ACROSS - 50 * NS + ATOMIC + ACROSS);
    });
    w.run();
}

/// What crosses when a frame is written here and read there, over and over.
fn frames(remote_reads: RemoteReads) -> [Crossed; 2] {
    const ROUNDS: u64 = 10;
    let mut w = world();
    w.server.caches.remote_reads = remote_reads;
    let b = buffers(&mut w, Side::Host);
    w.core(0, move |m| {
        for round in 0..ROUNDS {
            until(m, (2 * round + 1) * 1_000 * NS);
            look(m, b, 0, Touch::Write);
        }
    });
    w.far_core(move |m| {
        for round in 0..ROUNDS {
            until(m, (2 * round + 2) * 1_000 * NS);
            look(m, b, 0, Touch::Read);
            assert_eq!(look(m, b, 0, Touch::Read), L2, "a copy is here");
        }
    });
    w.run().sim().crossed()
}

#[test]
fn a_frame_read_there_is_an_rfo_for_its_next_writer_here() {
    for remote_reads in [RemoteReads::Move, RemoteReads::Copy] {
        let [near, far] = frames(remote_reads);
        assert_eq!(far, Crossed { reads: 10, ..Crossed::default() }, "{remote_reads:?}");
        assert_eq!(near, Crossed { rfos: 9, ..Crossed::default() }, "{remote_reads:?}");
    }
}

/// What the writer of a line pays to read it again after the other node has read it.
#[test]
fn cost_73_a_load_leaves_a_copy_or_takes_the_line_along() {
    for (remote_reads, again) in [(RemoteReads::Move, AWAY), (RemoteReads::Copy, L2)] {
        let mut w = world();
        w.server.caches.remote_reads = remote_reads;
        let b = buffers(&mut w, Side::Host);
        w.core(0, move |m| {
            look(m, b, 0, Touch::Write);
            until(m, 2_000 * NS);
            assert_eq!(look(m, b, 0, Touch::Read), again, "{remote_reads:?}");
        });
        w.far_core(move |m| {
            until(m, 1_000 * NS);
            assert_eq!(look(m, b, 0, Touch::Read), ACROSS);
        });
        let counts = w.run().sim().counts();
        // The mark as the line leaves; where a copy stays, what was written goes to memory first.
        let writes = if remote_reads == RemoteReads::Copy { 2 } else { 1 };
        assert_eq!(counts.dram_writes, writes, "{remote_reads:?}");
    }
}

/// A word handed over and back: each side reads the other's word and stores its own, as two rings of one entry.
#[test]
fn cost_74_a_word_each_way_is_one_read_and_one_rfo_a_side() {
    const ROUNDS: u64 = 20;
    let mut w = world();
    let down = word(&mut w, Class::Signal, Side::Host, Side::Host);
    let up = word(&mut w, Class::Signal, Side::Nic, Side::Nic);
    w.core(0, move |m| {
        for round in 1..=ROUNDS {
            m.release(down, 0, round);
            while m.acquire(up, 0) < round {
                m.idle();
            }
        }
    });
    w.far_core(move |m| {
        for round in 1..=ROUNDS {
            while m.acquire(down, 0) < round {
                m.idle();
            }
            m.release(up, 0, round);
        }
    });
    let [near, far] = w.run().sim().crossed();
    // Each side looks at the other's word once before there is something. The host's first store finds nobody.
    assert_eq!(near, Crossed { reads: ROUNDS + 1, words: ROUNDS + 1, rfos: ROUNDS - 1 });
    assert_eq!(far, Crossed { reads: ROUNDS + 1, words: ROUNDS + 1, rfos: ROUNDS });
}

/// What far cores get of a side's memory, GB/s, over a link of 10 GB/s or without limit.
fn streamed(cores: u64, limit: bool, home: Side) -> f64 {
    const FRAMES: u64 = 512;
    const LINES: u64 = 32;
    let mut w = world();
    w.server.constants.dram.load_ns.value = 0.0;
    if limit {
        let value = Constant { value: 10.0, origin: "assumed: a test".into() };
        w.server.constants.interconnect.link_gbytes = value;
    }
    let ends = Out::default();
    for _ in 0..cores {
        let b = w.space.buffers(&Geometry::dpdk(FRAMES as u32).homed(home)).unwrap();
        let ends = ends.clone();
        w.far_core(move |m| {
            let mut from = 0;
            for buf in 0..FRAMES {
                if buf == FRAMES / 4 {
                    from = m.now().0;
                }
                m.get(b, Buf(buf), 0, &mut [0; 64], (LINES * 64) as u32);
                m.chain();
            }
            ends.push((from, m.now().0));
        });
    }
    w.core(0, |_| ());
    w.run();
    let (from, to): (Vec<u64>, Vec<u64>) = ends.all().into_iter().unzip();
    let ps = to.iter().max().unwrap() - from.iter().min().unwrap();
    (cores * FRAMES * 3 / 4 * LINES * 64) as f64 * 1e3 / ps as f64
}

/// The price of a line follows the load of some microseconds: the mean is what the link carries, but for 3%.
#[test]
fn a_link_carries_what_it_can_and_no_more() {
    let free = streamed(1, false, Side::Host);
    assert!(
        (free / streamed(1, true, Side::Host) - 1.0).abs() < 0.2,
        "one core does not fill it: {free} GB/s"
    );
    for cores in [16, 32] {
        let (free, held) = (streamed(cores, false, Side::Host), streamed(cores, true, Side::Host));
        assert!(free > 15.0, "{cores} cores ask for {free} GB/s");
        assert!((9.5..=10.3).contains(&held), "{cores} cores get {held} of 10 GB/s");
        let own = streamed(cores, true, Side::Nic);
        assert!(own > 15.0, "memory of their own is not behind it: {own} GB/s");
    }
}

#[test]
fn as_many_nics_as_cores_and_128_of_each() {
    const PAIRS: u32 = 128;
    const ROUNDS: u64 = 8;
    let crossed = |pairs: u32| {
        let mut w = world();
        w.server.cores = pairs;
        let words: Vec<_> = (0..pairs)
            .map(|_| {
                let down = word(&mut w, Class::Signal, Side::Host, Side::Host);
                (down, word(&mut w, Class::Signal, Side::Nic, Side::Nic))
            })
            .collect();
        let times = Out::default();
        for (core, &(down, up)) in words.iter().enumerate() {
            let times = times.clone();
            w.core(core as u32, move |m| {
                for round in 1..=ROUNDS {
                    m.release(down, 0, round);
                    while m.acquire(up, 0) < round {
                        m.idle();
                    }
                }
                times.push(m.now().0);
            });
        }
        for (down, up) in words {
            w.far_core(move |m| {
                for round in 1..=ROUNDS {
                    while m.acquire(down, 0) < round {
                        m.idle();
                    }
                    m.release(up, 0, round);
                }
            });
        }
        let crossed = w.run().sim().crossed();
        (crossed, times.all())
    };
    let ([near, far], times) = crossed(PAIRS);
    let ([one_near, one_far], one) = crossed(1);
    let pairs = u64::from(PAIRS);
    assert_eq!((near.reads, near.rfos), (pairs * one_near.reads, pairs * one_near.rfos));
    assert_eq!((far.reads, far.rfos), (pairs * one_far.reads, pairs * one_far.rfos));
    assert_eq!(times.len(), PAIRS as usize);
    assert!(times.iter().all(|t| *t == one[0]), "pairs disturb each other: {times:?}, one alone {one:?}");
}

#[test]
fn a_card_has_no_memory_that_caches_reach() {
    let field = |home| Field {
        name: "lane",
        len: 1,
        width: 1,
        class: Class::Signal,
        writer: Side::Host,
        reader: Side::Nic,
        home,
    };
    let mut card = ModelSpace::new();
    assert!(card.words::<1>(&field(Side::Host), 0).is_ok());
    let refused = card.words::<1>(&field(Side::Nic), 0).unwrap_err().to_string();
    assert_eq!(refused, "lane: is at home with a card, whose memory no cache has; allowed: the host");
    let refused = card.buffers(&Geometry::plain(4, 64).homed(Side::Nic)).unwrap_err().to_string();
    assert!(refused.starts_with("buffers: are at home with a card that has no memory"), "{refused}");
    let both = card.words::<1>(&field(Side::Both), 0).unwrap_err().to_string();
    assert_eq!(both, "lane: has two homes; allowed: the host or the NIC");
    let mut core = ModelSpace::new().served_by(NicKind::Core);
    assert!(core.words::<1>(&field(Side::Nic), 0).is_ok());
    assert!(core.buffers(&Geometry::plain(4, 64).homed(Side::Nic)).is_ok());
}
