//! Descriptions of workloads: text to value and back, and errors that tell what is allowed.

use packet::kv::{Objects, Protocol};
use proptest::prelude::*;
use traffic::{Arrival, Arrivals, FlowDraw, Line, RFC_2544, Rate, Sizes, Spec, Target, Workload, wire_bytes};

fn specs() -> impl Strategy<Value = Spec> {
    let sizes = prop_oneof![
        (60u16..).prop_map(Sizes::Fixed),
        Just(Sizes::Imix),
        proptest::sample::select(&RFC_2544[..]).prop_map(Sizes::Rfc2544),
        (0.0..=100.0, proptest::sample::select(&Objects::ALL[..]))
            .prop_map(|(put_percent, objects)| Sizes::Kv { put_percent, objects, protocol: Protocol::Plain }),
        (0.0..=100.0, 0u16..=1408).prop_map(|(put_percent, value)| Sizes::Kv {
            put_percent,
            objects: Objects::Small(value),
            protocol: Protocol::Erpc
        }),
        prop_oneof![Just("websearch"), Just("datamining"), Just("fb_hadoop")]
            .prop_map(|n| Sizes::Empirical(traffic::Cdf::load(n).unwrap())),
    ];
    let draw = prop_oneof![
        Just(FlowDraw::Uniform),
        (0.001..10.0f64).prop_map(FlowDraw::Zipf),
        (1u32..=4096, 1u32..=10_000_000).prop_map(|(active, us)| FlowDraw::Slots { active, us }),
    ];
    let arrivals = prop_oneof![
        Just(Arrivals::Constant),
        Just(Arrivals::Poisson),
        (1u32..=1 << 20).prop_map(|burst| Arrivals::Bursty { burst }),
    ];
    let target = prop_oneof![
        Just(None),
        (0.0..1e3).prop_map(|gbps| Some(Target::Gbps(gbps))),
        (0.0..=100.0, 60u16..).prop_map(|(percent, len)| Some(Target::Percent { percent, len })),
    ];
    (sizes, 1u64..=1 << 32, draw, arrivals, 0u32..=1024, target).prop_map(
        |(sizes, flows, draw, arrivals, partitions, target)| {
            let target = target.filter(|_| !matches!(sizes, Sizes::Kv { .. }));
            let kv = matches!(sizes, Sizes::Kv { .. });
            let draw = if kv && matches!(draw, FlowDraw::Slots { .. }) { FlowDraw::Uniform } else { draw };
            let vxlan = partitions == 0 && target.is_none() && !matches!(sizes, Sizes::Kv { .. });
            Spec { target, sizes, flows, draw, arrivals, partitions, vxlan }
        },
    )
}

proptest! {
    #[test]
    fn text_and_back(spec in specs()) {
        prop_assert_eq!(&spec.to_string().parse::<Spec>().unwrap(), &spec);
        prop_assert_eq!(serde_json::to_value(&spec).unwrap(), spec.to_string());
    }

    #[test]
    fn any_text_is_taken_or_refused_in_one_line(text in ".*") {
        if let Err(e) = text.parse::<Spec>() {
            prop_assert!(!e.to_string().contains('\n'));
        }
        if let Ok(rate) = text.parse::<Rate>() {
            prop_assert_eq!(rate.to_string().parse::<Rate>().unwrap(), rate);
        }
    }
}

#[test]
fn the_forms_of_the_manual() {
    let spec: Spec = "fixed:1500,flows=10M,arrivals=poisson".parse().unwrap();
    let expected = Spec { flows: 10_000_000, arrivals: Arrivals::Poisson, ..Spec::default() };
    assert_eq!(spec, expected);
    assert_eq!(spec.to_string(), "fixed:1500,flows=10000000,arrivals=poisson");
    let spec: Spec = "imix, flows=20k, zipf=1.1, arrivals=bursty:32".parse().unwrap();
    assert_eq!((spec.flows, spec.draw), (20_000, FlowDraw::Zipf(1.1)));
    let spec: Spec = "fixed:1500,partitions=8,target=pct:31/60".parse().unwrap();
    assert_eq!((spec.partitions, spec.target), (8, Some(Target::Percent { percent: 31.0, len: 60 })));
    assert_eq!(spec.to_string(), "fixed:1500,flows=10000,arrivals=constant,partitions=8,target=pct:31/60");
    assert_eq!("imix,target=gbps:0.5".parse::<Spec>().unwrap().target, Some(Target::Gbps(0.5)));
    let spec: Spec = "kv:put=95".parse().unwrap();
    assert_eq!(
        (spec.flows, spec.to_string()),
        (8 << 20, "kv:put=95,keys=8388608,arrivals=constant".to_owned())
    );
    let spec: Spec = "erpc:put=50".parse().unwrap();
    assert_eq!(
        (spec.longest(), spec.to_string()),
        (Some(138), "erpc:put=50,value=64,keys=1000,arrivals=constant".into())
    );
    for text in
        ["erpc:put=50,value=9,keys=7,arrivals=poisson", "fixed:60,flows=9,arrivals=constant,tunnel=vxlan"]
    {
        assert_eq!(text.parse::<Spec>().unwrap().to_string(), text);
    }
    assert_eq!("kv:put=50,keys=2M,zipf=0.99".parse::<Spec>().unwrap().flows, 2_000_000);
    assert_eq!("200".parse(), Ok(Rate::Gbps(200.0)));
    assert_eq!("own".parse(), Ok(Rate::Own));
}

/// The names count the FCS, the frames come without: 64 B take 84 B of the wire, as RFC 2544 has them.
#[test]
fn the_sizes_of_rfc_2544_by_name() {
    for named in RFC_2544 {
        let text = format!("rfc2544:{named},flows=10,arrivals=constant");
        let spec: Spec = text.parse().unwrap();
        assert_eq!((spec.sizes.clone(), spec.to_string()), (Sizes::Rfc2544(named), text));
        let generated = |spec: Spec| {
            let line = Line { port: 0, loads: &[1], gbps: Line::GBPS };
            let mut source = Workload::Generated(spec).source_on(line, Rate::Gbps(10.0), 1);
            let mut a = Arrival::EMPTY;
            (0..100).map(|_| (source.next(&mut a), a.at, a.len)).collect::<Vec<_>>()
        };
        let fixed = Spec { sizes: Sizes::Fixed(named - 4), ..spec.clone() };
        let frames = generated(spec);
        assert!(frames.iter().all(|f| f.0 && f.2 == named - 4));
        assert_eq!(frames, generated(fixed));
        assert_eq!(wire_bytes(named - 4), u32::from(named) + 20);
    }
    for bad in ["rfc2544:60", "rfc2544:1500", "rfc2544:", "rfc2544:64fcs"] {
        let error = bad.parse::<Spec>().unwrap_err().to_string();
        assert!(error.contains("64") && error.contains("FCS"), "{error}");
    }
}

#[test]
fn errors_list_what_is_allowed() {
    for (text, what, allowed) in [
        ("", "workload", "fixed:BYTES (without FCS), rfc2544:BYTES (with FCS), imix, empirical:NAME"),
        ("fixd:1500", "workload", "fixed:BYTES"),
        ("fixed:59", "frame size", "60 to 65535"),
        ("fixed:", "frame size", "60 to 65535"),
        ("fixed:70000", "frame size", "60 to 65535"),
        ("empirical:nosuch", "distribution", "websearch, datamining, fb_hadoop"),
        ("imix,flow=3", "workload option `flow=3`", "flows=N"),
        ("imix,flows=0", "flows `0`", "1 to 4294967296"),
        ("imix,flows=5G", "flows", "k or M"),
        ("imix,flows=99999999999999999999M", "flows", "1 to"),
        ("imix,zipf=0", "zipf", "above 0, at most 10"),
        ("imix,zipf=NaN", "zipf", "above 0"),
        ("imix,arrivals=even", "arrivals", "constant, poisson, bursty:FRAMES"),
        ("imix,arrivals=bursty:0", "arrivals", "1 to 1048576"),
        ("kv:put=101", "requests `put=101`", "put=PERCENT"),
        ("kv:get=5", "requests", "put=PERCENT"),
        ("kv:put=5,flows=3", "workload option `flows=3`", "keys=N"),
        ("kv:put=5,keys=0", "keys `0`", "1 to 4294967296"),
        ("kv:put=5,target=gbps:1", "workload option", "keys=N"),
        ("kv:put=5,value=8", "workload option `value=8`", "objects="),
        ("kv:put=5,tunnel=vxlan", "workload option `tunnel=vxlan`", "keys=N"),
        ("erpc:put=5,objects=ads", "workload option `objects=ads`", "value=BYTES"),
        ("erpc:put=5,value=1409", "value `1409`", "0 to 1408"),
        ("erpc:half", "requests", "put=PERCENT"),
        ("imix,slots=16", "slots `16`", "FLOWS/MICROSECONDS"),
        ("imix,slots=4097/1", "slots", "1 to 4096"),
        ("imix,slots=1/0", "slots", "1 to 10000000"),
        ("imix,tunnel=gre", "workload option `tunnel=gre`", "tunnel=vxlan"),
        ("imix,tunnel=vxlan,partitions=2", "tunnel `vxlan`", "without partitions"),
        ("imix,keys=3", "workload option `keys=3`", "flows=N"),
        ("imix,partitions=0", "partitions `0`", "1 to 1024"),
        ("imix,partitions=1025", "partitions", "1 to 1024"),
        ("imix,target=1", "target `1`", "gbps:GBPS (of each port), pct:PERCENT/BYTES"),
        ("imix,target=gbps:-1", "target", "gbps:GBPS"),
        ("imix,target=gbps:inf", "target", "gbps:GBPS"),
        ("imix,target=pct:20", "target", "pct:PERCENT/BYTES"),
        ("imix,target=pct:101/60", "target", "pct:PERCENT/BYTES"),
        ("imix,target=pct:20/59", "frame size `59`", "60 to 65535"),
    ] {
        let error = text.parse::<Spec>().unwrap_err().to_string();
        assert!(error.contains(what) && error.contains(allowed), "{text:?}: {error}");
    }
    for text in ["0", "-1", "fast", "inf", "NaN", ""] {
        let error = text.parse::<Rate>().unwrap_err().to_string();
        assert!(error.contains("own, or a number of Gbps above 0"), "{text:?}: {error}");
    }
}
