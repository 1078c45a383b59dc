//! What becomes of the printed listing, and of corec under the same schedule.

use rings::{Host, Nic};

use super::listing_ring::{self, build};
use super::port::{Build, Port, STRANGE, shared};
use crate::common::{Access, Plain, counter};

const RING: u32 = 4;

/// A thread that has claimed two of four frames sleeps before its access `at`; another one polls more than the rest.
/// What either received.
fn slept_on<H>(build: Build<H>, at: fn(&Access) -> bool) -> (Vec<u64>, Vec<u64>, Port<H>)
where
    H: Host<Plain> + Send + 'static,
{
    let mut port = Port::new(build, RING, 2, 2 * RING);
    assert_eq!(port.card.offer(4), 4);
    let mut claimed = false;
    let sleeper = port.cores.remove(0).walk(2, move |access| {
        let stop = claimed && at(&access);
        claimed |= access.call == "swap_if";
        stop
    });
    assert!(sleeper.stands);
    for _ in 0..3 {
        port.cores[0].poll(2);
        port.cores[0].free();
    }
    let (sleeper, n) = sleeper.resume();
    assert_eq!(n, 2);
    port.cores.insert(0, sleeper);
    let [sleeper, other] = [0, 1].map(|core: usize| port.cores[core].received.clone());
    (sleeper, other, port)
}

/// Done bits of the last round, which their first claimant has not cleared: it sleeps with the first frame in its hand,
/// or with none.
#[test]
fn the_listing_delivers_a_frame_twice() {
    let copied = |access: &Access| access.call == "write";
    let (sleeper, other, port) = slept_on(build, copied);
    assert_eq!((sleeper, other), (vec![0, STRANGE], vec![2, 3, 0, 1]));
    assert!(port.judge().is_err());
    let (sleeper, other, port) = slept_on(build, |_| true);
    assert_eq!((sleeper, other), (vec![STRANGE; 2], vec![2, 3, 0, 1]));
    assert!(port.judge().is_err());
    for at in [copied, |_: &Access| true] {
        let (sleeper, other, mut port) = slept_on(shared, at);
        assert_eq!((sleeper, other), (vec![0, 1], vec![2, 3]));
        assert_eq!(port.card.offer(4), 4, "all goes on");
        port.finish().unwrap();
    }
}

/// All buffers are in the ring or held by the application, which then gives them back.
fn run_dry<H: Host<Plain>>(build: Build<H>) -> Port<H> {
    let mut port = Port::new(build, RING, 1, RING + 1);
    for _ in 0..3 {
        port.card.offer(4);
        port.cores[0].poll(4);
    }
    port.cores[0].free();
    for _ in 0..3 {
        port.cores[0].poll(4);
        port.cores[0].free();
        port.card.offer(1);
    }
    port
}

#[test]
fn the_listing_does_not_survive_an_empty_pool() {
    let mut port = run_dry(build);
    assert!(counter(&port.card.nic.counters(), "bad_descriptors") > 0);
    assert_eq!(port.card.offer(4), 0, "the NIC stands before a descriptor without a buffer, for ever");
    let mut port = run_dry(shared);
    assert!(port.cores[0].counter("debts") > 0, "it did run dry");
    port.empty();
    assert_eq!(port.card.offer(4), 4);
    port.finish().unwrap();
}

#[test]
fn the_listing_claims_nothing_at_every_poll() {
    let polls = |port: &mut Port<listing_ring::HostHalf<Plain>>| port.cores[0].poll(2);
    let mut port = Port::new(build, RING, 1, 2 * RING);
    (0..10).for_each(|_| assert_eq!(polls(&mut port), 0));
    assert_eq!((port.cores[0].counter("claims"), port.plain.stores("listing.index")), (10, 10));
    let mut port = Port::new(shared, RING, 1, 2 * RING);
    let words = ["corec.next", "corec.read_done", "corec.posted", "ddring.tail"];
    let stores = |port: &Port<_>| words.map(|word| port.plain.stores(word));
    let before = stores(&port);
    (0..10).for_each(|_| assert_eq!(port.cores[0].poll(2), 0));
    assert_eq!((port.cores[0].counter("claims"), stores(&port)), (0, before), "an empty poll stores nothing");
}
