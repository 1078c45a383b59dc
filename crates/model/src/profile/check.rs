//! What a profile is refused for.

use super::declare::{Declared, is_default};
use super::ranges::MACHINE;
use super::read::Flat;
use super::{NicKind, ProfileError, Server, declared};

/// Sets that an L2 has at least: in a sample of one in 64, one.
const L2_SETS: u32 = 64;
/// The largest LLC, MiB: an exact run keeps all of its sets.
const LLC_MIB: u64 = 4096;

impl Server {
    /// # Errors
    /// Names the value that the model cannot run with, and what is allowed.
    pub fn validate(&self) -> Result<(), ProfileError> {
        self.validate_as(&Flat::new())
    }

    /// The same of a profile that has some constants in the flat form: these are called so.
    pub(super) fn validate_as(&self, flat: &Flat) -> Result<(), ProfileError> {
        let all = || {
            self.machine()?;
            declared()
                .try_for_each(|d| self.constant(d, if flat.contains(d.name) { d.name } else { d.place }))?;
            self.caches()?;
            self.nic()?;
            self.whole_tables()?;
            self.told()?;
            self.whole_nic_memory()?;
            self.rates()
        };
        all().map_err(|e: ProfileError| ProfileError(format!("profile `{}`: {e}", self.name)))
    }

    fn machine(&self) -> Result<(), ProfileError> {
        MACHINE.iter().try_for_each(|number| number.range.check(number.name, (number.of)(self)))
    }

    /// A constant that is called `name`.
    fn constant(&self, declared: &Declared, name: &str) -> Result<(), ProfileError> {
        let c = (declared.get)(self);
        let (needed, allowed) = declared.of.of(self.nic.kind);
        check(!(needed && c.is_absent() && c.value == 0.0), || format!("{name} is missing"))?;
        check(allowed || c.is_absent(), || format!("{name} says nothing about this kind of NIC"))?;
        if !needed && c.is_absent() {
            return Ok(());
        }
        declared.range.check(name, c.value)?;
        has_origin(name, &c.origin)
    }

    /// What is said of numbers beside the constants.
    fn told(&self) -> Result<(), ProfileError> {
        self.origins.iter().try_for_each(|(place, origin)| {
            check(MACHINE.iter().any(|number| number.name == place), || {
                format!("origins.{place}: the profile has no such number; constants have their origins beside them")
            })?;
            has_origin(&format!("origins.{place}"), origin)
        })
    }

    fn caches(&self) -> Result<(), ProfileError> {
        let c = &self.caches;
        check(c.l1_kib.is_multiple_of(4), || {
            format!("caches.l1_kib is {} KiB; allowed: 0, or a multiple of 4", c.l1_kib)
        })?;
        check(c.l1_kib == 0 || !self.nic.kind.is_card(), || {
            "caches.l1_kib says nothing about this kind of NIC".into()
        })?;
        let of_l1 = !is_default(&self.constants.fetch_l1);
        check(of_l1 == (c.l1_kib > 0), || {
            "caches.l1_kib and constants.fetch_l1 (l1_load_lines or its like) go together".into()
        })?;
        for (name, ways) in [("ddio_ways", c.ddio_ways), ("inclusive_ways", c.inclusive_ways)] {
            check(ways <= c.ways, || {
                format!("caches.{name} is {ways} ways; allowed: 1 to {}, the ways of the LLC", c.ways)
            })?;
        }
        let (lines, ways) = (c.l2_kib * 16, c.l2_ways);
        check(lines.is_multiple_of(ways) && lines / ways >= L2_SETS, || {
            let sets = f64::from(lines) / f64::from(ways);
            format!(
                "an L2 of {} KiB in {ways} ways has {sets:.1} sets; allowed: a whole number of at least {L2_SETS}",
                c.l2_kib
            )
        })?;
        let mib = self.llc_bytes() >> 20;
        check(mib <= LLC_MIB, || format!("an LLC of {mib} MiB; allowed: up to {LLC_MIB} MiB"))
    }

    fn nic(&self) -> Result<(), ProfileError> {
        let nic = &self.nic;
        check(nic.kind == NicKind::Card || !nic.remote, || "only a card can be on the other node".into())?;
        check(nic.min_ring <= nic.max_ring, || {
            format!("nic.min_ring is {} entries; allowed: 2 to {}, nic.max_ring", nic.min_ring, nic.max_ring)
        })?;
        self.buffers.geometry(1).check().map_err(|e| ProfileError(e.to_string()))
    }

    /// Half of a table's constants describe no table.
    fn whole_tables(&self) -> Result<(), ProfileError> {
        let all = || super::tables::TABLES.iter().map(|d| (d.place, (d.get)(self).is_absent()));
        match all().find(|(_, absent)| *absent) {
            Some((missing, _)) if self.tables().is_some() => {
                Err(ProfileError(format!("{missing} is missing; allowed: all of [tables], or none")))
            }
            _ => Ok(()),
        }
    }

    /// As of tables: a memory without a size or a rate is none.
    fn whole_nic_memory(&self) -> Result<(), ProfileError> {
        let place = "constants.nic_memory.";
        let mut parts = declared().filter(|d| d.place.starts_with(place));
        match parts.find(|d| (d.get)(self).is_absent()) {
            Some(missing) if self.nic_memory().is_some() => {
                let what = "allowed: all of [constants.nic_memory], or none";
                Err(ProfileError(format!("{} is missing; {what}", missing.place)))
            }
            _ => Ok(()),
        }
    }

    /// Constants that depend on others, or are of a few values.
    fn rates(&self) -> Result<(), ProfileError> {
        let c = &self.constants;
        let row = &c.nic.write_back_descriptors;
        check(row.is_absent() || [1.0, 2.0, 4.0, 8.0].contains(&row.value), || {
            format!(
                "constants.nic.write_back_descriptors is {} descriptors; allowed: 1, 2, 4 or 8",
                row.value
            )
        })?;
        let (pause, every) = (&c.firmware.pause_us, &c.firmware.pause_every_ms);
        check(pause.value == 0.0 || pause.value < every.value * 1e3, || {
            format!(
                "constants.firmware.pause_us is {} us; allowed: less than the {} ms of pause_every_ms",
                pause.value, every.value
            )
        })
    }
}

fn has_origin(name: &str, origin: &str) -> Result<(), ProfileError> {
    let known = ["published: ", "measured: ", "read: ", "assumed: ", "fitted: ", "stated: "];
    check(known.iter().any(|p| origin.starts_with(p)), || {
        format!("{name} lacks its origin; allowed: {}", known.map(|p| format!("`{p}...`")).join(", "))
    })
}

fn check(ok: bool, what: impl FnOnce() -> String) -> Result<(), ProfileError> {
    if ok { Ok(()) } else { Err(ProfileError(what())) }
}
