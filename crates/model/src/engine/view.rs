//! One agent's view of the modelled server: [`memory::Memory`] with a price. The calls are in `calls`.
//!
//! Every call advances the agent's own clock. Plain accesses of one agent run on without a switch;
//! the agent hands over where another could act first: at contended words, waits, idle polls, and at
//! [`memory::Memory::chain`] once it is further ahead than its window allows.

mod calls;
mod combining;
mod contended;
mod data;
mod on_card;
mod polls;
mod registers;
mod remote;
mod stores;
mod switch;
mod words;

use std::cell::UnsafeCell;
use std::rc::Rc;

use corosensei::Yielder;
use memory::{Buf, Ps};

use super::agent::Agent;
use super::sim::Sim;
use super::turns::Turns;
use crate::machine::Machine;
use crate::machine::coherence::agents::Who;
use crate::machine::coherence::node::Node;
use crate::machine::coherence::word_line::WordLine;
use crate::machine::frames::Origin;
use crate::machine::layout::PoolId;
use data::{Asked, Recent};
use on_card::Engines;
use polls::{Poll, Reads};
use registers::Mmio;
use stores::StoreBuffer;
use switch::Turn;

/// What the views of one simulation share, on one thread.
pub(crate) type Shared = Rc<UnsafeCell<Sim>>;

/// What the agent is.
#[derive(Clone, Copy)]
struct Me {
    /// Its place in the sets of a line of words.
    who: Who,
    /// Its caches, if it has some.
    core: Option<u32>,
    agent: Agent,
    slot: usize,
    port: u32,
    /// Of a core, its node.
    node: Node,
}

/// An agent's view. What every access and every switch looks at comes first, in few lines of the host: between two
/// turns of an agent, some twenty others push them out of its caches.
#[repr(C, align(64))]
pub struct View {
    sim: Shared,
    clock: u64,
    me: Me,
    turn: Turn,
    poll: Poll,
    stores: StoreBuffer,
    mmio: Mmio,
    /// The line of words that a core has fetched last.
    crossed: u32,
    asked: Asked,
    /// When the frames came that it writes, and from where.
    stamp: u64,
    origin: Origin,
    /// What the card's engines beside this agent do.
    engines: Engines,
    reads: Reads,
    recent: Recent,
    /// When each fill buffer is free that a store past the caches has.
    filling: Vec<u64>,
}

impl View {
    pub(crate) fn new(sim: Shared, slot: usize, agent: Agent) -> View {
        // SAFETY: no other reference to what views share lives while one is made: on its fibre, or for set-up.
        let (machine, large) = unsafe { (&mut (*sim.get()).machine, (*sim.get()).turns.is_large()) };
        let node = agent.caches().map_or(Node::Near, |core| machine.hierarchy.node_of(core as usize));
        let who = agent.copier(slot, large);
        if node == Node::Far {
            machine.nodes.far.insert(who);
        }
        let me = Me { who, core: agent.caches(), agent, slot, port: agent.port(), node };
        let streams = machine.buffers.streams;
        View {
            sim,
            clock: 0,
            me,
            turn: Turn::default(),
            poll: Poll::default(),
            stores: StoreBuffer::default(),
            mmio: Mmio::default(),
            crossed: u32::MAX - 1,
            asked: Asked::new(streams),
            stamp: 0,
            origin: Origin::default(),
            engines: Engines::default(),
            reads: Reads::default(),
            recent: Recent::default(),
            filling: Vec::new(),
        }
    }

    pub(crate) fn enter(&mut self, yielder: &Yielder<(), ()>) {
        self.turn.yielder = yielder;
        self.turns().warm[self.me.slot].view = std::ptr::from_ref(self).cast();
        self.clock = self.turns().schedule.at(self.me.slot);
    }

    /// What all agents share, for the length of one call.
    #[inline(always)]
    #[expect(clippy::mut_from_ref, reason = "one thread, and no reference lives across a switch")]
    pub(crate) fn sim(&self) -> &mut Sim {
        // SAFETY: a simulation lives on one thread, and every borrow made here ends before the next
        // call of `suspend`, the only place where another view can run.
        unsafe { &mut *self.sim.get() }
    }

    #[inline(always)]
    fn machine(&self) -> &mut Machine {
        &mut self.sim().machine
    }

    #[inline(always)]
    fn turns(&self) -> &mut Turns {
        &mut self.sim().turns
    }

    /// What is known of a line of words.
    #[inline(always)]
    fn line(&self, line: u32) -> &mut WordLine {
        &mut self.machine().words.lines[line as usize]
    }

    /// How far an agent may run ahead of the slowest.
    pub(crate) fn window(&self) -> Ps {
        Ps(self.turns().lead.window)
    }

    /// Whether the run is over: agents return to let their rings be drained.
    pub fn stopped(&self) -> bool {
        self.sim().stop
    }

    /// The arrival time that the next DMA-written frames carry.
    pub fn set_stamp(&mut self, at: Ps) {
        self.stamp = at.0;
        self.engines.carried = None;
    }

    /// The next frame that this port takes is of `flow`, and has the next number.
    pub(crate) fn number_next(&mut self, flow: Option<u64>) {
        self.origin = Origin { number: self.origin.number + 1, flow };
    }

    /// Where the frame in `buf` comes from, if that is kept.
    pub(crate) fn origin(&self, b: PoolId, buf: Buf) -> Option<Origin> {
        self.machine().buffers.of(b).origins.get(buf.0 as usize).copied()
    }

    /// When the frame in `buf` arrived.
    pub fn stamp(&self, b: PoolId, buf: Buf) -> Ps {
        Ps(self.machine().buffers.of(b).kept[buf.0 as usize].stamp)
    }
}
