//! What a fuzzer feeds: the same functions run in `cargo test` over random and mutated bytes.

use crate::{Arrival, Line, Rate, Trace, Workload};
use std::sync::Arc;

/// Reads any bytes as a capture and replays the start of what they hold; checks what arrivals promise.
///
/// # Panics
/// A promise is broken.
pub fn capture(bytes: &[u8]) {
    let Ok(trace) = Trace::read("fuzz", bytes) else { return };
    let packets = trace.stats().packets;
    assert!(packets > 0 && trace.stats().flows <= packets);
    let workload = Workload::Pcap(Arc::new(trace), None);
    for rate in [Rate::Gbps(100.0), Rate::Own] {
        for port in 0..2 {
            let mut source = workload.source_on(Line { port, loads: &[1, 1], gbps: 100.0 }, rate, 1);
            let (mut out, mut last) = (Arrival::EMPTY, 0);
            for _ in 0..2 * packets.min(1000) {
                if !source.next(&mut out) {
                    break;
                }
                assert!(out.at >= last && usize::from(out.head_len) <= out.bytes().len());
                assert!(out.head[usize::from(out.head_len)..].iter().all(|b| *b == 0));
                last = out.at;
            }
        }
    }
}
