//! The NIC half of a port: what the NIC core does with it in one turn.

mod burst;
pub(crate) mod events;
mod flight;
pub(crate) mod levels;
mod near;
pub(crate) mod pipeline;
mod receive;
pub(crate) mod rings;
mod scatter;
pub(crate) mod shared;
pub(crate) mod tags;
mod transmit;
pub(crate) mod vlans;

use std::sync::Arc;

use memory::{Memory, Ps};
use nic::{Checks, Filter, Pace};
use packet::Rss;

use crate::args::{Args, Source};
use crate::counters::Counters;
use crate::error::Error;
use crate::flows::Flows;
use crate::lower::Lower;
use crate::stock::Stock;
use events::Events;
use flight::Flight;
use near::Near;
use rings::Rings;
use shared::SharedEngine;
use tags::Tags;
use vlans::Vlans;

/// The far end of a port's wire.
pub(crate) enum Far {
    /// The port itself.
    Own,
    /// Nobody: frames come from a stock, and what is sent is gone.
    Stock(Stock),
    /// Another port of this driver, if it is there.
    Peer(Option<Arc<SharedEngine>>),
    /// A DPDK port, if it is there.
    Lower(Option<Lower>),
}

/// A port's NIC half.
pub(crate) struct Engine {
    /// Whether the NIC core serves it.
    running: bool,
    near: Near,
    flight: Flight,
    far: Far,
    /// Of cores that sleep, between start and reset.
    events: Option<Events>,
    rx_wire: Pace,
    tx_wire: Pace,
}

/// What a port can take from a peer.
enum Taken {
    /// It is not served now: the frames are lost on the wire.
    Down,
    /// So many, from the first: the wire carries no more yet.
    First(usize),
}

impl Engine {
    /// # Errors
    /// The source cannot be read.
    pub(crate) fn new(args: &Args, counters: &'static Counters, flows: Arc<Flows>) -> Result<Engine, Error> {
        let far = match (&args.source, Stock::of(&args.source)?) {
            (_, Some(stock)) => Far::Stock(stock),
            (Source::Pair(_), None) => Far::Peer(None),
            (Source::Port(_), None) => Far::Lower(None),
            (_, None) => Far::Own,
        };
        Ok(Engine {
            running: false,
            near: Near {
                rings: None,
                apart: false,
                tags: None,
                vlans: None,
                pipeline: pipeline::unset(),
                flows,
                edited: Vec::new(),
                counters,
            },
            flight: Flight::default(),
            far,
            events: None,
            rx_wire: Pace::new(args.rx_bps),
            tx_wire: Pace::new(args.tx_bps),
        })
    }

    /// Takes the rings of a start. Their clock begins with them, and so do the wires.
    ///
    /// # Errors
    /// What was set before the start does not fit the queues: nothing is taken.
    pub(crate) fn equip(
        &mut self,
        rings: Rings,
        tags: Option<Tags>,
        events: Option<Events>,
        checks: Checks,
    ) -> Result<(), Error> {
        pipeline::leads_to(&self.near.pipeline.choice, rings.halves.queues())?;
        self.near.pipeline.checks = checks;
        self.near.tags = tags;
        self.near.rings = Some(rings);
        self.near.choose_way();
        self.events = events;
        self.rx_wire.restart();
        self.tx_wire.restart();
        Ok(())
    }

    /// Drops the rings, and what is in flight from them.
    pub(crate) fn strip(&mut self) {
        self.flight = Flight::default();
        self.events = None;
        self.near.tags = None;
        self.near.rings = None;
        levels::forget(self.near.counters);
    }

    /// Sets the longest frame to receive. It has no rings to lay out anew: the caller knows what their buffers hold.
    pub(crate) fn set_max_frame(&mut self, max_frame: u16) {
        self.near.pipeline.checks.max_frame = max_frame;
    }

    /// Begins the NIC core's work, if there are rings.
    pub(crate) fn run(&mut self) {
        self.running = self.near.rings.is_some();
    }

    /// Ends the NIC core's work: the host halves may drain.
    pub(crate) fn stop(&mut self) {
        self.running = false;
        if let Some(rings) = &mut self.near.rings {
            self.flight.clear();
            rings.stop(self.near.counters);
        }
    }

    /// Stops or starts all halves of an Rx queue; `None` without rings.
    pub(crate) fn switch_rx(&mut self, queue: u16, on: bool) -> Option<()> {
        self.near.rings.as_mut().map(|rings| rings.switch_rx(queue, on))
    }

    /// Stops or starts a Tx queue; `None` without rings.
    pub(crate) fn switch_tx(&mut self, queue: u16, on: bool) -> Option<()> {
        let rings = self.near.rings.as_mut()?;
        if !on {
            self.flight.clear_queue(queue);
        }
        rings.switch_tx(queue, on);
        Some(())
    }

    /// Sets which frames pass.
    pub(crate) fn set_filter(&mut self, filter: &Filter) {
        self.near.pipeline.filter = filter.clone();
    }

    /// Sets the VLANs whose frames pass, a bit for each; `None` lets all pass.
    pub(crate) fn set_vlans(&mut self, vlans: Option<Vlans>) {
        self.near.vlans = vlans;
        self.near.choose_way();
    }

    /// Sets what leads frames to queues.
    ///
    /// # Errors
    /// The indirection table has a queue that is not there.
    pub(crate) fn set_rss(&mut self, rss: Rss) -> Result<(), Error> {
        let queues = self.near.rings.as_ref().map_or(u16::MAX, |rings| rings.halves.queues());
        pipeline::leads_to(&rss, queues).map(|()| self.near.pipeline.choice = rss)
    }

    /// Sets the far end of the wire. What was collected for the old end is lost on the way; its buffers go back as sent.
    pub(crate) fn set_far(&mut self, far: Far) {
        if let Some(rings) = &mut self.near.rings {
            self.flight.abandon(rings);
        }
        self.far = far;
    }

    /// The peer, which is none from now on.
    pub(crate) fn take_peer(&mut self) -> Option<Arc<SharedEngine>> {
        match &mut self.far {
            Far::Peer(peer) => peer.take(),
            _ => None,
        }
    }

    /// One turn: a burst in each direction and the notices that are due. Whether there was anything to do.
    pub(crate) fn turn(&mut self) -> bool {
        if !self.running {
            return false;
        }
        let came = self.receive();
        let went = self.transmit();
        if let Some(rings) = &mut self.near.rings {
            let due = rings.poll(self.near.counters);
            if let Some(events) = &mut self.events {
                events.raise(self.near.counters, due.is_some());
            }
        }
        came || went
    }

    /// The time where a wire has a rate, else zero: reading the clock costs as much as a frame.
    fn clock(&mut self) -> Ps {
        let limits = self.rx_wire.limits() || self.tx_wire.limits();
        match &mut self.near.rings {
            Some(rings) if limits => rings.m.now(),
            _ => Ps::ZERO,
        }
    }
}
