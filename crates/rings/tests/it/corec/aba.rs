//! A thread that sleeps between its scan and its claim, while the ring goes round (corec §3.4.3).

use rings::corec::HostHalf;

use super::port::{Port, shared};
use crate::common::{Access, Plain};

const RING: u32 = 2;

/// Just before it claims.
fn claims(access: Access) -> bool {
    access == Access { call: "swap_if", field: "corec.next" }
}

/// What a sleeper got and how many of its claims failed, and the port, after another thread has taken all that
/// there was `rounds` times; then `late` frames more came.
fn sleep(shorten: bool, rounds: u32, late: usize) -> (usize, u64, Port<HostHalf<Plain>>) {
    let mut port = Port::new(shared, RING, 2, 4 * RING);
    if shorten {
        port.plain.shorten("corec.next", RING.into());
    }
    assert_eq!(port.card.offer(2), 2);
    let sleeper = port.cores.remove(0).walk(2, claims);
    assert!(sleeper.stands, "it has found two frames");
    for round in 0..rounds {
        assert!(round == 0 || port.card.offer(2) == 2);
        assert_eq!(port.cores[0].poll(2), 2, "round {round}");
        port.cores[0].free();
    }
    assert_eq!(port.card.offer(late), late);
    let (sleeper, n) = sleeper.resume();
    let failed = sleeper.counter("failed_claims");
    port.cores.insert(0, sleeper);
    (n, failed, port)
}

#[test]
fn a_claim_that_comes_rounds_late_fails() {
    for rounds in 1..=3 {
        for late in 0..=2 {
            let (n, failed, mut port) = sleep(false, rounds, late);
            assert_eq!((n, failed), (0, 1), "{rounds} rounds, {late} more");
            assert_eq!(port.cores[0].poll(2), late, "what came since is there for it");
            port.finish().unwrap();
        }
    }
}

/// The same with a number that returns with the ring: the claim succeeds, on what the sleeper saw rounds ago.
#[test]
fn a_number_that_wraps_with_the_ring_is_caught() {
    for rounds in 1..=3 {
        for late in 0..=1 {
            let (n, failed, mut port) = sleep(true, rounds, late);
            assert_eq!((n, failed), (2, 0), "{rounds} rounds, {late} more");
            port.empty();
            assert!(port.judge().is_err(), "{rounds} rounds, {late} more");
        }
    }
}
