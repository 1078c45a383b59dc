//! The modelled machine: its caches, DRAM and links, the words and frames that lie in its memory, and what an access
//! to them costs. Nothing here knows who acts when.

mod buffers;
pub mod cache;
pub(crate) mod costs;
mod dram;
pub(crate) mod frames;
pub mod hierarchy;
pub(crate) mod host;
pub(crate) mod layout;
pub(crate) mod level;
pub(crate) mod lines;
pub(crate) mod pcie;
pub(crate) mod prices;
pub(crate) mod sample;
pub(crate) mod who;
mod words;

use buffers::BufferMemory;
use costs::{Costs, shares};
use dram::Dram;
use hierarchy::Hierarchy;
use layout::Layout;
use level::Level;
use pcie::Link;
use prices::{Access, Cost, Prices};
use sample::Sample;
use words::WordMemory;

use crate::profile::Server;

/// A server's caches, memory and links, and what they hold.
pub(crate) struct Machine {
    pub costs: Costs,
    pub hierarchy: Hierarchy,
    dram: Dram,
    /// Of the node that the memory belongs to, and of the far one.
    prices: [Prices; 2],
    /// Slots of cards; none where a core plays the card.
    pub links: Vec<Link>,
    pub words: WordMemory,
    pub buffers: BufferMemory,
    /// A core plays the NIC: others see a core's stores when their lines have come (A28).
    pub soft: bool,
    /// Whether the core that plays the NIC asks for lines before it writes them, as our driver does. The published
    /// emulator is another program and does not; a card has no lines to ask for.
    pub ahead: bool,
    /// Bytes that antagonists have moved.
    pub pressed: u64,
}

impl Machine {
    /// `server` with what `layout` allocated. One cache set in `one_in` is simulated.
    pub(crate) fn new(server: &Server, layout: Layout, one_in: u32, seed: u64) -> Machine {
        let soft = server.nic_core().is_some();
        let links = if soft { 0 } else { server.nic.ports };
        let costs = Costs::new(server);
        let dram = Dram::new(&server.constants.dram);
        let shares = |level| shares(server.nic.kind, &server.constants, level);
        let sample = Sample::new(one_in, seed);
        Machine {
            hierarchy: Hierarchy::sampled(server, &layout.extent(), sample, seed),
            prices: costs.levels(dram.latency()).map(|levels| Prices::new(levels, shares)),
            costs,
            dram,
            links: (0..links).map(|_| Link::new(&server.constants.pcie)).collect(),
            words: WordMemory::new(&layout),
            buffers: BufferMemory::new(layout.frames),
            soft,
            ahead: soft,
            pressed: 0,
        }
    }

    /// `cores` more on the far node, behind all others, that play the NIC.
    pub(crate) fn add_far(&mut self, server: &Server, cores: u32) {
        self.hierarchy.add_far(server, cores);
        self.soft = true;
    }

    /// DRAM traffic that happened since `before` (lines), at `at`.
    #[inline(always)]
    fn charge(&mut self, before: u64, at: u64) {
        let lines = self.hierarchy.dram_lines() - before;
        if lines > 0 && self.dram.add(at, lines as f64 * 64.0 * f64::from(self.hierarchy.sample().one_in())) {
            self.price_dram();
        }
    }

    fn price_dram(&mut self) {
        let [near, far] = &mut self.prices;
        let dram = self.dram.latency();
        near.set([(Level::Dram, dram), (Level::Far, self.costs.far_line(dram))]);
        if self.hierarchy.has_far() {
            far.set([(Level::Dram, dram + self.costs.remote)]);
        }
    }

    /// What a core's access of a kind costs on average, a core on the far node if it is `far`.
    #[inline(always)]
    pub(crate) fn mean_of(&self, far: bool, kind: Access, write: bool) -> Cost {
        self.prices[usize::from(far)].mean_of(kind, write)
    }

    /// Prices for `core`.
    #[inline(always)]
    pub(crate) fn prices_of(&mut self, core: u32) -> &mut Prices {
        &mut self.prices[usize::from(self.hierarchy.is_far(core as usize))]
    }

    /// A core's access to a line: when the line is there, and how long the core waits. A line outside the
    /// sample costs what lines of its kind cost inside.
    #[inline(always)]
    pub(crate) fn core_access(&mut self, core: u32, line: u32, write: bool, kind: Access, at: u64) -> Cost {
        if self.hierarchy.sample().has(line) {
            self.simulate(core, line, write, kind, at)
        } else {
            self.prices_of(core).mean_of(kind, write)
        }
    }

    /// The same of a line in the sample.
    #[inline(never)]
    pub(crate) fn simulate(&mut self, core: u32, line: u32, write: bool, kind: Access, at: u64) -> Cost {
        let before = self.hierarchy.dram_lines();
        let level = self.hierarchy.core(core as usize, line, write);
        self.charge(before, at);
        let prices = self.prices_of(core);
        let miss = prices.learn(kind, write, level);
        prices.cost(kind, write, miss, level)
    }

    /// A core stores into a line that it has prefetched.
    pub(crate) fn dirty(&mut self, core: u32, line: u32) {
        if self.hierarchy.sample().has(line) {
            self.hierarchy.core(core as usize, line, true);
        }
    }

    /// A run of lines written by DMA; `partial` tells whether the last one is not whole.
    #[inline(always)]
    pub(crate) fn dma_write(&mut self, first: u32, lines: u32, partial: bool, at: u64) {
        let last = first + lines - 1;
        if self.hierarchy.sample().may_have(first, last) {
            self.simulate_dma(first, last, at, |caches, line| {
                caches.dma_write(line, !(partial && line == last));
            });
        }
    }

    /// A run of lines read by DMA.
    #[inline(always)]
    pub(crate) fn dma_read(&mut self, first: u32, lines: u32, at: u64) {
        let last = first + lines - 1;
        if self.hierarchy.sample().may_have(first, last) {
            self.simulate_dma(first, last, at, |caches, line| {
                caches.dma_read(line);
            });
        }
    }

    /// `access` for each line from `first` to `last` that is in the sample.
    #[inline(never)]
    fn simulate_dma(&mut self, first: u32, last: u32, at: u64, access: impl Fn(&mut Hierarchy, u32)) {
        let before = self.hierarchy.dram_lines();
        let mut from = first;
        while from <= last {
            let mut sampled = self.hierarchy.sample().among(from, last);
            while sampled != 0 {
                access(&mut self.hierarchy, from + sampled.trailing_zeros());
                sampled &= sampled - 1;
            }
            from += 64;
        }
        self.charge(before, at);
    }

    /// An antagonist reads `reads` lines at `at` and has `writes` written back; what a read takes then, ps.
    pub(crate) fn press(&mut self, at: u64, reads: f64, writes: f64) -> u64 {
        let bytes = (reads + writes) * 64.0;
        self.pressed += bytes as u64;
        if self.dram.add(at, bytes) {
            self.price_dram();
        }
        self.dram.latency()
    }

    /// Asks the host for what is kept of the frames that a line of descriptors may name.
    #[inline(always)]
    pub(crate) fn expect_frames(&self, line: u32) {
        let first = line as usize * 8;
        self.buffers.expect(self.words.values.get(first..first + 8).unwrap_or_default());
    }
}
