//! What is taken, what is refused, and what follows from it.

use rings::{Host, Interface, Nic};

use super::*;

fn set(pairs: &[(&str, &str)]) -> Result<Args, String> {
    let mut args = Args::default();
    for (key, value) in pairs {
        args.set(key, value).map_err(|e| e.to_string())?;
    }
    args.check().map_err(|e| e.to_string())?;
    Ok(args)
}

#[test]
fn what_is_allowed_is_taken() {
    let args = set(&[("iface", "rxbisect"), ("ax", "64"), ("source", "gen:fixed:64+flows:4096")]).unwrap();
    assert_eq!(args.iface(), c"rxbisect");
    assert!(matches!(&args.source, Source::Generated(s) if s.flows == 4096));
    assert!(matches!(args.interface(512, 4), Interface::RxBisect(s) if s.ax == 64 && s.bx == 512));
    for (group, desc, queues, ax) in [
        ("0", 1024, 1, 1024),
        ("0", 4096, 1, 1024),
        ("0", 1024, 8, 128),
        ("0", 1024, 64, 64),
        ("2", 256, 4, 128),
    ] {
        let args = set(&[("iface", "rxbisect"), ("group", group)]).unwrap();
        let Interface::RxBisect(sizes) = args.interface(desc, queues) else { unreachable!() };
        assert_eq!((sizes.ax, sizes.bx), (ax, desc), "{group} {queues}");
    }
    let args = set(&[("source", "pair:net_rxlab1"), ("rx_rate", "2.5")]).unwrap();
    assert_eq!((args.source, args.rx_bps), (Source::Pair("net_rxlab1".into()), 2_500_000_000));
}

/// Telemetry and statistics name a half's counters before there is one.
#[test]
fn counters_are_named_as_the_rings_name_them() {
    for about in Interface::ALL {
        let args = set(&[("iface", about.name)]).unwrap();
        let interface = args.interface(64, 2);
        assert_eq!((interface.name(), args.iface().to_str()), (about.name, Ok(about.name)));
        let region = memory::Region::new(72 << 20, memory::Backing::Heap).unwrap();
        let buffers = memory::Space::buffers(&mut &region, &memory::Geometry::dpdk(1)).unwrap();
        let (hosts, nic) = rings::receive(&mut &region, &interface, 2, buffers).unwrap();
        let theirs: Vec<_> = hosts[0].counters().into_iter().map(|(name, _)| name).collect();
        let ours: Vec<_> = (0..).map_while(|i| args.counter(i)?.to_str().ok()).collect();
        assert_eq!(ours, theirs);
        assert!(ours.len() <= crate::counters::HOST_COUNTERS);
        let levels: Vec<_> = (0..).map_while(|i| args.level(i)?.to_str().ok()).collect();
        assert!(levels.iter().all(|name| nic.counters().iter().any(|(theirs, _)| theirs == name)));
        assert!(levels.len() <= crate::counters::LEVELS);
    }
}

#[test]
fn threads_share_a_queue_only_where_the_interface_allows_it() {
    let threads = |pairs: &[(&str, &str)]| Args { lcores: 7, ..set(pairs).unwrap() }.threads();
    assert_eq!(threads(&[("iface", "shring")]), 1);
    assert_eq!(threads(&[("iface", "ddring")]), 1);
    assert_eq!(threads(&[("iface", "ddring"), ("threads", "4")]), 4);
    assert_eq!(threads(&[("iface", "corec")]), 7);
    assert_eq!(threads(&[("iface", "corec"), ("threads", "128")]), 128);
}

#[test]
fn what_a_start_does_not_have_is_named_as_it_was_written() {
    let shared = set(&[("iface", "shring"), ("shared", "64")]).unwrap();
    assert!(shared.fits(1024, 64).is_ok());
    assert_eq!(shared.fits(1024, 2).unwrap_err().to_string(), "shared=64; allowed: 1 to 2, the Rx queues");
    let cut = set(&[("iface", "rxbisect"), ("group", "64"), ("batch", "32768")]).unwrap();
    assert!(cut.fits(32_768, 64).is_ok());
    assert_eq!(cut.fits(32_768, 8).unwrap_err().to_string(), "group=64; allowed: 0 to 8, the Rx queues");
    let said = cut.fits(512, 64).unwrap_err().to_string();
    assert_eq!(said, "batch=32768; allowed: 1 to 512, the descriptors of an Rx queue");
    for about in Interface::ALL {
        let args = set(&[("iface", about.name)]).unwrap();
        assert!(args.fits(64, 1).is_ok() && args.interface(64, 1).validate(1).is_ok());
    }
}

#[test]
fn an_interface_is_said_with_its_parameters() {
    let interface = |pairs: &[(&str, &str)]| set(pairs).unwrap().interface(512, 4).to_string();
    let text = "shring:ring:1024+shared_by:2+unlock:swap";
    let said = "shring:ring=1024,shared_by=2,completions=512,unlock=swap";
    assert_eq!(interface(&[("iface", text)]), said);
    assert_eq!(interface(&[("shared", "2"), ("iface", "shring:ring:1024+unlock:swap")]), said);
    assert_eq!(
        interface(&[("iface", text), ("shared", "4"), ("ring", "64")]),
        said,
        "the interface's own win"
    );
    assert_eq!(interface(&[("iface", "ddring:refill:each")]), "ddring:ring=512,shared_by=1,refill=each");
    assert_eq!(interface(&[("iface", "ddring")]), "ddring:ring=512,shared_by=1,refill=bulk");
    let threads = |iface| set(&[("iface", iface)]).unwrap().threads();
    assert_eq!(
        [threads("corec:shared_by:3"), threads("ddring:shared_by:2"), threads("shring:shared_by:2")],
        [3, 2, 1]
    );
    assert!(set(&[("iface", "shring:ring:2")]).is_ok(), "for one queue");
    for (iface, part) in [
        ("privring:ring:64", "descriptors"),
        (
            "shring:rings:64",
            "unknown parameter `rings`; allowed: ring (descriptors of a shared ring), shared_by",
        ),
        ("shring:unlock:fast", "allowed: store, swap"),
        ("shring:ring", "ring has no value"),
        ("shring:ring:100", "a power of two"),
        ("shring:shared_by:65", "allowed: 1 to 64"),
        ("corec:shared_by:129", "allowed: 1 to 128"),
        ("corec:shared_by:0", "allowed: 1 to 128"),
        ("rxbisect:batch:32769", "allowed: 1 to 32768"),
        ("rxbisect:alloc_queues:1", "allowed: none in a driver"),
        ("nosuch:ring:64", "unknown interface `nosuch`; allowed: privring, shring"),
    ] {
        let said = set(&[("iface", iface)]).unwrap_err();
        assert!(said.contains(part) && said.contains("iface=") && !said.contains('\n'), "{said}");
    }
}

#[test]
fn the_link_has_a_speed_with_room_for_the_rates() {
    for (args, mbps) in [
        (&[][..], 100_000),
        (&[("rx_rate", "0.1")], 100),
        (&[("rx_rate", "7"), ("tx_rate", "12")], 20_000),
        (&[("tx_rate", "0.000000001")], 10),
        (&[("rx_rate", "300")], 200_000),
        (&[("link_speed", "2.5")], 2500),
        (&[("link_speed", "40"), ("rx_rate", "7")], 40_000),
    ] {
        assert_eq!(set(args).unwrap().speed(), mbps, "{args:?}");
    }
    let said = set(&[("link_speed", "3")]).unwrap_err();
    assert_eq!(
        said,
        "link_speed=3; allowed: Gbps, one of 0.01, 0.1, 1, 2.5, 5, 10, 20, 25, 40, 50, 56, 100, 200"
    );
    let said = set(&[("link_speed", "10"), ("tx_rate", "12.5")]).unwrap_err();
    assert_eq!(said, "link_speed=10; allowed: no less than tx_rate=12.5");
}

#[test]
fn every_wrong_value_is_named_with_what_is_allowed() {
    let wrong = [
        ("iface", "corecc"),
        ("source", "gen:"),
        ("source", "tap:x"),
        ("source", "gen:fixed:64+flaws:3"),
        ("rx_rate", "-1"),
        ("tx_rate", "nan"),
        ("link_speed", "0"),
        ("link_speed", "fast"),
        ("shared", "0"),
        ("shared", "65"),
        ("shared", "5000"),
        ("ax", "100"),
        ("ring", "1"),
        ("group", "-1"),
        ("group", "65"),
        ("batch", "0"),
        ("batch", "32769"),
        ("timeout_ns", "soon"),
        ("threads", "0"),
        ("threads", "129"),
        ("refill", "all"),
        ("reorder", "yes"),
        ("emulate", "2"),
    ];
    for (key, value) in wrong {
        let said = set(&[(key, value)]).unwrap_err();
        assert!(said.contains(key) && said.contains(value) && said.contains("allowed"), "{said}");
        assert!(!said.contains('\n'));
    }
    let said = set(&[("iface", "corec"), ("refill", "bulk")]).unwrap_err();
    assert!(said.contains("iface=ddring, not iface=corec"), "{said}");
    let said = set(&[("emulate", "1")]).unwrap_err();
    assert!(said.contains("emulate=1") && said.contains("source=port:NAME"), "{said}");
    let said = set(&[("emulate", "1"), ("source", "port:x"), ("reorder", "1")]).unwrap_err();
    assert!(said.contains("reorder=0"), "{said}");
    for iface in ["dynamic", "corec", "ddring"] {
        let said = set(&[("iface", iface), ("emulate", "1"), ("source", "port:x")]).unwrap_err();
        let not = format!(", not iface={iface}");
        assert!(
            said.contains("iface=privring, shring") && said.contains("rxbisect") && said.ends_with(&not),
            "{said}"
        );
    }
    assert!(set(&[("emulate", "1"), ("source", "port:x")]).is_ok());
    assert!(set(&[("colour", "red")]).unwrap_err().contains("colour"));
    assert!(set(&[("ax", "64")]).unwrap_err().contains("iface=rxbisect"));
    let said = set(&[("iface", "rxbisect"), ("shared", "2")]).unwrap_err();
    assert!(said.contains("iface=shring or dynamic, not iface=rxbisect"), "{said}");
}

#[test]
fn a_channel_is_a_wire_of_its_own() {
    let wire = |pairs: &[(&str, &str)]| set(pairs).map(|args| args.wire());
    assert!(wire(&[("iface", "ccnic")]).unwrap().is_none());
    let conf = ("channel_conf", "ring:64+layout:pad");
    let given = wire(&[("iface", "ccnic"), ("channel", "/tmp/x"), conf, ("channel_role", "listen")]);
    let given = given.unwrap().unwrap();
    assert_eq!((given.path.to_str(), given.meet), (Some("/tmp/x"), Meet::Listen));
    assert_eq!(given.config, "ring=64,layout=pad".parse().unwrap());
    for (pairs, part) in [
        (&[("channel", "x")][..], "channel=x with iface=privring; allowed: iface=ccnic"),
        (&[("iface", "ccnic:layout:pad"), ("channel", "x")], "allowed: channel_conf=KEY:VALUE+..."),
        (&[("iface", "ccnic"), ("channel", "x"), ("rx_rate", "1")], "channel=x with rx_rate; allowed"),
        (&[("iface", "ccnic"), ("channel_conf", "ring:64")], "allowed: with channel=PATH"),
        (&[("iface", "ccnic"), ("channel_role", "listen")], "allowed: with channel=PATH"),
        (&[("channel_role", "server")], "channel_role=server; allowed: either, listen or connect"),
        (&[("channel_conf", "ring:63")], "channel_conf=ring:63: a ring of 63; allowed"),
    ] {
        let said = set(pairs).unwrap_err();
        assert!(said.contains(part) && !said.contains('\n'), "{said}");
    }
}
