//! Loopback over a coherent NIC (CC-NIC §5.1): pairs of a host's thread, which writes frames, sends them and reads what
//! comes back, and a NIC's thread, which reads each frame and writes it into another buffer for the way back.
//!
//! Both run the rings of [`rings::ccnic`], as any program does: what crosses the link follows from what they load and
//! store. Threads of both sides are cores, so the NIC is a program as well (§4).

mod card;
mod count;
mod ends;
mod host;
mod nic;

use std::cell::RefCell;
use std::rc::Rc;

use memory::{Geometry, Ps, Space};
use rings::ccnic::{Homing, Sizes};
use rings::pool::sides::{self, Exchange, Fill};

use super::{Bench, Error};
use crate::engine::Engine;
use crate::engine::agent::Agent;
use crate::engine::view::View;
use crate::machine::coherence::link::Crossed;
use crate::profile::Server;
use count::Log;
use ends::{Apart, Shared};

pub use card::Card;
pub use count::{Accesses, Found};

/// The most frames of a burst.
pub const MOST_BURST: usize = 64;

/// Bytes of a frame that are looked at: the time, and the number.
const MARK: usize = 16;

/// Who takes and gives back buffers (§3.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pool {
    /// Both sides, each for what it writes.
    Shared,
    /// The host alone: it posts empty buffers, and takes back what was sent, as with a card of today.
    Host,
    /// The same with a card itself, behind PCIe.
    Card(Card),
}

/// When a host's thread sends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Load {
    /// So many frames a second of all pairs together, at equal intervals.
    Rate(f64),
    /// Whole bursts, as long as no more than so many frames of a pair are under way.
    InFlight(u32),
}

/// A loopback.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Threads of each side.
    pub pairs: u32,
    /// Bytes of a frame.
    pub bytes: u16,
    /// How lanes work.
    pub lanes: Sizes,
    /// Who has the buffers.
    pub pool: Pool,
    /// A pair's buffers.
    pub buffers: Geometry,
    /// Free ones that a thread keeps for itself; 0 is a pool without stacks.
    pub cache: u32,
    /// How others get from side to side, and their order at first, where both sides have the pool.
    pub exchange: Exchange,
    /// See above.
    pub fill: Fill,
    /// When hosts send.
    pub load: Load,
    /// Frames that a host sends together, and that it receives together; a NIC's thread takes as many as a host sends.
    pub tx_burst: usize,
    /// See above.
    pub rx_burst: usize,
    /// Frames up to so many bytes come with their doorbell, where a card's burst of one does.
    pub inline: u16,
    /// Whether hosts look at each burst which of the frames before are sent, as drivers of today do.
    pub completions: bool,
    /// Whether the NIC's threads are cores of the host's node, and all memory is there (§5.6, Fig. 18).
    pub one_node: bool,
    /// One cache set in so many is simulated.
    pub sampling: u32,
}

/// Frames under way at most, of descriptors of a ring: even if each has a line of its own, lanes do not overflow.
const OPEN: u32 = 4;

impl Setup {
    /// The paper's interface with small buffers (§3.3), all else as its text says; one pair with one frame under way.
    pub fn new(bytes: u16) -> Setup {
        let lanes = Sizes::default();
        let stride = if bytes <= 128 { 128 } else { 4096 };
        Setup {
            pairs: 1,
            bytes,
            buffers: Geometry::plain(4 * lanes.ring, stride),
            lanes,
            pool: Pool::Shared,
            cache: 512,
            exchange: Exchange::Lanes,
            fill: Fill::Apart,
            load: Load::InFlight(1),
            tx_burst: 32,
            rx_burst: 32,
            inline: 0,
            completions: false,
            one_node: false,
            sampling: 1,
        }
    }

    /// A card of today over the same link (§5.1): its descriptors and registers, the host's buffers as DPDK lays them out.
    pub fn e810(bytes: u16) -> Setup {
        let common = Setup::new(bytes);
        let ring = common.lanes.ring;
        Setup { lanes: Sizes::e810(ring), pool: Pool::Host, buffers: Geometry::dpdk(4 * ring), ..common }
    }

    /// Lanes, on one node at home there.
    fn lanes(&self) -> Sizes {
        let homing = if self.one_node { Homing::Host } else { self.lanes.homing };
        Sizes { homing, ..self.lanes }
    }

    /// The pool of both sides.
    fn sides(&self) -> sides::Sizes {
        sides::Sizes {
            count: self.buffers.count,
            cache: self.cache,
            exchange: self.exchange,
            fill: self.fill,
        }
    }

    /// A card of today behind PCIe, and buffers as DPDK lays them out.
    pub fn card(card: Card, bytes: u16) -> Setup {
        Setup { pool: Pool::Card(card), ..Setup::e810(bytes) }
    }

    /// Frames of a pair that may be under way.
    fn window(&self) -> u64 {
        match self.load {
            Load::InFlight(frames) => frames.into(),
            Load::Rate(_) => (self.lanes.ring / OPEN).into(),
        }
    }

    /// # Errors
    /// Names what is wrong and what is allowed.
    pub fn check(&self, server: &Server) -> Result<(), Error> {
        let asked = |what: String| Err(Error::Asked(what));
        if matches!(self.pool, Pool::Card(Card::Ceio { .. })) && server.nic_memory().is_none() {
            let name = &server.name;
            return asked(format!(
                "the card of {name} has no memory; allowed: a profile with [constants.nic_memory]"
            ));
        }
        let cores = server.cores / if self.one_node { 2 } else { 1 };
        if !(1..=cores).contains(&self.pairs) {
            return asked(format!("{} pairs; allowed: 1 to {cores}, as many as have cores", self.pairs));
        }
        for (name, burst) in [("tx", self.tx_burst), ("rx", self.rx_burst)] {
            if !(1..=MOST_BURST).contains(&burst) {
                return asked(format!("a burst of {burst} frames ({name}); allowed: 1 to {MOST_BURST}"));
            }
        }
        let room = self.buffers.room.min(9600);
        if usize::from(self.bytes) < MARK || u32::from(self.bytes) > room {
            return asked(format!(
                "frames of {} B; allowed: {MARK} to {room} with these buffers",
                self.bytes
            ));
        }
        match self.load {
            Load::Rate(rate) if !(1.0..=1e11).contains(&rate) => {
                asked(format!("{rate} frames a second; allowed: 1 to 10^11"))
            }
            _ if !self.sampling.is_power_of_two() || self.sampling > 64 => {
                asked(format!("sampling of one set in {}; allowed: a power of two up to 64", self.sampling))
            }
            Load::InFlight(frames) if !(1..=self.lanes.ring / OPEN).contains(&frames) => asked(format!(
                "{frames} frames under way; allowed: 1 to {}, a quarter of the ring",
                self.lanes.ring / OPEN
            )),
            _ => Ok(()),
        }
    }
}

impl Bench {
    /// Adds a thread of the NIC.
    fn nic(&mut self, setup: &Setup, pair: u32, body: impl FnOnce(&mut View) + 'static) {
        if setup.one_node {
            self.agents.push((Agent::NicCore(setup.pairs + pair), Box::new(body)));
        } else {
            self.far(body);
        }
    }
}

/// A loopback under way.
struct Course {
    engine: Engine,
    log: Rc<RefCell<Log>>,
}

impl Course {
    /// All threads at their beginnings; hosts send `frames` each, if that is said.
    fn new(server: &Server, setup: &Setup, frames: Option<u64>) -> Result<Course, Error> {
        setup.check(server)?;
        let mut server = server.clone();
        if let Pool::Card(Card::Ceio { .. }) = setup.pool {
            server.keep_frames().map_err(|e| Error::Asked(e.to_string()))?;
        }
        let server = &server;
        let mut bench = Bench::new(server)?;
        let log = Rc::new(RefCell::new(Log::new(setup.pairs)?));
        if let Pool::Card(card) = setup.pool {
            card::plug(&mut bench, server, setup, card, &log)?;
            let engine = bench.start(server, server.emulator_window(), setup.sampling)?;
            return Ok(Course { engine, log });
        }
        for pair in 0..setup.pairs {
            let buffers = bench.space.buffers(&setup.buffers)?;
            let host = host::Host::new(setup, pair, buffers, frames, log.clone());
            let nic = nic::Nic::new(setup, log.clone());
            if setup.pool == Pool::Shared {
                let (ours, theirs) = Shared::connect(&mut bench, setup, buffers)?;
                bench.near(pair, move |m| host.run(m, ours));
                bench.nic(setup, pair, move |m| nic.run(m, theirs));
            } else {
                let (ours, theirs) = Apart::connect(&mut bench, setup, buffers)?;
                bench.near(pair, move |m| host.run(m, ours));
                bench.nic(setup, pair, move |m| nic.run(m, theirs));
            }
        }
        bench.far = bench.far.max(1); // so that words of both nodes, or of one, cost what they do with two
        // Pairs share nothing but the link: only threads of one pair have to keep together.
        let window = if setup.pairs == 1 { Ps::ZERO } else { server.emulator_window() };
        let mut engine = bench.start(server, window, setup.sampling)?;
        engine.sim().asks_ahead();
        Ok(Course { engine, log })
    }

    fn crossed(&mut self) -> [Crossed; 2] {
        self.engine.sim().crossed()
    }
}

/// Runs a loopback for `warm`, and then for `span`, which counts.
///
/// # Errors
/// A setup that is not allowed, a server without a second node, or more than the model has memory for.
pub fn loopback(server: &Server, setup: &Setup, warm: Ps, span: Ps) -> Result<Found, Error> {
    let mut course = Course::new(server, setup, None)?;
    course.engine.run_until(warm)?;
    course.log.borrow_mut().restart();
    let before = course.crossed();
    course.engine.run_until(warm + span)?;
    let after = course.crossed();
    let log = course.log.borrow();
    Ok(Found::new(server, setup, &log, span, [before, after]))
}

/// What a frame moves over the link from the `from`th of each pair up to the `to`th: what all of those move, less what
/// those before do. Each run goes on until all is back.
///
/// # Errors
/// As [`loopback`], or frames in another order.
pub fn accesses(server: &Server, setup: &Setup, from: u64, to: u64) -> Result<[Accesses; 2], Error> {
    if from >= to {
        return Err(Error::Asked(format!("frames {from} to {to}; allowed: in ascending order")));
    }
    if let Pool::Card(card) = setup.pool {
        return Err(Error::Asked(format!("{card:?} is behind PCIe; allowed: a coherent NIC")));
    }
    let run = |frames: u64| -> Result<[Crossed; 2], Error> {
        let mut course = Course::new(server, setup, Some(frames))?;
        course.engine.run_until(crate::LONGEST)?;
        Ok(course.crossed())
    };
    let (before, after) = (run(from)?, run(to)?);
    let all = (to - from) * u64::from(setup.pairs);
    Ok([0, 1].map(|side: usize| Accesses::between(before[side], after[side], all)))
}
