//! What a profile's constants make of each access, in picoseconds.

use super::coherence::node::Node;
use super::level::Level;
use super::prices::{Levels, Shares};
use crate::profile::{Constant, Constants, NicKind, Server};

/// Costs in picoseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Costs {
    pub cycle: f64,
    pub l2: u64,
    pub llc: u64,
    pub snoop: u64,
    /// More, from one node to the other.
    pub remote: u64,
    /// More, of a line of a core's own memory that the other node has; none where memory is read before that is asked.
    pub away: Option<u64>,
    /// From one look of a spinning core to its next.
    pub spin: u64,
    pub op: u64,
    pub atomic: u64,
    pub write: u64,
    pub doorbell: u64,
    /// A core's load of a register, there and back (A70).
    pub mmio_read: u64,
    /// Combining buffers of a core (A71).
    pub combining: usize,
    /// Fill buffers of a core, which stores past its caches hold until their memory answers (A91); 0 where they take
    /// places of the store buffer.
    pub fill_buffers: usize,
    /// A posted MMIO write that accompanies the doorbell of an emulated NIC.
    pub mmio: u64,
    /// Until the PCIe root has taken a posted MMIO store of a core of the card's node; 0 where a core plays the card.
    pub root: u64,
    /// Whether a core waits for a store only while its store buffer is full (A19): where the profile does not say what
    /// share of a miss it waits.
    pub buffered: bool,
    /// The share of a miss that a core waits for, of words that a card on the other node writes (A43).
    pub far_share: Option<f64>,
    /// The share of a miss that is waited for, of words between cores and of what an emulated NIC loads, in
    /// place of [`Shares::load`]; none where a core plays the card.
    pub between_share: Option<f64>,
    /// From one line that a core takes to store into it, to the next at the least (A61).
    pub taken: Option<u64>,
    /// To read, and to copy, a line that is here.
    pub read_line: u64,
    pub copy_line: u64,
}

/// Descriptors of a line: the words of so many frames come together (A43).
const DESCRIPTORS: f64 = 4.0;
/// Lines of stores that are under way at a time (A19).
pub(crate) const STORES: usize = 8;

impl Costs {
    pub(crate) fn new(s: &Server) -> Costs {
        let c = &s.constants;
        let ns = |v: f64| (v * 1e3) as u64;
        let cycle = 1e3 / s.ghz;
        let card = s.nic.kind == NicKind::Card;
        // What is posted goes one way.
        let way = if s.nic.remote { ns(c.interconnect.remote_ns.value) / 2 } else { 0 };
        Costs {
            cycle,
            l2: ns(c.caches.l2_hit_ns.value),
            llc: ns(c.caches.llc_hit_ns.value),
            snoop: ns(c.interconnect.snoop_ns.value),
            remote: ns(c.interconnect.remote_ns.value),
            away: (!c.interconnect.away_ns.is_absent()).then(|| ns(c.interconnect.away_ns.value)),
            spin: ((c.core.spin_cycles.value * cycle) as u64).max(1),
            op: (c.core.op_cycles.value * cycle) as u64,
            atomic: (c.core.atomic_cycles.value * cycle) as u64,
            write: ns(c.pcie.write_ns.value) + way,
            doorbell: ns(c.pcie.doorbell_ns.value) + way,
            mmio_read: ns(or(&c.pcie.mmio_read_ns, 2.0 * c.pcie.doorbell_ns.value)) + 2 * way,
            combining: or(&c.core.combining_buffers, STORES as f64) as usize,
            fill_buffers: or(&c.core.fill_buffers, 0.0) as usize,
            mmio: if card { (c.core.op_cycles.value * cycle) as u64 } else { 0 },
            root: if card { ns(c.interconnect.snoop_ns.value) + 2 * way } else { 0 },
            buffered: card && c.fetch.store_lines.is_absent(),
            far_share: s.nic.remote.then(|| 1.0 / (1.0 + c.fetch.load_lines.value / DESCRIPTORS)),
            between_share: card.then(|| overlap(&c.fetch.load_lines, 1.0)),
            taken: (!c.interconnect.taken_ns.is_absent()).then(|| ns(c.interconnect.taken_ns.value)),
            read_line: (c.core.read_line_cycles.value * cycle) as u64,
            copy_line: (c.core.copy_line_cycles.value * cycle) as u64,
        }
    }

    /// What a line costs at each level for cores of a node, beside what DRAM takes.
    pub(crate) fn levels(&self, node: Node) -> Levels {
        let mut levels = Levels::default();
        for level in Level::ALL {
            let over = if level.crosses(node) { self.remote } else { 0 };
            levels[level as usize] = over
                + match level {
                    Level::L2 => self.l2,
                    Level::Llc => self.llc,
                    // Caches of its own node are beside it, those of the other one are asked by that.
                    Level::Far if node == Node::Far => self.llc,
                    Level::Snoop | Level::SnoopL1 | Level::Far => self.snoop,
                    Level::Dram | Level::FarDram => 0,
                    // The memory has the mark of the line, then the other node's cache has the line (A38). Or it is
                    // read beside, in vain (A89).
                    Level::Away => self.away.map_or(self.llc, |more| self.snoop + more),
                };
        }
        levels
    }
}

/// What the profile says, or `other`.
fn or(c: &Constant, other: f64) -> f64 {
    if c.is_absent() { other } else { c.value }
}

/// One over how many lines are under way, where the profile does not say over `other`.
fn overlap(c: &Constant, other: f64) -> f64 {
    1.0 / or(c, other)
}

/// What a core waits of a line that comes from such a level.
pub(crate) fn shares(nic: NicKind, c: &Constants, level: Level) -> Shares {
    let any = any_shares(nic, c);
    let [load, run, store, store_run] = match level {
        Level::Llc => {
            let of = &c.fetch_llc;
            [&of.load_lines, &of.run_lines, &of.store_lines, &of.store_run_lines]
        }
        Level::SnoopL1 => {
            let of = &c.fetch_l1;
            [&of.load_lines, &of.run_lines, &of.store_lines, &of.store_run_lines]
        }
        _ => return any,
    };
    let share = |c: &Constant, share: f64| if c.is_absent() { share } else { 1.0 / c.value };
    Shares {
        load: share(load, any.load),
        run: share(run, any.run),
        behind: share(run, any.behind),
        store: share(store, any.store),
        store_behind: share(store_run, any.store_behind),
    }
}

/// The same where the profile does not tell levels apart.
fn any_shares(nic: NicKind, c: &Constants) -> Shares {
    Shares {
        load: if nic == NicKind::Card { 1.0 } else { overlap(&c.fetch.load_lines, 1.0) },
        run: overlap(&c.fetch.run_lines, 1.0),
        behind: overlap(
            if c.fetch.run_lines.is_absent() { &c.antagonist.pagerank_lines } else { &c.fetch.run_lines },
            1.0,
        ),
        store: overlap(&c.fetch.store_lines, STORES as f64),
        store_behind: overlap(
            &c.fetch.store_run_lines,
            if c.fetch.store_lines.is_absent() { STORES as f64 } else { c.fetch.store_lines.value },
        ),
    }
}
