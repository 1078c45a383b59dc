//! The numbers of flows: frames have one number where they are of one flow, and no other.

use crate::make::{capture, udp};
use packet::{Tuple, parse};
use std::collections::HashMap;
use std::sync::Arc;
use traffic::{Arrival, Line, Rate, Source, Spec, Trace, Workload};

/// Takes `n` frames; how many flows they had, of which each has its own number, not 0.
fn flows(source: &mut dyn Source, n: usize) -> usize {
    let (mut a, mut tuples, mut numbers) = (Arrival::EMPTY, HashMap::new(), HashMap::new());
    for _ in 0..n {
        assert!(source.next(&mut a));
        let known = &a.bytes()[..usize::from(a.head_len).min(a.bytes().len())];
        let Some(tuple) = parse(known).tuple(known) else {
            assert_eq!(a.flow, 0, "no packet, no flow");
            continue;
        };
        assert_ne!(a.flow, 0);
        let told: &mut Tuple = tuples.entry(a.flow).or_insert(tuple);
        assert_eq!(*told, tuple, "number {}", a.flow);
        assert_eq!(*numbers.entry(tuple).or_insert(a.flow), a.flow, "{tuple:?}");
    }
    numbers.len()
}

#[test]
fn generated_flows_have_their_numbers() {
    for (spec, least) in [
        ("fixed:60,flows=100", 100),
        ("imix,flows=1000,zipf=1.1", 200),
        ("fixed:60,flows=64,partitions=8", 64),
        ("fixed:1500,flows=64,partitions=8,target=pct:20/60", 100),
        ("kv:put=50,keys=500", 400),
    ] {
        let spec: Spec = spec.parse().unwrap_or_else(|e| panic!("{spec}: {e}"));
        for port in 0..2 {
            let line = Line { port, loads: &[1, 1], gbps: Line::GBPS };
            let mut source = Workload::Generated(spec.clone()).source_on(line, Rate::Gbps(10.0), 5);
            let found = flows(source.as_mut(), 20_000);
            assert!(found >= least / 2, "{spec:?} port {port}: {found}");
        }
    }
}

/// Laps have flows of their own, frames without addresses none.
#[test]
fn flows_of_a_capture_have_theirs_in_each_lap() {
    let mut arp = vec![0; 60];
    arp[12..14].copy_from_slice(&[8, 6]);
    let frames = [(0, udp(1, 100)), (1, udp(2, 100)), (2, arp), (3, udp(1, 200)), (4, udp(3, 60))];
    let trace = Arc::new(Trace::read("made", &capture(&frames)[..]).unwrap());
    let mut source = Workload::Pcap(trace, None).source(0, 1, Rate::Gbps(1.0), 3);
    assert_eq!(flows(source.as_mut(), 5 * 40), 3 * 40);
}
