//! A port as the driver controls it.
//!
//! It holds a NIC core and an engine, which the NIC core serves. Neither of the two knows the port: when it is dropped, it
//! lets go of both.

use core::ptr::NonNull;
use std::sync::{Arc, Mutex, MutexGuard};

use memory::native::Foreign;
use memory::{Geometry, LINE, Region};
use packet::{Fields, Rss};
use rings::tx;

use crate::View;
use crate::args::Args;
use crate::counters::Counters;
use crate::engine::pipeline::Checks;
use crate::engine::rings::Rings;
use crate::engine::shared::SharedEngine;
use crate::engine::tags::Tags;
use crate::engine::{Engine, Far};
use crate::error::Error;
use crate::halves::RxHalves;
use crate::limits::HALVES;
use crate::lower::Lower;
use crate::nic_core::NicCore;
use crate::queue::{RxQueue, TxQueue};

/// A port.
pub struct Port {
    pub(crate) name: String,
    pub(crate) args: Args,
    nic_core: Arc<NicCore>,
    engine: Arc<SharedEngine>,
    counters: &'static Counters,
    halves: Mutex<Halves>,
}

/// The host halves, and the region that their words lie in. They belong to the lcores that poll the queues;
/// the port only frees them.
#[derive(Default)]
struct Halves {
    rx: Vec<*mut RxQueue>,
    /// Which of them is whose.
    rx_numbers: RxHalves,
    tx: Vec<*mut TxQueue>,
    region: Option<*mut Region>,
}

// SAFETY: the pointers are only handed out, and freed when the driver says that nobody uses them any more.
unsafe impl Send for Halves {}

/// What a port starts with.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Start {
    /// Rx queues, 0 to 64.
    pub rx_queues: u16,
    /// Tx queues, 0 to 64.
    pub tx_queues: u16,
    /// Descriptors of each Rx queue: the ring, the completion ring or Bx.
    pub rx_desc: u32,
    /// Descriptors of each Tx queue.
    pub tx_desc: u32,
    /// Bytes from an mbuf's address to the first byte of its frame.
    pub data_offset: u32,
    /// Bytes of frame that an mbuf holds.
    pub room: u32,
    /// The longest frame to receive, in bytes, at most `room`.
    pub max_frame: u32,
    /// Whether IP and transport checksums are verified.
    pub checksums: bool,
    /// Zeroed memory that starts a line and stays until the port is reset.
    pub memory: *mut u8,
    /// Its bytes: at least what the port asks for.
    pub bytes: usize,
}

impl Start {
    /// Rx queues that rings are laid out for. A port that receives nothing has one that is stopped: what comes is counted
    /// there.
    fn rx_rings(&self) -> u16 {
        self.rx_queues.max(1)
    }

    /// Tx queues that rings are laid out for. A port that never sends has one that nobody fills.
    fn tx_rings(&self) -> u16 {
        self.tx_queues.max(1)
    }
}

/// Both halves of all rings.
type Built = (Vec<rings::AnyHost<View>>, rings::AnyNic<View>, Vec<tx::HostTx<View>>, tx::NicTx<View>);

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
        let engine = Arc::new(SharedEngine::new(Engine::new(&args, counters)?));
        nic_core.add(engine.clone());
        Ok(Port { name, args, nic_core, engine, counters, halves: Mutex::default() })
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

    fn halves(&self) -> MutexGuard<'_, Halves> {
        self.halves.lock().unwrap_or_else(|broken| broken.into_inner())
    }

    /// Bytes of memory that the queues of `start` take.
    ///
    /// # Errors
    /// A size is not allowed.
    pub(crate) fn memory(&self, start: &Start) -> Result<usize, Error> {
        let (queues, threads) = (u32::from(start.rx_rings()), self.args.threads());
        let halves = self.halves_of(start.rx_rings()).count();
        if halves > HALVES {
            let most = HALVES / threads;
            let what =
                format!("{queues} Rx queues, threads={threads}: {halves} host halves; allowed: {HALVES}");
            return Err(Error::Invalid(format!("{}: {what}, here {most} Rx queues", self.name)));
        }
        // First, as the rings have other words for it.
        self.args.fits(start.rx_desc, queues)?;
        self.args.interface(start.rx_desc, queues).validate(halves)?;
        tx_sizes(start).validate(u32::from(start.tx_rings()))?;
        // Laid out on trial: no second account of what the rings take. The memory is little more than they
        // need, as a program that locks its memory gets all that it asks for.
        let mut bytes = 1 << 20;
        loop {
            let region = Region::new(bytes, memory::Backing::Heap)
                .map_err(|e| Error::Invalid(format!("{}: {e}", self.name)))?;
            // SAFETY: the handles are dropped before the region, at the end of the match.
            let lasting: &'static Region = unsafe { &*core::ptr::from_ref(&region) };
            match self.lay_out(lasting, start).map(drop) {
                Ok(()) => return Ok(region.used().next_multiple_of(LINE)),
                Err(e) if bytes >= MOST => return Err(e),
                Err(_) => bytes *= 2,
            }
        }
    }

    /// Buffers that the rings of `queues` hold posted.
    pub(crate) fn posted(&self, rx_desc: u32, queues: u16) -> u64 {
        self.args.interface(rx_desc, queues.into()).posted_buffers(queues.into())
    }

    fn lay_out(&self, region: &'static Region, start: &Start) -> Result<Built, Error> {
        let queues = u32::from(start.rx_rings());
        let frames = frames(start, self.args.front())?;
        let interface = self.args.interface(start.rx_desc, queues);
        let mut space = region.words_of::<Foreign>();
        let halves = self.halves_of(start.rx_rings()).count();
        let (hosts, nic) = rings::build(&mut space, &interface, halves, frames)?;
        let (tx_hosts, tx) = tx::build(&mut space, tx_sizes(start), u32::from(start.tx_rings()))?;
        Ok((hosts, nic, tx_hosts, tx))
    }

    /// Makes the queues; nothing flows before [`run`](Self::run).
    ///
    /// # Errors
    /// A size is not allowed, the port has started, or the NIC core does not answer.
    ///
    /// # Safety
    /// `start.memory` is as [`Start`] says.
    pub(crate) unsafe fn start(&self, start: &Start) -> Result<(), Error> {
        let mut halves = self.halves();
        if halves.region.is_some() {
            return Err(Error::Invalid(format!("{}: has started", self.name)));
        }
        let base = NonNull::new(start.memory)
            .ok_or_else(|| Error::Invalid(format!("{}: no memory for its queues", self.name)))?;
        // SAFETY: the caller's promise.
        let region = unsafe { Region::lent(base, start.bytes) };
        let region = Box::new(region.map_err(|e| Error::Invalid(format!("{}: {e}", self.name)))?);
        let region = Box::into_raw(region);
        // SAFETY: `reset` alone frees it, after the halves that have handles into it.
        let lasting: &'static Region = unsafe { &*region };
        let built = self.lay_out(lasting, start).and_then(|(hosts, nic, tx_hosts, tx)| {
            let mut rings = Rings {
                m: lasting.view_of(),
                nic,
                tx,
                sent: sent(),
                halves: self.halves_of(start.rx_rings()),
                front: self.args.front() as u16,
                passes: self.args.emulate,
            };
            if start.rx_queues == 0 {
                rings.switch_rx(0, false);
            }
            let tags = self.args.reorder.then(|| Tags::new(self.counters));
            let checks = Checks { max_frame: start.max_frame, checksums: start.checksums };
            // The only hand-shake, and the last thing that may fail: a start that fails leaves nothing behind.
            self.engine.with(|e| e.equip(rings, tags, checks))??;
            Ok((hosts, tx_hosts))
        });
        let (hosts, tx_hosts) = match built {
            Ok(built) => built,
            Err(e) => {
                // SAFETY: nothing that `lay_out` made is left, and the engine has none of it.
                drop(unsafe { Box::from_raw(region) });
                return Err(e);
            }
        };
        let m: View = lasting.view_of();
        halves.rx_numbers = self.halves_of(start.rx_queues);
        let mut hosts = hosts.into_iter();
        for (queue, told) in (0..start.rx_queues).zip(&self.counters.host) {
            for host in hosts.by_ref().take(halves.rx_numbers.of(queue).len()) {
                let half = RxQueue::new(m.clone(), host, start.rx_desc, &told.value);
                halves.rx.push(Box::into_raw(Box::new(half)));
            }
        }
        for host in tx_hosts.into_iter().take(usize::from(start.tx_queues)) {
            halves.tx.push(Box::into_raw(Box::new(TxQueue::new(m.clone(), host, start.tx_desc))));
        }
        halves.region = Some(region);
        Ok(())
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
        let halves = core::mem::take(&mut *self.halves());
        // SAFETY: all came from `Box::into_raw` in `start`, once; the caller promises that nobody uses them.
        // The region goes last: nothing with a handle into it is left.
        unsafe {
            halves.rx.into_iter().for_each(|q| drop(Box::from_raw(q)));
            halves.tx.into_iter().for_each(|q| drop(Box::from_raw(q)));
            halves.region.into_iter().for_each(|r| drop(Box::from_raw(r)));
        }
        Ok(())
    }

    /// A half of an Rx queue of a started port.
    pub(crate) fn rxq(&self, queue: u16, half: u16) -> Option<*mut RxQueue> {
        let halves = self.halves();
        halves.rx.get(halves.rx_numbers.number(queue, half)?).copied()
    }

    /// The halves that so many Rx queues have.
    fn halves_of(&self, queues: u16) -> RxHalves {
        RxHalves::new(queues, self.args.threads() as u16)
    }

    /// A Tx queue of a started port.
    pub(crate) fn txq(&self, queue: u16) -> Option<*mut TxQueue> {
        self.halves().tx.get(usize::from(queue)).copied()
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

    /// Sets which frames the port takes.
    ///
    /// # Errors
    /// The NIC core does not answer.
    pub(crate) fn filter(&self, filter: &crate::filter::Filter) -> Result<(), Error> {
        self.engine.with(|e| e.set_filter(filter))
    }

    /// Sets key, fields and indirection table.
    ///
    /// # Errors
    /// They are not possible, or the NIC core does not answer.
    pub(crate) fn rss(&self, key: &[u8], fields: Fields, table: &[u16]) -> Result<(), Error> {
        let rss = Rss::new(key, table).map_err(|e| Error::Invalid(e.to_string()))?.with_fields(fields);
        self.engine.with(|e| e.set_rss(rss))?
    }

    /// Joins two ports by a wire.
    ///
    /// # Errors
    /// A port has another source, or the NIC core does not answer.
    pub(crate) fn pair(a: &Port, b: &Port) -> Result<(), Error> {
        for port in [a, b] {
            if !matches!(port.args.wire, crate::args::Wire::Pair(_)) {
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
        if !matches!(self.args.wire, crate::args::Wire::Port(_)) {
            return Err(Error::Invalid(format!("{}: its source is no port", self.name)));
        }
        self.engine.with(|e| e.set_far(Far::Lower(lower)))
    }
}

/// No port's words take more, in bytes.
const MOST: usize = 16 << 30;

fn tx_sizes(start: &Start) -> tx::Sizes {
    let ring = if start.tx_queues == 0 { 2 } else { start.tx_desc };
    tx::Sizes { ring, ..tx::Sizes::default() }
}

/// Buffers of which the NIC core writes `front` bytes more than a frame, before it.
fn frames(start: &Start, front: u32) -> Result<Foreign, Error> {
    let Start { data_offset, room, max_frame, .. } = *start;
    let before = data_offset.checked_sub(front);
    let data_offset = before.ok_or_else(|| Error::Invalid(format!("no {front} B before a frame")))?;
    let room = room + front;
    let geometry = Geometry { count: 1, stride: u32::MAX, offset: data_offset, room };
    geometry.check().map_err(rings::SizeError::from)?;
    if max_frame > room - front || max_frame > u32::from(u16::MAX) - front {
        let what = format!("frames of {max_frame} B do not fit buffers of {} B", room - front);
        return Err(Error::Invalid(what));
    }
    // SAFETY: the driver posts addresses of mbufs alone, whose geometry it has checked at queue set-up.
    Ok(unsafe { Foreign::new(data_offset, room) })
}

/// Segments to send are addresses of their first byte.
fn sent() -> Foreign {
    // SAFETY: a segment's length, which `check` gets, is what the driver read from the mbuf; nothing is
    // written through it.
    unsafe { Foreign::new(0, u32::MAX) }
}

#[cfg(test)]
mod tests {
    use std::alloc::{Layout, alloc_zeroed};
    use std::thread;

    use super::*;

    fn port(args: &[(&str, &str)]) -> Port {
        port_on(Arc::default(), args)
    }

    fn port_on(nic_core: Arc<NicCore>, args: &[(&str, &str)]) -> Port {
        let mut parsed = Args::default();
        args.iter().for_each(|(key, value)| parsed.set(key, value).expect("an argument"));
        // SAFETY: zeros are counters, which nobody frees.
        let counters = unsafe { &*alloc_zeroed(Layout::new::<Counters>()).cast::<Counters>() };
        Port::new(nic_core, parsed, "p".into(), counters).expect("a port")
    }

    /// A NIC core has a port's engine until the first turn after the port has left; a peer has it no longer than that.
    #[test]
    fn a_port_that_has_left_is_forgotten() {
        let nic_core = Arc::<NicCore>::default();
        let [a, b] = ["b", "a"].map(|peer| port_on(nic_core.clone(), &[("source", &format!("pair:{peer}"))]));
        Port::pair(&a, &b).expect("two ends");
        let engines = [&a, &b].map(|port| Arc::downgrade(&port.engine));
        nic_core.turn();
        for port in [a, b] {
            port.leave().expect("nobody else has it");
        }
        assert_eq!(Arc::strong_count(&nic_core), 1);
        assert!(engines.iter().all(|engine| engine.strong_count() == 1));
        nic_core.turn();
        assert!(engines.iter().all(|engine| engine.strong_count() == 0));
    }

    /// Nothing that a port and its NIC core share keeps the other in memory.
    #[test]
    fn a_port_and_its_nic_core_can_be_dropped_in_any_order() {
        for port_first in [true, false] {
            let nic_core = Arc::<NicCore>::default();
            let port = port_on(nic_core.clone(), &[]);
            let (engine, core) = (Arc::downgrade(&port.engine), Arc::downgrade(&nic_core));
            match port_first {
                true => drop((port, nic_core)),
                false => drop((nic_core, port)),
            }
            assert_eq!((engine.strong_count(), core.strong_count()), (0, 0));
        }
    }

    /// A start that another thread makes.
    struct Given(Start);

    // SAFETY: its memory is nobody else's.
    unsafe impl Send for Given {}

    fn sizes(rx_queues: u16) -> Start {
        Start {
            rx_queues,
            tx_queues: 1,
            rx_desc: 64,
            tx_desc: 64,
            data_offset: 256,
            room: 2048,
            max_frame: 1518,
            checksums: false,
            memory: core::ptr::null_mut(),
            bytes: 0,
        }
    }

    /// Memory for a start; the test leaks it.
    fn with_memory(port: &Port, start: Start) -> Start {
        let bytes = port.memory(&start).expect("sizes that are allowed");
        // SAFETY: the layout has a size.
        let memory = unsafe { alloc_zeroed(Layout::from_size_align(bytes, LINE).expect("a layout")) };
        Start { memory, bytes, ..start }
    }

    /// The NIC core keeps a starting port waiting for longer than it waits, at whichever hand-shake that is. The start
    /// fails and can be tried again.
    #[test]
    fn a_start_that_found_the_nic_core_busy_leaves_nothing() {
        // The many halves keep the start busy behind its first hand-shake.
        let port = port(&[("iface", "corec"), ("threads", "64")]);
        let start = with_memory(&port, sizes(64));
        for hand_shake in 1..=2 {
            let mut engine = Some(port.engine.held());
            let wanted = |n: u32| while port.engine.wanted() != n {};
            thread::scope(|s| {
                let (port, given) = (&port, Given(start));
                let started = s.spawn(move || {
                    let given = &given;
                    // SAFETY: nobody else has the memory.
                    unsafe { port.start(&given.0) }
                });
                wanted(1);
                if hand_shake == 2 {
                    drop(engine.take());
                    wanted(0);
                    engine = Some(port.engine.held());
                }
                let started = started.join().expect("no panic");
                assert!(matches!(started, Ok(()) | Err(Error::Busy)), "{started:?}");
                assert_eq!(port.halves().region.is_some(), started.is_ok());
                drop(engine.take());
                if started.is_err() {
                    // SAFETY: as above.
                    unsafe { port.start(&start) }.expect("it starts now");
                }
            });
            // SAFETY: nobody uses a queue of it.
            unsafe { port.reset() }.expect("the NIC core is idle");
        }
    }

    #[test]
    fn more_host_halves_than_a_port_has_are_refused_with_what_is_allowed() {
        let port = port(&[("iface", "corec"), ("threads", "128")]);
        assert!(port.memory(&sizes(32)).is_ok());
        let said = port.memory(&sizes(33)).expect_err("4224 halves").to_string();
        for what in ["33 Rx queues", "threads=128", "4224", "allowed: 4096", "32 Rx queues"] {
            assert!(said.contains(what), "{said}");
        }
    }
}
