//! What applications look into, and the applications themselves: built before a run, queue by queue.

use std::cell::RefCell;
use std::rc::Rc;

use apps::echo::Server;
use apps::ipsec::{self, Sa, Suite};
use apps::table::{Declared, Shape, Value};
use apps::{Factory, Kind, Parts, Sizes, kv, nf};
use memory::Space;
use packet::kv::Objects;

use super::error::Error;
use crate::agents::app::{ModelApp, Sink, Store};
use crate::agents::meter::Meter;
use crate::engine::space::ModelSpace;
use crate::engine::view::View;
use crate::machine::layout::{PoolId, Table};
use crate::mix::mix;
use crate::scenario::Scenario;
use crate::scenario::app::App;

/// Flows that an application's table holds (rxbisect §6).
const FLOWS: u32 = 10_000_000;

/// A seat in the server: a core, and its queue among those of its port.
#[derive(Clone, Copy)]
pub(crate) struct Seat {
    pub core: usize,
    pub queue: u32,
    pub queues: u32,
}

/// Tables without storage: every flow and key is found in them, and accesses cost what they would.
struct Charged;

impl Parts<View> for Charged {
    type Flows = Declared<View>;
    type Store = Store;

    fn flows(&self, shape: Shape, table: Table, value: fn(u64) -> Value) -> Declared<View> {
        Declared::new(shape, table, value)
    }

    fn store(&self, shape: kv::Shape, table: Table) -> Store {
        kv::Either::Copied(kv::Declared::new(shape, table))
    }

    fn slabs(&self, shape: kv::SlabShape, table: Table, frames: PoolId) -> Store {
        kv::Either::Lying(kv::DeclaredSlabs::new(shape, table, frames))
    }

    fn numbers(&self) -> nf::Numbers {
        nf::Numbers::declared()
    }

    fn sa(&self, core: u32) -> Sa {
        Sa::declared(Suite::default(), core + 1, ipsec::HERE, ipsec::THERE)
    }
}

/// How large tables are; the pool has `buffers`.
pub(super) fn sizes(s: &Scenario, buffers: u32) -> Sizes {
    let (keys, objects) = if let App::Kv { keys, objects } | App::ErpcKv { keys, objects } = s.app {
        (keys, objects)
    } else {
        (0, Objects::Fixed)
    };
    let room = s.server.buffers.room;
    Sizes { flows: Shape::new(FLOWS), keys, objects, cores: s.cores(), room, buffers }
}

/// What builds the applications of a scenario; nothing for a receiver that only reads.
pub(crate) struct Tables(Option<Factory<View, Charged>>);

impl Tables {
    pub(crate) fn build(s: &Scenario, space: &mut ModelSpace, sizes: Sizes) -> Result<Tables, Error> {
        let Some(kind) = s.app.kind() else {
            // What lies behind keeps its place.
            space.table("flows", sizes.flows.bytes())?;
            return Ok(Tables(None));
        };
        let factory = Factory::new(kind, Charged, sizes, |name, bytes| space.table(name, bytes))?;
        Ok(Tables(Some(factory)))
    }

    /// The application of a core.
    pub(crate) fn app(
        &self,
        s: &Scenario,
        meter: &Rc<RefCell<Meter>>,
        seat: Seat,
        frames: PoolId,
    ) -> Result<ModelApp, Error> {
        let Seat { core, queue, queues } = seat;
        if let App::TcpEcho { flows, cycles } = s.app {
            return Ok(ModelApp::Echo(Box::new(Server::new(flows, mix(s.seed ^ core as u64), cycles))));
        }
        let cycles = cycles(s)?;
        let Some(factory) = &self.0 else {
            return Ok(ModelApp::Sink(Sink { meter: meter.clone(), core, cycles }));
        };
        let extra_reads = match s.app {
            App::Nf { target_reads } if queue == 0 => target_reads,
            _ => 0,
        };
        let seed = mix(s.seed ^ core as u64);
        let (core, sealing) = (core as u32, sealing(s));
        let seat = apps::Seat { core, queue, queues, cycles, sealing, extra_reads, seed };
        Ok(ModelApp::Packets(factory.app(seat, frames)))
    }
}

/// What sealing costs.
fn sealing(s: &Scenario) -> ipsec::Cost {
    let c = &s.server.apps.ipsec;
    ipsec::Cost { frame: c.frame_cycles.value as u32, byte: c.byte_cycles.value }
}

/// Base cycles of a frame in the application, 0 where it has none.
pub(crate) fn cycles(s: &Scenario) -> Result<u32, Error> {
    let Some(kind) = s.app.kind() else { return Ok(s.server.constants.core.frame_cycles.value as u32) };
    let apps = &s.server.apps;
    let (place, cycles) = apps.cycles(kind);
    let sealing = ("apps.ipsec.frame_cycles", &apps.ipsec.frame_cycles);
    let needed = [Some((place, cycles)), (kind == Kind::Ipsec).then_some(sealing)];
    if let Some((place, _)) = needed.into_iter().flatten().find(|(_, c)| c.is_absent()) {
        return Err(Error::Scenario(format!("the application needs {place}; {} has none", s.server.name)));
    }
    Ok(cycles.value as u32)
}
