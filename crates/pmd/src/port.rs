//! A port as the driver controls it.
//!
//! It holds a NIC core and an engine, which the NIC core serves. Neither of the two knows the port: when it is dropped, it
//! lets go of both.

mod layout;
mod queues;
mod start;
#[cfg(test)]
mod tests;

use core::ptr::NonNull;
use std::sync::{Arc, Mutex, MutexGuard};

use memory::Region;
use packet::{Fields, Rss};

use crate::args::{Args, Source};
use crate::counters::Counters;
use crate::engine::events::Events;
use crate::engine::levels::Levels;
use crate::engine::rings::Rings;
use crate::engine::shared::SharedEngine;
use crate::engine::tags::Tags;
use crate::engine::vlans::Vlans;
use crate::engine::{Engine, Far};
use crate::error::Error;
use crate::flows::Flows;
use crate::halves::RxHalves;
use crate::lower::Lower;
use crate::nic_core::NicCore;
use crate::queue::{RxQueue, TxQueue};
use layout::{Built, Layout};
use nic::{Checks, Filter};
use queues::{HostHalves, Queues};
pub use start::Start;

/// A port.
pub struct Port {
    name: String,
    args: Args,
    nic_core: Arc<NicCore>,
    engine: Arc<SharedEngine>,
    flows: Arc<Flows>,
    counters: &'static Counters,
    queues: Mutex<Queues>,
}

impl Port {
    /// A stopped port on `nic_core`.
    ///
    /// # Errors
    /// An argument is not possible.
    pub(crate) fn new(
        nic_core: Arc<NicCore>,
        args: Args,
        name: String,
        counters: &'static Counters,
    ) -> Result<Port, Error> {
        args.check()?;
        let flows = Arc::new(Flows::new(args.flow_rules));
        let engine = Arc::new(SharedEngine::new(Engine::new(&args, counters, flows.clone())?));
        nic_core.add(engine.clone());
        Ok(Port { name, args, nic_core, engine, flows, counters, queues: Mutex::default() })
    }

    /// Takes the port from its NIC core and its peer; it can be dropped then.
    ///
    /// # Errors
    /// The NIC core does not answer.
    pub(crate) fn leave(&self) -> Result<(), Error> {
        self.nic_core.remove(&self.engine);
        self.unpair()?;
        // The second hand-shake: whoever still had the engine in hand is through with it.
        self.stop()
    }

    /// A call that wants rings.
    fn started(&self, call: impl FnOnce(&mut Engine) -> Option<()>) -> Result<(), Error> {
        self.engine.with(call)?.ok_or_else(|| Error::Invalid(format!("{}: not started", self.name)))
    }

    fn queues(&self) -> MutexGuard<'_, Queues> {
        self.queues.lock().unwrap_or_else(|broken| broken.into_inner())
    }

    fn layout<'a>(&'a self, start: &'a Start) -> Layout<'a> {
        Layout { name: &self.name, args: &self.args, start }
    }

    /// Bytes of memory that the queues of `start` take.
    ///
    /// # Errors
    /// A size is not allowed.
    pub(crate) fn memory(&self, start: &Start) -> Result<usize, Error> {
        self.layout(start).bytes()
    }

    /// Buffers that the rings of `queues` hold posted.
    pub(crate) fn posted(&self, rx_desc: u32, queues: u16) -> u64 {
        self.args.interface(rx_desc, queues.into()).posted_buffers(queues.into())
    }

    /// Makes the queues; nothing flows before [`run`](Self::run).
    ///
    /// # Errors
    /// A size is not allowed, the port has started, or the NIC core does not answer.
    ///
    /// # Safety
    /// `start.memory` is as [`Start`] says.
    pub(crate) unsafe fn start(&self, start: &Start) -> Result<(), Error> {
        let mut queues = self.queues();
        if queues.are_made() {
            return Err(Error::Invalid(format!("{}: has started", self.name)));
        }
        let base = NonNull::new(start.memory)
            .ok_or_else(|| Error::Invalid(format!("{}: no memory for its queues", self.name)))?;
        // SAFETY: the caller's promise.
        let region = unsafe { Region::lent(base, start.bytes) };
        let region = Box::new(region.map_err(|e| Error::Invalid(format!("{}: {e}", self.name)))?);
        let region = Box::into_raw(region);
        // SAFETY: `Queues::free` alone frees it, after the halves that have handles into it.
        let lasting: &'static Region = unsafe { &*region };
        match self.equip(lasting, start) {
            Ok(hosts) => {
                let halves = RxHalves::new(start.rx_queues, self.args.threads() as u16);
                *queues = Queues::made(hosts, &lasting.view_of(), start, halves, &self.counters.host);
                queues.keep(region);
                Ok(())
            }
            Err(e) => {
                // SAFETY: nothing that was laid out is left, and the engine has none of it.
                drop(unsafe { Box::from_raw(region) });
                Err(e)
            }
        }
    }

    /// Lays out the rings in `region` and hands their NIC halves to the engine; the host halves.
    fn equip(&self, region: &'static Region, start: &Start) -> Result<HostHalves, Error> {
        let layout = self.layout(start);
        let Built { hosts, nic, tx } = layout.build(region)?;
        let (front, passes) = (self.args.front() as u16, self.args.emulate);
        let levels = Levels::of(&nic, self.args.levels());
        let mut rings = Rings {
            m: region.view_of(),
            nic,
            tx,
            sent: Rings::sent(),
            halves: layout.halves(),
            levels,
            front,
            passes,
            scatter: start.scatter.then_some(start.room as usize),
        };
        if start.rx_queues == 0 {
            rings.switch_rx(0, false);
        }
        // SAFETY: as `Start` says.
        let events = unsafe { start.events() }.map(|events| Events::new(events, self.counters));
        let tags = self.args.reorder.then(|| Tags::new(self.counters));
        // `Start` was checked: frames have 16 bits for their length.
        let max_frame = start.max_frame.try_into().unwrap_or(u16::MAX);
        let checks = Checks { max_frame, checksums: start.checksums };
        // The only hand-shake, and the last thing that may fail: a start that fails leaves nothing behind.
        self.engine.with(|e| e.equip(rings, tags, events, checks))??;
        Ok(hosts)
    }

    /// The NIC core serves the port from now on.
    ///
    /// # Errors
    /// The NIC core does not answer.
    pub(crate) fn run(&self) -> Result<(), Error> {
        self.engine.with(Engine::run)
    }

    /// The NIC core touches nothing of the port any more: its queues can be drained.
    ///
    /// # Errors
    /// The NIC core does not answer.
    pub(crate) fn stop(&self) -> Result<(), Error> {
        self.engine.with(Engine::stop)
    }

    /// Drops the queues.
    ///
    /// # Errors
    /// The NIC core does not answer: nothing is dropped.
    ///
    /// # Safety
    /// The port is stopped, and no lcore uses a queue of it.
    pub(crate) unsafe fn reset(&self) -> Result<(), Error> {
        self.engine.with(Engine::strip)?;
        // SAFETY: the engine has no NIC half any more; the rest is the caller's.
        unsafe { core::mem::take(&mut *self.queues()).free() };
        Ok(())
    }

    /// A half of an Rx queue of a started port.
    pub(crate) fn rxq(&self, queue: u16, half: u16) -> Option<*mut RxQueue> {
        self.queues().rx(queue, half)
    }

    /// A Tx queue of a started port.
    pub(crate) fn txq(&self, queue: u16) -> Option<*mut TxQueue> {
        self.queues().tx(queue)
    }

    /// Stops or starts one Rx queue. Its halves drain after the stop and fill after the start.
    ///
    /// # Errors
    /// The port has not started, or the NIC core does not answer.
    pub(crate) fn switch_rx(&self, queue: u16, on: bool) -> Result<(), Error> {
        self.started(|e| e.switch_rx(queue, on))
    }

    /// Stops or starts one Tx queue. It drains after the stop.
    ///
    /// # Errors
    /// As [`switch_rx`](Self::switch_rx).
    pub(crate) fn switch_tx(&self, queue: u16, on: bool) -> Result<(), Error> {
        self.started(|e| e.switch_tx(queue, on))
    }

    /// Sets the longest frame that a started port receives, in bytes.
    ///
    /// # Errors
    /// The NIC core does not answer.
    pub(crate) fn max_frame(&self, bytes: u16) -> Result<(), Error> {
        self.engine.with(|e| e.set_max_frame(bytes))
    }

    /// Sets which frames the port takes.
    ///
    /// # Errors
    /// The NIC core does not answer.
    pub(crate) fn filter(&self, filter: &Filter) -> Result<(), Error> {
        self.engine.with(|e| e.set_filter(filter))
    }

    /// Sets the VLANs whose frames pass; `None` lets all pass.
    ///
    /// # Errors
    /// The NIC core does not answer.
    pub(crate) fn vlans(&self, vlans: Option<Vlans>) -> Result<(), Error> {
        self.engine.with(|e| e.set_vlans(vlans))
    }

    /// Sets key, fields and indirection table.
    ///
    /// # Errors
    /// They are not possible, or the NIC core does not answer.
    pub(crate) fn rss(&self, key: &[u8], fields: Fields, table: &[u16]) -> Result<(), Error> {
        let rss = Rss::new(key, table).map_err(|e| Error::Invalid(e.to_string()))?.with_fields(fields);
        self.engine.with(|e| e.set_rss(rss))?
    }

    /// The flow rules.
    pub(crate) fn flows(&self) -> &Flows {
        &self.flows
    }

    /// Joins two ports by a wire.
    ///
    /// # Errors
    /// A port has another source, or the NIC core does not answer.
    pub(crate) fn pair(a: &Port, b: &Port) -> Result<(), Error> {
        for port in [a, b] {
            if !matches!(port.args.source, Source::Pair(_)) {
                return Err(Error::Invalid(format!("{}: its source is no pair", port.name)));
            }
        }
        a.engine.with(|e| e.set_far(Far::Peer(Some(b.engine.clone()))))?;
        b.engine.with(|e| e.set_far(Far::Peer(Some(a.engine.clone()))))
    }

    /// Takes the wire between this port and its peer away, at both ends.
    ///
    /// # Errors
    /// The NIC core does not answer.
    pub(crate) fn unpair(&self) -> Result<(), Error> {
        let peer = self.engine.with(Engine::take_peer)?;
        peer.map_or(Ok(()), |peer| peer.with(|e| e.set_far(Far::Peer(None))))
    }

    /// Sets or takes away the port below.
    ///
    /// # Errors
    /// The source is no port, or the NIC core does not answer.
    pub(crate) fn lower(&self, lower: Option<Lower>) -> Result<(), Error> {
        if !matches!(self.args.source, Source::Port(_)) {
            return Err(Error::Invalid(format!("{}: its source is no port", self.name)));
        }
        self.engine.with(|e| e.set_far(Far::Lower(lower)))
    }
}
