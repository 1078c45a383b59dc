//! Private L2s over a non-inclusive LLC with DDIO, line by line. Counts, no time.
//!
//! Rules, each with its assumption in docs/assumptions.md:
//! * a DMA write updates a line where the LLC has it, else allocates in the DDIO ways only;
//! * without DDIO ways a DMA write takes the line out of all caches, and is a DRAM write;
//! * a DMA read takes LLC, else L2, else DRAM, and allocates nothing;
//! * a core's read of a DMA-written line copies it to the L2 and moves the LLC's copy to the
//!   inclusive ways; any other LLC hit moves the line to the L2;
//! * a core's miss fills the L2 alone; L2 victims go to the LLC ways outside DDIO's;
//! * dirty LLC victims are written to DRAM;
//! * an inclusive LLC gets what an L2 gets, in any way, keeps what an L2 takes, and takes its victims out of the L2s (A120);
//! * what a core stores past the caches leaves all of them, and is written to DRAM;
//! * an L1, where the profile tells it from the L2, has what the core used last of what the L2 has;
//! * the L2s of far cores, on the other node, lie over an LLC that keeps whatever they give up until
//!   somebody else wants it. The directory of a node's memory, which tells what lines are on the other
//!   one, lies in its DRAM, a mark beside each line;
//! * a core's load of a line that the other node has takes it over, or copies it, as the profile says; a store
//!   takes it from both;
//! * a card on the far node writes to the LLC there, which needs no directory: DDIO works on the card's own node.

mod cores;
mod divisor;
mod dma;
mod index;
mod streamed;

use super::cache::{Array, DIRTY, Entry, Private};
use super::coherence::directory::{Copies, Directory, Holder};
use super::coherence::node::Node;
use super::layout::Extent;
use super::sample::Sample;
use crate::profile::{AdjacentPrefetch, L1_SETS, RemoteReads, Replacement, Server};
use index::Index;

pub use super::coherence::home::Homes;
pub use super::level::Level;
pub use crate::mix::mix;

/// Lines counted since the beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Lines read from DRAM of the near node.
    pub dram_reads: u64,
    /// Lines written to DRAM of the near node.
    pub dram_writes: u64,
    /// Lines read from DRAM of the far node.
    pub far_dram_reads: u64,
    /// Lines written to DRAM of the far node.
    pub far_dram_writes: u64,
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

/// Which ways of a set of the LLC lines may go to, a bit each.
struct Ways {
    /// Those that a DMA write allocates in.
    ddio: u32,
    /// Those of DMA-written lines that a core has read.
    inclusive: u32,
    /// Those of lines that an L2 has given up.
    victims: u32,
}

/// All caches of the near node, and those that the far one has beside its card's.
pub struct Hierarchy {
    index: Index,
    /// What of the L2 is in the L1 as well; none where the profile does not tell them apart.
    l1: Vec<Private>,
    l2: Vec<Private>,
    llc: Array,
    ways: Ways,
    /// The first core on the far node.
    far: usize,
    directory: Directory,
    homes: Homes,
    adjacent: AdjacentPrefetch,
    /// The first core that plays a NIC, on either node.
    nic_cores: usize,
    /// The LLC has all that the L2s of its node have.
    inclusive: bool,
    /// The card is on the other node.
    remote: bool,
    /// A load of a line that the other node has leaves a copy there.
    copies: bool,
    /// A core's own memory is read beside the other node's caches, not before them: stores do not wait for it (A89).
    beside: bool,
    /// Counters.
    pub counts: Counts,
}

impl Hierarchy {
    /// Empty caches for `server`; `lines` of memory, of which the first `shared` move between agents
    /// (the rest, application tables, are partitioned by flow and only looked up in the own L2).
    pub fn new(server: &Server, lines: u32, shared: u32, seed: u64) -> Hierarchy {
        Hierarchy::sampled(server, &Extent { all: lines, shared }, Sample::new(1, seed), seed)
    }

    /// The same with the sets of `sample` alone: no other line may be asked for.
    pub(crate) fn sampled(server: &Server, extent: &Extent, sample: Sample, seed: u64) -> Hierarchy {
        let c = &server.caches;
        let all = lowest(c.ways);
        let ddio = lowest(c.ddio_ways);
        let l1 = || Private::new(sample.sets(L1_SETS) as usize, server.l1_ways() as usize);
        let cores = server.all_cores();
        let lru = c.replacement == Replacement::Lru;
        let index = Index::new(server, extent.all, sample.clone(), seed);
        Hierarchy {
            l1: (0..cores).filter(|_| server.l1_ways() > 0).map(|_| l1()).collect(),
            l2: (0..cores).map(|_| l2(server, &sample)).collect(),
            llc: Array::new(index.llc_sets(), c.ways as usize, lru, mix(seed ^ 0x11c)),
            ways: Ways {
                ddio,
                inclusive: all & !lowest(c.ways - c.inclusive_ways),
                victims: if c.llc_inclusive || ddio == all || server.nic_core().is_some() {
                    all
                } else {
                    all & !ddio
                },
            },
            far: cores as usize,
            directory: Directory::new(sample.rank(extent.shared), cores as usize),
            homes: Homes::default(),
            adjacent: c.adjacent_prefetch,
            nic_cores: server.cores as usize,
            inclusive: c.llc_inclusive,
            remote: server.nic.remote,
            copies: c.remote_reads == RemoteReads::Copy,
            beside: !server.constants.interconnect.away_ns.is_absent(),
            counts: Counts::default(),
            index,
        }
    }

    /// `cores` more, on the far node, with L2s as those of `server`. From now on lines have homes: the NIC's memory is
    /// that of the node.
    pub fn add_far(&mut self, server: &Server, cores: u32, homes: Homes) {
        let sample = &self.index.sample;
        self.l2.extend((0..cores).map(|_| l2(server, sample)));
        self.homes = homes;
    }

    /// The lines that are simulated.
    #[inline(always)]
    pub(crate) fn sample(&self) -> &Sample {
        &self.index.sample
    }

    /// Whether there are cores on the far node.
    pub(crate) fn has_far(&self) -> bool {
        self.l2.len() > self.far
    }

    /// The node of a core.
    #[inline(always)]
    pub(crate) fn node_of(&self, core: usize) -> Node {
        Node::of(core >= self.far)
    }

    /// The node of cards.
    #[inline(always)]
    pub(crate) fn node_of_card(&self) -> Node {
        Node::of(self.remote)
    }

    /// The node whose memory a line belongs to.
    #[inline(always)]
    pub(crate) fn home_of(&self, line: u32) -> Node {
        self.homes.of(line)
    }

    /// Lines read from DRAM of the near node and written to it.
    #[inline]
    pub(crate) fn dram_lines(&self) -> u64 {
        self.counts.dram_reads + self.counts.dram_writes
    }

    /// The same of the far node.
    #[inline]
    pub(crate) fn far_dram_lines(&self) -> u64 {
        self.counts.far_dram_reads + self.counts.far_dram_writes
    }

    /// A line is read from its home's DRAM.
    #[inline(always)]
    fn read_dram(&mut self, line: u32) -> Level {
        match self.home_of(line) {
            Node::Near => {
                self.counts.dram_reads += 1;
                Level::Dram
            }
            Node::Far => {
                self.counts.far_dram_reads += 1;
                Level::FarDram
            }
        }
    }

    /// A line is written to its home's DRAM.
    #[inline(always)]
    fn write_dram(&mut self, line: u32) {
        match self.home_of(line) {
            Node::Near => self.counts.dram_writes += 1,
            Node::Far => self.counts.far_dram_writes += 1,
        }
    }

    /// A line goes from a node to a node. One that leaves its home is marked there, and the line is written with its
    /// mark. One that comes back had its mark read, and the line with it (A38); it goes when the line is written back.
    /// What a card on the other node wrote has no marks (A43).
    #[inline]
    fn goes(&mut self, line: u32, from: Node, to: Node) {
        if from == to || self.remote {
            return;
        }
        if to == self.home_of(line) {
            self.read_dram(line);
        } else {
            self.write_dram(line);
        }
    }

    /// The copies of a line beside the LLC.
    #[inline]
    fn copies_of(&self, line: u32) -> Copies {
        self.directory.of(self.index.sample.rank(line))
    }

    /// From now on that holds the line; whether the line is of the shared range.
    #[inline]
    fn held_by(&mut self, line: u32, holder: Holder) -> bool {
        self.directory.set(self.index.sample.rank(line), holder)
    }

    /// From now on a node holds the line no longer.
    #[inline]
    fn left(&mut self, line: u32, node: Node) {
        self.directory.clear(self.index.sample.rank(line), node);
    }

    /// Takes a node's copy of a line away; whether it was dirty, and whether an L1 had it, too.
    fn take(&mut self, line: u32, holder: Holder) -> (bool, bool) {
        match holder {
            Holder::L2(core) => {
                self.left(line, self.node_of(core));
                self.remove(core, line)
            }
            Holder::FarLlc { dirty } => {
                self.left(line, Node::Far);
                (dirty, false)
            }
        }
    }

    /// Takes a line out of the caches of a core; whether it was dirty, and whether the L1 had it, too.
    #[inline(always)]
    fn remove(&mut self, core: usize, line: u32) -> (bool, bool) {
        let set = self.index.l2_set(line);
        let taken = self.l2[core].remove(set, line);
        (taken.is_some_and(Entry::dirty), self.leave_l1(core, line))
    }

    /// Takes a line that a core's L2 had from its L1; whether that had it, too.
    #[inline]
    fn leave_l1(&mut self, core: usize, line: u32) -> bool {
        if self.l1.is_empty() {
            return false;
        }
        let set = self.index.l1_set(line);
        self.l1.get_mut(core).is_some_and(|l1| l1.remove(set, line).is_some())
    }

    /// A line comes into the L2 of `core`, and into an inclusive LLC.
    fn fill(&mut self, core: usize, entry: Entry) {
        self.held_by(entry.line(), Holder::L2(core));
        let set = self.index.l2_set(entry.line());
        if let Some(victim) = self.l2[core].insert(set, entry) {
            self.give_up(core, victim);
        }
        if self.inclusive && self.node_of(core) == Node::Near && !self.in_llc(entry.line()) {
            self.insert(self.index.llc_set(entry.line()), self.ways.victims, Entry::new(entry.line(), 0));
        }
    }

    /// What falls out of the L2 of `core` goes to the LLC of the core's node.
    fn give_up(&mut self, core: usize, victim: Entry) {
        self.leave_l1(core, victim.line());
        let dirty = victim.dirty();
        if self.node_of(core) == Node::Near {
            self.left(victim.line(), Node::Near);
        } else if self.held_by(victim.line(), Holder::FarLlc { dirty }) {
            return;
        }
        let set = self.index.llc_set(victim.line());
        let dirty = if dirty { DIRTY } else { 0 };
        if let Some(way) = self.llc.find(set, victim.line()) {
            let e = self.llc.get(set, way);
            let flags = dirty | if e.dirty() { DIRTY } else { 0 };
            self.llc.set(set, way, Entry::new(victim.line(), flags));
        } else {
            self.insert(set, self.ways.victims, Entry::new(victim.line(), dirty));
        }
    }

    /// Whether the LLC has a line.
    #[inline(always)]
    fn in_llc(&self, line: u32) -> bool {
        self.llc.find(self.index.llc_set(line), line).is_some()
    }

    /// A line comes into the LLC, to a way of `mask`.
    fn insert(&mut self, set: usize, mask: u32, entry: Entry) {
        let Some(victim) = self.llc.insert(set, mask, entry) else { return };
        let dirty = self.inclusive && self.recall_l2s(victim.line());
        if dirty || victim.dirty() {
            self.write_dram(victim.line());
        }
    }

    /// A line leaves the L2s of the near node; whether one had it dirty. Of lines that the directory does not tell of,
    /// each L2 is asked.
    fn recall_l2s(&mut self, line: u32) -> bool {
        let Some(copies) = self.directory.get(self.index.sample.rank(line)) else {
            return (0..self.far).fold(false, |dirty, core| dirty | self.remove(core, line).0);
        };
        let holder = self.directory.holder(copies, Node::Near);
        holder.is_some_and(|holder| self.take(line, holder).0)
    }
}

/// The part of an empty L2 that is in the sample.
fn l2(server: &Server, sample: &Sample) -> Private {
    Private::new(sample.sets(server.l2_sets()) as usize, server.caches.l2_ways as usize)
}

/// The lowest `n` of 32 ways, a bit each.
fn lowest(n: u32) -> u32 {
    u32::MAX.checked_shr(32 - n).unwrap_or(0)
}
