//! Statistics of captures whose numbers are known.

use crate::make::{capture, udp};
use traffic::Trace;
use traffic::stats::TraceStats;

fn stats(frames: &[(u64, Vec<u8>)], cores: &[u16]) -> TraceStats {
    TraceStats::new(&Trace::read("made", &capture(frames)[..]).unwrap(), cores)
}

#[test]
fn sizes_and_percentiles() {
    let frames: Vec<_> = (0..100u16).map(|i| (u64::from(i), udp(0, 100 + i))).collect();
    let s = stats(&frames, &[]).sizes;
    assert_eq!((s.min, s.p50, s.p90, s.p99, s.max), (100, 149, 189, 198, 199));
    assert_eq!(s.mean, 149.5);
    let bars: Vec<_> = s.histogram.iter().map(|c| (c.up_to, c.packets)).filter(|c| c.1 > 0).collect();
    assert_eq!(bars, [(123, 24), (251, 76)]);
}

#[test]
fn flows_and_shares() {
    let mut arp = vec![0; 60];
    arp[12..14].copy_from_slice(&[8, 6]);
    let mut broken = udp(9, 100);
    broken[14] = 0x55;
    let frames =
        [(0, udp(1, 176)), (1, udp(1, 176)), (2, udp(1, 176)), (3, udp(2, 176)), (4, arp), (5, broken)];
    let s = stats(&frames, &[1]);
    assert_eq!((s.flows.count, s.flows.single_packet), (4, 3));
    // Wire bytes: 3 * 200 of 4 * 200 + 84 + 124.
    assert!((s.flows.top_pct - 60_000.0 / 1008.0).abs() < 1e-9);
    assert_eq!(s.flows.top10_pct, 100.0);
    assert_eq!((s.network["ipv4"].packets, s.network["arp"].packets, s.network["other"].packets), (4, 1, 1));
    assert_eq!((s.transport["udp"].packets, s.bad_headers.packets), (4, 1));
    assert!((s.network["ipv4"].packets_pct - 400.0 / 6.0).abs() < 1e-9);
    assert!((s.network["ipv4"].bytes_pct - 70_400.0 / 864.0).abs() < 1e-9);
}

#[test]
fn burstiness_of_even_and_clumped_arrivals() {
    // One frame every 10 us: even. Ten at once every 100 us: clumped.
    let even: Vec<_> = (0..1001u64).map(|i| (i * 10, udp(0, 60))).collect();
    let clumped: Vec<_> = (0..1001u64).map(|i| (i / 10 * 100, udp(0, 60))).collect();
    let (even, clumped) = (stats(&even, &[]).bursts, stats(&clumped, &[]).bursts);
    assert_eq!((even.longest, clumped.longest), (1, 10));
    assert_eq!((even.equal_stamps, clumped.equal_stamps), (0, 900));
    assert_eq!(even.windows.iter().map(|w| w.us).collect::<Vec<_>>(), [10.0, 100.0, 1000.0]);
    for (e, c) in even.windows.iter().zip(&clumped.windows) {
        assert!(e.dispersion.abs() < 1e-9 && (e.peak_to_mean - 1.0).abs() < 1e-9, "{e:?}");
        assert!((e.mean - c.mean).abs() < 1e-9);
    }
    // In windows of 10 us one of ten holds ten: variance 9, mean 1. Longer ones see no difference.
    let w = clumped.windows[0];
    assert!((w.dispersion - 9.0).abs() < 1e-9 && (w.peak_to_mean - 10.0).abs() < 1e-9, "{w:?}");
    assert!(clumped.windows[1].dispersion.abs() < 1e-9);
}

#[test]
fn rss_load_is_that_of_the_hash() {
    let frames: Vec<_> = (0..200u8).flat_map(|f| [(0, udp(f, 60)), (1, udp(f, 60))]).collect();
    let rss = packet::Rss::spread(4);
    let mut expected = vec![0; 4];
    for (_, f) in &frames {
        expected[usize::from(rss.queue(rss.hash(&packet::parse(f), f)))] += 1;
    }
    let s = stats(&frames, &[4, 1]);
    assert_eq!(s.rss[0].packets, expected);
    let (max, min) = (*expected.iter().max().unwrap() as f64, *expected.iter().min().unwrap() as f64);
    assert_eq!(s.rss[0].max_min, Some(max / min));
    assert_eq!(s.rss[0].max_mean, max / 100.0);
    assert_eq!(s.rss[1].packets, [400]);
    // One flow on many cores: all but one get nothing.
    let one = stats(&[(0, udp(1, 60)), (1, udp(1, 60))], &[8]);
    assert_eq!((one.rss[0].max_min, one.rss[0].max_mean), (None, 8.0));
}

#[test]
fn rates_in_own_time() {
    // 11 frames of 1250 B on the wire, one per us: 10 Gbps.
    let frames: Vec<_> = (0..11u64).map(|i| (i, udp(0, 1226))).collect();
    let s = stats(&frames, &[]);
    assert!((s.gbps.unwrap() - 10.0).abs() < 1e-9 && (s.pps.unwrap() - 1e6).abs() < 1e-3);
    let instant = stats(&[(0, udp(0, 60)), (0, udp(1, 60))], &[]);
    assert_eq!((instant.gbps, instant.pps), (None, None));
}
