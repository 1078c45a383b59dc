//! How a run is built: what it allocates, then its agents in the order of their numbers. Of what happens at one time,
//! the agent with the smaller number is first: cards, cores that play a NIC, antagonists, cores that receive.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use apps::Worker;
use memory::Ps;
use nic::reorder::Order;
use rings::pool::CoreCache;
use rings::{AnyHost, AnyTxHost};
use traffic::{Late, Source};

use super::Run;
use super::allocated::{Allocated, PortRings};
use super::cards;
use super::error::Error;
use super::tables::{Seat, Tables};
use crate::agents::antagonist::Press;
use crate::agents::book::Book;
use crate::agents::bypass::{self, Region};
use crate::agents::card::Wire;
use crate::agents::emulator::Emulator;
use crate::agents::files;
use crate::agents::meter::Meter;
use crate::agents::nic_core::{self, Feed, SoftPort};
use crate::agents::plug::Plug;
use crate::agents::pool::{Priced, Spent};
use crate::agents::rules::{Inserts, Installed};
use crate::agents::worker::{self, ModelWorker};
use crate::classifier::{Kind, Operations};
use crate::engine::Engine;
use crate::engine::agent::Agent;
use crate::engine::sim::Sim;
use crate::engine::space::ModelSpace;
use crate::engine::view::View;
use crate::machine::layout::Layout;
use crate::scenario::Scenario;
use crate::scenario::rules::RuleCore;

impl Run {
    pub(super) fn build(s: &mut Scenario) -> Result<Run, Error> {
        if s.interface.card_bytes() > 0 {
            s.server.keep_frames()?;
        }
        let credits = lend(s);
        let peers = s.peers.iter().cloned().map(Wire::Peer);
        let late = s.span.map_or(Ps::ZERO, |span| span.late);
        let source = |source: Box<dyn Source>| -> Box<dyn Source> {
            if late > Ps::ZERO { Box::new(Late::new(source, late.0)) } else { source }
        };
        let wires = std::mem::take(&mut s.sources).into_iter().map(source).map(Wire::Source).chain(peers);
        let s = &*s;
        let mut space = ModelSpace::new().served_by(s.server.nic.kind).with_nic_memory(s.server.nic_memory());
        let Allocated { buffers, count, tables, ports, mut caches, regions } = Allocated::new(s, &mut space)?;
        let Some(auditor) = caches.pop() else { return Err(Error::Scenario("no pool".into())) };
        let mut crew = Crew {
            engine: engine(s, space.finish()),
            book: book(s)?,
            s,
            tables,
            caches: caches.into_iter(),
            soft: Vec::new(),
            emulators: Vec::new(),
            workers: Vec::new(),
            installed: Rc::new(Cell::new(s.rules.map_or(0, |rules| rules.installed))),
        };
        let mut first = 0;
        for (port, (rings, wire)) in ports.into_iter().zip(wires).enumerate() {
            let queues = s.port_cores[port] as u16;
            crew.port(Plug { port: port as u32, queues, first, buffers }, rings, wire)?;
            first += usize::from(queues);
        }
        crew.bypass(&regions, credits)?;
        let (engine, book) = crew.start(&regions)?;
        Ok(Run {
            engine,
            book,
            auditor,
            buffers: u64::from(count),
            now: Ps::ZERO,
            warmup: Ps::ZERO,
            posted: s.posted_buffers(),
            nic_cores: s.nic_cores(),
        })
    }
}

/// Where a card has credits: what a flow gets that no core receives and that keeps its share. The receive queues have so
/// much less.
fn lend(s: &mut Scenario) -> Option<u32> {
    let queues = s.port_cores.first().copied().unwrap_or(1);
    let kept = s.bypass.iter().filter(|flow| flow.port == 0 && flow.keeps_credits).count() as u32;
    let rings::Interface::Ceio(sizes) = &mut s.setting.interface else { return None };
    let each = sizes.credits / (queues * sizes.flows + kept);
    sizes.credits -= each * kept;
    Some(each)
}

/// The simulation of what has been allocated, without agents.
fn engine(s: &Scenario, mut layout: Layout) -> Engine {
    if s.overtakes() {
        layout.keep_origins();
    }
    let mut sim = Sim::new(&s.server, layout, s.sampling, s.seed);
    let mut window = s.window;
    if s.emulated {
        sim = sim.emulated(&s.server, s.nic_cores().len() as u32);
        window = window.min(s.server.emulator_window());
    }
    if s.pauses || s.peers.iter().any(|peer| !peer.borrow().is_endless()) {
        sim.standstill.pause = s.server.pause();
    }
    Engine::new(sim, window)
}

/// An empty book, with judges of the order of frames where they may overtake.
fn book(s: &Scenario) -> Result<Book, Error> {
    let orders: Vec<Order> =
        if s.overtakes() { s.port_cores.iter().map(|_| Order::default()).collect() } else { Vec::new() };
    let meter = Meter::new(s.server.cores as usize, s.span.map(|span| span.window()))?;
    Ok(Book {
        meter: Rc::new(RefCell::new(meter)),
        orders: Rc::new(RefCell::new(orders)),
        counters: Rc::default(),
    })
}

/// The agents of a run. Cards start with their ports, the others behind them.
struct Crew<'a> {
    s: &'a Scenario,
    engine: Engine,
    book: Book,
    tables: Tables,
    caches: std::vec::IntoIter<CoreCache<View>>,
    /// Ports of the core that plays the card.
    soft: Vec<SoftPort>,
    /// Cores that play the NIC of a port, with their handles of the pool.
    emulators: Vec<(Emulator, CoreCache<View>)>,
    /// Cores, each with whether it only allocates.
    workers: Vec<(bool, ModelWorker)>,
    /// Rules of the cards.
    installed: Installed,
}

impl Crew<'_> {
    /// Adds a port: what plays its NIC, and its cores.
    fn port(&mut self, plug: Plug, rings: PortRings, wire: Wire) -> Result<(), Error> {
        let PortRings { hosts, nic, host_txs, nic_tx, physical, source: bytes } = rings;
        if let Some(bytes) = bytes {
            let Wire::Source(source) = wire else { return Ok(()) };
            self.soft.push(cards::soft_port(self.s, plug, (nic, nic_tx), Feed::new(source, bytes)));
        } else if let Some(physical) = physical {
            let Some(cache) = self.caches.next() else { return Ok(()) };
            let (emulator, card) = Emulator::new(self.s, plug, physical, nic);
            self.emulators.push((emulator, cache));
            let shared = (&self.installed, &self.book);
            cards::spawn(&mut self.engine, self.s, plug, (card, nic_tx), wire, shared)?;
        } else {
            let shared = (&self.installed, &self.book);
            cards::spawn_any(&mut self.engine, self.s, plug, (nic, nic_tx), wire, shared)?;
        }
        self.cores(&plug, hosts.into_iter().zip(host_txs))
    }

    /// Adds the cores of a port.
    fn cores(
        &mut self,
        plug: &Plug,
        hosts: impl Iterator<Item = (AnyHost<View>, AnyTxHost<View>)>,
    ) -> Result<(), Error> {
        let c = &self.s.server.constants;
        for (q, (host, tx)) in hosts.enumerate() {
            let Some(cache) = self.caches.next() else { break };
            let pool = Priced {
                pool: cache,
                cycles: c.pool.cycles.value,
                call: c.pool.call_cycles.value as u32,
                spent: Spent::default(),
            };
            let seat = Seat { core: plug.first + q, queue: q as u32, queues: plug.queues.into() };
            let app = self.tables.app(self.s, &self.book.meter, seat, plug.buffers)?;
            let worker = Worker::new(host, tx, pool, plug.buffers, app, self.s.burst as usize);
            self.workers.push((q >= usize::from(plug.queues), worker));
        }
        Ok(())
    }

    /// Starts the flows that no core receives, behind all cards.
    fn bypass(&mut self, regions: &[Region], credits: Option<u32>) -> Result<(), Error> {
        let buffer = self.s.server.constants.nic.buffer_kib.value * 1024.0;
        for (flow, region) in self.s.bypass.iter().copied().zip(regions.iter().copied()) {
            let (me, book) = (Agent::Bypass(flow.port), self.book.clone());
            let credits = credits.map(|each| if flow.keeps_credits { each } else { 0 });
            let write = move |m: &mut View| bypass::work(m, flow, region, (buffer, credits), &book);
            self.engine.spawn(me, write)?;
            if let Some(files) = region.files {
                let book = self.book.clone();
                self.engine.spawn(me, move |m| files::replicate(m, flow, files, &book))?;
            }
        }
        Ok(())
    }

    /// Who changes the rules, where somebody does.
    fn inserts(&self) -> Option<(RuleCore, Inserts)> {
        let rules = self.s.rules?;
        let updates = rules.updates?;
        let operations = Operations::new(self.s.server.tables()?, rules.place, Kind::CONNECTION);
        let inserts = Inserts::new(operations, self.installed.clone(), updates, self.s.server.ghz);
        Some((updates.core, inserts))
    }

    /// Starts all that are not cards.
    fn start(mut self, regions: &[Region]) -> Result<(Engine, Book), Error> {
        let (mut mine, mut other) = match self.inserts() {
            Some((RuleCore::Same, inserts)) => (Some(inserts), None),
            Some((RuleCore::Other, inserts)) => (None, Some(inserts)),
            None => (None, None),
        };
        let (s, engine) = (self.s, &mut self.engine);
        if let Some(core) = s.server.nic_core() {
            let (soft, book) = (self.soft, self.book.clone());
            engine.spawn(Agent::NicCore(core), move |m| nic_core::serve(m, soft, &book))?;
        }
        for (core, (emulator, cache)) in s.nic_cores().zip(self.emulators) {
            let book = self.book.clone();
            engine.spawn(Agent::NicCore(core), move |m| emulator.serve(m, cache, &book))?;
        }
        for thread in 0..s.antagonist.map_or(0, |a| a.threads) {
            let Some(press) = s.antagonist.map(|a| Press::new(a.kind, &s.server.constants)) else { break };
            engine.spawn(Agent::Antagonist(thread), move |m| press.work(m))?;
        }
        // Receiving cores first, in the order of their queues; then those that only allocate.
        self.workers.sort_by_key(|(allocates, _)| *allocates);
        for (core, (_, worker)) in self.workers.into_iter().enumerate() {
            let (me, book) = (Agent::Core(core as u32), self.book.clone());
            match mine.take() {
                None => engine.spawn(me, move |m| worker::work(m, core, worker, (), &book)),
                Some(inserts) => engine.spawn(me, move |m| worker::work(m, core, worker, inserts, &book)),
            }?;
        }
        // Behind them those that take files, a core for each flow.
        let flows = s.bypass.iter().copied().zip(regions.iter().copied());
        let files = flows.filter_map(|(flow, region)| Some((flow, region, region.files?)));
        for (core, (flow, region, files)) in (s.hosts() as u32..).zip(files) {
            let (tables, book) = ([region.data, region.completions], self.book.clone());
            engine.spawn(Agent::Core(core), move |m| files::work(m, flow, tables, files, &book))?;
        }
        if let Some(inserts) = other.take() {
            let book = self.book.clone();
            engine.spawn(Agent::Rules, move |m| inserts.work(m, &book))?;
        }
        Ok((self.engine, self.book))
    }
}
