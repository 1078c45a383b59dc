//! Registers of a card. A core's stores to them are posted and its loads are round trips (A70); the card's own accesses
//! cost nothing.
//!
//! Most words are no registers. A register is told by the number of a word, and looked up here: callers that had to
//! hand over more would keep it in memory for all words.

use memory::Mapping;

use super::View;
use super::combining::Combining;
use crate::engine::schedule::PARKED;
use crate::machine::coherence::node::Node;
use crate::machine::layout::Place;
use crate::machine::registers::Register;

/// What a core has stored into registers.
#[derive(Default)]
pub(super) struct Mmio {
    /// Whether it has written any since its last barrier.
    open: bool,
    /// When the card sees all that has left the core. It comes in order.
    shows: u64,
    pub(super) combining: Combining,
}

impl Mmio {
    /// What would show at `at` leaves the core now: when it shows, behind what left before.
    pub(super) fn show(&mut self, at: u64) -> u64 {
        self.shows = self.shows.max(at);
        self.shows
    }
}

impl View {
    /// What the agent has written to registers leaves before what it stores next, which shows no earlier than what is
    /// returned.
    #[inline(always)]
    pub(super) fn barrier(&mut self) -> u64 {
        if self.mmio.open { self.close() } else { 0 }
    }

    #[cold]
    fn close(&mut self) -> u64 {
        self.mmio.open = false;
        self.empty_buffers();
        self.mmio.shows
    }

    /// A core loads the signal `word`.
    #[cold]
    pub(super) fn load_register(&mut self, word: u32) -> u64 {
        let Some((register, p)) = self.register(word) else { return 0 };
        self.clock += self.machine().costs.op;
        let back = self.reach_register(register.port, 1);
        self.polls(p.line);
        let value = self.visible(p);
        self.clock += back;
        value
    }

    /// An agent loads an entry in `line`, of which it has a copy by now. A core gives that up.
    #[cold]
    pub(super) fn read_register(&mut self, line: u32) {
        let register = self.machine().words.registers.of(line * 8).map(|r| (r.port, r.width));
        if let (Some((port, width)), Some(_)) = (register, self.me.core) {
            let me = self.me.who;
            self.line(line).has.remove(me);
            self.clock += self.reach_register(port, width.into());
        }
    }

    /// The register that has the signal `word`.
    fn register(&self, word: u32) -> Option<(Register, Place)> {
        let register = self.machine().words.registers.of(word)?.clone();
        let signal = register.signal_of(word)?;
        Some((register, Place { word, signal, line: word / 8 }))
    }

    /// A core's load arrives at the card, behind all that the core has stored, and finds what others have done by then;
    /// what its answer takes.
    fn reach_register(&mut self, port: u32, words: u64) -> u64 {
        self.barrier();
        let machine = self.machine();
        machine.links[port as usize].answer(8 * words);
        let trip = machine.costs.mmio_read + if self.me.node == Node::Far { machine.costs.remote } else { 0 };
        let there = self.clock.max(self.stores.drained) + trip / 2;
        self.clock = there.max(self.mmio.shows);
        self.order();
        trip - trip / 2
    }

    /// A core waits for one load of the signal `word`, a card until another value than `seen` shows.
    #[cold]
    pub(super) fn wait_for_register(&mut self, word: u32, seen: u64) {
        if self.me.core.is_some() {
            self.load_register(word);
            return;
        }
        self.order();
        let Some((_, p)) = self.register(word) else { return };
        let (value, next) = self.machine().words.visible(p, self.clock);
        if value != seen || self.turn.yielder.is_null() {
            return;
        }
        let kept = (self.reads.first(), self.poll.pending);
        self.forget();
        self.reads.wait_for(p.line, self.line(p.line).stores);
        self.poll.pending = next.unwrap_or(u64::MAX);
        self.parks(PARKED, 1);
        self.reads.put_back(kept.0);
        self.poll.pending = kept.1;
    }

    /// The agent stores the last words of the entry that ends with `word`: its signal last, and behind all that was
    /// written before.
    #[cold]
    pub(super) fn publish_register<const N: usize>(&mut self, word: u32, words: [u64; N]) {
        self.barrier();
        self.write_register(word, words);
        self.barrier();
    }

    /// The agent writes the last words of the entry that ends with `word`.
    #[cold]
    pub(super) fn write_register<const N: usize>(&mut self, word: u32, words: [u64; N]) {
        let Some((register, p)) = self.register(word) else { return };
        if self.me.core.is_none() {
            return self.keep(p, &words, self.clock);
        }
        self.mmio.open = true;
        match register.mapping {
            Mapping::Combining => self.combine(&register, word, &words),
            Mapping::Uncached => self.post_words(&register, p, &words),
        }
    }

    /// A core stores uncached words: each is a TLP, and leaves behind the store before it (A64).
    fn post_words(&mut self, register: &Register, p: Place, words: &[u64]) {
        let costs = self.machine().costs;
        let mut shows = 0;
        for nth in 0..words.len() {
            self.clock += if nth > 0 { costs.op } else { 0 };
            self.enters(self.clock, 0);
            let leaves = self.stores.drained.max(self.clock);
            self.posted();
            let gone = self.machine().links[register.port as usize].post(leaves, 8, 1);
            shows = self.mmio.show(gone + costs.doorbell);
        }
        self.keep(p, words, shows);
    }

    /// The last words of an entry are what they are, and its signal shows at `visible`.
    fn keep(&mut self, p: Place, words: &[u64], visible: u64) {
        let Some((signal, body)) = words.split_last() else { return };
        let first = p.word as usize - body.len();
        self.machine().words.values[first..p.word as usize].copy_from_slice(body);
        self.store(p, *signal, visible);
    }
}
