//! Network cards on PCI: what they are, how fast their links are, which node they are on.

use serde::Serialize;

use super::ethtool::{self, Rings};
use super::files::{Files, number};

/// A function of a card.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Card {
    /// Domain, bus, device and function.
    pub address: String,
    /// Vendor and device, such as `15b3:101d`.
    pub id: String,
    /// The part that describes it, if there is one.
    pub part: Option<String>,
    /// The driver that has it.
    pub driver: Option<String>,
    /// Its interface, where the kernel has it.
    pub interface: Option<String>,
    /// Whether the interface has a link; nothing where there is no interface.
    pub link_up: Option<bool>,
    /// Rate of the port, Gbps.
    pub gbps: Option<f64>,
    /// The node that it is on.
    pub node: Option<u32>,
    /// Of a lane, GT/s.
    pub gts: Option<f64>,
    /// Lanes in use.
    pub lanes: Option<u32>,
    /// Rings.
    pub rings: Option<Rings>,
    /// Where this is from.
    pub from: String,
    /// Where the link's speed and width are from.
    #[serde(skip)]
    pub link_from: String,
}

const DEVICES: &str = "/sys/bus/pci/devices";

/// All cards; rings where `live`, as only this machine's drivers can be asked.
pub(crate) fn read(files: &Files, live: bool) -> Vec<Card> {
    files.names(DEVICES).iter().filter_map(|address| card(files, address, live)).collect()
}

fn card(files: &Files, address: &str, live: bool) -> Option<Card> {
    let from = format!("{DEVICES}/{address}");
    let number = |key: &str| files.number(&format!("{from}/{key}"));
    // Ethernet (0x0200), and InfiniBand (0x0207), which cards of both kinds may be set to.
    if !matches!(number("class")? >> 8, 0x0200 | 0x0207) {
        return None;
    }
    let id = format!("{:04x}:{:04x}", number("vendor")?, number("device")?);
    let interface = interface(files, &from);
    let net = |key: &str| files.text(&format!("/sys/class/net/{}/{key}", interface.as_ref()?));
    let gbps = net("speed").and_then(|text| text.parse::<f64>().ok()).filter(|mbps| *mbps > 0.0);
    let (gts, lanes, link_from) = link(files, &from);
    let node = files.text(&format!("{from}/numa_node")).and_then(|text| text.parse().ok());
    Some(Card {
        address: address.to_owned(),
        part: model::profile::parts::Card::by_pci(&id).ok().flatten().map(|card| card.name),
        id,
        driver: files.link(&format!("{from}/driver")),
        link_up: interface.as_ref().map(|_| net("carrier").as_deref() == Some("1")),
        rings: interface.as_ref().filter(|_| live).and_then(|name| ethtool::rings(name)),
        interface,
        gbps: gbps.map(|mbps| mbps / 1000.0),
        node,
        gts,
        lanes,
        from,
        link_from,
    })
}

/// The interface of a function: its own, or that of its virtio device.
fn interface(files: &Files, at: &str) -> Option<String> {
    let own = files.names(&format!("{at}/net"));
    let virtio = files.names(at).into_iter().filter(|name| name.starts_with("virtio"));
    let theirs = virtio.flat_map(|name| files.names(&format!("{at}/{name}/net")));
    own.into_iter().chain(theirs).next()
}

/// Speed of a lane, lanes, and where they are from: what the kernel says, or the function's configuration space.
fn link(files: &Files, at: &str) -> (Option<f64>, Option<u32>, String) {
    let text = |key: &str| files.text(&format!("{at}/{key}"));
    let gts = text("current_link_speed").and_then(|text| text.split(' ').next()?.parse().ok());
    let lanes = text("current_link_width").and_then(|text| number(&text)).map(|lanes| lanes as u32);
    let (gts, lanes) = (gts.filter(|gts| *gts > 0.0), lanes.filter(|lanes| (1..=32).contains(lanes)));
    if gts.is_some() && lanes.is_some() {
        return (gts, lanes, format!("{at}/current_link_speed and current_link_width"));
    }
    let status = files.bytes(&format!("{at}/config")).and_then(|config| link_status(&config));
    match status {
        Some((gts, lanes)) => (Some(gts), Some(lanes), format!("the link status register in {at}/config")),
        None => (None, None, String::new()),
    }
}

/// The link status register of the PCI Express capability (id 0x10).
fn link_status(config: &[u8]) -> Option<(f64, u32)> {
    let mut at = usize::from(*config.get(0x34)?);
    // At most as many capabilities as fit: a list in a circle ends, too.
    for _ in 0..48 {
        let (id, next) = (*config.get(at)?, *config.get(at + 1)?);
        if at < 0x40 {
            return None;
        }
        if id == 0x10 {
            let status = u16::from_le_bytes([*config.get(at + 0x12)?, *config.get(at + 0x13)?]);
            let gts = [2.5, 5.0, 8.0, 16.0, 32.0, 64.0].get(usize::from(status & 15).checked_sub(1)?)?;
            let lanes = u32::from(status >> 4 & 63);
            return (lanes > 0).then_some((*gts, lanes));
        }
        at = usize::from(next);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_by_its_status_register() {
        let mut config = vec![0; 256];
        (config[0x34], config[0x40], config[0x41], config[0x60]) = (0x40, 1, 0x60, 0x10);
        config[0x72..0x74].copy_from_slice(&0x1083u16.to_le_bytes());
        assert_eq!(link_status(&config), Some((8.0, 8)));
        config[0x60] = 5;
        config[0x61] = 0x40;
        assert_eq!(link_status(&config), None, "a list in a circle");
        assert_eq!(link_status(&config[..0x40]), None);
    }
}
