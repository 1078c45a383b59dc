//! The modelled machine: its caches, DRAM and links, the words and frames that lie in its memory, and what an access
//! to them costs. Nothing here knows who acts when.

mod buffers;
pub mod cache;
pub(crate) mod coherence;
pub(crate) mod costs;
mod dram;
pub(crate) mod frames;
pub mod hierarchy;
pub(crate) mod host;
pub(crate) mod layout;
pub(crate) mod level;
pub(crate) mod pcie;
pub(crate) mod prices;
pub(crate) mod sample;
mod words;

use buffers::BufferMemory;
use coherence::Nodes;
use coherence::home::Homes;
use coherence::link::NodeLink;
use coherence::node::Node;
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
    /// Of each node.
    drams: [Dram; 2],
    /// For cores of each node.
    prices: [Prices; 2],
    pub nodes: Nodes,
    /// Homes of lines, until the far node has cores.
    homes: Homes,
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
        let drams = [(); 2].map(|()| Dram::new(&server.constants.dram));
        let levels = |node| costs.levels(node, [0, 1].map(|n: usize| drams[n].latency()));
        let gbytes = &server.constants.interconnect.link_gbytes;
        let link = NodeLink::new((!gbytes.is_absent()).then_some(gbytes.value), costs.snoop + costs.remote);
        let shares = |level| shares(server.nic.kind, &server.constants, level);
        let sample = Sample::new(one_in, seed);
        Machine {
            hierarchy: Hierarchy::sampled(server, &layout.extent(), sample, seed),
            prices: [Node::Near, Node::Far].map(|node| Prices::new(levels(node), shares)),
            costs,
            drams,
            nodes: Nodes::new(server.nic.remote, link),
            homes: layout.homes(),
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
        self.hierarchy.add_far(server, cores, std::mem::take(&mut self.homes));
        self.soft = true;
        self.nodes.apart = true;
    }

    /// DRAM traffic of both nodes so far, lines.
    #[inline(always)]
    fn traffic(&self) -> [u64; 2] {
        [self.hierarchy.dram_lines(), self.hierarchy.far_dram_lines()]
    }

    /// DRAM traffic that happened since `before`, at `at`.
    #[inline(always)]
    fn charge(&mut self, before: [u64; 2], at: u64) {
        for (node, lines) in self.traffic().iter().zip(before).map(|(now, before)| now - before).enumerate() {
            let bytes = lines as f64 * 64.0 * f64::from(self.hierarchy.sample().one_in());
            if lines > 0 && self.drams[node].add(at, bytes) {
                self.price();
            }
        }
    }

    /// Prices follow the load of DRAM and of the link.
    fn price(&mut self) {
        let drams = [0, 1].map(|node: usize| self.drams[node].latency());
        for node in [Node::Near, Node::Far] {
            if node == Node::Near || self.hierarchy.has_far() {
                let mut levels = self.costs.levels(node, drams);
                let wait = self.nodes.wait(node);
                Level::ALL.into_iter().filter(|l| l.crosses(node)).for_each(|l| levels[l as usize] += wait);
                self.prices[node as usize].set(levels);
            }
        }
    }

    /// What an access of a kind costs a core of `node` on average.
    #[inline(always)]
    pub(crate) fn mean_of(&self, node: Node, kind: Access, write: bool) -> Cost {
        self.prices[node as usize].mean_of(kind, write)
    }

    /// Prices for `core`.
    #[inline(always)]
    pub(crate) fn prices_of(&mut self, core: u32) -> &mut Prices {
        &mut self.prices[self.hierarchy.node_of(core as usize) as usize]
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
        let before = self.traffic();
        let level = self.hierarchy.core(core as usize, line, write);
        self.charge(before, at);
        let node = self.hierarchy.node_of(core as usize);
        // Lines of words are counted by their copies, sampled or not.
        if kind != Access::Word && level.crosses(node) {
            self.comes_over(node, write, at);
        }
        let prices = &mut self.prices[node as usize];
        let miss = prices.learn(kind, write, level);
        prices.cost(kind, write, miss, level)
    }

    /// A simulated line of a buffer crosses the link to `node`: it stands for those that are not simulated.
    fn comes_over(&mut self, node: Node, write: bool, at: u64) {
        self.cross(node, write, self.hierarchy.sample().one_in().into(), at);
    }

    /// Lines cross the link to `node`.
    pub(crate) fn cross(&mut self, node: Node, write: bool, lines: u64, at: u64) {
        if self.nodes.cross(node, write, lines, at) {
            self.price();
        }
    }

    /// What a line takes more that comes over the link to `node`, ps.
    pub(crate) fn over_link(&self, node: Node) -> u64 {
        self.costs.remote + self.nodes.wait(node)
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
            self.simulate_dma(first, last, at, |machine, line| {
                machine.hierarchy.dma_write(line, !(partial && line == last));
            });
        }
    }

    /// A run of lines read by DMA.
    #[inline(always)]
    pub(crate) fn dma_read(&mut self, first: u32, lines: u32, at: u64) {
        let last = first + lines - 1;
        if self.hierarchy.sample().may_have(first, last) {
            self.simulate_dma(first, last, at, |machine, line| {
                let level = machine.hierarchy.dma_read(line);
                let node = machine.hierarchy.node_of_card();
                if level.crosses(node) {
                    machine.comes_over(node, false, at);
                }
            });
        }
    }

    /// `access` for each line from `first` to `last` that is in the sample.
    #[inline(never)]
    fn simulate_dma(&mut self, first: u32, last: u32, at: u64, access: impl Fn(&mut Machine, u32)) {
        let before = self.traffic();
        let mut from = first;
        while from <= last {
            let mut sampled = self.hierarchy.sample().among(from, last);
            while sampled != 0 {
                access(self, from + sampled.trailing_zeros());
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
        let near = &mut self.drams[Node::Near as usize];
        if near.add(at, bytes) {
            self.price();
        }
        self.drams[Node::Near as usize].latency()
    }

    /// Asks the host for what is kept of the frames that a line of descriptors may name.
    #[inline(always)]
    pub(crate) fn expect_frames(&self, line: u32) {
        let first = line as usize * 8;
        self.buffers.expect(self.words.values.get(first..first + 8).unwrap_or_default());
    }
}
