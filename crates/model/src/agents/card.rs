//! A card: its receive half and its transmit half, an agent each.

use std::cell::RefCell;
use std::rc::Rc;

use memory::{Memory, Ps};
use nic::{Port, Sent, TxConfig, TxPort};
use rings::{Nic, Outcome, TxNic};
use traffic::{Arrival, Peer, Source};

use super::book::Book;
use super::host_cc::HostCc;
use super::plug::Plug;
use super::rules::Paced;
use crate::engine::view::View;
use crate::mix::mix;

/// A host that both halves of its port's card talk to.
pub(crate) type SharedPeer = Rc<RefCell<dyn Peer>>;

/// What is at the other end of a port's wire.
pub(crate) enum Wire {
    Source(Box<dyn Source>),
    Peer(SharedPeer),
}

/// The receive half: every frame of `source`, at its time. `first` is the core of queue 0. What it stores
/// for an emulated NIC is not decided on yet. `tables` pace what is looked up.
pub(crate) fn receive<R: Nic<View>>(
    m: &mut View,
    mut port: Port<R>,
    mut tables: impl Paced,
    mut source: Box<dyn Source>,
    first: usize,
    emulated: bool,
    book: &Book,
) {
    let mut a = Arrival::EMPTY;
    while !m.stopped() && source.next(&mut a) {
        m.next_frame();
        if let Some(pace) = tables.pace() {
            port.set_pace(pace);
        }
        take(m, &mut port, &a, first, emulated, book);
    }
    while !m.stopped() {
        // The source has ended: only batched notices are left to send.
        match port.nic_mut().poll(m) {
            Some(due) => m.pause(due, true),
            None => m.idle(),
        }
    }
    book.meter.borrow_mut().left(first, source.as_mut());
    end(m, port, book);
}

/// The receive half of a card whose wire leads to `peer`. `first` is the core of queue 0.
pub(crate) fn receive_from_peer<R: Nic<View>>(
    m: &mut View,
    mut port: Port<R>,
    peer: &SharedPeer,
    first: usize,
    book: &Book,
) {
    let delay = peer.borrow().delay();
    let mut host = peer.borrow().watches().map(|period| HostCc::new(m, period));
    let mut a = Arrival::EMPTY;
    while !m.stopped() {
        // No other agent is behind by more than the window: what has not been sent by then comes later, and
        // changes nothing here before the host has dealt with it.
        m.chain();
        let known = (m.now().0 + delay).saturating_sub(m.window().0);
        let sends = peer.borrow_mut().next(known, &mut a);
        if sends {
            let (queue, outcome) = take(m, &mut port, &a, first, false, book);
            let marked = host.as_mut().is_some_and(|host| host.is_congested(m));
            let marked = marked || port.nic().is_congested(queue);
            peer.borrow_mut().met(m.now().0, a.at, outcome == Outcome::Delivered, marked);
        } else {
            port.rest(m, Ps(known));
        }
    }
    book.add(peer.borrow().counters());
    end(m, port, book);
}

/// A frame comes: it is stored, or dropped. Its queue and its fate.
#[inline(always)]
fn take<R: Nic<View>>(
    m: &mut View,
    port: &mut Port<R>,
    a: &Arrival,
    first: usize,
    emulated: bool,
    book: &Book,
) -> (u16, Outcome) {
    m.set_stamp(Ps(a.at));
    if !book.orders.borrow().is_empty() {
        m.number_next(name_of(a.flow));
    }
    {
        let mut meter = book.meter.borrow_mut();
        meter.offer(first, a.at, a.len);
        meter.in_nic += 1;
    }
    let frame = nic::Arrival { at: Ps(a.at), head: known(a), len: u32::from(a.len), flow: a.flow };
    let (queue, outcome) = port.receive(m, &frame);
    let mut meter = book.meter.borrow_mut();
    meter.in_nic -= 1;
    if emulated && outcome == Outcome::Delivered {
        meter.passing += 1;
    } else {
        meter.fates.count(first + usize::from(queue), outcome);
    }
    (queue, outcome)
}

/// The receive half ends.
fn end<R: Nic<View>>(m: &mut View, mut port: Port<R>, book: &Book) {
    // Cores drain after every card has stopped: cards were spawned first.
    port.nic_mut().stop(m);
    book.add(port.nic().counters());
}

/// The name of a flow for those who judge order.
fn name_of(flow: u32) -> Option<u64> {
    (flow != 0).then(|| mix(flow.into()))
}

/// The transmit half, which sees frames in the order in which the card sends them. `extra` is what a latency
/// has beside the time on the card, ps. `peer` gets the frames, where there is one.
pub(crate) fn transmit<T: TxNic<View>>(
    m: &mut View,
    tx: T,
    plug: Plug,
    peer: Option<SharedPeer>,
    config: TxConfig,
    extra: u64,
    book: &Book,
) {
    let buffers = plug.buffers;
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
            if let Some(peer) = &peer {
                peer.borrow_mut().answered(at.0, came.0);
            }
            book.meter.borrow_mut().send(plug.first, len, at.saturating_sub(came).0 + extra);
            if let Some(origin) = m.origin(buffers, buf)
                && let Some(order) = book.orders.borrow_mut().get_mut(plug.port as usize)
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
