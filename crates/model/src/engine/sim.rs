//! What all agents of a simulation share: the machine, and whose turn it is.

use memory::Ps;

use super::gauge::Gauge;
use super::standstill::Standstill;
use super::turns::{BEHIND, Lead, Turns};
use crate::machine::Machine;
use crate::machine::coherence::agents::ones;
use crate::machine::coherence::link::Crossed;
use crate::machine::hierarchy::Counts;
use crate::machine::layout::{Layout, Place};
use crate::profile::Server;

/// What all agents share.
pub struct Sim {
    pub(crate) turns: Turns,
    pub(crate) machine: Machine,
    pub(crate) standstill: Standstill,
    /// Gauges by core; a core that plays the card comes last.
    pub(crate) gauges: Vec<Gauge>,
    /// Whether agents are to return.
    pub(crate) stop: bool,
}

impl Sim {
    /// `server` with what `layout` allocated, and no agents. One cache set in `one_in` is simulated.
    pub fn new(server: &Server, layout: Layout, one_in: u32, seed: u64) -> Sim {
        Sim {
            turns: Turns::default(),
            machine: Machine::new(server, layout, one_in, seed),
            standstill: Standstill::NEVER,
            gauges: vec![Gauge::default(); server.all_cores() as usize],
            stop: false,
        }
    }

    /// The same with `cores` more on the far node, behind all others, that play the NIC.
    #[must_use]
    pub fn emulated(mut self, server: &Server, cores: u32) -> Sim {
        self.machine.add_far(server, cores);
        self.gauges.extend((0..cores).map(|_| Gauge::default()));
        self
    }

    /// Cores ask for lines before they write them, as our rings say.
    pub(crate) fn asks_ahead(&mut self) {
        self.machine.ahead = true;
    }

    /// What the caches have counted.
    pub fn counts(&self) -> Counts {
        self.machine.hierarchy.counts
    }

    /// Lines that agents of the near node and of the far one got over the link between them.
    pub fn crossed(&self) -> [Crossed; 2] {
        self.machine.nodes.crossed
    }

    /// A signal becomes `value`, which shows at `visible`: agents parked on its line go on then.
    #[inline(always)]
    pub(crate) fn store(&mut self, w: Place, value: u64, visible: u64) {
        let words = &mut self.machine.words;
        words.store(w, value, visible);
        let line = &mut words.lines[w.line as usize];
        line.stores = line.stores.wrapping_add(1);
        if !line.watch.is_empty() {
            self.wake_watchers(w.line, visible);
        }
    }

    #[inline(never)]
    fn wake_watchers(&mut self, line: u32, at: u64) {
        self.watchers(line, |turns, a| turns.changed(a, line, at));
    }

    /// Agent `by` takes the contended line `line` from those who have copies, at `at`.
    pub(crate) fn taken(&mut self, line: u32, at: u64, by: usize) {
        self.watchers(line, |turns, a| turns.loses(a, line, at, by));
    }

    /// `wake` for each agent that is parked on `line`.
    #[inline(always)]
    fn watchers(&mut self, line: u32, wake: impl Fn(&mut Turns, usize)) {
        let (few, aside) = self.machine.words.lines[line as usize].watch.members();
        ones(few).for_each(|a| wake(&mut self.turns, a));
        for (i, word) in aside.iter().flatten().enumerate() {
            ones(*word).for_each(|bit| wake(&mut self.turns, i * 64 + bit));
        }
    }

    /// Agents may run ahead by so much. By more while they are behind their traffic, but not where that is 0, nor where
    /// a core plays the card: there every word goes from core to core.
    pub(crate) fn set_window(&mut self, window: u64) {
        let further = window > 0 && !self.machine.soft;
        self.turns.lead = Lead {
            window,
            core: if further { BEHIND } else { 0 },
            card: if further { self.machine.costs.doorbell.saturating_sub(window) } else { 0 },
            keeping_up: self.turns.lead.keeping_up,
        };
    }

    /// The gauges at `at`: a parked core has been idle since.
    pub(crate) fn gauges_at(&self, at: u64) -> Vec<Gauge> {
        let mut gauges = self.gauges.clone();
        for (core, parked_at) in self.turns.parked_cores() {
            gauges[core as usize].idle += at.saturating_sub(parked_at);
        }
        gauges
    }

    /// All cores that run applications stand still from `from` for `span`.
    pub fn stall_cores(&mut self, from: Ps, span: Ps) {
        self.standstill.stall(from, span);
    }

    /// What a stalled run looks like: each agent, when it goes on, and what it waits for.
    pub fn dump(&self) -> String {
        use std::fmt::Write;
        let (mut out, lines) = (String::new(), &self.machine.words.lines);
        for (i, s) in self.turns.slots.iter().enumerate() {
            let when = match self.turns.schedule.at(i) {
                u64::MAX => "parked".to_owned(),
                t => format!("at {:.3} us", t as f64 / 1e6),
            };
            let waits: Vec<_> =
                (0..lines.len()).filter(|l| lines[*l].watch.has(self.turns.watcher(i))).take(4).collect();
            let _ = writeln!(
                out,
                "{:?}: {when}, last at {:.3} us, waits for word lines {waits:?}",
                s.agent,
                s.parked_at as f64 / 1e6
            );
        }
        out
    }
}
