//! Microbenchmarks of a server with a coherent NIC: what one access takes, a word there and back, streams over the
//! link, and stores past the caches. Each is a few agents with straight-line code, as a program on the server would be.
//!
//! The near node is the host, the far one the NIC. Nothing is sampled but a [`loopback`] of many threads, which alone
//! has rings.

mod access;
pub mod loopback;
mod ping_pong;
mod stores;
mod stream;

use std::cell::RefCell;
use std::rc::Rc;

use memory::{Class, Field, LayoutError, Memory, Ps, Side, Space};

use crate::engine::agent::Agent;
use crate::engine::sim::Sim;
use crate::engine::space::ModelSpace;
use crate::engine::view::View;
use crate::engine::{Engine, EngineError};
use crate::machine::layout::Words;
use crate::profile::{NicKind, Server};

pub use access::{Holder, latency};
pub use ping_pong::{Layout, PingPong, ping_pong};
pub use stores::{Target, mmio_read, stores, writes};
pub use stream::{Path, Streamed, stream};

/// Why there is no measurement.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A server, or a number.
    #[error("{0}")]
    Asked(String),
    /// The model's memory.
    #[error("{0}")]
    Layout(#[from] LayoutError),
    /// What counts latencies.
    #[error("{0}")]
    Histogram(#[from] hdrhistogram::CreationError),
    /// The run itself.
    #[error("{0}")]
    Engine(#[from] EngineError),
}

/// What an agent does.
type Body = Box<dyn FnOnce(&mut View)>;

/// What is allocated, and agents that have not started.
struct Bench {
    /// Served by cores of the far node.
    space: ModelSpace,
    agents: Vec<(Agent, Body)>,
    cores: u32,
    far: u32,
}

impl Bench {
    /// On `server`, whose cores are the host; the NIC has as many as are added.
    fn new(server: &Server) -> Result<Bench, Error> {
        if server.nic.kind != NicKind::Card || server.nic.remote {
            let what = format!(
                "{}: what plays its NIC leaves no second node; allowed: a server with a card",
                server.name
            );
            return Err(Error::Asked(what));
        }
        let space = ModelSpace::new().served_by(NicKind::Core);
        Ok(Bench { space, agents: Vec::new(), cores: server.cores, far: 0 })
    }

    /// `len` words in lines of their own, in the memory of a side.
    fn words(&mut self, len: u32, home: Side) -> Result<Words<1>, LayoutError> {
        let (writer, reader) = (Side::Both, Side::Both);
        let field = Field { name: "words", len, width: 1, class: Class::Signal, writer, reader, home };
        self.space.words(&field, 0)
    }

    /// Adds a core of the host.
    fn near(&mut self, core: u32, body: impl FnOnce(&mut View) + 'static) {
        self.agents.push((Agent::Core(core), Box::new(body)));
    }

    /// Adds a core of the NIC.
    fn far(&mut self, body: impl FnOnce(&mut View) + 'static) {
        self.agents.push((Agent::NicCore(self.cores + self.far), Box::new(body)));
        self.far += 1;
    }

    /// All agents at their beginnings, up to `window` ahead of each other. One cache set in `one_in` is simulated.
    fn start(self, server: &Server, window: Ps, one_in: u32) -> Result<Engine, Error> {
        let mut sim = Sim::new(server, self.space.finish(), one_in, 1);
        if self.far > 0 {
            sim = sim.emulated(server, self.far);
        }
        let mut engine = Engine::new(sim, window);
        for (agent, body) in self.agents {
            engine.spawn(agent, body)?;
        }
        Ok(engine)
    }

    /// Runs all agents to their ends, up to `window` ahead of each other.
    fn run(mut self, server: &Server, window: Ps) -> Result<Engine, Error> {
        self.far = self.far.max(1); // so that there are two nodes
        let mut engine = self.start(server, window, 1)?;
        engine.run_until(crate::LONGEST)?;
        Ok(engine)
    }
}

/// Where agents leave what they found.
#[derive(Clone)]
struct Notes<T>(Rc<RefCell<Vec<T>>>);

impl<T> Notes<T> {
    fn new() -> Notes<T> {
        Notes(Rc::default())
    }

    fn push(&self, value: T) {
        self.0.borrow_mut().push(value);
    }

    fn take(&self) -> Vec<T> {
        self.0.take()
    }
}

/// How long `what` takes.
fn cost(m: &mut View, what: impl FnOnce(&mut View)) -> Ps {
    let from = m.now();
    what(m);
    m.now() - from
}

/// The value in the middle.
fn median(mut values: Vec<Ps>) -> Ps {
    values.sort_unstable();
    values.get(values.len() / 2).copied().unwrap_or_default()
}
