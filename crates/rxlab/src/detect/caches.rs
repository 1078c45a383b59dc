//! Caches: sizes, ways, sets, and which CPUs share them.

use std::collections::BTreeSet;

use serde::Serialize;

use super::cpu::Processor;
use super::files::{Files, cpus, cpus_of_mask};

/// A cache, of a core or of several.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Cache {
    pub level: u32,
    /// `Data`, `Instruction` or `Unified`.
    pub kind: String,
    pub kib: u32,
    /// 0 where nothing tells.
    pub ways: u32,
    /// 0 where nothing tells.
    pub sets: u32,
    /// CPUs that share it.
    pub shared_by: u32,
    /// How many like it the socket has.
    pub instances: u32,
    /// Whether it has all that caches below have, where CPUID tells.
    pub inclusive: Option<bool>,
    /// Where this is from.
    pub from: String,
}

/// Caches of the first CPU of the socket, and how many like each there are.
pub(crate) fn read(files: &Files, p: &Processor) -> Vec<Cache> {
    let below = |cpu: u32| format!("/sys/devices/system/cpu/cpu{cpu}/cache");
    let sharers = |cpu: u32, index: &str| {
        let of = |key: &str| files.text(&format!("{}/{index}/{key}", below(cpu)));
        let list = of("shared_cpu_list").and_then(|list| cpus(&list));
        list.or_else(|| of("shared_cpu_map").and_then(|mask| cpus_of_mask(&mask)))
    };
    let one = |index: &String| {
        let from = format!("{}/{index}", below(p.first));
        let of = |key: &str| files.text(&format!("{from}/{key}"));
        let size = of("size")?;
        let kib = match size.strip_suffix('K') {
            Some(kib) => kib.parse().ok()?,
            None => size.strip_suffix('M')?.parse::<u32>().ok()?.checked_mul(1024)?,
        };
        let number = |key: &str| of(key).and_then(|text| text.parse().ok()).unwrap_or_default();
        let groups: BTreeSet<Vec<u32>> = p.cpus.iter().filter_map(|cpu| sharers(*cpu, index)).collect();
        Some(Cache {
            level: number("level"),
            kind: of("type")?,
            kib,
            ways: number("ways_of_associativity"),
            sets: number("number_of_sets"),
            shared_by: sharers(p.first, index).map_or(1, |cpus| cpus.len() as u32),
            instances: groups.len().max(1) as u32,
            inclusive: None,
            from,
        })
    };
    files.names(&below(p.first)).iter().filter(|name| name.starts_with("index")).filter_map(one).collect()
}
