//! Which cache sets are simulated, and what the others are assumed to do.
//!
//! A set is chosen by the low ten bits of the line number, in pairs of lines: these bits are the L2's
//! whole index and part of the LLC's, so a chosen L2 set and a chosen LLC set see every access that
//! concerns them. A core's access to any other line costs the mean of its kind's recent accesses.

use crate::hierarchy::{Level, mix};

/// What a core's access is about; hit rates differ between kinds, not within.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// First line of a frame.
    Header,
    /// Its other lines.
    Payload,
    /// The mbuf.
    Meta,
    /// An application's table.
    Table,
    /// A line of words that somebody else touched since.
    Word,
}

/// Loads and stores of each kind apart: a header is stored where it has just been loaded.
const KINDS: usize = 2 * 5;
fn slot(kind: Kind, write: bool) -> usize {
    2 * kind as usize + usize::from(write)
}

/// Low line-address bits that choose the sample.
const BITS: u32 = 10;
/// Accesses that a kind's mean remembers.
const MEMORY: f64 = 256.0;

/// What each [`Level`] costs, ps.
pub(crate) type Prices = [u64; 5];

/// Where the cores of one node find lines, and what they pay.
#[derive(Clone)]
struct Node {
    /// Shares of the levels for each kind.
    shares: [[f64; 5]; KINDS],
    /// What a level costs, ps, and a kind's mean of it.
    costs: Prices,
    means: [u64; KINDS],
}

impl Node {
    fn new(costs: Prices) -> Node {
        let mut shares = [[0.0, 1.0, 0.0, 0.0, 0.0]; KINDS];
        shares[slot(Kind::Table, false)] = [0.0, 0.0, 0.0, 1.0, 0.0];
        let mut node = Node { shares, costs, means: [0; KINDS] };
        node.price(Level::Dram, costs[Level::Dram as usize]);
        node
    }

    fn price(&mut self, level: Level, ps: u64) {
        self.costs[level as usize] = ps;
        for slot in 0..KINDS {
            self.mean(slot);
        }
    }

    fn mean(&mut self, slot: usize) {
        let sum: f64 = self.shares[slot].iter().zip(self.costs).map(|(s, c)| s * c as f64).sum();
        self.means[slot] = sum as u64;
    }
}

/// The sample.
pub(crate) struct Sampling {
    one_in: u32,
    /// A bit for every value of the low line bits.
    map: Vec<u64>,
    /// The node that the memory belongs to, and the far one.
    nodes: [Node; 2],
}

impl Sampling {
    /// One set in `one_in` (a power of two up to 64); 1 simulates all.
    /// `prices` are those of the near cores and of the far ones.
    pub(crate) fn new(one_in: u32, prices: [Prices; 2], seed: u64) -> Sampling {
        let pairs = 1u32 << (BITS - 1);
        // The same number of pairs for every seed: those with the smallest hashes.
        let mut order: Vec<u32> = (0..pairs).collect();
        order.sort_by_key(|p| (mix(seed ^ 0x5a3e ^ u64::from(*p) << 32), *p));
        let mut map = vec![0u64; 1 << (BITS - 6)];
        for p in order.into_iter().take((pairs / one_in.max(1)) as usize) {
            let line = p * 2;
            map[(line / 64) as usize] |= 3 << (line % 64);
        }
        Sampling { one_in: one_in.max(1), map, nodes: prices.map(Node::new) }
    }

    /// Lines that one sampled line stands for.
    pub(crate) fn scale(&self) -> f64 {
        f64::from(self.one_in)
    }

    /// Whether a line is simulated.
    #[inline]
    pub(crate) fn has(&self, line: u32) -> bool {
        let low = line & ((1 << BITS) - 1);
        self.map[(low / 64) as usize] >> (low % 64) & 1 == 1
    }

    /// The first simulated line from `from` to `last`.
    #[inline]
    pub(crate) fn next(&self, from: u32, last: u32) -> Option<u32> {
        let mut at = from;
        while at <= last {
            let low = at & ((1 << BITS) - 1);
            let rest = self.map[(low / 64) as usize] >> (low % 64);
            if rest != 0 {
                let line = at + rest.trailing_zeros();
                return if line <= last { Some(line) } else { None };
            }
            at = (at | 63) + 1;
        }
        None
    }

    /// A simulated access of `kind` found its line at `level`; what that costs, ps.
    #[inline]
    pub(crate) fn learn(&mut self, far: bool, kind: Kind, write: bool, level: Level) -> u64 {
        let (node, slot) = (&mut self.nodes[usize::from(far)], slot(kind, write));
        let shares = &mut node.shares[slot];
        for s in shares.iter_mut() {
            *s *= 1.0 - 1.0 / MEMORY;
        }
        shares[level as usize] += 1.0 / MEMORY;
        node.mean(slot);
        node.costs[level as usize]
    }

    /// A DRAM access costs `ps` on the near node from now on, and `remote` more on the far one.
    pub(crate) fn price_dram(&mut self, ps: u64, remote: u64) {
        let [near, far] = &mut self.nodes;
        near.price(Level::Dram, ps);
        far.price(Level::Dram, ps + remote);
    }

    /// Mean cost of `kind`, ps.
    #[inline]
    pub(crate) fn expected(&self, far: bool, kind: Kind, write: bool) -> u64 {
        self.nodes[usize::from(far)].means[slot(kind, write)]
    }
}
