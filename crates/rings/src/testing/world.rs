//! One port with its cores on one thread, driven by operations: unit tests, property tests and fuzzing
//! share [`Op`] and the oracle.

mod op;

use std::collections::BTreeSet;

use memory::{Geometry, Memory, Ps, Space};

use super::mock::{MockHost, MockNic};
use super::oracle::{Ledger, Violation};
use crate::contract::TxNic;
use crate::dynamic::judge::Mode;
use crate::interface::{self, Interface};
use crate::sizes::SizeError;
use crate::{pool, tx};

pub use op::Op;

/// What a core's receive queue may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Receive.
    Running,
    /// Be polled: the NIC half has stopped it.
    Stopped,
    /// Nothing.
    Drained,
}

/// How large everything is.
#[derive(Clone, Debug, PartialEq)]
pub struct Setup {
    /// The receive interface.
    pub interface: Interface,
    /// Queues of the port.
    pub queues: u32,
    /// Transmit ring.
    pub tx: tx::Sizes,
    /// Buffers of the pool.
    pub buffers: u32,
    /// Private buffers of a core.
    pub cache: u32,
}

/// A port, its cores, its pool, the wire.
pub struct World<M: Memory> {
    /// The NIC.
    pub nic: MockNic<M>,
    /// The cores: first those of the queues, then dedicated allocators.
    pub cores: Vec<MockHost<M>>,
    stalled: Vec<bool>,
    states: Vec<State>,
    queues: u16,
    buffers: u64,
    /// Passes time.
    advance: fn(&mut M, Ps),
}

impl<M: Memory> World<M> {
    /// Builds a port in `space`; `nic` and `core` make the agents' views, `advance` moves the clock that
    /// they share. The rings are not filled.
    ///
    /// # Errors
    /// A size is not allowed, or the space has no room.
    pub fn new<S: Space<Mem = M>>(
        space: &mut S,
        setup: &Setup,
        nic: M,
        mut core: impl FnMut(u32) -> M,
        advance: fn(&mut M, Ps),
    ) -> Result<World<M>, SizeError> {
        let geometry = Geometry::plain(setup.buffers, 128);
        let buffers = space.buffers(&geometry)?;
        let count = setup.interface.hosts(setup.queues);
        let port = interface::build(space, &setup.interface, setup.queues, (setup.tx, count), buffers)?;
        let pools = pool::build(space, setup.buffers, count, setup.cache)?;
        let parts = port.hosts.into_iter().zip(port.tx_hosts).zip(pools);
        let cores = (0..count)
            .zip(parts)
            .map(|(i, ((rx, tx), pool))| {
                MockHost::new(core(i), setup.interface.ring_of(i as u16), rx, tx, pool, buffers)
            })
            .collect();
        Ok(World {
            nic: MockNic::new(nic, (port.nic, port.tx_nic), buffers, (&setup.interface, setup.queues)),
            cores,
            stalled: vec![false; count as usize],
            states: vec![State::Running; count as usize],
            queues: setup.queues as u16,
            buffers: u64::from(setup.buffers),
            advance,
        })
    }

    /// Fills the receive rings of all cores; how many buffers are missing.
    pub fn fill(&mut self) -> usize {
        self.cores.iter_mut().map(MockHost::fill).sum()
    }

    /// The NIC passes pointers to frames in up to `count` buffers of its own, taken from the pool before
    /// the rings are filled; how many it got.
    pub fn emulate(&mut self, count: usize) -> usize {
        let own = self.cores[0].lend(count);
        let got = own.len();
        self.nic.emulate(own);
        got
    }

    /// One step; how many frames it moved.
    ///
    /// # Errors
    /// A promise was broken.
    pub fn apply(&mut self, op: Op) -> Result<usize, Violation> {
        match op {
            Op::Arrive { queue, n, len } => self.nic.arrive(queue % self.queues, usize::from(n), len),
            Op::Poll { core, burst } => {
                let drained = self.states[self.index(core)] == State::Drained;
                let Some(core) = self.awake(core).filter(|_| !drained) else { return Ok(0) };
                let n = core.poll(usize::from(burst))?;
                self.no_buffer_twice()?;
                Ok(n)
            }
            Op::Send { core, n } => Ok(self.awake(core).map_or(0, |core| core.send(usize::from(n)))),
            Op::Free { core, n } => Ok(self.awake(core).map_or(0, |core| core.free(usize::from(n)))),
            Op::NicTx { n } => self.nic.send(usize::from(n)),
            Op::Tick { ns } => {
                (self.advance)(&mut self.nic.m, Ps::from_ns(u64::from(ns)));
                self.nic.poll();
                Ok(0)
            }
            Op::Ask { core, private } => {
                let mode = if private { Mode::Private } else { Mode::Shared };
                self.awake(core).into_iter().for_each(|core| core.ask(mode));
                Ok(0)
            }
            Op::Stall { core } => {
                let core = self.index(core);
                self.stalled[core] = !self.stalled[core];
                Ok(0)
            }
            Op::StopQueue { .. } | Op::DrainQueue { .. } | Op::StartQueue { .. } => self.control(op),
            Op::StopTx { core, drain } => {
                let core = self.index(core);
                let (_, _, tx) = self.nic.parts();
                tx.stop_queue(core as u16);
                Ok(if drain { self.cores[core].drain_tx() } else { 0 })
            }
            Op::StartTx { core } => {
                let core = self.index(core);
                let (m, _, tx) = self.nic.parts();
                tx.start_queue(m, core as u16);
                Ok(0)
            }
        }
    }

    /// A queue stops, is drained, starts: in this order, whatever is asked for.
    fn control(&mut self, op: Op) -> Result<usize, Violation> {
        match op {
            Op::StopQueue { core } => {
                let core = self.index(core);
                if self.states[core] == State::Running {
                    self.nic.stop_queue(core as u16);
                    self.states[core] = State::Stopped;
                }
            }
            Op::DrainQueue { core } => {
                let core = self.index(core);
                if self.states[core] == State::Stopped {
                    let unread = self.cores[core].drain_queue();
                    self.states[core] = State::Drained;
                    let (ring, _) = self.cores[core].received();
                    let mut sharers =
                        self.cores.iter().zip(&self.states).filter(|(core, _)| core.received().0 == ring);
                    // Frames of a ring that another core still polls are not cut off.
                    if core < usize::from(self.queues) && sharers.all(|(_, state)| *state == State::Drained) {
                        self.nic.drained(core as u16, &self.received(ring), unread)?;
                    }
                }
            }
            Op::StartQueue { core } => {
                self.control(Op::DrainQueue { core })?;
                let core = self.index(core);
                if self.states[core] == State::Drained {
                    self.nic.start_queue(core as u16);
                    self.cores[core].fill();
                    self.states[core] = State::Running;
                }
            }
            _ => {}
        }
        Ok(0)
    }

    /// What the cores of a ring have received.
    fn received(&self, ring: u16) -> Ledger {
        let mut all = Ledger::default();
        let ledgers = self.cores.iter().map(MockHost::received);
        ledgers.filter(|(of, _)| *of == ring).for_each(|(_, ledger)| all.merge(ledger));
        all
    }

    fn index(&self, core: u16) -> usize {
        usize::from(core) % self.cores.len()
    }

    fn awake(&mut self, core: u16) -> Option<&mut MockHost<M>> {
        let core = self.index(core);
        if self.stalled[core] { None } else { self.cores.get_mut(core) }
    }

    /// No buffer holds two frames that are in use.
    fn no_buffer_twice(&self) -> Result<(), Violation> {
        let mut seen = BTreeSet::new();
        let mut held = self.cores.iter().flat_map(MockHost::held).chain(self.nic.own());
        match held.find(|buf| !seen.insert(*buf)) {
            Some(buf) => Err(Violation::Reused { buf: buf.0 }),
            None => Ok(()),
        }
    }

    /// Cores receive what a card still keeps for them, until none of them has moved anything a few times.
    fn settle(&mut self) -> Result<(), Violation> {
        let mut vain = 0;
        while vain < 4 {
            let waits = self.nic.poll().is_some();
            let mut moved = 0;
            for (core, state) in self.cores.iter_mut().zip(&self.states) {
                if *state == State::Running {
                    moved += core.poll(usize::MAX)? + core.free(usize::MAX);
                }
            }
            match (moved, waits) {
                (0, false) => break,
                (0, true) => vain += 1,
                _ => vain = 0,
            }
        }
        Ok(())
    }

    /// Everything is received (unless `cut`, when frames stay in the rings), the NIC stops, all rings
    /// are drained: every frame and every buffer must be accounted for.
    ///
    /// # Errors
    /// Something is lost or doubled.
    pub fn finish(mut self, cut: bool) -> Result<World<M>, Violation> {
        if !cut {
            self.nic.stop();
            let polled = self.cores.iter_mut().zip(&self.states).filter(|(_, s)| **s != State::Drained);
            for (core, _) in polled {
                while core.poll(usize::MAX)? + core.free(usize::MAX) > 0 {}
            }
            self.settle()?;
            // What a card kept for a queue that is stopped it has forgotten.
            (0..self.cores.len() as u16)
                .try_for_each(|core| self.control(Op::DrainQueue { core }).map(drop))?;
            self.nic.offered().judge(self.cores.iter().map(MockHost::received))?;
        }
        self.nic.stop();
        let own: Vec<_> = self.nic.own().collect();
        self.cores[0].take_back(&own);
        self.cores.iter_mut().for_each(MockHost::drain);
        let found = self.cores[0].count()?;
        if found != self.buffers {
            return Err(Violation::Buffers { made: self.buffers, found });
        }
        Ok(self)
    }
}
