//! What operations on rules cost a core.

use super::Place;
use super::buckets::{buckets, load};
use super::lookup::beyond;
use crate::profile::Tables;

/// The network header that a rule matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ip {
    /// None.
    No,
    /// IPv4.
    V4,
    /// IPv6.
    V6,
}

/// A kind of rule: what it matches, beside Ethernet, and how many actions it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// A VLAN tag.
    pub vlan: bool,
    /// Addresses.
    pub ip: Ip,
    /// Ports.
    pub ports: bool,
    /// All of this behind a tunnel's headers.
    pub tunnel: bool,
    /// Actions, at least one.
    pub actions: u32,
}

impl Kind {
    /// A TCP connection over IPv4, and where its frames go.
    pub const CONNECTION: Kind = Kind { vlan: false, ip: Ip::V4, ports: true, tunnel: false, actions: 1 };

    /// Entries of its own: one in the last hash table of its chain, one in that behind a tunnel, and one for every
    /// two actions that the first has no room for.
    pub fn own(self) -> u32 {
        1 + u32::from(self.tunnel) + self.actions.saturating_sub(1) / 2
    }

    /// Entries that other rules have as well. A hash table matches one group of fields: the IP version, the halves of
    /// IPv6 addresses, ports beside those, a tag, a tunnel's header and the IP header under it.
    pub fn shared(self) -> u32 {
        let addresses = match self.ip {
            Ip::No => 0,
            Ip::V4 => 1,
            Ip::V6 => 3,
        };
        let ports = u32::from(self.ports && self.ip == Ip::V6);
        addresses + ports + u32::from(self.vlan) + 2 * u32::from(self.tunnel)
    }

    /// Whether the kernel has the firmware write it, where it is in the root table.
    pub fn by_firmware(self) -> bool {
        self.ip == Ip::V4 && !self.tunnel
    }
}

/// Operations on rules of one kind. Times are in microseconds of a core.
#[derive(Clone, Debug)]
pub struct Operations {
    tables: Tables,
    place: Place,
    kind: Kind,
}

impl Operations {
    /// Operations on rules of `kind` in `place`.
    pub fn new(tables: &Tables, place: Place, kind: Kind) -> Operations {
        Operations { tables: tables.clone(), place, kind }
    }

    /// Whether there is room behind `rules`.
    pub fn has_room(&self, rules: u64) -> bool {
        self.place != Place::Root || (rules as f64) < self.tables.root.entries.value
    }

    /// A rule more, behind `rules`.
    pub fn insert(&self, rules: u64) -> f64 {
        let (r, root) = (&self.tables.rules, &self.tables.root);
        if rules == 0 {
            return self.first();
        }
        let pools = if (rules as f64) < r.warm_rules.value { r.warm_us.value } else { 0.0 };
        let writes = match self.place {
            Place::Root if self.kind.by_firmware() => {
                root.kernel_us.value + beyond(root, rules) * root.shift_us.value
            }
            Place::Root => self.write() + root.rule_us.value,
            Place::Chained(tables) => self.write() + self.grow(rules / u64::from(tables.max(1))),
        };
        pools + writes
    }

    /// A rule of `rules` less.
    pub fn delete(&self, rules: u64) -> f64 {
        self.tables.rules.delete_us.value + self.find(rules)
    }

    /// A rule of `rules` becomes another, in its place.
    pub fn update(&self, rules: u64) -> f64 {
        self.tables.rules.update_us.value + self.find(rules)
    }

    /// A rule of `rules` is deleted, and another inserted. Its table has grown before.
    pub fn replace(&self, rules: u64) -> f64 {
        self.delete(rules) + self.write()
    }

    /// How many times as long operations take on a port that receives.
    pub fn beside(&self) -> f64 {
        match self.place {
            Place::Root if self.kind.by_firmware() => self.tables.root.beside.value,
            _ => self.tables.rules.beside.value,
        }
    }

    /// The first rule, which sets up hash tables as well.
    fn first(&self) -> f64 {
        let r = &self.tables.rules;
        let more = self.kind.own() - 1 + self.kind.shared();
        match self.place {
            Place::Root => self.tables.root.first_us.value,
            Place::Chained(_) => r.first_us.value + f64::from(more) * r.table_us.value,
        }
    }

    /// The entries of a rule.
    fn write(&self) -> f64 {
        let r = &self.tables.rules;
        r.insert_us.value
            + f64::from(self.kind.own() - 1) * r.entry_us.value
            + f64::from(self.kind.shared()) * r.shared_us.value
            + f64::from(self.kind.actions.saturating_sub(1)) * r.action_us.value
    }

    /// One rule more than `rules` may be one too many for their table: all move.
    fn grow(&self, rules: u64) -> f64 {
        let c = &self.tables.chained;
        if buckets(c, rules + 1) == buckets(c, rules) {
            return 0.0;
        }
        rules as f64 * self.tables.rules.move_us.value
    }

    /// The way to a rule, along its bucket; past what the core reaches it misses. Rules are visited in turn, so that
    /// with one more than fit none is at hand.
    fn find(&self, rules: u64) -> f64 {
        let r = &self.tables.rules;
        let far = if rules as f64 > r.far_rules.value { r.far_us.value } else { 0.0 };
        let each = match self.place {
            Place::Root => 0.0,
            Place::Chained(tables) => load(&self.tables.chained, rules / u64::from(tables.max(1))),
        };
        each * r.chain_us.value + far
    }
}
