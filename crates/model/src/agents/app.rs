//! What a core does with frames: an application of crate `apps`, or the receiver of a benchmark.

use std::cell::RefCell;
use std::rc::Rc;

use apps::echo::Server;
use apps::table::Declared;
use apps::{AnyApp, Batch, Cause, Headers, Packet, Verdict, kv};
use memory::{Buf, Memory, Touch};
use rings::{Buffers, Completion};

use super::meter::Meter;
use crate::engine::view::View;
use crate::machine::layout::PoolId;

/// Reads every byte and frees the buffer. A frame counts as sent when it has been read.
pub(crate) struct Sink {
    pub meter: Rc<RefCell<Meter>>,
    /// The core.
    pub core: usize,
    /// Cycles of a frame beside its lines.
    pub cycles: u32,
}

impl apps::App<View> for Sink {
    fn cycles(&self) -> u32 {
        self.cycles
    }

    fn frame(&mut self, _: &mut View, _: &Packet<View>, _: &mut Headers) -> Verdict {
        Verdict::Drop(Cause::Consumed)
    }

    fn process(&mut self, m: &mut View, frames: PoolId, burst: &[Completion], batch: &mut Batch) {
        for c in burst {
            m.meta(frames, c.buf, 0, Touch::Write); // the driver fills the mbuf
            m.work(self.cycles);
            m.get(frames, c.buf, 0, &mut [], u32::from(c.len));
            m.meta(frames, c.buf, 1, Touch::Read); // whoever frees it looks for another segment
            let took = m.now().saturating_sub(m.stamp(frames, c.buf));
            self.meter.borrow_mut().send(self.core, u32::from(c.len), took.0);
            batch.file(c.buf, c.len, Verdict::Drop(Cause::Consumed));
            m.chain();
        }
    }
}

/// A partition of the key-value store.
pub(crate) type Store = kv::Either<kv::Declared<View>, kv::DeclaredSlabs<View>>;

/// Any of them, chosen once per burst.
pub(crate) enum ModelApp {
    Packets(AnyApp<View, Declared<View>, Store>),
    Sink(Sink),
    Echo(Box<Server>),
}

impl apps::App<View> for ModelApp {
    fn cycles(&self) -> u32 {
        match self {
            ModelApp::Packets(app) => app.cycles(),
            ModelApp::Sink(app) => app.cycles(),
            ModelApp::Echo(app) => apps::App::<View>::cycles(app.as_ref()),
        }
    }

    fn frame(&mut self, m: &mut View, packet: &Packet<View>, headers: &mut Headers) -> Verdict {
        match self {
            ModelApp::Packets(app) => app.frame(m, packet, headers),
            ModelApp::Sink(app) => app.frame(m, packet, headers),
            ModelApp::Echo(app) => app.frame(m, packet, headers),
        }
    }

    fn process(&mut self, m: &mut View, frames: PoolId, burst: &[Completion], batch: &mut Batch) {
        match self {
            ModelApp::Packets(app) => app.process(m, frames, burst, batch),
            ModelApp::Sink(app) => app.process(m, frames, burst, batch),
            ModelApp::Echo(app) => app.process(m, frames, burst, batch),
        }
    }

    fn tick<B: Buffers<View>>(&mut self, m: &mut View, frames: PoolId, pool: &mut B, batch: &mut Batch) {
        if let ModelApp::Echo(app) = self {
            app.tick(m, frames, pool, batch);
        }
    }

    fn own_buffers(&self) -> u64 {
        match self {
            ModelApp::Packets(app) => app.own_buffers(),
            ModelApp::Sink(app) => app.own_buffers(),
            ModelApp::Echo(app) => apps::App::<View>::own_buffers(app.as_ref()),
        }
    }

    fn returned(&mut self, m: &mut View, bufs: &[Buf]) {
        match self {
            ModelApp::Packets(app) => app.returned(m, bufs),
            ModelApp::Sink(app) => app.returned(m, bufs),
            ModelApp::Echo(app) => app.returned(m, bufs),
        }
    }

    fn kept(&self) -> u64 {
        match self {
            ModelApp::Packets(app) => app.kept(),
            ModelApp::Sink(app) => app.kept(),
            ModelApp::Echo(app) => apps::App::<View>::kept(app.as_ref()),
        }
    }
}
