//! Small worlds: a server with round numbers, some fields, and agents that each run one closure.

#![allow(dead_code, reason = "no test needs all of it")]

pub(crate) mod price;

use std::cell::Cell;
use std::rc::Rc;

use memory::{Class, Field, Geometry, Mapping, Memory, Ps, Side, Space};
use model::profile::{AdjacentPrefetch, Constant, NicKind, Placement, Replacement, Server};
use model::{Agent, Engine, ModelSpace, PoolId, Sim, Table, View, Words};

/// The reference server with constants that are easy to add up: a cycle of 0.5 ns, an operation of 1,
/// an atomic of 10; L2 7, LLC 22, snoop 60, DRAM 85 ns; PCIe at 100 ps a byte, 300 ns to the cache;
/// doorbell 800 ns; 70 ns to the other node, from where loads come four at a time; lines in a row ten at a time; who spins looks all the time. LRU, pages one after the other, no prefetch of neighbours.
pub(crate) fn server() -> Server {
    let mut s = Server::by_name("rxbisect-testbed").unwrap();
    s.ghz = 2.0;
    s.caches.replacement = Replacement::Lru;
    s.caches.placement = Placement::Contiguous;
    s.caches.adjacent_prefetch = AdjacentPrefetch::None;
    let c = &mut s.constants;
    for (constant, value) in [
        (&mut c.core.op_cycles, 2.0),
        (&mut c.core.atomic_cycles, 20.0),
        (&mut c.caches.l2_hit_ns, 7.0),
        (&mut c.caches.llc_hit_ns, 22.0),
        (&mut c.interconnect.snoop_ns, 60.0),
        (&mut c.dram.idle_ns, 85.0),
        (&mut c.dram.load_ns, 25.0),
        (&mut c.dram.usable, 0.8),
        (&mut c.dram.peak_gbytes, 100.0),
        (&mut c.pcie.gbytes, 10.0),
        (&mut c.pcie.tlp_bytes, 256.0),
        (&mut c.pcie.overhead_bytes, 26.0),
        (&mut c.pcie.write_ns, 300.0),
        (&mut c.pcie.read_ns, 700.0),
        (&mut c.pcie.doorbell_ns, 800.0),
        (&mut c.interconnect.remote_ns, 70.0),
        (&mut c.fetch.load_lines, 4.0),
        (&mut c.antagonist.pagerank_lines, 10.0),
        (&mut c.core.spin_cycles, 0.0),
    ] {
        constant.value = value;
    }
    s
}

/// The same with a core that plays the card: four loads, six in a row and eight stores at a time, 2 ns to read a line that
/// is here, 3 to copy it.
pub(crate) fn soft_server() -> Server {
    let mut s = server();
    s.nic.kind = NicKind::Core;
    let c = &mut s.constants;
    for absent in [
        &mut c.pcie.gbytes,
        &mut c.pcie.tlp_bytes,
        &mut c.pcie.overhead_bytes,
        &mut c.pcie.write_ns,
        &mut c.pcie.read_ns,
        &mut c.pcie.doorbell_ns,
        &mut c.nic.buffer_kib,
        &mut c.nic.tx_queue_gbps,
        &mut c.generator.latency_us,
        &mut c.core.spin_cycles,
    ] {
        *absent = Constant::default();
    }
    for (constant, value) in [
        (&mut c.fetch.load_lines, 4.0),
        (&mut c.fetch.run_lines, 6.0),
        (&mut c.fetch.store_lines, 8.0),
        (&mut c.core.read_line_cycles, 4.0),
        (&mut c.core.copy_line_cycles, 6.0),
        (&mut c.nic.classify_cycles, 40.0),
        (&mut c.pool.cycles, 2.0),
    ] {
        *constant = Constant { value, origin: "assumed: a test".into() };
    }
    s.validate().unwrap();
    s
}

/// What an agent does.
type Body = Box<dyn FnOnce(&mut View)>;

/// A server, what is allocated in it, and agents that have not started.
pub(crate) struct World {
    pub(crate) server: Server,
    pub(crate) space: ModelSpace,
    agents: Vec<(Agent, Body)>,
    /// Cores on the other node.
    far: u32,
    ended: Rc<Cell<usize>>,
    seed: u64,
}

impl World {
    pub(crate) fn new(server: Server) -> World {
        let space = ModelSpace::new().served_by(server.nic.kind).with_nic_memory(server.nic_memory());
        World { server, space, agents: Vec::new(), far: 0, ended: Rc::default(), seed: 1 }
    }

    /// Changes the seed of what is random.
    pub(crate) fn seed(&mut self, seed: u64) {
        self.seed = seed;
    }

    /// `len` entries of `W` words.
    pub(crate) fn words<const W: usize>(&mut self, class: Class, writer: Side, len: u32) -> Words<W> {
        let field =
            Field { name: "test", len, width: W as u32, class, writer, reader: Side::Both, home: Side::Host };
        self.space.words(&field, 0).unwrap()
    }

    /// A word that cores swap and lock.
    pub(crate) fn contended(&mut self) -> Words<1> {
        self.words(Class::Contended, Side::Host, 1)
    }

    /// A doorbell.
    pub(crate) fn bell(&mut self) -> Words<1> {
        self.words(Class::Register(Mapping::Uncached), Side::Host, 1)
    }

    /// `count` buffers as DPDK lays them out.
    pub(crate) fn buffers(&mut self, count: u32) -> PoolId {
        self.space.buffers(&Geometry::dpdk(count)).unwrap()
    }

    /// A table of `lines`.
    pub(crate) fn table(&mut self, lines: u64) -> Table {
        self.space.table("test", lines * 64).unwrap()
    }

    /// Adds an agent; it starts at time 0, in the order of these calls.
    pub(crate) fn agent(&mut self, agent: Agent, body: impl FnOnce(&mut View) + 'static) {
        let ended = self.ended.clone();
        let body = move |m: &mut View| {
            body(m);
            ended.set(ended.get() + 1);
        };
        self.agents.push((agent, Box::new(body)));
    }

    /// A core.
    pub(crate) fn core(&mut self, core: u32, body: impl FnOnce(&mut View) + 'static) {
        self.agent(Agent::Core(core), body);
    }

    /// The receive half of a card.
    pub(crate) fn nic(&mut self, body: impl FnOnce(&mut View) + 'static) {
        self.agent(Agent::NicRx(0), body);
    }

    /// The core that plays the card.
    pub(crate) fn nic_core(&mut self, body: impl FnOnce(&mut View) + 'static) {
        let core = self.server.nic_core().unwrap();
        self.agent(Agent::NicCore(core), body);
    }

    /// A core on the other node that plays the NIC.
    pub(crate) fn far_core(&mut self, body: impl FnOnce(&mut View) + 'static) {
        let core = self.server.all_cores() + self.far;
        self.far += 1;
        self.agent(Agent::NicCore(core), body);
    }

    /// Lets all agents run to their ends, no agent ahead of another; the world afterwards.
    pub(crate) fn run(self) -> Engine {
        self.run_ahead(Ps::ZERO)
    }

    /// As [`run`](Self::run), agents up to `window` ahead.
    pub(crate) fn run_ahead(self, window: Ps) -> Engine {
        let (ended, agents) = (self.ended.clone(), self.agents.len());
        let mut engine = self.start(window);
        engine.run_until(Ps::from_us(10_000_000)).unwrap();
        assert_eq!(ended.get(), agents, "an agent has not come to its end");
        engine
    }

    /// Runs until `done`, looking every 10 us, then stops all agents, which must return when they see
    /// it; the world afterwards. Whoever waits for ever does not end the run.
    pub(crate) fn run_while_not(mut self, done: &Rc<Cell<bool>>) -> Engine {
        const STEP: Ps = Ps::from_us(10);
        self.agent(Agent::NicTx(0), |m| {
            while !m.stopped() {
                let next = m.now() + STEP;
                m.pause(next, false);
            }
        });
        let (ended, agents) = (self.ended.clone(), self.agents.len());
        let mut engine = self.start(Ps::ZERO);
        let mut end = STEP;
        while !done.get() {
            assert!(end < Ps::from_us(100_000), "no end in 100 ms:\n{}", engine.sim().dump());
            engine.run_until(end).unwrap();
            end += STEP;
        }
        engine.stop().unwrap();
        assert_eq!(ended.get(), agents, "an agent did not return when it was told to");
        engine
    }

    /// All agents at their beginning.
    pub(crate) fn start(self, window: Ps) -> Engine {
        let mut sim = Sim::new(&self.server, self.space.finish(), 1, self.seed);
        if self.far > 0 {
            sim = sim.emulated(&self.server, self.far);
        }
        let mut engine = Engine::new(sim, window);
        for (agent, body) in self.agents {
            engine.spawn(agent, body).unwrap();
        }
        engine
    }
}

/// Where an agent leaves a result for the test.
pub(crate) struct Out<T>(Rc<std::cell::RefCell<Vec<T>>>);

impl<T> Clone for Out<T> {
    fn clone(&self) -> Self {
        Out(self.0.clone())
    }
}

impl<T> Default for Out<T> {
    fn default() -> Self {
        Out(Rc::default())
    }
}

impl<T> Out<T> {
    pub(crate) fn push(&self, value: T) {
        self.0.borrow_mut().push(value);
    }

    /// All of them, in order.
    pub(crate) fn all(&self) -> Vec<T> {
        std::mem::take(&mut self.0.borrow_mut())
    }
}
