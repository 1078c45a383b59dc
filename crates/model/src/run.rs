//! One run: build, warm up until rates have settled, measure, drain, account.

mod account;
mod course;
pub(crate) mod error;
pub(crate) mod report;
mod snapshot;
mod tables;
pub(crate) mod transfer;
mod validate;

use core::ops::Range;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use apps::Worker;
use memory::{Ps, Space};
use nic::reorder::{Found, Order};
use nic::{Config, Port, TxConfig, TxPort};
use rings::pool::{self, CoreCache};
use rings::{AnyNic, Nic, tx};

use crate::agents::antagonist::Press;
use crate::agents::book::Book;
use crate::agents::card::{self, SharedPeer};
use crate::agents::emulator::{Emulator, Physical};
use crate::agents::meter::Meter;
use crate::agents::nic_core::{self, Feed, SoftPort};
use crate::agents::plug::Plug;
use crate::agents::pool::{Priced, Spent};
use crate::agents::worker;
use crate::engine::Engine;
use crate::engine::agent::Agent;
use crate::engine::sim::Sim;
use crate::engine::space::ModelSpace;
use crate::engine::view::View;
use crate::machine::layout::{PoolId, Table};
use crate::profile::NicKind;
use crate::scenario::Scenario;
use account::Window;
use course::PATIENCE;
use error::Error;
use report::{Conservation, Report};
use snapshot::Snapshot;
use tables::{Place, Tables};

/// Runs a scenario to its end. The sources are used up.
///
/// # Errors
/// A number of the scenario is not allowed, or nothing can happen any more (with a dump).
pub fn run(s: &mut Scenario) -> Result<Report, Error> {
    validate::scenario(s)?;
    if !s.peers.is_empty() {
        return Err(Error::Scenario("hosts at the far ends of wires end by themselves: a transfer".into()));
    }
    let mut run = Run::build(s)?;
    let (settled, window) = match s.span {
        Some(span) => run.laid_down(s, &span)?,
        None => run.until_settled(s)?,
    };
    run.report(s, &window, settled)
}

/// A run under way.
pub(crate) struct Run {
    pub(crate) engine: Engine,
    pub(crate) book: Book,
    auditor: CoreCache<View>,
    buffers: u64,
    pub(crate) now: Ps,
    pub(crate) warmup: Ps,
    /// Buffers that full rings hold.
    pub(crate) posted: u64,
    /// Frames after which nobody waits for rates to agree any longer.
    pub(crate) patience: u64,
    /// The cores that play the NIC.
    pub(crate) nic_cores: Range<u32>,
}

/// Everything that a scenario allocates before the world exists.
struct Parts {
    buffers: PoolId,
    count: u32,
    tables: Tables,
    ports: Vec<(rings::Port<View>, tx::Port<View>)>,
    /// The physical rings below an emulated NIC, port by port.
    physical: Vec<Physical>,
    /// What the sources of a software NIC read, port by port.
    sources: Vec<Table>,
    caches: Vec<CoreCache<View>>,
}

impl Parts {
    fn build(s: &Scenario, space: &mut ModelSpace) -> Result<Parts, Error> {
        let count = s.pool.map_or(s.buffers_wanted(), u64::from);
        let count =
            u32::try_from(count).map_err(|_| Error::Scenario(format!("{count} buffers are too many")))?;
        let buffers = space.buffers(&s.server.buffers.geometry(count))?;
        let tables = Tables::build(s, space)?;
        let sizes = tx::Sizes { ring: s.tx_ring, ..tx::Sizes::default() };
        let (mut ports, mut physical, mut sources) = (Vec::new(), Vec::new(), Vec::new());
        let kind = if s.emulated { NicKind::Core } else { s.server.nic.kind };
        let mut hosts = 0;
        for &queues in &s.port_cores {
            let interface = s.port(queues);
            let port = rings::build(&mut space.served_by(kind), &interface, queues, buffers)?;
            if s.emulated {
                physical.push(Physical::build(space, &interface, queues, buffers)?);
                hosts += 1; // one more core that takes buffers, to begin with
            }
            let count = port.0.len() as u32;
            hosts += count;
            let tx = tx::build(space, sizes, count)?;
            ports.push((port, tx));
            if s.server.nic_core().is_some() {
                let bytes = u64::from(nic_core::KEPT) * traffic::HEAD as u64;
                sources.push(space.table("source", bytes)?);
            }
        }
        // One more handle, to count what is free at the end.
        let cache = rings::pool::CACHE.min(count);
        let caches = pool::build(space, count, hosts + 1, cache)?;
        Ok(Parts { buffers, count, tables, ports, physical, sources, caches })
    }
}

impl Run {
    pub(crate) fn build(s: &mut Scenario) -> Result<Run, Error> {
        let (posted, nic_cores) = (s.posted_buffers(), s.nic_cores());
        let mut space = ModelSpace::new().served_by(s.server.nic.kind);
        let mut parts = Parts::build(s, &mut space)?;
        let mut ports = std::mem::take(&mut parts.ports);
        ports.iter_mut().for_each(|((_, nic), _)| nic.set_write_back(s.server.write_back()));
        if let [(_, (one, _)), (_, (other, _))] = ports.as_mut_slice()
            && !s.peers.is_empty()
        {
            std::mem::swap(one, other); // a router: what comes from one host goes to the other
        }
        let mut caches = std::mem::take(&mut parts.caches);
        let Some(auditor) = caches.pop() else { return Err(Error::Scenario("no pool".into())) };
        let orders: Vec<Order> =
            if s.overtakes() { s.port_cores.iter().map(|_| Order::default()).collect() } else { Vec::new() };
        let mut layout = space.finish();
        if !orders.is_empty() {
            layout.keep_origins();
        }
        let mut sim = Sim::new(&s.server, layout, s.sampling, s.seed);
        let mut window = s.window;
        if s.emulated {
            sim = sim.emulated(&s.server, nic_cores.len() as u32);
            window = window.min(s.server.emulator_window());
        }
        let mut engine = Engine::new(sim, window);
        let cores = s.server.cores as usize;
        let c = &s.server.constants;
        let (pool_cycles, pool_call) = (c.pool_cycles.value, c.pool_call_cycles.value as u32);
        if s.pauses || !s.peers.is_empty() {
            engine.sim().standstill.pause = s.server.pause();
        }
        let book = Book {
            meter: Rc::new(RefCell::new(Meter::new(cores, s.span.map(|span| span.window()))?)),
            orders: Rc::new(RefCell::new(orders)),
            counters: Rc::new(RefCell::new(BTreeMap::new())),
        };
        let queues = s.port_cores.clone();
        let peers = s.peers.iter().cloned().map(Wire::Host);
        let mut wires = std::mem::take(&mut s.sources).into_iter().map(Wire::Source).chain(peers);
        let mut physical = std::mem::take(&mut parts.physical).into_iter();
        let mut caches = caches.into_iter().peekable();
        let (mut workers, mut soft, mut emulators) = (Vec::new(), Vec::new(), Vec::new());
        let mut first = 0;
        for (p, ((hosts, nic), (host_txs, nic_tx))) in ports.into_iter().enumerate() {
            let Some(wire) = wires.next() else { break };
            let port = Plug { port: p as u32, queues: queues[p] as u16, first, buffers: parts.buffers };
            if let Some(bytes) = parts.sources.get(p) {
                let Wire::Source(source) = wire else { break };
                soft.push(soft_port(s, &port, (nic, nic_tx), Feed::new(source, *bytes)));
            } else if let (Some(rings), Some(cache)) = (physical.next(), caches.next_if(|_| s.emulated)) {
                let (emulator, card) = Emulator::new(s, &port, rings, nic);
                emulators.push((emulator, cache));
                spawn_card(&mut engine, s, &port, (card, nic_tx), wire, &book)?;
            } else {
                spawn_any(&mut engine, s, &port, (nic, nic_tx), wire, &book)?;
            }
            first += queues[p] as usize;
            for (q, (host, tx)) in hosts.into_iter().zip(host_txs).enumerate() {
                let Some(cache) = caches.next() else { break };
                let pool =
                    Priced { pool: cache, cycles: pool_cycles, call: pool_call, spent: Spent::default() };
                let core = first - queues[p] as usize + q;
                let place = Place { core, queue: q as u32, queues: queues[p] };
                let app = parts.tables.app(s, &book.meter, place)?;
                let worker = Worker::new(host, tx, pool, parts.buffers, app, s.burst as usize);
                workers.push((q >= queues[p] as usize, worker));
            }
        }
        if let Some(core) = s.server.nic_core() {
            let book = book.clone();
            engine.spawn(Agent::NicCore(core), move |m| nic_core::serve(m, soft, &book))?;
        }
        for (core, (emulator, cache)) in nic_cores.clone().zip(emulators) {
            let book = book.clone();
            engine.spawn(Agent::NicCore(core), move |m| emulator.serve(m, cache, &book))?;
        }
        for thread in 0..s.antagonist.map_or(0, |a| a.threads) {
            let Some(press) = s.antagonist.map(|a| Press::new(a.kind, &s.server.constants)) else { break };
            engine.spawn(Agent::Antagonist(thread), move |m| press.work(m))?;
        }
        // Receiving cores first, in the order of their queues; then those that only allocate.
        workers.sort_by_key(|(allocates, _)| *allocates);
        for (core, (_, worker)) in workers.into_iter().enumerate() {
            let book = book.clone();
            engine.spawn(Agent::Core(core as u32), move |m| worker::work(m, core, worker, &book))?;
        }
        Ok(Run {
            engine,
            book,
            auditor,
            buffers: u64::from(parts.count),
            now: Ps::ZERO,
            warmup: Ps::ZERO,
            posted,
            patience: PATIENCE,
            nic_cores,
        })
    }

    pub(crate) fn advance(&mut self, span: Ps) -> Result<(), Error> {
        self.now += span;
        Ok(self.engine.run_until(self.now)?)
    }

    pub(crate) fn snapshot(&mut self) -> Snapshot {
        Snapshot::take(self.now.0, &self.book.meter.borrow(), self.engine.sim())
    }

    /// The order in which frames left, of all ports; none where cores have rings of their own.
    pub(crate) fn reordering(&self) -> Option<Found> {
        let mut all: Option<Found> = None;
        for order in self.book.orders.borrow().iter() {
            all.get_or_insert_default().add(order.found());
        }
        all
    }

    pub(crate) fn report(mut self, s: &Scenario, window: &Window, settled: bool) -> Result<Report, Error> {
        let conservation = self.finish()?;
        let counters = self.book.counters.borrow().clone();
        let meter = self.book.meter.borrow();
        Ok(account::report(s, window, &meter, conservation, counters, settled))
    }

    fn finish(&mut self) -> Result<Conservation, Error> {
        self.engine.stop()?;
        let mut view = self.engine.set_up(Agent::Core(0));
        let buffers_free = self.auditor.available(&mut view);
        let meter = self.book.meter.borrow();
        let delivered: u64 = meter.fates.iter().map(|f| f[rings::Outcome::Delivered as usize]).sum();
        let all: u64 = meter.fates.iter().flatten().sum();
        let in_nic = meter.in_nic + meter.passing;
        Ok(Conservation {
            offered: all + in_nic,
            delivered,
            dropped: all - delivered,
            in_nic,
            buffers: self.buffers,
            buffers_free,
        })
    }
}

/// What is at the far end of a port's wire.
enum Wire {
    Source(Box<dyn traffic::Source>),
    Host(SharedPeer),
}

/// The card of whichever interface, told apart once and not frame by frame.
fn spawn_any(
    engine: &mut Engine,
    s: &Scenario,
    plug: &Plug,
    (nic, tx): (AnyNic<View>, tx::NicTx<View>),
    wire: Wire,
    book: &Book,
) -> Result<(), Error> {
    match nic {
        AnyNic::PrivRing(nic) => spawn_card(engine, s, plug, (nic, tx), wire, book),
        AnyNic::ShRing(nic) => spawn_card(engine, s, plug, (nic, tx), wire, book),
        AnyNic::RxBisect(nic) => spawn_card(engine, s, plug, (nic, tx), wire, book),
        AnyNic::Dynamic(nic) => spawn_card(engine, s, plug, (nic, tx), wire, book),
        AnyNic::DdRing(nic) => spawn_card(engine, s, plug, (nic, tx), wire, book),
    }
}

fn spawn_card<R: Nic<View> + 'static>(
    engine: &mut Engine,
    s: &Scenario,
    plug: &Plug,
    (nic, mut nic_tx): (R, tx::NicTx<View>),
    wire: Wire,
    book: &Book,
) -> Result<(), Error> {
    let c = &s.server.constants;
    let rate_bps = (s.server.nic.port_gbps * 1e9) as u64;
    let buffer_bytes = (c.nic_buffer_kib.value * 1024.0) as u32;
    let max_frame = s.server.buffers.room;
    let pipeline_pps = (c.nic_mpps.value * 1e6) as u64;
    let config = Config { rate_bps, pipeline_pps, buffer_bytes, max_frame };
    let port = Port::new(nic, s.steer.over(plug.queues), plug.queues, config);
    let queue_bps = (c.tx_queue_gbps.value * 1e9) as u64;
    for q in 0..plug.queues {
        nic_tx.limit(q, (queue_bps > 0).then_some(queue_bps));
    }
    let way = if s.server.nic.remote { c.remote_ns.value } else { 0.0 };
    let extra = ((c.pcie_read_ns.value + way + c.generator_us.value * 1e3) * 1e3) as u64;
    let (first, emulated) = (plug.first, s.emulated);
    let (rx_book, tx_book) = (book.clone(), book.clone());
    let from = (plug.port, plug.first);
    let config = TxConfig { rate_bps, head: 0, ..TxConfig::default() };
    let (to, config) = match wire {
        Wire::Source(source) => {
            let to = (first, emulated);
            engine.spawn(Agent::NicRx(plug.port), move |m| card::receive(m, port, source, to, &rx_book))?;
            ((plug.buffers, None), config)
        }
        Wire::Host(host) => {
            let to = (plug.buffers, Some(host.clone()));
            engine.spawn(Agent::NicRx(plug.port), move |m| {
                card::receive_from_peer(m, port, &host, first, &rx_book)
            })?;
            (to, TxConfig { head: nic::HEAD, ..config })
        }
    };
    engine.spawn(Agent::NicTx(plug.port), move |m| {
        card::transmit(m, nic_tx, to, config, from, extra, &tx_book);
    })?;
    Ok(())
}

/// A port of a software NIC: nothing is paced.
fn soft_port(
    s: &Scenario,
    plug: &Plug,
    (nic, nic_tx): (rings::AnyNic<View>, tx::NicTx<View>),
    feed: Feed,
) -> SoftPort {
    let config = Config { rate_bps: 0, max_frame: s.server.buffers.room, ..Config::default() };
    let sent = TxConfig { rate_bps: 0, ahead: Ps::ZERO, head: 0 };
    SoftPort {
        rx: Port::new(nic, s.steer.over(plug.queues), plug.queues, config),
        tx: TxPort::new(nic_tx, plug.buffers, sent),
        buffers: plug.buffers,
        feed,
        first: plug.first,
        cycles: s.server.constants.classify_cycles.value as u32,
        burst: Vec::new(),
    }
}
