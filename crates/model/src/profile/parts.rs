//! Processors, cards and memory as data files that combine: `icelake-6346,nic=cx6dx:2,dram=8x3200`.
//!
//! `profiles/parts` has a file for each. Every number there has its origin, and one that is assumed has a range.
//! [`Parts::server`] writes a profile in the flat form and reads it as any other is read.

mod built_in;
mod card;
mod memory;
mod number;
mod processor;
mod spec;

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::{Table, Value};

use super::{BufferLayout, NicKind, ProfileError, Server, declared};

pub use card::{Card, gbytes};
pub use memory::Memory;
pub use number::{Number, Switch};
pub use processor::{Cpuid, Model, Processor};

/// What `--server` takes beside names and files.
pub const SYNTAX: &str =
    "PROCESSOR[-MODEL][,nic=CARD[:PORTS][@GBPS]][,dram=CHANNELSxMTS][,ddio=WAYS][,cores=N]";

/// What servers of parts have in common.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Common {
    buffers: BufferLayout,
    constants: BTreeMap<String, Number>,
}

/// A server of parts. What is set on top of the parts has its own origin.
#[derive(Clone, Debug)]
pub struct Parts {
    /// The processor, one socket of it.
    pub processor: Processor,
    /// Its model.
    pub model: Model,
    /// The card.
    pub card: Card,
    /// Cards of one port each.
    pub ports: u32,
    /// The kind of memory.
    pub memory: Memory,
    /// Numbers that take the place of the parts' own, by their place in a profile; constants by their names in results.
    pub set: BTreeMap<String, Number>,
}

impl Parts {
    /// A processor's model with what it is sold with: all channels, one port of the card.
    ///
    /// # Errors
    /// A processor that names memory which has no file.
    pub fn new(processor: Processor, model: Model, card: Card) -> Result<Parts, ProfileError> {
        let memory = Memory::by_name(&processor.memory)?;
        Ok(Parts { processor, model, card, ports: 1, memory, set: BTreeMap::new() })
    }

    /// One of [`SYNTAX`].
    ///
    /// # Errors
    /// Names the word that is not understood, and what is allowed.
    pub fn read(text: &str) -> Result<Parts, ProfileError> {
        spec::read(text)
    }

    /// Replaces a number, and says why.
    pub fn set(&mut self, place: &str, value: f64, origin: impl Into<String>) {
        self.set.insert(place.into(), Number::new(value, origin));
    }

    /// A number that may have been set.
    fn number(&self, place: &str, own: &Number) -> Number {
        self.set.get(place).unwrap_or(own).clone()
    }

    /// The profile, under a name.
    ///
    /// # Errors
    /// What the profile is refused for.
    pub fn server(&self, name: &str) -> Result<Server, ProfileError> {
        let machine = self.machine();
        let mut profile = Table::new();
        profile.insert("name".into(), name.into());
        profile.insert("description".into(), self.description(&machine).into());
        let common: Common = read("common", built_in::COMMON)?;
        let buffers = Value::try_from(common.buffers).map_err(|e| ProfileError(e.to_string()))?;
        profile.insert("buffers".into(), buffers);
        self.switches(&mut profile);
        for (place, number) in &machine {
            put(&mut profile, place, number.written());
        }
        let constants = self.constants(common.constants, &machine).into_iter();
        profile.insert(
            "constants".into(),
            Value::Table(constants.map(|(name, n)| (name, n.constant())).collect()),
        );
        let mut server = Server::parse(&profile.to_string())?;
        server.origins = machine.into_iter().map(|(place, n)| (place.to_owned(), n.told())).collect();
        server.validate()?;
        Ok(server)
    }

    /// The numbers beside the constants, by place.
    fn machine(&self) -> BTreeMap<&'static str, Number> {
        let (p, c) = (&self.processor, &self.card);
        let caches = &p.caches;
        let listed = |value: f64| Number::new(value, p.models.origin.clone());
        let mut all: BTreeMap<&'static str, Number> = [
            ("cores", listed(self.model.cores.into())),
            ("ghz", listed(self.model.ghz)),
            ("caches.l2_kib", caches.l2_kib.clone()),
            ("caches.l2_ways", caches.l2_ways.clone()),
            ("caches.sets_per_slice", caches.sets_per_slice.clone()),
            ("caches.ways", caches.ways.clone()),
            ("caches.ddio_ways", caches.ddio_ways.clone()),
            ("caches.inclusive_ways", caches.inclusive_ways.clone()),
            ("nic.ports", Number::new(self.ports.into(), "stated: as asked for")),
            ("nic.port_gbps", c.port_gbps.clone()),
            ("nic.min_ring", c.min_ring.clone()),
            ("nic.max_ring", c.max_ring.clone()),
        ]
        .map(|(place, own)| (place, self.number(place, &own)))
        .into();
        let slice = all["caches.sets_per_slice"].value * all["caches.ways"].value * 64.0;
        let slices = (self.model.llc_mib * f64::from(1 << 20) / slice).round().max(1.0);
        all.insert("caches.slices", self.number("caches.slices", &listed(slices)));
        all
    }

    /// What a profile has beside numbers.
    fn switches(&self, profile: &mut Table) {
        let caches = &self.processor.caches;
        for (place, value) in [
            ("caches.replacement", "random".into()),
            ("caches.placement", "random".into()),
            ("caches.slice_hash", "balanced".into()),
            ("caches.adjacent_prefetch", caches.adjacent_prefetch.value.into()),
            ("nic.name", self.card.title.clone().into()),
        ] {
            put(profile, place, value);
        }
        if caches.llc_inclusive.as_ref().is_some_and(|switch| switch.value) {
            put(profile, "caches.llc_inclusive", true.into());
        }
        if self.card.kind == NicKind::Core {
            put(profile, "nic.kind", "core".into());
        }
    }

    /// The constants by their names in results: those that a profile with this kind of NIC may have.
    fn constants(
        &self,
        common: BTreeMap<String, Number>,
        machine: &BTreeMap<&'static str, Number>,
    ) -> BTreeMap<String, Number> {
        let mut all = common;
        for part in [&self.processor.constants, &self.memory.constants, &self.card.constants] {
            all.extend(part.iter().map(|(name, n)| (name.clone(), n.clone())));
        }
        if let Some(cycles) = all.remove("l2_hit_cycles") {
            all.insert("l2_hit_ns".into(), cycles.in_ns(machine["ghz"].value));
        }
        all.insert("dram_peak_gbytes".into(), self.processor.dram_peak(&self.model));
        all.insert("pcie_gbytes".into(), card::link(&self.processor.pcie_gts, &self.card));
        all.extend(self.set.iter().map(|(name, n)| (name.clone(), n.clone())));
        let may = |name: &str| declared().any(|d| d.name == name && d.of.of(self.card.kind).1);
        all.retain(|name, _| may(name));
        all
    }

    fn description(&self, machine: &BTreeMap<&'static str, Number>) -> String {
        let of = |place: &str| machine.get(place).map_or(0.0, |n| n.value);
        let llc =
            ["caches.slices", "caches.sets_per_slice", "caches.ways"].map(of).iter().product::<f64>() * 64.0;
        let mib = (llc / f64::from(1 << 20) * 100.0).round() / 100.0;
        format!(
            "{} {}, {} cores at {} GHz, {mib} MiB LLC, {}x {}",
            self.processor.title,
            self.model.name,
            of("cores"),
            of("ghz"),
            self.ports,
            self.card.title,
        )
    }
}

/// Puts a value at a place of a profile: tables, then its key, with dots between.
fn put(profile: &mut Table, place: &str, value: Value) {
    match place.split_once('.') {
        None => _ = profile.insert(place.into(), value),
        Some((table, rest)) => {
            let inner = profile.entry(table).or_insert_with(|| Table::new().into());
            if let Some(inner) = inner.as_table_mut() {
                put(inner, rest, value);
            }
        }
    }
}

/// A part's file.
fn read<T: for<'de> Deserialize<'de>>(name: &str, text: &str) -> Result<T, ProfileError> {
    toml::from_str(text).map_err(|e| ProfileError(format!("part `{name}`: {e}")))
}
