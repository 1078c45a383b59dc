//! How a machine is set up for packets: the ways that cards may write to, resctrl, huge pages, isolated CPUs.

use std::os::unix::fs::FileExt;

use serde::Serialize;

use super::files::Files;

/// Settings; what is not there is nothing.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Tuning {
    /// The mask of MSR 0xC8B: ways of the LLC that DDIO may fill.
    pub ddio_mask: Option<u64>,
    /// resctrl.
    pub resctrl: Option<Resctrl>,
    /// Huge pages, by size.
    pub huge_pages: Vec<HugePages>,
    /// CPUs that the scheduler leaves alone, as the kernel lists them.
    pub isolated: Option<String>,
    /// CPUs without ticks while one thread runs.
    pub nohz_full: Option<String>,
    /// Nodes of memory.
    pub nodes: u32,
}

/// What resctrl says of the LLC.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Resctrl {
    /// All ways, a bit each.
    pub cbm_mask: Option<String>,
    /// Ways that others than cores use as well.
    pub shareable_bits: Option<String>,
    /// Classes of service.
    pub closids: Option<u32>,
    /// `enabled`, `disabled` or `not supported`.
    pub io_alloc: Option<String>,
    /// Ways of the cards, of each LLC.
    pub io_alloc_cbm: Option<String>,
    /// The ways of each group, by its name; the root group has none.
    pub groups: Vec<(String, String)>,
}

/// Huge pages of a size.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct HugePages {
    pub kib: u64,
    pub all: u64,
    pub free: u64,
}

pub(crate) const RESCTRL: &str = "/sys/fs/resctrl";
/// `IIO_LLC_WAYS` of Intel's uncore, which no manual has (Farshin et al., USENIX ATC 2020).
const DDIO_MSR: u64 = 0xc8b;
pub(crate) const DDIO_FROM: &str = "MSR 0xC8B, /dev/cpu/0/msr";

/// Reads them; the MSR where `intel`, and `live`: of this machine.
pub(crate) fn read(files: &Files, live: bool, intel: bool) -> Tuning {
    let nodes = files.names("/sys/devices/system/node");
    let node = |name: &&String| name.strip_prefix("node").is_some_and(|n| n.parse::<u32>().is_ok());
    Tuning {
        ddio_mask: if live && intel { ddio_mask() } else { None },
        resctrl: resctrl(files),
        huge_pages: huge_pages(files),
        isolated: files.text("/sys/devices/system/cpu/isolated"),
        nohz_full: files.text("/sys/devices/system/cpu/nohz_full").filter(|text| text != "(null)"),
        nodes: nodes.iter().filter(node).count().max(1) as u32,
    }
}

fn ddio_mask() -> Option<u64> {
    let msr = std::fs::File::open("/dev/cpu/0/msr").ok()?;
    let mut bytes = [0; 8];
    msr.read_exact_at(&mut bytes, DDIO_MSR).ok()?;
    // A hypervisor that answers for a register it does not have says 0.
    Some(u64::from_le_bytes(bytes)).filter(|mask| *mask != 0 && *mask <= u64::from(u32::MAX))
}

fn huge_pages(files: &Files) -> Vec<HugePages> {
    let below = "/sys/kernel/mm/hugepages";
    let one = |name: &String| {
        let kib = name.strip_prefix("hugepages-")?.strip_suffix("kB")?.parse().ok()?;
        let of = |key: &str| files.number(&format!("{below}/{name}/{key}"));
        Some(HugePages { kib, all: of("nr_hugepages")?, free: of("free_hugepages").unwrap_or_default() })
    };
    files.names(below).iter().filter_map(one).collect()
}

fn resctrl(files: &Files) -> Option<Resctrl> {
    let info = |key: &str| files.text(&format!("{RESCTRL}/info/L3/{key}"));
    let ways = |group: &str| {
        let text = files.text(&format!("{RESCTRL}/{group}/schemata"))?;
        let line = text.lines().find_map(|line| line.trim().strip_prefix("L3:").map(str::to_owned))?;
        Some((group.to_owned(), line))
    };
    let cbm_mask = info("cbm_mask")?;
    let groups = files.names(RESCTRL).into_iter().filter(|name| name != "info");
    Some(Resctrl {
        cbm_mask: Some(cbm_mask),
        shareable_bits: info("shareable_bits"),
        closids: info("num_closids").and_then(|text| text.parse().ok()),
        io_alloc: info("io_alloc"),
        io_alloc_cbm: info("io_alloc_cbm"),
        groups: std::iter::once(String::new()).chain(groups).filter_map(|group| ways(&group)).collect(),
    })
}

impl Resctrl {
    /// Ways that cards share with cores: those of io_alloc where that is enabled, else what hardware says.
    pub(crate) fn card_ways(&self) -> Option<(u32, &'static str)> {
        let bits =
            |text: &str| u32::from_str_radix(text.trim(), 16).ok().map(u32::count_ones).filter(|n| *n > 0);
        if self.io_alloc.as_deref() == Some("enabled") {
            let first = self.io_alloc_cbm.as_deref()?.split(';').next()?;
            return Some((bits(first.rsplit('=').next()?)?, "io_alloc_cbm"));
        }
        Some((bits(self.shareable_bits.as_deref()?)?, "shareable_bits"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_of_cards_by_resctrl() {
        let mut r = Resctrl { shareable_bits: Some("600".into()), ..Resctrl::default() };
        assert_eq!(r.card_ways(), Some((2, "shareable_bits")));
        (r.io_alloc, r.io_alloc_cbm) = (Some("enabled".into()), Some("0=f000;1=ffff".into()));
        assert_eq!(r.card_ways(), Some((4, "io_alloc_cbm")));
        assert_eq!(Resctrl { shareable_bits: Some("0".into()), ..Resctrl::default() }.card_ways(), None);
    }
}
