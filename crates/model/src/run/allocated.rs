//! Everything that a scenario allocates before its simulation exists.

use memory::Space;
use rings::pool::{self, CoreCache};
use rings::{AnyHost, AnyNic, AnyTxHost, AnyTxNic, Nic, tx};

use super::error::Error;
use super::tables::{self, Tables};
use crate::agents::bypass::Region;
use crate::agents::emulator::Physical;
use crate::agents::files::Files;
use crate::agents::nic_core;
use crate::engine::space::ModelSpace;
use crate::engine::view::View;
use crate::machine::layout::{PoolId, Table};
use crate::profile::NicKind;
use crate::scenario::Scenario;
use crate::scenario::bypass::{Bypass, QUEUE};

/// What a run's agents are made of.
pub(super) struct Allocated {
    pub buffers: PoolId,
    /// How many of those are the pool's; a store's follow.
    pub count: u32,
    pub tables: Tables,
    /// Port by port.
    pub ports: Vec<PortRings>,
    /// Handles of the pool: for the hosts of each port and its emulator, then one more, to count what is free at the end.
    pub caches: Vec<CoreCache<View>>,
    /// Of each flow that no core receives.
    pub regions: Vec<Region>,
}

/// The rings of a port, and what lies below or beside them.
pub(super) struct PortRings {
    /// Receiving cores, then those that only allocate.
    pub hosts: Vec<AnyHost<View>>,
    pub nic: AnyNic<View>,
    pub host_txs: Vec<AnyTxHost<View>>,
    pub nic_tx: AnyTxNic<View>,
    /// The physical rings below an emulated NIC.
    pub physical: Option<Physical>,
    /// What the source of a software NIC reads.
    pub source: Option<Table>,
}

impl Allocated {
    pub(super) fn new(s: &Scenario, space: &mut ModelSpace) -> Result<Allocated, Error> {
        let count = s.pool.map_or(s.buffers_wanted(), u64::from);
        let count =
            u32::try_from(count).map_err(|_| Error::Scenario(format!("{count} buffers are too many")))?;
        let sizes = tables::sizes(s, count);
        let all = u32::try_from(u64::from(count) + sizes.pages());
        let all = all.map_err(|_| Error::Scenario("the values of the store fill too many buffers".into()))?;
        let buffers = space.buffers(&s.server.buffers.geometry(all))?;
        let tables = Tables::build(s, space, sizes)?;
        let ports = (0..)
            .zip(&s.port_cores)
            .map(|(port, &queues)| PortRings::new(s, &mut space.of_port(port), queues, buffers));
        let mut ports = ports.collect::<Result<Vec<_>, Error>>()?;
        let takers = ports.iter().map(|p| p.hosts.len() + usize::from(p.physical.is_some()));
        let takers = takers.sum::<usize>() as u32;
        let caches = pool::build(space, count, takers + 1, pool::CACHE.min(count))?;
        if let [one, other] = ports.as_mut_slice()
            && s.peers.iter().any(|peer| !peer.borrow().is_endless())
        {
            // A router: what comes from one host goes to the other.
            std::mem::swap(&mut one.host_txs, &mut other.host_txs);
        }
        let region = |(n, flow): (u32, &Bypass)| {
            let data = space.table("region", flow.region)?;
            let completions = space.table("completions", QUEUE)?;
            let files = if flow.files { Some(Files::new(&mut space.of_port(flow.port), n)?) } else { None };
            Ok(Region { data, completions, files })
        };
        let regions = (0..).zip(&s.bypass).map(region).collect::<Result<Vec<_>, Error>>()?;
        Ok(Allocated { buffers, count, tables, ports, caches, regions })
    }
}

impl PortRings {
    fn new(s: &Scenario, space: &mut ModelSpace, queues: u32, buffers: PoolId) -> Result<PortRings, Error> {
        let interface = s.over(queues);
        let kind = if s.emulated { NicKind::Core } else { s.server.nic.kind };
        let (hosts, mut nic) = rings::receive(&mut space.served_by(kind), &interface, queues, buffers)?;
        nic.set_write_back(s.server.write_back());
        let physical =
            if s.emulated { Some(Physical::build(space, &interface, queues, buffers)?) } else { None };
        let sizes = tx::Sizes { ring: s.tx_ring, ..tx::Sizes::default() };
        // The card sends by itself, whoever plays it to those that receive.
        let (host_txs, nic_tx) = rings::transmit(space, &interface, sizes, hosts.len() as u32)?;
        let source = if s.server.nic_core().is_some() {
            Some(space.table("source", u64::from(nic_core::KEPT) * traffic::HEAD as u64)?)
        } else {
            None
        };
        Ok(PortRings { hosts, nic, host_txs, nic_tx, physical, source })
    }
}
