//! A CPUID dump: a file for each CPU, `pu0` and so on, with lines `mask eax ebx ecx edx => eax ebx ecx edx` of what the
//! instruction was asked and what it said. hwloc's `hwloc-gather-cpuid` writes them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use super::caches::Cache;
use super::cpu::{Processor, in_name};

/// What one CPU said, by leaf and subleaf.
pub(crate) type Leaves = BTreeMap<(u32, u32), [u32; 4]>;

/// What a dump tells.
pub(crate) struct Dump {
    pub processor: Processor,
    pub caches: Vec<Cache>,
    /// Ways of the LLC that others than cores use as well, a bit each (leaf 0x10).
    pub shared_ways: Option<u32>,
}

/// Reads a dump.
///
/// # Errors
/// What is no dump.
pub(crate) fn read(directory: &Path) -> Result<Dump, String> {
    let wrong = |what: String| format!("{}: {what}", directory.display());
    let mut cpus = BTreeMap::new();
    for entry in fs::read_dir(directory).map_err(|e| wrong(e.to_string()))? {
        let entry = entry.map_err(|e| wrong(e.to_string()))?;
        let name = entry.file_name();
        let number = name.to_str().and_then(|name| name.strip_prefix("pu")?.parse::<u32>().ok());
        if let Some(number) = number {
            let text = fs::read_to_string(entry.path()).map_err(|e| wrong(format!("pu{number}: {e}")))?;
            cpus.insert(number, leaves(&text));
        }
    }
    let (_, first) = cpus.first_key_value().ok_or_else(|| wrong("no file pu0: no CPUID dump".into()))?;
    let zero = first.get(&(0, 0)).ok_or_else(|| wrong("pu0 lacks leaf 0".into()))?;
    let vendor = string(&[zero[1], zero[3], zero[2]]);
    let (processor, apics) =
        processor(&vendor, first, &cpus).ok_or_else(|| wrong("pu0 lacks leaf 1".into()))?;
    let caches = caches(&vendor, first, &apics);
    let shared_ways = first.get(&(0x10, 1)).map(|l| l[1]).filter(|bits| *bits != 0);
    Ok(Dump { processor, caches, shared_ways })
}

fn leaves(text: &str) -> Leaves {
    let line = |line: &str| {
        let (asked, said) = line.split_once("=>")?;
        let words = |text: &str| -> Option<Vec<u32>> {
            text.split_whitespace().map(|word| u32::from_str_radix(word, 16).ok()).collect()
        };
        let (asked, said) = (words(asked)?, words(said)?);
        Some(((*asked.get(1)?, asked.get(3).copied().unwrap_or_default()), <[u32; 4]>::try_from(said).ok()?))
    };
    text.lines().filter_map(line).collect()
}

/// Registers as text.
fn string(words: &[u32]) -> String {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).filter(|b| *b != 0).collect();
    String::from_utf8_lossy(&bytes).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The processor, and the APIC numbers of the CPUs on the first socket.
fn processor(vendor: &str, first: &Leaves, cpus: &BTreeMap<u32, Leaves>) -> Option<(Processor, Vec<u32>)> {
    let [eax, ..] = *first.get(&(1, 0))?;
    let (base, extended) = (eax >> 8 & 15, eax >> 20 & 255);
    let family = if base == 15 { base + extended } else { base };
    let more = if base == 6 || base == 15 { eax >> 16 & 15 } else { 0 };
    let brand = (0x8000_0002..=0x8000_0004).filter_map(|leaf| first.get(&(leaf, 0))).flatten();
    let name = string(&brand.copied().collect::<Vec<_>>());
    let [shift, of_core] = shape(vendor, first);
    let apic = |leaves: &Leaves| match leaves.get(&(0xb, 0)).filter(|l| l[1] != 0) {
        Some(leaf) => leaf[3],
        None => leaves.get(&(1, 0)).map_or(0, |leaf| leaf[1] >> 24),
    };
    let package = |leaves: &Leaves| apic(leaves).checked_shr(shift).unwrap_or_default();
    let socket: Vec<u32> =
        cpus.iter().filter(|(_, l)| package(l) == package(first)).map(|(n, _)| *n).collect();
    let packages = cpus.values().map(package).collect::<BTreeSet<_>>().len() as u32;
    let apics: Vec<u32> = socket.iter().filter_map(|cpu| cpus.get(cpu)).map(apic).collect();
    let cores = groups(&apics, of_core);
    let found = Processor {
        vendor: vendor.to_owned(),
        family,
        model: (eax >> 4 & 15) + (more << 4),
        stepping: eax & 15,
        ghz: in_name(&name),
        name,
        sockets: packages,
        cores,
        threads: (socket.len() as u32).div_ceil(cores),
        guest: first.get(&(1, 0)).is_some_and(|l| l[2] >> 31 == 1),
        from: [
            "CPUID leaf 1",
            "CPUID leaf 0xb or 0x80000008 of all CPUs",
            "the name in CPUID leaf 0x80000002",
        ]
        .map(str::to_owned),
        first: socket.first().copied().unwrap_or_default(),
        cpus: socket,
    };
    Some((found, apics))
}

/// How many groups there are of APIC numbers that differ in their last bits alone.
fn groups(apics: &[u32], bits: u32) -> u32 {
    let all: BTreeSet<u32> = apics.iter().map(|apic| apic.checked_shr(bits).unwrap_or_default()).collect();
    all.len().max(1) as u32
}

/// Bits of an APIC's number below that of its socket, and below that of its core.
fn shape(vendor: &str, first: &Leaves) -> [u32; 2] {
    let levels = (0..8).filter_map(|n| first.get(&(0xb, n))).filter(|leaf| leaf[1] & 0xffff != 0);
    let of_core = first.get(&(0xb, 0)).map_or(0, |leaf| leaf[0] & 31);
    if let Some(shift) = levels.map(|leaf| leaf[0] & 31).max().filter(|shift| *shift > 0) {
        return [shift, of_core];
    }
    let bits = |n: u32| n.max(1).next_power_of_two().trailing_zeros();
    if matches!(vendor, "AuthenticAMD" | "HygonGenuine") {
        let sizes = first.get(&(0x8000_0008, 0)).map_or(0, |leaf| leaf[2]);
        let shift = if sizes >> 12 & 15 > 0 { sizes >> 12 & 15 } else { bits((sizes & 255) + 1) };
        let zen = first.get(&(1, 0)).is_some_and(|leaf| leaf[0] >> 20 & 255 >= 8);
        let threads = first.get(&(0x8000_001e, 0)).filter(|_| zen).map_or(1, |leaf| (leaf[1] >> 8 & 255) + 1);
        return [shift, bits(threads)];
    }
    let logical = first.get(&(1, 0)).map_or(1, |leaf| leaf[1] >> 16 & 255).max(1);
    let cores = first.get(&(4, 0)).map_or(1, |leaf| (leaf[0] >> 26) + 1);
    [bits(logical), bits(logical / cores)]
}

/// Caches by leaf 4, or AMD's leaf of the same form.
fn caches(vendor: &str, first: &Leaves, apics: &[u32]) -> Vec<Cache> {
    let amd = matches!(vendor, "AuthenticAMD" | "HygonGenuine");
    let leaf = if amd { 0x8000_001d } else { 4 };
    let one = |n: u32| {
        let [eax, ebx, ecx, edx] = *first.get(&(leaf, n))?;
        let kind = ["Data", "Instruction", "Unified"].get((eax & 31).checked_sub(1)? as usize)?;
        let (ways, sets) = ((ebx >> 22) + 1, ecx.checked_add(1)?);
        let line = u64::from((ebx & 0xfff) + 1) * u64::from((ebx >> 12 & 0x3ff) + 1);
        let kib = u32::try_from(line * u64::from(ways) * u64::from(sets) / 1024).ok()?;
        // So many APIC numbers are of one cache; not each of them is a CPU's.
        let bits = ((eax >> 14 & 0xfff) + 1).next_power_of_two().trailing_zeros();
        let instances = groups(apics, bits);
        Some(Cache {
            level: eax >> 5 & 7,
            kind: (*kind).to_owned(),
            kib,
            ways,
            sets,
            shared_by: (apics.len() as u32).div_ceil(instances).max(1),
            instances,
            inclusive: Some(edx >> 1 & 1 == 1),
            from: format!("CPUID leaf {leaf:#x}, subleaf {n}"),
        })
    };
    let told: Vec<Cache> = (0..16).map_while(one).collect();
    if amd && told.is_empty() { older(first, apics) } else { told }
}

/// L2 and L3 of AMD's processors before that leaf: sizes, and ways by a code.
fn older(first: &Leaves, apics: &[u32]) -> Vec<Cache> {
    const WAYS: [u32; 16] = [0, 1, 2, 0, 4, 0, 8, 0, 16, 0, 32, 48, 64, 96, 128, 0];
    let Some([.., l2, l3]) = first.get(&(0x8000_0006, 0)).copied() else { return Vec::new() };
    let one = |level: u32, kib: u32, code: u32, shared_by: u32| {
        let ways = WAYS.get(code as usize).copied().filter(|ways| kib > 0 && *ways > 0)?;
        let from = "CPUID leaf 0x80000006".to_owned();
        let instances = (apics.len() as u32 / shared_by).max(1);
        let (kind, sets) = ("Unified".to_owned(), kib * 16 / ways);
        Some(Cache { level, kind, kib, ways, sets, shared_by, instances, inclusive: None, from })
    };
    let whole = (apics.len() as u32).max(1);
    let both = [one(2, l2 >> 16, l2 >> 12 & 15, 1), one(3, (l3 >> 18) * 512, l3 >> 12 & 15, whole)];
    both.into_iter().flatten().collect()
}
