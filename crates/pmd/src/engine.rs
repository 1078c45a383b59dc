//! The NIC half of a port: what the NIC core does with it in one turn.

mod flight;
mod incoming;
pub(crate) mod receive;
pub(crate) mod shared;
pub(crate) mod tags;
mod transmit;

use std::sync::Arc;

use memory::Memory;
use memory::Ps;
use memory::native::Foreign;
use nic::Pace;
use packet::Rss;
use rings::tx::NicTx;
use rings::{AnyNic, Nic};

use crate::View;
use crate::args::{Args, Wire};
use crate::counters::Counters;
use crate::error::Error;
use crate::filter::Filter;
use crate::lower::Lower;
use crate::source::Stock;
use flight::Flight;
use shared::SharedEngine;
use tags::Tags;

/// The rings' NIC halves, between start and reset.
pub(crate) struct Rings {
    pub(crate) m: View,
    pub(crate) nic: AnyNic<View>,
    pub(crate) tx: NicTx<View>,
    /// Data of the segments to send: an address and nothing in front of it.
    pub(crate) sent: Foreign,
    pub(crate) rx_queues: u16,
    /// Host halves of an Rx queue: queue `q` has number `q * threads` and those that follow.
    pub(crate) threads: u16,
    /// Judges the order of forwarded frames, if asked for.
    pub(crate) tags: Option<Tags>,
    /// Bytes before each frame: a tag, or none.
    pub(crate) front: u16,
    /// The longest frame to receive, in bytes.
    pub(crate) max_frame: u32,
    /// Whether IP and transport checksums are looked at.
    pub(crate) checksums: bool,
    pub(crate) flight: Flight,
    /// Whether descriptors name buffers that the port below gets, not bytes to copy.
    pub(crate) passes: bool,
}

impl Rings {
    /// Stops or starts all halves of an Rx queue.
    pub(crate) fn switch_rx(&mut self, queue: u16, on: bool) {
        let first = queue * self.threads;
        for half in first..first + self.threads {
            match on {
                true => self.nic.start_queue(&mut self.m, half),
                false => self.nic.stop_queue(&mut self.m, half),
            }
        }
    }
}

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
    pub(crate) rings: Option<Rings>,
    /// Whether the NIC core serves it.
    pub(crate) running: bool,
    pub(crate) far: Far,
    pub(crate) filter: Filter,
    pub(crate) rss: Rss,
    rx_wire: Pace,
    tx_wire: Pace,
    pub(crate) counters: &'static Counters,
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
    pub(crate) fn new(args: &Args, counters: &'static Counters) -> Result<Engine, Error> {
        let far = match (&args.wire, Stock::of(&args.wire)?) {
            (_, Some(stock)) => Far::Stock(stock),
            (Wire::Pair(_), None) => Far::Peer(None),
            (Wire::Port(_), None) => Far::Lower(None),
            (_, None) => Far::Own,
        };
        Ok(Engine {
            rings: None,
            running: false,
            far,
            filter: Filter::default(),
            rss: Rss::spread(1),
            rx_wire: Pace::new(args.rx_bps),
            tx_wire: Pace::new(args.tx_bps),
            counters,
        })
    }

    /// Takes the rings of a start. Their clock begins with them, and so do the wires.
    pub(crate) fn equip(&mut self, rings: Rings) {
        self.rx_wire.restart();
        self.tx_wire.restart();
        self.rings = Some(rings);
    }

    /// Sets the far end of the wire. What was collected for the old end is lost on the way; its buffers go back as sent.
    pub(crate) fn set_far(&mut self, far: Far) {
        if let Some(rings) = &mut self.rings {
            rings.abandon();
        }
        self.far = far;
    }

    /// One turn: a burst in each direction and the notices that are due. Whether there was anything to do.
    pub(crate) fn turn(&mut self) -> bool {
        if !self.running {
            return false;
        }
        let came = match self.far {
            Far::Stock(_) => self.receive_stock(),
            Far::Lower(Some(lower)) => self.receive_lower(&lower),
            _ => false,
        };
        let went = self.transmit();
        if let Some(rings) = &mut self.rings {
            rings.nic.poll(&mut rings.m);
        }
        came || went
    }

    /// Ends the NIC core's work: the host halves may drain.
    pub(crate) fn stop(&mut self) {
        self.running = false;
        if let Some(rings) = &mut self.rings {
            rings.flight.clear();
            rings.tx.tell(&mut rings.m);
            rings.nic.stop(&mut rings.m);
        }
    }

    /// Now, if a wire has a rate: reading the clock costs as much as a frame.
    fn clock(&mut self) -> Ps {
        let limits = self.rx_wire.limits() || self.tx_wire.limits();
        match &mut self.rings {
            Some(rings) if limits => rings.m.now(),
            _ => Ps::ZERO,
        }
    }
}
