//! Parts: each file is whole, every combination is a server, every assumed number has a range and an entry in
//! docs/assumptions.md.

use std::path::Path;

use model::profile::parts::{Card, Memory, Number, Parts, Processor, gbytes};
use model::profile::{NicKind, Server};

/// Rows of the tables of docs/assumptions.md, as far as the value.
fn documented() -> Vec<String> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/assumptions.md");
    let text = std::fs::read_to_string(file).unwrap();
    text.lines().map(|l| l.split('|').take(4).map(str::trim).collect::<Vec<_>>().join("|")).collect()
}

/// Panics unless the number says where it is from, and if that is assumed what else it may be.
fn has_its_origin(part: &str, name: &str, n: &Number, rows: &[String]) {
    let known = ["published: ", "assumed: ", "fitted: ", "stated: "];
    assert!(
        known.iter().any(|k| n.origin.starts_with(k) && n.origin.len() > k.len()),
        "{part}: {name}: {n:?}"
    );
    let Some(id) = n.origin.strip_prefix("assumed: ") else { return };
    let [low, high] = n.range.unwrap_or_else(|| panic!("{part}: {name} is assumed and has no range"));
    assert!((low..=high).contains(&n.value), "{part}: {name}: {n:?}");
    let row = format!("|{id}|`{name}`|{}", n.value);
    assert!(rows.contains(&row), "{part}: docs/assumptions.md has no row {row}");
}

#[test]
fn every_number_has_its_origin_and_what_is_assumed_a_range() {
    let rows = documented();
    for p in Processor::all().unwrap() {
        let c = &p.caches;
        let caches = [
            ("l2_kib", &c.l2_kib),
            ("l2_ways", &c.l2_ways),
            ("sets_per_slice", &c.sets_per_slice),
            ("ways", &c.ways),
            ("ddio_ways", &c.ddio_ways),
            ("inclusive_ways", &c.inclusive_ways),
            ("channels", &p.channels),
            ("mts", &p.mts),
            ("pcie_gts", &p.pcie_gts),
        ];
        let constants = p.constants.iter().map(|(name, n)| (name.as_str(), n));
        for (name, n) in caches.into_iter().chain(constants) {
            has_its_origin(&p.name, name, n, &rows);
        }
        assert!(p.models.origin.starts_with("published: ") && !p.models.list.is_empty(), "{}", p.name);
    }
    for c in Card::all().unwrap() {
        let own = [("port_gbps", &c.port_gbps), ("min_ring", &c.min_ring), ("max_ring", &c.max_ring)];
        let link = [("pcie_gts", &c.pcie_gts), ("pcie_lanes", &c.pcie_lanes)];
        let link = link.into_iter().filter_map(|(name, n)| Some((name, n.as_ref()?)));
        for (name, n) in own.into_iter().chain(link).chain(c.constants.iter().map(|(k, n)| (k.as_str(), n))) {
            has_its_origin(&c.name, name, n, &rows);
        }
    }
    for name in ["ddr3", "ddr4", "ddr5"] {
        for (constant, n) in &Memory::by_name(name).unwrap().constants {
            has_its_origin(name, constant, n, &rows);
        }
    }
}

#[test]
fn every_model_with_every_card_is_a_server() {
    let mut servers = 0;
    for p in Processor::all().unwrap() {
        for model in &p.models.list {
            for card in Card::all().unwrap() {
                let parts = Parts::new(p.clone(), model.clone(), card.clone()).unwrap();
                let server = parts.server(&format!("{}-{}", p.name, model.name)).unwrap();
                // The whole of the LLC that the model is sold with.
                let mib = server.llc_bytes() as f64 / f64::from(1 << 20);
                assert!(
                    (mib / model.llc_mib - 1.0).abs() < 0.01,
                    "{}: {mib} MiB of {}",
                    server.name,
                    model.llc_mib
                );
                assert_eq!(server.nic.kind, card.kind);
                servers += 1;
            }
        }
    }
    assert!(servers > 700, "{servers}");
}

#[test]
fn words_say_what_the_server_has() {
    let server = Server::by_name("icelake-6346,nic=cx6dx:2,dram=6x2933").unwrap();
    assert_eq!((server.cores, server.ghz, server.caches.slices, server.nic.ports), (16, 3.1, 24, 2));
    let c = &server.constants;
    assert_eq!((c.dram.peak_gbytes.value, c.pcie.gbytes.value), (6.0 * 2933.0 * 8.0 / 1000.0, 31.508));
    assert!(
        c.dram.peak_gbytes.origin.starts_with("stated: ")
            && c.caches.llc_hit_ns.origin == "assumed: A1, 20 to 30"
    );
    assert!(
        server.origins["caches.ways"].starts_with("published: ")
            && server.origins["nic.ports"].starts_with("stated: ")
    );
    // As fast as the slower of slot and card.
    let slow = Server::by_name("skylake-8180,nic=cx7@100,cores=4").unwrap();
    assert_eq!(
        (slow.constants.pcie.gbytes.value, slow.nic.port_gbps, slow.cores),
        (gbytes(8.0, 16.0), 100.0, 4)
    );
    assert_eq!(gbytes(5.0, 8.0), 4.0);
    let soft = Server::by_name("genoa,nic=soft").unwrap();
    assert!(soft.nic.kind == NicKind::Core && soft.constants.pcie.gbytes.is_absent());
}

#[test]
fn a_model_may_take_slower_memory_than_its_family() {
    let peak = |name| Server::by_name(name).unwrap().constants.dram.peak_gbytes;
    assert_eq!(peak("icelake-8380").value, 8.0 * 3200.0 * 8.0 / 1000.0);
    let slow = peak("icelake-4314");
    assert_eq!(slow.value, 8.0 * 2667.0 * 8.0 / 1000.0);
    assert!(slow.origin.ends_with("(8 channels, 2667 MT/s)"), "{}", slow.origin);
    assert_eq!(peak("icelake-4314,dram=8x3200").value, 8.0 * 3200.0 * 8.0 / 1000.0);
}

#[test]
fn processors_differ_in_what_cards_write_to() {
    let ways = |name| Server::by_name(name).unwrap().caches.ddio_ways;
    let all = ["skylake", "genoa", "turin", "turin-sdci", "turin-sdci,ddio=2", "turin-sdci-9655,ddio=0"];
    assert_eq!(all.map(ways), [2, 0, 0, 4, 2, 0]);
    let inclusive = |name| Server::by_name(name).unwrap().caches.llc_inclusive;
    assert!(inclusive("broadwell-2680v4") && !inclusive("skylake"));
}

#[test]
fn what_is_no_part_is_told_with_what_is() {
    for (name, told) in [
        ("icelake-9999", "unknown model `9999` of icelake; allowed: 8380, 8358"),
        ("icelake,nic=cx99", "unknown card `cx99`; allowed: 82599, "),
        ("icelake,dram=9x3200", "`dram=9x3200`: allowed: 1 to 8 channels of ddr4, 1600 to 3200 MT/s"),
        ("icelake,dram=8x6400", "1600 to 3200 MT/s"),
        ("icelake,dram=8", "`8` is no part"),
        ("icelake,nic=cx5:0", "nic.ports is 0 ports; allowed: 1 to 16 ports, a whole number"),
        ("icelake,nic=cx5:x", "`x` is no number"),
        ("icelake,nic=cx5@400", "400 Gbps; allowed: up to 100"),
        ("icelake,fan=2", "`fan=2` is no part; allowed: PROCESSOR[-MODEL]"),
        ("icelake,ddio=13", "caches.ddio_ways is 13 ways; allowed: 1 to 12, the ways of the LLC"),
        ("genoa,ddio=2", "AMD EPYC 9004 (Genoa) injects nothing; allowed: ddio=0"),
        ("icelakes", "unknown processor `icelakes`; allowed: broadwell, skylake"),
        ("pentium,nic=cx5", "allowed: rxbisect-testbed, "),
    ] {
        let error = Server::by_name(name).unwrap_err().to_string();
        assert!(error.contains(told) && error.lines().count() == 1, "{name}: {error}");
    }
}

#[test]
fn an_origin_of_a_number_that_is_not_there_is_refused() {
    let mut server = Server::by_name("icelake").unwrap();
    server.origins.insert("caches.l9_kib".into(), "read: nowhere".into());
    assert!(
        server.validate().unwrap_err().to_string().contains("origins.caches.l9_kib: the profile has no such")
    );
    server.origins = [("cores".into(), "guessed".into())].into();
    assert!(server.validate().unwrap_err().to_string().contains("origins.cores lacks its origin"));
}
