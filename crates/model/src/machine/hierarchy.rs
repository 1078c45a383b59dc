//! Private L2s over a non-inclusive LLC with DDIO, line by line. Counts, no time.
//!
//! Rules, each with its assumption in docs/assumptions.md:
//! * a DMA write updates a line where the LLC has it, else allocates in the DDIO ways only;
//! * a DMA read takes LLC, else L2, else DRAM, and allocates nothing;
//! * a core's read of a DMA-written line copies it to the L2 and moves the LLC's copy to the
//!   inclusive ways; any other LLC hit moves the line to the L2;
//! * a core's miss fills the L2 alone; L2 victims go to the LLC ways outside DDIO's;
//! * dirty LLC victims are written to DRAM;
//! * an L1, where the profile tells it from the L2, has what the core used last of what the L2 has;
//! * a card on the other node writes to the LLC there, see below: DDIO is of its own node, and needs no
//!   directory;
//! * the L2s of far cores, on the other node, lie over an LLC that keeps whatever they give up until
//!   somebody else wants it. All memory belongs to the near node, and so does the directory that tells
//!   which lines are on the far one: it lies in DRAM, a mark beside each line.

use super::cache::{Array, DIRTY, Entry, IO, Private};
use super::divisor::Divisor;
use super::layout::{Lines, PAGE};
use super::sample::Sample;
use crate::profile::{L1_SETS, Placement, Replacement, Server, SliceHash};

pub use super::level::Level;
pub use crate::mix::mix;

/// What holds a line of the shared range beside the LLC.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Holder {
    /// The L2 of this core.
    L2(usize),
    /// The LLC of the far node.
    FarLlc { dirty: bool },
}

/// [`Holder`] in a byte: nothing, a core's number plus one, or these.
const FAR_CLEAN: u8 = u8::MAX - 1;
const FAR_DIRTY: u8 = u8::MAX;

/// Lines counted since the beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Lines read from DRAM.
    pub dram_reads: u64,
    /// Lines written to DRAM.
    pub dram_writes: u64,
    /// DMA-written lines that the LLC had.
    pub dma_write_hits: u64,
    /// DMA-written lines that had to be allocated.
    pub dma_write_misses: u64,
    /// DMA-read lines found in a cache.
    pub dma_read_hits: u64,
    /// DMA-read lines from DRAM.
    pub dma_read_misses: u64,
    /// Core accesses, found in the own L2.
    pub l2_hits: u64,
    /// Core accesses, found in the LLC.
    pub llc_hits: u64,
    /// Core accesses, found in another L2, or in a cache of the other node.
    pub snoops: u64,
    /// Core accesses, found in DRAM.
    pub llc_misses: u64,
}

/// All caches of a socket.
pub struct Hierarchy {
    /// The lines that are simulated: sets and owners of others are not stored, so that what is stays in
    /// the host's own caches.
    pub(crate) sample: Sample,
    /// What of the L2 is in the L1 as well; none where the profile does not tell them apart.
    l1: Vec<Private>,
    l1_sets: Divisor,
    l2: Vec<Private>,
    l2_sets: Divisor,
    llc: Array,
    /// The first core on the far node.
    far: usize,
    /// What holds a line of the shared range, see [`Holder`].
    owner: Vec<u8>,
    /// Physical page of each 2 MB page.
    frames: Vec<u32>,
    slices: Divisor,
    hash: SliceHash,
    /// The sets of a slice that are stored, and for each of them the slice that its first line lies in if slices
    /// are balanced.
    slice_sets: Divisor,
    starts: Vec<u32>,
    ddio: u32,
    inclusive: u32,
    victims: u32,
    adjacent: bool,
    /// The card is on the other node.
    remote: bool,
    /// Counters.
    pub counts: Counts,
}

impl Hierarchy {
    /// Empty caches for `server`; `lines` of memory, of which the first `shared` move between agents
    /// (the rest, application tables, are partitioned by flow and only looked up in the own L2).
    pub fn new(server: &Server, lines: u32, shared: u32, seed: u64) -> Hierarchy {
        Hierarchy::sampled(server, &Lines { all: lines, shared }, Sample::new(1, seed), seed)
    }

    /// The same with the sets of `sample` alone: no other line may be asked for.
    pub(crate) fn sampled(server: &Server, lines: &Lines, sample: Sample, seed: u64) -> Hierarchy {
        let c = &server.caches;
        let all = lowest(c.ways);
        let ddio = lowest(c.ddio_ways);
        let inclusive = all & !lowest(c.ways - c.inclusive_ways);
        let l2_sets = sample.sets(server.l2_sets());
        let l2 = || Private::new(l2_sets as usize, c.l2_ways as usize);
        let l1_sets = sample.sets(L1_SETS);
        let l1 = || Private::new(l1_sets as usize, server.l1_ways() as usize);
        let cores = server.all_cores();
        let starts = starts(c.sets_per_slice, &sample);
        let llc_sets = c.slices as usize * starts.len();
        Hierarchy {
            l1: (0..cores).filter(|_| server.l1_ways() > 0).map(|_| l1()).collect(),
            l1_sets: Divisor::new(l1_sets),
            l2: (0..cores).map(|_| l2()).collect(),
            l2_sets: Divisor::new(l2_sets),
            far: cores as usize,
            llc: Array::new(llc_sets, c.ways as usize, c.replacement == Replacement::Lru, mix(seed ^ 0x11c)),
            owner: vec![0; sample.rank(lines.shared) as usize],
            frames: frames(c.placement, lines.all.div_ceil(PAGE), seed),
            slices: Divisor::new(c.slices),
            hash: c.slice_hash,
            slice_sets: Divisor::new(starts.len() as u32),
            starts,
            ddio,
            inclusive,
            victims: if ddio == all || server.nic_core().is_some() { all } else { all & !ddio },
            adjacent: c.adjacent_prefetch,
            remote: server.nic.remote,
            counts: Counts::default(),
            sample,
        }
    }

    /// `cores` more, on the far node, with L2s as those of `server`.
    pub fn add_far(&mut self, server: &Server, cores: u32) {
        let sets = self.sample.sets(server.l2_sets());
        let l2 = || Private::new(sets as usize, server.caches.l2_ways as usize);
        self.l2.extend((0..cores).map(|_| l2()));
    }

    /// Whether there are cores on the far node.
    pub(crate) fn has_far(&self) -> bool {
        self.l2.len() > self.far
    }

    /// Whether a core is on the far node.
    #[inline]
    pub fn is_far(&self, core: usize) -> bool {
        core >= self.far
    }

    /// The L2 set of a line.
    #[inline]
    fn l2_set(&self, line: u32) -> usize {
        self.l2_sets.of(self.sample.rank(line)).1 as usize
    }

    /// The L1 set of a line.
    fn l1_set(&self, line: u32) -> usize {
        self.l1_sets.of(self.sample.rank(line)).1 as usize
    }

    /// The LLC set of a line. Within a slice the low address bits choose the set, or the remainder of the address
    /// where their number is no power of two; if balanced, successive runs of `sets_per_slice` lines rotate over the
    /// slices from a start that the set permutes, so that any contiguous stretch is spread evenly, as the
    /// processors' hash does.
    #[inline]
    fn set_of(&self, line: u32) -> usize {
        let frame = self.frames.get((line / PAGE) as usize).copied().unwrap_or(line / PAGE);
        let physical = (frame << PAGE.trailing_zeros()) | (line % PAGE);
        let (turn, set) = self.slice_sets.of(self.sample.rank(physical));
        let pick = match self.hash {
            SliceHash::Balanced => turn.wrapping_add(self.starts[set as usize]),
            SliceHash::Random => (mix(physical.into()) >> 32) as u32,
        };
        self.slices.of(pick).1 as usize * self.starts.len() + set as usize
    }

    /// A load (or store) of `core`.
    #[inline]
    pub fn core(&mut self, core: usize, line: u32, write: bool) -> Level {
        if !self.l1.is_empty() {
            self.use_l1(core, line);
        }
        let set = self.l2_set(line);
        if self.l2[core].hit(set, line, write) {
            self.counts.l2_hits += 1;
            return Level::L2;
        }
        let level = self.miss(core, line, write);
        if level == Level::Dram && self.adjacent {
            self.pair(core, line ^ 1);
        }
        level
    }

    /// The line comes to the front of the core's L1. What falls out is in the L2 anyway.
    fn use_l1(&mut self, core: usize, line: u32) {
        let set = self.l1_set(line);
        if let Some(l1) = self.l1.get_mut(core)
            && !l1.hit(set, line, false)
        {
            l1.insert(set, Entry::new(line, 0));
        }
    }

    /// Takes a line that a core's L2 had from its L1; whether that had it, too.
    #[inline]
    fn leave_l1(&mut self, core: usize, line: u32) -> bool {
        if self.l1.is_empty() {
            return false;
        }
        let set = self.l1_set(line);
        self.l1.get_mut(core).is_some_and(|l1| l1.remove(set, line).is_some())
    }

    fn miss(&mut self, core: usize, line: u32, write: bool) -> Level {
        let dirty = if write { DIRTY } else { 0 };
        let far = self.is_far(core);
        if let Some(holder) = self.holder(line) {
            // A store takes the line away, a load of a dirty line moves it as well: the reader is the
            // next writer in every structure here. Of a clean line, the LLC gives its copy and keeps it.
            let (was_dirty, level) = match holder {
                Holder::L2(other) => {
                    let set = self.l2_set(line);
                    let taken = self.l2[other].remove(set, line);
                    let was_dirty = taken.is_some_and(Entry::dirty);
                    let in_l1 = self.leave_l1(other, line);
                    if !write && !was_dirty && self.llc.find(self.set_of(line), line).is_some() {
                        self.counts.llc_hits += 1;
                        self.fill(core, Entry::new(line, 0));
                        return Level::Llc;
                    }
                    let level = match self.is_far(other) {
                        true => Level::Far,
                        false if in_l1 => Level::SnoopL1,
                        false => Level::Snoop,
                    };
                    (was_dirty, level)
                }
                Holder::FarLlc { dirty } => (dirty, Level::Far),
            };
            match (level, far) {
                (Level::Far, false) if !self.remote => self.look_up(),
                (Level::Snoop, true) => self.mark(),
                _ => {}
            }
            self.counts.snoops += 1;
            self.fill(core, Entry::new(line, dirty | if was_dirty { DIRTY } else { 0 }));
            return level;
        }
        if far {
            self.mark();
        }
        let set = self.set_of(line);
        if let Some(way) = self.llc.find(set, line) {
            self.counts.llc_hits += 1;
            let e = self.llc.get(set, way);
            if e.io() {
                self.llc.clear(set, way);
                let keep = Entry::new(line, if e.dirty() { DIRTY } else { 0 });
                if self.inclusive >> way & 1 == 1 {
                    self.llc.set(set, way, keep);
                } else {
                    self.insert(set, self.inclusive, keep);
                }
                self.fill(core, Entry::new(line, dirty));
            } else {
                self.llc.clear(set, way);
                self.fill(core, Entry::new(line, dirty | if e.dirty() { DIRTY } else { 0 }));
            }
            return Level::Llc;
        }
        self.counts.llc_misses += 1;
        self.counts.dram_reads += 1;
        self.fill(core, Entry::new(line, dirty));
        Level::Dram
    }

    /// The other half of a 128 B pair comes along, if no cache has it.
    fn pair(&mut self, core: usize, line: u32) {
        let here = self.l2[core].has(self.l2_set(line), line) || self.holder(line).is_some();
        if !here && self.llc.find(self.set_of(line), line).is_none() {
            self.counts.dram_reads += 1;
            if self.is_far(core) {
                self.mark();
            }
            self.fill(core, Entry::new(line, 0));
        }
    }

    /// A line leaves for the far node: its mark is written, and the line with it (A38).
    fn mark(&mut self) {
        self.counts.dram_writes += 1;
    }

    /// A line comes back from the far node: its mark was read, and the line with it. It goes when the line is
    /// written back.
    fn look_up(&mut self) {
        self.counts.dram_reads += 1;
    }

    /// Whether the far node has the line.
    fn away(&self, holder: Option<Holder>) -> bool {
        match holder {
            Some(Holder::L2(core)) => self.is_far(core),
            Some(Holder::FarLlc { .. }) => true,
            None => false,
        }
    }

    #[inline]
    fn holder(&self, line: u32) -> Option<Holder> {
        match self.owner.get(self.sample.rank(line) as usize) {
            None | Some(0) => None,
            Some(&FAR_CLEAN) => Some(Holder::FarLlc { dirty: false }),
            Some(&FAR_DIRTY) => Some(Holder::FarLlc { dirty: true }),
            Some(&o) => Some(Holder::L2(usize::from(o) - 1)),
        }
    }

    fn fill(&mut self, core: usize, entry: Entry) {
        if let Some(o) = self.owner.get_mut(self.sample.rank(entry.line()) as usize) {
            *o = core as u8 + 1;
        }
        let set = self.l2_set(entry.line());
        let Some(victim) = self.l2[core].insert(set, entry) else { return };
        self.leave_l1(core, victim.line());
        if let Some(o) = self.owner.get_mut(self.sample.rank(victim.line()) as usize) {
            if core >= self.far {
                *o = if victim.dirty() { FAR_DIRTY } else { FAR_CLEAN };
                return;
            }
            *o = 0;
        }
        let set = self.set_of(victim.line());
        let dirty = if victim.dirty() { DIRTY } else { 0 };
        if let Some(way) = self.llc.find(set, victim.line()) {
            let e = self.llc.get(set, way);
            let flags = dirty | if e.dirty() { DIRTY } else { 0 };
            self.llc.set(set, way, Entry::new(victim.line(), flags));
        } else {
            self.insert(set, self.victims, Entry::new(victim.line(), dirty));
        }
    }

    fn insert(&mut self, set: usize, mask: u32, entry: Entry) {
        if let Some(victim) = self.llc.insert(set, mask, entry)
            && victim.dirty()
        {
            self.counts.dram_writes += 1;
        }
    }

    /// A DMA write of a line; whether the LLC had it. A partial write of a line that no cache holds
    /// reads the rest from DRAM.
    #[inline]
    pub fn dma_write(&mut self, line: u32, whole: bool) -> bool {
        if self.remote {
            return self.far_write(line, whole);
        }
        let mut cached = false;
        let holder = self.holder(line);
        if self.away(holder) {
            self.look_up();
        }
        if let Some(holder) = holder {
            if let Holder::L2(core) = holder {
                let set = self.l2_set(line);
                self.l2[core].remove(set, line);
                self.leave_l1(core, line);
            }
            self.owner[self.sample.rank(line) as usize] = 0;
            cached = true;
        }
        let set = self.set_of(line);
        if let Some(way) = self.llc.find(set, line) {
            self.llc.set(set, way, Entry::new(line, DIRTY | IO));
            self.counts.dma_write_hits += 1;
            return true;
        }
        self.counts.dma_write_misses += 1;
        if !whole && !cached {
            self.counts.dram_reads += 1;
        }
        self.insert(set, self.ddio, Entry::new(line, DIRTY | IO));
        false
    }

    /// A DMA write of a card on the far node: the line leaves the caches here, and lies in the LLC there.
    fn far_write(&mut self, line: u32, whole: bool) -> bool {
        let set = self.set_of(line);
        let here = self.llc.find(set, line).map(|way| self.llc.clear(set, way));
        let holder = self.holder(line);
        if let Some(Holder::L2(core)) = holder {
            let set = self.l2_set(line);
            self.l2[core].remove(set, line);
        }
        self.owner[self.sample.rank(line) as usize] = FAR_DIRTY;
        let hit = matches!(holder, Some(Holder::FarLlc { .. }));
        if hit {
            self.counts.dma_write_hits += 1
        } else {
            self.counts.dma_write_misses += 1
        }
        if !whole && here.is_none() && holder.is_none() {
            self.counts.dram_reads += 1;
        }
        hit
    }

    /// A DMA read of a line.
    #[inline]
    pub fn dma_read(&mut self, line: u32) -> Level {
        let set = self.set_of(line);
        let level = if self.llc.find(set, line).is_some() {
            Level::Llc
        } else if self.holder(line).is_some() {
            Level::Snoop
        } else {
            Level::Dram
        };
        if level == Level::Snoop && !self.remote && self.away(self.holder(line)) {
            self.look_up();
        }
        if level == Level::Dram {
            self.counts.dma_read_misses += 1;
            self.counts.dram_reads += 1;
        } else {
            self.counts.dma_read_hits += 1;
        }
        level
    }
}

/// The lowest `n` of 32 ways, a bit each.
fn lowest(n: u32) -> u32 {
    u32::MAX.checked_shr(32 - n).unwrap_or(0)
}

/// Where each stored set's turns over the slices begin: a permutation of the sets' numbers.
fn starts(sets: u32, sample: &Sample) -> Vec<u32> {
    let stored = 0..sample.sets(sets);
    stored.map(|set| sample.set(set, sets)).map(|set| set ^ (set >> 4) ^ (set >> 8)).collect()
}

fn frames(placement: Placement, pages: u32, seed: u64) -> Vec<u32> {
    match placement {
        Placement::Contiguous => (0..pages).collect(),
        // 128 GiB of 2 MB frames; two pages in one frame would only share sets, which they may anyway.
        Placement::Random => (0..pages).map(|p| (mix(seed ^ u64::from(p) << 20) >> 48) as u32).collect(),
    }
}
