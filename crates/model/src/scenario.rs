//! What is to be simulated: a server, an interface, an application, a traffic.

pub(crate) mod app;
pub(crate) mod bypass;
pub(crate) mod physical;
pub(crate) mod rules;

use core::ops::{Deref, DerefMut, Range};
use std::cell::RefCell;
use std::rc::Rc;

use apps::Antagonist;
use memory::Ps;
use packet::SteerBy;
use traffic::{Peer, Source};

use crate::profile::Server;
use app::App;
use bypass::Bypass;
use rules::Rules;

/// How full the rings are when a run starts to count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// Rings start empty and the load is steady.
    Empty,
    /// As `Empty`, then every core stalls once for 2 ms, and the run settles again.
    Full,
}

impl Start {
    /// The name in tables and JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Start::Empty => "empty",
            Start::Full => "full",
        }
    }
}

/// The times of a run, laid down in advance: runs of the same sources and span meet the same arrivals.
///
/// Rings start empty; with [`Start::Full`] all cores stall once, early in the warm-up. The window is `parts` parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The run meets its sources so late: what they send before is left out. Runs whose `late` and `warm` add up to the same
    /// count the same arrivals.
    pub late: Ps,
    /// Time that does not count.
    pub warm: Ps,
    /// Length of a part. Of sources that repeat it is whole laps, so that parts are alike.
    pub part: Ps,
    /// Parts that count.
    pub parts: u32,
    /// Rates have settled where those of so many steps agree, the last ones of the warm-up; 0: nobody asks.
    pub agree: u32,
    /// Length of a step, whole laps as well.
    pub step: Ps,
    /// Whether the window ends with the first part in which a frame drops that is not refused at any load.
    pub until_loss: bool,
}

impl Span {
    /// From when to when arrivals count, ps of the run.
    pub fn window(&self) -> (u64, u64) {
        (self.warm.0, self.warm.0.saturating_add(self.part.0.saturating_mul(u64::from(self.parts))))
    }
}

/// What a run is asked, but for its traffic. What it prints by `Debug` tells two settings apart that differ in anything.
#[derive(Clone, Debug)]
pub struct Setting {
    /// The machine.
    pub server: Server,
    /// The receive interface and its sizes.
    pub interface: rings::Interface,
    /// Whether a core on the other node plays the NIC of each port (rxbisect §5).
    pub emulated: bool,
    /// What every core does.
    pub app: App,
    /// How the cards choose a core.
    pub steer: SteerBy,
    /// Empty or full rings.
    pub start: Start,
    /// Of placement, replacement and sampling.
    pub seed: u64,
    /// One cache set in so many is simulated, a power of two up to 64; 1 is the exact mode.
    pub sampling: u32,
    /// Transmit ring entries per queue.
    pub tx_ring: u32,
    /// Most frames in a burst.
    pub burst: u32,
    /// Buffers of the pool; `None`: enough for full rings and caches.
    pub pool: Option<u32>,
    /// Upper bound of simulated time where no span is laid down.
    pub limit: Ps,
    /// When it counts; `None`: as soon as its own rates have settled.
    pub span: Option<Span>,
    /// Whether firmware pauses all cores now and then ([`crate::Pause`]), as in a trial of a no-drop search.
    pub pauses: bool,
    /// Who else uses the memory.
    pub antagonist: Option<Antagonist>,
    /// Flows that no core receives, beside the sources.
    pub bypass: Vec<Bypass>,
    /// Rules in the tables of the cards; `None`: frames are steered without a look-up.
    pub rules: Option<Rules>,
    /// Frames to simulate at least, where no span is laid down: the measured window grows. 0: as many as it takes.
    pub frames: u64,
}

impl Setting {
    /// What is asked unless somebody says otherwise: one run from empty rings, on cores of their own, with nothing beside.
    pub fn new(server: Server, interface: rings::Interface, app: App) -> Setting {
        Setting {
            server,
            interface,
            emulated: false,
            app,
            steer: SteerBy::Rss,
            start: Start::Empty,
            seed: 1,
            sampling: SAMPLING,
            tx_ring: TX_RING,
            burst: BURST,
            pool: None,
            limit: Ps::from_us(100_000),
            span: None,
            pauses: false,
            antagonist: None,
            bypass: Vec::new(),
            rules: None,
            frames: 0,
        }
    }
}

/// One run: a setting and its traffic. It reads as its setting, whose fields are most of what a run is asked for.
pub struct Scenario {
    /// All but the traffic.
    pub setting: Setting,
    /// Cores that receive, port by port.
    pub port_cores: Vec<u32>,
    /// Frames of each port, in order of time.
    pub sources: Vec<Box<dyn Source>>,
    /// Hosts at the far ends of two wires instead of sources, see [`crate::transfer()`]: a core sends what it
    /// receives from one to the other.
    pub peers: Vec<Rc<RefCell<dyn Peer>>>,
    /// How far an agent may run ahead of the slowest: less than the smallest latency between two.
    pub window: Ps,
}

impl Deref for Scenario {
    type Target = Setting;

    fn deref(&self) -> &Setting {
        &self.setting
    }
}

impl DerefMut for Scenario {
    fn deref_mut(&mut self) -> &mut Setting {
        &mut self.setting
    }
}

/// Sampling of `compare` and `experiment` unless told otherwise.
pub const SAMPLING: u32 = 32;
/// Transmit ring entries unless told otherwise.
pub const TX_RING: u32 = 1024;
/// Frames in a burst unless told otherwise.
pub const BURST: u32 = 32;

impl Scenario {
    /// Receiving cores of all ports.
    pub fn cores(&self) -> u32 {
        self.port_cores.iter().fold(0, |all, cores| all.saturating_add(*cores))
    }

    /// The interface as it is on a port of `queues`.
    pub(crate) fn over(&self, queues: u32) -> rings::Interface {
        self.interface.over(queues)
    }

    /// A sum over ports, of what the interface makes of the port's cores.
    fn sum(&self, of: impl Fn(&rings::Interface, u32) -> u64) -> u64 {
        self.port_cores.iter().map(|&queues| of(&self.over(queues), queues)).sum()
    }

    /// Cores that receive and those that only allocate.
    pub(crate) fn hosts(&self) -> u64 {
        self.sum(|interface, queues| u64::from(interface.hosts(queues)))
    }

    /// Whether frames of a flow may overtake: cores receive from one ring, and a card sends.
    pub(crate) fn overtakes(&self) -> bool {
        let queues = self.port_cores.iter().max().copied().unwrap_or(0);
        let shared = (0..queues as u16).any(|q| self.interface.ring_of(q) != q);
        shared && self.server.nic_core().is_none() && self.app != App::Sink
    }

    /// Buffers that keep every ring and cache full: what `pool` must not fall below by much.
    pub fn buffers_wanted(&self) -> u64 {
        let held = self.sum(rings::Interface::held_buffers);
        let core =
            u64::from(self.tx_ring) + u64::from(rings::pool::CACHE) * 3 / 2 + 4 * u64::from(self.burst);
        held + self.physical_buffers() + self.hosts() * core
    }

    /// Buffers that the physical rings below an emulated NIC hold.
    pub(crate) fn physical_buffers(&self) -> u64 {
        if !self.emulated {
            return 0;
        }
        self.sum(|interface, queues| {
            let (rings, each) = physical::rings(interface, queues);
            u64::from(rings) * u64::from(each)
        })
    }

    /// Buffers that full rings hold, physical ones among them.
    pub fn posted_buffers(&self) -> u64 {
        self.sum(rings::Interface::posted_buffers) + self.physical_buffers()
    }

    /// The cores that play the NIC.
    pub(crate) fn nic_cores(&self) -> Range<u32> {
        let first = self.server.cores;
        let emulators = if self.emulated { self.port_cores.len() as u32 } else { 0 };
        self.server.nic_core().map_or(first..first + emulators, |core| core..core + 1)
    }
}
