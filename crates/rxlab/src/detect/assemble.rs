//! A profile of what was found: parts, with what was read in place of their own numbers.

use model::profile::parts::{Memory, Model, Number, Parts, Processor, Switch};

use super::caches::Cache;
use super::told::Told;
use super::{Detected, Found, Sources, dmi, network, told, tuning};

/// Ways that a cache may have in the model.
const WAYS: u32 = 32;
/// The most sets that a slice of an LLC has whose slices are not known.
const SETS: u32 = 1 << 16;

/// The profile, and all that was read or assumed.
///
/// # Errors
/// What is missing.
pub(super) fn profile(found: Found, sources: &Sources) -> Result<Detected, String> {
    let mut assumed = Vec::new();
    let processor = part(&found, sources, &mut assumed)?;
    let (card, of_card) = network::part(&found.cards, sources.card.as_deref())?;
    assumed.extend(of_card);
    let model = model(&found, &processor, &mut assumed);
    let mut parts = Parts::new(processor, model, card).map_err(|e| e.to_string())?;
    cores(&found, &mut parts);
    if found.caches.is_empty() && !parts.model.name.is_empty() {
        let (model, why) = (parts.model.name.clone(), "no cache is told of: those of the part and its model");
        assumed.push(Told::new("caches", model, why));
    } else {
        l2(&found, &mut parts)?;
        llc(&found, &mut parts, &mut assumed)?;
    }
    card_ways(&found, &mut parts);
    memory(&found, &mut parts, &mut assumed)?;
    if sources.card.is_none() {
        network::describe(&mut parts, &found.cards);
    }
    if found.processor.guest {
        let why = "a guest: LLC, memory and slots are the host's, which others use as well";
        assumed.push(Told::new("the whole machine", found.processor.name.clone(), why));
    }
    let mut server = parts.server("detected").map_err(|e| e.to_string())?;
    server.description = format!("{}, {}", found.processor.name, server.description.replace(" ,", ","));
    let mut read = told::of(&server, "read: ");
    read.extend(beside(&found));
    assumed.extend(told::of(&server, "assumed: "));
    let Found { processor, caches, memory, cards, tuning, .. } = found;
    let part = parts.processor.name;
    Ok(Detected { server, part, processor, caches, memory, cards, tuning, read, assumed })
}

/// The processor's part.
fn part(found: &Found, sources: &Sources, assumed: &mut Vec<Told>) -> Result<Processor, String> {
    let p = &found.processor;
    if let Some(name) = &sources.processor {
        return Ok(Processor::by_name(name).map_err(|e| e.to_string())?.0);
    }
    let by_cpuid =
        Processor::by_cpuid(&p.vendor, [p.family, p.model, p.stepping]).map_err(|e| e.to_string())?;
    let Some((mut part, exact)) = by_cpuid else {
        let known: Vec<String> =
            Processor::all().map_err(|e| e.to_string())?.into_iter().map(|p| p.name).collect();
        return Err(format!(
            "no part describes {} (vendor `{}`, family {}, model {}); --as PROCESSOR takes one of {}",
            p.name,
            p.vendor,
            p.family,
            p.model,
            known.join(", ")
        ));
    };
    if !exact {
        let why = format!(
            "no part for vendor {}, family {}, model {}: the nearest one",
            p.vendor, p.family, p.model
        );
        assumed.push(Told::new("latencies, DDIO and channels", part.title.clone(), why));
        borrow(&mut part);
    }
    let injects = found.tuning.resctrl.as_ref().is_some_and(|r| r.io_alloc.as_deref() == Some("enabled"));
    if part.name == "turin" && injects {
        part = Processor::by_name("turin-sdci").map_err(|e| e.to_string())?.0;
    }
    Ok(part)
}

/// What is published of a part is assumed of another processor.
fn borrow(part: &mut Processor) {
    let caches = &mut part.caches;
    let own = [&mut caches.l2_kib, &mut caches.l2_ways, &mut caches.sets_per_slice, &mut caches.ways];
    let more = [&mut caches.ddio_ways, &mut caches.inclusive_ways, &mut part.channels, &mut part.mts];
    let all = own.into_iter().chain(more).chain([&mut part.pcie_gts]).chain(part.constants.values_mut());
    for n in all.filter(|n| !n.origin.starts_with("assumed: ")) {
        n.origin = format!("assumed: as {}, {}", part.title, n.origin);
    }
}

/// The model: a listed one if the processor's name has it.
fn model(found: &Found, part: &Processor, assumed: &mut Vec<Told>) -> Model {
    let packed = |text: &str| text.replace(' ', "").to_lowercase();
    let name = packed(&found.processor.name);
    let listed =
        part.models.list.iter().filter(|m| name.contains(&packed(&m.name))).max_by_key(|m| m.name.len());
    if let Some(listed) = listed {
        return listed.clone();
    }
    let first = part.models.list.first();
    let ghz = first.map_or(2.0, |m| m.ghz);
    if found.processor.ghz.is_none() {
        let why = format!(
            "nothing tells the base clock, and the part lists no model of this name: that of {}",
            part.title
        );
        assumed.push(Told::new("ghz", ghz, why));
    }
    // Cores, clock and LLC are set from what was read.
    Model { name: String::new(), cores: 1, ghz, llc_mib: 1.0, mts: None }
}

fn cores(found: &Found, parts: &mut Parts) {
    let p = &found.processor;
    parts.set("cores", p.cores.into(), format!("read: {}", p.from[1]));
    if let Some(ghz) = p.ghz {
        parts.set("ghz", ghz, format!("read: {}", p.from[2]));
    } else if parts.model.name.is_empty() {
        parts.set("ghz", parts.model.ghz, "assumed: nothing tells the base clock");
    }
}

/// The largest cache of a level that has data.
fn of_level(caches: &[Cache], level: u32) -> Option<&Cache> {
    caches.iter().filter(|c| c.level == level && c.kind != "Instruction").max_by_key(|c| c.kib)
}

/// Ways and sets of a cache: what was read, else the part's ways; fewer ways of more sets if they are too many.
fn shape(cache: &Cache, own: &Number) -> (u32, u32, String) {
    let lines = cache.kib.saturating_mul(16);
    let (mut ways, from) = match cache.ways {
        0 => ((own.value as u32).max(1), "assumed: nothing tells the ways, those of the part".to_owned()),
        ways => (ways, format!("read: {}", cache.from)),
    };
    while ways > WAYS && ways.is_multiple_of(2) {
        ways /= 2;
    }
    (ways, lines / ways, from)
}

fn l2(found: &Found, parts: &mut Parts) -> Result<(), String> {
    let l2 = of_level(&found.caches, 2).ok_or_else(|| missing(found, "an L2"))?;
    // Of one that cores share, each has its part.
    let sharing = (l2.shared_by / found.processor.threads.max(1)).max(1);
    let (ways, _, from) = shape(l2, &parts.processor.caches.l2_ways);
    let shared = if sharing > 1 { format!(", shared by {sharing} cores") } else { String::new() };
    parts.set("caches.l2_kib", (l2.kib / sharing).into(), format!("read: {}{shared}", l2.from));
    let ways = if ways.is_multiple_of(sharing) { ways / sharing } else { ways };
    parts.set("caches.l2_ways", ways.into(), from);
    Ok(())
}

fn missing(found: &Found, what: &str) -> String {
    let caches: Vec<String> =
        found.caches.iter().map(|c| format!("L{} {} {} KiB", c.level, c.kind, c.kib)).collect();
    let told = if caches.is_empty() { "no caches at all".to_owned() } else { caches.join(", ") };
    format!("{}: {what} is missing, which the model needs; found: {told}", found.processor.name)
}

fn llc(found: &Found, parts: &mut Parts, assumed: &mut Vec<Told>) -> Result<(), String> {
    let llc = of_level(&found.caches, 3).ok_or_else(|| missing(found, "an LLC behind the L2s (L3)"))?;
    let (ways, sets, from) = shape(llc, &parts.processor.caches.ways);
    let all = sets.saturating_mul(llc.instances);
    let own = parts.processor.caches.sets_per_slice.value as u32;
    let known = f64::from(ways) == parts.processor.caches.ways.value && own > 0 && all.is_multiple_of(own);
    let fewest = (1..=all).find(|n| all.is_multiple_of(*n) && all / n <= SETS).unwrap_or(1);
    let slices = if known { all / own } else { fewest };
    let of_slice = all / slices.max(1);
    let several = if llc.instances > 1 { format!(", {} of them", llc.instances) } else { String::new() };
    parts.set("caches.ways", ways.into(), from.clone());
    if known {
        let whole = format!("read: sets of {}{several}, over those of a slice", llc.from);
        parts.set("caches.slices", slices.into(), whole);
    } else {
        let why = "assumed: slices of this processor are not known, any number of the same size";
        parts.set("caches.sets_per_slice", of_slice.into(), why);
        parts.set("caches.slices", slices.into(), format!("{why} ({}{several})", llc.from));
    }
    if llc.instances > 1 {
        let why = format!("{} LLCs of {} KiB are one of the sum (A131)", llc.instances, llc.kib);
        assumed.push(Told::new("caches.slices", slices, why));
    }
    let inclusive = parts.processor.caches.inclusive_ways.value.min(ways.into());
    if inclusive < parts.processor.caches.inclusive_ways.value {
        parts.set("caches.inclusive_ways", inclusive, "assumed: no more than there are ways");
    }
    if let Some(value) = llc.inclusive.filter(|_| found.processor.vendor == "GenuineIntel") {
        parts.processor.caches.llc_inclusive = Some(Switch { value, origin: format!("read: {}", llc.from) });
    }
    Ok(())
}

/// Ways that cards may write to: by the register, by resctrl, by CPUID, or the part's.
fn card_ways(found: &Found, parts: &mut Parts) {
    let most = parts.set.get("caches.ways").map_or(u32::from(u8::MAX), |ways| ways.value as u32);
    let own = &parts.processor.caches.ddio_ways;
    let injects = own.value > 0.0 || own.range != Some([0.0, 0.0]);
    let by_register = found.tuning.ddio_mask.map(|mask| (mask.count_ones(), tuning::DDIO_FROM.to_owned()));
    let by_resctrl = || {
        let (ways, key) = found.tuning.resctrl.as_ref()?.card_ways()?;
        Some((ways, format!("{}/info/L3/{key}", tuning::RESCTRL)))
    };
    let by_cpuid =
        || Some((found.shared_ways?.count_ones(), "CPUID leaf 0x10, subleaf 1, shared ways".to_owned()));
    let read = by_register.or_else(by_resctrl).or_else(by_cpuid).filter(|_| injects);
    match read {
        Some((ways, from)) => parts.set("caches.ddio_ways", ways.min(most).into(), format!("read: {from}")),
        None if own.value > f64::from(most) => {
            parts.set("caches.ddio_ways", most.into(), "assumed: no more than there are ways");
        }
        None => {}
    }
}

fn memory(found: &Found, parts: &mut Parts, assumed: &mut Vec<Told>) -> Result<(), String> {
    let whole = |parts: &Parts| {
        let p = &parts.processor;
        let (channels, mts) = (p.channels.value, p.mts_of(&parts.model).value);
        format!("{channels} channels of {} at {mts} MT/s", parts.memory.name)
    };
    let read = found.memory.as_ref().and_then(|m| Some((m, m.mts?))).filter(|(m, _)| m.modules > 0);
    let Some((m, mts)) = read else {
        let why = format!("{} does not tell: every channel of the part, at its best", dmi::TABLES);
        assumed.push(Told::new("constants.dram.peak_gbytes", whole(parts), why));
        return Ok(());
    };
    if let Some(kind) = m.kind {
        parts.memory = Memory::by_name(kind).map_err(|e| e.to_string())?;
    }
    let each = (m.modules / found.processor.sockets.max(1)).max(1);
    let channels = f64::from(each).min(parts.processor.channels.value);
    let from = format!(
        "read: {}, {} modules on {} sockets, {mts} MT/s; {channels} channels, as modules take channels before they share one",
        dmi::TABLES,
        m.modules,
        found.processor.sockets
    );
    parts.set("dram_peak_gbytes", channels * f64::from(mts) * 8.0 / 1000.0, from);
    Ok(())
}

/// What was read and is in no number of the profile.
fn beside(found: &Found) -> Vec<Told> {
    let p = &found.processor;
    let mut all = vec![
        Told::new(
            "processor",
            format!("{}, family {}, model {}, stepping {}", p.name, p.family, p.model, p.stepping),
            &*p.from[0],
        ),
        Told::new("sockets, threads of a core", format!("{}, {}", p.sockets, p.threads), &*p.from[1]),
    ];
    all.extend(found.caches.iter().map(|c| {
        let shape = format!(
            "{} KiB, {} ways, {} sets, for {} CPUs, {} of them",
            c.kib, c.ways, c.sets, c.shared_by, c.instances
        );
        Told::new(&format!("L{} {}", c.level, c.kind), shape, &*c.from)
    }));
    all.extend(found.cards.iter().map(card));
    let t = &found.tuning;
    all.extend(t.huge_pages.iter().map(|h| {
        let from = format!("/sys/kernel/mm/hugepages/hugepages-{}kB", h.kib);
        Told::new(&format!("huge pages of {} KiB", h.kib), format!("{}, {} free", h.all, h.free), from)
    }));
    let lists =
        [("isolated CPUs", &t.isolated, "isolated"), ("CPUs without ticks", &t.nohz_full, "nohz_full")];
    for (what, list, file) in lists {
        all.extend(list.iter().map(|list| Told::new(what, list, format!("/sys/devices/system/cpu/{file}"))));
    }
    all.extend(t.resctrl.iter().flat_map(|r| &r.groups).map(|(group, ways)| {
        Told::new("ways of cores, by resctrl", ways, format!("{}/{group}/schemata", tuning::RESCTRL))
    }));
    all
}

fn card(c: &super::Card) -> Told {
    let mut words = vec![c.id.clone()];
    words.extend(c.part.iter().map(|part| format!("part {part}")));
    words.extend(c.interface.iter().cloned());
    words.extend(c.driver.iter().map(|driver| format!("driver {driver}")));
    words.extend(c.node.map(|node| format!("node {node}")));
    words.extend(c.gts.zip(c.lanes).map(|(gts, lanes)| format!("{gts} GT/s x{lanes}")));
    let rings = c.rings.map(|r| format!("rings {} of {} and {} of {}", r.rx, r.rx_most, r.tx, r.tx_most));
    words.extend(rings);
    Told::new(&format!("card {}", c.address), words.join(", "), &*c.from)
}
