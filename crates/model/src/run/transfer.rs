//! A run whose sources are hosts at the far ends of the wires: what one sends depends on what it gets, from another one
//! through the server, or from the server itself.

use memory::Ps;

use super::course::Looks;
use super::error::Error;
use super::report::Report;
use super::validate;
use crate::run::Run;
use crate::scenario::Scenario;

/// Step of time after which a run looks whether its hosts are through.
const STEP: Ps = Ps::from_us(1_000);

/// Runs until the hosts are through, and their connections closed; whether they are: the scenario's limit may
/// come first. A server's pauses count: a transfer lasts through many. The report is of the whole run.
///
/// # Errors
/// A number of the scenario is not allowed, or nothing can happen any more (with a dump).
pub fn transfer(s: &mut Scenario) -> Result<(Report, bool), Error> {
    if s.peers.len() != 2 || !s.sources.is_empty() || s.emulated || s.server.nic_core().is_some() {
        return Err(Error::Scenario("a transfer is between two hosts, each on the wire of a card".into()));
    }
    if s.port_cores.windows(2).any(|ports| ports[0] != ports[1]) {
        return Err(Error::Scenario(format!(
            "{} cores; allowed for a transfer: as many for each port",
            s.cores()
        )));
    }
    answers_late(s)?;
    Run::watched(s, STEP, |s| s.peers.iter().all(|p| p.borrow().done()))
}

/// Runs until the host at the wire of the only port is through with the server's service; whether it is, as in
/// [`transfer`].
///
/// # Errors
/// As there.
pub fn serve(s: &mut Scenario) -> Result<(Report, bool), Error> {
    if s.peers.len() != 1 || !s.sources.is_empty() || s.emulated || s.server.nic_core().is_some() {
        return Err(Error::Scenario("a service is for one host, on the wire of a card".into()));
    }
    answers_late(s)?;
    Run::watched(s, STEP, |s| s.peers.iter().all(|p| p.borrow().done()))
}

/// Whether no agent sees a host's answer too early.
pub(super) fn answers_late(s: &Scenario) -> Result<(), Error> {
    let Some(delay) = s.peers.iter().map(|p| p.borrow().delay()).min() else { return Ok(()) };
    if delay > s.window.0 {
        return Ok(());
    }
    let what = format!("a host answers after {delay} ps; allowed: more than the window, {} ps", s.window.0);
    Err(Error::Scenario(what))
}

impl Run {
    /// Runs step by step until `done`, or up to the scenario's limit: the report of all of it, and whether it was.
    ///
    /// # Errors
    /// As [`run`].
    pub(crate) fn watched(
        s: &mut Scenario,
        step: Ps,
        done: impl Fn(&Scenario) -> bool,
    ) -> Result<(Report, bool), Error> {
        validate::scenario(s)?;
        let mut run = Run::build(s)?;
        run.book.meter.borrow_mut().measuring = true;
        let before = run.snapshot();
        while !done(s) && run.now < s.limit {
            run.advance(step)?;
        }
        let looks = Looks::new(&before);
        run.book.meter.borrow_mut().next_part();
        let window = run.window(before, looks, Vec::new());
        let done = done(s);
        Ok((run.report(s, &window, done)?, done))
    }
}
