//! What a run refuses before it begins.

use memory::Ps;
use rings::{Interface, Param, Role};

use super::error::Error;
use super::tables;
use crate::classifier::Place;
use crate::scenario::Scenario;
use crate::scenario::bypass::Bypass;
use crate::scenario::physical;
use crate::scenario::rules::RuleCore;

/// Threads of an antagonist: with them, all cores and all ports there are fewer agents than a simulation may have.
const MAX_ANTAGONISTS: u32 = 16;

/// Flows that no core receives.
const MAX_BYPASS: usize = 16;

/// Tables behind the root, and rules in them.
const MAX_TABLES: u32 = 64;
const MAX_RULES: u64 = 1 << 30;

/// Whether the model can run `s`.
///
/// # Errors
/// The number that is not allowed, and what is.
pub(crate) fn scenario(s: &Scenario) -> Result<(), Error> {
    s.server.validate()?;
    let bad = |what: String| Err(Error::Scenario(what));
    let hosts = s.hosts();
    if s.port_cores.is_empty() || s.port_cores.contains(&0) || hosts > u64::from(s.server.cores) {
        return bad(format!(
            "{hosts} cores for {} ports; allowed on {}: 1 to {}, at least one for each port",
            s.port_cores.len(),
            s.server.name,
            s.server.cores
        ));
    }
    let wires = s.sources.len().max(s.peers.len());
    if !s.peers.is_empty() && (s.emulated || s.server.nic_core().is_some()) {
        return bad("hosts that answer are on the wire of a card; allowed: no core that plays it".into());
    }
    if wires != s.port_cores.len() {
        return bad(format!(
            "{wires} ports with traffic; allowed: {}, as many as have cores",
            s.port_cores.len()
        ));
    }
    if wires == 0 || wires as u32 > s.server.nic.ports {
        return bad(format!("{wires} ports; allowed on {}: 1 to {}", s.server.name, s.server.nic.ports));
    }
    if !(1..=64).contains(&s.sampling) || !s.sampling.is_power_of_two() {
        return bad(format!("one set in {} sampled; allowed: 1, 2, 4, 8, 16, 32, 64", s.sampling));
    }
    let late = s.span.is_some_and(|span| span.late > Ps::ZERO);
    if late && !(s.peers.is_empty() && s.bypass.is_empty()) {
        return bad("a run that meets its sources late has nothing beside them; allowed: no hosts that answer, no flows past the cores".into());
    }
    let threads = s.antagonist.map_or(0, |a| a.threads);
    if threads > MAX_ANTAGONISTS {
        return bad(format!("{threads} threads of an antagonist; allowed: 0 to {MAX_ANTAGONISTS}"));
    }
    if !(1..=1024).contains(&s.burst) {
        return bad(format!("a burst of {}; allowed: 1 to 1024", s.burst));
    }
    s.interface.validate(s.port_cores.iter().copied().max().unwrap_or(0))?;
    for &queues in &s.port_cores {
        s.over(queues).validate(queues)?;
    }
    device_limits(s)?;
    coherence(s)?;
    emulation(s)?;
    rules(s)?;
    bypass(s)?;
    let least = least_pool(s);
    tables::cycles(s)?;
    match s.pool {
        Some(n) if u64::from(n) < least => bad(format!(
            "a pool of {n} buffers is too small; allowed: at least {least}, what the rings hold when posted and a burst per core"
        )),
        _ => Ok(()),
    }
}

/// Rings that the card would refuse.
fn device_limits(s: &Scenario) -> Result<(), Error> {
    let nic = &s.server.nic;
    let entries = |p: &Param<'_>| Some((p.name, p.number()?)).filter(|_| p.role != Role::Other);
    let sizes = s.interface.each_param(entries).into_iter().flatten();
    for (name, n) in sizes.chain([("transmit ring", u64::from(s.tx_ring))]) {
        if n < u64::from(nic.min_ring) || n > u64::from(nic.max_ring) {
            let what = format!(
                "{}: {name} is {n}; allowed on {}: {} to {}",
                s.interface.name(),
                nic.name,
                nic.min_ring,
                nic.max_ring
            );
            return Err(Error::Scenario(what));
        }
    }
    Ok(())
}

/// Whether the NIC takes part in cache coherence, if the interface needs that: a result over a card behind PCIe would be
/// none of this interface.
fn coherence(s: &Scenario) -> Result<(), Error> {
    if !s.interface.about().coherent || s.server.nic_core().is_some() {
        return Ok(());
    }
    let what = format!("{} needs a NIC that takes part in cache coherence", s.interface.name());
    Err(Error::Scenario(format!(
        "{what}; {} has a card behind PCIe; allowed: a server whose NIC is a core, or rxlab live",
        s.server.name
    )))
}

/// Whether there is a card below an emulated NIC, and the rings for it.
fn emulation(s: &Scenario) -> Result<(), Error> {
    if !s.emulated {
        return Ok(());
    }
    let nic = &s.server.nic;
    if nic.remote {
        let what = "an emulated NIC is a core of the other node already";
        return Err(Error::Scenario(format!("{what}; allowed: a card on the cores' node")));
    }
    if s.server.nic_core().is_some() {
        let what = "an emulated NIC passes on what a card receives";
        return Err(Error::Scenario(format!("{what}; the NIC of {} is a core", s.server.name)));
    }
    if let Some(why) = s.interface.about().not_emulated {
        let can = Interface::ALL.iter().filter(|about| about.not_emulated.is_none());
        let can: Vec<&str> = can.map(|about| about.name).collect();
        let what = format!("{} cannot be emulated: {why}", s.interface.name());
        return Err(Error::Scenario(format!("{what}; allowed: {}", can.join(", "))));
    }
    for &queues in &s.port_cores {
        let (_, each) = physical::rings(&s.over(queues), queues);
        let (n, lo, hi) = (physical::entries(each), nic.min_ring, nic.max_ring);
        if !(lo..=hi).contains(&n) {
            let what = format!("the physical ring of an emulated port has {n} entries");
            return Err(Error::Scenario(format!("{what}; allowed on {}: {lo} to {hi}", nic.name)));
        }
    }
    Ok(())
}

/// Flows that a card can write into host memory.
fn bypass(s: &Scenario) -> Result<(), Error> {
    let bad = |what: String| Err(Error::Scenario(what));
    if !s.bypass.is_empty() && (s.server.nic_core().is_some() || s.server.nic.remote || s.emulated) {
        return bad("bypass flows are written by a card on the cores' node; allowed: there alone".into());
    }
    if s.bypass.len() > MAX_BYPASS {
        return bad(format!("{} bypass flows; allowed: up to {MAX_BYPASS}", s.bypass.len()));
    }
    let files = s.bypass.iter().filter(|flow| flow.files).count() as u64;
    let (hosts, cores) = (s.hosts(), u64::from(s.server.cores));
    if files > 0 && hosts + files > cores {
        return bad(format!(
            "{hosts} cores receive and {files} take files; allowed on {}: {cores} together",
            s.server.name
        ));
    }
    let refused = |flow: &Bypass| flow.refused(s.port_cores.len(), s.server.nic.port_gbps);
    s.bypass.iter().find_map(refused).map_or(Ok(()), bad)
}

/// Rules that there are tables for, and a core to insert them.
fn rules(s: &Scenario) -> Result<(), Error> {
    let Some(rules) = s.rules else { return Ok(()) };
    let bad = |what: String| Err(Error::Scenario(what));
    let Some(tables) = s.server.tables() else {
        return bad(format!("{} has no tables for rules; allowed: a profile with [tables]", s.server.name));
    };
    if s.server.nic_core().is_some() || s.emulated || !s.peers.is_empty() {
        return bad(
            "rules lie in the tables of a card; allowed: without an emulated NIC, and not in tcp".into()
        );
    }
    let entries = tables.root.entries.value;
    match rules.place {
        Place::Root if rules.installed as f64 > entries => {
            return bad(format!("{} rules in the root table; allowed: up to {entries}", rules.installed));
        }
        Place::Chained(n) if !(1..=MAX_TABLES).contains(&n) => {
            return bad(format!("{n} chained tables; allowed: 1 to {MAX_TABLES}"));
        }
        _ if rules.installed > MAX_RULES => {
            return bad(format!("{} rules; allowed: up to {MAX_RULES}", rules.installed));
        }
        _ => {}
    }
    let other = rules.updates.is_some_and(|u| u.core == RuleCore::Other);
    if other && s.hosts() >= u64::from(s.server.cores) {
        return bad(format!(
            "all {} cores of {} receive; allowed: one less, for the core that inserts rules",
            s.server.cores, s.server.name
        ));
    }
    if rules.updates.is_some() && s.port_cores.len() > 1 {
        return bad("rules are inserted on one port; allowed: a run of one port".into());
    }
    Ok(())
}

fn least_pool(s: &Scenario) -> u64 {
    s.posted_buffers() + u64::from(s.cores()) * u64::from(s.burst)
}
