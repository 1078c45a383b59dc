//! One run of the model: what is asked, and how it is built.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Deref;
use std::rc::Rc;

use model::{Report, Scenario, Setting};
use packet::SteerBy;
use traffic::{Peer, Rate, Source, Workload};

use crate::fail::Fail;
use crate::lab::kept;
use crate::lab::ports::Ports;
use crate::lab::senders::Senders;
use crate::show::caller;

/// Everything that a run depends on. It reads as its setting.
#[derive(Clone)]
pub(crate) struct Point {
    /// All but the traffic.
    pub setting: Setting,
    /// Ports in use, with their traffic and cores.
    pub ports: Ports,
    /// Traffic.
    pub workload: Workload,
    /// How it is offered, unless `senders` do.
    pub rate: Rate,
    /// Hosts that send it by windows.
    pub senders: Option<Senders>,
    /// Seed of the arrivals.
    pub arrivals: u64,
}

impl Deref for Point {
    type Target = Setting;

    fn deref(&self) -> &Setting {
        &self.setting
    }
}

impl Point {
    /// The same in another setting.
    pub(crate) fn with(&self, change: impl FnOnce(&mut Setting)) -> Point {
        let mut other = self.clone();
        change(&mut other.setting);
        other
    }

    /// The interface's sizes by name, and whether it is emulated.
    pub(crate) fn params(&self) -> BTreeMap<&'static str, u64> {
        let emulated = self.emulated.then_some(("emulated", 1));
        self.interface.params().into_iter().chain(emulated).collect()
    }

    /// Runs the model, or finds what it said to the same question before.
    ///
    /// # Errors
    /// What the model cannot run, and why.
    pub(crate) fn run(&self) -> Result<Report, Fail> {
        caller::goes_on()?;
        kept::or_run(|to| self.asked(to), || self.run_anew())
    }

    /// Runs the model.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub(crate) fn run_anew(&self) -> Result<Report, Fail> {
        let mut scenario = match &self.senders {
            None => self.scenario(self.sources()),
            Some(senders) => Scenario { peers: self.peers(senders), ..self.scenario(Vec::new()) },
        };
        let mut report = model::run(&mut scenario)
            .map_err(|e| Fail::new(format!("{} from {}: {e}", self.interface.name(), self.start.name())))?;
        if !self.ports.stated {
            report.per_port.clear();
        }
        Ok(report)
    }

    /// Writes all that a run depends on: points that differ write differently.
    fn asked(&self, to: &mut dyn fmt::Write) -> fmt::Result {
        let Point { setting, ports, workload, rate, arrivals, senders } = self;
        write!(to, "{setting:?} {ports:?} {rate:?} {arrivals} {senders:?} ")?;
        match workload {
            Workload::Pcap(trace, arrivals) => write!(to, "{:?} {arrivals:?}", trace.digest()),
            Workload::Generated(spec) => write!(to, "{spec:?}"),
        }
    }

    /// The frames of each port.
    pub(crate) fn sources(&self) -> Vec<Box<dyn Source>> {
        let source = |port| {
            let line = (port, self.server.nic.port_gbps);
            self.ports.source(line, &self.workload, self.steer, self.rate, self.arrivals)
        };
        (0..self.ports.count()).map(source).collect()
    }

    /// The hosts at the far end of each port's wire.
    fn peers(&self, senders: &Senders) -> Vec<Rc<RefCell<dyn Peer>>> {
        let gbps = self.server.nic.port_gbps;
        let peer = |(port, &cores): (usize, &u32)| -> Rc<RefCell<dyn Peer>> {
            let flows = self.bypass.iter().filter(|flow| flow.port as usize == port);
            let others = flows.map(|flow| (flow.from.0, flow.until.0, flow.gbps)).collect();
            let line = (port as u32, gbps);
            // What a sender's frames hold; when they come is its own.
            let frames = self.ports.source(line, &self.workload, self.steer, Rate::Own, self.arrivals);
            let (network, senders) = (senders.network(gbps, others), senders.of_port(cores));
            let named = self.steer == SteerBy::Port;
            Rc::new(RefCell::new(traffic::Senders::new(network, &senders, frames, named)))
        };
        self.ports.cores.iter().enumerate().map(peer).collect()
    }

    /// What the model is asked, with these `sources`.
    pub(crate) fn scenario(&self, sources: Vec<Box<dyn Source>>) -> Scenario {
        Scenario {
            setting: self.setting.clone(),
            port_cores: self.ports.cores.clone(),
            sources,
            peers: Vec::new(),
            window: self.server.window(),
        }
    }
}
