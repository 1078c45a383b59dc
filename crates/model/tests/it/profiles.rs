//! Every number of a profile has a range, and a profile with a number outside is refused in one line.

use crate::world;
use std::collections::BTreeSet;

use memory::Ps;
use model::profile::{Declared, Range, RemoteReads, Server, declared, ranges};
use toml::{Table, Value};

/// A profile with every constant that its kind of NIC may have.
fn full(mut profile: Table) -> Table {
    for Declared { place, range, .. } in declared() {
        let mut more = profile.clone();
        let value = if range.whole { Value::Integer(range.low as i64) } else { Value::Float(range.low) };
        let constant = [("value", value), ("origin", "assumed: a test".into())];
        let (tables, key) = place.rsplit_once('.').unwrap();
        let table = tables.split('.').fold(&mut more, |table, key| {
            table.entry(key).or_insert(Table::new().into()).as_table_mut().unwrap()
        });
        table.entry(key).or_insert(Table::from_iter(constant.map(|(k, v)| (k.into(), v))).into());
        if Server::parse(&more.to_string()).is_ok() {
            profile = more;
        }
    }
    profile
}

/// Of cards, one of them with tables and one with memory for frames, and one of a core that plays the card.
fn profiles() -> [Table; 4] {
    let built_in = |name| full(Table::try_from(Server::by_name(name).unwrap()).unwrap());
    let mut core = world::soft_server();
    core.caches.l1_kib = 32;
    core.constants.fetch_l1.load_lines = core.constants.fetch.load_lines.clone();
    let [plain, tables, memory] = ["rxbisect-testbed", "nic-testbed-cx5", "ceio-testbed"].map(built_in);
    [plain, tables, memory, full(Table::try_from(core).unwrap())]
}

/// The number at a place of a profile that has it.
fn place<'a>(profile: &'a mut Table, name: &str) -> Option<&'a mut Value> {
    let mut keys = name.split('.');
    let first = profile.get_mut(keys.next()?)?;
    let found = keys.try_fold(first, |table, key| table.get_mut(key))?;
    if found.is_table() { found.get_mut("value") } else { Some(found) }
}

/// What is said of `profile` with `value` for a number.
fn refused(profile: &Table, name: &str, value: Value) -> String {
    let mut profile = profile.clone();
    *place(&mut profile, name).unwrap() = value;
    Server::parse(&profile.to_string()).unwrap_err().to_string()
}

/// Values outside a range, as they are written.
fn outside(range: &Range) -> Vec<Value> {
    let mut values = vec![f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0, range.high * 1.001 + 1e-3];
    if range.low > 0.0 {
        values.push(range.low / 2.0);
    }
    let mut values: Vec<Value> = values.into_iter().map(Value::Float).collect();
    if range.whole {
        values.extend([range.low as i64 - 1, range.high as i64 + 1, -1].map(Value::Integer));
        values.retain(|v| !(range.or_zero && v.as_integer() == Some(0)));
        values.push(Value::Float(range.low + 0.5));
    }
    values
}

#[test]
fn every_number_outside_its_range_is_named_with_it() {
    let mut seen = BTreeSet::new();
    for mut profile in profiles() {
        Server::parse(&profile.to_string()).unwrap();
        for (name, range) in ranges() {
            if place(&mut profile, name).is_none() {
                continue;
            }
            seen.insert(name);
            for value in outside(range) {
                let error = refused(&profile, name, value.clone());
                let number = value.as_float().unwrap_or_else(|| value.as_integer().unwrap() as f64);
                let what = format!("{name} is {number} {}; allowed: {range}", range.unit);
                assert!(error.ends_with(&what) && error.lines().count() == 1, "{value}: {error}");
            }
        }
    }
    let missing: Vec<_> = ranges().map(|(name, _)| name).filter(|name| !seen.contains(name)).collect();
    assert_eq!(missing, Vec::<&str>::new(), "no profile of the test has these");
}

#[test]
fn both_ends_of_a_range_are_allowed() {
    for (name, range) in ranges() {
        assert!(range.has(range.low) && range.has(range.high) && range.low < range.high, "{name}");
        assert_eq!(range.has(0.0), range.or_zero || range.low == 0.0, "{name}");
    }
}

/// Keys of all numbers below `value`.
fn numbers(value: &Value, key: &str, found: &mut Vec<String>) {
    match value {
        Value::Integer(_) | Value::Float(_) => found.push(key.to_owned()),
        Value::Table(table) => table.iter().for_each(|(name, v)| numbers(v, &format!("{key}.{name}"), found)),
        _ => {}
    }
}

#[test]
fn no_number_is_without_a_range() {
    let known: BTreeSet<&str> = ranges().map(|(name, _)| name).collect();
    for profile in profiles() {
        let mut found = Vec::new();
        numbers(&Value::Table(profile), "", &mut found);
        assert!(found.len() > 40, "{found:?}");
        for key in found {
            let name = key.strip_suffix(".value").unwrap_or(&key).trim_start_matches('.');
            assert!(known.contains(name), "{name} has no range");
        }
    }
}

#[test]
fn wrong_units_are_told() {
    let text = Table::try_from(Server::by_name("rxbisect-testbed").unwrap()).unwrap();
    for (name, value, told) in [
        ("constants.pcie.gbytes", 0.0, "constants.pcie.gbytes is 0 GB/s; allowed: 0.2 to 256 GB/s"),
        (
            "constants.dram.usable",
            68.0,
            "constants.dram.usable is 68 of the peak; allowed: 0.05 to 1 of the peak",
        ),
        ("ghz", 2100.0, "ghz is 2100 GHz; allowed: 0.1 to 10 GHz"),
        ("nic.port_gbps", 400_000.0, "nic.port_gbps is 400000 Gbps; allowed: 0.1 to 1600 Gbps"),
    ] {
        assert_eq!(refused(&text, name, value.into()), format!("profile `rxbisect-testbed`: {told}"));
    }
    let pause = refused(&text, "constants.firmware.pause_us", 10_000.0.into());
    assert!(
        pause.ends_with("pause_us is 10000 us; allowed: less than the 10 ms of pause_every_ms"),
        "{pause}"
    );
}

#[test]
fn caches_of_real_processors_are_allowed() {
    let with = |set: &dyn Fn(&mut Server)| {
        let mut server = Server::by_name("rxbisect-testbed").unwrap();
        set(&mut server);
        server.validate().map(|()| server.l2_sets()).map_err(|e| e.to_string())
    };
    for (kib, ways, sets) in
        [(1280, 20, 1024), (256, 8, 512), (2048, 16, 2048), (512, 8, 1024), (3072, 12, 4096)]
    {
        let l2 = with(&|s| (s.caches.l2_kib, s.caches.l2_ways) = (kib, ways));
        assert_eq!(l2, Ok(sets), "{kib} KiB of {ways} ways");
    }
    for (slices, sets, ways) in
        [(28, 2048, 11), (40, 2048, 12), (60, 2048, 15), (8, 12_288, 16), (28, 2048, 20)]
    {
        let llc = with(&|s| (s.caches.slices, s.caches.sets_per_slice, s.caches.ways) = (slices, sets, ways));
        assert!(llc.is_ok(), "{llc:?}");
    }
    let odd = with(&|s| (s.caches.l2_kib, s.caches.l2_ways) = (1280, 24)).unwrap_err();
    assert!(odd.contains("has 853.3 sets; allowed: a whole number of at least 64"), "{odd}");
    let large = with(&|s| (s.caches.slices, s.caches.sets_per_slice) = (256, 65_536)).unwrap_err();
    assert!(large.contains("an LLC of 11264 MiB; allowed: up to 4096 MiB"), "{large}");
    let ddio = with(&|s| s.caches.ddio_ways = 12).unwrap_err();
    assert!(ddio.ends_with("caches.ddio_ways is 12 ways; allowed: 1 to 11, the ways of the LLC"), "{ddio}");
    let rings = with(&|s| s.nic.min_ring = 16_384).unwrap_err();
    assert!(rings.ends_with("nic.min_ring is 16384 entries; allowed: 2 to 8192, nic.max_ring"), "{rings}");
}

#[test]
fn no_agent_runs_further_ahead_than_a_write_takes() {
    let mut server = Server::by_name("rxbisect-testbed").unwrap();
    assert_eq!(server.window(), Ps::from_ns(300));
    for (write, window) in [(120.0, 120), (900.0, 300)] {
        server.constants.pcie.write_ns.value = write;
        assert_eq!(server.window(), Ps::from_ns(window));
    }
}

#[test]
fn built_in_profiles_are_allowed() {
    for name in Server::names() {
        Server::by_name(name).unwrap();
    }
}

/// What cc-nic says of its two servers: the L2 of the other socket, its DRAM beside the own, and its size.
#[test]
fn servers_with_a_coherent_nic_are_those_of_the_paper() {
    for (name, l2, llc_mib, cores) in [("icx", 114.0, 36, 16), ("spr", 171.0, 105, 56)] {
        let server = Server::by_name(name).unwrap();
        let c = &server.constants;
        let [snoop, remote] = [&c.interconnect.snoop_ns, &c.interconnect.remote_ns].map(|c| c.value);
        assert_eq!(snoop + remote, l2, "{name}");
        let dram = c.dram.idle_ns.value;
        assert!((1.8..=2.1).contains(&((dram + remote) / dram)), "about twice: {name}");
        assert!(snoop + remote + c.interconnect.away_ns.value < dram + remote, "{name}");
        assert_eq!((server.llc_bytes() >> 20, server.cores), (llc_mib, cores), "{name}");
        assert_eq!(server.caches.remote_reads, RemoteReads::Move, "{name}");
    }
}

/// A built-in profile as it was written before constants had components.
const FLAT: &str = include_str!("flat/rxbisect-testbed.toml");

#[test]
fn a_profile_of_the_flat_form_is_the_same_server() {
    let by_component = Server::by_name("rxbisect-testbed").unwrap();
    assert_eq!(Server::parse(FLAT).unwrap(), by_component);
    // Every constant has both names.
    for mut profile in profiles() {
        let server = Server::parse(&profile.to_string()).unwrap();
        let mut constants = Table::new();
        for (declared, _) in server.stated() {
            let (tables, key) = declared.place.rsplit_once('.').unwrap();
            let table = tables.split('.').fold(&mut profile, |t, key| t[key].as_table_mut().unwrap());
            constants.insert(declared.name.into(), table.remove(key).unwrap());
        }
        profile.insert("constants".into(), constants.into());
        assert_eq!(Server::parse(&profile.to_string()).unwrap(), server);
    }
    // One form may stand beside the other.
    let mixed = FLAT
        .replace("[constants]\n", "[constants]\nnic.mpps = { value = 30, origin = \"measured: here\" }\n");
    let mixed = Server::parse(&mixed).unwrap();
    assert_eq!((mixed.constants.nic.mpps.value, mixed.constants.dram), (30.0, by_component.constants.dram));
}

#[test]
fn a_constant_is_called_as_the_file_does() {
    let refused = |text: String| Server::parse(&text).unwrap_err().to_string();
    let with = |name: &str, value: &str| {
        let line = FLAT.lines().find(|line| line.starts_with(&format!("{name} = "))).unwrap();
        refused(FLAT.replace(line, &format!("{name} = {value}")))
    };
    assert_eq!(
        with("dram_usable", "{ value = 68, origin = \"assumed: A3\" }"),
        "profile `rxbisect-testbed`: dram_usable is 68 of the peak; allowed: 0.05 to 1 of the peak"
    );
    assert!(with("lb_cycles", "{ value = 68, origin = \"A3\" }").contains("lb_cycles lacks its origin"));
    let told = with("lb_cycles", "12");
    let line = 1 + FLAT.lines().position(|line| line.starts_with("lb_cycles")).unwrap();
    assert!(told.contains(&format!("at line {line}")) && told.contains("a number with its origin"), "{told}");
    let unknown = refused(FLAT.replace("lb_cycles", "lbb_cycles"));
    assert!(unknown.contains("unknown field `lbb_cycles`") && unknown.contains("`dram`"), "{unknown}");
    let twice = format!("{FLAT}\n[apps.lb]\ncycles = {{ value = 3, origin = \"assumed: A9\" }}\n");
    assert_eq!(refused(twice), "constants.lb_cycles is given again as apps.lb.cycles");
    let blocked = refused(FLAT.replacen("[caches]", "apps = 3\n[caches]", 1));
    assert_eq!(blocked, "constants.l3fwd_cycles: apps.l3fwd is no table");
}

#[test]
fn no_name_is_that_of_a_component() {
    let names: BTreeSet<&str> = declared().map(|d| d.name).collect();
    assert_eq!(names.len(), declared().count());
    let components = declared().map(|d| d.place.split('.').nth(1).unwrap());
    assert_eq!(components.filter(|c| names.contains(c)).collect::<Vec<_>>(), Vec::<&str>::new());
}
