//! A setup read and checked: what is run, and the points of an interface.

use apps::Antagonist;
use memory::Ps;
use model::profile::Server;
use model::{App, Bypass, Rules, Setting, Span, Start};
use packet::SteerBy;
use rings::Interface;
use traffic::{Rate, Workload};

use super::Setup;
use super::checks::check;
use crate::fail::Fail;
use crate::lab::interfaces::{self, Asked};
use crate::lab::jobs::Job;
use crate::lab::point::Point;
use crate::lab::ports::Ports;
use crate::lab::search::Search;
use crate::lab::senders::Senders;

/// A [`Setup`] read and checked.
#[derive(Clone)]
pub(crate) struct Ready {
    /// The server, with the ways asked for.
    pub server: Server,
    /// The traffic.
    pub workload: Workload,
    /// How it is offered.
    pub rate: Rate,
    /// Ports in use, with their traffic and cores.
    pub ports: Ports,
    pub(super) app: App,
    /// What chooses a core.
    pub steer: SteerBy,
    pub(super) antagonist: Option<Antagonist>,
    pub(super) bypass: Vec<Bypass>,
    pub(super) senders: Option<Senders>,
    pub(super) rules: Option<Rules>,
    /// When runs count, where that is stated.
    pub span: Option<Span>,
    pub(super) setup: Setup,
}

impl Ready {
    /// Whether nobody says how much is offered.
    pub(crate) fn has_no_load(&self) -> bool {
        self.setup.rate.is_none() && self.senders.is_none()
    }

    /// One point per placement of `interface` from `start`, its sizes checked.
    ///
    /// # Errors
    /// Names the size and what is allowed.
    pub(crate) fn points(&self, interface: &str, start: Start) -> Result<Vec<Point>, Fail> {
        let interface = self.interface(interface)?;
        let s = &self.setup;
        let setting = Setting {
            server: self.server.clone(),
            interface,
            emulated: s.emulated,
            app: self.app,
            steer: self.steer,
            start,
            seed: s.seed,
            sampling: s.sampling,
            tx_ring: s.tx_ring,
            burst: s.burst,
            pool: s.pool,
            span: None,
            pauses: false,
            antagonist: self.antagonist,
            rules: self.rules,
            bypass: self.bypass.clone(),
            limit: Ps::from_us(s.limit_ms * 1000),
            frames: s.frames,
        };
        let point = |placement: u32| Point {
            setting: Setting { seed: s.seed.wrapping_add(u64::from(placement)), ..setting.clone() },
            ports: self.ports.clone(),
            workload: self.workload.clone(),
            rate: self.rate,
            senders: self.senders.clone(),
            arrivals: s.seed,
        };
        Ok((0..s.placements).map(point).collect())
    }

    /// The runs of `interface`, with the search for its no-drop rate.
    ///
    /// # Errors
    /// As [`Self::points`].
    pub(crate) fn job(&self, interface: &str, search: bool) -> Result<Job, Fail> {
        let in_force = self.interface(interface)?;
        Ok(Job {
            empty: self.points(interface, Start::Empty)?,
            full: self.points(interface, Start::Full)?,
            others: Vec::new(),
            search: self.search().filter(|_| search),
            span: self.span,
            label: interface.to_string(),
            written: interface.to_string(),
            reproduce: self.command(&in_force),
        })
    }

    /// Points of `interface` from full rings under `count` other arrivals, each with a placement of its own.
    ///
    /// # Errors
    /// As [`Self::points`].
    pub(crate) fn other_arrivals(&self, interface: &str, count: u32) -> Result<Vec<Point>, Fail> {
        let Some(point) = self.points(interface, Start::Full)?.into_iter().next() else {
            return Ok(Vec::new());
        };
        let other = |n: u32| {
            let seed = self.setup.seed.wrapping_add(u64::from(self.setup.placements + n));
            Point { arrivals: seed, ..point.with(|s| s.seed = seed) }
        };
        Ok((0..count).map(other).collect())
    }

    /// The same with other values of `ring`, `ax`, `bx` or `placements`; the rest has been read already.
    pub(crate) fn resized(&self, change: impl FnOnce(&mut Setup)) -> Ready {
        let mut other = self.clone();
        change(&mut other.setup);
        other
    }

    /// The interface that is `written` with the sizes asked for, fit for this server's device and cores. On a port with
    /// fewer cores than share a ring, all of them do.
    ///
    /// # Errors
    /// Names what is allowed.
    pub(crate) fn interface(&self, written: &str) -> Result<Interface, Fail> {
        let s = &self.setup;
        let queues = self.ports.most_cores();
        let asked = Asked {
            ring: s.ring,
            ax_bx: [s.ax, s.bx],
            shared_by: s.shared_by,
            unlock: &s.unlock,
            refill: &s.refill,
            marks: &s.marks,
            cached: self.server.cached_buffers(self.ports.count()),
        };
        let written = interfaces::one(written)?;
        let interface = asked.interface(&written, queues)?;
        if let Some(shared_by) = s.shared_by {
            check("--shared-by", shared_by, 1, queues, "cores of a port")?;
        }
        let (lo, hi) = (self.server.nic.min_ring, self.server.nic.max_ring);
        let rings = interfaces::rings(&interface).into_iter().map(|(name, n)| match s.ring_of(name) {
            Some(_) if !written.says(name) => (format!("--{name} {n}"), n),
            _ => (format!("{}:{name}={n}", interface.name()), n),
        });
        for (said, n) in rings.chain([(format!("--tx-ring {}", s.tx_ring), s.tx_ring)]) {
            if !n.is_power_of_two() || !(lo..=hi).contains(&n) {
                return Err(Fail::new(format!(
                    "{said}: allowed: a power of two from {lo} to {hi} ({} of {})",
                    self.server.nic.name, self.server.name
                )));
            }
        }
        if written.says_any() {
            interface.validate(queues).map_err(Fail::new)?;
        }
        Ok(interface)
    }

    /// The same, and `written`, with a ring of so many entries; how one says so.
    pub(crate) fn with_ring(
        &self,
        written: &str,
        name: &str,
        n: u32,
    ) -> Result<(Ready, String, String), Fail> {
        let mut one = interfaces::one(written)?;
        if !one.says(name) && self.setup.ring_of(name).is_some() {
            let ready = self.resized(|s| s.set_ring(name, n));
            return Ok((ready, written.to_string(), format!("--{name} {n}")));
        }
        one.set(name, &n.to_string()).map_err(Fail::new)?;
        Ok((self.clone(), one.to_string(), one.to_string()))
    }

    /// Frames of the capture; `None` for generated traffic, which has no end.
    pub(crate) fn frames(&self) -> Option<u64> {
        match &self.workload {
            Workload::Pcap(trace, _) => Some(trace.stats().packets),
            Workload::Generated(_) => None,
        }
    }

    /// Rx ring entries.
    pub(crate) fn ring(&self) -> u32 {
        self.setup.ring
    }

    /// Buffers of the pool, where they are stated.
    pub(crate) fn pool(&self) -> Option<u32> {
        self.setup.pool
    }

    /// Frames of a burst.
    pub(crate) fn burst(&self) -> u32 {
        self.setup.burst
    }

    /// Resolution of a search, percent.
    pub(crate) fn resolution_pct(&self) -> f64 {
        self.setup.resolution
    }

    /// The seed in force.
    pub(crate) fn seed(&self) -> u64 {
        self.setup.seed
    }

    /// How the no-drop rate of this setup is searched; `None` where there is no other rate to try.
    pub(crate) fn search(&self) -> Option<Search> {
        let Rate::Gbps(full) = self.rate else { return None };
        if self.senders.is_some() {
            return None; // they find their rates themselves
        }
        let trial = Ps::from_us(self.setup.trial_ms * 1000);
        Some(Search { full, resolution_pct: self.setup.resolution, trial })
    }

    /// Whether a core plays the NIC.
    pub(crate) fn emulated(&self) -> bool {
        self.setup.emulated
    }

    /// Entries of a transmit ring.
    pub(crate) fn tx_ring(&self) -> u32 {
        self.setup.tx_ring
    }
}
