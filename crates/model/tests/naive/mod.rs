//! Caches written for clarity alone: sets are lists, an owner is found by asking every L2, and the least
//! recently used line is the one with the oldest date.

use model::hierarchy::{Counts, Level};
use model::profile::Caches;

#[derive(Clone, Copy)]
struct Line {
    line: u32,
    dirty: bool,
    /// Written by DMA, not read by a core since.
    io: bool,
    used: u64,
}

type Set = Vec<Option<Line>>;

/// L2s over an LLC with DDIO, LRU everywhere.
pub(crate) struct Naive {
    caches: Caches,
    l1: Vec<Vec<Set>>,
    l2: Vec<Vec<Set>>,
    llc: Vec<Set>,
    /// Only these lines are looked for in other L2s.
    shared: u32,
    date: u64,
    pub(crate) counts: Counts,
}

fn find(set: &mut Set, line: u32) -> Option<&mut Option<Line>> {
    set.iter_mut().find(|way| way.is_some_and(|l| l.line == line))
}

/// Puts `new` into the first empty of `ways`, else the one used longest ago; who had to go.
fn place(set: &mut Set, ways: &[usize], new: Line) -> Option<Line> {
    let empty = ways.iter().copied().find(|w| set[*w].is_none());
    let oldest = ways.iter().copied().min_by_key(|w| set[*w].map_or(0, |l| l.used));
    set[empty.or(oldest).unwrap()].replace(new)
}

impl Naive {
    pub(crate) fn new(caches: &Caches, cores: u32, shared: u32) -> Naive {
        let l2_sets = caches.l2_kib as usize * 16 / caches.l2_ways as usize;
        let l2 = vec![vec![None; caches.l2_ways as usize]; l2_sets];
        let l1 = vec![vec![None; caches.l1_kib as usize / 4]; 64];
        Naive {
            l1: vec![l1; cores as usize],
            l2: vec![l2; cores as usize],
            llc: vec![vec![None; caches.ways as usize]; (caches.slices * caches.sets_per_slice) as usize],
            caches: caches.clone(),
            shared,
            date: 0,
            counts: Counts::default(),
        }
    }

    fn fresh(&mut self, line: u32, dirty: bool, io: bool) -> Line {
        self.date += 1;
        Line { line, dirty, io, used: self.date }
    }

    fn l2_set(&mut self, core: usize, line: u32) -> &mut Set {
        let sets = self.l2[core].len();
        &mut self.l2[core][line as usize % sets]
    }

    /// Slices take turns over runs of lines, from a start that the low address bits permute.
    fn llc_set(&mut self, line: u32) -> &mut Set {
        let n = self.caches.sets_per_slice;
        let low = line % n;
        let slice = (line / n + (low ^ (low / 16) ^ (low / 256))) % self.caches.slices;
        &mut self.llc[(slice * n + low) as usize]
    }

    /// Writes a line to the LLC; a dirty one that has to go goes to DRAM.
    fn fill_llc(&mut self, ways: std::ops::Range<u32>, new: Line) {
        let ways: Vec<_> = ways.map(|w| w as usize).collect();
        let gone = place(self.llc_set(new.line), &ways, new);
        self.counts.dram_writes += u64::from(gone.is_some_and(|l| l.dirty));
    }

    /// Writes a line to an L2; what has to go joins its copy in the LLC, or one of the ways that DDIO
    /// does not use, if there are such.
    fn fill_l2(&mut self, core: usize, line: u32, dirty: bool) {
        let new = self.fresh(line, dirty, false);
        let ways: Vec<_> = (0..self.caches.l2_ways as usize).collect();
        let Some(gone) = place(self.l2_set(core, line), &ways, new) else { return };
        find(&mut self.l1[core][gone.line as usize % 64], gone.line).map(Option::take);
        let mut moved = self.fresh(gone.line, gone.dirty, false);
        if let Some(copy) = find(self.llc_set(gone.line), gone.line) {
            moved.dirty |= copy.unwrap().dirty;
            *copy = Some(moved);
            return;
        }
        let (ddio, all) = (self.caches.ddio_ways, self.caches.ways);
        self.fill_llc(if ddio == all { 0..all } else { ddio..all }, moved);
    }

    /// The line is the one that the core used last.
    fn use_l1(&mut self, core: usize, line: u32) {
        let new = self.fresh(line, false, false);
        let set = &mut self.l1[core][line as usize % 64];
        let ways: Vec<_> = (0..set.len()).collect();
        match find(set, line) {
            Some(own) => *own = Some(new),
            None if ways.is_empty() => {}
            None => _ = place(set, &ways, new),
        }
    }

    /// Takes a shared line out of the L1 that has it; whether one did.
    fn recall_l1(&mut self, line: u32) -> bool {
        let mut sets = self.l1.iter_mut().map(|l1| &mut l1[line as usize % 64]);
        line < self.shared && sets.any(|set| find(set, line).and_then(Option::take).is_some())
    }

    /// Takes a shared line out of whichever L2 has it.
    fn recall(&mut self, line: u32) -> Option<Line> {
        if line >= self.shared {
            return None;
        }
        (0..self.l2.len()).find_map(|core| find(self.l2_set(core, line), line).and_then(Option::take))
    }

    pub(crate) fn core(&mut self, core: usize, line: u32, write: bool) -> Level {
        let has = find(self.l2_set(core, line), line).is_some();
        let in_l1 = !has && self.recall_l1(line);
        self.use_l1(core, line);
        let now = self.fresh(line, write, false);
        if let Some(own) = find(self.l2_set(core, line), line) {
            let dirty = own.unwrap().dirty || write;
            *own = Some(Line { dirty, ..now });
            self.counts.l2_hits += 1;
            return Level::L2;
        }
        if let Some(theirs) = self.recall(line) {
            // Several cores read a line that the LLC has as well: it gives its copy, and keeps it.
            if !write && !theirs.dirty && find(self.llc_set(line), line).is_some() {
                self.fill_l2(core, line, false);
                self.counts.llc_hits += 1;
                return Level::Llc;
            }
            self.fill_l2(core, line, write || theirs.dirty);
            self.counts.snoops += 1;
            return if in_l1 { Level::SnoopL1 } else { Level::Snoop };
        }
        let inclusive = self.caches.ways - self.caches.inclusive_ways..self.caches.ways;
        let set = self.llc_set(line);
        if let Some(way) = set.iter().position(|way| way.is_some_and(|l| l.line == line)) {
            let found = set[way].take().unwrap();
            if found.io {
                // The L2 gets a clean copy; the LLC's own moves to the inclusive ways or stays there.
                let keep = self.fresh(line, found.dirty, false);
                if inclusive.contains(&(way as u32)) {
                    self.llc_set(line)[way] = Some(keep);
                } else {
                    self.fill_llc(inclusive, keep);
                }
                self.fill_l2(core, line, write);
            } else {
                self.fill_l2(core, line, write || found.dirty);
            }
            self.counts.llc_hits += 1;
            return Level::Llc;
        }
        self.fill_l2(core, line, write);
        self.counts.dram_reads += 1;
        self.counts.llc_misses += 1;
        let pair = line ^ 1;
        if self.caches.adjacent_prefetch && !self.anywhere(core, pair) {
            self.counts.dram_reads += 1;
            self.fill_l2(core, pair, false);
        }
        Level::Dram
    }

    /// Whether `core` would find the line in any cache.
    fn anywhere(&mut self, core: usize, line: u32) -> bool {
        let shared = line < self.shared;
        let l2s = 0..self.l2.len();
        let in_l2 = l2s.filter(|c| shared || *c == core).any(|c| find(self.l2_set(c, line), line).is_some());
        in_l2 || find(self.llc_set(line), line).is_some()
    }

    pub(crate) fn dma_write(&mut self, line: u32, whole: bool) -> bool {
        self.recall_l1(line);
        let recalled = self.recall(line).is_some();
        let new = self.fresh(line, true, true);
        if let Some(copy) = find(self.llc_set(line), line) {
            *copy = Some(new);
            self.counts.dma_write_hits += 1;
            return true;
        }
        self.counts.dma_write_misses += 1;
        self.counts.dram_reads += u64::from(!whole && !recalled);
        self.fill_llc(0..self.caches.ddio_ways, new);
        false
    }

    pub(crate) fn dma_read(&mut self, line: u32) -> Level {
        let (llc, shared) = (find(self.llc_set(line), line).is_some(), line < self.shared);
        if llc || shared && (0..self.l2.len()).any(|c| find(self.l2_set(c, line), line).is_some()) {
            self.counts.dma_read_hits += 1;
            return if llc { Level::Llc } else { Level::Snoop };
        }
        self.counts.dma_read_misses += 1;
        self.counts.dram_reads += 1;
        Level::Dram
    }
}
