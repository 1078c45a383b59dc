//! One run of the model: what is asked, and how it is built.

use std::collections::BTreeMap;

use apps::Antagonist;
use memory::Ps;
use model::profile::Server;
use model::{App, Report, Scenario, Span, Start};
use packet::SteerBy;
use rings::Interface;
use traffic::{Rate, Source, Workload};

use crate::fail::Fail;
use crate::lab::ports::Ports;

/// Everything that a run depends on.
#[derive(Clone)]
pub(crate) struct Point {
    /// The machine.
    pub server: Server,
    /// Receive interface and sizes.
    pub interface: Interface,
    /// Whether a core on the other node plays the NIC.
    pub emulated: bool,
    /// Application.
    pub app: App,
    /// Ports in use, with their traffic and cores.
    pub ports: Ports,
    /// Traffic.
    pub workload: Workload,
    /// How it is offered.
    pub rate: Rate,
    /// How the cards choose a core.
    pub steer: SteerBy,
    /// From empty or full rings.
    pub start: Start,
    /// Seed of the arrivals.
    pub arrivals: u64,
    /// Seed of placement and replacement.
    pub seed: u64,
    /// One cache set in so many.
    pub sampling: u32,
    /// Transmit ring entries.
    pub tx_ring: u32,
    /// Frames in a burst.
    pub burst: u32,
    /// Buffers of the pool.
    pub pool: Option<u32>,
    /// When it counts; `None`: as soon as its own rates have settled.
    pub span: Option<Span>,
    /// Whether firmware pauses the cores now and then, as in a trial of a no-drop search.
    pub pauses: bool,
    /// Who else uses the memory.
    pub antagonist: Option<Antagonist>,
    /// Longest simulated time.
    pub limit: Ps,
    /// Frames to simulate at least.
    pub frames: u64,
}

impl Point {
    /// The interface's sizes by name, and whether it is emulated.
    pub(crate) fn params(&self) -> BTreeMap<&'static str, u64> {
        let emulated = self.emulated.then_some(("emulated", 1));
        self.interface.params().into_iter().chain(emulated).collect()
    }

    /// Runs the model.
    ///
    /// # Errors
    /// What the model cannot run, and why.
    pub(crate) fn run(&self) -> Result<Report, Fail> {
        let mut scenario = self.scenario(self.sources());
        let mut report = model::run(&mut scenario)
            .map_err(|e| Fail::new(format!("{} from {}: {e}", self.interface.name(), self.start.name())))?;
        if !self.ports.stated {
            report.per_port.clear();
        }
        Ok(report)
    }

    /// The frames of each port.
    pub(crate) fn sources(&self) -> Vec<Box<dyn Source>> {
        let source = |port| {
            let line = (port, self.server.nic.port_gbps);
            self.ports.source(line, &self.workload, self.steer, self.rate, self.arrivals)
        };
        (0..self.ports.count()).map(source).collect()
    }

    /// What the model is asked, with these `sources`.
    pub(crate) fn scenario(&self, sources: Vec<Box<dyn Source>>) -> Scenario {
        Scenario {
            server: self.server.clone(),
            interface: self.interface.clone(),
            emulated: self.emulated,
            app: self.app,
            port_cores: self.ports.cores.clone(),
            sources,
            peers: Vec::new(),
            steer: self.steer,
            start: self.start,
            seed: self.seed,
            sampling: self.sampling,
            tx_ring: self.tx_ring,
            burst: self.burst,
            pool: self.pool,
            limit: self.limit,
            span: self.span,
            pauses: self.pauses,
            antagonist: self.antagonist,
            window: self.server.window(),
            frames: self.frames,
        }
    }
}
