//! What an access costs one agent, to the picosecond: `world::price` has the sums' terms.
//! `visibility.rs` goes on where agents meet.

use crate::caches;
use crate::world::price::{BYTE, DRAM, L2, LLC, NS, OP, SNOOP, STORES, TLP, cost, get, touch, until};
use crate::world::{World, server};
use memory::{Buf, Class, Geometry, Memory, Ps, Side, Space, Stores, Touch};
use model::{PoolId, View};

#[test]
fn cost_01_work() {
    let mut w = World::new(server());
    w.core(0, |m| {
        assert_eq!(cost(m, |m| m.work(1000)), 1000 * NS / 2);
        assert_eq!(cost(m, |m| m.work(0)), 0);
    });
    w.run();
}

#[test]
fn cost_02_idle_dram_then_l2() {
    let mut w = World::new(server());
    let t = w.table(4);
    w.core(0, move |m| {
        assert_eq!(touch(m, t, 0), DRAM);
        assert_eq!(touch(m, t, 1), DRAM);
        assert_eq!(touch(m, t, 0), L2);
        assert_eq!(touch(m, t, 1), L2);
    });
    w.run();
}

#[test]
fn cost_03_the_other_half_of_a_pair() {
    let mut s = server();
    s.caches.adjacent_prefetch = model::profile::AdjacentPrefetch::Both;
    let mut w = World::new(s);
    let t = w.table(4);
    w.core(0, move |m| {
        assert_eq!(touch(m, t, 3), DRAM);
        assert_eq!(touch(m, t, 2), L2, "came along");
        assert_eq!(touch(m, t, 1), DRAM, "another pair");
    });
    let counts = w.run().sim().counts();
    assert_eq!((counts.llc_misses, counts.dram_reads), (2, 4));
}

#[test]
fn cost_04_llc_hit_after_an_l2_victim() {
    let mut w = World::new(server());
    // 1024 sets of 16 ways: the 17th line of a set pushes the first one out.
    let t = w.table(17 * 1024);
    w.core(0, move |m| {
        for i in 0..17 {
            assert_eq!(touch(m, t, i * 1024), DRAM);
        }
        assert_eq!(touch(m, t, 0), LLC);
        assert_eq!(touch(m, t, 0), L2);
        assert_eq!(touch(m, t, 1024), LLC, "pushed out in turn");
    });
    w.run();
}

#[test]
fn cost_05_a_dma_written_frame_is_in_the_llc() {
    let mut w = World::new(server());
    let b = w.buffers(2);
    w.nic(move |m| m.put(b, Buf(0), 0, &[1; 64], 128));
    w.core(0, move |m| {
        until(m, 1000 * NS);
        assert_eq!(get(m, b, 0, 128), 2 * LLC);
        assert_eq!(get(m, b, 0, 128), 2 * L2);
        assert_eq!(get(m, b, 1, 64), DRAM, "never written");
    });
    w.run();
}

#[test]
fn cost_06_store() {
    let mut w = World::new(server());
    let t = w.table(2 * STORES + 2);
    w.core(0, move |m| {
        let store = |m: &mut View, line: u64| cost(m, |m| m.touch(t, line * 64, Touch::Write));
        for line in 0..STORES {
            assert_eq!(store(m, line), 0, "into the store buffer");
        }
        assert_eq!(store(m, STORES), DRAM, "until the first one leaves it");
        for line in STORES + 1..2 * STORES {
            assert_eq!(store(m, line), 0, "so have those beside it");
        }
        assert_eq!(store(m, 2 * STORES), DRAM);
        assert_eq!(touch(m, t, 0), L2);
    });
    w.run();
}

#[test]
fn cost_07_snoop() {
    let mut w = World::new(server());
    let b = w.buffers(1);
    w.core(0, move |m| m.meta(b, Buf(0), 0, Touch::Write));
    w.core(1, move |m| {
        until(m, 1000 * NS);
        assert_eq!(cost(m, |m| m.meta(b, Buf(0), 0, Touch::Read)), SNOOP);
        assert_eq!(cost(m, |m| m.meta(b, Buf(0), 0, Touch::Read)), L2);
    });
    w.run();
}

#[test]
fn cost_08_dram_under_load() {
    let mut w = World::new(server());
    let t = w.table(1000);
    w.core(0, move |m| {
        // Stores to new lines, 64 B each, fill a window of 5 us; 80 % of 100 GB/s, or 400 kB, would be all.
        let mut lines = 0;
        while m.now() < Ps(5_000 * NS) {
            m.touch(t, lines * 64, Touch::Write);
            lines += 1;
        }
        assert_eq!(lines, 5_000 * NS / DRAM * STORES + STORES + 1, "one more had to wait for the end");
        // The newest window is a quarter of the load.
        let u = lines as f64 * 64.0 / 400_000.0 / 4.0;
        let loaded = 85_000.0 + 25_000.0 * u / (1.0 - u);
        assert_eq!(touch(m, t, lines), loaded as u64);
        until(m, 9_900 * NS);
        assert_eq!(touch(m, t, lines + 1), loaded as u64, "until the window is over");
        until(m, 400_000 * NS);
        assert_eq!(touch(m, t, lines + 2), DRAM, "after quiet windows");
    });
    w.run();
}

#[test]
fn cost_09_own_words() {
    let mut w = World::new(server());
    let f = w.words::<1>(Class::Body, Side::Host, 16);
    w.core(0, move |m| {
        assert_eq!(cost(m, |m| m.write(f, 0, [1])), OP, "a new line, which comes meanwhile");
        assert_eq!(cost(m, |m| m.write(f, 1, [1])), OP, "the same line");
        assert_eq!(cost(m, |m| assert_eq!(m.read(f, 0), [1])), OP);
        assert_eq!(cost(m, |m| assert_eq!(m.read(f, 8), [0])), OP + DRAM, "the next line");
    });
    w.run();
}

#[test]
fn cost_10_dma_write_occupies_the_link() {
    let mut w = World::new(server());
    let b = w.buffers(2);
    w.nic(move |m| {
        assert_eq!(cost(m, |m| m.put(b, Buf(0), 0, &[], 64)), 64 * BYTE + TLP);
        assert_eq!(cost(m, |m| m.put(b, Buf(1), 0, &[], 1500)), 1500 * BYTE + 6 * TLP);
    });
    w.run();
}

#[test]
fn cost_11_dma_read_occupies_the_other_way() {
    let mut w = World::new(server());
    let b = w.buffers(1);
    w.nic(move |m| {
        m.put(b, Buf(0), 0, &[], 1500);
        assert_eq!(cost(m, |m| m.get(b, Buf(0), 0, &mut [], 1500)), 1500 * BYTE + 6 * TLP);
        // Its three requests of 512 B at most took the way up.
        assert_eq!(cost(m, |m| m.put(b, Buf(0), 0, &[], 64)), 64 * BYTE + TLP + 3 * TLP);
    });
    w.run();
}

#[test]
fn cost_12_descriptors_are_fetched_by_the_line_ahead_of_use() {
    let mut w = World::new(server());
    let b = w.buffers(1);
    let d = w.words::<1>(Class::Body, Side::Host, 16);
    w.nic(move |m| {
        assert_eq!(cost(m, |m| _ = m.read(d, 0)), 0, "prefetched");
        assert_eq!(cost(m, |m| _ = m.read(d, 7)), 0, "the same line");
        // One line came down, one request went up.
        assert_eq!(cost(m, |m| m.put(b, Buf(0), 0, &[], 64)), 64 * BYTE + TLP + TLP);
        let line = 64 * BYTE + TLP;
        assert_eq!(cost(m, |m| m.get(b, Buf(0), 0, &mut [], 64)), 64 * BYTE + TLP + line);
    });
    w.run();
}

#[test]
fn cost_13_prefetch_hides_latency() {
    let mut w = World::new(server());
    let b = w.buffers(3);
    w.core(0, move |m| {
        for (buf, work, left) in [
            (0, 40 * NS, DRAM - OP - 40 * NS), // started OP + 40 ns ago
            (1, 80 * NS, L2),                  // 4 ns to go: not less than an L2 hit
            (2, 500 * NS, L2),
        ] {
            assert_eq!(cost(m, |m| m.prefetch(b, Buf(buf), 0)), OP);
            m.work((work / NS * 2) as u32);
            assert_eq!(get(m, b, buf, 64), left);
            assert_eq!(get(m, b, buf, 64), L2);
        }
    });
    w.run();
}

#[test]
fn cost_37_lines_in_a_row_come_ten_at_a_time() {
    let mut w = World::new(server());
    let (b, t) = (w.buffers(1), w.table(32));
    w.nic(move |m| m.put(b, Buf(0), 0, &[], 1024));
    w.core(0, move |m| {
        until(m, 1000 * NS);
        let value = cost(m, |m| m.get(b, Buf(0), 128, &mut [], 512));
        assert_eq!(value, LLC + 7 * (LLC / 10), "the first line is waited for");
        let read = |m: &mut View, off| cost(m, |m| m.touch_run(t, off, 256, Touch::Read));
        assert_eq!(read(m, 0), DRAM + 3 * (DRAM / 10));
        assert_eq!(read(m, 32), 4 * L2 + DRAM / 10, "five lines, four of them a moment ago");
        assert_eq!(cost(m, |m| m.touch_ahead(t, 1024)), OP);
        m.work(400);
        assert_eq!(cost(m, |m| m.touch(t, 1024, Touch::Read)), L2, "asked for 201 ns ago");
    });
    w.run();
}

#[test]
fn cost_14_a_store_to_a_prefetched_line_makes_it_dirty() {
    let run = |prefetch: bool| {
        let mut w = World::new(caches::small(1, caches::tiny()));
        let b = w.buffers(1);
        let t = w.table(400);
        w.core(0, move |m| {
            if prefetch {
                m.prefetch(b, Buf(0), 0);
            }
            m.put(b, Buf(0), 0, &[1; 64], 64);
            for line in 0..400 {
                m.touch(t, line * 64, Touch::Read); // pushes it out of all caches
            }
        });
        w.run().sim().counts().dram_writes
    };
    assert_eq!((run(false), run(true)), (1, 1));
}

/// Buffers that cores store past their caches to.
fn streamed(w: &mut World, count: u32) -> PoolId {
    w.space.buffers(&Geometry::dpdk(count).stored(Stores::Streaming)).unwrap()
}

#[test]
fn cost_60_streamed_lines_leave_the_store_buffer_without_being_fetched() {
    for (stores, dram_reads, took) in [(Stores::Cached, 17, 2 * DRAM), (Stores::Streaming, 0, 2 * LLC)] {
        let mut w = World::new(server());
        let b = w.space.buffers(&Geometry::dpdk(1).stored(stores)).unwrap();
        w.core(0, move |m| {
            let put = |m: &mut View, line: u64| cost(m, |m| m.put(b, Buf(0), 64 * line as u32, &[], 64));
            assert!((0..STORES).all(|line| put(m, line) == 0), "into the store buffer");
            let rest = (STORES..=2 * STORES).map(|line| put(m, line)).sum::<u64>();
            assert_eq!(rest, took, "the first of each eight waits for those before");
        });
        let counts = w.run().sim().counts();
        assert_eq!(counts.dram_reads, dram_reads);
        assert_eq!(counts.dram_writes, if stores == Stores::Streaming { 17 } else { 0 });
    }
}

#[test]
fn cost_61_streamed_lines_are_in_no_cache() {
    let mut w = World::new(server());
    let b = streamed(&mut w, 3);
    w.nic(move |m| {
        m.put(b, Buf(0), 0, &[], 128);
        until(m, 4_000 * NS);
        let before = m.now();
        m.get(b, Buf(0), 0, &mut [], 64);
        assert_eq!((m.now() - before).0, 64 * BYTE + TLP);
    });
    w.core(1, move |m| m.meta(b, Buf(2), 0, Touch::Write));
    w.core(0, move |m| {
        until(m, 1_000 * NS);
        assert_eq!(get(m, b, 0, 128), 2 * LLC, "the card wrote it");
        assert_eq!(get(m, b, 0, 128), 2 * L2);
        m.put(b, Buf(0), 0, &[1; 64], 64);
        until(m, 2_000 * NS);
        assert_eq!(get(m, b, 0, 64), DRAM);
        assert_eq!(cost(m, |m| m.get(b, Buf(0), 64, &mut [0; 64], 64)), L2, "the other line stays");
        let mut out = [0; 2];
        m.get(b, Buf(0), 63, &mut out, 2);
        assert_eq!(out, [1, 0]);
        m.prefetch(b, Buf(1), 0);
        m.put(b, Buf(1), 0, &[2; 64], 64);
        until(m, 3_000 * NS);
        assert_eq!(get(m, b, 1, 64), DRAM, "what was asked for is gone as well");
        m.put(b, Buf(0), 0, &[1; 64], 64);
    });
    let counts = w.run().sim().counts();
    assert_eq!((counts.dma_read_hits, counts.dma_read_misses), (0, 1), "the card finds it in DRAM");
}

#[test]
fn cost_62_a_streamed_part_of_a_line_takes_the_rest_along() {
    for (off, len, reads, writes) in
        [(0, 64, 0, 1), (0, 60, 1, 1), (32, 64, 2, 2), (32, 96, 1, 2), (60, 72, 2, 3), (8, 8, 1, 1)]
    {
        let mut w = World::new(server());
        let b = streamed(&mut w, 1);
        w.core(0, move |m| m.put(b, Buf(0), off, &[], len));
        let counts = w.run().sim().counts();
        assert_eq!((counts.dram_reads, counts.dram_writes), (reads, writes), "{len} B at {off}");
    }
    // If a cache has the line, it has the rest.
    let mut w = World::new(server());
    let b = streamed(&mut w, 1);
    w.core(0, move |m| {
        assert_eq!(get(m, b, 0, 64), DRAM);
        m.put(b, Buf(0), 0, &[], 8);
    });
    let counts = w.run().sim().counts();
    assert_eq!((counts.dram_reads, counts.dram_writes), (1, 1));
}
