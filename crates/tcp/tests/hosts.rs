//! A client and a server on one wire.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::collections::{HashMap, HashSet};

use tcp::{Host, Job, Totals, US};
use traffic::{Arrival, Peer};

const DELAY: u64 = 10 * US;

/// Runs a job between two hosts with nothing between them; completion times and what both did.
fn run(job: Job) -> (Vec<u64>, [Totals; 2]) {
    let (mut client, mut server) = (Host::client(job, 10.0, DELAY), Host::server(job, 10.0, DELAY));
    let (mut now, mut a) = (0, Arrival::EMPTY);
    let mut ports = HashMap::new();
    while !(client.done() && server.done()) {
        now += DELAY;
        assert!(now < 20_000_000 * US, "no end");
        // What is sent before `now` arrives later than what was dealt with before `now`.
        let mut last = 0;
        while client.next(now, &mut a) {
            assert!(a.at >= last + u64::from(traffic::wire_bytes(a.len)) * 800, "frames do not overlap");
            last = a.at;
            let own = a.head[34..38].to_vec();
            assert_eq!(*ports.entry(a.flow).or_insert(own.clone()), own, "flow {}", a.flow);
            server.take(a.at, a.bytes());
        }
        while server.next(now, &mut a) {
            client.take(a.at, a.bytes());
        }
    }
    let pairs: HashSet<_> = ports.values().collect();
    assert_eq!(pairs.len(), ports.len(), "a number for each flow");
    (client.times(), [client.totals(), server.totals()])
}

#[test]
fn all_connections_of_all_rounds_close() {
    let job = Job { flows: 64, bytes: 10_000, rounds: 3, seed: 1 };
    let (times, totals) = run(job);
    assert_eq!(times.len() as u64, job.connections());
    for t in totals {
        assert_eq!((t.retransmitted, t.timeouts, t.strange, t.late), (0, 0, 0, 0));
    }
    // 64 flows of 7 segments share the wire: the last one waits for all of them.
    let wire = 64 * (6 * 1538 + 1400) * 800;
    assert!(times.iter().all(|t| *t > 4 * DELAY));
    assert!(
        times.iter().max().unwrap() > &wire && times.iter().max().unwrap() < &(wire * 2),
        "{wire} {times:?}"
    );
    assert_eq!(run(job), (times, totals), "the same again");
}

#[test]
fn frames_of_nobody_are_counted() {
    let job = Job { flows: 1, bytes: 1, rounds: 1, seed: 1 };
    let mut server = Host::server(job, 10.0, DELAY);
    server.take(5, &[0; 60]);
    let (mut client, mut a) = (Host::client(job, 10.0, DELAY), Arrival::EMPTY);
    assert!(!client.next(US, &mut a), "not before the server is up");
    assert!(client.next(2000 * US, &mut a));
    client.take(a.at, a.bytes()); // its own SYN
    assert_eq!((server.totals().strange, client.totals().strange), (1, 1));
    assert!(!server.next(u64::MAX / 2, &mut a));
}
