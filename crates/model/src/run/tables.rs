//! What applications look into, and the applications themselves: built before a run, queue by queue.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use apps::ipsec::{self, Ipsec, Sa, Spd, Suite};
use apps::table::{Declared, Shape};
use apps::{AnyApp, Kind, kv, l3fwd, lb, nat, nf};

use super::error::Error;
use crate::agents::app::{ModelApp, Sink};
use crate::agents::meter::Meter;
use crate::engine::space::ModelSpace;
use crate::machine::layout::Table;
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

/// The tables of a scenario's application.
pub(crate) struct Tables {
    shape: Shape,
    flows: Table,
    beside: Beside,
}

/// What is beside the flow table.
enum Beside {
    /// Nothing.
    Plain,
    /// Routes, built when they are used: they fill 64 MiB.
    Routes(Arc<l3fwd::Fib>, Table),
    /// Routes and the buffer of `nf`.
    Numbers(Arc<l3fwd::Fib>, Table, Table),
    /// A partition of the key-value store for each core.
    Stores(kv::Shape, Vec<Table>),
}

impl Tables {
    pub(crate) fn build(s: &Scenario, space: &mut ModelSpace) -> Result<Tables, Error> {
        let shape = Shape::new(FLOWS);
        let flows = shape.bind(space, "flows")?;
        let beside = match s.app {
            App::Lb | App::Nat | App::Sink => Beside::Plain,
            App::L3fwd | App::Ipsec => {
                let fib = Arc::new(l3fwd::Fib::default_route());
                let table = fib.bind(space)?;
                Beside::Routes(fib, table)
            }
            App::Nf { .. } => {
                let fib = Arc::new(l3fwd::Fib::default_route());
                let table = fib.bind(space)?;
                Beside::Numbers(fib, table, nf::Numbers::bind(space)?)
            }
            App::Kv { keys } => {
                let shape = kv::Shape::new(keys.div_ceil(u64::from(s.cores().max(1))));
                let tables = (0..s.cores()).map(|_| shape.bind(space)).collect::<Result<_, _>>()?;
                Beside::Stores(shape, tables)
            }
        };
        Ok(Tables { shape, flows, beside })
    }

    /// The application of a core.
    pub(crate) fn app(
        &self,
        s: &Scenario,
        meter: &Rc<RefCell<Meter>>,
        seat: Seat,
    ) -> Result<ModelApp, Error> {
        let cycles = cycles(s)?;
        let table = |value| Declared::new(self.shape, self.flows, value);
        let route = |fib: &Arc<l3fwd::Fib>, table| l3fwd::L3fwd::new(fib.clone(), table, cycles);
        Ok(ModelApp::Packets(match (s.app, &self.beside) {
            (App::Sink, _) => {
                return Ok(ModelApp::Sink(Sink { meter: meter.clone(), core: seat.core, cycles }));
            }
            (App::Ipsec, Beside::Routes(fib, table)) => {
                let sa = Sa::declared(Suite::default(), seat.core as u32 + 1, ipsec::HERE, ipsec::THERE);
                AnyApp::Ipsec(Ipsec::new(route(fib, *table), Spd::thirds(), sa, sealing(s)))
            }
            (_, Beside::Routes(fib, table)) => AnyApp::L3fwd(route(fib, *table)),
            (App::Nf { target_reads }, Beside::Numbers(fib, table, buffer)) => {
                let extra = if seat.queue == 0 { target_reads } else { 0 };
                let seed = mix(s.seed ^ seat.core as u64);
                let numbers = nf::Numbers::declared();
                AnyApp::Nf(nf::Nf::new(route(fib, *table), numbers, *buffer, extra, seed, cycles))
            }
            (_, Beside::Stores(shape, tables)) => {
                // Cores that only allocate come after those that receive, and have no partition.
                let table = tables.get(seat.core).or(tables.first()).copied().unwrap_or(self.flows);
                let store = kv::Declared::new(*shape, table);
                AnyApp::Kv(kv::Kv::new(store, seat.queue, seat.queues, cycles))
            }
            (App::Nat, _) => AnyApp::Nat(nat::Nat::new(table(nat::declared), &[], None, cycles)),
            _ => AnyApp::Lb(lb::Lb::new(table(lb::declared), lb::SERVERS, cycles)),
        }))
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
