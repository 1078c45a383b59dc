//! Network cards.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::number::Number;
use super::{NicKind, ProfileError, built_in, read};

/// A card, or a core that plays one.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Card {
    /// Its name on the command line.
    pub name: String,
    /// For people.
    pub title: String,
    /// What plays it.
    #[serde(default)]
    pub kind: NicKind,
    /// Vendors and devices of its functions, as sysfs has them without `0x`.
    #[serde(default)]
    pub pci: Vec<String>,
    /// Rate of a port.
    pub port_gbps: Number,
    /// The smallest ring.
    pub min_ring: Number,
    /// The largest ring.
    pub max_ring: Number,
    /// Of a lane, GT/s; none where it has no slot.
    #[serde(default)]
    pub pcie_gts: Option<Number>,
    /// Lanes.
    #[serde(default)]
    pub pcie_lanes: Option<Number>,
    /// Constants by their names in results.
    pub constants: BTreeMap<String, Number>,
}

impl Card {
    /// All cards.
    ///
    /// # Errors
    /// A file that is no card.
    pub fn all() -> Result<Vec<Card>, ProfileError> {
        built_in::CARDS.iter().map(|(name, text)| read(name, text)).collect()
    }

    /// A card.
    ///
    /// # Errors
    /// Names the cards there are.
    pub fn by_name(name: &str) -> Result<Card, ProfileError> {
        let all = Card::all()?;
        let known = all.iter().map(|c| c.name.clone()).collect::<Vec<_>>().join(", ");
        let found = all.into_iter().find(|c| c.name == name);
        found.ok_or_else(|| ProfileError(format!("unknown card `{name}`; allowed: {known}")))
    }

    /// The card with a function of this vendor and device, such as `15b3:101d`.
    ///
    /// # Errors
    /// A file that is no card.
    pub fn by_pci(id: &str) -> Result<Option<Card>, ProfileError> {
        Ok(Card::all()?.into_iter().find(|c| c.pci.iter().any(|own| own == id)))
    }
}

/// What a link of so many lanes carries each way, GB/s: PCIe codes 8 bits in 10 up to 5 GT/s, then 128 in 130.
pub fn gbytes(gts: f64, lanes: f64) -> f64 {
    let coded = if gts <= 5.0 { 0.8 } else { 128.0 / 130.0 };
    (gts * lanes * coded / 8.0 * 1000.0).round() / 1000.0
}

/// The link of a card in a slot: as fast as the slower of the two.
pub(super) fn link(slot: &Number, card: &Card) -> Number {
    let (Some(own), Some(lanes)) = (&card.pcie_gts, &card.pcie_lanes) else { return slot.clone() };
    let slower = if own.value <= slot.value { own } else { slot };
    let what = format!("{} ({} GT/s, {} lanes)", slower.origin, slower.value, lanes.value);
    Number::new(gbytes(slower.value, lanes.value), what)
}
