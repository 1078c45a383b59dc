//! Which of a machine's cards a profile has, and what the profile says of it.

use model::profile::parts::{self, Parts};

use super::pci::Card;
use super::told::Told;

/// The vendor of virtio's devices.
const VIRTIO: &str = "1af4:";
/// Parts of a card where there is none, or none that is known; where a host's core plays it.
const NONE: &str = "cx5";
const SOFT: &str = "soft";

/// The card of the profile: a part's before others, one with a link or in a program's hands before others, the fastest.
pub(crate) fn chosen(cards: &[Card]) -> Option<&Card> {
    let rate = |card: &Card| {
        let part = card.part.as_deref().and_then(|name| parts::Card::by_name(name).ok());
        card.gbps.or(part.map(|part| part.port_gbps.value)).unwrap_or_default()
    };
    let rank = |card: &Card| (card.part.is_some(), card.link_up != Some(false));
    // The first of equals.
    cards.iter().rev().max_by(|a, b| rank(a).cmp(&rank(b)).then(rate(a).total_cmp(&rate(b))))
}

/// The part of the chosen card, and what is assumed of it.
pub(super) fn part(cards: &[Card], asked: Option<&str>) -> Result<(parts::Card, Vec<Told>), String> {
    let by_name = |name: &str| parts::Card::by_name(name).map_err(|e| e.to_string());
    let because = |name: &str, why: String| Ok((by_name(name)?, vec![Told::new("nic.name", name, why)]));
    if let Some(name) = asked {
        return Ok((by_name(name)?, Vec::new()));
    }
    match chosen(cards) {
        Some(Card { part: Some(name), .. }) => Ok((by_name(name)?, Vec::new())),
        Some(card) if card.id.starts_with(VIRTIO) => {
            because(SOFT, format!("{} is virtio: a core of the host plays the card", card.address))
        }
        Some(card) => {
            let why = format!("no part describes {} at {}: constants of {NONE}", card.id, card.address);
            let (mut part, told) = because(NONE, why)?;
            let driver = card.driver.as_deref().unwrap_or("no driver");
            part.title = format!("{} ({driver})", card.id);
            Ok((part, told))
        }
        None => because(NONE, "no network card on PCI was found".into()),
    }
}

/// Sets what was read of the card.
pub(super) fn describe(parts: &mut Parts, cards: &[Card]) {
    let Some(card) = chosen(cards).filter(|card| !card.id.starts_with(VIRTIO)) else { return };
    // Functions alike that carry traffic: with a link, or taken from the kernel.
    let in_use = |other: &&Card| other.id == card.id && other.link_up != Some(false);
    let alike: Vec<&Card> = cards.iter().filter(in_use).collect();
    let ports = alike.len().clamp(1, 16);
    let from = format!("read: functions {} with a link or without a kernel driver, {}", card.id, card.from);
    parts.set("nic.ports", ports as f64, from);
    if let Some(gbps) = card.gbps {
        let interface = card.interface.as_deref().unwrap_or_default();
        parts.set("nic.port_gbps", gbps, format!("read: /sys/class/net/{interface}/speed"));
    }
    if let Some(rings) = card.rings {
        let interface = card.interface.as_deref().unwrap_or_default();
        parts.set("nic.max_ring", rings.rx_most.into(), format!("read: ethtool's ring sizes of {interface}"));
        let low = parts.card.min_ring.value.min(rings.rx_most.into());
        if low < parts.card.min_ring.value {
            parts.set("nic.min_ring", low, format!("read: ethtool's ring sizes of {interface}, the largest"));
        }
    }
    if let (Some(gts), Some(lanes)) = (card.gts, card.lanes) {
        let slot = |card: &Card| card.address.rsplit_once('.').map(|(slot, _)| slot.to_owned());
        let sharing = alike.iter().filter(|other| slot(other) == slot(card)).count().max(1);
        let gbytes = parts::gbytes(gts, lanes.into()) / sharing as f64;
        let shared = if sharing > 1 { format!(", shared by {sharing} functions") } else { String::new() };
        parts.set(
            "pcie_gbytes",
            gbytes,
            format!("read: {gts} GT/s, {lanes} lanes{shared}, {}", card.link_from),
        );
    }
}
