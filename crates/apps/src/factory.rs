//! Applications by name: what they look into, laid out once for a run, and the application of each core.

use std::sync::Arc;

use memory::{LayoutError, Memory};
use packet::kv::Objects;

use crate::ipsec::{self, Ipsec, Sa, Spd};
use crate::kv::{self, ErpcKv, Kv, SlabShape, Store};
use crate::l3fwd::{Fib, L3fwd};
use crate::lb::{self, Lb};
use crate::nat::{self, Nat};
use crate::nf::{Nf, Numbers};
use crate::table::{FlowTable, Shape, Value};
use crate::udp_ack::UdpAck;
use crate::udp_echo::UdpEcho;
use crate::vxlan::Vxlan;
use crate::{AnyApp, Kind};

/// What differs between tables that exist and tables whose accesses are only charged.
pub trait Parts<M: Memory> {
    /// A core's flow table.
    type Flows: FlowTable<M>;
    /// A core's partition of the key-value store.
    type Store: Store<M>;

    /// A table for flows at `table`; without storage, what `value` makes of a flow's hash is found in it.
    fn flows(&self, shape: Shape, table: M::Table, value: fn(u64) -> Value) -> Self::Flows;
    /// A partition at `table`.
    fn store(&self, shape: kv::Shape, table: M::Table) -> Self::Store;
    /// A partition at `table` whose items lie in `frames`.
    fn slabs(&self, shape: SlabShape, table: M::Table, frames: M::Buffers) -> Self::Store;
    /// The buffer of `nf`.
    fn numbers(&self) -> Numbers;
    /// The outgoing association of a core.
    fn sa(&self, core: u32) -> Sa;

    /// Public addresses of the translation; none: the one that it has by default.
    fn public(&self) -> &[[u8; 4]] {
        &[]
    }
}

/// How large tables are.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// The flow table.
    pub flows: Shape,
    /// Keys of all partitions.
    pub keys: u64,
    /// What they and their values are.
    pub objects: Objects,
    /// Cores that receive, each with a partition.
    pub cores: u32,
    /// Bytes of frame that a buffer holds.
    pub room: u32,
    /// Buffers of the pool. Those of the partitions come after them.
    pub buffers: u32,
}

impl Sizes {
    fn keys_each(&self) -> u64 {
        self.keys.div_ceil(u64::from(self.cores.max(1)))
    }

    /// A core's partition, where values are sent from where they lie: where lengths differ.
    fn slabs(&self) -> Option<SlabShape> {
        let shape = SlabShape::new(self.objects, self.keys_each(), self.room);
        self.objects.differ().then(|| shape.from(self.buffers.into()))
    }

    /// Buffers that partitions of such sizes take, beside those of the pool.
    pub fn pages(&self) -> u64 {
        self.slabs().map_or(0, |shape| u64::from(shape.pages()) * u64::from(self.cores))
    }
}

/// A core, and what its application costs.
#[derive(Clone, Copy, Debug)]
pub struct Seat {
    /// Its number in the server.
    pub core: u32,
    /// Its queue.
    pub queue: u32,
    /// Queues of its port.
    pub queues: u32,
    /// Base cycles of a frame.
    pub cycles: u32,
    /// What sealing costs beside them.
    pub sealing: ipsec::Cost,
    /// Reads of `nf` beside the usual ones, for each frame.
    pub extra_reads: u32,
    /// Where the reads of `nf` go.
    pub seed: u64,
}

/// Builds the applications of a run.
pub struct Factory<M: Memory, P> {
    kind: Kind,
    parts: P,
    shape: Shape,
    flows: M::Table,
    beside: Beside<M>,
}

/// What is beside the flow table.
enum Beside<M: Memory> {
    Nothing,
    /// Routes, built when they are used: they fill 64 MiB.
    Routes(Arc<Fib>, M::Table),
    Numbers(Arc<Fib>, M::Table, Numbers, M::Table),
    /// A partition of the key-value store for each core.
    Stores(kv::Shape, Vec<M::Table>),
    /// The same, with items in buffers.
    Slabs(SlabShape, Vec<M::Table>),
}

impl<M: Memory, P: Parts<M>> Factory<M, P> {
    /// Lays out what `kind` looks into; `table` has addresses for a name and so many bytes, as [`memory::Space::table`].
    ///
    /// # Errors
    /// Those of `table`.
    pub fn new(
        kind: Kind,
        parts: P,
        sizes: Sizes,
        mut table: impl FnMut(&'static str, u64) -> Result<M::Table, LayoutError>,
    ) -> Result<Factory<M, P>, LayoutError> {
        let flows = table("flows", sizes.flows.bytes())?;
        let mut routes = || {
            let fib = Fib::default_route();
            let table = table(Fib::NAME, fib.bytes())?;
            Ok((Arc::new(fib), table))
        };
        let beside = match kind {
            Kind::Lb | Kind::Nat | Kind::UdpEcho | Kind::UdpAck | Kind::Vxlan => Beside::Nothing,
            Kind::L3fwd | Kind::Ipsec => {
                let (fib, at) = routes()?;
                Beside::Routes(fib, at)
            }
            Kind::Nf => {
                let (fib, at) = routes()?;
                Beside::Numbers(fib, at, parts.numbers(), table(Numbers::NAME, Numbers::BYTES)?)
            }
            Kind::Kv | Kind::ErpcKv => {
                let mut tables = |bytes| {
                    (0..sizes.cores).map(|_| table(kv::Shape::NAME, bytes)).collect::<Result<Vec<_>, _>>()
                };
                if let Some(shape) = sizes.slabs() {
                    Beside::Slabs(shape, tables(shape.bytes())?)
                } else {
                    let objects = sizes.objects;
                    let shape = kv::Shape::of(sizes.keys_each(), objects.key_len(), objects.longest_value());
                    Beside::Stores(shape, tables(shape.bytes())?)
                }
            }
        };
        Ok(Factory { kind, parts, shape: sizes.flows, flows, beside })
    }

    /// The application of a core whose frames are in `frames`.
    pub fn app(&self, seat: Seat, frames: M::Buffers) -> AnyApp<M, P::Flows, P::Store> {
        let cycles = seat.cycles;
        let flows = |value| self.parts.flows(self.shape, self.flows, value);
        let route = |fib: &Arc<Fib>, table| L3fwd::new(fib.clone(), table, cycles);
        match (self.kind, &self.beside) {
            (Kind::Ipsec, Beside::Routes(fib, table)) => {
                let sa = self.parts.sa(seat.core);
                AnyApp::Ipsec(Ipsec::new(route(fib, *table), Spd::thirds(), sa, seat.sealing))
            }
            (_, Beside::Routes(fib, table)) => AnyApp::L3fwd(route(fib, *table)),
            (_, Beside::Numbers(fib, table, numbers, buffer)) => {
                let (route, numbers) = (route(fib, *table), numbers.clone());
                AnyApp::Nf(Nf::new(route, numbers, *buffer, seat.extra_reads, seat.seed, cycles))
            }
            (_, Beside::Stores(shape, tables)) => {
                // Cores that only allocate come after those that receive, and have no partition.
                let table = tables.get(seat.core as usize).or(tables.first()).copied().unwrap_or(self.flows);
                let store = self.parts.store(*shape, table);
                match self.kind {
                    Kind::ErpcKv => AnyApp::ErpcKv(ErpcKv::new(store, seat.queue, seat.queues, cycles)),
                    _ => AnyApp::Kv(Kv::new(store, seat.queue, seat.queues, cycles)),
                }
            }
            (_, Beside::Slabs(shape, tables)) => {
                // As above.
                let core = if (seat.core as usize) < tables.len() { seat.core } else { 0 };
                let table = tables.get(core as usize).copied().unwrap_or(self.flows);
                let shape = shape.of(core);
                AnyApp::Kv(Kv::new(self.parts.slabs(shape, table, frames), seat.queue, seat.queues, cycles))
            }
            (Kind::Nat, Beside::Nothing) => {
                AnyApp::Nat(Nat::new(flows(nat::declared), self.parts.public(), None, cycles))
            }
            (Kind::UdpEcho, Beside::Nothing) => AnyApp::UdpEcho(UdpEcho::new(cycles)),
            (Kind::UdpAck, Beside::Nothing) => AnyApp::UdpAck(UdpAck::new(cycles)),
            (Kind::Vxlan, Beside::Nothing) => AnyApp::Vxlan(Vxlan::new(cycles)),
            (_, Beside::Nothing) => AnyApp::Lb(Lb::new(flows(lb::declared), lb::SERVERS, cycles)),
        }
    }
}
