//! Processors by family, each with its models.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::number::{Number, Switch};
use super::{ProfileError, built_in, read};

/// What CPUID says of processors: a family, and ranges of models and steppings. Of Arm's it is the implementer and the
/// part number.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cpuid {
    /// `GenuineIntel` and its like, or the implementer.
    pub vendor: String,
    /// With the extended family.
    pub family: u32,
    /// The first and the last one, with the extended model.
    pub models: [u32; 2],
    /// The first and the last one.
    pub steppings: [u32; 2],
}

impl Cpuid {
    fn has(&self, vendor: &str, [family, model, stepping]: [u32; 3]) -> bool {
        let within = |[low, high]: [u32; 2], n| (low..=high).contains(&n);
        self.vendor == vendor
            && self.family == family
            && within(self.models, model)
            && within(self.steppings, stepping)
    }
}

/// Caches of a family.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Caches {
    /// L2 of each core, KiB.
    pub l2_kib: Number,
    /// L2 ways.
    pub l2_ways: Number,
    /// Sets of a slice of the LLC.
    pub sets_per_slice: Number,
    /// LLC ways.
    pub ways: Number,
    /// Ways that a DMA write may allocate in.
    pub ddio_ways: Number,
    /// Ways of DMA-written lines that a core has read.
    pub inclusive_ways: Number,
    /// Whether the LLC has all that the L2s have.
    #[serde(default)]
    pub llc_inclusive: Option<Switch>,
    /// Whether misses to DRAM fetch the other line of their pair.
    pub adjacent_prefetch: Switch,
}

/// A model of a family.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// As it is sold.
    pub name: String,
    /// Cores of a socket.
    pub cores: u32,
    /// Base clock, GHz.
    pub ghz: f64,
    /// LLC of a socket, MiB.
    pub llc_mib: f64,
    /// Transfers of a channel in a microsecond where it takes slower memory than its family.
    #[serde(default)]
    pub mts: Option<f64>,
}

/// The models of a family.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Models {
    /// Where their numbers are from.
    pub origin: String,
    /// All of them; the first is taken where none is asked for.
    pub list: Vec<Model>,
}

/// A family of processors.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Processor {
    /// Its name on the command line.
    pub name: String,
    /// For people.
    pub title: String,
    /// What it is called by CPUID.
    pub cpuid: Vec<Cpuid>,
    /// Others, without a part of their own, which this one is nearest to.
    #[serde(default)]
    pub near: Vec<Cpuid>,
    /// The kind of memory that it is sold with.
    pub memory: String,
    /// Memory channels of a socket.
    pub channels: Number,
    /// Transfers of a channel in a microsecond, of the models that take the fastest memory.
    pub mts: Number,
    /// Of a lane of its slots, GT/s.
    pub pcie_gts: Number,
    /// Caches.
    pub caches: Caches,
    /// Constants by their names in results; `l2_hit_cycles` is in cycles.
    pub constants: BTreeMap<String, Number>,
    /// Models.
    pub models: Models,
}

impl Processor {
    /// All families.
    ///
    /// # Errors
    /// A file that is no processor.
    pub fn all() -> Result<Vec<Processor>, ProfileError> {
        built_in::PROCESSORS.iter().map(|(name, text)| read(name, text)).collect()
    }

    /// A family, and one of its models: `icelake-6346`; the first model of `icelake`.
    ///
    /// # Errors
    /// Names the families, or the models of the family.
    pub fn by_name(name: &str) -> Result<(Processor, Model), ProfileError> {
        let all = Processor::all()?;
        let rest = |p: &Processor| {
            let rest = name.strip_prefix(&p.name)?;
            if rest.is_empty() { Some("") } else { rest.strip_prefix('-') }
        };
        let Some(found) = all.iter().filter(|p| rest(p).is_some()).max_by_key(|p| p.name.len()) else {
            let known: Vec<_> = all.iter().map(|p| p.name.as_str()).collect();
            return Err(ProfileError(format!("unknown processor `{name}`; allowed: {}", known.join(", "))));
        };
        let models = &found.models.list;
        let asked = rest(found).unwrap_or_default();
        let model = models.iter().find(|m| asked.is_empty() || m.name.eq_ignore_ascii_case(asked));
        match model {
            Some(model) => Ok((found.clone(), model.clone())),
            None => {
                let known: Vec<_> = models.iter().map(|m| m.name.as_str()).collect();
                let (family, known) = (&found.name, known.join(", "));
                Err(ProfileError(format!("unknown model `{asked}` of {family}; allowed: {known}")))
            }
        }
    }

    /// The family that CPUID tells of, or the nearest one; whether it is that family.
    ///
    /// # Errors
    /// A file that is no processor.
    pub fn by_cpuid(vendor: &str, signature: [u32; 3]) -> Result<Option<(Processor, bool)>, ProfileError> {
        let all = Processor::all()?;
        let has = |list: &[Cpuid]| list.iter().any(|c| c.has(vendor, signature));
        let own = all.iter().find(|p| has(&p.cpuid)).map(|p| (p.clone(), true));
        // The narrowest of those that are near: one that says less of a processor says more by it.
        let width = |p: &Processor| p.near.iter().map(|c| c.models[1].saturating_sub(c.models[0])).max();
        Ok(own.or_else(|| {
            all.iter().filter(|p| has(&p.near)).min_by_key(|p| width(p)).map(|p| (p.clone(), false))
        }))
    }

    /// Transfers of a channel of a model in a microsecond.
    #[must_use]
    pub fn mts_of(&self, model: &Model) -> Number {
        model.mts.map_or_else(|| self.mts.clone(), |mts| Number::new(mts, self.models.origin.clone()))
    }

    /// What all channels of a model carry, GB/s.
    pub(super) fn dram_peak(&self, model: &Model) -> Number {
        peak(&self.channels, &self.mts_of(model))
    }
}

/// Channels of 8 bytes: what they carry, GB/s.
fn peak(channels: &Number, mts: &Number) -> Number {
    let gbytes = channels.value * mts.value * 8.0 / 1000.0;
    let origins = if channels.origin == mts.origin {
        channels.origin.clone()
    } else {
        format!("{}; {}", channels.origin, mts.origin)
    };
    Number::new(gbytes, format!("{origins} ({} channels, {} MT/s)", channels.value, mts.value))
}
