//! Caches written for clarity alone: sets are lists, an owner is found by asking every L2, and the least
//! recently used line is the one with the oldest date.

use std::collections::BTreeMap;

use model::hierarchy::{Counts, Level};
use model::profile::{AdjacentPrefetch, Caches, RemoteReads};

#[derive(Clone, Copy)]
struct Line {
    line: u32,
    dirty: bool,
    /// Written by DMA, not read by a core since.
    io: bool,
    used: u64,
}

type Set = Vec<Option<Line>>;

/// What was taken out of a cache.
#[derive(Clone, Copy)]
struct Taken {
    level: Level,
    dirty: bool,
    from_l2: bool,
}

/// L2s over an LLC with DDIO, LRU everywhere.
pub(crate) struct Naive {
    caches: Caches,
    l1: Vec<Vec<Set>>,
    l2: Vec<Vec<Set>>,
    llc: Vec<Set>,
    /// Only these lines are looked for in other L2s.
    shared: u32,
    /// The first core of the far node, and what the LLC there has: lines, each with whether it is dirty.
    far: usize,
    far_llc: BTreeMap<u32, bool>,
    /// Lines from here on are at home on the far node.
    far_home: u32,
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
        Naive::with_far(caches, [cores, 0], shared, u32::MAX)
    }

    /// The same with cores of each node; lines from `far_home` on belong to the far one.
    pub(crate) fn with_far(caches: &Caches, nodes: [u32; 2], shared: u32, far_home: u32) -> Naive {
        let cores = nodes.iter().sum::<u32>();
        let l2_sets = caches.l2_kib as usize * 16 / caches.l2_ways as usize;
        let l2 = vec![vec![None; caches.l2_ways as usize]; l2_sets];
        let l1 = vec![vec![None; caches.l1_kib as usize / 4]; 64];
        Naive {
            l1: vec![l1; cores as usize],
            l2: vec![l2; cores as usize],
            llc: vec![vec![None; caches.ways as usize]; (caches.slices * caches.sets_per_slice) as usize],
            caches: caches.clone(),
            shared,
            far: nodes[0] as usize,
            far_llc: BTreeMap::new(),
            far_home,
            date: 0,
            counts: Counts::default(),
        }
    }

    fn fresh(&mut self, line: u32, dirty: bool, io: bool) -> Line {
        self.date += 1;
        Line { line, dirty, io, used: self.date }
    }

    fn is_far(&self, core: usize) -> bool {
        core >= self.far
    }

    /// A line is read from the DRAM it belongs to.
    fn read(&mut self, line: u32) -> Level {
        if line < self.far_home {
            self.counts.dram_reads += 1;
            Level::Dram
        } else {
            self.counts.far_dram_reads += 1;
            Level::FarDram
        }
    }

    fn written(&mut self, line: u32) {
        let near = line < self.far_home;
        let count = if near { &mut self.counts.dram_writes } else { &mut self.counts.far_dram_writes };
        *count += 1;
    }

    /// A line goes to the node of `far`: its memory's mark is written if that is the other one, read if it comes home.
    fn crosses_to(&mut self, line: u32, far: bool) {
        if (line >= self.far_home) == far {
            self.read(line);
        } else {
            self.written(line);
        }
    }

    /// Where a core of a node finds a line that a cache of the other node has.
    fn other_cache(&self, line: u32, far: bool, cache: Level) -> Level {
        if (line >= self.far_home) == far { Level::Away } else { cache }
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
        let Some(gone) = place(self.llc_set(new.line), &ways, new) else { return };
        let mut dirty = gone.dirty;
        for core in if self.caches.llc_inclusive { 0..self.far } else { 0..0 } {
            if let Some(theirs) = find(self.l2_set(core, gone.line), gone.line).and_then(Option::take) {
                dirty |= theirs.dirty;
                find(&mut self.l1[core][gone.line as usize % 64], gone.line).map(Option::take);
            }
        }
        if dirty {
            self.written(gone.line);
        }
    }

    /// Writes a line to an L2, and to an LLC that has all that L2s have.
    fn fill_l2(&mut self, core: usize, line: u32, dirty: bool) {
        self.fill_l2_alone(core, line, dirty);
        if self.caches.llc_inclusive && !self.is_far(core) && find(self.llc_set(line), line).is_none() {
            let copy = self.fresh(line, false, false);
            self.fill_llc(0..self.caches.ways, copy);
        }
    }

    /// Writes a line to an L2; what has to go joins its copy in the LLC, or one of the ways that DDIO
    /// does not use, if there are such.
    fn fill_l2_alone(&mut self, core: usize, line: u32, dirty: bool) {
        let new = self.fresh(line, dirty, false);
        let ways: Vec<_> = (0..self.caches.l2_ways as usize).collect();
        let Some(gone) = place(self.l2_set(core, line), &ways, new) else { return };
        find(&mut self.l1[core][gone.line as usize % 64], gone.line).map(Option::take);
        if self.is_far(core) && gone.line < self.shared {
            self.far_llc.insert(gone.line, gone.dirty);
            return;
        }
        let mut moved = self.fresh(gone.line, gone.dirty, false);
        if let Some(copy) = find(self.llc_set(gone.line), gone.line) {
            moved.dirty |= copy.unwrap().dirty;
            *copy = Some(moved);
            return;
        }
        let (ddio, all) = (self.caches.ddio_ways, self.caches.ways);
        self.fill_llc(if self.caches.llc_inclusive || ddio == all { 0..all } else { ddio..all }, moved);
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
        (0..self.l1.len()).fold(false, |any, core| any | self.leave_l1(core, line))
    }

    fn leave_l1(&mut self, core: usize, line: u32) -> bool {
        let set = &mut self.l1[core][line as usize % 64];
        line < self.shared && find(set, line).and_then(Option::take).is_some()
    }

    /// Takes a shared line out of the caches of a node beside the near LLC: where it was, and whether it was dirty.
    fn recall(&mut self, line: u32, far: bool) -> Option<Taken> {
        if line >= self.shared {
            return None;
        }
        let cores = if far { self.far..self.l2.len() } else { 0..self.far };
        for core in cores {
            if let Some(theirs) = find(self.l2_set(core, line), line).and_then(Option::take) {
                let cached = if self.leave_l1(core, line) { Level::SnoopL1 } else { Level::Snoop };
                let level = if far { Level::Far } else { cached };
                return Some(Taken { level, dirty: theirs.dirty, from_l2: true });
            }
        }
        let in_llc = if far { self.far_llc.remove(&line) } else { None };
        in_llc.map(|dirty| Taken { level: Level::Far, dirty, from_l2: false })
    }

    /// The same for a load that leaves a clean copy behind.
    fn copied(&mut self, line: u32, far: bool) -> Option<(Level, bool)> {
        if line >= self.shared {
            return None;
        }
        let cores = if far { self.far..self.l2.len() } else { 0..self.far };
        for core in cores {
            if let Some(way) = find(self.l2_set(core, line), line) {
                let theirs = way.as_mut().unwrap();
                let dirty = std::mem::take(&mut theirs.dirty);
                let cached = if self.leave_l1(core, line) { Level::SnoopL1 } else { Level::Snoop };
                return Some((if far { Level::Far } else { cached }, dirty));
            }
        }
        let in_llc = self.far_llc.get_mut(&line).filter(|_| far).map(std::mem::take);
        in_llc.map(|dirty| (Level::Far, dirty))
    }

    /// Takes a line out of the near LLC for a store of the far node.
    fn recall_llc(&mut self, line: u32) -> bool {
        find(self.llc_set(line), line).and_then(Option::take).is_some()
    }

    pub(crate) fn core(&mut self, core: usize, line: u32, write: bool) -> Level {
        let far = self.is_far(core);
        let copies = self.caches.remote_reads == RemoteReads::Copy;
        let has = find(self.l2_set(core, line), line).is_some();
        self.use_l1(core, line);
        let now = self.fresh(line, write, false);
        if !has {
            let level = self.miss(core, line, write);
            if matches!(level, Level::Dram | Level::FarDram) {
                self.pair(core, line ^ 1);
            }
            return level;
        }
        let own = find(self.l2_set(core, line), line).unwrap();
        let dirty = own.unwrap().dirty || write;
        *own = Some(Line { dirty, ..now });
        if copies && write {
            let in_llc = far && self.recall_llc(line);
            if self.recall(line, !far).is_some() || in_llc {
                self.counts.snoops += 1;
                return self.other_cache(line, far, if far { Level::Snoop } else { Level::Far });
            }
        }
        self.counts.l2_hits += 1;
        Level::L2
    }

    /// The line comes from the first of: the node's own caches, the other node's, the near LLC, DRAM. A load where
    /// loads copy lines looks into its LLC before the other node.
    fn miss(&mut self, core: usize, line: u32, write: bool) -> Level {
        let far = self.is_far(core);
        let copies = self.caches.remote_reads == RemoteReads::Copy;
        let in_llc = |n: &mut Naive| find(n.llc_set(line), line).is_some();
        let beside = self.recall(line, far);
        if copies && !write && beside.is_none() {
            if !far && in_llc(self) {
                return self.fetch_llc(core, line, false);
            }
            if let Some((level, was_dirty)) = self.copied(line, !far) {
                if was_dirty {
                    self.written(line);
                }
                self.crosses_to(line, far);
                self.fill_l2(core, line, false);
                self.counts.snoops += 1;
                return self.other_cache(line, far, level);
            }
        }
        let across = if write || beside.is_none() { self.recall(line, !far) } else { None };
        if let Some(Taken { level, from_l2, .. }) = across.or(beside) {
            let dirty = [beside, across].iter().flatten().any(|taken| taken.dirty);
            // Several cores read a line that the LLC has as well: it gives its copy, and keeps it.
            if !far && !write && !dirty && from_l2 && in_llc(self) {
                self.fill_l2(core, line, false);
                self.counts.llc_hits += 1;
                return Level::Llc;
            }
            if across.is_some() {
                self.crosses_to(line, far);
            }
            if copies && write && far {
                self.recall_llc(line);
            }
            self.fill_l2(core, line, write || dirty);
            self.counts.snoops += 1;
            return if across.is_some() { self.other_cache(line, far, level) } else { level };
        }
        if in_llc(self) {
            if far {
                self.crosses_to(line, true);
            }
            let level = self.fetch_llc(core, line, write);
            return if far { self.other_cache(line, far, level) } else { level };
        }
        let level = self.read(line);
        if far != (line >= self.far_home) {
            self.crosses_to(line, far);
        }
        self.fill_l2(core, line, write);
        self.counts.llc_misses += 1;
        level
    }

    fn fetch_llc(&mut self, core: usize, line: u32, write: bool) -> Level {
        self.counts.llc_hits += 1;
        let inclusive = self.caches.ways - self.caches.inclusive_ways..self.caches.ways;
        let copies = self.caches.remote_reads == RemoteReads::Copy;
        let set = self.llc_set(line);
        let way = set.iter().position(|way| way.is_some_and(|l| l.line == line)).unwrap();
        let found = set[way].unwrap();
        if self.is_far(core) && copies {
            if write {
                self.llc_set(line)[way] = None;
            }
            self.fill_l2(core, line, write);
            return Level::Llc;
        }
        if self.caches.llc_inclusive && !self.is_far(core) {
            self.llc_set(line)[way] = Some(self.fresh(line, found.dirty, false));
            self.fill_l2(core, line, write);
            return Level::Llc;
        }
        self.llc_set(line)[way] = None;
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
        Level::Llc
    }

    fn pair(&mut self, core: usize, line: u32) {
        // Cores of the far node play the NIC.
        let of_its_side = match self.caches.adjacent_prefetch {
            AdjacentPrefetch::None => false,
            AdjacentPrefetch::Host => core < self.far,
            AdjacentPrefetch::Nic => core >= self.far,
            AdjacentPrefetch::Both => true,
        };
        if of_its_side && !self.anywhere(core, line) {
            self.read(line);
            let far = self.is_far(core);
            if far != (line >= self.far_home) {
                self.crosses_to(line, far);
            }
            self.fill_l2(core, line, false);
        }
    }

    /// Whether `core` would find the line in any cache.
    fn anywhere(&mut self, core: usize, line: u32) -> bool {
        let shared = line < self.shared;
        let l2s = 0..self.l2.len();
        let in_l2 = l2s.filter(|c| shared || *c == core).any(|c| find(self.l2_set(c, line), line).is_some());
        in_l2 || self.far_llc.contains_key(&line) || find(self.llc_set(line), line).is_some()
    }

    pub(crate) fn dma_write(&mut self, line: u32, whole: bool) -> bool {
        if self.caches.ddio_ways == 0 {
            self.counts.dma_write_misses += 1;
            self.stream_out(line, whole);
            return false;
        }
        self.recall_l1(line);
        let near = self.recall(line, false).is_some();
        let far = self.recall(line, true).is_some();
        let in_llc = find(self.llc_set(line), line).is_some();
        if far || !near && !in_llc && line >= self.far_home {
            self.crosses_to(line, false);
        }
        let new = self.fresh(line, true, true);
        if let Some(copy) = find(self.llc_set(line), line) {
            *copy = Some(new);
            self.counts.dma_write_hits += 1;
            return true;
        }
        self.counts.dma_write_misses += 1;
        if !whole && !near && !far {
            self.read(line);
        }
        self.fill_llc(0..self.caches.ddio_ways, new);
        false
    }

    /// A core's store past the caches: the line is in none of them afterwards.
    pub(crate) fn stream_out(&mut self, line: u32, whole: bool) {
        self.recall_l1(line);
        let [near, far] = [false, true].map(|far| self.recall(line, far).is_some());
        let in_llc = self.recall_llc(line);
        let home_is_far = line >= self.far_home;
        let away = if home_is_far { near || in_llc } else { far };
        if away {
            self.crosses_to(line, home_is_far);
        }
        if !whole && !near && !far && !in_llc {
            self.read(line);
        }
        self.written(line);
    }

    pub(crate) fn dma_read(&mut self, line: u32) -> Level {
        let has = |n: &mut Naive, mut cores: std::ops::Range<usize>| {
            line < n.shared && cores.any(|c| find(n.l2_set(c, line), line).is_some())
        };
        let all = self.l2.len();
        let level = if find(self.llc_set(line), line).is_some() {
            Level::Llc
        } else if has(self, 0..self.far) {
            Level::Snoop
        } else if has(self, self.far..all) || self.far_llc.contains_key(&line) {
            if line < self.far_home {
                self.read(line);
            }
            Level::Far
        } else {
            self.counts.dma_read_misses += 1;
            return self.read(line);
        };
        self.counts.dma_read_hits += 1;
        level
    }
}
