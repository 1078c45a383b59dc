//! The synthetic function: what it reads, on real memory and without it.
#![allow(clippy::unwrap_used, reason = "a set-up that fails fails its test")]

mod bench;
mod tally;

use std::collections::BTreeSet;
use std::sync::Arc;

use apps::l3fwd::{Fib, L3fwd, parse_routes};
use apps::nf::{Nf, Numbers};
use apps::{App, Batch};
use bench::{Bench, L4, ipv4, judge, region};
use memory::Memory;
use memory::native::Table;
use rings::Completion;
use tally::Tally;

const A: [u8; 4] = [10, 1, 2, 3];
const B: [u8; 4] = [198, 51, 100, 7];

fn nf<M: Memory>(numbers: &Numbers, table: M::Table, extra: u32, seed: u64) -> Nf<M> {
    let routes = parse_routes("0.0.0.0/0 via 02:00:00:00:00:f0").unwrap();
    let route = L3fwd::new(Arc::new(Fib::new(&routes)), table, 0);
    Nf::new(route, numbers.clone(), table, extra, seed, 0)
}

#[test]
fn real_and_declared_numbers_lead_the_same_way() {
    let region = region();
    let mut bench = Bench::new(&region);
    let frames = vec![ipv4(A, B, (5, 6), L4::Udp, 64, b"payload"); 40];
    let mut found = Vec::new();
    for numbers in [Numbers::real(), Numbers::declared()] {
        let mut app = nf(&numbers, Table, 7, 1);
        let (sent, _) = bench.run(&mut app, &frames);
        assert_eq!(judge(&sent[39]).macs.0, [2, 0, 0, 0, 0, 0xf0], "it routes");
        found.push(app.counters());
    }
    assert_eq!(found[0], found[1]);
}

/// The lines that `n` frames touch, the route's among them.
fn touched(extra: u32, seed: u64, n: usize) -> Vec<u64> {
    let frame = ipv4(A, B, (5, 6), L4::Udp, 64, b"payload");
    let c = Completion { len: frame.len() as u16, ..Completion::none() };
    let mut m = Tally { frame, ..Tally::default() };
    nf(&Numbers::declared(), (), extra, seed).process(&mut m, (), &vec![c; n], &mut Batch::default());
    m.touches
}

#[test]
fn every_frame_reads_two_numbers_and_a_route_and_a_target_reads_more() {
    assert_eq!(touched(0, 1, 100).len(), 300);
    assert_eq!(touched(98, 1, 100).len(), 10_100);
}

#[test]
fn reads_are_spread_over_the_whole_buffer() {
    let reads: Vec<u64> = touched(998, 1, 100).chunks(1001).flat_map(|c| c[..1000].to_vec()).collect();
    assert!(reads.iter().all(|at| *at < 40 << 20));
    let mut tenths = [0; 10];
    reads.iter().for_each(|at| tenths[(at * 10 / (40 << 20)) as usize] += 1);
    assert!(tenths.iter().all(|n: &i32| n.abs_diff(10_000) < 500), "{tenths:?}");
    // Of 655 360 lines, 100 000 reads at random meet some twice: 92 900 expected.
    let lines: BTreeSet<u64> = reads.iter().map(|at| at / 64).collect();
    assert!(lines.len().abs_diff(92_900) < 500, "{}", lines.len());
    assert_ne!(touched(0, 1, 1), touched(0, 2, 1), "each core reads its own way");
}
