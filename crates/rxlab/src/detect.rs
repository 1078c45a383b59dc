//! The machine at hand as a profile: what its kernel, firmware and processor tell, and what has to be assumed.
//!
//! `files` reads trees of `/sys` and `/proc`, `cpuid` dumps of that instruction; `cpu`, `caches`, `dmi`, `pci` and `tuning`
//! are what is found there. `assemble` makes a profile of it with the parts of `model::profile::parts`.

mod assemble;
mod caches;
mod cpu;
mod cpuid;
mod dmi;
mod ethtool;
mod files;
mod network;
mod pci;
mod told;
mod tuning;

use std::path::{Path, PathBuf};

use model::profile::Server;
use serde::Serialize;

use crate::fail::Fail;
use caches::Cache;
use cpu::Processor;
use dmi::Memory;
use files::Files;
use told::Told;
use tuning::Tuning;

pub(crate) use pci::Card;

/// Where a machine is read from.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sources {
    /// Its `/sys` and `/proc` lie below this directory.
    pub root: Option<PathBuf>,
    /// A dump of its CPUID, which counts more than the files.
    pub cpuid: Option<PathBuf>,
    /// The processor's part, in place of what CPUID says.
    pub processor: Option<String>,
    /// The card's part, in place of what PCI says.
    pub card: Option<String>,
}

impl Sources {
    /// The machine whose files lie below a directory; `/` is this one.
    pub(crate) fn at(root: impl Into<PathBuf>) -> Sources {
        Sources { root: Some(root.into()), ..Sources::default() }
    }
}

/// A machine that was read.
#[derive(Debug, Serialize)]
pub(crate) struct Detected {
    /// The profile that the model takes.
    #[serde(rename = "profile")]
    pub server: Server,
    /// The part that the processor is described by.
    pub part: String,
    pub processor: Processor,
    pub caches: Vec<Cache>,
    pub memory: Option<Memory>,
    pub cards: Vec<Card>,
    pub tuning: Tuning,
    /// What was read, and where.
    pub read: Vec<Told>,
    /// What was assumed, and why.
    pub assumed: Vec<Told>,
}

/// What there is to read, before anything is made of it.
struct Found {
    processor: Processor,
    caches: Vec<Cache>,
    /// Ways of the LLC that others than cores use, by CPUID.
    shared_ways: Option<u32>,
    memory: Option<Memory>,
    cards: Vec<Card>,
    tuning: Tuning,
}

/// Reads a machine.
///
/// # Errors
/// What is missing for a profile.
pub(crate) fn read(sources: &Sources) -> Result<Detected, Fail> {
    let found = find(sources).map_err(|e| Fail::new(format!("detect: {e}")))?;
    assemble::profile(found, sources).map_err(|e| Fail::new(format!("detect: {e}")))
}

fn find(sources: &Sources) -> Result<Found, String> {
    if let Some(root) = sources.root.as_ref().filter(|root| !root.is_dir()) {
        return Err(format!("{}: no directory; allowed: one with sys and proc in it", root.display()));
    }
    let live = sources.root.as_deref() == Some(Path::new("/")) && sources.cpuid.is_none();
    let files = Files::below(sources.root.clone());
    let cards = pci::read(&files, live);
    let dump = sources.cpuid.as_deref().map(cpuid::read).transpose()?;
    let beside = network::chosen(&cards).and_then(|card| card.node).and_then(|node| {
        let list = files.text(&format!("/sys/devices/system/node/node{node}/cpulist"))?;
        files::cpus(&list)?.first().copied()
    });
    let (processor, caches, shared_ways) = match dump {
        Some(dump) => (dump.processor, dump.caches, dump.shared_ways),
        None => {
            let processor = cpu::read(&files, beside).ok_or("no processor: /proc/cpuinfo is missing")?;
            let caches = caches::read(&files, &processor);
            (processor, caches, None)
        }
    };
    let intel = processor.vendor == "GenuineIntel";
    let tuning = tuning::read(&files, live, intel);
    Ok(Found { processor, caches, shared_ways, memory: dmi::read(&files), cards, tuning })
}

#[cfg(test)]
mod tests;
