//! Memory modules by the firmware's tables (SMBIOS), which the kernel shows to root.

use serde::Serialize;

use super::files::Files;

/// The modules of the machine.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Memory {
    /// Slots with a module.
    pub modules: u32,
    /// Slots.
    pub slots: u32,
    /// `ddr4` and its like, where it is a kind that is known.
    pub kind: Option<&'static str>,
    /// Transfers in a microsecond, of the slowest module as it is configured.
    pub mts: Option<u32>,
}

/// Where the tables are.
pub(crate) const TABLES: &str = "/sys/firmware/dmi/tables/DMI";

/// SMBIOS, section 7.18: a memory device, and where it says what.
const MEMORY_DEVICE: u8 = 17;
const SIZE: usize = 0x0c;
const KIND: usize = 0x12;
const SPEED: usize = 0x15;
const CONFIGURED: usize = 0x20;

/// Reads the tables.
pub(crate) fn read(files: &Files) -> Option<Memory> {
    parse(&files.bytes(TABLES)?)
}

fn word(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes([*bytes.get(at)?, *bytes.get(at + 1)?]))
}

/// All memory devices of the tables; none if there is not one.
fn parse(tables: &[u8]) -> Option<Memory> {
    let mut found = Memory { modules: 0, slots: 0, kind: None, mts: None };
    let mut rest = tables;
    while let [kind, len, ..] = *rest {
        let Some(structure) = rest.get(..usize::from(len)).filter(|s| s.len() >= 4) else { break };
        if kind == MEMORY_DEVICE {
            device(structure, &mut found);
        }
        // Strings follow, each with a zero, and one more.
        let strings = &rest[structure.len()..];
        let Some(end) = strings.windows(2).position(|pair| pair == [0, 0]) else { break };
        rest = &strings[end + 2..];
    }
    (found.slots > 0).then_some(found)
}

fn device(structure: &[u8], found: &mut Memory) {
    found.slots += 1;
    if word(structure, SIZE).is_none_or(|size| size == 0 || size == 0xffff) {
        return;
    }
    found.modules += 1;
    found.kind = match structure.get(KIND) {
        Some(0x18) => Some("ddr3"),
        Some(0x1a) => Some("ddr4"),
        Some(0x22) => Some("ddr5"),
        _ => found.kind,
    };
    let speed = |at| word(structure, at).filter(|mts| *mts != 0 && *mts != 0xffff).map(u32::from);
    if let Some(mts) = speed(CONFIGURED).or_else(|| speed(SPEED)) {
        found.mts = Some(found.mts.map_or(mts, |slowest| slowest.min(mts)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A memory device as SMBIOS 2.8 has it, with two strings.
    fn device(size: u16, kind: u8, speed: u16, configured: u16) -> Vec<u8> {
        let mut bytes = vec![0; 0x28];
        (bytes[0], bytes[1], bytes[KIND]) = (MEMORY_DEVICE, 0x28, kind);
        for (at, value) in [(SIZE, size), (SPEED, speed), (CONFIGURED, configured)] {
            bytes[at..at + 2].copy_from_slice(&value.to_le_bytes());
        }
        bytes.extend(b"DIMM_A1\0BANK 0\0\0");
        bytes
    }

    #[test]
    fn modules_are_counted_and_the_slowest_sets_the_pace() {
        let other = [&[1, 4, 0, 0][..], &[0, 0]].concat();
        let end = [&[127, 4, 0, 0][..], &[0, 0]].concat();
        let modules = [
            device(0x7fff, 0x1a, 3200, 2933),
            other,
            device(16384, 0x1a, 3200, 3200),
            device(0, 0, 0, 0),
            end,
        ]
        .concat();
        let found = Memory { modules: 2, slots: 3, kind: Some("ddr4"), mts: Some(2933) };
        assert_eq!(parse(&modules), Some(found));
    }

    #[test]
    fn what_is_cut_off_is_no_table() {
        let whole = device(16384, 0x22, 4800, 4800);
        for len in 0..whole.len() {
            assert!(parse(&whole[..len]).is_none_or(|m| m.modules <= 1), "{len}");
        }
        assert_eq!(parse(&[17, 2, 0, 0, 0, 0]), None);
        assert_eq!(parse(&[]), None);
    }
}
