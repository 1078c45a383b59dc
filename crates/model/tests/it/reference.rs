//! The model's caches against a second, naive set of caches: the same accesses, the same level for
//! each of them, the same counts and contents.

use crate::caches::{Chance, small, tiny};
use crate::naive::Naive;
use model::hierarchy::{Counts, Hierarchy, Homes, Level};
use model::profile::{AdjacentPrefetch, Caches, Placement, RemoteReads, Replacement};

const CORES: u32 = 3;
/// Lines that move between agents, and all lines: the rest are a table.
const SHARED: u32 = 160;
const LINES: u32 = 224;
const ACCESSES: u32 = 20_000;
const SEEDS: u64 = 4;

/// Runs both on the same accesses; what they counted.
fn compare(caches: Caches, seed: u64) -> Counts {
    let mut from_l1 = 0;
    let server = small(CORES, caches.clone());
    let mut model = Hierarchy::new(&server, LINES, SHARED, seed);
    let mut naive = Naive::new(&caches, CORES, SHARED);
    let mut chance = Chance::new(seed);
    for n in 0..ACCESSES {
        let core = chance.below(CORES) as usize;
        // Stretches of lines come and go, as rings turn.
        let near = (n / 50 * 7 + chance.below(40)) % LINES;
        let line = if chance.below(4) == 0 { chance.below(LINES) } else { near };
        let kind = chance.below(11);
        let what = format!("seed {seed}, access {n}: kind {kind}, core {core}, line {line}, {caches:?}");
        match kind {
            0..=3 => {
                let level = model.core(core, line, false);
                assert_eq!(level, naive.core(core, line, false), "{what}");
                from_l1 += u32::from(level == Level::SnoopL1);
            }
            4..=5 => assert_eq!(model.core(core, line, true), naive.core(core, line, true), "{what}"),
            6..=8 => {
                let (line, whole) = (line % SHARED, chance.below(8) > 0);
                assert_eq!(model.dma_write(line, whole), naive.dma_write(line, whole), "{what}");
            }
            9 => assert_eq!(model.dma_read(line % SHARED), naive.dma_read(line % SHARED), "{what}"),
            _ => {
                let (line, whole) = (line % SHARED, chance.below(2) > 0);
                model.stream_out(line, whole);
                naive.stream_out(line, whole);
            }
        }
        assert_eq!(model.counts, naive.counts, "{what}");
        if n % 1000 == 999 {
            // A DMA read looks everywhere and changes nothing: it shows what is cached and where.
            for line in 0..LINES {
                assert_eq!(model.dma_read(line), naive.dma_read(line), "contents after {what}: line {line}");
            }
        }
    }
    // What each L2 holds, and which lines are dirty, shows when everything is read and pushed out.
    for line in (0..LINES).chain(LINES..4 * LINES) {
        for core in 0..CORES as usize {
            assert_eq!(model.core(core, line, false), naive.core(core, line, false), "final read of {line}");
        }
    }
    assert_eq!(model.counts, naive.counts, "after everything was pushed out: {caches:?}");
    assert_eq!(from_l1 > 0, caches.l1_kib > 0, "{from_l1} lines came from another L1");
    model.counts
}

/// Runs both on the accesses of cores of two nodes, and of a card; what they counted. A third of the lines belongs to
/// the far node.
fn compare_nodes(caches: &Caches, seed: u64) -> Counts {
    const NODES: [u32; 2] = [3, 2];
    const FAR_HOME: u32 = SHARED * 2 / 3;
    let server = small(NODES[0], caches.clone());
    let mut homes = Homes::default();
    homes.put_far(FAR_HOME, 4 * LINES);
    let mut model = Hierarchy::new(&server, LINES, SHARED, seed);
    model.add_far(&server, NODES[1], homes);
    let mut naive = Naive::with_far(caches, NODES, SHARED, FAR_HOME);
    let mut chance = Chance::new(seed);
    for n in 0..2 * ACCESSES {
        let core = chance.below(NODES.iter().sum()) as usize;
        let near = (n / 50 * 7 + chance.below(40)) % LINES;
        let line = if chance.below(4) == 0 { chance.below(LINES) } else { near };
        let kind = chance.below(10);
        let what = format!("seed {seed}, access {n}: kind {kind}, core {core}, line {line}, {caches:?}");
        match kind {
            0..=4 => assert_eq!(model.core(core, line, false), naive.core(core, line, false), "{what}"),
            5..=6 => assert_eq!(model.core(core, line, true), naive.core(core, line, true), "{what}"),
            7 => {
                let whole = chance.below(8) > 0;
                model.stream_out(line % SHARED, whole);
                naive.stream_out(line % SHARED, whole);
            }
            8 => {
                let (line, whole) = (line % SHARED, chance.below(8) > 0);
                assert_eq!(model.dma_write(line, whole), naive.dma_write(line, whole), "{what}");
            }
            _ => assert_eq!(model.dma_read(line % SHARED), naive.dma_read(line % SHARED), "{what}"),
        }
        assert_eq!(model.counts, naive.counts, "{what}");
    }
    for line in (0..LINES).chain(LINES..4 * LINES) {
        for core in 0..NODES.iter().sum::<u32>() as usize {
            assert_eq!(model.core(core, line, false), naive.core(core, line, false), "final read of {line}");
        }
    }
    assert_eq!(model.counts, naive.counts, "after everything was pushed out: {caches:?}");
    model.counts
}

#[test]
fn two_nodes_with_memory_of_their_own() {
    for remote_reads in [RemoteReads::Move, RemoteReads::Copy] {
        let both = AdjacentPrefetch::Both;
        let all =
            [(2, AdjacentPrefetch::None, 0), (6, AdjacentPrefetch::Host, 4), (3, AdjacentPrefetch::Nic, 0)];
        for (ddio_ways, adjacent_prefetch, l1_kib) in
            all.into_iter().chain([(1, both, 0), (6, AdjacentPrefetch::None, 4), (0, both, 0)])
        {
            let caches = Caches { remote_reads, ddio_ways, adjacent_prefetch, l1_kib, ..tiny() };
            for seed in 0..SEEDS {
                let c = compare_nodes(&caches, seed);
                let all =
                    [c.dram_reads, c.dram_writes, c.far_dram_reads, c.far_dram_writes, c.snoops, c.llc_hits];
                assert!(all.iter().all(|n| *n > 0), "the accesses do not reach everything: {c:?}");
            }
        }
    }
}

/// Both on several seeds, and every counter must have moved.
fn agree(caches: &Caches) {
    for seed in 0..SEEDS {
        let c = compare(caches.clone(), seed);
        let all = [
            c.dram_reads,
            c.dram_writes,
            c.dma_write_hits,
            c.dma_write_misses,
            c.dma_read_hits,
            c.dma_read_misses,
            c.l2_hits,
            c.llc_hits,
            c.snoops,
            c.llc_misses,
        ];
        assert!(all.iter().all(|n| *n > 0), "the accesses do not reach everything: {c:?}");
    }
}

#[test]
fn every_number_of_ddio_ways() {
    for ddio_ways in 1..=tiny().ways {
        agree(&Caches { ddio_ways, ..tiny() });
    }
}

#[test]
fn without_ways_for_a_card_its_frames_are_in_dram() {
    for adjacent_prefetch in [AdjacentPrefetch::None, AdjacentPrefetch::Both] {
        for seed in 0..SEEDS {
            let c = compare(Caches { ddio_ways: 0, adjacent_prefetch, ..tiny() }, seed);
            assert!(c.dma_write_hits == 0 && c.dma_write_misses > 0 && c.llc_hits > 0, "{c:?}");
            assert!(c.dram_writes >= c.dma_write_misses, "{c:?}");
        }
    }
}

#[test]
fn an_llc_that_has_all_that_the_l2s_have() {
    for (ddio_ways, l1_kib) in [(1, 0), (2, 4), (6, 0)] {
        agree(&Caches { llc_inclusive: true, ddio_ways, l1_kib, ..tiny() });
        agree(&Caches {
            llc_inclusive: true,
            ddio_ways,
            adjacent_prefetch: AdjacentPrefetch::Both,
            ..tiny()
        });
    }
    agree(&Caches { llc_inclusive: true, l2_kib: 1, ways: 20, sets_per_slice: 16, ..tiny() });
}

#[test]
fn every_number_of_inclusive_ways() {
    for inclusive_ways in 1..=tiny().ways {
        agree(&Caches { inclusive_ways, ..tiny() });
    }
}

#[test]
fn with_the_other_half_of_a_pair_prefetched() {
    for ddio_ways in 1..=tiny().ways {
        agree(&Caches { ddio_ways, adjacent_prefetch: AdjacentPrefetch::Both, ..tiny() });
    }
}

#[test]
fn with_l1s_of_their_own() {
    for l1_kib in [4, 8, 64] {
        agree(&Caches { l1_kib, ..tiny() });
    }
}

#[test]
fn other_shapes() {
    agree(&Caches { l2_ways: 2, sets_per_slice: 4, ways: 11, ..tiny() });
    agree(&Caches { l2_ways: 8, sets_per_slice: 2, ways: 16, ..tiny() });
    agree(&Caches { l2_kib: 1, l2_ways: 16, sets_per_slice: 16, ways: 3, inclusive_ways: 1, ..tiny() });
    agree(&Caches { slices: 3, sets_per_slice: 4, adjacent_prefetch: AdjacentPrefetch::Both, ..tiny() });
}

#[test]
fn more_ways_than_a_line_of_the_host_holds() {
    let wide = Caches { l2_kib: 5, l2_ways: 20, sets_per_slice: 4, ways: 20, ..tiny() };
    agree(&wide);
    agree(&Caches {
        replacement: Replacement::Random,
        ddio_ways: 1,
        ways: 1,
        inclusive_ways: 1,
        ..wide.clone()
    });
    agree(&Caches { l2_kib: 2, l2_ways: 32, sets_per_slice: 2, ways: 32, ddio_ways: 3, ..tiny() });
    agree(&Caches { l1_kib: 80, ways: 17, ddio_ways: 17, inclusive_ways: 17, ..wide });
}

#[test]
fn any_number_of_sets() {
    let odd = Caches { l2_kib: 3, sets_per_slice: 7, slices: 3, ways: 3, ..tiny() };
    agree(&odd);
    agree(&Caches { l2_kib: 5, l2_ways: 16, sets_per_slice: 5, slices: 1, ways: 17, ..tiny() });
    agree(&Caches { adjacent_prefetch: AdjacentPrefetch::Both, l1_kib: 4, ..odd });
}

#[test]
fn within_one_slice_and_one_page_placement_changes_nothing() {
    let random = Caches { placement: Placement::Random, ..tiny() };
    for seed in 0..SEEDS {
        assert_eq!(compare(random.clone(), seed), compare(tiny(), seed));
    }
}
