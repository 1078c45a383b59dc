//! Descriptions of workloads: text to value and back, and errors that tell what is allowed.

use proptest::prelude::*;
use traffic::{Arrivals, FlowDraw, Rate, Sizes, Spec};

fn specs() -> impl Strategy<Value = Spec> {
    let sizes = prop_oneof![
        (60u16..).prop_map(Sizes::Fixed),
        Just(Sizes::Imix),
        prop_oneof![Just("websearch"), Just("datamining"), Just("fb_hadoop")]
            .prop_map(|n| Sizes::Empirical(traffic::Cdf::load(n).unwrap())),
    ];
    let draw = prop_oneof![Just(FlowDraw::Uniform), (0.001..10.0f64).prop_map(FlowDraw::Zipf)];
    let arrivals = prop_oneof![
        Just(Arrivals::Constant),
        Just(Arrivals::Poisson),
        (1u32..=1 << 20).prop_map(|burst| Arrivals::Bursty { burst }),
    ];
    (sizes, 1u64..=1 << 32, draw, arrivals).prop_map(|(sizes, flows, draw, arrivals)| Spec {
        sizes,
        flows,
        draw,
        arrivals,
    })
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
    assert_eq!("200".parse(), Ok(Rate::Gbps(200.0)));
    assert_eq!("own".parse(), Ok(Rate::Own));
}

#[test]
fn errors_list_what_is_allowed() {
    for (text, what, allowed) in [
        ("", "workload", "fixed:BYTES, imix, empirical:NAME"),
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
    ] {
        let error = text.parse::<Spec>().unwrap_err().to_string();
        assert!(error.contains(what) && error.contains(allowed), "{text:?}: {error}");
    }
    for text in ["0", "-1", "fast", "inf", "NaN", ""] {
        let error = text.parse::<Rate>().unwrap_err().to_string();
        assert!(error.contains("own, or a number of Gbps above 0"), "{text:?}: {error}");
    }
}
