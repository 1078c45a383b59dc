//! The card of a port, from the numbers of its server: two agents, or a part of the core that plays it.

use memory::Ps;
use nic::{Config, Port, TxConfig, TxPort};
use rings::{AnyNic, AnyTxNic, Nic, TxNic, WithNic, WithTxNic};

use super::error::Error;
use crate::agents::book::Book;
use crate::agents::card::{self, SharedPeer, Wire};
use crate::agents::nic_core::{Feed, SoftPort};
use crate::agents::plug::Plug;
use crate::agents::rules::{Installed, Tables};
use crate::classifier::LookUp;
use crate::engine::Engine;
use crate::engine::agent::Agent;
use crate::engine::view::View;
use crate::scenario::Scenario;

/// The card of whichever interface, told apart once and not frame by frame.
pub(super) fn spawn_any(
    engine: &mut Engine,
    s: &Scenario,
    plug: Plug,
    (nic, tx): (AnyNic<View>, AnyTxNic<View>),
    wire: Wire,
    (installed, book): (&Installed, &Book),
) -> Result<(), Error> {
    nic.with(Spawned { engine, s, plug, tx, wire, installed, book })
}

/// A card that has all but its receive half.
struct Spawned<'a> {
    engine: &'a mut Engine,
    s: &'a Scenario,
    plug: Plug,
    tx: AnyTxNic<View>,
    wire: Wire,
    installed: &'a Installed,
    book: &'a Book,
}

impl WithNic<View> for Spawned<'_> {
    type Out = Result<(), Error>;

    fn with<N: Nic<View> + 'static>(self, nic: N) -> Result<(), Error> {
        spawn(self.engine, self.s, self.plug, (nic, self.tx), self.wire, (self.installed, self.book))
    }
}

/// A card: its receive half and its transmit half.
pub(super) fn spawn<R: Nic<View> + 'static>(
    engine: &mut Engine,
    s: &Scenario,
    plug: Plug,
    (nic, mut nic_tx): (R, AnyTxNic<View>),
    wire: Wire,
    (installed, book): (&Installed, &Book),
) -> Result<(), Error> {
    let look_up = look_up(s);
    let config = receiving(s, look_up.as_ref());
    let least = Ps(1_000_000_000_000_u64.checked_div(config.pipeline_pps).unwrap_or(0));
    let port = Port::new(nic, s.steer.over(plug.queues), config);
    let (rx_book, tx_book) = (book.clone(), book.clone());
    let emulated = s.emulated;
    let peer = match wire {
        Wire::Source(source) => {
            let (rx, first) = (Agent::NicRx(plug.port), plug.first);
            match look_up {
                None => engine.spawn(rx, move |m: &mut View| {
                    card::receive(m, port, (), source, first, emulated, &rx_book);
                }),
                Some(look_up) => {
                    let tables = Tables::new(look_up, least, installed.clone());
                    engine.spawn(rx, move |m: &mut View| {
                        card::receive(m, port, tables, source, first, emulated, &rx_book);
                    })
                }
            }?;
            None
        }
        Wire::Peer(peer) => {
            let host = peer.clone();
            let body = move |m: &mut View| card::receive_from_peer(m, port, &host, plug.first, &rx_book);
            engine.spawn(Agent::NicRx(plug.port), body)?;
            Some(peer)
        }
    };
    let queue_bps = (s.server.constants.nic.tx_queue_gbps.value * 1e9) as u64;
    for q in 0..plug.queues {
        nic_tx.limit(q, (queue_bps > 0).then_some(queue_bps));
    }
    nic_tx.with(Sending { engine, s, plug, peer, book: tx_book })
}

/// A card that has all but its transmit half.
struct Sending<'a> {
    engine: &'a mut Engine,
    s: &'a Scenario,
    plug: Plug,
    peer: Option<SharedPeer>,
    book: Book,
}

impl WithTxNic<View> for Sending<'_> {
    type Out = Result<(), Error>;

    fn with<T: TxNic<View> + 'static>(self, tx: T) -> Result<(), Error> {
        let Sending { engine, s, plug, peer, book } = self;
        let head = if peer.is_some() { nic::HEAD } else { 0 };
        let config = TxConfig { rate_bps: rate_bps(s), head, ..TxConfig::default() };
        let extra = beside_the_card(s);
        engine.spawn(Agent::NicTx(plug.port), move |m| {
            card::transmit(m, tx, plug, peer, config, extra, &book);
        })?;
        Ok(())
    }
}

/// Rate of a port.
fn rate_bps(s: &Scenario) -> u64 {
    (s.server.nic.port_gbps * 1e9) as u64
}

/// Look-ups in the tables of a card, where rules lie in any.
fn look_up(s: &Scenario) -> Option<LookUp> {
    let rules = s.rules.as_ref()?;
    Some(LookUp::new(s.server.tables()?, rules.place, rules.flows))
}

/// What the receive half of a card keeps to. Frames that wait for a look-up have a buffer of their own.
fn receiving(s: &Scenario, look_up: Option<&LookUp>) -> Config {
    let c = &s.server.constants;
    let buffer = || (c.nic.buffer_kib.value * 1024.0) as u32;
    Config {
        rate_bps: rate_bps(s),
        pipeline_pps: (c.nic.mpps.value * 1e6) as u64,
        buffer_bytes: look_up.map_or_else(buffer, LookUp::buffer),
        max_frame: s.server.buffers.room,
    }
}

/// What a latency has beside the time on the card: the read of the payload and the load generator, ps.
fn beside_the_card(s: &Scenario) -> u64 {
    let c = &s.server.constants;
    let way = if s.server.nic.remote { c.interconnect.remote_ns.value } else { 0.0 };
    ((c.pcie.read_ns.value + way + c.generator.latency_us.value * 1e3) * 1e3) as u64
}

/// A port of a software NIC: nothing is paced.
pub(super) fn soft_port(
    s: &Scenario,
    plug: Plug,
    (nic, nic_tx): (AnyNic<View>, AnyTxNic<View>),
    feed: Feed,
) -> SoftPort {
    let config = Config { rate_bps: 0, max_frame: s.server.buffers.room, ..Config::default() };
    let sent = TxConfig { rate_bps: 0, ahead: Ps::ZERO, head: 0 };
    SoftPort {
        rx: Port::new(nic, s.steer.over(plug.queues), config),
        tx: TxPort::new(nic_tx, plug.buffers, sent),
        plug,
        feed,
        cycles: s.server.constants.nic.classify_cycles.value as u32,
        burst: Vec::new(),
    }
}
