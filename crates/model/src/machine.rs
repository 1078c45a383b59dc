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
pub(crate) mod nic_memory;
pub(crate) mod pcie;
pub(crate) mod prices;
pub(crate) mod registers;
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
use nic_memory::NicMemory;
use pcie::Link;
use prices::{Access, Cost, Levels, Prices};
use sample::Sample;
use words::WordMemory;

use crate::profile::{RemoteReads, Server};

/// A server's caches, memory and links, and what they hold.
pub(crate) struct Machine {
    pub costs: Costs,
    pub hierarchy: Hierarchy,
    /// Of each node.
    drams: [Dram; 2],
    /// Lines of the far node's DRAM that have been charged.
    far_lines: u64,
    /// What lines cost cores of each node beside what DRAM takes, and what they cost now.
    idle: [Levels; 2],
    prices: [Prices; 2],
    pub nodes: Nodes,
    /// Homes of lines, until the far node has cores.
    homes: Homes,
    /// Slots of cards; none where a core plays the card.
    pub links: Vec<Link>,
    /// Memory of cards, where they have some of their own.
    pub nic_memories: Vec<NicMemory>,
    pub words: WordMemory,
    pub buffers: BufferMemory,
    /// A core plays the NIC: others see a core's stores when their lines have come (A28).
    pub soft: bool,
    /// Whether the core that plays the NIC asks for lines before it writes them, as our driver does. The published
    /// emulator is another program and does not; a card has no lines to ask for.
    pub ahead: bool,
    /// Bytes that antagonists have moved.
    pub pressed: u64,
    /// Bytes that cards have written for flows that no core receives.
    pub written_remotely: u64,
    /// Lines that cards have written, sampled or not.
    pub dma_lines: u64,
    /// Lines of a port's line rate, in a ps.
    pub line_rate: f64,
}

impl Machine {
    /// `server` with what `layout` allocated. One cache set in `one_in` is simulated.
    pub(crate) fn new(server: &Server, layout: Layout, one_in: u32, seed: u64) -> Machine {
        let soft = server.nic_core().is_some();
        let links = if soft { 0 } else { server.nic.ports };
        let costs = Costs::new(server);
        let drams = [(); 2].map(|()| Dram::new(&server.constants.dram));
        let gbytes = &server.constants.interconnect.link_gbytes;
        let link = NodeLink::new((!gbytes.is_absent()).then_some(gbytes.value), costs.snoop + costs.remote);
        let shares = |level| shares(server.nic.kind, &server.constants, level);
        let sample = Sample::new(one_in, seed);
        let moves = server.caches.remote_reads == RemoteReads::Move;
        let idle = [Node::Near, Node::Far].map(|node| costs.levels(node));
        let mut machine = Machine {
            hierarchy: Hierarchy::sampled(server, &layout.extent(), sample, seed),
            prices: idle.map(|levels| Prices::new(levels, shares)),
            idle,
            costs,
            drams,
            far_lines: 0,
            nodes: Nodes::new(server.nic.remote, moves, link),
            homes: layout.homes(),
            links: (0..links).map(|_| Link::new(&server.constants.pcie)).collect(),
            nic_memories: (0..links).filter_map(|_| NicMemory::new(server)).collect(),
            words: WordMemory::new(&layout, moves),
            buffers: BufferMemory::new(layout.frames, layout.streams),
            soft,
            ahead: soft,
            pressed: 0,
            written_remotely: 0,
            dma_lines: 0,
            line_rate: server.nic.port_gbps * 1e-3 / 512.0,
        };
        machine.price();
        machine
    }

    /// `cores` more on the far node, behind all others, that play the NIC.
    pub(crate) fn add_far(&mut self, server: &Server, cores: u32) {
        self.hierarchy.add_far(server, cores, std::mem::take(&mut self.homes));
        self.soft = true;
        self.nodes.apart = true;
        self.price();
    }

    /// DRAM traffic that happened since `before` (lines of the near node), at `at`.
    #[inline(always)]
    fn charge(&mut self, before: u64, at: u64) {
        let lines = self.hierarchy.dram_lines() - before;
        if lines > 0 && self.drams[Node::Near as usize].add(at, self.bytes(lines)) {
            self.price();
        }
    }

    /// The same of the far node, since it was charged last.
    #[cold]
    fn charge_far(&mut self, at: u64) {
        let lines = self.hierarchy.far_dram_lines() - self.far_lines;
        self.far_lines += lines;
        if lines > 0 && self.drams[Node::Far as usize].add(at, self.bytes(lines)) {
            self.price();
        }
    }

    /// What so many simulated lines stand for.
    #[inline(always)]
    fn bytes(&self, lines: u64) -> f64 {
        lines as f64 * 64.0 * f64::from(self.hierarchy.sample().one_in())
    }

    /// Prices follow the load of DRAM and of the link.
    fn price(&mut self) {
        let drams = [0, 1].map(|node: usize| self.drams[node].latency());
        for node in [Node::Near, Node::Far] {
            if node == Node::Near || self.hierarchy.has_far() {
                let mut levels = self.idle[node as usize];
                levels[Level::Dram as usize] += drams[Node::Near as usize];
                levels[Level::FarDram as usize] += drams[Node::Far as usize];
                if self.costs.away.is_none() {
                    levels[Level::Away as usize] += drams[node as usize];
                }
                let wait = self.nodes.wait(node);
                if wait > 0 {
                    Level::ALL
                        .into_iter()
                        .filter(|l| l.crosses(node))
                        .for_each(|l| levels[l as usize] += wait);
                }
                self.prices[node as usize].set(levels);
            }
        }
    }

    /// Latency of a read from the near node's memory, ps.
    pub(crate) fn dram_latency(&self) -> u64 {
        self.drams[Node::Near as usize].latency()
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
        let before = self.hierarchy.dram_lines();
        let level = self.hierarchy.core(core as usize, line, write);
        self.charge(before, at);
        let node = self.hierarchy.node_of(core as usize);
        if self.nodes.apart {
            self.charge_far(at);
            // Lines of words are counted by their copies, sampled or not.
            if kind != Access::Word && level.crosses(node) {
                self.comes_over(node, write, at);
            }
        }
        let prices = &mut self.prices[node as usize];
        let miss = prices.learn(kind, write, level);
        prices.cost(kind, write, miss, level)
    }

    /// A simulated line of a buffer crosses the link to `node`: it stands for those that are not simulated.
    #[cold]
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

    /// A core's stores past its caches to a line, a `whole` one or a part of it: as [`core_access`](Self::core_access). They
    /// go to the controller of the home's memory; where fill buffers hold them, until the memory answers (A72, A91).
    pub(crate) fn stream_out(&mut self, core: u32, line: u32, whole: bool, at: u64) -> Cost {
        let [node, home] = [self.hierarchy.node_of(core as usize), self.hierarchy.home_of(line)];
        if self.hierarchy.sample().has(line) {
            let before = self.hierarchy.dram_lines();
            self.hierarchy.stream_out(line, whole);
            self.charge(before, at);
            if self.nodes.apart {
                self.charge_far(at);
            }
            if node != home && self.nodes.carry(home, self.hierarchy.sample().one_in().into(), at) {
                self.price();
            }
        }
        let stop =
            if self.costs.fill_buffers > 0 { self.drams[home as usize].latency() } else { self.costs.llc };
        let miss = stop + if node == home { 0 } else { self.over_link(home) };
        self.prices_of(core).cost(Access::Run, true, miss, Level::Llc)
    }

    /// A run of lines written by DMA; `partial` tells whether the last one is not whole.
    #[inline(always)]
    pub(crate) fn dma_write(&mut self, first: u32, lines: u32, partial: bool, at: u64) {
        self.dma_lines += u64::from(lines);
        let last = first + lines - 1;
        if self.hierarchy.sample().may_have(first, last) {
            self.simulate_dma(first, last, at, |caches, line| {
                caches.dma_write(line, !(partial && line == last));
            });
        }
    }

    /// Lines from `first` to `last` written by DMA past all caches, into DRAM (CEIO, section 2.1); `partial` as above.
    pub(crate) fn dma_write_past(&mut self, first: u32, last: u32, partial: bool, at: u64) {
        if self.hierarchy.sample().may_have(first, last) {
            self.simulate_dma(first, last, at, |caches, line| {
                caches.stream_out(line, !(partial && line == last));
            });
        }
    }

    /// A run of lines read by DMA.
    #[inline(always)]
    pub(crate) fn dma_read(&mut self, first: u32, lines: u32, at: u64) {
        let last = first + lines - 1;
        if !self.hierarchy.sample().may_have(first, last) {
            return;
        }
        if self.nodes.apart {
            return self.dma_read_apart(first, last, at);
        }
        self.simulate_dma(first, last, at, |caches, line| {
            caches.dma_read(line);
        });
    }

    /// The same where lines may cross the link.
    #[cold]
    fn dma_read_apart(&mut self, first: u32, last: u32, at: u64) {
        let node = self.hierarchy.node_of_card();
        let mut crossed = 0;
        self.simulate_dma(first, last, at, |caches, line| {
            crossed += u64::from(caches.dma_read(line).crosses(node));
        });
        if crossed > 0 {
            self.cross(node, false, crossed * u64::from(self.hierarchy.sample().one_in()), at);
        }
    }

    /// `access` for each line from `first` to `last` that is in the sample.
    #[inline(never)]
    fn simulate_dma(&mut self, first: u32, last: u32, at: u64, mut access: impl FnMut(&mut Hierarchy, u32)) {
        let before = self.hierarchy.dram_lines();
        let mut from = first;
        while let Some(line) = self.hierarchy.sample().first(from, last) {
            access(&mut self.hierarchy, line);
            from = line + 1;
        }
        self.charge(before, at);
        if self.nodes.apart {
            self.charge_far(at);
        }
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
