//! The bodies of the agents: a card's receive half, its transmit half, a core.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use apps::table::Key;
use apps::{Cause, Worker};
use memory::{Memory, Ps};
use nic::reorder::Order;
use nic::{Port, Sent, TxConfig, TxPort};
use rings::{AnyHost, Nic, Outcome, tx};
use traffic::{Arrival, Source};

use crate::app::ModelApp;
use crate::meter::Meter;
use crate::peer::Far;
use crate::pool::Priced;
use crate::space::PoolId;
use crate::view::View;

/// What the agents of one run write down together.
#[derive(Clone)]
pub(crate) struct Book {
    pub meter: Rc<RefCell<Meter>>,
    /// Judges of the order of frames, port by port; none where cores have rings of their own.
    pub orders: Rc<RefCell<Vec<Order>>>,
    /// Named counters of rings and pools, summed when an agent ends.
    pub counters: Rc<RefCell<BTreeMap<&'static str, u64>>>,
}

impl Book {
    pub(crate) fn add(&self, named: Vec<(&'static str, u64)>) {
        let mut counters = self.counters.borrow_mut();
        for (name, n) in named {
            *counters.entry(name).or_default() += n;
        }
    }
}

/// The receive half: every frame of `source`, at its time. `first` is the core of queue 0. What it stores
/// for an emulated NIC is not decided on yet.
pub(crate) fn receive<R: Nic<View>>(
    m: &mut View,
    mut port: Port<R>,
    mut source: Box<dyn Source>,
    to: (usize, bool),
    book: &Book,
) {
    let mut a = Arrival::EMPTY;
    while !m.stopped() && source.next(&mut a) {
        m.next_frame();
        take(m, &mut port, &a, to, book);
    }
    while !m.stopped() {
        // The source has ended: only batched notices are left to send.
        match port.nic_mut().poll(m) {
            Some(due) => m.pause(due, true),
            None => m.idle(),
        }
    }
    book.meter.borrow_mut().left(to.0, source.as_mut());
    end(m, port, book);
}

/// A frame comes: it is stored, or dropped.
#[inline(always)]
pub(crate) fn take<R: Nic<View>>(
    m: &mut View,
    port: &mut Port<R>,
    a: &Arrival,
    (first, emulated): (usize, bool),
    book: &Book,
) {
    m.set_stamp(Ps(a.at));
    if !book.orders.borrow().is_empty() {
        m.number_next(flow(known(a)));
    }
    {
        let mut meter = book.meter.borrow_mut();
        meter.offer(first, a.at, a.len);
        meter.in_nic += 1;
    }
    let frame = nic::Arrival { at: Ps(a.at), head: known(a), len: u32::from(a.len) };
    let (queue, outcome) = port.receive(m, &frame);
    let mut meter = book.meter.borrow_mut();
    meter.in_nic -= 1;
    if emulated && outcome == Outcome::Delivered {
        meter.passing += 1;
    } else {
        meter.fates[first + usize::from(queue)][outcome as usize] += 1;
    }
}

/// The receive half ends.
pub(crate) fn end<R: Nic<View>>(m: &mut View, mut port: Port<R>, book: &Book) {
    // Cores drain after every card has stopped: cards were spawned first.
    port.nic_mut().stop(m);
    book.add(port.nic().counters());
}

/// The name of a frame's flow: its 5-tuple.
fn flow(head: &[u8]) -> Option<u64> {
    let parsed = packet::parse(head);
    let ports = *parsed.ports(head).unwrap_or(&[0; 4]);
    Some(Key::new(parsed.addresses(head)?, ports, parsed.proto)?.hash())
}

/// The transmit half, which sees frames in the order in which the card sends them. `extra` is what a latency
/// has beside the time on the card: the read of the payload and the load generator, ps; `number` is the
/// port's, `first` the core of its queue 0. `peer` gets the frames, where there is one.
pub(crate) fn transmit(
    m: &mut View,
    tx: tx::NicTx<View>,
    (buffers, peer): (PoolId, Option<Far>),
    config: TxConfig,
    (number, first): (u32, usize),
    extra: u64,
    book: &Book,
) {
    let mut port = TxPort::new(tx, buffers, config);
    while !m.stopped() {
        m.next_frame();
        let mut sent = None;
        let arrives = |s: Sent<'_>| {
            if let Some(peer) = &peer {
                peer.borrow_mut().take(s.at.0, s.head);
            }
            sent = Some((s.buf, s.len, s.at));
        };
        if !port.send(m, arrives) {
            port.idle(m);
        } else if let Some((buf, len, at)) = sent {
            let came = m.stamp(buffers, buf);
            book.meter.borrow_mut().send(first, len, at.saturating_sub(came).0 + extra);
            if let Some(origin) = m.origin(buffers, buf)
                && let Some(order) = book.orders.borrow_mut().get_mut(number as usize)
            {
                order.see(origin.number, origin.flow, at);
            }
        }
    }
    book.add(vec![("tx_faults", port.faults())]);
}

/// The bytes of a frame that its source knows; the rest is zeros.
pub(crate) fn known(a: &Arrival) -> &[u8] {
    &a.bytes()[..usize::from(a.head_len).min(a.bytes().len())]
}

/// A core's worker over the modelled memory.
pub(crate) type ModelWorker = Worker<View, AnyHost<View>, Priced, ModelApp>;

/// A core: polls until the run is over, then drains its rings.
pub(crate) fn work(m: &mut View, core: usize, mut worker: ModelWorker, book: &Book) {
    worker.fill(m);
    m.received(false, Ps::ZERO); // from now on it is one of those who keep up
    while !m.stopped() {
        let began = m.now();
        let n = worker.poll(m);
        let took = m.now().saturating_sub(began);
        m.received(n == worker.burst(), took);
        let done = worker.counters();
        let spent = worker.pool_mut().spent;
        let g = &mut m.sim().gauges[core];
        (g.taking, g.giving) = (spent.taking, spent.giving);
        g.received = done.received;
        g.tx_filled = u64::from(worker.tx().filled());
        g.tx_full = done.tx_full;
        let drops = Cause::ALL.iter().filter(|c| **c != Cause::Consumed);
        g.app_drops = drops.map(|c| done.app.of(*c)).sum();
        if n == 0 {
            m.idle();
        }
    }
    worker.stop(m);
    worker.pool_mut().pool.flush(m);
    book.add(rings::Host::counters(worker.host()));
    book.add(worker.pool_mut().pool.counters());
}
