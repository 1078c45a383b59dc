//! How much there may be, and the memory that it leads to.

use crate::arena::units_of;
use crate::buckets;
use crate::columns::{RULE, UNIT};
use crate::error::{Error, Resource};
use crate::lines::Lines;
use crate::mask::Mask;
use crate::records;
use crate::sizes::MASK_WORDS;
use crate::table::Table;
use crate::view::Tuple;

/// How much there may be of each thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Rules of all groups.
    pub rules: u32,
    /// Units of 64 B. A rule has one, or two or three where its match needs more than two or nine words. Rules that
    /// were removed or changed lately keep theirs until readers have moved on.
    pub units: u32,
    /// Lists of actions other than a fate, a mark and a counter.
    pub records: u32,
    /// Different masks in all groups.
    pub tuples: u32,
    /// Groups.
    pub groups: u32,
}

/// Bytes of a mask's table for the writer, and in a view and the one before it.
const TABLE: u64 = 1024;
const _: () =
    assert!(2 * size_of::<Tuple>() + size_of::<Table>() + size_of::<Mask>() + 8 * 16 <= TABLE as usize);

impl Limits {
    /// Room for so many rules of one unit each, with the usual of everything else.
    pub fn for_rules(rules: u32) -> Limits {
        let units = rules.saturating_add(rules / 128).saturating_add(64);
        Limits { rules, units, records: 1024, tuples: 256, groups: 64 }
    }

    /// The most memory that tables with these limits take, in bytes. Beside it there are 64 B for each action in the
    /// list of a record, and 40 B for each priority that the rules of one mask have.
    pub fn bytes(&self) -> u64 {
        let [rules, units, records, tuples, groups] =
            [self.rules, self.units, self.records, self.tuples, self.groups].map(u64::from);
        let arena = Lines::bytes(units + 1) + units * UNIT as u64 + rules * RULE as u64;
        arena + buckets::bytes(units, tuples) + records * records::BYTES + tuples * TABLE + groups * 64
    }

    /// # Errors
    /// One is out of range.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let one = |what, value, least, most| match (least..=most).contains(&value) {
            true => Ok(()),
            false => Err(Error::Limit { what, value, least, most }),
        };
        one(Resource::Rules, self.rules, 1, 1 << 26)?;
        one(Resource::Units, self.units, units_of(MASK_WORDS) as u32, 1 << 26)?;
        one(Resource::Records, self.records, 0, 1 << 26)?;
        one(Resource::Tuples, self.tuples, 1, 1 << 15)?;
        one(Resource::Groups, self.groups, 1, 1 << 16)
    }
}
