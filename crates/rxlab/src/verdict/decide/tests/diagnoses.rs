//! Why frames drop.

use model::PortReport;

use super::*;
use crate::lab::search::{clean, lost};
use crate::verdict::diagnosis::dominant;

fn contender<'a>(interface: &'a str, report: &'a Report) -> Contender<'a> {
    Contender { interface, report, pauses: false, posted: 16 * 1024 }
}

fn only(report: &Report, best: &Report) -> Diagnosis {
    diagnose(&MACHINE, &contender("x", report), &contender("best", best))
}

/// Two ports of eight cores, 1.9 and 0.6 of their time asked for.
#[test]
fn cores_that_do_not_follow_the_traffic_are_named() {
    let mut r = dropping(calm(160.0, 60.0), RING_FULL, 8000, 0..8);
    r.per_core[..8].iter_mut().for_each(|c| c.mpps = 2.8);
    let unknown = only(&r, &calm(197.0, 80.0));
    assert_eq!(unknown.mechanism, Mechanism::RssImbalance, "nobody has told ports apart");
    let port = |port| PortReport { port, first_core: 8 * port, cores: 8, ..PortReport::default() };
    r.per_port = vec![port(0), port(1)];
    let found = only(&r, &calm(197.0, 80.0));
    assert_eq!(found.mechanism, Mechanism::PortImbalance);
    assert!(found.text.contains("the 8 cores of port 0 are asked for 190% of their time"), "{}", found.text);
    assert!(found.text.contains("the 8 cores of port 1 are asked for 60%"), "{}", found.text);
}

#[test]
fn a_leak_is_named_with_its_numbers() {
    let v = judged(&[pair("privring", &leaking()), pair("rxbisect", &calm(197.0, 80.0))]);
    assert_eq!(winner(&v), (Some("rxbisect"), "loss"));
    let found = &v.diagnoses[0];
    assert_eq!((found.cause, found.mechanism), (Some(RING_FULL), Mechanism::CacheLeak));
    for number in ["24.0 MiB", "35%", "250 Gbps", "ring_full", "rxbisect: 99%"] {
        assert!(found.text.contains(number), "{number} in {}", found.text);
    }
    assert_eq!(v.diagnoses[1].mechanism, Mechanism::None);
}

#[test]
fn a_leak_that_costs_no_time_is_not_the_cause() {
    let mut r = leaking();
    r.cycles_per_packet = 1000.0;
    for core in &mut r.per_core {
        core.mpps = 4.0;
    }
    assert_eq!(only(&r, &calm(197.0, 80.0)).mechanism, Mechanism::CoresBusy);
}

#[test]
fn a_leak_without_a_loss_is_worth_a_word_where_it_costs_much_dram_traffic() {
    let mut r = leaking();
    r.drops.clear();
    assert_eq!(only(&r, &calm(197.0, 80.0)).mechanism, Mechanism::CacheLeak);
    // A fifth more than the other's, and a hundredth of the channels' peak.
    r.dram_gbps = Dram { read: 26.0, write: 10.0 };
    assert_eq!(only(&r, &calm(197.0, 80.0)).mechanism, Mechanism::None);
}

#[test]
fn one_hot_core_is_imbalance() {
    let mut r = dropping(calm(150.0, 40.0), RING_FULL, 1000, 3..4);
    r.per_core[3].mpps = 2.0;
    let d = only(&r, &r);
    assert_eq!(d.mechanism, Mechanism::RssImbalance);
    assert!(d.text.contains("core 3 is offered 20% of the frames"), "{}", d.text);
}

#[test]
fn drops_of_the_innocent_are_a_clogged_ring() {
    let mut r = dropping(calm(150.0, 40.0), NO_BUFFER, 1600, 0..16);
    r.per_core[3].mpps = 2.0;
    assert_eq!(only(&r, &r).mechanism, Mechanism::SharedRingClogged);
}

#[test]
fn cores_kept_from_their_frames_are_a_clogged_ring_too() {
    let mut r = dropping(calm(150.0, 40.0), NO_BUFFER, 160_000, 0..16);
    assert_eq!(only(&r, &r).mechanism, Mechanism::SharedRingClogged);
    for core in &mut r.per_core {
        core.busy_pct = 100.0;
    }
    assert_eq!(only(&r, &r).mechanism, Mechanism::CoresBusy);
}

#[test]
fn too_many_frames_for_all_cores_are_too_little_cpu() {
    let r = overloaded(1600);
    let d = only(&r, &r);
    assert_eq!(d.mechanism, Mechanism::CoresBusy);
    assert!(d.text.contains("105% of the time of 16 cores"), "{}", d.text);
}

#[test]
fn spare_time_tells_bursts_card_and_transmit_apart() {
    let with = |cause| dropping(calm(190.0, 50.0), cause, 160, 0..16);
    let of = |r: &Report| only(r, r).mechanism;
    assert_eq!(of(&with(RING_FULL)), Mechanism::Bursts);
    assert_eq!(of(&with(NIC_BUFFER_FULL)), Mechanism::CardToMemory);
    let mut r = with(NIC_BUFFER_FULL);
    r.nic_busy_pct = Some(99.8);
    assert_eq!(of(&r), Mechanism::NicCoreBusy, "a slow emulator");
    r.nic_busy_pct = Some(60.0);
    assert_eq!(of(&r), Mechanism::CardToMemory);
    let mut r = with(RING_FULL);
    r.tx_ring_mean = 1000.0;
    assert_eq!(of(&r), Mechanism::Transmit);
    assert_eq!(of(&with(Fate::TxFull)), Mechanism::Transmit);
    assert_eq!(of(&with(BAD_FRAME)), Mechanism::BadFrames);
    assert_eq!(of(&with(Fate::App(None))), Mechanism::BadFrames);
}

/// 16.2 M frames in a second are 889 in a pause of 55 us.
#[test]
fn a_pause_explains_a_drop_where_its_frames_fill_the_rings() {
    let r = dropping(calm(190.0, 50.0), RING_FULL, 160, 0..16);
    let of = |pauses, posted| {
        let c = Contender { pauses, posted, ..contender("x", &r) };
        diagnose(&MACHINE, &c, &contender("best", &r))
    };
    let paused = of(true, 1024);
    assert_eq!(paused.mechanism, Mechanism::Pauses);
    for part in ["for 55 us", "889 frames", "rings that hold 1024"] {
        assert!(paused.text.contains(part), "{part}: {}", paused.text);
    }
    assert_eq!(of(true, 16 * 1024).mechanism, Mechanism::Bursts, "they would have held it");
    assert_eq!(of(false, 1024).mechanism, Mechanism::Bursts, "there was no pause");
}

#[test]
fn what_is_refused_at_any_load_is_not_the_cause_while_something_else_drops() {
    let mut r = dropping(calm(190.0, 50.0), RING_FULL, 16, 0..16);
    for cause in [BAD_FRAME, Fate::App(None)] {
        r = dropping(r, cause, 4_000, 0..16);
    }
    assert_eq!((dominant(&r), lost(&r)), (Some((RING_FULL, 16)), 16));
    let found = only(&r, &r);
    assert_eq!((found.cause, found.mechanism), (Some(RING_FULL), Mechanism::Bursts));
    // 16 and 8000 of 24 016.
    assert!(
        found.text.starts_with("0.0666% of the frames drop, 100% of them as ring_full"),
        "{}",
        found.text
    );
    assert!(found.text.ends_with("33.3% are refused at any load, as malformed or by the application"));
    r.drops.remove(&RING_FULL);
    assert!(clean(&r) && dominant(&r).is_some());
    let found = only(&r, &r);
    assert_eq!(found.mechanism, Mechanism::BadFrames);
    assert!(!found.text.contains("at any load"), "it is what the sentence says: {}", found.text);
}

#[test]
fn nothing_dropped_has_no_cause() {
    let r = calm(197.0, 80.0);
    assert_eq!(dominant(&r), None);
    assert_eq!(only(&r, &r).cause, None);
    let mut zero = r.clone();
    zero.drops.insert(RING_FULL, 0);
    assert_eq!(dominant(&zero), None, "a counter that stands at 0");
}
