//! Sizes that cannot be built say in one line what is wrong and what is allowed.

use crate::common;
use memory::Ps;
use rings::world::{Setup, World};
use rings::{Interface, corec, ddring, dynamic, privring, rxbisect, shring, tx};

fn error(interface: Interface, queues: u32) -> String {
    let text = interface.validate(queues).unwrap_err().to_string();
    assert!(!text.contains('\n'), "one line: {text}");
    assert!(text.contains("allowed: "), "says what to change: {text}");
    text
}

fn privring(ring: u32) -> Interface {
    Interface::PrivRing(privring::Sizes { ring })
}

fn dynamic(ring: u32, shared_by: u32, report: u32) -> Interface {
    Interface::Dynamic(dynamic::Sizes { ring, shared_by, report, ..Default::default() })
}

fn ddring(ring: u32, shared_by: u32) -> Interface {
    Interface::DdRing(ddring::Sizes { ring, shared_by, ..Default::default() })
}

fn corec(ring: u32, shared_by: u32) -> Interface {
    Interface::Corec(corec::Sizes { ring, shared_by, ..Default::default() })
}

fn shring(ring: u32, shared_by: u32, completions: u32) -> Interface {
    Interface::ShRing(shring::Sizes { ring, shared_by, completions, ..Default::default() })
}

#[test]
fn rings_are_powers_of_two() {
    assert_eq!(
        error(privring(100), 1),
        "privring: ring is 100; allowed: a power of two from 2 to 1048576, such as 64 or 128"
    );
    assert!(error(privring(0), 1).ends_with("such as 2"));
    assert!(error(privring(1), 1).ends_with("such as 2"));
    assert!(error(privring(3), 1).ends_with("such as 2 or 4"));
    assert!(error(privring(1 << 21), 1).ends_with("such as 1048576"));
    assert!(error(privring(u32::MAX), 1).ends_with("such as 1048576"));
    assert!(error(shring(1000, 1, 64), 1).starts_with("shring: ring is 1000"));
    assert!(error(shring(64, 1, 1000), 1).starts_with("shring: completions is 1000"));
    assert!(error(ddring(1000, 1), 1).starts_with("ddring: ring is 1000"));
    assert!(error(corec(1, 1), 1).starts_with("corec: ring is 1; allowed"));
    let sizes = rxbisect::Sizes::default();
    assert!(error(Interface::RxBisect(rxbisect::Sizes { ax: 0, ..sizes }), 1).contains("rxbisect: ax is 0"));
    assert!(error(Interface::RxBisect(rxbisect::Sizes { bx: 7, ..sizes }), 1).contains("rxbisect: bx is 7"));
    for ring in (1..=20).map(|n| 1 << n) {
        assert_eq!(privring(ring).validate(16), Ok(()));
    }
}

#[test]
fn queues_and_groups_have_bounds() {
    assert!(error(privring(64), 0).starts_with("a port has 0 queues"));
    assert!(error(privring(64), 5000).contains("allowed: 1 to 4096"));
    assert!(error(shring(64, 0, 64), 4).contains("shared_by is 0; allowed: 1 to 4"));
    assert!(error(shring(64, 5, 64), 4).contains("shared_by is 5; allowed: 1 to 4"));
    assert!(error(shring(2, 4, 64), 4).contains("a ring of 2 shared by 4"));
    assert!(error(ddring(64, 0), 4).contains("ddring: shared_by is 0; allowed: 1 to 4"));
    assert!(error(corec(64, 5), 4).contains("corec: shared_by is 5; allowed: 1 to 4"));
    assert!(error(dynamic(100, 1, 1), 4).starts_with("dynamic: ring is 100"));
    assert!(error(dynamic(64, 5, 1), 4).contains("shared_by is 5; allowed: 1 to 4"));
    assert!(error(dynamic(64, 1, 0), 4).contains("dynamic: report is 0; allowed: 1 to 64"));
    assert!(error(dynamic(64, 1, 65), 4).contains("dynamic: report is 65"));
    let sizes = rxbisect::Sizes::default();
    let rxbisect = |s: rxbisect::Sizes| error(Interface::RxBisect(s), 4);
    assert!(rxbisect(rxbisect::Sizes { group: 5, ..sizes }).contains("group is 5"));
    assert!(rxbisect(rxbisect::Sizes { batch: 0, ..sizes }).contains("batch is 0"));
    assert!(rxbisect(rxbisect::Sizes { batch: 2048, ..sizes }).contains("allowed: 1 to 1024"));
    assert!(
        rxbisect(rxbisect::Sizes { group: 2, alloc_queues: 1, ..sizes }).contains("each of the 2 groups")
    );
    assert!(rxbisect(rxbisect::Sizes { alloc_queues: 5000, ..sizes }).contains("queues"));
}

#[test]
fn tx_and_pool_sizes_are_checked_when_they_are_built() {
    let good = Setup { interface: privring(4), queues: 1, tx: tx::Sizes::default(), buffers: 16, cache: 4 };
    let error = |setup: &Setup| {
        let mut space = common::Plain::new(memory::Side::Both);
        let view = space.clone();
        let built = World::new(&mut space, setup, view.clone(), |_| view.clone(), common::Plain::advance);
        built.err().map(|e| e.to_string())
    };
    assert_eq!(error(&good), None);
    let tx = |ring, complete_every| Setup { tx: tx::Sizes { ring, complete_every }, ..good.clone() };
    assert!(error(&tx(48, 32)).unwrap().starts_with("tx: ring is 48"));
    assert!(error(&tx(64, 0)).unwrap().contains("complete_every is 0"));
    let pool = |buffers, cache| Setup { buffers, cache, ..good.clone() };
    assert!(error(&pool(0, 0)).unwrap().contains("0 buffers"));
    assert!(error(&pool(8, 9)).unwrap().contains("a cache of 9 for 8 buffers"));
}

#[test]
fn posted_buffers_count_what_the_rings_hold() {
    assert_eq!(privring(1024).posted_buffers(16), 16 * 1024);
    assert_eq!(shring(1024, 8, 1024).posted_buffers(20), 3 * 1024);
    let sizes = rxbisect::Sizes::default();
    assert_eq!(Interface::RxBisect(sizes).posted_buffers(16), 16 * 128);
    assert_eq!(Interface::RxBisect(sizes).held_buffers(16), 16 * 128 + 16 * 1024, "and full Bx rings");
    assert_eq!(privring(1024).held_buffers(16), 16 * 1024);
    let two = rxbisect::Sizes { ax: 512, alloc_queues: 2, ..sizes };
    assert_eq!(Interface::RxBisect(two).posted_buffers(16), 2 * 512);
    assert_eq!(dynamic(1024, 8, 32).posted_buffers(16), 18 * 1024, "both kinds of ring");
    assert_eq!(
        (ddring(1024, 1).posted_buffers(16), ddring(1024, 8).posted_buffers(20)),
        (16 * 1024, 3 * 1024)
    );
    assert_eq!(corec(1024, 8).posted_buffers(20), 3 * 1024);
    let bisect = Interface::RxBisect(rxbisect::Sizes { ax: 4, ..two });
    let done_bits = [ddring(8, 1), ddring(8, 2), corec(8, 2)];
    for interface in [privring(8), shring(16, 2, 8), bisect, dynamic(8, 2, 1)].into_iter().chain(done_bits) {
        let (mut world, _) = common::world(interface.clone(), 5, 100);
        assert_eq!(world.fill(), 0);
        assert_eq!(world.cores.len() as u32, interface.hosts(5));
        assert_eq!(100 - world.cores[0].available(), interface.posted_buffers(5), "{}", interface.name());
        world.finish(false).unwrap();
    }
}

#[test]
fn parameters_are_named() {
    let s = rxbisect::Sizes { timeout: Ps::from_us(2), ..rxbisect::Sizes::default() };
    let names: Vec<_> = Interface::RxBisect(s).params();
    assert!(names.contains(&("ax", 128)) && names.contains(&("timeout_ns", 2000)));
    assert!(dynamic(64, 2, 8).params().contains(&("round_ns", 1_000_000)));
    assert_eq!(corec(64, 2).params(), [("ring", 64), ("shared_by", 2)]);
    assert_eq!(shring(64, 2, 32).params(), [("ring", 64), ("shared_by", 2), ("completions", 32)]);
}
