//! What a look-up takes: how long the classifier takes no other frame.

use memory::Ps;

use super::Place;
use super::buckets::{buckets, load, touched};
use crate::profile::Tables;
use crate::profile::tables::{Chained, Root};

/// Look-ups of a traffic.
#[derive(Clone, Debug)]
pub struct LookUp {
    tables: Tables,
    place: Place,
    /// Keys that frames have.
    flows: u64,
}

impl LookUp {
    /// Frames of `flows` flows that look into `place`.
    pub fn new(tables: &Tables, place: Place, flows: u64) -> LookUp {
        LookUp { tables: tables.clone(), place, flows }
    }

    /// What a frame takes where `rules` are installed in all.
    pub fn time(&self, rules: u64) -> Ps {
        let ns = match self.place {
            Place::Root => in_root(&self.tables.root, rules),
            Place::Chained(tables) => in_chain(&self.tables.chained, rules, tables.max(1), self.flows),
        };
        Ps((ns * 1e3) as u64)
    }

    /// Bytes of frames that wait for it.
    pub fn buffer(&self) -> u32 {
        let kib = match self.place {
            Place::Root => &self.tables.root.buffer_kib,
            Place::Chained(_) => &self.tables.chained.buffer_kib,
        };
        (kib.value * 1024.0) as u32
    }
}

/// Rules beyond the index of the root table.
pub(super) fn beyond(root: &Root, rules: u64) -> f64 {
    (rules as f64 - root.indexed.value * root.entries.value).max(0.0)
}

/// The index has chains as long as it is full; what it has no room for is searched rule by rule.
fn in_root(root: &Root, rules: u64) -> f64 {
    let found = root.frame_ns.value + rules as f64 * root.rule_ps.value / 1e3;
    found + beyond(root, rules) * root.beyond_ns.value
}

/// A frame reads a bucket of each table. The card keeps some of all buckets that its frames hash to, at random.
fn in_chain(c: &Chained, rules: u64, tables: u32, flows: u64) -> f64 {
    let each = rules / u64::from(tables);
    if each == 0 {
        return c.frame_ns.value;
    }
    let lines = f64::from(tables) * touched(buckets(c, each), flows);
    let missed = (1.0 - c.cache_lines.value / lines).max(0.0);
    let miss = c.miss_ns.value * (1.0 + c.collision.value * load(c, each));
    c.frame_ns.value + f64::from(tables) * missed * miss + rules as f64 / 1e6 * c.million_ns.value
}
