use model::{CoreReport, Dram, Latency, PortReport, Report};

use super::*;

const MACHINE: Machine =
    Machine { ddio_mib: 4.0, llc_mib: 22.0, dram_peak_gbps: 750.0, tx_ring: 1024.0, ghz: 2.0 };

/// 16 cores that are asked for `busy_pct` of their time, nothing dropped, 1000 cycles per frame.
fn calm(throughput: f64, busy_pct: f64) -> Report {
    let core =
        |core| CoreReport { core, mpps: busy_pct / 50.0, busy_pct, ring_mean: 4.0, ..CoreReport::default() };
    Report {
        offered_gbps: 197.0,
        throughput_gbps: throughput,
        latency_us: Latency { mean: 20.0, p99: 40.0, ..Latency::default() },
        ddio_hit_pct: 99.0,
        dram_gbps: Dram { read: 20.0, write: 10.0 },
        io_working_set_mib: 3.0,
        cycles_per_packet: 1000.0,
        per_core: (0..16).map(core).collect(),
        measured_s: 0.001,
        ..Report::default()
    }
}

fn dropping(mut r: Report, cause: &'static str, n: u64, cores: std::ops::Range<usize>) -> Report {
    r.drops.insert(cause, n);
    r.drop_pct = 20.0;
    let each = n / cores.len() as u64;
    for core in &mut r.per_core[cores] {
        core.drops = each;
    }
    r
}

/// 1.6 M frames per second and core, and 0.1 M dropped: 1.36 of the time at 1600 cycles, 0.85 at 1000.
fn leaking() -> Report {
    let mut r = dropping(calm(160.0, 80.0), "ring_full", 1600, 0..16);
    (r.ddio_hit_pct, r.io_working_set_mib, r.cycles_per_packet) = (35.0, 24.0, 1600.0);
    r.dram_gbps = Dram { read: 150.0, write: 100.0 };
    r
}

fn contender<'a>(interface: &'a str, report: &'a Report) -> Contender<'a> {
    Contender { interface, report, no_drop_gbps: None }
}

fn only(report: &Report, best: &Report) -> Diagnosis {
    diagnose(&MACHINE, &contender("x", report), &contender("best", best))
}

/// Two ports of eight cores, 1.9 and 0.6 of their time asked for.
#[test]
fn cores_that_do_not_follow_the_traffic_are_named() {
    let mut r = dropping(calm(160.0, 60.0), "ring_full", 8000, 0..8);
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
    let (priv_, bisect) = (leaking(), calm(197.0, 80.0));
    let v = decide(&MACHINE, &[contender("privring", &priv_), contender("rxbisect", &bisect)]).unwrap();
    assert_eq!((v.winner.as_str(), v.decided_by), ("rxbisect", "throughput_gbps"));
    assert!((v.margin_pct - 23.125).abs() < 1e-9);
    assert_eq!(
        (v.diagnoses[0].cause.as_str(), v.diagnoses[0].mechanism),
        ("ring_full", Mechanism::CacheLeak)
    );
    for number in ["24.0 MiB", "35%", "250 Gbps", "ring_full"] {
        assert!(v.reason.contains(number), "{number} in {}", v.reason);
    }
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
fn one_hot_core_is_imbalance() {
    let mut r = dropping(calm(150.0, 40.0), "ring_full", 1000, 3..4);
    r.per_core[3].mpps = 2.0;
    let d = only(&r, &r);
    assert_eq!(d.mechanism, Mechanism::RssImbalance);
    assert!(d.text.contains("core 3 is offered 20% of the frames"), "{}", d.text);
}

#[test]
fn drops_of_the_innocent_are_a_clogged_ring() {
    let mut r = dropping(calm(150.0, 40.0), "no_buffer", 1600, 0..16);
    r.per_core[3].mpps = 2.0;
    assert_eq!(only(&r, &r).mechanism, Mechanism::SharedRingClogged);
}

#[test]
fn cores_kept_from_their_frames_are_a_clogged_ring_too() {
    let mut r = dropping(calm(150.0, 40.0), "no_buffer", 160_000, 0..16);
    assert_eq!(only(&r, &r).mechanism, Mechanism::SharedRingClogged);
    for core in &mut r.per_core {
        core.busy_pct = 100.0;
    }
    assert_eq!(only(&r, &r).mechanism, Mechanism::CoresBusy);
}

#[test]
fn too_many_frames_for_all_cores_are_too_little_cpu() {
    let r = dropping(calm(150.0, 100.0), "ring_full", 1600, 0..16);
    let d = only(&r, &r);
    assert_eq!(d.mechanism, Mechanism::CoresBusy);
    assert!(d.text.contains("105% of the time of 16 cores"), "{}", d.text);
}

#[test]
fn spare_time_tells_bursts_card_and_transmit_apart() {
    let r = dropping(calm(190.0, 50.0), "ring_full", 160, 0..16);
    assert_eq!(only(&r, &r).mechanism, Mechanism::Bursts);
    let r = dropping(calm(190.0, 50.0), "nic_buffer_full", 160, 0..16);
    assert_eq!(only(&r, &r).mechanism, Mechanism::CardToMemory);
    let mut r = dropping(calm(190.0, 50.0), "nic_buffer_full", 160, 0..16);
    r.nic_busy_pct = Some(99.8);
    assert_eq!(only(&r, &r).mechanism, Mechanism::NicCoreBusy, "a slow emulator");
    r.nic_busy_pct = Some(60.0);
    assert_eq!(only(&r, &r).mechanism, Mechanism::CardToMemory);
    let mut r = dropping(calm(190.0, 50.0), "ring_full", 160, 0..16);
    r.tx_ring_mean = 1000.0;
    assert_eq!(only(&r, &r).mechanism, Mechanism::Transmit);
    let r = dropping(calm(190.0, 50.0), "tx_full", 160, 0..16);
    assert_eq!(only(&r, &r).mechanism, Mechanism::Transmit);
    let r = dropping(calm(190.0, 50.0), "bad_frame", 160, 0..16);
    assert_eq!(only(&r, &r).mechanism, Mechanism::BadFrames);
}

#[test]
fn equal_throughput_is_decided_further_down() {
    let (a, mut b) = (calm(197.0, 80.0), calm(196.5, 80.0));
    let with = |r, no_drop| Contender { interface: "shring", report: r, no_drop_gbps: Some(no_drop) };
    let first = Contender { no_drop_gbps: Some(120.0), ..contender("privring", &a) };
    let v = decide(&MACHINE, &[first, with(&b, 180.0)]).unwrap();
    assert_eq!((v.winner.as_str(), v.decided_by, v.margin_pct), ("shring", "no_drop_gbps", 50.0));
    b.latency_us.p99 = 20.0;
    let v = decide(&MACHINE, &[contender("privring", &a), contender("shring", &b)]).unwrap();
    assert_eq!((v.winner.as_str(), v.decided_by, v.margin_pct), ("shring", "latency_p99_us", 100.0));
}

#[test]
fn a_tie_says_so_and_nothing_to_rank_is_none() {
    let (a, b) = (calm(197.0, 80.0), calm(196.5, 80.0));
    let v = decide(&MACHINE, &[contender("privring", &a), contender("shring", &b)]).unwrap();
    assert_eq!((v.decided_by, v.margin_pct), ("none", 0.0));
    assert!(v.reason.contains("do not differ"), "{}", v.reason);
    let v = decide(&MACHINE, &[contender("privring", &a)]).unwrap();
    assert!(v.reason.contains("only interface"), "{}", v.reason);
    assert!(decide(&MACHINE, &[]).is_none());
}

#[test]
fn nothing_sent_at_all_is_still_ranked() {
    let (mut a, b) = (calm(0.0, 100.0), calm(10.0, 100.0));
    a.drops.insert("ring_full", 5);
    let v = decide(&MACHINE, &[contender("privring", &a), contender("shring", &b)]).unwrap();
    assert_eq!(v.winner, "shring");
    assert!(v.margin_pct.is_finite());
}
